-- GA107, GDDR6, the card of 6 GB: TechPowerUp GPU database; L2 as deviceQuery says.
return {
  name = "NVIDIA GeForce RTX 3050", cc = "8.6", sms = 18, clock_mhz = 1470, l2_mib = 1.5,
  memory_gb = 6, bus_bits = 96, pin_gbit_s = 14, peak_gb_s = 168,
  pcie = { generation = 4, lanes = 8 },
}
