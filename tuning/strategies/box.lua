-- box: inputs and outputs run along the same modes in other orders, but the modes that only one of
-- them begins with are too short for a tile of two sides (exchange). A block has a box of elements:
-- all places along short modes, some along long ones. It comes in as the inputs lie and goes out as
-- the outputs lie, through shared memory, in vectors where both begin with the same mode. A thread
-- finds its place on either side once and goes on from there by steps.
local WARP, BANKS, LINE = 32, 32, 128
local ODD = 1024 -- bytes; shorter runs that are no whole sectors are better moved as boxes

local function axes(k)
  local width = boxes.width(k)
  local view = boxes.in_vectors(k, width)
  local about, bytes = boxes.read(view), boxes.widest(k) * width
  local into, out = boxes.sides_at(view, about)
  local list = boxes.list(view.sizes[1], into, out, bytes, width)
  local can_copy = k.device.cc >= 80 and not kit.any(k.operands, function(op, n)
    return about.is_exchanged[n] and op.record.bytes * width < 4
  end)
  return {
    { "threads", { 512, 256 }, key = "threads=", doc = "threads per block, at most" },
    { "box", #list > 0 and list or { "none" }, key = "box=",
      doc = "elements of a box along the modes, slowest first" },
    { "items", { 4, 1, 2, 8, 16 }, key = "items=",
      doc = "boxes of a block, neighbours along one more mode, at most" },
    { "load", can_copy and { "registers", "async" } or { "registers" },
      key = "load=", doc = "async: asynchronous copies; registers: all loads of a thread first" },
    { "evict", { "loads", "none", "stores" }, key = "evict=",
      doc = "loads, stores: L2 evict-last policy for these" },
    { "vec", { width }, key = "vec=",
      doc = "elements of a vector along the mode that both sides begin with" },
  }
end

-- ---- the plan ----

-- How many wavefronts the first warps take that read neighbours of the outputs; `step`: how far
-- neighbours along each mode are kept from each other.
local function conflicts(p, step)
  local word, total = math.max(4 // p.bytes, 1), 0
  for start = 0, math.min(p.count, 8 * WARP) - 1, WARP do
    local lines, rows = {}, {}
    for at = start, math.min(start + WARP, p.count) - 1 do
      local rest, place = at, 0
      for _, d in ipairs(p.about.out) do
        place, rest = place + rest % p.box[d] * step[d], rest // p.box[d]
      end
      local cell = place * math.max(p.bytes // 4, 1) // word
      if not lines[cell] then
        lines[cell], rows[cell % BANKS] = true, (rows[cell % BANKS] or 0) + 1
      end
    end
    local most = 0
    for _, n in pairs(rows) do
      most = math.max(most, n)
    end
    total = total + most
  end
  return total
end

-- Where an element of the box is kept: its number in the inputs' order, with padding below the
-- first mode of the outputs that the inputs do not begin with, such that neighbours along that meet
-- different banks.
local function keep(p)
  local inner, outer = {}, {}
  for n, d in ipairs(p.about.into) do
    inner[#inner + 1] = p.box[d] > 1 and d or nil
    outer[#outer + 1] = p.box[p.about.out[n]] > 1 and p.about.out[n] or nil
  end
  local mode, best = outer[1] == inner[1] and outer[2] or outer[1], nil
  for pad = 0, 4 * math.max(4 // p.bytes, 1) do
    local step, at = {}, 1
    for _, d in ipairs(p.about.into) do
      step[d] = at + (d == mode and pad or 0)
      at = step[d] * p.box[d]
    end
    local found = { step = step, apart = pad > 0 and mode, kept = at }
    found.wavefronts = conflicts(p, step)
    best = (not best or found.wavefronts < best.wavefronts) and found or best
  end
  p.step, p.kept, p.apart = best.step, best.kept, best.apart
end

-- Where the element is kept that the places along a side's parts name.
local function kept_text(p, side)
  local kept = 0
  for _, part in ipairs(side.parts) do
    kept = kept + p.step[part.dims[1]] * cuda.var(p.names[part.dims[1]])
  end
  return p.g:text(kept + 0)
end

-- Loads and stores of an operand; `vector`: the type of what it is moved in. What does not change
-- places may be no vector: then it has one value for all, or its elements are loaded one by one.
local function move_texts(p, x)
  local unit = kit.const_of(x.step(p.about.into[1]))
  local is_direct = not x.op.is_output and not p.about.is_exchanged[x.op.number]
  local extents = p.width > 1 and unit == p.width and boxes.vector_extents(p.k, x.op)
  x.vector = extents and string.format("vec<%s, kVec>", x.type) or x.type
  if extents then
    p.g:need_align(x.op, p.width * x.op.record.bytes)
    for _, extent in ipairs(extents) do
      p.g:require_multiple(extent, p.width)
    end
  end
  local one_by_one = p.width > 1 and not extents and unit ~= 0
  local at = one_by_one and string.format("&%s[%s]", x.from,
    p.g:text(x.step(p.about.into[1]) // p.width * cuda.var("e"))) or x.from
  x.load = string.format("%s<%s>(%s)", is_direct and "load" or cuda.LOADS[p.evict], x.vector, at)
  x.take = string.format("const %s %s = %s;", x.vector, x.value, x.load)
  x.store = string.format("%s(%s, %s);", cuda.STORES[p.evict], x.from, x.value)
  p.values[x.op.name] = x.value .. (extents and "[e]" or "")
  return one_by_one and p.by_element or is_direct and p.direct or x.op.is_output and p.results
    or p.exchanged
end

local function sort_operands(p)
  local g = p.g
  p.into = boxes.side_of(p, boxes.parts_of(p, p.about.into, function(n)
    return p.about.is_exchanged[n]
  end, p.apart))
  p.out = boxes.side_of(p, kit.map(p.about.out, function(d)
    return p.box[d] > 1 and { dims = { d }, extent = p.box[d] } or nil
  end))
  boxes.fit_threads(p)
  p.exchanged, p.direct, p.by_element, p.results, p.operands, p.values = {}, {}, {}, {}, {}, {}
  local cell_in, cell_out = kept_text(p, p.into), kept_text(p, p.out)
  for n, op in ipairs(g.ops) do
    local x = boxes.place_texts(p, op)
    kit.append(move_texts(p, x), x)
    p.operands[n] = x
    if p.about.is_exchanged[op.number] then
      x.tile, x.loaded = g:name(op.name .. "_box"), g:name(op.name .. "_in")
      x.put = string.format("%s[%s]", x.tile, cell_in)
      x.take = string.format("const %s %s = %s[%s];", x.vector, x.value, x.tile, cell_out)
      x.fetch = p.is_async and string.format("async_copy<%d>(&%s, %s);", op.record.bytes * p.width,
        x.put, x.from) or string.format("(guarded ? %s : %s[pass]) = %s;", x.put, x.loaded, x.load)
      x.start, x.go_on = boxes.moves(p, p.into, x)
      boxes.keep(p, x, p.kept, "what is kept of " .. op.name)
    else
      x.start, x.go_on = boxes.moves(p, p.out, x)
    end
  end
  p.compute = kit.concat { kit.each(p.by_element, "{take}"), g:call(p.values) }
  p.at_outputs = kit.append(kit.append(kit.append({}, table.unpack(p.direct)),
    table.unpack(p.by_element)), table.unpack(p.results))
end

local function refuse(p)
  local a_thread = kit.ceil_div(p.count, p.threads)
  for _, rule in ipairs {
    { p.count == 0, "no box fits shared memory" },
    { p.count == kit.product(p.size), "one box holds the whole array" },
    { p.along == nil, "no mode is left for several boxes" },
    { not p.is_async and (a_thread > 32 or a_thread * p.bytes > 128),
      "a thread would hold more than its registers take" },
    { a_thread > 64, "a thread would move more than 64 elements" },
    { p.is_async and p.evict == "loads", "asynchronous copies have no policy of L2" },
    { not p.is_async and p.evict == "stores", "where loads have a policy, stores gain by none" },
    { a_thread * p.width < 4, "a thread would move less than 4 elements" },
    { 2 * p.count <= p.threads, "a box has too few elements for the threads" },
    { p.evict ~= "none" and p.k.device.cc < 80, "policies of L2 need sm_80" },
  } do
    if rule[1] then
      return rule[2]
    end
  end
end

local DOC = "A block moves a box of %d %s (%s) through shared memory: in as inputs lie, out as "
  .. "outputs lie."

local function plan(k, c)
  local view = boxes.in_vectors(k, c.vec)
  local p = boxes.start(view, c, boxes.read(view), boxes.widest(k) * c.vec)
  p.is_async, p.is_wide = c.load == "async", c.vec > 1
  p.how = p.is_async and ", by asynchronous copies" or ": all loads before the first use"
  local reason = refuse(p)
  if reason then
    return nil, reason
  end
  boxes.begin(p, "box")
  p.row, p.guard = p.g:name("row"), "!guarded || "
  keep(p)
  sort_operands(p)
  if not sides.place_memory(p, 16) then
    return nil, "the boxes need more shared memory than a block has"
  end
  p.traffic = boxes.traffic(p, p.results, nil, 2 * #p.exchanged
    * kit.ceil_div(kit.product(p.k.extents) * math.max(p.bytes, 4), LINE))
  p.doc = DOC:format(p.count, p.width > 1 and "vectors" or "elements", table.concat(p.box, " x "))
  return p.g:plan(p)
end

return {
  name = "box",
  doc = "Inputs and outputs along the same short modes in other orders: boxes, exchanged through "
    .. "shared memory.",
  applies = kit.append(kit.append({}, table.unpack(boxes.APPLIES)), {
    "what runs along one side of an exchange, or along both, is short or of an odd length",
    function(k) return boxes.is_short(k, ODD) end,
  }),
  axes = axes,
  where = {},
  template = "box.cu",
  plan = plan,
}
