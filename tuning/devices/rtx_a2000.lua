-- GA106, GDDR6: NVIDIA RTX A2000 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA RTX A2000", cc = "8.6", sms = 26, clock_mhz = 1200, l2_mib = 3,
  memory_gb = 6, bus_bits = 192, pin_gbit_s = 12, peak_gb_s = 288,
  pcie = { generation = 4, lanes = 16 },
  held = { error = 0.09, against = "double3, direct : best, 1.24 x (Nsight Compute's sample)" },
}
