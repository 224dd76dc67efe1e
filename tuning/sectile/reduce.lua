-- reduce: what kernels that reduce share. A thread keeps a `partial`, a field for each value of the
-- outputs, to which elements are added by `combine`. The order is the same in every run, so results
-- are too. A slot has as many members as it takes to combine two partials: one of a sum, a value
-- with its index of argmax, a maximum with the sum of exponentials below it of logsumexp, a number,
-- a mean and a sum of squares of variance.
local reduce = {}

reduce.COUNTER_BYTES = 4 << 16 -- of a workspace, in front of what blocks leave

local LEAST_BYTES = 32    -- neighbours that the lanes of a row load at once, where it is very short
local SHORT_BYTES = 64    -- ... where it has as many
local BUSY_THREADS = 1024 -- of an SM

-- ---- partials ----

--- The type in which a field is accumulated: halves as floats; sums of integers without a sign, as
--- those may wrap.
---@param field sectile.Field
---@param how string
---@return string
function reduce.accumulator(field, how)
  if field.kind == "float" then
    return field.bytes == 8 and "double" or "float"
  end
  local wide = field.bytes == 8 and "long long" or "int"
  return (how == "sum" or how == "product" or field.kind == "uint") and "unsigned " .. wide or wide
end

local INFINITY = {
  float = "__int_as_float(0x7f800000)", double = "__longlong_as_double(0x7ff0000000000000ll)",
}
local LARGEST = {
  i8 = "127", i16 = "32767", i32 = "2147483647", i64 = "9223372036854775807ll",
  u8 = "255u", u16 = "65535u", u32 = "4294967295u", u64 = "18446744073709551615ull",
}

local BITS = { ["and"] = "&", ["or"] = "|", xor = "^" }
local SIGNS = { sum = "+", mean = "+", product = "*", ["and"] = "&", ["or"] = "|", xor = "^" }

-- A number as a literal of the type.
local function literal(number, type)
  return type == "float" and number .. ".0f" or type == "double" and number .. ".0" or number
end

--- What an empty reduction gives: 0, 1, or the value that every other one replaces.
---@param field sectile.Field
---@param how string
---@param type string in which it is accumulated
---@return string
function reduce.identity(field, how, type)
  if BITS[how] then
    return how == "and" and "(" .. type .. ")-1" or "0"
  elseif SIGNS[how] or (how == "max" and field.kind == "uint") then
    return literal(how == "product" and "1" or "0", type)
  elseif field.kind == "float" then
    return (how == "max" and "-" or "") .. INFINITY[type]
  end
  return how == "max" and "-" .. LARGEST[field.type] .. " - 1" or LARGEST[field.type]
end

--- The text of two values as one, both of the slot's type.
---@param slot table how, type, field
---@param one string
---@param other string
---@return string
function reduce.combined(slot, one, other)
  local sign = SIGNS[slot.how]
  if sign then
    return string.format("%s %s %s", one, sign, other)
  end
  local call = slot.how
  if slot.field.kind == "float" then
    call = slot.type == "float" and "f" .. slot.how .. "f" or "f" .. slot.how
  end
  return string.format("%s(%s, %s)", call, one, other)
end

-- The same function of the type: of float by `expf`.
local function of_type(slot, name)
  return slot.type == "double" and name or name .. "f"
end

-- Appends a member: what none is (identity), what one element is (first, nil: its value), and what
-- two become (combined).
local function add_member(slot, name, type, identity, first, combine)
  table.insert(slot.members, { name = name, type = type, identity = identity, first = first,
                               combined = combine })
end

-- The members of an index: the extreme that was found, and where. The lowest index wins among
-- equals; -1, that of no element, is the highest without a sign; NaN wins nowhere.
local function add_index_members(slot)
  local extreme, name, compared = slot.name .. "_value", slot.name, slot.op.compared
  local how = slot.how == "argmax" and "max" or "min"
  local type, wins = reduce.accumulator(compared, how), name .. "_wins"
  slot.compared, slot.type = compared, slot.field.bytes == 8 and "unsigned long long"
    or "unsigned int"
  slot.prepare = string.format("const bool %s = other.%s %s one.%s\n"
    .. "  || (other.%s == one.%s && other.%s < one.%s);", wins, extreme,
    how == "max" and ">" or "<", extreme, extreme, extreme, name, name)
  local both = wins .. " ? other.%s : one.%s"
  add_member(slot, extreme, type, reduce.identity(compared, how, type), nil,
    string.format(both, extreme, extreme))
  add_member(slot, name, slot.type, string.format("(%s)-1", slot.type),
    function(index) return string.format("(%s)%s", slot.type, index()) end,
    string.format(both, name, name))
end

-- The members of a sum of exponentials: the largest exponent, and the sum of what the others are
-- below it, which the larger one of two scales. Equal ones are not subtracted, as they may be
-- infinite.
local function add_exponential_members(slot)
  local x = { type = slot.type, sum = slot.name, max = slot.name .. "_max", one = literal("1",
    slot.type), scale = slot.name .. "_scale", fmax = of_type(slot, "fmax"),
    fabs = of_type(slot, "fabs"), exp = of_type(slot, "exp") }
  slot.prepare = kit.each({ x }, "const {type} {max} = {fmax}(one.{max}, other.{max});\n"
    .. "const {type} {scale} = one.{max} == other.{max} ? {one}\n"
    .. "  : {exp}(-{fabs}(one.{max} - other.{max}));")
  add_member(slot, x.max, slot.type, reduce.identity(slot.field, "max", slot.type), nil, x.max)
  add_member(slot, x.sum, slot.type, literal("0", slot.type), function() return x.one end,
    kit.each({ x }, "one.{max} < {max} ? one.{sum} * {scale} + other.{sum}"
      .. " : one.{sum} + other.{sum} * {scale}"))
  slot.result = slot.how == "logsumexp" and function(partial)
    return string.format("(%s.%s + %s(%s.%s))", partial, x.max, of_type(slot, "log"), partial,
      x.sum)
  end
end

-- The members of a variance: how many, their mean, and the sum of squares around it. Two become
-- one as Chan, Golub and LeVeque say (1979); of one element that is Welford's update.
local function add_variance_members(slot)
  local x = { type = slot.type, squares = slot.name, count = slot.name .. "_count",
    mean = slot.name .. "_mean", off = slot.name .. "_off", share = slot.name .. "_share",
    part = slot.type == "double" and "other.%s / fmax(%s, 1.0)"
      or "__fdividef(other.%s, fmaxf(%s, 1.0f))" }
  x.part = string.format(x.part, x.count, x.count)
  slot.prepare = kit.each({ x }, "const {type} {count} = one.{count} + other.{count};\n"
    .. "const {type} {share} = {part};\nconst {type} {off} = other.{mean} - one.{mean};")
  local zero = literal("0", slot.type)
  add_member(slot, x.count, slot.type, zero, function() return literal("1", slot.type) end, x.count)
  add_member(slot, x.mean, slot.type, zero, nil, kit.each({ x }, "one.{mean} + {off} * {share}"))
  add_member(slot, x.squares, slot.type, zero, function() return zero end,
    kit.each({ x }, "one.{squares} + other.{squares} + {off} * ({off} * (one.{count} * {share}))"))
  slot.result = function(partial)
    -- the mean stays infinite or NaN from the first value on that is
    return kit.each({ { p = partial, c = x.count, m = x.mean, s = x.squares } },
      "({p}.{s} / {p}.{c} + ({p}.{m} - {p}.{m}))")
  end
end

-- What is found in one member, of the slot's name.
local function add_plain_member(slot)
  add_member(slot, slot.name, slot.type, reduce.identity(slot.field, slot.how, slot.type), nil,
    reduce.combined(slot, "one." .. slot.name, "other." .. slot.name))
  slot.result = slot.how == "mean" and function(partial, count)
    return string.format("(%s.%s / (%s)%s)", partial, slot.name, slot.type, count)
  end
end

local ADD_MEMBERS = {
  argmax = add_index_members, argmin = add_index_members, variance = add_variance_members,
  logsumexp = add_exponential_members, softmax_sum = add_exponential_members,
}

-- What a partial has of a value: `field` of it, combined in the way of `op`, a slot for the text of
-- the kernel. Its members follow each other in the struct.
local function new_slot(op, field, name)
  local how = op.reduce or op.scan or op.accumulate
  how = how == "add" and "sum" or how
  local slot = { op = op, field = field, how = how, name = name, members = {} }
  slot.type = reduce.accumulator(field, how)
  local add = ADD_MEMBERS[how] or add_plain_member
  add(slot)
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

-- A slot of a name that leaves all members names of their own.
local function take_slot(taken, op, field, name)
  local slot
  repeat
    slot = new_slot(op, field, name)
    name = name .. "_"
  until not kit.any(slot.members, function(member) return taken[member.name] end)
  for _, member in ipairs(slot.members) do
    taken[member.name] = true
  end
  return slot
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
      slots[#slots + 1] = take_slot(taken, op, field, name)
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
  local slots = kit.map(step.values, function(value)
    local field = kit.copy(value)
    field.name = ""
    return take_slot(taken, value, field, value.name)
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
  local members, prepared = {}, {}
  for _, slot in ipairs(slots) do
    kit.append(members, table.unpack(slot.members))
    prepared[#prepared + 1] = slot.prepare and "  " .. kit.indented(slot.prepare, "  ") .. "\n"
  end
  local identities = kit.map(members, function(m) return m.identity end)
  local declared = kit.map(members, function(m) return m.type .. " " .. m.name .. ";" end)
  local results = kit.map(members, function(m) return m.combined end)
  local text = string.format(DEFINITIONS, suffix and "row" or "element of the outputs",
    reduce.any_index(slots) and ",\n// and for each index the value there" or "",
    table.concat(declared, "\n  "), table.concat(identities, ", "), table.concat(prepared),
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
  return wide and reduce.accumulator(field, op.reduce) or field and field.cuda or op.record.name
end

--- The initializers of the partial of one element whose outputs are computed.
---@param slots table
---@param value_of fun(op: sectile.Operand): string the text of an output's value
---@param index fun(): string the text of the element's number among those that become one, a name
--- or in parentheses
---@return string
function reduce.members(slots, value_of, index)
  local list = {}
  for _, s in ipairs(slots) do
    local value = kit.member(value_of(s.op), s.field)
    local given = s.field.name == "" and reduce.given_type(s.op) or s.field.cuda
    for _, member in ipairs(s.members) do
      list[#list + 1] = member.first and member.first(index) or member.type == given and value
        or string.format("(%s)%s", member.type, value)
    end
  end
  return table.concat(list, ", ")
end

--- The partial of one element that may be combined on either side, with these initializers: of an
--- index NaN, which wins nowhere, gives way to what comes after it.
---@param slots table
---@param members string
---@param type? string in front of the initializers, where no type is known
---@return string
function reduce.single(slots, members, type)
  return string.format(reduce.any_index(slots) and "combine(identity(), {%s})"
    or (type or "") .. "{%s}", members)
end

-- What a slot of a partial of `count` elements comes to, of the slot's type.
local function result_of(slot, partial, count)
  return slot.result and slot.result(partial, count) or partial .. "." .. slot.name
end

--- What the kernel calls the values of a step whose partial of a whole row is `name`.
---@param slots table
---@param name string
---@param count string how many elements the row has
---@param values table<string, string> by the name of the value
function reduce.name_values(slots, name, count, values)
  for _, s in ipairs(slots) do
    local cast = s.type == s.field.cuda and "" or "(" .. s.field.cuda .. ")"
    values[s.op.name] = cast .. result_of(s, name, count)
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
  local both = reduce.combined(slot, wide, value)
  return rounded(slot, slot.type ~= slot.field.cuda and SIGNS[slot.how] and "(" .. both .. ")"
    or both)
end

--- Statements that store the partial `name` to the outputs. Those that are inout take what they
--- hold as one more value, and stay as they are where nothing was reduced.
---@param slots table
---@param name string|fun(slot: table): string the same for all, or by slot
---@param count string how many elements were reduced
---@param store fun(op: sectile.Operand, f: integer, value: string): string
---@param held? fun(op: sectile.Operand, f: integer): string the text of what an output holds
---@param some? string a condition: something was reduced; nil: the caller sees to it
---@return string
function reduce.stores(slots, name, count, store, held, some)
  local fresh, updates = {}, {}
  for _, s in ipairs(slots) do
    local value = result_of(s, type(name) == "string" and name or name(s), count)
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
  local least, log_busy, bytes = c.least, 0, math.max(c.bytes, 1) -- a body may read nothing
  while 2 * least * bytes <= (c.short or LEAST_BYTES) do
    least = 2 * least
  end
  while 2 << log_busy <= BUSY_THREADS * g.k.device.sms do
    log_busy = log_busy + 1
  end
  local many, rows = c.many + 0 * c.rows, c.rows + 0 * c.many
  local short = kit.ceil_div(c.short or SHORT_BYTES, bytes)
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
