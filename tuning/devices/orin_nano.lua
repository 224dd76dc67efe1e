-- GA10B, LPDDR5 shared with the host, in its 25 W mode: NVIDIA Jetson Orin Nano Super data sheet;
-- L2 as orin_nx.
return {
  name = "Orin", cc = "8.7", sms = 8, clock_mhz = 1020, l2_mib = 2,
  memory_gb = 8, bus_bits = 128, pin_gbit_s = 6.4, peak_gb_s = 102.4,
}
