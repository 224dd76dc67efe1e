-- header_shared: definitions that stand in several kernels of a header, once.
--
-- A kernel's source is definitions between blank lines. One that two kernels have, word for word,
-- moves in front of both, if all that it mentions does: a kernel's own namespace sees it there.
local kit = require "sectile.kit"

local M = {}

-- The definitions of a source, from the first line on; nil: its braces say nothing.
local function split(source)
  local parts, lines, depth = {}, {}, 0
  for line in string.gmatch(source .. "\n\n", "([^\n]*)\n") do
    if line == "" and depth == 0 then
      if #lines > 0 then
        parts[#parts + 1] = table.concat(lines, "\n")
      end
      lines = {}
    else
      lines[#lines + 1] = line
      local code = string.gsub(line, "//.*", "")
      local _, opened = string.gsub(code, "{", "")
      local _, closed = string.gsub(code, "}", "")
      depth = depth + opened - closed
    end
  end
  return depth == 0 and parts or nil
end

local function without_comments(text)
  return (string.gsub(text, "//[^\n]*", ""))
end

-- The names that a definition gives, each before a `(`, `{`, `=`, `;` or `<`; and how many.
local function names_of(part)
  local names, n = {}, 0
  for line in string.gmatch(without_comments(part) .. "\n", "([^\n]*)\n") do
    if string.find(line, "^[%a_]") then
      local head = string.gsub(string.gsub(line, "^template %b<> ?", ""), "alignas%b()", "")
      head = string.gsub(head, "__%w+__", "")
      local name = string.match(head, "([%a_][%w_]*) ?[({=;<]")
      if name then
        names[name], n = true, n + 1
      end
    end
  end
  return names, n
end

-- Is the part a function or a type of the device, and no kernel?
local function may_move(part)
  local code = without_comments(part)
  local _, n = names_of(part)
  local is_one = string.find(code, "__device__", 1, true) or string.find(code, "^%s*struct")
    or string.find(code, "^%s*template")
  return is_one and n > 0 and not string.find(code, "__global__", 1, true)
end

local function mentions(part, names)
  for word in string.gmatch(without_comments(part), "[%a_][%w_]*") do
    if names[word] then
      return true
    end
  end
  return false
end

-- Of definitions with one name, such as a struct that kernels have with other members, those of
-- one source move: the first that has one.
local function move_one_of_a_name(moves, sources)
  local home = {}
  for k, parts in ipairs(sources) do
    for _, part in ipairs(parts) do
      for name in pairs(moves[part] and names_of(part) or {}) do
        home[name] = home[name] or k
      end
    end
  end
  for part, is_moving in pairs(moves) do
    for name in pairs(is_moving and names_of(part) or {}) do
      moves[part] = moves[part] and kit.has(sources[home[name]], part)
    end
  end
end

-- The parts that move: in several sources, and without a mention of what stays.
local function moving(sources, reserved)
  local count, moves = {}, {}
  for _, parts in ipairs(sources) do
    for _, part in ipairs(parts) do
      count[part] = (count[part] or 0) + 1
      moves[part] = count[part] > 1 and may_move(part)
    end
  end
  move_one_of_a_name(moves, sources)
  local settled
  repeat
    settled = true
    for _, parts in ipairs(sources) do
      local stays = kit.copy(reserved)
      for _, part in ipairs(parts) do
        for name in pairs(moves[part] and {} or names_of(part)) do
          stays[name] = true
        end
      end
      for _, part in ipairs(parts) do
        if moves[part] and mentions(part, stays) then
          moves[part], settled = false, false
        end
      end
    end
  until settled
  return moves
end

--- Takes what several kernels share out of their texts; all of it, in the order of definition.
---@param kernels table[] with text, and launch.kernel
---@return string
function M.take(kernels)
  local sources, reserved, shared, seen = {}, {}, {}, {}
  for _, kernel in ipairs(kernels) do
    reserved[kernel.launch.kernel] = true
    sources[#sources + 1] = not kernel.is_own and split(kernel.text) or {}
  end
  local moves = moving(sources, reserved)
  for k, parts in ipairs(sources) do
    local own = {}
    for _, part in ipairs(parts) do
      if not moves[part] then
        own[#own + 1] = part
      elseif not seen[part] then
        seen[part] = true
        shared[#shared + 1] = part
      end
    end
    kernels[k].text = #parts > 0 and table.concat(own, "\n\n") or kernels[k].text
  end
  return table.concat(shared, "\n\n")
end

return M
