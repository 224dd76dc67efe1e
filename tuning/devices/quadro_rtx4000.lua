-- TU104, GDDR6: NVIDIA Quadro RTX 4000 data sheet, TechPowerUp GPU database.
return {
  name = "Quadro RTX 4000", cc = "7.5", sms = 36, clock_mhz = 1545, l2_mib = 4,
  memory_gb = 8, bus_bits = 256, pin_gbit_s = 13, peak_gb_s = 416,
  pcie = { generation = 3, lanes = 16 },
}
