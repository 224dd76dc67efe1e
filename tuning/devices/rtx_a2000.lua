-- GA106, GDDR6 at 12 Gb/s on 192 bits (NVIDIA RTX A2000 data sheet).
return {
  name = "NVIDIA RTX A2000",
  cc = "8.6",
  sms = 26,
  clock_mhz = 1200,
  l2_mib = 3,
  memory_gb = 6,
  peak_gb_s = 288.0,
  pcie = { generation = 4, lanes = 16 },
}
