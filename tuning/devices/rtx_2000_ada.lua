-- AD107, GDDR6: NVIDIA RTX 2000 Ada data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA RTX 2000 Ada Generation", cc = "8.9", sms = 22, clock_mhz = 2130, l2_mib = 12,
  memory_gb = 16, bus_bits = 128, pin_gbit_s = 14, peak_gb_s = 224,
  pcie = { generation = 4, lanes = 8 },
}
