-- GV11B, LPDDR4x shared with the host: NVIDIA Jetson Xavier NX data sheet.
return {
  name = "Xavier", cc = "7.2", sms = 6, clock_mhz = 1100, l2_mib = 0.5,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 3.732, peak_gb_s = 59.7,
}
