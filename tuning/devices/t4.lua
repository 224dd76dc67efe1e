-- TU104, GDDR6: NVIDIA T4 data sheet, NVIDIA Turing architecture white paper.
return {
  name = "Tesla T4", cc = "7.5", sms = 40, clock_mhz = 1590, l2_mib = 4,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 10, peak_gb_s = 320,
  pcie = { generation = 3, lanes = 16 },
  held = { error = 0.03, against = "transpose, naive : tiled, 1.75 x, published" },
}
