--- The requests of a launch, as `profile --requests` lists them, and what the rule of coalescing
--- makes of them: docs/measure.md says it in words.
local footprint = require "footprint"

local M = {}

local SECTOR = footprint.SECTOR
local FEW_LANES = 8     -- requests of fewer are held to the footprint alone
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

-- Sectors that a request moves, its lowest byte, and how many different bytes it moves that `used`
-- has.
local function measure(bytes, lanes, used)
  local set, n_sectors, n_used, lowest = {}, 0, 0, math.huge
  for _, offset in ipairs(lanes) do
    lowest = math.min(lowest, offset)
    footprint.add(set, offset, bytes)
  end
  for sector, mask in pairs(set) do
    n_sectors = n_sectors + 1
    n_used = n_used + footprint.bits(mask & (used[sector] or 0))
  end
  return n_sectors, lowest, n_used
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
    local sectors, lowest, used = measure(bytes, lanes, sets[key].set)
    out[key].sectors = out[key].sectors + sectors
    if #lanes >= FEW_LANES or access:find "bulk" then
      out[key].ideal = out[key].ideal + (lowest % SECTOR + used + SECTOR - 1) // SECTOR
    end
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
