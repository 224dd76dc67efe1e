-- AD106, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 4060 Ti", cc = "8.9", sms = 34, clock_mhz = 2535, l2_mib = 32,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 18, peak_gb_s = 288,
  pcie = { generation = 4, lanes = 8 },
}
