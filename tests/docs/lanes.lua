-- Pictures of what the lanes of a warp ask for, for pages.
--
--   lanes.draw("sectors", "4", "lane + 1")    the lines of a picture: 32 lanes of 4 bytes each, at
--                                             these elements, over sectors of 32 bytes
--   lanes.draw("sectors", "4x16", ...)        of 16 lanes
--   lanes.draw("sectors", "4x16/64", ...)     over segments of 64 bytes
--   lanes.draw("banks", "4", "32 * lane")     over the 32 banks of shared memory
--
-- A lane is one character, 0 to 9 and a to v, in each element that it touches; `.` is what is moved
-- and not asked for, `*` what several lanes ask for.
local M = {}

local SHOWN = 5 -- lines or wavefronts that are drawn; of more the first and the last

local function name_of(lane)
  return string.sub("0123456789abcdefghijklmnopqrstuv", lane + 1, lane + 1)
end

-- The element of each lane.
local function elements(text, n_lanes)
  local env = { lane = 0 }
  local at, list = assert(load("return " .. text, text, "t", env)), {}
  for lane = 0, n_lanes - 1 do
    env.lane = lane
    list[lane] = math.tointeger(at())
  end
  return list
end

local function sorted_keys(set)
  local list = {}
  for key in pairs(set) do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

-- `rows` without those in the middle.
local function shortened(rows)
  if #rows > SHOWN then
    rows = { rows[1], rows[2], rows[3], "...", rows[#rows] }
  end
  return rows
end

-- "24 sectors where 8 would do", "3 segments of 64 bytes where 1 would do"
local function verdict(n, least, what, of)
  return string.format("%d %s%s%s%s", n, what, n == 1 and "" or "s", of or "",
    n > least and string.format(" where %d would do", least) or ", as few as can be")
end

-- One segment: `|0..1|`.
local function segment(owner, first, n)
  local cells = {}
  for k = 0, n - 1 do
    cells[#cells + 1] = owner[first + k] or "."
  end
  return table.concat(cells)
end

local function sectors(width, n_lanes, bytes, text)
  local owner, touched, lines = {}, {}, {}
  local per_segment, asked = bytes // width, 0
  for lane, element in pairs(elements(text, n_lanes)) do
    asked = asked + (owner[element] and 0 or 1)
    owner[element] = owner[element] and "*" or name_of(lane)
    touched[element // per_segment] = true
    lines[element * width // 128] = true
  end
  local rows = {}
  for _, line in ipairs(sorted_keys(lines)) do
    local cells = {}
    for s = line * 128 // bytes, (line + 1) * 128 // bytes - 1 do
      cells[#cells + 1] = touched[s] and segment(owner, s * per_segment, per_segment)
        or string.rep(" ", per_segment)
    end
    rows[#rows + 1] = string.format("line %-4d |%s|", line, table.concat(cells, "|"))
  end
  rows = shortened(rows)
  local n, least = #sorted_keys(touched), (asked * width + bytes - 1) // bytes
  rows[#rows + 1] = bytes == 32 and verdict(n, least, "sector")
    or verdict(n, least, "segment", string.format(" of %d bytes", bytes))
  return rows
end

-- Words of 4 bytes: a wavefront serves one of each bank.
local function banks(n_lanes, text)
  local queues, seen, n = {}, {}, 0
  local list = elements(text, n_lanes)
  for lane = 0, n_lanes - 1 do
    local word = list[lane]
    local bank = word % 32
    queues[bank] = queues[bank] or {}
    local queue, place = queues[bank], seen[word]
    if place then
      queue[place] = "*"
    else
      queue[#queue + 1] = name_of(lane)
      seen[word] = #queue
      n = math.max(n, #queue)
    end
  end
  local rows = {}
  for k = 1, n do
    local cells = {}
    for bank = 0, 31 do
      cells[#cells + 1] = queues[bank] and queues[bank][k] or "."
    end
    rows[k] = string.format("wavefront %-3d |%s|", k, table.concat(cells))
  end
  rows = shortened(rows)
  table.insert(rows, 1, "bank          |0       8       16      24     31|")
  rows[#rows + 1] = verdict(n, 1, "wavefront")
  return rows
end

-- The lines of a picture; raises for a shape that is none.
function M.draw(kind, shape, text)
  local width, n_lanes, bytes = string.match(shape, "^(%d+)x?(%d*)/?(%d*)$")
  assert(width, "a shape is 4, 4x16 or 4x16/64")
  n_lanes = tonumber(n_lanes) or 32
  if kind == "banks" then
    assert(width == "4", "banks are of 4 bytes")
    return banks(n_lanes, text)
  end
  return sectors(tonumber(width), n_lanes, tonumber(bytes) or 32, text)
end

return M
