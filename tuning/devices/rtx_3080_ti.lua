-- GA102, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 3080 Ti", cc = "8.6", sms = 80, clock_mhz = 1665, l2_mib = 6,
  memory_gb = 12, bus_bits = 384, pin_gbit_s = 19, peak_gb_s = 912,
  pcie = { generation = 4, lanes = 16 },
}
