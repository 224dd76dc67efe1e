-- GF100, GDDR5: NVIDIA Tesla C2050 board specification.
return {
  name = "Tesla C2050", cc = "2.0", sms = 14, clock_mhz = 1150, l2_mib = 0.75,
  memory_gb = 3, bus_bits = 384, pin_gbit_s = 3, peak_gb_s = 144,
  pcie = { generation = 2, lanes = 16 },
}
