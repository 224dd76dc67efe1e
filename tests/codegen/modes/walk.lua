-- Walks a kernel's index space at small extents twice, over the user's dimensions and over modes.
-- Both must meet the same elements: the byte offsets of all fields of all operands, at their places
-- and at their taps, and the user's dimensions. What g:vector says must hold. The strategy applies
-- to nothing; a difference is an error.
local SIDES = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 32, 40, 60, 64, 96 }
local SHORT = { 1, 1, 2, 2, 3, 4 } -- of many dimensions
local MOST, TRIALS, TRIES, GROUPS = 400, 3, 300, 3

local state = 20261123

local function draw(list)
  state = state * 6364136223846793005 + 1442695040888963407
  return list[(state >> 33) % #list + 1]
end

-- What the number of an element is in an index array, as the generator works it out.
local function element_number(op)
  local linear = op.at[1]
  for d = 2, #op.at do
    linear = linear * op.extent[d] + op.at[d]
  end
  return linear
end

-- Values of all extents, as E.eval takes them, for which the modes are right; how many elements.
local function extents_of(k)
  for _ = 1, TRIES do
    local values, n, right = {}, 1, true
    for _, var in ipairs(k.extent_vars) do
      values[#values + 1], values[#values + 2] = var, draw(#k.user.dims > 4 and SHORT or SIDES)
    end
    for d = 1, #k.user.dims do
      n = n * E.eval(k.user.extents[d] + 0, values)
    end
    for _, condition in ipairs(k.requires) do
      right = right and E.eval(condition + 0, values) ~= 0
    end
    if right and n <= MOST then
      return values, n
    end
  end
end

-- Everything that an element is known by: expressions over k's index.
local function marks_of(k, place)
  local list = {}
  for _, op in ipairs(k.operands) do
    for f = 1, #op.offset do
      list[#list + 1] = op.offset[f]
      for _, tap in ipairs(op.taps) do
        local at, inside = reads.tap_offset(op, f, tap)
        list[#list + 1] = inside and inside * (at + 1) or at
      end
    end
  end
  for _, at in ipairs(place) do
    list[#list + 1] = at
  end
  return list
end

-- Adds what index arrays hold to the values of an element; arrays that others lead to come first.
local function read_indexes(k, values, n)
  for _, nested in ipairs { false, true } do
    for _, op in ipairs(k.operands) do
      if op.is_index and op.through_index == nested then
        local held = (E.eval(element_number(op) + 0, values) * 7 + 3) % 5
        values[n + 1], values[n + 2], n = op.index_value, held, n + 2
      end
    end
  end
end

-- The elements of `k`: how many, and a sum over them that does not depend on their order.
local function walk(k, dims, place, extents)
  local sides, total, sum = {}, 1, 0
  for d = 1, dims do
    sides[d] = E.eval(k.extents[d] + 0, extents)
    total = total * sides[d]
  end
  local marks = marks_of(k, place)
  for number = 0, total - 1 do
    local values, rest = { table.unpack(extents) }, number
    for d = dims, 1, -1 do
      values[#values + 1], values[#values + 2] = k.index[d], rest % sides[d]
      rest = rest // sides[d]
    end
    read_indexes(k, values, #values)
    local hash = 1
    for _, mark in ipairs(marks) do
      hash = (hash ~ E.eval(mark + 0, values)) * 0x100000001b3
      hash = hash ~ (hash >> 29)
    end
    sum = sum + hash * (hash | 1)
  end
  return total, sum
end

-- ---- g:vector ----

-- The values of an element whose index along mode d begins a group; nil: there is no whole group.
local function draw_group(k, sides, extents, d, width)
  local values = { table.unpack(extents) }
  for m, index in ipairs(k.index) do
    local count = m == d and sides[m] // width or sides[m]
    if count < 1 then
      return nil
    end
    state = state * 6364136223846793005 + 1442695040888963407
    local step = m == d and width or 1
    values[#values + 1], values[#values + 2] = index, (state >> 33) % count * step
  end
  return values
end

-- The byte at which field f of element n of the group begins that starts at `values`.
local function byte_of(k, op, f, d, values, n, n_extents)
  local own = { table.unpack(values) }
  own[n_extents + 2 * d] = own[n_extents + 2 * d] + n
  read_indexes(k, own, #own)
  return E.eval(op.offset[f] + 0, own)
end

-- What g:vector says of groups of `width` holds for some of them: elements follow each other, and
-- the lowest lies on a word where the extents are multiples.
local function check_vector(k, g, op, f, d, width, sides, extents)
  local vector = g:vector(op, f, d, width)
  local aligned, bytes = true, f and op.record.fields[f].bytes or op.record.bytes
  for _, extent in ipairs(vector and vector.extents or {}) do
    aligned = aligned and E.eval(extent + 0, extents) % width == 0
  end
  for _ = 1, vector and GROUPS or 0 do
    local values = draw_group(k, sides, extents, d, width)
    for n = 0, values and width - 1 or -1 do
      for field = f or 1, f or #op.offset do
        local from = byte_of(k, op, field, d, values, vector.reversed and width - 1 or 0, #extents)
        local at = byte_of(k, op, field, d, values, n, #extents)
        local inside = op.record.fields[field].offset
        if at ~= from + (vector.reversed and width - 1 - n or n) * bytes
          or aligned and (from - (f and 0 or inside)) % vector.word ~= 0 then
          error(string.format("%s: vector(%s, %d, %d) is wrong for element %d of the group at %d",
            op.name, f, d, width, n, from))
        end
      end
    end
  end
end

local function check_vectors(k, extents)
  local g = cuda.new(setmetatable({ words = {} }, { __index = k }), "walk", 32)
  local sides = {}
  for d = 1, #k.dims do
    sides[d] = E.eval(k.extents[d] + 0, extents)
  end
  for _, op in ipairs(k.operands) do
    for f = 0, #op.offset do
      for d = 1, #k.dims do
        for _, width in ipairs { 2, 4 } do
          check_vector(k, g, op, f > 0 and f or nil, d, width, sides, extents)
        end
      end
    end
  end
end

local function check(k)
  for _ = 1, TRIALS do
    local extents = extents_of(k)
    if extents then
      check_vectors(k, extents)
      local n, sum = walk(k, #k.dims, k.place, extents)
      local n_user, sum_user = walk(k.user, #k.user.dims, k.user.index, extents)
      if n ~= n_user or sum ~= sum_user then
        local text = {}
        for m = 1, #extents, 2 do
          text[#text + 1] = tostring(extents[m]) .. " = " .. extents[m + 1]
        end
        error(string.format("%d elements over modes, %d over dimensions, sums %x and %x, at %s", n,
          n_user, sum, sum_user, table.concat(text, ", ")))
      end
    end
  end
  return false
end

return {
  name = "walk",
  applies = { { "never", check } },
  splits = "@SPLITS@",
  taps = true,
  reduces = true,
  axes = {},
  template = "direct.cu",
  plan = function()
    return nil, "it only looks"
  end,
}
