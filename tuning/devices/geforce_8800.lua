-- G80, GDDR3: NVIDIA GeForce 8800 GTX data sheet.
return {
  name = "GeForce 8800 GTX", cc = "1.0", sms = 16, clock_mhz = 1350, l2_mib = 0,
  memory_gb = 0.768, bus_bits = 384, pin_gbit_s = 1.8, peak_gb_s = 86.4,
  pcie = { generation = 1, lanes = 16 },
}
