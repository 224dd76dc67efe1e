-- GB206, GDDR7: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 5060", cc = "12.0", sms = 30, clock_mhz = 2497, l2_mib = 32,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 28, peak_gb_s = 448,
  pcie = { generation = 5, lanes = 8 },
}
