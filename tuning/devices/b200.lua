-- GB100, HBM3e: NVIDIA HGX B200 data sheet; bandwidth as CUB reports it.
return {
  name = "NVIDIA B200", cc = "10.0", sms = 148, clock_mhz = 1965, l2_mib = 126,
  memory_gb = 180, bus_bits = 8192, pin_gbit_s = 7.5, peak_gb_s = 7670,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 5, links = 18 },
}
