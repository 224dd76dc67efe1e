-- stored: what a store says of a problem and of a kernel's launch, checked. A store is data that
-- may come from elsewhere: every name must be a name, every type one of ours, every expression one
-- that only computes. What does not fit is raised with the field's path.
local core = require "sectile.core"
local kit = require "sectile.kit"
local header_text = require "sectile.header_text"

local M = {}

local MOST_ITEMS, MOST_BYTES, MOST_HALO = 4096, 1 << 20, 1 << 16

-- ---- values that know where they stand ----

--- Raises why the store's data cannot become a header (header.lua gives it back).
---@param format string
function M.refuse(format, ...)
  error({ refused = string.format(format, ...) }, 0)
end

-- `at`: "the stored signature is damaged: operands[0].name"
local function fail(at, format, ...)
  M.refuse("%s: %s", at, string.format(format, ...))
end

local function member_of(at, key)
  return at .. (string.sub(at, -2) == ": " and "" or ".") .. key
end

-- A JSON object has keys; what has none and no items is an empty list, too.
local function has_keys(v)
  local n = 0
  for _ in pairs(v) do
    n = n + 1
  end
  return n > 0
end

local function item_of(at, k)
  return at .. "[" .. k - 1 .. "]"
end

-- A name that no value has is a mistake of ours.
local strict = {
  __index = function(_, key)
    if type(key) == "string" then
      error("no value has the name '" .. key .. "'", 2)
    end
  end,
}

--- A table of which only fields that are there may be read; what is absent is false.
---@param fields table
---@return table
function M.record(fields)
  return setmetatable(fields, strict)
end

-- ---- readers: functions of a value and its path ----

local function text(v, at)
  return type(v) == "string" and v or fail(at, "expected text")
end

local function name(v, at)
  return header_text.is_name(text(v, at)) and v or fail(at, "expected a name")
end

local function integer(least, most)
  return function(v, at)
    return math.type(v) == "integer" and v >= least and v <= most and v
      or fail(at, "expected a whole number from %d to %d", least, most)
  end
end

local function align(v, at)
  return integer(1, 4096)(v, at) & (v - 1) == 0 and v or fail(at, "expected a power of two")
end

local function type_name(v, at)
  return header_text.types[text(v, at)] and v or fail(at, "expected a type such as f32")
end

local function flag(v)
  return v == true
end

local function optional(of, default)
  return function(v, at)
    if v == nil then
      return default
    end
    return of(v, at)
  end
end

local function list(of)
  return function(v, at)
    if type(v) ~= "table" or #v > MOST_ITEMS or #v == 0 and has_keys(v) then
      fail(at, "expected a list")
    end
    return kit.map(v, function(item, k) return of(item, item_of(at, k)) end)
  end
end

-- So many items.
local function exactly(n, of, message)
  return function(v, at)
    local items = list(of)(v, at)
    return #items == n and items or fail(at, "%s", message)
  end
end

-- A table with these members: name, reader, name, reader, ...; others are none of ours.
local function object(members)
  return function(v, at)
    local out = {}
    if type(v) ~= "table" then
      fail(at, "expected an object")
    end
    for k = 1, #members, 2 do
      local key = members[k]
      out[key] = members[k + 1](v[key], member_of(at, key))
    end
    return M.record(out)
  end
end

-- ---- expressions ----

-- Over the extents; `floors`: also with sct_floor_div() and sct_floor_mod(); `dims`: and over these
-- indices.
local function expression(sig, floors, dims)
  local known = {}
  for _, extent in ipairs(sig.extents) do
    known["n_" .. extent.name] = true
  end
  for _, dim in ipairs(dims or {}) do
    known[dim] = true
  end
  return function(v, at)
    return header_text.is_expression(text(v, at), known, floors) and v
      or fail(at, "expected an expression over %sthe extents n_...",
        dims and #dims > 0 and "indices and " or "")
  end
end

local function one_each(n, of)
  return exactly(n, of, "expected one expression for each dimension, field or layout")
end

-- An absent list is as one without items.
local function some(v)
  return type(v) ~= "table" or #v > 0 or has_keys(v)
end

-- ---- the signature ----

-- A field's, which may be an element of an array: "q[3]".
local function field_name(v, at)
  local base, rest = string.match(text(v, at), "^([^%[]*)(.*)$")
  return header_text.is_name(base) and (rest == "" or string.find(rest, "^%[%d%d?%]$")) and v
    or fail(at, "expected a name")
end

local function record(bare)
  return function(v, at)
    local out = object {
      "bytes", integer(1, MOST_BYTES), "align", align, "packed", flag,
      "name", bare and function() return false end or name,
      "fields", list(function(field) return field end),
    }(v, at)
    if #out.fields < 1 or bare and #out.fields ~= 1 then
      fail(member_of(at, "fields"), "expected %s", bare and "one field" or "at least one field")
    end
    out.fields = kit.map(out.fields, function(field, k)
      local place = item_of(member_of(at, "fields"), k)
      local of = type_name(type(field) == "table" and field.type or nil, member_of(place, "type"))
      local bytes = header_text.types[of].bytes
      return object {
        "type", type_name, "name", bare and function() return "" end or field_name,
        "offset", integer(0, out.bytes - bytes),
      }(field, place)
    end)
    for _, field in ipairs(out.fields) do
      field.bytes = header_text.types[field.type].bytes
      field.cuda = header_text.types[field.type].cuda
    end
    return out
  end
end

local function role(v, at)
  return (text(v, at) == "in" or v == "out") and v or fail(at, "expected in or out")
end

-- A text of which none is as the empty one.
local function word(v, at)
  return v ~= nil and text(v, at) ~= "" and v or false
end

local texts = optional(list(text), {})

local function operand(v, at)
  return object {
    "name", name, "role", role, "inout", flag, "keeps", flag,
    "record", record(type(v) == "table" and v.bare == true), "layouts", list(text),
    "reduce", word, "scan", word, "accumulate", word, "ordered", flag,
    "start", optional(integer(0, 255), false), "at", texts, "taps", texts,
    "border", optional(text, "none"), "offsets", flag, "dims", texts,
  }(v, at)
end

-- Dimensions name the indices of formulas: each must be a parameter beside the extents.
local function check_dims(op, sig, at)
  local taken = { min = true, max = true }
  for _, extent in ipairs(sig.extents) do
    taken["n_" .. extent.name] = true
  end
  for d, dim in ipairs(op.dims) do
    if taken[dim] or not header_text.is_name(dim) or string.find(dim, "^sct_floor_") then
      fail(item_of(at, d), "expected a name that no other index has")
    end
    taken[dim] = true
  end
end

-- Where elements lie under each layout; stores of older programs have none.
local function read_formulas(op, sig, doc, at)
  local over = expression(sig, true)
  op.formulas, op.shape = false, false
  if doc.formulas == nil or not some(doc.formulas) then
    return
  end
  if #list(flag)(doc.formulas, member_of(at, "formulas")) ~= #op.layouts then
    fail(member_of(at, "formulas"), "expected one for each layout")
  end
  check_dims(op, sig, member_of(at, "dims"))
  op.shape = one_each(#op.dims, over)(doc.shape, member_of(at, "shape"))
  op.formulas = list(object {
    "doc", optional(text, ""), "bytes", over,
    "offsets", one_each(#op.record.fields, expression(sig, true, op.dims)),
  })(doc.formulas, member_of(at, "formulas"))
end

-- What an operand says in expressions over the extents.
local function read_expressions(op, sig, doc, at)
  local conditions = optional(list(expression(sig)), {})
  read_formulas(op, sig, doc, at)
  op.bytes = doc.bytes ~= nil and some(doc.bytes)
    and one_each(#op.layouts, expression(sig, true))(doc.bytes, member_of(at, "bytes"))
  op.inside = conditions(doc.inside, member_of(at, "inside"))
  op.apart = optional(list(function(steps, place)
    return #conditions(steps, place) % 2 == 0 and (steps or {})
      or fail(place, "expected a step and its last index, for each")
  end), {})(doc.apart, member_of(at, "apart"))
  op.bounds = conditions(doc.bounds, member_of(at, "bounds"))
end

-- How arrays are cut into chunks, for a spec with `host = true`.
local function read_host(sig, doc, at)
  local place = member_of(at, "host")
  local host = object {
    "chunks", function(v, where)
      local is_dim = kit.any(sig.dims, function(dim) return dim.name == text(v, where) end)
      return is_dim and v or fail(where, "expected a dimension")
    end,
    "before", integer(0, MOST_HALO), "after", integer(0, MOST_HALO),
  }(doc.host, place)
  for k, op in ipairs(sig.operands) do
    local of, where = doc.operands[k], item_of(member_of(at, "operands"), k)
    local writes = member_of(where, "writes_all")
    op.stays = of.stays == true
    op.chunk_steps = one_each(#op.layouts, expression(sig, true))(of.chunk_steps,
      member_of(where, "chunk_steps"))
    op.writes_all = list(flag)(of.writes_all, writes)
    if #op.writes_all ~= #op.layouts or not op.bytes then
      fail(writes, "expected one for each layout, and its bytes")
    end
  end
  return host
end

local function extent_name(v, at)
  return header_text.is_identifier(text(v, at)) and not string.find(v, "__", 1, true) and v
    or fail(at, "expected a name")
end

local function read_extents(doc, at)
  local place = member_of(at, "extents")
  local extents = list(object {
    "name", extent_name, "dim", flag, "reduced", flag, "ragged", flag, "rows", flag,
  })(doc.extents, place)
  for k, extent in ipairs(extents) do
    if k > 1 and extent.dim and not extents[k - 1].dim then
      fail(item_of(place, k), "expected those with \"dim\": true first")
    end
    for _, what in ipairs { "reduced", "ragged", "rows" } do
      extent[what] = extent.dim and extent[what]
    end
  end
  return extents
end

-- Two arguments of the launch function must not have one spelling.
local function read_arguments(sig, at)
  local arguments, seen = {}, {}
  for _, items in ipairs { sig.operands, sig.scalars, sig.extents } do
    for _, item in ipairs(items) do
      local argument = (items == sig.extents and "n_" or "") .. item.name
      if seen[argument] then
        fail(at .. argument, "expected every argument to have a name of its own")
      end
      seen[argument] = true
      kit.append(arguments, argument)
    end
  end
  return arguments
end

--- The signature of a problem; a document of docs/store.md.
---@param doc table
---@return table
function M.signature(doc)
  local at = "the stored signature is damaged: "
  local sig = object {
    "name", name, "body", optional(text, ""), "operands", list(operand),
    "scalars", optional(list(object { "name", name, "type", type_name }), {}),
  }(doc, at)
  sig.extents = read_extents(doc, at)
  sig.dims = kit.map(sig.extents, function(extent) return extent.dim and extent or nil end)
  for k, op in ipairs(sig.operands) do
    read_expressions(op, sig, doc.operands[k], item_of(member_of(at, "operands"), k))
    op.is_output, op.stays = op.role == "out", false
  end
  if #sig.operands == 0 then
    fail(member_of(at, "operands"), "expected at least one")
  elseif #sig.dims == 0 then
    fail(member_of(at, "extents"), "expected at least one with \"dim\": true")
  end
  sig.arguments = read_arguments(sig, at)
  sig.host = doc.host ~= nil and read_host(sig, doc, at)
  sig.workspace = doc.workspace == true
  return sig
end

-- ---- launch data ----

--- What C++ would align the record to by itself.
---@param of table
---@return integer
function M.natural_align(of)
  local bytes = kit.map(of.fields, function(field) return field.bytes end)
  return of.packed and 1 or math.max(table.unpack(bytes))
end

-- What a parameter of a kernel of the user's own receives: one of `arguments`, or a value.
local function parameter(sig)
  local function one_of(items, wanted, at)
    return kit.any(items, function(item) return item.name == text(wanted, at) end)
  end
  return function(v, at)
    local fields = type(v) == "table" and v or {}
    local wanted = fields.array or fields.scalar
    if wanted == nil then
      return object { "value", expression(sig), "type", type_name }(v, at)
    end
    local key = fields.array ~= nil and "array" or "scalar"
    return one_of(fields.array and sig.operands or sig.scalars, wanted, member_of(at, key))
      and M.record { argument = wanted, value = false }
      or fail(at, "expected an array or a scalar")
  end
end

local function kernel_name(is_own)
  return function(v, at)
    if not is_own then
      return name(v, at)
    end
    return core.is_kernel_name(text(v, at)) and v or fail(at, "expected the name of a kernel")
  end
end

--- How a kernel is launched.
---@param doc table
---@param sig table
---@return table
function M.launch(doc, sig)
  local at = "the stored launch data is damaged: "
  local is_own, over = doc.params ~= nil, expression(sig)
  local launch = object {
    "kernel", kernel_name(is_own),
    "params", is_own and list(parameter(sig)) or function() return false end,
    "threads", integer(1, 1024), "shared_bytes", integer(0, 1 << 24),
    "static_shared_bytes", integer(0, 1 << 24), "grid", over,
    "requires", optional(list(over), {}), "doc", optional(text, ""),
    "workspace_bytes", optional(integer(0, 1 << 30), 0), "passes", optional(integer(2, 16), 0),
  }(doc, at)
  if is_own then
    if #launch.params == 0 then
      fail(member_of(at, "kernel"), "expected the name of a kernel")
    end
    local side = integer(1, 1024)
    launch.block = kit.map({ 1, 2, 3 }, function(d)
      return side(type(doc.block) == "table" and doc.block[d] or nil,
        item_of(member_of(at, "block"), d))
    end)
    launch.grid_dims = one_each(3, expression(sig, true))(doc.grid_dims, member_of(at, "grid_dims"))
  end
  if doc.exclusive == true then
    M.refuse("the kernel '%s' keeps partial results in an array of its own, as older versions made "
      .. "them: run `sectile tune` on its spec again", launch.kernel)
  end
  local function per_operand(key, read)
    local of = type(doc[key]) == "table" and doc[key] or {}
    return kit.map(sig.operands, function(op)
      return read(of[op.name], member_of(member_of(at, key), op.name), op)
    end)
  end
  launch.align = per_operand("align", function(v, place, op)
    return v == nil and M.natural_align(op.record) or align(v, place)
  end)
  launch.layouts = per_operand("layouts", function(v, place, op)
    return v == nil and #op.layouts == 1 and op.layouts[1] or text(v, place)
  end)
  return launch
end

return M
