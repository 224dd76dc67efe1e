-- jagged: transposes whose rows start anywhere. Rows of the tile come in whole sectors, from the
-- one on that each starts in, by copies of 16 bytes that pass no register, and lie in shared memory
-- as they do in global memory: the tile's left edge is jagged. Each store run starts on a sector,
-- too: that is where a warp starts to read the tile's column. Rows of odd length start at another
-- place of their sector each, so that what a warp reads of a column lies in different banks; a
-- sector more every so many rows as a sector has elements keeps that so for all of its lanes.
local WORD, SECTOR, LANES = 16, 32, 32

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

local function of_one_size(k)
  local bytes = tiles.largest(k)
  for _, op in ipairs(k.operands) do
    if op.record.bytes ~= bytes then
      return false
    end
  end
  return bytes <= 8 and SECTOR % bytes == 0
end

local function start_plan(k, c)
  local bytes = tiles.largest(k)
  local p, reason = tiles.start(k, {
    threads = c.threads, tile_a = c.bytes_a // bytes, tile_b = c.bytes_b // bytes, hint = "none",
  }, "jagged")
  if not p then
    return nil, reason
  end
  p.bytes, p.skew, p.warps = bytes, SECTOR // bytes, c.threads // LANES
  p.border = "with guards"
  p.vec_out = math.max(1, 4 // bytes)
  p.run_elems = LANES * p.vec_out -- of a column that a warp stores at once
  p.runs = p.tile_b // p.run_elems
  p.lines = p.tile_b + p.skew - 1 -- rows of the tile; a run starts so many earlier at most
  p.pitch, p.words = c.bytes_a + SECTOR, c.bytes_a // WORD + SECTOR // WORD
  return p
end

-- Where row `line` of the tile starts, in bytes.
local function line_start(p, line)
  return line * p.pitch + line // p.skew * SECTOR
end

local function adopt_operands(p)
  local g = p.g
  for _, op in ipairs(g.ops) do
    g:need_align(op, SECTOR)
    if not op.is_output then
      local bytes = line_start(p, p.lines - 1) + p.pitch
      p.exchanged[#p.exchanged + 1] = {
        op = op, name = op.name .. "_tile", type = "unsigned char", elems = bytes,
        how = string.format("sectors of %s's rows, one more every %d rows: columns fall into "
          .. "different banks", op.name, p.skew),
      }
      g.static_shared_bytes = g.static_shared_bytes + bytes
    end
  end
  g.needs.at, g.needs.words, g.needs.copy_async = true, true, "cg"
end

-- ---- in ----

local LOAD = [[
{ // $name in: whole sectors of each row
  const long long row_place = $place, row_step = $row_step;$limits
#pragma unroll
  for (int turn = 0; turn < $turns; turn++) {
    const int tile_cell = thread + turn * kThreads; // a word
    const int tile_line = tile_cell / $words, word = tile_cell % $words;
    const long long start = row_place + tile_line * row_step;
    const long long place = (start & -32ll) + 16 * word;
    if ($inside)
      $copy
  }
}]]

local GUARDED = [[
{
  if (place + 16 <= $bytes)
    $whole
  else
    for (int part = 0; part < $elems; part++)
      if (place + $size * part < $bytes)
        at<$type>($to + $size * part) = at<$type>($from + $size * part);
}]]

local function load_lines(p, x, guarded)
  local g, op, mark = p.g, x.op, #p.g.real
  local bytes, cells = p.bytes, p.lines * p.words
  local turns = kit.ceil_div(cells, p.threads)
  local turn = g:loop("turn", turns)
  local cell = g:define("tile_cell", 0, turns * p.threads - 1, g.thread + turn * p.threads)
  local line = g:define("tile_line", 0, p.lines - 1, cell // p.words)
  local word = cell % p.words
  g:tie(p.var_a, p.first_a)
  g:tie(p.var_b, p.first_b - (p.skew - 1) + line)
  local start = op.offset[1]
  local place = start // SECTOR * SECTOR + word * WORD
  local wide = guarded and (p.n_a - p.first_a):min(p.tile_a) or p.tile_a
  local inside = E.subst(place, g.real):lt(E.subst(start + wide * bytes, g.real))
  if cells % p.threads ~= 0 then
    inside = inside:land(g:below(cell, cells))
  end
  if guarded then
    local row = E.subst(p.var_b, g.real)
    local whole = E.subst((place + WORD):le(op.bytes), g.real)
    inside = inside:land(row:lt(p.n_b)):land((row + 1):le(0):lnot())
    g:when(inside:land(whole), guarded)
    g:touch(op, false, WORD, place)
    for n = 0, WORD // bytes - 2 do
      local before = E.subst((place + n * bytes):lt(op.bytes), g.real)
      g:when(inside:land(whole:lnot()):land(before), guarded)
      g:touch(op, false, bytes, place + n * bytes)
      g:touch(nil, true, bytes, line_start(p, line) + word * WORD + n * bytes)
    end
  else
    g:when(inside, p.full)
    g:touch(op, false, WORD, place)
  end
  g:when(nil)
  g:close()
  g:forget(mark)
  local to = string.format("%s, %s + 16 * word", x.name, E.text(line_start(p, line), false))
  local from = op.pointer .. ", place"
  local copy = string.format("copy_async<16>(&at<char>(%s), &at<char>(%s));", to, from)
  local limits, tests = "", { string.format("place < start + %d", p.tile_a * bytes) }
  if cells % p.threads ~= 0 then
    table.insert(tests, 1, string.format("tile_cell < %d", cells))
  end
  local b = p.b
  local first = string.format("first_%s - (kSkew - 1)", b)
  if guarded then
    limits = string.format("\n  const int row_bytes = (int)min((n_%s - first_%s) * %d, %dll);", p.a,
      p.a, bytes, p.tile_a * bytes)
    tests[#tests] = "place < start + row_bytes"
    tests[#tests + 1] = string.format("%s + tile_line >= 0", first)
    tests[#tests + 1] = string.format("%s + tile_line < n_%s", first, b)
    copy = string.gsub(GUARDED, "$(%w+)", {
      bytes = E.text(op.bytes, true), whole = copy, elems = WORD // bytes - 1, size = bytes,
      type = op.record.fields[1].cuda, to = to, from = from,
    })
  end
  return (string.gsub(LOAD, "$([%w_]+)", {
    name = op.name, turns = turns, words = p.words, limits = limits,
    place = E.text(E.subst(op.offset[1], { p.var_a, p.first_a, p.var_b,
      p.first_b - (p.skew - 1) }), true),
    row_step = E.text(fold.step(p.k, op, 1, p.dim_b), true),
    inside = table.concat(tests, " && "), copy = tiles.indent(copy, 6):sub(7),
  }))
end

-- ---- out ----

-- The part `part` of a lane's group: its row of the tile, and where that has column tile_x.
local function place_of(p, x, part, col)
  local g, op = p.g, x.op
  local line = g:define("tile_line", 0, p.lines - 1, p.skew - 1
    - E.var("run_shift", 0, p.skew - 1) + g.thread % LANES * p.vec_out + part)
  g:tie(p.var_b, p.first_b - (p.skew - 1) + line)
  g:tie(p.var_a, p.first_a)
  return line_start(p, line) + op.offset[1] % SECTOR + col * p.bytes
end

local STORE = [[
// out: a warp has columns of the tile, which are runs along $b
const long long $a = first_$a + thread / 32;
long long run_start = $start;
$rows#pragma unroll $unroll
for (int turn = 0; turn < $turns; turn++) {
  const int tile_x = thread / 32 + turn * $warps;$named$last
  // this many elements earlier, its run starts on a sector
  const int run_shift = (int)(run_start & 31)$elements;
  const long long run_place = (run_start & -32ll) + thread % 32 * $word;
  int $from;
#pragma unroll
  for (int part = 0; part < $vec; part++) {
    const int tile_line = kSkew - 1 - run_shift + thread % 32 * $vec + part;
    $assign
  }
#pragma unroll
  for (int word = 0; word < $runs; word++) {
$word_text
  }
  run_start += $warps * ($step);
}]]

-- Statements that move one word of a run, and its notes.
local function store_word(p, col, word, guarded)
  local g, out, bytes, vec = p.g, p.g.outputs[1], p.bytes, p.vec_out
  local y = g.thread % LANES * vec + word * p.run_elems
  g:tie(p.var_b, p.first_b)
  g:tie(p.var_a, p.first_a + col)
  local start = E.subst(out.offset[1], g.real)
  local shift = start // bytes % p.skew
  g:define("run_shift", 0, p.skew - 1, shift)
  local row = E.subst(p.first_b - shift + y, g.real)
  local function inside(n)
    return (row + n):lt(p.n_b):land((row + (n + 1)):le(0):lnot())
  end
  local column = guarded and E.subst(p.first_a + col, g.real):lt(p.n_a) or nil
  local function limit(lanes)
    g:when(lanes and column and column:land(lanes) or lanes or column, guarded or p.full)
  end
  local lines = {}
  for _, x in ipairs(p.exchanged) do
    local mark = #g.real
    for n = 0, vec - 1 do
      limit(guarded and inside(n))
      g:touch(nil, false, bytes, place_of(p, x, n, col)
        + word * line_start(p, p.run_elems))
    end
    g:forget(mark)
  end
  g:tie(p.var_a, p.first_a + col)
  limit()
  local compute, result = tiles.compute_group(p, p.first_b - shift, "first_" .. p.b
    .. " - run_shift", y)
  for _, x in ipairs(p.exchanged) do
    local type = x.op.record.fields[1].cuda
    local take = string.format("%s_v[part] = at<%s>(%s, %s_from[part] + %d * word);", x.op.name,
      type, x.name, x.op.name, line_start(p, p.run_elems))
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d];", type, x.op.name, vec)
    lines[#lines + 1] = "#pragma unroll"
    lines[#lines + 1] = string.format("for (int part = 0; part < %d; part++)", vec)
    if guarded then
      lines[#lines + 1] = string.format("  if (first_%s - run_shift + tile_y + part >= 0 && "
        .. "first_%s - run_shift + tile_y + part < n_%s)", p.b, p.b, p.b)
      take = "  " .. take
    end
    lines[#lines + 1] = "  " .. take
  end
  lines[#lines + 1] = compute
  if guarded or compute ~= "" then
    table.insert(lines, 1, string.format("const int tile_y = thread %% 32 * %d + %d * word;",
      vec, p.run_elems))
  end
  local value = result[out.number]
  local type = kit.word_type[vec * bytes]
  local at = start // SECTOR * SECTOR + y * bytes
  local whole = string.format("store_words<%s, 1>(&at<%s>(%s, run_place + %d * word), %s);", type,
    type, out.pointer, LANES * vec * bytes, value)
  if not guarded then
    limit()
    g:touch(out, true, vec * bytes, at)
    lines[#lines + 1] = whole
    return lines
  end
  local all = inside(0):land(inside(vec - 1))
  limit(all)
  g:touch(out, true, vec * bytes, at)
  for n = 0, vec > 1 and vec - 1 or -1 do
    limit(inside(n):land(all:lnot()))
    g:touch(out, true, bytes, at + n * bytes)
  end
  local b = p.b
  lines[#lines + 1] = string.format("const long long %s = first_%s - run_shift + tile_y;", b, b)
  lines[#lines + 1] = string.format("if (%s >= 0 && %s + %d < n_%s)", b, b, vec - 1, b)
  lines[#lines + 1] = "  " .. whole
  if vec > 1 then
    lines[#lines + 1] = "else"
    lines[#lines + 1] = string.format("  for (int part = 0; part < %d; part++)", vec)
    lines[#lines + 1] = string.format("    if (%s + part >= 0 && %s + part < n_%s)", b, b, b)
    lines[#lines + 1] = string.format("      at<%s>(%s, run_place + %d * word + part * %d) = "
      .. "%s[part];", out.record.fields[1].cuda, out.pointer, LANES * vec * bytes, bytes, value)
  end
  return lines
end

local function store_runs(p, guarded)
  local g, k, out, mark = p.g, p.k, p.g.outputs[1], #p.g.real
  local turns = kit.ceil_div(p.tile_a, p.warps)
  local turn = g:loop("turn", turns)
  local col = g:define("tile_x", 0, turns * p.warps - 1, g.thread // LANES + turn * p.warps)
  local word = g:loop("word", p.runs)
  local inside = store_word(p, col, word, guarded)
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  local rows, from, assign = {}, {}, {}
  for n, x in ipairs(p.exchanged) do
    local op = x.op
    rows[n] = string.format("const unsigned int %s_bytes = (unsigned int)(%s);\n"
      .. "const unsigned int %s_step = (unsigned int)(%s);\n", op.name,
      E.text(E.subst(op.offset[1], { p.var_a, p.first_a, p.var_b, p.first_b - (p.skew - 1) }),
        true), op.name, E.text(fold.step(k, op, 1, p.dim_b), true))
    from[n] = string.format("%s_from[%d]", op.name, p.vec_out)
    assign[n] = string.format("%s_from[part] = %s + (int)(%s_bytes + tile_line * %s_step & 31)"
      .. " + tile_x * %d;", op.name, E.text(line_start(p, E.var("tile_line", 0, p.lines - 1)),
      false), op.name, op.name, p.bytes)
  end
  return (string.gsub(STORE, "$([%w_]+)", {
    a = p.a, b = p.b, turns = turns, warps = p.warps, unroll = math.min(turns, 8),
    rows = table.concat(rows), from = table.concat(from, ", "),
    assign = tiles.indent(kit.concat(assign), 4):sub(5), vec = p.vec_out,
    word = p.vec_out * p.bytes,
    last = guarded and string.format("\n  if (first_%s + tile_x >= n_%s) break;", p.a, p.a) or "",
    start = E.text(E.subst(out.offset[1], { p.var_b, p.first_b }), true),
    step = E.text(fold.step(k, out, 1, p.dim_a), true),
    elements = p.bytes > 1 and " / " .. p.bytes or "",
    named = fold.named(k, p.dim_a) and string.format("\n  const long long %s = first_%s "
      .. "+ tile_x;", p.a, p.a) or "",
    runs = p.runs, word_text = tiles.indent(kit.concat(inside), 4),
  }))
end

-- ---- the plan ----

-- Tiles inside, where nothing needs a guard, and the others.
local function find_ways(p)
  local ahead = p.skew - 1
  local inner = (p.first_a + p.tile_a):le(p.n_a):land((p.first_b + p.tile_b):lt(p.n_b)):land(
    (p.first_b + 0):le(ahead - 1):lnot())
  p.full_text = string.format("first_%s + k%s <= n_%s && first_%s >= kSkew - 1 && "
    .. "first_%s + k%s < n_%s", p.a, p.A, p.a, p.b, p.b, p.B, p.b)
  p.full, p.guarded = inner, inner:lnot()
end

local WAIT = '\nasm volatile("cp.async.commit_group;" ::: "memory");\n'
  .. 'asm volatile("cp.async.wait_group 0;" ::: "memory");'

local DOC = "A block moves a tile of %d x %d elements (%s x %s), wherever rows start: whole sectors "
  .. "in along %s, by copies that pass no register, and whole sectors out along %s."

return {
  name = "jagged",
  doc = "Inputs along one dimension, the output along another, rows of any length: whole sectors "
    .. "on both sides, as they lie in memory (sm_80).",
  applies = {
    { "the device has asynchronous copies", function(k) return k.device.cc >= 80 end },
    { "every operand is a bare type, not addressed through an index", tiles.all_bare },
    { "operands have elements of one size, 8 bytes at most", of_one_size },
    { "all inputs run along one dimension, and the one output along another", all_exchanged },
    { "rows follow each other in equal steps", follow_in_steps },
  },
  axes = {
    { "threads", { 256, 512 }, key = "t", doc = "threads a block" },
    { "bytes_a", { 512, 256, 1024 }, key = "a",
      doc = "bytes of the tile along the inputs' dimension" },
    { "bytes_b", { 512, 256, 1024 }, key = "b",
      doc = "bytes of the tile along the output's dimension" },
    { "order", { "b", "a", "g" }, key = "o",
      doc = "which way consecutive blocks go: along a, along b, or in bands of 8 tiles" },
  },
  where = {
    "bytes_a * bytes_b // bytes <= threads * 512",
    "bytes_a * bytes_b // bytes >= threads * 64",
  },
  facts = function(k)
    return { { "bytes", tiles.largest(k) } }
  end,
  template = "tile.cu",
  plan = function(k, c)
    local p, reason = start_plan(k, c)
    if not p then
      return nil, reason
    end
    adopt_operands(p)
    if p.g.static_shared_bytes > k.device.smem_optin_bytes then
      return nil, "the tiles need more shared memory than a block has"
    end
    if p.g.static_shared_bytes > k.device.smem_block_bytes then
      p.shared_bytes, p.g.static_shared_bytes = p.g.static_shared_bytes, 0
    end
    p.cut = tiles.cut(p, c.order)
    find_ways(p)
    local last = p.exchanged[#p.exchanged]
    local function load(x, guarded)
      return load_lines(p, x, guarded) .. (x == last and WAIT or "")
    end
    p.load_tile = function(x) return load(x) end
    p.store_tile = function() return store_runs(p) end
    p.load_border = function(x) return load(x, p.guarded) end
    p.store_border = function() return store_runs(p, p.guarded) end
    p.doc = string.format(DOC, p.tile_b, p.tile_a, p.b, p.a, p.a, p.b)
    kit.hand_over(p.g, p)
    return p
  end,
}
