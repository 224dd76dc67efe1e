-- show_profile: what `profile` and `count` print for a person, from the documents that --json
-- prints.
local text = require "sectile.text"
local units = require "sectile.units"

local show = {}

local per = units.per

-- "25.2 MB"
local function si(value, unit)
  local prefixes, k = { "", "k", "M", "G", "T", "P" }, 1
  while value >= 999.5 and k < #prefixes do
    value, k = value / 1e3, k + 1
  end
  return string.format("%.3g %s%s", value, prefixes[k], unit)
end

-- ---- sections of a profile: each appends to `out` what it knows of case `c` ----

local sections = {}

function sections.launch(out, c, look)
  local l, device = c.launch, look.device
  local grid, block = l.grid, l.block
  local blocks, threads = grid[1] * grid[2] * grid[3], block[1] * block[2] * block[3]
  local s = string.format("grid (%d, %d, %d), block (%d, %d, %d): %d blocks of %d threads\n"
    .. "%d registers a thread, %d bytes of shared memory a block\n", grid[1], grid[2], grid[3],
    block[1], block[2], block[3], blocks, threads, l.registers, l.shared_bytes)
  if l.passes then
    s = s .. string.format("a sequence of %d such launches, one after the other\n", l.passes)
  end
  if l.spill_store_bytes > 0 then
    s = s .. string.format("spilled of a thread: %d bytes of stores, %d of loads\n",
      l.spill_store_bytes, l.spill_load_bytes)
  end
  if l.waves > 0 then
    s = s .. string.format(
      "%s, %d SMs: %d blocks an SM, %.2f waves, occupancy %.0f %% (limit: %s)\n", device.name,
      device.sms, c.more.blocks_sm, l.waves, 100 * l.occupancy, l.limit)
  end
  if c.more.blocks_run > 0 and c.more.blocks_run < (l.passes or 1) * blocks then
    s = s .. string.format("counts are those of %d of the blocks, spread over the grid\n",
      c.more.blocks_run)
  end
  if l.sectors_error > 0 then
    s = s .. string.format("what is said of the whole launch is from a sample, sectors to within "
      .. "%.2g %%\n", 100 * l.sectors_error)
  end
  out:wrap("launch", s)
end

function sections.speed(out, c, look)
  local s, device = c.speed, look.device
  if not s then
    return
  end
  local limit = "limit: " .. s.limiter .. (s.limit ~= "issue" and " (" .. s.limit .. ")" or "")
  if s.balanced then
    limit = limit .. "; balanced: the other of memory and compute takes nearly as long"
  end
  if s.limit == look.inflight and s.flight_bytes > 0 then
    limit = limit .. ": loads of an SM can have " .. si(s.flight_bytes, "B on their way, ")
      .. si(device.inflight_bytes, "B keep DRAM busy")
  end
  local about = c.launch.sectors_error > 0 and "~" or ""
  out:wrap("speed", string.format("predicted: memory %s%.0f %%, compute %s%.0f %%, "
    .. "issue %s%.0f %% of the device in %s%.3g us, the launch %s%.3g us\n%s", about,
    100 * s.memory, about, 100 * s.compute, about, 100 * s.issue, about, s.predicted_ns / 1e3,
    about, s.launch_ns / 1e3, limit))
  local work = {}
  for _, of in ipairs { "f16", "f32", "f64" } do
    work[#work + 1] = s["flops_" .. of] > 0 and about .. si(s["flops_" .. of], "flop of " .. of)
      or nil
  end
  out:wrap("roofline", (#work > 0 and table.concat(work, ", ") or "no flop") .. ", "
    .. si(s.dram_bytes, "B of DRAM")
    .. (#work > 0 and string.format(": %s%.3g a byte; memory limits below %.3g", about, s.intensity,
        s.ridge)
      or "")
    .. "\nceilings: " .. si(device.peak_bytes_s, "B/s") .. ", "
    .. si(c.more.peak_f32, "flop/s of f32") .. ", " .. si(c.more.peak_f64, "flop/s of f64"))
end

sections["global"] = function(out, c)
  local t = text.table { "global", ">requests", ">sectors", ">each", ">ideal", ">excessive",
    ">factor", ">used", ">tags" }
  local kinds = {
    { "loads", c.global.loads },
    { "stores", c.global.stores },
    { "atomics", c.global.atomics },
    { "bulk loads", c.more.bulk_loads },
    { "bulk stores", c.more.bulk_stores },
  }
  for _, kind in ipairs(kinds) do
    local g = kind[2]
    if g.requests > 0 then
      t:row("plain", kind[1], g.requests, g.sectors,
        string.format("%.1f", per(g.sectors, g.requests)),
        string.format("%.1f", per(g.sectors_ideal, g.requests)), g.sectors - g.sectors_ideal,
        string.format("%.2f", per(g.sectors, g.sectors_ideal)),
        string.format("%.3g %%", 100 * per(g.distinct_bytes, g.moved)), g.tags)
    end
  end
  if #t.rows > 0 then
    out:table(t, 2)
  end
end

function sections.shared(out, c)
  local t = text.table { "shared", ">requests", ">wavefronts", ">each", ">ideal", ">excessive",
    ">conflict" }
  for _, name in ipairs { "loads", "stores", "copies", "atomics" } do
    local s = c.shared[name]
    if s.requests > 0 then
      t:row("plain", name, s.requests, s.wavefronts,
        string.format("%.1f", per(s.wavefronts, s.requests)),
        string.format("%.1f", per(s.wavefronts_ideal, s.requests)),
        s.wavefronts - s.wavefronts_ideal,
        string.format("%.1f-way", per(s.wavefronts, s.wavefronts_ideal)))
    end
  end
  if #t.rows > 0 then
    out:table(t, 2)
  end
end

function sections.caches(out, c, look)
  if not c.caches and c.more.blocks_run == 0 then
    out:wrap("caches", look.device.l2_bytes == 0 and "the device has none"
      or "not estimated: the blocks that are resident at once touch too much")
  end
  if c.caches and c.more.touched then
    out:wrap("caches", string.format(
      "estimated: L1 finds %.1f %% of the sectors, L2 %.1f %%; DRAM %s%s",
      100 * c.caches.l1_hit_rate, 100 * c.caches.l2_hit_rate,
      si(c.caches.dram_read_bytes, "B read, "), si(c.caches.dram_written_bytes, "B written")))
  end
end

function sections.warps(out, c)
  local w = c.warps
  out:wrap("warps", string.format("%d instructions (PTX), %.1f of 32 lanes active; %d of %d "
    .. "branches split one; %d barriers, %d shuffles, %d requests of local memory", w.instructions,
    w.active_lanes, w.divergent_branches, w.branches, w.barriers, w.shuffles, w.local_requests)
    .. (w.constant_requests > 0 and string.format(", %d of constant memory for %.1f words each",
      w.constant_requests, w.constant_words / w.constant_requests) or ""))
end

function sections.mix(out, c)
  local m, parts = c.mix, {}
  local rest = m.all
  if m.all == 0 then
    return
  end
  for _, name in ipairs { "fp32", "fp64", "int", "xu", "lsu", "control" } do
    rest = rest - m[name]
    parts[#parts + 1] = m[name] > 0 and string.format("%s %.1f %%, ", name, 100 * m[name] / m.all)
      or nil
  end
  out:wrap("mix", table.concat(parts) .. string.format(
    "other %.1f %% of about %d machine instructions of warps", 100 * math.max(rest, 0) / m.all,
    m.all))
end

function sections.source(out, c, look)
  local t = text.table { "source", "access", ">bytes", ">requests", ">sectors", ">each", ">ideal",
    ">excessive" }
  for k = 1, math.min(look.top, #c.accesses) do
    local a = c.accesses[k]
    local n = a.counts.sectors or a.counts.wavefronts
    local ideal = a.counts.sectors_ideal or a.counts.wavefronts_ideal
    t:row("plain", string.format("%s:%d", units.base_name(a.file), a.line),
      a.space .. " " .. a.access, string.format("%.3g", per(a.counts.bytes, a.lanes)),
      a.counts.requests, n, string.format("%.1f", per(n, a.counts.requests)),
      string.format("%.1f", per(ideal, a.counts.requests)), n - ideal)
  end
  if #t.rows > 0 then
    out:table(t, 2, function(k)
      local code = c.accesses[k].code
      return code ~= "" and "      " .. code .. "\n" or nil
    end)
  end
  if #c.accesses > look.top then
    out:put("  and %d more; --top %d shows them\n", #c.accesses - look.top, #c.accesses)
  end
end

function sections.issues(out, c)
  local launch_ns = c.speed and c.speed.launch_ns
  if #c.issues == 0 then
    out:put("  issues      none that the rules know\n")
  end
  for k, issue in ipairs(c.issues) do
    local place = issue.file ~= "" and string.format("%s:%d", units.base_name(issue.file),
      issue.line) or nil
    out:issue(k, issue, place, launch_ns)
  end
end

-- ---- a baseline, and a GPU's counters ----

-- A count as it is, another figure in four digits.
local function figure(value)
  local whole = value == math.floor(value) or math.abs(value) >= 1e4
  return string.format(whole and "%.0f" or "%.4g", value)
end

-- name: of the case that it is compared with, nil: its own.
local function put_changes(out, changes, listed, name)
  local t = text.table { "baseline", ">before", ">now", ">change" }
  for _, c in ipairs(changes) do
    local differ = c.before ~= 0 and math.abs(c.now - c.before) >= 5e-4 * math.abs(c.before)
    if not listed or listed[string.match(c.figure, "^[^.]*")] then
      t:row("plain", c.figure, figure(c.before), figure(c.now),
        differ and string.format("%+.1f %%", 100 * (c.now - c.before) / c.before) or nil)
    end
  end
  if #t.rows > 0 then
    if name then
      out:put("  baseline    case %s\n", name)
    end
    out:table(t, 2)
  elseif #changes == 0 then
    out:put("  baseline    it has no such case\n")
  end
end

local function put_counters(out, c, device)
  local t = text.table { "counters", "kind", ">sectile", ">ncu", ">difference" }
  for _, m in ipairs(c.counters.metrics) do
    t:row("plain", m.metric, m.exact and "exact" or "estimated",
      string.format("%.10g", m.sectile), string.format("%.10g", m.ncu),
      not m.equal and string.format("%s%+.6g", m.exact and "! " or "", m.ncu - m.sectile) or nil)
  end
  if #t.rows > 0 then
    out:table(t, 2)
  end
  local equal, differ = c.counters.equal, c.counters.differ
  local why = differ > 0 and not c.exact and "; ours are approximate: " .. c.cause or ""
  out:wrap("equal", string.format("%d of %d exact counts are equal on %s (%s)%s", equal,
    equal + differ, device.id, device.name, why))
end

-- ---- sectile profile ----

local function put_case(out, c, look)
  for _, name in ipairs(look.sections) do
    sections[name](out, c, look)
  end
  if not c.exact then
    out:wrap("counts", "approximate: " .. c.cause)
  end
  if c.changes then
    put_changes(out, c.changes, look.listed, c.baseline ~= c.case and c.baseline or nil)
  end
  if c.counters then
    put_counters(out, c, look.device)
  end
end

---@param doc table
---@param look table
---@return sectile.Text
function show.profile(doc, look)
  local out = text.new(look)
  for k, c in ipairs(doc.cases) do
    out:put("%s%s: %s\n", k > 1 and "\n" or "", c.case, c.kernel)
    if c.problem then
      out:wrap("failed", c.problem)
    else
      put_case(out, c, look)
    end
  end
  return out
end

--- `profile --metrics`: cases each with a list of metric, value.
---@param doc table
---@param look table
---@return sectile.Text
function show.metrics(doc, look)
  local out = text.new(look)
  for k, c in ipairs(doc.cases) do
    local t = text.table { "metric", ">value" }
    out:put("%s%s: %s\n", k > 1 and "\n" or "", c.case, c.kernel)
    for _, m in ipairs(c.metrics) do
      t:row("plain", m.metric, string.format("%.10g", m.value))
    end
    if c.problem then
      out:put("  failed      %s\n", c.problem)
    else
      out:table(t, 2)
    end
  end
  return out
end

-- ---- sectile count ----

local function each(n, requests)
  return requests > 0 and string.format("%.2f", n / requests) or nil
end

-- Empty where nothing moved.
local function degree(share, sectors)
  return sectors > 0 and string.format("%.3g%%", 100 * (share or 0)) or nil
end

local function some(n, shown)
  return shown > 0 and n or nil
end

local function count_case(t, c)
  if c.problem then
    t:row("bad", c.case, c.counts)
    return
  end
  local wavefronts = c.wavefronts_shared
  t:row("plain", c.case, c.requests_ld, c.sectors_ld, each(c.sectors_ld, c.requests_ld),
    degree(c.degree_ld, c.load.sectors + c.bulk_load.sectors), c.requests_st, c.sectors_st,
    each(c.sectors_st, c.requests_st),
    degree(c.degree_st, c.store.sectors + c.bulk_store.sectors),
    c.sectors_global - c.sectors_global_ideal, some(wavefronts, wavefronts),
    some(wavefronts - c.wavefronts_shared_ideal, wavefronts), c.counts)
end

local function count_part(t, c, p)
  local g, s = p.global, p.shared
  t:row("plain", c.case, string.format("%s:%d", units.base_name(p.file), p.line), p.executed,
    string.format("%.1f", p.active_lanes), some(p.divergent, p.divergent),
    some(g.requests, g.requests), some(g.sectors, g.requests), each(g.sectors, g.requests),
    some(g.sectors_ideal, g.requests), degree(per(g.distinct_bytes, g.moved), g.sectors),
    some(s.wavefronts, s.requests), some(s.wavefronts_ideal, s.requests), p.text)
end

---@param doc table
---@param look table
---@return sectile.Text
function show.count(doc, look)
  local out = text.new(look)
  local t = look.whole and text.table { "case", ">ld requests", ">sectors", ">each", ">coalesced",
    ">st requests", ">sectors", ">each", ">coalesced", ">excessive", ">wavefronts", ">conflicts",
    ">counts" }
    or text.table { "case", "place", ">warps", ">lanes", ">divergent", ">requests", ">sectors",
      ">each", ">ideal", ">coalesced", ">wavefronts", ">ideal", "instruction" }
  for _, c in ipairs(doc.cases) do
    for _, p in ipairs(c.lines or c.instructions or {}) do
      count_part(t, c, p)
    end
    if look.whole then
      count_case(t, c)
    end
  end
  out:table(t, 0)
  return out
end

-- ---- CSV, RFC 4180 ----

local function csv_text(s)
  return string.find(s, '[,"\r\n]') and '"' .. string.gsub(s, '"', '""') .. '"' or s
end

-- A line of cells; numbers are written as they are.
local function csv_line(cells)
  for k, cell in ipairs(cells) do
    cells[k] = type(cell) == "string" and csv_text(cell) or tostring(cell)
  end
  return table.concat(cells, ",") .. "\n"
end

local function count_csv_part(c, p)
  local g, s = p.global, p.shared
  return csv_line { c.case, p.ptx_line or 0, p.file, p.line, p.executed, p.lanes, p.divergent,
    g.requests, g.sectors, g.sectors_ideal, g.tags, g.bytes, s.requests, s.wavefronts,
    s.wavefronts_ideal, s.bytes, p.text or "" }
end

local function count_csv_case(c, figures)
  local cells = { c.case }
  for k, name in ipairs(figures) do
    cells[k + 1] = c[name] or ""
  end
  cells[#cells + 1] = c.counts
  return csv_line(cells)
end

---@param doc table
---@param look table
---@return string[]
function show.count_csv(doc, look)
  local out = {}
  out[1] = look.whole and "case," .. table.concat(look.figures, ",") .. ",counts\n"
    or "case,ptx_line,file,line,executed,lanes,divergent,requests,sectors,sectors_ideal,tags,bytes,"
      .. "shared_requests,wavefronts,wavefronts_ideal,shared_bytes,text\n"
  for _, c in ipairs(doc.cases) do
    out[#out + 1] = look.whole and count_csv_case(c, look.figures) or nil
    for _, p in ipairs(c.lines or c.instructions or {}) do
      out[#out + 1] = count_csv_part(c, p)
    end
  end
  return out
end

--- `profile --metrics --csv`; look.metrics: those of the columns.
---@param doc table
---@param look table
---@return string[]
function show.metrics_csv(doc, look)
  local out = { "case,kernel" .. (#look.metrics > 0 and "," or "")
    .. table.concat(look.metrics, ",") .. "\n" }
  for _, c in ipairs(doc.cases) do
    local cells, known = {}, {}
    for _, m in ipairs(c.metrics) do
      known[m.metric] = string.format("%.15g", m.value)
    end
    for k, name in ipairs(look.metrics) do
      cells[k] = "," .. (known[name] or "")
    end
    out[#out + 1] = string.format('"%s","%s"%s\n', c.case, c.kernel, table.concat(cells))
  end
  return out
end

--- `profile --counters --csv`.
---@param doc table
---@return string[]
function show.counters_csv(doc)
  local out = { "case,kernel,metric,kind,sectile,ncu,equal\n" }
  for _, c in ipairs(doc.cases) do
    for _, m in ipairs(c.counters and c.counters.metrics or {}) do
      out[#out + 1] = string.format('"%s","%s",%s,%s,%.15g,%.15g,%d\n', c.case, c.kernel, m.metric,
        m.exact and "exact" or "estimated", m.sectile, m.ncu, m.equal and 1 or 0)
    end
  end
  return out
end

return show
