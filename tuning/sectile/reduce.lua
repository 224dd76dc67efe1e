-- reduce: what kernels that reduce share. A thread keeps a `partial`, a field for each value of the
-- outputs; elements are added to it by `combine`, and so are the partials of lanes, warps and
-- blocks. The order is the same in every run, so results are too.
--
-- Where several blocks reduce to one place, each leaves its partial in an array of the module, and
-- the one that comes last combines them all: one launch, no workspace. Two such launches of one
-- kernel must not overlap, as they share the array.
local reduce = {}

local MOST_PARTIAL_BYTES = 1 << 20 -- of a module's array of partials
local MOST_COUNTERS = 1 << 16

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

local function combined(slot)
  if slot.how == "sum" then
    return string.format("a.%s + b.%s", slot.name, slot.name)
  end
  local call = slot.how
  if slot.field.kind == "float" then
    call = slot.type == "float" and "f" .. slot.how .. "f" or "f" .. slot.how
  end
  return string.format("%s(a.%s, b.%s)", call, slot.name, slot.name)
end

--- What a partial holds: a slot for each field of each output, with where it lies in the struct.
---@param g sectile.Generator
---@return table slots list of { op, f, field, how, name, type, bytes, at }
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
        at = at,
      }
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

local LANES = [[
// The partials of a warp's lanes as one, in every lane.
__device__ __forceinline__ partial combine_lanes(partial p) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    p = combine(p, {%s});
  return p;
}
]]

local SHARED = [[
// What blocks leave for the one that comes last, and how many have come: 0 again at the end.
__device__ partial partials[%d];
__device__ unsigned int arrived[%d];
// Another block's partial, which is not in this SM's L1.
__device__ __forceinline__ partial partial_at(long long number) {
  return {%s};
}
]]

--- The struct of partials and the functions on it.
---@param p table plan: slots, lanes (are lanes combined?), split (are blocks?)
---@return string
function reduce.types(p)
  local slots, parts = p.slots, {}
  parts[1] = string.format(TYPES,
    table.concat(list_of(slots, function(s) return s.type .. " " .. s.name .. ";" end), "\n  "),
    table.concat(list_of(slots, function(s) return identity(s.field, s.how, s.type) end), ", "),
    table.concat(list_of(slots, combined), ", "))
  if p.lanes then
    parts[2] = string.format(LANES, table.concat(list_of(slots, function(s)
      return string.format("__shfl_xor_sync(0xffffffffu, p.%s, distance)", s.name)
    end), ", "))
  end
  if p.split then
    parts[#parts + 1] = string.format(SHARED, p.most_partials, MOST_COUNTERS,
      table.concat(list_of(slots, function(s)
        return string.format("__ldcg(&partials[number].%s)", s.name)
      end), ", "))
  end
  return table.concat(parts, "")
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
---@return string
function reduce.add_element(p, lanes)
  p.g:when(lanes)
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

-- Notes that a partial is moved between registers and shared memory, or a module's array.
function reduce.touch(p, store, number, in_module)
  for _, slot in ipairs(p.slots) do
    p.g:touch(nil, store, slot.bytes, number * p.partial_bytes + slot.at, in_module)
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

--- The number of a kept element, over its dimensions' variables.
function reduce.linear(k, dims)
  local n = 0
  for _, d in ipairs(dims) do
    n = n * k.extents[d] + k.index[d]
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

local function in_body(k, name)
  return string.find(k.body, "%f[%w_]" .. name .. "%f[^%w_]") ~= nil
end

-- The view with dimensions d and d + 1 as one, `places`, if nothing tells them apart; else nil.
local function merged(k, d, name)
  if in_body(k, k.dims[d]) or in_body(k, k.dims[d + 1]) then
    return nil
  end
  local count = k.extents[d] * k.extents[d + 1]
  local place = E.raw(name, 0, kit.MAX_INDEX)
  local view = setmetatable({
    dims = {}, index = {}, extents = {}, extent_names = k.extent_names, reduced = {}, operands = {},
    prologue = (k.prologue and k.prologue .. "\n" or "")
      .. string.format("const long long n_%s = %s;", name, E.text(count, true)),
  }, { __index = k })
  for n = 1, #k.dims do
    if n ~= d + 1 then
      local both = n == d
      view.dims[#view.dims + 1] = both and name or k.dims[n]
      view.index[#view.index + 1] = both and place or k.index[n]
      view.extents[#view.extents + 1] = both and count or k.extents[n]
      view.reduced[#view.reduced + 1] = k.reduced[n]
    end
  end
  for n, op in ipairs(k.operands) do
    local offset = {}
    for f, at in ipairs(op.offset) do
      offset[f] = E.subst(at, { k.index[d + 1], place - k.extents[d + 1] * k.index[d] })
      if E.mentions(offset[f], k.index[d]) then
        return nil
      end
    end
    if op.is_index or op.through_index then
      return nil
    end
    local last = d + 1
    view.operands[n] = setmetatable({
      offset = offset,
      run = function(f, dim, width) -- neighbours along the merged one are neighbours along its last
        return op.run(f, dim < d and dim or dim == d and last or dim + 1, width)
      end,
    }, { __index = op })
  end
  return view
end

--- The view with neighbouring reduced dimensions as one where they lie like one.
---@param k sectile.View
---@return sectile.View
function reduce.folded(k)
  local view = k
  local d = 1
  while d < #view.dims do
    local both = view.reduced[d] and view.reduced[d + 1]
    local next_view = both and merged(view, d, d == 1 and "places" or "places_" .. d)
    view = next_view or view
    d = next_view and d or d + 1
  end
  return view
end

-- ---- a plan ----

--- Starts a plan: generator, slots, movers for `vec` neighbours along the last dimension.
---@param k sectile.View
---@param kernel string
---@param c table threads, vec, items, hint
---@return table plan
function reduce.start(k, kernel, c)
  local g = kit.new(k, kernel, c.threads)
  g.hint = c.hint or "none"
  local p = {
    g = g, k = k, kernel = kernel, threads = c.threads, vec = c.vec or 1, items = c.items or 1,
    dim = #k.dims, last = k.dims[#k.dims], mover = {}, ragged = false,
    images_in = {}, images_out = {},
  }
  p.slots, p.partial_bytes = reduce.slots(g)
  p.most_partials = MOST_PARTIAL_BYTES // p.partial_bytes
  p.kept, p.reduced = reduce.dims(k)
  p.any = p.vec == 1
  for _, op in ipairs(g.inputs) do
    local mover = movers.vector(g, op, #k.dims, p.vec) or { kind = "direct" }
    p.mover[op.number] = mover
    if mover.kind == "vector" then
      p.any = true
      movers.adopt_vector(g, mover, p.vec)
    end
  end
  return p
end

--- What must hold where `parts` blocks share an output element (`groups` of elements that are
--- finished together).
---@param p table plan
---@param parts sectile.Expr|integer
---@param groups sectile.Expr|integer
function reduce.share(p, parts, groups)
  local partials = reduce.count(p.k, p.kept) * parts
  if not kit.const_of(partials) then
    p.g:require(partials:le(p.most_partials))
  end
  if not kit.const_of(groups) then
    p.g:require(groups:le(MOST_COUNTERS))
  end
end

return reduce
