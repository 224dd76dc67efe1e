-- GA107, GDDR6; the boost clock is the maker's choice. SMs, clock and L2 as deviceQuery says.
return {
  name = "NVIDIA GeForce RTX 3050 Laptop GPU", cc = "8.6", sms = 16, clock_mhz = 1500, l2_mib = 1.5,
  memory_gb = 4, bus_bits = 128, pin_gbit_s = 12, peak_gb_s = 192,
  pcie = { generation = 4, lanes = 8 },
}
