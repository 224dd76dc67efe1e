-- GA106, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 3060", cc = "8.6", sms = 28, clock_mhz = 1777, l2_mib = 3,
  memory_gb = 12, bus_bits = 192, pin_gbit_s = 15, peak_gb_s = 360,
  pcie = { generation = 4, lanes = 16 },
}
