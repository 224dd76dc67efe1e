-- hints: what a candidate tells the caches about its global accesses.
--
--   cs        what is loaded and what is stored is used once
--   keepin    L2 gives up last what is loaded (a policy of sm_80), so what is written leaves first
--   keepout   L2 gives up last what is stored, so what was read leaves first
--
-- Measured on an H200 (driver 580, 2026-11-22), against the same kernel without a hint: keepin
-- takes 1.4 % less for a copy of 512 MB, 3 % less for one of 40 MB, keepout 8 % less for the
-- latter; what makes lines leave early (evict_first, no_allocate, cs) costs 2 to 8 % where arrays
-- exceed L2.
local hints = {}

--- What the values of an axis `hint` mean.
hints.DOC = "cache hint: cs marks loads and stores as streaming, keepin what is loaded and keepout "
  .. "what is stored as the last that L2 gives up"

--- Functions that load and store with a hint; nil: it leaves this side as it is.
hints.loads = { cs = "__ldcs", keepin = "load_lasting" }
hints.stores = { cs = "__stcs", keepout = "store_lasting" }

--- What a comment says of them.
hints.why = {
  none = "", cs = ", streaming: each is used once", keepin = "; what is loaded stays in L2",
  keepout = "; what is stored stays in L2",
}

--- A constraint: keepin and keepout are worth a candidate only where `condition` holds, which is
--- what won without them.
---@param condition string
---@return string
function hints.keeps(condition)
  return "hint == 'none' or hint == 'cs' or (" .. condition .. ")"
end

--- The hint that a candidate asks for, where the device knows it.
---@param k sectile.View
---@param hint? string
---@return string
function hints.of(k, hint)
  return (hint == "keepin" or hint == "keepout") and k.device.cc < 80 and "none" or hint or "none"
end

-- Loads are volatile: of others NVVM moves one that is the same in every iteration before its loop,
-- and before the condition that keeps it inside the array.
local POLICY = [[
// A policy of L2: lines that are moved by it leave it last.
__device__ __forceinline__ unsigned long long lasting_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
]]

local LOAD_LASTING = [[
// A value of 1 to 16 bytes, whose line L2 keeps while those that are written leave.
template <class T> __device__ __forceinline__ T load_lasting(const T *from) {
  union { T value; unsigned int word[4]; unsigned short half; } u;
  const size_t at = __cvta_generic_to_global(from);
  if (sizeof(T) == 16)
    asm volatile("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3])
        : "l"(at), "l"(lasting_policy()));
  else if (sizeof(T) == 8)
    asm volatile("ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
        : "=r"(u.word[0]), "=r"(u.word[1]) : "l"(at), "l"(lasting_policy()));
  else if (sizeof(T) == 4)
    asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;"
        : "=r"(u.word[0]) : "l"(at), "l"(lasting_policy()));
  else if (sizeof(T) == 2)
    asm volatile("ld.global.nc.L2::cache_hint.b16 %0, [%1], %2;"
        : "=h"(u.half) : "l"(at), "l"(lasting_policy()));
  else
    asm volatile("ld.global.nc.L2::cache_hint.u8 %0, [%1], %2;"
        : "=r"(u.word[0]) : "l"(at), "l"(lasting_policy()));
  return u.value;
}
]]

local STORE_LASTING = [[
// A value of 1 to 16 bytes, whose line L2 keeps while those that are read leave.
template <class T, class V> __device__ __forceinline__ void store_lasting(T *to, V from) {
  union { T value; unsigned int word[4]; unsigned short half; } u;
  const size_t at = __cvta_generic_to_global(to);
  u.value = from;
  if (sizeof(T) == 16)
    asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(at),
                 "r"(u.word[0]), "r"(u.word[1]), "r"(u.word[2]), "r"(u.word[3]),
                 "l"(lasting_policy()));
  else if (sizeof(T) == 8)
    asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(at),
                 "r"(u.word[0]), "r"(u.word[1]), "l"(lasting_policy()));
  else if (sizeof(T) == 4)
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(at), "r"(u.word[0]),
                 "l"(lasting_policy()));
  else if (sizeof(T) == 2)
    asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(at), "h"(u.half),
                 "l"(lasting_policy()));
  else
    asm volatile("st.global.L2::cache_hint.u8 [%0], %1, %2;" ::"l"(at), "r"(u.word[0]),
                 "l"(lasting_policy()));
}
]]

--- Adds the functions that `hint` needs to `parts`.
---@param parts string[]
---@param hint string
function hints.helpers(parts, hint)
  if hint == "keepin" or hint == "keepout" then
    parts[#parts + 1] = POLICY
  end
  if hint == "keepin" then
    parts[#parts + 1] = LOAD_LASTING
  elseif hint == "keepout" then
    parts[#parts + 1] = STORE_LASTING
  end
end

return hints
