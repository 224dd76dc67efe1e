-- TU116, GDDR6: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce GTX 1660 SUPER", cc = "7.5", sms = 22, clock_mhz = 1785, l2_mib = 1.5,
  memory_gb = 6, bus_bits = 192, pin_gbit_s = 14, peak_gb_s = 336,
  pcie = { generation = 3, lanes = 16 },
}
