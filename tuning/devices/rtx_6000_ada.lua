-- AD102, GDDR6: NVIDIA RTX 6000 Ada data sheet, NVIDIA Ada architecture white paper.
return {
  name = "NVIDIA RTX 6000 Ada Generation", cc = "8.9", sms = 142, clock_mhz = 2505, l2_mib = 96,
  memory_gb = 48, bus_bits = 384, pin_gbit_s = 20, peak_gb_s = 960,
  pcie = { generation = 4, lanes = 16 },
}
