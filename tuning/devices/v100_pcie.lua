-- GV100, HBM2: NVIDIA V100 data sheet.
return {
  name = "Tesla V100-PCIE-16GB", cc = "7.0", sms = 80, clock_mhz = 1380, l2_mib = 6,
  memory_gb = 16, bus_bits = 4096, pin_gbit_s = 1.754, peak_gb_s = 900,
  pcie = { generation = 3, lanes = 16 },
  l2_bytes_clk = 2048, -- as v100
}
