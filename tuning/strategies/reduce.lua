-- reduce: some modes are summed (or their largest or smallest element is found). The lanes of a
-- group run along the fastest mode of the inputs, whether it is kept or reduced; the groups of a
-- block run along the other kind. Places of the kept modes are numbered through, and so are those
-- of the reduced ones, so that any number of either is dealt out alike. With lanes=any as many
-- lanes share an output as its elements keep busy, chosen at run time, so that one kernel serves
-- rows of any length.
local ODD_VECTOR_BYTES = 16
local MOST_ELEMENTS = 1 << 30 -- of a row whose lanes are chosen, counted in 32 bits
local LEAST_STEPS = 4 -- of a row before several blocks share it
local CHUNK = 16 -- elements that a lane of a short row takes without a branch

-- ---- the numbers of places ----

-- What the kernel calls the index of each mode; `e`: `e` elements on along the fastest one.
local function binding(p, e)
  local at = kit.map(p.names, cuda.var)
  at[#at] = e and at[#at] + cuda.var("e") or at[#at]
  return p.g:binding(at, function(op) return p.index_values[op.number] end)
end

-- Text that declares the indices of `dims` at the place with the number `text`.
local function unravel(p, dims, text)
  local lines = {}
  if #dims == 1 then
    lines[1] = string.format("const long long %s = %s;", p.names[dims[1]], text)
  elseif #dims > 1 then
    local rests = {}
    text = "(unsigned int)(" .. text .. ")"
    for n = #dims, 2, -1 do
      local d = p.divided[dims[n]]
      table.insert(rests, 1, d.rest)
      text = string.format("split(%s, %s, %s)", text, d.by, d.rest)
    end
    lines[1] = "unsigned int " .. table.concat(rests, ", ") .. ";"
    lines[2] = string.format("const long long %s = %s;", p.names[dims[1]], text)
    for n = 2, #dims do
      lines[n + 1] = string.format("const long long %s = %s;", p.names[dims[n]],
        p.divided[dims[n]].rest)
    end
  end
  return kit.concat(lines)
end

-- Names for the modes' indices, and divisors of those that are found by division.
local function name_modes(p)
  local g, k = p.g, p.k
  p.names, p.divided, p.divisors = {}, {}, {}
  for d, dim in ipairs(k.dims) do
    p.names[d] = g:name(dim)
  end
  for _, dims in ipairs { p.kept, p.reduced } do
    for n = 2, #dims do
      local d = dims[n]
      p.divided[d] = { by = g:name("by_" .. k.dims[d]), rest = g:name("at_" .. k.dims[d]),
                       extent = g:text(k.extents[d]) }
      table.insert(p.divisors, p.divided[d])
    end
    local count = reduce.count(k, dims)
    if #dims > 1 and not kit.const_of(count) then
      g:require(count:lt(1 << 31))
    end
  end
  p.reduced_name = #p.reduced == 1 and p.names[p.reduced[1]] or "flat_index"
  p.names_reduced = reduce.any_index(p.slots)
    or kit.any(p.reduced, function(d) return g.in_body[k.dims[d]] end)
end

-- ---- operands on their way ----

local function changes_any(g, op, dims)
  return kit.any(dims, function(d) return g:changes(op, d) end)
end

-- The bytes of the words in which `op` moves from the first aligned one of a row on; nil where rows
-- start otherwise than those of other inputs.
local function odd_word(p, op)
  local k, bytes = p.k, op.record.bytes
  local step = strides.step(k, op, 1, #k.dims)
  if not op.record.bare or op.is_index or op.through_index or op.style == "bytes"
    or bytes * p.vec ~= ODD_VECTOR_BYTES or not step or kit.const_of(step) ~= bytes then
    return nil
  end
  p.first_odd = p.first_odd or op
  return E.divisor(op.offset[1] - p.first_odd.offset[1]) % ODD_VECTOR_BYTES == 0
    and ODD_VECTOR_BYTES or nil
end

-- The access path of field f of `op`, or of its whole records: "item" (a value a vector), "vector",
-- "elements"; of a vector also its words' bytes.
local function path_of(p, op, f)
  local g, last = p.g, #p.k.dims
  if p.vec == 1 or not g:changes(op, last) then
    return "item"
  elseif p.odd then
    local word = odd_word(p, op)
    if word then
      table.insert(p.odd_ops, op)
      return "vector", word
    end
    return "elements"
  end
  local vector = g:wide_vector(op, f, last, p.vec)
  if vector then
    g:adopt(op, vector, p.vec)
    return "vector", vector.word
  end
  return "elements"
end

-- One field of an operand, or its whole value: names, types and texts of the template.
local function stream(p, op, f)
  local g = p.g
  local x = { op = op, f = f, element = g:type(op, f) }
  x.path, x.word = path_of(p, op, f)
  x.name = g:value_name(op, f)
  x.many = x.path ~= "item"
  x.type = x.many and string.format("vec<%s, kVec>", x.element) or x.element
  x.steady = not changes_any(g, op, p.reduced)
  local across = p.outputs > 1 and (x.steady or changes_any(g, op, p.kept))
  x.shape = (across and "[kOutputs]" or "") .. (x.steady and "" or "[kItems]")
  x.at = x.name .. (across and "[output]" or "") .. (x.steady and "" or "[item]")
  x.value = x.at .. (x.many and "[e]" or "")
  p.any = p.any or x.path == "vector"
  return x
end

-- The text that loads a stream's vector or element.
local function load_text(p, x, with)
  local op, vector = x.op, x.path == "vector"
  local streaming = p.evict == "streaming" and not x.steady
  local _, shorter = p.g:single(op, x.f)
  local word, field = x.word or shorter, op.record.fields[x.f or 1]
  local built_in = (x.f or op.record.bare) and cuda.is_built_in(field)
  if not vector and not word and built_in then
    return string.format("%s(%s)", streaming and "__ldcs" or "__ldg", p.g:address(op, x.f, with))
  end
  return cuda.load(streaming and "load_streaming" or "load", vector and x.type or x.element, word,
    p.g:address(op, x.f, with))
end

-- The streams of an operand: whole records where they are runs, else the fields that are read.
local function streams(p, op)
  local g, last = p.g, #p.k.dims
  local whole = op.record.bare or p.vec == 1 or g:vector(op, nil, last, p.vec)
    or not g:changes(op, last)
  return kit.map(cuda.parts(op, whole), function(f) return stream(p, op, f or nil) end)
end

-- Statements that load `list` at the indices' variables.
local function load_lines(p, list)
  local lines, elements = {}, {}
  for _, x in ipairs(list) do
    local each = x.path == "elements"
    table.insert(each and elements or lines, string.format("%s = %s;", each and x.value or x.at,
      load_text(p, x, binding(p, each))))
  end
  if #elements > 0 then
    lines[#lines + 1] = "#pragma unroll\nfor (int e = 0; e < kVec; e++) {\n  "
      .. table.concat(elements, "\n  ") .. "\n}"
  end
  return kit.concat(lines)
end

-- ---- an element's contribution ----

-- Statements that combine what the body gives with `mine[index]`. `value(x)` is the text of a
-- stream's value, `index_of(d)` that of a dimension's index, as `with` has them for expressions.
local function contribute(p, index, value, index_of, with)
  local g, lines, values = p.g, {}, {}
  for d, dim in ipairs(p.k.dims) do
    values[dim] = index_of(d)
  end
  for _, op in ipairs(g.inputs) do
    local list = p.streams[op.number]
    if list[1] and not list[1].f then
      values[op.name] = value(list[1])
    else
      values[op.name] = p.element_names[op.number]
      lines[#lines + 1] = string.format("%s %s;", g:type(op), values[op.name])
      for _, x in ipairs(list) do
        lines[#lines + 1] = string.format("%s = %s;",
          kit.member(values[op.name], op.record.fields[x.f]), value(x))
      end
    end
  end
  for _, op in ipairs(g.outputs) do
    values[op.name] = p.element_names[op.number]
    lines[#lines + 1] = string.format("%s %s;", reduce.given_type(op), values[op.name])
  end
  lines[#lines + 1] = g:call(values)
  lines[#lines + 1] = string.format("mine[%s] = combine(mine[%s], {%s});", index, index,
    reduce.members(p.slots, function(op) return values[op.name] end,
      function() return g:text(p.k.reduced_index, with, true) end))
  return kit.concat(lines)
end

-- The element `e` of the vectors that are loaded.
local function add_value(p)
  local e = p.vec > 1 and "e" or "0"
  local index = p.outputs > 1 and "output" or "0"
  if not p.rows then
    index = p.outputs > 1 and (p.vec > 1 and "output * kVec + e" or "output") or e
  end
  return contribute(p, index, function(x) return x.value end, function(d)
    return d == #p.k.dims and p.vec > 1 and p.names[d] .. " + e" or p.names[d]
  end, binding(p, p.vec > 1))
end

-- Statements that load what a row's edge has of the streams, by single accesses.
local function load_edges(p)
  local with = binding(p)
  return kit.each(kit.map(p.edges, function(x)
    local single = { op = x.op, f = x.f, element = x.element, path = "item" }
    return { edge = x.edge, text = load_text(p, single, with) }
  end), "{edge}[k] = {text};")
end

-- The element of the edge that was loaded.
local function add_edge(p)
  return contribute(p, "0", function(x) return x.edge and x.edge .. "[k]" or x.value end,
    function(d) return p.names[d] end, binding(p))
end

-- Text that stores `value` to field `f` of `op` at the indices' variables, or at those of `with`.
local function store_text(p, op, f, value, with)
  local _, word = p.g:single(op, f)
  with = with or binding(p)
  return word and string.format("store<%d>(%s, %s);", word, p.g:address(op, f, with), value)
    or string.format("%s = %s;", p.g:place(op, f, with), value)
end

-- Text of what field `f` of `op` holds there.
local function held_text(p, op, f, with)
  local _, word = p.g:single(op, f)
  with = with or binding(p)
  return word and cuda.load("load_coherent", p.g:type(op, f), word, p.g:address(op, f, with))
    or p.g:place(op, f, with)
end

-- Something was reduced; else outputs that are inout stay as they are.
local SOME = "n_reduced > 0"

-- Statements that store outputs of which each element belongs to one thread, either inout ones or
-- the others, as vectors where elements are neighbours in memory.
local function store_vectors(p, is_inout)
  local g, lines, after, vectors, with = p.g, {}, {}, {}, binding(p)
  for _, op in ipairs(g.outputs) do
    local whole = op.record.bare or g:wide_vector(op, nil, #p.k.dims, p.vec) ~= nil
    for _, f in ipairs(op.is_inout == is_inout and cuda.parts(op, whole) or {}) do
      f = f or nil
      local vector = g:wide_vector(op, f, #p.k.dims, p.vec)
      local name = vector and g:value_name(op, f)
      if vector then
        g:adopt(op, vector, p.vec)
        local type = string.format("vec<%s, kVec>", g:type(op, f))
        local held = is_inout
          and " = " .. cuda.load("load_coherent", type, vector.word, g:address(op, f, with)) or ""
        lines[#lines + 1] = string.format("%s %s%s;", type, name, held)
        after[#after + 1] = cuda.store("store", vector.word, g:address(op, f, with), name)
      end
      vectors[op] = vectors[op] or {}
      vectors[op][f or 0] = name
    end
  end
  local function element(op, f)
    local whole, part = vectors[op][0], vectors[op][f]
    return whole and kit.member(whole .. "[e]", op.record.fields[f]) or part and part .. "[e]"
  end
  local slots = kit.map(p.slots, function(slot) return vectors[slot.op] and slot end)
  if #slots == 0 then
    return ""
  end
  local each = reduce.stores(slots, p.outputs > 1 and "mine[output * kVec + e]" or "mine[e]",
    "n_reduced",
    function(op, f, value)
      local to = element(op, f)
      return to and string.format("%s = %s;", to, value)
        or store_text(p, op, f, value, binding(p, true))
    end,
    function(op, f) return element(op, f) or held_text(p, op, f, binding(p, true)) end)
  kit.append(lines, "#pragma unroll\nfor (int e = 0; e < kVec; e++) {\n  "
    .. string.gsub(each, "\n", "\n  ") .. "\n}", table.unpack(after))
  return kit.concat(lines)
end

-- Statements that store all of them.
local function store_own(p)
  if p.vec == 1 or p.rows then
    return p.store(p.outputs > 1 and "mine[output]" or "mine[0]")
  end
  return kit.concat { store_vectors(p, false), reduce.update(SOME, store_vectors(p, true)) }
end

-- The template's texts that store: the partial `name`, and what a thread has to itself.
local function set_stores(p)
  p.store = function(name)
    return reduce.stores(p.slots, name, "n_reduced", function(...) return store_text(p, ...) end,
      function(...) return held_text(p, ...) end, SOME)
  end
  p.store_own = function() return store_own(p) end
end

-- ---- the plan ----

-- Constants and texts of the template that differ between the two cases: the fastest mode is
-- reduced (p.rows), or kept.
local function constants(p)
  local many, vec = p.outputs > 1, p.vec > 1
  p.outputs_doc = vec and not p.rows and "vectors of outputs" or "outputs"
  local times_vec = vec and " * kVec" or ""
  local out = many and "(tile * kOutputs + output)" or "tile"
  if p.rows then
    local lanes = p.chosen and "lanes" or "kLanes"
    p.kept_text = many and out .. " * (long long)kGroups + group"
      or p.chosen and "tile * (long long)n_groups + group" or "tile * kGroups + group"
    p.place_text = string.format(vec and "(item * %s + lane) * kVec" or "item * %s + lane", lanes)
    p.n_members, p.n_kept_block = p.lanes, p.threads // p.lanes * p.outputs
    p.step_constant, p.mine_constant = lanes .. " * kItems" .. times_vec, many and "kOutputs" or "1"
    p.in_shared, p.alone, p.is_storing = false, false, "lane == 0 && "
    p.combine = p.chosen and "mine[0] = combine_lanes<kThreads>(mine[0], lanes);"
      or p.lanes > 32 and "mine[0] = combine_row<kLanes>(mine[0]);"
      or "combine_across<1, kLanes>(mine);"
    p.n_parts = p.lanes > 32 and p.threads // 32 or 0
    p.tiles_text = "n_kept"
    p.lanes_doc = "threads side by side along " .. p.last .. ", that share an output"
    p.groups_doc = "of them, each with outputs of its own"
  else
    p.kept_text = string.format("(%s * kLanes + lane)%s", out, times_vec)
    p.place_text = "item * kGroups + group"
    p.member, p.members, p.n_members = "group", "kGroups", p.threads // p.lanes
    p.kept_constant, p.n_kept_block = "kLanes" .. times_vec .. (many and " * kOutputs" or ""),
      p.lanes * p.vec * p.outputs
    p.step_constant = "kGroups * kItems"
    p.mine_constant = kit.concat({ many and "kOutputs" or "", vec and "kVec" or "" }, " * ")
    p.mine_constant = p.mine_constant == "" and "1" or p.mine_constant
    p.alone = p.lanes == p.threads and not p.shared
    p.in_shared, p.is_storing = not p.alone, ""
    p.tiles_text = "(n_kept + kKept - 1) / kKept"
    p.lanes_first = p.lanes < 32 and "kLanes"
    p.holds_part = p.lanes < 32 and "threadIdx.x % 32 < kLanes"
    p.part_text = p.lanes < 32 and "threadIdx.x / 32" or "group"
    p.parts_constant = p.lanes < 32 and "kThreads / 32" or "kGroups"
    p.n_parts = p.alone and 0 or p.lanes < 32 and p.threads // 32 or p.n_members
    p.index_text = not vec and (many and "m * kLanes + lane" or "lane")
      or many and "(m / kVec * kLanes + lane) * kVec + m % kVec" or "lane * kVec + m"
    p.lanes_doc = "threads side by side along " .. p.last
    p.groups_doc = "of them, that share outputs"
  end
end

-- How the loop over what is reduced goes; where rows start anywhere, over their whole vectors.
local function loop(p)
  local vec = p.vec
  p.step = p.chosen and "n_step" or "kStep"
  p.loop_first, p.loop_last = p.odd and "before" or "0", p.odd and "stop" or "n_reduced"
  p.loop_step = p.step
  if p.shared then
    local times = p.chosen and " * n_step" or " * (long long)kStep"
    p.loop_first, p.loop_step = (p.odd and "before + " or "") .. "share" .. times, "shares" .. times
  end
  local chunk = math.max(1, CHUNK // vec)
  p.skip = p.chosen and p.items > chunk
    and string.format("if (item %% %d == 0 && guarded && place >= left) break;", chunk) or ""
end

-- What rows that start anywhere have at their ends: elements of no whole vector.
local function plan_edges(p)
  local with = binding(p)
  with[2 * #p.k.dims] = 0
  local at = p.g:address(p.first_odd, nil, with)
  p.before = string.format("(-(unsigned long long)%s %% %d) / %d", at, ODD_VECTOR_BYTES,
    p.odd_bytes)
  p.lanes_text = p.chosen and "lanes" or "kLanes"
  p.edges_constant = kit.ceil_div(2 * (p.vec - 1), p.least_lanes)
  p.edges_mine, p.edges_else = p.shared and "share == 0 ? " or "", p.shared and " : 0" or ""
  p.edges = p.moving
  for _, x in ipairs(p.edges) do
    x.edge = p.g:name("edge_" .. x.name)
  end
  p.load_edges = function() return load_edges(p) end
  p.add_edge = function() return add_edge(p) end
  for _, op in ipairs(p.odd_ops) do -- several start alike only where all are aligned
    p.g:need_align(op, #p.odd_ops > 1 and ODD_VECTOR_BYTES or p.odd_bytes)
  end
end

-- The number of tiles of outputs. Where lanes are chosen at run time, how.
local function count_tiles(p, n_kept, n_reduced)
  local k = p.k
  n_kept, n_reduced = n_kept + 0 * k.extents[1], n_reduced + 0 * k.extents[1]
  if not p.chosen then
    p.least_lanes = p.lanes
    return kit.ceil_div(n_kept, p.n_kept_block)
  end
  local bytes = 0
  for _, x in ipairs(p.moving) do
    bytes = bytes + (x.f and x.op.record.fields[x.f].bytes or x.op.record.bytes)
  end
  p.g:require(n_reduced:le(MOST_ELEMENTS))
  local log, lanes, least = reduce.choose_lanes(p.g, {
    rows = n_kept, many = p.odd and n_reduced // p.vec or kit.ceil_div(n_reduced, p.vec),
    items = p.items, bytes = p.vec * bytes, least = p.odd and p.vec // 2 or 1, most = p.threads,
  })
  p.log_lanes, p.least_lanes = log, least
  return kit.ceil_div(n_kept * lanes, p.threads)
end

-- Tiles of outputs, and the blocks that share each.
local function plan_grid(p, n_kept, n_reduced)
  local tiles, shares = count_tiles(p, n_kept, n_reduced), 1
  if p.shared then
    local step, many = p.n_members * p.items * (p.rows and p.vec or 1), n_reduced + 0 * tiles
    if p.chosen then
      many = many * (0 * many + LEAST_STEPS * step):le(many)
    end
    shares = reduce.shares(tiles, p.blocks, many, step)
    p.workspace_bytes = reduce.COUNTER_BYTES + p.blocks * p.n_kept_block * p.partial_bytes
  end
  p.grid, p.grid_tiles = tiles * shares, { tiles, shares + 0 * tiles }
  p.static_shared_bytes = p.n_parts * p.n_kept_block * p.partial_bytes + 16
end

-- Are the axes those of another choice of layouts, by which the constraints were checked?
local function is_other(p)
  return (p.odd or p.chosen) and not p.rows or p.odd and #p.reduced > 1
    or p.rows and (p.shared and p.lanes < p.threads or p.outputs > 1 and p.lanes > 32)
end

local function doc_of(p)
  local who = p.chosen and "As many lanes as an output keeps busy"
    or string.format(p.rows and "Groups that share an output, of %d lanes" or "Groups of %d lanes",
      p.lanes)
  return string.format("%s read %d neighbours along %s each, %d x %d at once.", who, p.vec, p.last,
    p.items, p.outputs)
end

local function names_any(p, dims)
  return kit.any(dims, function(d) return p.g.in_body[p.k.dims[d]] end)
end

local function take_streams(p)
  local g = p.g
  p.streams, p.element_names, p.index_values, p.steady, p.moving = {}, {}, {}, {}, {}
  for _, op in ipairs(g.ops) do
    p.element_names[op.number] = g:name(op.name .. "_e")
  end
  for _, op in ipairs(g.inputs) do
    p.streams[op.number] = streams(p, op)
    for _, x in ipairs(p.streams[op.number]) do
      table.insert(x.steady and p.steady or p.moving, x)
      if op.is_index then
        p.index_values[op.number] = "(long long)" .. x.value
      end
    end
  end
end

-- What moves before the kernel is compiled and counted: the widths of the accesses.
local function traffic(p)
  local list = {}
  for _, op in ipairs(p.g.ops) do
    local width = op.record.fields[1].bytes
    for _, x in ipairs(p.streams[op.number] or {}) do
      width = math.max(width, x.word or 0)
    end
    list[#list + 1] = { operand = op.number, width = width }
  end
  return list
end

local function plan(k, c)
  local g = cuda.new(k, "reduce", c.threads)
  local p = {
    g = g, k = k, threads = c.threads, chosen = c.lanes == "any", vec = c.vec, items = c.items,
    outputs = c.outputs, blocks = c.blocks, evict = c.evict, odd = c.start == "any", odd_ops = {},
    shared = c.blocks > 1,
    last = k.dims[#k.dims], rows = k.reduced[#k.dims],
  }
  p.lanes = p.chosen and p.threads or c.lanes
  p.number = p.chosen and "int" or "long long" -- of elements that are reduced
  p.slots, p.partial_bytes = reduce.slots(g)
  p.definitions = reduce.definitions(p.slots)
  p.each_output = p.outputs > 1
    and "#pragma unroll\nfor (int output = 0; output < kOutputs; output++)" or ""
  p.kept, p.reduced = reduce.dims(k)
  name_modes(p)
  take_streams(p)
  if not p.any and p.vec > 1 then
    return nil, "no operand moves in wider words with this width"
  end
  if p.vec > 1 and not p.odd then
    g:require((k.extents[#k.dims] % p.vec):eq(0))
  end
  p.odd_bytes = p.odd and ODD_VECTOR_BYTES // p.vec
  constants(p)
  if is_other(p) then
    return nil, "the axes are those of another choice of layouts"
  end
  loop(p)
  local n_kept, n_reduced = reduce.count(k, p.kept), reduce.count(k, p.reduced)
  p.n_kept, p.n_reduced = g:text(n_kept), g:text(n_reduced)
  plan_grid(p, n_kept, n_reduced)
  if p.odd then
    plan_edges(p)
  end
  local clamp = (p.rows or p.vec == 1) and "n_kept - 1" or "n_kept - kVec"
  p.place_kept = function(text)
    return unravel(p, p.kept, text or string.format("min(%s, %s)", p.kept_text, clamp))
  end
  p.place_reduced = function()
    return #p.reduced > 1 and unravel(p, p.reduced, "flat_index") or ""
  end
  p.load = function(list) return load_lines(p, list) end
  p.add_value = function() return add_value(p) end
  set_stores(p)
  p.names_kept = names_any(p, p.kept)
  p.traffic, p.doc = traffic(p), doc_of(p)
  p.p = p
  return g:plan(p)
end

-- ---- the space ----

-- Does any input move in vectors of `width` neighbours along the fastest mode?
local function any_vector(g, width)
  return kit.any(g.inputs, function(op)
    return kit.any(op.used, function(f)
      return g:wide_vector(op, nil, #g.k.dims, width) or g:wide_vector(op, f, #g.k.dims, width)
    end)
  end)
end

-- The widest vectors of `last` elements along the fastest mode that some input moves in.
local function widest_fit(g, last, widest)
  local fit = kit.word_bytes(math.max(last, 1), 16)
  while fit > 1 and (fit * widest > 16 or not any_vector(g, fit)) do
    fit = fit // 2
  end
  return fit
end

-- What the constraints name. At the tuned sizes: the outputs (kept), the elements that become one
-- (many, fewest), the fastest mode's extent (fast), and the widest vectors that it is a multiple of
-- (fit at the best size, odd at the worst). Of the inputs that a vector has more of than one: the
-- bytes of the widest record, of all, and whether one moves in vectors wherever rows start (loose).
local function facts(k)
  local g = cuda.new(setmetatable({ words = {} }, { __index = k }), "reduce", 32)
  local widest, bytes = 1, 0
  for _, op in ipairs(g.inputs) do
    if g:changes(op, #k.dims) then
      widest, bytes = math.max(widest, op.record.bytes), bytes + op.record.bytes
    end
  end
  local n_reduced, p = #select(2, reduce.dims(k)), { k = k, vec = ODD_VECTOR_BYTES // widest }
  local loose = p.vec > 1 and n_reduced == 1 and kit.any(g.inputs, function(op)
    return g:changes(op, #k.dims) and odd_word(p, op)
  end)
  local kept, many, fewest, fast, fit, odd = 0, 0, math.maxinteger, 0, 1, 16
  for _, extents in ipairs(k.sizes) do
    local count = { [true] = 1, [false] = 1 }
    for d = 1, #k.dims do
      count[k.reduced[d]] = count[k.reduced[d]] * extents[d]
    end
    local last = extents[#k.dims]
    kept, many, fast = math.max(kept, count[false]), math.max(many, count[true]),
      math.max(fast, last)
    fewest = math.min(fewest, count[true])
    local here = widest_fit(g, last, widest)
    fit, odd = math.max(fit, here), math.min(odd, here)
  end
  return {
    { "widest", widest }, { "bytes", math.max(bytes, 1) }, { "kept", kept }, { "many", many },
    { "fewest", fewest }, { "fast", fast }, { "fit", fit }, { "odd", odd },
    { "sms", k.device.sms }, { "n_reduced", n_reduced }, { "loose", loose and 1 or 0 },
  }
end

-- Constraints, which hand-written kernels on an H200 suggested (2026-11-23: sums of columns, rows,
-- short rows and middle modes of 4 to 1,000 MB).
local IN_FLIGHT = {
  -- 32 to 128 bytes a thread are in flight: less leaves the memory idle, more does not fit the
  -- registers
  "vec * items * outputs * bytes <= 128 or vec * items * outputs == 1",
  "vec * items * outputs * bytes >= 32 or vec * items * outputs >= 16",
  "blocks == 1 or (threads * blocks >= 1024 * sms and threads * blocks <= 2048 * sms)",
  "threads < 1024 or vec * items * outputs * bytes <= 64", -- of 64 registers
}
-- As many lanes as a row keeps busy: for rows of any length.
local ANY = {
  "threads == 256", "blocks == 1 or blocks == 4 * sms", "evict == 'streaming'", "outputs == 1",
  "start == 'any' or vec == 1 or (vec == fit and n_reduced > 1)",
  "start == 'vector' or loose == 1", "vec > 1 or loose == 0",
}
local FIXED = { "lanes <= 32 or lanes == threads", "evict == 'none' or threads == 512" }
local ROWS = {
  "vec == fit or vec == odd or start == 'any'", "start == 'vector' or odd * widest < 16",
  "start == 'vector' or n_reduced == 1", -- of several modes every run would have ends
  "lanes * vec < 2 * many", "items == 1 or lanes * vec * items < 2 * many",
  "lanes >= 32 or fewest <= 64 * lanes * vec", -- lanes for themselves where rows are short
  "outputs == 1 or (many <= lanes * vec * items and lanes <= 32 and start == 'vector')",
  "blocks == 1 or (lanes == threads and 2 * kept <= blocks)",
  "blocks > 1 or 4 * kept >= sms or many <= 4096", -- else most of the GPU is idle
}
local COLUMNS = {
  "vec == fit or 2 * vec == fit or vec == odd",
  -- several outputs where one has few bytes to read
  "outputs == 1 or (fit == 1 and lanes >= 32) or (lanes == threads and items >= many)",
  "lanes * vec * outputs < 2 * kept", "threads // lanes * items < 2 * many or lanes == threads",
  "lanes >= 16 or kept <= 2048 or fast <= 16 * vec",
  "lanes * vec * widest >= 32 or lanes * vec >= fast",
  "lanes <= 32 or many <= 64", -- a thread alone has its outputs
  "blocks == 1 or 2 * kept <= blocks * lanes * vec * outputs",
  "blocks > 1 or 4 * kept >= sms * lanes * vec * outputs or many <= 4096",
}

local function where(k)
  local rows, list = k.reduced[#k.dims], kit.append({}, table.unpack(IN_FLIGHT))
  local function add(format, conditions)
    for _, condition in ipairs(conditions) do
      list[#list + 1] = string.format(format, condition)
    end
  end
  local fixed = rows and "lanes == 'any' or (%s)" or "%s"
  add(fixed, FIXED)
  add(fixed, rows and ROWS or COLUMNS)
  add("lanes ~= 'any' or (%s)", rows and ANY or {})
  return list
end

-- Candidates with equal predictions are tried in the order of the space, so values are in the order
-- of how often they won.
local function axes(k)
  local sms = k.device.sms
  local rows, lanes = k.reduced[#k.dims], { 512, 256, 1024, 128, 32, 16, 8, 4, 2, 1 }
  if rows then
    table.insert(lanes, "any")
  end
  return {
    { "threads", { 512, 256, 1024, 128 }, key = "threads=", doc = "threads per block" },
    { "lanes", lanes, key = "lanes=", doc = "threads side by side along the fastest mode"
        .. (rows and "; any: as many as a row keeps busy" or "") },
    { "vec", { 16, 8, 4, 2, 1 }, key = "vec=", doc = "neighbouring elements in a vector" },
    { "start", rows and { "vector", "any" } or { "vector" }, key = "start=",
      when = "vec * widest == 16",
      doc = "where rows start: on a whole vector, or anywhere, then their ends are taken alone" },
    { "items", { 8, 4, 16, 2, 1 }, key = "items=",
      doc = "vectors along what is reduced, all loads in flight" },
    { "outputs", { 1, 2, 4, 8 }, key = "outputs=", doc = "outputs, or vectors, per thread" },
    { "blocks", { 1, 4 * sms, 2 * sms, 8 * sms }, key = "blocks=",
      doc = "where outputs are fewer, blocks share them until there are so many" },
    { "evict", { "streaming", "none" }, key = "evict=",
      doc = "streaming: evict-first policy for loads" },
  }
end

return {
  name = "reduce",
  doc = "Groups of lanes run along the fastest mode, kept or reduced; the last of the blocks that "
    .. "share an output combines what they found.",
  reduces = true,
  applies = { { "the outputs are reduced", function(k) return k.reduces end } },
  axes = axes,
  facts = facts,
  where = where,
  template = "reduce.cu",
  plan = plan,
}
