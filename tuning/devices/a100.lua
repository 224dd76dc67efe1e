-- GA100, HBM2: NVIDIA A100 data sheet, NVIDIA A100 architecture white paper.
return {
  name = "NVIDIA A100-SXM4-40GB", cc = "8.0", sms = 108, clock_mhz = 1410, l2_mib = 40,
  memory_gb = 40, bus_bits = 5120, pin_gbit_s = 2.43, peak_gb_s = 1555,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 12 },
  l2_bytes_clk = 5120, -- the white paper
  held = { error = 0.12, against = "naive transpose, 143.6 us (ayush-os/transpose)" },
}
