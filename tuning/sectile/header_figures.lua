-- header_figures: the figures of a header as values for its templates: the banner's table, the
-- tuned devices and sizes. A reader decides on them whether to trust the file, so every figure says
-- how it came about.
local header_text = require "sectile.header_text"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

-- ---- the table ----

-- A column that nothing fills is left out, where it says `may_lack`; `right`: numbers.
local COLUMNS = {
  { "device" }, { "variant" }, { "size" }, { "median us", right = true }, { "GB/s", right = true },
  { "of copy", right = true }, { "predicted us", right = true, may_lack = true },
  { "sectors/request ld (least) | st (least)" }, { "coalesced", may_lack = true },
  { "utilisation", may_lack = true },
}

-- "4.0 (4.0)": sectors a request, and the least there can be.
local function sectors_text(requests, sectors, ideal)
  if requests <= 0 or sectors < 0 then
    return "-"
  end
  return string.format("%.1f", sectors / requests)
    .. (ideal >= 0 and string.format(" (%.1f)", ideal / requests) or "")
end

local function coalesced_text(o)
  if o.share <= 0 or o.utilisation <= 0 then
    return "", ""
  end
  return string.format("%.3g %%%s", 100 * o.share,
    o.coalesced and "" or o.unknown and " (unknown)" or " (not)"),
    string.format("%.3g %%", 100 * o.utilisation)
end

local function row_cells(device, name, result, run)
  local median, rate, share = device.is_virtual and "not timed" or "-", "-", "-"
  if result.median_ns > 0 and not device.is_virtual then
    local gb_s = (run.read_bytes + run.write_bytes) / result.median_ns -- bytes a ns
    median, rate = string.format("%.1f", result.median_ns / 1e3), string.format("%.0f", gb_s)
    share = run.ceiling_bytes_s > 0
      and string.format("%.0f %%", 100 * gb_s * 1e9 / run.ceiling_bytes_s) or "-"
  end
  local predicted = device.is_virtual and result.predicted_ns > 0
  local cells = { header_text.comment(name), header_text.comment(result.label),
    header_text.comment(run.size_label), median, rate, share,
    predicted and string.format("%.1f", result.predicted_ns / 1e3) or "",
    (result.sectors_error > 0 and "~" or "")
      .. sectors_text(result.requests_ld, result.sectors_ld, result.sectors_ld_ideal) .. " | "
      .. sectors_text(result.requests_st, result.sectors_st, result.sectors_st_ideal) }
  return kit.append(cells, coalesced_text(result))
end

-- What the winner was preferred to although that is faster, in words; false: nothing.
local function passed_over(run)
  local over = run.conditions.passed_over
  over = type(over) == "table" and over or {}
  local ratio = type(over.ratio) == "number" and over.ratio or 0
  return type(over.label) == "string" and ratio > 1.0 and ratio < 1e12
    and string.format("passed over: '%s', %.2f times as fast but not %scoalesced; sectile tune "
      .. "--select any takes it", over.label, ratio, over.unknown == true and "known to be " or "")
end

-- A row for every winner and naive variant; of the last one of a size with its run, as `counts`.
local function rows_of(devices)
  local heads = kit.map(COLUMNS, function(column) return column[1] end)
  local rows = { { cells = heads, counts = false } }
  for _, device in ipairs(devices) do
    local how = device.is_virtual and "verified, counted and predicted" or "verified"
    for _, size in ipairs(device.sizes) do
      local run, name = size.run, string.format("%s (%s)", device.name, device.arch)
      kit.append(rows, { cells = row_cells(device, name, size.winner, run), counts = false })
      if size.naive and size.naive.source_hash ~= size.winner.source_hash then
        kit.append(rows,
          { cells = row_cells(device, "  naive, same run", size.naive, run), counts = false })
      end
      rows[#rows].counts = stored.record { run = run, how = how, passed_over = passed_over(run) }
    end
  end
  return rows
end

local function figures_of(devices)
  local rows, widths = rows_of(devices), {}
  for c, column in ipairs(COLUMNS) do
    local width = 0
    for r = 2, #rows do
      width = math.max(width, #rows[r].cells[c])
    end
    local is_left_out = column.may_lack and width == 0
    widths[c] = is_left_out and 0 or math.max(width, #column[1])
  end
  return kit.map(rows, function(row)
    local line = ""
    for c, column in ipairs(COLUMNS) do
      if widths[c] > 0 then
        local blank = string.rep(" ", widths[c] - #row.cells[c])
        line = line .. (c > 1 and "  " or "")
          .. (column.right and blank .. row.cells[c] or row.cells[c] .. blank)
      end
    end
    return stored.record { cells = line, counts = row.counts }
  end)
end

-- ---- devices and sizes ----

-- Files hold no numbers that are none.
local function known(value)
  return value - value == 0 and value or 0
end

local function size_values(device, size, sig)
  local run, ns = size.run, size.winner.median_ns
  local bytes = run.read_bytes + run.write_bytes
  local naive_ns = math.max(size.naive and size.naive.median_ns or 0, 0)
  local timed = not device.is_virtual and ns > 0
  return stored.record {
    run = run, winner = size.winner, kernel = size.kernel,
    extents = kit.map(sig.extents, function(extent) return run.extents[extent.name] end),
    median_us = timed and known(ns / 1e3) or 0, gb_per_s = timed and known(bytes / ns) or 0,
    of_copy = timed and run.ceiling_bytes_s > 0
      and known(bytes / ns * 1e9 / run.ceiling_bytes_s) or 0,
    naive_us = timed and known(naive_ns / 1e3) or 0,
  }
end

-- ---- sizes that other layouts have won ----

local function time_of(device, result)
  return device.is_virtual and result.predicted_ns or result.median_ns
end

-- "predicted 3.7 us, here 4.1 us"; false: nothing here
local function times_of(device, other)
  if not other.here then
    return false
  end
  local best, here = time_of(device, other.winner), time_of(device, other.here)
  return best > 0 and here > 0 and string.format("%s%.1f us, here %.1f us",
    device.is_virtual and "predicted " or "", best / 1e3, here / 1e3) or "not timed"
end

local function other_values(device, other, h)
  local launch = stored.launch(other.winner.launch, h.sig)
  return stored.record {
    size = other.run.size_label, device = device.name, times = times_of(device, other),
    layouts = kit.map(h.sig.operands, function(op, k)
      return launch.layouts[k] ~= h.layouts[k] and op.name .. " " .. launch.layouts[k] or nil
    end),
  }
end

-- A number that a store does not know, as NaN: of a run 0, of a result -1.
local unknown_run = { __index = function() return 0 end }
local unknown_result = { __index = function() return -1 end }

local function set_unknown(devices)
  for _, device in ipairs(devices) do
    for _, items in ipairs { device.sizes, device.others } do
      for _, item in ipairs(items) do
        setmetatable(item.run, unknown_run)
        for _, result in pairs { item.winner, item.naive or nil, item.here or nil } do
          setmetatable(result, unknown_result)
        end
      end
    end
  end
end

--- Adds figures, devices and sizes to the header's values.
---@param h table
function M.add(h)
  h.other_sizes, h.n_tunings = {}, 0
  set_unknown(h.devices)
  h.figures = figures_of(h.devices)
  for d, device in ipairs(h.devices) do
    for _, other in ipairs(device.others) do
      kit.append(h.other_sizes, other_values(device, other, h))
    end
    device.index = d - 1
    device.listed = #device.sizes > 0 and not device.sizes[1].sampled
    device.figures = device.is_virtual and "counted and predicted, not timed" or "timed"
    device.sizes = kit.map(device.sizes, function(size) return size_values(device, size, h.sig) end)
    h.n_tunings = h.n_tunings + #device.sizes
  end
  h.is_predicted = kit.any(h.devices, function(device) return device.is_virtual end)
end

return M
