-- ragged: rows of different lengths are reduced.
--
--   lanes=N     N threads share a row and run along its elements. Best where rows are alike: long
--               ones keep few threads busy.
--   lanes=path  blocks have equal shares of all elements and row ends, wherever rows end. What they
--               find of rows that go on in other blocks lies in the workspace until the last block
--               is there, which finishes those rows.
--
-- The path through elements and row ends, of which every thread goes equally many steps, is that of
-- Merrill and Garland, Merge-based parallel sparse matrix-vector multiplication (SC 2016).

-- ---- an element's contribution ----

local function binding(p)
  return p.g:binding(kit.map(p.names, cuda.var), function(op) return p.values[op.name] end)
end

-- Text that loads field `f` of `op`, or its whole value.
local function load_text(p, op, f)
  local g = p.g
  local _, word = g:single(op, f)
  local once = p.evict == "streaming" and not op.through_index
    and E.mentions(op.offset[f or 1], p.k.index[p.k.ragged.dim])
  return cuda.load(once and "load_streaming" or "load", g:type(op, f), word,
    g:address(op, f, binding(p)))
end

-- Statements that declare the value of `op` for the element at the indices' variables.
local function declare(p, op)
  local g = p.g
  local name = g:name(op.name .. "_v")
  p.values[op.name] = name
  if op.is_index then
    return string.format("const long long %s = %s;", name, load_text(p, op, 1))
  elseif op.record.bare then
    return string.format("const %s %s = %s;", g:type(op), name, load_text(p, op))
  end
  local lines = { string.format("%s %s;", g:type(op), name) }
  for _, f in ipairs(op.used) do
    lines[#lines + 1] = string.format("%s = %s;", kit.member(name, op.record.fields[f]),
      load_text(p, op, f))
  end
  return kit.concat(lines)
end

-- Statements that return what an element gives.
local function value(p)
  local g, lines = p.g, {}
  for d, dim in ipairs(p.k.dims) do
    p.values[dim] = p.names[d]
  end
  for _, op in ipairs(g.inputs) do
    if op.number ~= p.k.ragged.offsets or g.in_body[op.name] then
      lines[#lines + 1] = declare(p, op)
    end
  end
  for _, op in ipairs(g.outputs) do
    p.values[op.name] = g:name(op.name .. "_v")
    lines[#lines + 1] = string.format("%s %s;", reduce.given_type(op), p.values[op.name])
  end
  lines[#lines + 1] = g:call(p.values)
  lines[#lines + 1] = string.format("return {%s};",
    reduce.members(p.slots, function(op) return p.values[op.name] end,
      function() return p.dim end))
  return kit.concat(lines)
end

local function store_text(p, op, f, text)
  local _, word = p.g:single(op, f)
  return word and cuda.store("store", word, p.g:address(op, f, binding(p)), text)
    or string.format("%s = %s;", p.g:place(op, f, binding(p)), text)
end

local function held_text(p, op, f)
  local _, word = p.g:single(op, f)
  return word and cuda.load("load_coherent", p.g:type(op, f), word, p.g:address(op, f, binding(p)))
    or p.g:place(op, f, binding(p))
end

-- Does what an element gives depend on its row, other than by where that lies?
local function needs_row(p)
  local g, ragged = p.g, p.k.ragged
  return g.in_body[p.k.dims[ragged.row]] or kit.any(g.inputs, function(op)
    return g:changes(op, ragged.row) and (op.number ~= ragged.offsets or g.in_body[op.name])
  end)
end

-- ---- the plan ----

local function plan_path(p, k, blocks)
  local slot = math.max(p.partial_bytes, 4)
  p.static_shared_bytes = p.threads * p.items * slot + 1024
  local steps = k.extents[k.ragged.row] + k.extents[k.ragged.dim]
  p.grid = kit.ceil_div(steps, p.threads * p.items):min(blocks)
  p.rounds = 2
  p.workspace_bytes = reduce.COUNTER_BYTES + blocks * (16 + 2 * p.partial_bytes)
  p.needs_row = needs_row(p)
  p.items_doc = "steps of a thread: elements and row ends"
  p.doc = string.format("Blocks have equal shares of elements and row ends, %d at a time.",
    p.threads * p.items)
end

local function plan(k, c)
  local g, ragged = cuda.new(k, "ragged", c.threads), k.ragged
  local p = {
    g = g, k = k, threads = c.threads, lanes = c.lanes, items = c.items, evict = c.evict,
    merges = c.lanes == "path", values = {},
  }
  p.names = kit.map(k.dims, function(dim) return g:name(dim) end)
  p.row, p.dim = p.names[ragged.row], p.names[ragged.dim]
  p.slots, p.partial_bytes = reduce.slots(g)
  p.definitions = reduce.definitions(p.slots)
  p.kept = reduce.dims(k)
  p.unravel = function(dims, text) return reduce.unravel(g, p.names, dims, text) end
  p.store = function(name)
    local first, stop = "first", "end"
    if p.merges then
      first, stop = p.first_of(p.row), p.end_of(p.row)
    end
    return reduce.stores(p.slots, name, string.format("(%s - %s)", stop, first),
      function(...) return store_text(p, ...) end, function(...) return held_text(p, ...) end,
      first .. " < " .. stop)
  end
  local offsets = g.ops[ragged.offsets]
  p.offsets = offsets.pointer
  p.first_of = function(row) return string.format("(long long)%s[%s]", p.offsets, row) end
  p.end_of = function(row) return string.format("(long long)%s[%s + 1]", p.offsets, row) end
  p.value = value(p)
  local n_kept = reduce.count(k, p.kept)
  p.n_kept, p.n_elements = g:text(n_kept), g:text(k.extents[ragged.dim])
  p.traffic = kit.map(g.ops, function(op)
    return { operand = op.number, width = op.record.fields[1].bytes }
  end)
  if p.merges then
    plan_path(p, k, c.blocks)
  else
    p.items_doc = "elements of a lane, all loads in flight"
    p.static_shared_bytes = p.lanes > 32 and p.threads // 32 * p.partial_bytes or 0
    p.grid = kit.ceil_div(n_kept + 0 * k.extents[1], p.threads // p.lanes)
    p.doc = string.format("%s a row, %d elements of each at once.",
      p.lanes == 1 and "A thread has" or p.lanes .. " threads share", p.items)
  end
  return g:plan(p)
end

-- ---- the space ----

-- Elements of a row in the mean, at the size where they are most; and the modes that are kept.
local function facts(k)
  local mean, kept = 0, #reduce.dims(k)
  for _, extents in ipairs(k.sizes) do
    mean = math.max(mean, extents[k.ragged.dim] // math.max(extents[k.ragged.row], 1))
  end
  return { { "mean", mean }, { "n_kept", kept } }
end

return {
  name = "ragged",
  doc = "Rows of different lengths are reduced: some threads share a row, or blocks have equal "
    .. "shares of all elements and row ends.",
  ragged = true,
  reduces = true,
  splits = "none",
  applies = {
    { "rows have different lengths", function(k) return k.ragged ~= nil end },
    { "the outputs are reduced", function(k) return k.reduces end },
  },
  axes = function(k)
    local sms = k.device.sms
    return {
      { "lanes", { "path", 32, 16, 8, 4, 2, 1, 256 }, key = "lanes=",
        doc = "threads that share a row; path: blocks have equal shares of elements and row ends" },
      { "threads", { 256, 128, 512 }, key = "threads=", doc = "threads per block" },
      { "items", { 7, 11, 15, 4, 8, 2, 1 }, key = "items=",
        doc = "elements of a thread, all loads in flight; on a path, elements and row ends" },
      { "blocks", { 8 * sms, 4 * sms, 16 * sms }, key = "blocks=", when = "lanes == 'path'",
        doc = "that share the path" },
      { "evict", { "streaming", "none" }, key = "evict=",
        doc = "streaming: evict-first policy for what is read once" },
    }
  end,
  facts = facts,
  where = {
    "lanes ~= 'path' or (n_kept == 1 and items % 2 == 1 and items > 1)", -- odd: no bank conflicts
    "lanes == 'path' or items % 2 == 0 or items == 1", "lanes ~= 256 or threads == 256",
  },
  template = "ragged.cu",
  plan = plan,
}
