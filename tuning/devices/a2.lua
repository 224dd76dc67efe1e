-- GA107, GDDR6: NVIDIA A2 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA A2", cc = "8.6", sms = 10, clock_mhz = 1770, l2_mib = 2,
  memory_gb = 16, bus_bits = 128, pin_gbit_s = 12.5, peak_gb_s = 200,
  pcie = { generation = 4, lanes = 8 },
}
