-- units: figures with their units, as texts and pages show them.
local units = {}

local function scaled(value, step, names, whole)
  local k = 1
  while value >= step and k < #names do
    value, k = value / step, k + 1
  end
  return string.format((k == 1 and whole or "%.4g") .. " %s", value, names[k])
end

--- "1.5 KiB"
---@param bytes number
---@return string
function units.bytes(bytes)
  return scaled(bytes, 1024, { "B", "KiB", "MiB", "GiB", "TiB" }, "%.0f")
end

--- "1.5 us"
---@param ns number
---@return string
function units.ns(ns)
  return scaled(ns, 1000, { "ns", "us", "ms", "s" }, "%.4g")
end

--- A share of the whole; 0 of nothing.
---@param n number
---@param of number
---@return number
function units.per(n, of)
  return of > 0 and n / of or 0.0
end

--- In three digits, since a kernel may use a thousandth of what it moves.
---@param of number?
---@return string?
function units.share(of)
  return of and string.format("%.3g %%", 100 * of) or nil
end

--- The last part of a path.
---@param path string
---@return string
function units.base_name(path)
  return string.match(path, "[^/]*$")
end

return units
