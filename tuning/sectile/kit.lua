-- kit: small things that strategies, templates and the generator share. cuda.lua is the generator.
local declare = require "sectile.declare"

local kit = {}

kit.MAX_INDEX = 1 << 40
kit.comment = declare.comment

-- What things are called in the annotations of this folder.
---@class sectile.Expr an expression (E, script_expr.c)
---@class sectile.View the kernel as strategies see it (modes.lua)
---@class sectile.Operand one of view.operands; cuda.new adds style, pointer, used and reads
---@class sectile.Field one of operand.record.fields

-- ---- text ----

--- Joins the texts that are not empty, in lines or with `between`.
---@param list string[]
---@param between? string
---@return string
function kit.concat(list, between)
  local some = {}
  for _, text in ipairs(list) do
    if text ~= "" then
      some[#some + 1] = text
    end
  end
  return table.concat(some, between or "\n")
end

--- The lines of a text, the second and later ones indented but for pragmas.
---@param text string
---@param indent string
---@return string
function kit.indented(text, indent)
  return (string.gsub(string.gsub(text, "\n", "\n" .. indent), "\n +#", "\n#"))
end

--- Text of somebody else, whose lines stay as they are; others are wrapped at 100 columns.
---@param text string
---@return string
function kit.verbatim(text)
  return "\1" .. string.gsub(text, "\n", "\n\1")
end

--- `text` for each item of a list, in lines; "{name}" in it stands for the item's field `name`.
---@param list table[]
---@param text string
---@return string
function kit.each(list, text)
  local lines = {}
  for n, item in ipairs(list) do
    lines[n] = string.gsub(text, "{([%w_]+)}", item)
  end
  return kit.concat(lines)
end

--- An unrolled loop over `index` from 0 to `count` in front of a block; without a count, or of
--- one, no loop. With `statement`, which then is that of the loop.
---@param index string
---@param count? string|integer
---@param statement? string
---@return string
function kit.unrolled(index, count, statement)
  if (count or 1) == 1 then
    return statement or ""
  end
  local head = string.format("#pragma unroll\nfor (int %s = 0; %s < %s; %s++)", index, index, count,
    index)
  return head .. (statement and "\n  " .. string.gsub(statement, "\n", "\n  ") or " ")
end

-- ---- lists ----

--- Does `test(item, n)` hold for an item of the list?
---@param list table
---@param test fun(item: any, n: integer): any
---@return boolean
function kit.any(list, test)
  for n, item in ipairs(list) do
    if test(item, n) then
      return true
    end
  end
  return false
end

--- Is `wanted` one of the list's items?
---@param list table
---@param wanted any
---@return boolean
function kit.has(list, wanted)
  return kit.any(list, function(item) return item == wanted end)
end

--- What `make(item, n)` gives for each item of a list, but nil.
---@param list table
---@param make fun(item: any, n: integer): any
---@return table
function kit.map(list, make)
  local made = {}
  for n, item in ipairs(list) do
    made[#made + 1] = make(item, n)
  end
  return made
end

--- A copy of a table.
---@param from table
---@return table
function kit.copy(from)
  local copy = {}
  for key, value in pairs(from) do
    copy[key] = value
  end
  return copy
end

--- Appends items to a list, which it gives back.
---@param list table
---@return table
function kit.append(list, ...)
  for _, item in ipairs { ... } do
    list[#list + 1] = item
  end
  return list
end

-- ---- numbers ----

--- The product of a list's numbers or expressions.
---@param list (sectile.Expr|integer)[]
---@return sectile.Expr|integer
function kit.product(list)
  local all = 1
  for _, one in ipairs(list) do
    all = all * one
  end
  return all
end

--- Greatest common divisor.
---@param a integer
---@param b integer
---@return integer
function kit.gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

--- The largest extent of mode d among the tuned sizes.
---@param k sectile.View
---@param d integer
---@return integer
function kit.longest(k, d)
  return math.max(0, table.unpack(kit.map(k.sizes, function(size) return size[d] end)))
end

--- ceil(e / n) for expressions and integers.
---@param e sectile.Expr|integer
---@param n sectile.Expr|integer
---@return sectile.Expr|integer
function kit.ceil_div(e, n)
  return (e + (n - 1)) // n
end

--- Largest power of two that divides n and is at most `most`.
---@param n integer
---@param most? integer default 16
---@return integer
function kit.word_bytes(n, most)
  local w = most or 16
  while w > 1 and n % w ~= 0 do
    w = w // 2
  end
  return w
end

--- The value of an expression that is constant, else nil; of an integer, itself.
---@param e sectile.Expr|integer
---@return integer?
function kit.const_of(e)
  if math.type(e) == "integer" then
    return e
  end
  return e:const()
end

-- ---- operands ----

local function same(a, b)
  return kit.const_of(a - b) == 0
end

--- How an operand's pointer is typed: "record" (an array of structs), "scalar" (an array of one
--- type) or "bytes".
---@param op sectile.Operand
---@return string
function kit.pointer_style(op)
  local record, fields = op.record, op.record.fields
  if not record.bare then
    local first = op.offset[1] - fields[1].offset
    -- fields of their own arrays of one element lie like a record that lacks what pads its end
    local ok = E.divisor(first) % record.bytes == 0 and E.divisor(op.bytes + 0) % record.bytes == 0
    for f = 2, #fields do
      ok = ok and same(op.offset[f] - fields[f].offset, first)
    end
    if ok then
      return "record"
    end
  end
  for f, field in ipairs(fields) do
    if field.cuda ~= fields[1].cuda or E.divisor(op.offset[f]) % field.bytes ~= 0 then
      return "bytes"
    end
  end
  return "scalar"
end

--- The member of `value` that is `field`; the value itself where that is of a plain type.
---@param value string
---@param field sectile.Field
---@return string
function kit.member(value, field)
  return field.name == "" and value or value .. "." .. field.name
end

--- The bytes of field `f` of an operand, or of its whole value.
---@param op sectile.Operand
---@param f? integer
---@return integer
function kit.bytes_of(op, f)
  return f and op.record.fields[f].bytes or op.record.bytes
end

--- The type of an operand's pointer as a parameter, and the alignment that it promises.
---@param op sectile.Operand
---@return string
---@return integer
function kit.argument(op)
  local type, align = "void", 1
  if op.style == "record" then
    type, align = op.record.name, op.record.align
  elseif op.style == "scalar" then
    type, align = op.record.fields[1].cuda, op.record.fields[1].bytes
  end
  return (op.is_output and "" or "const ") .. type .. " *", align
end

--- What divides the address of byte `at` of an operand, whose pointer is aligned to it.
---@param op sectile.Operand
---@param at sectile.Expr
---@return integer
function kit.known_align(op, at)
  local known = E.divisor(at)
  return op.style == "record" and kit.gcd(known, op.record.align) or known
end

--- The zero of a field's type.
---@param field sectile.Field
---@return string
function kit.zero(field)
  return string.find(field.cuda, " ", 1, true) and "(" .. field.cuda .. ")0" or field.cuda .. "()"
end

--- A number of a field's type.
---@param field sectile.Field
---@param value number
---@return string
function kit.number(field, value)
  local double = field.kind == "float" and field.bytes == 8
  if field.kind ~= "float" then
    local whole = field.kind == "uint" and string.format("%dull", math.tointeger(value))
      or string.format("%dll", math.tointeger(value))
    return "(" .. field.cuda .. ")" .. whole
  end
  local text = string.format(double and "%.17g" or "%.9g", math.abs(value))
  text = string.find(text, "[.e]") and text or text .. ".0"
  text = value < math.huge and value > -math.huge and text .. (double and "" or "f")
    or double and "__longlong_as_double(0x7ff0000000000000ll)" or "__int_as_float(0x7f800000)"
  text = (value < 0 and "-" or "") .. text
  return (field.cuda == "float" or double) and text
    or string.format("%s(%s)", field.cuda, text)
end

return kit
