-- lines: the registers of stencils. A thread owns p.vec neighbours along the last dimension (a
-- word), of p.rows lines along the dimension it marches in, turn after turn, and of p.wide columns
-- of these across it. It loads the word of each line that a tap reaches once and keeps what the
-- next turn needs; the ends of a line, values beside the word, come from the lanes beside, and only
-- a warp's outer lanes load them.
--
-- An operand's lines (lines.of) lie in the array <name>_line[line][column][value], each counted
-- from the lowest that a tap reaches.
local lines = {}

-- ---- which operands ----

--- For an operand whose element lies at `dimension + constant` in each of its dimensions, of which
--- neighbours along the last dimension are neighbours in memory: the kernel's dimension of each of
--- its own. nil for any other operand.
function lines.dims_of(k, op)
  local last, list, seen = #k.dims, {}, {}
  local step = op.record.bare and E.linear(op.offset[1], k.index[last])
  if step ~= op.record.bytes or op.is_index then
    return nil
  end
  for d, at in ipairs(op.at) do
    for dim, index in ipairs(k.index) do
      local factor, rest = E.linear(at, index)
      if factor == 1 and rest:const() and not seen[dim] then
        list[d], seen[dim] = dim, true
      end
    end
    if not list[d] then
      return nil
    end
  end
  return seen[last] and list or nil
end

-- How far taps reach along each of the kernel's dimensions.
local function reach_of(k)
  local below, above = {}, {}
  for dim = 1, #k.dims do
    below[dim], above[dim] = 0, 0
  end
  for _, op in ipairs(k.operands) do
    local dims = #op.taps > 0 and lines.dims_of(k, op)
    for _, tap in ipairs(dims and op.taps or {}) do
      for d, delta in ipairs(tap.delta) do
        local dim = dims[d]
        below[dim] = math.max(below[dim], -delta)
        above[dim] = math.max(above[dim], delta)
      end
    end
  end
  return below, above
end

--- The dimension that is marched along: the slowest that a tap reaches along, else the second
--- fastest, nil where there is only one. And the one across it and the last, if taps reach along a
--- third one; false: along more.
function lines.directions(k)
  local below, above = reach_of(k)
  local march, across
  for dim = 1, #k.dims - 1 do
    if below[dim] + above[dim] > 0 then
      if across then
        return false
      elseif march then
        across = dim
      else
        march = dim
      end
    end
  end
  return march or (#k.dims > 1 and #k.dims - 1 or nil), across, below, above
end

-- ---- what is needed ----

--- "name + n", or the name alone.
function lines.plus(name, n)
  return n == 0 and name or string.format("%s %s %d", name, n > 0 and "+" or "-", math.abs(n))
end

-- The places at which the body reads `op`: name, and distance along march, across and last.
local function taps_of(p, op, dims)
  local list = {}
  for _, read in ipairs(op.reads) do
    local tap = { name = read.name, march = 0, across = 0, last = 0 }
    for d, delta in ipairs(read.delta or {}) do
      if dims[d] == p.march then
        tap.march = delta
      elseif dims[d] == p.across then
        tap.across = delta
      elseif dims[d] == p.last then
        tap.last = delta
      end
    end
    list[#list + 1] = tap
  end
  return list
end

-- Runs of equal lines: for columns `side` of a thread's box, the lines `from` .. `from + carry +
-- rows - 1` are needed, of which `carry` stay from turn to turn. Lines and columns count from the
-- lowest that any tap of the operand reaches. low .. high, low_across .. high_across: where they
-- lie from the element that needs them.
local function runs_of(p, o, needs)
  local list = {}
  for side = 0, o.sides - 1 do
    local low, high, high_across
    for _, tap in ipairs(o.taps) do
      local column = side - o.below_across - tap.across
      if needs(tap) and column >= 0 and column < p.wide then
        low, high = math.min(low or tap.march, tap.march), math.max(high or tap.march, tap.march)
        high_across = math.max(high_across or 0, tap.across)
      end
    end
    local prior = list[#list]
    if low and prior and prior.side + prior.n == side and prior.low == low and prior.high == high
    then
      prior.n, prior.high_across = prior.n + 1, math.max(prior.high_across, high_across)
    elseif low then
      list[#list + 1] = {
        side = side, n = 1, from = low + o.below, carry = high - low, low = low, high = high,
        low_across = side - o.below_across, high_across = high_across,
      }
    end
  end
  return list
end

-- The ends of a line: values beside the thread's word, `at` counted from its first. A value comes
-- from the lane `lanes` away; where no such lane is in the warp or in the array, it is loaded.
local function ends_of(p, o)
  local list = {}
  for at = -o.left, p.vec + o.right - 1 do
    if at < 0 or at >= p.vec then
      local lanes = math.abs(at // p.vec)
      list[#list + 1] = {
        at = at, lanes = lanes, from = at % p.vec, up = at < 0,
        runs = runs_of(p, o, function(tap)
          return at - tap.last >= 0 and at - tap.last < p.vec
        end),
      }
    end
  end
  return list
end

--- The lines of one operand: what of them is needed when.
function lines.of(p, op, dims)
  local o = {
    op = op, dims = dims, name = op.name .. "_line", taps = taps_of(p, op, dims),
    below = 0, above = 0, below_across = 0, above_across = 0, left = 0, right = 0,
  }
  for _, tap in ipairs(o.taps) do
    o.below, o.above = math.max(o.below, -tap.march), math.max(o.above, tap.march)
    o.below_across = math.max(o.below_across, -tap.across)
    o.above_across = math.max(o.above_across, tap.across)
    o.left, o.right = math.max(o.left, -tap.last), math.max(o.right, tap.last)
  end
  o.sides = p.wide + o.below_across + o.above_across
  o.words = runs_of(p, o, function() return true end)
  o.ends = ends_of(p, o)
  return o
end

-- ---- loading ----

--- Their declarations.
function lines.declare(p)
  local list = {}
  for _, o in ipairs(p.list) do
    local side = p.across and string.format("[%s]", lines.plus("kWide", o.sides - p.wide)) or ""
    list[#list + 1] = string.format("%s %s[%s]%s[%s];", o.op.record.fields[1].cuda, o.name,
      lines.plus("kRows", o.below + o.above), side,
      lines.plus(p.vec > 1 and "kVec" or "1", o.left + o.right))
  end
  return kit.concat(list)
end

--- Text of the array element: line and column counted from those of the loops.
function lines.cell(p, o, line, side, column)
  local across = side.loop and lines.plus("across", side.at) or side.at
  return string.format("%s[%s]%s[%s]", o.name, lines.plus("line", line),
    p.across and "[" .. across .. "]" or "", column)
end

-- A loop over `count` lines and over the columns of `run`; inside(side) gives the text.
local function each_line(p, run, count, count_text, inside)
  local g = p.g
  local line = g:loop("line", count)
  local side = { at = run.side, loop = p.across and run.n > 1 }
  side.var = side.loop and g:loop("across", run.n) + run.side or run.side
  local text = inside(line, side)
  if side.loop then
    g:close()
    text = string.format("#pragma unroll\nfor (int across = 0; across < %d; across++) {\n%s\n}",
      run.n, tiles.indent(text, 2))
  end
  g:close()
  return string.format("#pragma unroll\nfor (int line = 0; line < %s; line++) {\n%s\n}", count_text,
    tiles.indent(text, 2))
end

-- Declares where a line lies: `line_<dim>`, never beyond the last line that is needed.
local function place_line(p, o, run, line, side, from)
  local g, k, texts, with = p.g, p.k, {}, {}
  g:tie(k.index[p.last], p.first:min(p.n_last - p.vec))
  local function place(dim, first, first_text, low, high)
    local name, above = "line_" .. k.dims[dim], math.max(high, 0) - 1
    local limited = p.plain and first or first:min(k.extents[dim] + above)
    with[dim] = g:define(name, p.plain and 0 or low, kit.MAX_INDEX, limited)
    texts[#texts + 1] = string.format(p.plain and "const long long %s = %s;"
      or "const long long %s = min(%s, %s);", name, first_text,
      lines.plus("n_" .. k.dims[dim], above))
  end
  local down, turn = from - o.below, p.turn and " + turn * kRows" or ""
  if p.march then
    place(p.march, p.first_march + (p.turn and p.turn * p.rows or 0) + line + down,
      lines.plus(string.format("first_%s%s + line", k.dims[p.march], turn), down), run.low,
      run.high)
  end
  if p.across then
    local text, n = "first_" .. k.dims[p.across], side.at - o.below_across
    place(p.across, p.first_across + side.var - o.below_across,
      lines.plus(side.loop and text .. " + across" or text, n), run.low_across, run.high_across)
  end
  return with, kit.concat(texts)
end

-- Byte offset of the value `at` beside the word's first, on the line `with`; and the condition that
-- it is inside where outside is zero.
local function offset_of(p, o, run, with, at)
  local pairs_of, inside = {}, nil
  for d, dim in ipairs(o.dims) do
    local low, high = 0, 0
    if p.plain and dim ~= p.last then
      low, high = 0, 0
    elseif dim == p.march then
      low, high = run.low, run.high
    elseif dim == p.across then
      low, high = run.low_across, run.high_across
    elseif dim == p.last then
      low, high = at, at - p.vec + 1
    end
    local index = p.k.index[dim]
    local place = E.subst(o.op.at[d], { index, (with[dim] or index) + (dim == p.last and at or 0) })
    local here
    place, here = reads.bordered(o.op, d, place, math.min(low, 0), math.max(high, 0))
    pairs_of[#pairs_of + 1] = o.op.index[d]
    pairs_of[#pairs_of + 1] = place
    inside = inside and here and inside:land(here) or inside or here
  end
  return E.subst(o.op.element[1], pairs_of), inside
end

--- Both conditions, or the one there is.
function lines.both(a, b)
  return a and b and a:land(b) or a or b
end

--- What must hold for the turn to be made at all.
function lines.made(p)
  return p.turn and (p.first_march + p.turn * p.rows):lt(p.k.extents[p.march]) or nil
end

-- A load, or zero where its place is not inside.
local function value_text(load, inside, field)
  if not inside then
    return "\n    " .. load
  end
  return string.format("\n    %s\n    ? %s : %s", E.text(inside, true), load, kit.zero(field))
end

-- Which of the two ways of loading a turn's lines is taken; nil: there is one way only.
local function way(p)
  return p.whole and (p.plain and p.whole or p.whole:lnot())
end

local function load_word(p, o, run, line, side, from)
  local g, field = p.g, o.op.record.fields[1]
  local mark = #g.real
  local with, texts = place_line(p, o, run, line, side, from)
  local offset, inside = offset_of(p, o, run, with, 0)
  g:when(lines.both(lines.both(lines.made(p), way(p)), inside), p.on)
  local text
  if p.vec == 1 then
    text = string.format("%s =%s;", lines.cell(p, o, from, side, o.left),
      value_text(g:load(o.op, 1, offset), inside, field))
  else
    local word = kit.word_type[p.vec * field.bytes]
    g:touch(o.op, false, p.vec * field.bytes, offset)
    text = kit.concat {
      string.format("__align__(16) %s word[kVec]%s;", field.cuda, inside and " = {}" or ""),
      string.format("%sload_words<%s, 1>(word,\n    &at<%s>(%s, %s));",
        inside and string.format("if (%s)\n  ", E.text(inside, true)) or "", word, word,
        o.op.pointer, E.text(offset, true)),
      "#pragma unroll",
      string.format("for (int part = 0; part < kVec; part++)\n  %s = word[part];",
        lines.cell(p, o, from, side, lines.plus("part", o.left))),
    }
  end
  g:when(nil)
  g:forget(mark)
  return kit.concat { texts, text }
end

-- The lanes that load an end themselves, as condition and text, and the others' text; nil: all.
local function outer_lanes(p, e)
  if not p.shuffle then
    return nil
  elseif e.up then
    return p.lane:lt(e.lanes), "lane < " .. e.lanes, "lane >= " .. e.lanes
  end
  local name, inner, step = p.k.dims[p.last], 32 - e.lanes, e.lanes * p.vec
  local beyond = (p.n_last - step):le(p.k.index[p.last])
  return p.lane:lt(inner):lnot():lor(beyond),
    string.format("lane >= %d || %s + %d >= n_%s", inner, name, step, name),
    string.format("lane < %d && %s + %d < n_%s", inner, name, step, name)
end

local function load_end(p, o, e, run, line, side, from)
  local g, field = p.g, o.op.record.fields[1]
  local mark = #g.real
  local with, texts = place_line(p, o, run, line, side, from)
  local lanes, lanes_text = outer_lanes(p, e)
  local offset, inside = offset_of(p, o, run, with, e.at)
  g:when(lines.both(lines.both(lines.made(p), way(p)), lines.both(lanes, inside)), p.on)
  local value = value_text(g:load(o.op, 1, offset), inside, field)
  g:when(nil)
  g:forget(mark)
  return kit.concat { texts, string.format("%s%s =%s;",
    lanes_text and string.format("if (%s)\n  ", lanes_text) or "",
    lines.cell(p, o, from, side, e.at + o.left), value) }
end

-- The other lanes have it from their neighbours, all lanes of the warp taking part.
local function exchange_end(p, o, e, side, from)
  local field = o.op.record.fields[1]
  local half = (field.type == "f16" or field.type == "bf16") and ".bits" or ""
  local ask = string.format("__shfl_%s_sync(0xffffffffu, %s%s, %d)", e.up and "up" or "down",
    lines.cell(p, o, from, side, e.from + o.left), half, e.lanes)
  local own = half == "" and string.format("const %s word = %s;", field.cuda, ask)
    or string.format("%s word;\nword.bits = %s;", field.cuda, ask)
  local _, _, inner = outer_lanes(p, e)
  return kit.concat { own, string.format("if (%s)\n  %s = word;", inner,
    lines.cell(p, o, from, side, e.at + o.left)) }
end

-- Text for every run of lines that is loaded now: `ahead`, those that the first turn finds loaded;
-- else a turn's.
local function each_run(p, run, ahead, inside)
  local skip = p.turns > 1 and run.carry or 0
  local more, from = run.carry - skip, run.from + (ahead and 0 or skip)
  local count = ahead and skip or p.rows + more
  local text = ahead and tostring(skip) or lines.plus("kRows", more)
  return count > 0 and each_line(p, run, count, text, function(line, side)
    return inside(line, side, from)
  end) or ""
end

local function load_operand(p, o, ahead)
  local list = {}
  for _, run in ipairs(o.words) do
    list[#list + 1] = each_run(p, run, ahead, function(line, side, from)
      return load_word(p, o, run, line, side, from)
    end)
  end
  for _, e in ipairs(o.ends) do
    for _, run in ipairs(e.runs) do
      list[#list + 1] = each_run(p, run, ahead, function(line, side, from)
        return load_end(p, o, e, run, line, side, from)
      end)
    end
  end
  return kit.concat(list)
end

local function load_operands(p, ahead)
  local list = {}
  for _, o in ipairs(p.list) do
    list[#list + 1] = load_operand(p, o, ahead)
  end
  return kit.concat(list)
end

local function exchange(p, ahead)
  local list = { "" }
  for _, o in ipairs(p.shuffle and p.list or {}) do
    for _, e in ipairs(o.ends) do
      for _, run in ipairs(e.runs) do
        list[#list + 1] = each_run(p, run, ahead, function(_, side, from)
          return exchange_end(p, o, e, side, from)
        end)
      end
    end
  end
  local text = kit.concat(list)
  return text == "" and ""
    or "// values next to a thread's own, from the lanes that have them\n" .. text
end

-- Condition that all lines of a turn lie in the arrays, as text and expression; "": they always do.
local function whole(p)
  local k, texts, all = p.k, {}, nil
  local function add(dim, first, text, below, above, count, count_text)
    if below > 0 then
      texts[#texts + 1] = string.format("%s >= %d", text, below)
      all = lines.both(all, first:lt(below):lnot())
    end
    texts[#texts + 1] = string.format("%s <= n_%s",
      lines.plus(string.format("%s + %s", text, count_text), above), k.dims[dim])
    all = lines.both(all, (first + (count + above)):le(k.extents[dim]))
  end
  local below, above, below_across, above_across = 0, 0, 0, 0
  for _, o in ipairs(p.list) do
    below, above = math.max(below, o.below), math.max(above, o.above)
    below_across = math.max(below_across, o.below_across)
    above_across = math.max(above_across, o.above_across)
  end
  if p.march then
    add(p.march, p.first_march + (p.turn and p.turn * p.rows or 0),
      string.format("first_%s%s", k.dims[p.march], p.turn and " + turn * kRows" or ""), below,
      above, p.rows, "kRows")
  end
  if p.across then
    add(p.across, p.first_across, "first_" .. k.dims[p.across], below_across, above_across, p.wide,
      "kWide")
  end
  return table.concat(texts, " && "), all
end

--- Loads lines of all operands: those that the first turn finds loaded (`ahead`), or a turn's.
---@param p table
---@param ahead boolean
---@return string
function lines.load(p, ahead)
  if ahead then
    return kit.concat { "// lines that the first turn finds loaded", load_operands(p, true),
      exchange(p, true) }
  end
  local text
  text, p.whole = whole(p)
  if text == "" then
    return kit.concat { load_operands(p, false), exchange(p, false) }
  end
  p.plain = true
  local plain = load_operands(p, false)
  p.plain = false
  local bordered = load_operands(p, false)
  p.whole = nil
  return kit.concat {
    string.format("if (%s) {", text), tiles.indent(plain, 2),
    "} else { // some lines lie beyond a border", tiles.indent(bordered, 2), "}",
    exchange(p, false),
  }
end

--- What the next turn needs of this one's lines moves to where it looks for them.
function lines.carry(p)
  local list = {}
  local function move(o, run, column, loop)
    if run.carry == 0 then
      return
    end
    list[#list + 1] = each_line(p, run, run.carry, tostring(run.carry), function(_, side)
      return loop .. string.format("%s =\n    %s;", lines.cell(p, o, run.from, side, column),
        lines.cell(p, o, run.from + p.rows, side, column))
    end)
  end
  for _, o in ipairs(p.list) do
    for _, run in ipairs(o.words) do
      move(o, run, p.vec > 1 and lines.plus("part", o.left) or o.left,
        p.vec > 1 and "#pragma unroll\nfor (int part = 0; part < kVec; part++)\n  " or "")
    end
    for _, e in ipairs(o.ends) do
      for _, run in ipairs(e.runs) do
        move(o, run, e.at + o.left, "")
      end
    end
  end
  if #list > 0 then
    table.insert(list, 1, "// the lines that the next turn begins with")
  end
  return kit.concat(list)
end

return lines
