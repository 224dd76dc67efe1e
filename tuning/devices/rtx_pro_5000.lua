-- GB202, GDDR7: NVIDIA RTX PRO 5000 data sheet; clock and L2 are guesses.
return {
  name = "NVIDIA RTX PRO 5000 Blackwell", cc = "12.0", sms = 110, clock_mhz = 2617, l2_mib = 96,
  memory_gb = 48, bus_bits = 384, pin_gbit_s = 28, peak_gb_s = 1344,
  pcie = { generation = 5, lanes = 16 },
}
