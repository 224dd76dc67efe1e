-- AD102, GDDR6: NVIDIA RTX 5000 Ada data sheet, TechPowerUp GPU database; L2: 8 MiB a channel of 32
-- bits, a guess.
return {
  name = "NVIDIA RTX 5000 Ada Generation", cc = "8.9", sms = 100, clock_mhz = 2550, l2_mib = 64,
  memory_gb = 32, bus_bits = 256, pin_gbit_s = 18, peak_gb_s = 576,
  pcie = { generation = 4, lanes = 16 },
}
