-- boxes: boxes of elements that are long runs of memory in inputs and in outputs, though both sides
-- may run along the same modes. A box covers the first modes of either side whole and an equal part
-- of the next.
local boxes = {}

local GRAIN = 64 -- bytes that DRAM gives at a time
local SIZES = { 1024, 2048, 4096, 8192, 16384, 32768, 65536 } -- bytes of boxes; the best up to each

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

--- How many elements of the box are one run of a side, whose modes are `order`, fastest first, with
--- steps `step` in elements, and the place in the order of the mode that ends the run.
---@param box integer[]
---@param size integer[] extents of the modes
---@param side { order: integer[], step: integer[] }
---@return integer run
---@return integer? last nil: it is the whole array
function boxes.run(box, size, side)
  local run = 1
  for n, d in ipairs(side.order) do
    run = run * box[d]
    local next_mode = side.order[n + 1]
    if box[d] < size[d] or next_mode and side.step[next_mode] ~= side.step[d] * size[d] then
      return run, n
    end
  end
  return run, nil
end

-- Bytes that DRAM moves for a byte of the box: runs that start anywhere have a grain more.
local function share_moved(box, size, side, bytes)
  local run, last = boxes.run(box, size, side)
  local start = last and GRAIN or 0
  for n = last or #side.order + 1, #side.order do
    local d = side.order[n]
    start = gcd(start, side.step[d] * box[d] % GRAIN * bytes)
    start = n > last and gcd(start, side.step[d] * bytes) or start
  end
  return 1 + (GRAIN - gcd(GRAIN, start)) / (run * bytes) * (last and 1 or 0)
end

-- The extents that equal parts of `n` have, from `most` down to 1, some 10 % apart.
local function parts_of(n, most)
  local list, parts = {}, kit.ceil_div(n, most)
  while parts < n do
    local extent = kit.ceil_div(n, parts)
    list[#list + 1] = extent ~= list[#list] and extent or nil
    parts = parts + 1 + parts // 10
  end
  return kit.append(list, 1)
end

-- Calls `try(box)` for each box of at most so many elements that covers modes 1 to p - 1 of one
-- order and 1 to q - 1 of the other whole, and a part of those that follow.
local function each_box(size, into, out, most, try)
  for p, a in ipairs(into) do
    for q, b in ipairs(out) do
      local box = kit.map(size, function() return 1 end)
      for n = 1, p - 1 do
        box[into[n]] = size[into[n]]
      end
      for n = 1, q - 1 do
        box[out[n]] = size[out[n]]
      end
      local count, fixed_a, fixed_b = kit.product(box), box[a], box[b]
      local parts_a = fixed_a == 1 and parts_of(size[a], math.max(most // count, 1)) or { fixed_a }
      local parts_b = a ~= b and fixed_b == 1 and parts_of(size[b], math.max(most // count, 1))
      for _, extent in ipairs(count <= most and parts_a or {}) do
        box[a] = extent
        for _, other in ipairs(parts_b or { box[b] }) do
          box[b] = other
          if kit.product(box) <= most then
            try(box)
          end
        end
      end
    end
  end
end

--- Boxes for arrays of `size` whose sides are `into` and `out`: of each of some sizes the one for
--- which DRAM moves least, as text "AxBx...", largest first.
---@param size integer[]
---@param into { order: integer[], step: integer[] }
---@param out { order: integer[], step: integer[] }
---@param bytes integer of an element
---@return string[]
function boxes.list(size, into, out, bytes)
  local best = {}
  each_box(size, into.order, out.order, SIZES[#SIZES] // bytes, function(box)
    local count, whole = kit.product(box), 1
    for d, extent in ipairs(box) do
      whole = whole * (kit.ceil_div(size[d], extent) * extent / size[d])
    end
    local cost = share_moved(box, size, into, bytes) + share_moved(box, size, out, bytes) + whole
    for n = 2, #SIZES do
      local old = best[n]
      if count * bytes > SIZES[n - 1] and count * bytes <= SIZES[n]
        and (not old or cost < old.cost) then
        best[n] = { cost = cost, text = table.concat(box, "x") }
      end
    end
  end)
  local list = {}
  for n = #SIZES, 1, -1 do
    list[#list + 1] = best[n] and best[n].text
  end
  return list
end

return boxes
