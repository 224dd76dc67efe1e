-- LPDDR5X shared with the host: NVIDIA Jetson AGX Thor data sheet; SMs and L2 as deviceQuery says.
return {
  name = "NVIDIA Thor", cc = "11.0", sms = 20, clock_mhz = 1575, l2_mib = 32,
  memory_gb = 128, bus_bits = 256, pin_gbit_s = 8.533, peak_gb_s = 273,
}
