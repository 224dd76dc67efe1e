-- AD102, GDDR6: NVIDIA L40 data sheet, NVIDIA Ada architecture white paper.
return {
  name = "NVIDIA L40", cc = "8.9", sms = 142, clock_mhz = 2490, l2_mib = 96,
  memory_gb = 48, bus_bits = 384, pin_gbit_s = 18, peak_gb_s = 864,
  pcie = { generation = 4, lanes = 16 },
}
