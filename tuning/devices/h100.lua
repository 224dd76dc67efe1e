-- GH100, SXM5 with HBM3: NVIDIA H100 data sheet, NVIDIA H100 architecture white paper.
return {
  name = "NVIDIA H100 80GB HBM3", cc = "9.0", sms = 132, clock_mhz = 1980, l2_mib = 50,
  memory_gb = 80, bus_bits = 5120, pin_gbit_s = 5.2344, peak_gb_s = 3350,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 4, links = 18 },
  l2_bytes_clk = 4224, -- as on an H200, the same chip
}
