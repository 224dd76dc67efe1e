-- GV100, HBM2: NVIDIA V100 data sheet, NVIDIA Volta architecture white paper.
return {
  name = "Tesla V100-SXM2-16GB", cc = "7.0", sms = 80, clock_mhz = 1530, l2_mib = 6,
  memory_gb = 16, bus_bits = 4096, pin_gbit_s = 1.754, peak_gb_s = 900,
  pcie = { generation = 3, lanes = 16 },
  nvlink = { generation = 2, links = 6 },
  l2_bytes_clk = 2048, -- NVIDIA A100 architecture white paper, on V100
}
