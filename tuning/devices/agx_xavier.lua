-- GV11B, LPDDR4x shared with the host: NVIDIA Jetson AGX Xavier data sheet.
return {
  name = "Xavier", cc = "7.2", sms = 8, clock_mhz = 1377, l2_mib = 0.5,
  memory_gb = 32, bus_bits = 256, pin_gbit_s = 4.266, peak_gb_s = 136.5,
}
