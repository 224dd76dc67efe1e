--- Types and records as docs/specs.md states them: a C struct's rules, or fields without gaps.
local M = {}

-- c: in the reference; class: of a component's arithmetic; part: a component's type in C
local function type_of(name, bytes, align, kind, cuda, c, class, lanes, part)
  return { name = name, bytes = bytes, align = align, kind = kind, cuda = cuda, c = c or cuda,
    class = class, lanes = lanes or 1, part = part or c or cuda }
end

-- Floats that C has not: `from` and `to` are the reference's functions.
local function small_float(name, bytes, kind, lanes)
  local t = type_of(name, bytes, bytes, kind, name, "fz_" .. name, "f32", lanes)
  local one = name:match "^(.*)x2$" or name
  t.from, t.to = "fz_from_" .. one, "fz_to_" .. one
  return t
end

M.list = {
  type_of("i8", 1, 1, "FZ_INT", "signed char", nil, "i32"),
  type_of("i16", 2, 2, "FZ_INT", "short", nil, "i32"),
  type_of("i32", 4, 4, "FZ_INT", "int", nil, "i32"),
  type_of("i64", 8, 8, "FZ_INT", "long long", nil, "i64"),
  type_of("u8", 1, 1, "FZ_UINT", "unsigned char", nil, "i32"),
  type_of("u16", 2, 2, "FZ_UINT", "unsigned short", nil, "i32"),
  type_of("u32", 4, 4, "FZ_UINT", "unsigned int", nil, "u32"),
  type_of("u64", 8, 8, "FZ_UINT", "unsigned long long", nil, "u64"),
  type_of("bool", 1, 1, "FZ_BOOL", "bool", nil, "i32"),
  small_float("e4m3", 1, "FZ_E4M3"),
  small_float("e5m2", 1, "FZ_E5M2"),
  small_float("f16", 2, "FZ_F16"),
  small_float("bf16", 2, "FZ_BF16"),
  small_float("f16x2", 4, "FZ_F16", 2),
  small_float("bf16x2", 4, "FZ_BF16", 2),
  type_of("f32", 4, 4, "FZ_F32", "float", nil, "f32"),
  type_of("f64", 8, 8, "FZ_F64", "double", nil, "f64"),
  type_of("f32x2", 8, 8, "FZ_F32", "float2", "fz_f32x2", "f32", 2),
  type_of("f32x4", 16, 16, "FZ_F32", "float4", "fz_f32x4", "f32", 4),
  type_of("f64x2", 16, 16, "FZ_F64", "double2", "fz_f64x2", "f64", 2),
  type_of("i8x4", 4, 4, "FZ_INT", "char4", "fz_i8x4", "i32", 4, "signed char"),
  type_of("u8x4", 4, 4, "FZ_UINT", "uchar4", "fz_u8x4", "i32", 4, "unsigned char"),
  type_of("i32x2", 8, 8, "FZ_INT", "int2", "fz_i32x2", "i32", 2, "int"),
  type_of("i32x4", 16, 16, "FZ_INT", "int4", "fz_i32x4", "i32", 4, "int"),
}
M.by_name, M.scalars, M.vectors, M.numbers = {}, {}, {}, {}
for _, t in ipairs(M.list) do
  M.by_name[t.name] = t
  M.numbers[#M.numbers + 1] = t.lanes == 1 and t.name ~= "bool" and t or nil -- may be reduced
  local kind = t.lanes == 1 and M.scalars or M.vectors
  kind[#kind + 1] = t
end

--- What indices may be, and what is compared.
M.indices, M.values = {}, {}
for _, name in ipairs { "i32", "i32", "i64", "u32", "u64" } do
  table.insert(M.indices, M.by_name[name])
end
for _, name in ipairs { "f32", "f32", "i32", "u32", "i64", "u64", "f64" } do
  table.insert(M.values, M.by_name[name])
end

--- Types of which so many neighbours share a byte: read as a byte, of which they are a part.
M.shared = {}
for _, s in ipairs { { "i4", 2 }, { "u4", 2 }, { "u1", 8 } } do
  local t = type_of(s[1], 1, 1, "FZ_UINT", "unsigned char", nil, "i32")
  t.count = s[2]
  M.shared[#M.shared + 1] = t
end

--- The C type of a class of arithmetic.
M.class_c = { i32 = "int", u32 = "unsigned int", i64 = "long long", u64 = "unsigned long long",
  f32 = "float", f64 = "double" }

function M.is_float(t)
  return t.class == "f32" or t.class == "f64"
end

local function round_up(x, m)
  return (x + m - 1) // m * m
end

--- Lays a record out: offsets, bytes, align. `record` has fields = { { name, type }, ... }, packed,
--- and align (nil: natural).
function M.lay_out(record)
  local at, natural = 0, 1
  for _, f in ipairs(record.fields) do
    f.align = record.packed and 1 or f.type.align
    natural = math.max(natural, f.align)
    at = round_up(at, f.align)
    f.offset = at
    at = at + f.type.bytes
  end
  record.natural = natural
  record.bytes = round_up(at, math.max(natural, record.align or 1))
  record.real_align = math.max(natural, record.align or 1)
  return record
end

--- The record of a bare type.
function M.bare(t)
  return M.lay_out { bare = true, fields = { { name = "", type = t, count = 0, element = 0 } } }
end

-- Packed records have no pairs of small floats.
local function may_pack(fields)
  for _, f in ipairs(fields) do
    if f.type.to and f.type.lanes > 1 then
      return false
    end
  end
  return true
end

local NAMES = { "x", "y", "z", "u", "v", "p", "q", "mass", "id", "key", "flag" }

--- A random record of n fields; `types`: a list to choose from. options.bits: and of an array whose
--- elements share bytes, each of which is a field.
function M.random_record(r, n, types, options)
  local names, fields = r:shuffled(NAMES), {}
  local bits = options.bits and r:int(1, n + 1)
  for k = 1, bits and n + 1 or n do
    local of = k == bits and r:pick(M.shared) or r:pick(types)
    local count = k == bits and r:int(1, 5) or of.lanes == 1 and r:chance(12) and r:int(1, 5) or 0
    for element = 0, math.max(1, count) - 1 do -- an array's elements are fields
      local name = count > 0 and ("%s[%d]"):format(names[k], element) or names[k]
      fields[#fields + 1] = { name = name, type = of, count = count, element = element }
    end
  end
  local record = { fields = fields, packed = options.packed and may_pack(fields) }
  M.lay_out(record)
  if options.aligned then
    record.align = math.max(record.natural, r:pick { 2, 4, 8, 16, 32, 64 })
    M.lay_out(record)
  end
  return record
end

--- A copy of the record with its fields in another order or with other properties.
function M.variant(r, record, options)
  local fields, arrays = {}, false
  for _, f in ipairs(record.fields) do
    arrays = arrays or f.count and f.count > 0
  end
  local shuffles = options.shuffle and not arrays
  for k, f in ipairs(shuffles and r:shuffled(record.fields) or record.fields) do
    fields[k] = { name = f.name, type = f.type, count = f.count, element = f.element }
  end
  local out = M.lay_out { fields = fields, packed = options.packed and may_pack(fields) }
  if options.aligned then
    out.align = math.max(out.natural, r:pick { 4, 8, 16, 32 })
    M.lay_out(out)
  end
  return out
end

function M.record_lua(record)
  if record.bare then
    return ("%q"):format(record.fields[1].type.name)
  end
  local parts = {}
  for _, f in ipairs(record.fields) do
    if f.count == 0 then
      parts[#parts + 1] = ('{ "%s", "%s" }'):format(f.name, f.type.name)
    elseif f.element == 0 then
      local name = f.name:match "^[^%[]*"
      parts[#parts + 1] = ('{ "%s", "%s", %d }'):format(name, f.type.name,
        f.count * (f.type.count or 1))
    end
  end
  if record.name then
    parts[#parts + 1] = ("name = %q"):format(record.name)
  end
  if record.packed then
    parts[#parts + 1] = "packed = true"
  end
  if record.align then
    parts[#parts + 1] = ("align = %d"):format(record.align)
  end
  return "s.record { " .. table.concat(parts, ", ") .. " }"
end

return M
