-- pattern: pictures of one request of a warp: its lanes over the sectors and lines of global memory
-- that they touch, or its words over the banks of shared memory.
local page = require "sectile.page"
local units = require "sectile.units"

local pattern = {}

local LANES, SECTOR_BYTES = 32, 32
local LINE_BYTES = 128 -- also a row of shared memory: 32 banks of 4 bytes
local CELL, SIDE = 20, 4 -- width of a lane, and of a bank; of what is left beside them
local LABEL = 64 -- in front of the banks
local WIDTH = LANES * CELL + 2 * SIDE
local LANE_TOP, LANE_END = 2, 17 -- links to the sectors begin at the lanes' end ...
local TOP, END = 66, 88 -- ... and end at their top
local GAP = 4 -- between lines
local LEAST_LINES, MOST_LINES, MOST_ROWS = 8, 64, 32
local ROW = 14 -- height of a row of banks

---@class sectile.Request
---@field width integer bytes a lane
---@field address table by lane, from 1; nil: the lane is not active

-- The distinct values, ascending, that the bytes of all lanes have over `bytes`: the first `most`.
local function distinct(r, bytes, most)
  local list, seen = {}, {}
  for lane = 0, LANES - 1 do
    local address = r.address[lane + 1]
    for v = address and address // bytes or 1, address and (address + r.width - 1) // bytes or 0 do
      if not seen[v] and #list < most then
        seen[v] = true
        list[#list + 1] = v
      end
    end
  end
  table.sort(list)
  return list
end

--- How many lines of 128 bytes a picture of it needs room for.
---@param r sectile.Request
---@return integer
function pattern.lines(r)
  return math.max(#distinct(r, LINE_BYTES, MOST_LINES), LEAST_LINES)
end

-- A path of a class, with what `draw` gives of each lane that is active.
local function path(r, class, draw)
  local parts = {}
  for lane = 0, LANES - 1 do
    parts[#parts + 1] = r.address[lane + 1] and draw(lane, r.address[lane + 1]) or ""
  end
  return string.format('<path class="%s" d="%s"/>', class, table.concat(parts))
end

local function numbers(left)
  local parts = {}
  for lane = 0, LANES - 1 do
    parts[lane + 1] = string.format('<text class="tiny%s" x="%d" y="%d">%d</text>',
      lane % 4 == 0 and "" or " few", left + CELL * lane + CELL // 2, LANE_END - 4, lane)
  end
  return table.concat(parts)
end

-- ---- global memory ----

-- The sectors of all lines, those that are touched or the others.
local function sectors(r, lines, x_of, width, touched)
  local hit, parts = {}, {}
  for _, sector in ipairs(distinct(r, SECTOR_BYTES, math.huge)) do
    hit[sector] = true
  end
  for _, line in ipairs(lines) do
    for at = line * LINE_BYTES, line * LINE_BYTES + LINE_BYTES - 1, SECTOR_BYTES do
      if (hit[at // SECTOR_BYTES] or false) == touched then
        parts[#parts + 1] = page.box(x_of(at), TOP, width, END - TOP)
      end
    end
  end
  return string.format('<path class="%s" d="%s"/>', touched and "sector" or "rest",
    table.concat(parts))
end

-- Where lines follow that are not next to the last.
local function offsets(lines, x_of)
  local parts, free_from = {}, 0
  for k, line in ipairs(lines) do
    local x = x_of(line * LINE_BYTES)
    if line ~= (lines[k - 1] or line) + 1 and x >= free_from and x < WIDTH - 50 then
      parts[#parts + 1] = string.format('<text%s x="%.1f" y="%d">+%s</text>',
        #parts % 2 == 0 and "" or ' class="few"', x, END + 14,
        units.bytes((line - lines[1]) * LINE_BYTES))
      free_from = x + 70
    end
  end
  return table.concat(parts)
end

--- A request's lanes over the sectors and lines that they touch, drawn with room for `room` lines,
--- so that requests that are compared have equal room.
---@param r sectile.Request
---@param room integer
---@return table
function pattern.lanes(r, room)
  local lines, index, n_active = distinct(r, LINE_BYTES, MOST_LINES), {}, 0
  room = math.max(room, #lines, 1)
  local byte = (WIDTH - 2 * SIDE - GAP * (room - 1)) / (LINE_BYTES * room) -- width of one
  for k, line in ipairs(lines) do
    index[line] = k - 1
  end
  local function x_of(address)
    local k = index[address // LINE_BYTES] or #lines
    return SIDE + k * (LINE_BYTES * byte + GAP) + address % LINE_BYTES * byte
  end
  local links = path(r, "link", function(lane, address)
    n_active = n_active + 1
    return string.format("M%d %dL%.1f %d", SIDE + CELL * lane + CELL // 2, LANE_END,
      x_of(address) + r.width * byte / 2, TOP)
  end)
  return page.html {
    string.format('<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="'
      .. '%d lanes over %d lines">', WIDTH, END + 18, n_active, #lines),
    links,
    path(r, "lane", function(lane)
      return page.box(SIDE + CELL * lane + 1, LANE_TOP, CELL - 2, LANE_END - LANE_TOP)
    end),
    numbers(SIDE),
    sectors(r, lines, x_of, SECTOR_BYTES * byte, false),
    sectors(r, lines, x_of, SECTOR_BYTES * byte, true),
    path(r, "used", function(_, address)
      return page.box(x_of(address), TOP, r.width * byte, END - TOP)
    end),
    offsets(lines, x_of),
    "</svg>\n",
  }
end

-- ---- shared memory ----

-- The first lane that wants each word.
local function owners(r)
  local owner = {}
  for lane = 0, LANES - 1 do
    local address = r.address[lane + 1]
    for word = address and address // 4 or 1, address and (address + r.width - 1) // 4 or 0 do
      owner[word] = owner[word] or lane
    end
  end
  return owner
end

-- The words that are accessed, of banks with conflicts (`clashes`) or of the others.
local function words(r, owner, rows, n, clashes)
  local fair, parts = math.max(r.width // 4, 1), {}
  for bank = 0, LANES - 1 do
    local wanted = 0
    for k = 1, n do
      wanted = wanted + (owner[rows[k] * LANES + bank] and 1 or 0)
    end
    for k = 1, (wanted > fair) == clashes and n or 0 do
      parts[#parts + 1] = owner[rows[k] * LANES + bank]
          and page.box(LABEL + CELL * bank + 1, LANE_END + 3 + ROW * (k - 1), CELL - 2, ROW - 2)
        or ""
    end
  end
  return string.format('<path class="%s" d="%s"/>', clashes and "clash" or "used",
    table.concat(parts))
end

local function bank_row(owner, rows, k)
  local y = LANE_END + 1 + ROW * (k - 1)
  local parts = { string.format('<text x="%d" y="%d" text-anchor="end">+%d</text>'
    .. '<path class="rest" d="M%d %dh%d"/>', LABEL - 6, y + 11, (rows[k] - rows[1]) * LINE_BYTES,
    LABEL, y + ROW, LANES * CELL) }
  for bank = 0, LANES - 1 do
    local lane = owner[rows[k] * LANES + bank]
    parts[#parts + 1] = lane and string.format('<text class="tiny in%s" x="%d" y="%d">%d</text>',
      bank % 4 == 0 and "" or " few", LABEL + CELL * bank + CELL // 2, y + 11, lane) or ""
  end
  return table.concat(parts)
end

--- The words that its lanes want of each bank of shared memory, row by row.
---@param r sectile.Request
---@return table
function pattern.banks(r)
  local rows, owner, n_active = distinct(r, LINE_BYTES, MOST_LINES), owners(r), 0
  local n = math.min(#rows, MOST_ROWS)
  for lane = 0, LANES - 1 do
    n_active = n_active + (r.address[lane + 1] and 1 or 0)
  end
  local out = {
    string.format('<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="'
      .. '%d lanes over 32 banks, %d rows">', LABEL + LANES * CELL + SIDE, LANE_END + ROW * n + 6,
      n_active, #rows),
    '<path class="lane" d=""/>' .. numbers(LABEL),
    string.format('<text x="%d" y="%d" text-anchor="end">bank</text>', LABEL - 6, LANE_END - 4),
    words(r, owner, rows, n, false),
    words(r, owner, rows, n, true),
  }
  for k = 1, n do
    out[#out + 1] = bank_row(owner, rows, k)
  end
  out[#out + 1] = "</svg>\n"
  return page.html(out)
end

return pattern
