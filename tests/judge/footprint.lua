--- What a kernel's index space touches of an array, by going through all of it: bytes and sectors.
local expression = require "expression"
local sizes = require "sizes"
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

--- How many sectors the set has; nil: none.
function M.sectors(set)
  local n = 0
  for _ in pairs(set or {}) do
    n = n + 1
  end
  return n
end

-- ---- what bodies mention ----

local function bodies_of(kernel)
  local out = { kernel.body }
  for _, step in ipairs(kernel.steps or {}) do
    out[#out + 1] = step.body
  end
  return (table.concat(out, "\n"):gsub("//[^\n]*", ""):gsub("/%*.-%*/", ""))
end

-- Marks the elements of field `name` that `rest`, the text behind it, means. Of a vector all is
-- used, whichever component is meant.
local function mark_field(used, record, name, rest)
  local constant = math.tointeger(rest:match "^%s*%[%s*(%d+)%s*%]")
  for _, field in ipairs(record.fields) do
    if field.name == name and (not field.element or not constant
      or constant // field.per == field.element) then
      used[field.index] = true
    end
  end
end

-- What the bodies mention of an array or a tap: a set of fields, by index.
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
          used[field.index] = true
        end
      end
    end
  end
  return used
end

local function all_fields(record)
  local used = {}
  for k in ipairs(record.fields) do
    used[k] = true
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

-- The index arrays that places go through, each after those that it is itself read through.
local function chain_of(kernel, array, out)
  for _, text in ipairs(array.at) do
    local _, names = expression.compile(text)
    for name in pairs(names) do
      local index = kernel.arrays[name]
      if index and not out[name] then
        chain_of(kernel, index, out)
        out[name] = true
        out[#out + 1] = index
      end
    end
  end
  return out
end

--- The index arrays that places of the array go through.
function M.indices(kernel, array)
  return chain_of(kernel, array, {})
end

--- Why places of the array are not known from the spec and its index arrays; nil: they are.
function M.unknown(kernel, array)
  local known, seen = {}, {}
  for _, name in ipairs(kernel.dims) do
    known[name] = true
  end
  local arrays = M.indices(kernel, array)
  for _, index in ipairs(arrays) do
    known[index.name] = true
  end
  arrays[#arrays + 1] = array
  for _, one in ipairs(arrays) do
    for _, text in ipairs(one.at) do
      local _, names = expression.compile(text)
      for name in pairs(names) do
        if not known[name] and not name:find "^n_" then
          return "computed"
        end
        seen[name] = true
      end
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

local function named_by(arrays)
  local out = {}
  for _, array in ipairs(arrays) do
    for _, text in ipairs(array.at) do
      local _, names = expression.compile(text)
      for name in pairs(names) do
        out[name] = true
      end
    end
  end
  return out
end

-- Calls `visit` with every combination of the dimensions that the array's places depend on, those
-- of its index arrays outermost: `entry` counts their combinations.
local function each_point(kernel, array, chain, size, visit)
  local env, of_entry, of_row = {}, named_by(chain), named_by { array }
  for name, extent in pairs(size) do
    env["n_" .. name] = extent
  end
  local dims, entry = {}, 0
  for _, name in ipairs(kernel.dims) do
    dims[#dims + 1] = of_entry[name] and name or nil
  end
  local n_entry = #dims
  for _, name in ipairs(kernel.dims) do
    dims[#dims + 1] = of_row[name] and not of_entry[name] and name or nil
  end
  local function step(k)
    entry = entry + (k == n_entry + 1 and 1 or 0)
    if k > #dims then
      visit(env, entry)
      return
    end
    for value = 0, size[dims[k]] - 1 do
      env[dims[k]] = value
      step(k + 1)
    end
  end
  step(1)
end

-- The parts of the array that bodies read or write: offsets of taps, and fields.
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

--- Bytes that all points of the index space ask of the array, each for itself and in every step.
function M.asked(kernel, array, size)
  local n = 0
  for _, part in ipairs(parts_of(kernel, array)) do
    for k in pairs(part.used) do
      n = n + array.record.fields[k].bytes
    end
  end
  return n * sizes.points(kernel, size) * math.max(1, #(kernel.steps or {}))
end

local function places_of(array)
  local places = {}
  for d, text in ipairs(array.at) do
    places[d] = expression.compile(text)
  end
  return places
end

-- Gives the names of index arrays the values that they hold at a point.
local function follow(chain, contents, size)
  local readers = {}
  for k, index in ipairs(chain) do
    readers[k] = { name = index.name, places = places_of(index), values = contents[index.name],
                   ext = spec.extents(index, size) }
  end
  return function(env)
    for _, reader in ipairs(readers) do
      local linear = 0
      for d, place in ipairs(reader.places) do
        linear = linear * reader.ext[d] + place(env)
      end
      env[reader.name] = reader.values[linear]
    end
  end
end

-- Sectors of the rows that entries point to: those of an entry count unless the one before has
-- them.
local function counter()
  local total, entry, now, before = 0, 0, {}, {}
  return function(number, first, n)
    if number ~= entry then
      entry, before, now = number, now, {}
    end
    for sector = first // M.SECTOR, (first + n - 1) // M.SECTOR do
      total = total + (now[sector] == nil and before[sector] == nil and 1 or 0)
      now[sector] = true
    end
  end, function() return total end
end

--- What the index space touches of the array in one of its layouts at a size: the set of its bytes,
--- and how many sectors that are. Behind index arrays, of which `contents` has the values by name,
--- each entry points to a row, whose sectors are its own unless the entry before has them too.
function M.of(kernel, array, alternative, size, contents)
  local offsets, chain = is_offsets(kernel, array), M.indices(kernel, array)
  local ext, places, last = spec.extents(array, size, offsets), places_of(array), #array.at
  local bytes_ext = { table.unpack(ext) }
  if last > 0 then
    bytes_ext[last] = (ext[last] + array.shared - 1) // array.shared
  end
  local _, offset_of = spec.place(alternative, array, bytes_ext)
  local set, parts, idx = {}, parts_of(kernel, array), {}
  local follow_indices, count, total = follow(chain, contents, size), counter()
  local entry
  local function add(first, n)
    M.add(set, first, n)
    count(entry, first, n)
  end
  each_point(kernel, array, chain, size, function(env, number)
    entry = number
    follow_indices(env)
    for _, part in ipairs(parts) do
      local there = true
      for d = 1, last do
        idx[d] = inside(places[d](env) + (part.offset[d] or 0), ext[d], array.border)
        there = there and idx[d] ~= nil
      end
      if there and last > 0 then
        idx[last] = idx[last] // array.shared
      end
      for k in pairs(there and part.used or {}) do
        local field = array.record.fields[k]
        add(offset_of(field, idx), field.bytes)
        if offsets then -- a row ends where the next begins
          add(offset_of(field, { idx[1] + 1 }), field.bytes)
        end
      end
    end
  end)
  return set, total()
end

return M
