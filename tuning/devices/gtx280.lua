-- GT200, GDDR3: NVIDIA GeForce GTX 280 data sheet.
return {
  name = "GeForce GTX 280", cc = "1.3", sms = 30, clock_mhz = 1296, l2_mib = 0,
  memory_gb = 1, bus_bits = 512, pin_gbit_s = 2.214, peak_gb_s = 141.7,
  pcie = { generation = 2, lanes = 16 },
}
