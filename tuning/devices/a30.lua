-- GA100, HBM2: NVIDIA A30 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA A30", cc = "8.0", sms = 56, clock_mhz = 1440, l2_mib = 24,
  memory_gb = 24, bus_bits = 3072, pin_gbit_s = 2.43, peak_gb_s = 933,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 4 },
  l2_bytes_clk = 3072, -- three fifths of an A100's slices
}
