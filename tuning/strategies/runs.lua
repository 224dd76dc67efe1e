-- runs: n-d permutes by large tiles whose runs go over several dimensions. A block takes one tile:
-- asynchronous copies bring it into shared memory without passing a register, so that a tile may be
-- larger than registers would hold and all of it is on its way at once; it leaves in runs of the
-- outputs. Warps share runs in pieces, whose lanes start at lines of memory. Where rows stay rows,
-- only such pieces are needed: each is loaded where the outputs' lanes are.
local LINE, SECTOR = 128, 32 -- bytes
local STEPS = 4 -- of a warp in a piece
local THREADS = 256 -- a block

-- Bytes of shared memory for a tile, and how many of its elements may be more than padding.
local function room_of(kib, bytes)
  local cells = kib * 1024 // bytes
  return cells, cells - cells // 80
end

-- Do the first `modes` dimensions of `order` lie behind each other in `op`?
local function is_run(p, op, order, modes)
  local steps = p.about.steps[op.number]
  for n = 1, modes - 1 do
    if kit.const_of(steps[order[n + 1]] - steps[order[n]] * p.n[order[n]]) ~= 0 then
      return false
    end
  end
  return kit.const_of(steps[order[1]]) == op.record.bytes
end

local function split(order, modes)
  local run, rows = {}, {}
  for n, d in ipairs(order) do
    local list = n <= modes and run or rows
    list[#list + 1] = d
  end
  return run, rows
end

-- ---- the tile in shared memory ----

-- Declares pitch_<dim>: how far neighbours along each dimension lie apart in the tile. Runs are
-- as in memory; rows start an odd number of words apart.
local function declare_pitches(p, modes_in)
  local vec, total, text = p.vec_in, p.n[1] * 0 + 1, "1"
  p.pitch = {}
  for n, d in ipairs(p.order_in) do
    local name = p.k.dims[d]
    if n > modes_in then
      total = (total + (vec - 1)) // (2 * vec) * (2 * vec) + vec
      text = string.format("(%s + %d) / %d * %d + %d", text, vec - 1, 2 * vec, 2 * vec, vec)
    end
    p.lines[#p.lines + 1] = string.format("const int pitch_%s = %s;", name, text)
    p.pitch[d] = total
    total = total * (p.box[d] or p.n[d])
    text = string.format("pitch_%s * %s_%s", name, p.box[d] and "box" or "len", name)
  end
  p.g:require(total:le(p.cells))
end

local function slot_text(p, dims)
  local parts = {}
  for n, d in ipairs(dims) do
    parts[n] = string.format("at_%s * pitch_%s", p.k.dims[d], p.k.dims[d])
  end
  return #parts > 0 and table.concat(parts, " + ") or "0"
end

-- ---- pieces of runs ----

-- Opens the loop over a warp's pieces of the runs along `run`: row by row along `rows`, `vec`
-- elements a lane and step. Lanes start at lines of `op`, unless all its rows start at sectors.
-- Sets p.at of the rows; returns the element of the run that the lane is at, lines before the loop
-- and in it, and the elements of a piece.
local function open_pieces(p, op, run, rows, vec)
  local g, k = p.g, p.k
  local line, sector = math.max(LINE // op.record.bytes, 1), math.max(SECTOR // op.record.bytes, 1)
  local piece = 32 * vec * STEPS
  local length, n_rows, starts = 1, 1, op.offset[1]
  local at, run_text, rows_text, inner = {}, {}, {}, {}
  for n, d in ipairs(run) do
    length, run_text[n], inner[d] = length * p.len[d], "len_" .. k.dims[d], n < #run
    at[#at + 1], at[#at + 2] = k.index[d], p.first[d]
  end
  for _, d in ipairs(p.outer) do
    at[#at + 1], at[#at + 2] = k.index[d], p.first[d]
  end
  for n, d in ipairs(rows) do
    n_rows, rows_text[n] = n_rows * p.len[d], "len_" .. k.dims[d]
  end
  -- as the boxes are chosen, it is so in any case: products keep within their range by it
  length, n_rows = (length + 0):min(p.room), (n_rows + 0 * p.n[1]):min(p.room)
  local base, off_text = E.subst(starts, p.zeros) // op.record.bytes, {}
  local off = base % sector
  off_text[1] = kit.const_of(base) ~= 0 and string.format("(int)(%s)", E.text(base, true)) or nil
  for d, step in ipairs(p.about.steps[op.number]) do
    local box, name = d == run[#run] and p.box[d], k.dims[d]
    if not inner[d] and (d ~= run[#run] or box) then
      off = off + (box or 1) * (step // op.record.bytes) % sector
      off_text[#off_text + 1] = string.format("%s%s_step_%s", box and "box_" .. name .. " * " or "",
        op.name, name)
    end
  end
  local slack = off:ne(0) * (line - 1)
  local pieces = (length + slack + (piece - 1)) // piece
  local turn = g:loop("turn", kit.ceil_div(n_rows * pieces, p.threads // 32))
  local item = g.thread // 32 + turn * (p.threads // 32)
  local row = item // pieces
  local rest = row
  for n, d in ipairs(rows) do
    local digit = n < #rows and rest % p.len[d] or rest
    rest = rest // p.len[d]
    p.at[d] = digit
    at[#at + 1], at[#at + 2] = k.index[d], p.first[d] + digit
  end
  local shift = E.subst(starts, at) // op.record.bytes % line * off:ne(0)
  local step = g:loop("step", STEPS)
  local cell = g:define("cell", 1 - line, kit.MAX_INDEX,
    (item % pieces * STEPS + step) * (32 * vec) + g.thread % 32 * vec - shift)
  g:when((item:lt(n_rows * pieces)):land((cell + 0):lt(0):lnot()):land(g:below(cell, length)))
  local lines = {
    string.format("const int run_length = %s;", table.concat(run_text, " * ")),
    "// 0 where every row starts at a sector: then lanes need not start at a line",
    string.format("const int slack = ((%s) & %d) != 0 ? %d : 0;",
      #off_text > 0 and table.concat(off_text, " | ") or "0", sector - 1, line - 1),
    string.format("const int pieces = (run_length + slack + %d) / %d; // of a run", piece - 1,
      piece),
    string.format("const int items = %s * pieces;", #rows > 0 and table.concat(rows_text, " * ")
      or "1"),
    "const unsigned int factor_pieces = factor_of(pieces);",
  }
  for n = 1, #rows - 1 do
    local name = k.dims[rows[n]]
    lines[#lines + 1] = string.format("const unsigned int factor_%s = factor_of(len_%s);", name,
      name)
  end
  return cell, lines, {
    "int cell_left = quotient(item, factor_pieces);",
    "const int piece = item - cell_left * pieces;", boxes.place_lines(p, rows),
  }, piece
end

local function row_place(p, op, rows)
  local text = op.name .. "_start"
  for _, d in ipairs(rows) do
    text = string.format("%s + at_%s * %s_step_%s", text, p.k.dims[d], op.name, p.k.dims[d])
  end
  return string.format("const int %s_place = %s;", op.name, text)
end

-- The steps of a piece, unrolled; `inside` is what lanes within the run do.
local function steps_text(piece, vec, inside)
  return kit.concat {
    "#pragma unroll", string.format("for (int step = 0; step < %d; step++) {", STEPS),
    string.format("  const int cell = piece * %d + (step * 32 + lane) * %d - shift;", piece, vec),
    "  if (cell >= 0 && cell < run_length) {", tiles.indent(inside, 4), "  }", "}",
  }
end

local function pieces_text(op, before, head, steps)
  return kit.concat {
    kit.concat(before), "for (int item = warp; item < items; item += kWarps) {",
    tiles.indent(kit.concat {
      kit.concat(head), string.format("const int shift = %s_place & slack;", op.name), steps,
    }, 2), "}",
  }
end

-- Ties the places along the run to its element `cell`.
local function tie_run(p, run, cell)
  local rest = cell
  for n, d in ipairs(run) do
    p.at[d] = n < #run and rest % p.len[d] or rest
    rest = rest // p.len[d]
    p.g:tie(p.k.index[d], p.first[d] + p.at[d])
  end
end

-- Ties the dimensions beside the run: those that the tile has several places of, and the others.
local function tie_others(p, rows)
  for _, d in ipairs(rows) do
    p.g:tie(p.k.index[d], p.first[d] + p.at[d])
  end
  for _, d in ipairs(p.outer) do
    p.g:tie(p.k.index[d], p.first[d])
  end
end

-- ---- in ----

local function load_tile(p, x, modes_in)
  local g, op, vec = p.g, x.op, p.vec_in
  local mark = #g.real
  local run, rows = split(p.order_in, modes_in)
  local cell, before, head, piece = open_pieces(p, op, run, rows, vec)
  tie_run(p, run, cell)
  tie_others(p, rows)
  local bytes = vec * op.record.bytes
  g:touch(op, false, bytes, op.offset[1]) -- such copies take no shared store
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  head[#head + 1] = row_place(p, op, rows)
  head[#head + 1] = string.format("const int %s_slot = %s;", op.name, slot_text(p, rows))
  return pieces_text(op, before, head, steps_text(piece, vec, string.format(
    "copy_async<%d>(&%s_tile[%s_slot + cell], &%s[%s_place + cell]);", bytes, op.name, op.name,
    op.pointer, op.name)))
end

-- ---- out ----

-- The element at hand of input `op` as text, and lines before it; `part`: a neighbour's number
-- along the outputs' fastest dimension.
local function read_input(p, op, run, part)
  local g, bytes, fastest = p.g, op.record.bytes, p.k.dims[p.order_out[1]]
  if p.is_exchanged[op.number] then
    local slot = 0
    for _, d in ipairs(p.order_out) do
      slot = slot + p.at[d] * p.pitch[d]
    end
    g:touch(nil, false, bytes, slot * bytes)
    return string.format("%s_tile[%s_slot + %s%s]", op.name, op.name, slot_text(p, run),
      part and " + part * pitch_" .. fastest or ""), ""
  end
  local text = op.name .. "_place"
  for _, d in ipairs(run) do
    text = string.format("%s + at_%s * %s_step_%s", text, p.k.dims[d], op.name, p.k.dims[d])
  end
  if part then
    text = string.format("%s + part * %s_step_%s", text, op.name, fastest)
  end
  local at = g:define(op.name .. "_element", 0, kit.MAX_INDEX, op.offset[1] // bytes)
  return g:load(op, 1, at * bytes),
    string.format("const long long %s_element = %s;", op.name, text)
end

local function find_cell(p, run)
  return "int cell_left = cell;\n" .. boxes.place_lines(p, run)
end

-- A step's elements one by one: read into registers, and computed and stored. All of a piece are
-- read before the first is stored.
local function move_elements(p, run, cell, head)
  local g = p.g
  local loads, lines = { find_cell(p, run) }, {}
  tie_run(p, run, cell)
  for n, op in ipairs(g.inputs) do
    local type = op.record.fields[1].cuda
    local value, line = read_input(p, op, run)
    head[#head + 1] = string.format("%s %s_v[%d];", type, op.name, STEPS)
    loads[#loads + 1] = kit.concat { line, string.format("%s_v[step] = %s;", op.name, value) }
    lines[n] = string.format("const %s %s = %s_v[step];", type, op.name, op.name)
  end
  lines[#lines + 1] = g:declare_outputs()
  lines[#lines + 1] = g:body()
  for _, op in ipairs(g.outputs) do
    local at = g:define(op.name .. "_element", 0, kit.MAX_INDEX, op.offset[1] // op.record.bytes)
    lines[#lines + 1] = string.format("const long long %s_element = %s_place + cell;", op.name,
      op.name)
    lines[#lines + 1] = g:store(op, 1, at * op.record.bytes, op.name)
  end
  return kit.concat(loads), kit.concat(lines)
end

-- A step's elements in groups, which are stored as words.
local function move_words(p, run, cell)
  local g, vec, lines = p.g, p.vec_out, { find_cell(p, run) }
  local part = g:loop("part", vec)
  local inside, stores = {}, {}
  tie_run(p, run, cell + part)
  for n, op in ipairs(g.inputs) do
    local value, line = read_input(p, op, run, true)
    inside[n] = kit.concat {
      line, string.format("const %s %s = %s;", op.record.fields[1].cuda, op.name, value),
    }
  end
  inside[#inside + 1] = g:declare_outputs()
  inside[#inside + 1] = g:body()
  g:close()
  tie_run(p, run, cell)
  for n, op in ipairs(g.outputs) do
    local word = kit.word_type[vec * op.record.bytes]
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda,
      op.name, vec)
    inside[#inside + 1] = string.format("%s_v[part] = %s;", op.name, op.name)
    g:touch(op, true, vec * op.record.bytes, op.offset[1])
    stores[n] = string.format("store_words<%s, 1>(&at<%s>(%s, %dll * (%s_place + cell)), %s_v);",
      word, word, op.pointer, op.record.bytes, op.name, op.name)
  end
  lines[#lines + 1] = kit.concat {
    "#pragma unroll", string.format("for (int part = 0; part < %d; part++) {", vec),
    tiles.indent(kit.concat(inside), 2), "}", kit.concat(stores),
  }
  return kit.concat(lines)
end

local function store_tile(p, modes_out)
  local g, first = p.g, p.g.outputs[1]
  local mark = #g.real
  local run, rows = split(p.order_out, modes_out)
  local cell, before, head, piece = open_pieces(p, first, run, rows, p.vec_out)
  tie_others(p, rows)
  for n = 1, #run - 1 do
    local name = p.k.dims[run[n]]
    before[#before + 1] = string.format("const unsigned int factor_%s = factor_of(len_%s);", name,
      name)
  end
  for _, op in ipairs(g.ops) do
    head[#head + 1] = p.is_exchanged[op.number]
      and string.format("const int %s_slot = %s;", op.name, slot_text(p, rows))
      or row_place(p, op, rows)
  end
  local steps
  if p.vec_out > 1 then
    steps = steps_text(piece, p.vec_out, move_words(p, run, cell))
  else
    local loads, stores = move_elements(p, run, cell, head)
    steps = steps_text(piece, 1, loads) .. "\n" .. steps_text(piece, 1, stores)
  end
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  return pieces_text(first, before, head, steps)
end

-- ---- the plan ----

-- Requires that `op`'s runs are whole words of `vec` elements: rows, and chunks of the last
-- dimension of `run`.
local function require_words(p, op, run, vec)
  local steps, bytes = p.about.steps[op.number], op.record.bytes
  if E.divisor(E.subst(op.offset[1], p.zeros)) % (vec * bytes) ~= 0 then
    return false
  end
  local inner = {}
  for n = 1, #run - 1 do
    inner[run[n]] = true
  end
  local last = run[#run]
  for d, step in ipairs(steps) do
    if d ~= last and not inner[d] and E.divisor(step) % (vec * bytes) ~= 0 then
      p.g:require((step // bytes % vec):eq(0))
    end
  end
  local step = steps[last] // bytes
  p.g:require((p.n[last] * step % vec):eq(0))
  if p.box[last] then -- the last chunk is what the others leave
    p.g:require((p.box[last] * step % vec * p.box[last]:ne(p.n[last])):eq(0))
  end
  p.g:need_align(op, vec * bytes)
  return true
end

local function adopt_operands(p, c)
  local g = p.g
  p.exchanged, p.is_exchanged = {}, {}
  local run_in, run_out = split(p.order_in, c.modes_in), split(p.order_out, c.modes_out)
  for _, op in ipairs(g.ops) do
    local run, order, vec = run_out, p.order_out, c.vec_out
    if c.through == "shared" and p.about.exchanged[op.number] then
      run, order, vec = run_in, p.order_in, c.vec_in
      if vec * op.record.bytes < 4 or vec * op.record.bytes > 16 then
        return nil, op.name .. ": asynchronous copies have 4, 8 or 16 bytes"
      end
      p.exchanged[#p.exchanged + 1] = { op = op, type = op.record.fields[1].cuda,
        at = #p.exchanged * c.room * 1024 }
      p.is_exchanged[op.number] = true
    end
    if op.is_output or p.is_exchanged[op.number] then
      if not is_run(p, op, order, #run) then
        return nil, op.name .. ": the dimensions of its runs do not follow each other"
      elseif vec > 1 and not require_words(p, op, op.is_output and { run[1] } or run, vec) then
        return nil, op.name .. ": its rows do not start on a word"
      end
    end
  end
  return true
end

-- The widest word, in elements, of runs of `modes` dimensions of `order` at some size.
local function widest(k, order, modes)
  local word, most = 1, math.max(16 // tiles.largest(k), 1)
  for _, extents in ipairs(boxes.extents(k, order)) do
    local length = 1
    for m = 1, math.min(modes, #extents) do
      length = length * math.max(extents[m], 1)
    end
    word = math.max(word, kit.word_bytes(length, most))
  end
  return word
end

local function facts(k)
  local about = boxes.about(k)
  local list = {
    { "rank", #k.dims }, { "bytes", tiles.largest(k) },
    { "same", about.into[1] == about.out[1] and 1 or 0 },
    { "good_in", boxes.good_modes(k, about.into, 512) },
    { "good_out", boxes.good_modes(k, about.out, 2048) }, { "widest_out", widest(k, about.out, 1) },
  }
  for m = 1, 3 do
    list[#list + 1] = { "widest_in_" .. m, widest(k, about.into, m) }
  end
  return list
end

local function where()
  local list = {
    "modes_in <= rank and modes_out <= rank", "vec_out * bytes <= 16",
    "vec_out == 1 or vec_out == widest_out",
    "through ~= 'shared' or (vec_in * bytes >= 4 and vec_in * bytes <= 16)",
    "through == 'shared' or (same == 1 and modes_in == 1 and run == 64)",
    "through == 'shared' or (vec_in == 1 and vec_out == 1)",
    -- two long dimensions: tile and jagged take 8 to 20 % less on an H200
    "rank > 3 or modes_in > 1 or modes_out > 1 or through == 'registers'",
  }
  for m = 1, 3 do
    list[#list + 1] = string.format(
      "modes_in ~= %d or good_in // %d %% 2 == 1 or through == 'registers'", m, 1 << m)
    list[#list + 1] = string.format("modes_out ~= %d or good_out // %d %% 2 == 1", m, 1 << m)
    list[#list + 1] = string.format(
      "modes_in ~= %d or vec_in == widest_in_%d or vec_in * bytes == 4 or through == 'registers'",
      m, m)
  end
  return list
end

local DOC = "A tile covers the runs along %s of the inputs and along %s of the outputs, at most %d "
  .. "elements; a block %s."

return {
  name = "runs",
  doc = "Dimensions in another order: large tiles of runs over several dimensions, by asynchronous "
    .. "copies (sm_80).",
  applies = {
    { "the device has asynchronous copies", function(k) return k.device.cc >= 80 end },
    { "inputs and outputs are dense arrays of a bare type in different orders", function(k)
      return boxes.about(k) ~= nil
    end },
  },
  axes = {
    { "room", { 56, 28, 74 }, key = "s", doc = "KiB of shared memory that a tile may take" },
    { "modes_in", { 1, 2, 3 }, key = "p", doc = "dimensions that make a run of the inputs" },
    { "modes_out", { 1, 2, 3 }, key = "q", doc = "dimensions that make a run of the outputs" },
    { "vec_in", { 1, 2, 4, 8, 16 }, key = "vi", doc = "elements in a copy when loading" },
    { "vec_out", { 1, 2, 4, 8, 16 }, key = "vo", doc = "elements in a word when storing" },
    { "run", { 64, 128, 256 }, key = "r",
      doc = "elements that a run of the outputs should have" },
    { "through", { "shared", "registers" }, key = "x",
      doc = "where elements wait; registers: where rows stay rows" },
    { "hint", { "none", "keepout" }, key = "h", doc = kit.hints.DOC },
  },
  where = where(),
  facts = facts,
  template = "runs.cu",
  plan = function(k, c)
    local about, reason = boxes.about(k)
    if not about then
      return nil, reason
    end
    local cells, room = room_of(c.room, tiles.largest(k))
    local p = boxes.start(k, about, {
      threads = THREADS, modes_in = c.modes_in, modes_out = c.modes_out, vec_in = c.vec_in,
      vec_out = c.vec_out, run = c.run, order = "b", hint = kit.hints.of(k, c.hint),
    }, "permute", { room, "kCells", even = true })
    if #p.chunked < 2 and c.run ~= 64 then
      return nil, "the run's length follows from the tile's"
    end
    local g = p.g
    p.room, p.cells, p.at = room, cells, {}
    local good, why = adopt_operands(p, c)
    if not good then
      return nil, why
    end
    p.shared_bytes = #p.exchanged * c.room * 1024
    if p.shared_bytes > k.device.smem_optin_bytes then
      return nil, "the tiles need more shared memory than a block has"
    end
    if c.through == "shared" then
      declare_pitches(p, c.modes_in)
      local around_l1 = true -- only copies of 16 bytes can go around it
      for _, x in ipairs(p.exchanged) do
        around_l1 = around_l1 and c.vec_in * x.op.record.bytes == 16
      end
      g.needs.copy_async = around_l1 and "cg" or "ca"
    end
    boxes.enter_tile(p, 0)
    g.needs.words, g.needs.at = c.vec_out > 1, c.vec_out > 1
    for _, x in ipairs(p.exchanged) do
      x.load = load_tile(p, x, c.modes_in)
    end
    p.store = store_tile(p, c.modes_out)
    p.cut, p.bounds = kit.concat(p.lines), THREADS
    p.into, p.out = boxes.names(p, about.into, c.modes_in), boxes.names(p, about.out, c.modes_out)
    p.doc = string.format(DOC, p.into, p.out, room, c.through == "shared"
      and "brings one into shared memory by asynchronous copies" or "moves one through registers")
    kit.hand_over(g, p)
    return p
  end,
}
