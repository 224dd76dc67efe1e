-- direct: the naive variant, and what everything else is compared with: what a person writes
-- without thought. A thread has an element of the index space, or, where outputs are reduced, a
-- block has an output; where these are few, blocks share each.
local LANES = 32 -- outputs that a block of a reduction has side by side
local FEW, FEW_ALONG = 32, 8 -- elements that become one; FEW_ALONG: that lie next to each other
local FEW_RAGGED = 256 -- of a ragged row, on average
local BLOCKS = 1024 -- that outputs are shared by, where each thread has so many elements:
local SHARE = 8
local RUN, MANY_RUNS = 1024, 16 -- elements of a thread that are summed apart in long rows
local SHARE_BYTES = 16 -- of shared memory, by which blocks know the last one
local WARP, SECTOR_BYTES = 32, 32

-- ---- the index space ----

-- How the kernel calls indices of modes, and what index arrays hold.
local function binding(p)
  return p.g:binding(kit.map(p.index, cuda.var), function(op) return p.values[op.name] end)
end

-- ---- operands ----

-- The words that field `f` of `op`, or its whole value, needs where it lies below its type's
-- alignment: what C would move at once. NVVM 13.0 moves members of packed records so.
local function word_of(p, op, f, offset)
  local word, shorter = p.g:single(op, f, offset)
  return (shorter or op.record.packed) and word or nil
end

-- Text that loads field `f` of `op`, or its whole value, from `offset`.
local function load_text(p, op, f, offset, with)
  local word = word_of(p, op, f, offset)
  with = with or binding(p)
  return word and cuda.load(cuda.load_name(op), p.g:type(op, f), word,
    p.g:address(op, f, with, offset)) or p.g:place(op, f, with, offset)
end

-- The name of the value that the kernel has for the user's `name`, the same one in every step.
local function value_name(p, name)
  p.values[name] = p.values[name] or p.g:name(name .. "_v")
  return p.values[name]
end

-- Declares the value of `op` at one of the places where the body reads it.
local function declare_read(p, op, read)
  local g, name, fields = p.g, value_name(p, read.name), op.record.fields
  local function value(f)
    return window.value(g, op, f, read, binding(p), function(with)
      return load_text(p, op, f, read.offset, with)
    end)
  end
  if op.record.bare or op.style == "record" then
    return string.format("const %s %s = %s;", window.type(g, op, read), name,
      value(op.record.bare and 1 or nil))
  end
  return kit.concat { string.format("%s %s;", g:type(op), name), table.unpack(kit.map(read.used,
    function(f) return string.format("%s = %s;", kit.member(name, fields[f]), value(f)) end)) }
end

local function declare_index(p, op)
  return string.format("const long long %s = %s;", value_name(p, op.name),
    load_text(p, op, 1, op.offset))
end

-- Does what lies where `op` is read differ along a row?
local function differs(p, op)
  return kit.any(p.reduced, function(d) return p.g:changes(op, d) end)
end

-- Declares the values of all inputs, those of index arrays first, and of the outputs; for a step
-- those that it reads and gives. What is done once a row has no index along it.
local function declare_values(p, step)
  local g, lines, offsets = p.g, {}, p.k.ragged and p.k.ragged.offsets
  for _, op in ipairs(g.inputs) do
    local kept = op.old_of and not g.ops[op.old_of].is_inout -- is not stored, so not read either
    if op.is_index then
      local read = (op.number ~= offsets or g.in_body[op.name])
        and not (step and step.per_row and differs(p, op))
      lines[#lines + 1] = read and declare_index(p, op) or nil
    elseif not p.held_once[op.number] then
      for _, read in ipairs(kept and {} or step and step.reads[op.number] or op.reads) do
        lines[#lines + 1] = declare_read(p, op, read)
      end
    end
  end
  for _, op in ipairs(step and step.outputs or g.outputs) do
    lines[#lines + 1] = string.format("%s %s;", reduce.given_type(op), value_name(p, op.name))
  end
  for _, value in ipairs(step and step.reduces and step.values or {}) do
    lines[#lines + 1] = string.format("%s %s;", reduce.given_type(value),
      value_name(p, value.name))
  end
  return kit.concat(lines)
end

-- Text that stores `value` to field `f` of `op`, or as its whole value.
local function store_text(p, op, f, value)
  local word, with = word_of(p, op, f), binding(p)
  return word and cuda.store("store", word, p.g:address(op, f, with), value)
    or string.format("%s = %s;", p.g:place(op, f, with), value)
end

-- Text of what field `f` of an output holds, or its whole value.
local function held_text(p, op, f)
  local word, with = word_of(p, op, f), binding(p)
  return word and cuda.load("load_coherent", p.g:type(op, f), word, p.g:address(op, f, with))
    or p.g:place(op, f, with)
end

local function stores(p, outputs)
  return kit.concat(kit.map(outputs, function(op)
    local name = p.values[op.name]
    local lines = kit.map(cuda.parts(op, not op.accumulate), function(f)
      if op.accumulate then
        local slot = accumulate.slot(op, f or 1, true)
        return accumulate.update_array(p.g, slot, p.g:address(op, slot.f, binding(p)),
          accumulate.cast(slot, kit.member(name, slot.field)))
      end
      return store_text(p, op, f or nil, f and kit.member(name, op.record.fields[f]) or name)
    end)
    return op.keeps and string.format(#lines == 1 and "if (!%s)\n  %s" or "if (!%s) {\n  %s\n}",
      p.values[op.name .. "_kept"], kit.concat(lines, "\n  ")) or kit.concat(lines)
  end))
end

local function call(p, step)
  local values = setmetatable({}, { __index = p.values, __newindex = p.values })
  for d, dim in ipairs(p.k.dims) do
    values[dim] = p.index[d]
  end
  return p.g:call(values, step)
end

local function start_plan(k, c)
  local g = cuda.new(k, "direct", c.threads)
  accumulate.align(g)
  local p = { g = g, k = k, threads = c.threads, index = {}, dims = {}, values = {},
    definitions = "", takes = false, held_once = {} }
  for d, dim in ipairs(k.dims) do
    p.index[d], p.dims[d] = g:name(dim), d
  end
  p.unravel = function(dims, text) return reduce.unravel(g, p.index, dims, text) end
  p.declare_values = function(step) return declare_values(p, step) end
  p.call = function(step) return call(p, step) end
  p.stores = function(step) return stores(p, (step or g).outputs) end
  return p
end

-- The initializers of the partial of the element whose values are known.
local function members(p, slots, step)
  return reduce.members(slots, function(op) return p.values[op.name] end,
    function() return p.g:text((step or p.k).reduced_index, binding(p), true) end)
end

-- ---- ragged rows ----

-- The modes that elements are counted by: not those of ragged rows, which share them.
local function counted(p)
  local ragged, list = p.k.ragged, {}
  for d = 1, #p.dims do
    list[#list + 1] = not (ragged and d == ragged.row) and d or nil
  end
  return list
end

-- Finds the row of an element of all rows, of which the index is known.
local function find_row(p)
  local ragged = p.k.ragged
  return not ragged and "" or string.format("const long long %s = row_of(%s, %s, %s);",
    p.index[ragged.row], p.g.ops[ragged.offsets].pointer, p.g:text(p.k.extents[ragged.row]),
    p.index[ragged.dim])
end

-- Sets p.n_reduced, p.range and p.element, as reduce.walk says.
local function plan_range(p)
  local walk = reduce.walk(p.g, p.index, p.reduced, "first")
  p.n_reduced, p.range, p.element = walk.many, walk.range, walk.element
end

-- ---- what ranks it before it is compiled ----

-- The sectors that a warp's lanes touch, neighbours along mode `along`, in one access to field f.
local function sectors_of(p, op, f, along)
  local step = strides.step(p.k, op, f, along)
  step = math.abs(step and kit.const_of(step) or WARP)
  return kit.ceil_div(op.record.fields[f].bytes, SECTOR_BYTES) * math.min(math.max(step, 1), WARP)
end

-- By operand; what an index array moves from lane to lane is left to the program's own estimate.
local function traffic(p, along)
  local list, elements = {}, reduce.count(p.k, counted(p))
  for _, op in ipairs(p.g.ops) do
    local sectors, width = 0, 16
    for f, field in ipairs(op.record.fields) do
      local moves = (op.is_output or op.is_index) and 1 or #op.reads
      sectors = sectors + moves * sectors_of(p, op, f, along)
      width = math.min(width, field.bytes)
    end
    local kept = p.k.reduces and op.is_output
    if sectors > 0 and not kept and not strides.turns(p.k, op, along) then
      list[#list + 1] = { operand = op.number, width = width,
                          sectors = kit.ceil_div(elements * sectors, WARP) }
    end
  end
  return list
end

-- ---- maps ----

local function plan_map(k, c)
  local p = start_plan(k, c)
  p.counted = counted(p)
  p.find_row = find_row(p)
  local count = reduce.count(k, p.counted)
  p.count, p.grid = p.g:text(count), kit.ceil_div(count, c.threads)
  p.traffic = traffic(p, #k.dims)
  p.doc = string.format("One thread an element of %s.", kit.concat(k.dims, ", "))
  return p.g:plan(p)
end

-- ---- reductions ----

-- How many outputs a block has side by side: one, or where the fastest mode is kept up to a warp's,
-- so that it reads neighbours; but not where blocks that have rows alone would be fewer than a
-- quarter of the multiprocessors. Where few elements become one, a thread has an output to itself.
local function lanes_of(k, threads)
  local along = reduce.joins(k, #k.dims) -- what becomes one lies next to each other
  local fewest, outputs, most = math.maxinteger, 0, 0
  for _, extents in ipairs(k.sizes) do
    local kept, many = 1, 1
    for d = 1, #k.dims do
      if reduce.joins(k, d) then
        many = many * extents[d]
      else
        kept = kept * extents[d]
      end
    end
    fewest, outputs = math.min(fewest, kept), math.max(outputs, kept)
    most = math.max(most, k.ragged and many // math.max(kept, 1) or many)
  end
  if most <= (k.ragged and FEW_RAGGED or along and FEW_ALONG or FEW) then
    return threads
  end
  local few = (k.steps or k.scan) and 4 * fewest < LANES * k.device.sms
  local lanes = 1
  while not along and not few and lanes < math.min(LANES, outputs) do
    lanes = 2 * lanes
  end
  return lanes
end

-- What a block or a thread has of a reduction, in words.
local function share_text(p, threads, one, many)
  if p.lanes == threads then
    return "A thread has " .. one .. "."
  end
  return string.format("A block has %s", p.lanes > 1 and p.lanes .. " neighbouring " .. many or one)
end

-- Blocks for `kept` outputs of `many` elements each; where outputs are few, several for each.
local function deal_out(p, kept, many, partial_bytes)
  local tiles, shares = kit.ceil_div(kept + 0 * p.k.extents[1], p.lanes), 1
  if p.lanes < p.threads then
    local step = p.is_wide and p.threads // WARP or p.threads // p.lanes * SHARE
    shares = reduce.shares(tiles, BLOCKS, many, step)
    p.static_shared_bytes = p.threads * partial_bytes
  end
  p.shared, p.grid = kit.const_of(shares) ~= 1, tiles * shares
  p.first_place, p.step = "group", "kGroups"
  if p.shared then
    p.first_place = "share * (long long)kGroups + group"
    p.step = "shares * (long long)kGroups"
    p.static_shared_bytes = (p.static_shared_bytes or 0) + SHARE_BYTES
    p.workspace_bytes = reduce.COUNTER_BYTES + BLOCKS * p.lanes * partial_bytes
  end
end

-- A block an output element, or LANES of them, or several blocks; what is reduced is dealt out to
-- their threads.
local function plan_reduction(k, c)
  local p = start_plan(k, c)
  local g = p.g
  local slots, bytes = reduce.slots(g)
  p.slots, p.definitions = slots, reduce.definitions(slots)
  p.kept, p.reduced = reduce.dims(k)
  p.lanes = lanes_of(k, c.threads)
  local kept = reduce.count(k, p.kept)
  p.n_kept = g:text(kept)
  plan_range(p)
  p.partial = function()
    return members(p, p.slots)
  end
  p.store_partial = function(name)
    return reduce.stores(p.slots, name, p.n_reduced, function(...) return store_text(p, ...) end,
      function(...) return held_text(p, ...) end, p.n_reduced .. " > 0")
  end
  p.traffic = traffic(p, p.lanes > 1 and p.kept[#p.kept] or p.reduced[#p.reduced] or #k.dims)
  local many = reduce.count(k, p.reduced)
  deal_out(p, kept, k.ragged and many // (kept:max(1)) or many, bytes)
  p.doc = share_text(p, c.threads, k.ragged and "a row" or "an output", "outputs")
  if p.shared then
    p.doc = p.doc .. "; where outputs are few, several blocks share them, by a grid-stride loop "
      .. "over what is reduced."
  elseif p.lanes < c.threads then
    p.doc = string.format("%s; a thread takes every %d-th of what is reduced.", p.doc,
      c.threads // p.lanes)
  end
  return g:plan(p)
end

-- ---- sums of floats in one order ----

-- The partial of a point: nothing, where keep() says so.
local function point_members(p)
  return table.concat(kit.map(p.slots, function(slot)
    local kept = slot.op.keeps and p.values[slot.op.name .. "_kept"]
    local value = reduce.members({ slot }, function(op) return p.values[op.name] end)
    return kept and string.format("%s ? %s : %s", kept, slot.members[1].identity, value) or value
  end), ", ")
end

-- The dimensions that `at` of an output names: by number, which of the array's has the same index.
-- (One that several were merged to goes beyond the array's.)
local function shared_dims(p, op)
  local of = {}
  for n, at in ipairs(op.at) do
    for d, index in ipairs(p.k.index) do
      local inside = kit.const_of(p.k.extents[d]:le(op.extent[n])) == 1
      of[d] = at:same(index) and inside and n or of[d]
    end
  end
  return of
end

-- Splits the dimensions in those whose index an element of the output has, and the others. Declares
-- the indices of the first. Gives which of the array's each is.
local function split_dims(p, out)
  local of = shared_dims(p, out)
  p.kept, p.reduced = {}, {}
  for d in ipairs(p.dims) do
    local list = of[d] and p.kept or p.reduced
    list[#list + 1] = d
  end
  p.unravel = function(dims, text)
    local list = accumulate.indices(out, text)
    return kit.concat(kit.map(dims, function(d)
      local n = #out.extent - of[d] -- the list begins with the last
      return string.format("const long long %s = %s;", p.index[d], p.g:text(list[2 * n + 2]))
    end))
  end
  return of
end

-- A block an element of the outputs, or several, which go through all points and take those that
-- fall on it.
local function plan_ordered(k, c)
  local p = start_plan(k, c)
  local g, out = p.g, p.g.outputs[1]
  local slots, bytes = reduce.slots(g)
  p.slots, p.definitions, p.lanes = slots, reduce.definitions(slots), 1
  local of = split_dims(p, out)
  plan_range(p)
  local beyond = kit.map(p.kept, function(d) -- elements that no index of the dimension has
    return not out.extent[of[d]]:same(k.extents[d])
      and string.format("%s < %s", p.index[d], g:text(k.extents[d])) or nil
  end)
  if #beyond > 0 then
    p.n_reduced = string.format("(%s ? %s : 0)", kit.concat(beyond, " && "), p.n_reduced)
  end
  local kept = kit.product(out.extent)
  p.n_kept = g:text(kept)
  p.partial = function() return point_members(p) end
  p.takes = function()
    return g:text(accumulate.number(out, out.at), binding(p), true) .. " == output"
  end
  p.store_partial = function(name)
    return kit.concat(kit.map(slots, function(slot)
      local value = name .. "." .. slot.name
      return string.format("if (%s != %s)\n  %s", value, slot.members[1].identity,
        accumulate.update_own(g, slot.op, slot.f, "output", value))
    end))
  end
  deal_out(p, kept, reduce.count(k, p.reduced), bytes)
  p.traffic = traffic(p, #k.dims)
  p.doc = "A block has an element; where elements are few, several share each. They go through all "
    .. "points by a grid-stride loop, and take those that fall on it."
  return g:plan(p)
end

-- ---- scans ----

-- A block a row, or LANES adjacent rows, by chunks in which each thread has an element.
local function plan_scan(k, c)
  local p = start_plan(k, c)
  local g = p.g
  local slots, bytes = reduce.slots(g)
  p.definitions = reduce.definitions(slots)
  p.kept, p.reduced = reduce.dims(k)
  p.along = p.index[k.scan]
  p.lanes = lanes_of(k, c.threads)
  local kept = reduce.count(k, p.kept)
  p.n_kept, p.n_reduced = g:text(kept), g:text(k.extents[k.scan])
  p.partial = function() return reduce.single(slots, members(p, slots)) end
  p.store_results = function(before, up_to)
    return reduce.stores(slots, function(slot) return slot.op.exclusive and before or up_to end,
      nil, function(...) return store_text(p, ...) end)
  end
  p.static_shared_bytes = c.threads * bytes
  p.traffic = traffic(p, p.lanes > 1 and p.kept[#p.kept] or k.scan)
  p.grid = kit.ceil_div(kept + 0 * k.extents[1], p.lanes)
  p.doc = share_text(p, c.threads, "a row", "rows")
  p.doc = p.lanes < c.threads and p.doc .. ", a chunk of elements at a time." or p.doc
  return g:plan(p)
end

-- ---- steps ----

-- The partial of a step's values, and what the kernel calls them from there on.
local function plan_values(p, step)
  local slots, bytes = reduce.value_slots(step)
  local mine = p.g:name("found" .. step.suffix)
  step.definitions = reduce.definitions(slots, step.suffix)
  step.mine, step.bytes, step.run = mine, bytes, mine
  step.partial = function()
    local text = members(p, slots, step)
    reduce.name_values(slots, mine, step.count, p.values)
    return text
  end
end

-- Which of two lists of modes are in both.
local function common(one, other)
  return kit.map(one, function(d) return kit.has(other, d) and d or nil end)
end

-- The elements of a step: those of a row, or, where steps reduce different modes, of those that it
-- has. Values that differ along a row are computed where a step needs them: step.is_inner.
local function plan_elements(p, step, walk)
  local k = p.k
  step.count, step.bound, step.element = "n_elements", "n_elements", walk.element
  step.first, step.stride = "group", "kThreads / kLanes"
  if k.nested then
    local along = common(step.domain, p.reduced)
    step.differs_along = kit.map(along, function(d)
      return not kit.has(step.over, d) and d or nil
    end)
    step.is_inner = #step.values > 0 and #step.differs_along > 0
    step.is_idle = step.is_inner and #step.outputs == 0
    local dims = step.reduces and common(along, step.over) or along
    step.count = "(" .. p.g:text(reduce.count(k, dims)) .. ")"
    step.bound = string.format("(row_index < %s ? %s : 0)", p.n_kept, step.count)
    step.element = function(place) return p.unravel(dims, place) end
  end
end

-- Statements that compute the values that differ along a row and that `step` names, but for those
-- in `known`: by loops of their own, for the element whose indices are declared.
local function inner_values(p, step, known)
  local g, lines, here = p.g, {}, kit.copy(known or {})
  local by_lanes = p.is_wide and not known -- of a warp, which has the element
  for _, of in ipairs(g.steps) do
    local named = of ~= step and of.is_inner
      and kit.any(of.values, function(value) return step.in_body[value.name] end)
    if named and not here[of] then
      local within = {}
      for other in pairs(here) do -- those of the same indices
        within[other] = #common(other.differs_along, of.over) == 0 or nil
      end
      for _, value in ipairs(of.values) do
        local name = p.locals[value.name]
        p.values[value.name] = name
        lines[#lines + 1] = not of.reduces and value.cuda .. " " .. name .. ";" or nil
      end
      local at = "at" .. of.suffix
      local body = kit.concat { of.reduces and of.element(at) or "", inner_values(p, of, within),
        p.declare_values(of), p.call(of) }
      if of.reduces then
        body = kit.concat { body, string.format("%s = combine(%s, {%s});", of.mine, of.mine,
          of.partial()) }
        lines[#lines + 1] = string.format("partial%s %s = identity%s();\n"
          .. "for (long long %s = %s; %s < %s; %s) {\n  %s\n}", of.suffix, of.mine, of.suffix, at,
          by_lanes and "threadIdx.x % 32" or "0", at, of.count,
          by_lanes and at .. " += 32" or at .. "++", kit.indented(body, "  "))
        lines[#lines + 1] = by_lanes
          and string.format("%s = combine_row<32>(%s);", of.mine, of.mine) or nil
      else
        lines[#lines + 1] = "{\n  " .. kit.indented(body, "  ") .. "\n}"
      end
      here[of] = true
    end
  end
  return kit.concat(lines)
end

-- Does a thread have so many elements of a row that a sum of one after the other loses digits?
local function has_long_rows(p)
  return kit.any(p.k.sizes, function(extents)
    local many = 1
    for _, d in ipairs(p.reduced) do
      many = many * extents[d]
    end
    return many > MANY_RUNS * RUN * (p.threads // p.lanes)
  end)
end

-- Declares what outputs that are updated once a row held before: all threads of the row load it at
-- the start, and a step that reduces lies between that and the store.
local function declare_held_once(p, is_row)
  local g, declared, indices, loaded = p.g, {}, {}, {}
  local is_indexed = kit.any(g.ops, function(op)
    return op.old_of and op.through_index and not differs(p, op)
  end)
  for _, op in ipairs(g.inputs) do
    if op.is_index and is_indexed and not differs(p, op) then
      indices[#indices + 1] = declare_index(p, op)
    elseif op.old_of and not differs(p, op) then
      local name = value_name(p, op.name)
      p.held_once[op.number] = true
      declared[#declared + 1] = string.format("%s %s = {};", g:type(op), name)
      for _, f in ipairs(cuda.parts(op, true)) do
        local to = f and kit.member(name, op.record.fields[f]) or name
        loaded[#loaded + 1] = string.format("%s = %s;", to, load_text(p, op, f or nil, op.offset))
      end
    end
  end
  if #loaded == 0 then
    return ""
  end
  local text = string.gsub(kit.concat { kit.concat(indices), kit.concat(loaded) }, "\n", "\n  ")
  return kit.concat { kit.concat(declared), string.format("if (%s) {\n  %s\n}", is_row, text) }
end

-- The only step that reduces what all elements of a row have to themselves, if what follows it is
-- done once a row: blocks may then share the row, and the last of them goes on.
local function last_reduction(p)
  local found
  for _, step in ipairs(p.emitted) do
    if found and (step.reduces or not step.per_row) then
      return nil
    end
    found = found or step.reduces and step
  end
  return found
end

-- Where steps reduce different modes: a thread has an element, or a warp, whose lanes run along the
-- fastest mode for the values that the element needs.
local function plan_nested(p, kept)
  local shared = last_reduction(p)
  p.is_wide = p.lanes == 1 and p.threads > WARP and kit.any(p.g.steps, function(step)
    return step.is_inner and kit.has(step.over, #p.k.dims)
  end)
  p.is_first = p.is_wide and "threadIdx.x == 0" or p.is_first
  p.group_constant = p.is_wide and "kThreads / 32" or "kThreads / kLanes"
  if shared then
    local bytes = p.static_shared_bytes
    deal_out(p, kept, reduce.count(p.k, shared.over), shared.bytes)
    p.static_shared_bytes, shared.is_shared = bytes + SHARE_BYTES, p.shared
  end
  for _, step in ipairs(p.emitted) do
    step.first = p.shared and p.first_place or "group"
    step.stride = p.shared and p.step or "kGroups"
  end
  p.doc = string.format("A block has %s; %s, and what it needs is computed anew in every step.",
    p.lanes > 1 and p.lanes .. " neighbouring rows" or "a row, or several share it",
    p.is_wide and "a warp has an element" or "a thread has an element")
end

-- A block a row, or LANES of them side by side; each step is a loop over the row.
local function plan_steps(k, c)
  local p = start_plan(k, c)
  local g = p.g
  p.kept, p.reduced = reduce.dims(k)
  p.lanes = lanes_of(k, c.threads)
  local kept = reduce.count(k, p.kept)
  p.n_kept = g:text(kept)
  plan_range(p)
  p.static_shared_bytes, p.locals, p.shared, p.is_wide = 0, {}, false, false
  p.run = not k.nested and has_long_rows(p) and RUN
  for _, step in ipairs(g.steps) do
    plan_elements(p, step, p)
    for _, value in ipairs(step.is_inner and step.values or {}) do
      p.locals[value.name] = value_name(p, value.name)
    end
    step.inner = function() return k.nested and inner_values(p, step) or "" end
    if step.reduces then
      plan_values(p, step)
      step.run = p.run and g:name("run" .. step.suffix) or step.mine
      step.n_run = p.run and g:name("n_run" .. step.suffix)
      p.static_shared_bytes = p.static_shared_bytes + (step.is_idle and 0 or c.threads * step.bytes)
      p.definitions = kit.concat { p.definitions, step.definitions }
    end
  end
  p.is_first = "group == 0"
  p.emitted = kit.map(g.steps, function(step) return not step.is_idle and step or nil end)
  p.held_before = declare_held_once(p, "row_index < " .. p.n_kept)
  p.declare_row = function(step)
    return kit.concat(kit.map(step.values, function(value)
      return value.cuda .. " " .. value_name(p, value.name) .. ";"
    end))
  end
  p.traffic = traffic(p, p.lanes > 1 and p.kept[#p.kept] or p.reduced[#p.reduced] or #k.dims)
  p.grid = kit.ceil_div(kept + 0 * k.extents[1], p.lanes)
  p.doc = string.gsub(share_text(p, c.threads, "a row", "rows"), "%.$", "")
    .. "; every step reads its elements again."
  if k.nested then
    plan_nested(p, kept)
  end
  return g:plan(p)
end

-- How many threads may leave each other their partials in shared memory.
local function most_threads(k)
  local g, bytes = cuda.new(setmetatable({ words = {} }, { __index = k }), "direct", 32), 0
  if k.reduces or k.scan then
    bytes = select(2, reduce.slots(g))
  end
  for _, step in ipairs(g.steps or {}) do
    bytes = bytes + (step.reduces and select(2, reduce.value_slots(step)) or 0)
  end
  return (k.device.smem_block_bytes - SHARE_BYTES) // math.max(bytes, 1)
end

-- Threads a block, the naive variant's first: 256, or where one has all that becomes an output, the
-- warps that this keeps busy; fewer where shared memory has no room for more.
local function threads(k)
  local list, most = k.scan and { 1024, 256, 512 } or { 256, 128, 512, 1024 }, 0
  local by_rows = k.reduces or k.steps or k.scan
  for _, extents in ipairs(by_rows and k.sizes or {}) do
    local count = 1
    for d = 1, #k.dims do
      count = count * (reduce.joins(k, d) and extents[d] or 1)
    end
    most = math.max(most, count)
  end
  for _, few in ipairs(by_rows and lanes_of(k, 0) == 1 and { 128, 64, 32 } or {}) do
    if most <= few then
      list = { few, 256, 512, 1024 }
    end
  end
  local room = by_rows and most_threads(k) or 1024
  local function fit(n) return n <= room and n or nil end
  local fits = kit.map(list, fit)
  return #fits > 0 and fits or { kit.map({ 128, 64 }, fit)[1] or 32 }
end

return {
  name = "direct",
  doc = "The naive kernel: one thread per element, or one or several blocks per reduced element; "
    .. "direct accesses.",
  applies = {},
  splits = "none", -- it is right at all extents
  taps = true,
  reduces = true,
  steps = true,
  nested = true,
  accumulates = true,
  scans = true,
  ragged = true,
  axes = function(k)
    return { { "threads", threads(k), key = "threads=", doc = "threads per block" } }
  end,
  where = {},
  template = "direct.cu",
  plan = function(k, c)
    local made = k.steps and plan_steps or k.reduces and plan_reduction or k.scan and plan_scan
      or k.ordered and plan_ordered
    return (made or plan_map)(k, c)
  end,
}
