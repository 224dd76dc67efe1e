-- GA104, GDDR6: TechPowerUp GPU database; L2 as its driver says (log of NVBench,
-- R100001/Programming-Massively-Parallel-Processors).
return {
  name = "NVIDIA GeForce RTX 3060 Ti", cc = "8.6", sms = 38, clock_mhz = 1665, l2_mib = 3,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 14, peak_gb_s = 448,
  pcie = { generation = 4, lanes = 16 },
}
