-- realign: transposes of elements of 1 and 2 bytes whose rows start anywhere. All global memory is
-- moved in aligned words: a warp loads 32 that follow each other in a row, and each lane but the
-- last puts its own together from two of them, the second by a shuffle. Blocks of 4 x 4 or 2 x 2
-- elements are exchanged in registers; a lane has a stack of them, so it has the words along the
-- outputs' dimension on either side of every word of an output, and the tile in shared memory
-- holds words as the output has them. A store run starts on a sector: that is where a warp starts
-- to read the tile's column.
local WORD, SECTOR, LANES = 4, 32, 32
local OWN = LANES - 1 -- lanes that have their word's second half from a neighbour

local function follow_in_steps(k)
  local a, b = tiles.directions(k)
  if not a then
    return false
  end
  for _, op in ipairs(k.operands) do
    if not fold.step(k, op, 1, op.is_output and a or b) then
      return false
    end
  end
  return true
end

local function all_exchanged(k)
  local a = tiles.directions(k)
  local outputs = 0
  for _, op in ipairs(k.operands) do
    outputs = outputs + (op.is_output and 1 or 0)
    if not op.is_output and not (tiles.unit_stride(op) and op.fastest == a) then
      return false
    end
  end
  return outputs == 1
end

local function start_plan(k, c)
  local bytes = k.operands[#k.operands].record.bytes
  local per_word = WORD // bytes
  local p, reason = tiles.start(k, {
    threads = c.threads, tile_a = c.words * OWN * per_word, tile_b = c.bytes_b // bytes,
    hint = "none",
  }, "realign")
  if not p then
    return nil, reason
  end
  p.bytes, p.per_word, p.words, p.skew = bytes, per_word, c.words, SECTOR // bytes
  p.vec_out, p.back = per_word, true
  p.warps, p.runs = c.threads // LANES, c.bytes_b // (LANES * WORD)
  -- words of a column: those of the tile and of the sector before it, but for the first, which is
  -- only what others are made of
  local wanted = (p.tile_b + p.skew) // per_word - 1
  p.stack = kit.ceil_div(wanted, p.warps)
  p.rows = (p.stack + 1) * per_word
  p.reach = p.warps * p.stack * per_word + per_word - p.skew -- rows after first_b that are loaded
  p.pitch = math.max(p.stack * p.warps, wanted + 1)
  return p
end

local function adopt_operands(p)
  local g = p.g
  for _, op in ipairs(g.ops) do
    g:need_align(op, op.is_output and SECTOR or WORD)
    if not op.is_output then
      local elems = p.tile_a * p.pitch + p.tile_a // p.per_word
      p.exchanged[#p.exchanged + 1] = {
        op = op, name = op.name .. "_tile", type = "unsigned int", elems = elems,
        how = string.format("words along %s as the output has them; one more every %d columns: "
          .. "they fall into different banks", p.b, p.per_word),
      }
      g.static_shared_bytes = g.static_shared_bytes + elems * WORD
    end
  end
  g.needs.at, g.needs.exchange, g.needs.words = true, p.per_word, true
  g.needs.end_word = true
end

-- Where the columns lie that the lanes have of word `word`, beside each other in groups.
local function group_of(p, word)
  return word * OWN + p.g.thread % LANES
end

-- ---- in ----

-- Notes the loads of a stack's rows.
local function note_rows(p, op, guarded)
  local g, mark = p.g, #p.g.real
  local part, word = g:loop("part", p.rows), g:loop("word", p.words)
  g:tie(p.var_a, p.first_a + g.thread % LANES * p.per_word)
  g:tie(p.var_b, p.first_b - p.skew + g.thread // LANES * (p.stack * p.per_word) + part)
  local place = op.offset[1] // WORD * WORD + word * (OWN * WORD)
  if guarded then
    local row = E.subst(p.var_b, g.real)
    local inside = row:lt(p.n_b):land((row + 1):le(0):lnot())
    local whole = E.subst((place + WORD):le(op.bytes), g.real)
    g:when(inside:land(whole), guarded)
    g:touch(op, false, WORD, place)
    for n = 0, p.per_word - 2 do
      local before = E.subst((place + n * p.bytes):lt(op.bytes), g.real)
      g:when(inside:land(whole:lnot()):land(before), guarded)
      g:touch(op, false, p.bytes, place + n * p.bytes)
    end
  else
    g:when(nil, p.full)
    g:touch(op, false, WORD, place)
  end
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
end

-- Notes what happens to them on their way into the tile.
local function note_tile(p, warps)
  local g = p.g
  g:loop("turn", p.stack + 1)
  g:loop("part", p.per_word)
  g:loop("word", p.words)
  g:when(nil, warps)
  g:touch_shuffle(1)
  for _ = 1, 3 do
    g:close()
  end
  local turn, part, word = g:loop("turn", p.stack), g:loop("part", p.per_word),
    g:loop("word", p.words)
  g:when((g.thread % LANES):lt(OWN), warps)
  local group = group_of(p, word)
  g:touch(nil, true, WORD, ((group * p.per_word + part) * p.pitch + group
    + g.thread // LANES * p.stack + turn) * WORD)
  g:when(nil)
  for _ = 1, 3 do
    g:close()
  end
end

local LOAD = [[
{ // $name in: 32 words that follow each other a row, all loads before the first use
  const long long $b = first_$b - kSkew + thread / 32 * $stack_rows;
  const long long $a = first_$a + thread % 32 * $per_word;
  const long long row_place = $place, row_step = $row_step;
  const unsigned int row_bits = 8 * (unsigned int)row_place;
  const unsigned int run_bits = 8 * (unsigned int)($run_place);
  const unsigned int run_step = (unsigned int)($run_step);
  unsigned int loaded[$rows][$words];
#pragma unroll
  for (int part = 0; part < $rows; part++)
#pragma unroll
    for (int word = 0; word < $words; word++)
      $load
  // along $a: each lane's word from its own and the next lane's; blocks change rows and columns;
  // along $b: each word of the output from two that follow each other
  unsigned int words_before[$per_word][$words];
#pragma unroll
  for (int turn = 0; turn <= $stack; turn++) {
    unsigned int block_words[$per_word][$words];
#pragma unroll
    for (int part = 0; part < $per_word; part++)
#pragma unroll
      for (int word = 0; word < $words; word++) {
        const unsigned int own_word = loaded[turn * $per_word + part][word];
        block_words[part][word] = __funnelshift_r(own_word,
          __shfl_down_sync(0xffffffff, own_word, 1),
          row_bits + 8 * (turn * $per_word + part) * (unsigned int)row_step);
      }
#pragma unroll
    for (int word = 0; word < $words; word++) {
      exchange_block<$words>(block_words, word);
#pragma unroll
      for (int part = 0; part < $per_word; part++) {
        if (turn > 0)
          loaded[(turn - 1) * $per_word + part][word] =
            __funnelshift_l(words_before[part][word], block_words[part][word],
              run_bits + 8 * (word * $group_columns + part) * run_step);
        words_before[part][word] = block_words[part][word];
      }
    }
  }
  if (thread % 32 < $own)
#pragma unroll
    for (int turn = 0; turn < $stack; turn++)
#pragma unroll
      for (int part = 0; part < $per_word; part++)
#pragma unroll
        for (int word = 0; word < $words; word++) {
          const int lane_group = word * $own + thread % 32;
          const int run_column = (lane_group * $per_word + part) * $pitch + lane_group;
          $tile[run_column + thread / 32 * $stack + turn] = loaded[turn * $per_word + part][word];
        }
}]]

local function load_rows(p, x, guarded)
  local g, op, k = p.g, x.op, p.k
  local out = g.outputs[1]
  note_rows(p, op, guarded)
  note_tile(p, guarded or p.full)
  local load = string.format("loaded[part][word] = at<unsigned int>(%s, "
    .. "((row_place + part * row_step) & ~3ll) + %d * word);", op.pointer, OWN * WORD)
  if guarded then
    load = string.format("loaded[part][word] = %s + part >= 0 && %s + part < n_%s ?\n"
      .. "        load_end<%s>(%s, ((row_place + part * row_step) & ~3ll) + %d * word, %s) : 0;",
      p.b, p.b, p.b, op.record.fields[1].cuda, op.pointer, OWN * WORD, E.text(op.bytes, true))
  end
  return (string.gsub(LOAD, "$([%w_]+)", {
    name = op.name, a = p.a, b = p.b, tile = x.name, load = load, rows = p.rows, words = p.words,
    per_word = p.per_word, stack = p.stack, stack_rows = p.stack * p.per_word, pitch = p.pitch,
    own = OWN, group_columns = OWN * p.per_word,
    place = E.text(op.offset[1], true), row_step = E.text(fold.step(k, op, 1, p.dim_b), true),
    run_place = E.text(E.subst(out.offset[1], { p.var_b, p.first_b }), true),
    run_step = E.text(fold.step(k, out, 1, p.dim_a), true),
  }))
end

-- ---- out ----

-- Statements that move one word of a run, and its notes. The run's first place is in `run_place`.
local function store_word(p, word, col, guarded, guard)
  local g, out = p.g, p.g.outputs[1]
  local type = out.record.fields[1].cuda
  local y = (g.thread % LANES + word * LANES) * p.per_word
  g:tie(p.var_b, p.first_b)
  local start = E.subst(out.offset[1], g.real)
  local shift = start // p.bytes % p.skew
  local at = start // SECTOR * SECTOR + y * p.bytes
  local lines = {}
  g:when(guard, guarded or p.full)
  for _, x in ipairs(p.exchanged) do
    g:touch(nil, false, WORD, (col * p.pitch + col // p.per_word + 7 - shift * p.bytes // WORD
      + y // p.per_word) * WORD)
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d];",
      x.op.record.fields[1].cuda, x.op.name, p.per_word)
    lines[#lines + 1] = string.format("at<unsigned int>(%s_v, 0) = %s[first_word + 32 * word];",
      x.op.name, x.name)
  end
  local compute, result = tiles.compute_group(p, p.first_b - shift, "first_" .. p.b
    .. " - run_shift", y)
  lines[#lines + 1] = compute
  if guarded or compute ~= "" then
    table.insert(lines, 1, string.format("const int tile_y = (thread %% 32 + 32 * word) * %d;",
      p.per_word))
  end
  local value, words = result[out.number], string.format(
    "store_words<unsigned int, 1>(&at<unsigned int>(%s, run_place + 128 * word), %s);",
    out.pointer, result[out.number])
  if not guarded then
    g:touch(out, true, WORD, at)
    lines[#lines + 1] = words
    return lines
  end
  local row = p.first_b - shift + y
  row = E.subst(row, g.real)
  local function inside(n)
    return (row + n):lt(p.n_b):land((row + (n + 1)):le(0):lnot())
  end
  local whole = inside(0):land(inside(p.per_word - 1))
  local function limit(lanes)
    g:when(guard and E.subst(guard, g.real):land(lanes) or lanes, guarded)
  end
  limit(whole)
  g:touch(out, true, WORD, at)
  for n = 0, p.per_word - 1 do
    limit(inside(n):land(whole:lnot()))
    g:touch(out, true, p.bytes, at + n * p.bytes)
  end
  local b = p.b
  lines[#lines + 1] = string.format("const long long %s = first_%s - run_shift + tile_y;", b, b)
  lines[#lines + 1] = string.format("if (%s >= 0 && %s + %d < n_%s) {", b, b, p.per_word - 1, b)
  lines[#lines + 1] = "  " .. words
  lines[#lines + 1] = "} else {"
  lines[#lines + 1] = "#pragma unroll"
  lines[#lines + 1] = string.format("  for (int part = 0; part < %d; part++)", p.per_word)
  lines[#lines + 1] = string.format("    if (%s + part >= 0 && %s + part < n_%s)", b, b, b)
  lines[#lines + 1] = string.format("      at<%s>(%s, run_place + 128 * word + part * %d) = "
    .. "%s[part];", type, out.pointer, p.bytes, value)
  lines[#lines + 1] = "}"
  return lines
end

local STORE = [[
// out: a warp has columns of the tile, which are runs along $b
const long long $a = first_$a + thread / 32;
long long run_start = $start;
const int run_column = thread / 32 * $pitch + thread / $group_lanes + 7 + thread % 32;
#pragma unroll
for (int turn = 0; turn < $turns; turn++) {
  const int tile_x = thread / 32 + turn * $warps;$named$last
  // this many elements earlier, its run starts on a sector
  const int run_shift = (int)(run_start & 31)$elements;
  const int first_word =
    run_column + turn * ($warps * $pitch + $group_step) - run_shift / $per_word;
  const long long run_place = (run_start & ~31ll) + thread % 32 * 4;
#pragma unroll
  for (int word = 0; word < $runs; word++) {
$word
  }
  run_start += $warps * ($step);
}]]

local function store_runs(p, guarded)
  local g, out, mark = p.g, p.g.outputs[1], #p.g.real
  local turns = kit.ceil_div(p.tile_a, p.warps)
  local ragged = p.tile_a % p.warps ~= 0
  local turn = g:loop("turn", turns)
  local col = g:define("tile_x", 0, p.tile_a - 1, g.thread // LANES + turn * p.warps)
  g:tie(p.var_a, p.first_a + col)
  local word = g:loop("word", p.runs)
  local inside = store_word(p, word, col, guarded, ragged and g:below(col, p.tile_a) or nil)
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  return (string.gsub(STORE, "$([%w_]+)", {
    a = p.a, b = p.b, turns = turns, warps = p.warps, pitch = p.pitch,
    group_lanes = LANES * p.per_word, group_step = p.warps // p.per_word,
    last = ragged and string.format("\n  if (turn == %d && tile_x >= %d) break;", turns - 1,
      p.tile_a) or "",
    start = E.text(E.subst(out.offset[1], { p.var_b, p.first_b }), true),
    step = E.text(fold.step(p.k, out, 1, p.dim_a), true), per_word = p.per_word,
    elements = p.bytes > 1 and " / " .. p.bytes or "",
    named = fold.named(p.k, p.dim_a) and string.format("\n  const long long %s = first_%s "
      .. "+ tile_x;", p.a, p.a) or "",
    runs = p.runs, word = tiles.indent(kit.concat(inside), 4),
  }))
end

-- ---- the plan ----

-- Where blocks take which way: inside, at an end along b, and where the whole dimension a is
-- shorter than a tile.
local function find_ways(p)
  local wide = p.n_a:lt(p.tile_a):lnot()
  local inner = (p.first_b + p.reach):lt(p.n_b):land((p.first_b + 0):le(p.skew - 1):lnot())
  p.wide_text = string.format("n_%s >= k%s", p.a, p.A)
  p.full_text = string.format("%s && first_%s >= kSkew && first_%s + %d < n_%s", p.wide_text, p.b,
    p.b, p.reach, p.b)
  p.full, p.slow = wide:land(inner), wide:lnot()
  p.guarded = wide:land(inner:lnot())
end

local function either(p, guarded, slow)
  return kit.concat {
    string.format("if (%s) { // the first or the last tile along %s", p.wide_text, p.b),
    tiles.indent(guarded, 2),
    "} else {",
    tiles.indent(slow, 2),
    "}",
  }
end

local function cell(p, x, store, y, col)
  local at = (col * p.pitch + col // p.per_word + y // p.per_word) * WORD
    + y % p.per_word * p.bytes
  p.g:touch(nil, store, p.bytes, at)
  return string.format("at<%s>(%s, %s)", x.op.record.fields[1].cuda, x.name, E.text(at, false))
end

local DOC = "A block moves a tile of %d x %d elements (%s x %s), wherever rows start: aligned "
  .. "words in along %s, realigned and exchanged in registers, and whole sectors out along %s."

return {
  name = "realign",
  doc = "Elements of 1 and 2 bytes along different dimensions, rows of any length: aligned words "
    .. "on both sides, put together in registers.",
  applies = {
    { "every operand is a bare type, not addressed through an index", tiles.all_bare },
    { "inputs and outputs have elements of 1 or of 2 bytes", tiles.small_elements },
    { "all inputs run along one dimension, and the one output along another", all_exchanged },
    { "rows follow each other in equal steps", follow_in_steps },
  },
  axes = {
    { "threads", { 256, 128, 512 }, key = "t", doc = "threads a block" },
    { "words", { 1, 2 }, key = "w", doc = "words of 4 bytes of a row that a lane loads" },
    { "bytes_b", { 256, 128, 512 }, key = "b",
      doc = "bytes of the tile along the output's dimension" },
    { "order", { "b", "a", "g" }, key = "o",
      doc = "which way consecutive blocks go: along a, along b, or in bands of 8 tiles" },
  },
  where = {
    -- a lane's rows stay in registers
    "((bytes_b // 4 + 6 + threads // 32) // (threads // 32) + 1) * (4 // bytes) * words <= 80",
    -- and at most half of the rows are loaded by two warps or blocks
    "((bytes_b // 4 + 6 + threads // 32) // (threads // 32) + 1) * threads <= bytes_b * 12",
    "words * 31 * (4 // bytes) * (bytes_b + 36) <= 48000",
  },
  facts = function(k)
    return { { "bytes", k.operands[#k.operands].record.bytes } }
  end,
  template = "tile.cu",
  plan = function(k, c)
    local p, reason = start_plan(k, c)
    if not p then
      return nil, reason
    end
    adopt_operands(p)
    if p.g.static_shared_bytes > k.device.smem_block_bytes then
      return nil, "the tiles need more shared memory than a block has"
    end
    p.cut = tiles.cut(p, c.order)
    find_ways(p)
    p.cell = function(x, store, y, col) return cell(p, x, store, y, col) end
    p.load_tile = function(x) return load_rows(p, x) end
    p.store_tile = function() return store_runs(p) end
    p.load_border = function(x)
      return either(p, load_rows(p, x, p.guarded), tiles.load_border(p, x))
    end
    p.store_border = function()
      return either(p, store_runs(p, p.guarded), tiles.store_border(p))
    end
    p.doc = string.format(DOC, p.tile_b, p.tile_a, p.b, p.a, p.a, p.b)
    kit.hand_over(p.g, p)
    return p
  end,
}
