-- GV100 with three stacks of HBM2: NVIDIA TITAN V product page, TechPowerUp GPU database.
return {
  name = "NVIDIA TITAN V", cc = "7.0", sms = 80, clock_mhz = 1455, l2_mib = 4.5,
  memory_gb = 12, bus_bits = 3072, pin_gbit_s = 1.7, peak_gb_s = 652.8,
  pcie = { generation = 3, lanes = 16 },
  l2_bytes_clk = 1536, -- three quarters of a V100's slices
}
