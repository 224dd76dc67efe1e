-- movers: how one operand's bytes travel between global memory and a thread's registers.
--
--   direct   one access a field, where the layout puts it
--   vector   the bytes of kVec neighbouring elements (or of one record) as words of up to 16 bytes
--   staged   through an image of the tile's bytes in shared memory: the team copies whole words
--            between the image and global memory, the threads pick their fields from the image;
--            where fields lie in sections of their own, the image holds a run of bytes a field,
--            of all fields or of some, and the others (`rest`) move directly
--   around     (around.lua) vector for inputs that no aligned word starts at or that skip elements
--
-- The description of a tile (movers.image) follows from the offset expressions alone: put tile *
-- T + slot for the dimension's index, split what depends on the slot from what depends on the
-- tile, and look which bytes are covered.
local movers = {}

---@class sectile.Mover kind "direct" | "vector" (op, runs) | "staged" (image, rest)
---@class sectile.Image the bytes of one tile of `op` in shared memory
---@class sectile.Team size, member (lane or thread as an expression), text (the same in C), warp

local MAX_PERIOD = 256

-- ---- vector ----

--- The fewest extents that must be multiples of `width` for `offset` to be a multiple of `bytes`,
--- those of fast dimensions rather than of slow ones; nil: it cannot be.
---@param k sectile.View
---@param offset sectile.Expr
---@param width integer
---@param bytes integer
---@return sectile.Expr[]?
function movers.needed_multiples(k, offset, width, bytes)
  if E.divisor(offset) % bytes == 0 then
    return {}
  end
  local used = {}
  for _, extent in ipairs(k.extent_vars) do
    if E.mentions(offset, extent) then
      used[#used + 1] = extent
    end
  end
  if #used == 0 or E.divisor(offset, used, width) % bytes ~= 0 then
    return nil
  end
  for _ = 1, #used do
    local extent = table.remove(used, 1)
    if E.divisor(offset, used, width) % bytes ~= 0 then
      used[#used + 1] = extent
    end
  end
  return used
end

-- The widest word for a run that starts at `start` and has `bytes` bytes; requires what must hold
-- of the extents.
local function choose_word(g, start, bytes, width)
  local word = kit.word_bytes(bytes, 16)
  while word > 1 do
    local used = movers.needed_multiples(g.k, start, width, word)
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
---@param narrow? boolean of records also words that are no wider than their fields
---@return sectile.Mover?
function movers.vector(g, op, dim, width, narrow)
  local k = g.k
  if (op.is_index and width == 1) or (width > 1 and strides.turns(k, op, dim)) then
    return nil
  end
  local start, bytes = strides.record_run(k, op, dim, width)
  if start and padding(op) and op.is_output and not op.owns_gaps then
    start = nil
  end
  local widest = 0
  for _, field in ipairs(op.record.fields) do
    widest = math.max(widest, field.bytes)
  end
  if start then
    local word, used = choose_word(g, start, bytes, width)
    if word > widest or (word == widest and (width > 1 or narrow) and not op.record.bare) then
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
    around.adopt(g, run)
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
    for _, var in ipairs(E.vars(with)) do -- the tile, or a stride that is an extent
      if not var:same(slot) then
        return nil
      end
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

-- The bytes that `fields` cover, relative to the base they share: lowest, one past the highest, and
-- how many between are no field's.
local function coverage(op, parts, slot, fields, shift, n_slots)
  local covered, low, high = {}, math.maxinteger, 0
  for _, f in ipairs(fields) do
    for s = 0, n_slots - 1 do
      local at = E.eval(parts[f].with, { slot, s }) + shift[f]
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
  return low, high, gaps
end

-- Fields whose places differ by constants lie in one run: lists of their numbers, and what each
-- field lies behind its run's base.
local function group_fields(parts, wanted)
  local groups, shift = {}, {}
  for _, f in ipairs(wanted) do
    local home
    for _, group in ipairs(groups) do
      shift[f] = kit.const_of(parts[f].without - parts[group[1]].without)
      home = shift[f] and group
      if home then
        break
      end
    end
    if home then
      home[#home + 1] = f
    else
      shift[f] = 0
      groups[#groups + 1] = { f }
    end
  end
  return groups, shift
end

local function all_fields(op)
  local list = {}
  for f = 1, #op.record.fields do
    list[f] = f
  end
  return list
end

-- One group of fields as a run of bytes; nil and a reason.
local function find_run(op, parts, slot, group, shift, n_slots)
  local low, high, gaps = coverage(op, parts, slot, group, shift, n_slots)
  -- trailing padding of the last record belongs to the tile as well
  local whole = n_slots * op.record.bytes
  local allowed = 0
  if #group == #op.record.fields then
    if gaps > 0 and high - low < whole and whole - (high - low) < op.record.bytes then
      high = low + whole
    end
    allowed = whole - n_slots * op.record.data_bytes
  end
  if gaps > allowed then
    return nil, "the tile's bytes do not follow each other"
  end
  if gaps > 0 and op.is_output and not op.owns_gaps then
    return nil, "the bytes between fields are not the array's own"
  end
  return { base = parts[group[1]].without + low, bytes = high - low, fields = group, low = low }
end

-- The runs of bytes that hold the `wanted` fields of a tile, one behind the other in the image.
local function find_image(k, op, dim, n_slots, wanted)
  local parts, tile, slot = try_split(k, op, dim, n_slots)
  if not parts then
    return nil, "the tile is no multiple of the layout's period"
  end
  local groups, shift = group_fields(parts, wanted)
  local shape = { runs = {}, slots = {}, tile = tile, slot = slot, bytes = 0 }
  for _, group in ipairs(groups) do
    local run, reason = find_run(op, parts, slot, group, shift, n_slots)
    if not run then
      return nil, reason
    end
    run.start = (shape.bytes + 15) // 16 * 16
    shape.bytes = run.start + run.bytes
    shape.runs[#shape.runs + 1] = run
    for _, f in ipairs(group) do
      shape.slots[f] = parts[f].with + (shift[f] - run.low + run.start)
    end
  end
  return shape
end

local function shape_of(k, op, dim, n_slots, wanted)
  local key = string.format("%d %s %d %d %s %s", op.number, op.layout_label, dim, n_slots,
    tostring(op.offset[1]), table.concat(wanted, ","))
  local shape = found[key]
  if not shape then
    local reason
    shape, reason = find_image(k, op, dim, n_slots, wanted)
    shape = shape or { reason = reason }
    found[key] = shape
  end
  return shape
end

-- The period of tiles whose `wanted` fields lie in `runs` runs or fewer, or nil.
local function period_in_runs(k, op, dim, wanted, runs)
  if op.is_index or op.through_index then
    return nil
  end
  local period = movers.period(k, op, dim)
  local shape = period and shape_of(k, op, dim, math.max(period, 2), wanted)
  if shape and not shape.reason and #shape.runs <= runs then
    return period
  end
end

--- Can tiles of `op` along `dim` be copied as one run of bytes each? The period of such tiles, or
--- nil.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@return integer?
function movers.stageable(k, op, dim)
  return period_in_runs(k, op, dim, all_fields(op), 1)
end

--- Can tiles of `op` along `dim` be copied as runs of bytes, several of them where its fields lie
--- in sections of their own? The period of such tiles, or nil.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@return integer?
function movers.sectioned(k, op, dim)
  return not movers.stageable(k, op, dim)
    and period_in_runs(k, op, dim, all_fields(op), #op.record.fields) or nil
end

-- The widest word for a run, if the extents it depends on may be asked to be multiples of 16:
-- bytes, what they must be multiples of, and which extents.
local function section_word(k, run)
  local extents = {}
  for _, extent in ipairs(k.extents) do
    if E.mentions(run.base, extent) then
      extents[#extents + 1] = extent
    end
  end
  local word = kit.word_bytes(run.bytes, 16)
  while word > 1 do
    for _, multiple in ipairs { 1, 2, 4, 8, 16 } do
      if E.divisor(run.base, extents, multiple) % word == 0 then
        return word, multiple, extents
      end
    end
    word = word // 2
  end
  return 1, 1, extents
end

--- Fields of `op` in sections of their own as an image: a run a field, one behind the other.
---@param g sectile.Generator
---@param op sectile.Operand
---@param dim integer
---@param n_slots integer
---@param fields integer[] which
---@return sectile.Image? image
---@return string? reason
function movers.sections(g, op, dim, n_slots, fields)
  local shape = shape_of(g.k, op, dim, n_slots, fields)
  if shape.reason then
    return nil, shape.reason
  end
  local image = {
    op = op, shape = shape, fix = "none", runs = {}, name = op.name .. "_tile", requires = {},
    bytes = (shape.bytes + 15) // 16 * 16,
  }
  for n, run in ipairs(shape.runs) do
    local word, multiple, extents = section_word(g.k, run)
    image.runs[n] = {
      base = run.base, start = run.start, bytes = run.bytes, word = word, unit = word,
      name = #run.fields == 1 and kit.member(op.name, op.record.fields[run.fields[1]]) or op.name,
    }
    for _, extent in ipairs(multiple > 1 and extents or {}) do
      image.requires[#image.requires + 1] = (extent % multiple):eq(0)
    end
  end
  return image
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
  local shape = shape_of(g.k, op, dim, n_slots, all_fields(op))
  if shape.reason or #shape.runs > 1 then
    return nil, shape.reason or "its fields lie in separate runs"
  end
  local run, widest, aligned = shape.runs[1], 1, 16
  for f, field in ipairs(op.record.fields) do
    widest = math.max(widest, math.min(field.bytes, 16))
    local piece = kit.word_bytes(E.divisor(shape.slots[f]), field.bytes)
    aligned = math.min(aligned, piece == field.bytes and 16 or 1)
  end
  local word = kit.word_bytes(shape.bytes, kit.word_bytes(E.divisor(run.base), 16))
  local image = {
    op = op, shape = shape, fix = fix, bytes = shape.bytes, unit = word, name = op.name .. "_tile",
    requires = {},
  }
  if fix == "pad" then
    image.unit = math.max(widest, 4)
    if aligned < 16 or widest > 8 or word < image.unit then
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
  image.runs = { {
    base = run.base, start = 0, bytes = shape.bytes, word = word, unit = image.unit, name = op.name,
  } }
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
  for _, run in ipairs(image.runs) do
    g.needs.copy_pieces = g.needs.copy_pieces or run.unit < run.word
    g:need_align(image.op, run.word)
  end
  for _, condition in ipairs(image.requires) do
    g:require(condition)
  end
  g.static_shared_bytes = g.static_shared_bytes + image.bytes * slices
  image.slices = slices
  for f, field in ipairs(image.op.record.fields) do
    local at = image.shape.slots[f]
    g.needs.pieces = g.needs.pieces
      or (at and kit.word_bytes(E.divisor(at), field.bytes) < field.bytes)
  end
end

-- C text and counted address of byte `at` of an image.
local function image_ref(image, at, warp)
  local place = movers.physical(image, at)
  local address = place
  if image.slices > 1 then
    address = address + warp * image.bytes
  end
  local name = image.name
  if image.slices > 1 then
    name = string.format("%s[%s]", name, image.slice or "warp")
  end
  return name, E.text(place, false), address
end

--- The tile's start in terms of `first`, which the kernel has declared.
---@param image sectile.Image
---@param run table one of image.runs
---@param first sectile.Expr
---@param n_slots integer
---@return sectile.Expr
function movers.base_of(image, run, first, n_slots)
  local step, rest = E.linear(run.base, image.shape.tile)
  if step and step % n_slots == 0 then
    return first * (step // n_slots) + rest
  end
  return E.subst(run.base, { image.shape.tile, first // n_slots })
end

-- A word of global memory, with the generator's hint.
local function loaded(g, place)
  return kit.hints.loads[g.hint] and kit.hints.loads[g.hint] .. "(&" .. place .. ")" or place
end

-- One word of a run between global memory and the image: the statements.
local function copy_word(g, image, run, team, place, at)
  local op, type, count = image.op, kit.word_type[run.word], run.word // run.unit
  g:touch(op, op.is_output, run.word, at)
  local name, text = image_ref(image, place, team.warp)
  for n = 0, count - 1 do
    local _, _, address = image_ref(image, place + n * run.unit, team.warp)
    g:touch(nil, not op.is_output, run.unit, address)
  end
  local global = string.format("at<%s>(%s, %s)", type, op.pointer, E.text(at, true))
  local shared = string.format("at<%s>(%s, %s)", type, name, text)
  local lines = {}
  if count > 1 then -- the image's unit is smaller than the word: through a register
    local pieces = string.format("copy_pieces<%s, %d>", kit.word_type[run.unit], count)
    local address = string.format("&at<%s>(%s, %s)", kit.word_type[run.unit], name, text)
    shared = "value"
    if op.is_output then
      lines[1] = string.format("%s value;\n  %s(&value, %s);", type, pieces, address)
    else
      lines[1] = string.format("const %s value = %s;\n  %s(%s, &value);", type, loaded(g, global),
        pieces, address)
    end
  end
  if op.is_output then
    local call = kit.hints.stores[g.hint]
    lines[#lines + 1] = string.format(call and call .. "(&%s, %s);" or "%s = %s;", global, shared)
  elseif count == 1 then
    lines[1] = string.format("%s = %s;", shared, loaded(g, global))
  end
  return kit.concat(lines, "\n  ")
end

-- Who takes a run's first word: where several runs are shorter than the team is wide, each begins
-- with the warp behind the last one's end, so that all warps have some. Returns the text and the
-- number of the thread among those that copy.
local function copier(team, run, taken)
  local turned = taken % team.size // 32 * 32
  if turned == 0 or run.bytes // run.word % team.size == 0 then
    return team.text, team.member
  end
  return string.format("(%s + %d) %% %d", team.text, team.size - turned, team.size),
    (team.member + (team.size - turned)) % team.size
end

-- What both ways of copying a run's words share: opens the loop over the team's turns and the
-- conditions. Returns the run's word at hand, its place in memory, and text of the loop's head.
local function open_words(g, image, run, width, team, taken, n_slots, first, full)
  local words = run.bytes // width
  local start, member = copier(team, run, taken)
  local turn = g:loop("turn", kit.ceil_div(words, team.size))
  local word = g:define("word", 0, words - 1, turn * team.size + member)
  g:when(words % team.size ~= 0 and g:below(word, words) or nil, full)
  return word, movers.base_of(image, run, first, n_slots) + word * width,
    string.format("for (int word = %s; word < %d; word += %d) {", start, words, team.size)
end

--- Text that starts asynchronous copies (sm_80) of an input's tile into its image, in words of 4 to
--- 16 bytes that never pass a register.
---@param g sectile.Generator
---@param image sectile.Image
---@param team sectile.Team
---@param n_slots integer
---@param first sectile.Expr the tile's first element
---@param unroll string text of the pragma
---@param full sectile.Expr condition under which the tile is copied
---@return string? nil if its words are too narrow
function movers.copy_async(g, image, team, n_slots, first, unroll, full)
  local blocks, taken = {}, 0
  for _, run in ipairs(image.runs) do
    if run.unit < 4 then
      return nil
    end
    local word, at, head = open_words(g, image, run, run.unit, team, taken, n_slots, first, full)
    taken = taken + run.bytes // run.unit
    g:touch(image.op, false, run.unit, at)
    local name, text = image_ref(image, word * run.unit + run.start, team.warp)
    g:when(nil)
    g:close()
    blocks[#blocks + 1] = string.format(
      "// %s: the tile's %d bytes in as %d-byte words\n%s\n%s\n"
        .. "  copy_async<%d>(&at<char>(%s, %s), &at<char>(%s, %s));\n}",
      run.name, run.bytes, run.unit, unroll, head, run.unit, name, text, image.op.pointer,
      E.text(at, true))
  end
  return kit.concat(blocks)
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
  local blocks, taken = {}, 0
  for _, run in ipairs(image.runs) do
    local word, at, head = open_words(g, image, run, run.word, team, taken, n_slots, first, full)
    taken = taken + run.bytes // run.word
    local inside = copy_word(g, image, run, team, word * run.word + run.start, at)
    g:when(nil)
    g:close()
    blocks[#blocks + 1] = string.format(
      "// %s: the tile's %d bytes %s as %d-byte words\n%s\n%s\n  %s\n}",
      run.name, run.bytes, image.op.is_output and "out" or "in", run.word, unroll, head, inside)
  end
  return kit.concat(blocks)
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

-- Those of `fields` that the image holds.
local function held(image, fields)
  local list = {}
  for _, f in ipairs(fields) do
    list[#list + 1] = image.shape.slots[f] and f or nil
  end
  return list
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
  for _, f in ipairs(held(image, op.used)) do
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
  for _, f in ipairs(held(image, all_fields(op))) do
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
