-- reduce: what kernels that reduce share. A thread keeps a `partial`, a field for each value of the
-- outputs, to which elements are added by `combine`. The order is the same in every run, so results
-- are too.
local reduce = {}

-- ---- partials ----

-- The type in which a field is accumulated: halves as floats; sums of integers without a sign, as
-- those may wrap.
local function accumulator(field, how)
  if field.kind == "float" then
    return field.bytes == 8 and "double" or "float"
  end
  local wide = field.bytes == 8 and "long long" or "int"
  return (how == "sum" or field.kind == "uint") and "unsigned " .. wide or wide
end

local INFINITY = {
  float = "__int_as_float(0x7f800000)", double = "__longlong_as_double(0x7ff0000000000000ll)",
}
local LARGEST = {
  i8 = "127", i16 = "32767", i32 = "2147483647", i64 = "9223372036854775807ll",
  u8 = "255u", u16 = "65535u", u32 = "4294967295u", u64 = "18446744073709551615ull",
}

--- What an empty reduction gives: 0, or the value that every other one replaces.
---@param field sectile.Field
---@param how string
---@param type string in which it is accumulated
---@return string
function reduce.identity(field, how, type)
  if how == "sum" or (how == "max" and field.kind == "uint") then
    return field.kind ~= "float" and "0" or type == "float" and "0.0f" or "0.0"
  elseif field.kind == "float" then
    return (how == "max" and "-" or "") .. INFINITY[type]
  end
  return how == "max" and "-" .. LARGEST[field.type] .. " - 1" or LARGEST[field.type]
end

local function combined(slot, one, other)
  if slot.how == "sum" then
    return string.format("%s.%s + %s.%s", one, slot.name, other, slot.name)
  end
  local call = slot.how
  if slot.field.kind == "float" then
    call = slot.type == "float" and "f" .. slot.how .. "f" or "f" .. slot.how
  end
  return string.format("%s(%s.%s, %s.%s)", call, one, slot.name, other, slot.name)
end

--- What a partial holds: a slot for each field of each output.
---@param g sectile.Cuda
---@return table slots of { op, f, field, how, name, type, bytes, at, identity, combined }
---@return integer bytes of the struct
function reduce.slots(g)
  local slots, taken, at, align = {}, {}, 0, 1
  for _, op in ipairs(g.outputs) do
    for f, field in ipairs(op.record.fields) do
      local name = field.name == "" and op.name or op.name .. "_" .. field.name
      while taken[name] do
        name = name .. "_"
      end
      taken[name] = true
      local type = accumulator(field, op.reduce)
      local bytes = field.bytes == 8 and 8 or 4
      at, align = (at + bytes - 1) // bytes * bytes, math.max(align, bytes)
      slots[#slots + 1] = {
        op = op, f = f, field = field, how = op.reduce, name = name, type = type, bytes = bytes,
        at = at, identity = reduce.identity(field, op.reduce, type),
      }
      slots[#slots].combined = combined(slots[#slots], "one", "other")
      at = at + bytes
    end
  end
  return slots, (at + align - 1) // align * align
end

--- What a partial of a step holds: a slot for each of its values.
---@param step table one of g.steps
---@return table slots as above, with the value as op
---@return integer bytes of the struct
function reduce.value_slots(step)
  local at, align = 0, 1
  local slots = kit.map(step.values, function(value)
    local type, bytes = accumulator(value, value.reduce), value.bytes == 8 and 8 or 4
    local slot = {
      op = value, field = kit.copy(value), how = value.reduce, name = value.name, type = type,
      identity = reduce.identity(value, value.reduce, type),
    }
    slot.field.name = ""
    slot.combined = combined(slot, "one", "other")
    at, align = (at + bytes - 1) // bytes * bytes + bytes, math.max(align, bytes)
    return slot
  end)
  return slots, (at + align - 1) // align * align
end

local DEFINITIONS = [[
// What is known of one %s so far: a member for each reduced value.
struct partial$ {
  %s
};

// The identity element.
__device__ __forceinline__ partial$ identity$() {
  return {%s};
}

// Two partial results as one.
__device__ __forceinline__ partial$ combine(const partial$ &one, const partial$ &other) {
  return {%s};
}
]]

--- The struct `partial`, its `identity()`, and two as one by `combine`.
---@param slots table
---@param suffix? string of the names, for partials of several steps
---@return string
function reduce.definitions(slots, suffix)
  local function joined(field)
    return table.concat(kit.map(slots, function(s) return s[field] end), ", ")
  end
  local members = kit.map(slots, function(s) return s.type .. " " .. s.name .. ";" end)
  local text = string.format(DEFINITIONS, suffix and "row" or "element of the outputs",
    table.concat(members, "\n  "), joined("identity"), joined("combined"))
  return (string.gsub(text, "%$", suffix or ""))
end

--- The initializers of the partial of one element whose outputs are computed.
---@param slots table
---@param value_of fun(op: sectile.Operand): string the text of an output's value
---@return string
function reduce.members(slots, value_of)
  return table.concat(kit.map(slots, function(s)
    local value = kit.member(value_of(s.op), s.field)
    return s.type == s.field.cuda and value or string.format("(%s)%s", s.type, value)
  end), ", ")
end

--- What the kernel calls the values of a step whose partial of a whole row is `name`.
---@param slots table
---@param name string
---@param values table<string, string> by the name of the value
function reduce.name_values(slots, name, values)
  for _, s in ipairs(slots) do
    local cast = s.type == s.field.cuda and "" or "(" .. s.field.cuda .. ")"
    values[s.name] = cast .. name .. "." .. s.name
  end
end

--- Statements that store the partial `name` to the outputs.
---@param slots table
---@param name string
---@param store fun(op: sectile.Operand, f: integer, value: string): string
---@return string
function reduce.stores(slots, name, store)
  return kit.concat(kit.map(slots, function(s)
    local value = name .. "." .. s.name
    return store(s.op, s.f, s.type == s.field.cuda and value
      or string.format("(%s)%s", s.field.cuda, value))
  end))
end

-- ---- the index space ----

--- Dimensions that are kept and those that are reduced, by number, slowest first.
---@param k sectile.View
---@return integer[] kept
---@return integer[] reduced
function reduce.dims(k)
  local kept, reduced = {}, {}
  for d = 1, #k.dims do
    local list = k.reduced[d] and reduced or kept
    list[#list + 1] = d
  end
  return kept, reduced
end

--- The product of the extents of some dimensions.
---@param k sectile.View
---@param dims integer[]
---@return sectile.Expr|integer
function reduce.count(k, dims)
  return kit.product(kit.map(dims, function(d) return k.extents[d] end))
end

--- Declarations of the indices of `dims`, the last one fastest, in the number `text`.
---@param g sectile.Cuda
---@param names string[] what the kernel calls the index of each mode
---@param dims integer[]
---@param text string
---@return string
function reduce.unravel(g, names, dims, text)
  local lines, inner = {}, 1
  for n = #dims, 1, -1 do
    local d = dims[n]
    local at = cuda.var(text) // inner
    at = n > 1 and at % g.k.extents[d] or at
    table.insert(lines, 1, string.format("const long long %s = %s;", names[d], g:text(at)))
    inner = inner * g.k.extents[d]
  end
  return kit.concat(lines)
end

return reduce
