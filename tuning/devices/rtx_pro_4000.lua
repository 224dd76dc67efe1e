-- GB203, GDDR7: NVIDIA RTX PRO 4000 data sheet; clock and L2 are guesses.
return {
  name = "NVIDIA RTX PRO 4000 Blackwell", cc = "12.0", sms = 70, clock_mhz = 2617, l2_mib = 48,
  memory_gb = 24, bus_bits = 192, pin_gbit_s = 28, peak_gb_s = 672,
  pcie = { generation = 5, lanes = 16 },
}
