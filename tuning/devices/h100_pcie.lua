-- GH100, HBM2e: NVIDIA H100 PCIe product brief.
return {
  name = "NVIDIA H100 PCIe", cc = "9.0", sms = 114, clock_mhz = 1755, l2_mib = 50,
  memory_gb = 80, bus_bits = 5120, pin_gbit_s = 3.186, peak_gb_s = 2039,
  pcie = { generation = 5, lanes = 16 },
  nvlink = { generation = 4, links = 12 },
}
