-- show_tune: the leaderboard of `tune`, what a person wants to know of a session, size by size,
-- from the report that --json prints.
local text = require "sectile.text"
local units = require "sectile.units"

local show = {}

local MAX_FAILURES = 3 -- shown with their reasons; --json has all
local MAX_OWN_FAILURES = 8 -- shown of kernels of the user's own
local PASSES = 1.5 -- fewer come from where rows start, not from reading again
local MAX_UNCOVERED, MAX_PLACES = 3, 4 -- kernels with conditions that are uncovered, and of each
local EQUALS = 3 -- rows of one time that are shown before they are counted

local LEAST_LABEL = 40 -- columns of a label before others are left out

-- What a narrow terminal does without, the first first.
local OPTIONAL = { "occupancy", "regs", "spilled", "limiter", "passes", "sectors ld | st",
  "utilisation", "GB/s", "coalesced", "of copy" }

--- Whether a row of a report was verified.
---@param row table
---@return boolean
function show.is_good(row)
  return row.outcome == "ok"
end

--- Its time, measured or predicted; 0: neither is known.
---@param row table
---@return number ns
function show.time_of(row)
  return row.median_ns or row.predicted_ns or 0
end

local is_good, time_of = show.is_good, show.time_of

-- ---- one row ----

-- Columns without a figure are left out, so a table has those of a time or of a prediction.
local function new_table(replayed)
  return text.table { "", ">#", "candidate", replayed and ">replayed" or ">time", ">predicted",
    ">x naive", ">of copy", ">GB/s", ">coalesced", ">utilisation", ">sectors ld | st", "limiter",
    ">passes", ">regs", ">spilled", ">occupancy" }
end

local function percent(share)
  return share and share > 0 and string.format("%.0f %%", 100 * share) or nil
end

-- naive_ns: of the best naive variant; 0: not known. copy: bytes/s that a copy is expected to move.
local function add_row(t, size, row, naive_ns, copy)
  local timed, ns = row.median_ns ~= nil, time_of(row)
  local predicted = not timed and row.predicted_ns
  local rate = row.bytes_per_s
    or predicted and (size.read_bytes + size.write_bytes) / predicted * 1e9
  local counted = (row.sectors or 0) > 0
  t:row(row.winner and "good" or not row.coalesced and "warn" or row.naive and "bold" or "plain",
    (row.winner and "*" or row.tied and "=" or "") .. (row.naive and "n" or row.own and "o" or "")
      .. (row.coalesced and "" or row.coalesced_unknown and "~!" or "!")
      .. (row.predicted_credible == false and "?" or ""),
    row.rank, row.label,
    timed and units.ns(row.median_ns),
    predicted and units.ns(predicted),
    naive_ns > 0 and ns > 0 and row.predicted_credible ~= false
      and string.format("%.2f", naive_ns / ns) or nil,
    percent(row.share or predicted and copy and rate / copy),
    rate and string.format("%.0f", rate / 1e9),
    units.share(row.coalesced_share), units.share(row.utilisation),
    counted and string.format("%s%.1f | %4.1f", (row.sectors_error or 0) > 0 and "~" or "",
      row.sectors_ld, row.sectors_st) or nil,
    not timed and row.predicted_limit or nil,
    (row.passes or 0) >= PASSES
      and string.format(row.passes < 10 and "%.1f" or "%.0f", row.passes) or nil,
    row.registers,
    row.spill_bytes > 0 and row.spill_bytes .. " B" or nil,
    percent(row.occupancy))
end

-- ---- the table of a size ----

local function best_naive(size)
  for _, row in ipairs(size.rows) do
    if row.naive and is_good(row) then
      return time_of(row)
    end
  end
  return 0
end

---@class sectile.Board the table, and which rows are in it in any case: the first naive one, the
---first of each kernel of the user's own
local Board = {}
Board.__index = Board

-- What a row stands for that is shown in any case; nil: nothing.
local function kind_of(row)
  return row.naive and "naive" or row.own and "own " .. string.match(row.label, "^[^ ]*") or nil
end

function Board:wants(row)
  local kind = kind_of(row)
  return kind ~= nil and not self.shown[kind]
end

function Board:show(row)
  add_row(self.table, self.size, row, self.naive_ns, self.copy)
  self.shown[kind_of(row) or ""] = true
end

-- Shows row k of the list and the rows after it with equal time as one, except those that are
-- always shown. Returns the index of the next row. The list may lack some.
function Board:show_equals(k)
  local rows = self.size.rows
  local row, last = rows[k], rows[k].rank + rows[k].as_fast
  local time = units.ns(time_of(row))
  self.table:row("dim", nil, row.rank,
    string.format("to %d: %d more as fast", last, row.as_fast + 1), row.median_ns and time,
    not row.median_ns and time or nil)
  while rows[k] and rows[k].rank <= last do
    if self:wants(rows[k]) then
      self:show(rows[k])
    end
    k = k + 1
  end
  return k
end

local function put_table(out, size, report, top)
  local board = setmetatable({ size = size, naive_ns = best_naive(size), shown = {},
    copy = size.ceiling_bytes_s or report.device.copy_bytes_s,
    table = new_table(report.replayed) }, Board)
  local k, shown, same = 1, 0, 0
  while size.rows[k] and is_good(size.rows[k]) do
    local row = size.rows[k]
    local before = size.rows[k - 1]
    same = before and before.rank + before.as_fast >= row.rank and same + 1 or 0
    if shown < top and same == EQUALS and row.as_fast > 0 then
      k = board:show_equals(k)
      shown = shown + 1
    else
      if shown < top or board:wants(row) then
        board:show(row)
      end
      shown = shown + (shown < top and 1 or 0)
      k = k + 1
    end
  end
  if #board.table.rows == 0 then
    out:put("  no candidate passed\n")
    return
  end
  local left_out, whole = 0, 0
  if out.width > 0 then
    left_out, whole = board.table:fit(2, out.width, "candidate", LEAST_LABEL, OPTIONAL)
  end
  out:table(board.table, 2)
  if left_out > 0 then
    out:put("  %d more column%s with COLUMNS=%d\n", left_out, left_out > 1 and "s" or "", whole)
  end
end

-- ---- one size ----

-- Conditions of the winner and of own kernels that verification saw from one side only.
local function put_uncovered(out, size)
  local shown = 0
  for _, row in ipairs(size.rows) do
    if (row.winner or row.own) and (row.uncovered_count or 0) > 0 and shown < MAX_UNCOVERED then
      local places = {}
      for k = 1, math.min(MAX_PLACES, #row.uncovered) do
        local guard = row.uncovered[k]
        places[k] = string.format("%s:%d never %s", guard.file or "line", guard.line,
          guard.never)
      end
      out:wrap(shown == 0 and "uncovered" or "", string.format(
        "%s: %d condition%s went one way in every case: %s%s", row.label, row.uncovered_count,
        row.uncovered_count > 1 and "s" or "", table.concat(places, ", "),
        row.uncovered_count > #places and ", ..." or ""))
      shown = shown + 1
    end
  end
end

-- The user's own first: these can be mended.
local function put_failures(out, size)
  local shown, most = 0, { [true] = MAX_OWN_FAILURES, [false] = MAX_FAILURES }
  for _, own in ipairs { true, false } do
    for _, row in ipairs(size.rows) do
      if not is_good(row) and (row.own or false) == own and most[own] > 0 then
        local detail = string.match(row.detail or "", "^[^\n]*")
        out:put("  %s %s: %s%s\n", out:paint("bad", "failed:"), row.label, row.says,
          detail ~= "" and ": " .. detail or "")
        most[own], shown = most[own] - 1, shown + 1
      end
    end
  end
  if size.failed > shown then
    out:put("  and %d more; --json has all of them\n", size.failed - shown)
  end
end

local function put_untried(out, size, report, look)
  local all = size.tried + size.untried
  if size.untried > 0 and report.settled then
    out:put("  tried %d of %d candidates: the last %d gained at most %.1f %%, so the search "
      .. "stopped; --search exhaustive tries all\n", size.tried, all, look.patience,
      100 * look.gain)
  elseif size.untried > 0 then
    out:put("  tried %d of %d candidates (search: %s); others may be faster\n",
      size.tried, all, report.search)
  end
end

local function put_size(out, size, report, look)
  out:put("\n%s: reads %s, writes %s%s\n", out:paint("bold", size.label),
    units.bytes(size.read_bytes), units.bytes(size.write_bytes),
    size.ceiling_bytes_s and string.format("; a copy moves %.0f GB/s", size.ceiling_bytes_s / 1e9)
      or "")
  put_table(out, size, report, look.top)
  if size.faster then
    out:put("  %s %s\n", out:paint("warn", "passed over:"), size.faster)
  end
  for k, line in ipairs(size.uncoalesced) do
    out:put("  %s %s\n", k == 1 and out:paint("warn", "note:") or "     ", line)
  end
  out:put("  %d %s, %d failed%s%s%s\n", size.verified,
    report.replayed and "recorded as verified" or "verified",
    size.failed, size.unfit > 0 and string.format(", %d not for this size", size.unfit) or "",
    size.tied > 1 and string.format("; %d tie for the best", size.tied) or "",
    size.decided and ", " .. size.decided or "")
  put_untried(out, size, report, look)
  if size.recorded then
    out:put("  %s\n", size.recorded)
  end
  put_failures(out, size)
  for _, key in ipairs { "converted", "kept" } do
    if size[key] then
      out:put("  %s %s\n", out:paint("warn", "note:"), size[key])
    end
  end
  if look.verbose then
    put_uncovered(out, size)
  end
  for _, row in ipairs(size.rows) do
    if row.winner and row.warning then
      out:put("  %s %s: %s\n", out:paint("warn", "warning:"), row.label, row.warning)
    end
  end
  if size.best then
    out:wrap("best of", size.best)
  end
  if size.why then
    out:wrap("why", size.why)
  end
  for k, issue in ipairs(size.issues) do
    out:issue(k, issue)
  end
end

-- ---- ranges ----

-- The samples of a range, a row each: that of its winner.
local function put_range(out, r)
  local t = text.table { "sample", "winner", r.replayed and ">replayed" or ">time", ">GB/s",
    ">of copy", ">predicted", ">x naive" }
  for _, size in ipairs(r.sizes) do
    local row = size.sampled and not size.around and size.rows[1]
    if row and is_good(row) then
      local ns, naive_ns = time_of(row), best_naive(size)
      t:row(row.coalesced and "plain" or "warn", size.label, row.label,
        row.median_ns and units.ns(ns),
        row.bytes_per_s and string.format("%.0f", row.bytes_per_s / 1e9), percent(row.share),
        not row.median_ns and ns > 0 and units.ns(ns) or nil,
        naive_ns > 0 and ns > 0 and string.format("%.2f", naive_ns / ns) or nil)
    elseif size.sampled and not size.around then
      t:row("warn", size.label, "no candidate passed")
    end
  end
  if #t.rows > 0 then
    out:put("\n%s\n", out:paint("bold", "samples of the range"))
    if out.width > 0 then
      t:fit(2, out.width, "winner", LEAST_LABEL, { "of copy", "GB/s", "x naive" })
    end
    out:table(t, 2)
  end
end

-- What became of the sizes around listed ones, which `emit` uses: their sum only.
local function put_around(out, r)
  local n, sum, most, at = 0, 0.0, 0.0, nil
  for _, size in ipairs(r.sizes) do
    local row = size.around and size.rows[1]
    if row and is_good(row) and time_of(row) > 0 and best_naive(size) > 0 then
      local ratio = best_naive(size) / time_of(row)
      n, sum = n + 1, sum + math.log(ratio)
      if ratio > most then
        most, at = ratio, size.label
      end
    end
  end
  if n > 0 then
    out:put("\n%d sizes around these were tuned too: the best candidates are%s %.2f times as fast "
      .. "as the naive ones, at most %.2f times (%s); --no-range skips these sizes\n", n,
      r.sizes[1].counted_only and " predicted to be" or "", math.exp(sum / n), most, at)
  end
end

-- ---- a session ----

-- What was generated, checked and measured of all candidates.
local function put_extent(out, r)
  if r.share then
    out:put("share %s of the candidates: others may be better; `sectile merge` joins the stores of "
      .. "all shares\n", (string.gsub(r.share, "/", " of ")))
  end
  if r.top_of then
    out:put("final heat: the %d best of each size in %s, and the naive variants\n", r.top, r.top_of)
  end
  if r.ungenerated > 0 then
    out:put("generated %d of %d candidates in the time that --budget leaves for it; a longer "
      .. "--budget, or none, goes on with the others\n", r.candidates - r.ungenerated, r.candidates)
  end
  if r.checked > 0 then
    out:put("%d checked on the CPU before the GPU, %d failed there\n", r.checked, r.caught)
  end
end

-- What stood in the way of the samples.
local function put_samples(out, r)
  if r.contended then
    out:put("contended: other processes computed on the GPU; --json lists them\n")
  end
  if r.contended_samples > 0 then
    out:put("contended: %d of %d samples were taken next to a process that came during the "
      .. "session; --json says which and whose\n", r.contended_samples, r.samples)
  end
  if r.slow_samples > 0 then
    out:put("%d of %d samples at a low clock or under hardware slowdown%s\n", r.slow_samples,
      r.samples, r.slowdown and ": " .. r.slowdown or "")
  end
end

-- The marks that rows of the report have, and what two columns mean.
local function put_legend(out, r)
  local marks, counted = {}, false
  local function add(mark, wanted)
    marks[mark] = marks[mark] or wanted or nil
  end
  for _, size in ipairs(r.sizes) do
    for _, row in ipairs(size.rows) do
      local good = is_good(row)
      add("* winner", row.winner)
      add("= tied with it", row.tied and not row.winner)
      add("n naive", row.naive)
      add("o your own", row.own)
      add("! uncoalesced", good and not row.coalesced and not row.coalesced_unknown)
      add("~! uncoalesced by a sample, within its error", row.coalesced_unknown)
      add("? predicted faster than memory: not ranked", row.predicted_credible == false)
      add("~ from a sample of blocks", (row.sectors_error or 0) > 0)
      counted = counted or row.coalesced_share ~= nil
    end
  end
  local shown = {}
  for _, mark in ipairs { "* winner", "= tied with it", "n naive", "o your own", "! uncoalesced",
    "~! uncoalesced by a sample, within its error", "? predicted faster than memory: not ranked",
    "~ from a sample of blocks" } do
    shown[#shown + 1] = marks[mark] and mark
  end
  out:put("\n%s\n", table.concat(shown, "   "))
  if counted then
    out:put("coalesced: share of the touched 32-byte sectors that the accesses need; "
      .. "utilisation: share of the bytes in these sectors that the kernel uses\n")
  end
end

---@param r table the report
---@param look table
---@return sectile.Text
function show.board(r, look)
  local out = text.new(look)
  out:put("%s on %s (%s, CC %s): %s\n", out:paint("bold", r.name), r.device.id, r.device.name,
    r.device.cc, r.says)
  out:put("%d candidates, %d different kernels (`sectile space` lists them)%s\n", r.candidates,
    r.sources, r.stopped_early and "; stopped early, so not all were evaluated" or "")
  put_extent(out, r)
  put_samples(out, r)
  for _, size in ipairs(r.sizes) do
    if not size.sampled then
      put_size(out, size, r, look)
    end
  end
  put_range(out, r)
  put_around(out, r)
  put_legend(out, r)
  return out
end

return show
