-- GA100, HBM2e: NVIDIA A100 data sheet.
return {
  name = "NVIDIA A100-SXM4-80GB", cc = "8.0", sms = 108, clock_mhz = 1410, l2_mib = 40,
  memory_gb = 80, bus_bits = 5120, pin_gbit_s = 3.186, peak_gb_s = 2039,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 12 },
  l2_bytes_clk = 5120, -- as a100
}
