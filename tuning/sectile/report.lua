-- report: the pages of `sectile report` and `sectile compare --out` from what the commands know as
-- JSON (cli_page.c, cli_compare.c). What a page says is in templates/report.
local chart = require "sectile.chart"
local page = require "sectile.page"
local profile_page = require "sectile.profile_page"
local show = require "sectile.show"
local show_tune = require "sectile.show_tune"
local units = require "sectile.units"

local report = {}

local is_good, time_of = show_tune.is_good, show_tune.time_of
local SERIES, SHOWN_ROWS, MOST_VALUES = 8, 10, 64
local EQUALS = 3 -- rows of one time that are shown before they are counted

-- ---- rows ----

local function is_timed(size)
  return size.rows[1] ~= nil and size.rows[1].median_ns ~= nil
end

local function strategy_of(label)
  return string.match(label, "^[^ ]*")
end

-- ---- candidates: strategies are colours; naive ones are the first ----

-- The colour of each row, and the strategies in the order of rows. More strategies than colours
-- share some.
local function series_of(rows)
  local series, names, index = {}, {}, {}
  for k, row in ipairs(rows) do
    local name = strategy_of(row.label)
    if not row.naive and not index[name] then
      names[#names + 1] = name
      index[name] = #names
    end
    series[k] = row.naive and 0 or 1 + (index[name] - 1) % (SERIES - 1)
  end
  return series, names
end

-- The picture of all rows, time by what `across` gives of a row.
local function scatter(size, axis, across)
  local series, points = series_of(size.rows), {}
  for k, row in ipairs(size.rows) do
    points[k] = {
      x = across(row),
      y = 1e-9 * time_of(row),
      series = series[k],
      ringed = row.winner,
      name = row.winner and "winner" or row.naive and "naive",
      title = row.label .. ": " .. units.ns(time_of(row)),
    }
  end
  local time = { name = is_timed(size) and "time" or "time, predicted", unit = "s" }
  return chart.points(points, {}, axis, time)
end

local function by_sectors(size)
  return scatter(size, { name = "bytes of the sectors touched", unit = "B" }, function(row)
    return is_good(row) and 32 * (row.sectors or 0) or 0
  end)
end

local function by_predicted(size)
  return scatter(size, { name = "time, predicted", unit = "s" }, function(row)
    return 1e-9 * (row.predicted_ns or 0)
  end)
end

local function legend(size)
  local _, names = series_of(size.rows)
  local list = {}
  for k, name in ipairs(names) do
    list[k] = { series = 1 + (k - 1) % (SERIES - 1), name = name }
  end
  return list
end

-- Time of the best naive variant; 0: not known.
local function naive_time(size)
  for _, row in ipairs(size.rows) do
    if row.naive and is_good(row) then
      return time_of(row)
    end
  end
  return 0
end

local function candidate(size, k, naive_ns)
  local row = size.rows[k]
  local good, ns = is_good(row), time_of(row)
  return {
    rank = k,
    gain = good and ns > 0 and naive_ns > 0 and string.format("%.2f", naive_ns / ns) or "",
    class = row.winner and page.html { ' class="winner"' } or nil,
    good = good,
    outcome = row.outcome,
    label = row.label,
    time = not good and "failed" or ns > 0 and units.ns(ns) or "",
    limit = row.predicted_limit,
    loads = string.format("%s%.1f", (row.sectors_error or 0) > 0 and "~" or "",
      row.sectors_ld or 0),
    stores = string.format("%.1f", row.sectors_st or 0),
    coalesced = (units.share(row.coalesced_share) or "")
      .. (row.coalesced and "" or row.coalesced_unknown and " (unknown)" or " (not)"),
    utilisation = units.share(row.utilisation),
    registers = row.registers,
  }
end

-- The first `most` rows, of those with one time three and how many more; nil: all.
local function candidates(size, most)
  local rows, naive_ns, k, equal = {}, naive_time(size), 1, 0
  while size.rows[k] and #rows < (most or math.huge) do
    local row, before = size.rows[k], size.rows[k - 1]
    local same = before and units.ns(time_of(before)) == units.ns(time_of(row))
    equal = same and equal + 1 or 0
    if most and equal == EQUALS and is_good(row) then
      local n = 0
      while size.rows[k] and units.ns(time_of(size.rows[k])) == units.ns(time_of(row)) do
        n, k = n + 1, k + 1
      end
      rows[#rows + 1] = { equal = n, time = units.ns(time_of(row)) }
    else
      rows[#rows + 1] = candidate(size, k, naive_ns)
      k = k + 1
    end
  end
  return page.fill("report/candidates.html", { rows = rows })
end

-- The headline: how much faster than the naive variant, and how near a copy.
local function gain_of(device, size)
  local winner, naive_ns = size.rows[1], naive_time(size)
  local ns, timed = time_of(winner), is_timed(size)
  if ns <= 0 then
    return nil
  end
  local copy = size.ceiling_bytes_s or device.copy_bytes_s
  local rate = (size.read_bytes + size.write_bytes) / ns * 1e9
  local parts = { naive_ns > 0 and not winner.naive and string.format("%.2f x as fast as the naive "
    .. "kernel", naive_ns / ns) or units.ns(ns) }
  parts[2] = copy and string.format("%.0f %% of a copy's bandwidth", 100 * rate / copy) or nil
  return table.concat(parts, ", "), string.format("%s%s, %.0f GB/s of useful bytes; naive %s",
    timed and "" or "predicted: ", units.ns(ns), rate / 1e9,
    naive_ns > 0 and units.ns(naive_ns) or "not known")
end

-- ---- the best by each value of each axis of the winner's strategy ----

-- Where x is the share q of the way through an ascending list.
local function quantile(list, q)
  local at = q * (#list - 1)
  local below = math.floor(at)
  return list[below + 1]
    + (at - below) * (list[math.min(below + 2, #list)] - list[below + 1])
end

-- The axes of the winner's label: for each its values in the order of rows, each with the times of
-- its rows. `all`: those of every row.
local function axes_of(size)
  local winner, axes, index, all = strategy_of(size.rows[1].label), {}, {}, {}
  for key in string.gmatch(size.rows[1].label, " ([^= ]+)") do
    axes[#axes + 1] = { key = key, values = {} }
    index[key] = axes[#axes]
  end
  for _, row in ipairs(size.rows) do
    local timed = is_good(row) and time_of(row) > 0
    all[#all + 1] = timed and strategy_of(row.label) == winner and time_of(row) or nil
    for text, key in string.gmatch(strategy_of(row.label) == winner and row.label or "",
      " (([^= ]+)[^ ]*)") do
      local axis = index[key]
      if axis and not axis.values[text] and #axis.values < MOST_VALUES then
        axis.values[#axis.values + 1] = text
        axis.values[text] = {}
      end
      local times = timed and axis and axis.values[text]
      if times then
        times[#times + 1] = time_of(row)
      end
    end
  end
  table.sort(all)
  return axes, all
end

local function axis_values(size)
  local axes, all = axes_of(size)
  local best, list = time_of(size.rows[1]), {}
  for _, axis in ipairs(axes) do
    for _, text in ipairs(#axis.values > 1 and axis.values or {}) do
      local times, quartile = axis.values[text], {}
      table.sort(times)
      for k = 1, #times > 0 and 5 or 0 do
        quartile[k] = quantile(times, (k - 1) / 4)
      end
      list[#list + 1] = #times > 0 and {
        text = text,
        n = #times,
        best = units.ns(times[1]),
        more = string.format("%+.1f", 100 * (times[1] / best - 1)),
        median = units.ns(quartile[3]),
        range = chart.range(quartile, all[1], all[#all]),
      } or nil
    end
  end
  return list
end

-- ---- copies to the device and back: kinds of memory are colours ----

local DIRECTIONS = {
  { title = "To the device", ways = { ["to device"] = true } },
  { title = "From the device", ways = { ["to host"] = true, ["to peer"] = true } },
  { title = "Both ways at once, the sum", ways = { ["both ways"] = true } },
}

local function copy_name(copy)
  return copy.memory .. (copy.peer ~= "" and " " .. copy.peer or "")
end

-- Rates by size of the copies, which are sorted by kind and size.
local function rates(copies, ways)
  local points, lines, before = {}, {}, {}
  for _, c in ipairs(copies) do
    if ways[c.way] then
      local name = copy_name(c)
      points[#points + 1] = {
        x = c.bytes,
        y = c.bytes_s,
        series = c.kind % SERIES,
        title = string.format("%s, %s: %.4g GB/s", name, units.bytes(c.bytes), c.bytes_s / 1e9),
      }
      local joins = before.name == name
      lines[#lines + 1] = joins and { x0 = before.x, y0 = before.y, x1 = c.bytes, y1 = c.bytes_s,
        series = c.kind % SERIES } or nil
      before = { name = name, x = c.bytes, y = c.bytes_s }
    end
  end
  return points[1] and chart.points(points, lines, { name = "bytes each way", unit = "bytes" },
    { name = "bytes a second", unit = "B/s" })
end

local function by_kind_and_size(a, b)
  if a.kind ~= b.kind then
    return a.kind < b.kind
  end
  if a.peer ~= b.peer then
    return a.peer < b.peer
  end
  return a.bytes < b.bytes
end

-- nil: the store has none.
local function transfers(copies, timed)
  local figures, kinds, last = {}, {}, nil
  table.sort(copies, by_kind_and_size)
  for _, c in ipairs(copies) do
    local name = copy_name(c)
    kinds[#kinds + 1] = name ~= last and { series = c.kind % SERIES, name = name } or nil
    last = name
  end
  for _, direction in ipairs(DIRECTIONS) do
    local picture = rates(copies, direction.ways)
    figures[#figures + 1] = picture and { title = direction.title, picture = picture } or nil
  end
  return figures[1]
    and page.fill("report/transfers.html", { figures = figures, kinds = kinds, timed = timed })
end

-- ---- from the host and back: what a store says is not believed ----

local LANES = { "in", "kernel", "out", "in 2", "kernel 2", "out 2", "host" }
local SERIES_OF_LANES = { 1, 2, 3, 1, 2, 3, 4 }
local MOST_COLUMNS, MOST_TIMELINES = 200, 4

local function number(value)
  return type(value) == "number" and value == value and math.abs(value) < math.huge and value or 0
end

local function lanes_of(timeline)
  local lanes = {}
  for k, name in ipairs(LANES) do
    local columns = type(timeline.lanes) == "table" and timeline.lanes[name]
    local shares = {}
    for c = 1, type(columns) == "table" and math.min(#columns, MOST_COLUMNS) or 0 do
      shares[c] = math.max(0, math.min(1, number(columns[c]) / 100))
    end
    local lane = { name = name, series = SERIES_OF_LANES[k], shares = shares }
    lanes[#lanes + 1] = shares[1] and lane or nil
  end
  return lanes
end

local function timelines(found)
  local figures = {}
  for _, t in ipairs(type(found.timelines) == "table" and found.timelines or {}) do
    local lanes = type(t) == "table" and #figures < MOST_TIMELINES and lanes_of(t) or {}
    figures[#figures + 1] = lanes[1] and {
      title = string.format("%s: %.0f %% hidden, limited by %s", tostring(t.way),
        100 * number(t.hidden), tostring(t.limit)),
      picture = chart.lanes(lanes, units.ns(number(t.total_ns))),
    } or nil
  end
  return figures
end

local function way_row(way, size)
  local axes = way.axes
  local devices = math.tointeger(axes.devices) or 1
  local bound = number(devices > 1 and size.found.two_bound_ns or size.found.bound_ns)
  local chunk = math.tointeger(axes.chunk) or 0
  return {
    memory = tostring(axes.memory),
    chunk = chunk > 0 and string.format("%d", chunk) or "all",
    streams = math.tointeger(axes.streams) or 1,
    threads = math.tointeger(axes.threads) or 0,
    devices = devices,
    time = units.ns(way.ns),
    rate = string.format("%.4g", size.bytes / way.ns),
    share = bound > 0 and string.format("%.2f", bound / way.ns) or "",
  }
end

-- nil: the store has none.
local function ways(sizes)
  local list, timed, most = {}, false, 1
  for k, size in ipairs(sizes) do
    local rows = {}
    table.sort(size.ways, function(a, b) return a.ns < b.ns end)
    for w, way in ipairs(size.ways) do
      rows[w] = way_row(way, size)
      timed = timed or way.timed
      most = math.max(most, rows[w].devices)
    end
    list[k] = { title = size.size, ways = rows, figures = timelines(size.found) }
  end
  local values = { sizes = list, timed = timed, divided = most > 1 }
  return list[1] and page.fill("report/ways.html", values)
end

-- ---- the rule for other sizes: maps of two extents ----

local MOST_MAPS = 3
local BANDS = { -- of time over the best, each up to
  { most = 1.02, series = 3, name = "up to 2 % longer than the best" },
  { most = 1.10, series = 1, name = "up to 10 %" },
  { most = 1.50, series = 4, name = "up to 50 %" },
  { most = math.huge, series = 2, name = "more" },
}

local function band_of(regret)
  for _, band in ipairs(BANDS) do
    if regret <= band.most then
      return band
    end
  end
end

-- Kernels of a rule as colours, the naive one as the first, and at how many sizes each is taken.
local function kernels_of(rules, rule)
  local list, index = {}, {}
  for _, s in ipairs(rule.samples) do
    if not index[s.kernel] then
      list[#list + 1] = { label = rules.kernels[s.kernel + 1], n = 0,
        series = s.kernel == 0 and 0 or 1 + (s.kernel - 1) % (SERIES - 1) }
      index[s.kernel] = list[#list]
    end
    index[s.kernel].n = index[s.kernel].n + 1
  end
  table.sort(list, function(a, b) return a.n > b.n end)
  return list, index
end

-- A picture of each two extents that differ between the sizes.
local function map(rules, rule, a, b, kernels)
  local variants, regrets = {}, {}
  for _, s in ipairs(rule.samples) do
    local x, y = s.extents[a], s.extents[b]
    local title = string.format("%s=%d %s=%d: ", rules.extents[a], x, rules.extents[b], y)
      .. kernels[s.kernel].label
    local loss = s.regret > 0
        and string.format(", %.1f %% longer than the best%s", 100 * (s.regret - 1),
          s.estimated and ", estimated" or "")
      or ""
    local function point(series)
      return { x = x, y = y, series = series, ringed = not s.sampled, title = title .. loss }
    end
    variants[#variants + 1] = point(kernels[s.kernel].series)
    regrets[#regrets + 1] = s.regret > 0 and point(band_of(s.regret).series) or nil
  end
  local across = { name = rules.extents[a], unit = "" }
  local up = { name = rules.extents[b], unit = "" }
  return {
    title = rules.extents[b] .. " by " .. rules.extents[a],
    variants = chart.points(variants, {}, across, up),
    regrets = chart.points(regrets, {}, across, up),
  }
end

local function varies(rule, extent)
  local first = rule.samples[1].extents[extent]
  for _, s in ipairs(rule.samples) do
    if s.extents[extent] ~= first then
      return true
    end
  end
  return false
end

local function stated(rule, virtual)
  local r = rule.regret
  return string.format("A header's rule, from %d sizes, takes these kernels.", #rule.samples)
    .. (r.samples > 0 and string.format(" Left out in turn, %d sizes take %.1f %% longer in the "
      .. "mean than the best %s there, 95 %% of them up to %.0f %%, at worst %.0f %%.",
      r.samples, 100 * (r.mean - 1), virtual and "predicted" or "timed", 100 * (r.p95 - 1),
      100 * (r.worst - 1)) or "")
end

-- nil: there is no rule, or its sizes differ in less than two extents.
local function maps(rules, device)
  local rule
  for _, r in ipairs(rules and rules.rules or {}) do
    rule = r.device == device.name and r.sampled > 0 and r or rule
  end
  if not rule then
    return nil
  end
  local list = {}
  local kernels, index = kernels_of(rules, rule)
  for a = 1, #rules.extents do
    for b = a + 1, #rules.extents do
      if #list < MOST_MAPS and varies(rule, a) and varies(rule, b) then
        list[#list + 1] = map(rules, rule, b, a, index)
      end
    end
  end
  return list[1] and page.fill("report/maps.html", { text = stated(rule, device.virtual),
    maps = list, kernels = kernels, bands = BANDS })
end

-- ---- pages ----

local function lines_of(...)
  local list = {}
  for k = 1, select("#", ...) do
    for line in string.gmatch(select(k, ...) or "", "[^\n]+") do
      list[#list + 1] = line
    end
  end
  return list
end

local function notes_of(size)
  local notes = { size.faster and "Passed over: " .. size.faster }
  for _, line in ipairs(size.uncoalesced) do
    notes[#notes + 1] = line
  end
  for _, key in ipairs { "converted", "kept", "recorded" } do
    notes[#notes + 1] = size[key]
  end
  if is_timed(size) and size.stored > 0 and size.stored < #size.rows then
    notes[#notes + 1] = string.format(
      "%d rows were measured by this session; %d, whose kernels are still the same, by earlier "
        .. "ones",
      #size.rows - size.stored, size.stored)
  end
  return notes
end

local function issues_of(size)
  local list = {}
  for k, i in ipairs(size.issues) do
    list[k] = { id = i.id, text = string.format("%s. Try: %s. Gain: up to %.3g %% of the %s.",
      i.evidence, i.advice, 100 * (i.gain or 0), i.of) }
  end
  return list
end

local function size_page(device, size)
  local values = {
    size = size,
    reads = units.bytes(size.read_bytes or 0),
    writes = units.bytes(size.write_bytes or 0),
    passed = size.rows[1] ~= nil and size.rows[1].winner,
  }
  if values.passed then
    values.notes = notes_of(size)
    values.lines = lines_of(size.why, size.best)
    values.issues = issues_of(size)
    values.profiles = profile_page.both(device, size.naive_profile, size.winner_profile)
    values.by_sectors = by_sectors(size)
    values.by_predicted = is_timed(size) and by_predicted(size) or nil
    values.legend = legend(size)
    values.gain, values.gain_of = gain_of(device, size)
    values.candidates = candidates(size, SHOWN_ROWS)
    values.n_all = #size.rows
    values.more = values.n_all > SHOWN_ROWS and candidates(size) or nil
    values.winner = strategy_of(size.rows[1].label)
    values.axes = axis_values(size)
  end
  return page.fill("report/size.html", values)
end

--- A session (cli_page.c) as the texts of a page.
---@param session table
---@return string[]
function report.session(session)
  local sizes = {}
  for k, size in ipairs(session.sizes) do
    sizes[k] = size_page(session.device, size)
  end
  return page.whole(session.name, "report/session.html", { session = session, sizes = sizes,
    maps = maps(session.rules, session.device),
    transfers = transfers(session.transfers, not session.device.virtual),
    ways = ways(session.ways) })
end

-- What compare says of a candidate as a colour.
local COLOURS = { FAST = 3, SLOW = 2 }

local function compared(group)
  local points, lo, hi, predicted = {}, math.huge, 0, false
  for k, c in ipairs(group.candidates) do
    local a, b = 1e-9 * (c.a_ns or 0), 1e-9 * (c.b_ns or 0)
    points[k] = {
      x = c.verdict and a or 0,
      y = b,
      series = COLOURS[c.verdict] or 1,
      ringed = c.label == group.winner_b,
      title = string.format("%s: B / A %.3f", c.label, c.ratio or 0),
    }
    lo = c.verdict and math.min(lo, a, b) or lo
    hi = c.verdict and math.max(hi, a, b) or hi
    predicted = predicted or k == 1 and c.predicted
  end
  local same = { { x0 = lo, y0 = lo, x1 = hi, y1 = hi } }
  local of = predicted and ", predicted" or ""
  return hi > 0 and chart.points(points, same, { name = "A" .. of, unit = "s" },
    { name = "B" .. of, unit = "s" }) or nil
end

--- Two stores (cli_compare.c) as the texts of a page.
---@param comparison table
---@param look table
---@return string[]
function report.comparison(comparison, look)
  local groups, lines = {}, {}
  for k, group in ipairs(comparison.groups) do
    groups[k] = {
      title = table.concat({ group.problem, group.size, group.device }, ", "),
      picture = compared(group),
    }
  end
  for k, line in ipairs(show.compare(comparison, { top = look.top })) do
    lines[k] = page.escape(line)
  end
  return page.whole(look.title, "report/comparison.html",
    { title = look.title, groups = groups, text = page.html(lines) })
end

return report
