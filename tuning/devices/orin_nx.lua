-- GA10B, LPDDR5 shared with the host: NVIDIA Jetson Orin NX data sheet; L2 as deviceQuery says.
return {
  name = "Orin", cc = "8.7", sms = 8, clock_mhz = 918, l2_mib = 2,
  memory_gb = 16, bus_bits = 128, pin_gbit_s = 6.4, peak_gb_s = 102.4,
}
