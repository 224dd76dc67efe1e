-- movers: how one operand's bytes travel between global memory and a thread's registers.
--
--   direct   one access a field, where the layout puts it
--   vector   the bytes of kVec neighbouring elements (or of one record) as words of up to 16 bytes
--   staged   through an image of the tile's bytes in shared memory: the team copies whole words
--            between the image and global memory, the threads pick their fields from the image
--
-- The description of a tile (movers.image) follows from the offset expressions alone: put tile *
-- T + slot for the dimension's index, split what depends on the slot from what depends on the
-- tile, and look which bytes are covered.
local movers = {}

---@class sectile.Mover kind "direct" | "vector" (op, runs) | "staged" (image)
---@class sectile.Image the bytes of one tile of `op` in shared memory
---@class sectile.Team size, member (lane or thread as an expression), text (the same in C), warp

local MAX_PERIOD = 256

-- ---- vector ----

-- Whole records of `width` neighbouring elements as one run: byte offset of its start and its
-- bytes; nil if the records do not follow each other. `dim` is the dimension's number.
local function record_run(k, op, dim, width)
  local group, part = E.var("group", 0, kit.MAX_INDEX), E.var("part", 0, width - 1)
  local start
  for f, field in ipairs(op.record.fields) do
    local offset = E.subst(op.offset[f], { k.index[dim], group * width + part }) - field.offset
    local rest = offset
    if width > 1 then
      local step
      step, rest = E.linear(offset, part)
      if not step or step ~= op.record.bytes then
        return nil
      end
    end
    if start and kit.const_of(start - rest) ~= 0 then
      return nil
    end
    start = rest
  end
  return start, width * op.record.bytes
end

-- Extents that an offset depends on and that must be multiples of `width` for `bytes` alignment;
-- nil: it cannot be.
local function needed_multiples(k, offset, width, bytes)
  if E.divisor(offset) % bytes == 0 then
    return {}
  end
  local used = {}
  for _, extent in ipairs(k.extents) do
    if E.mentions(offset, extent) then
      used[#used + 1] = extent
    end
  end
  if #used > 0 and E.divisor(offset, used, width) % bytes == 0 then
    return used
  end
end

-- The widest word for a run that starts at `start` and has `bytes` bytes; requires what must hold
-- of the extents.
local function choose_word(g, start, bytes, width)
  local word = kit.word_bytes(bytes, 16)
  while word > 1 do
    local used = needed_multiples(g.k, start, width, word)
    if used then
      return word, used
    end
    word = word // 2
  end
  return 1, {}
end

local function padding(op)
  return op.record.bytes > op.record.data_bytes
end

--- How `op` moves for `width` elements along dimension `dim`: a mover of kind "vector" with its
--- runs, or nil where that is no better than single accesses.
---@param g sectile.Generator
---@param op sectile.Operand
---@param dim integer the dimension's number
---@param width integer
---@return sectile.Mover?
function movers.vector(g, op, dim, width)
  local k = g.k
  if op.is_index and width == 1 then
    return nil
  end
  local start, bytes = record_run(k, op, dim, width)
  if start and padding(op) and op.is_output and not op.owns_gaps then
    start = nil
  end
  local widest = 0
  for _, field in ipairs(op.record.fields) do
    widest = math.max(widest, field.bytes)
  end
  if start then
    local word, used = choose_word(g, start, bytes, width)
    if word > widest or (word == widest and width > 1 and not op.record.bare) then
      local run = { word = word, count = bytes // word, record = true, used = used }
      return { kind = "vector", op = op, runs = { run } }
    end
    return nil
  end
  if width == 1 then
    return nil
  end
  local runs = {}
  for f, field in ipairs(op.record.fields) do
    local run = op.run(f, dim, width)
    if not run.contiguous then
      return nil
    end
    local group = E.var("group", 0, kit.MAX_INDEX)
    local at = E.subst(op.offset[f], { k.index[dim], group * width })
    local word, used = choose_word(g, at, width * field.bytes, width)
    if word <= field.bytes then
      return nil
    end
    runs[#runs + 1] = { field = f, word = word, count = width * field.bytes // word, used = used }
  end
  return { kind = "vector", op = op, runs = runs }
end

--- Takes a vector mover into the plan: what it requires of pointers and extents.
---@param g sectile.Generator
---@param mover sectile.Mover
---@param width integer
function movers.adopt_vector(g, mover, width)
  g.needs.words, g.needs.at = true, true
  for _, run in ipairs(mover.runs) do
    g:need_align(mover.op, run.word)
    for _, extent in ipairs(run.used) do
      g:require((extent % width):eq(0))
    end
  end
end

-- ---- staged: the image of a tile ----

local function try_split(k, op, dim, n_slots)
  local tile, slot = E.var("tile", 0, kit.MAX_INDEX), E.var("slot", 0, n_slots - 1)
  local parts = {}
  for f = 1, #op.record.fields do
    local offset = E.subst(op.offset[f], { k.index[dim], tile * n_slots + slot })
    local with, without = E.split(offset, { slot })
    if E.mentions(with, tile) then
      return nil
    end
    parts[f] = { with = with, without = without }
  end
  return parts, tile, slot
end

-- Small primes: a tile length whose multiples by these all split has the layout's whole period in
-- it.
local MULTIPLES = { 1, 2, 3, 5, 7, 11 }

--- The smallest number of elements that a tile of `op` must be a multiple of, so that its offsets
--- split into tile and slot; nil if there is none.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@return integer?
function movers.period(k, op, dim)
  for n = 1, MAX_PERIOD do
    local good = true
    for _, times in ipairs(MULTIPLES) do
      good = good and try_split(k, op, dim, n * times) ~= nil
    end
    if good then
      return n
    end
  end
end

-- The image for one operand, layout and tile length does not depend on the candidate: found once
-- per session.
local found = {}

local function find_image(k, op, dim, n_slots)
  local parts, tile, slot = try_split(k, op, dim, n_slots)
  if not parts then
    return nil, "the tile is no multiple of the layout's period"
  end
  local base, covered, low, high = parts[1].without, {}, math.maxinteger, 0
  local shift = {}
  for f, part in ipairs(parts) do
    shift[f] = kit.const_of(part.without - base)
    if not shift[f] then
      return nil, "its fields lie in separate runs"
    end
  end
  for f, part in ipairs(parts) do
    for s = 0, n_slots - 1 do
      local at = E.eval(part.with, { slot, s }) + shift[f]
      low, high = math.min(low, at), math.max(high, at + op.record.fields[f].bytes)
      for b = at, at + op.record.fields[f].bytes - 1 do
        covered[b] = true
      end
    end
  end
  local gaps = 0
  for b = low, high - 1 do
    gaps = gaps + (covered[b] and 0 or 1)
  end
  -- trailing padding of the last record belongs to the tile as well
  local whole = n_slots * op.record.bytes
  if gaps > 0 and high - low < whole and whole - (high - low) < op.record.bytes then
    high = low + whole
  end
  if gaps > whole - n_slots * op.record.data_bytes then
    return nil, "the tile's bytes do not follow each other"
  end
  if gaps > 0 and op.is_output and not op.owns_gaps then
    return nil, "the bytes between fields are not the array's own"
  end
  local slots = {}
  for f, part in ipairs(parts) do
    slots[f] = part.with + (shift[f] - low)
  end
  return { base = base + low, bytes = high - low, slots = slots, tile = tile, slot = slot }
end

local function shape_of(k, op, dim, n_slots)
  local key = string.format("%d %s %d %d %s", op.number, op.layout_label, dim, n_slots,
    tostring(op.offset[1]))
  local shape = found[key]
  if not shape then
    local reason
    shape, reason = find_image(k, op, dim, n_slots)
    shape = shape or { reason = reason }
    found[key] = shape
  end
  return shape
end

--- Can tiles of `op` along `dim` be copied as one run of bytes each? The period of such tiles, or
--- nil.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@return integer?
function movers.stageable(k, op, dim)
  if op.is_index or op.through_index then
    return nil
  end
  local period = movers.period(k, op, dim)
  if period and not shape_of(k, op, dim, math.max(period, 2)).reason then
    return period
  end
end

--- The tile of `n_slots` elements of `op` along dimension `dim` as an image in shared memory.
---@param g sectile.Generator
---@param op sectile.Operand
---@param dim integer
---@param n_slots integer
---@param fix "none"|"pad"|"xor" how bank conflicts are avoided
---@return sectile.Image? image nil if there is no such tile
---@return string? reason
function movers.image(g, op, dim, n_slots, fix)
  local shape = shape_of(g.k, op, dim, n_slots)
  if shape.reason then
    return nil, shape.reason
  end
  local widest, aligned = 1, 16
  for f, field in ipairs(op.record.fields) do
    widest = math.max(widest, math.min(field.bytes, 16))
    local piece = kit.word_bytes(E.divisor(shape.slots[f]), field.bytes)
    aligned = math.min(aligned, piece == field.bytes and 16 or 1)
  end
  local word = kit.word_bytes(shape.bytes, kit.word_bytes(E.divisor(shape.base), 16))
  local image = {
    op = op, shape = shape, fix = fix, word = word, words = shape.bytes // word,
    bytes = shape.bytes, unit = word, name = op.name .. "_tile",
  }
  if fix == "pad" then
    image.unit = math.min(word, math.max(widest, 4))
    if aligned < 16 or widest > 8 or word < 4 then
      return nil, "padding would break its fields' alignment"
    end
    image.bytes = shape.bytes + image.unit * (shape.bytes // 128 + 1)
  elseif fix == "xor" then
    if word < 16 or aligned < 16 then
      return nil, "an XOR swizzle needs 16-byte words and aligned fields"
    end
    image.bytes = (shape.bytes + 127) // 128 * 128
  end
  image.bytes = (image.bytes + 15) // 16 * 16
  return image
end

--- Where byte `at` of the tile lies in its image.
---@param image sectile.Image
---@param at sectile.Expr
---@return sectile.Expr
function movers.physical(image, at)
  if image.fix == "pad" then
    return at + at // 128 * image.unit
  elseif image.fix == "xor" then
    return (at // 16):xor(at // 128 % 8) * 16 + at % 16
  end
  return at
end

--- Takes an image into the plan.
---@param g sectile.Generator
---@param image sectile.Image
---@param slices integer one per warp, or 1
function movers.adopt_image(g, image, slices)
  g.needs.at = true
  g.needs.copy_pieces = g.needs.copy_pieces or image.unit < image.word
  g:need_align(image.op, image.word)
  g.static_shared_bytes = g.static_shared_bytes + image.bytes * slices
  image.slices = slices
  local piece
  for f, field in ipairs(image.op.record.fields) do
    piece = kit.word_bytes(E.divisor(image.shape.slots[f]), field.bytes)
    g.needs.pieces = g.needs.pieces or piece < field.bytes
  end
end

-- C text and counted address of byte `at` of an image.
local function image_ref(image, at, warp)
  local place = movers.physical(image, at)
  local address = place
  if image.slices > 1 then
    address = address + warp * image.bytes
  end
  return image.slices > 1 and image.name .. "[warp]" or image.name, E.text(place, false), address
end

-- The tile's start in terms of `first`, which the kernel has declared.
local function base_of(image, first, n_slots)
  local step, rest = E.linear(image.shape.base, image.shape.tile)
  if step and step % n_slots == 0 then
    return first * (step // n_slots) + rest
  end
  return E.subst(image.shape.base, { image.shape.tile, first // n_slots })
end

local function stream(g, place)
  return g.hint == "cs" and "__ldcs(&" .. place .. ")" or place
end

--- Text that copies a tile between global memory and its image, word by word, coalesced.
---@param g sectile.Generator
---@param image sectile.Image
---@param team sectile.Team
---@param n_slots integer
---@param first sectile.Expr the tile's first element
---@param unroll string text of the pragma
---@param full sectile.Expr condition under which the tile is copied
---@return string
function movers.copy(g, image, team, n_slots, first, unroll, full)
  local op, words = image.op, image.words
  local turns = kit.ceil_div(words, team.size)
  local turn = g:loop("turn", turns)
  local word = g:define("word", 0, words - 1, turn * team.size + team.member)
  g:when(words % team.size ~= 0 and g:below(word, words) or nil, full)
  local type, count = kit.word_type[image.word], image.word // image.unit
  local at = base_of(image, first, n_slots) + word * image.word
  g:touch(op, op.is_output, image.word, at)
  local lines = {}
  local name, text = image_ref(image, word * image.word, team.warp)
  for n = 0, count - 1 do
    local _, _, address = image_ref(image, word * image.word + n * image.unit, team.warp)
    g:touch(nil, not op.is_output, image.unit, address)
  end
  local global = string.format("at<%s>(%s, %s)", type, op.pointer, E.text(at, true))
  local shared = string.format("at<%s>(%s, %s)", type, name, text)
  if count > 1 then -- the image's unit is smaller than the word: through a register
    local pieces = string.format("copy_pieces<%s, %d>", kit.word_type[image.unit], count)
    local address = string.format("&at<%s>(%s, %s)", kit.word_type[image.unit], name, text)
    shared = "value"
    if op.is_output then
      lines[1] = string.format("%s value;\n  %s(&value, %s);", type, pieces, address)
    else
      lines[1] = string.format("const %s value = %s;\n  %s(%s, &value);", type, stream(g, global),
        pieces, address)
    end
  end
  if op.is_output then
    lines[#lines + 1] = g.hint == "cs" and string.format("__stcs(&%s, %s);", global, shared)
      or string.format("%s = %s;", global, shared)
  elseif count == 1 then
    lines[1] = string.format("%s = %s;", shared, stream(g, global))
  end
  g:when(nil)
  g:close()
  return string.format(
    "// %s: the tile's %d bytes %s as %d-byte words\n%s\n"
      .. "for (int word = %s; word < %d; word += %d) {\n  %s\n}",
    op.name, image.shape.bytes, op.is_output and "out" or "in", image.word, unroll, team.text,
    words, team.size, kit.concat(lines, "\n  "))
end

-- Notes the accesses to field f at `slot` of an image, in pieces as large as its alignment allows:
-- the field, bytes of a piece, the image's name, text of the offset.
local function copy_field(g, image, f, slot, warp, store)
  local field = image.op.record.fields[f]
  local at = E.subst(image.shape.slots[f], { image.shape.slot, slot })
  local piece = kit.word_bytes(E.divisor(image.shape.slots[f]), field.bytes)
  for n = 0, field.bytes // piece - 1 do
    local _, _, address = image_ref(image, at + n * piece, warp)
    g:touch(nil, store, piece, address)
  end
  local name, text = image_ref(image, at, warp)
  return field, piece, name, text
end

--- Statements that declare the operand's value and pick it from the image at `slot`.
---@param g sectile.Generator
---@param image sectile.Image
---@param slot sectile.Expr
---@param warp? sectile.Expr which slice, if there are several
---@return string
function movers.pick(g, image, slot, warp)
  local op, lines = image.op, {}
  local bare = op.record.bare
  if not bare then
    lines[1] = string.format("%s %s;", op.record.name, op.name)
  end
  for _, f in ipairs(op.used) do
    local field, piece, name, text = copy_field(g, image, f, slot, warp, false)
    local value = piece < field.bytes
        and string.format("gather_pieces<%s, %s>(%s, %s)", field.cuda, kit.word_type[piece], name,
          text)
      or string.format("at<%s>(%s, %s)", field.cuda, name, text)
    lines[#lines + 1] = string.format("%s%s = %s;", bare and "const " .. field.cuda .. " " or "",
      kit.member(op.name, field), value)
  end
  return kit.concat(lines)
end

--- Statements that put the operand's value into the image at `slot`.
---@param g sectile.Generator
---@param image sectile.Image
---@param slot sectile.Expr
---@param warp? sectile.Expr
---@return string
function movers.put(g, image, slot, warp)
  local op, lines = image.op, {}
  for f = 1, #op.record.fields do
    local field, piece, name, text = copy_field(g, image, f, slot, warp, true)
    local value = kit.member(op.name, field)
    lines[#lines + 1] = piece < field.bytes
        and string.format("scatter_pieces<%s, %s>(%s, %s, %s);", field.cuda, kit.word_type[piece],
          name, text, value)
      or string.format("at<%s>(%s, %s) = %s;", field.cuda, name, text, value)
  end
  return kit.concat(lines)
end

return movers
