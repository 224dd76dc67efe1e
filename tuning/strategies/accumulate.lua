-- accumulate: points that fall on elements of an output, in vectors of neighbours along the
-- fastest mode. Where the output fits shared memory, whole or in parts, each block first combines
-- its points there, in several replicas, and merges them into the output at its end. A block then
-- has many tiles. `runs`: neighbouring points of a thread that fall on one element are combined in
-- registers. `packed`: where points are counted, two counters of 16 bits share a word, so that
-- twice as many fit; what leaves one is added to the output at once.
--
-- `wide`: neighbours along a row of floats are added by one operation, of 8 or 16 bytes (sm_90), or
-- of 4 bytes for two halves. Halves that a block or a run combines are floats meanwhile.
--
-- Where floats are added up in one order (k.ordered), no atomic operation is used: each warp has a
-- copy of the output, to which its lanes add one after the other; the last block adds up what all
-- warps of all blocks have.

local SHARED_RESERVED = 1024 -- of each block, by the system

-- ---- the outputs ----

-- The most elements that an array has at a tuned size.
local function capacity(k, op)
  local most = 1
  for _, given in ipairs(k.given) do
    most = math.max(most, E.eval(kit.product(op.extent) + 0, given))
  end
  return most
end

-- Bytes of the accumulated fields of an element, as blocks have them.
local function slot_bytes(op)
  local bytes = 0
  for f in ipairs(op.record.fields) do
    bytes = bytes + accumulate.slot(op, f).bytes
  end
  return bytes
end

-- The bytes of all outputs.
local function output_bytes(k)
  local bytes = 0
  for _, op in ipairs(k.operands) do
    bytes = bytes + (op.accumulate and capacity(k, op) * slot_bytes(op) or 0)
  end
  return bytes
end

-- The bytes of counters of 16 bits, two a word.
local function packed_bytes(k)
  local bytes = 0
  for _, op in ipairs(k.operands) do
    bytes = bytes + (op.accumulate and (capacity(k, op) + 1) // 2 * 4 or 0)
  end
  return bytes
end

-- ---- what is loaded ----

local binding = cuda.vector_binding

-- A part of an input on its way.
local function stream(p, op, f)
  return cuda.vector_stream(p, op, f, "got.%s[item]")
end

-- Statements that load a stream at a vector of which `left` elements are in the row.
local function load_text(p, x)
  local g, word, shorter = p.g, p.g:single(x.op, x.f)
  if x.word then
    local address = g:address(x.op, x.f, binding(p))
    local whole = cuda.load("load_streaming", x.type, x.word, address)
    return string.format("if (whole || left >= kVec)\n  %s = %s;\nelse\n  %s = %s;", x.at, whole,
      x.at, string.format("load_some<%s, kVec>(%s, left)", x.element, address))
  elseif x.many then
    local value = cuda.load("load", x.element, shorter, g:address(x.op, x.f, binding(p, true)))
    return kit.unrolled("e", "kVec",
      string.format("if (whole || e < left)\n  %s = %s;", x.value, value))
  end
  local changes = kit.any(p.k.dims, function(_, d) return g:changes(x.op, d) end)
  return string.format("%s = %s;", x.at, cuda.load(changes and word and "load_streaming" or "load",
    x.type, changes and word or shorter, g:address(x.op, x.f, binding(p))))
end

local function add_stream(p, op, f)
  local x = stream(p, op, f)
  p.streams[#p.streams + 1] = x
  return x
end

-- The streams of an input, whole or by fields, of which the body may name none.
local function add_values(p, op)
  local g, last = p.g, #p.k.dims
  local list = cuda.parts(op, p.vec == 1 or g:vector(op, nil, last, p.vec)
    or not g:changes(op, last))
  if list[1] == false then
    p.values[op.name] = add_stream(p, op).value
    return
  end
  local of = { op = op, name = g:name(op.name .. "_e") }
  for n, f in ipairs(list) do
    of[n] = { x = add_stream(p, op, f), field = op.record.fields[f] }
  end
  p.records[#p.records + 1], p.values[op.name] = of, of.name
end

-- All streams, those of index arrays first, and what a point's values are called.
local function add_streams(p)
  for _, op in ipairs(p.g.inputs) do
    if op.is_index then
      p.values[op.name] = "(long long)" .. add_stream(p, op, 1).value
    end
  end
  for _, op in ipairs(p.g.inputs) do
    if not op.is_index and #op.reads > 0 then
      add_values(p, op)
    end
  end
end

-- ---- what a point does ----

-- The slots of the outputs, with their names and where they lie in shared memory.
local function add_slots(p)
  local start = 0
  for _, op in ipairs(p.g.outputs) do
    local span = kit.ceil_div(capacity(p.k, op), p.parts)
    local out = {
      op = op, name = op.name, slots = {}, span = p.g:name("kSpan_" .. op.name), n_span = span,
      at = p.g:name("at_" .. op.name), value = p.g:name(op.name .. "_v"), type = p.g:type(op),
      low = p.g:name("low_" .. op.name), count = p.g:text(kit.product(op.extent) + 0),
    }
    for f in ipairs(op.record.fields) do
      local slot = accumulate.slot(op, f, not p.is_private and not p.runs)
      local name = op.record.fields[f].word
      name = name == "" and op.name or op.name .. "_" .. name
      slot.held, slot.run = p.g:name("held_" .. name), p.g:name("run_" .. name)
      slot.left = p.g:name("left_" .. name)
      slot.sum = p.g:name(#p.slots > 0 and "sum_" .. name or "sum")
      slot.held_type = p.packed and "unsigned int" or slot.type
      slot.words = p.packed and p.g:name("kWords_" .. op.name) or out.span
      local bytes = p.packed and (span + 1) // 2 * 4 or span * slot.bytes
      slot.start, slot.span, slot.n_span = start, out.span, span
      slot.offset = start > 0 and " + " .. start or ""
      start = (start + bytes * p.replicas + 15) // 16 * 16
      out.slots[f] = slot
      p.slots[#p.slots + 1] = slot
    end
    p.outputs[#p.outputs + 1] = out
    p.values[op.name] = out.value
    if p.is_private then
      p.g:require((kit.product(op.extent) + 0):le(span * p.parts))
    end
  end
  p.shared_bytes = p.is_private and start or nil
end

-- Where a block holds the element `at` in replica number `replica`: those that lanes have lie side
-- by side, those that warps have one after the other.
local function place_in(p, slot, at, replica)
  if p.replicas == 1 then
    return at
  end
  return p.ordered and string.format("%s * %s + %s", replica, slot.span, at)
    or string.format("%s * kReplicas + %s", at, replica)
end

-- Statements that combine the slots' values with an element: in shared memory `at` is its number in
-- the block's part, else its address is a person's, or that of the number `at`.
local function update(p, out, at, value_of)
  if p.packed then
    return string.format("count_points(%s, %s);", at, value_of(out.slots[1]))
  end
  return kit.concat(kit.map(out.slots, function(slot)
    local value = value_of(slot)
    if p.is_private then
      return accumulate.update(slot, string.format("&%s[%s]", slot.held,
        place_in(p, slot, at, "replica")), value)
    end
    return accumulate.update_array(p.g, slot, at and accumulate.address(p.g, out.op, slot.f, at)
      or p.g:address(out.op, slot.f, binding(p, true)), value)
  end))
end

local function indented(text)
  return (string.gsub(text, "\n", "\n  "))
end

-- Combines a point's values in its turn among the lanes whose points fall on the same element.
local function take_turns(p, out)
  local lines = kit.map(out.slots, function(slot)
    local held = string.format("%s[%s]", slot.held, place_in(p, slot, out.at, "replica"))
    return string.format("%s = %s;", held, accumulate.combined(out.op, held,
      accumulate.cast(slot, kit.member(out.value, slot.field))))
  end)
  return string.format("in_order(%s, kNone, [&] {\n  %s\n});", out.at, indented(kit.concat(lines)))
end

local ROW_TYPES = { f32 = true, f16 = true, bf16 = true }

-- Do points that are neighbours along the last mode fall on neighbours of a row of floats?
local function has_rows(k, op)
  local computed = kit.any(k.computed or {}, function(one)
    return E.mentions(op.offset[1], one.value)
  end)
  local field = op.record.fields[1]
  local sums = op.record.bare and ROW_TYPES[field.type] and op.accumulate == "add"
  return sums and not computed and not op.keeps
    and strides.fixed(k, op, 1, #k.dims) == field.bytes
end

-- Outputs of which a thread adds several neighbours at once: out.row is their name. false: none.
local function add_rows(p, wide)
  for _, out in ipairs(p.outputs) do
    local vector = has_rows(p.k, out.op) and p.g:wide_vector(out.op, 1, #p.k.dims, wide)
    local field = out.op.record.fields[1]
    if vector and vector.word == field.bytes * wide then
      p.g:adopt(out.op, vector, wide)
      out.row = p.g:name(out.name .. "_row")
      p.rows = kit.concat { p.rows or "",
        string.format("vec<%s, kWide> %s;", field.cuda, out.row) }
    end
  end
  return p.rows
end

-- A point's value joins those of its neighbours, which are added with the last of them.
local function join_row(p, out)
  local slot, e = out.slots[1], cuda.var("e") - (p.wide - 1)
  local at = kit.map(p.index, cuda.var)
  at[#at] = at[#at] + e
  local address = p.g:address(out.op, 1,
    p.g:binding(at, function(op) return p.values[op.name] end))
  return string.format("%s[e %% kWide] = %s;\nif (e %% kWide == kWide - 1)\n"
    .. "  %s(%s, %s);", out.row, kit.member(out.value, slot.field),
    accumulate.vector_function(slot.field), address, out.row)
end

-- The element of an output that a point falls on becomes known, where there is one.
local function place_point(p, out)
  local kept = out.op.keeps and p.values[out.op.name .. "_kept"]
  local number = p.g:text(accumulate.number(out.op, out.op.at), binding(p, true))
  number = string.format("(unsigned int)(%s)%s", number, p.parts > 1 and " - " .. out.low or "")
  local text = out.at .. " = " .. number .. ";"
  if p.parts > 1 then
    text = kit.concat { text, string.format("if (%s >= %s)\n  %s = kNone;", out.at, out.span,
      out.at) }
  end
  return kept and string.format("if (!%s) {\n  %s\n}", kept, indented(text)) or text
end

-- What becomes of a point's values: they join the run, or are combined at once.
local function take_point(p, out)
  if out.row then
    return join_row(p, out)
  end
  local function fresh(slot)
    return p.packed and "1u" or accumulate.cast(slot, kit.member(out.value, slot.field))
  end
  local flag = out.op.keeps and p.values[out.op.name .. "_kept"]
  local lines, condition = {}, flag and "!" .. flag or nil
  if p.is_private or p.runs then
    local number = p.g:text(accumulate.number(out.op, out.op.at), binding(p, true))
    lines[1] = string.format(p.is_private and "const unsigned int %s = (unsigned int)(%s)%s;"
      or "const long long %s = %s%s;", out.at, number, p.parts > 1 and " - " .. out.low or "")
    if p.parts > 1 then
      condition = kit.concat({ condition or "", out.at .. " < " .. out.span }, " && ")
    end
  end
  local text
  if p.runs then
    local joined = kit.map(out.slots, function(slot)
      return string.format("%s = %s;", slot.run,
        accumulate.combined(out.op, slot.run, fresh(slot)))
    end)
    local started = kit.map(out.slots, function(slot)
      return string.format("%s = %s;", slot.run, fresh(slot))
    end)
    text = string.format("if (%s == run_at) {\n  %s\n} else {\n  %s\n  run_at = %s;\n  %s\n}",
      out.at, indented(kit.concat(joined)), indented(p.flush(out)), out.at,
      indented(kit.concat(started)))
  else
    text = update(p, out, p.is_private and out.at or nil, fresh)
  end
  lines[#lines + 1] = condition and string.format("if (%s) {\n  %s\n}", condition, indented(text))
    or text
  return kit.concat(lines)
end

-- Statements for the point `e` of a vector.
local function point(p)
  local g, lines = p.g, {}
  for _, of in ipairs(p.records) do
    lines[#lines + 1] = string.format("%s %s;", g:type(of.op), of.name)
    for _, member in ipairs(of) do
      lines[#lines + 1] = string.format("%s = %s;", kit.member(of.name, member.field),
        member.x.value)
    end
  end
  for _, out in ipairs(p.ordered and {} or p.outputs) do
    lines[#lines + 1] = string.format("%s %s;", out.type, out.value)
  end
  local values = setmetatable({}, { __index = p.values, __newindex = p.values })
  for d, dim in ipairs(p.k.dims) do
    values[dim] = d == #p.k.dims and p.vec > 1 and p.index[d] .. " + e" or p.index[d]
  end
  lines[#lines + 1] = g:call(values)
  for _, out in ipairs(p.outputs) do
    lines[#lines + 1] = (p.ordered and place_point or take_point)(p, out)
  end
  return kit.concat(lines)
end

-- ---- the plan ----

-- The texts of count_points.
local function add_count(p)
  local out = p.outputs[1]
  p.word_at = p.replicas > 1 and "at / 2 * kReplicas + replica" or "at / 2"
  p.carry = function(element)
    local slot = out.slots[1]
    return accumulate.update_array(p.g, slot, accumulate.address(p.g, out.op, 1, element),
      string.format("(%s)%d * carry", slot.type, 65536 * p.packed))
  end
end

-- Vectors: how many, and the indices of the first point of each.
local function add_vectors(p)
  local g, k, last = p.g, p.k, #p.k.dims
  local row = kit.ceil_div(k.extents[last], p.vec)
  local dims = kit.map(k.extents, function(extent, d) return d < last and extent or row end)
  local vectors = kit.product(dims) + 0
  p.n_vectors, p.vectors, p.n_last = vectors, g:text(vectors), g:text(k.extents[last])
  p.last = p.index[last]
  p.unravel = function(text)
    local lines, inner = {}, 1
    for d = last, 1, -1 do
      local at = cuda.var(text) // inner
      at = d > 1 and at % dims[d] or at
      table.insert(lines, 1, string.format("const long long %s = %s;", p.index[d],
        g:text(d == last and at * p.vec or at)))
      inner = inner * dims[d]
    end
    return kit.concat(lines)
  end
  local even = p.vec == 1 or kit.any(g.requires, function(e)
    return e:same((k.extents[last] % p.vec):eq(0))
  end) or kit.const_of(k.extents[last] % p.vec) == 0
  p.whole = function(first)
    return last == 1 and string.format("(%s + kTile) * kVec <= %s", first, p.n_last)
      or even and first .. " + kTile <= " .. p.vectors or "false"
  end
end

-- What blocks leave in the workspace: the elements of each slot, share after share.
local function add_workspace(p, shares)
  local at = reduce.COUNTER_BYTES
  for _, slot in ipairs(p.slots) do
    slot.left_at = at
    at = (at + shares * p.parts * slot.n_span * slot.bytes + 15) // 16 * 16
  end
  p.workspace_bytes = at
  p.doc = string.format("Each warp combines its points in shared memory%s, lane after lane; the "
    .. "last block adds up what all warps have.",
    p.parts > 1 and ", those of one part of the output" or "")
end

-- The grid. Blocks that hold an output, or a part, have many tiles each.
local function add_grid(p, c)
  local tiles = kit.ceil_div(p.n_vectors, c.threads * c.items) + 0
  p.tiles, p.grid = p.g:text(tiles), tiles
  p.doc = "Points in vectors, each combined with its element of the output."
  if p.is_private then
    local most = math.max(1, p.k.device.sms * c.blocks // c.parts)
    p.grid, p.rounds = tiles:min(most) * c.parts, 3
    p.traffic = kit.map(p.outputs, function(out) -- what blocks merge
      local bytes = p.grid * (out.n_span * out.op.record.bytes)
      return { operand = out.op.number, width = 4, bytes = bytes,
               sectors = kit.ceil_div(bytes, 32), lines = kit.ceil_div(bytes, 128) }
    end)
    p.windows = c.parts > 1 and c.parts or nil -- passes over the points, which L2 holds meanwhile
    p.doc = string.format("Each block combines its points in shared memory%s, and merges them into "
      .. "the output.", c.parts > 1 and ", those of one part of the output" or "")
    if p.ordered then
      add_workspace(p, most)
    end
  end
end

local function plan(k, c)
  local g = cuda.new(k, "accumulate", c.threads)
  accumulate.align(g)
  local p = {
    g = g, k = k, threads = c.threads, vec = c.vec, items = c.items, parts = c.parts,
    replicas = k.ordered and c.threads // 32 or c.replicas, runs = c.runs, ahead = c.ahead,
    is_private = c.place == "shared", packed = c.packed and k.counted, ordered = k.ordered,
    wide = c.wide, rows = false,
    values = {}, streams = {}, records = {}, slots = {}, outputs = {}, index = {},
    copies = (k.ordered or c.replicas > 1) and " * kReplicas" or "",
  }
  for d, dim in ipairs(k.dims) do
    p.index[d] = g:name(dim)
  end
  p.run_type = p.is_private and "unsigned int" or "long long"
  add_streams(p)
  if c.vec > 1 and not p.any then
    return nil, "no array moves in vectors"
  end
  add_slots(p)
  if c.wide > 1 and not add_rows(p, c.wide) then
    return nil, "no output has rows of floats that follow each other from an aligned address"
  end
  p.held = p.is_private and p.outputs or {}
  if p.packed then
    add_count(p)
  end
  p.flush = function(out)
    local text = update(p, out, "run_at", function(slot) return slot.run end)
    return string.format("if (run_at != kNone) {\n  %s\n}", indented(text))
  end
  add_vectors(p)
  p.load = function()
    return kit.concat(kit.map(p.streams, function(x) return load_text(p, x) end))
  end
  p.point = function() return point(p) end
  p.merge = function(slot)
    local sum = slot.sum .. (p.packed and p.packed ~= 1 and " * " .. p.packed .. "u" or "")
    return accumulate.update_array(p.g, slot, accumulate.address(p.g, slot.op, slot.f, "at"), sum)
  end
  p.held_value = function(slot, replica)
    local place = place_in(p, slot, "held_at", replica)
    return p.packed and string.format("%s[%s] >> held_at %% 2 * 16 & 0xffff", slot.held,
      (string.gsub(place, "held_at", "held_at / 2"))) or slot.held .. "[" .. place .. "]"
  end
  p.combined = function(slot, one, other) return accumulate.combined(slot.op, one, other) end
  p.update_own = function(slot, value)
    return accumulate.update_own(g, slot.op, slot.f, "at", value)
  end
  p.left_at = function(slot, share)
    return string.format(p.parts > 1 and "(%s * kParts + part) * %s + held_at"
      or "%s * %s + held_at", share, slot.span)
  end
  p.take_turns = function(out) return take_turns(p, out) end
  add_grid(p, c)
  return g:plan(p)
end

-- ---- the space ----

local MOST_PARTS = 8
local WIDE = { 1, 4, 2, 8 } -- 8 of halves only
local WARPS = 8 -- that have room for copies of their own, or parts are tried

-- The fewest parts, a power of two, of which one fits shared memory.
local function least_parts(k)
  local least = 1
  while output_bytes(k) > least * (k.device.smem_optin_bytes - SHARED_RESERVED) do
    least = least * 2
  end
  return least
end

local function parts_of(k)
  local least = least_parts(k)
  if k.ordered and least <= MOST_PARTS then
    local list = { 1, least > 1 and least or nil }
    local room = k.device.smem_optin_bytes - SHARED_RESERVED
    while 2 * list[#list] <= MOST_PARTS and WARPS * output_bytes(k) > list[#list] * room do
      list[#list + 1] = 2 * list[#list]
    end
    return list
  end
  return (least == 1 or least > MOST_PARTS) and { 1 } or { 1, least }
end

-- Are counters of 16 bits worth while: would they let less parts do, or one block more?
local function packs(k)
  return not k.ordered and k.counted and 4 * output_bytes(k) > k.device.smem_optin_bytes
end

local function facts(k)
  local widest, words, n_outputs, pairs = 1, 0, 0, 1
  for _, op in ipairs(k.operands) do
    n_outputs = n_outputs + (op.is_output and 1 or 0)
    local many = not op.is_output and strides.fixed(k, op, 1, #k.dims) ~= 0 -- of a vector
    widest = math.max(widest, many and op.record.bytes or 1)
    for _, field in ipairs(many and op.record.fields or {}) do
      words = words + (field.bytes + 3) // 4
    end
    pairs = op.is_output and op.record.fields[1].type ~= "f16" and 0 or pairs
  end
  return {
    { "bytes", output_bytes(k) }, { "least_parts", least_parts(k) }, { "widest", widest },
    { "words", words }, { "pairs", pairs },
    { "cc", k.device.cc }, { "outputs", n_outputs }, { "ordered", k.ordered and 1 or 0 },
    { "room", k.device.smem_optin_bytes - SHARED_RESERVED },
    { "room_sm", k.device.smem_sm_bytes }, { "counters", packs(k) and packed_bytes(k) or 0 },
  }
end

return {
  name = "accumulate",
  doc = "Points that fall on elements of an output, combined in shared memory first where it fits.",
  accumulates = true,
  applies = {
    { "every output is accumulated", function(k)
      return not kit.any(k.operands, function(op) return op.is_output and not op.accumulate end)
    end },
  },
  axes = function(k)
    local rows = not k.ordered and kit.any(k.operands, function(op)
      return op.is_output and has_rows(k, op)
    end)
    return {
      { "place", { "shared", "global" }, key = "place=", doc = "where points are combined first" },
      { "threads", k.ordered and { 256, 512, 1024, 128, 64, 32 } or { 512, 1024, 256 },
        key = "threads=", doc = "threads per block" },
      { "vec", { 4, 16, 8, 2, 1 }, key = "vec=", doc = "neighbouring points in a vector" },
      { "items", { 4, 2, 1, 8 }, key = "items=", doc = "vectors that a thread loads at once" },
      { "ahead", { false, true }, key = "ahead=", when = "place == 'shared'",
        doc = "the next tile is loaded while one is combined" },
      { "runs", k.ordered and { false } or { false, true }, key = "runs=", when = "outputs == 1",
        doc = "neighbours that fall on one element are combined in registers" },
      { "wide", rows and WIDE or { 1 }, key = "wide=", neutral = 1,
        when = "place == 'global' and not runs",
        doc = "neighbours of a row of floats that one operation adds" },
      { "replicas", k.ordered and { 1 } or { 1, 32, 8, 2 }, key = "replicas=",
        when = "place == 'shared'",
        doc = "copies of the output in a block's shared memory, by lane" },
      { "packed", packs(k) and { false, true } or { false }, key = "packed=",
        when = "place == 'shared'",
        doc = "points are counted in 16 bits, two counters a word" },
      { "parts", parts_of(k), key = "parts=", when = "place == 'shared'", neutral = 1,
        doc = "parts of the output, each for blocks of its own" },
      { "blocks", { 1, 2, 4 }, key = "blocks=", when = "place == 'shared'",
        doc = "blocks per multiprocessor" },
    }
  end,
  facts = facts,
  where = {
    "wide == 1 or cc >= 90 or (wide == 2 and pairs == 1)", "wide <= vec",
    "ordered == 0 or place == 'shared'",
    "ordered == 0 or bytes * (threads // 32) <= room * parts",
    "ordered == 0 or bytes * (threads // 32) * blocks <= room_sm * parts",
    "vec * items * widest <= 128",
    -- what a thread has loaded leaves a quarter of its registers for the rest
    "threads * vec * items * words <= 49152",
    "not ahead or 2 * threads * vec * items * words <= 49152",
    "vec * widest <= 16 and (vec == 1 or vec * widest >= 8)",
    "place == 'global' or packed or bytes * replicas <= room * parts",
    "place == 'global' or packed or bytes * replicas * blocks <= room_sm * parts",
    "not packed or counters * replicas <= room * parts",
    "not packed or counters * replicas * blocks <= room_sm * parts",
    -- a multiprocessor has 1,024 threads at least, each with loads in flight
    "place == 'global' or threads * blocks <= 2048",
    "place == 'global' or ordered == 1 or threads * blocks >= 1024",
    "place == 'global' or items * vec >= 4", "not ahead or vec * items * widest <= 64",
  },
  template = "accumulate.cu",
  plan = plan,
}
