-- map: outputs and most inputs run along the same fastest mode. A flat launch over vectors of
-- neighbours along it; records may go through shared memory, a tile's bytes as they lie.

-- Functions of the device library, by the value of `evict`.
local LOADS = { loads = "load_evict_last", streaming = "load_streaming" }
local STORES = { stores = "store_evict_last", streaming = "store_streaming" }

-- How the kernel calls indices: of dimensions, those of an element of the vector with `e`; of index
-- arrays the values that it has loaded.
local function binding(p, e)
  local with, k = {}, p.k
  for d = 1, #k.dims do
    local text = cuda.var(p.index_text[d])
    with[#with + 1] = k.index[d]
    with[#with + 1] = d == #k.dims and e and text + cuda.var("e") or text
  end
  for _, op in ipairs(p.g.inputs) do
    local x = op.is_index and p.stream_of[op.number]
    if x then
      with[#with + 1] = op.index_value
      with[#with + 1] = cuda.var("(long long)" .. x.value)
    end
  end
  return with
end

-- ---- through shared memory ----

-- May a tile of `op` be copied as the bytes that it is? Records that no word holds, behind each
-- other in the order of the index space.
local function stageable(k, op)
  local start = not op.record.bare and not op.is_index and not op.through_index
    and (op.owns_gaps or not op.is_output or op.record.bytes == op.record.data_bytes)
    and records.dense(k, op)
  return start and start % 16 == 0
end

local function any_stageable(k, output)
  if records.flattened(k) then
    return false
  end
  for _, op in ipairs(k.operands) do
    if op.is_output == output and stageable(k, op) then
      return true
    end
  end
  return false
end

-- The tile of `op` in shared memory: texts of the template.
local function stage(p, op)
  local g, bytes = p.g, op.record.bytes
  local type = g:type(op)
  local tile = g:name(op.name .. "_tile")
  local x = {
    op = op, path = "staged", element = type, tile = tile, record = bytes,
    name = g:name(op.name .. "_v"), bytes_at = g:name(op.name .. "_bytes"),
    type = p.vec > 1 and string.format("vec<%s, kVec>", type) or type,
    size = string.format("kTile%s * %d", p.times_vec, bytes), small = kit.word_bytes(bytes),
    word = kit.word_bytes(bytes * p.vec),
  }
  x.value = x.name .. (p.vec > 1 and "[e]" or "")
  local start = records.dense(p.k, op)
  local first = "first" .. p.times_vec
  x.address = op.style == "record" and start % bytes == 0
    and string.format("&%s[%s%s]", op.pointer, first,
      start > 0 and string.format(" + %d", start // bytes) or "")
    or string.format("at_byte<unsigned char>(%s, %d * (%s) + %d)", op.pointer, bytes, first, start)
  x.place = string.format("%s + (item * %s + rank) * %d", tile, p.team, bytes * p.vec)
  x.load_name, x.store_name = LOADS[p.evict] or "load", STORES[p.evict] or "store"
  x.store = string.format("put<%d>(%s, %s);", x.word, x.place, x.name)
  g:need_align(op, 16)
  if #p.k.dims > 1 and p.vec > 1 then
    g:require((p.k.extents[#p.k.dims] % p.vec):eq(0))
  end
  return x
end

-- ---- straight to registers ----

-- The access path of an operand's field, or of its whole value: "once", "item" (one value for a
-- vector), "vector", "reversed", "elements"; and the bytes of its words.
local function path_of(p, op, f)
  local g, last, moves = p.g, #p.k.dims, false
  for d = 1, last do
    moves = moves or g:changes(op, d)
  end
  if not moves and not op.is_output then
    return "once"
  elseif p.vec == 1 or not g:changes(op, last) then
    return "item"
  end
  local vector = g:vector(op, f, last, p.vec)
  local element = f and op.record.fields[f].bytes or math.min(op.record.align, 16)
  if vector and vector.word > element then
    g:adopt(op, vector, p.vec)
    return vector.reversed and "reversed" or "vector", vector.word
  end
  return "elements"
end

-- The words of a field by itself as a template argument: "" where they are as wide as its type is
-- aligned.
local function narrower(p, op, f)
  local field, known = op.record.fields[f or 1], E.divisor(op.offset[f or 1])
  if op.style == "record" then
    return ""
  end
  local word = kit.word_bytes(known, math.min(field.bytes, 16))
  p.g:need_align(op, word)
  return word == math.min(field.bytes, 16) and "" or string.format(", %d", word)
end

-- One field of an operand, or its whole value, on its way: names, types and texts of the template.
local function stream(p, op, f)
  local g = p.g
  local path, word = path_of(p, op, f)
  local field = f and op.record.fields[f].name or ""
  local element = g:type(op, f)
  local many = p.vec > 1 and path ~= "once" and path ~= "item"
  local x = {
    op = op, f = f, path = path, element = element, zero = element .. "()",
    name = g:name(field == "" and op.name .. "_v" or op.name .. "_" .. field .. "_v"),
    type = many and string.format("vec<%s, kVec>", element) or element,
  }
  local item = (path == "once" or op.is_output) and "" or "[item]"
  x.value = x.name .. item .. (many and "[e]" or "")
  local with = binding(p, path == "elements")
  if path == "reversed" then -- the address of what lies lowest: the vector's last element
    local last = #p.k.dims
    with[2 * last] = with[2 * last] + (p.vec - 1)
  end
  x.address = g:address(op, f, with)
  local words = word and string.format(", %d", word) or narrower(p, op, f)
  local moved = path == "elements" and element or x.type
  if op.is_output then
    x.store = string.format("%s%s(%s, %s);", STORES[p.evict] or "store",
      words == "" and "" or "<" .. string.sub(words, 3) .. ">", x.address,
      path == "elements" and x.value or x.name)
    return x
  end
  local reused = path == "once" or (path == "item" and p.vec > 1)
  x.load = string.format("%s<%s%s>(%s)", not reused and LOADS[p.evict] or "load", moved, words,
    x.address)
  x.load = path == "reversed" and "reversed(" .. x.load .. ")" or x.load
  x.load_some = string.format("load_some<%s, kVec>(%s, %s)", element, x.address, p.left)
  return x
end

-- The streams of an operand: whole records where they are runs, else its fields.
local function streams(p, op, staged)
  if staged then
    p.stream_of[op.number] = stage(p, op)
    return { p.stream_of[op.number] }
  end
  local list, g, last = {}, p.g, #p.k.dims
  local whole = op.record.bare or op.style == "record" and #op.used == #op.record.fields
    and (p.vec == 1 or g:vector(op, nil, last, p.vec) or not g:changes(op, last))
  if whole then
    list[1] = stream(p, op)
    p.stream_of[op.number] = list[1]
    return list
  end
  for _, f in ipairs(op.used) do
    list[#list + 1] = stream(p, op, f)
  end
  return list
end

-- The statements that compute one element.
local function compute(p)
  local g, k, before, behind, values = p.g, p.k, {}, {}, {}
  for d, dim in ipairs(k.dims) do
    values[dim] = p.index_text[d] .. (d == #k.dims and p.vec > 1 and " + e" or "")
  end
  for _, op in ipairs(g.ops) do
    local whole = p.stream_of[op.number]
    values[op.name] = whole and whole.value
    if not whole then
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

-- How the template counts vectors: p.inner, all modes but the first, the innermost first.
local function count_modes(p)
  local k, g = p.k, p.g
  local last, extent = #k.dims, k.extents[#k.dims]
  p.modes, p.inner, p.index_text = k.dims, {}, {}
  p.last, p.elements, p.vectors = k.dims[last], 1, 1
  for d = 1, last do
    local n = d == last and kit.ceil_div(extent, p.vec) or k.extents[d]
    p.vectors, p.elements = p.vectors * n, p.elements * k.extents[d]
    p.index_text[d] = last > 1 and "at." .. k.dims[d] or g:name(k.dims[d])
    if d > 1 then
      g:require(k.extents[d]:lt(1 << 31))
      table.insert(p.inner, 1, {
        dim = k.dims[d], extent = g:text(n), constant = kit.const_of(n),
        count = g:name("count_" .. k.dims[d]), first = g:name("first_" .. k.dims[d]),
        by = g:name("by_" .. k.dims[d]),
      })
    end
  end
  local text = g:text(extent)
  p.left = string.format("%s - %s", text, p.index_text[last])
  p.vectors_text = g:text(p.vectors)
  p.here = last > 1 and "const place at = where[item];"
    or string.format("const long long %s = vector%s;", p.index_text[1], p.times_vec)
  p.elements_text = g:text(p.elements)
end

-- When all of a tile's vectors are whole; p.partial: a mode's last vector may not be.
local function see_tails(p)
  local k, g = p.k, p.g
  local extent, needed = k.extents[#k.dims], {}
  for _, var in ipairs(k.extent_vars) do
    for _, condition in ipairs(g.requires) do
      needed[#needed + 1] = condition:same((var % p.vec):eq(0)) and var or nil
    end
  end
  p.partial = p.vec > 1 and E.divisor(extent, needed, p.vec) % p.vec ~= 0
  p.whole = "first + kTile <= " .. p.vectors_text
  if p.partial then
    p.whole = #k.dims == 1 and "(first + kTile) * kVec <= " .. g:text(extent)
      or string.format("%s && %s == 0", p.whole, g:text(extent % p.vec))
  end
end

-- Every operand's streams, sorted for the template. nil and a reason where wide vectors serve none.
local function move_operands(p, c)
  local g, rounds, any = p.g, { {}, {} }, p.vec == 1
  for _, list in ipairs { g.inputs, g.outputs } do
    for _, op in ipairs(list) do
      local staged = (op.is_output and c.store or c.load) == "staged" and stageable(p.k, op)
      p.streams[op.number] = streams(p, op, staged)
      for _, x in ipairs(p.streams[op.number]) do
        any = any or x.path == "vector" or x.path == "reversed"
        if x.path == "staged" then
          table.insert(p.tiles, x)
          table.insert(op.is_output and p.staged_out or p.staged_in, x)
        end
        if op.is_output then
          table.insert(p.results, x)
        elseif x.path == "once" then
          table.insert(p.once, x)
        elseif x.path ~= "staged" then
          table.insert(p.arrays, x)
          table.insert(rounds[op.through_index and 2 or 1], x)
        end
      end
    end
  end
  for _, round in ipairs(rounds) do
    p.load_rounds[#p.load_rounds + 1] = #round > 0 and round or nil
  end
  return any or nil, "no operand moves in wider words with this width"
end

-- Shared memory and the parameters of move_tile that stand for it.
local function place_tiles(p)
  local params, passed = p.g:param_list(), { p.g:arguments_text() }
  p.static_shared_bytes = 0
  for _, x in ipairs(p.tiles) do
    local bytes = p.threads_tile * p.vec * x.record
    p.static_shared_bytes = p.static_shared_bytes + bytes
    params[#params + 1] = "unsigned char *" .. x.tile
    passed[#passed + 1] = x.tile .. (p.warps and string.format(" + warp * (%s)", x.size) or "")
  end
  p.params = kit.wrapped(params, 4, "    ")
  p.passed = table.concat(passed, ", ")
  return p.static_shared_bytes <= p.k.device.smem_block_bytes
end

local DOC = "Each thread moves %d vector%s of %d neighbouring element%s%s."

local function plan(k, c)
  if k.device.cc < 80 and (c.evict == "loads" or c.evict == "stores") then
    return nil, "policies of L2 need sm_80"
  end
  k = records.flattened(k) or k
  local g = cuda.new(k, "map", c.threads)
  local warps = c.team == "warp"
  local p = {
    items = c.items, vec = c.vec, evict = c.evict, k = k, g = g, warps = warps,
    team = warps and "kTeam" or "kThreads", teams = warps and "kThreads / kTeam * " or "",
    times_vec = c.vec > 1 and " * kVec" or "",
    sync = warps and "__syncwarp();" or "__syncthreads();", threads_tile = c.threads * c.items,
    once = {}, arrays = {}, results = {}, streams = {}, stream_of = {}, load_rounds = {},
    staged_in = {}, staged_out = {}, tiles = {},
  }
  count_modes(p)
  local good, reason = move_operands(p, c)
  if not good then
    return nil, reason
  elseif not place_tiles(p) then
    return nil, "the tiles need more shared memory than a block has"
  end
  see_tails(p)
  p.compute = compute(p)
  p.doc = string.format(DOC, c.items, c.items > 1 and "s" or "", c.vec, c.vec > 1 and "s" or "",
    #p.tiles > 0 and "; records go through shared memory as they lie" or "")
  local tile = (warps and 32 or c.threads) * c.items
  p.grid = kit.ceil_div(p.vectors, tile * (warps and c.threads // 32 or 1))
  return g:plan(p)
end

local function axes(k)
  local list = {
    { "threads", { 256, 128, 512 }, key = "threads=", doc = "threads a block" },
    { "items", { 1, 2, 4, 8 }, key = "items=", doc = "vectors a thread, all loads in flight" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "vec=", doc = "neighbouring elements in a vector" },
  }
  local staged = {}
  local function add(side, what)
    if any_stageable(k, side == "store") then
      staged[#staged + 1] = side .. " == 'staged'"
      list[#list + 1] = { side, { "straight", "staged" }, key = side .. "=", doc = what
        .. " of records: straight to registers, or a tile's bytes through shared memory" }
    end
  end
  add("load", "inputs")
  add("store", "outputs")
  if #staged > 0 then
    list[#list + 1] = { "team", { "block", "warp" }, key = "team=",
      when = table.concat(staged, " or "),
      doc = "who shares a tile: warps need no barrier of the block" }
  end
  list[#list + 1] = { "evict", { "none", "loads", "stores", "streaming" }, key = "evict=",
    doc = "loads, stores: L2 gives up last what is loaded, or stored; streaming: used once" }
  return list
end

return {
  name = "map",
  doc = "A flat launch over vectors of neighbours along the fastest mode.",
  applies = {},
  splits = "all",
  axes = axes,
  where = {
    "items * vec <= 16 or items * vec * thread_bytes <= 128", "items * vec * thread_bytes <= 256",
  },
  facts = function(k)
    local bytes, flat = 0, records.flattened(k)
    for _, op in ipairs((flat or k).operands) do
      bytes = bytes + op.record.bytes
    end
    return { { "thread_bytes", bytes } }
  end,
  template = "map_kernel.cu",
  plan = plan,
}
