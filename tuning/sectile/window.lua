-- window: a read of an array whose elements become one value: their sum, mean, maximum or minimum.
-- Its elements are added in one order, row by row, by every strategy, so results agree bit for bit.
-- What lies beyond a border is an element as any other, or (border skip) left out.
local window = {}

-- The field as reduce.lua knows it: a bool counts as 0 or 1.
local function field_of(op)
  local field = op.record.fields[1]
  return field.kind == "bool" and { kind = "uint", bytes = 1, type = "u8" } or field
end

--- How the elements of a window are added up, and what of: `how` ("sum", "max", "min"), `type` in
--- which they are, its `identity`, and the `value` type that the body gets.
---@param op sectile.Operand
---@param read table of reads.of, with `how`
---@return table
function window.fold(op, read)
  local field, mean = field_of(op), string.find(read.how, "^mean") ~= nil
  local fold = { field = field, how = mean and "sum" or read.how, mean = mean }
  fold.type = reduce.accumulator(field, fold.how)
  fold.identity = reduce.identity(field, fold.how, fold.type)
  local signed = field.kind == "int" and string.gsub(fold.type, "^unsigned ", "") or fold.type
  fold.value = field.kind ~= "float" and mean and (field.bytes == 8 and "double" or "float")
    or signed
  return fold
end

--- The type of what the body reads.
---@param g sectile.Cuda
---@param op sectile.Operand
---@param read table
---@return string
function window.type(g, op, read)
  return read.how and window.fold(op, read).value or g:type(op)
end

--- What a place outside of the array holds for a read: text of the field's type, or, of a window
--- that leaves it out, the identity of its fold; nil: what it finds lies inside.
---@param op sectile.Operand
---@param f integer
---@param read table
---@return string?
function window.outside(op, f, read)
  local field = op.record.fields[f]
  if op.border == "value" then
    return kit.number(field, op.border_value)
  elseif op.border == "skip" and read.how then
    return window.fold(op, read).identity
  end
  return (op.border == "zero" or op.border == "skip") and kit.zero(field) or nil
end

-- How many elements of a window lie inside of the array, over the kernel's indices.
local function count_inside(op, read)
  local total = 1
  for d, count in ipairs(read.count) do
    local at, step = op.at[d] + read.delta[d], read.step[d]
    local first = ((step - 1 - at) // step):max(0)
    local last = ((op.extent[d] - 1 - at) // step):min(count - 1)
    total = (last - first + 1):max(0) * total
  end
  return total
end

-- What the result is divided by.
local function divisor(g, op, read, fold, with)
  if read.how == "mean inside" then
    return string.format("(%s)(%s)", fold.value, g:text(count_inside(op, read), with))
  end
  local count = 1
  for _, n in ipairs(read.count) do
    count = count * n
  end
  return string.format(fold.value == "double" and "%d.0" or "%d.0f", count)
end

--- The text of a window's value: a lambda that adds up its elements.
---@param g sectile.Cuda
---@param op sectile.Operand
---@param read table
---@param loops table of { name, count, inside, run }: the loops over its elements, the outermost
--- first, the conditions of elements that are not left out, and what declares several at once
---@param value string the text of an element at the loops' variables
---@param with table how the text calls indices
---@param pragma? string
---@return string
function window.text(g, op, read, loops, value, with, pragma)
  local fold = window.fold(op, read)
  local lines, indent = { string.format("  %s found = %s;", fold.type, fold.identity) }, "  "
  kit.append(lines, table.unpack(loops.before or {}))
  local closing
  for _, loop in ipairs(loops) do
    if loop.run then -- in the block of the loop or condition before it
      closing = string.sub(indent, 3) .. "}"
      lines[#lines] = lines[#lines] .. (closing ~= "}" and " {" or "")
      lines[#lines + 1] = indent .. loop.run
    end
    lines[#lines + 1] = loop.count and (loop.run and "#pragma unroll" or pragma)
    kit.append(lines, loop.count and string.format("%sfor (int %s = 0; %s < %s; %s++)", indent,
      loop.name, loop.name, loop.count, loop.name)
      or string.format("%sif (%s)", indent, loop.inside))
    indent = indent .. "  "
  end
  local cast = op.record.fields[1].cuda == fold.type and "" or "(" .. fold.type .. ")"
  lines[#lines + 1] = indent .. "found = "
    .. reduce.combined(fold, "found", cast .. value) .. ";"
  lines[#lines + 1] = closing and closing ~= "}" and closing or nil
  local result = fold.type == fold.value and "found" or "(" .. fold.value .. ")found"
  if fold.mean then
    local signed = op.record.fields[1].kind == "int"
      and "(" .. string.gsub(fold.type, "^unsigned ", "") .. ")" or ""
    result = (fold.type == fold.value and "" or "(" .. fold.value .. ")" .. signed) .. "found / "
      .. divisor(g, op, read, fold, with)
  end
  return "[&] {\n" .. table.concat(lines, "\n") .. "\n  return " .. result .. ";\n}()"
end

-- The vector that holds a row of a window, where it has no border, is a power of two bytes and lies
-- at a multiple of them: its type, and the text that loads it, `at` elements after `first`.
local function run_of(g, op, read, moved, with)
  local loop = read.how and read.loops[#read.loops]
  local field = op.record.fields[1]
  local bytes = loop and loop.count * field.bytes or 0
  if not loop or read.inside_each[loop.d] or bytes > 16 or bytes & (bytes - 1) ~= 0 then
    return nil
  end
  local factor = E.subst(read.offset[1], { loop.index, loop.index + 1 }) - read.offset[1]
  local start = E.subst(read.offset[1], { loop.index, 0 })
  if kit.const_of(factor) ~= field.bytes or kit.known_align(op, start) % bytes ~= 0 then
    return nil
  end
  g:need_align(op, bytes)
  local type = string.format("vec<%s, %d>", g:type(op), loop.count)
  local address = moved and g:text(moved.at - moved.last) or g:address(op, nil, with, { start })
  address = moved and "&" .. moved.first .. "[" .. address .. "]" or address
  return { type = type, text = cuda.load(cuda.load_name(op), type, bytes, address) }
end

-- Where the elements of a window lie, found once: the address of the first one, and how far it goes
-- with a step of each loop; nil: borders turn some, or it is no element of its type's alignment.
local function steps_of(g, op, read, loops, with)
  local offset, bytes = read.offset[1], op.record.bytes
  local first, at, before, last = offset, 0, {}, nil
  local _, shorter = g:single(op, 1, read.offset)
  if shorter or op.record.packed or op.style == "bytes" then
    return nil
  end
  for _, loop in ipairs(read.loops) do
    local factor = E.subst(offset, { loop.index, loop.index + 1 }) - offset
    if E.mentions(factor, loop.index) then
      return nil
    end
    first = E.subst(first, { loop.index, 0 })
    local step, index = factor // bytes, cuda.var(loops[loop.d].name)
    if not kit.const_of(step) then
      local name = g:name("step_" .. loop.d)
      before[#before + 1] = string.format("  const long long %s = %s;", name, g:text(step, with))
      step = cuda.var(name)
    end
    last = step * index
    at = at + last
  end
  local name = g:name("first")
  table.insert(before, 1, string.format("  const %s *const %s = %s;", g:type(op), name,
    g:address(op, nil, with, { first })))
  return { before = before, first = name, at = at, last = last }
end

--- The text of what a read gives of field `f`, or of whole values, found one by one in memory.
---@param g sectile.Cuda
---@param op sectile.Operand
---@param f? integer
---@param read table
---@param with table how the text calls indices
---@param load fun(with: table): string the text that loads an element of it
---@param wide? boolean neighbours of a window's row are loaded at once, where they are aligned
---@return string
function window.value(g, op, f, read, with, load, wide)
  local loops, by_dim, left_out = {}, {}, read.how and op.border == "skip"
  with = { table.unpack(with) }
  for _, loop in ipairs(read.loops or {}) do
    by_dim[loop.d] = { name = g:name("at_" .. loop.d), count = loop.count }
    kit.append(with, loop.index, cuda.var(by_dim[loop.d].name))
  end
  for d, inside in ipairs(read.inside_each or {}) do
    loops[#loops + 1] = by_dim[d]
    loops[#loops + 1] = left_out and inside and { inside = string.format("is_within(%s, %s)",
      g:text(inside.at, with), g:text(inside.extent, with)) } or nil
  end
  local moved = read.how and #read.loops > 0 and steps_of(g, op, read, by_dim, with) or nil
  local run = wide and run_of(g, op, read, moved, with)
  loops.before = moved and moved.before
  if run then
    local name = g:name("run")
    loops[#loops].run = string.format("const %s %s = %s;", run.type, name, run.text)
    return window.text(g, op, read, loops, string.format("%s[%s]", name, loops[#loops].name), with)
  end
  local text = moved and string.format("%s[%s]", moved.first, g:text(moved.at)) or load(with)
  if read.inside and not left_out then
    local outside = (f or op.record.bare) and window.outside(op, f or 1, read) or g:type(op) .. "()"
    local choice = string.format("%s ? %s : %s", g:text(read.inside, with), text, outside)
    text = read.how and "(" .. choice .. ")" or choice
  end
  return read.how and window.text(g, op, read, loops, text, with) or text
end

return window
