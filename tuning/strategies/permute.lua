-- permute: n-d permutes whose fastest dimensions may be short. A tile covers the fastest dimensions
-- of both sides, so that inputs and outputs move in runs; it is exchanged through shared memory, or
-- not at all where both sides have the same fastest dimension and it is long.

-- ---- text ----

-- Declares <op>_place, where the element at hand lies; `part` is a neighbour's number along the
-- outputs' fastest dimension.
local function declare_place(p, op, part)
  local name = op.name .. "_place"
  local d = p.order_out[1]
  local place = p.g:define(name, 0, kit.MAX_INDEX, op.offset[1] // op.record.bytes)
  return place * op.record.bytes, string.format("const long long %s = %s_start + %s_at[turn]%s;",
    name, op.name, op.name, part and string.format(" + part * %s_step_%s", op.name, p.k.dims[d])
    or "")
end

local function load_word(g, op, to, width, at)
  local word = kit.word_type[width * op.record.bytes]
  g:touch(op, false, width * op.record.bytes, at)
  return string.format("load_words<%s, 1>(%s, &at<%s>(%s, %s));", word, to, word, op.pointer,
    E.text(at, true))
end

local function turn_loop(p, vec)
  local turn = p.g:loop("turn", p.items // vec)
  return turn, string.format("for (int turn = 0; turn < %d; turn++) {", p.items // vec)
end

local function cell_text(vec)
  return string.format("(member + turn * kThreads)%s", vec > 1 and " * " .. vec or "")
end

-- In: loads of the exchanged inputs into registers, and from there into the tile.
local function load_in(p)
  local g, vec = p.g, p.vec_in
  local mark = #g.real
  local round = g:loop("round", p.count)
  boxes.enter_tile(p, round)
  local assign, loads, puts = {}, {}, {}
  for n, x in ipairs(p.exchanged) do
    assign[n] = string.format("%s_at[turn] = %s;", x.op.name,
      boxes.offset_text(p, p.order_in, x.op))
  end
  local turn, open = turn_loop(p, vec)
  local cell = (g.thread + turn * p.threads) * vec
  boxes.tie_cell(p, p.order_in, cell)
  g:when(cell:lt(p.cells_of_tile))
  for _, x in ipairs(p.exchanged) do
    local op = x.op
    local at, line = declare_place(p, op)
    loads[#loads + 1] = line
    loads[#loads + 1] = vec > 1 and load_word(g, op, op.name .. "_v[turn]", vec, at)
      or string.format("%s_v[turn][0] = %s;", op.name, g:load(op, 1, at))
    for part = 0, vec - 1 do
      g:touch(nil, true, op.record.bytes, boxes.swizzled(cell + part, op.record.bytes)
        * op.record.bytes)
    end
    local slot = E.var("tile_cell", 0, p.cells - 1, vec)
      + (vec > 1 and E.var("part", 0, vec - 1) or 0)
    puts[#puts + 1] = string.format("%s_tile[%s] = %s_v[turn][%s];", op.name,
      E.text(boxes.swizzled(slot, op.record.bytes), false), op.name, vec > 1 and "part" or "0")
  end
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  local put = kit.concat(puts)
  if vec > 1 then
    put = string.format("#pragma unroll\nfor (int part = 0; part < %d; part++) {\n%s\n}", vec,
      tiles.indent(put, 2))
  end
  local guard = string.format("  if (tile_cell < tile_cells) {")
  local number = string.format("  const int tile_cell = %s;", cell_text(vec))
  return kit.concat {
    boxes.open_tile(p), boxes.find_places(p, "in", p.order_in, vec, kit.concat(assign)),
    "#pragma unroll", open, number, guard, tiles.indent(kit.concat(loads), 4), "  }", "}",
  }, kit.concat {
    "#pragma unroll", open, number, guard, tiles.indent(put, 4), "  }", "}",
  }
end

-- Where the element at hand lies in the tile, in load order.
local function slot_of(p, digits)
  local slot, weight = 0, 1
  for _, d in ipairs(p.order_in) do
    slot = slot + digits[d] * weight
    weight = weight * p.len[d]
  end
  return slot
end

local function slot_text(p)
  local text = ""
  for n = #p.order_in, 1, -1 do
    local name = p.k.dims[p.order_in[n]]
    text = text == "" and "at_" .. name or string.format("(%s) * len_%s + at_%s", text, name, name)
  end
  return (string.gsub(text, "^%((at_[%w_]+)%)", "%1"))
end

-- Neighbours along the outputs' fastest dimension are this far apart in the tile.
local function slot_step(p)
  local parts = {}
  for _, d in ipairs(p.order_in) do
    if d == p.order_out[1] then
      break
    end
    parts[#parts + 1] = "len_" .. p.k.dims[d]
  end
  return #parts > 0 and table.concat(parts, " * ") or "1"
end

-- Statements that declare the inputs' values for the element at hand.
local function read_inputs(p, digits)
  local g, lines = p.g, {}
  local part = p.vec_out > 1
  for _, op in ipairs(g.inputs) do
    local type, bytes = op.record.fields[1].cuda, op.record.bytes
    if p.is_exchanged[op.number] then
      g:touch(nil, false, bytes, boxes.swizzled(slot_of(p, digits), bytes) * bytes)
      local slot = op.name .. "_cell[turn / 2] >> turn % 2 * 16 & 0xffff"
      if part then
        lines[#lines + 1] = string.format("const int %s_slot = (%s) + part * slot_step;", op.name,
          slot)
        slot = E.text(boxes.swizzled(E.var(op.name .. "_slot", 0, p.cells - 1), bytes), false)
      end
      lines[#lines + 1] = string.format("const %s %s = %s_tile[%s];", type, op.name, op.name, slot)
    elseif p.through == "registers" then
      lines[#lines + 1] = string.format("const %s %s = %s_v[turn][%s];", type, op.name, op.name,
        part and "part" or "0")
    else
      local at, line = declare_place(p, op, part)
      lines[#lines + 1] = line
      lines[#lines + 1] = string.format("const %s %s = %s;", type, op.name, g:load(op, 1, at))
    end
  end
  return kit.concat(lines)
end

local function unrolled_parts(p, text)
  return string.format("#pragma unroll\nfor (int part = 0; part < %d; part++) {\n%s\n}", p.vec_out,
    tiles.indent(text, 2))
end

-- Computes the group of elements at hand and stores it.
local function store_group(p, cell)
  local g, vec, lines = p.g, p.vec_out, {}
  if vec == 1 then
    local digits = boxes.tie_cell(p, p.order_out, cell)
    lines = { read_inputs(p, digits), g:declare_outputs(), g:body() }
    for _, op in ipairs(g.outputs) do
      local at, line = declare_place(p, op)
      lines[#lines + 1] = line
      lines[#lines + 1] = g:store(op, 1, at, op.name)
    end
    return kit.concat(lines)
  end
  local part = g:loop("part", vec)
  local digits = boxes.tie_cell(p, p.order_out, cell + part)
  local inside = { read_inputs(p, digits), g:declare_outputs(), g:body() }
  g:close()
  boxes.tie_cell(p, p.order_out, cell)
  for n, op in ipairs(g.outputs) do
    lines[n] = string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda, op.name, vec)
    inside[#inside + 1] = string.format("%s_v[part] = %s;", op.name, op.name)
  end
  lines[#lines + 1] = unrolled_parts(p, kit.concat(inside))
  for _, op in ipairs(g.outputs) do
    local at, line = declare_place(p, op)
    local word = kit.word_type[vec * op.record.bytes]
    g:touch(op, true, vec * op.record.bytes, at)
    lines[#lines + 1] = line
    lines[#lines + 1] = string.format("store_words<%s, 1>(&at<%s>(%s, %s), %s_v);", word, word,
      op.pointer, E.text(at, true), op.name)
  end
  return kit.concat(lines)
end

-- The operands whose places are found in the order of the outputs.
local function ops_out(p)
  local ops = {}
  for _, op in ipairs(p.g.ops) do
    if not p.is_exchanged[op.number] then
      ops[#ops + 1] = op
    end
  end
  return ops
end

-- Loads the group's values of one input into registers.
local function load_group(p, op, cell)
  local g, vec = p.g, p.vec_out
  local to = op.name .. "_v[turn]"
  if vec == 1 or p.words[op.number] then
    boxes.tie_cell(p, p.order_out, cell)
    local at, line = declare_place(p, op)
    return line .. "\n" .. (vec > 1 and load_word(g, op, to, vec, at)
      or string.format("%s[0] = %s;", to, g:load(op, 1, at)))
  end
  local part = g:loop("part", vec)
  boxes.tie_cell(p, p.order_out, cell + part)
  local at, line = declare_place(p, op, true)
  local text = string.format("%s\n%s[part] = %s;", line, to, g:load(op, 1, at))
  g:close()
  return unrolled_parts(p, text)
end

-- Out: the elements in the order of the outputs.
local function store_out(p)
  local g, vec = p.g, p.vec_out
  local mark = #g.real
  local round = g:loop("round", p.count)
  boxes.enter_tile(p, round)
  local ops, assign, lines = ops_out(p), {}, {}
  for n, op in ipairs(ops) do
    assign[n] = string.format("%s_at[turn] = %s;", op.name,
      boxes.offset_text(p, p.order_out, op))
  end
  for _, x in ipairs(p.exchanged) do
    local bytes, slot = x.op.record.bytes, slot_text(p)
    local place = x.op.name .. "_slot"
    if vec == 1 then
      place = E.text(boxes.swizzled(E.var(place, 0, p.cells - 1), bytes), false)
    end
    assign[#assign + 1] = string.format("const int %s_slot = %s;\n%s_cell[turn / 2] = turn %% 2 == "
      .. "0 ? %s : %s_cell[turn / 2] | (%s) << 16; // two in an int", x.op.name, slot, x.op.name,
      place, x.op.name, place)
  end
  lines[1] = p.through == "registers" and boxes.open_tile(p) or boxes.reopen_tile(p)
  lines[2] = boxes.find_places(p, "out", p.order_out, vec, kit.concat(assign))
  if vec > 1 and #p.exchanged > 0 then
    lines[3] = string.format("const int slot_step = %s;", slot_step(p))
  end
  local turn, open = turn_loop(p, vec)
  local cell = (g.thread + turn * p.threads) * vec
  g:when(cell:lt(p.cells_of_tile))
  local guard = string.format("  if (%s < tile_cells) {", cell_text(vec))
  if p.through == "registers" then
    local loads = {}
    for n, op in ipairs(g.inputs) do
      loads[n] = load_group(p, op, cell)
    end
    lines[#lines + 1] = kit.concat {
      "#pragma unroll", open, guard, tiles.indent(kit.concat(loads), 4), "  }", "}",
    }
  end
  lines[#lines + 1] = kit.concat {
    "#pragma unroll", open, guard, tiles.indent(store_group(p, cell), 4), "  }", "}",
  }
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  return kit.concat(lines)
end

-- ---- the plan ----

local function adopt_operands(p)
  p.exchanged, p.is_exchanged, p.words = {}, {}, {}
  for _, op in ipairs(p.g.ops) do
    local good, why = true, nil
    if op.is_output then
      good, why = boxes.adopt_word(p, op, p.order_out[1], p.vec_out)
    elseif p.through == "shared" and p.about.exchanged[op.number] then
      good, why = boxes.adopt_word(p, op, p.order_in[1], p.vec_in)
      p.exchanged[#p.exchanged + 1] = { op = op, type = op.record.fields[1].cuda }
      p.is_exchanged[op.number] = true
      p.g.static_shared_bytes = p.g.static_shared_bytes + p.cells * op.record.bytes
    elseif p.through == "registers" and p.about.into[1] == p.about.out[1]
      and p.about.exchanged[op.number] then
      good, why = boxes.adopt_word(p, op, p.order_out[1], p.vec_out)
      p.words[op.number] = true
    end
    if not good then
      return nil, op.name .. ": " .. why
    end
  end
  return true
end

-- Registers that stay over the rounds: places and values.
local function declare(p)
  local lines = { boxes.remember(p, "in"), boxes.remember(p, "out"), boxes.declare_tile(p) }
  local ints = {}
  local turns_in, turns_out = p.items // p.vec_in, p.items // p.vec_out
  if p.through == "registers" then
    lines[1] = ""
  end
  for _, x in ipairs(p.exchanged) do
    ints[#ints + 1] = string.format("%s_at[%d], %s_cell[%d]", x.op.name, turns_in, x.op.name,
      (turns_out + 1) // 2)
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d][%d];", x.type, x.op.name,
      turns_in, p.vec_in)
  end
  for _, op in ipairs(ops_out(p)) do
    ints[#ints + 1] = string.format("%s_at[%d]", op.name, turns_out)
    if p.through == "registers" and not op.is_output then
      lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d][%d];",
        op.record.fields[1].cuda, op.name, turns_out, p.vec_out)
    end
  end
  lines[#lines + 1] = "int " .. table.concat(ints, ", ") .. ";"
  return kit.concat(lines)
end

local DOC = "A tile covers the runs along %s of the inputs and along %s of the outputs, at most %d "
  .. "elements; a block takes %d of them%s."

-- ---- facts: which axes' values can be good at the tuned sizes ----

-- The widest word, in elements, for which rows of `order` are long enough at some size.
local function widest(k, order)
  local word = 1
  for _, extents in ipairs(boxes.extents(k, order)) do
    word = math.max(word, kit.word_bytes(math.max(extents[1], 1), 4))
  end
  return word
end

local function facts(k)
  local about = boxes.about(k)
  local same = about.into[1] == about.out[1]
  local short = false
  for _, extents in ipairs(boxes.extents(k, about.out)) do
    short = short or extents[1] < 32
  end
  return {
    { "rank", #k.dims }, { "bytes", tiles.largest(k) }, { "same", same and 1 or 0 },
    { "short", short and 1 or 0 },
    { "good_in", boxes.good_modes(k, about.into, 512) | (same and 2 or 0) },
    { "good_out", boxes.good_modes(k, about.out, 2048) },
    { "widest_in", widest(k, about.into) }, { "widest_out", widest(k, about.out) },
  }
end

local function where()
  local list = {
    "modes_in <= rank and modes_out <= rank",
    "vec_in <= widest_in and vec_out <= widest_out",
    "vec_in * bytes <= 16 and vec_out * bytes <= 16",
    "items * bytes <= 64 and items * bytes >= 32", "items >= vec_in and items >= vec_out",
    "threads * items * bytes <= 32768",
    "vec_in == 1 or vec_in == widest_in", "vec_out == 1 or vec_out == widest_out",
    -- rows of both sides move as they are: nothing to exchange, and no runs of the inputs to choose
    "through ~= 'shared' or same == 0 or (short == 1 and modes_in > 1 and modes_out > 1)",
    "through == 'shared' or ((same == 1 and modes_in == 1) or (threads == 256 and rounds == 8))",
    "through == 'shared' or (vec_in == vec_out and run == 64)",
    -- of a 2-D transpose with long sides the strategy tile is the better form
    "rank > 2 or modes_in > 1 or modes_out > 1",
    "threads == 256 or (rounds == 8 and order == 'a' and items * bytes == 64)",
    "hint == 'none' or (order == 'a' and threads == 256 and rounds == 8)",
  }
  for m = 1, 4 do
    list[#list + 1] = string.format("modes_in ~= %d or good_in // %d %% 2 == 1", m, 1 << m)
    list[#list + 1] = string.format("modes_out ~= %d or good_out // %d %% 2 == 1", m, 1 << m)
  end
  return list
end

local function is_permute(k)
  return boxes.about(k) ~= nil
end

-- Worth it: more than two dimensions, or a short one.
local function is_hard(k)
  local about = boxes.about(k)
  if #k.dims > 2 then
    return true
  end
  for _, order in ipairs { about.into, about.out } do
    for _, extents in ipairs(boxes.extents(k, order)) do
      if extents[1] < 24 then
        return true
      end
    end
  end
  return false
end

return {
  name = "permute",
  doc = "Dimensions in another order, short ones too: tiles of the fastest dimensions of both "
    .. "sides.",
  applies = {
    { "inputs and outputs are dense arrays of a bare type in different orders", is_permute },
    { "there are more than two dimensions, or one of them is short", is_hard },
  },
  axes = {
    { "threads", { 256, 128 }, key = "t", doc = "threads a block" },
    { "items", { 16, 8, 4, 32 }, key = "i", doc = "elements a thread in a tile" },
    { "modes_in", { 1, 2, 3, 4 }, key = "p", doc = "dimensions that make a run of the inputs" },
    { "modes_out", { 1, 2, 3, 4 }, key = "q", doc = "dimensions that make a run of the outputs" },
    { "vec_in", { 1, 2, 4 }, key = "vi", doc = "elements in a word when loading" },
    { "vec_out", { 1, 2, 4 }, key = "vo", doc = "elements in a word when storing" },
    { "run", { 64, 128 }, key = "r",
      doc = "elements that a run of the outputs should have" },
    { "rounds", { 8, 2 }, key = "n", doc = "tiles a block" },
    { "through", { "shared", "registers" }, key = "x", doc = "where elements are exchanged" },
    { "order", { "a", "b" }, key = "o",
      doc = "whose neighbours consecutive blocks are: the inputs' (a) or the outputs' (b)" },
    { "hint", { "none", "cs" }, key = "h",
      doc = "cache hint: cs marks loads and stores as streaming" },
  },
  where = where(),
  facts = facts,
  template = "box.cu",
  plan = function(k, c)
    local about, reason = boxes.about(k)
    if not about then
      return nil, reason
    end
    local p = boxes.start(k, about, c, "permute")
    p.bounds = c.threads
    p.through = c.through
    if #p.chunked < 2 and c.run ~= 64 then
      return nil, "the run's length follows from the tile's"
    end
    local good, why = adopt_operands(p)
    if not good then
      return nil, why
    end
    local g = p.g
    if g.static_shared_bytes > k.device.smem_block_bytes then
      return nil, "the tiles need more shared memory than a block has"
    end
    if c.through == "shared" then
      p.first_out = "round == 1"
      p.load_in, p.put = load_in(p)
      p.keep, p.store_out = boxes.keep_tile(p), store_out(p)
    else
      p.first_out = "round == 0"
      p.move = store_out(p)
    end
    p.declare = declare(p)
    p.rounds = 33 -- any number of blocks will do; lanes find new tiles after 32
    p.into, p.out = boxes.names(p, about.into, c.modes_in), boxes.names(p, about.out, c.modes_out)
    p.doc = string.format(DOC, p.into, p.out, p.cells, c.rounds,
      c.through == "shared" and ", exchanged through shared memory" or "")
    kit.hand_over(g, p)
    return p
  end,
}
