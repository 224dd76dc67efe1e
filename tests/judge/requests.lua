--- The requests of a launch, as `profile --requests` lists them, and what the rule of coalescing
--- makes of them: docs/measure.md says it in words.
local footprint = require "footprint"

local M = {}

local SECTOR = footprint.SECTOR
local FEW_LANES = 8     -- of requests of fewer each used byte counts, and no whole sector
local LONG_RUN = 64     -- used bytes of a run that counts from where it begins
local MOST_ASKED = 8    -- times what points ask for; what is beyond is of the kernel's own making
local MOST_EXCESS = 1.25
local LEAST_SHARE = 1 / 8 -- of the kernel's sectors, for an excess to count

--- Calls `visit` with each request: access, array, bytes a lane, offsets of the active lanes.
function M.each(text, visit)
  for line in text:gmatch "[^\n]+" do
    local access, array, bytes, offsets = line:match "^%d+,%d+,%d+,([%a ]+),([%w_]+),(%d+),(.*)"
    if access then
      local lanes = {}
      for offset in offsets:gmatch "%-?%d+" do
        lanes[#lanes + 1] = math.tointeger(offset)
      end
      visit(access, array, math.tointeger(bytes), lanes)
    end
  end
end

--- What the launch touches, by array and direction ("loads", "stores").
function M.touched(text)
  local out = {}
  M.each(text, function(access, array, bytes, lanes)
    local key = array .. (access:find "load" and " loads" or " stores")
    out[key] = out[key] or {}
    for _, offset in ipairs(lanes) do
      footprint.add(out[key], offset, bytes)
    end
  end)
  return out
end

-- Runs of neighbouring bytes in a set: where each begins, and how many of its bytes `used` has. How
-- many sectors they are in.
local function runs_of(set, used)
  local sectors, runs, stop = {}, {}, nil
  for sector in pairs(set) do
    sectors[#sectors + 1] = sector
  end
  table.sort(sectors)
  for _, sector in ipairs(sectors) do
    for at = 0, SECTOR - 1 do
      local byte = SECTOR * sector + at
      if set[sector] >> at & 1 == 1 then
        runs[#runs + 1] = byte ~= stop and { start = byte, used = 0 } or nil
        runs[#runs].used = runs[#runs].used + ((used[sector] or 0) >> at & 1)
        stop = byte + 1
      end
    end
  end
  return runs, #sectors
end

local function filled(start, bytes)
  return bytes > 0 and (start % SECTOR + bytes + SECTOR - 1) // SECTOR or 0
end

-- Sectors that a request moves, and those that it would if its used bytes were contiguous.
local function measure(bytes, lanes, used, has_few)
  local set = {}
  for _, offset in ipairs(lanes) do
    footprint.add(set, offset, bytes)
  end
  local runs, n_sectors = runs_of(set, used)
  local long, all, rest, lowest = 0, 0, 0, nil
  for _, run in ipairs(runs) do
    all = all + run.used
    if run.used >= LONG_RUN then
      long = long + filled(run.start, run.used)
    else
      rest, lowest = rest + run.used, lowest or run.start
    end
  end
  local ideal = math.min(n_sectors, long + filled(lowest or 0, rest))
  return n_sectors, has_few and all / SECTOR or ideal
end

--- Sectors, ideal and footprint of each operand and direction. Of what the index space does not
--- have, as a workspace, it is what the launch touches.
---@param text string the requests
---@param sets table what the index space touches, by "array loads" and "array stores"
function M.count(text, sets)
  local out, touched = {}, nil
  M.each(text, function(access, array, bytes, lanes)
    local key = array .. (access:find "load" and " loads" or " stores")
    if not sets[key] then
      touched = touched or M.touched(text)
      sets[key] = { set = touched[key], sectors = footprint.sectors(touched[key]) }
    end
    out[key] = out[key] or { sectors = 0, ideal = 0, footprint = sets[key].sectors }
    local has_few = #lanes < FEW_LANES and not access:find "bulk"
    local sectors, ideal = measure(bytes, lanes, sets[key].set, has_few)
    out[key].sectors = out[key].sectors + sectors
    out[key].ideal = out[key].ideal + ideal
  end)
  for key, c in pairs(out) do
    c.ideal = math.min(c.ideal, MOST_ASKED * (sets[key].asked or math.huge) / SECTOR + c.footprint)
  end
  return out
end

--- The sectors that an operand needs in a direction.
function M.minimum(c)
  return math.max(c.ideal, c.footprint)
end

--- Is the kernel coalesced? The verdict, how near to its limit the nearest operand is, and the
--- kernel's minimum by its sectors.
function M.verdict(counts)
  local total, least, coalesced, margin = 0, 0, true, math.huge
  for _, c in pairs(counts) do
    total = total + c.sectors
  end
  for _, c in pairs(counts) do
    local minimum = M.minimum(c)
    local excess = c.sectors - minimum
    least = least + math.min(minimum, c.sectors)
    local by_rule = minimum > 0 and c.sectors / minimum / MOST_EXCESS or math.huge
    local by_share = excess / total / LEAST_SHARE
    coalesced = coalesced and not (by_rule > 1 and by_share >= 1)
    -- below 1 as long as either is; the nearest to 1 says how firm the verdict is
    margin = math.min(margin, math.abs(math.min(by_rule, by_share) - 1))
  end
  return coalesced, margin, total > 0 and least / total or 1
end

return M
