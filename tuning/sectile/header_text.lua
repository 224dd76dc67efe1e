-- header_text: text that cannot break out of its place in an emitted file. Whatever a store holds
-- (device names come from drivers, labels and specs from users, and stores are passed around), a
-- comment stays on its line, a string between its quotes, a name is a name and an expression only
-- computes.
local core = require "sectile.core"
local declare = require "sectile.declare"

local M = {}

-- ---- types ----

local UNSIGNED = { "unsigned char", "unsigned short" } -- by bytes

--- The types of specs by name. `cuda` is what host code calls one: a struct that only kernels
--- define (`bits`) is given as its bits.
M.types = core.types()
for _, name in ipairs(M.types) do
  local type = M.types[name]
  type.bits = declare.is_struct(name)
  type.vector = type.lanes > 1
  type.cuda = type.bits and (type.vector and "ushort2" or UNSIGNED[type.bytes]) or type.cuda
end

-- ---- names ----

--- A set of the words of a text.
---@param words string
---@return table<string, boolean>
function M.set_of(words)
  local set = {}
  for word in string.gmatch(words, "%S+") do
    set[word] = true
  end
  return set
end

-- Words that C++20, CUDA or the header's own text need.
local TAKEN = M.set_of [[
  alignas alignof and and_eq asm auto bitand bitor blockDim blockIdx bool break case catch char
  char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast
  consteval constexpr constinit continue cudaError_t cudaStream_t decltype default delete do double
  dynamic_cast else enum explicit export extern false float for friend goto gridDim if inline int
  linux long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private
  protected public register reinterpret_cast requires restrict return short signed sizeof static
  static_assert static_cast struct switch template this thread_local threadIdx throw true try
  typedef typeid typename union unix unsigned using virtual void volatile warpSize wchar_t while
  xor xor_eq
]]

--- Letters, digits and _, not a digit first.
---@param text string
---@return boolean
function M.is_identifier(text)
  return string.find(text, "^[%a_][%w_]*$") ~= nil
end

--- An identifier that C++ and CUDA leave to the user.
---@param text string
---@return boolean
function M.is_name(text)
  return M.is_identifier(text) and #text <= 200 and not string.find(text, "__", 1, true)
    and not string.find(text, "^_%u") and not TAKEN[text]
end

-- ---- expressions ----

local PLAIN = { min = true, max = true, long = true }
local FLOORS = { sct_floor_div = true, sct_floor_mod = true }
-- Pairs that would be an increment, a comment, or another spelling of a bracket.
local REFUSED = M.set_of "++ -- // /* <: :> <% %> %: ??"

-- Decimal or 0x digits with a suffix of u, l.
local function is_number(word)
  return string.find(word, "^%d+[uUlL]*$") or string.find(word, "^0[xX]%x+[uUlL]*$")
end

-- Neighbouring signs of an expression: none assigns.
local function computes(signs)
  for k = 1, #signs do
    local two = string.sub(signs, k, k + 1)
    local assigns = string.find(two, "^=") and two ~= "=="
      and not (k > 1 and string.find("=<>!", string.sub(signs, k - 1, k - 1), 1, true))
    if assigns or REFUSED[two] then
      return false
    end
  end
  return not string.find(signs, "<<=", 1, true) and not string.find(signs, ">>=", 1, true)
end

local function is_balanced(text)
  local depth = 0
  for bracket in string.gmatch(text, "[()]") do
    depth = depth + (bracket == "(" and 1 or -1)
    if depth < 0 then
      return false
    end
  end
  return depth == 0
end

--- Is `text` an expression that can only compute with the names that `known` has, and, with
--- `floors`, by sct_floor_div() and sct_floor_mod()?
---@param text string
---@param known table<string, boolean>
---@param floors? boolean
---@return boolean
function M.is_expression(text, known, floors)
  local some = false
  if string.find(text, "[^%w_+*/%%()<>!&|^~?:, =-]") then
    return false
  end
  for word in string.gmatch(text, "[%w_]+") do
    some = true
    if not (PLAIN[word] or known[word] or floors and FLOORS[word] or is_number(word)) then
      return false
    end
  end
  for signs in string.gmatch(text, "[^%w_(), ]+") do
    if signs == "=" or #signs > 1 and not computes(signs) then
      return false
    end
  end
  return some and is_balanced(text)
end

--- The words of some texts, as a set.
---@param texts string[]
---@return table<string, boolean>
function M.words(texts)
  local words = {}
  for _, text in ipairs(texts) do
    for word in string.gmatch(text, "[%w_]+") do
      words[word] = true
    end
  end
  return words
end

-- ---- comments, strings, numbers ----

-- What a comment has in place of a character. A backslash could join the next line to it.
local CALM = { ["\t"] = " ", ["\n"] = " ", ["\r"] = " ", ["\\"] = "/" }

--- `text` on one line of a comment: printable ASCII stays, of all else each character becomes a
--- neutral one. Doubled question marks and comment brackets are taken apart.
---@param text string
---@param before? string the character in front of it
---@return string
function M.comment(text, before)
  before = before and before ~= "" and before or "\n"
  if not string.find(text, "[^]-~ -[]") and not string.find(before .. text, "[?*/][?*/]") then
    return text
  end
  text = string.gsub(text, "[\x80-\xbf]", "") -- the first byte of a character stands for it
  text = string.gsub(text, "[^]-~ -[]", function(c) return CALM[c] or "_" end)
  text = before .. text
  for _, pair in ipairs { "%?%?", "%?%?", "%*/", "/%*" } do -- three in a row take two passes
    text = string.gsub(text, pair, function(two) return string.gsub(two, "^.", "%0 ") end)
  end
  return string.sub(text, 2)
end

local function escaped(c)
  return string.find(c, '["\\?]') and "\\" .. c or string.format("\\%03o", string.byte(c))
end

--- `text` between the quotes of a literal.
---@param text string
---@return string
function M.literal(text)
  return (string.gsub(text, '[^]-~ !#->@-[]', escaped))
end

--- A literal that reads back equal.
---@param value number
---@return string
function M.number(value)
  if math.type(value) == "integer" then
    return string.format("%d", value)
  end
  return value - value == 0 and string.format("%.17g", value) or "0" -- files hold no infinity
end

return M
