-- AD103, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 4070 Ti SUPER", cc = "8.9", sms = 66, clock_mhz = 2610, l2_mib = 48,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 21, peak_gb_s = 672,
  pcie = { generation = 4, lanes = 16 },
}
