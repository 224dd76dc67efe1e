-- declare: the definitions of types that stand in front of a generated kernel: small floats and
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

-- Floating-point numbers that are structs of bits, as CUDA has none without a header.
local SMALL = [[
// %s: %d byte%s; arithmetic goes through float.
struct %s {
  unsigned %s bits;
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
local HALF_FROM_FLOAT = [[
    unsigned int pair; // with 0: a conversion to one half alone is slow
    asm("cvt.rn.%sx2.f32 %%0, %%1, %%2;" : "=r"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned short)pair;]]
local HALF_FROM_FLOAT_CC70 = [[
    asm("cvt.rn.%s.f32 %%0, %%1;" : "=h"(bits) : "f"(x));
    bits = __byte_perm(bits, 0, 0x4410); // else ptxas 13.0 makes bytes of it by float to int]]

-- Conversion to floats of one byte: what is too large becomes the largest number, as all frameworks
-- quantise.
local BYTE_FROM_FLOAT = [[
    unsigned short pair; // with 0
    asm("cvt.rn.satfinite.%sx2.f32 %%0, %%1, %%2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    bits = (unsigned char)pair;]]
local E4M3_FROM_FLOAT = "    bits = nearest_float8<3, 7>(x, 448.0f);"
local E5M2_FROM_FLOAT = "    bits = nearest_float8<2, 15>(x, 57344.0f);"
local E4M3_TO_FLOAT = [[
    unsigned int pair; // two f16
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)bits));
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)pair));]]
-- An f16 of the same exponent is 256 times smaller; all ones are the one NaN.
local E4M3_TO_FLOAT_CC70 = [[
    const unsigned short half = (bits & 0x80) << 8 | (bits & 0x7f) << 7;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    x = (bits & 0x7f) == 0x7f ? __uint_as_float(0x7fffffff) : x * 256.0f;]]

local SMALL_TYPES = {
  f16 = {
    bytes = 2, from = HALF_FROM_FLOAT, since = 80, before = HALF_FROM_FLOAT_CC70,
    to = [[    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));]],
  },
  bf16 = { -- the upper half of a float
    bytes = 2, from = HALF_FROM_FLOAT, since = 80, before = HALF_FROM_FLOAT_CC70,
    to = "    x = __uint_as_float((unsigned int)bits << 16);",
  },
  e4m3 = {
    bytes = 1, from = BYTE_FROM_FLOAT, since = 89, before = E4M3_FROM_FLOAT, to = E4M3_TO_FLOAT,
    to_before = E4M3_TO_FLOAT_CC70,
  },
  e5m2 = { -- the upper byte of an f16
    bytes = 1, from = BYTE_FROM_FLOAT, since = 89, before = E5M2_FROM_FLOAT,
    to = [[    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)(bits << 8)));]],
  },
}

-- Two of them, as one word.
local PAIR = [[
// Two %s, aligned as one word.
struct __align__(4) %s {
  %s x, y;
};
]]

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

-- From another one, which C++ does not convert to float on its own.
local FROM_OTHER = [[
  template <class T> __device__ __forceinline__ %s(T x) : %s(static_cast<float>(x)) {}
]]

--- Is a type, as specs call it, a struct that kernels define?
---@param type string
---@return boolean
function declare.is_struct(type)
  return SMALL_TYPES[string.match(type, "^(.*)x2$") or type] ~= nil
end

-- Do fields of packed records need another type?
local function is_packed_apart(type)
  return SMALL_TYPES[type] ~= nil and SMALL_TYPES[type].bytes > 1
end

-- The small types that a kernel names, each once; which of them packed records have; the pairs.
local function small_types(k)
  local seen, packed, pairs_of = {}, {}, {}
  local function see(type)
    local one = string.match(type, "^(.*)x2$")
    if SMALL_TYPES[one] and not pairs_of[type] then
      pairs_of[type] = true
      pairs_of[#pairs_of + 1] = type
      see(one)
    elseif SMALL_TYPES[type] and not seen[type] then
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
  return seen, packed, pairs_of
end

local function small_type_texts(k)
  local seen, packed, pairs_of = small_types(k)
  local text = {}
  for n, type in ipairs(seen) do
    local small = SMALL_TYPES[type]
    local apart, is_new = packed[type] and is_packed_apart(type), k.device.cc >= small.since
    local to = not is_new and small.to_before or small.to
    local more = #seen > 1 and string.format(FROM_OTHER, type, type) or ""
    if apart then
      more = more .. string.format(FROM_PACKED, type, type)
    end
    local from = string.format(is_new and small.from or small.before, type)
    text[n] = string.format(SMALL, type, small.bytes, small.bytes > 1 and "s" or "", type,
      small.bytes > 1 and "short" or "char", type, type, from, more, to)
    if apart then
      text[n] = string.format(PACKED, type, type, type, to) .. text[n]
        .. string.format(TO_PACKED, type, type, type)
    end
  end
  for _, type in ipairs(pairs_of) do
    text[#text + 1] = string.format(PAIR, string.sub(type, 1, -3), type, string.sub(type, 1, -3))
  end
  return text
end

-- Field number n of a struct, with its neighbours of one type; an array whose elements share bytes
-- has a line and a comment of its own. Also the number of the field after them.
local function members_text(record, n)
  local first, names = record.fields[n], {}
  repeat
    local field = record.fields[n]
    names[#names + 1] = field.n_elements == 0 and field.name
      or string.gsub(field.name, "%[.*", "[" .. field.n_elements .. "]")
    n = n + math.max(1, field.n_elements)
    local next_one = record.fields[n]
  until not next_one or next_one.cuda ~= first.cuda or first.shared + next_one.shared > 2
  local note = first.shared == 1 and "" or string.format(" // %d of %s, %d a byte, low bits first",
    first.n_elements * first.shared, first.type, first.shared)
  local prefix = record.packed and is_packed_apart(first.cuda) and "packed_" or ""
  return string.format("  %s%s %s;%s", prefix, first.cuda, table.concat(names, ", "), note), n
end

-- A struct definition.
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
    lines[#lines + 1], n = members_text(record, n)
  end
  lines[#lines + 1] = "};"
  lines[#lines + 1] = string.format(
    'static_assert(sizeof(%s) == %d && alignof(%s) == %d, "layout of %s");', record.name,
    record.bytes, record.name, record.align, record.name)
  return table.concat(lines, "\n") .. "\n"
end

--- Type definitions: small floats and records, each once.
---@param k sectile.View
---@return string
function declare.types(k)
  local parts, seen = small_type_texts(k), {}
  for _, op in ipairs(k.operands) do
    if not op.record.bare and not seen[op.record.name] then
      seen[op.record.name] = true
      parts[#parts + 1] = struct_text(op.record)
    end
  end
  return table.concat(parts, "\n")
end

return declare
