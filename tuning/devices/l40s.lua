-- AD102, GDDR6: NVIDIA L40S data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA L40S", cc = "8.9", sms = 142, clock_mhz = 2520, l2_mib = 96,
  memory_gb = 48, bus_bits = 384, pin_gbit_s = 18, peak_gb_s = 864,
  pcie = { generation = 4, lanes = 16 },
}
