--- Prints a description as the spec that a user writes.
local steps = require "steps"
local types = require "types"

local M = {}

local function quoted(list)
  local out = {}
  for k, text in ipairs(list) do
    out[k] = ("%q"):format(text)
  end
  return "{ " .. table.concat(out, ", ") .. (#out > 0 and " }" or "}")
end

local function same_list(a, b)
  return table.concat(a, ",") == table.concat(b, ",")
end

local function layout_text(a)
  local out = {}
  for k, lay in ipairs(a.layouts) do
    out[k] = lay.lua
  end
  return #out == 1 and out[1] or "s.choose { " .. table.concat(out, ", ") .. " }"
end

local function taps_text(taps)
  local out = {}
  for k, tap in ipairs(taps) do
    out[k] = ("%s = { %s }"):format(tap.name, table.concat(tap.delta, ", "))
    if tap.how then
      local padding = {}
      for d, delta in ipairs(tap.delta) do
        padding[d] = -delta
      end
      out[k] = ("%s = { window = { %s }, padding = { %s }, dilation = { %s }, reduce = %q }")
        :format(tap.name, table.concat(tap.count, ", "), table.concat(padding, ", "),
        table.concat(tap.step, ", "), tap.how)
    end
  end
  return "taps = { " .. table.concat(out, ", ") .. " }"
end

local function pads(a)
  local out, any = {}, false
  for k, p in ipairs(a.places) do
    out[k] = tostring(p.pad or 0)
    any = any or p.pad
  end
  return any and "pad = { " .. table.concat(out, ", ") .. " }"
end

-- What differs from one element for each element of the index space.
local function options(spec, a)
  local dims, at, extents, out, moved, sized = {}, {}, {}, {}, false, false
  for k, p in ipairs(a.places) do
    dims[k], at[k], extents[k] = p.dim, p.at or p.dim, p.extent or p.dim
    moved, sized = moved or p.at, sized or p.extent
  end
  if not same_list(dims, spec.dims) then
    out[#out + 1] = "dims = " .. quoted(dims)
  end
  if moved then
    out[#out + 1] = "at = " .. quoted(at)
  end
  if sized then
    out[#out + 1] = "extents = " .. quoted(extents)
  end
  out[#out + 1] = pads(a) or nil
  if a.taps then
    out[#out + 1] = taps_text(a.taps)
    out[#out + 1] = a.border_value and "border = " .. a.border_value
      or a.border ~= "none" and ("border = %q"):format(a.border) or nil
  end
  out[#out + 1] = a.inout and "inout = true" or nil
  if a.scan then
    out[#out + 1] = ("scan = %q"):format(a.scan)
    out[#out + 1] = a.exclusive and "exclusive = true" or nil
    out[#out + 1] = spec.along ~= spec.dims[#spec.dims] and ("along = %q"):format(spec.along) or nil
  end
  out[#out + 1] = a.none and "none = true" or nil
  out[#out + 1] = a.deterministic and "deterministic = true" or nil
  for _, key in ipairs { "reduce", "accumulate", "fill" } do
    if key == "reduce" and a.given then
      out[#out + 1] = ("reduce = { %q, %q }"):format(a.reduce, a.given.fields[1].type.name)
    elseif a[key] then
      out[#out + 1] = ("%s = %q"):format(key, a[key])
    end
  end
  return out
end

local function array_text(spec, a, records)
  local element = types.record_lua(a.record)
  if not a.record.bare then
    records[#records + 1] = ("local %s_fields = %s\n"):format(a.name, element)
    element = a.name .. "_fields"
    for _, other in ipairs { table.unpack(spec.inputs), table.unpack(spec.outputs) } do
      if other.record == a.record and other ~= a and other.printed then
        records[#records] = nil
        element = other.name .. "_fields"
        break
      end
    end
    a.printed = element == a.name .. "_fields"
  end
  local more = options(spec, a)
  local text = ('    s.array("%s", %s, %s'):format(a.name, element, layout_text(a))
  if #more > 0 then
    text = text .. ",\n      { " .. table.concat(more, ", ") .. " }"
  end
  return text .. "),\n"
end

local function arrays_text(spec, list, records)
  local out = {}
  for k, a in ipairs(list) do
    out[k] = array_text(spec, a, records)
  end
  return table.concat(out)
end

local function size_text(spec, n)
  local out = {}
  for d, dim in ipairs(spec.dims) do
    out[d] = ("%s = %d"):format(dim, n[d])
  end
  for d, dim in ipairs(spec.own) do
    out[#out + 1] = ("%s = %d"):format(dim, n[#spec.dims + d])
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

local function numbers_text(numbers)
  local names = {}
  for k, number in ipairs(numbers) do
    names[k] = number.name
  end
  return #names > 0 and "  extents = " .. quoted(names) .. ",\n" or ""
end

--- The text of the spec file.
---@param spec table
---@return string
function M.text(spec)
  local records = {}
  local inputs = arrays_text(spec, spec.inputs, records)
  local outputs = arrays_text(spec, spec.outputs, records)
  local scalars, body, sizes = {}, {}, {}
  for k, scalar in ipairs(spec.scalars) do
    scalars[k] = ('{ "%s", "%s" }'):format(scalar.name, scalar.type.name)
  end
  for k, statement in ipairs(spec.body or {}) do
    body[k] = "    " .. statement.cu:gsub("\n", "\n    ")
  end
  local seen = {} -- a dimension of few elements may make two sizes equal
  for _, n in ipairs(spec.sizes) do
    local text = size_text(spec, n)
    sizes[#sizes + 1] = not seen[text] and text or nil
    seen[text] = true
  end
  return table.concat {
    'local s = require "sectile"\n\n', table.concat(records), "\nreturn s.kernel {\n",
    ("  name = %q,\n  dims = %s,\n"):format(spec.name, quoted(spec.dims)),
    spec.index and ("  index = { %q },\n"):format(spec.index.name) or "",
    numbers_text(spec.numbers or {}),
    spec.ragged and ("  ragged = { %s = \"ptr\" },\n"):format(spec.ragged.dim) or "",
    #scalars > 0 and "  scalars = { " .. table.concat(scalars, ", ") .. " },\n" or "",
    "  inputs = {\n", inputs, "  },\n  outputs = {\n", outputs, "  },\n",
    spec.steps and steps.spec_text(spec)
      or "  body = [[\n" .. table.concat(body, "\n") .. "\n  ]],\n",
    -- sums of floats: an input without the reduced dimension is the same value again and again,
    -- whose roundings add up
    spec.small and "  tolerance = 1e-3,\n" or "",
    "  sizes = { ", table.concat(sizes, ", "), " },\n}\n",
  }
end

return M
