-- map: outputs and most inputs run along the same fastest mode. A flat launch over vectors of
-- neighbours along it; records may go through shared memory, a tile's bytes unchanged.

-- Registers of an SM, the most of a thread, and those of a thread that do not hold elements.
local REGISTERS, MOST_REGISTERS, WORKING_REGISTERS = 65536, 255, 16

-- How the kernel calls indices: of dimensions, those of element `e` of the vector if it is given;
-- of index arrays the values that it has loaded.
local function binding(p, e)
  if p.across then
    return across.binding(p, e)
  end
  local at, k, inner = {}, p.k, 1
  for d = #k.dims, 1, -1 do
    at[d] = p.index_text[d] and cuda.var(p.index_text[d]) or 0 * k.extents[d]
    if d >= p.side and e then
      local extent = d > p.side and kit.const_of(k.extents[d])
      at[d] = at[d] + (extent and e // inner % extent or e // inner)
      inner = inner * (extent or 1)
    end
  end
  return p.g:binding(at, function(op)
    local x = p.stream_of[op.number]
    return x and "(long long)" .. x.value
  end)
end

-- ---- straight to registers ----

-- Does `op` change along one of the modes from `from` on, up to `to`?
local function changes_from(p, op, from, to)
  return kit.any(p.k.dims, function(_, d)
    return d >= from and d <= (to or d) and p.g:changes(op, d)
  end)
end

-- Over several modes, those inside the first one of constant extents: are neighbours along all of
-- them, or those along the first mode, contiguous?
local function contiguous(p, op, f)
  local bytes, k = kit.bytes_of(op, f), p.k
  local stride, all, along = bytes, true, strides.fixed(k, op, f or 1, p.side) == bytes
  for d = #k.dims, p.side, -1 do
    all = all and strides.fixed(k, op, f or 1, d) == stride
    along = along and not strides.turns(k, op, d)
    stride = d > p.side and stride * kit.const_of(k.extents[d]) or stride
  end
  return all, along
end

-- The access path over such a side, and its vectors: of neighbours along all modes; or along the
-- first mode, one vector where the others do not move `op` (`shared` elements have one value), else
-- one for each of their elements: "planes". "inner": a single value for each of these.
local function path_of_side(p, op, f)
  local g, k = p.g, p.k
  local moves_inside = changes_from(p, op, p.side + 1)
  local all, along = contiguous(p, op, f)
  if not all and not op.is_output and not g:changes(op, p.side) then
    return "inner"
  elseif not all and (not along or p.unit == 1 or op.is_output and not moves_inside) then
    return "elements"
  end
  local group = { k.index[p.side], E.var("group", 0, kit.MAX_INDEX) * p.unit }
  for d = p.side + 1, all and #k.dims or 0 do
    kit.append(group, k.index[d], 0)
  end
  local bytes = kit.bytes_of(op, f)
  local field = f and 0 or op.record.fields[1].offset
  local count = all and p.vec or p.unit
  local start = E.subst(op.offset[f or 1], group) - field
  local vector, wider = g:words(start, bytes * count, p.unit), g:words(start, bytes * count, p.vec)
  vector.multiple = p.unit
  if wider.word > vector.word then -- extents over both modes: of 2 n elements, n by the vector
    vector, wider.multiple = wider, p.vec
  end
  vector.width = moves_inside and p.vec or count
  vector.shared = not moves_inside and p.inside or 1
  return all and "vector" or moves_inside and "planes" or "vector", vector
end

-- ---- the paths of all ----

-- The access path of an operand's field, or of its whole value: "once", "item" (one value for a
-- vector), "inner", "vector", "planes", "reversed", "around", "elements"; and of vectors how they
-- move.
local function path_of(p, op, f)
  local g = p.g
  if not op.is_output and not changes_from(p, op, 1) then
    return "once"
  elseif p.vec == 1 or not changes_from(p, op, p.side)
    or p.unit == 1 and not op.is_output and not changes_from(p, op, p.side + 1) then
    return "item"
  end
  if p.aligned then
    return aligned.path(p, op)
  end
  local path, vector = across.path(p, op, f)
  if path then
    return path, vector
  end
  path = "vector"
  if p.inside > 1 then
    path, vector = path_of_side(p, op, f)
  else
    vector = g:vector(op, f, #p.k.dims, p.vec)
  end
  local element = f and op.record.fields[f].bytes or math.min(op.record.align, 16)
  if vector and vector.word > element then
    g:adopt(op, vector, vector.multiple or p.unit)
    return vector.reversed and "reversed" or path, vector
  end
  return path == "inner" and path or "elements"
end

-- How values of an access path lie in registers: elements of a vector, further dimensions of the
-- array, where element e is, and if they move one by one, how many there are.
local WHOLE, SINGLE = { count = "kVec", at = "[e]" }, { at = "" }
local SHAPES = {
  once = SINGLE, item = SINGLE, vector = WHOLE, reversed = WHOLE, around = WHOLE,
  elements = { count = "kVec", at = "[e]", each = "kVec" },
  shared = { count = "kAlong", at = "[e / kInside]" },
  planes = {
    count = "kAlong", dims = "[kInside]", at = "[e % kInside][e / kInside]", each = "kInside",
  },
  inner = { dims = "[kInside]", at = "[e % kInside]", each = "kInside" },
}

-- May a row's last vector reach past its end, by what is required so far?
local function has_tails(p)
  if p.aligned then
    return true
  end
  local extent = p.across and p.elements or p.k.extents[p.side]
  return E.divisor(E.subst(extent + 0, strides.known(p.g.multiples))) % p.unit ~= 0
end

-- The address of a vector by its number, where an operand follows the index space without gaps.
local function flat_address(p, op, path)
  local flat = (path == "vector" or path == "item" and p.vec == 1) and p.side > 1 and not p.across
    and not p.march
  local first = flat and across.runs(p.k, op)
  return first and not has_tails(p) and string.format("&%s[vector%s%s]", op.pointer, p.times_vec,
    first > 0 and string.format(" + %d", first // op.record.bytes) or "")
end

-- One field of an operand, or its whole value, on its way: names, types and texts of the template.
local function stream(p, op, f)
  local g = p.g
  local path, vector = path_of(p, op, f)
  local element = g:type(op, f)
  local shape = SHAPES[vector and (vector.shared or 1) > 1 and "shared" or path]
  local count = shape.count
  local x = {
    op = op, f = f, path = path, element = element, each = shape.each, dims = shape.dims or "",
    zero = (f or op.record.bare) and kit.zero(op.record.fields[f or 1]) or element .. "()",
    name = g:value_name(op, f),
    type = count and string.format("vec<%s, %s>", element, count) or element, rows = "",
    is_once = path == "once" or path == "inner" and not changes_from(p, op, 1, p.side - 1),
  }
  x.array = x.name
  x.value = x.name .. ((x.is_once or op.is_output) and "" or "[item]") .. shape.at
  local last = (path == "elements" and p.vec or p.inside) - 1
  local with = binding(p, x.each and E.var("e", 0, last) or nil)
  if path == "reversed" then -- the address of what lies lowest: the vector's last element
    with[2 * #p.k.dims] = with[2 * #p.k.dims] + (p.vec - 1)
  end
  x.address = vector and vector.address or flat_address(p, op, path) or g:address(op, f, with)
  local word
  x.word, word = g:single(op, f)
  if vector then
    word, x.word, x.width = vector.word, vector.word, vector.width or p.vec
  end
  local moved = path == "elements" and element or x.type
  if op.is_output then
    x.store = cuda.store(p.store_name, word, x.address,
      path == "elements" and x.value or x.each and x.name .. "[e]" or x.name)
    return x
  end
  local reused = path == "once" or path == "inner" or (path == "item" and p.vec > 1)
  x.load = cuda.load(cuda.load_name(op, not reused and p.load_name), moved, word, x.address)
  x.load_some = count and (p.aligned
    and string.format("load_between<%s, kVec>(%s, begin, %s)", element, x.address, p.left)
    or string.format("load_some<%s, %s>(%s, %s)", element, count, x.address,
      count == "kAlong" and p.left_along or p.left))
  if path == "reversed" then
    x.load = "reversed(" .. x.load .. ")"
  elseif path == "around" then
    across.load_around(p, x, p.load_name)
  elseif p.across and path ~= "once" and path ~= "vector" then
    across.complete(p, x, string.match(x.load, "^[^(]+"))
  end
  return x
end

-- The streams of an operand: whole records where they are runs, else its fields.
local function streams(p, op, staged)
  if staged then
    return staging.streams(p, op)
  end
  local parts = cuda.parts(op, p.vec == 1 or p.inside > 1
    or p.g:vector(op, nil, #p.k.dims, p.vec) or not changes_from(p, op, p.side))
  local list = kit.map(parts, function(f) return stream(p, op, f or nil) end)
  p.stream_of[op.number] = not parts[1] and list[1] or nil
  return list
end

-- Is an output stored element by element where keep() leaves some of a vector? Else it is loaded
-- and stored whole.
local function stores_unless_kept(p, c, op)
  local staged = c.store == "staged" and staging.fits(p, op)
  return op.keeps and p.inside == 1 and not p.across and not staged
end

-- Stores unless the flag of an element says that it is kept.
local function store_unless(p, y)
  local flag, e = p.kept[y.op.number], p.vec > 1 and "[e]" or ""
  y.store = y.path == "vector" and cuda.store_unless(flag, y.store, y.address, y.name)
    or cuda.store_unless(flag .. e, y.store)
end

-- The statements that compute one element.
local function compute(p)
  local g, k, before, behind, values = p.g, p.k, {}, {}, {}
  local with = binding(p, p.vec > 1 and E.var("e", 0, p.vec - 1) or nil)
  for d, dim in ipairs(k.dims) do
    values[dim] = g:text(k.index[d], with)
  end
  for _, op in ipairs(g.ops) do
    local whole, flag = p.stream_of[op.number], p.kept[op.number]
    values[op.name] = whole and whole.value
    if flag then
      flag = flag .. (p.vec > 1 and "[e]" or "")
      values[op.name .. "_kept"] = flag
      before[#before + 1] = string.format("%s = %s;", flag,
        p.partial and string.format("!whole && e >= %s", p.left) or "false")
    end
    if not whole and not op.is_kept then
      local name = g:name(op.name .. "_e")
      values[op.name] = name
      before[#before + 1] = string.format("%s %s;", g:type(op), name)
      for _, x in ipairs(p.streams[op.number]) do
        local member = kit.member(name, op.record.fields[x.f])
        local list = op.is_output and behind or before
        list[#list + 1] = op.is_output and x.value .. " = " .. member .. ";"
          or member .. " = " .. x.value .. ";"
      end
    end
  end
  return kit.concat { kit.concat(before), g:call(values), kit.concat(behind) }
end

-- ---- the plan ----

-- The side of the index space that a vector covers: the last mode, or several of which all but the
-- first have constant extents. p.side: the first one; p.inside: elements in one step along it. nil
-- and a reason if no vector ends where a row does.
local function choose_side(p, c)
  local k = p.k
  p.side, p.inside = #k.dims, 1
  if p.across then
    p.unit = p.vec
    return across.fits(p, c)
  end
  while p.side > 1 and p.vec > p.inside and kit.const_of(k.extents[p.side]) do
    local extent = kit.const_of(k.extents[p.side])
    if p.vec < p.inside * extent then
      break
    end
    p.side, p.inside = p.side - 1, p.inside * extent
  end
  p.unit = p.vec // p.inside
  local extent, longest = kit.const_of(k.extents[p.side]), kit.longest(k, p.side)
  return p.vec % p.inside == 0 and (not extent or extent % p.unit == 0) and p.unit <= longest,
    "a vector is longer than a row, or none ends where a row does"
end

local function is_power_of_two(n)
  return n and n > 0 and n & n - 1 == 0
end

-- How the template counts vectors: p.inner, all counted modes but the first, innermost first.
local function count_modes(p)
  local k, g = p.k, p.g
  local side, extent, unit = p.side, k.extents[p.side], p.across and 1 or p.unit
  local steps = p.inside == 1 and "kVec" or "kAlong"
  p.times_unit = unit > 1 and " * " .. steps or ""
  local here = unit > 1 and "(long long)here" .. p.times_unit or "here"
  p.modes, p.inner, p.index_text = {}, {}, {}
  p.last, p.elements, p.vectors = k.dims[#k.dims], kit.product(k.extents), 1
  p.inside_modes = table.concat(k.dims, ", ", math.min(side + 1, #k.dims))
  for d = 1, side do
    local marches = p.march and d == side - 1
    local n = d == side and kit.ceil_div(p.aligned and extent + (unit - 1) or extent, unit)
      or marches and kit.ceil_div(k.extents[d], p.items) or k.extents[d]
    p.vectors, p.modes[d] = p.vectors * n, k.dims[d]
    p.index_text[d] = side > 1 and "at." .. k.dims[d] or g:name(k.dims[d])
    if d > 1 then
      g:require(k.extents[d]:lt(1 << 31))
      table.insert(p.inner, 1, {
        dim = k.dims[d], constant = kit.const_of(n),
        extent = kit.const_of(n) or "(unsigned int)" .. g:text(n, nil, true),
        count = g:name("count_" .. k.dims[d]), first = g:name("first_" .. k.dims[d]),
        by = not is_power_of_two(kit.const_of(n)) and g:name("by_" .. k.dims[d]),
        value = marches and "(long long)here * kItems + item" or d == side and here or "here",
      })
    end
  end
  p.left_along = g:text(extent - cuda.var(p.index_text[side]))
  p.left = g:text((extent - cuda.var(p.index_text[side])) * p.inside)
  p.vectors_text = g:text(p.vectors)
  p.shift_back = p.aligned and aligned.shift_back(p) or ""
  p.here = p.aligned and string.format("const multi_index at = indices[item];\nconst int begin = "
    .. "(int)max(0ll, -at.%s); // elements before the row", k.dims[side])
    or side > 1 and "const multi_index at = indices[item];"
    or string.format("const long long %s = vector%s;", p.index_text[1], p.times_unit)
  p.elements_text = g:text(p.elements, nil, true)
  if p.across then
    across.prepare(p)
  end
end

-- When all of a tile's vectors are whole; p.partial: a row's last vector may not be.
local function see_tails(p)
  local g, extent = p.g, p.across and p.elements or p.k.extents[p.side]
  p.partial = has_tails(p)
  p.is_whole = "first + kTile <= vectors"
  p.full = p.aligned and string.format("begin == 0 && kVec <= %s", p.left)
    or string.format("whole || kVec <= %s", p.left)
  if p.partial and not p.aligned then
    p.is_whole = (p.side == 1 or p.across)
      and string.format("(first + kTile)%s <= %s", p.across and p.times_vec or p.times_unit,
        g:text(extent))
      or string.format("%s && %s == 0", p.is_whole, g:text(extent % p.unit, nil, true))
  end
  if p.march then
    local rows = p.k.extents[p.side - 1]
    p.beyond = string.format("(vector >= vectors || indices[item].%s >= %s)",
      p.k.dims[p.side - 1], g:text(rows))
    p.is_whole = string.format("%s && %s == 0", p.is_whole, g:text(rows % p.items, nil, true))
  end
end

-- What is loaded and stored of vectors that may reach past their row's end.
local function guard_ends(p)
  across.close(p)
  for _, x in ipairs(p.partial and p.arrays or {}) do
    if x.path == "elements" then
      x.load = string.format(p.aligned and "begin <= e && e < %s ? %s : %s"
        or "whole || e < %s ? %s : %s", p.left, x.load, x.zero)
    elseif x.path == "vector" or x.path == "planes" then
      x.load = string.format("%s\n    ? %s\n    : %s", p.full, x.load, x.load_some)
    end
  end
  for _, y in ipairs(p.results) do
    local kept = p.kept[y.op.number]
    if kept then
      store_unless(p, y)
    end
    local in_part = not kept and p.partial and y.path == "vector"
    if in_part then
      y.store_some = string.format(p.aligned and "store_between(%s, %s, begin, %s);"
        or "store_some(%s, %s, %s);", y.address, y.name, p.left)
    elseif p.partial and y.path == "planes" then
      y.store = string.format("if (whole || kVec <= %s)\n  %s\nelse\n  store_some(%s, %s, %s);",
        p.left, y.store, y.address, y.name .. "[e]", p.left_along)
    elseif not kept and p.partial and y.path == "elements" then
      y.store = string.format("if (whole || e < %s)\n  %s", p.left, y.store)
    end
    table.insert(in_part and p.stored_in_part or p.stored, y)
  end
end

-- Every operand's streams, sorted for the template. nil and a reason where wide vectors serve none.
local function move_operands(p, c)
  local g, rounds, any = p.g, {}, p.vec == 1
  local idle = { once = true, item = true, inner = true, elements = true }
  for n = 0, #g.ops do -- what is read through an index array waits for its value
    rounds[n + 1] = {}
  end
  for _, op in ipairs(g.outputs) do
    local flag = stores_unless_kept(p, c, op) and g:name(op.name .. "_kept") or nil
    p.kept[op.number] = flag
    p.flags[#p.flags + 1] = flag and { declare = flag .. (p.vec > 1 and "[kVec]" or "") }
  end
  for _, list in ipairs { g.inputs, g.outputs } do
    for _, op in ipairs(list) do
      local staged = (op.is_output and c.store or c.load) == "staged" and staging.fits(p, op)
      op.is_kept = p.kept[op.old_of or 0] and not g.ops[op.old_of].is_inout -- and not loaded
      p.streams[op.number] = op.is_kept and {} or streams(p, op, staged)
      for _, x in ipairs(p.streams[op.number]) do
        any = any or not idle[x.path]
        if x.copied then
          p.tiles[#p.tiles + 1] = not x.copied.before and x.copied or nil
          table.insert(op.is_output and p.staged_out or p.staged_in, x.copied)
        end
        if op.is_output then
          table.insert(p.results, x)
        elseif x.is_once then
          table.insert(p.once, x)
        elseif x.path == "staged" then
          table.insert(p.taken, x)
        else
          table.insert(p.arrays, x)
          table.insert(rounds[op.index_depth + 1], x)
        end
      end
    end
  end
  if p.around and not p.reads_around then
    return nil, "no input is read by the words around its vectors"
  elseif p.is_apart then
    return nil, "outputs' rows do not start alike"
  elseif p.misses_words then
    return nil, "an input starts anywhere: load=around reads it by whole words"
  end
  for _, round in ipairs(rounds) do
    p.load_rounds[#p.load_rounds + 1] = #round > 0 and round or nil
  end
  return any or nil, "no operand moves in wider words with this width"
end

-- The statements that move streams, and a round's declarations for a vector's place, as far as
-- these need them.
local function write_rounds(p)
  local text = p.compute
  for _, x in ipairs(p.arrays) do
    local element = x.each and "[e]" or ""
    x.declare = string.format("%s %s[kItems]%s%s;", x.held or x.type, x.array, x.dims,
      x.next and ", " .. x.next .. "[kItems]" or p.init)
    x.fill = kit.unrolled("e", x.each, string.format("%s[item]%s = %s;", x.array, element, x.load))
    p.taken[#p.taken + 1] = x.take and x or nil
  end
  for _, y in ipairs(p.stored) do
    y.leave = kit.unrolled("e", y.each, y.store)
  end
  for _, x in ipairs(p.taken) do
    text = text .. x.take
  end
  if p.across then
    p.ends, p.again = across.ends(p), across.ends(p, text)
  else
    text = text .. kit.each(p.tiles, "{find}") .. kit.each(p.stored, "{leave}")
      .. kit.each(p.stored_in_part, "{store}{store_some}")
    p.ends, p.again = "", (p.side == 1 or reads.named(text, "at")) and p.here or ""
  end
end

-- Do the loads before the first use alone fill more registers than a thread of such blocks has? Of
-- words around a vector there is one more, and where the vector starts.
local function overflows(p)
  local bytes = 0
  for _, x in ipairs(p.arrays) do
    local count = (x.path == "elements" or x.held) and p.vec or x.path == "inner" and p.inside
      or x.width or 1
    local one = count * kit.bytes_of(x.op, x.f) + (x.held and x.word + 8 or 0)
    bytes = bytes + p.items * one * (x.next and 2 or 1)
  end
  return bytes > 4 * (math.min(MOST_REGISTERS, REGISTERS // p.g.threads) - WORKING_REGISTERS)
end

-- Shared memory: a tile of each array for the block, or for each of its warps.
local function place_tiles(p)
  p.static_shared_bytes = 0
  for _, x in ipairs(p.tiles) do
    local bytes = p.threads_tile * p.vec * x.bytes
    p.static_shared_bytes = p.static_shared_bytes + bytes
    x.all_tiles = p.warps and p.g:name(x.tile .. "s") or x.tile
  end
end

-- ---- what ranks candidates before they are compiled ----

-- How far the lanes of a warp lie apart in `op`, in bytes; what an index array finds lies anywhere.
local function lane_step(p, x)
  local k, op = p.k, x.op
  if changes_from(p, op, p.side) and not strides.turns(k, op, p.side) then
    local step = strides.step(k, op, x.f or 1, p.side)
    return math.min(128, math.abs(step and kit.const_of(step) or 128)) * p.unit
  end
  return strides.turns(k, op, p.side) and 128 or 0
end

-- The requests that one item of a warp makes for a stream, and the sectors that each touches.
local function requests(p, x)
  local bytes = kit.bytes_of(x.op, x.f)
  local step = lane_step(p, x)
  local wide = x.path == "elements" and p.vec or x.path == "inner" and p.inside or x.width or 1
  local count = bytes * wide // x.word
  return count, math.min(32, math.max(1, step, kit.ceil_div(x.word, 32)))
end

-- Sectors by operand, and the wavefronts of staged tiles.
local function estimate(p)
  local list, wavefronts = {}, 0
  for _, op in ipairs(p.g.ops) do
    local entry, per_warp = { operand = op.number, width = 16 }, 0
    for _, x in ipairs(p.streams[op.number]) do
      if x.path == "staged" then -- each 16 bytes of 32 lanes take 4 wavefronts, there and back
        wavefronts = wavefronts + kit.ceil_div(p.vectors * p.vec * x.bytes, 64)
      elseif not x.is_once then
        local count, sectors = requests(p, x)
        per_warp = per_warp + count * sectors
      end
      entry.width = math.min(entry.width, x.word)
    end
    if per_warp > 0 then
      entry.sectors = kit.ceil_div(p.vectors * (p.march and p.items or 1) * per_warp, 32)
    end
    list[#list + 1] = entry
  end
  list.wavefronts = wavefronts ~= 0 and wavefronts or nil
  return list
end

-- The view that the candidate is for; nil: the axes are those of another choice of layouts, and
-- here no mode of that many elements is thin.
local function view_of(k, c)
  if (c.unroll or 1) > 1 then
    local view, extent = thin.view(k)
    return extent == c.unroll and view or nil
  end
  return records.flattened(k) or k
end

-- What a vector covers, and which ones a thread has. nil and a reason: it is not for this kernel.
local function choose_places(p, c)
  p.vector_text = string.format("item * %s + rank", p.team)
  p.tile_text = (p.warps and "kTeam" or "kThreads") .. " * kItems; // vectors of a tile"
  if p.march then
    p.vector_text, p.counted_text = "rank", "rank"
    p.tile_text = "kThreads; // columns of kItems vectors in a tile"
  end
  local good, reason = choose_side(p, c)
  if good and p.march and (p.side < 3 or p.inside > 1 or p.across) then
    return nil, "a thread's vectors lie in neighbouring rows where each is a row's"
  elseif good and p.aligned then
    return aligned.fits(p, c)
  end
  return good, reason
end

local DOC = "Each thread moves %d vector%s of %d neighbouring element%s%s%s."

-- Do places cost more than what is moved there: three modes or more, inputs along the last one, and
-- at some tuned size an array of which no more than 4 bytes move at a time, wherever vectors lie?
local function has_dear_places(k)
  local last = #k.dims
  local function runs(op)
    return op.record.bare and strides.fixed(k, op, 1, last) == op.record.bytes
  end
  local function starts_anywhere(op, given)
    return runs(op) and kit.any(k.dims, function(_, d)
      local step = d < last and strides.step(k, op, 1, d)
      return step and E.eval(step + 0, given) % 8 ~= 0
    end)
  end
  return last > 2 and across.bytes(k) == 0
    and kit.any(k.operands, function(op) return not op.is_output and runs(op) end)
    and kit.any(k.given, function(given)
      return kit.any(k.operands, function(op) return starts_anywhere(op, given) end)
    end)
end

local function plan(k, c)
  if k.device.cc < 80 and (c.evict == "loads" or c.evict == "stores") then
    return nil, "policies of L2 need sm_80"
  end
  k = view_of(k, c)
  if not k then
    return nil, "no mode of so many elements is unrolled with these layouts"
  end
  local g = cuda.new(k, "map", c.threads)
  local warps = c.team == "warp"
  local p = {
    items = c.items, vec = c.vec * (c.unroll or 1), evict = c.evict, k = k, g = g, warps = warps,
    around = c.load == "around", aligned = c.rows == "aligned", across = c.rows == "across",
    team = warps and "kTeam" or "kThreads", teams = warps and "kThreads / kTeam * " or "",
    times_vec = c.vec * (c.unroll or 1) > 1 and " * kVec" or "",
    march = c.march == "rows" and c.items > 1, beyond = "vector >= vectors",
    counted_text = string.format(c.rows == "across" and "(item * %s + rank) * kVec"
      or "item * %s + rank", warps and "kTeam" or "kThreads"),
    sync = warps and "__syncwarp();" or "__syncthreads();", threads_tile = c.threads * c.items,
    once = {}, arrays = {}, results = {}, streams = {}, stream_of = {}, load_rounds = {},
    kept = {}, flags = {},
    staged_in = {}, staged_out = {}, tiles = {}, taken = {}, load_name = cuda.LOADS[c.evict],
    store_name = cuda.STORES[c.evict], stored = {}, stored_in_part = {},
    next_loads = across.next_loads,
  }
  local good, reason = choose_places(p, c)
  if good then
    count_modes(p)
    good, reason = move_operands(p, c)
  end
  if not good then
    return nil, reason
  elseif p.march and p.tiles[1] then
    return nil, "tiles in shared memory have whole rows"
  elseif overflows(p) then
    return nil, "a thread would hold more than its registers take"
  end
  place_tiles(p)
  see_tails(p)
  guard_ends(p)
  p.init = #p.flags > 0 and " = {}" or "" -- of what is not loaded, as branches depend on values
  p.compute, p.traffic = compute(p), estimate(p)
  write_rounds(p)
  p.doc = string.format(DOC, c.items, c.items > 1 and "s" or "", p.vec, p.vec > 1 and "s" or "",
    p.march and ", in neighbouring rows" or "",
    p.tiles[1] and "; " .. p.tiles[1].all .. " go through shared memory unchanged" or "")
  local tile = (warps and 32 or c.threads) * (p.march and 1 or c.items)
  p.grid = kit.ceil_div(p.vectors, tile * (warps and c.threads // 32 or 1))
  return g:plan(p)
end

-- How the elements of inputs ("load") or outputs ("store") may move, and whether "staged" is for
-- modes that are unrolled only.
local function ways(k, side)
  local values = { "straight" }
  local always = staging.any(k, side == "store")
  local unrolled = staging.any(thin.view(k), side == "store")
  if always or unrolled then
    values[#values + 1] = "staged"
  end
  local around = side == "load" and kit.any(k.operands, function(op)
    return across.reads_around(k, op)
  end)
  values[#values + 1] = around and "around" or nil
  return values, unrolled and not always
end

local function axes(k)
  local _, unroll = thin.view(k)
  local list = {
    { "threads", { 256, 128, 512 }, key = "threads=", doc = "threads a block" },
    { "items", { 1, 2, 4, 8 }, key = "items=", doc = "vectors a thread, all loads in flight" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "vec=", doc = "neighbouring elements in a vector" },
  }
  list[#list + 1] = unroll and { "unroll", { unroll, 1 }, key = "unroll=",
    doc = "elements of a short mode that operands run along: a vector has so many times vec" }
  local staged = {}
  for _, pair in ipairs { { "load", "inputs" }, { "store", "outputs" } } do
    local side, what = pair[1], pair[2]
    local values = ways(k, side)
    staged[#staged + 1] = values[2] == "staged" and side .. " == 'staged'" or nil
    if #values > 1 then
      list[#list + 1] = { side, values, key = side .. "=", doc = what .. ": straight; staged: a "
        .. "tile's bytes through shared memory; around: by aligned words around a vector" }
    end
  end
  list[#list + 1] = aligned.bytes(k) > 0 and { "rows", { "whole", "aligned" }, key = "rows=",
    when = "vec > 1", doc = "vectors begin with their row; aligned: where words of outputs do" }
    or across.axis(k, unroll)
  list[#list + 1] = has_dear_places(records.flattened(k) or k) and { "march", { "row", "rows" },
    key = "march=", when = "items > 1",
    doc = "a thread's vectors: a block's threads apart along rows, or in neighbouring rows" } or nil
  if #staged > 0 then
    list[#list + 1] = { "team", { "block", "warp" }, key = "team=",
      when = table.concat(staged, " or "),
      doc = "who shares a tile: warps need no barrier of the block" }
  end
  list[#list + 1] = { "evict", { "none", "loads", "stores", "streaming" }, key = "evict=",
    doc = "loads, stores: L2 gives up last what is loaded, or stored; streaming: used once" }
  return list
end

-- The bytes of an element of all operands; where a mode is unrolled, of what moves along the mode
-- before it, all its elements.
local function facts(k)
  local bytes, unrolled, flat = 0, 0, records.flattened(k)
  for _, op in ipairs((flat or k).operands) do
    bytes = bytes + op.record.bytes
  end
  local view, unroll = thin.view(k)
  for _, op in ipairs(view and view.operands or {}) do
    local moves = E.mentions(op.offset[1], view.index[#view.dims])
    local along = E.mentions(op.offset[1], view.index[#view.dims - 1])
    unrolled = unrolled + (along and op.record.bytes * (moves and unroll or 1) or 0)
  end
  return {
    { "thread_bytes", bytes }, { "unrolled_bytes", unrolled },
    { "row_unit", math.max(across.bytes(k), aligned.bytes(k)) },
  }
end

local function where(k)
  local list = {
    "items * vec <= 16 or items * vec * thread_bytes <= 128", "items * vec * thread_bytes <= 256",
  }
  if thin.view(k) then
    list[2] = "unroll > 1 or " .. list[2]
    list[3] = "unroll == 1 or items * vec * unrolled_bytes <= 256"
  end
  list[#list + 1] = across.bytes(k) + aligned.bytes(k) > 0
    and "rows == 'whole' or vec * row_unit == 8 or vec * row_unit == 16" or nil
  for _, side in ipairs { "load", "store" } do
    local _, unrolled_only = ways(k, side)
    list[#list + 1] = unrolled_only and side .. " ~= 'staged' or unroll > 1" or nil
  end
  return list
end

return {
  name = "map",
  doc = "A flat launch over vectors of neighbours along the fastest mode.",
  applies = {},
  splits = "all",
  axes = axes,
  where = where,
  facts = facts,
  template = "map_kernel.cu",
  plan = plan,
}
