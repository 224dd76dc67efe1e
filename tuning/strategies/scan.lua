-- scan: running sums (maxima, minima) along one mode. kLanes threads have a row: part of a warp, or
-- the block. Where rows run along the fastest mode, neighbouring lanes have neighbouring vectors,
-- whose sums they combine by shuffles; else neighbouring threads have neighbouring columns.
--
--   order=rows   a row's tiles one after the other, by the same threads, which carry the sum on
--   order=tiles  a block a tile: it finds what the tiles before come to by looking back at what
--                other blocks left in the workspace; it holds the tile meanwhile, and the more
--                tiles an SM has, the less it waits: in shared memory there is room for more
--
-- Looking back is that of Merrill and Garland, Single-pass parallel prefix scan with decoupled
-- look-back (2016), but over a tree of tiles (look_back in templates/device/scan.cuh): no chain of
-- blocks that wait for each other, and the same order of additions in every run.
local NODES_AT = 8     -- of the workspace, in words of 8 bytes
local LEAST_TILES = 1 << 18 -- that a workspace has nodes for
local TILE_BYTES = 32768    -- of a tile in shared memory, at most; at least half of it
local LINE = 128            -- bytes of shared memory that all banks have together

-- ---- operands on their way ----

local binding = cuda.vector_binding

-- A part of an operand.
local function stream(p, op, f)
  return cuda.vector_stream(p, op, f,
    op.is_output and "%s" or p.in_tile and "%s[item][lane]" or "%s[item]")
end

-- The statement that loads a stream at a vector of which `left` elements are in the row.
local function load_text(p, x)
  local g, word, shorter = p.g, p.g:single(x.op, x.f)
  local moves = g:changes(x.op, p.k.scan)
  local name = p.evict == "streaming" and moves and "load_streaming" or "load"
  local function at(e) return g:address(x.op, x.f, binding(p, e)) end
  if x.word then
    local whole = p.in_tile
      and string.format("async_copy<%d>(&%s, %s);", x.word, x.at, at())
      or string.format("%s = %s;", x.at, cuda.load(name, x.type, x.word, at()))
    return string.format("if (whole || left >= kVec)\n  %s\nelse\n  %s = %s;", whole, x.at,
      string.format("load_some<%s, kVec>(%s, left)", x.element, at()))
  elseif x.many then
    return kit.unrolled("e", "kVec", string.format("if (whole || e < left)\n  %s = %s;", x.value,
      cuda.load("load", x.element, shorter, at(true))))
  end
  return string.format("%s = %s;", x.at,
    cuda.load(name, x.type, name == "load" and shorter or word, at()))
end

-- The text that stores an element or a vector.
local function store_text(p, x)
  local g, word, shorter = p.g, p.g:single(x.op, x.f)
  local name = p.evict == "streaming" and "store_streaming" or "store"
  local function at(e) return g:address(x.op, x.f, binding(p, e)) end
  if x.word then
    return string.format("if (whole || left >= kVec)\n  %s\nelse\n  %s",
      cuda.store(name, x.word, at(), x.at),
      string.format("store_some<%s, kVec>(%s, %s, left);", x.element, at(), x.at))
  elseif x.many then
    return kit.unrolled("e", "kVec", "if (whole || e < left)\n  "
      .. cuda.store("store", shorter or word, at(true), x.value))
  end
  return cuda.store(name, word, at(), x.at)
end

local function parts_of(p, op)
  local g, last = p.g, #p.k.dims
  return cuda.parts(op, p.vec == 1 or g:vector(op, nil, last, p.vec) or not g:changes(op, last))
end

-- The streams of the inputs, those of index arrays first, and what an element's values are called.
local function add_inputs(p)
  for _, op in ipairs(p.g.inputs) do
    local list = op.is_index and { 1 } or #op.reads > 0 and parts_of(p, op) or {}
    local unread = #op.reads > 0 and #list == 0 -- a record of which the body reads no field
    local name = (list[1] or unread) and p.g:name(op.name .. "_e")
    if unread then
      p.values[op.name] = name
      table.insert(p.gathered, { name = name, type = p.g:type(op) })
    end
    for _, f in ipairs(list) do
      local x = stream(p, op, f or nil)
      table.insert(p.streams, x)
      if op.is_index or not f or op.record.bare then
        p.values[op.name] = (op.is_index and "(long long)" or "") .. x.value
      else
        p.values[op.name] = name
        table.insert(p.gathered, { name = name, type = p.g:type(op), x = x,
                                   member = kit.member(name, op.record.fields[f]) })
      end
    end
  end
end

-- The streams of the outputs, and what the body assigns to them.
local function add_outputs(p)
  for _, op in ipairs(p.g.outputs) do
    for _, f in ipairs(parts_of(p, op)) do
      table.insert(p.results, stream(p, op, f or nil))
    end
    p.values[op.name] = p.g:name(op.name .. "_e")
  end
end

-- Statements that compute what an element gives.
local function compute(p)
  local g, lines, declared = p.g, {}, {}
  for _, part in ipairs(p.gathered) do
    lines[#lines + 1] = not declared[part.name] and part.type .. " " .. part.name .. ";" or nil
    declared[part.name] = true
    lines[#lines + 1] = part.x and string.format("%s = %s;", part.member, part.x.value)
  end
  for _, op in ipairs(g.outputs) do
    lines[#lines + 1] = reduce.given_type(op) .. " " .. p.values[op.name] .. ";"
  end
  local values = setmetatable({}, { __index = p.values, __newindex = p.values })
  for d, dim in ipairs(p.k.dims) do
    values[dim] = d == #p.k.dims and p.vec > 1 and p.index[d] .. " + e" or p.index[d]
  end
  lines[#lines + 1] = g:call(values)
  return kit.concat(lines)
end

-- Statements that take the results of an element from the partials before it and up to it.
local function results_of(p, before, up_to)
  return reduce.stores(p.slots, function(slot) return slot.op.exclusive and before or up_to end,
    nil, function(op, f, value)
      for _, x in ipairs(p.results) do
        if x.op == op and (x.f or f) == f then
          local to = x.f and x.value or kit.member(x.value, op.record.fields[f])
          return string.format("%s = %s;", to, value)
        end
      end
    end)
end

-- ---- the plan ----

-- Texts of the template that differ between rows, whose lanes lie side by side along the fastest
-- mode, and columns.
local function arrange(p)
  local times_vec = p.vec > 1 and " * kVec" or ""
  p.times_vec, p.line = times_vec, p.rows and "row" or "column"
  p.things, p.part = p.vec > 1 and "vectors" or "elements", p.rows and "warp" or "thread"
  p.element = p.vec > 1 and "item * kVec + e" or "item"
  p.value = function(e)
    return p.in_tile and "value(item, " .. e .. ")"
      or "mine[" .. (p.vec > 1 and "item * kVec + " .. e or "item"):gsub(" %+ 0", "") .. "]"
  end
  p.each_element = p.vec > 1 and "#pragma unroll\nfor (int e = 0; e < kVec; e++)" or ""
  p.buffers = p.look_back and 1 or 2
  p.is_row, p.else_none = p.look_back and "" or "is_row ? ", p.look_back and "" or " : 0"
  if p.rows then
    p.lane_of, p.line_of = "% kLanes", "/ kLanes"
    p.warp_lanes = math.min(p.lanes, 32)
    p.in_shared, p.parts, p.n_parts = p.lanes > 32, "kLanes / 32", p.lanes // 32
    p.my_part, p.n_rows_here = "lane / 32", 1
    p.leads = "if (lane % 32 == 0)\n  "
    local wide = p.lanes > 32
    -- a thread's vectors lie apart by a constant, which addresses hold
    p.offset = (wide and "(lane / 32 * kItems * 32 + lane % 32)" or "lane") .. times_vec
    p.place = string.format("first + offset + item * %s%s", wide and "32" or "kLanes", times_vec)
  else
    p.lane_of, p.line_of = "/ kRows", "% kRows"
    p.in_shared, p.parts, p.n_parts = p.lanes > 1, "kLanes", p.lanes
    p.my_part = "lane"
    p.n_rows_here, p.leads = p.threads // p.lanes, ""
    p.offset, p.place = "lane * kItems", "first + offset + item"
  end
  p.part_shape = (p.look_back and "" or "[2]") .. "[kParts]" .. (p.rows and "" or "[kRows]")
  p.part_at = function(part)
    return string.format("parts%s[%s]%s", p.look_back and "" or "[buffer]", part,
      p.rows and "" or "[line]")
  end
end

-- The tiles of all rows, and the workspace with their nodes.
local function plan_tiles(p, k, rows)
  local n = kit.ceil_div(k.extents[k.scan], p.tile)
  local most = LEAST_TILES
  for _, given in ipairs(k.given) do
    while most < 2 * E.eval(rows * n + 0, given) do
      most = most * 2
    end
  end
  p.g:require((rows * n + 0):le(most))
  p.nodes_at = NODES_AT
  p.workspace_bytes = 8 * NODES_AT + most * 33 // 31 * p.partial_bytes // 4 * 8
  p.grid, p.grid_tiles = rows * n + 0, { n, rows + 0 * n }
end

-- Bytes of the tile of each input that is held in shared memory, from a line of it on.
local function tile_bytes(p)
  local bytes = 0
  for _, x in ipairs(p.in_tile and p.streams or {}) do
    bytes = bytes + kit.ceil_div(p.tile // p.vec * (x.word or 0), LINE) * LINE
  end
  return bytes > 0 and bytes + LINE or 0
end

local function traffic(p)
  return kit.map(p.g.ops, function(op)
    local width = op.record.fields[1].bytes
    for _, list in ipairs { p.streams, p.results } do
      for _, x in ipairs(list) do
        width = x.op == op and math.max(width, x.word or 0) or width
      end
    end
    return { operand = op.number, width = width }
  end)
end

-- Why the axes' values do not go together; nil: they do.
local function why_not(p)
  if not p.rows and (p.vec > 1 or p.look_back or p.in_tile) then -- axes are those of other layouts
    return "vectors and tiles that look back need rows along the fastest mode"
  end
  if p.vec > 1 and not p.any then
    return "no array moves in vectors of this width"
  end
  for _, x in ipairs(p.in_tile and p.streams or {}) do
    local bytes = (x.f and x.op.record.fields[x.f] or x.op.record).bytes
    if not x.word or x.word < 4 or x.word ~= p.vec * bytes then
      return "asynchronous copies take whole vectors of 4, 8 or 16 bytes of every input"
    end
  end
  return nil
end

local function plan(k, c)
  local g = cuda.new(k, "scan", c.threads)
  local p = {
    g = g, k = k, threads = c.threads, lanes = c.lanes, vec = c.vec, items = c.items,
    look_back = c.order == "tiles", evict = c.evict, rows = k.scan == #k.dims,
    in_tile = c.hold == "shared",
    index = {}, values = {}, streams = {}, results = {}, gathered = {},
    tile = c.lanes * c.vec * c.items,
  }
  for d, dim in ipairs(k.dims) do
    p.index[d] = g:name(dim)
  end
  p.slots, p.partial_bytes = reduce.slots(g)
  p.definitions = reduce.definitions(p.slots)
  add_inputs(p)
  add_outputs(p)
  local why = why_not(p)
  if why then
    return nil, why
  end
  local scanned
  p.kept, scanned = reduce.dims(k)
  p.along = p.index[scanned[1]]
  arrange(p)
  local rows = reduce.count(k, p.kept)
  p.n_rows, p.n_elements = g:text(rows), g:text(k.extents[k.scan])
  if p.look_back then
    plan_tiles(p, k, rows)
  else
    p.grid = kit.ceil_div(rows + 0 * k.extents[1], p.threads // p.lanes)
  end
  p.static_shared_bytes = p.partial_bytes * ((p.look_back and 1 or 0)
    + (p.in_shared and p.buffers * p.n_parts * p.n_rows_here or 0)) + 16 + tile_bytes(p)
  p.unravel = function(dims, text) return reduce.unravel(g, p.index, dims, text) end
  local function each(list, text)
    return kit.concat(kit.map(list, function(x) return text(p, x) end))
  end
  p.load = function() return each(p.streams, load_text) end
  p.store = function() return each(p.results, store_text) end
  p.compute = function() return compute(p) end
  p.members = function(type)
    return reduce.single(p.slots, reduce.members(p.slots,
      function(op) return p.values[op.name] end,
      function() return g:text(k.reduced_index, binding(p, p.vec > 1), true) end), type)
  end
  p.results_of = function(before, up_to) return results_of(p, before, up_to) end
  p.traffic = traffic(p)
  p.doc = string.format("%s; %s.", p.look_back and "A block has a tile of a row"
    or string.format("%s, tile by tile", p.lanes == 1 and "A thread has a " .. p.line
      or p.lanes .. " threads have a " .. p.line),
    string.format("%d x %d elements a thread", p.items, p.vec))
  return g:plan(p)
end

-- ---- the space ----

-- The widest vectors along the fastest mode that some operand moves in, at extents that the width
-- divides or, of a kernel of one mode, at any.
local function widest_fit(k, last, widest)
  local g = cuda.new(setmetatable({ words = {} }, { __index = k }), "scan", 32)
  local fit = 16
  while fit > 1 and (fit * widest > 16 or (#k.dims > 1 and last % fit ~= 0)
    or not kit.any(g.ops, function(op)
      return kit.any(op.used, function(f)
        return g:wide_vector(op, nil, #k.dims, fit) or g:wide_vector(op, f, #k.dims, fit)
      end)
    end)) do
    fit = fit // 2
  end
  return fit
end

-- What the constraints name. At the tuned sizes: rows, the elements of one (many), and the widest
-- vectors (fit). The bytes of the widest record (widest), of all inputs' (bytes), of a partial
-- (held), and of a tile in shared memory (most).
local function facts(k)
  local widest, bytes, rows, many, fit = 1, 0, 0, 1, 1
  for _, op in ipairs(k.operands) do
    widest = op.is_index and widest or math.max(widest, op.record.bytes)
    bytes = bytes + (op.is_output and 0 or op.record.bytes)
  end
  local g = cuda.new(setmetatable({ words = {} }, { __index = k }), "scan", 32)
  for _, extents in ipairs(k.sizes) do
    local kept = 1
    for d = 1, #k.dims do
      kept = kept * (d == k.scan and 1 or extents[d])
    end
    rows, many = math.max(rows, kept), math.max(many, extents[k.scan])
    fit = math.max(fit, widest_fit(k, extents[#k.dims], widest))
  end
  return {
    { "widest", widest }, { "held", select(2, reduce.slots(g)) }, { "rows", rows },
    { "many", many }, { "fit", fit }, { "sms", k.device.sms }, { "bytes", bytes },
    { "most", TILE_BYTES },
  }
end

local ROWS = {
  "vec == fit or 2 * vec == fit", "lanes <= 32 or lanes == threads",
  -- a thread has 16 to 128 bytes of partials, in registers
  "hold == 'shared' or vec * items * held <= 128",
  "vec * items * held >= 32 or lanes * vec * items >= many",
  "threads < 1024 or vec * items * held <= 64",
  "hold == 'registers' or (order == 'tiles' and vec == fit and threads <= 256)",
  "hold == 'registers' or (2 * bytes * lanes * vec * items >= most"
    .. " and bytes * lanes * vec * items <= most)",
  -- a tile is no longer than a row needs
  "lanes * vec < 2 * many or lanes == 1", "items == 1 or lanes * vec * (items // 2) < many",
  "lanes >= 8 or many <= 64 * lanes * vec",
  -- blocks that look back have all of their threads in a row, and are many
  "order == 'rows' or (lanes == threads and threads <= 512 and many > 2 * lanes * vec * items)",
  "order == 'rows' or rows <= 8 * sms",
  "order == 'tiles' or many <= 8192 or 4 * rows >= sms",
}
local COLUMNS = {
  "order == 'rows'", "vec == 1", "threads // lanes >= 8 and threads // lanes <= 256",
  "items * held <= 128", "items * held >= 16 or lanes * items >= many",
  "lanes * items < 2 * many or lanes == 1",
}

return {
  name = "scan",
  doc = "Running sums along one mode, by the threads that have a row, or by tiles that look back.",
  scans = true,
  splits = "none",
  applies = {
    { "the outputs are scanned", function(k) return k.scan ~= nil end },
    { "no output is addressed through an index array", function(k)
      return not kit.any(k.operands, function(op) return op.is_output and op.through_index end)
    end },
  },
  axes = function(k)
    local rows = k.scan == #k.dims
    return {
      { "threads", { 256, 512, 128, 1024 }, key = "threads=", doc = "threads per block" },
      { "lanes", { 256, 512, 128, 1024, 64, 32, 16, 8, 4, 2, 1 }, key = "lanes=",
        doc = "threads that have a row" },
      { "vec", { 4, 2, 8, 16, 1 }, key = "vec=", doc = "neighbouring elements in a vector" },
      { "items", { 4, 8, 2, 16, 1, 32 }, key = "items=",
        doc = "vectors that a thread has at once, all loads in flight" },
      { "order", rows and { "tiles", "rows" } or { "rows" }, key = "order=",
        doc = "tiles: a block each, which looks back at those before; rows: tile after tile" },
      { "hold", k.device.cc >= 80 and rows and { "registers", "shared" } or { "registers" },
        key = "hold=", when = rows and "order == 'tiles'" or nil,
        doc = "where a tile is until what is before it is known" },
      { "evict", { "streaming", "none" }, key = "evict=",
        doc = "streaming: evict-first policy for what is used once" },
    }
  end,
  facts = facts,
  where = function(k) return k.scan == #k.dims and ROWS or COLUMNS end,
  template = "scan.cu",
  plan = plan,
}
