-- tile: inputs that run along one dimension and outputs that run along another exchange a 2-D
-- tile through shared memory, so that both sides move whole sectors.

local SKEW_DOC = " Each store run is moved back to start on a 32-byte sector, so only the ends of "
  .. "rows are partial."

local function indent(text, by)
  return string.rep(" ", by) .. string.gsub(text, "\n", "\n" .. string.rep(" ", by))
end

local function capital(name)
  return string.upper(string.sub(name, 1, 1)) .. string.sub(name, 2)
end

local function unit_stride(op)
  return op.fastest > 0 and op.step == op.record.bytes
end

-- Dimension numbers (a, b): what the exchanged inputs and the outputs run along. nil: nothing to
-- exchange.
local function directions(k)
  local a, b
  for _, op in ipairs(k.operands) do
    if op.is_output then
      if not unit_stride(op) or (b and b ~= op.fastest) then
        return nil
      end
      b = op.fastest
    end
  end
  for _, op in ipairs(k.operands) do
    if not op.is_output and unit_stride(op) and op.fastest ~= b then
      if a and a ~= op.fastest then
        return nil
      end
      a = op.fastest
    end
  end
  return a, b
end

local function all_bare(k)
  for _, op in ipairs(k.operands) do
    if not op.record.bare or op.is_index or op.through_index then
      return false
    end
  end
  return true
end

local function largest(k)
  local bytes = 1
  for _, op in ipairs(k.operands) do
    bytes = math.max(bytes, op.record.bytes)
  end
  return bytes
end

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

local function start_plan(k, c)
  local a, b = directions(k)
  if not a then
    return nil, "with these layouts inputs and outputs run along the same dimension"
  end
  local g = kit.new(k, "tile", c.threads)
  g.hint = c.hint
  local p = {
    g = g, k = k, kernel = "tile", threads = c.threads, tile_a = c.tile_a, tile_b = c.tile_b,
    vec_in = c.vec_in, vec_out = c.vec_out, fix = c.fix, pad = c.fix == "pad" and 1 or 0,
    dim_a = a, dim_b = b, a = k.dims[a], b = k.dims[b],
    bytes = largest(k), exchanged = {}, skew = 0,
  }
  p.A, p.B = capital(p.a), capital(p.b)
  p.var_a, p.var_b = k.index[a], k.index[b]
  p.n_a, p.n_b = k.extents[a], k.extents[b]
  p.bounds = c.min_blocks > 0 and string.format("%d, %d", c.threads, c.min_blocks)
    or tostring(c.threads)
  if c.skew then
    p.skew = 32 // p.bytes
  end
  return p
end

-- A word of `width` elements of `op` along dimension `dim`: nil and a reason if alignment forbids
-- it.
local function adopt_word(p, op, dim, width, skewed)
  if width == 1 then
    return true
  end
  local bytes = width * op.record.bytes
  local run = op.run(1, dim, width)
  if bytes > 16 or not run.contiguous then
    return nil, "a group is wider than 16 bytes or not contiguous"
  end
  p.g.needs.words, p.g.needs.at = true, true
  p.g:need_align(op, skewed and 32 or bytes)
  if skewed or run.align % bytes == 0 then
    return true
  end
  if run.align_if % bytes ~= 0 then
    return nil, "rows do not start on a word"
  end
  for _, extent in ipairs(p.k.extents) do
    if E.mentions(op.offset[1], extent) then
      p.g:require((extent % width):eq(0))
    end
  end
  return true
end

-- Takes an exchanged input into the plan: its tile in shared memory.
local function adopt_exchanged(p, op)
  local how = "as it lies in memory"
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
      local good, why = adopt_word(p, op, p.dim_b, p.vec_out, p.skew > 0)
      if not good then
        return nil, op.name .. ": " .. why
      end
      if p.skew > 0 then
        p.g:need_align(op, 32)
      end
    elseif unit_stride(op) and op.fastest == p.dim_a then
      local good, why = adopt_word(p, op, p.dim_a, p.vec_in, false)
      if not good then
        return nil, op.name .. ": " .. why
      end
      adopt_exchanged(p, op)
    end
  end
  return true
end

-- Finds the tile of a block; consecutive blocks go along dimension a, or b with order "b".
local function cut(p, order)
  local g, k, lines = p.g, p.k, {}
  local tiles_a = kit.ceil_div(p.n_a, p.tile_a)
  local tiles_b = kit.ceil_div(p.n_b + math.max(p.skew - 1, 0), p.tile_b)
  local extra = p.skew > 0 and string.format(" + %d", p.skew - 1) or ""
  local count = {
    [p.a] = string.format("tiles_%s = (n_%s + k%s - 1) / k%s", p.a, p.a, p.A, p.A),
    [p.b] = string.format("tiles_%s = (n_%s%s + k%s - 1) / k%s", p.b, p.b, extra, p.B, p.B),
  }
  local fast, fast_n, slow, slow_n = p.a, tiles_a, p.b, tiles_b
  if order == "b" then
    fast, fast_n, slow, slow_n = p.b, tiles_b, p.a, tiles_a
  end
  local size = { [p.a] = p.tile_a, [p.b] = p.tile_b }
  local name = { [p.a] = "k" .. p.A, [p.b] = "k" .. p.B }
  local outer = #k.dims > 2
  lines[1] = "const long long " .. count[fast] .. (outer and ", " .. count[slow] or "") .. ";"
  local slow_place = outer and g.block // fast_n % slow_n or g.block // fast_n
  lines[2] = string.format("const long long first_%s = block %% tiles_%s * %s; "
    .. "// tiles along %s first", fast, fast, name[fast], fast)
  lines[3] = string.format("const long long first_%s = block / tiles_%s%s * %s;", slow, fast,
    outer and " % tiles_" .. slow or "", name[slow])
  p["first_" .. (fast == p.a and "a" or "b")] =
    g:define("first_" .. fast, 0, kit.MAX_INDEX, g.block % fast_n * size[fast], size[fast])
  p["first_" .. (slow == p.a and "a" or "b")] =
    g:define("first_" .. slow, 0, kit.MAX_INDEX, slow_place * size[slow], size[slow])
  local rest = g.block // (fast_n * slow_n)
  local rest_text = string.format("block / (tiles_%s * tiles_%s)", fast, slow)
  local total, left = fast_n * slow_n, #k.dims - 2
  for d = #k.dims, 1, -1 do
    if d ~= p.dim_a and d ~= p.dim_b then
      left = left - 1
      lines[#lines + 1] = string.format("const long long %s = %s%s;", k.dims[d], rest_text,
        left > 0 and " % n_" .. k.dims[d] or "")
      g:tie(k.index[d], left > 0 and rest % k.extents[d] or rest)
      rest, rest_text = rest // k.extents[d], string.format("%s / n_%s", rest_text, k.dims[d])
      total = total * k.extents[d]
    end
  end
  g.grid = total
  return kit.concat(lines)
end

local function full_condition(p)
  local text = string.format("first_%s + k%s <= n_%s && first_%s + k%s <= n_%s", p.a, p.A, p.a,
    p.b, p.B, p.b)
  local full = (p.first_a + p.tile_a):le(p.n_a):land((p.first_b + p.tile_b):le(p.n_b))
  if p.skew > 0 then
    text = text .. string.format(" && first_%s >= kSkew", p.b)
    full = full:land((p.first_b + 0):le(p.skew - 1):lnot())
  end
  return full, text
end

-- ---- full tiles ----

-- Text and notes of one word between registers and the shared tile.
local function touch_shared(p, x, store, y, col, width)
  local bytes = x.op.record.bytes
  local index = shared_index(p, y, col)
  local vector = width > 1 and (p.fix == "xor" or p.fix == "none") and E.divisor(index) % width == 0
  if vector then
    p.g:touch(nil, store, width * bytes, index * bytes)
  else
    for n = 0, width - 1 do
      p.g:touch(nil, store, bytes, shared_index(p, y, col + n) * bytes)
    end
  end
  return vector
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
  g:when(ragged and g:below(row, rows) or nil, p.full)
  g:tie(p.var_a, p.first_a + col)
  g:tie(p.var_b, p.first_b - p.skew + row)
  local type = op.record.fields[1].cuda
  local guard = ragged and string.format("if (tile_y < %d) ", rows) or ""
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

-- The value of every input for one element; exchanged ones come from the tile at (y, x).
local function read_inputs(p, y, col)
  local g, lines = p.g, {}
  local exchanged = {}
  for _, x in ipairs(p.exchanged) do
    exchanged[x.op.number] = x
  end
  for _, op in ipairs(g.inputs) do
    local x = exchanged[op.number]
    if x then
      touch_shared(p, x, false, y, col, 1)
      lines[#lines + 1] = string.format("const %s %s = %s[%s];", x.type, op.name, x.name,
        E.text(shared_index(p, y, col), false))
    else
      lines[#lines + 1] = g:load_element { op }
    end
  end
  return kit.concat(lines)
end

-- Elements by which the run of column var_a is moved back so that it starts on a sector.
local function skew_of(p)
  local op = p.g.outputs[1]
  return E.subst(op.offset[1], { p.var_b, p.first_b }) // op.record.bytes % p.skew
end

-- Row of the shared tile that holds element y of a store run, and the line that declares it if it
-- is skewed.
local function tile_row(p, y, text)
  if p.skew == 0 then
    return y, ""
  end
  local shift = E.var("run_shift", 0, p.skew - 1)
  return p.g:define("tile_line", 0, p.tile_b + p.skew - 1, p.skew - shift + y),
    string.format("const int tile_line = kSkew - run_shift + %s; // its row in the tile", text)
end

-- Where the store run of a column starts, in terms of dimension b: expression and text. A skewed
-- run starts `shift` elements earlier; appends the declaration of `shift`, with `why` as a comment
-- above it.
local function run_start(p, lines, why)
  if p.skew == 0 then
    return p.first_b, "first_" .. p.b
  end
  lines[#lines + 1] = why
  lines[#lines + 1] = string.format("const int run_shift = (int)(%s);", E.text(skew_of(p), true))
  local shift = p.g:define("run_shift", 0, p.skew - 1, skew_of(p))
  return p.first_b - shift, string.format("first_%s - run_shift", p.b)
end

-- How the lanes of a warp lie on the tile when storing: along_b groups of neighbours along b in
-- along_a columns, so that one store covers 128 bytes of each column. A job is one such place.
local function lane_grid(p)
  local along_b = math.min(32, math.max(1, 128 // (p.vec_out * p.bytes)), p.tile_b // p.vec_out)
  local along_a = 32 // along_b
  local groups = p.tile_b // (along_b * p.vec_out)
  return {
    along_a = along_a, along_b = along_b, groups = groups, warps = p.threads // 32,
    jobs = groups * (p.tile_a // along_a),
  }
end

-- Declares job, y and x of one turn: their expressions and text.
local function define_job(p, grid, turn)
  local g = p.g
  local lane = g:define("lane", 0, 31, g.thread % 32)
  local job = g:define("warp_job", 0, grid.jobs - 1, g.thread // 32 + turn * grid.warps)
  local in_run = job % grid.groups * grid.along_b + lane % grid.along_b
  local y = g:define("tile_y", 0, p.tile_b - 1, in_run * p.vec_out, p.vec_out)
  local col = g:define("tile_x", 0, p.tile_a - 1, job // grid.groups * grid.along_a
    + lane // grid.along_b)
  local text = string.format("const int warp_job = thread / 32 + turn * %d;\n"
    .. "const int tile_y = (warp_job %% %d * %d + lane %% %d)%s;\n"
    .. "const int tile_x = warp_job / %d * %d + lane / %d;",
    grid.warps, grid.groups, grid.along_b, grid.along_b,
    p.vec_out > 1 and " * " .. p.vec_out or "", grid.groups, grid.along_a, grid.along_b)
  return y, col, text
end

-- Reads the inputs of one element, computes, and passes every output to `result(op)`, which gives
-- the statement that takes it further.
local function compute_element(p, index, row, col, declare, result)
  local g = p.g
  local lines = { index, declare, read_inputs(p, row, col), g:declare_outputs(), g:body() }
  for _, op in ipairs(g.outputs) do
    lines[#lines + 1] = result(op)
  end
  return kit.concat(lines)
end

-- Does computing one element mention the index along b: in the body, or for an input that is not
-- exchanged?
local function needs_row(p)
  return #p.exchanged < #p.g.inputs
    or string.find(p.k.body, "%f[%w_]" .. p.b .. "%f[^%w_]") ~= nil
end

-- Computes vec_out neighbours along b into registers and stores them as words.
local function store_group(p, start, start_text, y, col)
  local g, out, vec, lines = p.g, p.g.outputs, p.vec_out, {}
  local part = g:loop("part", vec)
  g:tie(p.var_b, start + y + part)
  local row, declare = tile_row(p, y + part, "tile_y + part")
  local index = needs_row(p) and string.format("const long long %s = %s + tile_y + part;", p.b,
    start_text) or ""
  local inside = compute_element(p, index, row, col, declare, function(op)
    return string.format("%s_v[part] = %s;", op.name, op.name)
  end)
  g:close()
  for _, op in ipairs(out) do
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda,
      op.name, vec)
  end
  lines[#lines + 1] = "#pragma unroll"
  lines[#lines + 1] = string.format("for (int part = 0; part < %d; part++) {", vec)
  lines[#lines + 1] = indent(inside, 2)
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
  local row, declare = tile_row(p, y, "tile_y")
  local index = string.format("const long long %s = %s + tile_y;", p.b, start_text)
  return compute_element(p, index, row, col, declare, function(op)
    return g:store_element { op }
  end)
end

local function store_tile(p)
  local g, grid = p.g, lane_grid(p)
  local turns = kit.ceil_div(grid.jobs, grid.warps)
  local mark = #g.real
  local turn = g:loop("turn", turns)
  local y, col, place = define_job(p, grid, turn)
  g:when(nil, p.full)
  g:tie(p.var_a, p.first_a + col)
  local lines = { place, string.format("const long long %s = first_%s + tile_x;", p.a, p.a) }
  local start, start_text = run_start(p, lines,
    string.format("// this many elements earlier, %s's run starts on a sector", p.a))
  local store = p.vec_out > 1 and store_group or store_single
  lines[#lines + 1] = store(p, start, start_text, y, col)
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("// out: neighbours along %s", p.b),
    "const int lane = thread % 32;",
    "#pragma unroll",
    string.format("for (int turn = 0; turn < %d; turn++) {", turns),
    indent(kit.concat(lines), 2),
    "}",
  }
end

-- ---- border tiles ----

-- Limits the notes to cells of a border tile that lie in the index space.
local function border_condition(p, cell, cells)
  local inside = p.var_a:lt(p.n_a):land(p.var_b:lt(p.n_b))
  if cells % p.threads ~= 0 then
    inside = inside:land(p.g:below(cell, cells))
  end
  if p.skew > 0 then -- the first tile starts before the array
    inside = inside:land((E.subst(p.var_b, p.g.real) + 1):le(0):lnot())
  end
  p.g:when(inside, p.full:lnot())
end

-- The same for the text: does the element at the dimensions' variables lie in the index space?
local function inside_text(p)
  return string.format("%s%s < n_%s && %s < n_%s", p.skew > 0 and p.b .. " >= 0 && " or "", p.b,
    p.b, p.a, p.a)
end

local function load_border(p, x)
  local g, op = p.g, x.op
  local rows = p.tile_b + p.skew
  local mark = #g.real
  local turn = g:loop("turn", kit.ceil_div(rows * p.tile_a, p.threads))
  local cell = g:define("tile_cell", 0, rows * p.tile_a - 1, g.thread + turn * p.threads)
  local col = g:define("tile_x", 0, p.tile_a - 1, cell % p.tile_a)
  local row = g:define("tile_y", 0, rows - 1, cell // p.tile_a)
  g:tie(p.var_a, p.first_a + col)
  g:tie(p.var_b, p.first_b - p.skew + row)
  border_condition(p, cell, rows * p.tile_a)
  local load = g:load(op, 1, op.offset[1])
  touch_shared(p, x, true, row, col, 1)
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("for (int tile_cell = thread; tile_cell < %d; tile_cell += kThreads) {",
      rows * p.tile_a),
    string.format("  const int tile_x = tile_cell %% k%s, tile_y = tile_cell / k%s;", p.A, p.A),
    string.format("  const long long %s = first_%s%s + tile_y, %s = first_%s + tile_x;", p.b, p.b,
      p.skew > 0 and " - kSkew" or "", p.a, p.a),
    string.format("  if (%s)", inside_text(p)),
    string.format("    %s[%s] = %s;", x.name, E.text(shared_index(p, row, col), false), load),
    "}",
  }
end

local function store_border(p)
  local g = p.g
  local mark = #g.real
  local turn = g:loop("turn", kit.ceil_div(p.tile_b * p.tile_a, p.threads))
  local cell = g:define("tile_cell", 0, p.tile_b * p.tile_a - 1, g.thread + turn * p.threads)
  local y = g:define("tile_y", 0, p.tile_b - 1, cell % p.tile_b)
  local col = g:define("tile_x", 0, p.tile_a - 1, cell // p.tile_b)
  g:tie(p.var_a, p.first_a + col)
  local lines = {
    string.format("const int tile_y = tile_cell %% k%s, tile_x = tile_cell / k%s;", p.B, p.B),
    string.format("const long long %s = first_%s + tile_x;", p.a, p.a),
  }
  local start, start_text = run_start(p, lines)
  local row, declare = tile_row(p, y, "tile_y")
  g:tie(p.var_b, start + y)
  border_condition(p, cell, p.tile_b * p.tile_a)
  lines[#lines + 1] = string.format("const long long %s = %s + tile_y;", p.b, start_text)
  lines[#lines + 1] = string.format("if (%s) {", inside_text(p))
  lines[#lines + 1] = indent(compute_element(p, "", row, col, declare, function(op)
    return g:store_element { op }
  end), 2)
  lines[#lines + 1] = "}"
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("for (int tile_cell = thread; tile_cell < k%s * k%s; tile_cell += kThreads) {",
      p.A, p.B),
    indent(kit.concat(lines), 2),
    "}",
  }
end

return {
  name = "tile",
  doc = "Inputs along one dimension, outputs along another: a block exchanges a 2-D tile through "
    .. "shared memory.",
  applies = {
    { "every operand is a bare type, not addressed through an index", all_bare },
    { "inputs and outputs run along different dimensions", function(k)
      return directions(k) ~= nil
    end },
  },
  axes = {
    { "threads", { 256, 128, 512 }, key = "t", doc = "threads a block" },
    { "tile_a", { 32, 64, 128 }, key = "a",
      doc = "tile extent along the inputs' fastest dimension" },
    { "tile_b", { 32, 64, 128 }, key = "b",
      doc = "tile extent along the outputs' fastest dimension" },
    { "vec_in", { 1, 2, 4 }, key = "vi", doc = "elements in a word when loading" },
    { "vec_out", { 1, 2, 4 }, key = "vo", doc = "elements in a word when storing" },
    { "fix", { "pad", "xor" }, key = "f", doc = "how bank conflicts are avoided" },
    { "skew", { false, true }, key = "k",
      doc = "move each store run to start on a 32-byte sector" },
    { "order", { "a", "b" }, key = "o", doc = "which way consecutive blocks go" },
    { "hint", { "none", "cs" }, key = "h",
      doc = "cache hint: cs marks loads and stores as streaming" },
    { "min_blocks", { 0 }, key = "m", doc = "blocks an SM that launch bounds ask for; 0: none" },
  },
  where = {
    "tile_a * tile_b <= threads * 32", "tile_a * tile_b >= threads * 4",
    "vec_in * bytes <= 16", "vec_out * bytes <= 16",
    "tile_a * (tile_b + 8) * bytes <= 48000",
    "tile_a // vec_in <= threads",
    "not skew or bytes <= 16",
    "not skew or vec_in == 1",
    "vec_in == vec_out or skew",
    "hint == 'none' or order == 'a'",
    "skew or threads == 256 or vec_in * bytes >= 8",
  },
  facts = function(k)
    return { { "bytes", largest(k) } }
  end,
  template = "tile.cu",
  plan = function(k, c)
    local p, reason = start_plan(k, c)
    if not p then
      return nil, reason
    end
    local good, why = adopt_operands(p)
    if not good then
      return nil, why
    end
    if p.g.static_shared_bytes > k.device.smem_block_bytes then
      return nil, "the tiles need more shared memory than a block has"
    end
    local g = p.g
    p.cut = cut(p, c.order)
    p.full, p.full_text = full_condition(p)
    p.load_tile = function(x) return load_tile(p, x) end
    p.store_tile = function() return store_tile(p) end
    p.load_border = function(x) return load_border(p, x) end
    p.store_border = function() return store_border(p) end
    p.doc = string.format("A block moves a tile of %d x %d elements (%s x %s): in along %s, "
      .. "through shared memory, out along %s.%s", p.tile_b, p.tile_a, p.b, p.a, p.a, p.b,
      p.skew > 0 and SKEW_DOC or "")
    g.needs.at = g.needs.at or p.vec_in > 1 or p.vec_out > 1
    kit.hand_over(g, p)
    return p
  end,
}
