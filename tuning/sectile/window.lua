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
---@param loops table of { name, count, inside }: the loops over its elements, the outermost first,
--- and the conditions of elements that are not left out
---@param value string the text of an element at the loops' variables
---@param with table how the text calls indices
---@param pragma? string
---@return string
function window.text(g, op, read, loops, value, with, pragma)
  local fold = window.fold(op, read)
  local lines, indent = { string.format("  %s found = %s;", fold.type, fold.identity) }, "  "
  for _, loop in ipairs(loops) do
    lines[#lines + 1] = loop.count and pragma
    kit.append(lines, loop.count and string.format("%sfor (int %s = 0; %s < %s; %s++)", indent,
      loop.name, loop.name, loop.count, loop.name)
      or string.format("%sif (%s)", indent, loop.inside))
    indent = indent .. "  "
  end
  local cast = op.record.fields[1].cuda == fold.type and "" or "(" .. fold.type .. ")"
  lines[#lines + 1] = indent .. "found = "
    .. reduce.combined(fold, "found", cast .. value) .. ";"
  local result = fold.type == fold.value and "found" or "(" .. fold.value .. ")found"
  if fold.mean then
    local signed = op.record.fields[1].kind == "int"
      and "(" .. string.gsub(fold.type, "^unsigned ", "") .. ")" or ""
    result = (fold.type == fold.value and "" or "(" .. fold.value .. ")" .. signed) .. "found / "
      .. divisor(g, op, read, fold, with)
  end
  return "[&] {\n" .. table.concat(lines, "\n") .. "\n  return " .. result .. ";\n}()"
end

return window
