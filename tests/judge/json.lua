--- Reads JSON: null becomes nil.
local M = {}

local ESCAPED = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local value

local function text(s, at)
  local stop = at + 1
  while s:sub(stop, stop) ~= '"' do
    stop = stop + (s:sub(stop, stop) == "\\" and 2 or 1)
  end
  local inner = s:sub(at + 1, stop - 1):gsub("\\u(%x%x%x%x)", function(hex)
    return utf8.char(tonumber(hex, 16))
  end):gsub("\\(.)", function(c) return ESCAPED[c] or c end)
  return inner, stop + 1
end

-- What stands between brackets: `item` reads one and puts it into `out`.
local function several(s, at, close, item)
  local out = {}
  at = s:match("^%s*()", at + 1)
  while s:sub(at, at) ~= close do
    at = s:match("^%s*,?%s*()", item(out, at))
  end
  return out, at + 1
end

function value(s, at)
  at = s:match("^%s*()", at)
  local first = s:sub(at, at)
  if first == '"' then
    return text(s, at)
  elseif first == "[" then
    local n = 0
    return several(s, at, "]", function(out, from)
      n = n + 1
      out[n], from = value(s, from)
      return from
    end)
  elseif first == "{" then
    return several(s, at, "}", function(out, from)
      local key, next_at = text(s, from)
      out[key], from = value(s, s:match("^%s*:()", next_at))
      return from
    end)
  end
  local word, stop = s:match("^([%w+.-]+)()", at)
  if word == "true" or word == "false" then
    return word == "true", stop
  end
  return tonumber(word), stop
end

function M.read(s)
  return (value(s, 1))
end

return M
