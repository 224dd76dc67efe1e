-- stencil: arrays are read at neighbours of an element (taps).
--
-- A thread computes kVec neighbours of some lines. What its taps reach is kept in registers (lines
-- by vectors, values beside them from the lanes that have them; needs rows that start on vectors)
-- or in shared memory (the block's lines with their halo, as words of 16 bytes from wherever a line
-- starts; outputs are stored from a sector on).
--
-- x: the fastest dimension. m: the slowest that taps reach along, else the one before x. c: the
-- third one, if taps reach along it.

local SECTOR = 32
local REGISTERS = 65536 -- of an SM
local MANY_THREADS = 768 -- of an SM, enough loads in flight if each thread keeps many lines
local MANY_REGISTERS = 40 -- for the lines that a thread keeps
local WORKING_REGISTERS = 24 -- of a thread in addition to them

-- Elements of a tile, and of the input for each block, over axes and facts.
local GROUPS = "(threads // lanes)"
local ROWS = string.format("(rows * (%s * (1 - has_c) + has_c))", GROUPS)
local WIDE = string.format("(wide * (%s * has_c + 1 - has_c))", GROUPS)
local TILE = string.format("((%s - 1) * factor_m + span + 1) * ((%s - 1) * factor_c + sides + 1)"
  .. " * ((lanes * vec * items - 1) * factor_x + span_x + 1)", ROWS, WIDE)
local NEW = string.format("(%s * factor_m * %s * factor_c * lanes * vec * items * factor_x)", ROWS,
  WIDE)

-- ---- computing ----

-- How compute_line calls indices, that of the fastest dimension as `x`.
local function binding(p, x)
  local at = kit.map(p.names, cuda.var)
  at[p.dim_x] = x or at[p.dim_x]
  return p.g:binding(at, function(op) return p.index_text[op.number] end)
end

-- Loads an input that has no taps: once for all elements of a vector, as a vector, or one by one.
-- The text of its value.
local function load_plain(p, op, f)
  local g = p.g
  local type, name = g:type(op, f), g:value_name(op, f)
  local changes = g:changes(op, p.dim_x)
  local known = not p.shared and changes and g:wide_vector(op, f, p.dim_x, p.vec)
  if known then
    g:adopt(op, known, p.vec)
    type = string.format("vec<%s, kVec>", type)
    table.insert(p.per_line, string.format("const %s %s = %s;", type, name,
      cuda.load(cuda.load_name(op), type, known.word, g:address(op, f, binding(p)))))
    return name .. "[e]"
  end
  local each, _, word = changes and p.vec > 1, g:single(op, f)
  table.insert(each and p.each_list or p.per_line, string.format("const %s %s = %s;", type, name,
    cuda.load(cuda.load_name(op), type, word, g:address(op, f, binding(p, each and p.of_e)))))
  return name
end

-- Declares a record in parts, `texts[f]` being its fields' values; its name.
local function assemble(p, op, wanted, texts)
  local name = p.g:name(wanted .. "_e")
  table.insert(p.each_list, string.format("%s %s;", p.g:type(op), name))
  for f, text in pairs(texts) do
    local member = kit.member(name, op.record.fields[f])
    table.insert(p.each_list, string.format("%s = %s;", member, text))
  end
  return name
end

-- The texts of the inputs' values.
local function read_inputs(p, values)
  for _, op in ipairs(p.g.inputs) do
    local streams = p.streams[op.number]
    if streams then
      for _, s in ipairs(streams) do
        table.insert(p.each_list, halo.near(p, s))
      end
      for _, read in ipairs(op.reads) do
        local texts = {}
        for _, s in ipairs(streams) do
          texts[s.f or 0] = not read.how and halo.tap(p, s, read)
        end
        if read.how then
          local name = p.g:name(read.name .. "_w")
          table.insert(p.each_list, string.format("const %s %s = %s;", window.type(p.g, op, read),
            name, halo.window(p, streams[1], read, binding(p, p.vec > 1 and p.of_e))))
          texts[0] = name
        end
        values[read.name] = texts[0] or assemble(p, op, read.name, texts)
      end
    elseif op.record.bare or op.style == "record" then
      values[op.name] = load_plain(p, op)
      p.index_text[op.number] = op.is_index and "(long long)" .. values[op.name]
    else
      local texts = {}
      for _, f in ipairs(op.used) do
        texts[f] = load_plain(p, op, f)
      end
      values[op.name] = assemble(p, op, op.name, texts)
    end
  end
end

-- The outputs: declared, computed into and stored as vectors or one by one.
local function write_outputs(p, values, behind)
  local g = p.g
  local store = p.streaming and "store_streaming" or "store"
  for _, op in ipairs(g.outputs) do
    local parts = cuda.parts(op, true)
    local whole = not parts[1]
    local name = g:name(op.name .. "_v")
    local known = whole and p.vec > 1 and g:vector(op, nil, p.dim_x, p.vec)
    local type, word = g:type(op), known and known.word or 0
    local lies = whole and op == p.first_out.op and p.drift > 0
      and g:single(op) == op.record.bytes
    if p.vec > 1 and (lies or (not p.shared and word > op.record.align)) then
      if not lies then
        g:adopt(op, known, p.vec)
      end
      table.insert(p.per_line, string.format("vec<%s, kVec> %s;", type, name))
      local shorter = not lies and word < kit.word_bytes(p.vec * op.record.bytes)
      local statement = cuda.store(store, shorter and word, g:address(op, nil, binding(p)), name)
      if lies then
        statement = string.format("if (!guarded || (%s >= 0 && %s + kVec <= %s))\n  %s\nelse\n"
          .. "  for (int e = 0; e < kVec; e++)\n    if (is_inside(%s + e, %s))\n      "
          .. "store(%s, %s[e]);", p.x, p.x, p.n_x, statement, p.x, p.n_x,
          g:address(op, nil, binding(p, p.of_e)), name)
      end
      table.insert(p.stores, statement)
      values[op.name] = name .. "[e]"
    else
      table.insert(p.each_list, string.format("%s %s;", type, name))
      values[op.name] = name
      local with = binding(p, p.vec > 1 and p.of_e)
      for _, f in ipairs(parts) do
        local _, shorter = g:single(op, f or nil)
        table.insert(behind, cuda.store(store, shorter, g:address(op, f or nil, with),
          f and kit.member(name, op.record.fields[f]) or name))
      end
    end
  end
end

-- Where a thread's elements of line (i, j) lie, and when they do not.
local function place_element(p)
  local g, list, guard = p.g, {}, {}
  local function line(dim, along, own)
    local name = p.names[dim]
    list[#list + 1] = string.format("const long long %s = first_%s%s + %s;", name, name,
      p.shared and own and " + own" or "", along)
    guard[#guard + 1] = string.format("%s >= %s", name, g:text(p.k.extents[dim]))
  end
  if p.dim_m then
    line(p.dim_m, "i", not p.dim_c)
  end
  if p.dim_c then
    line(p.dim_c, "j", true)
  end
  local x = p.x
  if not p.shared then
    list[#list + 1] = string.format("const long long %s = first_%s;", x, x)
    p.guard = string.format("%s >= %s", x, p.n_x)
    if #guard > 0 then
      p.guard = string.format("%s || (guarded && (%s))", p.guard, kit.concat(guard, " || "))
    end
    return list
  end
  local drift = ""
  if p.drift > 0 then
    local out = p.first_out.op
    list[#list + 1] = string.format("const int drift = bytes_into_sector(%s) / %d;",
      g:address(out, p.first_out.f, binding(p, cuda.var("first_" .. x))), p.first_out.bytes)
    drift = " - drift"
  end
  local item = p.items > 1 and (p.vec > 1 and "item * kLanes * kVec" or "item * kLanes")
  list[#list + 1] = string.format("const int column = %s;", item and item .. drift
    or p.drift > 0 and "-drift" or "0")
  list[#list + 1] = string.format("const long long %s = first_%s + lane%s + column;", x, x,
    p.vec > 1 and " * kVec" or "")
  guard[#guard + 1] = p.vec > 1 and string.format("%s + kVec <= 0", x) or string.format("%s < 0", x)
  guard[#guard + 1] = string.format("%s >= %s", x, p.n_x)
  p.guard = string.format("guarded && (%s)", kit.concat(guard, " || "))
  return list
end

-- ---- blocks ----

-- Elements of a block along each of the dimensions that it has more than one of: constants.
local function declare_tile(p)
  local groups = p.threads > p.lanes and " * kGroups" or ""
  local function add(dim, text)
    p.tile_of[dim] = p.g:name("kTile_" .. p.names[dim])
    table.insert(p.tile_constants, string.format("%s = %s", p.tile_of[dim], text))
  end
  add(p.dim_x, "kLanes * kVec" .. (p.shared and p.items > 1 and " * kItems" or ""))
  if p.dim_c then
    add(p.dim_c, "kWide" .. groups)
  end
  if p.dim_m then
    add(p.dim_m, "kRows" .. (p.march > 1 and " * kMarch" or "") .. (p.dim_c and "" or groups))
  end
end

-- Tiles of a block and its threads: `first_<dim>` of each dimension, x first.
local function cut(p)
  local g, k, list, total = p.g, p.k, {}, nil
  local groups = p.threads // p.lanes
  list[1], p.grid_tiles = "unsigned int block = blockIdx.x;", {}
  local order = kit.map({ p.dim_x, p.dim_c or 0, p.dim_m or 0 }, function(dim)
    return dim > 0 and dim or nil
  end)
  for dim = #k.dims, 1, -1 do
    order[#order + 1] = not kit.has(order, dim) and dim or nil
  end
  for n, dim in ipairs(order) do
    local name, tile = p.names[dim], p.tile_of[dim]
    local each = dim == p.dim_x and p.columns or dim == p.dim_m and p.block_m
      or dim == p.dim_c and p.block_c or 1
    local ahead = dim == p.dim_x and p.drift or 0
    local tiles = kit.ceil_div(k.extents[dim] + ahead, each)
    total, p.grid_tiles[n] = total and total * tiles or tiles, tiles
    local number, count = "block", g:name("tiles_" .. name)
    if n < #order then
      local extent = g:text(k.extents[dim])
      list[#list + 1] = string.format("const unsigned int %s = %s;", count, tile
        and string.format("ceil_div<%s>(%s%s)", tile, extent, ahead > 0 and " + kAhead" or "")
        or string.format("(unsigned int)%s", g:text(k.extents[dim], nil, true)))
      number = string.format("block %% %s", count)
      g:require(tiles:lt(1 << 31))
    end
    local text = string.format(n < #order and "(long long)(%s)" or "(long long)%s", number)
    text = tile and text .. " * " .. tile or text
    if not p.shared and dim == p.dim_x then
      text = text .. " + threadIdx.x % kLanes * kVec"
    elseif not p.shared and groups > 1 and dim == (p.dim_c or p.dim_m) then
      text = string.format("%s + threadIdx.x / kLanes * %s", text, dim == p.dim_c and "kWide"
        or p.march > 1 and "(kRows * kMarch)" or "kRows")
    end
    local moves = dim == p.dim_m and p.march > 1
    list[#list + 1] = string.format("%slong long %s = %s;", moves and "" or "const ",
      tile and "first_" .. name or name, text)
    if n < #order then
      list[#list + 1] = string.format("block /= %s;", count)
    end
  end
  p.grid = total
  return kit.concat(list)
end

-- Condition that all that a tile reads and writes lies inside the arrays; nil: it always does.
local function inside(p)
  local g, list, most = p.g, {}, {}
  local function add(format, number) -- of conditions that differ in a number the strictest
    if not most[format] then
      list[#list + 1] = format
    end
    most[format] = math.max(most[format] or 0, number)
  end
  local function check(dim, below, above, extent, factor)
    local first = halo.times("first_" .. p.names[dim], factor or 1)
    if below > 0 then
      add(first .. " >= %d", below)
    end
    add(first .. " + %d <= " .. string.gsub(g:text(extent), "%%", "%%%%"), above)
  end
  local block_m, block_c = p.shared and p.block_m or p.rows * p.march,
    p.shared and p.block_c or p.wide
  for _, s in ipairs(p.taps) do
    for d, dim in ipairs(s.dims) do
      local off, f = kit.const_of(E.subst(s.op.at[d], { p.k.index[dim], 0 })), s.factors[d]
      if dim == p.dim_m then
        check(dim, s.below - off, (block_m - 1) * f + 1 + s.above + off, s.op.extent[d], f)
      elseif dim == p.dim_c then
        check(dim, s.below_c - off, (block_c - 1) * f + 1 + s.above_c + off, s.op.extent[d], f)
      elseif dim == p.dim_x and p.shared then
        local beyond = kit.ceil_div(2 * halo.WORD - 2, s.bytes) -- what the last word has of others
        check(dim, s.n_before - off, s.n_span - s.n_before + off + beyond, s.op.extent[d], f)
      end
    end
  end
  for dim, block in pairs { [p.dim_m or 0] = block_m, [p.dim_c or -1] = block_c,
    [p.shared and p.dim_x or -2] = p.columns } do
    if dim > 0 then
      check(dim, dim == p.dim_x and p.drift or 0, block, p.k.extents[dim])
    end
  end
  table.sort(list)
  for n, format in ipairs(list) do
    list[n] = string.format(format, most[format])
  end
  return #list > 0 and kit.concat(list, " && ") or nil
end

-- Condition that there is nothing to do: for a warp, or for the block whose warps wait together.
local function outside(p)
  if p.shared then
    return p.n_x .. " == 0"
  end
  local list = kit.map({ p.dim_m or 0, p.dim_c or 0 }, function(dim)
    return dim > 0 and string.format("first_%s >= %s", p.names[dim], p.g:text(p.k.extents[dim]))
      or nil
  end)
  return kit.concat({ string.format("first_%s - threadIdx.x %% 32 * kVec >= %s", p.x, p.n_x),
    table.unpack(list) }, " || ")
end

local function start_plan(k, c)
  local g = cuda.new(k, "stencil", c.threads)
  local m, across = halo.directions(k)
  local groups = c.threads // c.lanes
  local p = {
    g = g, k = k, threads = c.threads, lanes = c.lanes, vec = c.vec, rows = c.rows, wide = c.wide,
    march = c.march, items = c.items, shared = c.halo == "shared",
    streaming = c.store == "streaming", dim_x = #k.dims, dim_m = m, dim_c = across, names = {},
    any_border = false, used_text = "", tile_of = {}, tile_constants = {}, taps = {},
    streams = {}, per_line = {}, each_list = {}, stores = {},
    index_text = {}, registers = 0, bounds = c.threads,
    block_m = c.rows * c.march * (across and 1 or groups), block_c = c.wide * groups,
    columns = c.lanes * c.vec * c.items, drift = 0,
  }
  for _, name in ipairs { "i", "j" } do
    g:name(name) -- stands in texts that the template gets from here
  end
  for d, dim in ipairs(k.dims) do
    p.names[d] = g:name(dim)
  end
  declare_tile(p)
  p.tile_x = p.tile_of[p.dim_x]
  p.x, p.m, p.c = p.names[#k.dims], m and p.names[m] or false, across and p.names[across] or false
  p.of_e = cuda.var(p.x) + cuda.var("e") -- index of a vector's element
  p.n_x, p.n_m = g:text(k.extents[#k.dims]), m and g:text(k.extents[m]) or false
  local out = g.outputs[1]
  p.first_out = { op = out, bytes = out.record.bytes }
  if not (out.record.bare or out.style == "record") then
    p.first_out.f, p.first_out.bytes = 1, out.record.fields[1].bytes
  end
  local step = E.linear(out.offset[1], k.index[#k.dims])
  local scattered = kit.any(g.inputs, function(op)
    return op.is_index and E.mentions(out.offset[1], op.index_value)
  end)
  p.sector = SECTOR // p.first_out.bytes
  if c.align == "sector" and p.shared and SECTOR % p.first_out.bytes == 0 and step
    and kit.const_of(step) == p.first_out.bytes and not scattered then
    p.drift = p.sector - 1
  end
  return p
end

local function adopt_taps(p)
  local start = 0
  for _, op in ipairs(p.g.inputs) do
    if halo.is_read_around(op) then
      p.streams[op.number] = {}
      for _, f in ipairs(halo.parts_of(p.k, op)) do
        local s = halo.stream(p, op, f > 0 and f or nil)
        if s.fill == false then
          return nil, op.name .. ": what lies beyond its border differs from read to read"
        elseif p.shared then
          start = halo.shared(p, s, start)
          p.any_border = p.any_border or s.has_beyond
        else
          local good, reason = halo.registers(p, s)
          if not good then
            return nil, reason
          end
          p.registers = p.registers + reason
        end
        table.insert(p.streams[op.number], s)
        table.insert(p.taps, s)
      end
    end
  end
  p.shared_bytes = start * halo.WORD
  if p.shared_bytes > p.k.device.smem_optin_bytes then
    return nil, "its tiles do not fit into shared memory"
  end
  return true
end

-- What arrays with taps and outputs ask for; other inputs are taken as moved once.
local function estimate(p)
  local list, of, wavefronts = {}, {}, 0
  for _, s in ipairs(p.taps) do
    local entry, more = halo.traffic(p, s)
    wavefronts = wavefronts + more
    if of[s.op.number] then
      of[s.op.number].bytes = of[s.op.number].bytes + entry.bytes
    else
      list[#list + 1], of[s.op.number] = entry, entry
    end
  end
  for _, op in ipairs(p.g.outputs) do
    list[#list + 1] = { operand = op.number, width = math.min(halo.WORD, p.vec * op.record.bytes) }
  end
  list.wavefronts = p.grid * wavefronts
  return list
end

local function plan(k, c)
  local p = start_plan(k, c)
  local good, reason = adopt_taps(p)
  if not good then
    return nil, reason
  end
  local g = p.g
  if p.vec > 1 and not p.shared then
    g:require((k.extents[p.dim_x] % p.vec):eq(0))
  end
  -- ptxas takes more for the path with borders than pays; what other operands and dimensions need
  -- is not known here
  if p.registers >= MANY_REGISTERS and #g.ops == 2 and #k.dims <= 3 then
    local threads = math.min(MANY_THREADS, REGISTERS // (p.registers + WORKING_REGISTERS))
    p.bounds = string.format("%d, %d", c.threads, math.max(1, threads // c.threads))
  end
  local values, behind = {}, {}
  p.positions = place_element(p)
  for d, dim in ipairs(k.dims) do
    values[dim] = d == p.dim_x and p.vec > 1 and p.x .. " + e" or p.names[d]
  end
  read_inputs(p, values)
  write_outputs(p, values, behind)
  p.each = kit.concat { kit.concat(p.each_list), g:call(values), kit.concat(behind) }
  p.cut = cut(p)
  p.inside, p.outside = inside(p) or false, outside(p)
  p.lines = p.c and "kWide" or p.m and "kRows" or false
  p.traffic = estimate(p)
  local loops = kit.map({
    p.shared and p.items > 1 and { "item", 0, "kItems" } or false,
    p.dim_m and { "i", 0, "kRows" } or false, p.c and { "j", 0, "kWide" } or false,
  }, function(loop) return loop or nil end)
  local indices = kit.concat(kit.map(loops, function(loop) return loop[1] end), ", ")
  p.line_params = string.gsub(indices, "%a+", "int %0")
  p.compute_lines = halo.loops(loops, string.format("compute_line(%s);", indices))
  p.rolling = kit.map(p.taps, function(s) -- what each step loads
    return (p.march == 1 or s.has_m) and s or nil
  end)
  p.exchanged = kit.map(p.rolling, function(s) return s.has_ends and s or nil end)
  p.doc = p.shared and string.format("A block computes %d x %s elements from a tile with halo in "
    .. "shared memory.", p.columns, p.block_m .. (p.c and " x " .. p.block_c or ""))
    or string.format("A thread computes %d neighbours of %d lines from registers.", p.vec,
      p.rows * p.march * p.wide)
  return g:plan(p)
end

-- Does `test(op)` hold for an array that is read at neighbours?
local function tapped(k, test)
  return kit.any(k.operands, function(op) return halo.is_read_around(op) and test(op) end)
end

return {
  name = "stencil",
  doc = "Threads compute neighbours of some lines; what taps reach is kept in registers or in a "
    .. "tile in shared memory.",
  applies = {
    { "an array has taps or windows",
      function(k) return tapped(k, function() return true end) end },
    { "arrays with taps are read at multiples of dimensions plus a constant, the last one included",
      function(k) return not tapped(k, function(op) return not halo.dims_of(k, op) end) end },
    { "neighbours along the last dimension are neighbours in memory",
      function(k) return not tapped(k, function(op) return not halo.parts_of(k, op) end) end },
    { "taps reach along at most three dimensions",
      function(k) return halo.directions(k) ~= false end },
  },
  taps = true,
  axes = {
    { "halo", { "registers", "shared" }, key = "halo=", doc = "where what taps reach is kept" },
    { "threads", { 256, 128, 512, 64, 32 }, key = "threads=", doc = "threads per block" },
    { "lanes", { 32, 64, 128, 256, 512 }, key = "lanes=", doc = "threads next to each other along "
      .. "the fastest dimension" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "vec=", doc = "neighbours that a thread computes at once" },
    { "items", { 1, 2, 4, 8 }, key = "items=", doc = "groups of them per thread",
      when = "halo == 'shared'" },
    { "rows", { 1, 2, 4, 8 }, key = "rows=", doc = "lines per thread, along the slowest dimension "
      .. "that taps reach along", when = "marches > 0" },
    { "wide", { 1, 2, 4 }, key = "wide=", doc = "of them side by side, in the third dimension",
      when = "sides > 0" },
    { "march", { 1, 4, 8 }, key = "march=", doc = "times that a thread goes on with further rows",
      when = "marches > 0 and halo == 'registers'" },
    { "align", { "sector", "none" }, key = "align=", doc = "sector: each line is stored from the "
      .. "start of 32 bytes on; none: lines of a thread have the same columns and share values",
      when = "halo == 'shared'" },
    { "store", { "none", "streaming" }, key = "store=", doc = "streaming: what is stored leaves "
      .. "caches first" },
  },
  facts = function(k)
    local m, c, below, above, factor = halo.directions(k)
    local x, bytes, full, strided, tile_only, reads, longest = #k.dims, 1, 1, 0, 0, 1, 1
    for _, op in ipairs(k.operands) do
      if halo.is_read_around(op) then
        bytes = math.max(bytes, op.record.bytes)
        full = math.max(full, halo.WORD // kit.word_bytes(op.record.bytes))
        strided = halo.are_neighbours(k, op) and strided or 1
        tile_only = halo.needs_tile(k, op) and 1 or tile_only
        reads = math.max(reads, halo.count_reads(op))
      end
    end
    for _, extents in ipairs(k.sizes) do
      longest = math.max(longest, extents[x])
    end
    return {
      { "bytes", bytes }, { "marches", m and 1 or 0 },
      { "span", m and below[m] + above[m] or 0 }, { "sides", c and below[c] + above[c] or 0 },
      { "has_c", c and 1 or 0 }, { "cc", k.device.cc }, { "full", full },
      { "single", math.max(1, 4 // k.operands[#k.operands].record.bytes) },
      { "strided", strided }, { "tile_only", tile_only }, { "reads", reads },
      { "longest", longest }, { "span_x", below[x] + above[x] },
      { "factor_m", m and factor[m] or 1 }, { "factor_c", c and factor[c] or 1 },
      { "factor_x", factor[x] },
    }
  end,
  where = {
    "lanes <= threads", "marches > 0 or lanes == threads",
    -- registers: vectors of 16 bytes; few lines that are loaded twice, and room for all of them
    "halo == 'shared' or vec == full",
    "halo == 'shared' or threads <= 256 or sides > 0 and rows == 1 and wide <= 2",
    "halo == 'shared' or rows * march >= span or rows * march >= 8",
    "halo == 'shared' or sides > 0 or 2 * lanes >= threads",
    "halo == 'shared' or sides == 0 or rows <= 2 and lanes <= 64",
    "march < 8 or rows <= 2 and sides > 0",
    "halo == 'shared' or rows * march <= 32",
    "halo == 'shared' or (rows + span) * (wide + sides) * vec * max(bytes // 4, 1) <= 128",
    "halo == 'shared' or tile_only == 0 and threads >= 128",
    -- shared memory: lanes read elements beside each other, words of 4 bytes at least are stored
    "halo == 'registers' or cc >= 80", "halo == 'registers' or vec == single",
    "halo == 'registers' or lanes == 32 or marches == 0",
    "halo == 'registers' or strided == 1 or threads == 256",
    "halo == 'registers' or strided == 1 or items >= 4 or marches == 0",
    "halo == 'registers' or strided == 1 or items * rows * wide >= 8"
      .. " or marches == 0 and items >= 2",
    "strided == 1 or align == 'sector' or single == 1 and rows >= 2",
    "halo == 'registers' or items * rows * wide <= 32"
      .. " and (sides == 0 or rows >= 2 or strided == 1)",
    "halo == 'registers' or reads * items * rows * wide * vec <= 1024",
    -- outputs that lie apart in the input: a tile of it that several blocks of an SM have, of which
    -- a fourth at least is new
    "halo == 'registers' or strided == 0 or threads <= 256",
    "halo == 'registers' or strided == 0 or (align == 'none') == (single == 1)",
    "halo == 'registers' or strided == 0 or items == 1 or lanes * vec * items < 2 * longest",
    "halo == 'registers' or strided == 0 or " .. TILE .. " * bytes <= 98304",
    "halo == 'registers' or strided == 0 or " .. TILE .. " * bytes >= 4096 or items >= 4",
    "halo == 'registers' or strided == 0 or " .. TILE .. " <= 4 * " .. NEW,
  },
  template = "stencil.cu",
  plan = plan,
}
