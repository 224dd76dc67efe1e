--- What a kernel's index space touches of an array, by going through all of it: bytes and sectors.
--- Places behind an index array, or in ragged rows, are not known here.
local expression = require "expression"
local spec = require "spec"

local M = {}

M.SECTOR = 32

-- A set of bytes is a table from sectors to the bits of their bytes.

--- Adds `n` bytes from `first` on.
function M.add(set, first, n)
  local stop = first + n
  while first < stop do
    local sector, at = first // M.SECTOR, first % M.SECTOR
    local count = math.min(stop - first, M.SECTOR - at)
    set[sector] = (set[sector] or 0) | ((1 << count) - 1) << at
    first = first + count
  end
end

--- How many bits of a mask are set.
function M.bits(mask)
  local n = 0
  while mask ~= 0 do
    mask = mask & (mask - 1)
    n = n + 1
  end
  return n
end

--- How many sectors and bytes the set has; nil: none.
function M.size(set)
  local sectors, bytes = 0, 0
  for _, mask in pairs(set or {}) do
    sectors = sectors + 1
    bytes = bytes + (mask == 0xffffffff and M.SECTOR or M.bits(mask))
  end
  return sectors, bytes
end

-- ---- what bodies mention ----

local function bodies_of(kernel)
  local out = { kernel.body }
  for _, step in ipairs(kernel.steps or {}) do
    out[#out + 1] = step.body
  end
  return (table.concat(out, "\n"):gsub("//[^\n]*", ""):gsub("/%*.-%*/", ""))
end

local COMPONENT = { x = 0, y = 1, z = 2, w = 3 }

-- Marks a field, or of a vector the component that follows: what is used are bytes
-- { first, count } of it.
local function mark(used, field, rest)
  local each = field.type:find "x%d$" and field.bytes // math.tointeger(field.type:match "%d$")
  local component = each and COMPONENT[rest:match "^%s*%.%s*([xyzw])%f[^%w_]"]
  local parts = used[field.index] or {}
  parts[#parts + 1] = component and { component * each, each } or { 0, field.bytes }
  used[field.index] = parts
end

-- Marks the elements of field `name` that `rest`, the text behind it, means.
local function mark_field(used, record, name, rest)
  local constant = math.tointeger(rest:match "^%s*%[%s*(%d+)%s*%]")
  for _, field in ipairs(record.fields) do
    if field.name == name and (not field.element or not constant
      or constant // field.per == field.element) then
      mark(used, field, rest)
    end
  end
end

-- What the bodies mention of an array or a tap: parts of fields, by index.
local function fields_used(text, word, record)
  local used, bare = {}, #record.fields == 1 and record.fields[1].name == ""
  text = " " .. text
  for before, after in text:gmatch("()%f[%w_]" .. word .. "%f[^%w_]()") do
    if text:sub(before - 1, before - 1) ~= "." then
      local rest = text:sub(after, after + 200)
      local name = not bare and rest:match "^%s*%.%s*([%a_][%w_]*)"
      if name then
        mark_field(used, record, name, rest:match "^%s*%.%s*[%a_][%w_]*(.*)")
      else
        for _, field in ipairs(record.fields) do
          mark(used, field, bare and rest or "")
        end
      end
    end
  end
  return used
end

local function all_fields(record)
  local used = {}
  for k, field in ipairs(record.fields) do
    used[k] = { { 0, field.bytes } }
  end
  return used
end

-- Is the array read to find places of others, or rows?
local function gives_places(kernel, array)
  for _, other in pairs(kernel.arrays) do
    for _, text in ipairs(other.at) do
      local _, names = expression.compile(text)
      if names[array.name] and other ~= array then
        return true
      end
    end
  end
  for _, name in pairs(kernel.ragged or {}) do
    if name == array.name then
      return true
    end
  end
  return false
end

-- ---- going through the index space ----

local function is_offsets(kernel, array)
  for _, name in pairs(kernel.ragged or {}) do
    if name == array.name then
      return true
    end
  end
  return false
end

-- The element that an index becomes with a border, nil for none.
local function inside(index, extent, border)
  if index >= 0 and index < extent then
    return index
  elseif border == "clamp" then
    return math.max(0, math.min(extent - 1, index))
  elseif border == "wrap" then
    return index % extent
  end
end

--- Why places of the array are not known from the spec alone; nil: they are.
function M.unknown(kernel, array)
  local is_dim, seen = {}, {}
  for _, name in ipairs(kernel.dims) do
    is_dim[name] = true
  end
  for _, text in ipairs(array.at) do
    local _, names = expression.compile(text)
    for name in pairs(names) do
      if not is_dim[name] and not name:find "^n_" then
        return "behind an index"
      end
      seen[name] = true
    end
  end
  for k, offsets in pairs(kernel.ragged or {}) do
    for _, row in ipairs(kernel.arrays[offsets].dims) do
      if seen[k] and seen[row] then
        return "in ragged rows"
      end
    end
  end
end

-- Calls `visit` with every combination of the dimensions that the places name.
local function each_point(kernel, places, size, visit)
  local env, named = {}, {}
  for name, extent in pairs(size) do
    env["n_" .. name] = extent
  end
  for _, place in ipairs(places) do
    for name in pairs(place.names) do
      named[name] = true
    end
  end
  local function step(k)
    local name = kernel.dims[k]
    if not name then
      visit(env)
    elseif not named[name] then
      step(k + 1)
    else
      for value = 0, size[name] - 1 do
        env[name] = value
        step(k + 1)
      end
    end
  end
  step(1)
end

-- The parts of the array that bodies read or write: offsets of taps, and the bytes of fields.
local function parts_of(kernel, array)
  local text, parts = bodies_of(kernel), {}
  local function add(word, offset)
    local used = fields_used(text, word, array.record)
    if word == array.name and gives_places(kernel, array) then
      used = all_fields(array.record)
    end
    if next(used) then
      parts[#parts + 1] = { offset = offset, used = used }
    end
  end
  add(array.name, {})
  for name, offset in pairs(array.taps) do
    add(name, offset)
  end
  return parts
end

--- What the index space touches of the array in one of its layouts at a size, as a set.
function M.of(kernel, array, alternative, size)
  local offsets = is_offsets(kernel, array)
  local ext, places, last = spec.extents(array, size, offsets), {}, #array.at
  for d, text in ipairs(array.at) do
    local value, names = expression.compile(text)
    places[d] = { value = value, names = names }
  end
  local bytes_ext = { table.unpack(ext) }
  if last > 0 then
    bytes_ext[last] = (ext[last] + array.shared - 1) // array.shared
  end
  local _, offset_of = spec.place(alternative, array, bytes_ext)
  local set, parts, idx = {}, parts_of(kernel, array), {}
  each_point(kernel, places, size, function(env)
    for _, part in ipairs(parts) do
      local there = true
      for d = 1, last do
        idx[d] = inside(places[d].value(env) + (part.offset[d] or 0), ext[d], array.border)
        there = there and idx[d] ~= nil
      end
      if there and last > 0 then
        idx[last] = idx[last] // array.shared
      end
      for k, bytes in pairs(there and part.used or {}) do
        local field = array.record.fields[k]
        local at = offset_of(field, idx)
        for _, range in ipairs(bytes) do
          M.add(set, at + range[1], range[2])
        end
        if offsets then -- a row ends where the next begins
          M.add(set, offset_of(field, { idx[1] + 1 }), field.bytes)
        end
      end
    end
  end)
  return set
end

return M
