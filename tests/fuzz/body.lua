--- Bodies: the statements of one element, as CUDA C for the spec and as C for the reference.
---
--- A node has both texts (cu, c) and a class of arithmetic. Only what C and CUDA define alike is
--- written: unsigned or masked integers, floats converted to integers within range, products that
--- no compiler may contract into a sum (safe), minima whose zero may have either sign (any_zero).
local types = require "types"

local M = {}

local function node(class, cu, c, more)
  local out = { class = class, cu = cu, c = c or cu }
  for key, value in pairs(more or {}) do
    out[key] = value
  end
  return out
end

-- From several nodes by one format for each language.
local function combine(class, format_cu, format_c, ...)
  local cu, c, any_zero = {}, {}, false
  for k, part in ipairs { ... } do
    cu[k], c[k] = part.safe or part.cu, part.c
    any_zero = any_zero or part.any_zero
  end
  return node(class, format_cu:format(table.unpack(cu)),
    (format_c or format_cu):format(table.unpack(c)), { any_zero = any_zero })
end

-- ---- values that the body may name ----

local COMPONENTS = { "x", "y", "z", "w" }

local function component_leaf(t, cu, c)
  if t.from then
    return node("f32", "(float)" .. cu, t.from .. "(" .. c .. ")")
  end
  return node(t.class, cu, c)
end

-- The part of a byte, by arithmetic instead of shifts.
local function shared_leaf(t, cu, byte, part)
  local bits = 8 // t.count
  local c = ("(%s >> (int)(%d * %s)) %% %d"):format(byte, bits, part, 1 << bits)
  if t.name == "i4" then
    c = ("((%s) >= 8 ? (%s) - 16 : (%s))"):format(c, c, c)
  end
  return node("i32", cu, "(" .. c .. ")")
end

-- The element at an index that is computed.
local function shared_at(array, f, at)
  return shared_leaf(f.type, ("%s[%s]"):format(array, at),
    ("%s[(%s) / %d]"):format(array, at, f.type.count), ("((%s) %% %d)"):format(at, f.type.count))
end

-- The first and the last element of a byte, and, with the first byte, one at a computed index.
local function add_shared(out, array, f, dim)
  for part = 0, f.type.count - 1, f.type.count - 1 do
    out.leaves[#out.leaves + 1] = shared_leaf(f.type,
      ("%s[%d]"):format(array, f.element * f.type.count + part),
      ("%s[%d]"):format(array, f.element), part)
  end
  if f.element == 0 then
    local n = f.count * f.type.count
    out.shared[#out.shared + 1] = { array = array, field = f, n = n }
    for _ = 1, dim and f.count + 1 or 0 do -- it is named often
      out.leaves[#out.leaves + 1] = shared_at(array, f, ("(unsigned int)%s %% %du"):format(dim, n))
    end
  end
end

local function add_value(out, name, record, dim)
  for _, f in ipairs(record.fields) do
    local text = record.bare and name or name .. "." .. f.name
    if f.type.count then
      add_shared(out, text:match "^[^%[]*", f, dim)
    else
      out.whole[#out.whole + 1] = { type = f.type, text = text }
    end
    for k = 1, f.type.count and 0 or f.type.lanes do
      local part = f.type.lanes > 1 and text .. "." .. COMPONENTS[k] or text
      out.leaves[#out.leaves + 1] = component_leaf(f.type, part, part)
    end
  end
end

--- What a body may read: whole fields, and leaves of arithmetic.
---@param spec table
---@return table
function M.values(spec)
  local out = { whole = {}, leaves = {}, shared = {}, small = spec.small }
  for _, a in ipairs(spec.inputs) do
    if a.part then
      for _ = 1, 4 do -- it is named often
        out.leaves[#out.leaves + 1] = shared_leaf(a.record.fields[1].type, a.name, a.name, a.part)
      end
    elseif a.index == 0 or spec.reads_index then
      add_value(out, a.name, a.record, spec.dims[#spec.dims])
      for _, tap in ipairs(a.taps or {}) do
        for _ = 1, tap.how and 3 or 1 do -- windows are named often
          add_value(out, tap.name, a.record, spec.dims[1])
        end
      end
    end
  end
  for _, scalar in ipairs(spec.scalars) do
    out.leaves[#out.leaves + 1] = component_leaf(scalar.type, scalar.name, scalar.name)
  end
  for _, dim in ipairs(spec.small and {} or spec.dims) do
    out.leaves[#out.leaves + 1] = node("u32", "(unsigned int)" .. dim)
  end
  return out
end

-- ---- expressions ----

local expression

local function convert(n, class)
  if n.class == class then
    return n
  end
  local from_float = n.class == "f32" or n.class == "f64"
  local to = types.class_c[class]
  if from_float and class ~= "f32" and class ~= "f64" then
    local least = class:sub(1, 1) == "u" and "0" or "-30000"
    local f = n.class == "f32" and "f" or ""
    local dot = f == "f" and ".0f" or ".0"
    return combine(class, ("(%s)fmin%s(fmax%s(%%s, %s%s), 30000%s)"):format(to, f, f, least, dot,
      dot), nil, n)
  end
  return combine(class, "(" .. to .. ")(%s)", nil, n)
end

local function constant(r, class, small)
  if class == "f32" or class == "f64" then
    local text = small and r:pick { "1.0", "-1.0", "2.0" }
      or r:pick { "0.5", "-1.0", "3.0", "0.1", "1e-3", "2.0", "-0.0", "1e30", "7.25" }
    return node(class, text .. (class == "f32" and "f" or ""))
  end
  local suffix = { i32 = "", u32 = "u", i64 = "ll", u64 = "ull" }
  local text = r:pick { "0", "1", "2", "3", "7", "13", "255", "1000", "65537" }
  return node(class, text .. suffix[class])
end

local function leaf(r, v, class)
  local fit = {}
  for _, n in ipairs(v.leaves) do
    if n.class == class then
      fit[#fit + 1] = n
    end
  end
  local exact = v.small and (class == "f32" or class == "f64") -- other values are not small
  if #fit > 0 and r:chance(85) then
    return r:pick(fit)
  elseif #v.leaves > 0 and not exact and r:chance(75) then
    return convert(r:pick(v.leaves), class)
  end
  return constant(r, class, v.small)
end

--- A condition, 0 or 1.
local function condition(r, v, depth)
  local class = #v.leaves > 0 and r:pick(v.leaves).class or "i32"
  local op = r:pick { "<", ">", "<=", ">=", "==", "!=" }
  local more = r:chance(15) and r:pick { "&&", "||" }
  local c = combine("i32", "%s " .. op .. " %s", nil, expression(r, v, class, depth),
    r:chance(50) and constant(r, class, v.small) or expression(r, v, class, depth))
  if more then
    return combine("i32", "(%s) " .. more .. " (%s)", nil, c, condition(r, v, 0))
  end
  return c
end

local function select(r, v, class, depth)
  return combine(class, "(%s ? %s : %s)", nil, condition(r, v, depth),
    expression(r, v, class, depth), expression(r, v, class, depth))
end

local function signed_by(class, op, a, b)
  local u = class == "i32" and "unsigned int" or "unsigned long long"
  return combine(class, ("(%s)((%s)%%s %s (%s)%%s)"):format(types.class_c[class], u, op, u), nil,
    a, b)
end

local function integer(r, v, class, depth)
  local a, b = expression(r, v, class, depth), expression(r, v, class, depth)
  local wide = class:sub(2) == "64"
  local kind = r:int(1, 9)
  if kind <= 3 then
    local op = r:pick { "+", "-", "*" }
    if class:sub(1, 1) == "i" then
      return signed_by(class, op, a, b)
    end
    return combine(class, "(%s " .. op .. " %s)", nil, a, b)
  elseif kind == 4 then
    return combine(class, "(%s " .. r:pick { "&", "|", "^" } .. " %s)", nil, a, b)
  elseif kind == 5 then
    local by = r:int(1, wide and 40 or 20)
    return combine(class, ("(%%s >> %d)"):format(by), nil, a)
  elseif kind == 6 then
    local by = r:int(1, 7)
    local u = class:sub(1, 1) == "u" and "" or wide and "(unsigned long long)" or "(unsigned int)"
    return combine(class, ("(%s)(%s%%s << %d)"):format(types.class_c[class], u, by), nil, a)
  elseif kind == 7 then
    return combine(class, "(%s " .. r:pick { "/", "%%" } .. " ((%s & 15) + 1))", nil, a, b)
  elseif kind == 8 then
    return combine(class, "(~%s)", nil, a)
  elseif wide then
    return select(r, v, class, depth)
  end
  if r:chance(50) then
    local to = "(" .. types.class_c[class] .. ")"
    return combine(class, to .. "__popc((unsigned int)%s)",
      to .. "__builtin_popcount((unsigned int)%s)", a)
  end
  local name = r:pick { "min", "max" }
  return combine(class, name .. "(%s, %s)", "fz_" .. name .. "_" .. class .. "(%s, %s)", a, b)
end

local function product(class, a, b)
  local out = combine(class, "%s * %s", nil, a, b)
  out.cu, out.c = "(" .. out.cu .. ")", "(" .. out.c .. ")"
  out.safe = combine(class, (class == "f32" and "__fmul_rn" or "__dmul_rn") .. "(%s, %s)",
    "(%s * %s)", a, b).cu
  return out
end

local function least(r, class, a, b)
  local name = r:pick { "fmin", "fmax" } .. (class == "f32" and "f" or "")
  local out = combine(class, name .. "(%s, %s)", nil, a, b)
  out.any_zero = true
  return out
end

-- What fast arithmetic changes but for these numbers: quotients by powers of two and back.
local EXACT_QUOTIENTS = {
  "(%s / (%s > 0.0f ? 2.0f : 4.0f) * (%s > 0.0f ? 2.0f : 4.0f))",
  "(%s * (1.0f / sqrtf(%s > 0.0f ? 4.0f : 16.0f)) * (%s > 0.0f ? 2.0f : 4.0f))",
}

local function small_float(r, v, class, depth)
  local a = expression(r, v, class, 0)
  local kind = r:int(1, 6)
  local f = class == "f32" and "f" or ""
  if kind == 1 then
    return combine(class, "(-(%s))", nil, a)
  elseif kind == 2 then
    return product(class, a, expression(r, v, class, 0))
  elseif kind == 3 then
    return combine(class, "fabs" .. f .. "(%s)", nil, a)
  elseif kind == 4 then
    return least(r, class, a, expression(r, v, class, 0))
  elseif kind == 5 and class == "f32" then
    local b = expression(r, v, class, 0)
    return combine(class, r:pick(EXACT_QUOTIENTS), nil, a, b, b)
  end
  return select(r, v, class, depth)
end

local function floating(r, v, class, depth)
  if v.small then
    return small_float(r, v, class, depth)
  end
  local a, b = expression(r, v, class, depth), expression(r, v, class, depth)
  local f = class == "f32" and "f" or ""
  local kind = r:int(1, 12)
  if kind <= 4 then
    return combine(class, "(%s " .. r:pick { "+", "-" } .. " %s)", nil, a, b)
  elseif kind <= 6 then
    return product(class, a, b)
  elseif kind == 7 then
    return combine(class, "fma" .. f .. "(%s, %s, %s)", nil, a, b, leaf(r, v, class))
  elseif kind == 8 and not b.any_zero then
    -- not `/`: by a constant power of two it becomes a product, which a sum is fused with
    return combine(class, (class == "f32" and "__fdiv_rn" or "__ddiv_rn") .. "(%s, %s)",
      "(%s / %s)", a, b)
  elseif kind == 9 then
    return combine(class, "sqrt" .. f .. "(fabs" .. f .. "(%s))", nil, a)
  elseif kind == 10 then
    return least(r, class, a, b)
  elseif kind == 11 then
    return combine(class, r:pick { "floor", "rint", "trunc", "fabs" } .. f .. "(%s)", nil, a)
  end
  return select(r, v, class, depth)
end

function expression(r, v, class, depth)
  if depth <= 0 or r:chance(15) then
    return leaf(r, v, class)
  elseif class == "f32" or class == "f64" then
    return floating(r, v, class, depth - 1)
  end
  return integer(r, v, class, depth - 1)
end

-- ---- statements ----

-- `target = value;` for one component. Returns both texts and how exact the result is.
local function assign(t, target_cu, target_c, n)
  local kind = n.any_zero and "FZ_ANY_ZERO" or "FZ_VALUE"
  if t.to then
    return ("%s = %s;"):format(target_cu, n.safe or n.cu),
      ("%s = %s(%s);"):format(target_c, t.to, n.c), kind
  elseif not types.is_float(t) then
    return ("%s = (%s)(%s);"):format(target_cu, t.part, n.cu),
      ("%s = (%s)(%s);"):format(target_c, t.part, n.c), kind
  end
  return ("%s = %s;"):format(target_cu, n.cu), ("%s = %s;"):format(target_c, n.c), kind
end

-- What the body assigns of an output: `given` instead of its record where that holds an index.
local function targets(a)
  local out, record = {}, a.given or a.record
  for _, f in ipairs(record.fields) do
    local text = record.bare and a.name or a.name .. "." .. f.name
    out[#out + 1] = { type = f.type, text = text, field = f }
  end
  return out
end

-- A whole field from a field of its type, if there is one.
local function move(r, v, target)
  local fit = {}
  for _, w in ipairs(v.whole) do
    if w.type == target.type then
      fit[#fit + 1] = w
    end
  end
  if #fit == 0 then
    return nil
  end
  local text = ("%s = %s;"):format(target.text, r:pick(fit).text)
  return { cu = text, c = text, kind = "FZ_BITS" }
end

local function compute(r, v, target, depth)
  local cu, c, kind = {}, {}, "FZ_VALUE"
  for k = 1, target.type.lanes do
    local text = target.type.lanes > 1 and target.text .. "." .. COMPONENTS[k] or target.text
    local how
    cu[k], c[k], how = assign(target.type, text, text, expression(r, v, target.type.class, depth))
    kind = how == "FZ_ANY_ZERO" and how or kind
  end
  return { cu = table.concat(cu, " "), c = table.concat(c, " "), kind = kind }
end

-- The worse of two kinds.
local ORDER = { FZ_BITS = 1, FZ_VALUE = 2, FZ_ANY_ZERO = 3 }
local function note(field, kind)
  if ORDER[kind] > ORDER[field.exact or "FZ_BITS"] then
    field.exact = kind
  end
end

local function either(r, v, target, percent, depth)
  return r:chance(percent) and move(r, v, target) or compute(r, v, target, depth)
end

-- Complete branches: if, if else if else, switch with a default.
local function branches(r, v, list, depth)
  local arms = r:int(2, 3)
  local texts = {}
  for arm = 1, arms do
    local cu, c = {}, {}
    for k, target in ipairs(list) do
      local s = either(r, v, target, 40, depth)
      cu[k], c[k] = s.cu, s.c
      note(target.field, s.kind)
    end
    texts[arm] = { cu = table.concat(cu, " "), c = table.concat(c, " ") }
  end
  local out = {}
  for _, language in ipairs { "cu", "c" } do
    out[language] = {}
  end
  if r:chance(25) then
    local on = combine("u32", "(%s) %% 5u", nil, expression(r, v, "u32", 0))
    for _, language in ipairs { "cu", "c" } do
      local text = ("switch (%s) {\n"):format(on[language])
      for arm = 1, arms do
        local label = arm == arms and "default:" or ("case %d:"):format(arm)
        text = text .. ("%s %s break;\n"):format(label, texts[arm][language])
      end
      out[language] = text .. "}"
    end
    return out
  end
  local conditions = {}
  for arm = 1, arms - 1 do
    conditions[arm] = condition(r, v, depth)
  end
  for _, language in ipairs { "cu", "c" } do
    local text = ""
    for arm = 1, arms do
      local head = arm == arms and "" or ("if (%s) "):format(conditions[arm][language])
      text = text .. head .. "{ " .. texts[arm][language] .. " }" .. (arm < arms and " else " or "")
    end
    out[language] = text
  end
  return out
end

-- A variable of the body's own, which later expressions may name.
local function variable(r, v, number)
  local class = r:pick { "f32", "u32", "i32", "f64", "f32" }
  if v.small then
    return nil
  end
  local n = expression(r, v, class, 2)
  local name = "t" .. number
  local format = "const " .. types.class_c[class] .. " " .. name .. " = %s;"
  v.leaves[#v.leaves + 1] = node(class, name, name, { any_zero = n.any_zero })
  return { cu = format:format(n.safe or n.cu), c = format:format(n.c) .. " (void)" .. name .. ";" }
end

-- A sum in a loop with a constant count.
local function loop(r, v, number)
  if v.small then
    return nil
  end
  local name = "t" .. number
  local n = expression(r, v, "u32", 1)
  local format = "unsigned int " .. name .. " = 1u;\nfor (int k0 = 0; k0 < " ..
    r:int(1, 4) .. "; k0++) " .. name .. " = " .. name .. " * 3u + (%s);"
  v.leaves[#v.leaves + 1] = node("u32", name)
  return { cu = format:format(n.cu), c = format:format(n.c) }
end

-- A loop over the elements of an array that share bytes, forwards or backwards.
local function bits_loop(r, v, number)
  local from = #v.shared > 0 and not v.small and r:pick(v.shared)
  if not from then
    return nil
  end
  local name = "t" .. number
  local one = shared_at(from.array, from.field, r:pick { "k0", ("%d - k0"):format(from.n - 1) })
  local format = ("unsigned int %s = 1u;\nfor (int k0 = 0; k0 < %d; k0++) %s = %s * 3u + "
    .. "(unsigned int)(%%s);"):format(name, from.n, name, name)
  for _ = 1, 6 do -- it is named often
    v.leaves[#v.leaves + 1] = node("u32", name)
  end
  return { cu = format:format(one.cu), c = format:format(one.c) }
end

-- ---- bodies ----

local kinds = {}

-- Whole records where they are alike, else fields.
function kinds.moves(r, v, spec)
  local out = {}
  for _, a in ipairs(spec.outputs) do
    local source = a.like and not a.record.bare and r:chance(50) and a.like
    if source then
      local c = {}
      for k, f in ipairs(a.record.fields) do
        c[k] = ("%s.%s = %s.%s;"):format(a.name, f.name, source, f.name)
      end
      out[#out + 1] = { cu = ("%s = %s;"):format(a.name, source), c = table.concat(c, " ") }
    else
      for _, target in ipairs(targets(a)) do
        local s = move(r, v, target) or compute(r, v, target, 1)
        note(target.field, s.kind)
        out[#out + 1] = s
      end
    end
  end
  return out
end

-- What the formula of field k, component c, names: the same of each input, and scalars.
local function alike_values(v, spec, k, c)
  local own = { whole = {}, leaves = {}, small = v.small }
  for _, input in ipairs(spec.inputs) do
    local field = input.record.fields[k]
    if field and input.index == 0 and not field.type.count then
      local text = input.record.bare and input.name or input.name .. "." .. field.name
      if field.type.lanes > 1 then
        text = text .. "." .. COMPONENTS[math.min(c, field.type.lanes)]
      end
      own.leaves[#own.leaves + 1] = component_leaf(field.type, text, text)
    end
  end
  for _, scalar in ipairs(spec.scalars) do
    own.leaves[#own.leaves + 1] = component_leaf(scalar.type, scalar.name, scalar.name)
  end
  return #own.leaves > 0 and own or v
end

-- One formula for every component of every field, whose numbers inputs and outputs share.
function kinds.alike(r, v, spec)
  local state = r.state
  local out = {}
  for _, a in ipairs(spec.outputs) do
    for k, target in ipairs(targets(a)) do
      for c = 1, target.type.lanes do
        r.state = state
        local text = target.type.lanes > 1 and target.text .. "." .. COMPONENTS[c] or target.text
        local values = alike_values(v, spec, k, c)
        local cu, in_c, kind = assign(target.type, text, text,
          expression(r, values, target.type.class, 2))
        out[#out + 1] = { cu = cu, c = in_c }
        note(target.field, kind)
      end
    end
  end
  r:bits()
  return out
end

-- Arrays of an output from those of an input, as a loop has them: backwards, or from one element.
local function arrays(r, spec, out)
  for _, a in ipairs(spec.outputs) do
    for _, f in ipairs(a.record.fields) do
      for _, input in ipairs(spec.inputs) do
        for _, g in ipairs(input.record.fields) do
          if f.element == 0 and f.count > 0 and g.element == 0 and g.count >= f.count
            and f.type == g.type and input.index == 0 and r:chance(70) then
            local text = ("for (int at = 0; at < %d; at++) %s.%s[at] = %s.%s[%s];"):format(f.count,
              a.name, f.name:match "^[^%[]*", input.name, g.name:match "^[^%[]*",
              r:pick { "at", ("%d - at"):format(f.count - 1), "at / 2" })
            out[#out + 1] = { cu = text, c = text }
          end
        end
      end
    end
  end
end

function kinds.mixed(r, v, spec)
  local out = {}
  for number = 1, r:pick { 0, 0, 1, 2 } do
    out[#out + 1] = r:chance(20) and loop(r, v, number) or variable(r, v, number)
  end
  out[#out + 1] = r:chance(60) and bits_loop(r, v, 3) or nil
  local together = {}
  for _, a in ipairs(spec.outputs) do
    for _, target in ipairs(targets(a)) do
      if r:chance(25) then
        together[#together + 1] = target
      else
        out[#out + 1] = either(r, v, target, 35, 2)
        note(target.field, out[#out].kind)
      end
    end
  end
  if #together > 0 then
    out[#out + 1] = branches(r, v, together, 1)
  end
  arrays(r, spec, out)
  return out
end

-- ---- what outputs held before ----

local function guarded(r, v, format_cu, format_c)
  local c = condition(r, v, 1)
  return { cu = ("if (%s) { %s }"):format(c.cu, format_cu),
    c = ("if (%s) { %s }"):format(c.c, format_c or format_cu) }
end

--- Makes an output one that is updated in place by the statements `list`: its fields get what they
--- held where a condition holds, or, of integers, mixed with it.
function M.update(r, v, list, a)
  a.inout = true
  for k, target in ipairs(targets(a)) do
    local t, old = target.type, ("old_%s_%d"):format(a.name, k)
    local is_mixed = t.lanes == 1 and not types.is_float(t)
    table.insert(list, 1, { cu = ("const %s %s = %s;"):format(t.cuda, old, target.text),
      c = ("const %s %s = %s;"):format(t.c, old, target.text) })
    if is_mixed and r:chance(50) then
      local text = ("%s = (%s)(%s ^ %s);"):format(target.text, t.c, target.text, old)
      table.insert(list, { cu = text, c = text })
    else
      table.insert(list, guarded(r, v, ("%s = %s;"):format(target.text, old)))
    end
  end
end

--- What an output holds before is any bytes, and a bool is one of two.
function M.has_bool(a)
  for _, f in ipairs(a.record.fields) do
    if f.type.kind == "FZ_BOOL" then
      return true
    end
  end
  return false
end

--- Makes an output one whose elements the statements `list` keep where a condition holds.
function M.keep(r, v, list, a)
  a.keeps = true
  table.insert(list, guarded(r, v, ("keep(%s);"):format(a.name),
    ("%s_kept = true;"):format(a.name)))
end

--- Makes some outputs of a spec that has its body such that what they held before matters.
function M.hold(r, spec)
  local v = M.values(spec)
  for _, a in ipairs(spec.outputs) do
    local kind = (a.reduce or a.scan or spec.small and not a.accumulate) and 10 or r:int(1, 10)
    if kind <= 2 and not a.accumulate and not M.has_bool(a) then
      M.update(r, v, spec.body, a)
    end
    if kind == 2 or kind == 3 then
      M.keep(r, v, spec.body, a)
    end
  end
end

--- A leaf of arithmetic that is called so in both languages.
function M.leaf(class, name, any_zero)
  return node(class, name, name, { any_zero = any_zero })
end

--- The statement that gives a step's value what one element, or the row, contributes.
function M.value(r, v, value)
  local type = value.given or value.type
  local n = expression(r, v, type.class, 2)
  value.any_zero = not value.given and (value.any_zero or n.any_zero)
  local cu, c = assign(type, value.name, value.name, n)
  return { cu = cu, c = c }
end

--- Statements that assign some of the outputs.
function M.statements(r, v, spec, outputs, kind)
  return kinds[kind](r, v, { inputs = spec.inputs, scalars = spec.scalars, outputs = outputs })
end

-- The number that says which element a point falls on.
local function compute_index(r, v, index)
  local n = expression(r, v, "u32", 2)
  return { cu = ("%s = %s %% %du;"):format(index.name, n.safe or n.cu, index.n),
    c = ("at_%s = %s %% %du;"):format(index.name, n.c, index.n) }
end

--- Gives the spec its body. kind: "moves", "alike" or "mixed".
function M.write(r, spec, kind)
  local v = M.values(spec)
  local first = spec.index and r:chance(50) and compute_index(r, v, spec.index)
  spec.body = kinds[kind](r, v, spec)
  if first then
    table.insert(spec.body, 1, first)
  elseif spec.index then -- of what the body has declared, too
    table.insert(spec.body, compute_index(r, v, spec.index))
  end
end

return M
