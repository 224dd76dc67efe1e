-- GA104, GDDR6: NVIDIA RTX A4000 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA RTX A4000", cc = "8.6", sms = 48, clock_mhz = 1560, l2_mib = 4,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 14, peak_gb_s = 448,
  pcie = { generation = 4, lanes = 16 },
}
