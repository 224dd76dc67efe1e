-- row_streams: for the strategy rows, how a thread loads and stores what it has of a row or of a
-- column: as vectors or by elements, inside the row, from the last aligned element before it on,
-- and without the elements that are kept.
local row_streams = {}

--- What the kernel calls the index of each mode; `e`: `e` elements on along the fastest one.
---@param p table the plan
---@param e? any
---@param wide? boolean as 64-bit integers, where minima and maxima are taken
---@return table
function row_streams.binding(p, e, wide)
  local at = kit.map(p.index, function(name)
    return cuda.var((wide and "(long long)" or "") .. name)
  end)
  at[#at] = e and at[#at] + cuda.var("e") or at[#at]
  return p.g:binding(at, function(op) return p.index_values[op.number] end)
end

--- Statements in a loop over the elements of a vector.
---@param lines string[]
---@return string
function row_streams.for_elements(lines)
  return #lines == 0 and "" or "#pragma unroll\nfor (int e = 0; e < kVec; e++) {\n  "
    .. string.gsub(kit.concat(lines), "\n", "\n  ") .. "\n}"
end

-- ---- vectors ----

--- How `width` neighbours of field f, or of whole records, move in words that are wider than an
--- element's; nil if they do not.
---@param g sectile.Cuda
---@param op sectile.Operand
---@param f? integer
---@param width integer
---@return table?
function row_streams.wide_vector(g, op, f, width)
  local vector = g:vector(op, f, #g.k.dims, width)
  return vector and not vector.reversed
    and vector.word > (f and op.record.fields[f].bytes or op.record.align) and vector or nil
end

--- How neighbours move in wider words from the last aligned element before a row on, wherever rows
--- start: for arrays whose rows begin at numbers that differ by multiples of a vector.
---@param p table the plan
---@param op sectile.Operand
---@return table?
function row_streams.odd_vector(p, op)
  local k, bytes = p.k, op.record.bytes
  local step = strides.step(k, op, 1, #k.dims)
  if not op.record.bare or op.is_index or op.through_index or op.style == "bytes" or not step
    or kit.const_of(step) ~= bytes or E.divisor(op.offset[1]) % bytes ~= 0 then
    return nil
  end
  local number = op.offset[1] // bytes
  p.start = p.start or number
  return E.divisor(number - p.start) % p.vec == 0
    and { word = math.min(p.vec * bytes, 16), extents = {} } or nil
end

--- How many steps read the operand.
---@param g sectile.Cuda
---@param op sectile.Operand
---@return integer
function row_streams.readers(g, op)
  local count = 0
  for _, step in ipairs(g.steps) do
    count = count + (#step.reads[op.number] > 0 and 1 or 0)
  end
  return count
end

-- ---- loads ----

-- The statement that loads a stream at the indices' variables.
local function load_text(p, x)
  local each, first = x.many and not x.word, x.first
  local to = each and x.value or x.at
  local held = first and (each and first.value or first.at)
  local streaming = p.evict == "streaming" and not x.steady and (x.held or p.is_map) and not first
  local word, shorter = p.g:single(x.op, x.f, x.read and x.read.offset)
  word = x.word or shorter or (streaming and word)
  local with = row_streams.binding(p, each, x.read)
  local address = not x.read and p.g:address(x.op, x.f, with)
  if x.held and p.hold == "shared" and (x.word or 0) >= 4 and not x.op.old_of then
    return string.format("async_copy<%d>(&%s, %s);", x.word, to, address)
  end
  local text = x.read and window.value(p.g, x.op, x.f, x.read, with, function(bound)
    return cuda.load(cuda.load_name(x.op), p.g:type(x.op, x.f), shorter,
      p.g:address(x.op, x.f, bound, x.read.offset))
  end, true) or cuda.load(cuda.load_name(x.op, streaming and "load_streaming"),
    each and x.element or x.type, word, address)
  if not p.odd or not x.many then
    return string.format("%s = %s;", to, held and "first > 0 ? " .. text .. " : " .. held or text)
  end
  local before = held and string.format("if (first == 0)\n  %s = %s;\nelse ", to, held) or ""
  if each then
    return before .. string.format("if (%s)\n  %s = %s;", p.is_inside, to, text)
  end
  if x.op.old_of then -- no element of a neighbouring row, which other threads write
    return before .. string.format("if (%s >= 0 && %s + kVec <= n_elements)\n  %s = %s;\nelse\n"
      .. "  %s = load_between<%s, kVec>(%s, -%s, n_elements - %s);", p.place, p.place, to, text, to,
      x.element, address, p.place, p.place)
  end
  return before .. string.format("if (%s + kVec <= n_elements)\n  %s = %s;\nelse\n  %s = "
    .. "load_some<%s, kVec>(%s, n_elements - %s);", p.place, to, text, to, x.element, address,
    p.place)
end

--- Statements that load the streams of a list.
---@param p table
---@param list table[]
---@return string
function row_streams.loads(p, list)
  local lines, elements = {}, {}
  for _, x in ipairs(list) do
    table.insert(x.many and not x.word and elements or lines, load_text(p, x))
  end
  return kit.concat { kit.concat(lines), row_streams.for_elements(elements) }
end

--- Does the kernel write what some stream of a list loads? Only the thread that writes an element
--- loads it then, which it does before, so no other thread finds it changed.
---@param list table[]
---@return boolean
function row_streams.any_updated(list)
  return kit.any(list, function(x) return x.op.old_of end)
end

--- The element `text` of a row at which lanes load a list. Lanes after the row's end load what it
--- ends with, without a branch; but not what other threads write.
---@param p table
---@param list table[]
---@param text string
---@return string
function row_streams.place_of(p, list, text)
  return (p.odd or p.counts or row_streams.any_updated(list)) and text
    or string.format("min(%s, n_elements - %d)", text, p.along)
end

--- Statements that load the list inside the row; where rows start anywhere each load sees to that.
---@param p table
---@param list table[]
---@return string
function row_streams.loads_inside(p, list)
  local text = row_streams.loads(p, list)
  if p.odd or #list == 0 then
    return text
  end
  return string.format("if (%s < n_elements) {\n  %s\n}", p.place,
    (string.gsub(text, "\n", "\n  ")))
end

--- Statements that load a list of streams at the place of place_of().
---@param p table
---@param list table[]
---@return string
function row_streams.loads_there(p, list)
  local load = row_streams.any_updated(list) and row_streams.loads_inside or row_streams.loads
  return load(p, list)
end

-- ---- stores ----

--- The flag of an output that an element is kept; or the flags of a vector's elements, where those
--- outside the row are kept.
---@param p table
---@param op sectile.Operand
---@return table
function row_streams.flag(p, op)
  local many = p.vec > 1 and p.g:changes(op, #p.k.dims)
  local flag = { type = "bool", name = p.g:name(op.name .. "_kept") }
  flag.shape, flag.value = many and "[kVec]" or " = false", flag.name .. (many and "[e]" or "")
  flag.start = many and (p.odd and "!(" .. p.is_inside .. ")" or "false")
  return flag
end

-- The statement that stores a stream.
local function store_text(p, x)
  local each, op = x.many and not x.word, x.op
  local word, shorter = p.g:single(op, x.f)
  local with, value = row_streams.binding(p, each), each and x.value or x.at
  local address = p.g:address(op, x.f, with)
  local text = string.format("%s = %s;", p.g:place(op, x.f, with), value)
  if x.word or shorter or p.evict == "streaming" and not x.steady then
    text = string.format("%s<%d>(%s, %s);", p.evict == "streaming" and "store_streaming" or "store",
      x.word or word, address, value)
  end
  local flag = p.flags[op.number]
  if flag then
    return cuda.store_unless(x.word and flag.name or flag.value, text, x.word and address, value)
  elseif not p.odd or not x.many then
    return text
  elseif each then
    return string.format("if (%s)\n  %s", p.is_inside, text)
  end
  return string.format("if (%s >= 0 && %s + kVec <= n_elements)\n  %s\nelse\n  "
    .. "store_between(%s, %s, -%s, n_elements - %s);", p.place, p.place, text, address, value,
    p.place, p.place)
end

--- Statements that store the outputs of a step.
---@param p table
---@param outputs sectile.Operand[]
---@return string
function row_streams.stores(p, outputs)
  local lines, elements = {}, {}
  for _, op in ipairs(outputs) do
    for _, x in ipairs(p.streams[op.number]) do
      table.insert(x.many and not x.word and elements or lines, store_text(p, x))
    end
  end
  return kit.concat { kit.concat(lines), row_streams.for_elements(elements) }
end

return row_streams
