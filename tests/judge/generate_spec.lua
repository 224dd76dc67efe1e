--- Random specs for the judge: layouts, places and types of all kinds, over few points.
local M = {}

local NAMES = { "i", "j", "k", "l" }
local SCALARS = {
  "f32", "f32", "f32", "i32", "u8", "i8", "u16", "f16", "bf16", "f64", "i64", "e4m3",
}
local VECTORS = { f32x2 = 2, f32x4 = 4, f64x2 = 2, i32x2 = 2, i32x4 = 4, i8x4 = 4, u8x4 = 4 }
local VECTOR_NAMES = { "f32x2", "f32x4", "f64x2", "i32x2", "i32x4", "i8x4", "u8x4" }
local ALIGN = { f32x2 = 8, f32x4 = 16, f64x2 = 16, i32x2 = 8, i32x4 = 16, f64 = 8, i64 = 8 }
local COMPONENTS = { "x", "y", "z", "w" }

local function type_of(r)
  return r:chance(20) and r:pick(VECTOR_NAMES) or r:pick(SCALARS)
end

-- ---- records ----

local function record_of(r)
  local fields, text, align = {}, {}, 4
  local one = r:chance(60) and r:pick { "f32", "f32", "f64", "u8", "i32" }
  for k = 1, r:int(2, r:pick { 3, 6, 9, 17 }) do
    local type = one or type_of(r)
    fields[k] = { name = "g" .. k, type = type }
    text[k] = ("{ \"g%d\", \"%s\" }"):format(k, type)
    align = math.max(align, ALIGN[type] or 1)
  end
  if r:chance(25) then
    text[#text + 1] = ("align = %d"):format(math.max(align, r:pick { 8, 16, 32, 64 }))
  elseif r:chance(10) then
    text[#text + 1] = "packed = true"
  end
  return fields, "s.record { " .. table.concat(text, ", ") .. " }"
end

-- ---- layouts ----

-- Strides in any order of the dimensions, each with some room.
local function strided(r, dims)
  local step, out = tostring(r:pick { 1, 1, 1, 2, 3 }), {}
  local order = {}
  for d = 1, #dims do
    order[d] = d
  end
  for _, d in ipairs(r:shuffled(order)) do
    out[d] = step:find "^%d+$" and step or ("%q"):format(step)
    step = ("%s * (%s + %d)"):format(step, dims[d], r:pick { 0, 0, 1, 3, 8 })
  end
  return "s.strided { " .. table.concat(out, ", ") .. " }"
end

local function plain_layout(r, dims)
  return r:weighted {
    { "s.row_major", 40 }, { "s.col_major", 12 },
    { ("s.pitched { align = %d }"):format(r:pick { 64, 128, 256, 512 }), 15 },
    { strided(r, dims), 20 },
  }
end

local function record_layout(r, dims)
  return r:weighted {
    { "s.aos", 40 }, { "s.soa", 25 }, { strided(r, dims), 6 },
    { ("s.aosoa { lanes = %d }"):format(r:pick { 2, 4, 6, 8, 16, 24, 32, 64 }), 25 },
  }
end

local function layout_of(r, array)
  if #array.dims == 0 then
    return array.fields and "s.aos" or "s.row_major"
  end
  local one = array.fields and record_layout or plain_layout
  local first, second = one(r, array.dims), one(r, array.dims)
  if r:chance(10) and first ~= second then
    return ("s.choose { %s, %s }"):format(first, second)
  end
  return first
end

-- ---- places ----

local PLACES = {
  function(r, name) -- shifted
    local by = r:int(1, 9)
    return ("%s + %d"):format(name, by), ("%s + %d"):format(name, by + r:int(0, 3))
  end,
  function(r, name) -- every so-manieth
    local by = r:int(2, 5)
    return ("%d * %s + %d"):format(by, name, r:int(0, by - 1)), ("%d * %s"):format(by, name)
  end,
  function(r, name) -- some share one
    local by = r:pick { 2, 3, 4, 8, 32 }
    return ("%s // %d"):format(name, by), ("(%s + %d) // %d"):format(name, by - 1, by)
  end,
  function(_, name) -- from the end
    return ("n_%s - 1 - %s"):format(name, name), name
  end,
  function(r, name) -- in turn
    local by = r:pick { 4, 7, 32, 64 }
    return ("%s %% %d"):format(name, by), tostring(by)
  end,
}

local function add_places(r, array, kinds)
  array.at, array.extents = {}, {}
  for d, name in ipairs(array.dims) do
    array.at[d], array.extents[d] = name, name
    if r:chance(50) then
      array.at[d], array.extents[d] = PLACES[r:int(1, kinds)](r, name)
    end
  end
end

-- ---- arrays ----

local function quoted_list(list)
  local out = {}
  for k, text in ipairs(list) do
    out[k] = ("%q"):format(text)
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

local function array_text(array)
  local o = { "dims = " .. quoted_list(array.dims) }
  if array.at then
    o[#o + 1] = "at = " .. quoted_list(array.at)
  end
  if array.extents then
    o[#o + 1] = "extents = " .. quoted_list(array.extents)
  end
  for _, more in ipairs(array.more) do
    o[#o + 1] = more
  end
  return ("    s.array(%q, %s, %s, {\n      %s }),\n"):format(array.name,
    array.record or ("%q"):format(array.type), array.layout, table.concat(o, ", "))
end

local function some_dims(r, dims)
  local out = {}
  for _, name in ipairs(dims) do
    out[#out + 1] = r:chance(60) and name or nil
  end
  return #out > 0 and out or { r:pick(dims) }
end

local function new_array(r, name, dims)
  local array = { name = name, dims = dims, more = {} }
  if r:chance(45) then
    array.fields, array.record = record_of(r)
  else
    array.type = type_of(r)
  end
  return array
end

local function add_taps(r, array)
  local seen, text = {}, {}
  array.taps = {}
  for k = 1, r:int(1, 5) do
    local offset = {}
    for d = 1, #array.dims do
      offset[d] = r:int(-2, 2)
    end
    local words = table.concat(offset, ", ")
    if not seen[words] and words:find "[12]" then
      seen[words] = true
      array.taps[#array.taps + 1] = { name = array.name .. "t" .. k }
      text[#text + 1] = ("%st%d = { %s }"):format(array.name, k, words)
    end
  end
  if #text > 0 then
    array.more = { "taps = { " .. table.concat(text, ", ") .. " }",
                   ("border = %q"):format(r:pick { "clamp", "zero", "wrap" }) }
  end
end

local function input_of(r, name, dims)
  local array = new_array(r, name, r:chance(20) and some_dims(r, dims) or dims)
  if #dims > 1 and r:chance(25) then
    array.dims = r:shuffled(array.dims)
  end
  if r:chance(30) then
    add_places(r, array, #PLACES)
  elseif not array.record and r:chance(25) then
    add_taps(r, array)
  end
  array.layout = layout_of(r, array)
  return array
end

-- An array behind an index array, and that one.
local function gathered(r, name, dims)
  local pick = { name = name .. "_at", dims = { dims[1] }, more = {}, type = "i32",
                 layout = "s.row_major", is_index = true }
  pick.more[1] = ("fill = %q"):format(r:pick { "random", "permuted", "identity", "constant" })
  local array = new_array(r, name, { "m" })
  array.at = { pick.name }
  if #dims > 1 and r:chance(70) then
    array.dims[2], array.at[2] = dims[#dims], dims[#dims]
  end
  array.layout = layout_of(r, array)
  return array, pick
end

-- ---- bodies ----

local function is_float(type)
  return type:find "^[fbe]" ~= nil
end

local function scalar_type(type)
  return (type:gsub("x%d$", ""))
end

-- The scalars of an array: { text, type }; of inputs often a part of them.
local function scalars_of(r, array, some)
  local out = {}
  local function add(text, type)
    local n = VECTORS[type]
    for c = 1, n and some and r:chance(20) and 1 or n or 1 do
      out[#out + 1] = { text = n and text .. "." .. COMPONENTS[c] or text,
                        type = scalar_type(type) }
    end
  end
  for _, field in ipairs(array.fields or { { type = array.type } }) do
    if not some or not array.fields or r:chance(60) then
      add(array.name .. (field.name and "." .. field.name or ""), field.type)
    end
  end
  for _, tap in ipairs(array.taps or {}) do
    add(tap.name, array.type)
  end
  return out
end

local function as_float(value)
  if is_float(value.type) then
    return "(float)" .. value.text
  end
  return "(float)(" .. value.text .. " & 63)"
end

local function as_int(value)
  if is_float(value.type) then
    return "((float)" .. value.text .. " > 1.5f ? 1 : 0)"
  end
  return "(int)(" .. value.text .. " & 63)"
end

local function body_of(r, inputs, outputs)
  local values, lines = {}, {}
  for _, array in ipairs(inputs) do
    if not array.is_index then
      for _, value in ipairs(scalars_of(r, array, r:chance(50))) do
        values[#values + 1] = value
      end
    end
  end
  local floats, ints = { "1.0f" }, { "1" }
  for k, value in ipairs(values) do
    floats[k], ints[k] = as_float(value), as_int(value)
  end
  lines[1] = "float f = " .. table.concat(floats, " + ") .. ";"
  lines[2] = "int n = " .. table.concat(ints, " + ") .. ";"
  for _, array in ipairs(outputs) do
    for _, out in ipairs(scalars_of(r, array)) do
      lines[#lines + 1] = ("%s = %s;"):format(out.text, is_float(out.type) and "f" or "n & 63")
    end
  end
  return table.concat(lines, "\n      ")
end

-- ---- kernels ----

local function extents_of(r, points)
  local n, dims, size = r:weighted { { 1, 30 }, { 2, 35 }, { 3, 25 }, { 4, 10 } }, {}, {}
  local left = r:int(points // 10, points)
  for d = 1, n do
    dims[d] = NAMES[d]
    local most = d == n and left or math.min(left, math.floor(left ^ (2 / (n - d + 2))))
    most = math.max(1, most)
    local extent = d == n and most or r:int(1, most)
    if r:chance(40) then
      extent = math.max(1, extent // 32 * 32)
    end
    size[NAMES[d]] = extent
    left = math.max(1, left // extent)
  end
  local order = r:shuffled(dims)
  local mixed = {}
  for d = 1, n do
    mixed[dims[d]] = size[order[d]]
  end
  return dims, mixed
end

local families = {}

function families.map(r, dims)
  local inputs, outputs = {}, {}
  for k = 1, r:int(1, 3) do
    inputs[k] = input_of(r, "a" .. k, dims)
  end
  for k = 1, r:int(1, 2) do
    local array = new_array(r, "b" .. k, r:chance(20) and r:shuffled(dims) or dims)
    if r:chance(15) then
      add_places(r, array, 2)
    end
    array.layout = layout_of(r, array)
    outputs[k] = array
  end
  return inputs, outputs
end

function families.gather(r, dims)
  local inputs, outputs = families.map(r, dims)
  inputs = { inputs[1], gathered(r, "t", dims) }
  return inputs, { outputs[1] }
end

function families.scatter(r, dims)
  local inputs = { (input_of(r, "a1", dims)) }
  local array, pick = gathered(r, "o", dims)
  local adds = r:chance(50)
  pick.more[1] = ("fill = %q"):format(adds and r:pick { "random", "permuted", "identity" }
    or r:pick { "permuted", "identity" })
  if adds then
    array.fields, array.record = nil, nil
    array.type = r:pick { "f32", "i32" }
    array.more = { 'accumulate = "add"', "inout = true" }
  end
  local rest = array.dims[2] and #dims - 2 or #dims - 1
  if rest > 0 and not adds then -- one point an element, else it would not be clear which stays
    array.dims, array.at = { "m" }, { pick.name }
    for d = 2, #dims do
      array.dims[d], array.at[d] = dims[d], dims[d]
    end
  end
  array.layout = layout_of(r, array)
  inputs[2] = pick
  return inputs, { array }
end

function families.reduce(r, dims)
  local inputs, outputs = families.map(r, dims)
  local kept = {}
  for d, name in ipairs(dims) do
    kept[#kept + 1] = d < #dims and r:chance(60) and name or nil
  end
  if #dims > 1 and r:chance(30) then
    kept = { dims[#dims] }
  end
  local array = { name = outputs[1].name, dims = kept, type = r:pick { "f32", "i32", "f64" },
                  more = { ("reduce = %q"):format(r:pick { "sum", "sum", "max" }) } }
  array.layout = "s.row_major"
  return inputs, { array }
end

function families.steps(r, dims)
  local inputs, outputs = families.map(r, dims)
  outputs = { outputs[1] }
  outputs[1].at, outputs[1].extents = nil, nil
  return inputs, outputs
end

local function lists(arrays)
  local out = {}
  for k, array in ipairs(arrays) do
    out[k] = array_text(array)
  end
  return table.concat(out)
end

--- The text of spec number `index`, and its size.
---@param r table random choices
---@param index integer
---@param points integer most points of its index space
function M.spec(r, index, points)
  local dims, size = extents_of(r, points)
  local family = r:weighted { { "map", 55 }, { "gather", 15 }, { "scatter", 8 }, { "reduce", 14 },
                              { "steps", 8 } }
  local inputs, outputs = families[family](r, dims)
  local what = ("body = [[\n      %s]],"):format(body_of(r, inputs, outputs))
  if family == "gather" or family == "scatter" then
    size.m = family == "gather" and r:int(1, 3 * size[dims[1]]) or size[dims[1]] + r:int(0, 99)
  elseif family == "steps" then
    local value = body_of(r, inputs, {})
    what = ("steps = {\n    { reduce = { t = \"sum\" }, body = [[%s t = f + n;]] },\n    "
      .. "{ body = [[%s]] },\n  },"):format(value,
      (body_of(r, inputs, outputs):gsub("= f;", "= f + t;")))
  end
  local words = require "sizes".text(size)
  return ("local s = require \"sectile\"\nreturn s.kernel {\n  name = \"judged_%d\",\n"
    .. "  dims = %s,\n  inputs = {\n%s  },\n  outputs = {\n%s  },\n  %s\n  tolerance = 1e-4,\n"
    .. "  sizes = { %s },\n}\n"):format(index, quoted_list(dims), lists(inputs), lists(outputs),
    what, words), size
end

return M
