-- One of four GA107 of a board, GDDR6: NVIDIA A16 data sheet, TechPowerUp GPU database.
return {
  name = "NVIDIA A16", cc = "8.6", sms = 10, clock_mhz = 1755, l2_mib = 2,
  memory_gb = 16, bus_bits = 128, pin_gbit_s = 12.5, peak_gb_s = 200,
  pcie = { generation = 4, lanes = 4 },
}
