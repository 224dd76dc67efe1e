-- GB205, GDDR7: NVIDIA RTX Blackwell architecture white paper.
return {
  name = "NVIDIA GeForce RTX 5070", cc = "12.0", sms = 48, clock_mhz = 2512, l2_mib = 48,
  memory_gb = 12, bus_bits = 192, pin_gbit_s = 28, peak_gb_s = 672,
  pcie = { generation = 5, lanes = 16 },
}
