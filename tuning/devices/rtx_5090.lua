-- GB202, GDDR7: NVIDIA RTX Blackwell architecture white paper.
return {
  name = "NVIDIA GeForce RTX 5090", cc = "12.0", sms = 170, clock_mhz = 2407, l2_mib = 96,
  memory_gb = 32, bus_bits = 512, pin_gbit_s = 28, peak_gb_s = 1792,
  pcie = { generation = 5, lanes = 16 },
}
