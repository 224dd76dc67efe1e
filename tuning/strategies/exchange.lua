-- exchange: inputs run along some modes, outputs along others. The modes that each side runs along
-- are merged: a tile is kTileX neighbours along side X (the inputs') by kTileY along side Y (the
-- outputs'), cut anywhere, and is exchanged through shared memory. Where a line of the tile lies is
-- found by division, once a line, where a side has several modes. The other modes are over blocks.
--
-- Lines come in as vectors through registers, swizzled, or unchanged by asynchronous
-- copies of 16 bytes, wherever they start. Elements of 1 and 2 bytes are turned in registers, 4 x 4
-- or 2 x 2, so that shared memory holds words along Y.
--
-- Outputs that run along X as well go the way back: results are left in shared memory as they are
-- computed, and stored as lines come in. Inputs that run along Y are loaded as outputs are stored.
local SECTOR, LINE, COPY = 32, 128, 16

local function with(list, more)
  for _, value in ipairs(more) do
    list[#list + 1] = not kit.has(list, value) and value or nil
  end
  return list
end

local function tiles_of(k, about, bytes)
  local list = {}
  for _, x in ipairs(sides.tile_extents(k, about.X)) do
    for _, y in ipairs(sides.tile_extents(k, about.Y)) do
      local all, ratio = x * y * bytes, math.max(x, y) / math.min(x, y)
      local most = #about.X.dims + #about.Y.dims > 2 and math.min(x, y) == 32 and 16 or 4
      if all >= 4096 and all <= 65536 and (ratio <= most or math.min(x, y) < 32) then
        list[#list + 1] = x .. "x" .. y
      end
    end
  end
  local shared = sides.shared(k, about)
  for _, most in ipairs(shared and { 28, 56 } or {}) do
    local chunk = shared.chunk(most * 1024 // bytes)
    list = with(list, chunk > 0 and { shared.inner * chunk .. "x" .. shared.run } or {})
  end
  return #list > 0 and list or { "32x32" } -- the sides are short
end

-- Widths of loads or stores in elements: those that are the widest at some tuned size; of small
-- elements half of the widest, too. Is one of them less than a word of 16 bytes?
local function widths_of(k, about, side, most)
  local list = sides.widths(k, about, side, 16 // most)
  local narrow = list[#list] * most < 16
  if most < 4 and list[1] * most == 16 then
    list = with(list, { 8 // most })
  end
  return list, narrow
end

local function axes(k)
  local about = sides.read(k)
  local most, least = sides.bytes_of(k, about)
  local of_x, of_y = sides.element_bytes(k, about, about.X), sides.element_bytes(k, about, about.Y)
  local loads, narrow_in = widths_of(k, about, about.X, of_x)
  local stores, narrow_out = widths_of(k, about, about.Y, of_y)
  local starts = narrow_out and not about.both and { "any", "sector" } or { "any" }
  if narrow_out and not about.both then
    stores = with(stores, { math.max(4 // most, 1) })
  end
  if (narrow_in or narrow_out) and not about.both and most == least and most <= 8
    and k.device.cc >= 80 then
    loads = with(loads, { "lines" })
  end
  return {
    { "threads", { 256, 512, 128 }, key = "threads=", doc = "threads a block" },
    { "tile", tiles_of(k, about, math.max(of_x, of_y)), key = "tile=",
      doc = "elements of a tile along the inputs' modes, and along the outputs'" },
    { "load", loads, key = "load=",
      doc = "elements in a load; lines: asynchronous copies, wherever lines start" },
    { "store", stores, key = "store=", doc = "elements in a store" },
    { "start", starts, key = "start=",
      doc = "where stores of a column start; sector: at a multiple of 32 bytes" },
    { "blocks", #about.rest > 0 and { "out", "tiles", "in" } or { "out", "in" }, key = "blocks=",
      doc = "consecutive blocks follow the outputs, the inputs, or the tile's sides first" },
    { "evict", { "loads", "none", "stores" }, key = "evict=",
      doc = "loads, stores: L2 gives up last what is loaded, or stored" },
  }
end

-- ---- the plan: operands ----

local function adopt_exchanged(p, op)
  local type = p.g:type(op)
  local x = {
    op = op, type = type, tile = p.g:name(op.name .. "_tile"), loaded = p.g:name(op.name .. "_in"),
    value = p.g:name(op.name .. "_v"), elems = p.g:text(op.bytes // op.record.bytes),
    rows_of_words = p.pack > 1 and "[kPack]" or "", declare_from = "",
  }
  x.vtype = both.vec_type(type, p.store, "kStore")
  x.loaded_type = both.vec_type(type, p.load, "kLoad")
  x.zero = x.loaded_type == type and op.record.bare and kit.zero(op.record.fields[1])
    or x.loaded_type .. "()"
  x.memory = both.add_tile(p, op, x.tile)
  p.exchanged[#p.exchanged + 1] = x
  if p.is_lines then
    p.g:need_align(op, COPY)
  elseif not both.require_vectors(p, op, p.X, p.load) then
    return nil, op.name .. ": its lines do not start at a vector"
  end
  return true
end

local function adopt_output(p, op)
  local type = p.g:type(op)
  local y = { op = op, type = type, value = p.g:name(op.name .. "_v"), pointer = op.pointer }
  y.vtype = both.vec_type(type, p.store, "kStore")
  p.results[#p.results + 1] = y
  if p.sector > 0 then
    p.g:need_align(op, SECTOR)
    local first, x = p.g.outputs[1], cuda.var("x")
    if not p.linear[op.number].y or op.record.bytes ~= first.record.bytes
      or kit.const_of(sides.element(p, op, x, 0) - sides.element(p, first, x, 0)) ~= 0
    then
      return nil, op.name .. ": its columns do not start where those of " .. first.name .. " do"
    end
  elseif not both.require_vectors(p, op, p.Y, p.store) then
    return nil, op.name .. ": its columns do not start at a vector"
  end
  return true
end

-- An input that is read where it is needed: once a column, in vectors, or element by element.
local function adopt_direct(p, op)
  local moves = kit.any(p.Y.dims, function(d)
    return kit.const_of(p.about.steps[op.number][d]) ~= 0
  end)
  local wide = moves and both.moves_wide(p, op)
  if p.holds and (wide or p.store == 1) and sides.is_straight(p.k, p.about, op.number) then
    return both.adopt_straight(p, op)
  end
  local value = p.g:name(op.name .. "_v")
  local x = { op = op, value = value, element = value, declare = "", declare_element = "" }
  if wide then
    local type = both.vec_type(p.g:type(op), p.store, "kStore")
    x.element, x.declare = value .. "[e]", string.format("const %s %s = load<%s>(&%s);", type,
      value, type, sides.place(p, op))
    p.direct[#p.direct + 1] = x
    return
  end
  local text = string.format("const %s %s = load<%s>(&%s);", p.g:type(op), x.value, p.g:type(op),
    sides.place(p, op, moves and p.store > 1))
  x[moves and "declare_element" or "declare"] = text
  x.declare_some, x.take_element = x.declare, ""
  p.direct[#p.direct + 1] = x
end

-- ---- the plan: texts ----

-- Text: where the first element of a line (a variable) is kept.
local function row_text(p, x, line)
  local name = x.op.name
  return p.linear[x.op.number].y and string.format("kept_at(%s, %s_first + %s * %s_step)", line,
    name, line, name) or string.format("%s[%s]", x.rows, line)
end

local function texts_of_lines(p, x)
  local op, by = x.op, p.linear[x.op.number]
  local first_x = cuda.var(p.X.first)
  if by.y then
    local start = sides.element(p, op, first_x, cuda.var(p.Y.at))
    x.line_start = p.g:text(start)
    local step = sides.step(p, op, 0, 1)
    -- of a whole tile another line follows the last, so that no word crosses the array's end
    x.inside = E.eval(step + 0, p.k.given[1]) > 0
    local zero = sides.element(p, op, first_x, cuda.var(p.Y.first))
    x.row_setup = kit.concat {
      string.format("// where line 0 of %s starts, and how far apart lines are, modulo kStart",
        op.name),
      string.format("const unsigned int %s_first = %s;", op.name, p.g:text(
        p.sector > 0 and zero - cuda.var("kAhead") * step or zero)),
      string.format("const unsigned int %s_step = %s;", op.name, p.g:text(step)),
    }
  else
    x.line_start = by.line .. "[line]"
    x.rows = p.g:name(op.name .. "_row")
    local t = p.tables[1]
    t.entries[#t.entries + 1] = { name = x.rows,
      value = string.format("kept_at(line, (unsigned int)%s[line])", by.line) }
    p.memory[#p.memory + 1] = { name = x.rows, type = "int", count = "kLines",
      bytes = 4 * p.lines_of_tile, doc = "where the lines start in the tile" }
    x.row_setup = ""
  end
  x.copied = string.format("(int)min(16ll, (%s - from) * (int)sizeof(%s))", x.elems, x.type)
  if x.inside then
    x.copied = "guarded ? " .. x.copied .. " : 16"
  end
end

-- Texts that move a vector of an exchanged input from global memory to the tile.
local function texts_in(p, x)
  local op = x.op
  if p.is_lines then
    return texts_of_lines(p, x)
  end
  local from
  from, x.declare_from = both.place_on_line(p, op, "const " .. x.type, "_from")
  x.load = string.format("%s<%s>(&%s)", cuda.load_name(op, cuda.LOADS[p.evict]), x.loaded_type,
    from)
  if p.pack > 1 then
    local words = p.rows and p.chunk or 1
    x.put = kit.concat {
      "alignas(16) unsigned int columns[kLoad];",
      string.format("%s(reinterpret_cast<const unsigned int (&)[kPack][kLoad / kPack]>(\n"
        .. "    %s[k]), columns);", p.pack == 2 and "turn_halves" or "turn_bytes", x.loaded),
      string.format("for (int e = 0; e < kLoad; e%s)", words > 1 and " += " .. words or "++"),
      words > 1 and string.format("  *reinterpret_cast<vec<unsigned int, %d> *>(&%s[kept_at(x + e, "
        .. "line)]) =\n      *reinterpret_cast<const vec<unsigned int, %d> *>(&columns[e]);", words,
        x.tile, words)
        or string.format("  %s[kept_at(x + e, line)] = columns[e];", x.tile),
    }
  elseif p.load == 1 then
    x.put = string.format("%s[kept_at(x, line)] = %s[k];", x.tile, x.loaded)
  elseif p.rows then
    x.put = string.format("*reinterpret_cast<%s *>(&%s[kept_at(x, line)]) = %s[k];", x.loaded_type,
      x.tile, x.loaded)
  else
    x.put = string.format("for (int e = 0; e < kLoad; e++)\n"
      .. "  %s[kept_at(x + e, line)] = %s[k][e];", x.tile, x.loaded)
  end
end

-- Texts that take a store's elements of an exchanged input from the tile.
local function text_take(p, x)
  local many = p.store > 1
  if not p.is_lines and (p.pack > 1 or (many and not p.rows and p.sector == 0)) then
    local whole = not p.rows
    if whole then
      x.take = string.format("const %s %s = *reinterpret_cast<const %s *>(&%s[kept_at(x, y)]);",
        x.vtype, x.value, x.vtype, x.tile)
    else
      x.take = string.format("%s %s;\nfor (int e = 0; e < kStore; e += kPack)\n"
        .. "  reinterpret_cast<unsigned int *>(&%s)[e / kPack] = %s[kept_at(x, y + e)];", x.vtype,
        x.value, x.value, x.tile)
    end
    return
  end
  local line = p.take_line and "line" or many and "y + e" or "y"
  local cell = p.is_lines and string.format("%s[%s + x]", x.tile, row_text(p, x, line))
    or string.format("%s[kept_at(x, %s)]", x.tile, line)
  if many then
    x.declare, x.take_element = x.vtype .. " " .. x.value .. ";", string.format("%s[e] = %s;",
      x.value, cell)
    x.take = string.format("%s\nfor (int e = 0; e < kStore; e++)%s", x.declare,
      p.take_line and string.format(" {\n  const int line = %s;\n  %s\n}", p.take_line,
        x.take_element) or "\n  " .. x.take_element)
  else
    x.take = string.format("const %s %s = %s;", x.vtype, x.value, cell)
  end
end

local function text_store(p, y)
  local name = cuda.STORES[p.evict]
  local column, line = sides.column(p, y.op)
  y.column = p.g:name(y.op.name .. "_to")
  if p.sector > 0 then
    p.column = p.column or column
    column = (column == p.column and "column" or column) .. " - shift"
  end
  y.start = column
  y.store = string.format("%s(&%s[%s], %s);", name, y.column, line, y.value)
  y.store_element = string.format("%s(&%s[%s + e], %s[e]);", name, y.column, line, y.value)
  local old = p.g.old[y.op.number]
  if old then -- loaded as it is stored
    local value, many = p.g:name(old.name .. "_v"), p.store > 1
    local load = string.format("%s<%%s>(&%s[%s%%s])", cuda.load_name(old), y.column, line)
    p.direct[#p.direct + 1] = {
      op = old, element = value .. (many and "[e]" or ""), declare_element = "",
      declare = string.format("const %s %s = %s;", y.vtype, value, load:format(y.vtype, "")),
      declare_some = string.format("%s %s;", y.vtype, value),
      take_element = string.format("%s[e] = %s;", value, load:format(y.type, " + e")),
    }
  end
end

-- The statements that compute one element.
local function compute(p)
  local many, values = p.store > 1 and "[e]" or "", {}
  for _, list in ipairs { p.exchanged, p.results } do
    for _, x in ipairs(list) do
      values[x.op.name] = x.value .. many
    end
  end
  for _, x in ipairs(p.direct) do
    values[x.op.name] = x.element
  end
  values[p.k.dims[p.X.dims[1]]] = p.X.at
  values[p.k.dims[p.Y.dims[1]]] = p.Y.at .. (p.store > 1 and " + e" or "")
  for _, d in ipairs(p.rest) do
    values[p.k.dims[d]] = p.rest_name[d]
  end
  return kit.concat { kit.each(p.direct, "{declare_element}"), p.g:call(values) }
end

-- Whether the statements for one element mention where it is along Y.
local function uses_y(p)
  local word = "%f[%w_]" .. p.Y.at .. "%f[^%w_]"
  return kit.any(p.direct, function(x) return string.find(x.declare .. x.take_element, word) end)
    or string.find(p.compute, word)
end

-- What blocks are counted along, fastest first: sides, by their tiles, and other modes. Each has
-- its number `n`, as text `count`, which `declare` declares, and says by `find` which one a block
-- has.
local function counted(p, blocks)
  local k, rank, list = p.k, {}, {}
  for n, d in ipairs(p.about.order[blocks == "in" and p.about.into or p.about.out]) do
    rank[d] = n
  end
  for _, d in ipairs(p.rest) do
    list[#list + 1] = {
      n = k.extents[d], rank = rank[d] or 0, count = sides.count_text(p, k.extents[d]),
      find = "const long long " .. p.rest_name[d] .. " = %s;",
    }
  end
  local function add_side(side, ahead, size, constant, first)
    local count, ahead_text = p.g:name("tiles_" .. side.at), ahead > 0 and " + kAhead" or ""
    list[#list + 1] = {
      n = kit.ceil_div(side.n + ahead, size), count = count,
      rank = blocks == "tiles" and first or rank[side.dims[p.shared and #side.dims or 1]],
      declare = string.format("const unsigned int %s = ceil_div<%s>(%s%s);", count, constant,
        side.extent, ahead_text),
      find = string.format("const long long %s = (long long)%%s * %s;", side.first, constant),
    }
  end
  add_side(p.Y, math.max(p.sector - 1, 0), p.tile_y, "kTileY", -2)
  add_side(p.X, 0, p.tile_x, "kTileX", -1)
  table.sort(list, function(a, b) return a.rank < b.rank end)
  return list
end

-- Which tile a block has: text, and how many there are.
local function cut(p, blocks)
  local lines, list = {}, counted(p, blocks)
  p.grid, p.grid_tiles = 1, {}
  for n, part in ipairs(list) do
    p.grid, p.grid_tiles[n] = part.n * p.grid, part.n
    if n == #list then
      lines[#lines + 1] = string.format(part.find, "block")
    else
      local rest = "block % " .. part.count
      kit.append(lines, part.declare or "",
        string.format(part.find, part.declare and "(" .. rest .. ")" or rest),
        "block /= " .. part.count .. ";")
    end
  end
  p.cut = kit.concat(lines)
  p.blocks_doc = blocks == "tiles"
    and string.format("blocks go along %s, then along %s", p.Y.name, p.X.name)
    or "blocks follow " .. (blocks == "in" and p.k.operands[p.about.into] or p.g.outputs[1]).name
end

-- What runs along a side: text.
local function verbs(list)
  local names = kit.map(list, function(x) return x.op.name end)
  return table.concat(names, " and ") .. (#names > 1 and " run" or " runs")
end

local function start_plan(k, c, about)
  local g = cuda.new(k, "exchange", c.threads)
  local most, least = sides.bytes_of(k, about)
  local of_x, of_y = sides.element_bytes(k, about, about.X), sides.element_bytes(k, about, about.Y)
  local tile_x, tile_y = string.match(c.tile, "(%d+)x(%d+)")
  local p = {
    k = k, g = g, about = about, X = about.X, Y = about.Y, rest = about.rest, threads = c.threads,
    tile_x = math.tointeger(tile_x), tile_y = math.tointeger(tile_y), bytes = most,
    of_x = of_x, of_y = of_y, both = about.both, turned = {}, straight = {},
    strides = {}, store = c.store, is_lines = c.load == "lines", evict = c.evict, memory = {},
    linear = {},
    exchanged = {}, results = {}, stored = {}, direct = {}, rest_name = {}, digit = {},
    line_text = "line", in_load = about.both and "that move together" or "in a load",
    sector = c.start == "sector" and SECTOR // most or 0, lines_a_load = false, take_line = false,
    column = false,
  }
  p.p = p
  p.load = p.is_lines and 1 or c.load
  local small = most == least and most < 4 and 4 // most or 1
  p.pack = not p.is_lines and small or 1
  if p.both and (p.load % p.pack ~= 0 or p.store % p.pack ~= 0) then
    p.pack = 1
  end
  p.lines_of_tile = p.tile_y + math.max(p.sector - 1, 0)
  for _, d in ipairs(about.rest) do
    p.rest_name[d] = g:name(k.dims[d])
  end
  local shared = sides.shared(k, about)
  p.shared = shared and p.tile_y == shared.run and p.tile_x % shared.inner == 0 and shared or false
  sides.name(p, p.X)
  sides.name(p, p.Y)
  for _, side in ipairs { p.X, p.Y } do
    for _, d in ipairs(side.dims) do
      p.digit[d] = #side.dims == 1 and side.at or g:name(k.dims[d])
    end
  end
  return p
end

-- Elements of 1 and 2 bytes are moved as words or as lines; where lines are short, short ones are
-- all there is.
local function needs_short_lines(p)
  local longest = math.max(table.unpack(sides.lengths(p.k, p.X.dims)))
  return p.bytes < 4 and longest * p.bytes < 2 * LINE
end

-- Why a candidate is not worth compiling; nil: it is. What never won: docs/figures/h200.md.
local function refuse(p, c)
  local lines = p.is_lines
  local bytes = p.tile_x * p.tile_y * math.max(p.of_x, p.of_y) // p.threads
  local vector = lines and COPY // p.bytes or p.load
  for _, rule in ipairs {
    { lines and c.evict == "loads", "asynchronous copies have no policy of L2" },
    { bytes > (lines and 256 or 128) or not lines and not p.shared and bytes * p.threads > 32768,
      "a thread would hold more than its registers take" },
    { bytes < 32, "a thread would move less than 32 bytes" },
    { p.store % p.pack ~= 0 or p.load % p.pack ~= 0, "words of small elements are moved whole" },
    { p.pack > 1 and p.sector > 0, "words of small elements start at words of shared memory" },
    { p.sector > 0 and p.bytes * p.store ~= math.max(4, p.bytes),
      "stores that start at sectors have 4 bytes, or an element" },
    { p.sector > 0 and p.tile_y % p.sector ~= 0, "tiles start at sectors" },
    { c.blocks == "in" and not lines, "with aligned lines blocks along the inputs never won" },
    { c.blocks ~= "out" and not lines and c.evict ~= "loads",
      "with blocks in other orders loads were best kept in L2" },
    { p.shared and (p.sector > 0 or c.blocks ~= "out"),
      "runs that go on from column to column are whole, and follow the outputs" },
    { lines and p.tile_x * p.bytes < 2 * LINE and not needs_short_lines(p),
      "lines of less than 256 bytes never won as copies" },
    { p.tile_x % vector ~= 0 or p.tile_y % p.store ~= 0 or p.tile_y % p.pack ~= 0,
      "the tile is no multiple of a vector" },
    { p.load * p.of_x > 16 or p.store * p.of_y > 16, "a vector has more than 16 bytes" },
    { c.evict ~= "none" and p.k.device.cc < 80, "policies of L2 need sm_80" },
  } do
    if rule[1] then
      return rule[2]
    end
  end
end

-- Takes the operands into the plan; nil and a reason: one does not fit.
local function adopt_operands(p)
  local keep = p.is_lines and sides.keep_lines or sides.keep
  keep(p)
  sides.start_tables(p)
  local turned = p.about.is_exchanged
  for _, op in ipairs(p.g.ops) do
    if not op.old_of or turned[op.number] then
      sides.adopt_tables(p, op)
    end
  end
  local good, why = true, nil
  for _, list in ipairs { p.g.inputs, p.g.outputs } do
    for _, op in ipairs(list) do
      local adopt = op.is_output and (turned[op.number] and both.adopt_turned or adopt_output)
        or turned[op.number] and adopt_exchanged
      if good and adopt then
        good, why = adopt(p, op)
      end
    end
  end
  return good, why
end

-- The texts that move operands.
local function write_texts(p)
  spread.loads(p)
  spread.stores(p)
  if p.sector > 0 or (p.is_lines and p.store > 1) then -- which line an element is taken from
    p.take_line = "y" .. (p.sector > 0 and " + kAhead - shift" or "")
      .. (p.store > 1 and " + e" or "")
  end
  for _, x in ipairs(p.exchanged) do
    texts_in(p, x)
    text_take(p, x)
  end
  for _, y in ipairs(p.turned) do
    both.write_turned(p, y)
  end
  p.line_text = p.sector > 0 and "y + kAhead - shift" or "y"
  p.holds = both.can_hold(p)
  for _, op in ipairs(p.g.inputs) do
    if not p.about.is_exchanged[op.number] and not op.old_of then
      adopt_direct(p, op)
    end
  end
  for _, y in ipairs(p.results) do
    if not kit.has(p.turned, y) then
      text_store(p, y)
      p.stored[#p.stored + 1] = y
    end
  end
  p.by_column = #p.straight > 0 and p.columns > 1 and "k" or "x"
end

-- What moves before the kernel is compiled and counted. A run of a side in a tile has a sector more
-- where it starts anywhere, and lines before a tile that starts at sectors are read twice.
local function traffic(p)
  local total, list = kit.product(p.k.extents), {}
  local function runs(side, tile)
    return total // side.n:max(1) * kit.ceil_div(side.n, tile)
  end
  local load = p.is_lines and COPY or p.load * p.bytes
  for _, x in ipairs(p.exchanged) do
    local whole = kit.ceil_div(total * x.op.record.bytes * p.lines_of_tile, SECTOR * p.tile_y)
    list[#list + 1] = { operand = x.op.number, width = load,
      sectors = whole + ((load < COPY or p.is_lines) and runs(p.X, p.tile_x) or 0) }
  end
  for _, x in ipairs(p.straight) do
    list[#list + 1] = { operand = x.op.number, width = p.store * x.op.record.bytes,
      sectors = kit.ceil_div(total * x.op.record.bytes, SECTOR) + runs(p.Y, p.tile_y) }
  end
  for _, y in ipairs(p.stored) do
    local whole = kit.ceil_div(total * y.op.record.bytes, SECTOR)
    local ends = p.sector > 0 and total // p.Y.n:max(1) or p.store * p.bytes < COPY
      and runs(p.Y, p.tile_y) or 0
    list[#list + 1] = { operand = y.op.number, width = p.store * p.bytes, sectors = whole + ends }
  end
  for _, y in ipairs(p.turned) do
    list[#list + 1] = { operand = y.op.number, width = load,
      sectors = kit.ceil_div(total * y.op.record.bytes, SECTOR)
        + (load < COPY and runs(p.X, p.tile_x) or 0) }
  end
  local words = total * (#p.exchanged + #p.turned) * math.max(p.bytes, 4 // p.pack)
  list.wavefronts = 2 * kit.ceil_div(words, LINE)
  return list
end

local DOC = "A block moves a tile of %d x %d elements (%s x %s) through shared memory: in along "
  .. "%s, out along %s."
local DOC_OF_BOTH = "A block has a tile of %d x %d elements (%s x %s): what runs along %s goes "
  .. "through shared memory, what runs along %s as it is."

local function plan(k, c)
  local about, reason = sides.read(k)
  local p = about and start_plan(k, c, about)
  reason = p and refuse(p, c) or reason
  if reason then
    return nil, reason
  end
  local good, why = adopt_operands(p)
  if not good then
    return nil, why
  end
  write_texts(p)
  for n = 2, 1, -1 do
    if #p.tables[n].entries == 0 then
      table.remove(p.tables, n)
    end
  end
  if not sides.place_memory(p, p.is_lines and LINE or COPY) then
    return nil, "the tiles need more shared memory than a block has"
  end
  cut(p, c.blocks)
  p.sizes = kit.concat { p.X.size or "", p.Y.size or "" }
  p.compute, p.traffic = compute(p), traffic(p)
  if p.sector > 0 and not uses_y(p) then
    p.out_place = ""
  end
  p.tile_doc = string.format("A tile: elements along %s, which %s along, by elements along %s, "
    .. "which %s along.", p.X.name,
    verbs(kit.append(kit.copy(p.exchanged), table.unpack(p.turned))), p.Y.name, verbs(p.stored))
  p.whole = string.format("%s + kTileX <= %s && %s + kTileY %s %s%s", p.X.first, p.X.extent,
    p.Y.first, p.is_lines and "<" or "<=", p.Y.extent,
    p.sector > 0 and string.format(" && %s >= kAhead", p.Y.first) or "")
  p.doc = string.format(p.both and DOC_OF_BOTH or DOC, p.tile_x, p.tile_y, p.X.name, p.Y.name,
    p.X.name, p.Y.name)
  return p.g:plan(p)
end

return {
  name = "exchange",
  doc = "Operands along some modes and others: tiles of both, exchanged through shared memory.",
  applies = {
    { "inputs and outputs are arrays of a bare type that run along different modes", function(k)
      return sides.read(k) ~= nil
    end },
  },
  axes = axes,
  where = {},
  template = "exchange.cu",
  plan = plan,
}
