-- AD104, GDDR6: NVIDIA RTX 4500 Ada data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA RTX 4500 Ada Generation", cc = "8.9", sms = 60, clock_mhz = 2580, l2_mib = 48,
  memory_gb = 24, bus_bits = 192, pin_gbit_s = 18, peak_gb_s = 432,
  pcie = { generation = 4, lanes = 16 },
}
