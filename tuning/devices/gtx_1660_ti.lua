-- TU116, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce GTX 1660 Ti", cc = "7.5", sms = 24, clock_mhz = 1770, l2_mib = 1.5,
  memory_gb = 6, bus_bits = 192, pin_gbit_s = 12, peak_gb_s = 288,
  pcie = { generation = 3, lanes = 16 },
}
