-- halo: arrays that are read at neighbours (taps), and where the stencil schedule keeps them.
--
-- A stream is an array with taps, or a field of it that lies apart. Its lines run along x, the
-- fastest dimension; they count from the lowest that a tap reaches, i along m and j along c: the
-- slowest dimension that taps reach along, and the third one if they do. halo.registers keeps the
-- lines of a thread in registers, halo.shared those of a block in shared memory, each from the word
-- of 16 bytes that its first element lies in.
local halo = {}

local WORD = 16
local POINTERS = 16 -- to lines of a tile that a thread keeps
local BORDERS = { clamp = "clamp_index", wrap = "wrap_index", reflect = "reflect_index",
                  none = "clamp_index" }

--- The kernel's dimension of each of an array's own, and the factor, if its element lies at
--- `factor * dimension + constant` in each; nil else.
function halo.dims_of(k, op)
  local list, factors, seen = {}, {}, {}
  for d, at in ipairs(op.at) do
    for dim, index in ipairs(k.index) do
      local factor, rest = E.linear(at, index)
      factor = factor and kit.const_of(factor)
      if factor and factor > 0 and rest:const() and not seen[dim] then
        list[d], factors[d], seen[dim] = dim, factor, true
      end
    end
    if not list[d] then
      return nil
    end
  end
  return seen[#k.dims] and list or nil, factors
end

--- Are its elements neighbours where those of the kernel are?
function halo.are_neighbours(k, op)
  local dims, factors = halo.dims_of(k, op)
  return dims and not kit.any(factors, function(factor) return factor ~= 1 end)
end

--- Is it read at neighbours: by taps, by windows, or at a place of its own beyond a border?
function halo.is_read_around(op)
  return #op.taps > 0 or op.leaves ~= nil
end

--- Elements that the body reads of an array for one of its own: all taps, and all that windows
--- have.
function halo.count_reads(op)
  local all = 1
  for _, tap in ipairs(op.taps) do
    local count = 1
    for _, n in ipairs(tap.count or {}) do
      count = count * n
    end
    all = all + count
  end
  return all
end

--- Is it read where only a tile in shared memory has it?
function halo.needs_tile(k, op)
  local keeps_zero = op.border == "skip" and not kit.any(op.taps, function(tap)
    return tap.how == "max" or tap.how == "min"
  end)
  return op.leaves ~= nil or not halo.are_neighbours(k, op) or not (keeps_zero
    or op.border == "none" or op.border == "zero" or op.border == "clamp" or op.border == "wrap")
end

--- What is contiguous along x in an array: the whole array (0), or each used field; nil if nothing
--- is.
function halo.parts_of(k, op)
  local last, record, each = k.index[#k.dims], op.record, 1
  local dims, factors = halo.dims_of(k, op)
  for d, dim in ipairs(dims or {}) do
    each = dim == #k.dims and factors[d] or each
  end
  local function step(f)
    local factor = E.linear(op.offset[f], last)
    factor = factor and kit.const_of(factor)
    return factor and factor % each == 0 and factor // each
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

-- How far taps reach: for each of the kernel's dimensions below and above; the largest factor of an
-- array, and whether what lies there may be beyond a border.
local function reach_of(k)
  local below = kit.map(k.dims, function() return 0 end)
  local above, leaves, factor = kit.copy(below), {}, kit.map(k.dims, function() return 1 end)
  for _, op in ipairs(k.operands) do
    local dims, factors = nil, nil
    if halo.is_read_around(op) then
      dims, factors = halo.dims_of(k, op)
    end
    for d, dim in ipairs(dims or {}) do
      leaves[dim] = leaves[dim] or op.leaves and op.leaves[d]
      factor[dim] = math.max(factor[dim], factors[d])
      for _, tap in ipairs(op.taps) do
        local first = tap.delta[d]
        local last = first + (tap.count and (tap.count[d] - 1) * tap.step[d] or 0)
        below[dim], above[dim] = math.max(below[dim], -first), math.max(above[dim], last)
      end
    end
  end
  return below, above, leaves, factor
end

--- The dimensions m and c; false: taps reach along too many.
function halo.directions(k)
  local below, above, leaves, factor = reach_of(k)
  local m, c
  for dim = 1, #k.dims - 1 do
    if below[dim] + above[dim] > 0 or leaves[dim] then
      if c then
        return false
      end
      m, c = m or dim, m and dim or nil
    end
  end
  return m or (#k.dims > 1 and #k.dims - 1 or nil), c, below, above, factor
end

-- ---- arrays with taps ----

-- Which of m, c and x an array's dimension d is: 1, 2 or 3.
local function direction(p, s, d)
  return s.dims[d] == p.dim_m and 1 or s.dims[d] == p.dim_c and 2 or 3
end

-- A tap's distances along m, c and x; of a window those of its first element.
local function distances(p, s, read)
  local by = { 0, 0, 0 }
  for d, delta in ipairs(read.delta or {}) do
    local n = direction(p, s, d)
    by[n] = by[n] + delta -- 0 along dimensions that are none of these
  end
  return by
end

-- The distances of all elements that the reads of a stream have.
local function points(p, s)
  if s.points then
    return s.points
  end
  s.points = {}
  for _, read in ipairs(s.op.reads) do
    local list = { distances(p, s, read) }
    for d, count in ipairs(read.count or {}) do
      local n, more = direction(p, s, d), {}
      for _, by in ipairs(list) do
        for e = 0, count - 1 do
          local one = kit.copy(by)
          one[n] = one[n] + e * read.step[d]
          more[#more + 1] = one
        end
      end
      list = more
    end
    kit.append(s.points, table.unpack(list))
  end
  return s.points
end

-- Limits of what the reads of a stream reach.
local function measure(p, s)
  local lo, hi = { 0, 0, 0 }, { 0, 0, 0 }
  for _, by in ipairs(points(p, s)) do
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

--- "name * n", or the name alone.
function halo.times(name, n)
  return n == 1 and name or string.format("%s * %d", string.find(name, "[ (]")
    and "(" .. name .. ")" or name, n)
end

-- Lines, or elements, that `count` outputs reach, where each begins `factor` after the one before.
local function reached(count, factor, more)
  return (count - 1) * factor + 1 + more
end

-- The text of that.
local function reached_text(count, factor, more)
  return factor == 1 and halo.plus(count, more)
    or halo.plus(string.format("(%s - 1) * %d", count, factor), more + 1)
end

-- The statements that find a line of a stream, for its lambda, and the place of an element on it.
local function place_line(p, s)
  local g, k, op, list, with = p.g, p.k, s.op, {}, {}
  local border = BORDERS[op.border]
  for d, dim in ipairs(s.dims) do
    local rest = E.subst(op.at[d], { k.index[dim], 0 })
    local off, name = kit.const_of(rest), p.names[dim]
    local at = cuda.var(name) * (dim == p.dim_x and 1 or s.factors[d]) + off
    if dim == p.dim_m or dim == p.dim_c then
      local along_m, extent = dim == p.dim_m, g:text(op.extent[d])
      local start = halo.plus(string.format("%s + %s", halo.times("first_" .. name, s.factors[d]),
        along_m and "i" or "j"), off - (along_m and s.below or s.below_c))
      kit.append(list, string.format("long long %s = %s;", name, start), border
        and string.format("if (guarded) %s = %s(%s, %s);", name, border, name, extent)
        or string.format("if (guarded && !is_inside(%s, %s)) return nullptr;", name, extent))
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
    return cuda.load(from, s.type, s.word, string.format("%s(%s%s)", s.at, s.args, at))
  end
  if border then
    return string.format("return %s;", load("load",
      halo.plus(string.format("%s(%s, %s)", border, column, s.n_columns), -s.off)))
  end
  if p.shared then
    return string.format("return %s;", s.fill)
  end
  return string.format("if (!is_inside(%s, %s)) return {};\nreturn %s%s;", column, s.n_columns,
    s.zero and string.format("guarded ? %s : ", load("load_or_zero", x)) or "", load("load", x))
end

--- Unrolled loops around a statement, each { variable, from, to }.
function halo.loops(list, statement)
  local lines, indent = {}, ""
  for _, loop in ipairs(list) do
    local name = loop[1]
    kit.append(lines, "#pragma unroll", string.format("%sfor (int %s = %s; %s < %s; %s++)", indent,
      name, loop[2], name, loop[3], name))
    indent = indent .. "  "
  end
  return kit.concat(kit.append(lines, indent .. kit.indented(statement, indent)))
end

-- Loops over the lines of a stream, around a statement: those with from <= i < to, which may be
-- numbers for each j.
local function over_lines(s, from, to, statement)
  local list = {}
  if s.has_c then
    list[1] = { "j", 0, s.n_j }
  end
  if s.has_m and string.find(from, "[", 1, true) then
    list[#list + 1] = { "i", 0, s.n_i }
    statement = string.format("if (%s <= i && i < %s)\n  %s", from, to,
      kit.indented(statement, "  "))
  elseif s.has_m then
    list[#list + 1] = { "i", from, to }
  end
  return halo.loops(list, statement)
end

-- What a read finds beyond the ends of an array: text of the stream's type, false where that cannot
-- say it; nil: an element of the array, or nothing lies there.
local function outside_of(p, s, read)
  local op, field = s.op, s.op.record.fields[s.f or 1]
  local text = (read.delta or op.leaves) and window.outside(op, s.f or 1, read)
  if not text or not read.how or op.border ~= "skip" then
    return text and not s.f and not op.record.bare and p.g:type(op) .. "()" or text or nil
  end
  local fold = window.fold(op, read)
  if fold.how == "sum" then
    return kit.zero(field)
  end
  return field.type ~= "e4m3" -- has no infinity
    and (field.cuda == fold.type and text or string.format("(%s)(%s)", field.cuda, text))
end

-- Sets what lies beyond the ends of an array; false: that differs from read to read.
local function set_fill(p, s)
  local list = {}
  for _, read in ipairs(s.op.reads) do
    list[#list + 1] = outside_of(p, s, read)
  end
  s.fill = not kit.any(list, function(text) return text ~= list[1] end) and list[1]
  local zero = s.f == nil and not s.op.record.bare or kit.zero(s.op.record.fields[s.f or 1])
  s.is_zero = s.fill == nil or zero == true or s.fill == zero
end

--- The stream of `op`, or of its field `f`: names and texts of the template.
function halo.stream(p, op, f)
  local g, k = p.g, p.k
  local s = { op = op, f = f, factor = { 1, 1, 1 } }
  s.dims, s.factors = halo.dims_of(k, op)
  for d, factor in ipairs(s.factors) do
    local n = direction(p, s, d)
    s.factor[n] = (n < 3 or s.dims[d] == p.dim_x) and factor or s.factor[n]
  end
  s.bytes = kit.bytes_of(op, f)
  s.name = f and kit.member(op.name, op.record.fields[f]) or op.name
  local word = f and op.record.fields[f].word or ""
  s.stem = op.name .. (word == "" and "" or "_" .. word)
  s.type, s.at, s.beyond = g:type(op, f), g:name(s.stem .. "_at"), g:name(s.stem .. "_beyond")
  s.lines, s.load_line = g:name(s.stem .. "_line"), g:name("load_" .. s.stem)
  for _, dim in ipairs(s.dims) do
    s.has_m, s.has_c = s.has_m or dim == p.dim_m, s.has_c or dim == p.dim_c
  end
  measure(p, s)
  -- lines are counted by i along m and by j along c, as far as the array has these
  local counters = kit.map({ s.has_m and "i" or false, s.has_c and "j" or false },
    function(name) return name or nil end)
  s.line_args = kit.concat(counters, ", ")
  s.line_params = string.gsub(s.line_args, "%a+", "int %0")
  s.args = #counters > 0 and s.line_args .. ", " or ""
  s.params = #counters > 0 and s.line_params .. ", " or ""
  s.line_name = #counters > 1 and "line (i, j)" or #counters > 0 and "line " .. counters[1]
    or "the line"
  s.counted = #counters > 0 and "; lines count from the first one read" or ""
  s.at_line = string.gsub(string.gsub(s.line_args, "%a+", "[%0]"), ", ", "")
  -- the lines that a thread's own elements reach
  s.own_m = s.has_m and reached(p.rows, s.factor[1], s.below + s.above) or 1
  s.own_c = s.has_c and reached(p.wide, s.factor[2], s.below_c + s.above_c) or 1
  s.n_i = reached_text("kRows", s.factor[1], s.below + s.above)
  s.n_j = reached_text("kWide", s.factor[2], s.below_c + s.above_c)
  s.first_x = halo.times("first_" .. p.x, s.factor[3])
  s.own_shape = (s.has_m and "[" .. s.n_i .. "]" or "") .. (s.has_c and "[" .. s.n_j .. "]" or "")
  for _, name in ipairs { "Left", "Right" } do
    s["k_" .. string.lower(name)] = g:name("k" .. name .. "_" .. s.stem)
  end
  s.piece, s.word = g:single(op, f)
  place_line(p, s)
  set_fill(p, s)
  s.fill_word = s.is_zero and "make_uint4(0, 0, 0, 0)"
    or string.format("filled_word<%s>(%s)", s.type, s.fill or "")
  s.load_beyond = load_beyond(p, s)
  return s
end

-- ---- a stream in registers ----

-- The first and the last line that taps of a thread's first row reach in each column j; with
-- `beside` only taps that reach outside the thread's own elements. A step advances by rows.
local function reach_of_columns(p, s, beside)
  local first, last = {}, {}
  for _, by in ipairs(points(p, s)) do
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

-- Declares the constants `names`, of which each has a number for each j; what they are called.
local function by_column(names, lists)
  local uniform = not kit.any(lists, function(list)
    return kit.any(list, function(number) return number ~= list[1] end)
  end)
  local texts = kit.map(names, function(name, n)
    return uniform and string.format("%s = %d", name, lists[n][1])
      or string.format("%s[] = {%s}", name, table.concat(lists[n], ", "))
  end)
  return string.format("%sconstexpr int %s;", uniform and "" or "static ", kit.concat(texts, ", ")),
    kit.map(names, function(name) return uniform and name or name .. "[j]" end)
end

-- Declares which lines of a stream are kept from step to step (`kept` to `new`), if there are any,
-- and loaded by each (`new` to `stop`), with names that end in `suffix`; what these are called.
local function declare_spans(p, s, spans, suffix)
  local words, lists = { "kNew", "kStop" }, { spans.from, spans.to }
  if table.concat(spans.first, " ") ~= table.concat(spans.from, " ") then
    words, lists = { "kFirst", "kNew", "kStop" }, { spans.first, spans.from, spans.to }
  end
  local names = kit.map(words, function(word) return p.g:name(word .. suffix .. "_" .. s.stem) end)
  local text, called = by_column(names, lists)
  return text, { kept = called[1], new = called[#called - 1], stop = called[#called] }
end

-- The constants of a stream in registers, with their comments, and the loops over its lines.
local function loop_lines(p, s)
  local lines, ends = spans_of_columns(p, s, false), spans_of_columns(p, s, true)
  local text, span = declare_spans(p, s, lines, "")
  local rolls = span.kept ~= span.new
  local texts = { string.format("// lines of %s that taps reach: %s%s <= i < kStop%s", s.name,
    s.has_c and "for each j those with " or "", rolls and "kFirst" or "kNew",
    rolls and ";\n// the step before has loaded those before kNew" or ""), text }
  local beside = span
  if s.left + s.right > 0 and (table.concat(lines.from, " ") ~= table.concat(ends.from, " ")
    or table.concat(lines.to, " ") ~= table.concat(ends.to, " ")) then
    text, beside = declare_spans(p, s, ends, "Beside")
    kit.append(texts, "// of these, lines with taps next to the thread's own vector", text)
  end
  s.reach_text = s.has_m and kit.concat(texts) or ""
  local line = s.lines .. s.at_line
  local load = string.format("%s(%s);", s.load_line, s.line_args)
  local load_end = string.format("%s[%s + k] = %s(%slast_%s + k);", line, s.k_left, s.beyond,
    s.args, p.x)
  local exchange = string.format("exchange_ends<%s, kVec, %s>(%s, last_%s, %s);", s.k_left,
    s.k_right, line, p.x, p.n_x)
  s.load_new = over_lines(s, span.new, span.stop, load)
  s.end_new = over_lines(s, beside.new, beside.stop, load_end)
  s.exchange_new = over_lines(s, beside.new, beside.stop, exchange)
  s.load_kept = over_lines(s, span.kept, span.new, load)
  s.end_kept = over_lines(s, beside.kept, beside.new, load_end)
  s.exchange_kept = over_lines(s, beside.kept, beside.new, exchange)
  s.has_ends, s.ends_ahead = s.left + s.right > 0, not s.has_m
  local values = 0
  for j = 1, s.own_c do
    s.ends_ahead = s.ends_ahead or ends.last[j] > ends.first[j]
    values = values + (lines.to[j] - lines.first[j]) * (s.left + p.vec + s.right)
  end
  s.roll = over_lines(s, span.kept, span.new, halo.loops(
    { { "e", 0, string.format("%s + kVec + %s", s.k_left, s.k_right) } },
    string.format("%s[e] = %s[e];", line, (string.gsub(line, "%[i%]", "[i + kRows]")))))
  return values
end

--- Adds what the template needs to keep a stream's lines in registers: true and how many; nil and
--- a reason if rows do not start on vectors.
function halo.registers(p, s)
  local g = p.g
  if halo.needs_tile(p.k, s.op) then
    return nil, s.op.name .. ": it is read where only a tile in shared memory has it"
  end
  local known = g:wide_vector(s.op, s.f, p.dim_x, p.vec)
  if known then
    g:adopt(s.op, known, p.vec)
  elseif p.vec > 1 then
    return nil, s.op.name .. ": its rows do not start on vectors of this width"
  end
  local word = known and known.word or (g:single(s.op, s.f))
  local own = string.format("<vec<%s, kVec>, %d>(%s(%slast_%s))", s.type, word, s.at, s.args, p.x)
  s.load = s.zero and string.format("guarded ? load_or_zero%s : load%s", own, own) or "load" .. own
  return true, loop_lines(p, s) * ((s.bytes + 3) // 4)
end

-- ---- a stream in shared memory ----

--- Adds what the template needs to keep a stream's lines in shared memory from word `start` on;
--- where the next stream starts.
function halo.shared(p, s, start)
  local g = p.g
  g:need_align(s.op, WORD)
  s.tile, s.line_at = g:name(s.stem .. "_tile"), g:name(s.stem .. "_tile_line")
  s.from = g:name(s.stem .. "_from")
  for _, name in ipairs { "Lines", "Across", "Before", "Span", "Words", "Ends" } do
    s["k_" .. string.lower(name)] = g:name("k" .. name .. "_" .. s.stem)
  end
  local before = s.left + p.drift * s.factor[3] -- the line's elements before first_x
  local span = before + reached(p.columns, s.factor[3], s.right)
  s.n_words = (span * s.bytes + 2 * WORD - 2) // WORD -- at any offset
  local m = s.has_m and reached(p.block_m, s.factor[1], s.below + s.above) or 1
  local c = s.has_c and reached(p.block_c, s.factor[2], s.below_c + s.above_c) or 1
  s.n_lines, s.start_text = m * c, p.used_text
  p.used_text = string.format("%s + %s * %s + (%s + 1) / 2", p.used_text, s.k_lines, s.k_words,
    s.k_lines)
  s.n_before, s.n_span = before, span
  s.before_text = s.k_left .. (p.drift > 0 and " + " .. halo.times("kAhead", s.factor[3]) or "")
  s.span_text = string.format("%s + %s + %s", s.k_before,
    reached_text(p.tile_x, s.factor[3], 0), s.k_right)
  s.all_bytes = g:text(s.op.bytes)
  local along_m = s.has_m and reached_text(p.tile_of[p.dim_m], s.factor[1], s.below + s.above)
  local along_c = s.has_c and reached_text(p.tile_of[p.dim_c], s.factor[2], s.below_c + s.above_c)
  local leaves_x = kit.any(s.op.leaves or {}, function(leaves, d)
    return leaves and s.dims[d] == p.dim_x
  end)
  s.has_beyond = s.op.border ~= "none" and (s.left + s.right > 0 or leaves_x)
  s.across_text = along_m and along_c
  s.lines_text = s.across_text and string.format("(%s) * %s", along_m, s.k_across)
    or along_m or along_c or "1"
  s.line_of = s.across_text and string.format("line / %s, line %% %s, ", s.k_across, s.k_across)
    or (along_m or along_c) and "line, " or ""
  s.begin = halo.plus(string.format("%s - %s", s.first_x, s.k_before), s.off)
  s.first_text = string.format("%dLL", s.off - s.left)
  s.stop_text = g:text((p.k.extents[p.dim_x] - 1) * s.factor[3] + (s.off + s.right + 1))
  local i = p.c and "i" or halo.times("own", s.factor[1]) .. " + i"
  local j = halo.times("own", s.factor[2]) .. " + j"
  s.own_line = s.across_text and string.format("%s * %s + %s", i, s.k_across, j)
    or along_m and i or along_c and j or "0"
  local own = string.format("%s(%s) + %s + %s", s.line_at, s.own_line, s.k_before,
    halo.times("lane * kVec", s.factor[3]))
  if s.own_m * s.own_c > POINTERS then -- else where they begin is kept
    s.own_lines = string.format("const auto %s = [&](%s) { return %s; };", s.lines, s.line_params,
      own)
    s.finds_lines = true
  else
    s.own_lines = string.format("const %s *%s%s;\n%s", s.type, s.lines, s.own_shape,
      over_lines(s, "0", s.n_i, string.format("%s%s = %s;", s.lines, s.at_line, own)))
  end
  return start + s.n_lines * s.n_words + kit.ceil_div(s.n_lines, WORD // 8) -- and pointers
end

--- Declares the lambda that gives a stream's element at a distance from the thread's own.
function halo.near(p, s)
  local params, at = {}, {}
  local function index(has, dim, counter, before)
    if has then
      local d = "d_" .. p.names[dim]
      params[#params + 1] = "int " .. d
      at[#at + 1] = string.format("%s + %s", halo.plus(counter, before), d)
    end
  end
  index(s.has_m, p.dim_m, halo.times("i", s.factor[1]), s.below)
  index(s.has_c, p.dim_c, halo.times("j", s.factor[2]), s.below_c)
  local line = s.finds_lines and string.format("%s(%s)", s.lines, table.concat(at, ", "))
    or s.lines .. kit.concat(kit.map(at, function(text) return "[" .. text .. "]" end), "")
  at = {}
  local own = p.shared and "column" or s.k_left
  index(true, p.dim_x, halo.times(p.vec > 1 and own .. " + e" or own, s.factor[3]), 0)
  at = string.format("%s[%s]", line, at[1])
  s.near = p.g:name(s.stem .. "_near")
  return string.format("const auto %s = [&](%s) {\n  return %s;\n};", s.near,
    table.concat(params, ", "), p.shared and s.word and cuda.load("take", s.type, s.word, "&" .. at)
      or at)
end

--- What a tap's value is called in compute_line.
function halo.tap(p, s, read)
  local by = distances(p, s, read)
  return string.format("%s(%s)", s.near, kit.concat({ s.has_m and by[1] or "",
    s.has_c and by[2] or "", by[3] }, ", "))
end

--- What becomes of the elements of a window, which compute_line finds in a tile or in registers.
function halo.window(p, s, read, with)
  local by, loops = distances(p, s, read), {}
  for d, count in ipairs(read.count) do
    if count > 1 then
      local n, name = direction(p, s, d), p.g:name("at_" .. p.names[s.dims[d]])
      loops[#loops + 1] = { name = name, count = count }
      name = halo.times(name, read.step[d])
      by[n] = by[n] == 0 and name or halo.plus(name, by[n])
    end
  end
  local value = string.format("%s(%s)", s.near, kit.concat({ s.has_m and by[1] or "",
    s.has_c and by[2] or "", by[3] }, ", "))
  return window.text(p.g, s.op, read, loops, value, with, "#pragma unroll")
end

-- Lines that the taps of `m` by `c` elements reach.
local function count_lines(p, s, m, c)
  local seen, n = {}, 0
  for _, by in ipairs(points(p, s)) do
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
  local values = s.f and 1 or #points(p, s)
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
