-- AD107, GDDR6; the boost clock is the maker's choice, here a trtexec log's: TechPowerUp GPU
-- database.
return {
  name = "NVIDIA GeForce RTX 4050 Laptop GPU", cc = "8.9", sms = 20, clock_mhz = 2355, l2_mib = 12,
  memory_gb = 6, bus_bits = 96, pin_gbit_s = 16, peak_gb_s = 192,
  pcie = { generation = 4, lanes = 8 },
}
