--- Checks of the tables that users write. Every failure names the line, what was expected, and the
--- nearest legal name.

local core = require "sectile.core"
local kit = require "sectile.kit"
local schema = require "sectile.schema"

local M = {}

--- A place in a user's file.
---@class sectile.Place
---@field file string
---@field line integer
---@field anywhere? boolean keys and words are looked for in the whole file

--- The place in the user's file that the public function now running was called from.
---@return sectile.Place
function M.place()
  local file, line = core.place()
  return { file = file, line = line }
end

--- Raises an error at a place.
---@param place sectile.Place
---@param text string
function M.fail(place, text, ...)
  core.fail_at(place.file, place.line, text:format(...))
end

local function fail_near(place, word, is_key, text, ...)
  local from = place.anywhere and 0 or place.line
  core.fail_at(place.file, core.key_line(place.file, from, word, is_key), text:format(...))
end

--- Raises an error at the line where `key` is set, as near to `place` as it can be found.
---@param place sectile.Place
---@param key string
---@param text string
function M.fail_key(place, key, text, ...)
  fail_near(place, key, true, text, ...)
end

--- Raises an error at the line where `word` stands in quotes.
---@param place sectile.Place
---@param word string
---@param text string
function M.fail_word(place, word, text, ...)
  fail_near(place, word, false, text, ...)
end

local function kind_of(value)
  local kind = type(value)
  if kind == "number" and math.tointeger(value) then
    return "integer"
  end
  return kind
end

local function fits(value, types)
  local kind = kind_of(value)
  for allowed in types:gmatch "[^|]+" do
    if kind == allowed or (kind == "integer" and allowed == "number") then
      return true
    end
  end
  return false
end

local function article(types)
  local words = types:gsub("|", " or ")
  return (words:find "^[aeiou]" and "an " or "a ") .. words
end

--- Refuses tables with a metatable: what is read twice must be the same twice.
---@param value table
---@param what string
---@param place sectile.Place
function M.plain(value, what, place)
  if getmetatable(value) ~= nil then
    M.fail(place, "%s: a plain table was expected, without a metatable", what)
  end
end

--- Checks a table's named options against the schema `what`. Positional entries are the caller's.
---@param options table
---@param what string
---@param place sectile.Place
function M.options(options, what, place)
  M.plain(options, what, place)
  local list = schema[what]
  local names, by_name = {}, {}
  for k, option in ipairs(list) do
    names[k] = option[1]
    by_name[option[1]] = option
  end
  for key, value in pairs(options) do
    if type(key) == "string" then
      local option = by_name[key]
      if not option then
        M.fail_key(place, key, "%s has no option '%s'%s", what, key, core.suggest(key, names))
      elseif not fits(value, option[2]) then
        local braces = option[2] == "table" and type(value) == "string"
          and string.format('; write %s = { "%s" }', key, value) or ""
        M.fail_key(place, key, "%s: %s must be %s, not %s%s", what, key, article(option[2]),
          article(kind_of(value)), braces)
      end
    elseif math.type(key) ~= "integer" then
      M.fail(place, "%s: an option is named by a word, not by %s; expected one of %s", what,
        article(type(key)), table.concat(names, ", "))
    end
  end
  for _, option in ipairs(list) do
    if option.required and options[option[1]] == nil then
      M.fail(place, "%s needs '%s': %s", what, option[1], option[3])
    end
  end
end

--- Checks that a table is a plain list (1 .. n) whose items have one of the types.
---@param list table
---@param types string
---@param what string
---@param place sectile.Place
function M.list(list, types, what, place)
  M.plain(list, what, place)
  local n = #list
  for key, value in pairs(list) do
    if math.type(key) ~= "integer" or key < 1 or key > n then
      M.fail_key(place, tostring(key), "%s is a list; it has no '%s'%s", what, tostring(key),
        types == "table" and string.format("; write %s = { { %s = ... } }", what, key) or "")
    elseif not fits(value, types) then
      M.fail(place, "%s: item %d must be %s, not %s", what, key, article(types),
        article(kind_of(value)))
    end
  end
end

-- ---- what the module's functions hand out ----

-- From the read-only view that a user holds to the table behind it. What is checked once cannot be
-- changed afterwards, and nobody can make such a thing by hand.
local made = setmetatable({}, { __mode = "k" })

--- A read-only view of `thing`, which has a kind ("record") and a place.
---@param thing table
---@param call? function makes it callable
---@return table
function M.seal(thing, call)
  local view = core.freeze(thing, "a " .. thing.kind, call)
  made[view] = thing
  return view
end

--- The table behind a value that one of the module's functions made; nil for any other value.
---@param value any
---@param kind string
---@return table?
function M.open(value, kind)
  local thing = type(value) == "table" and made[value] or nil
  return thing and thing.kind == kind and thing or nil
end

--- One of the words of a list, or an error that begins with `unknown`.
---@param word any
---@param known string[]
---@param unknown string
---@param place sectile.Place
---@return string
function M.word(word, known, unknown, place)
  local text = tostring(word)
  return kit.has(known, word) and word
    or M.fail_word(place, text, "%s '%s'%s", unknown, text, core.suggest(text, known))
end

local TYPES = core.types()
-- What C, CUDA, NumPy and PyTorch call types.
local ELSEWHERE = {
  char = "i8", short = "i16", int = "i32", long = "i64", unsigned = "u32", float = "f32",
  double = "f64", half = "f16", bfloat16 = "bf16", fp8 = "e4m3 or e5m2", float8_e4m3fn = "e4m3",
  float8_e5m2 = "e5m2", complex = "f32x2, whose parts are x and y", complex64 = "f32x2",
  complex128 = "f64x2", c64 = "f32x2", c128 = "f64x2", bit = "u1", float2 = "f32x2",
  float4 = "f32x4", double2 = "f64x2", int2 = "i32x2", uchar4 = "u8x4", char4 = "i8x4",
  half2 = "f16x2", int4 = "i4 for 4 bits, i32x4 for CUDA's vector", uint4 = "u4",
  float16 = "f16", float32 = "f32", float64 = "f64",
}
for _, bits in ipairs { 8, 16, 32, 64 } do
  ELSEWHERE["int" .. bits], ELSEWHERE["uint" .. bits] = "i" .. bits, "u" .. bits
  ELSEWHERE["int" .. bits .. "_t"], ELSEWHERE["uint" .. bits .. "_t"] = "i" .. bits, "u" .. bits
end

--- The name of a type, checked.
---@param name any
---@param what string
---@param place sectile.Place
---@return string
function M.type_name(name, what, place)
  if type(name) ~= "string" then
    M.fail(place, "%s: a type name such as \"f32\" was expected, not %s", what,
      article(kind_of(name)))
  end
  if ELSEWHERE[name] then
    M.fail_word(place, name, "%s: unknown type '%s'; write %s", what, name, ELSEWHERE[name])
  end
  return M.word(name, TYPES, what .. ": unknown type", place)
end

return M
