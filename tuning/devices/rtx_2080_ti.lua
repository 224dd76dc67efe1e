-- TU102, GDDR6: NVIDIA Turing architecture white paper.
return {
  name = "NVIDIA GeForce RTX 2080 Ti", cc = "7.5", sms = 68, clock_mhz = 1545, l2_mib = 5.5,
  memory_gb = 11, bus_bits = 352, pin_gbit_s = 14, peak_gb_s = 616,
  pcie = { generation = 3, lanes = 16 },
}
