-- GB202, GDDR7: NVIDIA RTX PRO 6000 data sheet, NVIDIA RTX Blackwell architecture white paper.
return {
  name = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
  cc = "12.0", sms = 188, clock_mhz = 2617, l2_mib = 128,
  memory_gb = 96, bus_bits = 512, pin_gbit_s = 28, peak_gb_s = 1792,
  pcie = { generation = 5, lanes = 16 },
}
