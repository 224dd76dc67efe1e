-- fold: dimensions that lie behind each other in every operand are one dimension to a schedule. A
-- rank 6 permute often is a transpose of three such groups; a copy is always one run. Extents are
-- run-time values, so this is found in the offset expressions: one step along the outer dimension
-- must be as long as all steps along the inner one, in every operand. So is whether records lie
-- one behind the other.
local fold = {}

--- Bytes that field f of `op` moves by with one step along dimension `d`, over extents; nil if not
--- all steps are alike.
---@param k sectile.View
---@param op sectile.Operand
---@param f integer
---@param d integer
---@return sectile.Expr?
function fold.step(k, op, f, d)
  local index, at = k.index[d], op.offset[f]
  local start = E.subst(at, { index, 0 })
  local step = E.subst(at, { index, 1 }) - start
  if kit.const_of(at - start - index * step) ~= 0 then
    return nil
  end
  for _, other in ipairs(k.index) do
    if E.mentions(step, other) then
      return nil
    end
  end
  return step
end

--- Does the body name dimension `d`?
---@param k sectile.View
---@param d integer
---@return boolean
function fold.named(k, d)
  return string.find(k.body, "%f[%w_]" .. k.dims[d] .. "%f[^%w_]") ~= nil
end

-- Steps of every field of every operand along dimension d, one list; nil if it cannot be folded.
local function steps_along(k, d)
  if fold.named(k, d) then
    return nil
  end
  local list = {}
  for _, op in ipairs(k.operands) do
    if #(op.taps or {}) > 0 then -- its neighbours along each dimension are read, too
      return nil
    end
    for f = 1, #op.offset do
      local step = fold.step(k, op, f, d)
      if op.is_index or op.through_index or not step then
        return nil
      end
      list[#list + 1] = step
    end
  end
  return list
end

-- Is one step along `outer` as long as all steps along `inner` together?
local function is_behind(outer, inner)
  for n, step in ipairs(outer.steps) do
    if kit.const_of(step - inner.extent * inner.steps[n]) ~= 0 then
      return false
    end
  end
  return true
end

-- The first two groups of which one lies behind the other: their numbers, outer first.
local function find_pair(groups)
  for n, outer in ipairs(groups) do
    for m, inner in ipairs(groups) do
      if n ~= m and outer.steps and inner.steps and is_behind(outer, inner) then
        return n, m
      end
    end
  end
end

--- Groups of dimensions that are one, in the dimensions' order; each has dims (numbers, slowest
--- first), extent (their product) and steps (nil for a dimension that nothing folds with).
---@param k sectile.View
---@return table[]
function fold.groups(k)
  local groups = {}
  for d = 1, #k.index do
    groups[d] = { dims = { d }, extent = k.extents[d], steps = steps_along(k, d) }
  end
  local n, m = find_pair(groups)
  while n do
    local outer, inner = groups[n], groups[m]
    local dims = {}
    for _, list in ipairs { outer.dims, inner.dims } do
      for _, d in ipairs(list) do
        dims[#dims + 1] = d
      end
    end
    groups[m] = { dims = dims, extent = outer.extent * inner.extent, steps = inner.steps }
    table.remove(groups, n)
    n, m = find_pair(groups)
  end
  return groups
end

-- A name for a group that is nobody's: "j_k".
local function name_of(k, group)
  local parts, taken = {}, {}
  for n, d in ipairs(group.dims) do
    parts[n] = k.dims[d]
  end
  for _, list in ipairs { k.scalars, k.operands } do
    for _, thing in ipairs(list) do
      taken[thing.name] = true
    end
  end
  for _, name in ipairs(k.extent_names) do
    taken[name] = true
  end
  local name = table.concat(parts, "_")
  while #parts > 1 and taken[name] do
    name = name .. "_"
  end
  return name
end

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

-- What op.run says, for the dimensions of `view`.
local function run_along(view, op, f, d, width)
  local field, step = op.record.fields[f], fold.step(view, op, f, d)
  local start = E.subst(op.offset[f],
    { view.index[d], E.var("group", 0, kit.MAX_INDEX) * width })
  return {
    contiguous = width == 1 or (step ~= nil and kit.const_of(step) == field.bytes),
    align = gcd(E.divisor(start), 256),
    align_if = gcd(E.divisor(start, view.extent_vars, width), 256),
  }
end

local function folded_operand(view, op, put, number)
  local offset = {}
  for f = 1, #op.offset do
    offset[f] = E.subst(op.offset[f], put)
  end
  local at = {}
  for d, place in ipairs(op.at) do
    at[d] = E.subst(place, put)
  end
  local one = { offset = offset, at = at, fastest = number[op.fastest] or op.fastest }
  one.run = function(f, d, width)
    return run_along(view, setmetatable(one, { __index = op }), f, d, width)
  end
  return setmetatable(one, { __index = op })
end

--- The kernel with its dimensions folded, or `k` itself if none are. The view's `prologue` declares
--- the extents of folded dimensions for the text; k.extent_vars are the extents as variables.
---@param k sectile.View
---@return sectile.View
function fold.view(k)
  local groups = fold.groups(k)
  if #groups == #k.dims then
    return k
  end
  local view = setmetatable({
    dims = {}, index = {}, extents = {}, operands = {}, extent_vars = k.extents,
  }, { __index = k })
  local put, number, lines = {}, {}, {}
  for n, group in ipairs(groups) do
    local inner = group.dims[#group.dims]
    local name = name_of(k, group)
    local index = #group.dims == 1 and k.index[inner] or E.raw(name, 0, kit.MAX_INDEX)
    view.dims[n], view.index[n], view.extents[n] = name, index, group.extent
    for _, d in ipairs(group.dims) do
      number[d] = n
      put[#put + 1], put[#put + 2] = k.index[d], d == inner and index or 0
    end
    if #group.dims > 1 then
      lines[#lines + 1] = string.format("const long long n_%s = %s; // they are one run everywhere",
        name, E.text(group.extent, true))
    end
  end
  for d = #k.dims + 1, #k.extents do -- the arrays' own dimensions
    view.extents[#view.extents + 1] = k.extents[d]
  end
  for n, op in ipairs(k.operands) do
    view.operands[n] = folded_operand(view, op, put, number)
  end
  view.prologue = kit.concat(lines)
  return view
end

-- Is the padding behind a record's last field, which starts at `start`, the array's? It is where
-- records start aligned and the array ends so: what is left up to there is less than an alignment.
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
--- bytes; nil if the records do not follow each other. `dim` is the dimension's number.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@param width integer
---@return sectile.Expr? start
---@return integer bytes
function fold.record_run(k, op, dim, width)
  local group, part = E.var("group", 0, kit.MAX_INDEX), E.var("part", 0, width - 1)
  local start
  for f, field in ipairs(op.record.fields) do
    local offset = E.subst(op.offset[f], { k.index[dim], group * width + part }) - field.offset
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

return fold
