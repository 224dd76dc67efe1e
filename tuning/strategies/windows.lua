-- windows: single elements through an index array in no order, one part of the table after the
-- other. What is asked for within a short time then lies in a part that L2 holds, so that a sector
-- that several elements share is fetched, or written, once.
--
--   gather    a block keeps the indices of a large tile in registers and goes through the windows;
--             blocks that run at the same time are in about the same one
--   scatter   the grid goes through all tiles once a window, and stores what falls into it
--
-- Nothing waits for anything: that blocks keep step only makes it fast.

local KEPT_BYTES = 192 -- what 48 registers hold

-- The one operand that is addressed through an index; nil where there are none or several.
local function through(k)
  local found
  for _, op in ipairs(k.operands) do
    if op.through_index then
      if found then
        return nil
      end
      found = op
    end
  end
  return found
end

-- An operand on its way: the names and texts of the template.
local function stream(p, op)
  local g, name = p.g, p.g:name(op.name .. "_v")
  local type, streams = g:type(op), p.is_scatter and not op.through_index
  local _, word = g:single(op, 1)
  local address = g:address(op, 1, p.binding())
  return {
    op = op, name = name, type = type, value = name .. (op.is_output and "" or "[item]"),
    load = cuda.load(cuda.load_name(op, streams and "load_streaming"), type, word, address),
    store = cuda.store("store", word, address, name),
  }
end

-- The operands by what becomes of them: p.indices, p.straight (inputs), p.gathered, p.results.
local function sort_operands(p)
  p.indices, p.straight, p.gathered, p.results = {}, {}, {}, {}
  for _, op in ipairs(p.g.inputs) do -- index arrays first
    local x = stream(p, op)
    local list = op.is_index and p.indices or op.through_index and p.gathered or p.straight
    list[#list + 1] = x
    p.values[op.name] = op.is_index and "(long long)" .. x.value or x.value
  end
  for _, op in ipairs(p.g.outputs) do
    p.results[#p.results + 1] = stream(p, op)
    p.values[op.name] = p.results[#p.results].value
  end
end

-- Bounds of the launch: where 64 registers hold what a thread of a gather keeps, it gets no more,
-- so that an SM has 1024 threads to ask with.
local function bounds(p)
  local bytes = 0
  for _, list in ipairs { p.indices, p.gathered } do
    for _, x in ipairs(list) do
      bytes = bytes + x.op.record.bytes
    end
  end
  local fits = not p.is_scatter and p.items * bytes <= KEPT_BYTES
  return fits and string.format("%d, %d", p.threads, 1024 // p.threads) or p.threads
end

local DOC = "%s is %s in %d parts, one after the other: what is asked for at a time lies in L2."

local function plan(k, c)
  local op = through(k)
  local g = cuda.new(k, "windows", c.threads)
  local p = {
    g = g, k = k, threads = c.threads, items = c.items, windows = c.windows,
    is_scatter = op.is_output, values = {}, array = op.name, dim = g:name(k.dims[1]),
  }
  p.values[k.dims[1]] = p.dim
  p.binding = function()
    return g:binding({ cuda.var(p.dim) }, function(index) return p.values[index.name] end)
  end
  sort_operands(p)
  p.count, p.span = g:text(k.extents[1]), g:text(kit.ceil_div(op.extent[1], c.windows))
  p.place = g:text(op.at[1], p.binding())
  g:require(op.extent[1]:le(1 << 31)) -- places and the ends of windows have 32 bits
  p.compute = g:call(p.values)
  local tiles = kit.ceil_div(k.extents[1], c.threads * c.items)
  p.grid = p.is_scatter and tiles * c.windows or tiles
  p.grid_tiles = p.is_scatter and { tiles, 0 * tiles + c.windows } or nil
  p.tiles = g:text(tiles)
  p.bounds = bounds(p)
  p.doc = string.format(DOC, op.name, p.is_scatter and "written" or "read", c.windows)
  return g:plan(p)
end

return {
  name = "windows",
  doc = "Elements through an index array in no order: one part of the table after the other, so "
    .. "that L2 holds what is asked for.",
  applies = {
    { "there is one dimension, and one operand is addressed through an index array", function(k)
      local op = through(k)
      return #k.dims == 1 and op ~= nil and #op.at == 1
    end },
    { "every operand is a bare type", function(k)
      return not kit.any(k.operands, function(op) return not op.record.bare end)
    end },
  },
  axes = {
    { "threads", { 256, 512 }, key = "threads=", doc = "threads per block" },
    { "items", { 16, 8, 4, 2, 1 }, key = "items=", doc = "elements of a thread" },
    { "windows", { 16, 8, 4, 2 }, key = "windows=",
      doc = "parts of the table, one after the other" },
  },
  facts = function(k)
    local op = through(k)
    return {
      { "scatter", op and op.is_output and 1 or 0 }, { "bytes", op and op.record.bytes or 1 },
    }
  end,
  where = {
    -- a gather keeps its tile in registers, and the larger it is the more elements share a sector
    "scatter or (items >= 8 and items * bytes <= 128)",
    "scatter == 0 or (items <= 8 and windows <= 8)",
  },
  template = "windows.cu",
  plan = plan,
}
