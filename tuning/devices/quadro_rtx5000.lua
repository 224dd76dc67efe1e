-- TU104, GDDR6: NVIDIA Quadro RTX 5000 data sheet, TechPowerUp GPU database.
return {
  name = "Quadro RTX 5000", cc = "7.5", sms = 48, clock_mhz = 1815, l2_mib = 4,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 14, peak_gb_s = 448,
  pcie = { generation = 3, lanes = 16 },
  nvlink = { generation = 2, links = 1 },
}
