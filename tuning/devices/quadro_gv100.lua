-- GV100, HBM2: NVIDIA Quadro GV100 data sheet, TechPowerUp GPU database.
return {
  name = "Quadro GV100", cc = "7.0", sms = 80, clock_mhz = 1627, l2_mib = 6,
  memory_gb = 32, bus_bits = 4096, pin_gbit_s = 1.7, peak_gb_s = 870,
  pcie = { generation = 3, lanes = 16 },
  nvlink = { generation = 2, links = 4 },
  l2_bytes_clk = 2048, -- as v100
}
