-- GA102, GDDR6X: NVIDIA Ampere GA102 architecture white paper.
return {
  name = "NVIDIA GeForce RTX 3080", cc = "8.6", sms = 68, clock_mhz = 1710, l2_mib = 5,
  memory_gb = 10, bus_bits = 320, pin_gbit_s = 19, peak_gb_s = 760,
  pcie = { generation = 4, lanes = 16 },
}
