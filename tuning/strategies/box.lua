-- box: inputs and outputs run along the same modes in other orders, but the modes that only one of
-- them begins with are too short for a tile of two sides (exchange). A block has a box of elements:
-- all places along short modes, some along long ones. It comes in as the inputs lie and goes out as
-- the outputs lie, through shared memory; which element is which follows by division by constants.
local WARP, BANKS, LINE = 32, 32, 128
local ODD = 1024 -- bytes; shorter runs that are no whole sectors are better moved as boxes

local function axes(k)
  local about, bytes = boxes.read(k), boxes.widest(k)
  local into, out = boxes.sides_at(k, about)
  local list = boxes.list(k.sizes[1], into, out, bytes)
  local can_copy = k.device.cc >= 80 and not kit.any(k.operands, function(op, n)
    return about.is_exchanged[n] and op.record.bytes < 4
  end)
  return {
    { "threads", { 512, 256, 1024 }, key = "threads=", doc = "threads a block, at most" },
    { "box", #list > 0 and list or { "none" }, key = "box=",
      doc = "elements of a box along the modes, slowest first" },
    { "items", { 4, 1, 2, 8, 16 }, key = "items=",
      doc = "boxes of a block, neighbours along one more mode" },
    { "load", can_copy and { "registers", "async" } or { "registers" },
      key = "load=", doc = "async: asynchronous copies; registers: all loads of a thread first" },
    { "evict", { "loads", "none", "stores" }, key = "evict=",
      doc = "loads, stores: L2 gives up last what is loaded, or stored" },
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
-- outputs' first mode such that neighbours along that meet different banks.
local function keep(p)
  local best
  for pad = 0, 4 * math.max(4 // p.bytes, 1) do
    local step, below, at = {}, 1, 1
    for _, d in ipairs(p.about.into) do
      if d == p.about.out[1] then
        below, at = at, at + pad
      end
      step[d], at = at, at * p.box[d]
    end
    local found = { step = step, below = below, pad = pad, kept = at }
    found.wavefronts = conflicts(p, step)
    best = (not best or found.wavefronts < best.wavefronts) and found or best
  end
  p.step, p.kept = best.step, best.kept
  p.padding = best.pad > 0 and string.format(" + at / %d * %d", best.below, best.pad) or ""
end

-- How threads go over a side's parts: neighbouring threads have the elements of a unit, all of the
-- fastest parts, and keep their place in it from pass to pass; a pass moves `rows` units. nil:
-- threads go on from element to element.
local function units_of(p, parts)
  local unit, n = 1, 0
  while parts[n + 1] and unit * parts[n + 1].extent <= p.threads do
    n = n + 1
    unit = unit * parts[n].extent
  end
  if #parts < 2 or n == 0 or n == #parts then
    return nil
  end
  local count = p.count // unit
  return { size = unit, n = n, count = count, rows = math.min(p.threads // unit, count) }
end

-- How a side of the box is gone over: statements before the passes (`setup`) and in each (`find`),
-- the condition that an element is inside (`inside`), what declares its number `at` (`number`), and
-- `passes`.
local function side_of(p, parts)
  local units, side, inside = units_of(p, parts), { setup = "", number = "" }, {}
  for _, part in ipairs(parts) do
    local first, last = part.dims[1], part.dims[#part.dims]
    part.name = p.names[first]
    if p.size[last] % p.box[last] ~= 0 or not p.is_whole[last] then
      local below = part.extent // p.box[last]
      inside[#inside + 1] = string.format("%s < %s", part.name, p.left[last]
        .. (below > 1 and " * " .. below or ""))
    end
  end
  if units then
    side.setup = kit.concat(kit.append({
      string.format("// a row of %d elements by so many threads, %d row%s a pass", units.size,
        units.rows, units.rows > 1 and "s" or ""),
      string.format("const int %s = threadIdx.x %% %d, %s = threadIdx.x / %d;", p.column,
        units.size, p.first_row, units.size),
    }, table.unpack(boxes.find_digits(parts, 1, units.n, p.column))))
    local row = units.rows > 1 and string.format("pass * %d + %s", units.rows, p.first_row)
      or "pass"
    side.find = kit.concat(kit.append({ "const int " .. p.row .. " = " .. row .. ";" },
      table.unpack(boxes.find_digits(parts, units.n + 1, #parts, p.row))))
    side.passes = kit.ceil_div(units.count, units.rows)
    side.number = string.format("const int at = %s * %d + %s;", p.row, units.size, p.column)
    side.used, side.size = units.size * units.rows, units.size
    if units.count % units.rows ~= 0 then
      table.insert(inside, 1, p.row .. " < " .. units.count)
    end
  else
    side.find = kit.concat(kit.append({ "const int at = pass * kThreads + threadIdx.x;" },
      table.unpack(boxes.find_digits(parts, 1, #parts, "at"))))
  end
  if p.items > 1 and p.size[p.along] then
    inside[#inside + 1] = "item < " .. p.left[p.along]
  end
  side.inside = inside
  return side
end

-- Fits both sides to one number of threads.
local function fit_threads(p, sides_of_box)
  local used = 0
  for _, side in ipairs(sides_of_box) do
    used = math.max(used, side.used or 0)
  end
  p.g.threads = used > 0 and kit.ceil_div(used, WARP) * WARP or p.threads
  for _, side in ipairs(sides_of_box) do
    if side.used then
      if side.used < p.g.threads then
        table.insert(side.inside, 1, p.first_row .. " < " .. side.used // side.size)
      end
    else
      side.passes = kit.ceil_div(p.count, p.g.threads)
      if p.count % p.g.threads ~= 0 then
        table.insert(side.inside, 1, "at < kBox")
        p.uses_count = true
      end
    end
    side.inside = #side.inside > 0 and table.concat(side.inside, " && ") or "true"
  end
end

local function sort_operands(p)
  local g = p.g
  local parts_in = boxes.parts_of(p, p.about.into, function(n) return p.about.is_exchanged[n] end)
  local parts_out = kit.map(p.about.out, function(d)
    return p.box[d] > 1 and { dims = { d }, extent = p.box[d] } or nil
  end)
  p.into, p.out = side_of(p, parts_in), side_of(p, parts_out)
  fit_threads(p, { p.into, p.out })
  p.exchanged, p.direct, p.results, p.operands, p.values = {}, {}, {}, {}, {}
  for n, op in ipairs(g.ops) do
    local is_in = p.about.is_exchanged[op.number]
    local x = boxes.place_texts(p, op, is_in and parts_in or parts_out)
    local list = is_in and p.exchanged or op.is_output and p.results or p.direct
    list[#list + 1], p.values[op.name], p.operands[n] = x, x.value, x
    if is_in then
      x.tile, x.loaded = g:name(op.name .. "_box"), g:name(op.name .. "_in")
    end
    x.load = string.format("%s<%s>(&%s[%s])", cuda.LOADS[p.evict], x.type, x.from, x.at)
    x.store = string.format("%s(&%s[%s], %s);", cuda.STORES[p.evict], x.from, x.at, x.value)
  end
  local kept = 0
  for _, part in ipairs(parts_out) do
    kept = kept + p.step[part.dims[1]] * cuda.var(part.name)
  end
  local item = p.items > 1 and "item * kKept + " or ""
  p.kept_in, p.kept_out = item .. "at" .. p.padding, item .. g:text(kept + 0)
  p.each_item = p.items > 1 and "kItems" or false
  p.here = p.items > 1 and "[pass][item]" or "[pass]"
  for _, x in ipairs(p.exchanged) do
    x.declare_loaded = string.format("%s %s[%d]%s;", x.type, x.loaded, p.into.passes,
      p.items > 1 and "[kItems]" or "")
    x.put = string.format("%s[%s] = %s%s;", x.tile, p.kept_in, x.loaded, p.here)
    x.copy = string.format("async_copy<%d>(&%s[%s], &%s[%s]);", x.op.record.bytes, x.tile,
      p.kept_in, x.from, x.at)
  end
end

local function refuse(p)
  local a_thread = kit.ceil_div(p.count, p.threads) * p.items
  local held = p.threads > 512 and 16 or 32 -- of 64 registers that 1024 threads have
  for _, rule in ipairs {
    { p.count == 0, "no box fits shared memory" },
    { p.along == nil, "no mode is left for several boxes" },
    { not p.is_async and (a_thread > held or a_thread * p.bytes > 128),
      "a thread would hold more than its registers take" },
    { a_thread > 64, "a thread would move more than 64 elements" },
    { p.is_async and p.evict == "loads", "asynchronous copies have no policy of L2" },
    { a_thread < 4, "a thread would move less than 4 elements" },
    { 2 * p.count <= p.threads, "a box has too few elements for the threads" },
    { p.evict ~= "none" and p.k.device.cc < 80, "policies of L2 need sm_80" },
  } do
    if rule[1] then
      return rule[2]
    end
  end
end

local DOC = "A block moves %s of %s elements (%s) through shared memory: in as inputs lie, out as "
  .. "outputs lie."

local function plan(k, c)
  local about, reason = boxes.read(k)
  local p = about and boxes.start(k, c, about, boxes.widest(k))
  if not p then
    return nil, reason
  end
  p.is_async, p.uses_count = c.load == "async", false
  reason = refuse(p)
  if reason then
    return nil, reason
  end
  boxes.begin(p, "box")
  p.row, p.column, p.first_row = p.g:name("row"), p.g:name("column"), p.g:name("first_row")
  keep(p)
  sort_operands(p)
  for _, x in ipairs(p.exchanged) do
    boxes.keep(p, x, p.kept * p.items, "what is kept of " .. x.op.name)
  end
  if not sides.place_memory(p, 16) then
    return nil, "the boxes need more shared memory than a block has"
  end
  p.compute = p.g:call(p.values)
  p.traffic = boxes.traffic(p, p.results, nil, 2 * #p.exchanged
    * kit.ceil_div(kit.product(p.k.extents) * math.max(p.bytes, 4), LINE))
  p.doc = DOC:format(p.items > 1 and p.items .. " boxes" or "a box", p.count,
    table.concat(p.box, " x "))
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
