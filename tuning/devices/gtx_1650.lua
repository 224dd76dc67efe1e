-- TU117, GDDR5: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce GTX 1650", cc = "7.5", sms = 14, clock_mhz = 1665, l2_mib = 1,
  memory_gb = 4, bus_bits = 128, pin_gbit_s = 8, peak_gb_s = 128,
  pcie = { generation = 3, lanes = 16 },
}
