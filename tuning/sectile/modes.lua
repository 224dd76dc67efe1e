-- modes: a kernel over its canonical modes.
--
-- A user writes dimensions; what matters is how addresses move. modes.view(k) rewrites the kernel's
-- index space and every offset over modes, once, before any strategy sees them: `{token, head, d}`
-- and `{token, hd}` give the same view. Six steps:
--
--   split   where an offset has d // c or d % c (c a constant or an extent), d = d1 * c + d0
--   unwrap  (d + n_d // 2) % n_d and others that wrap once are differences
--   drop    modes of extent 1 go
--   flip    a mode along which every operand that moves goes backwards is counted from its end
--   merge   neighbours a, b are one where stride(a) == extent(b) * stride(b) for every field of
--           every operand, both 0 included
--   sort    by the strides of the outputs, slowest first; of the largest input if they are reduced
--
-- Strides are expressions over extents, so what is found holds for all extents, except that a split
-- needs n_d % c == 0: a condition in `requires`, which cuda.new() puts into every plan. A dimension
-- is split only if the condition holds at every tuned size.
--
-- Index arrays are operands like others: `pick[i // 16]` moves along i1 only. An operand that is
-- read through one has the array's value in its offset, as a variable, and strides of its own
-- beside that: table[pick[i // 16], i % 16, j] has stride 0 along i1.
--
-- What the view promises strategies is in docs/strategies.md. Bodies declare in front the
-- dimensions that they name and that are no mode any more; so a body names a mode exactly if it
-- needs it.
--
-- The fastest mode of the first output is the last (of the largest input in a reduction). Offsets
-- are affine in the modes unless a layout or a place is not (swizzles, `i // 2` of an odd extent):
-- strides.step() is nil there.
--
-- Which splits: "all", for strategies that say so (`splits = "all"`); "none" for the naive variant,
-- which must be right at all extents; else "merging": those that let d0 merge with a faster mode,
-- and those by extents. Others only shorten what strategies run along: blocked layouts have a
-- period.
local modes = {}

local MAX_INDEX = kit.MAX_INDEX

-- ---- the kernel under rewriting ----

---@class sectile.Mode name, index (variable), extent (over the user's extents), from (names of the
--- user's dimensions), reduced, role (those of one role merge), alone (it merges with nothing);
--- steps: how far each of the kernel's offsets moves with it, or nil

-- Names that a mode must not have: what the kernel's text calls by them is something else.
local function taken_names(k)
  local taken = {}
  for _, word in ipairs(reads.names_in(k.body)) do
    taken[word.name] = true
  end
  for _, list in ipairs { k.scalars, k.operands } do
    for _, thing in ipairs(list) do
      taken[thing.name] = true
      for _, tap in ipairs(thing.taps or {}) do
        taken[tap.name] = true
      end
    end
  end
  for _, name in ipairs(k.extent_names) do
    taken[name], taken["n_" .. name] = true, true
  end
  return taken
end

local function new_name(s, name)
  while s.taken[name] or s.taken["n_" .. name] do
    name = name .. "_"
  end
  s.taken[name] = true
  return name
end

-- What steps do with a dimension: whether they reduce it and, where they reduce different ones,
-- which of them do, and which have elements that differ along it.
local function role_of(k, d)
  return not k.nested and k.reduced[d] or k.nested and kit.concat(kit.map(k.steps, function(step)
    return step.over[k.dims[d]] and "o" or step.domain[k.dims[d]] and "d" or "-"
  end), " ")
end

-- The places beside its own that an operand stands for, or is read at.
local function taps_of(op)
  return op.gather and { op.gather } or op.taps
end

-- Modes that taps move along: adjacent places differ by one along them.
local function tapped(k, d)
  return kit.any(k.operands, function(op)
    return kit.any(taps_of(op), function(tap)
      return kit.any(tap.delta, function(delta, n)
        return (delta ~= 0 or tap.count and tap.count[n] > 1) and E.mentions(op.at[n], k.index[d])
      end)
    end) or kit.any(op.leaves or {}, function(leaves, n)
      return leaves and E.mentions(op.at[n], k.index[d])
    end)
  end)
end

-- The number of the element of an index array that is read, over modes: what it holds is known by
-- that.
local function element_number(op)
  local linear = op.at[1]
  for d = 2, #op.at do
    linear = linear * op.extent[d] + op.at[d]
  end
  return linear
end

-- The state of the six steps: modes, and of every operand the expressions over them.
local function start(k, refused)
  local s = {
    k = k, modes = {}, operands = {}, place = {}, requires = {}, multiples = {}, whole = {},
    splits = {},
    taken = taken_names(k), refused = refused,
  }
  for d, name in ipairs(k.dims) do
    local taps = tapped(k, d)
    local ragged = k.ragged and (d == k.ragged.dim and "dim" or d == k.ragged.row and "row")
    s.place[d] = k.index[d]
    s.modes[d] = {
      name = name, index = k.index[d], extent = k.extents[d], from = { name },
      reduced = k.reduced[d], role = role_of(k, d), scanned = k.scan == d,
      alone = taps or ragged or k.scan == d or reads.named(k.body, name),
      tapped = taps or ragged or k.scan == d, ragged = ragged,
    }
  end
  for n, op in ipairs(k.operands) do
    local all = { op = op, number = op.is_index and { element_number(op) } or {} }
    for _, list in ipairs { "offset", "at" } do
      all[list] = { table.unpack(op[list]) }
    end
    s.operands[n] = all
  end
  return s
end

-- Puts expressions for variables everywhere; `exact`, if it differs, where a user's dimension lies.
local function rewrite(s, put, exact)
  for _, all in ipairs(#put > 0 and s.operands or {}) do
    for _, list in ipairs { all.offset, all.at, all.number } do
      for n, e in ipairs(list) do
        list[n] = E.subst(e, put)
      end
    end
  end
  for d, e in ipairs(s.place) do
    s.place[d] = E.subst(e, exact or put)
  end
end

-- `each(e)` for every offset that has strides: those of fields, and an index array's element
-- numbers.
local function each_offset(s, each)
  for _, all in ipairs(s.operands) do
    for _, list in ipairs { all.offset, all.number } do
      for _, e in ipairs(list) do
        each(e)
      end
    end
  end
end

-- An extent or a stride with n_d = c * whole, where d was split.
local function canonical(s, e)
  return E.subst(e + 0, s.whole)
end

-- ---- split ----

-- Is `n_d % c == 0` at every tuned size? Where it is known for all extents, nothing is required.
local function divides(s, extent, c)
  local n, by, whole = kit.const_of(extent), kit.const_of(c), canonical(s, extent)
  if n then
    return by ~= nil and n % by == 0
  elseif #E.vars(whole) ~= 1 or not whole:same(E.vars(whole)[1])
    or E.mentions(canonical(s, c), whole) then
    return false
  end
  for _, given in ipairs(s.k.given) do
    by = E.eval(c + 0, given)
    if by < 1 or E.eval(extent + 0, given) % by ~= 0 then
      return false
    end
  end
  return #s.k.given > 0
end

-- The divisor that mode d is split by, if `e` says so: the least constant, or an extent.
local function divisor_in(s, e, mode, best)
  for _, quotient in ipairs(E.mentions(e, mode.index) and E.quotients(e) or {}) do
    local dividend, c = quotient[1], quotient[2]
    local n = kit.const_of(c)
    local found = dividend:same(mode.index) and (n and n > 1 or s.k.extent_of[tostring(c)])
    if found and divides(s, mode.extent, c) and not s.refused[mode.name .. " " .. tostring(c)]
      and (not best or n and n < (kit.const_of(best) or MAX_INDEX)) then
      best = c
    end
  end
  return best
end

-- The first mode that is to be split, by its number, and the divisor.
local function find_split(s)
  for n, mode in ipairs(s.modes) do
    local c
    each_offset(s, function(e)
      c = divisor_in(s, e, mode, c)
    end)
    if c and not mode.ragged then
      return n, c
    end
  end
end

-- Makes modes d1 and d0 of mode n.
local function split_by(s, n, c)
  local mode, by = s.modes[n], kit.const_of(c)
  local high, low = new_name(s, mode.name .. "1"), new_name(s, mode.name .. "0")
  local extent = kit.const_of(mode.extent)
  local split = {
    key = mode.name .. " " .. tostring(c), parent = mode.split, by_extent = not by,
  }
  local function part(name, index, count)
    return {
      name = name, index = index, extent = count, from = mode.from, reduced = mode.reduced,
      role = mode.role, alone = mode.alone, tapped = mode.tapped, split = split,
    }
  end
  local index1 = E.var(high, 0, (by and extent and extent // by or MAX_INDEX + 1) - 1)
  local index0 = E.var(low, 0, (by or MAX_INDEX + 1) - 1)
  rewrite(s, {
    mode.index // c, index1, mode.index % c, index0, mode.index, index1 * c + index0,
  })
  if not (extent and by) then
    s.requires[#s.requires + 1] = (mode.extent % c):eq(0)
    strides.add_multiple(s.multiples, mode.extent, c)
    local whole = E.var("whole_" .. high, 0, MAX_INDEX)
    local put = { canonical(s, mode.extent), canonical(s, c) * whole }
    for m = 2, #s.whole, 2 do
      s.whole[m] = E.subst(s.whole[m], put)
    end
    kit.append(s.whole, table.unpack(put))
  end
  s.modes[n] = part(high, index1, mode.extent // c)
  table.insert(s.modes, n + 1, part(low, index0, c))
  split.low = s.modes[n + 1]
  s.splits[#s.splits + 1] = split
end

local function split(s)
  local n, c = find_split(s)
  while n do
    split_by(s, n, c)
    n, c = find_split(s)
  end
end

-- Remainders of what goes beyond a mode's end once become differences.
local function unwrap(s)
  for _, mode in ipairs(s.modes) do
    each_offset(s, function(e) rewrite(s, strides.unwrapped(e, mode)) end)
  end
end

-- Refuses the splits that let no mode run longer; false: there is none.
local function refuse_idle(s)
  for _, mode in ipairs(s.modes) do
    for n = 1, #(mode.parts or {}) - 1 do
      local by = mode.parts[n].split
      while by do
        by.pays, by = by.pays or by.low == mode.parts[n], by.parent
      end
    end
  end
  local any = false
  for _, by in ipairs(s.splits) do
    if not by.pays and not by.by_extent then
      s.refused[by.key], any = true, true
    end
  end
  return any
end

-- ---- drop, flip ----

local function drop(s)
  for n = #s.modes, 1, -1 do
    local mode = s.modes[n]
    if #s.modes > 1 and kit.const_of(mode.extent) == 1 then
      rewrite(s, { mode.index, 0 })
      table.remove(s.modes, n)
    end
  end
end

local function work_variables(s)
  local indices = kit.map(s.modes, function(mode) return mode.index end)
  return strides.variables { index = indices, operands = s.k.operands, computed = s.k.computed }
end

-- Does every offset that moves along the mode go backwards, at every size?
local function goes_back(s, mode, variables)
  local forward, back = false, false
  each_offset(s, function(e)
    local step = strides.of(e, mode.index, variables)
    forward = forward or not step
    for _, larger in ipairs(step and s.k.larger or {}) do
      local value = E.eval(step + 0, larger)
      forward, back = forward or value > 0, back or value < 0
    end
  end)
  return back and not forward
end

local function flip(s)
  local variables = work_variables(s)
  for n, mode in ipairs(s.modes) do
    if not mode.tapped and goes_back(s, mode, variables) then
      local name = new_name(s, mode.name .. "_back")
      local index = E.var(name, 0, MAX_INDEX)
      rewrite(s, { mode.index, mode.extent - 1 - index })
      mode.name, mode.index, variables[n] = name, index, index
    end
  end
end

-- ---- merge ----

-- How far each offset moves with the mode; nil if one has no stride.
local function steps_along(s, mode, variables)
  local list, all = {}, not mode.alone
  each_offset(s, function(e)
    local step = all and strides.of(e, mode.index, variables)
    all = all and step ~= nil
    list[#list + 1] = step or nil
  end)
  return all and list or nil
end

-- Is one step along `outer` as long as all steps along `inner` together, everywhere?
local function is_behind(s, outer, inner)
  return outer.steps and inner.steps and outer.role == inner.role
    and not kit.any(outer.steps, function(step, n)
      return kit.const_of(canonical(s, step - inner.extent * inner.steps[n])) ~= 0
    end)
end

-- The first two modes that form one contiguous mode: their numbers, outer first.
local function find_pair(s)
  for n, outer in ipairs(s.modes) do
    for m, inner in ipairs(s.modes) do
      if n ~= m and is_behind(s, outer, inner) then
        return n, m
      end
    end
  end
end

-- Which index along each part the index of their merged mode is.
local function parts_of(mode, parts)
  local exact, inner = {}, 1
  for n = #parts, 1, -1 do
    local at = mode.index // inner
    kit.append(exact, parts[n].index, n > 1 and at % parts[n].extent or at)
    inner = parts[n].extent * inner
  end
  return exact
end

-- Gives each merged mode its name and variable. Offsets are affine in its parts, so that the
-- innermost part's variable can run over all of it.
local function rename_merged(s)
  for _, mode in ipairs(s.modes) do
    if mode.parts then
      local put, names, seen = {}, {}, {}
      mode.from = {}
      for n, part in ipairs(mode.parts) do
        names[n] = part.name
        kit.append(put, part.index, 0)
        for _, dim in ipairs(part.from) do
          mode.from[#mode.from + 1] = not seen[dim] and dim or nil
          seen[dim] = true
        end
      end
      mode.name = new_name(s, table.concat(names, "_"))
      mode.index = E.var(mode.name, 0, (kit.const_of(mode.extent) or MAX_INDEX + 1) - 1)
      put[#put] = mode.index
      rewrite(s, put, parts_of(mode, mode.parts))
    end
  end
end

local function merge(s)
  local variables = work_variables(s)
  for _, mode in ipairs(s.modes) do
    mode.steps = steps_along(s, mode, variables)
  end
  local n, m = find_pair(s)
  while n do
    local outer, inner = s.modes[n], s.modes[m]
    s.modes[m] = {
      extent = outer.extent * inner.extent, steps = inner.steps, reduced = inner.reduced,
      role = inner.role,
      parts = kit.append({ table.unpack(outer.parts or { outer }) },
        table.unpack(inner.parts or { inner })),
    }
    table.remove(s.modes, n)
    n, m = find_pair(s)
  end
  rename_merged(s)
end

-- ---- sort ----

-- Does an index array say where `e` moves with the mode, by itself or by those before it?
local function is_turned(s, e, mode)
  return kit.any(s.operands, function(index)
    local value, number = index.op.index_value, index.number[1]
    return value and E.mentions(e, value)
      and (E.mentions(number, mode.index) or is_turned(s, number, mode))
  end)
end

-- How far operand `all` moves with the mode at the largest size; without end where an index array
-- says so.
local function distance(s, all, mode, variables)
  local at, put = all.offset[1], { mode.index, 1 }
  if is_turned(s, at, mode) then
    return math.huge
  end
  for _, other in ipairs(variables) do
    if not other:same(mode.index) then
      kit.append(put, other, 0)
    end
  end
  local one = E.subst(at, put)
  put[2] = 0
  return math.abs(E.eval(one - E.subst(at, put), s.k.largest))
end

-- The operands in the order in which they say what is fast: the outputs, then inputs by size; where
-- the outputs are reduced, inputs first.
local function by_weight(s)
  local outputs, inputs, bytes = {}, {}, {}
  for _, all in ipairs(s.operands) do
    if all.op.is_output then
      outputs[#outputs + 1] = all
    else
      bytes[all] = E.eval(all.op.bytes + 0, s.k.largest)
      inputs[#inputs + 1] = all
    end
  end
  table.sort(inputs, function(a, b)
    return bytes[a] > bytes[b] or (bytes[a] == bytes[b] and a.op.number < b.op.number)
  end)
  local first, second = outputs, inputs
  if s.k.reduces then
    first, second = inputs, outputs
  end
  return kit.append(first, table.unpack(second))
end

local function sort(s)
  local variables, order, far = work_variables(s), by_weight(s), {}
  for _, mode in ipairs(s.modes) do
    far[mode] = {}
    for n, all in ipairs(order) do
      far[mode][n] = distance(s, all, mode, variables)
    end
  end
  local function is_faster(a, b)
    for n = 1, #order do
      local x, y = far[a][n], far[b][n]
      if x ~= y and x ~= 0 and y ~= 0 then
        return x < y
      end
    end
    return false
  end
  local sorted = {}
  for _, mode in ipairs(s.modes) do
    local at = #sorted + 1
    while at > 1 and is_faster(sorted[at - 1], mode) do
      at = at - 1
    end
    table.insert(sorted, at, mode)
  end
  s.modes = sorted
end

-- ---- the view ----

-- The extents of modes at every tuned size.
local function sizes_of(s)
  return kit.map(s.k.given, function(given)
    return kit.map(s.modes, function(mode) return E.eval(mode.extent + 0, given) end)
  end)
end

-- Is dimension d of an array, along which no place moves any more, one with that at `at`?
local function is_one_with(view, op, d, at)
  return kit.any(view.user.index, function(index, x)
    return E.mentions(op.at[d], index) and kit.any(view.index, function(mode)
      return E.mentions(view.place[x], mode) and E.mentions(at, mode)
    end)
  end)
end

-- Leaves out an array's dimensions that are merged into another, so that the rest are modes again.
local function drop_array_dims(view, one, op)
  local lists, put, kept, dropped = { at = {}, index = {}, extent = {}, leaves = {} }, {}, {}, {}
  for d, at in ipairs(one.at) do
    local still = kit.const_of(op.at[d]) or kit.const_of(at) ~= 0 or op.leaves and op.leaves[d]
    for _, tap in ipairs(taps_of(op)) do
      still = still or tap.delta[d] ~= 0 or tap.count and tap.count[d] > 1
    end
    table.insert(still and kept or dropped, d)
    if not still then
      kit.append(put, op.index[d], 0)
    end
  end
  for n, d in ipairs(kept) do
    local at, extent = one.at[d], op.extent[d]
    for _, other in ipairs(dropped) do
      extent = is_one_with(view, op, other, at) and op.extent[other] * extent or extent
    end
    lists.at[n], lists.index[n], lists.extent[n] = at, op.index[d], extent
    lists.leaves[n] = op.leaves and op.leaves[d]
  end
  one.leaves = op.leaves and lists.leaves
  one.at, one.index, one.extent, one.element = lists.at, lists.index, lists.extent, {}
  for f, e in ipairs(op.element) do
    one.element[f] = E.subst(e, put)
  end
  local taps = kit.map(taps_of(op), function(tap)
    local same = { name = tap.name, how = tap.how }
    for _, list in ipairs { "delta", "count", "step" } do
      same[list] = tap[list] and kit.map(kept, function(d) return tap[list][d] end)
    end
    return same
  end)
  one.taps, one.gather = op.gather and {} or taps, op.gather and taps[1]
end

local function operand_of(view, all)
  local one = kit.copy(all.op)
  one.offset, one.at = all.offset, all.at
  if #taps_of(all.op) > 0 or all.op.leaves then
    drop_array_dims(view, one, all.op)
  end
  return one
end

-- Declarations of the user's dimensions that `body` names, in front of it.
local function with_dims(s, body)
  local lines = {}
  for d, name in ipairs(s.k.dims) do
    if body and reads.named(body, name) and not s.place[d]:same(s.k.index[d]) then
      lines[#lines + 1] = string.format("const long long %s = %s;\n", name,
        E.text(s.place[d], true))
    end
  end
  return body and table.concat(lines) .. body
end

-- The number of an element among those that are reduced to one or scanned, in the order of the
-- user's dimensions, over modes; where steps reduce different ones, by those of `over`.
local function reduced_index(s, over)
  local number = 0
  for d, extent in ipairs(s.k.extents) do
    local joins = reduce.joins(s.k, d) and (not over or over[s.k.dims[d]])
    number = joins and number * extent + s.place[d] or number
  end
  return number
end

-- The modes that are made of some of the user's dimensions, by number.
local function modes_in(s, names)
  local list = {}
  for d, mode in ipairs(s.modes) do
    list[#list + 1] = names[mode.from[1]] and d or nil
  end
  return list
end

local function build(s)
  local k = s.k
  local view = kit.copy(k)
  view.dims, view.index, view.extents, view.reduced, view.from = {}, {}, {}, {}, {}
  for d, mode in ipairs(s.modes) do
    view.dims[d], view.index[d], view.extents[d] = mode.name, mode.index, mode.extent + 0
    view.reduced[d], view.from[d] = mode.reduced, mode.from
    view.scan = mode.scanned and d or view.scan
  end
  if k.ragged then
    view.ragged = kit.copy(k.ragged)
    for d, mode in ipairs(s.modes) do
      view.ragged[mode.ragged or "other"] = d
    end
  end
  view.reduced_index = reduced_index(s)
  view.sizes, view.requires, view.multiples = sizes_of(s), s.requires, s.multiples
  view.user, view.place = k, s.place
  view.body, view.component_body = with_dims(s, k.body), with_dims(s, k.component_body)
  view.steps = k.steps and kit.map(k.steps, function(step)
    step = kit.copy(step)
    step.body = with_dims(s, step.body)
    step.reduced_index = reduced_index(s, k.nested and step.over)
    step.over, step.domain = modes_in(s, step.over), modes_in(s, step.domain)
    return step
  end)
  view.operands = kit.map(s.operands, function(all) return operand_of(view, all) end)
  return view
end

-- For each dimension of an array with a border: may its own place lie outside? nil: nowhere.
local function leaves_of(k, op)
  local list = kit.map(op.at, function(at, d)
    local reaches = #op.taps == 0 or kit.any(op.taps, function(tap)
      return tap.delta[d] ~= 0 or tap.count and tap.count[d] > 1
    end)
    return reaches and op.border ~= "none" and not kit.any(k.dims, function(_, dim)
      return at:same(k.index[dim]) and op.extent[d]:same(k.extents[dim])
    end)
  end)
  return kit.any(list, function(leaves) return leaves end) and list or nil
end

-- Adds to the user's view what does not depend on modes: extents as variables and at every size;
-- for strides no extent is below 2, so that none is 0 by chance; and the size of most elements.
local function with_extents(k)
  k.extent_vars, k.extent_of, k.given, k.larger = k.extents, {}, {}, {}
  for _, var in ipairs(k.extents) do
    k.extent_of[tostring(var)] = true
  end
  local most = -1
  for _, op in ipairs(k.operands) do
    op.leaves = leaves_of(k, op)
  end
  for n, size in ipairs(k.sizes) do
    local given, larger, elements = {}, {}, 1.0
    for e, var in ipairs(k.extents) do
      kit.append(given, var, size[e])
      kit.append(larger, var, math.max(size[e], 2))
      elements = elements * (e <= #k.dims and size[e] or 1)
    end
    k.given[n], k.larger[n] = given, larger
    if elements > most then
      k.largest, most = larger, elements
    end
  end
end

-- What outputs hold before the kernel, where the body may read it: further inputs at the same
-- places, whose `old_of` is the output's number. What steps and ragged rows keep is never loaded,
-- and what values are combined with is loaded where the result is stored.
local function add_old_values(k)
  local in_rows = k.steps ~= nil or k.ragged ~= nil
  for n, op in ipairs { table.unpack(k.operands) } do
    if (op.is_inout or op.keeps and not in_rows) and not (op.accumulate or op.reduce) then
      local old = kit.copy(op)
      old.is_output, old.is_inout, old.keeps, old.old_of = false, false, false, n
      k.operands[#k.operands + 1], old.number = old, #k.operands + 1
    end
  end
end

-- Does some body name it?
local function is_named(k, name)
  return reads.named(k.body or "", name)
    or kit.any(k.steps or {}, function(step) return reads.named(step.body, name) end)
end

-- Taps as further inputs whose `tap_of` is the array's number, for strategies that read every array
-- at one place. Taps of neighbours along the dimensions are left to strategies that share what
-- these reach, and so are borders, whose conditions belong to taps.
local function set_taps_apart(k)
  local with_taps = kit.map(k.operands, function(op) return #op.taps > 0 and op or nil end)
  if kit.any(with_taps, function(op)
    return op.border ~= "none" or kit.any(op.taps, function(tap) return tap.how end)
  end) or not kit.any(with_taps, function(op) return not halo.are_neighbours(k, op) end) then
    return
  end
  for _, op in ipairs(with_taps) do
    local array, taps, is_taken = kit.copy(op), op.taps, is_named(k, op.name)
    op.taps, array.taps = {}, {}
    for _, tap in ipairs(taps) do
      if is_named(k, tap.name) then
        local one = is_taken and kit.copy(array) or op -- else the array itself is read there
        one.name, one.at = tap.name, kit.map(array.at, function(at, d) return at + tap.delta[d] end)
        one.offset = kit.map(array.element, function(_, f)
          return (reads.tap_offset(array, f, tap))
        end)
        if is_taken then
          one.tap_of, one.number = op.number, #k.operands + 1
          k.operands[one.number] = one
        end
        op.array_name, is_taken = array.name, true
      end
    end
  end
end

-- Everything that an array is read at as a further input, whose `gather` says where that lies: its
-- value is loaded element by element, as the border says, or becomes of a window.
local function gather_taps(k)
  for _, op in ipairs { table.unpack(k.operands) } do
    local list, array = op.taps, kit.copy(op)
    local hidden = kit.any(list, function(tap) return tap.name == op.name end)
    local own = (#list > 0 or op.leaves) and not hidden and is_named(k, op.name)
    local is_taken = false
    op.taps, array.taps = {}, {}
    local here = { name = op.name, delta = kit.map(op.at, function() return 0 end) }
    list = own and kit.append({ here }, table.unpack(list)) or list
    for _, tap in ipairs(list) do
      if is_named(k, tap.name) then
        local one = is_taken and kit.copy(array) or op
        one.name, one.gather, one.array_name = tap.name, tap, array.name
        if is_taken then
          one.tap_of, one.number = op.number, #k.operands + 1
          k.operands[one.number] = one
        end
        is_taken = true
      end
    end
  end
end

local known = {}

-- A copy for one candidate: strategies add to it.
local function copy_of(view)
  return setmetatable({
    operands = kit.map(view.operands, function(op) return setmetatable({}, { __index = op }) end),
  }, { __index = view })
end

--- The view that modes.view() gave for this key; nil if it was not asked.
---@param key string
---@return sectile.View?
function modes.known(key)
  return known[key] and copy_of(known[key])
end

--- The kernel over canonical modes.
---@param k sectile.View over the user's dimensions
---@param splits "none"|"merging"|"all"
---@param taps "together"|"apart"? taps stay with their arrays; or all are further inputs; else they
--- are where elements share no neighbours, without borders and windows
---@param key string what modes.known() finds it by
---@return sectile.View
function modes.view(k, splits, taps, key)
  local refused, s = {}
  with_extents(k)
  add_old_values(k)
  if taps ~= "together" then
    set_taps_apart(k)
  end
  if taps == "apart" then
    gather_taps(k)
  end
  k.has_taps = kit.any(k.operands, function(op)
    return #op.taps > 0 or op.leaves and not op.gather
  end)
  repeat
    s = start(k, refused)
    if splits ~= "none" then
      split(s)
      unwrap(s)
    end
    drop(s)
    flip(s)
    merge(s)
  until splits ~= "merging" or not refuse_idle(s)
  sort(s)
  known[key] = build(s)
  return copy_of(known[key])
end

return modes
