-- staging: how map moves a tile's bytes through shared memory: unchanged between global and shared
-- memory, as elements between shared memory and registers. Dense arrays of records, of elements of
-- a mode that is unrolled, and records in blocks in which each field is contiguous.
local staging = {}

-- ---- which operands ----

local function may_move(k, op)
  return (k.unrolled or not op.record.bare) and not op.is_index and not op.through_index
    and cuda.moves_whole(op)
end

-- The byte at which the array begins, if its records are one run, 16 bytes aligned.
local function dense(k, op)
  local start = may_move(k, op) and records.dense(k, op)
  return start and start % 16 == 0 and start or nil
end

-- Where the fields of `op` begin in a block of as many records as the last mode has elements, if
-- the array is such blocks in the order of the index space, each field contiguous; else nil.
local function in_block(k, op)
  local count, outer, list = kit.const_of(k.extents[#k.dims]), 0, {}
  if not count or op.record.bare or not may_move(k, op) or op.record.packed
    or #op.record.fields < 2 or op.record.bytes ~= op.record.data_bytes then
    return nil
  end
  for d = 1, #k.dims - 1 do
    outer = outer * k.extents[d] + k.index[d]
  end
  for f, field in ipairs(op.record.fields) do
    local place = op.offset[f] - outer * (op.record.bytes * count) - k.index[#k.dims] * field.bytes
    local at = kit.const_of(place)
    if not at or at < 0 or at + count * field.bytes > count * op.record.bytes then
      return nil
    end
    list[f] = at
  end
  return list, count
end

--- Is there an output, or an input, that may be staged? No kernel: no.
---@param k? sectile.View
---@param output boolean
---@return boolean
function staging.any(k, output)
  if not k or records.flattened(k) then
    return false
  end
  return kit.any(k.operands, function(op)
    return op.is_output == output and (dense(k, op) or in_block(k, op))
  end)
end

--- May `op` be staged in tiles of the plan?
---@param p table
---@param op sectile.Operand
---@return boolean
function staging.fits(p, op)
  if op.is_inout and #op.used < #op.record.fields then
    return false -- its other fields are not known
  end
  local tile = (p.warps and 32 or p.g.threads) * p.items * p.vec
  local _, count = in_block(p.k, op)
  return dense(p.k, op) ~= nil or count ~= nil and p.inside == 1 and tile % count == 0
end

-- ---- tiles ----

-- The staged input whose tile the output takes: of as many bytes, which each thread has read before
-- it writes its own.
local function tile_before(p, op)
  for _, x in ipairs(op.is_output and dense(p.k, op) and p.staged_in or {}) do
    if x.bytes == op.record.bytes and x.path and x.arrays == x.op.name then
      x.arrays = x.arrays .. " and " .. op.name
      return x
    end
  end
  return nil
end

-- A tile of `op` whose bytes begin `start` bytes into the array, and how it is copied in words
-- of `small` bytes where it is not whole: texts of the template.
local function new_tile(p, op, start, small)
  local g, bytes, first = p.g, op.record.bytes, "first" .. p.times_vec
  local before = tile_before(p, op)
  local x = {
    op = op, before = before, bytes = bytes, arrays = op.name, element = g:type(op),
    one = op.record.bare and "an element" or "a record",
    all = op.record.bare and "elements" or "records",
    tile = before and before.tile or g:name(op.name .. "_tile"),
    bytes_at = g:name(op.name .. "_bytes"),
    record = before and before.record or g:name("kRecord_" .. op.name),
    size = before and before.size or g:name("kTileBytes_" .. op.name),
    load_name = cuda.load_name(op, p.load_name), plain_load = cuda.load_name(op),
    store_name = p.store_name, small = small, kept = "byte", find = "",
  }
  local typed = op.style == "record" or op.record.bare and op.style == "scalar"
  x.address = typed and start % bytes == 0 and string.format("&%s[%s%s]", op.pointer, first,
      start > 0 and string.format(" + %d", start // bytes) or "")
    or string.format("at_byte<unsigned char>(%s, %d * (%s) + %d)", op.pointer, bytes, first, start)
  x.small_of = function(threads)
    return x.small > 1 and string.format("%d * %s", x.small, threads) or threads
  end
  g:need_align(op, 16)
  if p.side > 1 and p.unit > 1 then
    g:require_multiple(p.k.extents[p.side], p.unit)
  end
  return x
end

-- One stream, of whole elements.
local function of_elements(p, op)
  local bytes, type = op.record.bytes, p.g:type(op)
  local word = kit.word_bytes(bytes * p.vec)
  local x = new_tile(p, op, dense(p.k, op), p.side > 1 and p.unit > 1 and word
    or kit.word_bytes(bytes))
  local at = string.format("(item * %s + rank)%s * %s", p.team, p.times_vec, x.record)
  x.path, x.dims, x.copied, x.word = "staged", "", x, word
  x.name = p.g:name(op.name .. "_v")
  x.type = p.vec > 1 and string.format("vec<%s, kVec>", type) or type
  x.value = x.name .. (p.vec > 1 and "[e]" or "")
  x.swizzled = word == 16 and bytes * p.vec // 16 % 2 == 0 -- else lanes meet different banks
  x.kept = x.swizzled and "swizzled(byte)" or "byte"
  x.take = x.swizzled and string.format("take_swizzled<%s>(%s, %s)", x.type, x.tile, at)
    or string.format("take<%s, %d>(%s + %s)", x.type, word, x.tile, at)
  x.store = x.swizzled and string.format("put_swizzled(%s, %s, %s);", x.tile, at, x.name)
    or string.format("put<%d>(%s + %s, %s);", word, x.tile, at, x.name)
  return x
end

-- A stream for each field that the body uses; the first one has the tile.
local function of_fields(p, op)
  local g, list = p.g, {}
  local starts, count = in_block(p.k, op)
  local tile = new_tile(p, op, 0, kit.word_bytes(op.record.bytes * count))
  local block, lane = g:name(op.name .. "_block"), g:name(op.name .. "_lane")
  tile.find = string.format("const int %s = (item * %s + rank)%s / %d * (%d * %s);\n"
    .. "const int %s = (item * %s + rank)%s %% %d; // in its block", block, p.team, p.times_vec,
    count, count, tile.record, lane, p.team, p.times_vec, count)
  for n, f in ipairs(op.used) do
    local field = op.record.fields[f]
    local at = string.format("%s + %s%s + %d * %s", tile.tile, block,
      starts[f] > 0 and " + " .. starts[f] or "", field.bytes, lane)
    local x = {
      op = op, f = f, path = "staged", dims = "", bytes = field.bytes, element = g:type(op, f),
      name = g:name(op.name .. "_" .. field.word .. "_v"), copied = n == 1 and tile or nil,
      word = math.min(kit.word_bytes(field.bytes * p.vec), kit.word_bytes(count * field.bytes)),
    }
    while starts[f] % x.word ~= 0 do
      x.word = x.word // 2
    end
    x.type = p.vec > 1 and string.format("vec<%s, kVec>", x.element) or x.element
    x.value = x.name .. (p.vec > 1 and "[e]" or "")
    x.take = string.format("take<%s, %d>(%s)", x.type, x.word, at)
    x.store = string.format("put<%d>(%s, %s);", x.word, at, x.name)
    list[n] = x
  end
  return list
end

--- The streams of a staged operand.
---@param p table the plan
---@param op sectile.Operand
---@return table[]
function staging.streams(p, op)
  if not dense(p.k, op) then
    return of_fields(p, op)
  end
  p.stream_of[op.number] = of_elements(p, op)
  return { p.stream_of[op.number] }
end

return staging
