-- TU106, GDDR6: NVIDIA Turing architecture white paper.
return {
  name = "NVIDIA GeForce RTX 2070", cc = "7.5", sms = 36, clock_mhz = 1620, l2_mib = 4,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 14, peak_gb_s = 448,
  pcie = { generation = 3, lanes = 16 },
}
