-- jagged: transposes whose rows start anywhere. A row of the tile comes by lines of memory, from
-- the one on that it starts in, by copies of 16 bytes that pass no register, and lies in shared
-- memory as it does in global memory: the tile's left edge is jagged. A store run starts on a
-- sector: that is where a warp starts to read the tile's column.
--
-- Rows of odd length start at another place of their line each, so that a column lies in different
-- banks without further ado. Lines, and not sectors, because L2 takes a request a line: 1 to 2 % of
-- the time (H200, f32 8191 x 8191).
local WORD, SECTOR, LINE, LANES = 16, 32, 128, 32

-- Rows are copied and stored from wherever a line or a sector starts, so each is one run, and the
-- next one lies an equal step further on.
local function follow_in_steps(k)
  local a, b = tiles.directions(k)
  if not a then
    return false
  end
  for _, op in ipairs(k.operands) do
    local along, across = a, b
    if op.is_output then
      along, across = b, a
    end
    if not tiles.is_run(k, op, along) or not strides.step(k, op, 1, across) then
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
  p.bytes, p.skew, p.warps, p.border = bytes, SECTOR // bytes, c.threads // LANES, "with guards"
  p.vec_out = math.max(1, 4 // bytes) -- elements that a lane stores at once
  p.run_elems = LANES * p.vec_out
  p.runs = p.tile_b // p.run_elems
  p.ahead = p.skew - 1 -- a run starts so many rows earlier at most
  p.lines = p.tile_b + p.ahead -- rows of the tile
  p.pitch, p.words = c.bytes_a + LINE, (c.bytes_a + LINE) // WORD
  return p
end

-- Where the tile's row `line` starts in `op`, in bytes.
local function row_place(p, op, line)
  return E.subst(op.offset[1], { p.var_a, p.first_a, p.var_b, p.first_b - p.ahead + line })
end

local function adopt_operands(p)
  local g, bytes = p.g, p.lines * p.pitch
  for _, op in ipairs(g.ops) do
    g:need_align(op, op.is_output and SECTOR or WORD)
    if not op.is_output then
      local step = strides.step(p.k, op, 1, p.dim_b)
      local least = kit.const_of(step) and SECTOR or 0 -- of extents: more than a row
      if step:range() < least then
        return nil, op.name .. ": the row after a tile's last does not follow it"
      end
      p.exchanged[#p.exchanged + 1] = {
        op = op, name = op.name .. "_tile", type = "unsigned char", elems = bytes,
        how = string.format("lines of %s's rows: columns of odd rows fall into "
          .. "different banks", op.name),
      }
      g.static_shared_bytes = g.static_shared_bytes + bytes
    end
  end
  g.needs.at, g.needs.words, g.needs.copy_async = true, true, "cg"
  return true
end

-- ---- in ----

-- Notes the copies of a tile. With `guarded`, the condition under which a block takes that way, the
-- last word of the array may be cut off.
local function note_lines(p, op, guarded)
  local g, mark, bytes, cells = p.g, #p.g.real, p.bytes, p.lines * p.words
  local turn = g:loop("turn", kit.ceil_div(cells, p.threads))
  local cell = g.thread + turn * p.threads
  local line, word = cell // p.words, cell % p.words
  local start = row_place(p, op, line)
  local place = E.subst(start // LINE * LINE + word * WORD, g.real)
  local width = guarded and (p.n_a - p.first_a):min(p.tile_a) or p.tile_a
  local wanted = place:lt(E.subst(start + width * bytes, g.real)):land(g:below(cell, cells))
  if guarded then
    local row = E.subst(p.first_b - p.ahead + line, g.real)
    wanted = wanted:land(row:lt(p.n_b)):land((row + 1):le(0):lnot())
    local whole = (place + WORD):le(op.bytes)
    for n = 0, WORD // bytes - 2 do
      g:when(wanted:land(whole:lnot()):land((place + n * bytes):lt(op.bytes)), guarded)
      g:touch(op, false, bytes, place + n * bytes)
      g:touch(nil, true, bytes, line * p.pitch + word * WORD + n * bytes)
    end
    wanted = wanted:land(whole)
  end
  g:when(wanted, guarded or p.full)
  g:touch(op, false, WORD, place)
  g:when(nil)
  g:close()
  g:forget(mark)
end

local LOAD = [[
{ // $name in: whole lines of each row
  const long long row_place = $place, row_step = $row_step;$row_bytes
#pragma unroll 4
  for (int turn = 0; turn < $turns; turn++) {
    const int tile_cell = thread + turn * kThreads; // a word
    const int tile_line = tile_cell / $words, word = tile_cell % $words;
    const long long start = row_place + tile_line * row_step;
    const long long word_place = (start & -128ll) + 16 * word;
    const int tile_place = $pitch * tile_line + 16 * word;
    $copy
  }
}]]

local COPY = [[
if ($wanted)
  copy_async<16>(&at<char>($tile, tile_place), &at<char>($array, word_place));]]

local COPY_GUARDED = [[
const long long $b = first_$b - (kSkew - 1) + tile_line;
if ($wanted && $b >= 0 && $b < n_$b) {
  if (word_place + 16 <= $array_bytes)
    copy_async<16>(&at<char>($tile, tile_place), &at<char>($array, word_place));
  else // the array ends in it
    for (int part = 0; part < $most && word_place + $bytes * part < $array_bytes; part++)
      at<$type>($tile, tile_place + $bytes * part) = at<$type>($array, word_place + $bytes * part);
}]]

local function load_lines(p, x, guarded)
  local op, bytes, cells = x.op, p.bytes, p.lines * p.words
  note_lines(p, op, guarded)
  local limit = guarded and "row_bytes" or tostring(p.tile_a * bytes)
  local copy = string.gsub(guarded and COPY_GUARDED or COPY, "$([%w_]+)", {
    wanted = string.format("tile_cell < %d && word_place < start + %s", cells, limit), b = p.b,
    tile = x.name, array = op.pointer, array_bytes = E.text(op.bytes, true), bytes = bytes,
    most = WORD // bytes - 1, type = op.record.fields[1].cuda,
  })
  return (string.gsub(LOAD, "$([%w_]+)", {
    name = op.name, place = E.text(row_place(p, op, 0), true),
    row_step = E.text(strides.step(p.k, op, 1, p.dim_b), true), words = p.words,
    turns = kit.ceil_div(cells, p.threads), copy = tiles.indent(copy, 4):sub(5),
    pitch = p.pitch,
    row_bytes = guarded and string.format("\n  const int row_bytes = (int)min(%d * (n_%s - "
      .. "first_%s), %dll);", bytes, p.a, p.a, p.tile_a * bytes) or "",
  }))
end

-- ---- out ----

-- What is known of the word `word` of column `col`'s run: its first element's row, where it lies in
-- the output, what limits it to the tile's own columns, and which of its elements are inside.
local function word_of(p, col, word)
  local g, out = p.g, p.g.outputs[1]
  local start = E.subst(E.subst(out.offset[1], { p.var_a, p.first_a + col, p.var_b, p.first_b }),
    g.real)
  local w = { y = g.thread % LANES * p.vec_out + word * p.run_elems }
  w.shift = g:define("run_shift", 0, p.ahead, start // p.bytes % p.skew)
  w.at = start // SECTOR * SECTOR + w.y * p.bytes
  w.column = E.subst(p.first_a + col, g.real):lt(p.n_a)
  local row = E.subst(p.first_b - w.shift + w.y, g.real)
  w.inside = function(n)
    return w.column:land((row + n):lt(p.n_b)):land((row + (n + 1)):le(0):lnot())
  end
  return w
end

-- Notes what moves a word of a run.
local function note_word(p, w, col, word, guarded)
  local g, out, bytes, vec = p.g, p.g.outputs[1], p.bytes, p.vec_out
  local function when(lanes)
    g:when(guarded and lanes or nil, guarded or p.full)
  end
  for _, x in ipairs(p.exchanged) do
    for n = 0, vec - 1 do
      local line = p.ahead - w.shift + g.thread % LANES * vec + n
      when(w.inside(n))
      g:touch(nil, false, bytes, (line + word * p.run_elems) * p.pitch
        + row_place(p, x.op, line) % LINE + col * bytes)
    end
  end
  local whole = w.inside(0):land(w.inside(vec - 1))
  when(whole)
  g:touch(out, true, vec * bytes, w.at)
  for n = 0, guarded and vec > 1 and vec - 1 or -1 do
    when(w.inside(n):land(whole:lnot()))
    g:touch(out, true, bytes, w.at + n * bytes)
  end
  when(w.column)
end

local TAKE = [[
__align__(16) $type $name_v[$vec];
#pragma unroll
for (int part = 0; part < $vec; part++)$guard
  $name_v[part] = at<$type>($tile, $name_at[part] + $run_bytes * word);]]

local PUT_GUARDED = [[
if ($b >= 0 && $b + $last < n_$b)
  $put
else
  for (int part = 0; part < $vec; part++)
    if ($b + part >= 0 && $b + part < n_$b)
      at<$type>($array, run_place + $bytes * (word * $run_elems + part)) = $value[part];]]

-- Statements that move one word of a run, and its notes.
local function store_word(p, col, word, guarded)
  local g, out, bytes, vec, b = p.g, p.g.outputs[1], p.bytes, p.vec_out, p.b
  local w, lines = word_of(p, col, word), {}
  note_word(p, w, col, word, guarded)
  g:tie(p.var_a, p.first_a + col)
  local is_row = string.format("%s + part >= 0 && %s + part < n_%s", b, b, b)
  local compute, result = tiles.compute_group(p, p.first_b - w.shift, "first_" .. b
    .. " - run_shift", w.y, guarded and "if (!(" .. is_row .. ")) continue;")
  if guarded or compute ~= "" then
    lines[1] = string.format("const int tile_y = thread %% 32 * %d + %d * word;", vec, p.run_elems)
  end
  if guarded then
    lines[2] = string.format("const long long %s = first_%s - run_shift + tile_y;", b, b)
  end
  for _, x in ipairs(p.exchanged) do
    lines[#lines + 1] = string.gsub(TAKE, "$([%w_]+)", {
      type = x.op.record.fields[1].cuda, name_v = x.op.name .. "_v", name_at = x.op.name .. "_at",
      vec = vec, tile = x.name, run_bytes = p.run_elems * p.pitch,
      guard = guarded and "\n  if (" .. is_row .. ")" or "",
    })
  end
  lines[#lines + 1] = compute
  local type, value = kit.word_type[vec * bytes], result[out.number]
  local put = string.format("store_words<%s, 1>(&at<%s>(%s, run_place + %d * word), %s);", type,
    type, out.pointer, p.run_elems * bytes, value)
  lines[#lines + 1] = not guarded and put or string.gsub(PUT_GUARDED, "$([%w_]+)", {
    b = b, last = vec - 1, put = put, vec = vec, type = out.record.fields[1].cuda,
    array = out.pointer, bytes = bytes, run_elems = p.run_elems, value = value,
  })
  return kit.concat(lines)
end

local STORE = [[
// out: a warp has columns of the tile, which are runs along $b
const long long $a = first_$a + thread / 32;
long long run_start = $start;
$rows
#pragma unroll 4
for (int turn = 0; turn < $turns; turn++) {
  const int tile_x = thread / 32 + turn * $warps;$named$last
  // this many elements earlier, its run starts on a sector
  const int run_shift = (int)(run_start & 31)$elements;
  const long long run_place = (run_start & -32ll) + thread % 32 * $word_bytes;
  int $declared;
#pragma unroll
  for (int part = 0; part < $vec; part++) {
    const int tile_line = kSkew - 1 - run_shift + thread % 32 * $vec + part;
    $places
  }
#pragma unroll
  for (int word = 0; word < $runs; word++) {
    $word
  }
  run_start += $warps * ($step);
}]]

local function store_runs(p, guarded)
  local g, k, out, mark = p.g, p.k, p.g.outputs[1], #p.g.real
  local turns = p.tile_a // p.warps
  local turn = g:loop("turn", turns)
  local col = g:define("tile_x", 0, p.tile_a - 1, g.thread // LANES + turn * p.warps)
  local word = g:loop("word", p.runs)
  local inside = store_word(p, col, word, guarded)
  g:when(nil)
  g:close()
  g:close()
  g:forget(mark)
  local rows, declared, places = {}, {}, {}
  for n, x in ipairs(p.exchanged) do
    local name = x.op.name
    rows[n] = string.format("const unsigned int %s_start = (unsigned int)(%s);\n"
      .. "const unsigned int %s_step = (unsigned int)(%s);", name,
      E.text(row_place(p, x.op, 0), true), name,
      E.text(strides.step(k, x.op, 1, p.dim_b), true))
    declared[n] = string.format("%s_at[%d]", name, p.vec_out)
    places[n] = string.format("%s_at[part] = %d * tile_line + (int)(%s_start + tile_line * %s_step "
      .. "& 127) + %d * tile_x;", name, p.pitch, name, name, p.bytes)
  end
  return (string.gsub(STORE, "$([%w_]+)", {
    a = p.a, b = p.b, turns = turns, warps = p.warps,
    rows = kit.concat(rows), declared = table.concat(declared, ", "), vec = p.vec_out,
    places = tiles.indent(kit.concat(places), 4):sub(5), word_bytes = p.vec_out * p.bytes,
    last = guarded and string.format("\n  if (first_%s + tile_x >= n_%s) break;", p.a, p.a) or "",
    start = E.text(E.subst(out.offset[1], { p.var_b, p.first_b }), true),
    step = E.text(strides.step(k, out, 1, p.dim_a), true), runs = p.runs,
    elements = p.bytes > 1 and " / " .. p.bytes or "", word = tiles.indent(inside, 4):sub(5),
    named = reads.named(k.body, p.a)
      and string.format("\n  const long long %s = first_%s + tile_x;", p.a, p.a) or "",
  }))
end

-- ---- the plan ----

-- Tiles inside, where nothing needs a guard, and the others. A word behind the last row of a tile
-- inside is still the array's.
local function find_ways(p)
  p.full_text = string.format("first_%s + k%s <= n_%s && first_%s >= kSkew - 1 && "
    .. "first_%s + k%s < n_%s", p.a, p.A, p.a, p.b, p.b, p.B, p.b)
  p.full = (p.first_a + p.tile_a):le(p.n_a):land((p.first_b + p.tile_b):lt(p.n_b)):land(
    (p.first_b + 0):le(p.ahead - 1):lnot())
  p.guarded = p.full:lnot()
end

local WAIT = [[

asm volatile("cp.async.commit_group;" ::: "memory");
asm volatile("cp.async.wait_group 0;" ::: "memory");]]

-- Text that loads the tile of `x`, and behind the last one waits for all.
local function load(p, x, guarded)
  return load_lines(p, x, guarded) .. (x == p.exchanged[#p.exchanged] and WAIT or "")
end

local DOC = "A block moves a tile of %d x %d elements (%s x %s), wherever rows start: whole "
  .. "lines in along %s, by copies that pass no register, and whole sectors out along %s."

return {
  name = "jagged",
  doc = "Inputs along one dimension, the output along another, rows of any length: whole lines "
    .. "in, in shared memory in the order of global memory, whole sectors out (sm_80).",
  applies = {
    { "the device has asynchronous copies", function(k) return k.device.cc >= 80 end },
    { "every operand is a bare type, not addressed through an index", tiles.all_bare },
    { "operands have elements of one size, 8 bytes at most", of_one_size },
    { "all inputs run along one dimension, and the one output along another", all_exchanged },
    { "rows are runs that follow each other in equal steps", follow_in_steps },
  },
  axes = {
    { "threads", { 512, 256 }, key = "t", doc = "threads a block" },
    { "bytes_a", { 512, 256, 1024 }, key = "a",
      doc = "bytes of the tile along the inputs' dimension" },
    { "bytes_b", { 256, 512 }, key = "b",
      doc = "bytes of the tile along the output's dimension" },
    { "order", { "b", "a" }, key = "o",
      doc = "which way consecutive blocks go: along a or along b" },
  },
  where = {
    -- 16 to 128 elements a thread
    "bytes_a * bytes_b <= threads * 128 * bytes * bytes",
    "bytes_a * bytes_b >= threads * 16 * bytes * bytes",
  },
  facts = function(k)
    return { { "bytes", tiles.largest(k) } }
  end,
  template = "tile.cu",
  plan = function(k, c)
    local p, reason = tiles.prepare(k, c, start_plan, adopt_operands, k.device.smem_optin_bytes)
    if not p then
      return nil, reason
    end
    find_ways(p)
    p.load_tile = function(x) return load(p, x) end
    p.store_tile = function() return store_runs(p) end
    p.load_border = function(x) return load(p, x, p.guarded) end
    p.store_border = function() return store_runs(p, p.guarded) end
    p.doc = string.format(DOC, p.tile_b, p.tile_a, p.b, p.a, p.a, p.b)
    kit.hand_over(p.g, p)
    return p
  end,
}
