-- accumulate: outputs on whose elements several points fall. Their values are combined by atomic
-- operations, which give nothing back, so that the compiler takes the short form (red).
local accumulate = {}

local FUNCTIONS = {
  add = "atomicAdd", min = "atomicMin", max = "atomicMax",
  ["and"] = "atomicAnd", ["or"] = "atomicOr", xor = "atomicXor",
}
local COMBINED = {
  add = "%s + %s", min = "min(%s, %s)", max = "max(%s, %s)",
  ["and"] = "%s & %s", ["or"] = "%s | %s", xor = "%s ^ %s",
}

-- Is the field added by a function of the library, and held by blocks as a float?
local function is_half(field)
  return field.kind == "float" and field.bytes == 2
end

-- The type in which values of a field are combined: bits and sums of integers, which may wrap, have
-- no sign. Of 32 bits, there are atomic operations for both.
local function combined_type(op, field)
  if is_half(field) then
    return "float"
  elseif field.kind == "float" or op.accumulate == "min" or op.accumulate == "max" then
    return field.cuda
  end
  return field.bytes == 8 and "unsigned long long" or "unsigned int"
end

-- The element that changes no other one.
local function identity(op, field, type)
  local how = op.accumulate
  if how == "and" then
    return "~(" .. type .. ")0"
  elseif how == "min" or how == "max" then
    return reduce.identity(field, how, type)
  end
  return "0"
end

--- What is known of field `f` of an output while a block has it: `type`, `bytes`, `identity`.
--- `at_once`: each point goes to global memory by itself, as what it is there.
---@param op sectile.Operand
---@param f integer
---@param at_once? boolean
---@return table
function accumulate.slot(op, f, at_once)
  local field = op.record.fields[f]
  local type = at_once and is_half(field) and field.cuda or combined_type(op, field)
  return {
    op = op, f = f, field = field, type = type, bytes = math.max(field.bytes, 4),
    identity = identity(op, field, type),
  }
end

--- Atomic operations need aligned fields, whatever the kernel declares the array as.
---@param g sectile.Cuda
function accumulate.align(g)
  for _, op in ipairs(g.outputs) do
    for _, field in ipairs(op.accumulate and op.record.fields or {}) do
      g:need_align(op, field.bytes)
    end
  end
end

--- Text of two values of an output as one.
---@param op sectile.Operand
---@param one string
---@param other string
---@return string
function accumulate.combined(op, one, other)
  return string.format(COMBINED[op.accumulate], one, other)
end

--- The number of an array's element, row-major, at the indices `at`.
---@param op sectile.Operand
---@param at sectile.Expr[]
---@return sectile.Expr
function accumulate.number(op, at)
  local number = 0
  for d, extent in ipairs(op.extent) do
    number = number * extent + at[d]
  end
  return number + 0
end

--- The array's index variables, each with its value for element number `text`.
---@param op sectile.Operand
---@param text string
---@return table
function accumulate.indices(op, text)
  local with, inner = {}, 1
  for d = #op.extent, 1, -1 do
    local at = cuda.var(text) // inner
    kit.append(with, op.index[d], d > 1 and at % op.extent[d] or at)
    inner = inner * op.extent[d]
  end
  return with
end

--- The address of field f of element number `text`.
---@param g sectile.Cuda
---@param op sectile.Operand
---@param f integer
---@param text string
---@return string
function accumulate.address(g, op, f, text)
  return g:address(op, f, accumulate.indices(op, text), op.element)
end

--- The statement that combines field f of element number `text` with `value`, where no other thread
--- has it.
---@param g sectile.Cuda
---@param op sectile.Operand
---@param f integer
---@param text string
---@param value string
---@return string
function accumulate.update_own(g, op, f, text, value)
  local place = g:place(op, f, accumulate.indices(op, text), op.element)
  return string.format("%s = %s;", place, accumulate.combined(op, place, value))
end

--- The statement that combines `value`, of a slot's type, with what lies at `address`.
---@param slot table
---@param address string of a value of that type
---@param value string
---@return string
function accumulate.update(slot, address, value)
  local how = slot.op.accumulate
  local own = slot.field.kind == "float" and how ~= "add" and "atomic_" .. how
  return string.format("%s(%s, %s);", own or FUNCTIONS[how], address, value)
end

--- The function of the library that adds vectors of neighbours in global memory.
---@param field table of the output
---@return string
function accumulate.vector_function(field)
  return is_half(field) and "add_vector_" .. field.cuda or "add_vector"
end

--- The statement that updates the element of the output's array at `address`.
---@param g sectile.Cuda
---@param slot table
---@param address string
---@param value string
---@return string
function accumulate.update_array(g, slot, address, value)
  if is_half(slot.field) then
    local half = slot.field.cuda
    local swaps = half == "bf16" and g.k.device.cc < 90
    value = slot.type == half and value or string.format("%s(%s)", half, value)
    return string.format("add_%s%s(%s, %s);", half, swaps and "_by_swaps" or "", address, value)
  end
  local cast = slot.type ~= slot.field.cuda and "(" .. slot.type .. " *)" or ""
  return accumulate.update(slot, cast .. address, value)
end

--- The value of a field as one of the slot's type.
---@param slot table
---@param value string
---@return string
function accumulate.cast(slot, value)
  return slot.type == slot.field.cuda and value or "(" .. slot.type .. ")" .. value
end

return accumulate
