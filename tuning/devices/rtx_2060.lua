-- TU106, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 2060", cc = "7.5", sms = 30, clock_mhz = 1680, l2_mib = 3,
  memory_gb = 6, bus_bits = 192, pin_gbit_s = 14, peak_gb_s = 336,
  pcie = { generation = 3, lanes = 16 },
}
