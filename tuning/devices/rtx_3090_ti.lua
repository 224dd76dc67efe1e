-- GA102, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 3090 Ti", cc = "8.6", sms = 84, clock_mhz = 1860, l2_mib = 6,
  memory_gb = 24, bus_bits = 384, pin_gbit_s = 21, peak_gb_s = 1008,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 4, gb_s = 48.9 }, -- its links have 14.06 GB/s each way
}
