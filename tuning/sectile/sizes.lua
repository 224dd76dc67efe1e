--- Sizes of a kernel: those that are listed, samples of ranges, and what `--add-size` gives.

local core = require "sectile.core"
local check = require "sectile.check"
local kit = require "sectile.kit"

local M = {}

local MAX_SIZES = 256
local SAMPLES = 48     -- of a range that says nothing
local AROUND = 16      -- times as much, and as little, as an extent of a listed size
local POINTS = 96      -- around listed sizes, of which the spec and the device refuse most
local FEW_BYTES = 1 << 30 -- of a size around listed ones in any case, where the device has them
local LISTED = 8       -- sizes of calls that are tuned as if they were listed
local MOST_CALLS = 90  -- percent of all calls' bytes that these need not exceed
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

-- The value of an expression over the extents of a size; without `place`, nil where it has none.
local function value_of(text, size, place)
  local names, values = {}, {}
  for name, value in pairs(size) do
    if math.type(value) == "integer" then
      names[#names + 1], values[#values + 1] = name, value
    end
  end
  local value, why = core.evaluate(text, names, values)
  if value == nil and place then
    check.fail_key(place, text, "s.range: \"%s\": %s", text, why)
  end
  return value
end

-- Bytes of what arrays have for their fields; of an array whose extents the range does not know, 0.
local function bytes_of(arrays, size)
  local sum = 0
  for _, array in ipairs(arrays) do
    local bytes, count = 0, 1
    for _, field in ipairs(array.record.fields) do
      bytes = bytes + TYPES[field[2]].bytes
    end
    for d, dim in ipairs(array.dims) do
      count = count * (array.extents and value_of(array.extents[d], size) or size[dim] or 0)
    end
    sum = sum + bytes * count
  end
  return sum
end

local function is_within(range, arrays, size)
  for _, limit in ipairs(range.limits) do
    local value = limit.key == "bytes" and bytes_of(arrays, size)
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

-- ---- around listed sizes ----

-- Extents that stay as they are in point k: none at first; then each for itself and each pair, as
-- the spec may fix some of them.
local function held_at(names, k)
  local held = {}
  if k > POINTS // 3 then
    local first = (k - 1) % #names + 1
    held[names[first]] = true
    if k > 2 * POINTS // 3 then
      held[names[(first + (k - 1) // #names % #names) % #names + 1]] = true
    end
  end
  return held
end

-- Adds points around `listed` sizes, each extent from 1/16 to 16 times theirs, as far as arrays
-- have at most `most` bytes. The spec refuses those that it does not allow, and takes some of the
-- others.
local function add_around(sizes, listed, arrays, most)
  local n = 0
  for k = 1, POINTS do
    local of = listed[(k - 1) % #listed + 1]
    local names, extents = {}, {}
    for name, value in pairs(of) do
      if math.type(value) == "integer" and value > 0 then
        names[#names + 1] = name
      end
    end
    table.sort(names)
    local held = held_at(names, k)
    for _, name in ipairs(names) do
      if not held[name] then
        extents[#extents + 1] = { name = name, least = math.max(1, of[name] // AROUND),
          most = of[name] * AROUND }
      end
    end
    local bytes = bytes_of(arrays, of)
    local limit = math.min(most, math.max(4 * bytes, FEW_BYTES))
    local size = #extents > 0 and #extents <= #BASES
      and point({ fixed = of, extents = extents }, k, k) or of
    if bytes_of(arrays, size) <= limit
      and not kit.any(sizes, function(other) return is_same(size, other) end) then
      sizes[#sizes + 1], n = size, n + 1
    end
  end
  return n
end

-- ---- calls ----

--- Sizes that a program logged.
---@param file string
---@param place sectile.Place
---@return table
function M.calls(file, place)
  if type(file) ~= "string" then
    check.fail(place, "s.calls takes the name of a file, as in s.calls \"calls.csv\"")
  end
  return check.seal { kind = "calls", place = place, file = file }
end

local function cells_of(line)
  local cells = {}
  for cell in (line .. ","):gmatch "%s*([^,]-)%s*," do
    cells[#cells + 1] = cell
  end
  return cells
end

-- One line of the file, as a size and how often it was called.
local function read_call(head, line, where, place)
  local cells, size, count = cells_of(line), {}, 1
  if #cells ~= #head then
    check.fail(place, "%s: %d values; expected %d: %s", where, #cells, #head,
      table.concat(head, ","))
  end
  for k, name in ipairs(head) do
    local value = cells[k]:match "^%d+$" and math.tointeger(tonumber(cells[k]))
    if not value then
      check.fail(place, "%s: %s = '%s'; expected a whole number", where, name, cells[k])
    elseif name == "count" then
      count = value
    else
      size[name] = value
    end
  end
  return size, count
end

local function read_head(line, file, place)
  local head, seen = cells_of(line or ""), {}
  for _, name in ipairs(head) do
    if not name:match "^[%a_][%w_]*$" or seen[name] then
      check.fail(place, "%s:1: '%s'%s; expected the extents' names, and count, with commas between",
        file, name, seen[name] and " is given twice" or "")
    end
    seen[name] = true
  end
  return head
end

-- { size, count, bytes of all its calls }, the most bytes first; a size that stands there several
-- times once.
local function read_calls(calls, arrays)
  local text, place = core.read_text(calls.file), calls.place
  if not text then
    check.fail(place, "s.calls: there is no file '%s' in the spec's directory", calls.file)
  end
  local head, list, known, n = nil, {}, {}, 0
  local first = text:match "^[^\r\n]*" -- the names; again where a log was added to
  for line in (text:gsub("\r", "") .. "\n"):gmatch "([^\n]*)\n" do
    n = n + 1
    if not head then
      head = read_head(line, calls.file, place)
    elseif line:match "%S" and line ~= first then
      local size, count = read_call(head, line, ("%s:%d"):format(calls.file, n), place)
      local key = {}
      for k, name in ipairs(head) do
        key[k] = name == "count" and "" or size[name]
      end
      key = table.concat(key, ",")
      if not known[key] then
        known[key] = { size = size, count = 0, at = #list + 1 }
        list[#list + 1] = known[key]
      end
      known[key].count = known[key].count + count
    end
  end
  if #list == 0 then
    check.fail(place, "%s:%d: no call; expected a line of numbers below the names", calls.file,
      n)
  end
  for _, call in ipairs(list) do
    call.bytes = call.count * math.max(1, bytes_of(arrays, call.size))
  end
  table.sort(list, function(a, b)
    if a.bytes ~= b.bytes then
      return a.bytes > b.bytes
    end
    return a.at < b.at
  end)
  return list
end

-- The calls that move most are as listed; the others are samples.
local function split_calls(calls, arrays)
  local list = read_calls(calls, arrays)
  local all, sum, listed, samples = 0.0, 0.0, {}, {}
  for _, call in ipairs(list) do
    all = all + call.bytes
  end
  for k, call in ipairs(list) do
    if k == 1 or (#listed < LISTED and sum * 100 < all * MOST_CALLS) then
      listed[#listed + 1] = call
    elseif #samples < SAMPLES then
      samples[#samples + 1] = call
    end
    sum = sum + call.bytes
  end
  return listed, samples
end

-- ---- sizes from outside ----

-- A size that `--add-size row=1000,col=2000` gave.
local function given_size(text, place)
  local size = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local name, value = part:match "^%s*([%a_][%w_]*)%s*=%s*(%S+)%s*$"
    if not name or size[name] then
      check.fail(place, "--add-size '%s': %s", text, name and name .. " is given twice"
        or "expected NAME=NUMBER and commas, such as --add-size row=1000,col=2000")
    end
    size[name] = math.tointeger(value) or value
  end
  return size
end

-- ---- all of them ----

local function add_calls(sizes, weights, calls)
  for _, call in ipairs(calls) do
    sizes[#sizes + 1] = call.size
    weights[#sizes] = call.count
  end
end

--- The sizes of a kernel: listed ones first, then samples, then those from outside, then what is
--- around listed ones.
---@param options table as the user wrote it: sizes, or s.calls
---@param arrays table[] the kernel's
---@param place sectile.Place
---@return table list, weights, n_sampled, n_added (all but listed ones), n_around
function M.copy(options, arrays, place)
  options = check.open(options, "calls") and { options } or options
  check.list(options, "table", "sizes", place)
  local sizes, ranges, weights, called, n_called = {}, {}, {}, {}, 0
  for _, item in ipairs(options) do
    local range, calls = check.open(item, "range"), check.open(item, "calls")
    if calls then
      local listed, samples = split_calls(calls, arrays)
      called[#called + 1], n_called = { listed, samples }, n_called + #listed
    else
      table.insert(range and ranges or sizes, range or kit.copy(item))
    end
  end
  local n_listed = #sizes
  for _, range in ipairs(ranges) do
    add_samples(sizes, range, arrays)
    if #sizes == n_listed then
      check.fail(range.place, "s.range: no size lies within all limits")
    end
  end
  for _, calls in ipairs(called) do
    add_calls(sizes, weights, calls[2])
  end
  local n_sampled = #sizes - n_listed
  for _, calls in ipairs(called) do
    add_calls(sizes, weights, calls[1])
  end
  for _, text in ipairs(core.given_sizes()) do
    sizes[#sizes + 1] = given_size(text, place)
  end
  if #sizes > MAX_SIZES then
    check.fail_key(place, "sizes", "%d sizes; at most %d are tuned for one kernel", #sizes,
      MAX_SIZES)
  end
  local most, n_around = core.most_around(), 0
  if most and n_sampled + n_called == 0 and n_listed > 0 then
    n_around = add_around(sizes, { table.unpack(sizes) }, arrays, most)
  end
  for k = 1, #sizes do
    weights[k] = weights[k] or 0
  end
  return { list = sizes, weights = weights, n_sampled = n_sampled, n_added = #sizes - n_listed,
    n_around = n_around }
end

return M
