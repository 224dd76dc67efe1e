-- strides: questions to an operand's offset over modes: how far a step along a mode goes, whether
-- neighbours are one run and on which bytes it starts, whether an index array says where it lies.
local strides = {}

--- Does the value of an index array that the place `e` names change along mode d, by itself or by
--- the index arrays that it is read through?
---@param k sectile.View
---@param e sectile.Expr
---@param d integer
---@return boolean
function strides.is_turned(k, e, d)
  return kit.any(k.operands, function(index)
    return index.is_index and E.mentions(e, index.index_value) and kit.any(index.at, function(at)
      return E.mentions(at, k.index[d]) or strides.is_turned(k, at, d)
    end)
  end)
end

--- Does the value of an index array that field f of `op` is addressed through change along mode d?
---@param k sectile.View
---@param op sectile.Operand
---@param d integer
---@param f? integer default 1
---@return boolean
function strides.turns(k, op, d, f)
  return strides.is_turned(k, op.offset[f or 1], d)
end

--- How far `at` moves with one step of `index`, an expression over extents; nil if not all steps
--- are alike. `others`: all variables that are no extents.
function strides.of(at, index, others)
  local start = E.subst(at, { index, 0 })
  local step = E.subst(at, { index, 1 }) - start
  if kit.const_of(at - start - index * step) ~= 0 then
    return nil
  end
  return not kit.any(others, function(other) return E.mentions(step, other) end) and step or nil
end

--- The variables of offsets that are no extents: indices, and what index arrays hold or the body
--- computes.
---@param k sectile.View
---@return sectile.Expr[]
function strides.variables(k)
  local held = kit.map(k.operands, function(op) return op.is_index and op.index_value or nil end)
  local computed = kit.map(k.computed or {}, function(one) return one.value end)
  kit.append(held, table.unpack(computed))
  return kit.append({ table.unpack(k.index) }, table.unpack(held))
end

--- Stride of field f of `op` along mode d: the bytes of one step, over extents; nil if not all
--- steps are alike. What an index array's value does is not in it (strides.turns).
---@param k sectile.View
---@param op sectile.Operand
---@param f integer
---@param d integer
---@return sectile.Expr?
function strides.step(k, op, f, d)
  return strides.of(op.offset[f], k.index[d], strides.variables(k))
end

--- The step of field f along dimension d as a number: nil unless it is a constant and no index
--- array says where neighbours lie.
---@param k sectile.View
---@param op sectile.Operand
---@param f integer
---@param d integer
---@return integer?
function strides.fixed(k, op, f, d)
  local step = not strides.turns(k, op, d, f) and strides.step(k, op, f, d)
  return step and kit.const_of(step) or nil
end

-- Is it between 0 and n, whatever n from 1 on: 1, n - 1, (n + k) // c (k < c in the normal form),
-- or what is left of n beside that?
local function is_share(shift, n)
  local found = kit.const_of(shift) == 1 or shift:same(n - 1)
  for _, quotient in ipairs(E.quotients(shift)) do
    local part = quotient[1] // quotient[2]
    local is_part = kit.const_of(quotient[1] - n) and (kit.const_of(quotient[2]) or 0) > 0
    found = found or is_part and (shift:same(part) or shift:same(n - part))
  end
  return found
end

--- What E.subst puts for remainders (and quotients) by a mode's extent n that wrap once, as of
--- `(d + n // 2) % n`: the sum, less n where that is not above it, or more n where it is below 0.
--- Divisions cost dozens of instructions.
---@param e sectile.Expr
---@param mode sectile.Mode
---@return sectile.Expr[]
function strides.unwrapped(e, mode)
  local put, n = {}, mode.extent
  for _, quotient in ipairs(E.quotients(e)) do
    local sum, known = quotient[1], quotient[2]:same(n)
    if known and is_share(sum - mode.index, n) then
      kit.append(put, sum % n, sum - n * n:le(sum), sum // n, n:le(sum))
    elseif known and is_share(mode.index - sum, n) then
      kit.append(put, sum % n, sum + n * sum:lt(0), sum // n, 0 - sum:lt(0))
    end
  end
  return put
end

--- Adds to a list of { extent, number } that an extent, if it is a variable, is a multiple of a
--- number.
---@param multiples table
---@param extent sectile.Expr
---@param number sectile.Expr|integer
function strides.add_multiple(multiples, extent, number)
  local by, var = kit.const_of(number), E.vars(extent)[1]
  if not by or not var or not extent:same(var) then
    return
  end
  for _, known in ipairs(multiples) do
    if known.extent:same(extent) then
      known.number = known.number // kit.gcd(known.number, by) * by
      return
    end
  end
  multiples[#multiples + 1] = { extent = extent, number = by }
end

--- A list of multiples as one for E.subst: an extent is a multiple times something.
---@param multiples table
---@return table
function strides.known(multiples)
  local put = {}
  for _, known in ipairs(multiples) do
    kit.append(put, known.extent,
      E.var("part_of_" .. E.text(known.extent), 0, kit.MAX_INDEX) * known.number)
  end
  return put
end

-- Does the padding after a record's last field, which starts at `start`, belong to the array? It
-- does where records start aligned and the array's end is aligned: less than an alignment is left.
local function has_end(op, start)
  local stop = 0
  for _, field in ipairs(op.record.fields) do
    stop = math.max(stop, field.offset + field.bytes)
  end
  local align = op.record.align
  return stop == op.record.bytes
    or E.divisor(start) % align == 0 and E.divisor(op.bytes) % align == 0
end

--- Whole records of `width` neighbouring elements as one run: byte offset of its start and its
--- bytes; nil if the records do not follow each other.
---@param k sectile.View
---@param op sectile.Operand
---@param d integer the mode's number
---@param width integer
---@return sectile.Expr? start
---@return integer bytes
function strides.record_run(k, op, d, width)
  local group, part = E.var("group", 0, kit.MAX_INDEX), E.var("part", 0, width - 1)
  local start
  for f, field in ipairs(op.record.fields) do
    local offset = E.subst(op.offset[f], { k.index[d], group * width + part }) - field.offset
    local rest = offset
    if width > 1 then
      local step
      step, rest = E.linear(offset, part)
      if not step or step ~= op.record.bytes then
        return nil
      end
    end
    if start and kit.const_of(start - rest) ~= 0 then
      return nil
    end
    start = rest
  end
  return has_end(op, start) and start or nil, width * op.record.bytes
end

-- ---- in words ----

-- What a step along mode d does to the operand's address.
local function stride_text(view, op, d)
  local list, seen = {}, {}
  for _, index in ipairs(view.operands) do
    if op.through_index and index.is_index and E.mentions(op.offset[1], index.index_value)
      and (E.mentions(index.offset[1], view.index[d]) or strides.turns(view, index, d)) then
      list[#list + 1] = "by " .. index.name
    end
  end
  for f = 1, #op.offset do
    local step = strides.step(view, op, f, d)
    local text = step and tostring(step) or "not affine"
    if not seen[text] and (text ~= "0" or #list == 0) then
      list[#list + 1], seen[text] = text, true
    end
  end
  return table.concat(list, ", ")
end

--- The view in words: by mode its name, where it comes from, extent, sizes and each operand's
--- strides; and conditions.
---@param view sectile.View
---@return table
function strides.describe(view)
  local list = { requires = {} }
  for d, name in ipairs(view.dims) do
    list[d] = {
      name = name, from = view.from[d], extent = tostring(view.extents[d]), sizes = {},
      strides = {},
    }
    for n, extents in ipairs(view.sizes) do
      list[d].sizes[n] = extents[d]
    end
    for n, op in ipairs(view.operands) do
      list[d].strides[n] = stride_text(view, op, d)
    end
  end
  for n, condition in ipairs(view.requires) do
    list.requires[n] = tostring(condition)
  end
  return list
end

--- The fewest extents that must be multiples of `width` for `offset` to be a multiple of `bytes`,
--- those of fast dimensions rather than of slow ones; nil: it cannot be. What the view requires of
--- extents helps where it is needed.
---@param k sectile.View
---@param offset sectile.Expr
---@param width integer
---@param bytes integer
---@return sectile.Expr[]?
function strides.needed_multiples(k, offset, width, bytes)
  local used, known = {}, strides.known(k.multiples)
  for _, extent in ipairs(k.extent_vars) do
    used[#used + 1] = E.mentions(offset, extent) and extent or nil
  end
  local function fewest(is_multiple)
    for _ = 1, is_multiple(used) and #used or 0 do
      local extent = table.remove(used, 1)
      used[#used + 1] = not is_multiple(used) and extent or nil
    end
    return is_multiple(used) and used or nil
  end
  return fewest(function(extents)
    return E.divisor(offset, extents, width) % bytes == 0
  end) or #known > 0 and fewest(function(extents)
    local put = { table.unpack(known) }
    for _, extent in ipairs(extents) do
      table.insert(put, 1, E.var("group_of_" .. E.text(extent), 0, kit.MAX_INDEX) * width)
      table.insert(put, 1, extent)
    end
    return E.divisor(E.subst(offset, put)) % bytes == 0
  end) or nil
end

return strides
