-- packed: transposes of elements of 1 and 2 bytes. Blocks of 4 x 4 or 2 x 2 of them, a word each
-- row, are exchanged in registers on their way into the tile, so that shared and global memory are
-- moved in whole words on both sides. With `realign`, rows may start anywhere: a word is put
-- together from the two aligned ones it straddles.
local WORD = 4

-- Words of the tile lie column by column: pitch words along b for each, and `step` more after as
-- many columns as a lane loads, so that the lanes of a warp store into different banks. y is
-- counted in elements.
local function word_index(p, y, col)
  return col * p.pitch + col // p.lane_cols * p.step + y // p.per_word
end

local function start_plan(k, c)
  local bytes = k.operands[#k.operands].record.bytes
  local per_word = WORD // bytes
  local p, reason = tiles.start(k, {
    threads = c.threads, tile_a = c.bytes_a // bytes, tile_b = c.bytes_b // bytes, hint = c.hint,
  }, "packed")
  if not p then
    return nil, reason
  end
  p.bytes, p.per_word, p.words, p.realign = bytes, per_word, c.words, c.realign ~= "none"
  p.vec_in, p.vec_out = c.words * per_word, c.words * per_word
  p.lane_cols, p.step = p.vec_in, c.words
  p.skew = ({ none = 0, word = WORD, sector = 32 })[c.realign] // bytes
  p.inner = p.realign -- a realigned word may end behind the last row
  p.pitch = (p.tile_b + p.skew) // per_word
  return p
end

-- Takes an exchanged input into the plan: its tile in shared memory.
local function adopt_exchanged(p, op)
  local elems = p.tile_a * p.pitch + p.tile_a // p.lane_cols * p.step
  p.exchanged[#p.exchanged + 1] = {
    op = op, name = op.name .. "_tile", type = "unsigned int", elems = elems,
    how = string.format("%d elements along %s a word; %d words more every %d columns: columns fall "
      .. "into different banks", p.per_word, p.b, p.step, p.lane_cols),
  }
  p.g.static_shared_bytes = p.g.static_shared_bytes + elems * WORD
end

local function adopt_operands(p)
  for _, op in ipairs(p.g.ops) do
    local exchanged = tiles.is_exchanged(p, op)
    if p.realign and (exchanged or op.is_output) then
      if not tiles.is_run(p.k, op, exchanged and p.dim_a or p.dim_b) then
        return nil, op.name .. ": its elements are not one run"
      end
      p.g:need_align(op, op.is_output and p.skew * p.bytes or WORD)
    elseif exchanged or op.is_output then
      local good, why = tiles.adopt_word(p, op, exchanged and p.dim_a or p.dim_b, p.vec_in, false)
      if not good then
        return nil, op.name .. ": " .. why
      end
    end
    if exchanged then
      adopt_exchanged(p, op)
    end
  end
  p.g.needs.at, p.g.needs.exchange = true, p.per_word
  p.g.needs.realigned = p.realign
  return true
end

-- Notes an access to one element of the tile; its text.
local function cell(p, x, store, y, col)
  local at = word_index(p, y, col) * WORD + y % p.per_word * p.bytes
  p.g:touch(nil, store, p.bytes, at)
  return string.format("at<%s>(%s, %s)", x.op.record.fields[1].cuda, x.name, E.text(at, false))
end

-- ---- in ----

-- Which columns and rows a lane loads in one turn: a warp covers 128 bytes of `words` groups of
-- rows.
local function load_jobs(p)
  local lanes = 32 // p.words
  local across = p.tile_a // (lanes * p.lane_cols)
  local groups = (p.tile_b + p.skew) // (p.words * p.per_word)
  local jobs, warps = across * groups, p.threads // 32
  return {
    lanes = lanes, across = across, warps = warps, jobs = jobs, turns = kit.ceil_div(jobs, warps),
    ragged = jobs % warps ~= 0,
  }
end

local function define_load_job(p, job, turn)
  local g = p.g
  local lane = g:define("lane", 0, 31, g.thread % 32)
  local number = g:define("warp_job", 0, job.turns * job.warps - 1,
    g.thread // 32 + turn * job.warps)
  local col = g:define("tile_x", 0, p.tile_a - 1,
    number % job.across * (job.lanes * p.lane_cols) + lane % job.lanes * p.lane_cols, p.lane_cols)
  local row = g:define("tile_y", 0, p.tile_b + p.skew - 1,
    (number // job.across * p.words + lane // job.lanes) * p.per_word, p.per_word)
  local text = string.format("const int warp_job = thread / 32 + turn * %d;\n"
    .. "const int tile_x = warp_job %% %d * %d + thread %% %d * %d;\n"
    .. "const int tile_y = (warp_job / %d * %d + thread %% 32 / %d) * %d;", job.warps, job.across,
    job.lanes * p.lane_cols, job.lanes, p.lane_cols, job.across, p.words, job.lanes, p.per_word)
  return col, row, number, text
end

-- Statement that loads the words of one row of a block.
local function load_row(p, op)
  local g, at = p.g, op.offset[1]
  if not p.realign then
    local word = kit.word_type[p.words * WORD]
    g:touch(op, false, p.words * WORD, at)
    return string.format("load_words<%s, 1>(loaded[turn][part], &at<%s>(%s, %s));", word, word,
      op.pointer, E.text(at, true))
  end
  local warps = g.warp_condition
  local lanes = g.condition
  g:touch(op, false, WORD, at // WORD * WORD)
  local off = E.subst((at % WORD):ne(0), g.real)
  g.condition = lanes and lanes:land(off) or off
  g:touch(op, false, WORD, at // WORD * WORD + WORD)
  g.condition, g.warp_condition = lanes, warps
  return string.format("loaded[turn][part][0] = load_realigned(%s, %s);", op.pointer,
    E.text(at, true))
end

local function load_tile(p, x)
  local g, op, job = p.g, x.op, load_jobs(p)
  local mark = #g.real
  local turn = g:loop("turn", job.turns)
  local col, row, number, place = define_load_job(p, job, turn)
  g:when(job.ragged and g:below(number, job.jobs) or nil, p.full)
  local part = g:loop("part", p.per_word)
  g:tie(p.var_a, p.first_a + col)
  g:tie(p.var_b, p.first_b - p.skew + row + part)
  local load = load_row(p, op)
  g:close()
  local index = word_index(p, row, col + E.var("word", 0, p.words - 1) * p.per_word
    + E.var("part", 0, p.per_word - 1))
  local word, again = g:loop("word", p.words), g:loop("part", p.per_word)
  g:touch(nil, true, WORD, word_index(p, row, col + word * p.per_word + again) * WORD)
  g:close()
  g:close()
  g:when(nil)
  g:close()
  g:forget(mark)
  local guard = job.ragged and string.format("if (warp_job >= %d) break;", job.jobs) or ""
  return kit.concat {
    string.format("{ // %s in: words along %s, all loads before the first use", op.name, p.a),
    string.format("  __align__(16) unsigned int loaded[%d][%d][%d];", job.turns, p.per_word,
      p.words),
    "#pragma unroll",
    string.format("  for (int turn = 0; turn < %d; turn++) {", job.turns),
    tiles.indent(kit.concat { place, guard }, 4),
    "#pragma unroll",
    string.format("    for (int part = 0; part < %d; part++) {", p.per_word),
    string.format("      const long long %s = first_%s%s + tile_y + part, %s = first_%s + tile_x;",
      p.b, p.b, p.skew > 0 and " - kSkew" or "", p.a, p.a),
    "      " .. load,
    "    }",
    "  }",
    "#pragma unroll",
    string.format("  for (int turn = 0; turn < %d; turn++) {", job.turns),
    tiles.indent(kit.concat { place, guard }, 4),
    "#pragma unroll",
    string.format("    for (int word = 0; word < %d; word++) {", p.words),
    string.format("      exchange_block<%d>(loaded[turn], word); // rows become columns", p.words),
    "#pragma unroll",
    string.format("      for (int part = 0; part < %d; part++)", p.per_word),
    string.format("        %s[%s] = loaded[turn][part][word];", x.name, E.text(index, false)),
    "    }",
    "  }",
    "}",
  }
end

-- ---- out ----

-- Statements that declare the group's values of one exchanged input and take them from the tile.
local function take_group(p, x, y, col)
  local g = p.g
  local type, array = x.op.record.fields[1].cuda, x.op.name .. "_v"
  local lines = { string.format("__align__(16) %s %s[%d];", type, array, p.vec_out) }
  if not p.realign then
    local word = kit.word_type[p.words * WORD]
    local index = word_index(p, y, col)
    g:touch(nil, false, p.words * WORD, index * WORD)
    lines[2] = string.format("at<%s>(%s, 0) = at<%s>(&%s[%s], 0);", word, array, word, x.name,
      E.text(index, false))
    return kit.concat(lines)
  end
  local index = word_index(p, y, col)
  g:touch(nil, false, WORD, index * WORD)
  local warps = g.warp_condition
  g.condition = E.subst((y % p.per_word):ne(0), g.real)
  g:touch(nil, false, WORD, index * WORD + WORD)
  g.condition, g.warp_condition = nil, warps
  lines[2] = string.format("at<unsigned int>(%s, 0) = load_realigned(&%s[%s], %s);", array,
    x.name, E.text(index - y // p.per_word, false), E.text(y * p.bytes, false))
  return kit.concat(lines)
end

local function store_tile(p)
  local g, grid = p.g, tiles.lane_grid(p)
  local turns = kit.ceil_div(grid.jobs, grid.warps)
  local mark = #g.real
  local turn = g:loop("turn", turns)
  local y, col, place = tiles.define_job(p, grid, turn)
  g:when(nil, p.full)
  g:tie(p.var_a, p.first_a + col)
  local lines = { place, string.format("const long long %s = first_%s + tile_x;", p.a, p.a) }
  local start, start_text = tiles.run_start(p, lines,
    string.format("// this many elements earlier, %s's run starts on a %s", p.a,
      p.skew * p.bytes == WORD and "word" or "sector"))
  local row, declare = tiles.tile_row(p, y, "tile_y")
  lines[#lines + 1] = declare
  for _, x in ipairs(p.exchanged) do
    lines[#lines + 1] = take_group(p, x, row, col)
  end
  local compute, result = tiles.compute_group(p, start, start_text, y)
  lines[#lines + 1] = compute
  g:tie(p.var_b, start + y)
  lines[#lines + 1] = string.format("const long long %s = %s + tile_y;", p.b, start_text)
  for _, op in ipairs(g.outputs) do
    local word = kit.word_type[p.words * WORD]
    g:touch(op, true, p.words * WORD, op.offset[1])
    lines[#lines + 1] = string.format("store_words<%s, 1>(&at<%s>(%s, %s), %s);", word, word,
      op.pointer, E.text(op.offset[1], true), result[op.number])
  end
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("// out: words along %s", p.b),
    "const int lane = thread % 32;",
    "#pragma unroll",
    string.format("for (int turn = 0; turn < %d; turn++) {", turns),
    tiles.indent(kit.concat(lines), 2),
    "}",
  }
end

local DOC = "A block moves a tile of %d x %d elements (%s x %s): words in along %s, exchanged in "
  .. "registers and through shared memory, words out along %s.%s"

return {
  name = "packed",
  doc = "Elements of 1 and 2 bytes along different dimensions: words of them on both sides, blocks "
    .. "exchanged in registers.",
  applies = {
    { "every operand is a bare type, not addressed through an index", tiles.all_bare },
    { "exchanged inputs and outputs have elements of 1 or of 2 bytes", tiles.small_elements },
  },
  axes = {
    { "threads", { 256, 128, 512 }, key = "t", doc = "threads a block" },
    { "bytes_a", { 128, 256 }, key = "a",
      doc = "bytes of the tile along the inputs' fastest dimension" },
    { "bytes_b", { 128, 256, 512 }, key = "b",
      doc = "bytes of the tile along the outputs' fastest dimension" },
    { "words", { 4, 2, 1 }, key = "w", doc = "words of 4 bytes that a lane moves at once" },
    { "realign", { "none", "sector", "word" }, key = "r",
      doc = "rows may start anywhere; a store run starts on a sector or on a word" },
    { "order", { "a", "b", "g" }, key = "o",
      doc = "which way consecutive blocks go: along a, along b, or in bands of 8 tiles" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC,
      when = "realign == 'none'" },
  },
  where = {
    "bytes_a * bytes_b // bytes >= threads * 32", "bytes_a * bytes_b // bytes <= threads * 128",
    "realign == 'none' or words == 1",
    "hint != 'cs' or order == 'a'", kit.hints.keeps("threads == 512 and order == 'b'"),
    "order != 'g' or threads == 256 or realign != 'none'",
  },
  facts = function(k)
    return { { "bytes", k.operands[#k.operands].record.bytes } }
  end,
  template = "tile.cu",
  plan = function(k, c)
    local p, reason = tiles.prepare(k, c, start_plan, adopt_operands)
    if not p then
      return nil, reason
    end
    p.full, p.full_text = tiles.full_condition(p)
    p.cell = function(x, store, y, col) return cell(p, x, store, y, col) end
    p.load_tile = function(x) return load_tile(p, x) end
    p.store_tile = function() return store_tile(p) end
    p.load_border = function(x) return tiles.load_border(p, x) end
    p.store_border = function() return tiles.store_border(p) end
    p.doc = string.format(DOC, p.tile_b, p.tile_a, p.b, p.a, p.a, p.b, p.realign
      and " Rows may start anywhere: words are put together from those they straddle." or "")
    p.g.needs.words = true
    kit.hand_over(p.g, p)
    return p
  end,
}
