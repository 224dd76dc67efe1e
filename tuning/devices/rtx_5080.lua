-- GB203, GDDR7: NVIDIA RTX Blackwell architecture white paper.
return {
  name = "NVIDIA GeForce RTX 5080", cc = "12.0", sms = 84, clock_mhz = 2617, l2_mib = 64,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 30, peak_gb_s = 960,
  pcie = { generation = 5, lanes = 16 },
}
