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

-- What an empty reduction gives: 0, or the value that every other one replaces.
local function identity(field, how, type)
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
---@param g sectile.Generator
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
        at = at, identity = identity(field, op.reduce, type),
      }
      slots[#slots].combined = combined(slots[#slots], "one", "other")
      at = at + bytes
    end
  end
  return slots, (at + align - 1) // align * align
end

local function list_of(slots, text)
  local list = {}
  for n, slot in ipairs(slots) do
    list[n] = text(slot)
  end
  return list
end

local TYPES = [[
// What is reduced: a field for each value of the outputs.
struct partial {
  %s
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {%s};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {%s};
}
]]

--- The struct of partials and the functions on it.
---@param p table plan: slots
---@return string
function reduce.types(p)
  return string.format(TYPES,
    table.concat(list_of(p.slots, function(s) return s.type .. " " .. s.name .. ";" end), "\n  "),
    table.concat(list_of(p.slots, function(s) return s.identity end), ", "),
    table.concat(list_of(p.slots, function(s) return combined(s, "a", "b") end), ", "))
end

--- The partial of one element whose outputs are computed.
---@param p table plan
---@return string
function reduce.contribution(p)
  return "partial{" .. table.concat(list_of(p.slots, function(s)
    local value = kit.member(s.op.name, s.field)
    return s.type == s.field.cuda and value or string.format("(%s)%s", s.type, value)
  end), ", ") .. "}"
end

--- The function that gives the partial of one element.
---@param p table plan
---@return string
function reduce.element(p)
  local g = p.g
  local params = g:params()
  for _, dim in ipairs(g.k.dims) do
    params[#params + 1] = "long long " .. dim
  end
  local hint, accesses = g.hint, g.accesses
  g.accesses = {}
  local inside = kit.concat {
    g:load_element(), g:declare_outputs(), g:body(), "return " .. reduce.contribution(p) .. ";",
  }
  g.hint, g.accesses = hint, accesses
  return "// What one element of the index space gives, every access where its layout puts it.\n"
    .. "__device__ __forceinline__ partial element(" .. kit.wrapped(params, 40, "    ") .. ") {\n  "
    .. string.gsub(inside, "\n", "\n  ") .. "\n}\n"
end

--- A statement that adds the element at the dimensions' variables to `mine`.
---@param p table plan
---@param lanes? sectile.Expr
---@param warps? sectile.Expr
---@return string
function reduce.add_element(p, lanes, warps)
  p.g:when(lanes, warps)
  p.g:load_element()
  p.g:when(nil)
  return "mine = combine(mine, element(" .. kit.element_arguments(p.g) .. "));"
end

--- Statements that store the partial `name` to the outputs, at the dimensions' variables.
---@param p table plan
---@param name string
---@param lanes sectile.Expr
---@param warps? sectile.Expr
---@return string
function reduce.store(p, name, lanes, warps)
  local lines = {}
  p.g:when(lanes, warps)
  for n, slot in ipairs(p.slots) do
    local value = name .. "." .. slot.name
    if slot.type ~= slot.field.cuda then
      value = string.format("(%s)%s", slot.field.cuda, value)
    end
    lines[n] = p.g:store(slot.op, slot.f, slot.op.offset[slot.f], value)
  end
  p.g:when(nil)
  return kit.concat(lines)
end

-- Records that a partial is moved between registers and shared memory.
function reduce.touch(p, store, number)
  for _, slot in ipairs(p.slots) do
    p.g:touch(nil, store, slot.bytes, number * p.partial_bytes + slot.at)
  end
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
  local n = 1
  for _, d in ipairs(dims) do
    n = n * k.extents[d]
  end
  return n
end

--- Text that takes the variable `name` apart into the indices of `dims`, the last one fastest; ties
--- them.
---@param g sectile.Generator
---@param dims integer[]
---@param name string
---@param var sectile.Expr
---@return string
function reduce.unravel(g, dims, name, var)
  local k, lines = g.k, {}
  local rest, text = var, name
  for n = #dims, 1, -1 do
    local d = dims[n]
    if n == 1 then
      lines[#lines + 1] = string.format("const long long %s = %s;", k.dims[d], text)
      g:tie(k.index[d], rest)
    else
      lines[#lines + 1] = string.format("const long long %s = %s %% n_%s;", k.dims[d], text,
        k.dims[d])
      g:tie(k.index[d], rest % k.extents[d])
      rest, text = rest // k.extents[d], string.format("%s / n_%s", text, k.dims[d])
    end
  end
  return kit.concat(lines)
end

-- ---- a plan ----

--- Starts a plan: generator, slots, which dimensions are kept and which reduced.
---@param k sectile.View
---@param kernel string
---@param c table threads, hint
---@return table plan
function reduce.start(k, kernel, c)
  local g = kit.new(k, kernel, c.threads)
  g.hint = kit.hints.of(k, c.hint)
  local p = { g = g, k = k, kernel = kernel, threads = c.threads }
  p.slots, p.partial_bytes = reduce.slots(g)
  p.kept, p.reduced = reduce.dims(k)
  return p
end

return reduce
