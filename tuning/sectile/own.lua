--- Kernels that users have already: `also = { ... }` of s.kernel.

local core = require "sectile.core"
local check = require "sectile.check"
local kit = require "sectile.kit"

local M = {}

local MAX_OWN, MAX_AXES = 16, 12 -- SCT_MAX_OWN, SCT_MAX_OWN_AXES
local TYPES = { "i32", "u32", "i64", "u64", "f32", "f64" }

-- "32" of 32: an expression.
local function expression(value, what, place)
  if type(value) ~= "string" and math.type(value) ~= "integer" then
    check.fail(place, "%s: an expression as text or a whole number was expected, not a %s", what,
      type(value))
  end
  return tostring(value)
end

-- One expression, or a list of at most three: x, y and z.
local function sides(value, what, place)
  local list = type(value) == "table" and value or { value }
  check.list(list, "string|integer", what, place)
  if #list < 1 or #list > 3 then
    check.fail_key(place, what, "%s has %d entries; it has one to three: x, y and z", what, #list)
  end
  return kit.map(list, function(item) return expression(item, what, place) end)
end

-- { TILE = { 16, 32 } } as a list in order of names.
local function copy_axes(axes, place)
  local out = {}
  check.plain(axes, "axes", place)
  for name, values in pairs(axes) do
    if type(name) ~= "string" or type(values) ~= "table" or #values == 0 then
      check.fail_key(place, tostring(name),
        "axes: every axis has a name and a list of values, as in axes = { TILE = { 16, 32 } }")
    end
    check.list(values, "integer|string|boolean", ("axis '%s'"):format(name), place)
    for n, value in ipairs(values) do
      if type(value) ~= type(values[1]) then
        check.fail_key(place, name, "axis '%s': all its values are of one type; the first is a %s, "
          .. "value %d a %s", name, type(values[1]), n, type(value))
      elseif kit.has({ table.unpack(values, 1, n - 1) }, value) then
        check.fail_key(place, name, "axis '%s' has the value %s twice", name, tostring(value))
      end
    end
    out[#out + 1] = { name = name, values = kit.copy(values) }
  end
  if #out > MAX_AXES then
    check.fail_key(place, "axes", "%d axes; a kernel has at most %d", #out, MAX_AXES)
  end
  return out
end

-- Names, expressions, { expression, type }.
local function copy_args(args, place)
  check.list(args, "string|table|integer", "args", place)
  return kit.map(args, function(arg, n)
    local what = ("args: item %d"):format(n)
    local pair = type(arg) == "table" and arg or { arg, "i32" }
    if #pair ~= 2 or type(pair[2]) ~= "string" then
      check.fail_key(place, "args", "%s is the name of an array or a scalar, an expression, or "
        .. "{ expression, type }, as in { \"n_row\", \"i64\" }", what)
    end
    return { text = expression(pair[1], what, place),
             type = check.word(pair[2], TYPES, what .. ": unknown type", place) }
  end)
end

local function copy_align(align, place)
  local out = {}
  check.plain(align, "align", place)
  for name, bytes in pairs(align) do
    if type(name) ~= "string" then
      check.fail_key(place, "align", "align gives bytes by an array's name, as in "
        .. "align = { a = 16 }")
    end
    out[#out + 1] = { array = name, bytes = expression(bytes, "align", place) }
  end
  return out
end

local function copy_entry(entry, place)
  check.options(entry, "a kernel of your own", place)
  if #entry > 0 then
    check.fail_key(place, "also", "also: every entry of a kernel has a name, as in { cuda = "
      .. "\"mine.cu\", kernel = \"mine\" }")
  end
  local where = type(entry.where) == "table" and entry.where or { entry.where }
  check.list(where, "string", "where", place)
  return {
    cuda = entry.cuda, kernel = entry.kernel, name = entry.name,
    axes = copy_axes(entry.axes or {}, place), args = copy_args(entry.args, place),
    block = sides(entry.block, "block", place), grid = sides(entry.grid, "grid", place),
    shared = entry.shared and expression(entry.shared, "shared", place),
    where = kit.copy(where), align = copy_align(entry.align or {}, place),
  }
end

--- The entries of `also`, checked: a list, or one of them.
---@param also table
---@param place sectile.Place
---@return table[]
function M.copy(also, place)
  local list = also.cuda ~= nil and { also } or also
  check.list(list, "table", "also", place)
  if #list > MAX_OWN then
    check.fail_key(place, "also", "%d kernels of your own; at most %d are possible", #list, MAX_OWN)
  end
  local names = {}
  local out = kit.map(list, function(entry, n)
    local own = copy_entry(entry, place)
    local plain = own.kernel:match "([%a_][%w_]*)%s*<" or own.kernel:match "([%a_][%w_]*)%s*$"
    own.name = own.name or plain and "own_" .. plain
    own.is_item = list == also
    if not own.name or not own.name:find "^[%a_][%w_]*$" or #own.name > 48 then
      check.fail_word(place, own.kernel, "also: '%s' is no name of a kernel; it is written as in "
        .. "kernel = \"transpose\" or kernel = \"transpose<float, {TILE}>\"",
        own.name or own.kernel)
    elseif names[own.name] then
      check.fail_word(place, own.kernel, "also: entries %d and %d are both called '%s'; give one a "
        .. "name = \"...\"", names[own.name], n, own.name)
    end
    names[own.name] = n
    return own
  end)
  return #out > 0 and out or core.fail_at(place.file, place.line, "also is empty; it lists kernels")
end

return M
