-- GB100, HBM3e, on one board with a Grace host: NVIDIA GB200 NVL72 data sheet; SMs and clock
-- are guesses, L2 is a B200's, NVLink-C2C a GH200's.
return {
  name = "NVIDIA GB200", cc = "10.0", sms = 152, clock_mhz = 2062, l2_mib = 126,
  memory_gb = 186, bus_bits = 8192, pin_gbit_s = 7.8125, peak_gb_s = 8000,
  pcie = { generation = 5, lanes = 16, gb_s = 375 },
  nvlink = { generation = 5, links = 18 },
}
