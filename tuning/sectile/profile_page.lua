-- profile_page: profiles as parts of pages: what each access touches, drawn lane by lane, the
-- source with counts, a roofline. What the pages say is in templates/report.
local chart = require "sectile.chart"
local page = require "sectile.page"
local pattern = require "sectile.pattern"
local show_profile = require "sectile.show_profile"
local units = require "sectile.units"

local profile_page = {}

local SHOWN_PATTERNS = 4
local MOST_CALLS = 4 -- of the device library in each other

-- ---- accesses ----

-- Sectors, or wavefronts, a request; and how many would do.
local function each_of(access)
  local c = access.counts
  if access.space == "shared" then
    return units.per(c.wavefronts, c.requests), units.per(c.wavefronts_ideal, c.requests)
  end
  return units.per(c.sectors, c.requests), units.per(c.sectors_ideal, c.requests)
end

local function accesses(list, name, profile)
  for _, a in ipairs(profile.accesses) do
    if a.space ~= "shared" then
      local each, ideal = each_of(a)
      list[#list + 1] = {
        where = string.format("%s%s:%d", name and name .. ", " or "", units.base_name(a.file),
          a.line),
        kind = a.access,
        bytes = string.format("%.3g", units.per(a.counts.bytes, a.lanes)),
        each = string.format("%.1f", each),
        ideal = string.format("%.1f", ideal),
        picture = chart.sectors(each, units.per(a.counts.distinct_bytes, a.counts.moved)),
      }
    end
  end
end

-- The function of the device library that has line `number`; nil: none.
local function function_at(lines, number)
  for k = number, 1, -1 do
    local name = string.match(lines[k], "__forceinline__.-([%w_]+)%(")
    if name or lines[k] == "}" then
      return name
    end
  end
end

-- The number of the line that a reader looks for: where the kernel calls the function of the device
-- library, which stands before it, that has line `number`.
local function line_in_kernel(lines, number)
  local kernel
  for k, line in ipairs(lines) do
    kernel = kernel or string.find(line, "__global__", 1, true) and k or nil
  end
  local at = number
  for _ = 1, kernel and MOST_CALLS or 0 do
    local name = at < kernel and function_at(lines, at)
    local k = at + 1
    while name and lines[k] and (string.find(lines[k], "__forceinline__", 1, true)
      or not string.find(lines[k], "%f[%w_]" .. name .. "[%(<]")) do
      k = k + 1
    end
    at = name and lines[k] and k or at
  end
  return at >= (kernel or 1) and at or number
end

local function figure(profile, a, room)
  local each, ideal = each_of(a)
  local r, shared = a.request, a.space == "shared"
  local lines = a.file == "source" and profile.source or profile.text and profile.text[a.file]
  local number = lines and a.file == "source" and line_in_kernel(lines, a.line) or a.line
  local line = lines and lines[number]
  local what = shared and " of shared memory: %.1f wavefronts per request, minimum %.1f"
    or ": %.1f sectors per request, minimum %.1f"
  return {
    code = line and string.gsub(line, "^ +", "") or nil,
    text = string.format("%s:%d, %s%s", units.base_name(a.file), number, a.access, shared and ""
      or string.format("%s of %d bytes per lane", r.buffer and " of " .. r.buffer or "", r.width))
      .. string.format(what, each, ideal),
    picture = shared and pattern.banks(r) or pattern.lanes(r, room),
  }
end

-- The worst accesses of a profile to global or to shared memory, each by one request.
local function patterns(list, title, profile, space, room)
  local group = { title = title, figures = {}, more = 0 }
  for _, a in ipairs(profile.accesses) do
    if a.request and a.space == space and #group.figures < SHOWN_PATTERNS then
      group.figures[#group.figures + 1] = figure(profile, a, room)
    elseif a.request and a.space == space then
      group.more = group.more + 1
    end
  end
  list[#list + 1] = #group.figures > 0 and group or nil
end

-- The room that pictures of both need: what is compared has one scale.
local function room_of(...)
  local room = 1
  for _, profile in ipairs { ... } do
    for _, a in ipairs(profile.accesses) do
      room = a.request and a.space ~= "shared" and math.max(room, pattern.lines(a.request)) or room
    end
  end
  return room
end

-- "  4.0/4.0 ", or blanks.
local function beside(at)
  return at and at[1] > 0 and string.format("<b>%5.1f</b><u>/%-5.1f</u> ", at[1], at[2])
    or string.rep(" ", 12)
end

-- The lines of a file, with the sectors of a request and how many would do in front.
local function source(profile, file, text)
  local lines, out = {}, {}
  for _, a in ipairs(profile.accesses) do
    if a.space ~= "shared" and a.file == file then
      local each, ideal = each_of(a)
      local at = lines[a.line] or { 0, 0 }
      lines[a.line] = { math.max(at[1], each), math.max(at[2], ideal) }
    end
  end
  for k, line in ipairs(text or {}) do
    out[k] = beside(lines[k]) .. page.escape(line) .. "\n"
  end
  return page.html(out)
end

-- list: profiles each with a title, the last one ringed. nil: no floating-point operations.
local function roofline(device, list)
  local last, points = list[#list].profile, {}
  local s = last.speed
  if not s or s.intensity <= 0 or last.peak_flops <= 0 then
    return nil
  end
  for k, one in ipairs(list) do
    local at = one.profile.speed
    points[k] = {
      x = at and at.intensity or 0,
      y = at and (at.flops_f16 + at.flops_f32 + at.flops_f64) / at.predicted_ns * 1e9 or 0,
      series = k - 1,
      ringed = k == #list,
      title = one.title,
    }
  end
  local from, to = math.min(s.intensity, s.ridge) / 4, math.max(s.intensity, s.ridge) * 4
  local peak = last.peak_flops
  local roofs = {
    { x0 = from, y0 = from * (device.peak_bytes_s or 0), x1 = s.ridge, y1 = peak },
    { x0 = s.ridge, y0 = peak, x1 = to, y1 = peak },
  }
  return chart.points(points, roofs, { name = "operations a byte of DRAM", unit = "" },
    { name = "operations a second", unit = "/s" })
end

-- ---- a spec's naive variant and its winner ----

--- Access by access.
---@param device table
---@param naive table
---@param winner table
---@return table
function profile_page.both(device, naive, winner)
  local list, groups, room = {}, {}, room_of(naive, winner)
  accesses(list, "naive", naive)
  accesses(list, "winner", winner)
  patterns(groups, "The naive variant", naive, "global", room)
  patterns(groups, "The winner", winner, "global", room)
  patterns(groups, "The winner's tile in shared memory: lanes by bank",
    winner, "shared", room)
  return page.fill("report/profiles.html", {
    accesses = list,
    groups = groups,
    sources = { { title = "Source of the winner, with sectors per request (actual/minimum)",
      text = source(winner, "source", winner.source) } },
    roofline = roofline(device, {
      { title = "the naive variant", profile = naive },
      { title = "the winner", profile = winner },
    }),
    marks = { "the naive variant", "the winner" },
  })
end

-- ---- launches of a file ----

-- The sections of `sectile profile`, but for those that the page has as pictures.
local SECTIONS = { "launch", "speed", "shared", "caches", "warps", "mix", "issues" }

local function case_page(doc, c)
  local list, groups, room, sources = {}, {}, room_of(c), {}
  c.text = {}
  for _, file in ipairs(doc.files) do
    c.text[file.path] = file.lines
  end
  accesses(list, nil, c)
  patterns(groups, "Global memory", c, "global", room)
  patterns(groups, "Shared memory: lanes by bank", c, "shared", room)
  for _, file in ipairs(doc.files) do
    local used = false
    for _, a in ipairs(c.accesses) do
      used = used or a.file == file.path
    end
    sources[#sources + 1] = used and {
      title = file.path .. ", with the sectors of a request next to its lines",
      text = source(c, file.path, file.lines),
    } or nil
  end
  local text = show_profile.profile({ cases = { c } }, { sections = SECTIONS, width = 0,
    device = doc.look.device, inflight = doc.look.inflight, listed = {} })
  return page.fill("report/case.html", {
    c = c,
    text = text,
    profiles = page.fill("report/profiles.html", {
      accesses = list,
      groups = groups,
      sources = sources,
      roofline = roofline(doc.look.device, { { title = c.case, profile = c } }),
      marks = { c.case },
    }),
  })
end

--- `profile --html`: the document of --json with what pictures need (cli_profile_page.c), as the
--- texts of a page.
---@param doc table
---@return string[]
function profile_page.launches(doc)
  local cases = {}
  for k, c in ipairs(doc.cases) do
    cases[k] = c.problem and page.fill("report/case.html", { c = c }) or case_page(doc, c)
  end
  return page.whole(doc.file, "report/launches.html", { doc = doc, cases = cases })
end

return profile_page
