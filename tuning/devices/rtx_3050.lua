-- GA106, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 3050", cc = "8.6", sms = 20, clock_mhz = 1777, l2_mib = 2,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 14, peak_gb_s = 224,
  pcie = { generation = 4, lanes = 8 },
  held = { error = 0.01, against = "transpose, naive : tiled, 10.4 x, published" },
}
