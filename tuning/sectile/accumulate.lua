-- accumulate: outputs on whose elements several points fall. Their values are combined by atomic
-- operations, which give nothing back, so that the compiler takes the short form (red).
local accumulate = {}

local FUNCTIONS = {
  add = "atomicAdd", min = "atomicMin", max = "atomicMax",
  ["and"] = "atomicAnd", ["or"] = "atomicOr", xor = "atomicXor",
}

-- The type in which an atomic operation takes a field: bits and wrapping sums of 64 bits have no
-- sign.
local function operand_type(how, field)
  local signless = field.type == "i64" and how ~= "min" and how ~= "max"
  return signless and "unsigned long long" or field.cuda
end

--- The statement that combines `value` with field `f` of `op`, which lies at `address`.
---@param op sectile.Operand
---@param f integer
---@param address string
---@param value string
---@return string
function accumulate.update(op, f, address, value)
  local field = op.record.fields[f]
  local type = operand_type(op.accumulate, field)
  if type ~= field.cuda then
    address, value = string.format("(%s *)%s", type, address), string.format("(%s)%s", type, value)
  end
  return string.format("%s(%s, %s);", FUNCTIONS[op.accumulate], address, value)
end

return accumulate
