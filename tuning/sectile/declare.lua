-- declare: the definitions of types that stand in front of a generated kernel: half floats and
-- records.
local declare = {}

--- Wraps `text` as comment lines of at most 100 columns.
---@param text string
---@param mark? string that begins them; default //
---@return string
function declare.comment(text, mark)
  mark = mark or "//"
  local lines, line = {}, mark
  -- a backslash at a line's end would take the next line along, trigraphs are such a backslash too
  local calm = string.gsub(string.gsub(text, "\\", "/"), "%?%?+", "?")
  for word in string.gmatch(string.gsub(calm, "[^ -~\n\t]", "_"), "%S+") do
    if #line + 1 + #word > 100 then
      lines[#lines + 1], line = line, mark
    end
    line = line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- ---- types ----

local HALF = [[
// %s: 2 bytes; arithmetic goes through float.
struct %s {
  unsigned short bits;
  %s() = default;
  __device__ __forceinline__ %s(float x) {
%s
  }
%s  __device__ __forceinline__ operator float() const {
    float x;
    %s
    return x;
  }
};
]]

-- The bits of a half float. ptxas 13.0 makes bytes of one that is stored by bytes by float to int,
-- which neither of these lets it do; the first issues at half of the rate of additions or better,
-- the second at an eighth.
local FROM_FLOAT = [[
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.%sx2.f32 %%0, %%1, %%2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;]]
local FROM_FLOAT_CC70 = [[
    asm("cvt.rn.%s.f32 %%0, %%1;" : "=h"(bits) : "f"(x));
    bits = __byte_perm(bits, 0, 0x4410); // else ptxas 13.0 makes bytes of it by float to int]]

-- A field of packed records. Compilers that follow GCC pack only fields without constructors.
local PACKED = [[
// %s as a field of a packed record.
struct __attribute__((packed)) packed_%s {
  unsigned short bits;
  template <class T> __device__ __forceinline__ packed_%s &operator=(T x);
  __device__ __forceinline__ operator float() const {
    float x;
    %s
    return x;
  }
};
]]
local FROM_PACKED = [[
  __device__ __forceinline__ %s(packed_%s x) : bits(x.bits) {}
]]
local TO_PACKED = [[
template <class T> __device__ __forceinline__ packed_%s &packed_%s::operator=(T x) {
  bits = %s(x).bits;
  return *this;
}
]]

-- From the other one, which C++ does not convert to float on its own.
local FROM_OTHER = [[
  template <class T> __device__ __forceinline__ %s(T x) : %s(static_cast<float>(x)) {}
]]

local function is_half(type)
  return type == "f16" or type == "bf16"
end

local function half_types(k)
  local seen, packed, text = {}, {}, {}
  local function see(type)
    if is_half(type) and not seen[type] then
      seen[type] = true
      seen[#seen + 1] = type
    end
  end
  for _, op in ipairs(k.operands) do
    for _, field in ipairs(op.record.fields) do
      see(field.type)
      packed[field.type] = packed[field.type] or op.record.packed
    end
  end
  for _, scalar in ipairs(k.scalars) do
    see(scalar.type)
  end
  for word in string.gmatch(k.body, "[%a_][%w_]*") do
    see(word)
  end
  for n, type in ipairs(seen) do
    -- a bf16 is the upper half of a float
    local back = type == "f16" and [[asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));]]
      or "x = __uint_as_float((unsigned int)bits << 16);"
    local more = #seen > 1 and string.format(FROM_OTHER, type, type) or ""
    if packed[type] then
      more = more .. string.format(FROM_PACKED, type, type)
    end
    local from = string.format(k.device.cc >= 80 and FROM_FLOAT or FROM_FLOAT_CC70, type)
    text[n] = string.format(HALF, type, type, type, type, from, more, back)
    if packed[type] then
      text[n] = string.format(PACKED, type, type, type, back) .. text[n]
        .. string.format(TO_PACKED, type, type, type)
    end
  end
  return text
end

-- A struct definition, neighbouring fields of one type on one line.
local function struct_text(record)
  local natural = 1
  for _, field in ipairs(record.fields) do
    natural = math.max(natural, math.min(field.bytes, 16))
  end
  local attribute = ""
  if record.packed then
    attribute, natural = "__attribute__((packed)) ", 1
  end
  if record.align > natural then
    attribute = attribute .. string.format("__align__(%d) ", record.align)
  end
  local lines = { string.format("struct %s%s {", attribute, record.name) }
  local n = 1
  while n <= #record.fields do
    local names, type = {}, record.fields[n].cuda
    while n <= #record.fields and record.fields[n].cuda == type do
      names[#names + 1] = record.fields[n].name
      n = n + 1
    end
    local prefix = record.packed and is_half(type) and "packed_" or ""
    lines[#lines + 1] = string.format("  %s%s %s;", prefix, type, table.concat(names, ", "))
  end
  lines[#lines + 1] = "};"
  lines[#lines + 1] = string.format(
    'static_assert(sizeof(%s) == %d && alignof(%s) == %d, "layout of %s");', record.name,
    record.bytes, record.name, record.align, record.name)
  return table.concat(lines, "\n") .. "\n"
end

--- Type definitions: half floats and records, each once.
---@param k sectile.View
---@return string
function declare.types(k)
  local parts, seen = half_types(k), {}
  for _, op in ipairs(k.operands) do
    if not op.record.bare and not seen[op.record.name] then
      seen[op.record.name] = true
      parts[#parts + 1] = struct_text(op.record)
    end
  end
  return table.concat(parts, "\n")
end

return declare
