-- AD104, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 4070 Ti", cc = "8.9", sms = 60, clock_mhz = 2610, l2_mib = 48,
  memory_gb = 12, bus_bits = 192, pin_gbit_s = 21, peak_gb_s = 504,
  pcie = { generation = 4, lanes = 16 },
}
