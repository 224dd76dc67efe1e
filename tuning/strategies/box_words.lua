-- box_words: boxes (box.lua) of elements of 1 and 2 bytes, which are moved as words of 4 bytes.
-- Lines of the inputs come in by copies from the word on that they start in; a thread puts a word
-- of the outputs together from elements of the box, whose places follow each other by counting.
local WARP, WORD = 32, 4

-- Bytes of an element of everything that is exchanged or stored; nil: they differ, or are no part
-- of a word.
local function element_bytes(k, about)
  local bytes = k.operands[about.n_out].record.bytes
  local is_odd = kit.any(k.operands, function(op, n)
    return (op.is_output or about.is_exchanged[n]) and op.record.bytes ~= bytes
      or op.is_output and n ~= about.n_out
  end)
  return not is_odd and (bytes == 1 or bytes == 2) and bytes or nil
end

local function axes(k)
  local about = boxes.read(k)
  local into, out = boxes.sides_at(k, about)
  local list = boxes.list(k.sizes[1], into, out, element_bytes(k, about))
  return {
    { "threads", { 256, 512, 128 }, key = "threads=", doc = "threads per block" },
    { "box", #list > 0 and list or { "none" }, key = "box=",
      doc = "elements of a box along the modes, slowest first" },
    { "evict", { "none", "stores" }, key = "evict=",
      doc = "stores: L2 evict-last policy" },
  }
end

-- ---- the plan ----

-- A side of lines, runs of memory along the first part: words are gone over, as many as a line has
-- wherever it starts. `length`: elements of a line.
local function lines_of(p, parts)
  local size, last = parts[1].extent, parts[1].dims[#parts[1].dims]
  local words = kit.ceil_div(size + p.per_word - 1, p.per_word)
  local side = boxes.side_of(p, { { dims = {}, extent = words, name = p.word },
    table.unpack(parts, 2) })
  side.words, side.count, side.length = words, p.count // size, size
  if p.left[last] then
    local below = size // p.box[last]
    side.length = p.left[last] .. (below > 1 and " * " .. below or "")
  end
  return side
end

-- Where elements are kept: a line of the inputs as it is in memory, from the word on that it starts
-- in, an odd number of words from line to line, so that columns meet different banks.
local function keep(p)
  p.pitch, p.step = (p.into.words | 1) * p.per_word, {}
  local below = 1
  for n, part in ipairs(p.parts_in) do
    local step = n == 1 and 1 or p.pitch * below
    for _, d in ipairs(part.dims) do
      p.step[d] = step
      step = step * p.box[d]
    end
    below = n == 1 and 1 or below * part.extent
  end
end

-- The statements after which places are those of the next element of the line: of each exchanged
-- array the place in the box, and how far its line starts from a word.
local function advance(p)
  local modes = p.parts_out[1].dims
  local function go_on(n)
    local lines, d, before = {}, modes[n], modes[n - 1]
    local jump = p.step[d] - (before and p.step[before] * p.box[before] or 0)
    for _, x in ipairs(p.exchanged) do
      lines[#lines + 1] = string.format("%s += %d;", x.place, jump)
      local moved = x.start_step(d) - (before and x.start_step(before) * p.box[before] or 0)
      if kit.const_of(moved) ~= 0 then
        lines[#lines + 1] = string.format("%s += (unsigned int)(%s);", x.start, p.g:text(moved))
      end
    end
    local name = p.names[d]
    if n < #modes then
      lines[#lines + 1] = string.format("if (++%s == %d) {\n  %s = 0;\n  %s\n}", name, p.box[d],
        name, (string.gsub(go_on(n + 1), "\n", "\n  ")))
    elseif #p.direct > 0 then
      lines[#lines + 1] = name .. "++;"
    end
    return kit.concat(lines)
  end
  return go_on(1)
end

-- The statements that find the places along the modes of a line, of its element `from`.
local function find_first(p)
  local lines, below, modes = {}, 1, p.parts_out[1].dims
  for n, d in ipairs(modes) do
    lines[n] = string.format("int %s = from%s%s;", p.names[d], below > 1 and " / " .. below or "",
      n < #modes and " % " .. p.box[d] or "")
    below = below * p.box[d]
  end
  return kit.concat(lines)
end

-- Element of the array `x` from the box's first on, at places along `dims`: an expression.
local function element_at(x, dims, names)
  local at = E.subst(x.op.offset[1], {}) * 0
  for _, d in ipairs(dims) do
    at = at + x.step(d) * cuda.var(names[d])
  end
  return at
end

local function texts_in(p, x)
  local g = p.g
  x.tile = g:name(x.op.name .. "_box")
  x.start_of, x.go_on = boxes.moves(p, p.into, x)
  local line = 0
  local is_line = {}
  for n = 2, #p.parts_in do
    local dims = p.parts_in[n].dims
    line = line + p.step[dims[1]] * cuda.var(p.names[dims[1]])
    for _, d in ipairs(dims) do
      is_line[d] = true
    end
  end
  x.fetch = string.format("async_copy_word(&%s[%s], %s, %s, %s, %s + %s);", x.tile,
    g:text(line + 0), x.from, p.word, p.into.length, x.op.pointer,
    g:text(x.op.bytes // x.op.record.bytes))
  x.place, x.start = g:name(x.op.name .. "_place"), g:name(x.op.name .. "_start")
  -- how far a step along mode d moves the start of a line, where that is not a number of words
  x.start_step = function(d)
    local moves = is_line[d] and E.divisor(x.step(d) + 0) % p.per_word ~= 0
    return (moves and x.step(d) or 0) + 0 * p.k.extents[1]
  end
  local word = g:name(x.op.name .. "_word")
  x.declare_word = string.format("const unsigned int %s =\n    (unsigned int)((size_t)%s / "
    .. "sizeof(%s) %% kWord);", word, x.first, x.type)
  local kept, start = 0, cuda.var(word)
  for d in ipairs(p.k.dims) do
    if p.box[d] > 1 then
      kept = kept + p.step[d] * cuda.var(p.names[d])
      start = start + x.start_step(d) * cuda.var(p.names[d])
    end
  end
  x.find_place = string.format("int %s = %s;\nunsigned int %s = (unsigned int)(%s);", x.place,
    g:text(kept + 0), x.start, g:text(start + 0))
  x.take = string.format("const %s %s = %s[%s + %s %% kWord];", x.type, x.value, x.tile, x.place,
    x.start)
  g:need_align(x.op, WORD)
  boxes.keep(p, x, p.pitch * p.into.count, "lines of " .. x.op.name)
end

local function sort_operands(p)
  local g = p.g
  p.exchanged, p.direct, p.operands, p.values = {}, {}, {}, {}
  for n, op in ipairs(g.ops) do
    local is_in = p.about.is_exchanged[op.number]
    local x = boxes.place_texts(p, op)
    p.values[op.name], p.operands[n] = x.value, x
    if is_in then
      p.exchanged[#p.exchanged + 1] = x
      texts_in(p, x)
    elseif op.is_output then
      p.y, p.values[op.name] = x, x.value .. "[e]"
      g:need_align(op, WORD)
      x.start_of, x.go_on = boxes.moves(p, p.out, x)
    else
      p.direct[#p.direct + 1] = x
    end
  end
  local all = {}
  for _, part in ipairs(p.parts_out) do
    kit.append(all, table.unpack(part.dims))
  end
  for _, x in ipairs(p.direct) do
    x.load = string.format("load<%s>(&%s[%s])", x.type, x.first,
      g:text(element_at(x, all, p.names) + 0))
  end
end

local DOC = "A block moves a box of %d elements (%s) through shared memory: in as inputs lie, out "
  .. "as outputs lie."

local function refuse(p)
  local words = kit.ceil_div(p.count, p.per_word * p.threads)
  return p.count == 0 and "the array is smaller than a box"
    or words > 24 and "a thread would move more than 24 words"
    or p.count == kit.product(p.size) and "one box holds the whole array"
    or words < 2 and "a thread would move a word" or nil
end

-- Is the first part one of neighbours in the operand?
local function is_run(p, operand, parts)
  return kit.const_of(E.subst(p.about.steps[operand][parts[1].dims[1]] + 0, p.put)) == 1
end

local function plan(k, c)
  local about = boxes.read(k)
  local p = boxes.start(k, c, about, element_bytes(k, about))
  p.per_word, p.is_wide = WORD // p.bytes, true
  local reason = refuse(p)
  if reason then
    return nil, reason
  end
  boxes.begin(p, "box_words")
  p.parts_in = boxes.parts_of(p, about.into, function(n) return about.is_exchanged[n] end)
  p.parts_out = boxes.parts_of(p, about.out, function(n) return n == about.n_out end)
  p.row, p.word, p.guard = p.g:name("row"), p.g:name("word"), ""
  if not is_run(p, about.n_in, p.parts_in) or not is_run(p, about.n_out, p.parts_out) then
    return nil, "neighbours in a box are none in an array"
  end
  p.into, p.out = lines_of(p, p.parts_in), lines_of(p, p.parts_out)
  boxes.fit_threads(p)
  keep(p)
  sort_operands(p)
  if not sides.place_memory(p, 16) then
    return nil, "the box needs more shared memory than a block has"
  end
  p.find_first, p.advance = find_first(p), advance(p)
  p.compute = p.g:call(p.values)
  p.traffic = boxes.traffic(p, { p.y }, WORD,
    #p.exchanged * kit.ceil_div(kit.product(p.k.extents), WARP))
  p.store = cuda.STORES[c.evict]
  p.doc = DOC:format(p.count, table.concat(p.box, " x "))
  return p.g:plan(p)
end

return {
  name = "box_words",
  doc = "Boxes of elements of 1 and 2 bytes, moved as words of 4 bytes.",
  applies = kit.append(kit.append({}, table.unpack(boxes.APPLIES)),
    { "what runs along one side of an exchange, or along both, is short",
      function(k) return boxes.is_short(k, 0) end },
    { "what is exchanged has elements of 1 or of 2 bytes, and there is one output", function(k)
      return element_bytes(k, boxes.read(k)) ~= nil
    end },
    { "what both sides begin with is no vectors of words", function(k)
      return boxes.width(k) * boxes.widest(k) < WORD
    end },
    { "asynchronous copies (sm_80)", function(k) return k.device.cc >= 80 end }),
  axes = axes,
  where = {},
  template = "box_words.cu",
  plan = plan,
}
