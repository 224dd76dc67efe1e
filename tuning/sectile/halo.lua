-- halo: arrays that are read at neighbours (taps), and where the stencil schedule keeps them.
--
-- A stream is an array with taps, or a field of it that lies apart. Its lines run along x, the
-- fastest dimension; they count from the lowest that a tap reaches, i along m and j along c: the
-- slowest dimension that taps reach along, and the third one if they do. halo.registers keeps the
-- lines of a thread in registers, halo.shared those of a block in shared memory, each from the word
-- of 16 bytes that its first element lies in.
local halo = {}

local WORD = 16
local BORDERS = { clamp = "clamp_index", wrap = "wrap_index", none = "clamp_index" }

--- The kernel's dimension of each of an array's own, if its element lies at `dimension + constant`
--- in each; nil else.
function halo.dims_of(k, op)
  local list, seen = {}, {}
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
  return seen[#k.dims] and list or nil
end

--- What is contiguous along x in an array: the whole array (0), or each used field; nil if nothing
--- is.
function halo.parts_of(k, op)
  local last, record = k.index[#k.dims], op.record
  local function step(f)
    local factor = E.linear(op.offset[f], last)
    return factor and kit.const_of(factor)
  end
  if (record.bare or kit.pointer_style(op) == "record") and step(1) == record.bytes then
    return { 0 }
  end
  for f, field in ipairs(record.fields) do
    if step(f) ~= field.bytes then
      return nil
    end
  end
  local list, seen = {}, {}
  for _, read in ipairs(op.reads or {}) do
    for _, f in ipairs(read.used) do
      list[#list + 1] = not seen[f] and f or nil
      seen[f] = true
    end
  end
  return list
end

-- How far taps reach: for each of the kernel's dimensions below and above.
local function reach_of(k)
  local below = kit.map(k.dims, function() return 0 end)
  local above = kit.copy(below)
  for _, op in ipairs(k.operands) do
    local dims = #op.taps > 0 and halo.dims_of(k, op)
    for _, tap in ipairs(dims and op.taps or {}) do
      for d, delta in ipairs(tap.delta) do
        below[dims[d]] = math.max(below[dims[d]], -delta)
        above[dims[d]] = math.max(above[dims[d]], delta)
      end
    end
  end
  return below, above
end

--- The dimensions m and c; false: taps reach along too many.
function halo.directions(k)
  local below, above = reach_of(k)
  local m, c
  for dim = 1, #k.dims - 1 do
    if below[dim] + above[dim] > 0 then
      if c then
        return false
      end
      m, c = m or dim, m and dim or nil
    end
  end
  return m or (#k.dims > 1 and #k.dims - 1 or nil), c, below, above
end

-- ---- arrays with taps ----

-- A tap's distances along m, c and x.
local function distances(p, s, read)
  local by = { 0, 0, 0 }
  for d, delta in ipairs(read.delta or {}) do
    local n = s.dims[d] == p.dim_m and 1 or s.dims[d] == p.dim_c and 2 or 3
    by[n] = by[n] + delta -- 0 along dimensions that are none of these
  end
  return by
end

-- Limits of what the reads of a stream reach.
local function measure(p, s)
  local lo, hi = { 0, 0, 0 }, { 0, 0, 0 }
  for _, read in ipairs(s.op.reads) do
    local by = distances(p, s, read)
    for n = 1, 3 do
      lo[n], hi[n] = math.min(lo[n], by[n]), math.max(hi[n], by[n])
    end
  end
  s.below, s.above, s.below_c, s.above_c = -lo[1], hi[1], -lo[2], hi[2]
  s.left, s.right = -lo[3], hi[3]
end

--- "name + n", or the name alone.
function halo.plus(name, n)
  return n == 0 and name or string.format("%s %s %d", name, n > 0 and "+" or "-", math.abs(n))
end

-- The statements that find a line of a stream, for its lambda, and the place of an element on it.
local function place_line(p, s)
  local g, k, op, list, with = p.g, p.k, s.op, {}, {}
  local border = BORDERS[op.border]
  for d, dim in ipairs(s.dims) do
    local rest = E.subst(op.at[d], { k.index[dim], 0 })
    local off, name = kit.const_of(rest), p.names[dim]
    local at = cuda.var(name) + off
    if dim == p.dim_m or dim == p.dim_c then
      local along_m, extent = dim == p.dim_m, g:text(op.extent[d])
      local start = halo.plus(string.format("first_%s + %s", name, along_m and "i" or "j"),
        off - (along_m and s.below or s.below_c))
      kit.append(list, string.format("long long %s = %s;", name, start), border
        and string.format("if (kGuarded) %s = %s(%s, %s);", name, border, name, extent)
        or string.format("if (kGuarded && !is_inside(%s, %s)) return nullptr;", name, extent))
      s.zero = s.zero or not border
      at = cuda.var(name)
    end
    kit.append(with, op.index[d], at)
    if dim == p.dim_x then
      s.off, s.n_columns = off, g:text(op.extent[d])
    end
  end
  s.line = kit.concat(list)
  local proxy = setmetatable({ offset = op.element }, { __index = op })
  s.address = g:address(proxy, s.f, with)
end

-- The statements that load an element which may lie beyond its line's ends.
local function load_beyond(p, s)
  local x, border = p.x, BORDERS[s.op.border]
  local column = halo.plus(x, s.off)
  local function load(from, at)
    return cuda.load(from, s.type, s.word, string.format("%s(i%s, %s)", s.at, s.j, at))
  end
  if border then
    return string.format("return %s;", load("load",
      halo.plus(string.format("%s(%s, %s)", border, column, s.n_columns), -s.off)))
  end
  return string.format("if (!is_inside(%s, %s)) return {};\nreturn %s%s;", column, s.n_columns,
    s.zero and string.format("kGuarded ? %s : ", load("load_or_zero", x)) or "", load("load", x))
end

--- A function that gives the head of an unrolled loop for a template's line that is indented by its
--- argument; nothing where there is nothing to count.
function halo.each(counts, name, from, to)
  return function(indent)
    return counts and string.format("#pragma unroll\n%sfor (int %s = %s; %s < %s; %s++)",
      string.rep(" ", indent), name, from, name, to, name) or ""
  end
end

--- The stream of `op`, or of its field `f`: names and texts of the template.
function halo.stream(p, op, f)
  local g, k = p.g, p.k
  local s = { op = op, f = f, dims = halo.dims_of(k, op) }
  s.bytes = kit.bytes_of(op, f)
  s.name = f and kit.member(op.name, op.record.fields[f]) or op.name
  local word = f and op.record.fields[f].word or ""
  s.stem = op.name .. (word == "" and "" or "_" .. word)
  s.type, s.at, s.beyond = g:type(op, f), g:name(s.stem .. "_at"), g:name(s.stem .. "_beyond")
  s.lines, s.load_line = g:name(s.stem .. "_line"), g:name("load_" .. s.stem)
  for _, dim in ipairs(s.dims) do
    s.has_m, s.has_c = s.has_m or dim == p.dim_m, s.has_c or dim == p.dim_c
  end
  -- texts for lines: adjacent along c, if there are any
  s.j, s.int_j, s.at_j, s.line_name = "", "", "", "i"
  if s.has_c then
    s.j, s.int_j, s.at_j, s.line_name = ", j", ", int j", "[j]", "(i, j)"
  end
  measure(p, s)
  -- the lines that a thread's own elements reach
  s.own_m = s.has_m and p.rows + s.below + s.above or 1
  s.own_c = s.has_c and p.wide + s.below_c + s.above_c or 1
  s.dim_j = s.has_c and string.format("[%d]", s.own_c) or ""
  s.each_j = halo.each(s.has_c, "j", 0, s.own_c)
  s.piece, s.word = g:single(op, f)
  place_line(p, s)
  s.load_beyond = load_beyond(p, s)
  return s
end

-- ---- a stream in registers ----

-- The first and the last line that taps of a thread's first row reach in each column j; with
-- `beside` only taps that reach outside the thread's own elements. A step advances by rows.
local function reach_of_columns(p, s, beside)
  local first, last = {}, {}
  for _, read in ipairs(s.op.reads) do
    local by = distances(p, s, read)
    for own = 1, (not beside or by[3] ~= 0) and (s.has_c and p.wide or 1) or 0 do
      local j, i = own + s.below_c + by[2], s.below + by[1]
      first[j], last[j] = math.min(first[j] or i, i), math.max(last[j] or i, i)
    end
  end
  return first, last
end

-- The lines of each column j that the first step finds loaded, [first, last), and that each step
-- loads, [from, to); nothing of columns that no tap reaches.
local function spans_of_columns(p, s, beside)
  local first, last = reach_of_columns(p, s, beside)
  local spans = { first = {}, last = {}, from = {}, to = {} }
  for j = 1, s.own_c do
    local rows = first[j] and (s.has_m and p.rows or 1) or 0
    spans.first[j], spans.last[j] = first[j] or 0, last[j] or 0
    if not s.has_m then
      spans.last[j] = spans.first[j] + rows
      rows = 0
    end
    spans.from[j] = p.march > 1 and spans.last[j] or spans.first[j]
    spans.to[j] = spans.last[j] + rows
  end
  return spans
end

-- C text of numbers, one for each j.
local function by_column(list)
  local text = tostring(list[#list])
  for j = #list - 1, 1, -1 do
    if list[j] ~= list[j + 1] then
      text = string.format("j < %d ? %d : %s", j, list[j], text)
    end
  end
  return string.find(text, "?", 1, true) and "(" .. text .. ")" or text
end

--- Adds what the template needs to keep a stream's lines in registers: true and how many; nil and
--- a reason if rows do not start on vectors.
function halo.registers(p, s)
  local g = p.g
  local known = g:wide_vector(s.op, s.f, p.dim_x, p.vec)
  if known then
    g:adopt(s.op, known, p.vec)
  elseif p.vec > 1 then
    return nil, s.op.name .. ": its rows do not start on vectors of this width"
  end
  local word = known and known.word or (g:single(s.op, s.f))
  local own = string.format("<vec<%s, kVec>, %d>(%s(i%s, last_%s))", s.type, word, s.at, s.j, p.x)
  s.load = s.zero and string.format("kGuarded ? load_or_zero%s\n    : load%s", own, own)
    or "load" .. own
  local lines, ends = spans_of_columns(p, s, false), spans_of_columns(p, s, true)
  s.first, s.last = by_column(lines.first), by_column(lines.last)
  s.from, s.to = by_column(lines.from), by_column(lines.to)
  s.ends_first, s.ends_last = by_column(ends.first), by_column(ends.last)
  s.ends_from, s.ends_to = by_column(ends.from), by_column(ends.to)
  s.has_ends, s.ends_ahead = s.left + s.right > 0, s.ends_first ~= s.ends_last
  local values = 0
  for j = 1, s.own_c do
    values = values + (lines.to[j] - lines.first[j]) * (s.left + p.vec + s.right)
  end
  return true, values * ((s.bytes + 3) // 4)
end

-- ---- a stream in shared memory ----

--- Adds what the template needs to keep a stream's lines in shared memory from word `start` on;
--- where the next stream starts.
function halo.shared(p, s, start)
  local g = p.g
  g:need_align(s.op, WORD)
  s.tile = g:name(s.stem .. "_tile")
  s.from = g:name(s.stem .. "_from")
  s.k_words = "kWords_" .. s.stem
  s.before = s.left + p.drift -- the line's elements before first_x
  s.n_tile = s.before + p.columns + s.right
  s.n_words = (s.n_tile * s.bytes + 2 * WORD - 2) // WORD -- from wherever the line starts
  local m = s.has_m and p.block_m + s.below + s.above or 1
  local c = s.has_c and p.block_c + s.below_c + s.above_c or 1
  s.n_lines, s.start = m * c, start
  s.all_bytes = g:text(s.op.bytes)
  s.line_of = s.has_c and string.format("line / %d, line %% %d", c, c) or "line"
  s.k_from = halo.plus("k", -s.left - s.off)
  local i = s.has_m and (p.c and "i" or "own + i") or "0"
  s.own_line = not s.has_c and i or i == "0" and "own + j"
    or string.format("%s * %d + own + j", i, c)
  s.start_from = start + s.n_lines * s.n_words
  return s.start_from + kit.ceil_div(s.n_lines, WORD // 8) -- pointers after the lines
end

--- What a tap's value is called in compute_line.
function halo.tap(p, s, read)
  local by = distances(p, s, read)
  local i = s.has_m and halo.plus("i", s.below + by[1]) or "0"
  local j = s.has_c and string.format("[%s]", halo.plus("j", s.below_c + by[2])) or ""
  local e = p.vec > 1 and "e" or nil
  local column
  if p.shared then
    column = halo.plus(e and "column + e" or "column", by[3])
  else
    column = e and halo.plus(e, s.left + by[3]) or tostring(s.left + by[3])
  end
  local value = string.format("%s[%s]%s[%s]", s.lines, i, j, column)
  return p.shared and s.word and cuda.load("take", s.type, s.word, "&" .. value) or value
end

-- Lines that the taps of `m` by `c` elements reach.
local function count_lines(p, s, m, c)
  local seen, n = {}, 0
  for _, read in ipairs(s.op.reads) do
    local by = distances(p, s, read)
    for at = 0, m * c - 1 do
      local line = (at // c + by[1]) * 1000 + at % c + by[2]
      n = n + (seen[line] and 0 or 1)
      seen[line] = true
    end
  end
  return n
end

--- What a stream's loads move, for the plan's `traffic`, and the wavefronts of a block.
function halo.traffic(p, s)
  local values = s.f and 1 or #s.op.reads
  if p.shared then
    local elements = p.block_m * p.block_c * p.columns
    return { operand = s.op.number, width = WORD, bytes = p.grid * (s.n_lines * s.n_words * WORD) },
      values * elements // 32 + s.n_lines * s.n_words // 8
  end
  local m, c = s.has_m and p.rows * p.march or 1, s.has_c and p.wide or 1
  local own = p.threads * p.vec * s.bytes * count_lines(p, s, m, c)
  return { operand = s.op.number, width = math.min(WORD, p.vec * s.bytes), bytes = p.grid * own },
    (s.left + s.right) * m * c * p.threads // 32
end

halo.WORD = WORD
return halo
