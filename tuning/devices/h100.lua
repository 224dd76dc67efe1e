-- GH100, SXM5 with HBM3 (NVIDIA H100 data sheet).
return {
  name = "NVIDIA H100 80GB HBM3",
  cc = "9.0",
  sms = 132,
  clock_mhz = 1980,
  l2_mib = 50,
  memory_gb = 80,
  peak_gb_s = 3350.0,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 4, links = 18 },
  l2_bytes_clk = 4224, -- as on an H200, the same chip
}
