-- reduce: what kernels that reduce share. A thread keeps a `partial`, a field for each value of the
-- outputs, to which elements are added by `combine`. The order is the same in every run, so results
-- are too. Where the result is an index (argmax, argmin) the partial also has the extreme itself.
-- The lowest index wins among equals; -1, that of no element, is the highest without a sign; NaN
-- wins nowhere.
local reduce = {}

reduce.COUNTER_BYTES = 4 << 16 -- of a workspace, in front of what blocks leave

local LEAST_BYTES = 32    -- neighbours that the lanes of a row load at once, where it is very short
local SHORT_BYTES = 64    -- ... where it has as many
local BUSY_THREADS = 1024 -- of an SM

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

local BITS = { ["and"] = "&", ["or"] = "|", xor = "^" }

--- What an empty reduction gives: 0, or the value that every other one replaces.
---@param field sectile.Field
---@param how string
---@param type string in which it is accumulated
---@return string
function reduce.identity(field, how, type)
  if BITS[how] then
    return how == "and" and "(" .. type .. ")-1" or "0"
  elseif how == "sum" or (how == "max" and field.kind == "uint") then
    return field.kind ~= "float" and "0" or type == "float" and "0.0f" or "0.0"
  elseif field.kind == "float" then
    return (how == "max" and "-" or "") .. INFINITY[type]
  end
  return how == "max" and "-" .. LARGEST[field.type] .. " - 1" or LARGEST[field.type]
end

-- The text of two values as one, both of the slot's type.
local function combined(slot, one, other)
  local sign = slot.how == "sum" and "+" or BITS[slot.how]
  if sign then
    return string.format("%s %s %s", one, sign, other)
  end
  local call = slot.how
  if slot.field.kind == "float" then
    call = slot.type == "float" and "f" .. slot.how .. "f" or "f" .. slot.how
  end
  return string.format("%s(%s, %s)", call, one, other)
end

-- The members of an index: the extreme that was found, and where.
local function add_index_members(slot, compared)
  local extreme, name = slot.name .. "_value", slot.name
  local how = slot.how == "argmax" and "max" or "min"
  local type = accumulator(compared, how)
  slot.compared, slot.wins = compared, name .. "_wins"
  slot.compare = string.format("const bool %s = other.%s %s one.%s\n"
    .. "    || (other.%s == one.%s && other.%s < one.%s);", slot.wins, extreme,
    how == "max" and ">" or "<", extreme, extreme, extreme, name, name)
  for _, member in ipairs {
    { type = type, name = extreme, identity = reduce.identity(compared, how, type) },
    { type = slot.type, name = name, identity = string.format("(%s)-1", slot.type) },
  } do
    member.combined = string.format("%s ? other.%s : one.%s", slot.wins, member.name, member.name)
    table.insert(slot.members, member)
  end
end

-- What a partial has of a value: `field` of it, combined in the way of `op`, a slot for the text of
-- the kernel. Its members follow each other in the struct.
local function new_slot(op, field, name)
  local how = op.reduce or op.scan or op.accumulate
  how = how == "add" and "sum" or how
  local slot = { op = op, field = field, how = how, name = name, members = {} }
  if op.compared then
    slot.type = field.bytes == 8 and "unsigned long long" or "unsigned int"
    add_index_members(slot, op.compared)
  else
    slot.type = accumulator(field, how)
    slot.members[1] = {
      type = slot.type, name = name, identity = reduce.identity(field, how, slot.type),
      combined = combined(slot, "one." .. name, "other." .. name),
    }
  end
  return slot
end

-- The bytes of the struct that has the members of these slots.
local function struct_bytes(slots)
  local at, align = 0, 1
  for _, slot in ipairs(slots) do
    for _, member in ipairs(slot.members) do
      local wide = member.type == "double" or string.find(member.type, "long long", 1, true)
      local bytes = wide and 8 or 4
      at, align = (at + bytes - 1) // bytes * bytes + bytes, math.max(align, bytes)
    end
  end
  return (at + align - 1) // align * align
end

--- What a partial holds: a slot for each field of each output.
---@param g sectile.Cuda
---@return table slots of { op, f, field, how, name, type, members }
---@return integer bytes of the struct
function reduce.slots(g)
  local slots, taken = {}, {}
  for _, op in ipairs(g.outputs) do
    for f, field in ipairs(op.record.fields) do
      local name = field.name == "" and op.name or op.name .. "_" .. field.word
      while taken[name] or op.compared and taken[name .. "_value"] do
        name = name .. "_"
      end
      taken[name], taken[name .. "_value"] = true, op.compared and true
      slots[#slots + 1] = new_slot(op, field, name)
      slots[#slots].f = f
    end
  end
  return slots, struct_bytes(slots)
end

--- What a partial of a step holds: a slot for each of its values.
---@param step table one of g.steps
---@return table slots as above, with the value as op
---@return integer bytes of the struct
function reduce.value_slots(step)
  local taken = {}
  for _, value in ipairs(step.values) do
    taken[value.name] = true
  end
  local slots = kit.map(step.values, function(value)
    local field, name = kit.copy(value), value.name
    field.name = ""
    while value.compared and taken[name .. "_value"] do
      name = name .. "_"
    end
    return new_slot(value, field, name)
  end)
  return slots, struct_bytes(slots)
end

--- Is the result of some slot an index?
---@param slots table
---@return boolean
function reduce.any_index(slots)
  return kit.any(slots, function(slot) return slot.compared end)
end

local DEFINITIONS = [[
// What is known of one %s so far: a member for each reduced value%s.
struct partial$ {
  %s
};

// The identity element.
__device__ __forceinline__ partial$ identity$() {
  return {%s};
}

// Two partial results as one.
__device__ __forceinline__ partial$ combine(const partial$ &one, const partial$ &other) {
%s  return {%s};
}
]]

--- The struct `partial`, its `identity()`, and two as one by `combine`.
---@param slots table
---@param suffix? string of the names, for partials of several steps
---@return string
function reduce.definitions(slots, suffix)
  local members, compares = {}, {}
  for _, slot in ipairs(slots) do
    kit.append(members, table.unpack(slot.members))
    compares[#compares + 1] = slot.compare and "  " .. slot.compare .. "\n"
  end
  local identities = kit.map(members, function(m) return m.identity end)
  local declared = kit.map(members, function(m) return m.type .. " " .. m.name .. ";" end)
  local results = kit.map(members, function(m) return m.combined end)
  local text = string.format(DEFINITIONS, suffix and "row" or "element of the outputs",
    reduce.any_index(slots) and ",\n// and for each index the value there" or "",
    table.concat(declared, "\n  "), table.concat(identities, ", "), table.concat(compares),
    table.concat(results, ", "))
  return (string.gsub(text, "%$", suffix or ""))
end

--- The C type of what the body gives for a reduced value: an output, or a step's. Narrow floats
--- come as wide as they are combined, so that only the result is rounded.
---@param op table with record or cuda, and reduce
---@return string
function reduce.given_type(op)
  local field = op.compared or op.cuda and op or op.record.bare and op.record.fields[1]
  local wide = field and op.reduce and not op.compared and field.kind == "float"
  return wide and accumulator(field, op.reduce) or field and field.cuda or op.record.name
end

--- The initializers of the partial of one element whose outputs are computed.
---@param slots table
---@param value_of fun(op: sectile.Operand): string the text of an output's value
---@param index fun(): string the text of the element's number among those that become one, a name
--- or in parentheses
---@return string
function reduce.members(slots, value_of, index)
  return table.concat(kit.map(slots, function(s)
    local value, type = kit.member(value_of(s.op), s.field), s.members[1].type
    local given = s.field.name == "" and reduce.given_type(s.op) or s.field.cuda
    value = type == given and value or string.format("(%s)%s", type, value)
    return s.compared and string.format("%s, (%s)%s", value, s.type, index()) or value
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

-- The text of `value`, of the slot's type, in that of its field.
local function rounded(slot, value)
  return slot.type == slot.field.cuda and value
    or string.format("(%s)%s", slot.field.cuda, value)
end

-- The value that is stored onto what an output holds: one rounding for both.
local function onto(slot, held, value)
  local wide = slot.type == slot.field.cuda and held or string.format("(%s)%s", slot.type, held)
  local both = combined(slot, wide, value)
  return rounded(slot, slot.type ~= slot.field.cuda and slot.how == "sum" and "(" .. both .. ")"
    or both)
end

--- Statements that store the partial `name` to the outputs. Those that are inout take what they
--- hold as one more value, and stay as they are where nothing was reduced.
---@param slots table
---@param name string|fun(slot: table): string the same for all, or by slot
---@param store fun(op: sectile.Operand, f: integer, value: string): string
---@param held? fun(op: sectile.Operand, f: integer): string the text of what an output holds
---@param some? string a condition: something was reduced; nil: the caller sees to it
---@return string
function reduce.stores(slots, name, store, held, some)
  local fresh, updates = {}, {}
  for _, s in ipairs(slots) do
    local value = (type(name) == "string" and name or name(s)) .. "." .. s.name
    if s.op.is_inout then
      updates[#updates + 1] = store(s.op, s.f, onto(s, held(s.op, s.f), value))
    else
      fresh[#fresh + 1] = store(s.op, s.f, rounded(s, value))
    end
  end
  return kit.concat { kit.concat(fresh), reduce.update(some, kit.concat(updates)) }
end

--- Statements that store onto what outputs hold, which stays where nothing was reduced.
---@param some? string a condition: something was reduced; nil: the caller sees to it
---@param lines string
---@return string
function reduce.update(some, lines)
  if lines == "" or not some then
    return lines
  end
  return string.format("if (%s) { // onto what is there\n  %s\n}", some, kit.indented(lines, "  "))
end

-- ---- the index space ----

--- Is dimension d one along which elements are combined: reduced, or scanned?
---@param k sectile.View
---@param d integer
---@return boolean
function reduce.joins(k, d)
  return k.reduced[d] or d == k.scan
end

--- Dimensions that are kept and those that are reduced or scanned, by number, slowest first.
---@param k sectile.View
---@return integer[] kept
---@return integer[] reduced
function reduce.dims(k)
  local kept, reduced = {}, {}
  for d = 1, #k.dims do
    local list = reduce.joins(k, d) and reduced or kept
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

--- Blocks that share each tile of outputs: until there are `blocks`, while each has `step`
--- elements.
---@param tiles sectile.Expr|integer
---@param blocks integer
---@param n_reduced sectile.Expr|integer elements that become one
---@param step integer
---@return sectile.Expr
function reduce.shares(tiles, blocks, n_reduced, step)
  return ((0 * tiles + blocks) // tiles:max(1)):min(n_reduced // step):max(1)
end

--- How many lanes have a row, chosen at run time: a power of two from `least` to `most`, so many
--- that each has work; of short rows as many as load so many bytes side by side; of few rows so
--- many that the GPU is busy.
---@param g sectile.Cuda
---@param c table how many rows, and of each how many neighbours that are loaded at once (many):
--- expressions; of these a lane's share (items) and the bytes of one; least and most lanes; short
---@return string log the text of the number's binary logarithm
---@return sectile.Expr lanes the number
---@return integer least that it may be
function reduce.choose_lanes(g, c)
  local least, log_busy = c.least, 0
  while 2 * least * c.bytes <= (c.short or LEAST_BYTES) do
    least = 2 * least
  end
  while 2 << log_busy <= BUSY_THREADS * g.k.device.sms do
    log_busy = log_busy + 1
  end
  local many, rows = c.many + 0 * c.rows, c.rows + 0 * c.many
  local short = kit.ceil_div(c.short or SHORT_BYTES, c.bytes)
  local wanted = kit.ceil_div(many, c.items):max(many:min(short))
  local lanes, chosen = least, least + 0 * wanted
  while lanes < c.most do
    local few = (0 * many + lanes):lt(many) * (lanes * rows):lt(1 << log_busy)
    chosen = chosen + lanes * (0 * wanted + lanes):lt(wanted):max(few)
    lanes = 2 * lanes
  end
  return string.format("log2_lanes<%d, %d>((int)%s, (int)%s, %s, %d)", least, c.most,
    g:text(wanted, nil, true), g:text(many, nil, true), g:text(rows), log_busy), chosen, least
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

--- How the elements of one row, or of one output, are counted. `many`: how many there are, of a
--- ragged row from `first` on; `range(exists)` declares where they begin, by the index of the row's
--- mode, if rows are ragged and this one exists; `element(place)` declares the indices of one.
---@param g sectile.Cuda
---@param names string[] what the kernel calls the index of each mode
---@param dims integer[] along the row
---@param first string a name for where a ragged row begins
---@return table
function reduce.walk(g, names, dims, first)
  local ragged = g.k.ragged
  if not ragged then
    return {
      many = g:text(reduce.count(g.k, dims)),
      range = function() return "" end,
      element = function(place) return reduce.unravel(g, names, dims, place) end,
    }
  end
  local offsets, mode, many = g.ops[ragged.offsets], g.k.index[ragged.row], g:name("n_in_row")
  first = g:name(first)
  local function offset(after)
    return g:place(offsets, 1, { mode, cuda.var(names[ragged.row]) + after })
  end
  return {
    many = many, first = first,
    range = function(exists)
      local line = "const long long %s = %s ? %s : 0;"
      return kit.concat { string.format(line, first, exists, offset(0)),
        string.format(line, many, exists, offset(1) .. " - " .. first) }
    end,
    element = function(place)
      return string.format("const long long %s = %s + %s;", names[ragged.dim], first, place)
    end,
  }
end

return reduce
