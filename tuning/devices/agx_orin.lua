-- GA10B, LPDDR5 shared with the host: NVIDIA Jetson AGX Orin data sheet; L2 as deviceQuery says.
return {
  name = "Orin", cc = "8.7", sms = 16, clock_mhz = 1300, l2_mib = 4,
  memory_gb = 64, bus_bits = 256, pin_gbit_s = 6.4, peak_gb_s = 204.8,
}
