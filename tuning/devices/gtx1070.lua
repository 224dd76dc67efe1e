-- GP104, GDDR5: NVIDIA GeForce GTX 1070 data sheet.
return {
  name = "NVIDIA GeForce GTX 1070", cc = "6.1", sms = 15, clock_mhz = 1683, l2_mib = 2,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 8, peak_gb_s = 256,
  pcie = { generation = 3, lanes = 16 },
}
