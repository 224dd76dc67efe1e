-- AD103, GDDR6X: NVIDIA Ada architecture white paper.
return {
  name = "NVIDIA GeForce RTX 4080", cc = "8.9", sms = 76, clock_mhz = 2505, l2_mib = 64,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 22.4, peak_gb_s = 716.8,
  pcie = { generation = 4, lanes = 16 },
}
