-- GB203, GDDR7: NVIDIA RTX Blackwell architecture white paper.
return {
  name = "NVIDIA GeForce RTX 5070 Ti", cc = "12.0", sms = 70, clock_mhz = 2452, l2_mib = 48,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 28, peak_gb_s = 896,
  pcie = { generation = 5, lanes = 16 },
}
