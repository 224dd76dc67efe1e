-- boxes: boxes of elements that are long runs of memory in inputs and in outputs, though both sides
-- may run along the same modes. A box covers the first modes of either side whole and an equal part
-- of the next.
local boxes = {}

local SECTOR, WARP = 32, 32

local GRAIN = 64 -- bytes that DRAM gives at a time
local SIZES = { 1024, 2048, 4096, 8192, 16384, 32768, 65536 } -- bytes of boxes; the best up to each

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

--- How many elements of the box are one run of a side, whose modes are `order`, fastest first, with
--- steps `step` in elements, and the place in the order of the mode that ends the run.
---@param box integer[]
---@param size integer[] extents of the modes
---@param side { order: integer[], step: integer[] }
---@return integer run
---@return integer? last nil: it is the whole array
function boxes.run(box, size, side)
  local run = 1
  for n, d in ipairs(side.order) do
    run = run * box[d]
    local next_mode = side.order[n + 1]
    if box[d] < size[d] or next_mode and side.step[next_mode] ~= side.step[d] * size[d] then
      return run, n
    end
  end
  return run, nil
end

-- Bytes that DRAM moves for a byte of the box: runs that start anywhere have a grain more.
local function share_moved(box, size, side, bytes)
  local run, last = boxes.run(box, size, side)
  local start = last and GRAIN or 0
  for n = last or #side.order + 1, #side.order do
    local d = side.order[n]
    start = gcd(start, side.step[d] * box[d] % GRAIN * bytes)
    start = n > last and gcd(start, side.step[d] * bytes) or start
  end
  return 1 + (GRAIN - gcd(GRAIN, start)) / (run * bytes) * (last and 1 or 0)
end

-- The extents that equal parts of `n` have, from `most` down to 1, some 10 % apart.
local function parts_of(n, most)
  local list, parts = {}, kit.ceil_div(n, most)
  while parts < n do
    local extent = kit.ceil_div(n, parts)
    list[#list + 1] = extent ~= list[#list] and extent or nil
    parts = parts + 1 + parts // 10
  end
  return kit.append(list, 1)
end

-- Calls `try(box)` for each box of at most so many elements that covers modes 1 to p - 1 of one
-- order and 1 to q - 1 of the other whole, and a part of those that follow.
local function each_box(size, into, out, most, try)
  for p, a in ipairs(into) do
    for q, b in ipairs(out) do
      local box = kit.map(size, function() return 1 end)
      for n = 1, p - 1 do
        box[into[n]] = size[into[n]]
      end
      for n = 1, q - 1 do
        box[out[n]] = size[out[n]]
      end
      local count, fixed_a, fixed_b = kit.product(box), box[a], box[b]
      local parts_a = fixed_a == 1 and parts_of(size[a], math.max(most // count, 1)) or { fixed_a }
      local parts_b = a ~= b and fixed_b == 1 and parts_of(size[b], math.max(most // count, 1))
      for _, extent in ipairs(count <= most and parts_a or {}) do
        box[a] = extent
        for _, other in ipairs(parts_b or { box[b] }) do
          box[b] = other
          if kit.product(box) <= most then
            try(box)
          end
        end
      end
    end
  end
end

--- Boxes for arrays of `size` whose sides are `into` and `out`: of each of some sizes the one for
--- which DRAM moves least, as text "AxBx...", largest first. Small arrays have none.
---@param size integer[]
---@param into { order: integer[], step: integer[] }
---@param out { order: integer[], step: integer[] }
---@param bytes integer of an element
---@param width? integer of vectors along the first mode, if all of this is in vectors
---@return string[]
function boxes.list(size, into, out, bytes, width)
  local best, first = {}, into.order[1]
  each_box(size, into.order, out.order, SIZES[#SIZES] // bytes, function(box)
    local count, whole = kit.product(box), 1
    for d, extent in ipairs(box) do
      whole = whole * (kit.ceil_div(size[d], extent) * extent / size[d])
    end
    local cost = share_moved(box, size, into, bytes) + share_moved(box, size, out, bytes) + whole
    for n = 2, #SIZES do
      local old = best[n]
      if count * bytes > SIZES[n - 1] and count * bytes <= SIZES[n]
        and (not old or cost < old.cost) then
        local elements = { table.unpack(box) }
        elements[first] = box[first] * (width or 1)
        best[n] = { cost = cost, text = table.concat(elements, "x") }
      end
    end
  end)
  local list = {}
  for n = #SIZES, 1, -1 do
    list[#list + 1] = best[n] and best[n].text
  end
  return list
end

-- ---- what the kernel is ----

-- The kernel in units of `width` neighbours along mode d, of which there is a whole number.
local function in_units(k, d, width)
  local function scaled(list)
    return kit.map(list, function(e) return E.subst(e + 0, { k.index[d], k.index[d] * width }) end)
  end
  local function divided(list)
    local some = { table.unpack(list) }
    some[d] = some[d] // width
    return some
  end
  local view = setmetatable({
    width = width, extents = divided(k.extents), sizes = kit.map(k.sizes, divided),
    requires = kit.append({ table.unpack(k.requires) }, (k.extents[d] % width):eq(0)),
    multiples = kit.map(k.multiples, kit.copy),
    operands = kit.map(k.operands, function(op)
      return setmetatable({ offset = scaled(op.offset), at = scaled(op.at) }, { __index = op })
    end),
  }, { __index = k })
  strides.add_multiple(view.multiples, k.extents[d], width)
  return view
end

--- The extents that must be multiples of the width for a unit of the operand to be a vector, which
--- they are at every tuned size; else nil.
---@param k sectile.View in units
---@param op sectile.Operand
---@return sectile.Expr[]?
function boxes.vector_extents(k, op)
  local width = k.width
  local extents = strides.needed_multiples(k, op.offset[1], width, width * op.record.bytes)
  return extents and not kit.any(k.given, function(given)
    return kit.any(extents, function(e) return E.eval(e, given) % width ~= 0 end)
  end) and extents or nil
end

--- The kernel in vectors along the mode that both sides begin with.
---@param k sectile.View
---@param width integer 1: the kernel as it is
---@return sectile.View? nil: units of what changes places, or is stored, are no vectors
function boxes.in_vectors(k, width)
  local about = boxes.read(k)
  local d = about.into[1]
  if width == 1 then
    return k
  elseif d ~= about.out[1] or kit.any(k.sizes, function(size) return size[d] % width ~= 0 end) then
    return nil
  end
  local view = in_units(k, d, width)
  return not kit.any(view.operands, function(op, n)
    return (op.is_output or about.is_exchanged[n]) and not boxes.vector_extents(view, op)
  end) and view or nil
end

--- The widest vector of at most 16 bytes.
---@param k sectile.View
---@return integer
function boxes.width(k)
  local width = math.max(16 // boxes.widest(k), 1)
  while not boxes.in_vectors(k, width) do
    width = width // 2
  end
  return width
end

local function same_order(a, b)
  return #a == #b and not kit.any(a, function(d, n) return b[n] ~= d end)
end

-- Do modes stand in the list in the order of the other one?
local function goes_along(list, order)
  local at = 1
  for _, d in ipairs(order) do
    at = list[at] == d and at + 1 or at
  end
  return at > #list
end

-- Orders of the inputs that change places (`into`) and of the outputs (`out`), and which inputs
-- these are; nil and a reason if it is no such kernel.
function boxes.read(k)
  local about, reason = sides.orders(k)
  if not about then
    return nil, reason
  end
  about.is_exchanged = {}
  for n, op in ipairs(k.operands) do
    about.n_out = about.n_out or op.is_output and n
  end
  about.out = about.order[about.n_out]
  for n, op in ipairs(k.operands) do
    local order = about.order[n]
    if op.is_output and not same_order(order, about.out) or op.old_of then
      return nil, "outputs run along their modes in several orders, or are updated"
    elseif not op.is_output and not goes_along(order, about.out) then
      about.into, about.is_exchanged[n] = about.into or order, true
      about.n_in = about.n_in or n
      if not same_order(order, about.into) or #order < #k.dims then
        return nil, "inputs run along their modes in several orders"
      end
    end
  end
  local first = about.into and about.into[1]
  for n, op in ipairs(k.operands) do
    local d = about.is_exchanged[n] and first or op.is_output and about.out[1]
    if d and kit.const_of(about.steps[n][d]) ~= (k.width or 1) then
      return nil, "an operand has gaps between neighbours"
    end
  end
  return about.into and about, "no input runs along the modes in another order than the outputs"
end

function boxes.widest(k)
  return math.max(table.unpack(kit.map(k.operands, function(op) return op.record.bytes end)))
end

-- What every strategy with boxes applies to.
boxes.APPLIES = {
  { "inputs and outputs are arrays of a bare type that run along their modes in other orders",
    function(k) return boxes.read(k) ~= nil end },
  { "the body names no dimension", function(k)
    return not kit.any(k.dims, function(dim) return reads.named(k.body, dim) end)
  end },
}

-- ---- extents of the box ----

-- The extent of a box, at most `most`, along a mode of `size` places that it divides, or nearly
-- does.
local function extent_of(size, most)
  for extent = math.min(most, size), most // 2 + 1, -1 do
    if size % extent == 0 then
      return extent
    end
  end
  return kit.ceil_div(size, kit.ceil_div(size, most))
end

-- The start of a plan: the box that the choices `c` name, for elements of `bytes` bytes; all in
-- vectors where the view is. Several boxes along one more mode are a larger one.
function boxes.start(k, c, about, bytes)
  local p = { k = k, about = about, threads = c.threads, evict = c.evict, width = k.width or 1,
    bytes = bytes, size = k.sizes[1], memory = {}, box = {}, put = {}, is_whole = {}, names = {},
    strides = {} }
  for extent in string.gmatch(c.box, "%d+") do
    p.box[#p.box + 1] = math.tointeger(extent)
  end
  if #p.box > 0 then
    p.box[about.into[1]] = p.box[about.into[1]] // p.width
    p.along = (c.items or 1) > 1 and boxes.mode_of_items(p)
    if p.along then
      p.box[p.along] = extent_of(p.size[p.along], c.items)
    end
  end
  p.count = #p.box > 0 and kit.product(p.box) or 0
  return p
end

-- The writer of the kernel, its names of the modes, and which box a block has.
function boxes.begin(p, strategy)
  boxes.fix_extents(p)
  p.g = cuda.new(p.k, strategy, p.threads)
  for d, dim in ipairs(p.k.dims) do
    p.names[d] = p.g:name(dim)
  end
  boxes.cut(p)
end

-- `count` elements of shared memory for the operand x, or vectors.
function boxes.keep(p, x, count, doc)
  p.memory[#p.memory + 1] = { name = x.tile, type = x.vector or x.type, count = count,
    bytes = count * p.width * x.op.record.bytes, doc = doc }
end

-- The traffic of what is exchanged and stored, `width` bytes at a time: a run of the box has one
-- more sector where it can start anywhere. `wavefronts`: of shared memory.
function boxes.traffic(p, results, width, wavefronts)
  local total, list = kit.product(p.k.extents) * p.width, { wavefronts = wavefronts }
  local into, out = boxes.sides_at(p.k, p.about)
  local run_in, run_out = boxes.run(p.box, p.size, into), boxes.run(p.box, p.size, out)
  for _, x in ipairs(kit.append(kit.append({}, table.unpack(p.exchanged)),
    table.unpack(results))) do
    local bytes, run = x.op.record.bytes, (x.op.is_output and run_out or run_in) * p.width
    list[#list + 1] = { operand = x.op.number, width = width or bytes * p.width,
      sectors = kit.ceil_div(total * bytes, SECTOR)
        + (run * bytes % SECTOR ~= 0 and total // run or 0) }
  end
  return list
end

-- Both sides at the first tuned size: the order of the modes, and their steps in elements, or in
-- vectors where the view is in these.
function boxes.sides_at(k, about)
  local function side(n)
    return { order = about.order[n], step = kit.map(about.steps[n], function(step)
      return E.eval(step + 0, k.given[1]) // (k.width or 1)
    end) }
  end
  return side(about.n_in), side(about.n_out)
end

-- Modes of the box in an order, those of one element left out; neighbours that operands of a kind
-- run along as one are one part: `dims`, `extent`, name. Mode `apart` begins a part in any case.
function boxes.parts_of(p, order, is_own, apart)
  local list = {}
  for _, d in ipairs(order) do
    local part = list[#list]
    local last = part and part.dims[#part.dims]
    local follows = part and d ~= apart and p.box[d] > 1 and p.box[last] == p.size[last]
      and not kit.any(p.about.steps, function(steps, n)
        return is_own(n) and kit.const_of(E.subst(steps[d] - steps[last] * p.k.extents[last],
          p.put)) ~= 0
      end)
    if follows then
      part.dims[#part.dims + 1], part.extent = d, part.extent * p.box[d]
    elseif p.box[d] > 1 then
      list[#list + 1] = { dims = { d }, extent = p.box[d] }
    end
  end
  return list
end

-- The condition that places along parts from number `from` on are inside, where boxes cross an end.
function boxes.inside_text(p, parts, from)
  local inside = {}
  for n = from, #parts do
    local part = parts[n]
    local last = part.dims[#part.dims]
    if last and p.left[last] then
      local below = part.extent // p.box[last]
      inside[#inside + 1] = string.format("%s < %s", part.name, p.left[last]
        .. (below > 1 and " * " .. below or ""))
    end
  end
  return table.concat(inside, " && ")
end

-- The statements that find the places along parts `from` to `to` of the number in `name`.
function boxes.find_digits(parts, from, to, name)
  local lines = {}
  for n = from, to do
    local below = kit.product(kit.map(parts, function(part, m)
      return m >= from and m < n and part.extent or nil
    end))
    lines[#lines + 1] = string.format("const int %s = %s%s%s;", parts[n].name, name,
      below > 1 and " / " .. below or "", n < to and " % " .. parts[n].extent or "")
  end
  return lines
end

-- Splits `extent` places into shares of at most `most`: equal ones, unless a fourth of the threads
-- would then have nothing to do.
local function shares_of(extent, most)
  local least = kit.ceil_div(extent, most)
  for shares = least, least + least // 4 do
    if extent % shares == 0 then
      return shares
    end
  end
  return least
end

-- How a side of the box is gone over. Neighbouring threads have neighbouring elements, those of all
-- of parts 1 to n - 1 and of a share of part n; passes go on along that and the parts after it
-- (`levels`), so that a thread finds its place once.
function boxes.side_of(p, parts)
  local unit, n = 1, 1
  while n < #parts and unit * parts[n].extent <= p.threads do
    unit, n = unit * parts[n].extent, n + 1
  end
  local shares = shares_of(parts[n].extent, p.threads // unit)
  local share = kit.ceil_div(parts[n].extent, shares)
  if n == 1 and parts[n].extent % share ~= 0 then -- whole warps: the last share is guarded anyway
    share = kit.ceil_div(share, WARP) * WARP
  end
  local side = { parts = parts, used = unit * share, levels = {}, passes = 1 }
  local row = shares > 1 and share > 1 and p.row -- the thread's place in the share
  local lines, inside = {}, {}
  for m, part in ipairs(parts) do
    part.name = part.name or p.names[part.dims[1]]
    local is_share, below = m == n and shares > 1, side.passes
    if m > n or is_share then
      local count, times = is_share and shares or part.extent, is_share and share or 1
      local pass = (below > 1 and "pass / " .. below or "pass")
        .. (m < #parts and " % " .. count or "")
      side.passes = below * count
      side.levels[#side.levels + 1] = { d = part.dims[1], count = count, times = times }
      lines[#lines + 1] = string.format("const int %s = %s%s%s;", part.name, pass,
        times > 1 and " * " .. times or "", is_share and row and " + " .. row or "")
      if count * times > part.extent then
        inside[1] = string.format("%s < %d || %s < %d", pass, count - 1, part.name, part.extent)
      end
    end
  end
  side.start = { table.unpack(parts, 1, n - 1) }
  if shares == 1 or row then
    side.start[n] = { dims = parts[n].dims, name = row or parts[n].name }
  end
  side.setup = kit.concat(boxes.find_digits(side.start, 1, #side.start, "threadIdx.x"))
  side.find = kit.concat(lines)
  local left = boxes.inside_text(p, parts, 1)
  side.guard_whole = inside[1] and "if (" .. inside[1] .. ")\n  " or ""
  inside[#inside + 1] = left ~= "" and p.guard .. left or nil
  local condition = #inside > 1 and "(" .. table.concat(inside, ") && (") .. ")" or inside[1]
  side.inside = condition and "if (" .. condition .. ") " or ""
  side.guard = condition and "if (" .. condition .. ")\n  " or ""
  return side
end

-- The statement before the passes that declares a pointer to the thread's first element, and those
-- after a pass that move it to the next one.
function boxes.moves(p, side, x)
  local start, lines, below, before = 0, {}, 1, 0
  for _, part in ipairs(side.start) do
    start = start + (part.dims[1] and x.stride(part.dims[1]) or 0) * cuda.var(part.name)
  end
  for _, level in ipairs(side.levels) do
    local step = (level.d and x.step(level.d) or 0) * level.times
    local text = boxes.advance_text(p, x.from, below == 1 and level.d
      and x.stride(level.d) * level.times or step - before)
    lines[#lines + 1] = text and (below > 1
      and string.format("if ((pass + 1) %% %d == 0)\n  ", below) or "") .. text
    below, before = below * level.count, step * level.count
  end
  local text = p.g:text(start + 0)
  return string.format("%s%s *%s = %s%s;", x.const, x.type, x.from, x.first,
    text ~= "0" and " + " .. text or ""), kit.concat(lines)
end

-- Fits both sides to one number of threads.
function boxes.fit_threads(p)
  p.g.threads = kit.ceil_div(math.max(p.into.used, p.out.used), WARP) * WARP
  for _, side in ipairs { p.into, p.out } do
    local some = side.used < p.g.threads
    side.only = some and string.format("if (threadIdx.x < %d) ", side.used) or ""
    side.leave = some and string.format("if (threadIdx.x >= %d) return;", side.used) or ""
  end
end

-- Texts of an operand: a pointer to the box's first element, and how far a step along a mode goes
-- (`stride`: as it is written, products of extents under a name).
function boxes.place_texts(p, op)
  local element, zero = op.offset[1] // op.record.bytes, {}
  for d in ipairs(p.k.dims) do
    kit.append(zero, p.k.index[d], 0)
  end
  local first = E.subst(element, zero)
  local function step(d)
    local one = { table.unpack(zero) }
    one[2 * d] = 1
    return E.subst(element, one) - first
  end
  local x = {
    op = op, step = step, type = p.g:type(op), value = p.g:name(op.name .. "_v"),
    pointer = op.pointer,
    from = p.g:name(op.name .. (op.is_output and "_to" or "_from")),
    first = p.g:name(op.name .. "_first"), const = op.is_output and "" or "const ",
  }
  local strides = {}
  function x.stride(d)
    local name = not strides[d] and sides.stride(p, op, d, step(d))
    strides[d] = strides[d] or name and cuda.var(name) or step(d)
    return strides[d]
  end
  local start = first
  for _, d in ipairs(p.counted) do
    start = start + x.stride(d) * p.first[d]
  end
  x.declare = string.format("%s%s *const %s = &%s[%s];", x.const, x.type, x.first, op.pointer,
    p.g:text(start))
  return x
end

-- The statement that moves a pointer, or a number, by `step`; nil: it stays.
function boxes.advance_text(p, name, step)
  local text = p.g:text(step)
  return text ~= "0" and string.format("%s += %s;", name, text) or nil
end

-- Which box a block has: the first place along every mode (`counted`), and the texts that find it.
-- `left`: of modes that boxes may cross the end of how many places there are from it on, at most as
-- many as the box has; `whole`: the condition that it crosses none.
function boxes.cut(p)
  local lines, order, inside = { "unsigned int block = blockIdx.x;" }, {}, {}
  p.grid, p.grid_tiles, p.first, p.left, p.lefts, p.extents = 1, {}, {}, {}, {}, {}
  for _, d in ipairs(p.about.out) do
    order[#order + 1] = not p.is_whole[d] and d or nil
  end
  for n, d in ipairs(order) do
    local extent, size = p.k.extents[d], p.box[d]
    local dim, count, text = p.k.dims[d], kit.ceil_div(extent, size), sides.count_text(p, extent)
    local name, constant = p.g:name("first_" .. dim), nil
    if size > 1 then
      constant = p.g:name("kBox" .. string.gsub(dim, "^%l", string.upper))
      p.extents[#p.extents + 1] = constant .. " = " .. size
      text = p.g:name("boxes_" .. dim)
      lines[#lines + 1] = n < #order and string.format("const unsigned int %s = ceil_div<%s>(%s);",
        text, constant, p.g:text(extent)) or nil
    end
    local found = n == #order and "block" or "block % " .. text
    if size > 1 then
      local form = n == #order and "(long long)%s * %s" or "(long long)(%s) * %s"
      found = string.format(form, found, constant)
    end
    kit.append(lines, string.format("const long long %s = %s;", name, found),
      n < #order and "block /= " .. text .. ";" or nil)
    p.first[d], p.grid, p.grid_tiles[n] = cuda.var(name), p.grid * count, count
    if size > 1 then
      p.left[d] = p.g:name("left_" .. dim)
      p.lefts[#p.lefts + 1] = string.format("const int %s = (int)min((long long)%s, %s);",
        p.left[d], constant, p.g:text(extent - p.first[d]))
      inside[#inside + 1] = string.format("%s + %s <= %s", name, constant, p.g:text(extent))
    end
  end
  p.cut, p.counted = kit.concat(lines), order
  p.extents = #p.extents > 0 and table.concat(p.extents, ", ")
  p.whole = #inside > 0 and table.concat(inside, " && ")
end

-- The mode that a block has several boxes along: the outputs' fastest that the box does not cover.
function boxes.mode_of_items(p)
  for _, d in ipairs(p.about.out) do
    if p.box[d] == 1 and p.size[d] > 1 then
      return d
    end
  end
end

-- The extents of the modes that the box covers, as constants; where neighbours are moved as words
-- (`is_wide`) those of 1, too, that a side begins with.
function boxes.fix_extents(p)
  local into, out = p.about.into[1], p.about.out[1]
  for d, extent in ipairs(p.box) do
    local n, put = thin.agreed_extent(p.k, d)
    p.is_whole[d] = n == extent and (extent > 1 or p.is_wide and (d == into or d == out))
    kit.append(p.put, table.unpack(p.is_whole[d] and put or {}))
  end
  p.k = thin.fixed(p.k, p.put)
end

--- Is what lies along one side of an exchange short, or, where both sides begin with the same
--- modes, what lies along these? Short: less than two sectors, or less than `odd` bytes and no
--- whole sectors.
---@param k sectile.View
---@param odd integer
---@return boolean
function boxes.is_short(k, odd)
  local about, same = sides.read(k), {}
  local function short(dims)
    local bytes = math.min(table.unpack(sides.lengths(k, dims))) * boxes.widest(k)
    return bytes < 2 * SECTOR or bytes < odd and bytes % SECTOR ~= 0
  end
  if about then
    return short(about.X.dims) or short(about.Y.dims)
  end
  local into, out = boxes.read(k).into, boxes.read(k).out
  while into[#same + 1] == out[#same + 1] do
    same[#same + 1] = into[#same + 1]
  end
  return short(same)
end

return boxes
