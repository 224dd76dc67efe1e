-- show: what commands print for a person, from the documents that --json prints. The longer ones
-- have files of their own.
local text = require "sectile.text"
local units = require "sectile.units"

local show = {}

-- ---- sectile space ----

-- The strategy's name, and where it has other axes at other sizes, for which of them these are.
local function name_of(strategy, n_sizes)
  local some = #strategy.sizes < n_sizes
  return strategy.name .. (some and " at " .. table.concat(strategy.sizes, "; ") or "")
end

local function count_sizes(doc)
  local n, known = 0, {}
  for _, strategy in ipairs(doc.strategies) do
    for _, label in ipairs(strategy.sizes) do
      n = n + (known[label] and 0 or 1)
      known[label] = true
    end
  end
  return n
end

local function strategies_of(doc, n_sizes)
  local t = text.table { "strategy", ">candidates", "" }
  for _, s in ipairs(doc.strategies) do
    if s.applies then
      t:row("plain", name_of(s, n_sizes), s.candidates, s.doc)
    else
      t:row("dim", name_of(s, n_sizes), "-", "does not apply; requires: " .. (s.why_not or ""))
    end
  end
  return t
end

local function axes_of(doc, n_sizes)
  local t = text.table { "strategy", "axis", "key", "values", "" }
  for _, s in ipairs(doc.strategies) do
    for k, axis in ipairs(s.applies and s.axes or {}) do
      local values = {}
      for v, value in ipairs(axis.values) do
        values[v] = tostring(value)
      end
      t:row("plain", k == 1 and name_of(s, n_sizes) or nil, axis.name, axis.key,
        table.concat(values, " "), axis.doc)
    end
  end
  return t
end

local function put_pruned(out, doc)
  local t = text.table { ">points", "strategy", "pruned because" }
  for _, p in ipairs(doc.pruned) do
    t:row("plain", p.count, p.strategy, p.reason)
  end
  if doc.collapsed > 0 then
    t:row("plain", doc.collapsed, nil, "equal to another point: an axis did not matter")
  end
  if #t.rows > 0 then
    out:put("\n")
    out:table(t, 2)
  end
end

-- What each array's layouts cost, whatever the kernel.
local function arrays_of(doc)
  local t = text.table { "array", "layout", "size", ">used", ">in sectors", ">utilisation" }
  for _, a in ipairs(doc.arrays) do
    local moved = 32 * a.sectors
    t:row("plain", a.array, a.layout, a.size, units.bytes(a.used_bytes), units.bytes(moved),
      units.share(moved > 0 and a.used_bytes / moved or 1))
  end
  return t
end

-- Each reason once, with its first candidate.
local function put_failed(out, doc)
  local reasons, list = {}, {}
  for _, f in ipairs(doc.failed) do
    local reason = string.format("%s: %s", f.says, f.detail or "")
    if not reasons[reason] then
      list[#list + 1] = reason
      reasons[reason] = { label = f.label, more = -1 }
    end
    reasons[reason].more = reasons[reason].more + 1
  end
  for _, reason in ipairs(list) do
    local r = reasons[reason]
    out:put("  failed: %s%s: %s\n", r.label,
      r.more > 0 and string.format(" and %d more", r.more) or "", reason)
  end
end

---@param doc table
---@param look table
---@return sectile.Text
function show.space(doc, look)
  local out, n_sizes = text.new(look), count_sizes(doc)
  out:put("%s for %s (%s): %d candidates of %d points\n\n", out:paint("bold", doc.name),
    doc.device, look.device_name, doc.candidates, doc.points)
  out:table(strategies_of(doc, n_sizes), 2)
  out:put("\n")
  out:table(axes_of(doc, n_sizes), 2)
  out:put("\n")
  out:table(arrays_of(doc), 2)
  put_pruned(out, doc)
  put_failed(out, doc)
  return out
end

-- ---- sectile space --modes ----

-- The lists, each shown where it differs from the first, with what it is for.
local KINDS = {
  { "merging", "modes" },
  { "all", "modes of strategies that take every split" },
  { "none", "modes of the naive variant, for all extents" },
}

local function mode_names(list)
  local names = {}
  for k, mode in ipairs(list.modes) do
    names[k] = mode.name
  end
  return table.concat(names, ",")
end

local function modes_table(list, look)
  local heads = { "mode", "of", "extent" }
  for z = 1, look.n_sizes do
    heads[#heads + 1] = z == 1 and ">sizes" or ">"
  end
  for _, name in ipairs(look.operands) do
    heads[#heads + 1] = ">" .. name
  end
  local t = text.table(heads)
  for _, mode in ipairs(list.modes) do
    local cells = { mode.name, table.concat(mode.dims, ", "), mode.extent }
    for _, size in ipairs(mode.sizes) do
      cells[#cells + 1] = size
    end
    for _, name in ipairs(look.operands) do
      cells[#cells + 1] = mode.strides[name]
    end
    t:row("plain", table.unpack(cells))
  end
  return t
end

---@param doc table
---@param look table
---@return sectile.Text
function show.modes(doc, look)
  local out = text.new(look)
  for k, kind in ipairs(KINDS) do
    local list = doc[kind[1]]
    if k == 1 or mode_names(list) ~= mode_names(doc[KINDS[1][1]]) then
      out:put("%s%s: %s (an operand's column: bytes that a step goes)\n", k > 1 and "\n" or "",
        out:paint("bold", doc.name), kind[2])
      out:table(modes_table(list, look), 2)
      for _, condition in ipairs(list.requires) do
        out:put("  requires %s\n", condition)
      end
    end
  end
  return out
end

-- ---- sectile explain ----

---@param doc table
---@param look table
---@return sectile.Text
function show.explain(doc, look)
  local out = text.new(look)
  out:put("%s\n", doc.label)
  out:wrap(doc.strategy, doc.doc or "")
  if doc.here and doc.here ~= "" and doc.here ~= doc.doc then
    out:wrap("here", doc.here)
  end
  for _, axis in ipairs(doc.axes) do
    local others = table.concat(axis.others, " ")
    out:wrap((axis.key or "") .. axis.value,
      (axis.doc or "") .. (others ~= "" and " (others: " .. others .. ")" or ""))
  end
  return out
end

-- ---- sectile devices ----

local UNKNOWN = "not validated"

-- How far predictions of a device are off, as far as that is known.
local function predictions_of(d)
  if d.counting_only then
    return "described only"
  elseif not d.held then
    return UNKNOWN
  end
  return string.format("%.0f %% off: %s", 100 * d.held.error, d.held.against)
end

-- GPUs as the driver numbers them, then descriptions by compute capability and bandwidth.
local function by_generation(devices)
  local list = { table.unpack(devices) }
  local function rank(d)
    local major, minor = string.match(d.cc, "^(%d+)%.(%d+)$")
    return d.virtual and 100 * tonumber(major) + tonumber(minor) or 0
  end
  table.sort(list, function(a, b)
    local ra, rb = rank(a), rank(b)
    if ra ~= rb or ra == 0 then
      return ra < rb or (ra == rb and a.id < b.id)
    end
    local pa, pb = a.peak_bytes_s, b.peak_bytes_s
    return pa < pb or (pa == pb and a.id < b.id)
  end)
  return list
end

---@param doc table
---@param look table
---@return sectile.Text
function show.devices(doc, look)
  local out = text.new(look)
  local t = text.table { "device", "name", ">CC", ">SMs", ">memory", ">GB/s", "predictions" }
  local says, counting_only
  for _, d in ipairs(by_generation(doc.devices)) do
    says = not d.counting_only and d.virtual and d.says or says
    counting_only = counting_only or d.counting_only
    t:row(d.virtual and "plain" or "good", d.id, d.name, d.cc, d.sms, units.bytes(d.memory_bytes),
      d.peak_bytes_s and string.format("%.0f", d.peak_bytes_s / 1e9), predictions_of(d))
  end
  out:table(t, 0)
  out:put("virtual:NAME: %s\n", says)
  if counting_only then
    out:put("described only: this toolkit cannot compile for the device; `count` and `profile` "
      .. "know its rules\n")
  end
  out:put("%s: predictions were not compared with measurements\n", UNKNOWN)
  if doc.no_gpu then
    out:put("no GPU here: %s\n", doc.no_gpu)
  end
  return out
end

-- ---- sectile check ----

local function some(n, what)
  return string.format("%d %s%s", n, what, n == 1 and "" or "s")
end

---@param doc table of one spec
---@param look table
---@return sectile.Text
function show.check(doc, look)
  local out = text.new(look)
  out:put("%s: ok (%s, %s, %s)\n", doc.spec, some(#doc.operands, "operand"),
    some(#doc.sizes, "size"), doc.hash)
  for _, size in ipairs(doc.too_large) do
    out:put("  %s at %s the arrays take %s: more than the memory of any GPU, so nothing can be "
      .. "launched\n", out:paint("warn", "note:"), size.size, units.bytes(size.bytes))
  end
  if #doc.unused > 0 then
    out:put("  %s the body does not use %s\n", out:paint("warn", "note:"),
      table.concat(doc.unused, ", "))
  end
  for k, issue in ipairs(doc.issues) do
    out:issue(k, issue)
  end
  return out
end

-- ---- sectile status ----

---@param doc table
---@param look table
---@return sectile.Text
function show.status(doc, look)
  local out, open = text.new(look), {}
  local t = text.table { ">share", "kernel", "size", ">candidates", "", "best so far", ">time",
    "last outcome", "node", "" }
  for _, l in ipairs(doc.lines) do
    local known = l.last ~= ""
    local slow = l.timed and (l.scale or 1) > 1 + look.noise
    if l.share and l.state ~= "done" then
      open[l.share] = true -- a share has a line for each kernel and size
    end
    t:row(not known and "dim" or slow and "warn" or l.state == "done" and "good" or "plain",
      l.share or "final heat", l.kernel, l.size,
      known and string.format("%d of %d", l.done, l.planned) or nil, l.state, l.best,
      l.best_ns and string.format("%.4g us", l.best_ns / 1e3),
      known and string.sub(l.last, 1, 19) .. "Z" or nil, l.node,
      slow and string.format("%.2f times as slow", l.scale) or nil)
  end
  out:table(t, 0)
  local done = doc.shares
  for _ in pairs(open) do
    done = done - 1
  end
  out:put("%d of %d shares are done\n", done, doc.shares)
  return out
end

-- ---- sectile transfer ----

-- The rows by kind of memory and way, and groups of kinds that have the same ways, all in their
-- order: the host's, and a second device's.
local function by_memory(doc)
  local rows, groups = {}, {}
  local ways, memory, before = {}, nil, nil
  for k, row in ipairs(doc.transfers) do
    rows[row.memory] = rows[row.memory] or {}
    rows[row.memory][row.way] = row
    ways = row.memory == memory and ways or {}
    memory = row.memory
    ways[#ways + 1] = row.way
    if not doc.transfers[k + 1] or doc.transfers[k + 1].memory ~= memory then
      local key = table.concat(ways, ",")
      if key ~= before then
        groups[#groups + 1] = { ways = ways, memories = {} }
        before = key
      end
      table.insert(groups[#groups].memories, memory)
    end
  end
  return rows, groups
end

local function transfers_table(doc, first)
  local t = text.table { "memory", "way", ">latency", ">GB/s", ">half at", ">made in" }
  for _, row in ipairs(doc.transfers) do
    if row.best_bytes_s then
      t:row("plain", row.memory, row.way, units.ns(row.latency_ns or 0),
        string.format("%.4g", row.best_bytes_s / 1e9), units.bytes(row.half_bytes or 0),
        row.way == first and row.made_ns and units.ns(row.made_ns))
    end
  end
  return t
end

-- GB/s by size, a column a kind of memory.
local function rates_table(rows, memories, way)
  local heads = { ">" .. way }
  for k, memory in ipairs(memories) do
    heads[k + 1] = ">" .. memory
  end
  local t = text.table(heads)
  for z, size in ipairs(rows[memories[1]][way].sizes) do
    local cells = { units.bytes(size.bytes) }
    for k, memory in ipairs(memories) do
      local row = rows[memory][way]
      local rate = row.sizes[z].bytes_s
      cells[k + 1] = row.best_bytes_s ~= nil
        and (rate and string.format("%.4g", rate / 1e9) or "-")
    end
    t:row("plain", table.unpack(cells))
  end
  return t
end

-- Each reason once, with the first size that it stands at.
local function transfer_failures(of, memory, ways)
  local lines, before = {}, nil
  for z, size in ipairs(of[ways[1]].sizes) do
    for _, way in ipairs(ways) do
      local failure = of[way].sizes[z].failure
      if failure and failure ~= before then
        lines[#lines + 1] = string.format("%s%s: %s\n", memory,
          z > 1 and ", from " .. units.bytes(size.bytes) .. " on" or "", failure)
      end
      before = failure or before
    end
  end
  return table.concat(lines)
end

---@param doc table
---@param look table
---@return sectile.Text
function show.transfer(doc, look)
  local out, failures = text.new(look), {}
  local rows, groups = by_memory(doc)
  local peer = doc.peer and string.format(", peer %s (%s)", doc.peer.name, doc.peer.id) or ""
  out:put("%s (%s)%s: %s\n\n", doc.device.name, doc.device.id, peer, doc.timed
    and "medians, from the call until the host knows that it is done"
    or "stated rates, not timed")
  out:table(transfers_table(doc, groups[1].ways[1]), 0)
  for _, group in ipairs(groups) do
    for _, way in ipairs(group.ways) do
      out:put("\n")
      out:table(rates_table(rows, group.memories, way), 0)
    end
    for _, memory in ipairs(group.memories) do
      failures[#failures + 1] = transfer_failures(rows[memory], memory, group.ways)
    end
  end
  local all = table.concat(failures)
  out:put("%s%s", all ~= "" and "\n" or "", all)
  return out
end

-- ---- sectile examples ----

---@param doc table
---@param look table
---@return sectile.Text
function show.examples(doc, look)
  local out, t = text.new(look), text.table { "example", "" }
  for _, example in ipairs(doc.examples) do
    t:row("plain", example.name, example.doc)
  end
  out:table(t, 0)
  return out
end

-- ---- sectile doctor ----

local DOCTOR = { ok = "plain", warn = "warn", fail = "bad" }

---@param doc table
---@param look table
---@return sectile.Text
function show.doctor(doc, look)
  local out, t = text.new(look), text.table { "", "", "" }
  for _, check in ipairs(doc.checks) do
    t:row(DOCTOR[check.level], string.format("%-4s", check.level),
      string.format("%-12s", check.name),
      check.text .. (check.hint and "; " .. check.hint or ""))
  end
  out:table(t, 0)
  return out
end

-- ---- sectile compare ----

local function compared_time(outcome, ns)
  return outcome ~= "ok" and outcome or ns and units.ns(ns) or "not timed"
end

local function compared_table(group, top)
  local of = group.candidates[1] and group.candidates[1].predicted and " predicted" or ""
  local t = text.table { "B is", "candidate", ">A" .. of, ">B" .. of, ">B / A", ">95 %" }
  for k = 1, math.min(top, #group.candidates) do
    local c = group.candidates[k]
    t:row("plain", c.verdict or "-", c.label, compared_time(c.a_outcome, c.a_ns),
      compared_time(c.b_outcome, c.b_ns), c.ratio and string.format("%.3f", c.ratio),
      c.low and string.format("%.3f to %.3f", c.low, c.high))
  end
  return t
end

local function known(value)
  return value and value ~= "" and value or "unknown"
end

local function put_group(out, group, top)
  local differ = {}
  for k, c in ipairs(group.conditions) do
    differ[k] = string.format("%s %s -> %s", c.name, known(c.a), known(c.b))
  end
  if #differ > 0 then
    out:put("  conditions differ: %s\n", table.concat(differ, ", "))
  end
  if group.winner_changed then
    out:put("  winner changed: %s -> %s\n", group.winner_a, group.winner_b)
  elseif group.winner_a and group.winner_b then
    out:put("  same winner: %s\n", group.winner_a)
  end
  for _, side in ipairs { "a", "b" } do
    if group["fastest_" .. side] then
      out:put("  the winner of %s is not known: it was decided anew later; the fastest was %s\n",
        string.upper(side), group["fastest_" .. side])
    end
  end
  out:table(compared_table(group, top), 2)
  out:put("  %d FAST %d SLOW %d SAME %d AMBIGUOUS; %d only in A, %d only in B\n\n", group.fast,
    group.slow, group.same, group.ambiguous, #group.only_a, #group.only_b)
end

--- `doc.all`: groups of both, and in their order what one side alone has, with `only_in`.
---@param doc table
---@param look table
---@return sectile.Text
function show.compare(doc, look)
  local out = text.new(look)
  for _, group in ipairs(doc.all) do
    out:put("%s  %s  on %s%s\n", group.problem, group.size, group.device,
      group.only_in and ": only in " .. group.only_in .. "\n" or "")
    if not group.only_in then
      put_group(out, group, look.top)
    end
  end
  return out
end

return show
