-- GA104, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 3070 Ti", cc = "8.6", sms = 48, clock_mhz = 1770, l2_mib = 4,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 19, peak_gb_s = 608,
  pcie = { generation = 4, lanes = 16 },
}
