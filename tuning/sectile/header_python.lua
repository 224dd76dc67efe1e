-- header_python: a header as a module of Python, which has arrays of PyTorch and CuPy checked
-- before C sees them. It compiles the header in the form c and passes all arguments of a call as
-- one run of bytes: pointers, extents, the workspace, the variant, scalars in 16 bytes each.
local header_layouts = require "sectile.header_layouts"
local header_text = require "sectile.header_text"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

local POINTER_BYTES, SCALAR_BYTES = 8, 16 -- the room of a scalar, as the largest vector needs

-- What Python calls a component: how `struct` packs it; element types that arrays of it may have,
-- the one that is allocated first. PyTorch long had no unsigned types above 8 bits, and CuPy has no
-- small floats.
local COMPONENTS = {
  i8 = { "b", "int8" }, i16 = { "h", "int16" }, i32 = { "i", "int32" }, i64 = { "q", "int64" },
  u8 = { "B", "uint8" }, u16 = { "H", "uint16", "int16" }, u32 = { "I", "uint32", "int32" },
  u64 = { "Q", "uint64", "int64" }, i4 = { "B", "uint8" }, u4 = { "B", "uint8" },
  u1 = { "B", "uint8" }, bool = { "?", "bool" }, e4m3 = { "B", "float8_e4m3fn", "uint8" },
  e5m2 = { "B", "float8_e5m2", "uint8" }, f16 = { "e", "float16" },
  bf16 = { "H", "bfloat16", "uint16" }, f32 = { "f", "float32" }, f64 = { "d", "float64" },
}

local function component(type)
  return COMPONENTS[string.match(type, "^(.-)x%d$") or type]
end

local function format_of(type)
  local lanes = header_text.types[type].lanes
  return (lanes > 1 and lanes or "") .. component(type)[1]
end

-- How many values an element of a vector type has; 0: it is one.
local function lanes_of(type)
  local lanes = header_text.types[type].lanes
  return lanes > 1 and lanes or 0
end

-- ---- names ----

-- Words of Python, and what the module's own text calls.
local TAKEN = header_text.set_of [[
  False KeyError None OSError OverflowError RuntimeError True TypeError ValueError any all as assert
  async await bytearray bytes class def del dict elif enumerate except filter finally from getattr
  global import in is isinstance iter lambda len list min next nonlocal open pass print raise range
  reversed sorted str sum tuple type with yield zip FileNotFoundError int max
]]

-- The name as Python takes it: one that it needs itself, or that begins like what the module keeps
-- to itself, has a _ after it.
local function python_name(h, name)
  local private = string.sub(name, 1, 1) == "_"
  if not private and not TAKEN[name] then
    return name
  end
  return h.unused_name(private and "sct_" .. name or name .. "_")
end

local function python_flag(value)
  return value and "True" or "False"
end

-- ---- arrays ----

-- How many values an element has whose fields are of one type and follow each other; else 0.
local function values_of_record(record)
  local first = record.fields[1]
  local same = record.bytes == #record.fields * first.bytes
  for k, field in ipairs(record.fields) do
    same = same and field.offset == (k - 1) * first.bytes and field.type == first.type
  end
  return same and #record.fields * header_text.types[first.type].lanes or 0
end

-- How elements lie, and of how many values one is. A layout that the tuner chose is bytes, so that
-- a program does not change when another one wins.
local function order_of(op)
  local lanes = lanes_of(op.record.fields[1].type)
  if op.is_chosen then
    return "bytes", 0
  elseif op.is_record then
    lanes = op.layout == "aos" and values_of_record(op.record) or 0
    return lanes > 0 and "C" or "bytes", lanes
  elseif not op.packs then
    return "C", lanes
  elseif header_layouts.is_linear(op) then
    return "strided", lanes
  end
  return "bytes", 0
end

-- `("n_row", 1)` of the length "n_row + 1"; `(None, 0)` where it is not of this form.
local function solved(sig, length)
  local name, rest = string.match(length, "^n_([%w_]+)(.*)$")
  local is_extent = kit.any(sig.extents, function(extent) return extent.name == name end)
  local sign, added = string.match(rest or "", "^ *([+-]) *(%d+)$")
  if not is_extent or rest ~= "" and not added then
    return "(None, 0)"
  end
  return string.format("(\"n_%s\", %s%s)", name, sign == "-" and "-" or "", added or "0")
end

-- An array that a call may leave out: each launch writes all of it.
local function is_optional(op)
  local whole = op.is_output and not op.keeps and (op.start or #op.moved_to == 0)
  for d, dim in ipairs(op.dims) do
    whole = whole and (op.start or op.shape[d] == "n_" .. dim)
  end
  return whole and not (op.inout or op.accumulate and not op.start)
end

-- Lengths, strides in values, bytes, bytes in C order.
local function values_of(op, order)
  local field = op.record.fields[1]
  local bytes = field.bytes // header_text.types[field.type].lanes
  local values, plain = kit.copy(op.host_shape), tostring(op.record.bytes)
  for _, length in ipairs(op.host_shape) do
    local is_sum = string.find(length, " ", 1, true)
    plain = plain .. string.format(is_sum and " * (%s)" or " * %s", length)
  end
  for _, dim in ipairs(op.dims) do
    kit.append(values, order == "strided" and header_layouts.stride(op, dim, bytes) or "0")
  end
  return kit.append(values, op.host_bytes, plain)
end

local function array_values(h, op)
  local order, lanes = order_of(op)
  local names = component(op.record.fields[1].type)
  return stored.record {
    name = op.name, written = python_flag(op.is_output), optional = python_flag(is_optional(op)),
    types = order == "bytes" and { "uint8" } or { table.unpack(names, 2) }, order = order,
    lanes = lanes, values = values_of(op, order),
    dims = kit.map(op.shape, function(length) return solved(h.sig, length) end),
  }
end

-- ---- arguments ----

-- Where each argument lies among the bytes of a call, and how Python packs it.
local function add_arguments(python, h)
  local sig, offset = h.sig, 0
  python.arguments = {}
  python.extents = kit.map(sig.extents, function(extent, k)
    return string.format("n_%s = n[%d]", extent.name, k - 1)
  end)
  local function add(name, bytes)
    if name then
      kit.append(python.arguments, stored.record { name = name, offset = offset })
    end
    offset = offset + bytes
  end
  python.format = string.format("%dQ%dqQi4x", #sig.operands, #sig.extents)
  for _, op in ipairs(sig.operands) do
    add(op.name, POINTER_BYTES)
  end
  for _, extent in ipairs(sig.extents) do
    add("n_" .. extent.name, POINTER_BYTES)
  end
  add(h.workspace, POINTER_BYTES)
  add(h.forced, POINTER_BYTES)
  for _, scalar in ipairs(sig.scalars) do
    python.format = python.format .. format_of(scalar.type) .. SCALAR_BYTES
      - header_text.types[scalar.type].bytes .. "x"
    add(scalar.name, SCALAR_BYTES)
    scalar.format = format_of(scalar.type)
  end
end

-- The function's parameters: arrays, those that a call may leave out last, and by name only
-- scalars, extents, stream, workspace and variant.
local function add_parameters(python, h)
  local sig = h.sig
  local function name_of(item)
    return python_name(h, item.name)
  end
  local function arrays(optional)
    return table.unpack(kit.map(sig.operands, function(op)
      return is_optional(op) == optional and name_of(op) .. (optional and "=None" or "") or nil
    end))
  end
  python.names, python.scalar_names = kit.map(sig.operands, name_of), kit.map(sig.scalars, name_of)
  python.parameters = kit.append({}, arrays(false))
  kit.append(python.parameters, arrays(true))
  kit.append(python.parameters, "*", table.unpack(python.scalar_names))
  for _, extent in ipairs(sig.extents) do
    kit.append(python.parameters, "n_" .. extent.name .. "=None")
  end
  python.name = python_name(h, h.name)
  python.stream, python.workspace = h.unused_name "stream", h.unused_name "workspace"
  kit.append(python.parameters, python.stream .. "=None", python.workspace .. "=None",
    h.forced .. "=0")
end

--- Adds what the module's template needs in addition to the header's values.
---@param h table
function M.add(h)
  local python = stored.record {}
  python.arrays = kit.map(h.sig.operands, function(op) return array_values(h, op) end)
  add_arguments(python, h)
  add_parameters(python, h)
  h.python = python
end

return M
