-- TU102, GDDR6: NVIDIA Turing architecture white paper.
return {
  name = "Quadro RTX 6000", cc = "7.5", sms = 72, clock_mhz = 1770, l2_mib = 6,
  memory_gb = 24, bus_bits = 384, pin_gbit_s = 14, peak_gb_s = 672,
  pcie = { generation = 3, lanes = 16 },
  nvlink = { generation = 2, links = 2 },
}
