-- show_transfer: what `transfer SPEC` prints: ways from the host and back, and their timelines.
local text = require "sectile.text"
local units = require "sectile.units"

local show = {}

local COLUMNS = 60 -- of a timeline
local ENGINES = { "in", "kernel", "out", "host" }
local DOES = {
  ["in"] = "copies to the device", kernel = "the kernel", out = "copies to the host",
  host = "copies on the host",
}

local function time_of(way)
  return way.median_ns or way.modelled_ns or 0
end

-- "page-locked", "pageable through a ring"
local function memory_of(way)
  return way.threads > 0 and way.memory .. ", ring" or way.memory
end

-- ---- the table ----

local function sorted(ways)
  local list = {}
  for k, way in ipairs(ways) do
    list[k] = { way = way, k = k - 1 }
  end
  table.sort(list, function(a, b)
    local first, second = time_of(a.way), time_of(b.way)
    if (a.way.median_ns == nil) ~= (b.way.median_ns == nil) then
      return a.way.median_ns ~= nil
    end
    return first < second or first == second and a.k < b.k
  end)
  return list
end

local function ways_table(doc, size)
  local t = text.table { "memory", ">devices", ">chunk", ">streams", ">threads", ">time", ">model",
    ">GB/s", ">of bound", ">hidden", "limit" }
  for _, item in ipairs(sorted(size.ways)) do
    local way = item.way
    local chosen = item.k == size.page_locked or item.k == size.pageable
    if way.failure then
      t:row("bad", memory_of(way), size.two_bound_ns and way.devices, way.chunk or "all",
        way.streams, way.threads, "failed")
    elseif way.median_ns or not doc.timed then
      t:row(chosen and "bold" or "plain", memory_of(way), size.two_bound_ns and way.devices,
        way.chunk and string.format("%d", way.chunk) or "all", way.streams,
        way.threads > 0 and way.threads, units.ns(time_of(way)),
        doc.timed and units.ns(way.modelled_ns),
        string.format("%.4g", (way.bytes_s or 0) / 1e9), string.format("%.2f", way.share or 0),
        string.format("%.0f %%", 100 * way.hidden), way.limit)
    end
  end
  return t
end

-- ---- a timeline ----

-- How long each stream's operations of a device's engine take of a column: { [stream] = ns }, and
-- all.
local function column_of(steps, engine, device, from, to)
  local busy, all = {}, 0
  for _, step in ipairs(steps) do
    local ns = step.engine == engine and step.device == device
      and math.min(step.end_ns, to) - math.max(step.begin_ns, from) or 0
    if ns > 0 then
      busy[step.stream] = (busy[step.stream] or 0) + ns
      all = all + ns
    end
  end
  return busy, all
end

-- The stream that an engine works for most of a column, where there are few; "." where it mostly
-- waits.
local function mark(way, engine, device, from, to)
  local busy, all = column_of(way.timeline, engine, device, from, to)
  local best, most = nil, 0
  for stream, ns in pairs(busy) do
    if ns > most or ns == most and stream < best then
      best, most = stream, ns
    end
  end
  local full = (to - from) * (engine == "host" and way.host_threads or 1)
  return all * 2 >= full and (way.host_threads > way.devices and "#" or string.format("%d", best))
    or all > 0 and "." or " "
end

local function lane(way, engine, device)
  local cells, step = {}, way.total_ns / COLUMNS
  for k = 1, COLUMNS do
    cells[k] = mark(way, engine, device, (k - 1) * step, k * step)
  end
  return table.concat(cells)
end

-- The share of the time that a device's engine works; of the host's threads on average.
local function busy_of(way, engine, device)
  local ns = 0
  for _, step in ipairs(way.timeline) do
    ns = ns + (step.engine == engine and step.device == device and step.end_ns - step.begin_ns or 0)
  end
  return ns / way.total_ns / (engine == "host" and way.host_threads or 1)
end

local function put_lane(out, way, engine, device)
  local name = way.devices > 1 and engine ~= "host"
    and string.format("%s %d", engine, device + 1) or engine
  out:put("    %-" .. (way.devices > 1 and 8 or 6) .. "s |%s| %3.0f %%\n", name,
    lane(way, engine, device), 100 * busy_of(way, engine, device))
end

local function put_timeline(out, way)
  for device = 0, way.devices - 1 do
    for _, engine in ipairs(ENGINES) do
      if way.busy_ns[engine] > 0 and engine ~= "host" then
        put_lane(out, way, engine, device)
      end
    end
  end
  if way.busy_ns.host > 0 then
    put_lane(out, way, "host", 0)
  end
  out:put("    %s 0%s%s\n", string.rep(" ", way.devices > 1 and 8 or 6),
    string.rep(" ", COLUMNS - #units.ns(way.total_ns)), units.ns(way.total_ns))
  out:put("    overlap %.0f %%; %s %s\n", 100 * way.hidden, DOES[way.limit],
    way.limit == "kernel" and "limits" or "limit")
end

-- ---- what was chosen ----

local function described(doc, way)
  return (way.devices > 1 and "a half on each device, " or "") .. (way.chunk
    and string.format("chunks of %s=%d on %d streams%s", doc.dim, way.chunk, way.streams,
      way.threads > 0 and string.format(", by %d threads", way.threads) or "")
    or "all at once")
end

-- "{ row = 512, col = 8192 }": the size as a spec has it, with the chunk's extent.
local function chunk_size(doc, size, way)
  local list = {}
  for name, value in string.gmatch(size.size, "(%S-)=(%S+)") do
    value = name == doc.dim and way.chunk or math.tointeger(value) or string.format("%q", value)
    list[#list + 1] = string.format("%s = %s", name, value)
  end
  return "{ " .. table.concat(list, ", ") .. " }"
end

local function put_kernel(out, doc, size, way, spec)
  out:put("    computed by %s\n", not way.rule_of
    and "the naive variant, as the store has no winner"
    or string.format("%s: %s", way.tuned and "the winner of " .. way.tuned
      or "what a header takes for such a chunk", way.kernel))
  if way.chunk and not way.tuned_exactly then
    out:put("    to tune a chunk's size: add %s to `sizes`, then `sectile tune %s`\n",
      chunk_size(doc, size, way), spec)
  end
end

local function put_chosen(out, doc, size, memory, chosen, spec)
  local way = chosen and size.ways[chosen + 1]
  if not way then
    return
  end
  out:put("\n  %s arrays: %s, %s\n", memory, described(doc, way), units.ns(time_of(way)))
  put_kernel(out, doc, size, way, spec)
  if way.devices > 1 then
    out:put("    in a program two threads of the host do it, each with a device and a plan of its "
      .. "own%s (docs/transfer.md, On two GPUs)\n", doc.halo
      and ", and memory for a half's results, of which those of its halo are not taken" or "")
  end
  put_timeline(out, way)
end

-- Whether page-locking is worth it for one call.
local function put_locking(out, size)
  local locked = size.page_locked and size.ways[size.page_locked + 1]
  local pageable = size.pageable and size.ways[size.pageable + 1]
  if locked and pageable and size.lock_ns then
    local both = size.lock_ns + time_of(locked)
    out:put("\n  to lock the pages of pageable arrays takes about %s: for one call it %s "
      .. "(%s, not %s); from call %d on it does\n", units.ns(size.lock_ns),
      both < time_of(pageable) and "pays" or "does not pay", units.ns(both),
      units.ns(time_of(pageable)),
      math.max(1, math.ceil(size.lock_ns / math.max(1, time_of(pageable) - time_of(locked)))))
  end
end

local function put_failures(out, size)
  for _, way in ipairs(size.ways) do
    if way.failure then
      out:put("  %s, %s streams, chunk %s: %s\n", memory_of(way), way.streams, way.chunk or "all",
        way.failure)
    end
  end
end

--- `look.spec`: the spec as the user named it.
---@param doc table
---@param look table
---@return sectile.Text
function show.spec(doc, look)
  local out = text.new(look)
  local second = doc.peer and string.format(" and %s (%s)", doc.peer.name, doc.peer.id) or ""
  out:put("%s from the host and back on %s (%s)%s: %s\n", doc.name, doc.device.name,
    doc.device.id, second,
    doc.timed and "medians, from the call until the host knows that it is done"
    or "modelled by stated rates, not timed; results verified at small sizes")
  if doc.one_device then
    out:put("%s\n", doc.one_device)
  end
  for _, size in ipairs(doc.sizes) do
    out:put("\n%s: %s to the device, %s back", size.size, units.bytes(size.bytes_in),
      units.bytes(size.bytes_out))
    if size.bound_ns then
      out:put("; bound %s (in %s, kernel %s, out %s)%s\n", units.ns(size.bound_ns),
        units.ns(size.engines_ns["in"]), units.ns(size.engines_ns.kernel),
        units.ns(size.engines_ns.out),
        size.two_bound_ns and "; of two devices " .. units.ns(size.two_bound_ns) or "")
      out:table(ways_table(doc, size), 2)
      put_chosen(out, doc, size, "page-locked", size.page_locked, look.spec)
      put_chosen(out, doc, size, "pageable", size.pageable, look.spec)
      put_locking(out, size)
      put_failures(out, size)
    else
      out:put(": nothing to do\n")
    end
  end
  return out
end

return show
