-- across: vectors laid over all rows of the outputs, which follow each other without gaps: stores
-- are whole aligned words wherever rows end. A vector has one end of a row inside at most. What
-- lies along rows is read at two places: `at`, where the vector starts, and `next`, from where the
-- elements after the end are counted on, as the next row's first is element `left` of the vector.
local across = {}

local WORD = 16
local WORD_TYPE = { [16] = "uint4", [8] = "uint2", [4] = "unsigned int" }
local EITHER = "(e < left ? at : next)"

--- Do the elements of `op` follow those of the index space, one by one?
---@param k sectile.View
---@param op sectile.Operand
---@return integer? first the byte at which the array's first one lies
function across.runs(k, op)
  local first = op.record.bare and op.style ~= "bytes" and records.dense(k, op)
  return first and first % op.record.bytes == 0 and first or nil
end

--- Does an input lie along rows, element by element?
---@param k sectile.View
---@param op sectile.Operand
---@param f? integer
---@return boolean
function across.follows(k, op, f)
  return op.record.bare and strides.fixed(k, op, f or 1, #k.dims) == op.record.bytes
end

-- May vectors lie across rows? Outputs follow the index space, and inputs do, lie along rows or
-- have one value a row. Bytes of an output's smallest element, else nil.
local function narrowest(k)
  local least, last = WORD, #k.dims
  for _, op in ipairs(last > 1 and k.operands or {}) do
    local runs, moves = across.runs(k, op), strides.turns(k, op, last)
    for _, offset in ipairs(op.offset) do
      moves = moves or E.mentions(offset, k.index[last])
    end
    if op.is_output and not runs or moves and not runs and not across.follows(k, op) then
      return nil
    end
    least = op.is_output and math.min(least, op.record.bytes) or least
  end
  return last > 1 and least or nil
end

--- Bytes of an output's smallest element, if vectors across rows may serve: at some size rows are
--- no multiple of 16 bytes. Else 0.
---@param k sectile.View
---@return integer
function across.bytes(k)
  local last, least = #k.dims, narrowest(k)
  for _, size in ipairs(least and k.sizes or {}) do
    if size[last] * least % WORD ~= 0 and size[last] * least > WORD // 2 then
      return least
    end
  end
  return 0
end

--- The axis of map, where it is of use.
---@param k sectile.View
---@param unroll? integer the axis unroll has this value
---@return table?
function across.axis(k, unroll)
  return across.bytes(k) > 0 and { "rows", { "whole", "across" }, key = "rows=",
    when = unroll and "vec > 1 and unroll == 1" or "vec > 1",
    doc = "whole: a vector ends where its row does; across: wherever rows end" } or nil
end

--- May vectors lie across rows? nil and a reason if not.
function across.fits(p, c)
  local k, last = p.k, #p.k.dims
  if c.load == "staged" or c.store == "staged" then
    return nil, "tiles in shared memory have whole rows"
  end
  if not narrowest(k) then
    return nil, "an array moves in another way along rows"
  end
  p.g:require((0 * k.extents[last] + p.vec):le(k.extents[last]))
  return p.vec <= kit.longest(k, last) or nil, "rows are shorter than a vector"
end

--- The template's texts for places, after modes are counted: the innermost by elements.
function across.prepare(p)
  p.vectors = kit.ceil_div(p.elements, p.vec)
  p.vectors_text = p.g:text(p.vectors)
  p.left = "stop"
  p.find_next = "const multi_index next = next_row(at);"
end

--- Declarations of a round for a vector's place, `at`, and its end: those that `text`, the round's
--- statements, mentions; all if it is nil.
function across.ends(p, text)
  local function if_named(name, statement)
    return (not text or reads.named(text, name)) and statement or ""
  end
  return kit.concat {
    text and if_named("at", p.here) or "",
    p.partial and "// elements inside the arrays\nconst int stop = whole ? kVec : "
      .. string.format("(int)min(0LL + kVec, %s - vector * kVec);", p.elements_text) or "",
    if_named("left", string.format("const int left = (int)(%s - %s.%s);%s", p.inner[1].count,
      text and "indices[item]" or "at", p.last, text and "" or " // elements before the row ends")),
    (text or p.across == "elements") and if_named("next", p.find_next) or "",
  }
end

--- The statements that load what vectors of a round need of the next row; nil: none.
function across.next_loads(loads)
  local list = kit.map(loads, function(x)
    return x.next and string.format("%s[item] = %s;", x.next, x.load_next) or nil
  end)
  return #list > 0 and kit.concat(list) or nil
end

--- How the kernel calls indices of a vector's element `e` (nil: its first one's) at one of its two
--- places, "at" or "next"; nil: at the one where it is.
---@param p table
---@param e? sectile.Expr
---@param place? "at"|"next"
---@return table
function across.binding(p, e, place)
  local at = {}
  for d, dim in ipairs(p.k.dims) do
    at[d] = cuda.var((place or EITHER) .. "." .. dim)
  end
  at[#at] = e and at[#at] + e or at[#at]
  return p.g:binding(at, function(op)
    local x = p.stream_of[op.number]
    return x and "(long long)" .. (place and x["value_" .. place] or x.value)
  end)
end

--- The vector of an operand that follows the index space: its words and its address; else nil.
---@param p table
---@param op sectile.Operand
---@return table?
function across.flat(p, op)
  local first = across.runs(p.k, op)
  if not first or not op.is_output and not op.old_of and first % WORD ~= 0 then
    return nil
  end
  local bytes, group = op.record.bytes, E.var("group", 0, kit.MAX_INDEX)
  local vector = p.g:words(group * (p.vec * bytes) + first, p.vec * bytes, p.vec)
  vector.address = string.format("&%s[vector * kVec%s]", op.pointer,
    first > 0 and string.format(" + %d", first // bytes) or "")
  return vector
end

--- Completes an input's stream by its path: what is loaded at its two places, and at which one an
--- element is. `load`: the text of a load, up to the address; `array_end`: of words around.
function across.complete(p, x, load, array_end)
  local op = x.op
  local function address(place)
    return p.g:address(op, x.f, across.binding(p, nil, place))
  end
  if x.path == "item" then
    x.next = p.g:name(op.name .. "_next")
    x.value_at, x.value_next = x.value, x.next .. "[item]"
    x.value = string.format("(e < left ? %s : %s)", x.value_at, x.value_next)
    x.load = string.format("%s(%s)", load, address("at"))
    x.load_next = string.format("%s(%s)", load, address("next"))
  elseif x.path == "around" then
    x.next = p.g:name(op.name .. "_next")
    local followed = "whole && rank % 32 < 31"
    x.close = function(stop)
      x.load = string.format("%s(\n    %s, 0, min(left, %s), %s && left > kVec, %s)", load,
        address("at"), stop, followed, array_end)
      x.load_next = string.format("%s(\n    %s, left, %s, %s, %s)", load, address("next"), stop,
        followed, array_end)
      x.take = string.format("joined(whole, %s[item], %s[item], %s)", x.array, x.next,
        stop == "kVec" and "left" or "left < stop ? left : kVec")
    end
    x.value = x.name .. "[e]"
  else
    p.across = "elements" -- they may lie at either place
    local name, next_name = p.g:name(op.name .. "_row"), p.g:name(op.name .. "_next_row")
    x.rows = string.format("const %s *const %s = %s;\nconst %s *const %s = %s;\n", x.element, name,
      address("at"), x.element, next_name, address("next"))
    x.load = string.format("%s((e < left ? %s : %s) + e)", load, name, next_name)
  end
end

-- ---- by the aligned words around a vector ----

--- May vectors of 16 bytes of the bare input `op` start off a word at a tuned size?
function across.starts_anywhere(k, op)
  local last, bytes = #k.dims, op.record.bytes
  if op.is_output or op.old_of or op.is_index or bytes >= 16 or not across.follows(k, op) then
    return false
  end
  local width = 16 // bytes
  local group = E.var("group", 0, kit.MAX_INDEX) * width
  local start = E.subst(op.offset[1], { k.index[last], group })
  local extents = strides.needed_multiples(k, start, width, 16)
  return extents == nil or kit.any(k.given, function(given)
    return kit.any(extents, function(extent) return E.eval(extent, given) % width ~= 0 end)
  end)
end

--- May the words around vectors of an input serve?
function across.reads_around(k, op)
  return across.starts_anywhere(k, op)
    or not (op.is_output or op.old_of) and across.bytes(k) > 0 and across.follows(k, op)
      and (across.runs(k, op) or 1) % WORD ~= 0
end

-- How far a vector starts after a word of 16 bytes, if that is known; else -1.
local function shift_of(p, op)
  local last = #p.k.dims
  local group = E.var("group", 0, kit.MAX_INDEX) * p.vec
  local at = E.subst(op.offset[1], { p.k.index[last], group })
  for shift = 0, 15 do
    if E.divisor(at - shift) % 16 == 0 then
      return shift
    end
  end
  return -1
end

--- The access path of an operand of vectors that lie across rows or are read by the words around
--- them, and its vector where it is one; nil: another path.
function across.path(p, op, f)
  local flat = p.across and across.flat(p, op)
  if flat then
    p.g:adopt(op, flat, p.vec)
    return "vector", flat
  end
  local bytes = p.vec * op.record.bytes
  local fits = not op.old_of and bytes >= 4 and op.record.bytes < WORD
    and (bytes % WORD == 0 or WORD % bytes == 0)
  if p.across then
    fits = fits and across.follows(p.k, op, f)
    p.misses_words = p.misses_words or fits and not p.around
  else
    fits = fits and bytes >= WORD and p.inside == 1 and across.starts_anywhere(p.k, op)
  end
  if fits and p.around then
    p.g:need_align(op, math.min(bytes, WORD))
    p.reads_around = true
    return "around"
  end
  return p.across and "elements" or nil
end

--- The words around a vector stay as they are until all are loaded. `load_word`: the library's
--- function that loads one.
function across.load_around(p, x, load_word)
  local g, op = p.g, x.op
  x.word = math.min(p.vec * op.record.bytes, WORD)
  x.array, x.held = g:name(op.name .. "_words"), "words_around<" .. x.type .. ">"
  local shift = shift_of(p, op)
  local load = string.format("load_around<%s, %d, %s<%s>>", x.type,
    (p.across or p.aligned) and -1 or shift, load_word, WORD_TYPE[x.word])
  local array_end = op.style == "bytes"
    and string.format("at_byte<%s>(%s, %s)", x.element, op.pointer, g:text(op.bytes))
    or string.format("&%s[%s]", op.pointer, g:text(op.bytes // op.record.bytes))
  if p.across then
    across.complete(p, x, load, array_end)
  else
    local followed = "whole && rank % 32 < 31"
      .. (p.side > 1 and string.format(" && %s > kVec", p.left) or "")
    x.close = function(stop)
      x.load = string.format("%s(\n    %s, %s, %s, %s, %s)", load, x.address,
        p.aligned and "begin" or "0", stop, followed, array_end)
    end
    x.take = string.format("vector_of(whole, %s[item])", x.array)
    x.value = x.name .. "[e]"
  end
end

--- Completes the loads around vectors, where it is known if some end after an array's end.
function across.close(p)
  local stop = p.across and "stop" or string.format(p.aligned and "(int)min(0LL + kVec, %s)"
    or "whole ? kVec : (int)min(0LL + kVec, %s)", p.left)
  for _, x in ipairs(p.arrays) do
    if x.close then
      x.close(p.partial and stop or "kVec")
    end
  end
end

return across
