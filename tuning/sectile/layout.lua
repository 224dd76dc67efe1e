--- Layouts: reading a layout file, filling in its parameters, running its functions.
---
--- A layout's functions run twice: on expressions, which gives the formula, and on plain integers,
--- which checks the formula.

local core = require "sectile.core"
local check = require "sectile.check"
local kit = require "sectile.kit"

local M = {}

local MAX_ALTERNATIVES = 64

local loaded = {}

-- ---- layout files ----

local function check_param(param, k, place)
  local what = ("layout parameter %d"):format(k)
  if type(param) ~= "table" or type(param[1]) ~= "string" then
    check.fail_key(place, "params", "%s: { name, values, default = value } was expected", what)
  end
  if #param[1] > 48 or not param[1]:find "^[%a_][%w_]*$" then
    check.fail_key(place, "params", "%s: its name is letters, digits and _ only, at most 48", what)
  end
  check.options(param, "layout parameter", place)
  if param[2] ~= nil and type(param[2]) ~= "table" then
    check.fail_word(place, param[1], "parameter '%s': a list of values was expected", param[1])
  end
  for _, value in ipairs(param[2] or {}) do
    if not math.tointeger(value) then
      check.fail_word(place, param[1], "parameter '%s': its values are whole numbers", param[1])
    end
  end
end

--- Reads a layout: a built-in one by its name, or a file below the spec's directory.
---@param name string
---@param place sectile.Place
---@return table
function M.read(name, place)
  if loaded[name] then
    return loaded[name]
  end
  local desc, file = core.layout_file(name)
  if file == nil then
    local known = core.layout_names()
    if name:find "%.lua$" then
      check.fail_word(place, name, "there is no layout file '%s' below the spec's directory; " ..
        "built in: %s", name, table.concat(known, ", "))
    end
    check.fail_word(place, name, "unknown layout '%s'%s", name, core.suggest(name, known))
  end
  local at = { file = file, line = 1, anywhere = true }
  if type(desc) ~= "table" then
    check.fail(at, "a layout file returns a table { name = ..., offset = ..., bytes = ... }")
  end
  if type(desc.offset) == "function" then
    at.line = core.function_line(desc.offset)
  end
  check.options(desc, "layout file", at)
  for key in pairs(desc) do
    if type(key) ~= "string" then
      check.fail(at, "a layout file has named fields only")
    end
  end
  -- it becomes part of labels, which stand in comments, tables and databases
  if #desc.name > 48 or not desc.name:find "^[%w_.+-]+$" then
    check.fail_key(at, "name", "the name of a layout is letters, digits and _ . + - only, at " ..
      "most 48 of them")
  end
  local copy = { params = {} }
  for k, param in ipairs(desc.params or {}) do
    check_param(param, k, at)
    copy.params[k] = kit.copy(param)
    copy.params[k][2] = param[2] and kit.copy(param[2])
  end
  for _, key in ipairs { "name", "doc", "offset", "bytes", "owns_gaps" } do
    copy[key] = desc[key]
  end
  loaded[name] = { desc = copy, place = at }
  return loaded[name]
end

-- ---- parameters ----

-- Checks one value of a parameter; a list parameter checks each item.
local function check_value(name, param, value, place)
  if param.text and type(value) == "string" then
    if #value > 200 or value:find "[^ -~]" then
      check.fail(place, "layout %s: %s is an expression of at most 200 printable characters", name,
        param[1])
    end
    return value
  end
  local number = math.tointeger(value)
  if not number or type(value) ~= "number" then
    check.fail(place, "layout %s: %s must be a whole number%s, not %s", name, param[1],
      param.text and " or an expression over the extents" or "", tostring(value))
  end
  local min = param.min or 1
  if number < min and number ~= param.default then
    check.fail(place, "layout %s: %s = %d is too small; at least %d", name, param[1], number, min)
  end
  if not param.open and not kit.has(param[2] or { number }, number) then
    check.fail(place, "layout %s: %s = %d is not one of %s", name, param[1], number,
      table.concat(param[2], ", "))
  end
  return number
end

-- The alternatives of one parameter: a list of values.
local function values_of(name, param, given, place)
  if given == nil then
    local default = param.default or (param[2] or {})[1]
    if default == nil then
      check.fail(place, "layout %s needs a value for '%s'", name, param[1])
    end
    return { default }
  end
  if param.list then
    local many = type(given[1]) == "table" and given or { given }
    return kit.map(many, function(list)
      if type(list) ~= "table" then
        check.fail(place, "layout %s: %s takes a list of numbers", name, param[1])
      end
      for _, value in ipairs(list) do
        check_value(name, param, value, place)
      end
      return kit.copy(list)
    end)
  end
  local list = type(given) == "table" and given or { given }
  if #list == 0 then
    check.fail(place, "layout %s: '%s' has no values", name, param[1])
  end
  return kit.map(list, function(value) return check_value(name, param, value, place) end)
end

-- Named and positional values of a call such as s.aosoa { lanes = 64 } or s.strided { 8, 1 }.
local function given_values(name, params, given, place)
  local names, by_name = kit.map(params, function(param) return param[1] end), {}
  for k, param in ipairs(params) do
    by_name[param[1]] = given[param[1]]
    if param.list and #given > 0 then
      by_name[param[1]] = given
    elseif #given > 0 and given[k] ~= nil then
      check.fail(place, "layout %s: write %s = %s", name, param[1], tostring(given[k]))
    end
  end
  for key in pairs(given) do
    if type(key) == "string" and not by_name[key] then
      check.fail_key(place, key, "layout %s has no parameter '%s'%s", name, key,
        #names > 0 and core.suggest(key, names) or "; it has none")
    elseif #params == 0 then
      check.fail(place, "layout %s has no parameters", name)
    end
  end
  return by_name
end

local function text_of(value)
  return table.concat(kit.map(type(value) == "table" and value or { value }, tostring), ", ")
end

-- "aosoa(lanes=32)"; a parameter that has no list and its default says nothing and is left out.
local function label_of(name, params, values)
  local words = {}
  for _, param in ipairs(params) do
    local value = values[param[1]]
    if param.list then
      words[#words + 1] = text_of(value)
    elseif param[2] or value ~= param.default then
      words[#words + 1] = param[1] .. "=" .. text_of(value)
    end
  end
  return #words > 0 and name .. "(" .. table.concat(words, ", ") .. ")" or name
end

-- All combinations of the parameters' values, the first parameter slowest.
local function combine(read, given, place, out)
  local params, name = read.desc.params, read.desc.name
  local by_name = given_values(name, params, given or {}, place)
  local lists = kit.map(params, function(param)
    return values_of(name, param, by_name[param[1]], place)
  end)
  local function step(k, values)
    if k > #params then
      local copy = kit.copy(values)
      out[#out + 1] = { read = read, values = copy, label = label_of(name, params, copy) }
      return
    end
    for _, value in ipairs(lists[k]) do
      values[params[k][1]] = value
      step(k + 1, values)
    end
  end
  step(1, {})
end

--- The ways to lay out an array that a layout value stands for: a list of
--- { read = file, values = parameters, label = text }.
---@param value table what an s.aos or an s.choose {...} holds
---@param place sectile.Place
---@return table
function M.alternatives(value, place)
  local out, seen = {}, {}
  for _, choice in ipairs(value.choices or { value }) do
    combine(M.read(choice.name, choice.place), choice.given, choice.place, out)
  end
  for _, alternative in ipairs(out) do
    if seen[alternative.label] then
      check.fail(place, "layout %s appears twice in this choice", alternative.label)
    end
    seen[alternative.label] = true
  end
  if #out > MAX_ALTERNATIVES then
    check.fail(place, "this choice has %d layouts; at most %d", #out, MAX_ALTERNATIVES)
  end
  return out
end

-- ---- running a layout ----

--- What a layout's functions get as `l`: parameters by name, the record, and helpers.
---@class sectile.LayoutView
---@field record table bytes, data_bytes, align, fields
local helpers = { min = core.min, max = core.max }

--- x rounded up to a multiple of m.
function helpers.round_up(x, m)
  return (x + (m - 1)) // m * m
end

--- The number of elements.
function helpers.count(ext)
  local n = 1
  for k = 1, #ext do
    n = n * ext[k]
  end
  return n
end

--- The number of an element when the last index runs fastest.
function helpers.linear(idx, ext)
  local n = 0
  for k = 1, #ext do
    n = n * ext[k] + idx[k]
  end
  return n
end

--- The number of an element when the first index runs fastest.
function helpers.linear_col(idx, ext)
  local n = 0
  for k = #ext, 1, -1 do
    n = n * ext[k] + idx[k]
  end
  return n
end

-- What to write for a name that is no dimension of the array.
local AT_LAUNCH = " (a pitch that is known at launch: s.pitched { elements = \"pitch\" }, which is"
  .. " a dimension of the array)"

local function parameter_value(value, names, ext, place)
  if type(value) ~= "string" then
    return value
  end
  local result, why = core.evaluate(value, names, ext)
  if result == nil then
    check.fail_word(place, value, "\"%s\": %s%s", value, why,
      string.find(why, "unknown name", 1, true) and AT_LAUNCH or "")
  end
  return result
end

local function view(alternative, record, names, ext, place)
  local l = kit.copy(helpers)
  l.record = record
  for name, value in pairs(alternative.values) do
    l[name] = type(value) == "table"
      and kit.map(value, function(item) return parameter_value(item, names, ext, place) end)
      or parameter_value(value, names, ext, place)
  end
  return core.freeze(l, "the layout's `l`")
end

--- Runs a layout's functions for one element: expressions if `idx` and `ext` are expressions,
--- integers if they are integers.
---@param alternative table from alternatives()
---@param array table the array it lays out (dims, place)
---@param record table
---@param idx table list of indices
---@param ext table list of extents
---@return table offsets of the fields
---@return any bytes of the array
function M.run(alternative, array, record, idx, ext)
  local desc = alternative.read.desc
  local l = view(alternative, record, array.dims, ext, array.place)
  local offsets = {}
  for k, field in ipairs(record.fields) do
    offsets[k] = desc.offset(l, field, idx, ext)
    if offsets[k] == nil then
      check.fail(alternative.read.place, "offset returned nothing")
    end
  end
  local bytes = desc.bytes(l, ext)
  if bytes == nil then
    check.fail({ file = alternative.read.place.file, line = core.function_line(desc.bytes) },
      "bytes returned nothing")
  end
  return offsets, bytes
end

return M
