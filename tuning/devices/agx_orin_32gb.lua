-- GA10B, LPDDR5 shared with the host: NVIDIA Jetson AGX Orin data sheet; L2 as agx_orin.
return {
  name = "Orin", cc = "8.7", sms = 14, clock_mhz = 930, l2_mib = 4,
  memory_gb = 32, bus_bits = 256, pin_gbit_s = 6.4, peak_gb_s = 204.8,
}
