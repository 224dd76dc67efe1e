-- boxes: the schedule of n-d permutes. A tile is a box of the index space: all of the fastest
-- dimensions of the inputs and of the outputs, as many as make runs that are worth moving, and
-- chunks of the last of them. A thread's elements lie at the same places of every tile of one size,
-- so a block works these places out once and takes several tiles. templates/box.cu is the text.
--
-- Dimensions are numbers into k.dims; an order lists them, fastest first. What the text calls
-- len_k, box_k, first_k, ... has its meaning as an expression beside it (p.len[d], ...).
local boxes = {}

-- ---- what a kernel is ----

-- Values of all extents at size n, for E.eval; at least `least`.
local function bind(k, n, least)
  local list = {}
  for m, value in ipairs(k.given[n]) do
    list[m] = m % 2 == 0 and math.max(value, least) or value
  end
  return list
end

-- The dimensions along which an operand moves, fastest first, by their steps at the largest size.
local function order_of(k, steps)
  local values, order, bytes = {}, {}, {}
  for n = 1, #k.sizes do
    for e, value in ipairs(bind(k, n, 2)) do
      values[e] = e % 2 == 0 and math.max(values[e] or 0, value) or value
    end
  end
  for d, step in ipairs(steps) do
    bytes[d] = E.eval(step, values)
    if bytes[d] ~= 0 then
      order[#order + 1] = d
    end
  end
  table.sort(order, function(x, y)
    return bytes[x] < bytes[y] or (bytes[x] == bytes[y] and x > y)
  end)
  return order
end

local function steps_of(k, op)
  local steps = {}
  for d = 1, #k.dims do
    local step = strides.step(k, op, 1, d)
    if not step or E.divisor(step) % op.record.bytes ~= 0 or reads.named(k.body, k.dims[d]) then
      return nil
    end
    steps[d] = step
  end
  return steps
end

local function same_order(a, b)
  return table.concat(a, " ") == table.concat(b, " ")
end

-- Does the operand lie densely along the first dimension of `order`, and move along all?
local function is_whole(k, op, steps, order)
  return #order == #k.dims and kit.const_of(steps[order[1]]) == op.record.bytes
end

--- What a permute needs to know of kernel view `k`: steps (bytes, by operand and dimension), the
--- orders `out` of all outputs and `into` of the inputs that are exchanged, and which these are.
---@param k sectile.View
---@return table? about
---@return string? reason why the kernel is no permute
function boxes.about(k)
  local about = { steps = {}, exchanged = {} }
  local orders = {}
  for n, op in ipairs(k.operands) do
    if not op.record.bare or op.is_index or op.through_index then
      return nil, "an operand is a record or addressed through an index"
    end
    about.steps[n] = steps_of(k, op)
    if not about.steps[n] then
      return nil, "the body names a dimension, or an operand has no constant steps"
    end
    orders[n] = order_of(k, about.steps[n])
    if op.is_output then
      if not is_whole(k, op, about.steps[n], orders[n])
        or (about.out and not same_order(about.out, orders[n])) then
        return nil, "the outputs are not dense, or not in the same order"
      end
      about.out = orders[n]
    end
  end
  for n, op in ipairs(k.operands) do
    if not op.is_output and is_whole(k, op, about.steps[n], orders[n])
      and not same_order(orders[n], about.out)
      and (not about.into or same_order(about.into, orders[n])) then
      about.into = orders[n]
      about.exchanged[n] = true
    end
  end
  if not about.into then
    return nil, "inputs and outputs have the same order"
  end
  return about
end

--- The extents of the dimensions of `order` at every tuned size.
---@param k sectile.View
---@param order integer[]
---@return integer[][]
function boxes.extents(k, order)
  local list = {}
  for n = 1, #k.sizes do
    list[n] = {}
    for m, d in ipairs(order) do
      list[n][m] = E.eval(k.extents[d] + 0, bind(k, n, 0))
    end
  end
  return list
end

--- Bit m: a run of the m fastest dimensions of `order` is neither too short nor, without the last
--- of them, long enough already, at some tuned size.
---@param k sectile.View
---@param order integer[]
---@param enough integer elements
---@return integer
function boxes.good_modes(k, order, enough)
  local bits = 0
  for _, extents in ipairs(boxes.extents(k, order)) do
    local before = 1
    for m, extent in ipairs(extents) do
      if m <= 4 and before <= enough and (before * extent >= 24 or m == math.min(4, #order)) then
        bits = bits | 1 << m
      end
      before = before * extent
    end
  end
  return bits
end

-- ---- the plan ----

local function product(p, dims)
  local expr, texts = p.n[1] * 0 + 1, {} -- an expression, even of no dimension
  for n, d in ipairs(dims) do
    expr = expr * p.n[d]
    texts[n] = "n_" .. p.k.dims[d]
  end
  return expr, #texts > 0 and string.format("(int)(%s)", table.concat(texts, " * ")) or "1"
end

-- Which dimensions a tile has whole, in chunks, or one place of; and the orders in which loads and
-- stores run over it.
local function choose_dims(p, about, modes_in, modes_out)
  local last_in, last_out = about.into[modes_in], about.out[modes_out]
  local whole, inside = {}, {}
  p.whole, p.whole_in, p.whole_out, p.whole_in_only = {}, {}, {}, {}
  p.chunked, p.outer = {}, {}
  for n = 1, modes_out do
    inside[about.out[n]] = true
    if n < modes_out then
      whole[about.out[n]] = true
      p.whole_out[n] = about.out[n]
    end
  end
  for n = 1, modes_in do
    local d = about.into[n]
    if n < modes_in then
      p.whole_in[n] = d
      p.whole_in_only[#p.whole_in_only + 1] = not whole[d] and d or nil
    end
    inside[d] = true
    whole[d] = whole[d] or n < modes_in
  end
  if not whole[last_out] then
    p.chunked[1] = last_out
  end
  p.last_is_out = #p.chunked == 1
  if not whole[last_in] and last_in ~= last_out then
    p.chunked[#p.chunked + 1] = last_in
  end
  for d = 1, #p.k.dims do
    local list = whole[d] and p.whole or not inside[d] and p.outer
    if list then
      list[#list + 1] = d
    end
  end
  local function run_first(first, n_first, second)
    local order, taken = {}, {}
    for n, list in ipairs { first, second } do
      for m, d in ipairs(list) do
        if inside[d] and not taken[d] and (n == 2 or m <= n_first) then
          order[#order + 1], taken[d] = d, true
        end
      end
    end
    return order
  end
  p.order_in = run_first(about.into, modes_in, about.out)
  p.order_out = run_first(about.out, modes_out, about.into)
end

-- In how many steps of `run` elements a sector ends, or 1 if there is no room for so many: as an
-- expression and as text.
local function sector_steps(p, run, run_text, room, room_text)
  local sector, steps = math.max(32 // p.bytes, 1), p.n[1] * 0 + 1
  local n = 2
  while n <= sector do
    steps = steps:max((run % n):ne(0) * (2 * sector // n))
    n = n * 2
  end
  return (steps * steps:le(room)):max(1),
    string.format("sector_steps<%d>(%s, %s)", sector, run_text, room_text)
end

-- The largest power of two up to `most` that divides dimension d at some tuned size.
local function whole_part(k, d, most)
  local part = 1
  for _, extents in ipairs(boxes.extents(k, { d })) do
    part = math.max(part, kit.word_bytes(math.max(extents[1], 1), most))
  end
  return part
end

-- Declares box_<dim>, how much of dimension d a tile has: chunks of about equal length, of at most
-- `room`. One step along d are `run` elements of a run; a unit along the fastest dimension is whole
-- sectors and words (p.even: less where no tuned size has rows of whole sectors, so that chunks may
-- be equal), along others as many steps as end with a sector.
local function chunk(p, d, room, room_text, run, run_text)
  local n, name = p.n[d]:max(1), p.k.dims[d]
  local unit = math.max(32 // p.bytes, p.vec_in, p.vec_out, 1)
  if p.even then
    unit = math.max(whole_part(p.k, d, unit), d == p.order_in[1] and p.vec_in or 1,
      d == p.order_out[1] and p.vec_out or 1)
  end
  local unit_text = tostring(unit)
  if d ~= p.order_in[1] and d ~= p.order_out[1] then
    unit, unit_text = sector_steps(p, run, run_text, room, room_text)
  end
  local most = (room // unit):max(1) * unit
  local count = kit.ceil_div(n, most)
  p.box[d] = (kit.ceil_div(kit.ceil_div(n, count), unit) * unit):min(n)
  p.lines[#p.lines + 1] = string.format("const int unit_%s = %s;", name, unit_text)
  p.lines[#p.lines + 1] = string.format("const int most_%s = max(1, %s / unit_%s) * unit_%s;",
    name, room_text, name, name)
  p.lines[#p.lines + 1] = string.format("const int box_%s = box_of((int)n_%s, most_%s, unit_%s);",
    name, name, name, name)
  return math.type(unit) == "integer" and unit or 1
end

-- Declares the boxes, and requires that no tile has more elements than the block has room for.
local function choose_boxes(p, run)
  local whole, whole_text = product(p, p.whole)
  local out, out_text = product(p, p.whole_out)
  local into, into_text = product(p, p.whole_in)
  local room, room_text = p.room // whole:max(1), p.room_text .. " / whole_cells"
  p.lines[1] = string.format("const int whole_cells = %s; // what a tile has whole", whole_text)
  local most = whole
  if #p.chunked == 2 then
    local d = p.chunked[1]
    local unit = chunk(p, d, run // out:max(1), string.format("%d / %s", run, out_text), out,
      out_text)
    most = product(p, p.whole_in_only) * (out * unit):max(run)
    room = p.room // (p.box[d] * whole:max(1))
    room_text = string.format("%s / (whole_cells * box_%s)", p.room_text, p.k.dims[d])
  end
  local d = p.chunked[#p.chunked]
  if d and (#p.chunked == 2 or not p.last_is_out) then
    most = most * chunk(p, d, room, room_text, into, into_text)
  elseif d then
    most = most * chunk(p, d, room, room_text, out, out_text)
  end
  p.g:require(most:le(p.room))
end

local function is_in(list, value)
  for _, one in ipairs(list) do
    if one == value then
      return true
    end
  end
  return false
end

-- The dimensions that tiles are counted along, fastest first: chunks and outer ones in the order of
-- the inputs (a) or of the outputs (b).
local function grid_order(p, order)
  local list = {}
  for _, d in ipairs(order == "a" and p.about.into or p.about.out) do
    if p.box[d] or is_in(p.outer, d) then
      list[#list + 1] = d
    end
  end
  return list
end

local function declare_steps(p)
  for _, op in ipairs(p.g.ops) do
    for d, name in ipairs(p.k.dims) do
      p.lines[#p.lines + 1] = string.format("const int %s_step_%s = (int)(%s);", op.name, name,
        E.text(p.about.steps[op.number][d] // op.record.bytes, true))
    end
  end
end

-- Counts the tiles. With `rounds` there are so many blocks that each has about as many of them:
-- any number of blocks will do, so it need not be exact, there are as many tiles as full ones would
-- be, and as places of the outer dimensions. Without, each tile is a block's.
local function count_tiles(p, order, rounds)
  local g, k, lines, texts = p.g, p.k, p.lines, {}
  local total = product(p, {})
  p.counts = {}
  for n, d in ipairs(grid_order(p, order)) do
    local name = k.dims[d]
    local c = { d = d, count = p.n[d], text = "(int)n_" .. name, box = p.box[d] }
    if c.box then
      c.count, c.text = kit.ceil_div(p.n[d]:max(1), c.box), "chunks_" .. name
      lines[#lines + 1] = string.format("const int chunks_%s = ((int)n_%s + box_%s - 1) / box_%s;",
        name, name, name, name)
    end
    total = total * c.count
    texts[n], p.counts[n] = c.text, c
  end
  local elements = product(p, {})
  for d = 1, #k.dims do
    elements = elements * p.n[d]
  end
  if not rounds then
    g.grid = total:min(elements) -- 0 where there is nothing to do
    return
  end
  local outer = product(p, p.outer):min(elements)
  g.grid = kit.ceil_div(kit.ceil_div(elements, p.cells):max(outer), rounds)
  p.count = (total - g.block + g.grid - 1) // g.grid
  lines[#lines + 1] = string.format("const int tiles = %s;",
    #texts > 0 and table.concat(texts, " * ") or "1")
  lines[#lines + 1] = "const int rounds = (tiles - block + blocks - 1) / blocks; // of this block"
end

-- Lines that take the tile number `rest` apart: how long its chunks are, where it starts in every
-- array, set by the statements `set_chunk` and `set_start` (%s: the dimension, the array).
local function tile_lines(p, set_chunk, set_start)
  local k, counts, lines = p.k, p.counts, {}
  for n, c in ipairs(counts) do
    local name = k.dims[c.d]
    lines[#lines + 1] = string.format("const int first_%s = rest%s%s;", name,
      n < #counts and " % " .. c.text or "", c.box and " * box_" .. name or "")
    if n < #counts then
      lines[#lines + 1] = string.format("rest /= %s;", c.text)
    end
    if c.box then
      lines[#lines + 1] = string.format(set_chunk .. " = min(box_%s, (int)n_%s - first_%s);", name,
        name, name, name)
    end
  end
  for _, op in ipairs(p.g.ops) do
    local parts = {}
    local at = E.subst(op.offset[1], p.zeros) // op.record.bytes
    if kit.const_of(at) ~= 0 then
      parts[1] = string.format("(int)(%s)", E.text(at, true))
    end
    for _, c in ipairs(counts) do
      parts[#parts + 1] = string.format("first_%s * %s_step_%s", k.dims[c.d], op.name, k.dims[c.d])
    end
    lines[#lines + 1] = string.format(set_start .. " = %s;", op.name,
      #parts > 0 and table.concat(parts, " + ") or "0")
  end
  return kit.concat(lines)
end

-- Text by which lane r finds the block's r-th tile from here on: where it starts in every array,
-- how long its chunks are. Sets p.find and declares its results.
local function find_tiles(p)
  local results = {}
  for _, c in ipairs(p.counts) do
    results[#results + 1] = c.box and "chunk_" .. p.k.dims[c.d] .. " = 0" or nil
  end
  for _, op in ipairs(p.g.ops) do
    results[#results + 1] = op.name .. "_first = 0"
  end
  p.lines[#p.lines + 1] = "int " .. table.concat(results, ", ") .. ";"
  p.find = kit.concat {
    "if (round % 32 == 0) { // lane r finds the r-th tile from here: where it starts, its chunks",
    "  int rest = block + min(round + lane, rounds - 1) * blocks;",
    tiles.indent(tile_lines(p, "chunk_%s", "%s_first"), 2), "}",
  }
end

-- Text that finds the block's only tile.
local function find_tile(p)
  p.lines[#p.lines + 1] = "int rest = block;"
  p.lines[#p.lines + 1] = tile_lines(p, "const int len_%s", "const int %s_start")
end

--- What the round at hand means: first_<dim> and len_<dim> of its tile as expressions.
function boxes.enter_tile(p, round)
  local rest = p.g.block + round * p.g.grid
  p.first, p.len = {}, {}
  for n, c in ipairs(p.counts) do
    local digit = n < #p.counts and rest % c.count or rest
    rest = rest // c.count
    p.first[c.d] = c.box and digit * c.box or digit
    p.len[c.d] = c.box and c.box:min(p.n[c.d] - p.first[c.d])
  end
  for _, d in ipairs(p.whole) do
    p.first[d], p.len[d] = 0, p.n[d]
  end
  p.cells_of_tile = 1
  for _, d in ipairs(p.order_in) do
    p.cells_of_tile = p.cells_of_tile * p.len[d]
  end
end

--- Ties the dimensions' variables to element `cell` of the tile, counted in `order`; returns each
--- dimension's place in the tile.
function boxes.tie_cell(p, order, cell)
  local rest, digits = cell, {}
  for n, d in ipairs(order) do
    digits[d] = n < #order and rest % p.len[d] or rest
    rest = rest // p.len[d]
    p.g:tie(p.k.index[d], p.first[d] + digits[d])
  end
  for _, d in ipairs(p.outer) do
    p.g:tie(p.k.index[d], p.first[d])
  end
  return digits
end

--- Lines that take element number `cell_left` of the tile apart: at_<dim>, its place along each.
---@param p table
---@param order integer[]
---@return string
function boxes.place_lines(p, order)
  local lines = {}
  for n, d in ipairs(order) do
    local name = p.k.dims[d]
    if n == #order then
      lines[n] = string.format("const int at_%s = cell_left;", name)
    else
      lines[n] = string.format("const int next_%s = quotient(cell_left, factor_%s), "
        .. "at_%s = cell_left - next_%s * len_%s;\ncell_left = next_%s;", name, name, name, name,
        name, name)
    end
  end
  return kit.concat(lines)
end

--- Sum of place times step of `op` over the tile's dimensions.
---@param p table
---@param order integer[]
---@param op sectile.Operand
---@return string
function boxes.offset_text(p, order, op)
  local parts = {}
  for n, d in ipairs(order) do
    parts[n] = string.format("at_%s * %s_step_%s", p.k.dims[d], op.name, p.k.dims[d])
  end
  return table.concat(parts, " + ")
end

--- Where element number `e` of the tile, in load order, lies in shared memory: elements that are a
--- power of two apart fall into different banks.
---@param e sectile.Expr
---@param bytes integer of an element
---@return sectile.Expr
function boxes.swizzled(e, bytes)
  local row = math.max(128 // bytes, 1)
  local lanes = math.min(32, row)
  local turn = (e // row):xor(e // (row * lanes)) % lanes
  return e:xor(turn * (row // lanes))
end

--- What a round knows of its tile: the chunks' lengths, how many elements, where it starts in every
--- array; each a pair of name and text.
local function facts_of_tile(p)
  local facts, lens = {}, {}
  for n, d in ipairs(p.chunked) do
    local name = p.k.dims[d]
    facts[n] = { "len_" .. name, "before_" .. name,
      string.format("__shfl_sync(~0u, chunk_%s, round)", name) }
  end
  for n, d in ipairs(p.order_in) do
    lens[n] = "len_" .. p.k.dims[d]
  end
  facts[#facts + 1] = { "tile_cells", "cells_before", table.concat(lens, " * ") }
  for _, op in ipairs(p.g.ops) do
    facts[#facts + 1] = { op.name .. "_start", op.name .. "_before",
      string.format("__shfl_sync(~0u, %s_first, round)", op.name) }
  end
  return facts
end

local function each(p, format, names)
  local lines = {}
  for n, fact in ipairs(facts_of_tile(p)) do
    local values = {}
    for m, which in ipairs(names) do
      values[m] = fact[which]
    end
    lines[n] = string.format(format, table.unpack(values))
  end
  return lines
end

--- Lines that find a round's tile: they set len_<dim>, tile_cells and <array>_start.
---@param p table
---@return string
function boxes.open_tile(p)
  return p.find .. "\n" .. kit.concat(each(p, "%s = %s;", { 1, 3 }))
end

--- The declaration of what boxes.open_tile sets.
---@param p table
---@return string
function boxes.declare_tile(p)
  return "int " .. table.concat(each(p, "%s = 0", { 1 }), ", ") .. ";"
end

--- Lines that keep it for the next round, under names of their own.
---@param p table
---@return string
function boxes.keep_tile(p)
  return kit.concat(each(p, "const int %s = %s;", { 2, 1 }))
end

--- Lines that give it its names again, in a scope of their own.
---@param p table
---@return string
function boxes.reopen_tile(p)
  return kit.concat(each(p, "const int %s = %s;", { 1, 2 }))
end

--- Names of the variables that remember for which size of a tile a side's places were made.
---@param p table
---@param side "in"|"out"
---@return string declaration
function boxes.remember(p, side)
  local names = {}
  for n, d in ipairs(p.chunked) do
    names[n] = string.format("%s_%s = 0", side, p.k.dims[d])
  end
  return #names > 0 and "int " .. table.concat(names, ", ") .. ";" or ""
end

--- Text that works out where this thread's elements lie in a tile, when its size is another one
--- than before: `assign` are the lines of one element, over at_<dim>.
---@param p table
---@param side "in"|"out"
---@param order integer[] the elements' order
---@param vec integer neighbours that move as one
---@param assign string
---@param more? table what else the places depend on: `tests` (when it is another one than before)
--- and `lines` (which remember it); `cell`: text of the first neighbour's number; `factors`: they
--- are declared
---@return string
function boxes.find_places(p, side, order, vec, assign, more)
  local tests, lines = {}, {}
  for n, d in ipairs(p.chunked) do
    local name = p.k.dims[d]
    tests[n] = string.format("len_%s != %s_%s", name, side, name)
    lines[n] = string.format("%s_%s = len_%s;", side, name, name)
  end
  for n = 1, more and more.factors and 0 or #order - 1 do
    local name = p.k.dims[order[n]]
    lines[#lines + 1] = string.format("const unsigned int factor_%s = factor_of(len_%s);", name,
      name)
  end
  for n, test in ipairs(more and more.tests or {}) do
    tests[#tests + 1], lines[#lines + 1] = test, more.lines[n]
  end
  local first = side == "in" and "round == 0" or p.first_out
  local test = #tests > 0 and table.concat(tests, " || ") or first
  local why = "// where this thread's elements lie in a tile of this size"
  return kit.concat {
    more and string.format("%s, with this start\nif (%s) {", why, test)
      or string.format("if (%s) { %s", test, why),
    tiles.indent(kit.concat(lines), 2),
    "#pragma unroll",
    string.format("  for (int turn = 0; turn < %d; turn++) {", p.cells // p.threads // vec),
    string.format("    int cell_left = %s;", more and more.cell
      or string.format("(member + turn * kThreads)%s", vec > 1 and " * " .. vec or "")),
    tiles.indent(boxes.place_lines(p, order), 4),
    tiles.indent(assign, 4),
    "  }",
    "}",
  }
end

--- The first `n` dimensions of `order`, for the kernel's comment.
---@param p table
---@param order integer[]
---@param n integer
---@return string
function boxes.names(p, order, n)
  local list = {}
  for m = 1, n do
    list[m] = p.k.dims[order[m]]
  end
  return table.concat(list, ", ")
end

--- A plan: c.modes_in and c.modes_out dimensions make the runs of inputs and outputs, c.items
--- elements a thread, c.rounds tiles a block (nil: one, which is found where the kernel begins),
--- c.run elements that an output's run should have.
---@param k sectile.View
---@param about table boxes.about(k)
---@param c table the candidate
---@param kernel string
---@param room? table { elements that a tile may have, as text }; default: all that threads take;
--- even: chunks need not be whole sectors where rows do not start at them
---@return table p
function boxes.start(k, about, c, kernel, room)
  local g = kit.new(k, kernel, c.threads)
  g.hint = c.hint
  local cells = c.items and c.threads * c.items or room[1]
  local p = {
    g = g, k = k, kernel = kernel, about = about, threads = c.threads, items = c.items,
    cells = cells, vec_in = c.vec_in, vec_out = c.vec_out, n = k.extents,
    bytes = tiles.largest(k), box = {}, lines = {}, zeros = {}, room = room and room[1] or cells,
    room_text = room and room[2] or "kCells", even = room and room.even,
  }
  for _, index in ipairs(k.index) do
    p.zeros[#p.zeros + 1], p.zeros[#p.zeros + 2] = index, 0
  end
  for _, op in ipairs(g.ops) do -- places are ints
    g:require((op.bytes + 0):le((1 << 31) * op.record.bytes - 1))
  end
  choose_dims(p, about, c.modes_in, c.modes_out)
  choose_boxes(p, c.run)
  declare_steps(p)
  count_tiles(p, c.order, c.rounds)
  if c.rounds then
    find_tiles(p)
  else
    find_tile(p)
  end
  for _, d in ipairs(p.whole) do
    p.lines[#p.lines + 1] = string.format("const int len_%s = (int)n_%s;", k.dims[d], k.dims[d])
  end
  p.cut = kit.concat(p.lines)
  g.needs.quotient = true
  return p
end

--- Whether `width` elements of `op` along dimension d can move as a word; requires what must hold
--- of the extents.
---@param p table
---@param op sectile.Operand
---@param d integer
---@param width integer
---@return boolean? good
---@return string? reason
function boxes.adopt_word(p, op, d, width)
  local steps, bytes = p.about.steps[op.number], op.record.bytes
  if width == 1 then
    return true
  elseif width * bytes > 16 or kit.const_of(steps[d]) ~= bytes then
    return nil, "a group is wider than 16 bytes or not contiguous"
  elseif E.divisor(E.subst(op.offset[1], p.zeros)) % (width * bytes) ~= 0 then
    return nil, "rows do not start on a word"
  end
  for other, step in ipairs(steps) do
    if other ~= d and E.divisor(step) % (width * bytes) ~= 0 then
      p.g:require((step // bytes % width):eq(0))
    end
  end
  p.g:require((p.n[d] % width):eq(0))
  p.g:need_align(op, width * bytes)
  p.g.needs.words, p.g.needs.at = true, true
  return true
end

return boxes
