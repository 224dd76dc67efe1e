-- GA102, GDDR6X: NVIDIA Ampere GA102 architecture white paper.
return {
  name = "NVIDIA GeForce RTX 3090", cc = "8.6", sms = 82, clock_mhz = 1695, l2_mib = 6,
  memory_gb = 24, bus_bits = 384, pin_gbit_s = 19.5, peak_gb_s = 936,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 4, gb_s = 48.9 }, -- its links have 14.06 GB/s each way
}
