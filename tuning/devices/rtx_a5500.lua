-- GA102, GDDR6: NVIDIA RTX A5500 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA RTX A5500", cc = "8.6", sms = 80, clock_mhz = 1665, l2_mib = 6,
  memory_gb = 24, bus_bits = 384, pin_gbit_s = 16, peak_gb_s = 768,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 4, gb_s = 48.9 }, -- its links have 14.06 GB/s each way
}
