-- GB207, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 5050", cc = "12.0", sms = 20, clock_mhz = 2572, l2_mib = 24,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 20, peak_gb_s = 320,
  pcie = { generation = 5, lanes = 8 },
}
