-- AD104, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 4070", cc = "8.9", sms = 46, clock_mhz = 2475, l2_mib = 36,
  memory_gb = 12, bus_bits = 192, pin_gbit_s = 21, peak_gb_s = 504,
  pcie = { generation = 4, lanes = 16 },
}
