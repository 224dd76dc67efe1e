--- The expressions that specs have as text, on whole numbers: names, + - * // %, min, max,
--- comparisons, and, or, not. Written from docs/specs.md.
local M = {}

local LEVEL = {
  ["or"] = 1, ["and"] = 2, ["<"] = 3, ["<="] = 3, [">"] = 3, [">="] = 3, ["=="] = 3, ["!="] = 3,
  ["~="] = 3, ["+"] = 4, ["-"] = 4, ["*"] = 5, ["//"] = 5, ["%"] = 5,
}

local function int(truth)
  return truth and 1 or 0
end

local APPLY = {
  ["or"] = function(a, b) return int(a ~= 0 or b ~= 0) end,
  ["and"] = function(a, b) return int(a ~= 0 and b ~= 0) end,
  ["<"] = function(a, b) return int(a < b) end,
  ["<="] = function(a, b) return int(a <= b) end,
  [">"] = function(a, b) return int(a > b) end,
  [">="] = function(a, b) return int(a >= b) end,
  ["=="] = function(a, b) return int(a == b) end,
  ["!="] = function(a, b) return int(a ~= b) end,
  ["~="] = function(a, b) return int(a ~= b) end,
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["//"] = function(a, b) return a // b end,
  ["%"] = function(a, b) return a % b end,
}

local function tokens_of(text)
  local out, at = {}, 1
  while true do
    at = text:match("^%s*()", at)
    if at > #text then
      return out
    end
    local token = text:match("^%d+", at) or text:match("^[%a_][%w_]*", at)
      or text:match("^[/<>=!~]=", at) or text:match("^//", at) or text:sub(at, at)
    out[#out + 1] = token
    at = at + #token
  end
end

local parse

-- One operand: a number, a name, a call, what stands in parentheses, or one of these negated.
local function operand(p)
  local token = p.tokens[p.at]
  p.at = p.at + 1
  if token == "(" then
    local inner = parse(p, 1)
    p.at = p.at + 1
    return inner
  elseif token == "-" or token == "not" then
    local of = operand(p)
    return token == "-" and function(env) return -of(env) end
      or function(env) return int(of(env) == 0) end
  elseif token:find "^%d" then
    local number = math.tointeger(token)
    return function() return number end
  elseif p.tokens[p.at] == "(" then
    p.at = p.at + 1
    local a = parse(p, 1)
    p.at = p.at + 1
    local b = parse(p, 1)
    p.at = p.at + 1
    local pick = math[token]
    return function(env) return pick(a(env), b(env)) end
  end
  p.names[token] = true
  return function(env) return env[token] or error("no value for " .. token) end
end

function parse(p, level)
  local left = operand(p)
  while (LEVEL[p.tokens[p.at]] or 0) >= level do
    local op = p.tokens[p.at]
    p.at = p.at + 1
    local a, b, apply = left, parse(p, LEVEL[op] + 1), APPLY[op]
    left = function(env) return apply(a(env), b(env)) end
  end
  return left
end

--- The expression as a function of its names' values, and the set of these names.
---@param text string|integer
---@return fun(env: table): integer
---@return table<string, boolean>
function M.compile(text)
  local p = { tokens = tokens_of(tostring(text)), at = 1, names = {} }
  local value = parse(p, 1)
  assert(p.at > #p.tokens, "not an expression: " .. text)
  return value, p.names
end

return M
