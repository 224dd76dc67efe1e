-- LPDDR5X shared with a Grace host: NVIDIA DGX Spark data sheet; SMs, clock and L2 as deviceQuery
-- says.
return {
  name = "NVIDIA GB10", cc = "12.1", sms = 48, clock_mhz = 2418, l2_mib = 24,
  memory_gb = 128, bus_bits = 256, pin_gbit_s = 8.533, peak_gb_s = 273,
}
