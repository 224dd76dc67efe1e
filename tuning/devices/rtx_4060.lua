-- AD107, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 4060", cc = "8.9", sms = 24, clock_mhz = 2460, l2_mib = 24,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 17, peak_gb_s = 272,
  pcie = { generation = 4, lanes = 8 },
}
