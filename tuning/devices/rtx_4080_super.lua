-- AD103, GDDR6X: TechPowerUp GPU database.
return {
  name = "NVIDIA GeForce RTX 4080 SUPER", cc = "8.9", sms = 80, clock_mhz = 2550, l2_mib = 64,
  memory_gb = 16, bus_bits = 256, pin_gbit_s = 23, peak_gb_s = 736,
  pcie = { generation = 4, lanes = 16 },
}
