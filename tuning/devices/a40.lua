-- GA102, GDDR6: NVIDIA A40 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA A40", cc = "8.6", sms = 84, clock_mhz = 1740, l2_mib = 6,
  memory_gb = 48, bus_bits = 384, pin_gbit_s = 14.5, peak_gb_s = 696,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 4, gb_s = 48.9 }, -- its links have 14.06 GB/s each way
}
