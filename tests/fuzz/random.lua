--- Random choices that depend on seed and index only (splitmix64), on every machine.
local M = {}
M.__index = M

--- The generator of spec number `index` of a seed.
---@param seed integer
---@param index integer
---@return table
function M.new(seed, index)
  return setmetatable({ state = seed * 0x632be59bd9b4e019 + index * 0x9e3779b97f4a7c15 }, M)
end

function M:bits()
  self.state = self.state + 0x9e3779b97f4a7c15
  local z = self.state
  z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
  z = (z ~ (z >> 27)) * 0x94d049bb133111eb
  return z ~ (z >> 31)
end

--- A whole number from lo to hi.
function M:int(lo, hi)
  return lo + (self:bits() >> 1) % (hi - lo + 1)
end

--- True in so many of 100 cases.
function M:chance(percent)
  return (self:bits() >> 1) % 100 < percent
end

function M:pick(list)
  return list[self:int(1, #list)]
end

--- A key of { { key, weight }, ... }.
function M:weighted(list)
  local total = 0
  for _, item in ipairs(list) do
    total = total + item[2]
  end
  local at = self:int(1, total)
  for _, item in ipairs(list) do
    at = at - item[2]
    if at <= 0 then
      return item[1]
    end
  end
end

--- A copy of the list in another order.
function M:shuffled(list)
  local out = table.move(list, 1, #list, 1, {})
  for k = #out, 2, -1 do
    local other = self:int(1, k)
    out[k], out[other] = out[other], out[k]
  end
  return out
end

return M
