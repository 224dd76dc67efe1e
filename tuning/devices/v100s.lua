-- GV100, HBM2: NVIDIA V100S data sheet.
return {
  name = "Tesla V100S-PCIE-32GB", cc = "7.0", sms = 80, clock_mhz = 1597, l2_mib = 6,
  memory_gb = 32, bus_bits = 4096, pin_gbit_s = 2.214, peak_gb_s = 1134,
  pcie = { generation = 3, lanes = 16 },
  l2_bytes_clk = 2048, -- as v100
}
