-- rows: kernels in steps. kLanes threads have a row: part of a warp, a warp, the block or all of a
-- cluster's blocks; a block has as many rows as it has threads for. Where rows run along the
-- fastest mode neighbouring threads have the same row, else neighbouring columns, or vectors of
-- them. What several steps read is loaded once and held in registers, all loads in flight; or, of
-- rows that do not fit, read again in every step. For rows of any length as many threads as a row
-- needs, chosen at run time, hold what fits and read the rest again. Of ragged rows, whose lengths
-- differ, what fits is held and the rest read again; without steps they are a single one, which
-- assigns what has their elements.

local MOST_ELEMENTS = 1 << 30 -- of a row, so that they are counted in 32 bits
local REST_BYTES = 32         -- of a row's rest that a thread loads at once
local CHUNK = 16              -- elements of a row's first part that a lane takes without a branch
local TEXTS_BYTES = 64        -- that a thread holds, where each number of vectors has its text
local SHORT_BYTES = 16        -- neighbours that lanes load at once, where a row has as many
local LONG_ROW = 65536        -- elements; longer ones several blocks may have (codegen_json.c)
local LONG_COLUMN = 8192      -- the same
local MOST_SHARED = 16384     -- rows of which each has several
local SHARED_RESERVED = 2048  -- bytes of shared memory that partials have beside what is held
local ALIGN = 16              -- bytes of what a sequence's launches leave each other

-- ---- operands on their way ----

-- The modes that tell rows apart and those along a row.
local function dims_of(k)
  if k.steps then
    return reduce.dims(k)
  end
  local kept, along = {}, {}
  for d = 1, #k.dims do
    table.insert(d == k.ragged.dim and along or kept, d)
  end
  return kept, along
end

-- A step that goes to `op` reads the index arrays that say where, too.
local function read_indices(g, step, op)
  for _, index in ipairs(g.inputs) do
    if index.is_index and #step.reads[index.number] == 0
      and E.mentions(op.offset[1], index.index_value) then
      step.reads[index.number] = { { name = index.name, used = { 1 }, offset = index.offset } }
      read_indices(g, step, index)
    end
  end
end

-- A generator for the kernel, whose body is a step where there are none.
local function generator(k, threads)
  local g = cuda.new(k, "rows", threads)
  if not k.steps then
    local step = g.whole
    step.values, step.suffix = {}, ""
    step.doc = "The body for one element of a row."
    step.reads = kit.map(g.ops, function(op) return op.is_output and {} or op.reads end)
    g.steps = { step }
  end
  for _, step in ipairs(g.steps) do
    for _, op in ipairs(g.ops) do
      if #step.reads[op.number] > 0 or kit.has(step.outputs, op) then
        read_indices(g, step, op)
      end
    end
  end
  return g
end

local function changes_any(g, op, dims)
  return kit.any(dims, function(d) return g:changes(op, d) end)
end

-- One field of an operand, or its whole value: names, types and texts of the template.
local function stream(p, op, f)
  local g = p.g
  local field = f and op.record.fields[f].word or ""
  local x = { op = op, f = f, element = g:type(op, f), read = op.gather and op.reads[1] }
  x.element = x.read and x.read.how and window.type(g, op, x.read) or x.element
  x.name = g:name(field == "" and op.name .. "_v" or op.name .. "_" .. field .. "_v")
  x.steady = not changes_any(g, op, p.reduced)
  x.many = p.vec > 1 and g:changes(op, #p.k.dims)
  local vector = x.many and not x.read and (p.odd and row_streams.odd_vector(p, op) or not p.odd
    and row_streams.wide_vector(g, op, f, p.vec))
  if vector then
    g:adopt(op, vector, p.vec)
    x.word, p.any = vector.word, true
  end
  x.type = x.many and string.format("vec<%s, kVec>", x.element) or x.element
  x.held = not x.steady and not op.is_output and p.hold ~= "none" and row_streams.readers(g, op) > 1
  x.apart = x.held or p.again and not op.is_output and not x.steady
  x.shape = x.apart and "[kItems]" or ""
  x.at = x.name .. (x.held and p.hold == "shared" and "[item * kThreads]"
    or x.apart and "[item]" or "")
  x.value = x.at .. (x.many and "[e]" or "")
  return x
end

-- What is held of a stream: itself, or of ragged rows the elements that come first.
local function held_of(p, x)
  if p.k.ragged then
    local first = kit.copy(x)
    first.name = p.g:name("first_" .. x.name)
    first.at = first.name .. "[item]"
    first.value = first.at .. (x.many and "[e]" or "")
    x.first = first
  end
  return x.first or x
end

-- The streams of an operand: whole records where they are runs, else the fields that are used.
local function streams(p, op)
  local g, last = p.g, #p.k.dims
  local whole = not op.gather and op.style == "record" and #op.used == #op.record.fields
    and cuda.moves_whole(op)
    and (p.vec == 1 or g:vector(op, nil, last, p.vec) or not g:changes(op, last))
  if op.record.bare or whole then
    return { stream(p, op) }
  end
  return kit.map(op.used, function(f) return stream(p, op, f) end)
end

-- ---- a step ----

-- The call of a step's function for the element `e` of the vectors, and what becomes of its result.
local function compute(p, step)
  local g, before, behind = p.g, {}, {}
  local values = setmetatable({}, { __index = p.values, __newindex = p.values })
  for d, dim in ipairs(p.k.dims) do
    values[dim] = d == #p.k.dims and p.vec > 1 and p.index[d] .. " + e" or p.index[d]
  end
  local function bind(op, gives)
    local list = p.streams[op.number]
    if list[1] and not list[1].f then
      values[op.name] = list[1].value
      return
    end
    local name = p.element_names[op.number]
    before[#before + 1] = string.format("%s %s;", g:type(op), name)
    values[op.name] = name
    for _, x in ipairs(list) do
      local member = kit.member(name, op.record.fields[x.f])
      table.insert(gives and behind or before,
        gives and string.format("%s = %s;", x.value, member)
          or string.format("%s = %s;", member, x.value))
    end
  end
  for _, op in ipairs(g.inputs) do
    if #step.reads[op.number] > 0 and not op.is_index then
      bind(op, false)
    end
  end
  for _, op in ipairs(step.outputs) do
    bind(op, true)
    local flag = p.flags[op.number]
    values[op.name .. "_kept"] = flag and flag.value
    before[#before + 1] = flag and flag.start and flag.value .. " = " .. flag.start .. ";" or nil
  end
  for _, value in ipairs(step.values) do
    values[value.name] = p.value_names[value.name] .. (step.reduces and "" or p.of)
    before[#before + 1] = step.reduces and string.format("%s %s;", reduce.given_type(value),
      values[value.name]) or nil
  end
  before[#before + 1] = g:call(values, step)
  if step.reduces then
    local mine = step.mine .. p.of
    local members = reduce.members(step.slots, function(value) return values[value.name] end,
      function() return g:text(p.k.reduced_index, row_streams.binding(p, p.vec > 1), true) end)
    behind[1] = string.format("%s = combine(%s, {%s});", mine, mine, members)
  end
  return kit.concat { kit.concat(before), kit.concat(behind) }
end

-- The streams that a step loads by itself, those in arrays of their own first.
local function passing(p, step)
  local apart, inline = {}, {}
  for _, op in ipairs(p.g.inputs) do
    for _, x in ipairs(#step.reads[op.number] > 0 and p.streams[op.number] or {}) do
      if not x.steady and (not x.held or x.first) then
        table.insert(x.apart and apart or inline, x)
      end
    end
  end
  return apart, inline
end

-- Partials of a step in shared memory.
local function parts_of(p)
  if not p.columns then
    return p.lanes > 32 and p.lanes // 32 or 0
  end
  local parts, blocks = p.threads // math.max(p.side, 32), p.cluster or 0
  return p.side * p.vec * ((parts > 1 and parts + 2 or 0) + blocks)
end

local function plan_step(p, step)
  local g = p.g
  step.apart, step.inline = passing(p, step)
  step.anew = p.hold == "packed" and kit.each(p.held, "forget({name});") or ""
  step.given, step.done = {}, ""
  for _, op in ipairs(step.outputs) do
    kit.append(step.given, table.unpack(p.streams[op.number]))
    kit.append(step.given, p.flags[op.number])
  end
  step.row_values = kit.concat(kit.map(step.reduces and {} or step.values, function(value)
    return value.cuda .. " " .. p.value_names[value.name] .. p.shape .. " = {};"
  end))
  if step.reduces then
    step.slots, step.bytes = reduce.value_slots(step)
    step.mine = g:name("found" .. step.suffix)
    step.definitions = reduce.definitions(step.slots, step.suffix)
    p.static_shared_bytes = p.static_shared_bytes + parts_of(p) * step.bytes
  end
  step.compute = function()
    local text = compute(p, step)
    reduce.name_values(step.slots or {}, (step.mine or "") .. p.of, "n_elements", p.values)
    return step.per_row and p.columns and p.vec > 1 and row_streams.for_elements { text } or text
  end
end

-- ---- a sequence of launches ----

-- In which launch of a sequence each step is done: a step waits for the launch after that in which
-- a row is reduced to a value that it needs. What is there once a row every later launch computes.
local function plan_passes(p)
  local g, current, last, ends = p.g, 0, 0, {}
  for n, step in ipairs(g.steps) do
    local ready = 0
    for m = 1, n - 1 do
      local other = g.steps[m]
      if kit.any(other.values, function(value) return step.in_body[value.name] end) then
        ready = math.max(ready, other.pass + (other.reduces and 1 or 0))
      end
    end
    step.pass = step.per_row and ready or math.max(current, ready)
    last = math.max(last, step.pass)
    if not step.per_row then
      current = step.pass
      ends[current] = step
    end
  end
  -- other blocks read what one block will have updated
  local updates = kit.any(g.inputs, function(op)
    return op.old_of and not changes_any(g, op, p.reduced)
  end)
  p.passes = last + 1 + (updates and 1 or 0)
  for pass, step in pairs(ends) do
    step.done = pass < p.passes - 1 and string.format("if (pass == %d) return;", pass) or ""
  end
  p.updates = updates and string.format("if (pass == %d && share > 0) return; // one block updates "
    .. "what there is once a %s", last + 1, p.line) or ""
  p.columns_constant = "constexpr int kColumns = kSide" .. (p.vec > 1 and " * kVec" or "")
    .. "; // of the block"
  p.row_stored = string.format("pass == %d && share == 0 && ", p.passes - 1)
end

-- Where the blocks of a row leave what a step has found of it.
local function plan_partials(p, step, grid)
  local at, mine, left = p.workspace_bytes, step.mine, p.g:name("left" .. step.suffix)
  local each = "#pragma unroll\nfor (int e = 0; e < kColumns / kSide; e++)\n  "
  step.left, step.left_at = left, at // 4
  if p.columns then
    step.gather = string.format("%s%s[e] = combine(%s[e], %s[other * kColumns + e]);", each, mine,
      mine, left)
    step.leave = string.format("%s%s[share * kColumns + e] = %s[e];", each, left, mine)
  else
    step.gather = string.format("%s = combine(%s, %s[other]);", mine, mine, left)
    step.leave = string.format("%s[share] = %s;", left, mine)
  end
  at = at + grid * (p.columns and p.side * p.vec or 1) * step.bytes
  p.workspace_bytes = (at + ALIGN - 1) // ALIGN * ALIGN
end

-- ---- the plan ----

-- Offsets of rows that the body does not name: where a row begins is asked for elsewhere.
local function is_idle(p, op)
  return p.k.ragged ~= nil and op.number == p.k.ragged.offsets and not p.g.in_body[op.name]
end

local function take_streams(p)
  local g = p.g
  p.streams, p.index_values, p.steady, p.held, p.flags = {}, {}, {}, {}, {}
  for _, op in ipairs(g.ops) do
    p.element_names[op.number] = g:name(op.name .. "_e")
    p.streams[op.number] = streams(p, op)
    p.flags[op.number] = op.keeps and row_streams.flag(p, op) or nil
  end
  for _, op in ipairs(g.inputs) do -- index arrays before what lies where they say
    for _, x in ipairs(is_idle(p, op) and {} or p.streams[op.number]) do
      p.index_values[op.number] = op.is_index and "(long long)" .. x.value or nil
      p.values[op.name] = p.index_values[op.number]
      if x.steady then
        table.insert(p.steady, x)
      elseif x.held then
        table.insert(p.held, held_of(p, x))
      end
    end
  end
  for _, step in ipairs(g.steps) do
    for _, value in ipairs(step.values) do
      p.value_names[value.name] = g:name(value.name .. "_e")
    end
  end
end

-- Where in shared memory what is held lies: of each stream an array of vectors, a thread's next to
-- that of the next one.
local function plan_shared(p)
  if row_streams.any_updated(p.held) then
    return "what is updated in place is held in registers"
  end
  local at = 0
  for _, x in ipairs(p.held) do
    x.first_byte = at > 0 and " + " .. at or ""
    local bytes = x.f and x.op.record.fields[x.f].bytes or x.op.record.bytes
    at = at + p.threads * p.items * bytes * (x.many and p.vec or 1)
  end
  p.shared_bytes = at
  return at + SHARED_RESERVED > p.k.device.smem_optin_bytes
    and "it needs more shared memory than a block has" or nil
end

local function traffic(p)
  return kit.map(p.g.ops, function(op)
    local width = op.record.fields[1].bytes
    for _, x in ipairs(p.streams[op.number]) do
      width = math.max(width, x.word or 0)
    end
    return { operand = op.number, width = width }
  end)
end

local function doc_of(p)
  local who = p.passes and "Several blocks have"
    or p.cluster and not p.columns and "A cluster of blocks has"
    or p.chosen and "As many threads as it keeps busy have"
    or p.lanes == 1 and "A thread has" or p.columns and p.lanes .. " threads have"
    or p.lanes == p.threads and "A block has"
    or p.lanes == 32 and "A warp has" or p.lanes .. " lanes have"
  return string.format("%s %s, %s.%s", who, not p.columns and "a row" or p.vec == 1 and "a column"
      or p.vec .. " neighbouring columns", p.is_map and "of any length"
      or p.passes and "read again in each of " .. p.passes .. " launches"
      or p.hold == "none" and "read again in every step"
      or (p.again or p.first) and "whose first elements are loaded once"
      or "whose elements are loaded once",
    p.vec > 1 and not p.columns and string.format(" They move in vectors of %d.", p.vec) or "")
end

-- Elements of the first vector that lie before the row, where rows start anywhere.
local function shift_of(p, walk)
  local index, last = kit.map(p.index, cuda.var), #p.index
  index[last] = p.k.ragged and cuda.var(walk.first) or 0
  local with = p.g:binding(index, function(op) return p.index_values[op.number] end)
  return string.format("n_elements > 0 ? (int)(%s) : 0", p.g:text(p.start % p.vec, with))
end

-- The loop over what a block has of a row, in the launch in which the step is done.
local function pass_loop(p, step)
  local count = step.pass == p.passes - 1 and "n_own"
    or string.format("pass == %d ? n_own : 0", step.pass)
  return string.format("for (long long left = %s, first = from; left > 0; left--, first += by) ",
    count)
end

-- The parts of a row that a step takes one after the other: all of it; or what is held and then,
-- of a row that is longer, the rest, in arrays of the same names.
local function parts(p, step, place)
  local inside = p.place .. " < n_elements"
  local all = { items = p.n_held, place = place, apart = step.apart,
    loop = p.passes and pass_loop(p, step) or p.step_loop,
    skip = p.chunk_skip, inside = p.counts and "item < n_mine" or inside }
  all.apart_place = row_streams.place_of(p, step.apart, place)
  all.declared = p.declare(step.apart,
    (p.odd or row_streams.any_updated(step.apart)) and " = {}")
  if not p.first then
    return { all }
  end
  local held = kit.map(p.held, function(x) return #step.reads[x.op.number] > 0 and x or nil end)
  local rest = { items = "kNext", place = "first + " .. place, apart = held, inside = inside,
    skip = string.format("if (%s >= n_elements) break;", p.place) }
  rest.apart_place = rest.place
  local stride = p.vec > 1 and p.lanes_text .. " * kVec" or p.lanes_text
  local skipped = p.numbers and string.format("n_held < kItems ? %s : ", p.n_span) or ""
  rest.loop = string.format("for (int first = %s%s * kItems; first < %s; first += %s * kNext) ",
    skipped, stride, p.n_span, stride)
  rest.declared = kit.each(held, "{type} {name}[kNext] = {};")
  return { all, rest }
end

-- Indices along several modes at a place of a row, without a division for each: what the modes but
-- the slowest are divided by, and the indices.
local function split_places(p)
  local g, divisors, rests, last = p.g, {}, {}, {}
  local text = "(unsigned int)flat_index"
  for n = #p.reduced, 2, -1 do
    local d = p.reduced[n]
    local by, at = g:name("by_" .. p.k.dims[d]), g:name("at_" .. p.k.dims[d])
    table.insert(divisors, string.format(
      "const divisor %s = divide_by((unsigned int)max(%s, 1ll));", by, g:text(p.k.extents[d])))
    table.insert(rests, at)
    table.insert(last, 1, string.format("const long long %s = %s;", p.index[d], at))
    text = string.format("split(%s, %s, %s)", text, by, at)
  end
  g:require((reduce.count(p.k, p.reduced) + 0 * p.k.extents[1]):lt(1 << 31))
  return kit.concat(divisors), kit.concat { "unsigned int " .. table.concat(rests, ", ") .. ";",
    string.format("const long long %s = %s;", p.index[p.reduced[1]], text), kit.concat(last) }
end

-- How the elements of a row are counted, and the template's texts for it.
local function plan_row(p)
  local g = p.g
  local walk = reduce.walk(g, p.index, p.reduced, "row_first")
  p.range = walk.range(p.exists)
  p.n_elements = p.k.ragged and walk.many or p.exists .. " ? " .. walk.many .. " : 0"
  p.n_span = p.odd and "n_span" or "n_elements"
  p.shift = p.odd and shift_of(p, walk)
  p.step_loop = p.again
    and "for (long long first = 0; first < " .. p.n_span .. "; first += kLanes * kItems" ..
      (p.along > 1 and " * kVec) " or ") ") or ""
  p.place_type = p.again and "long long" or "int"
  local text = string.format(p.along > 1 and "(item * %s + lane) * kVec" or "item * %s + lane",
    p.lanes_text)
  local behind = p.odd and " - shift" or ""
  local place = (p.again and "first + " or "") .. text .. behind
  p.held_text = row_streams.place_of(p, p.held, p.again and not p.odd
    and "(long long)(" .. text .. ")" or text .. behind)
  p.held_skip = p.counts and "if (item >= n_mine) break;" or ""
  local chunk = math.max(1, CHUNK // p.along)
  p.chunk_skip = p.counts and p.items > chunk
    and string.format("if (item %% %d == 0 && item >= n_mine) break;", chunk) or ""
  p.lane_count = p.counts and string.format("// %s of the row that the lane has\n"
    .. "const int n_mine = (%s - lane + %s - 1) %s;", p.vec > 1 and "vectors" or "elements",
    p.vec > 1 and "(" .. p.n_span .. " + kVec - 1) / kVec" or p.n_span, p.lanes_text,
    p.chosen and ">> log_lanes" or "/ kLanes") or ""
  p.parts = function(step) return parts(p, step, place) end
  p.held_doc = (p.again and "the row's first elements" or "the " .. p.line)
    .. ", all loads before the first use" .. ((p.odd or row_streams.any_updated(p.held)) and ""
      or "; lanes after its end load what it ends with")
  p.unroll = "#pragma unroll" .. (p.in_shared and " 4" or "") -- addresses of more would spill
  p.each_element = p.vec > 1 and "#pragma unroll\nfor (int e = 0; e < kVec; e++)" or ""
  p.steady_guard = kit.any(g.steps, function(step) return step.per_row end) and p.exists
    or "n_elements > 0"
  p.indices = p.place == "flat_index" and walk.element("flat_index") or ""
  if #p.reduced > 1 and (p.sequence or p.in_shared) then
    p.divisors, p.indices = split_places(p)
  end
  p.kept_indices = reduce.unravel(g, p.index, p.kept, p.index_name)
end

-- Which threads have which elements; or nil and why not. Vectors are neighbours along a row
-- (p.along of them), or neighbouring columns, whose partials are arrays (p.of is one of those).
local function share_out(k, c)
  local blocks, single = c.blocks or math.max(c.lanes // c.threads, 1), c.vec == 1
  local p = {
    k = k, threads = c.threads, lanes = c.lanes * (c.blocks or 1), vec = c.vec, items = c.items,
    sequence = c.grid > 0, hold = c.hold, evict = c.grid > 0 and "streaming" or c.evict,
    cluster = blocks > 1 and blocks, first = c.hold == "first",
    again = c.hold == "none" or k.ragged ~= nil, is_map = not k.steps, odd = c.start == "any",
    index = {}, values = {}, value_names = {}, element_names = {}, static_shared_bytes = 0,
    row_stored = "", columns_constant = "", divisors = "", in_shared = c.hold == "shared",
  }
  p.kept, p.reduced = dims_of(k)
  p.columns = p.reduced[#p.reduced] ~= #k.dims
  -- the constraints are those of one choice of layouts
  if p.columns and (p.odd or p.first or p.in_shared or c.lanes > c.threads) then
    return nil, "a block or a cluster has columns side by side, in registers"
  elseif not p.columns and (c.blocks and p.cluster or c.lanes > 32 and c.lanes < c.threads) then
    return nil, "a warp, the block or the whole cluster has a row"
  elseif c.grid > 0 and not p.columns and c.lanes ~= c.threads then
    return nil, "of blocks that share a row all threads do"
  end
  p.chosen = p.first and not p.cluster -- how many lanes have a row, at run time
  p.lanes_text = p.chosen and "lanes" or "kLanes"
  p.side, p.along = c.threads // c.lanes, p.columns and 1 or c.vec
  p.of = p.columns and (single and "[0]" or "[e]") or ""
  p.shape = p.columns and (single and "[1]" or "[kVec]") or ""
  p.each_apart = p.odd or p.columns and not single
  return p
end

-- The template's names and texts for rows or columns.
local function name_lines(p)
  local columns = p.columns
  local block = p.sequence and "tile" or p.cluster and "blockIdx.x / kBlocks" or "blockIdx.x"
  p.line, p.last = columns and "column" or "row", p.k.dims[#p.k.dims]
  p.index_name, p.exists = p.line .. "_index", "is_" .. p.line
  p.vec_doc = columns and "neighbouring columns that they have" or "elements of a vector"
  p.items_doc = columns and "elements of a column" or "vectors of a row"
  p.arrive = p.cluster and "cluster_arrive();" or ""
  p.block_threads = p.cluster and "kThreads * kBlocks" or "kThreads"
  p.thread_number = p.cluster and "(blockIdx.x % kBlocks * kThreads + threadIdx.x)" or "threadIdx.x"
  p.first_column = string.format(p.vec > 1 and "(%s) * kVec" or "%s",
    block .. " * (long long)kSide + threadIdx.x % kSide")
end

-- The calls of a row's text: for each number of vectors that a thread may have, up to a third more,
-- one in which nothing branches.
local function calls_of(most)
  local text, n = "", 1
  while n < most do
    text = text .. string.format("if (n_items <= %d) take_row(%d);\nelse ", n, n)
    n = most >= 8 and 2 * n == most and n + most // 4 or 2 * n
  end
  return text .. string.format("take_row(%d);", most)
end

-- How many elements a row may have. Of rows of which the first are held: how many threads have one,
-- how many vectors each, and what they have at once of the rest.
local function name_length(p, rows, many)
  local bytes, most = 0, p.lanes * p.items * p.along - (p.odd and p.vec - 1 or 0)
  p.next_constant, p.numbers, p.n_held = "", false, "kItems"
  if not p.again then
    p.g:require(many:le(p.first and MOST_ELEMENTS or most))
  end
  if not p.first then
    return
  end
  for _, x in ipairs(p.held) do
    bytes = bytes + (x.f and x.op.record.fields[x.f].bytes or x.op.record.bytes)
  end
  p.next_constant = string.format("constexpr int kNext = %d; // %s at once of what follows them",
    math.max(1, math.min(p.items, REST_BYTES // (p.vec * bytes))),
    p.vec > 1 and "vectors" or "elements")
  local vectors = kit.ceil_div(many + (p.odd and p.vec - 1 or 0), p.vec)
  if p.chosen then
    p.log_lanes, p.lanes_chosen = reduce.choose_lanes(p.g, {
      rows = rows, items = p.items, bytes = p.vec * bytes, short = SHORT_BYTES, many = vectors,
      least = 1, most = p.threads })
  end
  -- more would keep so much in registers that too few threads ran
  p.numbers = p.items * p.vec * bytes <= TEXTS_BYTES
  p.counts = not p.numbers -- the vectors that a lane has, in place of a text for each number
  p.n_held, p.calls = p.numbers and "n_held" or "kItems", calls_of(p.items)
  p.n_items = string.format(p.chosen and "((int)%s + lanes - 1) >> log_lanes"
    or "((int)%s + kLanes - 1) / kLanes", p.g:text(vectors, nil, true))
end

-- The grid of a sequence: so many blocks for each tile of rows as make `blocks` of them, while each
-- has a step of its loop.
local function plan_shares(p, tiles, blocks)
  local step = p.lanes * p.items * p.along
  local many = reduce.count(p.k, p.reduced) + 0 * tiles
  local shares = reduce.shares(tiles, blocks, many, step)
  p.g:require(tiles:le(blocks))
  p.g:require(many:le(step << 31)) -- chunks are counted in 32 bits
  p.n_tiles, p.grid_tiles = p.g:text(tiles), { shares, tiles }
  p.left_place = p.columns and "tile * shares * kColumns + threadIdx.x % kSide"
    .. (p.vec > 1 and " * kVec" or "") or "tile * shares"
  p.workspace_bytes = reduce.COUNTER_BYTES -- which stay 0 for kernels that count there
  for _, one in ipairs(p.g.steps) do
    if one.reduces then
      plan_partials(p, one, blocks)
    end
  end
  return tiles * shares
end

-- The template's statements.
local function set_texts(p)
  p.copied = p.in_shared and "async_commit();\n"
    .. "async_wait<0>(); // a thread reads what it has copied itself" or ""
  p.load = function(list) return row_streams.loads(p, list) end
  p.load_inside = function(list) return row_streams.loads_inside(p, list) end
  p.load_there = function(list) return row_streams.loads_there(p, list) end
  p.store = function(step) return row_streams.stores(p, step.outputs) end
  p.any_updated = row_streams.any_updated
  p.declare = function(list, value)
    return kit.each(list, "{type} {name}{shape}" .. (value or "") .. ";")
  end
  p.combine = p.columns and (p.cluster and "combine_columns_cluster<kThreads, kSide, kBlocks>"
    or "combine_columns<kThreads, kSide>")
    or p.cluster and "combine_cluster<kThreads, kBlocks>"
    or p.chosen and "combine_lanes<kThreads>" or "combine_row<kLanes>"
  p.combine_lanes = p.chosen and ", lanes" or ""
end

-- The grid; of a sequence of launches with `blocks` blocks each.
local function plan_grid(p, rows, blocks)
  local tiles = kit.ceil_div(rows, p.columns and p.side * p.vec or math.max(p.side, 1))
  p.grid = p.sequence and plan_shares(p, tiles, blocks)
    or p.chosen and kit.ceil_div(rows * p.lanes_chosen, p.threads) or tiles * (p.cluster or 1)
  if p.cluster then
    p.grid_tiles = { p.cluster + 0 * tiles, tiles }
  end
end

local function plan(k, c)
  local p, reason = share_out(k, c)
  if not p then
    return nil, reason
  end
  local g = generator(k, c.threads)
  p.g = g
  name_lines(p)
  for d, dim in ipairs(k.dims) do
    p.index[d] = g:name(dim)
  end
  p.place = #p.reduced == 1 and not k.ragged and p.index[p.reduced[1]] or "flat_index"
  p.is_inside = p.columns and p.place .. " < n_elements"
    or string.format("%s + e >= 0 && %s + e < n_elements", p.place, p.place)
  take_streams(p)
  if not p.any and p.vec > 1 then
    return nil, "no operand moves in wider words with this width"
  elseif #p.held == 0 and p.hold ~= "none" then
    return nil, "no two steps read the same"
  elseif k.ragged and kit.any(p.held, function(x) return x.op.is_index end) then
    return nil, "of ragged rows an index array along them is not held"
  end
  if p.hold == "shared" then
    reason = plan_shared(p)
    if reason then
      return nil, reason
    end
  end
  if p.vec > 1 and not p.odd then
    g:require((k.extents[#k.dims] % p.vec):eq(0))
  end
  for _, step in ipairs(g.steps) do
    plan_step(p, step)
  end
  if p.sequence then
    plan_passes(p)
    if p.passes == 1 then
      return nil, "no step waits for what another one reduces"
    end
  end
  local rows = reduce.count(k, p.kept)
  p.n_rows = g:text(rows)
  name_length(p, rows + 0 * k.extents[1], reduce.count(k, p.reduced) + 0 * k.extents[1])
  plan_row(p)
  set_texts(p)
  plan_grid(p, rows + 0 * k.extents[1], c.grid)
  p.traffic, p.doc = traffic(p), doc_of(p)
  -- what elements are kept lies in predicates, of which ptxas would spill some to fit more blocks
  local fewer = p.first and c.threads < 1024
    and kit.any(g.outputs, function(op) return op.keeps end)
  p.bounds = (fewer or p.numbers) and string.format("%d, %d", c.threads, 1024 // c.threads)
    or c.threads
  return g:plan(p)
end

-- ---- the space ----

-- The widest vectors of up to 16 bytes that some operand moves in and that make up a row of `last`.
local function widest_fit(k, last, widest)
  local g = cuda.new(setmetatable({ words = {} }, { __index = k }), "rows", 32)
  local fit = kit.word_bytes(math.max(last, 1), kit.word_bytes(16 // math.min(widest, 16)))
  while fit > 1 and not kit.any(g.ops, function(op)
    return kit.any(op.used, function(f)
      return row_streams.wide_vector(g, op, nil, fit) or row_streams.wide_vector(g, op, f, fit)
    end)
  end) do
    fit = fit // 2
  end
  return fit
end

-- The elements of a vector of 16 bytes that starts at an aligned element, of the widest operand
-- that moves so.
local function odd_fit(k, g)
  local bytes, p = 16, { k = k, vec = 16 }
  for _, op in ipairs(g.ops) do
    bytes = g:changes(op, #k.dims) and row_streams.odd_vector(p, op)
      and math.max(bytes < 16 and bytes or 1, op.record.bytes) or bytes
  end
  return 16 // bytes
end

-- Do rows run along several modes that are one? None of these need be a multiple of a vector where
-- rows are.
local function is_joined(k)
  local extent = k.extents[#k.dims]
  return not kit.const_of(extent) and not extent:same(E.vars(extent)[1])
end

-- What the constraints name. At the tuned sizes: rows (kept), the elements of one (many), and the
-- widest vectors (fit). Of the operands that move along a row: the bytes of the widest record
-- (widest), and of all inputs those that several steps read (held), also as values, of 4 bytes or
-- more each, index arrays of 8 (values). Whether rows run along several modes (joined). Whether
-- elements of a row are kept, as those between others are stored one by one from a vector, but side
-- by side from single ones (keeps).
local function facts(k)
  local g = generator(setmetatable({ words = {} }, { __index = k }), 32)
  local widest, held, values, odd = 1, 0, 0, 1
  local _, reduced = dims_of(k)
  for _, op in ipairs(g.ops) do
    if changes_any(g, op, reduced) then
      widest = math.max(widest, op.record.bytes)
      local is_held = not op.is_output and row_streams.readers(g, op) > 1
      for _, field in ipairs(is_held and op.record.fields or {}) do
        held, values = held + field.bytes, values + (op.is_index and 8 or math.max(field.bytes, 4))
      end
    end
  end
  if #reduced == 1 and reduced[1] == #k.dims then
    odd = odd_fit(k, g)
  end
  local keeps = kit.any(g.outputs, function(op)
    return op.keeps and changes_any(g, op, reduced)
  end)
  local many, fit, kept = 1, 1, 1
  for _, extents in ipairs(k.sizes) do
    local count, rows = 1, 1
    for d = 1, #k.dims do
      count = count * (kit.has(reduced, d) and extents[d] or 1)
      rows = rows * (kit.has(reduced, d) and 1 or extents[d])
    end
    kept = math.max(kept, rows)
    many = math.max(many, count // math.max(k.ragged and extents[k.ragged.row] or 1, 1))
    fit = math.max(fit, widest_fit(k, extents[#k.dims], widest))
  end
  return {
    { "widest", widest }, { "held", held }, { "values", values }, { "many", many }, { "fit", fit },
    { "odd", odd }, { "kept", kept }, { "cc", k.device.cc }, { "sms", k.device.sms },
    { "keeps", keeps and 1 or 0 }, { "smem", k.device.smem_optin_bytes },
    { "joined", is_joined(k) and 1 or 0 },
  }
end

-- Rows that blocks share, in a sequence of launches.
local SHARED = {
  "grid == 0 or (hold == 'none' and evict == 'none' and threads >= 256)",
  "grid == 0 or (threads * grid >= 1024 * sms and threads * grid <= 4096 * sms)",
}
local SHARED_ALONG = { "grid == 0 or (lanes == threads and 2 * kept <= grid)" }
local SHARED_COLUMNS = {
  "grid == 0 or (blocks == 1 and 2 * kept <= grid * (threads // lanes) * vec)",
}
local WHERE = {
  "lanes * vec < 2 * many or lanes == 1 or hold == 'first'",
  -- what is held covers a row, and not much more
  "hold == 'none' or hold == 'first' or lanes * vec * items >= many",
  "hold == 'none' or hold == 'first' or items == 1"
    .. " or (items <= 16 and lanes * vec * (items - 1) < many)"
    .. " or (items > 16 and lanes * vec * (items - 4) < many)"
    .. " or (items > 32 and lanes * vec * (items - 8) < many)"
    .. " or (items == 64 and lanes * vec * 32 < many)",
  -- and it fits the registers: half of the 64 that a thread has where there are 1,024
  "hold == 'none' or hold == 'shared' or (held > 0 and vec * items * held <= 128"
    .. " and (threads < 1024 or hold == 'packed' or vec * items * values <= 128))",
  -- small elements that the registers hold, but not as values
  "hold ~= 'packed' or (values > held and vec == fit and vec >= 4 and lanes == threads"
    .. " and threads >= 512 and vec * items * values > 128)",
  -- more than registers hold, in shared memory
  "hold ~= 'shared' or (held > 0 and cc >= 80 and threads >= 512 and lanes >= threads"
    .. " and vec == fit and start == 'vector' and evict == 'none' and vec * items * held >= 96"
    .. " and threads * vec * items * held <= smem)",
  "items <= 32 or items == 64 or hold == 'shared'",
  "hold ~= 'none' or evict == 'none'",
  "start == 'vector' or (vec == odd and (vec > fit or (hold == 'first' and odd > 1)"
    .. " or (joined == 1 and odd > 1)))",
  -- rows of any length: 32 to 128 bytes of one in a thread; more threads for longer rows
  "hold ~= 'first' or (lanes >= threads and threads >= 128 and evict == 'streaming'"
    .. " and (vec == 1 or start == 'any' or (vec == fit and (odd == 1 or vec == odd))))",
  "hold ~= 'first' or (held > 0 and vec * items * held >= 32"
    .. " and (items == 1 or items == 2 or items == 4 or items == 8 or items == 32)"
    .. " and (threads < 1024 or vec * items * held <= 64))",
  "hold ~= 'first' or threads == 128 or many > 8 * threads",
  "hold ~= 'first' or threads >= 512 or many <= 64 * threads",
}
local ALONG = {
  "lanes <= 32 or lanes >= threads", "lanes <= 32 or threads <= 512 or many > 2048",
  "vec == fit or start == 'any' or (2 * vec == fit and items <= 4) or (keeps == 1 and vec == 1)"
    .. " or hold == 'first'",
  "lanes >= 32 or (hold == 'registers' and items <= 4)",
  -- what is read again: rows that a block can hardly hold; 16 to 64 bytes of each array in flight
  "hold ~= 'none' or held == 0 or many * held > 65536",
  "hold ~= 'none' or ((vec == fit or start == 'any') and lanes * vec * items <= many"
    .. " and (items == 1 or items == 2 or items == 4)"
    .. " and (vec * items * widest <= 32 or (threads < 1024 and vec * items * widest <= 64)))",
  -- clusters of 2 to 8 blocks, for rows that the registers of one cannot hold
  "lanes <= threads or (cc >= 90 and lanes <= 8 * threads"
    .. " and (hold == 'shared' or (hold == 'registers' and lanes <= 4096)"
    .. " or (hold == 'first' and threads == 512 and lanes >= 2048"
    .. " and vec * items * held >= 64 and lanes * vec * items < 4 * many))"
    .. " and many * held > 131072 and threads >= 256)",
}

-- Columns: those that a block has side by side fill sectors of 32 bytes.
local COLUMNS = {
  "hold ~= 'first' and hold ~= 'shared'", "items <= 32 or items == 64",
  "vec == fit or 2 * vec == fit or 4 * vec == fit", "threads >= 128",
  "lanes <= threads",
  "threads // lanes * vec * widest >= 32 or threads // lanes * vec >= kept",
  "threads // lanes * vec * widest <= 256 or threads // lanes == 32 or lanes == 1",
  "threads // lanes * vec < 2 * kept", "threads // lanes <= 32 or vec == 1",
  "threads // lanes <= 128 or lanes == 1", "lanes * blocks < 2 * many or lanes * blocks == 1",
  "hold == 'none' or lanes * blocks * items >= many",
  "hold == 'none' or items == 1 or (items <= 16 and lanes * blocks * (items - 1) < many)"
    .. " or (items > 16 and lanes * blocks * (items - 4) < many)"
    .. " or (items == 64 and lanes * blocks * 32 < many)",
  "hold == 'none' or (held > 0 and vec * items * held <= 128"
    .. " and (threads < 1024 or hold == 'packed' or vec * items * values <= 128))",
  "hold ~= 'packed' or (values > held and vec >= 4 and vec * items * values > 128)",
  "evict == 'none' or (threads == 512 and hold ~= 'none')",
  -- what is read again: columns of which a block can hardly hold a sector's
  "hold ~= 'none' or held == 0 or 32 * many * held > 65536 * widest",
  "hold ~= 'none' or (lanes >= 8 and lanes <= 128 and (items == 4 or items == 8 or items == 16)"
    .. " and vec * items * widest >= 16 and vec * items * widest <= 64)",
  -- clusters: where blocks would be few, or their registers cannot hold the columns
  "blocks == 1 or (cc >= 90 and lanes >= blocks and threads >= 256 and vec * items * widest >= 8)",
  "blocks == 1 or kept <= sms * (threads // lanes) * vec or (hold ~= 'none'"
    .. " and (kept <= 2 * sms * (threads // lanes) * vec"
    .. " or many * held * (threads // lanes) * vec > 65536))",
}

-- Rows of different lengths: what is held covers those of mean length, and not much more.
local RAGGED = {
  "vec == 1 or start == 'any'", "start == 'vector' or (vec == odd and odd > 1)",
  "hold ~= 'packed' and hold ~= 'first' and hold ~= 'shared'", "lanes <= threads", "items <= 8",
  "lanes * vec < 4 * many or lanes == 1",
  "hold ~= 'none' or held == 0 or evict == 'none'",
  "hold == 'none' or (held > 0 and vec * items * values <= 64 and lanes * vec * items >= many)",
  "hold == 'none' or items == 1 or lanes * vec * (items - 1) < 2 * many",
  "hold ~= 'none' or items == 1 or items == 2 or items == 4 or items == 8",
}
local RAGGED_ALONG = { "lanes <= 32 or lanes >= threads", "threads <= 512" }
local RAGGED_COLUMNS = { "threads // lanes >= 32" }

local function where(k)
  if k.ragged then
    local _, along = dims_of(k)
    return kit.append(kit.append({}, table.unpack(RAGGED)),
      table.unpack(along[#along] == #k.dims and RAGGED_ALONG or RAGGED_COLUMNS))
  end
  local columns = not k.reduced[#k.dims]
  local list = {}
  for _, conditions in ipairs(columns and { COLUMNS, SHARED, SHARED_COLUMNS }
    or { WHERE, ALONG, SHARED, SHARED_ALONG }) do
    kit.append(list, table.unpack(conditions))
  end
  return list
end

-- The blocks of a launch among which rows are shared that are few and long; 0: they are not.
local function shared_by(k)
  local sms, list, _, reduced = k.device.sms, { 0 }, dims_of(k)
  local long = kit.has(reduced, #k.dims) and LONG_ROW or LONG_COLUMN
  for _, extents in ipairs(k.steps and not k.ragged and k.sizes or {}) do
    local rows, many = 1, 1
    for d, extent in ipairs(extents) do
      rows = rows * (d <= #k.dims and not kit.has(reduced, d) and extent or 1)
      many = many * (d <= #k.dims and kit.has(reduced, d) and extent or 1)
    end
    if many > long and rows <= MOST_SHARED and #list == 1 then
      kit.append(list, 4 * sms, 2 * sms, 8 * sms, 16 * sms)
    end
  end
  return list
end

local function axes(k)
  local list = {
    { "threads", { 256, 128, 512, 1024, 64 }, key = "threads=", doc = "threads per block" },
    { "lanes", { 256, 128, 512, 1024, 2048, 4096, 8192, 64, 32, 16, 8, 4, 2, 1 },
      key = "lanes=",
      doc = "threads that have a row: part of a block, a block, or a cluster of blocks" },
    { "vec", { 16, 8, 4, 2, 1 }, key = "vec=", doc = "neighbouring elements in a vector" },
    { "start", { "vector", "any" }, key = "start=",
      doc = "where rows start: on a whole vector, or anywhere, then the first one is shared" },
    { "hold", { "registers", "packed", "shared", "none", "first" }, key = "hold=",
      doc = "what several steps read: registers: held, as values too; packed: held as loaded; "
        .. "shared: in shared memory; none: read again; first: what fits is held, by as many lanes "
        .. "as a row needs" },
    { "items", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 28, 32, 40,
      48, 56, 64 },
      key = "items=", doc = "vectors of a row that a thread has at once" },
    { "evict", { "none", "streaming" }, key = "evict=",
      doc = "streaming: evict-first policy for what is used once" },
    { "grid", shared_by(k), key = "grid=",
      doc = "blocks of a launch, if a sequence of launches has rows together, each a reduction; "
        .. "0: one launch" },
  }
  if not k.ragged and not k.reduced[#k.dims] then
    list[2] = { "lanes", { 32, 16, 8, 64, 128, 256, 512, 1024, 4, 2, 1 }, key = "lanes=",
      doc = "threads of a block that have a column" }
    list[4] = { "blocks", { 1, 2, 4, 8 }, key = "blocks=",
      doc = "of a cluster, which have columns together" }
  end
  return list
end

return {
  name = "rows",
  doc = "Threads that have a row hold it from step to step.",
  steps = true,
  ragged = true,
  taps = "apart",
  applies = {
    { "the kernel has steps, or rows of different lengths", function(k)
      return k.steps ~= nil or k.ragged ~= nil
    end },
  },
  axes = axes,
  facts = facts,
  where = where,
  template = "rows.cu",
  plan = plan,
}
