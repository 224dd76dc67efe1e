-- GA102, GDDR6: NVIDIA RTX A4500 data sheet; L2: 0.5 MiB a channel of 32 bits, as in the NVIDIA
-- Ampere GA102 architecture white paper.
return {
  name = "NVIDIA RTX A4500", cc = "8.6", sms = 56, clock_mhz = 1650, l2_mib = 5,
  memory_gb = 20, bus_bits = 320, pin_gbit_s = 16, peak_gb_s = 640,
  pcie = { generation = 4, lanes = 16 },
  nvlink = { generation = 3, links = 4, gb_s = 48.9 }, -- its links have 14.06 GB/s each way
}
