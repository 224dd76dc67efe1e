-- aligned: boxes whose rows start at any element, moved by the aligned words of 16 bytes around
-- them. A group is a word of the memory that a run lies in; the first and the last group of a run
-- may have some of its elements only.
--
--   move      rows stay rows, the tile is one run of the output: a thread takes words of it, and
--             puts each together from the two words of the input that it straddles
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
    "const int group = (member + turn * kThreads) * %d - run_shift; // its first element",
    aligned.width(p)), 2), "  if (group < tile_cells) {", tiles.indent(text, 4) .. "\n  }")
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
      "int cell_left = group + part;", "if (cell_left >= 0 && cell_left < tile_cells) {",
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
    string.format("if (group >= 0 && group + %d <= tile_cells)", width),
    string.format("  store_words<uint4, 1>(&at<uint4>(%s, %dll * (%s_start + group)), %s_v);",
      op.pointer, bytes, op.name, op.name),
    "else { // the run begins or ends in it",
    tiles.indent(unrolled(width, kit.concat {
      string.format("const int %s_place = %s_start + group + part;", op.name, op.name),
      "if (group + part >= 0 && group + part < tile_cells)", "  " .. store,
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
  local group = g:define("group", 1 - width, p.cells - 1,
    (g.thread + turn * p.threads) * width - shift)
  local assign, loads = {}, {}
  local digits = boxes.tie_cell(p, p.order_out, (group + 0):max(0))
  for n, op in ipairs(g.inputs) do
    assign[n] = string.format("%s_at[turn] = %s;", op.name, boxes.offset_text(p, p.order_out, op))
    loads[n] = load_group(p, op, group, digits)
  end
  local fast = p.k.dims[p.order_out[1]]
  assign[#assign + 1] = string.format("in_row |= (group >= 0 && at_%s + %d <= len_%s) << turn;",
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
        .. "    const int group = cell_left;\n    cell_left = max(cell_left, 0)", width),
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

return aligned
