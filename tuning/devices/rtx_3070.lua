-- GA104, GDDR6: NVIDIA Ampere GA102 architecture white paper.
return {
  name = "NVIDIA GeForce RTX 3070", cc = "8.6", sms = 46, clock_mhz = 1725, l2_mib = 4,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 14, peak_gb_s = 448,
  pcie = { generation = 4, lanes = 16 },
}
