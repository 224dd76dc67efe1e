-- TU104, GDDR6 (NVIDIA T4 data sheet).
return {
  name = "Tesla T4",
  cc = "7.5",
  sms = 40,
  clock_mhz = 1590,
  l2_mib = 4,
  memory_gb = 16,
  peak_gb_s = 320.0,
  pcie = { generation = 3, lanes = 16 },
}
