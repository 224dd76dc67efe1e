-- GB110, HBM3e, on one board with a Grace host: NVIDIA GB300 NVL72 data sheet; the rest as gb200,
-- a guess.
return {
  name = "NVIDIA GB300", cc = "10.3", sms = 152, clock_mhz = 2062, l2_mib = 126,
  memory_gb = 288, bus_bits = 8192, pin_gbit_s = 7.8125, peak_gb_s = 8000,
  pcie = { generation = 5, lanes = 16, gb_s = 375 },
  nvlink = { generation = 5, links = 18 },
}
