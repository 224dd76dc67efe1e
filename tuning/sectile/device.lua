--- Device descriptions: a file of tuning/devices names a GPU and what its data sheet says; the
--- limits of a multiprocessor follow from the compute capability.

local check = require "sectile.check"

local M = {}

local KIB, MIB = 1 << 10, 1 << 20

local function limits(smem_sm_kib, smem_block_kib, threads_sm, blocks_sm, inflight_kib, latency)
  return {
    smem_sm_kib = smem_sm_kib, smem_block_kib = smem_block_kib, threads_sm = threads_sm,
    blocks_sm = blocks_sm, inflight_kib = inflight_kib, latency_cycles = latency or 480,
  }
end

-- CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; bytes in flight:
-- what CUB's DeviceTransform asks for (CCCL, arch_traits.h and tuning policies). Latency of a lone
-- load from device memory in cycles: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
-- Architecture" (2024) for 8.0, 8.9, 9.0 (A100, RTX 4090, H100); 480 stands for the others.
local capabilities = {
  ["7.0"] = limits(96, 96, 2048, 32, 12),
  ["7.5"] = limits(64, 64, 1024, 16, 12),
  ["8.0"] = limits(164, 163, 2048, 32, 16, 466),
  ["8.6"] = limits(100, 99, 1536, 16, 16),
  ["8.7"] = limits(164, 163, 1536, 16, 16),
  ["8.9"] = limits(100, 99, 1536, 24, 16, 542),
  ["9.0"] = limits(228, 227, 2048, 32, 32, 479),
  ["10.0"] = limits(228, 227, 2048, 32, 64),
  ["10.3"] = limits(228, 227, 2048, 32, 64),
  ["11.0"] = limits(228, 227, 1536, 24, 64),
  ["12.0"] = limits(100, 99, 1536, 24, 64),
  ["12.1"] = limits(100, 99, 1536, 24, 64),
}

-- The same for all of them.
local REGISTERS_SM, REGISTERS_THREAD, REGISTER_UNIT = 65536, 255, 256
local THREADS_BLOCK, SMEM_BLOCK = 1024, 48 * KIB

-- For predicted times. From 7.0 on a multiprocessor has four schedulers that start one instruction
-- a cycle. 32 bytes a cycle and multiprocessor to L2 and 3.1 us a launch are what an H200 shows
-- (docs/figures/predict.md): a guess for the others.
local ISSUE_CLK, L2_BYTES_CLK_SM, LAUNCH_US = 4, 32, 3.1

--- A description as the driver program wants it: plain numbers in bytes, hertz and counts.
---@param desc table what the file returned
---@param file string
---@return table
function M.read(desc, file)
  local place = { file = file, line = 1, anywhere = true }
  if type(desc) ~= "table" then
    check.fail(place, "a device file returns a table { name = ..., cc = ..., ... }")
  end
  check.options(desc, "device file", place)
  local cc = capabilities[desc.cc]
  if not cc then
    check.fail_key(place, "cc", "unknown compute capability '%s'", desc.cc)
  end
  local major, minor = desc.cc:match "^(%d+)%.(%d+)$"
  for _, key in ipairs { "sms", "clock_mhz", "l2_mib", "memory_gb", "peak_gb_s", "l2_bytes_clk",
    "latency_cycles", "launch_us" } do
    if desc[key] and desc[key] <= 0 then
      check.fail_key(place, key, "device file: %s must be more than 0", key)
    end
  end
  return {
    name = desc.name,
    cc_major = math.tointeger(major), cc_minor = math.tointeger(minor),
    n_sms = desc.sms,
    smem_sm_bytes = cc.smem_sm_kib * KIB,
    smem_block_bytes = SMEM_BLOCK,
    smem_block_optin_bytes = cc.smem_block_kib * KIB,
    smem_reserved_bytes = math.tointeger(major) >= 8 and KIB or 0,
    regs_sm = REGISTERS_SM, regs_thread = REGISTERS_THREAD, regs_unit = REGISTER_UNIT,
    threads_sm = cc.threads_sm, threads_block = THREADS_BLOCK, blocks_sm = cc.blocks_sm,
    l2_bytes = math.tointeger(desc.l2_mib * MIB),
    peak_bytes_s = desc.peak_gb_s * 1e9,
    copy_bytes_s = (desc.copy_gb_s or 0) * 1e9,
    inflight_bytes = (desc.inflight_kib or cc.inflight_kib) * KIB,
    memory_bytes = math.tointeger(desc.memory_gb * 1000 * 1000 * 1000),
    clock_khz = desc.clock_mhz * 1000,
    l2_bytes_clk = desc.l2_bytes_clk or L2_BYTES_CLK_SM * desc.sms,
    issue_clk = ISSUE_CLK,
    latency_cycles = desc.latency_cycles or cc.latency_cycles,
    launch_ns = (desc.launch_us or LAUNCH_US) * 1e3,
  }
end

return M
