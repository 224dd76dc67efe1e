-- map: outputs and most inputs run along the same fastest mode. A flat launch over vectors of
-- neighbours along it.

-- Functions of the device library, by the value of `evict`.
local LOADS = { loads = "load_evict_last", streaming = "load_streaming" }
local STORES = { stores = "store_evict_last", streaming = "store_streaming" }

-- How the kernel calls indices: of dimensions, shifted by `e` elements along the last; of index
-- arrays their loaded values.
local function binding(p, e)
  local with, k = {}, p.k
  for d = 1, #k.dims do
    local text = cuda.var(#k.dims > 1 and "at." .. k.dims[d] or p.only)
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

-- The access path of an operand's field, or of its whole value: "once", "item" (a value a vector),
-- "vector", "elements".
local function path_of(p, op, f)
  local g, moves, any = p.g, p.vec == 1, false
  for d = 1, #p.k.dims do
    any = any or g:changes(op, d)
  end
  if not any and not op.is_output then
    return "once"
  elseif moves or not g:changes(op, #p.k.dims) then
    return "item"
  end
  local vector = g:vector(op, f, #p.k.dims, p.vec)
  local element = f and op.record.fields[f].bytes or op.record.align
  if vector and vector.word > element then
    g:adopt(op, vector, p.vec)
    return "vector", vector.word
  end
  return "elements"
end

-- One field of an operand, or its whole value, on its way: names, types and texts of the template.
local function stream(p, op, f)
  local g = p.g
  local path, word = path_of(p, op, f)
  local field = f and op.record.fields[f].name or ""
  local element = g:type(op, f)
  local x = {
    op = op, f = f, path = path, element = element,
    name = g:name(field == "" and op.name .. "_v" or op.name .. "_" .. field .. "_v"),
    type = (path == "once" or path == "item" or p.vec == 1) and element
      or string.format("vec<%s, kVec>", element),
    zero = string.format("%s()", element),
  }
  local many = p.vec > 1 and (path == "vector" or path == "elements") and "[e]" or ""
  x.value = x.name .. (path == "once" and "" or (op.is_output and "" or "[item]") .. many)
  local moved = path == "elements" and element or x.type
  local with = binding(p, path == "elements")
  x.address = g:address(op, f, with)
  local words = word and string.format(", %d", word) or ""
  local known = E.divisor(op.offset[f or 1])
  if op.style ~= "record" and not word and known % op.record.fields[f or 1].bytes ~= 0 then
    words = string.format(", %d", kit.word_bytes(known, op.record.fields[f or 1].bytes))
  end
  if op.is_output then
    x.store = string.format("%s%s(%s, %s);", STORES[p.evict] or "store",
      words == "" and "" or "<" .. string.sub(words, 3) .. ">", x.address,
      path == "elements" and x.value or x.name)
  else
    local kept = path == "once" or (path == "item" and p.vec > 1)
    x.load = string.format("%s<%s%s>(%s)", not kept and LOADS[p.evict] or "load", moved,
      words, x.address)
  end
  return x
end

-- The streams of an operand: whole records where they are runs, else its fields.
local function streams(p, op)
  local list, g = {}, p.g
  local last = #p.k.dims
  local whole = op.record.bare or op.style == "record" and #op.used == #op.record.fields
    and (p.vec == 1 or g:vector(op, nil, last, p.vec) or not g:changes(op, last))
  if whole then
    list[1] = stream(p, op)
    p.stream_of[op.number] = list[1]
  else
    for _, f in ipairs(op.used) do
      list[#list + 1] = stream(p, op, f)
    end
  end
  return list
end

-- The statements that compute one element.
local function compute(p)
  local g, k, lines, behind, values = p.g, p.k, {}, {}, {}
  for d, dim in ipairs(k.dims) do
    local text = #k.dims > 1 and "at." .. dim or p.only
    values[dim] = d == #k.dims and p.vec > 1 and text .. " + e" or text
  end
  for _, op in ipairs(g.ops) do
    local whole = p.stream_of[op.number]
    values[op.name] = whole and whole.value
    if not whole then
      local name = g:name(op.name .. "_e")
      values[op.name] = name
      lines[#lines + 1] = string.format("%s %s;", g:type(op), name)
      for _, x in ipairs(p.streams[op.number]) do
        local member = kit.member(name, op.record.fields[x.f])
        local list = op.is_output and behind or lines
        list[#list + 1] = op.is_output and x.value .. " = " .. member .. ";"
          or member .. " = " .. x.value .. ";"
      end
    end
  end
  lines[#lines + 1] = g:call(values)
  return kit.concat { kit.concat(lines), kit.concat(behind) }
end

-- What the template needs of the modes: of all but the first, the innermost first.
local function count_modes(p)
  local k, g = p.k, p.g
  p.modes, p.inner = k.dims, {}
  local last = #k.dims
  p.last = k.dims[last]
  p.vectors = 1
  for d = 1, last do
    local extent = k.extents[d]
    local n = d == last and kit.ceil_div(extent, p.vec) or extent
    p.vectors = p.vectors * n
    if d > 1 then
      g:require(extent:lt(1 << 31))
      table.insert(p.inner, 1, {
        dim = k.dims[d], extent = g:text(n), count = g:name("n_" .. k.dims[d] .. "_"),
        first = g:name("first_" .. k.dims[d]), by = g:name("by_" .. k.dims[d]),
      })
    end
  end
  p.only = #k.dims == 1 and g:name(k.dims[1])
  local extent = g:text(k.extents[last])
  p.left = string.format("(%s) - %s", extent, #k.dims > 1 and "at." .. p.last or p.only)
  p.whole = string.format("first + kTile <= %s", g:text(p.vectors))
  if p.vec > 1 then
    p.whole = #k.dims == 1 and string.format("(first + kTile) * kVec <= %s", extent)
      or p.whole .. string.format(" && (%s) %% kVec == 0", extent)
  end
  p.here = #k.dims > 1 and "const place at = where[item];"
    or string.format("const long long %s = (first + item * kThreads + threadIdx.x)%s;", p.only,
      p.vec > 1 and " * kVec" or "")
  p.outside = string.format("if (!kWhole && first + item * kThreads + threadIdx.x >= %s) break;",
    g:text(p.vectors))
end

local function plan(k, c)
  if k.device.cc < 80 and (c.evict == "loads" or c.evict == "stores") then
    return nil, "policies of L2 need sm_80"
  end
  local g = cuda.new(k, "map", c.threads)
  local p = {
    items = c.items, vec = c.vec, evict = c.evict, k = k, g = g,
    once = {}, arrays = {}, results = {}, streams = {}, stream_of = {},
    doc = string.format("Each thread moves %d vectors of %d neighbouring elements.", c.items,
      c.vec),
  }
  count_modes(p)
  local rounds, any = { {}, {} }, c.vec == 1
  for _, op in ipairs(g.inputs) do
    p.streams[op.number] = streams(p, op)
    for _, x in ipairs(p.streams[op.number]) do
      local list = x.path == "once" and p.once or p.arrays
      list[#list + 1] = x
      if x.path ~= "once" then
        table.insert(rounds[op.through_index and 2 or 1], x)
      end
      any = any or x.path == "vector"
    end
  end
  for _, op in ipairs(g.outputs) do
    p.streams[op.number] = streams(p, op)
    for _, x in ipairs(p.streams[op.number]) do
      table.insert(p.results, x)
      any = any or x.path == "vector"
    end
  end
  if not any then
    return nil, "no operand moves in wider words with this width"
  end
  p.load_rounds = {}
  for _, round in ipairs(rounds) do
    p.load_rounds[#p.load_rounds + 1] = #round > 0 and round or nil
  end
  p.compute = compute(p)
  p.grid = kit.ceil_div(p.vectors, c.threads * c.items)
  return g:plan(p)
end

return {
  name = "map",
  doc = "A flat launch over vectors of neighbours along the fastest mode.",
  applies = {},
  axes = {
    { "threads", { 256, 128, 512 }, key = "threads=", doc = "threads a block" },
    { "items", { 1, 2, 4, 8 }, key = "items=", doc = "vectors a thread, all loads in flight" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "vec=", doc = "neighbouring elements in a vector" },
    { "evict", { "none", "loads", "stores", "streaming" }, key = "evict=",
      doc = "loads, stores: L2 gives up last what is loaded, or stored; streaming: used once" },
  },
  where = {
    "items * vec <= 16 or items * vec * thread_bytes <= 128", "items * vec * thread_bytes <= 256",
  },
  facts = function(k)
    local bytes = 0
    for _, op in ipairs(k.operands) do
      bytes = bytes + op.record.bytes
    end
    return { { "thread_bytes", bytes } }
  end,
  template = "map_kernel.cu",
  plan = plan,
}
