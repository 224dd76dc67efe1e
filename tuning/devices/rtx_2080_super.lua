-- TU104, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 2080 SUPER", cc = "7.5", sms = 48, clock_mhz = 1815, l2_mib = 4,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 15.5, peak_gb_s = 496,
  pcie = { generation = 3, lanes = 16 },
}
