-- GH100, HBM3: NVIDIA H100 NVL product brief; L2 as an H200's, which has six stacks too.
return {
  name = "NVIDIA H100 NVL", cc = "9.0", sms = 132, clock_mhz = 1785, l2_mib = 60,
  memory_gb = 94, bus_bits = 6144, pin_gbit_s = 5.1, peak_gb_s = 3938,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 4, links = 12 },
}
