-- AD107, GDDR6; 1,605 to 2,370 MHz are the maker's choice: TechPowerUp GPU
-- database.
return {
  name = "NVIDIA GeForce RTX 4050 Laptop GPU", cc = "8.9", sms = 20, clock_mhz = 1755, l2_mib = 12,
  memory_gb = 6, bus_bits = 96, pin_gbit_s = 16, peak_gb_s = 192,
  pcie = { generation = 4, lanes = 8 },
  held = { error = 0.06, against = "transpose, naive : tiled, 2.19 x, published" },
}
