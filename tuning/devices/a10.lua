-- GA102, GDDR6: NVIDIA A10 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA A10", cc = "8.6", sms = 72, clock_mhz = 1695, l2_mib = 6,
  memory_gb = 24, bus_bits = 384, pin_gbit_s = 12.5, peak_gb_s = 600,
  pcie = { generation = 4, lanes = 16 },
}
