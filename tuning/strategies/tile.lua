-- tile: inputs that run along one dimension and outputs that run along another exchange a 2-D
-- tile through shared memory, so that both sides move whole sectors.

local SKEW_DOC = " Each store run is moved back to start on a 32-byte sector, so only the ends of "
  .. "rows are partial."

-- A dimension at most this long lies in one tile, which it need not fill: every access tests its
-- edge.
local THIN = 16

-- Index of an element of the shared tile at row y, column x. `c`: how many columns a group of
-- lanes shares.
local function shared_index(p, y, x)
  if p.fix == "xor" then
    local c = math.max(p.vec_in, p.vec_out)
    local chunks = math.max(1, math.min(128 // (c * p.bytes), p.tile_a // c)) -- within the row
    return y * p.tile_a + x:xor(y // p.vec_out % chunks * c)
  end
  return y * (p.tile_a + p.pad) + x
end

-- Columns that a padded row of the tile is longer. Words keep their alignment where it is short.
local function padding(c)
  return c.fix ~= "pad" and 0 or c.tile_b <= THIN and c.vec_in or 1
end

local function start_plan(k, c)
  local p, reason = tiles.start(k, c, "tile")
  if not p then
    return nil, reason
  end
  p.vec_in, p.vec_out, p.fix, p.pad = c.vec_in, c.vec_out, c.fix, padding(c)
  if c.tile_a <= THIN then
    p.thin = "a"
    p.g:require(p.n_a:le(c.tile_a))
  elseif c.tile_b <= THIN then
    p.thin = "b"
    p.g:require(p.n_b:le(c.tile_b))
  end
  if c.skew then
    p.skew = 32 // p.bytes
  end
  return p
end

-- Takes an exchanged input into the plan: its tile in shared memory.
local function adopt_exchanged(p, op)
  local how = "in the order of memory"
  if p.fix == "pad" then
    how = string.format("rows of %d and %d more: columns fall into different banks", p.tile_a,
      p.pad)
  elseif p.fix == "xor" then
    how = "columns swizzled by row: columns fall into different banks"
  end
  local elems = (p.tile_b + p.skew) * (p.tile_a + p.pad)
  p.exchanged[#p.exchanged + 1] = {
    op = op, name = op.name .. "_tile", type = op.record.fields[1].cuda, elems = elems, how = how,
  }
  p.g.static_shared_bytes = p.g.static_shared_bytes + elems * op.record.bytes
end

local function adopt_operands(p)
  for _, op in ipairs(p.g.ops) do
    if op.is_output then
      local good, why = tiles.adopt_word(p, op, p.dim_b, p.vec_out, p.skew > 0)
      if not good then
        return nil, op.name .. ": " .. why
      end
      if p.skew > 0 then
        p.g:need_align(op, 32)
      end
    elseif tiles.is_exchanged(p, op) then
      local good, why = tiles.adopt_word(p, op, p.dim_a, p.vec_in, false)
      if not good then
        return nil, op.name .. ": " .. why
      end
      adopt_exchanged(p, op)
    end
  end
  return true
end

-- ---- full tiles ----

-- Text and notes of one word between registers and the shared tile.
local function touch_shared(p, x, store, y, col, width)
  local bytes = x.op.record.bytes
  local index = shared_index(p, y, col)
  local vector = width > 1 and E.divisor(index) % width == 0
  if vector then
    p.g:touch(nil, store, width * bytes, index * bytes)
  else
    for n = 0, width - 1 do
      p.g:touch(nil, store, bytes, shared_index(p, y, col + n) * bytes)
    end
  end
  return vector
end

-- Notes an access to one element of the shared tile; its text.
local function cell(p, x, store, y, col)
  touch_shared(p, x, store, y, col, 1)
  return string.format("%s[%s]", x.name, E.text(shared_index(p, y, col), false))
end

-- Statement that puts the vec_in elements of value[turn] into the tile at (row, col).
local function put_shared(p, x, row, col)
  local vector = touch_shared(p, x, true, row, col, p.vec_in)
  local index = E.text(shared_index(p, row, col), false)
  if vector then
    local word = kit.word_type[p.vec_in * x.op.record.bytes]
    return string.format("at<%s>(&%s[%s], 0) = at<%s>(loaded[turn], 0);", word, x.name, index, word)
  elseif p.vec_in == 1 then
    return string.format("%s[%s] = loaded[turn][0];", x.name, index)
  end
  return string.format("for (int part = 0; part < %d; part++) %s[%s] = loaded[turn][part];",
    p.vec_in, x.name,
    E.text(shared_index(p, row, col + E.var("part", 0, p.vec_in - 1)), false))
end

local function load_tile(p, x)
  local g, op = p.g, x.op
  local lanes, rows = p.tile_a // p.vec_in, p.tile_b + p.skew
  local step = p.threads // lanes
  local turns = kit.ceil_div(rows, step)
  local ragged = rows % step ~= 0
  local mark = #g.real
  local col = g:define("tile_x", 0, p.tile_a - 1, g.thread % lanes * p.vec_in, p.vec_in)
  local turn = g:loop("turn", turns)
  local row = g:define("tile_y", 0, rows - 1, g.thread // lanes + turn * step)
  g:when(ragged and g:below(row, rows) or tiles.on_edge(p, row, col), p.full)
  g:tie(p.var_a, p.first_a + col)
  g:tie(p.var_b, p.first_b - p.skew + row)
  local type = op.record.fields[1].cuda
  local guard = ragged and string.format("if (tile_y < %d) ", rows) or ""
  if p.thin then
    guard = tiles.edge_text(p) .. "\n      "
  end
  local load
  if p.vec_in > 1 then
    local word = kit.word_type[p.vec_in * op.record.bytes]
    g:touch(op, false, p.vec_in * op.record.bytes, op.offset[1])
    load = string.format("load_words<%s, 1>(loaded[turn], &at<%s>(%s, %s));", word, word,
      op.pointer, E.text(op.offset[1], true))
  else
    load = string.format("loaded[turn][0] = %s;", g:load(op, 1, op.offset[1]))
  end
  local put = put_shared(p, x, row, col)
  g:when(nil)
  g:close()
  g:forget(mark)
  local y = string.format("const int tile_y = thread / %d + turn * %d;", lanes, step)
  local place = string.format("const long long %s = first_%s%s + tile_y, %s = first_%s + tile_x;",
    p.b, p.b, p.skew > 0 and " - kSkew" or "", p.a, p.a)
  return kit.concat {
    string.format("{ // %s in: neighbours along %s, all loads before the first use", op.name, p.a),
    string.format("  const int tile_x = thread %% %d%s;", lanes,
      p.vec_in > 1 and " * " .. p.vec_in or ""),
    string.format("  __align__(16) %s loaded[%d][%d];", type, turns, p.vec_in),
    "#pragma unroll",
    string.format("  for (int turn = 0; turn < %d; turn++) {", turns),
    "    " .. y,
    "    " .. place,
    "    " .. guard .. load,
    "  }",
    "#pragma unroll",
    string.format("  for (int turn = 0; turn < %d; turn++) {", turns),
    "    " .. y,
    "    " .. guard .. put,
    "  }",
    "}",
  }
end

-- Computes vec_out neighbours along b into registers and stores them as words.
local function store_group(p, start, start_text, y, col)
  local g, out, vec, lines = p.g, p.g.outputs, p.vec_out, {}
  local part = g:loop("part", vec)
  g:tie(p.var_b, start + y + part)
  local row, declare = tiles.tile_row(p, y + part, "tile_y + part")
  local index = tiles.needs_row(p) and string.format("const long long %s = %s + tile_y + part;",
    p.b, start_text) or ""
  local inside = tiles.compute_element(p, index, row, col, declare, function(op)
    return string.format("%s_v[part] = %s;", op.name, op.name)
  end)
  g:close()
  for _, op in ipairs(out) do
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda,
      op.name, vec)
  end
  lines[#lines + 1] = "#pragma unroll"
  lines[#lines + 1] = string.format("for (int part = 0; part < %d; part++) {", vec)
  lines[#lines + 1] = tiles.indent(inside, 2)
  lines[#lines + 1] = "}"
  g:tie(p.var_b, start + y)
  lines[#lines + 1] = string.format("const long long %s = %s + tile_y;", p.b, start_text)
  for _, op in ipairs(out) do
    local word = kit.word_type[vec * op.record.bytes]
    g:touch(op, true, vec * op.record.bytes, op.offset[1])
    lines[#lines + 1] = string.format("store_words<%s, 1>(&at<%s>(%s, %s), %s_v);", word, word,
      op.pointer, E.text(op.offset[1], true), op.name)
  end
  return kit.concat(lines)
end

local function store_single(p, start, start_text, y, col)
  local g = p.g
  g:tie(p.var_b, start + y)
  local row, declare = tiles.tile_row(p, y, "tile_y")
  local index = string.format("const long long %s = %s + tile_y;", p.b, start_text)
  return tiles.compute_element(p, index, row, col, declare, function(op)
    return g:store_element { op }
  end)
end

local function store_tile(p)
  local g, grid = p.g, tiles.lane_grid(p)
  local turns = kit.ceil_div(grid.jobs, grid.warps)
  local mark = #g.real
  local turn = g:loop("turn", turns)
  local y, col, place = tiles.define_job(p, grid, turn)
  g:when(tiles.on_edge(p, y, col), p.full)
  g:tie(p.var_a, p.first_a + col)
  local lines = { place, string.format("const long long %s = first_%s + tile_x;", p.a, p.a) }
  local start, start_text = tiles.run_start(p, lines,
    string.format("// this many elements earlier, %s's run starts on a sector", p.a))
  local put = p.vec_out > 1 and store_group or store_single
  local store = put(p, start, start_text, y, col)
  if p.thin then
    store = tiles.edge_text(p) .. " {\n" .. tiles.indent(store, 2) .. "\n}"
  end
  lines[#lines + 1] = store
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("// out: neighbours along %s", p.b),
    "const int lane = thread % 32;",
    "#pragma unroll",
    string.format("for (int turn = 0; turn < %d; turn++) {", turns),
    tiles.indent(kit.concat(lines), 2),
    "}",
  }
end

-- The tile extents, 8 or 16, that cover dimensions a and b where a tuned size has them that thin;
-- 0: none does.
local function thin_extents(k)
  local cover = { 0, 0 }
  for _, extents in ipairs(boxes.extents(k, { tiles.directions(k) })) do
    for n, extent in ipairs(extents) do
      if extent <= THIN then
        cover[n] = math.max(cover[n], extent <= 8 and 8 or THIN)
      end
    end
  end
  return cover[1], cover[2]
end

-- What a tile is legal beside a thin extent: rows of the array that is thin start anywhere, so
-- that words are of one element there.
local function beside_thin(covers, long, thin_way, long_way)
  return string.format("%s and (tile_%s == 128 or tile_%s == 256) and vec_%s == 1 and "
    .. "(vec_%s == 1 or vec_%s == 4 or vec_%s * bytes == 16) and threads < 512 and not skew and "
    .. "order == 'a' and hint ~= 'cs' and fix == 'pad'", covers, long, long, thin_way, long_way,
    long_way, long_way)
end

return {
  name = "tile",
  doc = "Inputs along one dimension, outputs along another: a block exchanges a 2-D tile through "
    .. "shared memory.",
  applies = {
    { "every operand is a bare type, not addressed through an index", tiles.all_bare },
    { "inputs and outputs run along different dimensions", function(k)
      return tiles.directions(k) ~= nil
    end },
  },
  axes = {
    { "threads", { 256, 128, 512 }, key = "t", doc = "threads a block" },
    { "tile_a", { 32, 64, 128, 256, 8, 16 }, key = "a",
      doc = "tile extent along the inputs' fastest dimension" },
    { "tile_b", { 32, 64, 128, 256, 8, 16 }, key = "b",
      doc = "tile extent along the outputs' fastest dimension" },
    { "vec_in", { 1, 2, 4 }, key = "vi", doc = "elements in a word when loading" },
    { "vec_out", { 1, 2, 4 }, key = "vo", doc = "elements in a word when storing" },
    { "fix", { "pad", "xor" }, key = "f", doc = "how bank conflicts are avoided" },
    { "skew", { false, true }, key = "k",
      doc = "move each store run to start on a 32-byte sector" },
    { "order", { "a", "b", "g" }, key = "o",
      doc = "which way consecutive blocks go: along a, along b, or in bands of 8 tiles" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
  },
  where = {
    "tile_a * tile_b <= threads * 32", "tile_a * tile_b >= threads * 4",
    "vec_in * bytes <= 16", "vec_out * bytes <= 16",
    "tile_a * (tile_b + 8) * bytes <= 48000",
    "tile_a // vec_in <= threads",
    "not skew or bytes <= 16",
    "not skew or vec_in == 1",
    "vec_in == vec_out or skew or tile_a < 32 or tile_b < 32",
    "hint != 'cs' or order == 'a'",
    "tile_a >= 32 or " .. beside_thin("tile_a == thin_a", "b", "in", "out"),
    "tile_b >= 32 or " .. beside_thin("tile_b == thin_b", "a", "out", "in"),
    "tile_a < 256 and tile_b < 256 or tile_a < 32 or tile_b < 32",
    kit.hints.keeps("not skew and order != 'g' and (tile_a < 32 or tile_b < 32 or "
      .. "tile_a == tile_b and (bytes == 8 and threads == 256 and tile_a == 32 or "
      .. "bytes < 8 and threads == 512 and tile_a == 64 and vec_in > 1))"),
    "order != 'g' or (threads == 256 and vec_in == vec_out) or skew",
    "skew or threads == 256 or vec_in * bytes >= 8 or vec_out * bytes >= 8",
    "threads > 128 or tile_a * tile_b < 4096 or bytes == 2 or bytes == 4", -- registers spill
  },
  facts = function(k)
    local thin_a, thin_b = thin_extents(k)
    return { { "bytes", tiles.largest(k) }, { "thin_a", thin_a }, { "thin_b", thin_b } }
  end,
  template = "tile.cu",
  plan = function(k, c)
    local p, reason = tiles.prepare(k, c, start_plan, adopt_operands)
    if not p then
      return nil, reason
    end
    local g = p.g
    p.full, p.full_text = tiles.full_condition(p)
    p.load_tile = function(x) return load_tile(p, x) end
    p.store_tile = function() return store_tile(p) end
    p.cell = function(x, store, y, col) return cell(p, x, store, y, col) end
    p.load_border = function(x) return tiles.load_border(p, x) end
    p.store_border = function() return tiles.store_border(p) end
    p.doc = string.format("A block moves a tile of %d x %d elements (%s x %s): in along %s, "
      .. "through shared memory, out along %s.%s", p.tile_b, p.tile_a, p.b, p.a, p.a, p.b,
      p.skew > 0 and SKEW_DOC or "")
    g.needs.at = g.needs.at or p.vec_in > 1 or p.vec_out > 1
    kit.hand_over(g, p)
    return p
  end,
}
