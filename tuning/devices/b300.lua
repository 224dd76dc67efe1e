-- GB110, HBM3e: NVIDIA HGX B300 data sheet; SMs and L2 as a B200's, the clock is a guess.
return {
  name = "NVIDIA B300 SXM6 AC", cc = "10.3", sms = 148, clock_mhz = 1920, l2_mib = 126,
  memory_gb = 288, bus_bits = 8192, pin_gbit_s = 7.8125, peak_gb_s = 8000,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 5, links = 18 },
}
