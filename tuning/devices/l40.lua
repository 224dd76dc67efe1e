-- AD102, GDDR6 (NVIDIA L40 data sheet).
return {
  name = "NVIDIA L40",
  cc = "8.9",
  sms = 142,
  clock_mhz = 2490,
  l2_mib = 96,
  memory_gb = 48,
  peak_gb_s = 864.0,
  pcie = { generation = 4, lanes = 16 },
}
