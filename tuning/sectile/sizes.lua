--- Sizes of a kernel: those that are listed, samples of ranges, and what `--add-size` gives.

local core = require "sectile.core"
local check = require "sectile.check"
local kit = require "sectile.kit"

local M = {}

local MAX_SIZES = 256
local SAMPLES = 48     -- of a range that says nothing
local TRIES = 256      -- points a sample, of which limits refuse most
local BASES = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53 } -- of Halton's sequence
local TYPES = core.types()

-- ---- ranges ----

local function check_limits(key, limits, least, place)
  check.list(limits, "integer", ("s.range: %s"):format(key), place)
  if #limits ~= 2 or limits[1] > limits[2] or limits[1] < least then
    check.fail_key(place, key, "s.range: %s = { least, most }, whole numbers from %d", key, least)
  end
end

--- Extents between limits, of which the tuner takes samples.
---@param options table
---@param place sectile.Place
---@return table
function M.range(options, place)
  if type(options) ~= "table" or #options > 0 then
    check.fail(place, "s.range takes limits of extents, as in s.range { i = { 1, 1 << 20 } }")
  end
  check.plain(options, "s.range", place)
  local range = { kind = "range", place = place, extents = {}, fixed = {}, limits = {},
    samples = SAMPLES }
  for key, value in pairs(options) do
    if key == "samples" and type(value) == "number" then
      if math.type(value) ~= "integer" or value < 1 or value > MAX_SIZES then
        check.fail_key(place, key, "s.range: samples is a whole number from 1 to %d", MAX_SIZES)
      end
      range.samples = value
    elseif type(value) ~= "table" then
      range.fixed[key] = value
    elseif key == "bytes" or not string.match(key, "^[%a_][%w_]*$") then
      check_limits(key, value, 0, place)
      table.insert(range.limits, { key = key, least = value[1], most = value[2] })
    else
      check_limits(key, value, 1, place)
      table.insert(range.extents, { name = key, least = value[1], most = value[2] })
    end
  end
  if #range.extents == 0 then
    check.fail(place, "s.range: no extent has limits, as in s.range { i = { 1, 1 << 20 } }")
  elseif #range.extents > #BASES then
    check.fail(place, "s.range: %d extents have limits; at most %d may", #range.extents, #BASES)
  end
  table.sort(range.extents, function(a, b) return a.name < b.name end)
  table.sort(range.limits, function(a, b) return a.key < b.key end)
  return check.seal(range)
end

-- Number k of a sequence that fills (0, 1) evenly (Halton, 1960).
local function halton(k, base)
  local value, part = 0.0, 1.0
  while k > 0 do
    part = part / base
    value = value + part * (k % base)
    k = k // base
  end
  return value
end

local function power_near(extent)
  return 1 << math.floor(math.log(extent, 2) + 0.5)
end

-- What becomes of an extent in sample k: as it is, a power of two, or a neighbour of one.
local SHAPES = {
  function(extent) return extent end,
  power_near,
  function(extent) return extent end,
  function(extent, k) return power_near(extent) + (k % 8 == 3 and 1 or -1) end,
}

-- Extents of point `at`, in the logarithms of the limits. The first samples lie at a limit of an
-- extent each: thin and short ones.
local function point(range, at, k)
  local size = kit.copy(range.fixed)
  for d, extent in ipairs(range.extents) do
    local share = halton(at, BASES[d])
    if k <= 2 * #range.extents and (k + 1) // 2 == d then
      share = k % 2
    end
    local value = math.floor(extent.least * (extent.most / extent.least) ^ share + 0.5)
    value = SHAPES[k % #SHAPES + 1](value, k)
    size[extent.name] = math.max(extent.least, math.min(extent.most, value))
  end
  return size
end

-- The value of an expression over the extents of a size.
local function value_of(text, size, place)
  local names, values = {}, {}
  for name, value in pairs(size) do
    if math.type(value) == "integer" then
      names[#names + 1], values[#values + 1] = name, value
    end
  end
  local value, why = core.evaluate(text, names, values)
  if value == nil then
    check.fail_key(place, text, "s.range: \"%s\": %s", text, why)
  end
  return value
end

-- Bytes of what arrays have for their fields; of an array whose extents the range does not know, 0.
local function bytes_of(arrays, size, place)
  local sum = 0
  for _, array in ipairs(arrays) do
    local bytes, count = 0, 1
    for _, field in ipairs(array.record.fields) do
      bytes = bytes + TYPES[field[2]].bytes
    end
    for d, dim in ipairs(array.dims) do
      count = count * (array.extents and value_of(array.extents[d], size, place) or size[dim] or 0)
    end
    sum = sum + bytes * count
  end
  return sum
end

local function is_within(range, arrays, size)
  for _, limit in ipairs(range.limits) do
    local value = limit.key == "bytes" and bytes_of(arrays, size, range.place)
      or value_of(limit.key, size, range.place)
    if value < limit.least or value > limit.most then
      return false
    end
  end
  return true
end

local function is_same(a, b)
  for name, value in pairs(a) do
    if b[name] ~= value then
      return false
    end
  end
  return true
end

-- Adds samples of a range that are not among `sizes` yet.
local function add_samples(sizes, range, arrays)
  local at = 0
  for k = 1, range.samples do
    for _ = 1, TRIES do
      at = at + 1
      local size = point(range, at, k)
      local function is_it(other) return is_same(size, other) end
      if is_within(range, arrays, size) and not kit.any(sizes, is_it) then
        sizes[#sizes + 1] = size
        break
      end
    end
  end
end

-- ---- sizes from outside ----

-- A size that `--add-size row=1000,col=2000` gave.
local function given_size(text, place)
  local size = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local name, value = part:match "^%s*([%a_][%w_]*)%s*=%s*(%S+)%s*$"
    if not name or size[name] then
      check.fail(place, "--add-size '%s': %s", text, name and name .. " stands there twice"
        or "expected NAME=NUMBER and commas, such as --add-size row=1000,col=2000")
    end
    size[name] = math.tointeger(value) or value
  end
  return size
end

-- ---- all of them ----

--- The sizes of a kernel: listed ones first, then samples, then those from outside.
---@param list table as the user wrote it
---@param arrays table[] the kernel's
---@param place sectile.Place
---@return table sizes, integer n_sampled, integer n_added samples and those from outside
function M.copy(list, arrays, place)
  check.list(list, "table", "sizes", place)
  local sizes, ranges = {}, {}
  for _, item in ipairs(list) do
    local range = check.open(item, "range")
    table.insert(range and ranges or sizes, range or kit.copy(item))
  end
  local n_listed = #sizes
  for _, range in ipairs(ranges) do
    add_samples(sizes, range, arrays)
    if #sizes == n_listed then
      check.fail(range.place, "s.range: no size lies within all limits")
    end
  end
  local n_sampled = #sizes - n_listed
  for _, text in ipairs(core.given_sizes()) do
    sizes[#sizes + 1] = given_size(text, place)
  end
  if #sizes > MAX_SIZES then
    check.fail_key(place, "sizes", "%d sizes; at most %d are tuned for one kernel", #sizes,
      MAX_SIZES)
  end
  return sizes, n_sampled, #sizes - n_listed
end

return M
