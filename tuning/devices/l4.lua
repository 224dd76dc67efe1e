-- AD104, GDDR6: NVIDIA L4 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA L4", cc = "8.9", sms = 58, clock_mhz = 2040, l2_mib = 48,
  memory_gb = 24, bus_bits = 192, pin_gbit_s = 12.5, peak_gb_s = 300,
  pcie = { generation = 4, lanes = 16 },
}
