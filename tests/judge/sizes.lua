--- Sizes that can be gone through point by point, in the place of those of a spec.
local M = {}

-- Extents up to the first stay: rows of a table, taps, bytes of a block. Where there are far too
-- many points, those up to the next do.
local KEPT = { 33, 8, 4 }
local FAR = 32

--- Points of the index space.
function M.points(kernel, size)
  local n = 1
  for _, name in ipairs(kernel.dims) do
    n = n * size[name]
  end
  for k, offsets in pairs(kernel.ragged or {}) do -- rows are not multiplied with what lies in them
    n = n // math.max(1, size[kernel.arrays[offsets].dims[1]])
    n = math.max(n, size[k])
  end
  return n
end

local function longest_beyond(size, kept)
  local best
  for name, value in pairs(size) do
    if math.type(value) == "integer" and value > kept and (not best or value > size[best]
      or (value == size[best] and name < best)) then
      best = name
    end
  end
  return best
end

local function longest(size, far)
  local best = longest_beyond(size, KEPT[1])
  for k = 2, far and #KEPT or 1 do
    best = best or longest_beyond(size, KEPT[k])
  end
  return best
end

--- The kernel's sizes, each halved where it is longest until it has few points. Halves of even
--- extents, so that what divides an extent by 16 or 32 still does; all extents of one length
--- together, as one may be that of another array.
---@return table[]
function M.small(kernel, most)
  local out = {}
  for _, size in ipairs(kernel.sizes) do
    local small = {}
    for name, value in pairs(size) do
      small[name] = value
    end
    while M.points(kernel, small) > most or (longest(small) and small[longest(small)] > most) do
      local name = longest(small, M.points(kernel, small) > FAR * most)
      if not name then
        break
      end
      local length = small[name]
      for other, value in pairs(small) do
        if value == length then
          small[other] = length // 64 > 0 and length // 64 * 32 + length % 32
            or length // 2
        end
      end
    end
    out[#out + 1] = small
  end
  return out
end

function M.text(size)
  local names, words = {}, {}
  for name in pairs(size) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = size[name]
    words[#words + 1] = ("%s = %s"):format(name, type(value) == "string" and ("%q"):format(value)
      or tostring(value))
  end
  return "{ " .. table.concat(words, ", ") .. " }"
end

--- The spec's text with this size alone.
function M.replace(text, size)
  local found
  text = text:gsub("(%f[%w_]sizes%s*=%s*)(%b{})", function(before)
    found = true
    return before .. "{ " .. M.text(size) .. " }"
  end)
  assert(found, "no sizes in the spec")
  return text
end

return M
