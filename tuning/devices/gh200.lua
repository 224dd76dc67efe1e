-- GH100, HBM3, on one module with a Grace host: NVIDIA GH200 data sheet; L2 as an H200's.
-- NVLink-C2C is stated at 450 GB/s each way; copies to the device reach 375 (Schieffer et al.,
-- "Harnessing Integrated CPU-GPU System Memory for HPC", 2024).
return {
  name = "NVIDIA GH200 480GB", cc = "9.0", sms = 132, clock_mhz = 1980, l2_mib = 60,
  memory_gb = 96, bus_bits = 6144, pin_gbit_s = 5.2083, peak_gb_s = 4000,
  pcie = { generation = 5, lanes = 16, gb_s = 375 },
  nvlink = { generation = 4, links = 18 },
}
