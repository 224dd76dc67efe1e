-- GH100, SXM5 with HBM3e. L2 and copy as measured on one: driver 580.159.04, CUDA 13.0; the copy is
-- the fastest map of 3.2 GB, read + written (docs/figures/h200.md).
return {
  name = "NVIDIA H200", cc = "9.0", sms = 132, clock_mhz = 1980, l2_mib = 60,
  memory_gb = 141, bus_bits = 6144, pin_gbit_s = 6.25, peak_gb_s = 4800,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 4, links = 18 },
  copy_gb_s = 4289.0,
  inflight_kib = 48, -- CUB asks 48 KiB here, 32 on an H100
  l2_bytes_clk = 4224, -- what naive transposes reach; GH100 is said to have 5120
  -- naive histograms of 2^26 keys (docs/figures/h200.md): 65,536 bins, uniform: 10.9 ps each. One
  -- word is updated every 0.73 ns, by a lone lane as by 32; a line of 32 words in 2.5 ns.
  atomic_sector_ns = 0.011,
  atomic_line_ns = 0.01,
  atomic_lane_ns = 0.73,
}
