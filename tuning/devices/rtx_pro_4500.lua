-- GB203, GDDR7: NVIDIA RTX PRO 4500 data sheet; clock and L2 are guesses.
return {
  name = "NVIDIA RTX PRO 4500 Blackwell", cc = "12.0", sms = 82, clock_mhz = 2617, l2_mib = 64,
  memory_gb = 32, bus_bits = 256, pin_gbit_s = 28, peak_gb_s = 896,
  pcie = { generation = 5, lanes = 16 },
}
