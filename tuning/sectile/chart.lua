-- chart: pictures of pages as SVG, without a script. A picture is a list of texts (page.lua).
local page = require "sectile.page"
local units = require "sectile.units"

local chart = {}

local WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 380, 84, 16, 16, 60
local MOST_BOXES, MOST_TICKS = 34, 9

-- ---- logarithmic axes ----

local function log10(value)
  return math.log(value, 10)
end

---@class sectile.Scale
---@field lo number logarithm of the least value
---@field hi number logarithm of the largest
---@field from number where `lo` is on the picture
---@field to number where `hi` is

local function new_scale(from, to)
  return { lo = math.huge, hi = -math.huge, from = from, to = to }
end

local function place(s, value)
  return s.from + (log10(value) - s.lo) / (s.hi - s.lo) * (s.to - s.from)
end

local function widen(s, value)
  if value > 0 then
    s.lo, s.hi = math.min(s.lo, log10(value)), math.max(s.hi, log10(value))
  end
end

-- A margin on both sides, and at least a third of a decade.
local function settle(s)
  if s.lo > s.hi then
    s.lo, s.hi = 0.0, 1.0
  end
  local margin = math.max(0.05 * (s.hi - s.lo), (0.34 - (s.hi - s.lo)) / 2)
  s.lo, s.hi = s.lo - margin, s.hi + margin
end

-- "1.5 M"
local function tick(value, unit)
  local prefixes, k = { "n", "u", "m", "", "k", "M", "G", "T", "P" }, 4
  if unit == "" then
    return string.format("%.3g", value)
  end
  while value >= 999.5 and k < #prefixes do
    value, k = value / 1e3, k + 1
  end
  while value < 0.9995 and k > 1 do
    value, k = value * 1e3, k - 1
  end
  return string.format("%.3g %s%s", value, prefixes[k], unit)
end

local ACROSS = '<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>'
  .. '<text%s x="%.1f" y="%d" text-anchor="middle">%s</text>\n'
local UPRIGHT = '<line class="axis" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>'
  .. '<text x="%d" y="%.1f" text-anchor="end">%s</text>\n'

-- Ticks at decades; where there are few, at 1, 2 and 5, or more, of each.
local function decimal_ticks(s, unit)
  local decades, ticks = s.hi - s.lo, {}
  local steps = decades < 1 and { 1, 1.5, 2, 3, 4, 5, 7 } or decades < 2.5 and { 1, 2, 5 } or { 1 }
  for decade = math.floor(s.lo), math.floor(s.hi) do
    for _, step in ipairs(steps) do
      local value = step * 10.0 ^ decade
      ticks[#ticks + 1] = { value = value, text = tick(value, unit),
        few = step ~= 1 and step ~= 2 and step ~= 5 }
    end
  end
  return ticks
end

-- Ticks of bytes at powers of 2, as many as there is room for.
local function binary_ticks(s)
  local one = log10(2)
  local step, ticks = math.ceil((s.hi - s.lo) / one / MOST_TICKS), {}
  for k = math.max(0, math.ceil(s.lo / one / step)), math.floor(s.hi / one / step) do
    ticks[#ticks + 1] = { value = 2.0 ^ (k * step), text = units.bytes(2 ^ (k * step)) }
  end
  return ticks
end

local function put_ticks(out, s, axis, upright)
  for _, t in ipairs(axis.unit == "bytes" and binary_ticks(s) or decimal_ticks(s, axis.unit)) do
    local at = place(s, t.value)
    if log10(t.value) >= s.lo and log10(t.value) <= s.hi then
      out[#out + 1] = upright
          and UPRIGHT:format(LEFT, WIDTH - RIGHT, at, at, LEFT - 6, at + 4, t.text)
        or ACROSS:format(at, at, TOP, HEIGHT - BOTTOM, t.few and ' class="few"' or "", at,
          HEIGHT - BOTTOM + 20, t.text)
    end
  end
end

-- ---- charts ----

---@class sectile.Point
---@field x number above 0; others are left out
---@field y number above 0; others are left out
---@field series integer colour; those of 0 are drawn last
---@field ringed boolean stands out
---@field title string shown where a pointer rests on it
---@field name string|boolean|nil stands next to it; the first of a name has it

local function put_points(out, points, x, y, last)
  local named = {}
  for _, p in ipairs(points) do
    if p.x > 0 and p.y > 0 and (p.series == 0) == last then
      local at, up = place(x, p.x), place(y, p.y)
      out[#out + 1] = string.format(
        '<circle class="s%d" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>\n',
        p.series, at, up, page.escape(p.title))
      if p.name and not named[p.name] then
        local left = at > WIDTH / 2
        named[p.name] = true
        out[#out + 1] = string.format('<text class="name" x="%.1f" y="%.1f"%s>%s</text>\n',
          at + (left and -12 or 12), up + 4, left and ' text-anchor="end"' or "", p.name)
      end
      out[#out + 1] = p.ringed
          and string.format('<circle class="ring" cx="%.1f" cy="%.1f" r="8"/>\n', at, up)
        or ""
    end
  end
end

--- Points and lines on two logarithmic axes.
---@param points sectile.Point[]
---@param lines table[] each with x0, y0, x1, y1, above 0, and a colour as points (none: plain)
---@param across table an axis: its name, and the unit of its values ("s"; "bytes": powers of 2)
---@param up table the vertical axis, as `across`
---@return table
function chart.points(points, lines, across, up)
  local x, y = new_scale(LEFT, WIDTH - RIGHT), new_scale(HEIGHT - BOTTOM, TOP)
  for _, p in ipairs(points) do
    if p.x > 0 and p.y > 0 then
      widen(x, p.x)
      widen(y, p.y)
    end
  end
  for _, l in ipairs(lines) do
    widen(x, l.x0)
    widen(x, l.x1)
    widen(y, l.y0)
    widen(y, l.y1)
  end
  settle(x)
  settle(y)
  local name, by = page.escape(up.name), page.escape(across.name)
  local out = { string.format(
    '<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s by %s">\n', WIDTH, HEIGHT,
    name, by) }
  put_ticks(out, x, across, false)
  put_ticks(out, y, up, true)
  for _, l in ipairs(lines) do
    local class = l.series and "run s" .. l.series or "roof"
    out[#out + 1] = string.format('<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>\n',
      class, place(x, l.x0), place(y, l.y0), place(x, l.x1), place(y, l.y1))
  end
  put_points(out, points, x, y, false)
  put_points(out, points, x, y, true)
  out[#out + 1] = string.format(
    '<text x="%d" y="%d" text-anchor="end">%s</text><text x="%d" y="%d">%s</text>\n</svg>\n',
    WIDTH - RIGHT, HEIGHT - 8, by, LEFT + 4, TOP + 12, name)
  return page.html(out)
end

local LANE_HEIGHT, LANE_GAP = 22, 6

-- A lane as bars from its lower edge, as high as the share of the time that passes there.
local function bars(shares, top, width)
  local path, step = {}, width / #shares
  for k, share in ipairs(shares) do
    path[#path + 1] = share > 0
        and page.box(LEFT + (k - 1) * step, top + LANE_HEIGHT * (1 - share), step,
          LANE_HEIGHT * share)
      or nil
  end
  return table.concat(path)
end

--- A timeline: what share of each part of it an engine works.
---@param lanes table[] each with name, series, and shares from 0 to 1
---@param total string how long it is
---@return table
function chart.lanes(lanes, total)
  local height, width = #lanes * (LANE_HEIGHT + LANE_GAP) + 20, WIDTH - LEFT - RIGHT
  local out = { string.format(
    '<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="timeline of %s">\n', WIDTH,
    height, page.escape(total)) }
  for k, lane in ipairs(lanes) do
    local top = (k - 1) * (LANE_HEIGHT + LANE_GAP)
    out[#out + 1] = string.format('<text x="%d" y="%d" text-anchor="end">%s</text>'
      .. '<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/><path class="s%d" d="%s"/>\n',
      LEFT - 6, top + 16, page.escape(lane.name), LEFT, WIDTH - RIGHT, top + LANE_HEIGHT,
      top + LANE_HEIGHT, lane.series, bars(lane.shares, top, width))
  end
  out[#out + 1] = string.format('<text x="%d" y="%d">0</text>'
    .. '<text x="%d" y="%d" text-anchor="end">%s</text>\n</svg>\n', LEFT, height - 4,
    WIDTH - RIGHT, height - 4, page.escape(total))
  return page.html(out)
end

--- Sectors that a request touches, each filled by the share of it that is used.
---@param each number
---@param used number
---@return table
function chart.sectors(each, used)
  local n = math.floor(math.min(math.ceil(each - 1e-9), MOST_BOXES))
  local out = { string.format(
    '<svg width="%d" height="14" role="img" aria-label="%.1f sectors, %.0f %% used">', 9 * n + 2,
    each, 100 * used) }
  for k = 0, n - 1 do
    out[#out + 1] = string.format('<rect class="box" x="%d" y="1" width="8" height="12"/>'
      .. '<rect class="used" x="%d" y="%.1f" width="8" height="%.1f"/>', 1 + 9 * k, 1 + 9 * k,
      13 - 12 * used, 12 * used)
  end
  out[#out + 1] = "</svg>"
  return page.html(out)
end

--- The best, the quartiles and the worst of some times, on a logarithmic scale from lo to hi.
---@param quartile number[] five of them
---@param lo number
---@param hi number
---@return table
function chart.range(quartile, lo, hi)
  local width, x = 240, {}
  for k = 1, 5 do
    x[k] = hi > lo and lo > 0
        and 4 + (width - 8) * math.log(quartile[k] / lo) / math.log(hi / lo)
      or 4
  end
  return page.html { string.format(
    '<svg width="%d" height="14" role="img" aria-label="from the best to the worst">'
      .. '<path class="whisker" d="M%.1f 7H%.1f"/><path class="box" d="%s"/>'
      .. '<path class="whisker" d="M%.1f 2v10"/>'
      .. '<circle class="s1" cx="%.1f" cy="7" r="3.5"/></svg>',
    width, x[1], x[5], page.box(x[2], 2, x[4] - x[2], 10), x[3], x[1]) }
end

return chart
