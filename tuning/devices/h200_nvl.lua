-- GH100, HBM3e: NVIDIA H200 NVL product brief; L2 as an H200's.
return {
  name = "NVIDIA H200 NVL", cc = "9.0", sms = 132, clock_mhz = 1785, l2_mib = 60,
  memory_gb = 141, bus_bits = 6144, pin_gbit_s = 6.25, peak_gb_s = 4800,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 4, links = 18 },
}
