-- stencil: threads march along a slower dimension with the lines that taps reach in registers
-- (lines.lua), so that memory is asked for each value about once. Inputs that are no such lines are
-- loaded where their place is known, once for all that share it.

local DOC = "Threads own %d neighbours of %s lines and march along %s%s; each line is loaded once "
  .. "and kept in registers."

local function tapped(k, what)
  for _, op in ipairs(k.operands) do
    if #op.taps > 0 and not what(op) then
      return false
    end
  end
  return true
end

-- The word of kVec neighbours: its alignment follows from that of rows. nil: there is none.
local function adopt_word(p, op)
  local g, bytes = p.g, p.vec * op.record.bytes
  if p.vec == 1 then
    return true
  end
  local group = E.var("group", 0, kit.MAX_INDEX)
  local at = E.subst(op.offset[1], { p.k.index[p.last], group * p.vec })
  if E.divisor(at, { p.n_last }, p.vec) % bytes ~= 0 then
    return false
  end
  g:need_align(op, bytes)
  g.needs.words, g.needs.at = true, true
  return true
end

-- Does an offset of `op` depend on dimension `dim`?
local function mentions(p, op, dim)
  for _, f in ipairs(op.used) do
    if dim and E.mentions(op.offset[f], p.k.index[dim]) then
      return true
    end
  end
  return false
end

-- An input that is no array of lines is loaded where its place is known: once a thread, a line, or
-- an element across; by neighbours (`last`) if it differs among them.
local function adopt_single(p, op)
  local inner = p.across and "across" or "line"
  local level = "thread"
  if op.through_index or (p.across and mentions(p, op, p.across)) then
    level = inner
  elseif mentions(p, op, p.march) then
    level = "line"
  end
  local held = { op = op, level = level, last = op.through_index or mentions(p, op, p.last) }
  if held.last and level == inner then
    p.singles[#p.singles + 1] = op
  else
    held.array = held.last and p.vec > 1
    held.word = held.array and lines.dims_of(p.k, op) and adopt_word(p, op)
    p.held[#p.held + 1] = held
  end
end

local function adopt_operands(p)
  local g = p.g
  for _, op in ipairs(g.outputs) do
    p.words[op.number] = p.vec > 1 and lines.dims_of(p.k, op) and adopt_word(p, op)
  end
  for _, op in ipairs(g.inputs) do
    local dims = lines.dims_of(p.k, op)
    local full = dims and (not p.march or mentions(p, op, p.march))
      and (not p.across or mentions(p, op, p.across))
    local word = full and adopt_word(p, op)
    if #op.taps > 0 and not full then
      return nil, op.name .. ": it lacks a dimension that is marched along"
    elseif #op.taps > 0 and not word then
      return nil, op.name .. ": its rows do not start on a word of this width"
    elseif word then
      p.list[#p.list + 1] = lines.of(p, op, dims)
      -- components are no operands of a shuffle: every lane loads its own ends
      p.shuffle = p.shuffle and (#op.taps == 0 or op.record.fields[1].lanes == 1)
    else
      adopt_single(p, op)
    end
  end
  if p.vec > 1 then
    g:require((p.n_last % p.vec):eq(0))
  end
  return true
end

-- ---- which part a thread owns ----

local function cut(p)
  local g, k, list = p.g, p.k, {}
  local row = p.threads // p.fold
  local tile, name = row * p.vec, k.dims[p.last]
  local total = kit.ceil_div(p.n_last, tile)
  local rest, rest_text = g.block // total, "block / tiles"
  local fold_text = p.fold > 1 and string.format(" * %d + thread / %d", p.fold, row) or ""
  local group_text = p.fold > 1 and string.format("thread %% %d", row) or "thread"
  list[1] = string.format("const long long tiles = (n_%s + kTile - 1) / kTile;", name)
  list[2] = string.format("const long long first = block %% tiles * kTile + %s%s; // of %s",
    group_text, p.vec > 1 and " * kVec" or "", name)
  p.first = g:define("first", 0, kit.MAX_INDEX, g.block % total * tile + g.thread % row * p.vec,
    p.vec)
  p.lane = g:define("lane", 0, 31, g.thread % 32)
  -- `folds`: threads beside each other in this dimension
  local function own(dim, each, each_text, folds)
    local extent, of = k.extents[dim], "n_" .. k.dims[dim]
    local outer = dim == p.slowest
    local tiles = kit.ceil_div(extent, each * folds)
    local number, text = outer and rest or rest % tiles, rest_text
    if not outer then
      list[#list + 1] = string.format("const long long tiles_%s = (%s + %d) / %d;", k.dims[dim],
        of, each * folds - 1, each * folds)
      text = string.format("%s %% tiles_%s", rest_text, k.dims[dim])
      rest, rest_text = rest // tiles, string.format("%s / tiles_%s", rest_text, k.dims[dim])
    end
    total = total * tiles
    local start = folds > 1 and number * folds + g.thread // row or number
    local start_text = string.format("(%s%s)", text, folds > 1 and fold_text or "")
    list[#list + 1] = string.format("const long long first_%s = %s * %s;", k.dims[dim],
      start_text, each_text)
    return g:define("first_" .. k.dims[dim], 0, kit.MAX_INDEX, start * each)
  end
  if p.across then
    p.first_across = own(p.across, p.wide, "kWide", p.fold)
  end
  local each_text = p.turns > 1 and "(kRows * kTurns)" or "kRows"
  if p.march then
    p.first_march = own(p.march, p.rows * p.turns, each_text, p.across and 1 or p.fold)
  end
  for dim = p.last - 1, 1, -1 do
    if dim ~= p.march and dim ~= p.across then
      local outer = dim == p.slowest
      list[#list + 1] = string.format("const long long %s = %s;", k.dims[dim], outer and rest_text
        or string.format("%s %% n_%s", rest_text, k.dims[dim]))
      g:tie(k.index[dim], outer and rest or rest % k.extents[dim])
      rest = rest // k.extents[dim]
      rest_text = string.format("%s / n_%s", rest_text, k.dims[dim])
      total = total * k.extents[dim]
    end
  end
  g.grid = total
  return kit.concat(list)
end

-- Warps that lie outside leave; of the others all lanes load, so that their neighbours can ask.
local function guard(p)
  local k = p.k
  local name = k.dims[p.last]
  local out = string.format("first - %s >= n_%s", p.vec > 1 and "lane * kVec" or "lane", name)
  p.on = p.first:lt(p.n_last) -- said of a warp's lane 0
  local function also(dim, first)
    if dim then
      out = string.format("%s || first_%s >= n_%s", out, k.dims[dim], k.dims[dim])
      p.on = p.on:land(first:lt(k.extents[dim]))
    end
  end
  also(p.march, p.first_march)
  also(p.across, p.first_across)
  return kit.concat {
    string.format("if (%s) return; // the whole warp", out),
    "// lanes beyond the end load what the last one does",
    string.format("const long long %s = min(first, n_%s - %s);", name, name,
      p.vec > 1 and "kVec" or "1"),
  }
end

-- ---- computing ----

local function in_body(p, name)
  return string.find(p.k.body, "%f[%w_]" .. name .. "%f[^%w_]") ~= nil
end

-- Loads what is known at this level: "thread", "line" or "across".
local function load_held(p, level)
  local g, list, name = p.g, {}, p.k.dims[p.last]
  for _, held in ipairs(p.held) do
    local op, mark = held.op, #g.real
    local first, text = p.first, "first"
    if level == "thread" then
      first, text = first:min(p.n_last - p.vec), string.format("min(first, n_%s - kVec)", name)
    end
    if held.level == level and held.word then
      local field = op.record.fields[1]
      local bytes = p.vec * field.bytes
      g:tie(p.k.index[p.last], first)
      g:touch(op, false, bytes, op.offset[1])
      list[#list + 1] = string.format("__align__(16) %s %s_v[kVec];\nload_words<%s, 1>(%s_v,\n"
        .. "    &at<%s>(%s, %s));", field.cuda, op.name, kit.word_type[bytes], op.name,
        kit.word_type[bytes], op.pointer, E.text(op.offset[1], true))
    elseif held.level == level and held.array then
      g:tie(p.k.index[p.last], first + g:loop("part", p.vec))
      list[#list + 1] = kit.concat {
        string.format("%s %s_v[kVec];", op.is_index and "long long" or kit.value_type(op), op.name),
        "#pragma unroll", "for (int part = 0; part < kVec; part++) {",
        string.format("  const long long %s = %s + part;", name, text),
        "  " .. tiles.indent(g:load_element { op }, 2),
        string.format("  %s_v[part] = %s;", op.name, op.name), "}",
      }
      g:close()
    elseif held.level == level then
      g:tie(p.k.index[p.last], first)
      list[#list + 1] = g:load_element { op }
    end
    g:forget(mark)
  end
  return kit.concat(list)
end

-- One element: its values from the lines, the body, its results.
local function element(p)
  local g, k, list = p.g, p.k, {}
  local mark = #g.real
  local part = p.vec > 1 and g:loop("part", p.vec) or 0
  local name = k.dims[p.last]
  g:tie(k.index[p.last], p.first + part)
  local index = p.vec > 1 and string.format("const long long %s = first + part;", name) or ""
  local used = in_body(p, name) or #p.singles > 0
  for _, op in ipairs(g.outputs) do
    used = used or not p.words[op.number]
  end
  list[1] = used and index or ""
  for _, o in ipairs(p.list) do
    for _, tap in ipairs(o.taps) do
      local side = { at = tap.across + o.below_across, loop = true }
      local column = p.vec > 1 and lines.plus("part", tap.last + o.left) or tap.last + o.left
      list[#list + 1] = string.format("const %s %s = %s;", kit.value_type(o.op), tap.name,
        lines.cell(p, o, tap.march + o.below, side, column))
    end
  end
  for _, held in ipairs(p.held) do
    list[#list + 1] = held.array and string.format("const %s %s = %s_v[part];",
      held.op.is_index and "long long" or kit.value_type(held.op), held.op.name, held.op.name) or ""
  end
  list[#list + 1] = g:load_element(p.singles)
  list[#list + 1] = g:declare_outputs()
  list[#list + 1] = g:body()
  g.hint = p.streaming and "cs" or "none"
  for _, op in ipairs(g.outputs) do
    list[#list + 1] = p.words[op.number] and string.format("%s_v[part] = %s;", op.name, op.name)
      or g:store_element { op }
  end
  g.hint = "none"
  if p.vec > 1 then
    g:close()
  end
  g:forget(mark)
  local text = kit.concat(list)
  return p.vec > 1 and string.format(
    "#pragma unroll\nfor (int part = 0; part < kVec; part++) {\n%s\n}", tiles.indent(text, 2))
    or text
end

-- A thread's element or word on one line.
local function group(p)
  local g, before, after = p.g, {}, {}
  local text = element(p)
  local mark = #g.real
  g:tie(p.k.index[p.last], p.first)
  for _, op in ipairs(g.outputs) do
    if p.words[op.number] then
      local field = op.record.fields[1]
      local word = kit.word_type[p.vec * field.bytes]
      g:touch(op, true, p.vec * field.bytes, op.offset[1])
      before[#before + 1] = string.format("__align__(16) %s %s_v[kVec];", field.cuda, op.name)
      local at = string.format("at<%s>(%s, %s)", word, op.pointer, E.text(op.offset[1], true))
      after[#after + 1] = string.format(p.streaming and "__stcs(&%s, at<%s>(%s_v, 0));"
        or "__stwb(&%s, at<%s>(%s_v, 0));", at, word, op.name)
    end
  end
  g:forget(mark)
  return kit.concat { kit.concat(before), text, kit.concat(after) }
end

-- A loop whose dimension `dim` is at first_<dim> + `more`, as far as the array goes; inside() gives
-- the text.
local function each_place(p, name, count, dim, at, more, inside)
  local g, k = p.g, p.k
  local before = p.limit
  g:tie(k.index[dim], at)
  p.limit = before:land(g:below(k.index[dim], k.extents[dim]))
  local own = k.dims[dim]
  local also = name == "line" and string.format("first < n_%s && ", k.dims[p.last]) or ""
  local head = string.format("#pragma unroll\nfor (int %s = 0; %s < %s; %s++) {\n"
    .. "  const long long %s = first_%s%s;\n  if (%s%s < n_%s) {\n    ", name, name, count, name,
    own, own, more, also, own, own)
  g:when(lines.both(lines.made(p), p.limit), p.on)
  local text = head .. tiles.indent(inside(), 4) .. "\n  }\n}"
  p.limit = before
  return text
end

local function compute(p)
  local g = p.g
  local mark = #g.real
  p.limit = g:below(p.first, p.n_last)
  local function across()
    local held = load_held(p, "line")
    if not p.across then
      return kit.concat { held, group(p) }
    end
    local at = g:loop("across", p.wide)
    local text = each_place(p, "across", "kWide", p.across, p.first_across + at, " + across",
      function() return kit.concat { load_held(p, "across"), group(p) } end)
    g:close()
    return kit.concat { held, text }
  end
  local line = g:loop("line", p.rows)
  local text
  if p.march then
    text = each_place(p, "line", "kRows", p.march,
      p.first_march + (p.turn and p.turn * p.rows or 0) + line,
      p.turn and " + turn * kRows + line" or " + line", across)
  else
    g:when(p.limit, p.on)
    text = string.format("constexpr int line = 0;\nif (first < n_%s) {\n%s\n}", p.k.dims[p.last],
      tiles.indent(across(), 2))
  end
  g:close()
  g:when(nil)
  g:forget(mark)
  return text
end

-- ---- the strategy ----

local function start_plan(k, c)
  local g = kit.new(k, "stencil", c.threads)
  local march, across = lines.directions(k)
  local p = {
    g = g, k = k, kernel = g.kernel, threads = c.threads, fold = c.fold, vec = c.vec,
    rows = c.rows, wide = across and c.wide or 1, turns = c.turns, streaming = c.store == "cs",
    last = #k.dims, n_last = k.extents[#k.dims], march = march, across = across,
    list = {}, singles = {}, held = {}, words = {}, shuffle = true,
  }
  for dim = #k.dims - 1, 1, -1 do
    p.slowest = dim ~= march and dim ~= across and dim or p.slowest
  end
  p.slowest = p.slowest or march
  return p
end

local function constants(p)
  local names = {}
  if p.vec > 1 then
    names[1] = string.format("kVec = %d", p.vec)
  end
  names[#names + 1] = string.format("kRows = %d", p.rows)
  if p.across then
    names[#names + 1] = string.format("kWide = %d", p.wide)
  end
  if p.turns > 1 then
    names[#names + 1] = string.format("kTurns = %d", p.turns)
  end
  return string.format(
    "constexpr int %s;\nconstexpr int kTile = %d%s; // elements of %s of a block",
    kit.concat(names, ", "), p.threads // p.fold, p.vec > 1 and " * kVec" or "",
    p.k.dims[p.last])
end

local function write(p)
  local g, k = p.g, p.k
  p.constants = constants(p)
  p.cut = kit.concat { cut(p), guard(p) }
  g:when(nil, p.on)
  p.declared = kit.concat { lines.declare(p), load_held(p, "thread") }
  g:when(nil)
  p.ahead = p.turns > 1 and lines.load(p, true) or ""
  p.turn = p.turns > 1 and g:loop("turn", p.turns) or nil
  p.over = p.turn and string.format("first_%s + turn * kRows >= n_%s", k.dims[p.march],
    k.dims[p.march])
  p.load = lines.load(p, false)
  p.compute = compute(p)
  p.carry = p.turn and lines.carry(p) or ""
  if p.turn then
    g:close()
  end
end

return {
  name = "stencil",
  doc = "Threads march along a slower dimension with an array's lines in registers; neighbours "
    .. "come from neighbouring lanes.",
  applies = {
    { "an array has taps", function(k) return not tapped(k, function() return false end) end },
    { "arrays with taps hold bare values, neighbours along the last dimension next to each other",
      function(k) return tapped(k, function(op) return lines.dims_of(k, op) end) end },
    { "taps reach along at most three dimensions",
      function(k) return lines.directions(k) ~= false end },
  },
  taps = true,
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "fold", { 1, 2, 4, 8 }, key = "f", doc = "rows that a block's threads lie in" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "neighbours a thread, one word" },
    { "rows", { 1, 2, 4, 8 }, key = "r", doc = "lines an iteration, all loads in flight" },
    { "wide", { 1, 2, 4 }, key = "w", doc = "lines next to each other, in the third dimension",
      when = "sides > 0" },
    { "turns", { 1, 4, 16 }, key = "n", doc = "turns a thread" },
    { "store", { "none", "cs" }, key = "s", doc = "cs: what is stored is marked as streaming" },
  },
  facts = function(k)
    local march, across, below, above = lines.directions(k)
    local bytes = 1
    for _, op in ipairs(k.operands) do
      bytes = math.max(bytes, op.record.bytes)
    end
    return {
      { "bytes", bytes }, { "marches", march and 1 or 0 },
      { "span", march and below[march] + above[march] or 0 },
      { "sides", across and below[across] + above[across] or 0 },
    }
  end,
  where = {
    "threads >= 32 * fold",
    "vec * bytes <= 16", "vec == 1 or vec * bytes == 16 or sides == 0 and vec * bytes == 8",
    "sides > 0 or fold <= 2", "marches > 0 or fold * rows * turns == 1",
    -- enough bytes in flight, few lines loaded twice, and registers for all of it
    "rows * wide * vec * bytes >= 16 or marches == 0",
    "rows * turns >= 4 * span or rows * turns == 64",
    "rows * turns <= 64",
    "sides == 0 or rows <= 2 and threads <= 256", -- lines beside each other are as many loads
    "(rows + span) * (wide + sides) * vec * max(bytes // 4, 1) <= 96",
  },
  template = "stencil.cu",
  plan = function(k, c)
    local p = start_plan(k, c)
    local good, reason = adopt_operands(p)
    if not good then
      return nil, reason
    end
    write(p)
    p.doc = p.march
      and string.format(DOC, c.vec, p.across and c.rows .. " x " .. c.wide or c.rows,
        k.dims[p.march], c.turns > 1 and string.format(", %d turns", c.turns) or "")
      or string.format("Threads own words of %d neighbours; other lanes have the next values.",
        c.vec)
    kit.hand_over(p.g, p)
    return p
  end,
}
