-- AD102, GDDR6X: NVIDIA Ada architecture white paper.
return {
  name = "NVIDIA GeForce RTX 4090", cc = "8.9", sms = 128, clock_mhz = 2520, l2_mib = 72,
  memory_gb = 24, bus_bits = 384, pin_gbit_s = 21, peak_gb_s = 1008,
  pcie = { generation = 4, lanes = 16 },
}
