--- Device descriptions: a file of tuning/devices names a GPU and what its data sheet says; the
--- limits of a multiprocessor follow from the compute capability.

local check = require "sectile.check"

local M = {}

local KIB, MIB = 1 << 10, 1 << 20

local function limits(smem_sm_kib, smem_block_kib, threads_sm, blocks_sm, inflight_kib, fp32_clk,
                      fp64_clk, latency, l1_kib, l2_latency, l1_clk)
  return {
    smem_sm_kib = smem_sm_kib, smem_block_kib = smem_block_kib, threads_sm = threads_sm,
    blocks_sm = blocks_sm, inflight_kib = inflight_kib, fp32_clk = fp32_clk or 0,
    fp64_clk = fp64_clk or 0, sfu_clk = fp32_clk and 16 or 0, int_clk = fp32_clk and 64 or 0,
    latency_cycles = latency, l1_kib = l1_kib or 0, l2_latency_cycles = l2_latency,
    l1_bytes_clk = l1_clk,
  }
end

-- CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; bytes in flight:
-- what CUB's DeviceTransform asks for (CCCL, arch_traits.h and tuning policies). Results a cycle
-- and multiprocessor: additions, multiplications and fused ones of f32 and of f64, special
-- functions, additions and multiplications of 32-bit integers, by "Throughput of Native Arithmetic
-- Instructions"; from 10.3 on a guess by the nearest of these. Latency of a lone load from device
-- memory in cycles: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture"
-- (2024) for 8.0, 8.9, 9.0 (A100, RTX 4090, H100); 480 stands for the others. KiB of L1 and shared
-- memory together: the tuning guides of the architectures. Latency of a hit in L2: the same paper,
-- and Jia et al., "Dissecting the NVidia Turing T4 GPU via Microbenchmarking" (2019) for 7.0 and
-- 7.5, which have bytes a cycle of L1 too.
local capabilities = {
  ["7.0"] = limits(96, 96, 2048, 32, 12, 64, 32, 480, 128, 193),
  ["7.2"] = limits(96, 96, 2048, 32, 12, 64, 2, 480, 128, 193),
  ["7.5"] = limits(64, 64, 1024, 16, 12, 64, 2, 480, 96, 188, 64),
  ["8.0"] = limits(164, 163, 2048, 32, 16, 64, 32, 466, 192, 261),
  ["8.6"] = limits(100, 99, 1536, 16, 16, 128, 2, 480, 128, 240),
  ["8.7"] = limits(164, 163, 1536, 16, 16, 128, 2, 480, 192, 240),
  ["8.9"] = limits(100, 99, 1536, 24, 16, 128, 2, 542, 128, 273),
  ["9.0"] = limits(228, 227, 2048, 32, 32, 128, 64, 479, 256, 273),
  ["10.0"] = limits(228, 227, 2048, 32, 64, 128, 64, 480, 256, 290),
  ["10.3"] = limits(228, 227, 2048, 32, 64, 128, 2, 480, 256, 290),
  ["11.0"] = limits(228, 227, 1536, 24, 64, 128, 2, 480, 256, 290),
  ["12.0"] = limits(100, 99, 1536, 24, 64, 128, 2, 480, 128, 290),
  ["12.1"] = limits(100, 99, 1536, 24, 64, 128, 2, 480, 128, 290),
}

-- Limits of all compute capabilities. Registers are split over the four sub-partitions of an SM.
local REGISTERS = { sm = 65536, thread = 255, unit = 256, warps = 4 }
local THREADS_BLOCK, SMEM_BLOCK_KIB = 1024, 48

-- Devices for counting only, no toolkit of today compiles for them: CUDA C Programming Guide 4.2,
-- appendix F, and the allocation units of the CUDA Occupancy Calculator. `warps`: a multiple of so
-- many have registers; `block`: these are handed out to the block as a whole.
local function legacy(coalescing, smem_kib, threads_block, threads_sm, blocks_sm, registers)
  local l = limits(smem_kib, smem_kib, threads_sm, blocks_sm, 0)
  l.coalescing, l.threads_block, l.registers = coalescing, threads_block, registers
  return l
end

local G80 = { sm = 8192, thread = 124, unit = 256, warps = 2, block = true }
local GT200 = { sm = 16384, thread = 124, unit = 512, warps = 2, block = true }
local FERMI = { sm = 32768, thread = 63, unit = 64, warps = 2 }
capabilities["1.0"] = legacy("cc10", 16, 512, 768, 8, G80)
capabilities["1.1"] = legacy("cc10", 16, 512, 768, 8, G80)
capabilities["1.2"] = legacy("cc12", 16, 512, 1024, 8, GT200)
capabilities["1.3"] = legacy("cc12", 16, 512, 1024, 8, GT200)
capabilities["2.0"] = legacy("cc20", 48, 1024, 1536, 8, FERMI)
capabilities["2.1"] = legacy("cc20", 48, 1024, 1536, 8, FERMI)
capabilities["6.0"] = legacy("cc60", 64, 1024, 2048, 32, REGISTERS)
capabilities["6.1"] = legacy("cc60", 96, 1024, 2048, 32, REGISTERS)

-- Allocation unit of shared memory in bytes, by the first number of the capability.
local SMEM_UNITS = { 512, 128, 256, 256, 256, 256, 256 }
local SMEM_UNIT = 128 -- from 8.0 on

-- What a predicted time needs and neither the file nor the capability says: as on an H200, a guess
-- for the others. From 7.0 on a multiprocessor has four schedulers that start one instruction of 32
-- lanes a cycle. Latencies, one multiprocessor's rate to L2 and stores to parts of sectors are
-- measured (2026-11-28), by one warp of dependent instructions (4.5 cycles for a sum, 34 for shared
-- memory, 30 for a shuffle), by one block that reads what L2 holds and by stores of single words;
-- atomics: see tuning/devices/h200.lua. Of older ones nothing of this is known.
local AS_H200 = {
  issue_clk = 128, latency_cycles = 480, l2_latency_cycles = 260, shared_latency_cycles = 30,
  alu_cycles = 4.5, sfu_cycles = 18, l1_bytes_clk = 128, sm_bytes_clk = 80,
  part_store_sectors = 3.2, atomic_sector_ns = 0.011, atomic_line_ns = 0.01, atomic_lane_ns = 0.73,
}
-- Bytes a cycle and multiprocessor to L2, a launch, and a block's start (docs/figures/h200.md).
local L2_BYTES_CLK_SM, LAUNCH_US, BLOCK_CYCLES = 32, 3.1, 1.2
-- With GDDR the slices of L2 go with the channels of 32 bits, not with the multiprocessors: fitted
-- to published pairs (scripts/pairs, docs/figures/pairs.md). Jia et al. measure 100 on a T4.
local L2_BYTES_CLK_CHANNEL = 147
local GDDR = { ["7.5"] = true, ["8.6"] = true, ["8.9"] = true, ["12.0"] = true }

-- The link to the host: GB/s of a lane after its encoding (8b/10b, from the third generation on
-- 128b/130b), and the share that headers of packets of 256 bytes and flow control leave to data:
-- 54.8 GB/s of 16 lanes of the fifth generation.
local LANE_GB_S, DATA_SHARE = { 0.25, 0.5, 0.9846, 1.969, 3.938, 7.563 }, 0.87
local PCIE_LATENCY_US, HOST_COPY_GB_S = 10, 13

-- The links between devices: GB/s of one each way, by generation of NVLink (the data sheets state
-- the sum of both ways). The same share is left to data.
local NVLINK_GB_S, MOST_NVLINKS = { 20, 25, 25, 25, 50 }, 36

local function check_positive(of, keys, what, place)
  for _, key in ipairs(keys) do
    if of[key] and not (of[key] > 0 and of[key] < math.huge) then
      check.fail_key(place, key, "%s: %s must be more than 0", what, key)
    end
  end
end

local function check_range(value, key, most, what, place)
  if value < 1 or value > most then
    check.fail_key(place, key, "%s: %s must be 1 to %d, not %d", what, key, most, value)
  end
end

local function read_peer(desc, place)
  local nvlink = desc.nvlink
  if not nvlink then
    return 0
  end
  check.options(nvlink, "nvlink", place)
  check_range(nvlink.generation, "generation", #NVLINK_GB_S, "nvlink", place)
  check_range(nvlink.links, "links", MOST_NVLINKS, "nvlink", place)
  check_positive(nvlink, { "gb_s" }, "nvlink", place)
  return (nvlink.gb_s or NVLINK_GB_S[nvlink.generation] * nvlink.links * DATA_SHARE) * 1e9
end

local function read_link(desc, place)
  local pcie = desc.pcie
  if not pcie then
    return 0, 0, 0
  end
  check.options(pcie, "pcie", place)
  check_range(pcie.generation, "generation", #LANE_GB_S, "pcie", place)
  check_range(pcie.lanes, "lanes", 16, "pcie", place)
  check_positive(pcie, { "gb_s", "latency_us", "host_gb_s" }, "pcie", place)
  return (pcie.gb_s or LANE_GB_S[pcie.generation] * pcie.lanes * DATA_SHARE) * 1e9,
    (pcie.latency_us or PCIE_LATENCY_US) * 1e3, (pcie.host_gb_s or HOST_COPY_GB_S) * 1e9
end

local MOST_APART = 0.02 -- data sheets round

-- The bandwidth, which what it consists of must give where that is stated.
local function read_peak(desc, place)
  local bus, pin = desc.bus_bits, desc.pin_gbit_s
  if bus and pin and math.abs(bus * pin / 8 / desc.peak_gb_s - 1) > MOST_APART then
    check.fail_key(place, "peak_gb_s", "device file: %d bits at %g Gbit/s are %.4g GB/s, not %g",
      bus, pin, bus * pin / 8, desc.peak_gb_s)
  end
  return desc.peak_gb_s * 1e9
end

local function read_held(desc, place)
  if not desc.held then
    return 0, ""
  end
  check.options(desc.held, "held", place)
  if not (desc.held.error >= 0 and desc.held.error < math.huge) then
    check.fail_key(place, "error", "held: error must be 0 or more")
  end
  return desc.held.error, desc.held.against
end

local function l2_bytes_clk(desc, cc)
  if cc.coalescing then
    return 0
  elseif GDDR[desc.cc] and desc.bus_bits then
    return L2_BYTES_CLK_CHANNEL * desc.bus_bits // 32
  end
  return L2_BYTES_CLK_SM * desc.sms
end

local function read_rates(desc, cc)
  local rates = {
    l2_bytes_clk = desc.l2_bytes_clk or l2_bytes_clk(desc, cc),
    fp32_clk = desc.fp32_clk or cc.fp32_clk, fp64_clk = desc.fp64_clk or cc.fp64_clk,
    sfu_clk = desc.sfu_clk or cc.sfu_clk, int_clk = desc.int_clk or cc.int_clk,
    launch_ns = (desc.launch_us or LAUNCH_US) * 1e3,
    l1_bytes = (desc.l1_kib or cc.l1_kib) * KIB,
    block_ns = desc.block_ns or BLOCK_CYCLES * 1e3 / desc.clock_mhz,
  }
  for key, value in pairs(AS_H200) do
    rates[key] = desc[key] or cc.coalescing and 0 or cc[key] or value
  end
  return rates
end

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
  for key, value in pairs(desc) do
    local least_known = key == "l2_mib" and major == "1" and -1 or 0
    if math.type(value) and not (value > least_known and value < math.huge) then
      check.fail_key(place, key, "device file: %s must be more than 0", key)
    end
  end
  local generation = math.tointeger(major)
  local pcie_bytes_s, pcie_latency_ns, host_copy_bytes_s = read_link(desc, place)
  local registers = cc.registers or REGISTERS
  local held_error, held_against = read_held(desc, place)
  local out = {
    name = desc.name,
    cc_major = generation, cc_minor = math.tointeger(minor),
    n_sms = desc.sms,
    smem_sm_bytes = cc.smem_sm_kib * KIB,
    smem_block_bytes = math.min(SMEM_BLOCK_KIB, cc.smem_block_kib) * KIB,
    smem_block_optin_bytes = (cc.coalescing and math.min(SMEM_BLOCK_KIB, cc.smem_block_kib)
      or cc.smem_block_kib) * KIB,
    smem_reserved_bytes = generation >= 8 and KIB or 0,
    smem_unit = SMEM_UNITS[generation] or SMEM_UNIT,
    regs_sm = registers.sm, regs_thread = registers.thread, regs_unit = registers.unit,
    regs_by_block = registers.block or false, warp_unit = registers.warps,
    threads_sm = cc.threads_sm, threads_block = cc.threads_block or THREADS_BLOCK,
    blocks_sm = cc.blocks_sm,
    coalescing = cc.coalescing or "cc70", counting_only = cc.coalescing ~= nil,
    l2_bytes = math.floor(desc.l2_mib * MIB + 0.5),
    peak_bytes_s = read_peak(desc, place),
    copy_bytes_s = (desc.copy_gb_s or 0) * 1e9,
    inflight_bytes = (desc.inflight_kib or cc.inflight_kib) * KIB,
    memory_bytes = math.floor(desc.memory_gb * 1e9 + 0.5),
    clock_khz = desc.clock_mhz * 1000,
    pcie_bytes_s = pcie_bytes_s, pcie_latency_ns = pcie_latency_ns,
    host_copy_bytes_s = host_copy_bytes_s, peer_bytes_s = read_peer(desc, place),
    held_error = held_error, held_against = held_against,
  }
  for key, value in pairs(read_rates(desc, cc)) do
    out[key] = value
  end
  return out
end

return M
