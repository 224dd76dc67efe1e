-- TU117, GDDR6: NVIDIA T1000 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA T1000", cc = "7.5", sms = 14, clock_mhz = 1395, l2_mib = 1,
  memory_gb = 4, bus_bits = 128, pin_gbit_s = 10, peak_gb_s = 160,
  pcie = { generation = 3, lanes = 16 },
}
