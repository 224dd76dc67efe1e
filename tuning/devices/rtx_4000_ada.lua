-- AD104, GDDR6: NVIDIA RTX 4000 Ada data sheet, TechPowerUp GPU database; L2: 8 MiB a channel of 32
-- bits, a guess.
return {
  name = "NVIDIA RTX 4000 Ada Generation", cc = "8.9", sms = 48, clock_mhz = 2175, l2_mib = 40,
  memory_gb = 20, bus_bits = 160, pin_gbit_s = 18, peak_gb_s = 360,
  pcie = { generation = 4, lanes = 16 },
}
