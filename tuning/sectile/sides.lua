-- sides: kernels whose inputs run along some modes and whose outputs along others. Side X holds the
-- modes that inputs run along, fastest first, side Y those of the outputs; each goes on as long as
-- it is one run in all of its operands and the other side has not taken the mode.
local sides = {}

local SECTOR, LINE, COPY, LANES, BANKS_BYTES = 32, 128, 16, 32, 128
local LONG_ENOUGH = 512 -- elements of a side, at every tuned size

-- ---- what the kernel is ----

-- The product of extents of `dims` at every tuned size.
function sides.lengths(k, dims)
  return kit.map(k.sizes, function(size)
    return kit.product(kit.map(dims, function(d) return size[d] end))
  end)
end

-- Elements that each dimension moves `op` by; nil if not all steps are alike.
local function steps_of(k, op)
  local steps = {}
  for d = 1, #k.dims do
    local step = strides.step(k, op, 1, d)
    if not step or E.divisor(step) % op.record.bytes ~= 0 then
      return nil
    end
    steps[d] = step // op.record.bytes
  end
  return steps
end

-- The dimensions along which an operand moves, fastest first, at the largest tuned size.
local function order_of(k, steps)
  local far, order = {}, {}
  for d, step in ipairs(steps) do
    far[d] = math.abs(E.eval(step + 0, k.largest))
    order[#order + 1] = far[d] ~= 0 and d or nil
  end
  table.sort(order, function(a, b)
    return far[a] < far[b] or (far[a] == far[b] and a > b)
  end)
  return order
end

--- For each operand its steps along the modes, in elements, and their order, fastest first; nil and
--- a reason where an operand is no array of a bare type, or has no steps.
function sides.orders(k)
  local about = { steps = {}, order = {} }
  for n, op in ipairs(k.operands) do
    if not op.record.bare or op.is_index or op.through_index then
      return nil, "an operand is a record or addressed through an index"
    end
    about.steps[n] = steps_of(k, op)
    if not about.steps[n] then
      return nil, "an operand's steps are not all alike"
    end
    about.order[n] = order_of(k, about.steps[n])
  end
  return about
end

-- The mode that operand n runs along: where a step is one element.
local function run_of(about, n)
  local d = about.order[n][1]
  return d and kit.const_of(about.steps[n][d]) == 1 and d or nil
end

-- Does operand n run along mode x, and move along mode y?
local function crosses(about, n, x, y)
  return run_of(about, n) == x and kit.const_of(about.steps[n][y]) ~= 0
end

-- The modes that outputs run along; of two, the first one leaves less to be exchanged. nil: an
-- output does not run along any, or there are more.
local function runs_of_outputs(k, about)
  local list, bytes = {}, {}
  for n, op in ipairs(k.operands) do
    local d = run_of(about, n)
    if op.is_output and not kit.has(list, d) then
      list[#list + 1] = d
    end
    if op.is_output and not d or #list > 2 then
      return nil
    end
  end
  for m = 1, 2 do
    bytes[m] = 0
    for n, op in ipairs(list[2] and k.operands or {}) do
      bytes[m] = bytes[m] + (crosses(about, n, list[3 - m], list[m]) and op.record.bytes or 0)
    end
  end
  return list[2] and bytes[2] < bytes[1] and { list[2], list[1] } or list
end

-- Steps and orders of all operands, those that run along X (`is_exchanged`), outputs among them
-- (`both`); nil and a reason if this is no exchange.
local function read_operands(k)
  local about, reason = sides.orders(k)
  if not about then
    return nil, reason
  end
  local runs = runs_of_outputs(k, about)
  if not runs or not runs[1] then
    return nil, "the outputs do not run along one or two dimensions"
  end
  about.y, about.x, about.both, about.is_exchanged = runs[1], runs[2], runs[2] ~= nil, {}
  for n, op in ipairs(k.operands) do
    local x = run_of(about, n)
    if x ~= about.y and x and (not about.x or about.x == x)
      and crosses(about, n, x, about.y) then
      about.x, about.into = x, about.into or n
      about.is_exchanged[n] = true
    elseif op.is_output and x ~= about.y then
      return nil, "an output does not move along the dimension that others run along"
    end
    about.out = about.out or op.is_output and x == about.y and n
  end
  if not about.x then
    return nil, "no input runs along another dimension than the outputs"
  end
  return about
end

-- Is operand n one of those that run along the side?
local function is_own(k, about, side, n)
  if side.is_out then
    return k.operands[n].is_output and not about.is_exchanged[n]
  end
  return about.is_exchanged[n]
end

-- Do the modes `dims` go on with mode d as one run in every operand of the side?
local function follows(k, about, side, dims, d)
  local last = dims[#dims]
  return not reads.named(k.body, k.dims[last]) and not reads.named(k.body, k.dims[d])
    and not kit.any(about.steps, function(steps, n)
      return is_own(k, about, side, n)
        and kit.const_of(steps[d] - steps[last] * k.extents[last]) ~= 0
    end)
end

-- The dimension that a side goes on with.
local function next_of(about, side)
  return about.order[side.is_out and about.out or about.into][#side.dims + 1]
end

-- Adds to a side the dimension that it goes on with, if that is free.
local function grow(k, about, side)
  local d = next_of(about, side)
  if not d or about.taken[d] or #side.dims == 4
    or not follows(k, about, side, side.dims, d) then
    return false
  end
  side.dims[#side.dims + 1], about.taken[d] = d, true
  return true
end

local function shortest(k, side)
  return math.min(table.unpack(sides.lengths(k, side.dims)))
end

local function is_short(k, side)
  return shortest(k, side) < LONG_ENOUGH
end

-- Do runs of the side start at multiples of 4 elements where they did not, with one more dimension?
local function aligns(k, about, side)
  local d, better = next_of(about, side), false
  for n, length in ipairs(d and sides.lengths(k, side.dims) or {}) do
    better = better or (length % 4 ~= 0 and length * sides.lengths(k, { d })[n] % 4 == 0)
  end
  return better
end

--- Steps, orders and sides of the kernel: X and Y have `dims`, fastest first; `rest` has the
--- others.
function sides.read(k)
  local about, reason = read_operands(k)
  if not about then
    return nil, reason
  end
  about.X, about.Y = { dims = { about.x } }, { dims = { about.y }, is_out = true }
  about.taken = { [about.x] = true, [about.y] = true }
  for _, wanted in ipairs { is_short, function(_, side) return aligns(k, about, side) end } do
    local grew = true
    while grew do
      grew = false
      -- a mode that both could go on with is X's where its lines have less than two sectors
      local x_first = next_of(about, about.X) == next_of(about, about.Y)
        and shortest(k, about.X) * sides.bytes_of(k, about) < 2 * SECTOR
      for _, side in ipairs(x_first and { about.X, about.Y } or { about.Y, about.X }) do
        grew = wanted(k, side) and grow(k, about, side) or grew
      end
    end
  end
  about.rest = {}
  for d = 1, #k.dims do
    about.rest[#about.rest + 1] = not about.taken[d] and d or nil
  end
  return about
end

--- Where Y stays short since X ends with the mode that outputs go on with: a tile of the whole Y
--- (`run` elements), X before that mode (`inner`) and a chunk of the mode is long runs of the
--- outputs, too. nil: it is not so, or not alike at every tuned size.
function sides.shared(k, about)
  local X, Y = about.X.dims, about.Y.dims
  local mode = X[#X]
  if about.both or #X == 1 or about.order[about.out][#Y + 1] ~= mode or not is_short(k, about.Y)
    or not follows(k, about, about.Y, Y, mode) then
    return nil
  end
  local before = { table.unpack(X, 1, #X - 1) }
  local shared = { inner = sides.lengths(k, before)[1], run = sides.lengths(k, Y)[1] }
  local longest = 0
  for n, size in ipairs(k.sizes) do
    longest = math.max(longest, size[mode])
    if sides.lengths(k, before)[n] ~= shared.inner or sides.lengths(k, Y)[n] ~= shared.run then
      return nil
    end
  end
  -- A chunk of at most `most` elements: equal chunks, in steps that end with a sector.
  function shared.chunk(most)
    local step = 1
    while shared.run * step % 8 ~= 0 do
      step = 2 * step
    end
    local largest = most // (shared.inner * shared.run) // step * step
    local chunk = largest > 0 and kit.ceil_div(longest, kit.ceil_div(longest, largest)) or 0
    return kit.ceil_div(chunk, step) * step
  end
  return shared
end

-- ---- at the tuned sizes ----

--- Bytes of the widest and of the narrowest element of what is exchanged; of outputs, too, unless
--- some of them are exchanged.
function sides.bytes_of(k, about)
  local most, least = 0, 16
  for n, op in ipairs(k.operands) do
    if op.is_output and not about.both or about.is_exchanged[n] then
      most, least = math.max(most, op.record.bytes), math.min(least, op.record.bytes)
    end
  end
  return most, least
end

--- Is operand m loaded along Y as it is: does it run along Y and move along X?
function sides.is_straight(k, about, m)
  return not k.operands[m].is_output and crosses(about, m, about.y, about.x)
end

--- Bytes of the widest element that moves in vectors along a side.
function sides.element_bytes(k, about, side)
  local most = about.both and 0 or sides.bytes_of(k, about)
  for m, op in ipairs(k.operands) do
    local moves = is_own(k, about, side, m) or side.is_out and sides.is_straight(k, about, m)
    most = moves and math.max(most, op.record.bytes) or most
  end
  return most
end

--- Do vectors of `width` along a side start at multiples of it in operand m, at tuned size n?
function sides.fits(k, about, side, n, m, width)
  local given, op, start = k.given[n], k.operands[m], k.operands[m].offset[1]
  for d = 1, #k.dims do
    start = E.subst(start, { k.index[d], 0 })
  end
  return sides.lengths(k, side.dims)[n] % width == 0
    and E.eval(start + 0, given) // op.record.bytes % width == 0
    and not kit.any(about.steps[m], function(step, d)
      return not kit.has(side.dims, d) and E.eval(step + 0, given) % width ~= 0
    end)
end

-- The widest vector along a side at tuned size n: its runs and all steps beside are multiples.
local function widest(k, about, side, n, most)
  local width = most
  for m in ipairs(k.operands) do
    while width > 1 and is_own(k, about, side, m)
      and not sides.fits(k, about, side, n, m, width) do
      width = width // 2
    end
  end
  return width
end

-- All widths along a side that are the widest at some tuned size, and the widest of all.
function sides.widths(k, about, side, most)
  local found, list = {}, {}
  for n = 1, #k.sizes do
    found[widest(k, about, side, n, most)] = true
  end
  for width = 16, 1, -1 do
    list[#list + 1] = found[width] and width or nil
  end
  return list
end

-- Extents of tiles along a side: powers of two up to what covers it at every tuned size, and the
-- whole side where that is short.
function sides.tile_extents(k, side)
  local longest, list = math.max(table.unpack(sides.lengths(k, side.dims))), {}
  for _, extent in ipairs { 16, 32, 64, 128, 256, 512 } do
    if (extent >= 32 or longest <= 16) and (extent < 2 * longest or extent == 16) then
      list[#list + 1] = extent
    end
  end
  local whole = kit.ceil_div(longest, 4) * 4
  if longest <= 8 then
    list = { 8 }
  elseif longest <= 128 and whole & (whole - 1) ~= 0 then
    list[#list + 1] = whole
  end
  return list
end

-- ---- tiles in shared memory ----

-- A tile with a side shorter than the banks: lines as they are, padded.
local function keep_thin(p, banks)
  local other = p.store
  p.rows, p.chunk, p.pitch = true, p.load, p.tile_x
  p.pitch_doc, p.kept = "from line to line", "y * kPitch + x"
  if p.tile_y < banks then
    p.pitch = p.tile_x + math.max(p.load, banks // p.tile_y)
    p.kept_doc = "Where element (x, y) of a tile is kept: lines are longer, so that columns meet "
      .. "different banks."
    p.lanes = LANES
  else
    local pad = (other - p.tile_x * other) % banks
    p.kept = string.format("y * kPitch + y / kStore * %d + x", pad)
    p.kept_doc = "Where element (x, y) of a tile is kept: between the lines of two stores is "
      .. "padding, so that columns meet different banks."
    p.lanes, p.padding = math.min(banks // other, LANES), p.tile_y // other * pad
  end
  p.tile_elems = p.pitch * p.lines_of_tile + (p.padding or 0)
end

-- Is padding better than a swizzle: one side is short, and vectors go along the other?
local function is_thin(p, banks)
  if p.pack > 1 or p.sector > 0 then
    return false
  elseif p.tile_y < banks then
    return banks % p.tile_y == 0 and p.load > 1 and p.store == 1 and banks // p.tile_y <= p.load
  end
  return p.tile_x < banks and banks % p.tile_x == 0 and p.load == 1 and p.store > 1
    and p.tile_x * p.store >= banks
end

-- How elements of a tile are kept: `rows`: neighbours along X stay together, else those along Y.
function sides.keep(p)
  local bytes = p.pack > 1 and 4 or p.bytes
  local across = p.store // p.pack -- words of a store
  local banks = math.max(BANKS_BYTES // bytes, 1)
  if is_thin(p, banks) then
    return keep_thin(p, banks)
  end
  p.rows = p.load <= across
  local chunk = p.rows and math.min(p.load, COPY // bytes) or across
  local other = p.rows and across or p.load
  local width = p.rows and p.tile_x or p.lines_of_tile // p.pack
  local groups = math.max(banks // chunk, 1)
  while groups > 1 and groups * chunk >= 2 * width do
    groups = groups // 2
  end
  p.pitch = kit.ceil_div(width, groups * chunk) * groups * chunk
  p.chunk = chunk
  local function over(text, n)
    return n > 1 and string.format("%s / %d", text, n) or text
  end
  local y = p.pack > 1 and "y / kPack" or "y"
  local inner, outer, line = "x", y, over(y, other)
  if not p.rows then
    inner, outer, line = y, "x", over("x", other)
  end
  local mixed = string.format("(%s ^ %s %% %d)", over(inner, chunk), line, groups)
  if groups == 1 then
    mixed = inner
  elseif chunk > 1 then
    mixed = string.format("%s * %d + %s %% %d", mixed, chunk, inner, chunk)
  end
  p.kept = string.format("%s * kPitch + %s", outer, mixed)
  p.pitch_doc = p.rows and "from line to line" or "from column to column"
  local doc = p.rows
    and ": a line's elements are permuted by the line's number, so that columns meet "
    or ": a column's elements are permuted by the column's number, so that lines meet "
  p.kept_doc = string.format("Where %s of a tile is kept%s", p.pack > 1
    and "the word with elements (x, y) to (x, y + kPack - 1)" or "element (x, y)",
    groups == 1 and "." or doc .. "different banks.")
  p.tile_elems = p.pitch * (p.rows and p.lines_of_tile // p.pack or p.tile_x)
  p.lanes = p.rows and chunk > 1 and math.min(math.max(groups, 8), LANES) or LANES
end

--- Declares what lies in shared memory (`p.memory`), each part at a multiple of `align` bytes if it
--- is static: all of it, or parts of the dynamic one; false: it is too much.
function sides.place_memory(p, align)
  local total, device = 0, p.k.device
  for _, m in ipairs(p.memory) do
    m.at = total
    total = total + kit.ceil_div(m.bytes, 16) * 16
  end
  p.is_dynamic = total > device.smem_block_bytes
  p[p.is_dynamic and "shared_bytes" or "static_shared_bytes"] = total
  for _, m in ipairs(p.memory) do
    m.declare = p.is_dynamic
      and string.format("// %s\n%s *const %s = reinterpret_cast<%s *>(shared + %d);", m.doc, m.type,
        m.name, m.type, m.at)
      or string.format("__shared__ __align__(%d) %s %s[%s]; // %s", align, m.type, m.name, m.count,
        m.doc)
  end
  return total <= device.smem_optin_bytes
end

--- Lines as in memory: an element's place in shared memory is that in the array, modulo a
--- line of 128 bytes, so that what arrives is written as it comes. Lines of odd length start at
--- another place each, so that their columns meet different banks.
function sides.keep_lines(p)
  p.word, p.start_elems = COPY // p.bytes, LINE // p.bytes
  p.row_elems = p.tile_x + p.start_elems
  p.tile_elems = p.lines_of_tile * p.row_elems
  p.lanes = math.max(math.min(LANES, LANES * 4 // (p.store * p.bytes)), p.store > 1 and 8 or LANES)
end

-- ---- places along sides, in the text of a kernel ----

-- A C name for the place along a side: the dimension's, or those of all.
function sides.name(p, side)
  local names = {}
  for n, d in ipairs(side.dims) do
    names[#side.dims + 1 - n] = p.k.dims[d]
  end
  side.name = table.concat(names, ", ")
  side.at = p.g:name(table.concat(names, "_"))
  side.first = p.g:name("first_" .. side.at)
  side.n = p.k.extents[side.dims[1]]
  for n = 2, #side.dims do
    side.n = side.n * p.k.extents[side.dims[n]]
  end
  side.extent = p.g:text(side.n)
  if #side.dims > 1 then
    p.g:require(side.n:lt(1 << 31))
    local name = p.g:name("n_" .. side.at)
    side.size = string.format("const long long %s = %s;", name, side.extent)
    side.extent = name
  elseif string.find(side.extent, " ") then
    side.extent = "(" .. side.extent .. ")"
  end
end

-- Is the offset of `op` linear in the place along a side?
local function is_linear(p, op, side)
  local steps, dims = p.about.steps[op.number], side.dims
  return not kit.any(dims, function(d, n)
    local before = dims[n - 1]
    return before and kit.const_of(steps[d] - steps[before] * p.k.extents[before]) ~= 0
  end)
end

-- The element number of `op` as an expression: where along X and Y (expressions; nil: tables), and
-- with the other dimensions by name unless `bare`. Modes that are set in `apart` count as 0.
function sides.element(p, op, x, y, bare, apart)
  local put = {}
  apart = apart or {}
  local function bind(side, at)
    for n, d in ipairs(side.dims) do
      kit.append(put, p.k.index[d],
        apart[d] and 0 or type(at) == "table" and at[n] or (n == 1 and at or 0))
    end
  end
  bind(p.X, x)
  bind(p.Y, y)
  for _, d in ipairs(p.rest) do
    kit.append(put, p.k.index[d], (bare or apart[d]) and 0 or cuda.var(p.rest_name[d]))
  end
  return E.subst(op.offset[1] // op.record.bytes, put)
end

-- How far steps along X and Y (or digits of them) go in `op`.
function sides.step(p, op, x, y)
  return sides.element(p, op, x, y, true) - sides.element(p, op, 0, 0, true)
end

-- The digits of a place along a side of several modes, as variables.
local function digits_of(p, side)
  return kit.map(side.dims, function(d) return cuda.var(p.digit[d]) end)
end

--- The name of how far a step along mode d goes in `op`, which `p.strides` declares; nil: it is no
--- product of extents.
function sides.stride(p, op, d, step)
  local text = p.g:text(step)
  if not string.find(text, " * ", 1, true) or string.find(text, "[^%w_ *]") then
    return nil
  end
  local name = p.g:name(op.name .. "_stride_" .. p.k.dims[d])
  kit.append(p.strides, string.format("const long long %s = %s;", name, text))
  table.sort(p.strides, function(a, b) return #a < #b or #a == #b and a < b end)
  return name
end

-- The text of the offset `of(apart)` in `op`: modes whose index is multiplied by a product of
-- extents are `apart`, as terms whose product has a name.
local function text_of_offset(p, op, along, of)
  local terms, apart = {}, {}
  for _, d in ipairs(along) do
    local stride = sides.stride(p, op, d, p.about.steps[op.number][d])
    if stride then
      kit.append(terms, (p.digit[d] or p.rest_name[d]) .. " * " .. stride)
      apart[d] = true
    end
  end
  return kit.concat(kit.append(terms, p.g:text(of(apart))), " + ")
end

-- Takes the tables of `op` into the plan: offsets along sides in which it is not linear.
function sides.adopt_tables(p, op)
  local first_x, first_y = cuda.var(p.X.first), cuda.var(p.Y.first)
  local by = { x = is_linear(p, op, p.X), y = is_linear(p, op, p.Y) }
  p.linear[op.number] = by
  local function table_of(side, suffix, along, of)
    local name = p.g:name(op.name .. suffix)
    local t = side == p.X and p.tables[2] or p.tables[1]
    t.entries[#t.entries + 1] = { name = name, op = op,
      value = text_of_offset(p, op, along, of) }
    p.memory[#p.memory + 1] = {
      name = name, type = "long long", count = t.limit, bytes = 8 * (side == p.X and p.tile_x
        or p.lines_of_tile),
      doc = string.format("offsets in %s of the tile's %s", op.name,
        side == p.X and "columns" or "lines"),
    }
    return name
  end
  local function all_of(side)
    return kit.append(kit.copy(p.rest), table.unpack(side.dims))
  end
  if not by.y then
    by.line = table_of(p.Y, "_line", all_of(p.Y), function(apart)
      return sides.element(p, op, by.x and first_x or 0, digits_of(p, p.Y), false, apart)
    end)
  end
  if not by.x then
    by.column = table_of(p.X, "_column", by.y and all_of(p.X) or p.X.dims, function(apart)
      local x = digits_of(p, p.X)
      return by.y and sides.element(p, op, x, first_y, false, apart)
        or sides.element(p, op, x, 0, true, apart) - sides.element(p, op, 0, 0, true)
    end)
  end
end

-- The element of `op` at tile-local x and line (texts), or at the places X.at and Y.at, which the
-- text declares. `e`: neighbours further along Y.
function sides.place(p, op, e)
  local by, at = p.linear[op.number]
  local x, y, more = cuda.var(p.X.at), cuda.var(p.Y.at), e and cuda.var("e") or 0
  local line = not by.y and cuda.var(by.line .. "[" .. p.line_text .. (e and " + e]" or "]"))
  if by.x and by.y then
    at = sides.element(p, op, x, y + more)
  elseif by.x then
    at = line + sides.step(p, op, cuda.var("x"), 0)
  else
    at = cuda.var(by.column .. "[x]")
      + (line or sides.step(p, op, 0, 1) * (y - cuda.var(p.Y.first) + more))
  end
  return string.format("%s[%s]", op.pointer, p.g:text(at))
end

-- Where the thread's first vector of `op`, which is linear along Y, starts: text.
function sides.start(p, op)
  local by, x = p.linear[op.number], cuda.var("x")
  local line = cuda.var("thread_line") - (p.sector > 0 and cuda.var("kAhead") or 0)
  return p.g:text(by.x and sides.element(p, op, cuda.var(p.X.first) + x, cuda.var(p.Y.first) + line)
    or cuda.var(by.column .. "[x]") + sides.step(p, op, 0, 1) * line)
end

-- The offset in `op` of a line `count` (text) lines on.
function sides.lines_on(p, op, count)
  return p.g:text(sides.step(p, op, 0, 1) * cuda.var(count))
end

-- An output's element as two texts: where column x starts, and from there on element y.
function sides.column(p, op)
  local by = p.linear[op.number]
  local line = by.y and "y" or by.line .. "[y]"
  if not by.x then
    return by.column .. "[x]", line
  elseif by.y then
    return p.g:text(sides.element(p, op, cuda.var(p.X.at), cuda.var(p.Y.first))), line
  end
  return p.g:text(sides.step(p, op, cuda.var("x"), 0)), line
end

--- A count as a factor of 32 bits; in parentheses if it is a product.
function sides.count_text(p, count)
  local text = p.g:text(count)
  return "(unsigned int)" .. (string.find(text, " ") and "(" .. text .. ")" or text)
end

-- The statements that find the digits of the place `at` (text) along a side of several modes.
local function find_digits(p, side, at)
  local lines = { string.format("unsigned int rest = (unsigned int)(%s);", at) }
  for n, d in ipairs(side.dims) do
    local extent = sides.count_text(p, p.k.extents[d])
    local is_last = n == #side.dims
    kit.append(lines, string.format("const unsigned int %s = rest%s;", p.digit[d],
      is_last and "" or " % " .. extent), not is_last and "rest /= " .. extent .. ";" or nil)
  end
  return #side.dims > 1 and kit.concat(lines) or ""
end

-- Places of the tables: lines of the tile along Y, columns along X.
function sides.start_tables(p)
  local function new_table(side, at, limit, ahead)
    local place = side.first .. ahead .. " + " .. at
    return {
      at = at, limit = limit, entries = {}, digits = find_digits(p, side, place),
      outside = string.format(ahead ~= "" and "(%s < 0 || %s >= %s)" or "%.0s%s >= %s", place,
        place, side.extent),
    }
  end
  p.tables = {
    new_table(p.Y, "line", "kLines", p.sector > 0 and " - kAhead" or ""),
    new_table(p.X, "x", "kTileX", ""),
  }
end

return sides
