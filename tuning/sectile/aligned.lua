-- aligned: boxes whose rows start at any element, moved by the aligned words of 16 bytes around
-- them. A group is a word of the memory that a run lies in; the first and the last group of a run
-- may have some of its elements only.
--
--   load_in, store_out   runs of both sides, exchanged through a tile in shared memory
--   move                 rows stay rows, the tile is one run of the output: a thread takes words
--                        of it, each put together from the two words of the input it straddles
local aligned = {}

local WORD = 16

--- Elements in a word.
---@param p table
---@return integer
function aligned.width(p)
  return WORD // p.bytes
end

-- Do the first `modes` dimensions of `order` lie behind each other in `op`, so that they are one
-- run?
local function is_run(p, op, order, modes)
  local steps = p.about.steps[op.number]
  for n = 1, modes - 1 do
    if kit.const_of(steps[order[n + 1]] - steps[order[n]] * p.n[order[n]]) ~= 0 then
      return false
    end
  end
  return true
end

-- Where the run at hand starts in `op`, in elements: of the places of the other dimensions.
local function start_of(p, op, others)
  local at = {}
  for d, index in ipairs(p.k.index) do
    at[#at + 1], at[#at + 2] = index, others and others[d] or p.first[d]
  end
  return E.subst(op.offset[1], at) // op.record.bytes
end

local function unrolled(count, text)
  return string.format("#pragma unroll\nfor (int part = 0; part < %d; part++) {\n%s\n}", count,
    tiles.indent(text, 2))
end

local function each_turn(p, text)
  return string.format("#pragma unroll\nfor (int turn = 0; turn < %d; turn++) {\n%s\n%s\n%s\n}",
    p.items // aligned.width(p), tiles.indent(string.format(
    "const int first_cell = (member + turn * kThreads) * %d - run_shift; // its first element",
    aligned.width(p)), 2), "  if (first_cell < tile_cells) {", tiles.indent(text, 4) .. "\n  }")
end

-- ---- rows that stay rows ----

--- Whether a kernel's rows can move like this; requires what must hold.
---@param p table
---@param modes_out integer
---@return boolean? good
---@return string? reason
function aligned.adopt_rows(p, modes_out)
  local g = p.g
  if #g.outputs ~= 1 or p.about.into[1] ~= p.about.out[1] then
    return nil, "there are several outputs, or rows do not stay rows"
  end
  for _, op in ipairs(g.ops) do
    if op.record.bytes ~= p.bytes or not (op.is_output or p.about.exchanged[op.number]) then
      return nil, op.name .. ": elements of another size, or in another order"
    end
    g:need_align(op, WORD)
  end
  if not is_run(p, g.outputs[1], p.order_out, modes_out) then
    return nil, "a tile of the output is no run"
  end
  g.needs.words, g.needs.at, g.needs.shifted = true, true, {}
  return true
end

-- Declares <op>_place, where the element at hand lies.
local function place_of(p, op, text)
  return p.g:define(op.name .. "_place", 0, kit.MAX_INDEX, op.offset[1] // p.bytes),
    string.format("const int %s_place = %s_start + %s;", op.name, op.name, text)
end

-- A group's words of one input: two aligned ones around it where it lies within a row and they lie
-- within the array, else element by element.
local function load_group(p, op, group, digits)
  local g, width, bytes = p.g, aligned.width(p), p.bytes
  local fast = p.order_out[1]
  local place, line = place_of(p, op, op.name .. "_at[turn]")
  local rest = place % width
  local inside = E.subst((group + 0):lt(0):lnot():land((digits[fast] + width):le(p.len[fast])):land(
    (place - rest + 2 * width):le(op.bytes // bytes)), g.real)
  g:when(inside)
  g:touch(op, false, WORD, (place - rest) * bytes)
  g:when(inside:land(rest:ne(0)))
  g:touch(op, false, WORD, (place - rest + width) * bytes)
  g:when(nil)
  local part = g:loop("part", width)
  local cell = g:define("tile_cell", 0, p.cells - 1, group + part)
  boxes.tie_cell(p, p.order_out, cell)
  g:when(inside:lnot():land(g:below(group + part, 0):lnot()):land(
    g:below(group + part, p.cells_of_tile)))
  local single, single_line = place_of(p, op, boxes.offset_text(p, p.order_out, op))
  local load = string.format("%s_v[turn][part] = %s;", op.name, g:load(op, 1, single * bytes))
  g:when(nil)
  g:close()
  return kit.concat {
    line,
    string.format("const int %s_rest = %s_place & %d;", op.name, op.name, width - 1),
    string.format("if (in_row >> turn & 1 && %s_place - %s_rest + %d <= %s_count) {", op.name,
      op.name, 2 * width, op.name),
    string.format("  const uint4 *const word = &at<uint4>(%s, %dll * (%s_place - %s_rest));",
      op.pointer, bytes, op.name, op.name),
    string.format("  load_words<uint4, 1>(%s_v[turn], word);", op.name),
    string.format("  if (%s_rest > 0)\n    load_words<uint4, 1>(&%s_v[turn][%d], word + 1);",
      op.name, op.name, width),
    "} else { // a row ends in it",
    tiles.indent(unrolled(width, kit.concat {
      "int cell_left = first_cell + part;", "if (cell_left >= 0 && cell_left < tile_cells) {",
      tiles.indent(kit.concat {
        boxes.place_lines(p, p.order_out), single_line, load,
      }, 2), "}",
    }), 2),
    "}",
  }
end

-- Computes a group and stores it: as a word, or what the run has of it.
local function store_group(p, op, group)
  local g, width, bytes = p.g, aligned.width(p), p.bytes
  local inside = {}
  local before = {}
  for n, input in ipairs(g.inputs) do
    local name = input.name
    before[n] = string.format("const int %s_place = %s_start + %s_at[turn];\n"
      .. "const int %s_rest = in_row >> turn & 1 && (%s_place & -%d) + %d <= %s_count\n"
      .. "  ? %s_place & %d : 0;\n"
      .. "const uint4 %s_words = realigned<false>(at<uint4>(%s_v[turn], 0),\n"
      .. "  at<uint4>(%s_v[turn], %d), %d * %s_rest);", name, name, name, name, name, width,
      2 * width, name, name, width - 1, name, name, name, WORD, bytes, name)
    inside[n] = string.format("const %s %s = at<%s>(&%s_words, %d * part);",
      input.record.fields[1].cuda, name, input.record.fields[1].cuda, name, bytes)
  end
  inside[#inside + 1] = g:declare_outputs()
  inside[#inside + 1] = g:body()
  inside[#inside + 1] = string.format("%s_v[part] = %s;", op.name, op.name)
  local start = start_of(p, op)
  local whole = E.subst((group + 0):lt(0):lnot():land((group + width):le(p.cells_of_tile)), g.real)
  g:when(whole)
  g:touch(op, true, WORD, (start + group) * bytes)
  g:when(nil)
  local part = g:loop("part", width)
  g:when(whole:lnot():land(g:below(group + part, 0):lnot()):land(
    g:below(group + part, p.cells_of_tile)))
  local place = g:define(op.name .. "_place", 0, kit.MAX_INDEX, start + group + part)
  local store = g:store(op, 1, place * bytes, op.name .. "_v[part]")
  g:when(nil)
  g:close()
  return kit.concat {
    kit.concat(before),
    string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda, op.name, width),
    unrolled(width, kit.concat(inside)),
    string.format("if (first_cell >= 0 && first_cell + %d <= tile_cells)", width),
    string.format("  store_words<uint4, 1>(&at<uint4>(%s, %dll * (%s_start + first_cell)), %s_v);",
      op.pointer, bytes, op.name, op.name),
    "else { // the run begins or ends in it",
    tiles.indent(unrolled(width, kit.concat {
      string.format("const int %s_place = %s_start + first_cell + part;", op.name, op.name),
      "if (first_cell + part >= 0 && first_cell + part < tile_cells)", "  " .. store,
    }), 2),
    "}",
  }
end

--- Text that moves a tile.
---@param p table
---@return string
function aligned.move(p)
  local g, width, out = p.g, aligned.width(p), p.g.outputs[1]
  local mark = #g.real
  local round = g:loop("round", p.count)
  boxes.enter_tile(p, round)
  local shift = g:define("run_shift", 0, width - 1, start_of(p, out) % width)
  local turn = g:loop("turn", p.items // width)
  local group = g:define("first_cell", 1 - width, p.cells - 1,
    (g.thread + turn * p.threads) * width - shift)
  local assign, loads = {}, {}
  local digits = boxes.tie_cell(p, p.order_out, (group + 0):max(0))
  for n, op in ipairs(g.inputs) do
    assign[n] = string.format("%s_at[turn] = %s;", op.name, boxes.offset_text(p, p.order_out, op))
    loads[n] = load_group(p, op, group, digits)
  end
  local fast = p.k.dims[p.order_out[1]]
  assign[#assign + 1] = string.format(
    "in_row |= (first_cell >= 0 && at_%s + %d <= len_%s) << turn;",
    fast, width, fast)
  local store = store_group(p, out, group)
  g:close()
  g:close()
  g:forget(mark)
  return kit.concat {
    boxes.open_tile(p),
    string.format("const int run_shift = %s_start & %d; // after a word", out.name, width - 1),
    boxes.find_places(p, "out", p.order_out, width, kit.concat(assign), {
      tests = { "run_shift != out_shift" }, lines = { "out_shift = run_shift;\nin_row = 0;" },
      cell = string.format("(member + turn * kThreads) * %d - run_shift;\n"
        .. "    const int first_cell = cell_left;\n    cell_left = max(cell_left, 0)", width),
      factors = true,
    }),
    each_turn(p, kit.concat(loads)), each_turn(p, store),
  }
end

--- Registers that stay over the rounds.
---@param p table
---@return string
function aligned.declare_rows(p)
  local turns, ints = p.items // aligned.width(p), { "out_shift = -1", "in_row = 0" }
  local lines = { boxes.remember(p, "out"), boxes.declare_tile(p) }
  for n = 1, #p.order_out - 1 do -- they are whole, all but the last
    local name = p.k.dims[p.order_out[n]]
    lines[#lines + 1] = string.format("const unsigned int factor_%s = factor_of(len_%s);", name,
      name)
  end
  for _, op in ipairs(p.g.inputs) do
    ints[#ints + 1] = string.format("%s_at[%d]", op.name, turns)
    lines[#lines + 1] = string.format("const int %s_count = (int)(%s);", op.name,
      E.text(op.bytes // p.bytes, true))
    lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d][%d];",
      op.record.fields[1].cuda, op.name, turns, 2 * aligned.width(p))
  end
  lines[#lines + 1] = "int " .. table.concat(ints, ", ") .. ";"
  return kit.concat(lines)
end

-- ---- runs through shared memory ----

-- One side of the tile: `op` moves in runs of the first `modes` dimensions of `order`; the others
-- number the runs. Names in the text begin with `name`.
local function side_of(op, order, modes, name)
  local side = { op = op, name = name, run = {}, others = {}, order = order }
  for n, d in ipairs(order) do
    local list = n <= modes and side.run or side.others
    list[#list + 1] = d
  end
  return side
end

local function largest(p, dims)
  local n = p.n[1] * 0 + 1
  for _, d in ipairs(dims) do
    n = n * (p.box[d] or p.n[d])
  end
  return n
end

-- Elements that a run's groups may begin before it: 0 where all runs start on a word. Sets it as an
-- expression; returns the line that declares it.
local function declare_pad(p, side)
  local width, op, texts, off = aligned.width(p), side.op, {}, p.n[1] * 0
  local in_run = {}
  for _, d in ipairs(side.run) do
    in_run[d] = true
  end
  for d, name in ipairs(p.k.dims) do
    local step = p.about.steps[op.number][d] // op.record.bytes
    local text = string.format("%s_step_%s", op.name, name)
    if in_run[d] then
      step, text = p.box[d] and step * p.box[d], string.format("box_%s * %s", name, text)
    end
    if step then
      texts[#texts + 1] = text
      off = off:max((step % width):ne(0))
    end
  end
  local start = kit.const_of(E.subst(op.offset[1], p.zeros)) // op.record.bytes
  if start % width ~= 0 then
    side.pad = width - 1
    return string.format("const int %s_pad = %d;", op.name, width - 1)
  end
  side.pad = off * (width - 1)
  return string.format("// elements of a word before %s's runs: none where all start on a word\n"
    .. "const int %s_pad = ((%s) & %d) != 0 ? %d : 0;", op.name, op.name,
    #texts > 0 and table.concat(texts, " | ") or "0", width - 1, width - 1)
end

-- Turns that the groups of a side take: one more than whole words would, because runs begin and end
-- within a word.
local function turns_of(p)
  return p.items // aligned.width(p) + 1
end

--- Whether a kernel's runs can move like this; requires what must hold.
---@param p table
---@param modes_in integer
---@param modes_out integer
---@return boolean? good
---@return string? reason
function aligned.adopt_runs(p, modes_in, modes_out)
  local g = p.g
  local a, b = g.inputs[1], g.outputs[1]
  if #g.inputs ~= 1 or #g.outputs ~= 1 or a.record.bytes ~= b.record.bytes then
    return nil, "there are several inputs or outputs, or elements of different sizes"
  end
  local sides = {
    side_of(a, p.order_in, modes_in, "read"), side_of(b, p.order_out, modes_out, "write"),
  }
  p.read, p.write = sides[1], p.vec_out > 1 and sides[2] or nil
  p.side_lines = {}
  local width = aligned.width(p)
  for _, side in ipairs { p.read, p.write } do
    local op = side.op
    if not is_run(p, op, side.order, #side.run) then
      return nil, op.name .. ": a run of the tile has gaps"
    elseif not kit.const_of(E.subst(op.offset[1], p.zeros)) then
      return nil, op.name .. ": where it starts depends on extents"
    end
    p.side_lines[#p.side_lines + 1] = declare_pad(p, side)
    local groups = (largest(p, side.run) + side.pad + (width - 1)) // width
    g:require((largest(p, side.others) * groups):le(turns_of(p) * p.threads))
    g:need_align(op, WORD)
  end
  p.exchanged = { { op = a, type = a.record.fields[1].cuda } }
  p.is_exchanged, p.words = { [a.number] = true }, {}
  g.static_shared_bytes = g.static_shared_bytes + p.cells * p.bytes
  g.needs.words, g.needs.at = true, true
  return true
end

local function lens(p, dims)
  local n, texts = 1, {}
  for m, d in ipairs(dims) do
    n, texts[m] = n * p.len[d], "len_" .. p.k.dims[d]
  end
  return n, table.concat(texts, " * ")
end

-- Ties the names of a group: its run, where the run starts in the array, its first element in the
-- run (before it, if the run starts within a word).
local function define_group(p, side, turn)
  local g, width = p.g, aligned.width(p)
  local m = { digits = {}, length = lens(p, side.run) }
  local groups = (m.length + side.pad + (width - 1)) // width
  local group = g:define("group_number", 0, p.cells, g.thread + turn * p.threads)
  m.run = g:define("run_number", 0, p.cells, group // groups)
  local rest, at = m.run, {}
  for n, d in ipairs(side.others) do
    m.digits[d] = n < #side.others and rest % p.len[d] or rest
    at[d] = p.first[d] + m.digits[d]
    rest = rest // p.len[d]
  end
  m.start = g:define("run_start", 0, kit.MAX_INDEX, start_of(p, side.op, at))
  m.first = g:define("first_cell", 1 - width, p.cells,
    (group - m.run * groups) * width - m.start % width)
  m.inside = g:below(m.run * m.length, p.cells_of_tile):land(g:below(m.first, m.length))
  return m
end

-- The condition that neighbour `part` of a group is an element of the run.
local function has_part(p, m, part)
  return m.inside:land(p.g:below(m.first + part, 0):lnot()):land(
    p.g:below(m.first + part, m.length))
end

-- Text that finds a side's groups anew where the tile's size, or where it starts in a word, is
-- another one than before. `assign`: what is kept of a group.
local function find_groups(p, side, dims, assign)
  local op, width, name = side.op, aligned.width(p), side.name
  local tests, lines = {}, {}
  for n, d in ipairs(p.chunked) do
    local dim = p.k.dims[d]
    tests[n] = string.format("len_%s != %s_%s", dim, dims, dim)
    lines[n] = string.format("%s_%s = len_%s;", dims, dim, dim)
  end
  tests[#tests + 1] = string.format("(%s_start & %d) != %s_shift", op.name, width - 1, op.name)
  lines[#lines + 1] = string.format("%s_shift = %s_start & %d;", op.name, op.name, width - 1)
  lines[#lines + 1] = string.format("const unsigned int factor_groups = factor_of(%s_groups);",
    name)
  for _, list in ipairs { side.others, side == p.write and side.run or {} } do
    for n = 1, #list - 1 do
      local dim = p.k.dims[list[n]]
      lines[#lines + 1] = string.format("const unsigned int factor_%s = factor_of(len_%s);", dim,
        dim)
    end
  end
  local at = boxes.offset_text(p, side.others, op)
  local _, length = lens(p, side.run)
  return kit.concat {
    string.format("const int %s_run = %s, %s_groups = (%s_run + %s_pad + %d) / %d;", name, length,
      name, name, op.name, width - 1, width),
    "// where this thread's groups lie in a tile of this size that starts here in a word",
    string.format("if (%s) {", table.concat(tests, " || ")),
    tiles.indent(kit.concat(lines), 2),
    "#pragma unroll",
    string.format("  for (int turn = 0; turn < %d; turn++) {", turns_of(p)),
    "    const int group_number = member + turn * kThreads;",
    "    const int run_number = quotient(group_number, factor_groups);",
    #side.others > 0 and "    int cell_left = run_number;" or "",
    #side.others > 0 and tiles.indent(boxes.place_lines(p, side.others), 4) or "",
    string.format("    const int run_at = %s;", at ~= "" and at or "0"),
    string.format("    const int first_cell = (group_number - run_number * %s_groups) * %d"
      .. "\n      - (%s_start + run_at & %d);", name, width, op.name, width - 1),
    string.format("    const bool in_tile = run_number * %s_run < tile_cells;", name),
    string.format("    %s_at[turn] = run_at + first_cell;", op.name),
    tiles.indent(assign, 4),
    "  }",
    "}",
  }
end

local function for_turns(p, text)
  return string.format("#pragma unroll\nfor (int turn = 0; turn < %d; turn++) {\n%s\n}",
    turns_of(p), tiles.indent(text, 2))
end

--- In: the words around the runs of the input into registers, and from there into the tile.
---@param p table
---@return string load
---@return string put
function aligned.load_in(p)
  local g, width, bytes, side = p.g, aligned.width(p), p.bytes, p.read
  local op, mark = side.op, #p.g.real
  local all = (1 << width) - 1
  local round = g:loop("round", p.count)
  boxes.enter_tile(p, round)
  local turn = g:loop("turn", turns_of(p))
  local m = define_group(p, side, turn)
  local place = g:define(op.name .. "_place", 0, kit.MAX_INDEX, m.start + m.first, width)
  local whole = E.subst((place + width):le(op.bytes // bytes), g.real)
  g:when(m.inside:land(whole))
  g:touch(op, false, WORD, place * bytes)
  local part = g:loop("part", width)
  g:when(m.inside:land(whole:lnot()):land(
    E.subst((place + part + 1):le(op.bytes // bytes), g.real)))
  local single = g:load(op, 1, (place + part) * bytes)
  g:when(has_part(p, m, part))
  g:touch(nil, true, bytes, boxes.swizzled(m.run * m.length + m.first + part, bytes) * bytes)
  g:when(nil)
  g:close()
  g:close()
  g:close()
  g:forget(mark)
  local find = find_groups(p, side, "in", kit.concat {
    string.format("const int part_mask = %d << max(-first_cell, 0)\n"
      .. "  & %d >> min(max(first_cell + %d - read_run, 0), %d);", all, all, width, width),
    string.format("%s_put[turn] = in_tile ? run_number * read_run + first_cell + %d << %d "
      .. "| part_mask & %d : 0;", op.name, width, width, all),
  })
  local slot = E.var("tile_cell", 0, p.cells - 1)
  return kit.concat {
    boxes.open_tile(p), find, for_turns(p, kit.concat {
      string.format("const int %s_place = %s_start + %s_at[turn];", op.name, op.name, op.name),
      string.format("if ((%s_put[turn] & %d) == 0) // nothing of a run is in it\n  continue;",
        op.name, all),
      string.format("if (%s_place + %d <= %s_count)", op.name, width, op.name),
      string.format("  load_words<uint4, 1>(%s_v[turn], &at<uint4>(%s, %dll * %s_place));",
        op.name, op.pointer, bytes, op.name),
      "else { // the array ends in it",
      tiles.indent(unrolled(width, kit.concat {
        string.format("if (%s_place + part < %s_count)", op.name, op.name),
        string.format("  %s_v[turn][part] = %s;", op.name, single),
      }), 2),
      "}",
    }),
  }, for_turns(p, unrolled(width, kit.concat {
    string.format("const int tile_cell = (%s_put[turn] >> %d) - %d + part;", op.name, width, width),
    string.format("if (%s_put[turn] >> part & 1)", op.name),
    string.format("  %s_tile[%s] = %s_v[turn][part];", op.name,
      E.text(boxes.swizzled(slot, bytes), false), op.name),
  }))
end

--- Out: groups of the output's runs from the tile; as words, or what a run has of them.
---@param p table
---@return string
function aligned.store_out(p)
  local g, width, bytes, side = p.g, aligned.width(p), p.bytes, p.write
  local op, a, mark = side.op, g.inputs[1], #p.g.real
  local round = g:loop("round", p.count)
  boxes.enter_tile(p, round)
  local turn = g:loop("turn", turns_of(p))
  local m = define_group(p, side, turn)
  local place = g:define(op.name .. "_place", 0, kit.MAX_INDEX, m.start + m.first, width)
  local whole = m.inside:land(g:below(m.first, 0):lnot()):land(
    g:below(m.first + (width - 1), m.length))
  g:when(whole)
  g:touch(op, true, WORD, place * bytes)
  local part = g:loop("part", width)
  local here = has_part(p, m, part)
  local rest = m.first + part
  for n, d in ipairs(side.run) do
    m.digits[d] = n < #side.run and rest % p.len[d] or rest
    rest = rest // p.len[d]
  end
  g:when(here)
  g:touch(nil, false, bytes, boxes.swizzled(boxes.slot(p, m.digits), bytes) * bytes)
  g:when(here:land(whole:lnot()))
  local single = g:store(op, 1, (place + part) * bytes, op.name .. "_v[part]")
  g:when(nil)
  g:close()
  g:close()
  g:close()
  g:forget(mark)
  local cells = string.format("%s_cell[(turn * %d + part) / 2]", a.name, width)
  local slot = E.var(a.name .. "_slot", 0, p.cells - 1)
  local find = find_groups(p, side, "out", unrolled(width, kit.concat {
    "int cell_left = first_cell + part;",
    "const bool in_run = in_tile && cell_left >= 0 && cell_left < write_run;",
    boxes.place_lines(p, side.run),
    string.format("const int %s_slot = %s;", a.name, boxes.slot_text(p)),
    string.format("const int cell_at = in_run ?\n  %s : 0xffff; // two in an int",
      E.text(boxes.swizzled(slot, bytes), false)),
    string.format("int &cell_pair = %s;", cells),
    "cell_pair = part % 2 == 0 ? cell_at : cell_pair | cell_at << 16;",
  }))
  local ints = {}
  for n = 0, width // 2 - 1 do
    ints[#ints + 1] = string.format("%s_cell[turn * %d + %d]", a.name, width // 2, n)
  end
  local value = string.format("%s >> part %% 2 * 16 & 0xffff", cells)
  return kit.concat {
    boxes.reopen_tile(p), find, for_turns(p, kit.concat {
      string.format("const int %s_place = %s_start + %s_at[turn];", op.name, op.name, op.name),
      string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda, op.name, width),
      unrolled(width, kit.concat {
        string.format("const int cell_at = %s;", value),
        "if (cell_at != 0xffff) {",
        string.format("  const %s %s = %s_tile[cell_at];", a.record.fields[1].cuda, a.name, a.name),
        tiles.indent(kit.concat { g:declare_outputs(), g:body() }, 2),
        string.format("  %s_v[part] = %s;", op.name, op.name),
        "}",
      }),
      string.format("if (((%s) & 0x80008000) == 0)", table.concat(ints, " | ")),
      string.format("  store_words<uint4, 1>(&at<uint4>(%s, %dll * %s_place), %s_v);", op.pointer,
        bytes, op.name, op.name),
      "else { // a run begins or ends in it",
      tiles.indent(unrolled(width, kit.concat {
        string.format("if ((%s) != 0xffff)", value), "  " .. single,
      }), 2),
      "}",
    }),
  }
end

--- Registers that stay over the rounds.
---@param p table
---@return string
function aligned.declare_runs(p)
  local a, b, width, turns = p.read.op, p.g.outputs[1], aligned.width(p), turns_of(p)
  local by_words = p.write ~= nil
  local elements = by_words and turns * width or p.items
  local lines = {
    boxes.remember(p, "in"), boxes.remember(p, "out"), boxes.declare_tile(p),
    kit.concat(p.side_lines),
    string.format("const int %s_count = (int)(%s);", a.name, E.text(a.bytes // p.bytes, true)),
    string.format("__align__(16) %s %s_v[%d][%d];", p.exchanged[1].type, a.name, turns, width),
    string.format("int %s_shift = -1, %s_at[%d], %s_put[%d], %s_cell[%d];", a.name, a.name, turns,
      a.name, turns, a.name, (elements + 1) // 2),
    string.format("int %s%s_at[%d];", by_words and b.name .. "_shift = -1, " or "", b.name,
      by_words and turns or p.items),
  }
  return kit.concat(lines)
end

return aligned
