--- Kernels in steps: rows are reduced to values, which later steps use. Sums are of integers, or of
--- small floats, which are exact in any order; a maximum may have either zero.
local body = require "body"
local types = require "types"

local M = {}

-- ---- what the steps are ----

local function is_along(spec, a)
  for _, p in ipairs(a.places) do
    for _, dim in ipairs(spec.over) do
      if p.at and p.c:find("%f[%w_]" .. dim .. "%f[^%w_]") or p.dim == dim then
        return true
      end
    end
  end
  return false
end

-- What a step may read: inputs (once a row, those that do not move along it), scalars, dimensions,
-- values of earlier steps; and what outputs hold that no step before has updated in place, `held`.
local function readable(spec, once, values, outputs)
  local inputs, dims, held = {}, {}, {}
  for _, a in ipairs(spec.inputs) do
    inputs[#inputs + 1] = not (once and is_along(spec, a)) and a or nil
  end
  for _, a in ipairs(spec.outputs) do
    local is_held = a.inout and not a.is_updated and not (once and not a.once)
    for _, own in ipairs(outputs or {}) do
      is_held, a.is_updated = is_held and own ~= a, a.is_updated or own == a
    end
    held[#held + 1] = is_held and a or nil
  end
  for _, dim in ipairs(once and spec.kept or spec.dims) do
    dims[#dims + 1] = dim
  end
  local named = table.move(held, 1, #held, #inputs + 1, table.move(inputs, 1, #inputs, 1, {}))
  local v = body.values { inputs = named, scalars = spec.scalars, dims = dims, small = spec.small }
  for _, value in ipairs(values) do
    v.leaves[#v.leaves + 1] = body.leaf(value.type.class, value.name, value.any_zero)
  end
  return v, inputs, held
end

-- What the step does to outputs that are updated in place, or kept in part.
local function hold(r, v, spec, step, outputs)
  for _, a in ipairs(outputs) do
    if a.inout then
      body.update(r, v, step.body, a)
    end
    if not spec.small and r:chance(30) then
      body.keep(r, v, step.body, a)
    end
  end
end

local TYPES = { "i32", "u32", "i64", "u64", "f32", "f64" }

local function reduce_step(r, spec, earlier)
  local step = { values = {}, outputs = {}, body = {} }
  for _ = 1, r:pick { 1, 1, 2, 3 } do
    local type = types.by_name[r:pick(TYPES)]
    local is_float = types.is_float(type)
    local how = r:pick(is_float and not spec.small and { "max", "min" }
      or is_float and { "sum", "max", "min" } or { "sum", "max", "min", "product" })
    local value = { name = "v" .. #earlier + #step.values + 1, how = how, type = type }
    if r:chance(15) then
      how, value.how = "max", r:pick { "argmax", "argmin" }
      value.given, value.type = type, types.by_name.i64
    end
    value.any_zero = is_float and how ~= "sum"
    step.values[#step.values + 1] = value
    -- what follows from a sum is not small any more
    local v
    v, _, step.held = readable(spec, false, how == "sum" and is_float and {} or earlier)
    step.body[#step.body + 1] = body.value(r, v, value)
  end
  return step
end

local function row_step(r, spec, earlier, outputs)
  local step = { once = true, values = {}, outputs = outputs, body = {} }
  local v
  v, step.inputs, step.held = readable(spec, true, earlier, outputs)
  for _ = 1, #outputs == 0 and 1 or r:pick { 0, 1 } do
    local value = { name = "v" .. #earlier + #step.values + 1, type = types.by_name[r:pick(TYPES)] }
    step.values[#step.values + 1] = value
    step.body[#step.body + 1] = body.value(r, v, value)
  end
  for _, s in ipairs(body.statements(r, v, spec, outputs, "moves")) do
    step.body[#step.body + 1] = s
  end
  hold(r, v, spec, step, outputs)
  return step
end

-- ---- steps that reduce different dimensions ----

local function set_of(list)
  local out = {}
  for _, item in ipairs(list) do
    out[item] = true
  end
  return out
end

local function within(dims, allowed)
  for dim in pairs(dims) do
    if not allowed[dim] then
      return false
    end
  end
  return true
end

local function dims_of(a)
  local out = {}
  for _, p in ipairs(a.places) do
    out[p.dim] = true
  end
  return out
end

-- The names that statements say, and the dimensions along which what they stand for differs.
local function find_domain(spec, step, earlier)
  step.names, step.domain = {}, set_of(step.over or {})
  for _, statement in ipairs(step.body) do
    for word in statement.c:gmatch "[%a_][%w_]*" do
      step.names[word] = true
    end
  end
  local function add(name, dims)
    for dim in pairs(step.names[name] and dims or {}) do
      step.domain[dim] = true
    end
  end
  for _, a in ipairs(spec.inputs) do
    add(a.name, dims_of(a))
  end
  for _, dim in ipairs(spec.dims) do
    add(dim, { [dim] = true })
  end
  for _, value in ipairs(earlier) do
    add(value.name, value.dims)
  end
end

-- Inputs, dimensions and values that differ along no others than `allowed`.
local function readable_within(spec, allowed, earlier)
  local inputs, dims = {}, {}
  for _, a in ipairs(spec.inputs) do
    inputs[#inputs + 1] = within(dims_of(a), allowed) and a or nil
  end
  for _, dim in ipairs(spec.dims) do
    dims[#dims + 1] = allowed[dim] and dim or nil
  end
  local v = body.values { inputs = inputs, scalars = spec.scalars, dims = dims }
  for _, value in ipairs(earlier) do
    if within(value.dims, allowed) then
      v.leaves[#v.leaves + 1] = body.leaf(value.type.class, value.name, value.any_zero)
    end
  end
  return v, inputs
end

local function write_nested(r, spec)
  local earlier = {}
  spec.steps = {}
  for _, over in ipairs(spec.overs) do
    local type = types.by_name[r:pick(TYPES)]
    local is_float = types.is_float(type)
    local how = r:pick(is_float and { "max", "min" } or { "sum", "max", "min", "product" })
    local value = { name = "v" .. #earlier + 1, how = how, type = type, any_zero = is_float }
    local step = { over = over, values = { value }, outputs = {} }
    step.body = { body.value(r, readable_within(spec, set_of(spec.dims), earlier), value) }
    find_domain(spec, step, earlier)
    value.dims = {}
    for dim in pairs(step.domain) do
      value.dims[dim] = not set_of(over)[dim] or nil
    end
    table.insert(spec.steps, step)
    table.insert(earlier, value)
  end
  for _, a in ipairs(spec.outputs) do
    local v, inputs = readable_within(spec, dims_of(a), earlier)
    local step = { values = {}, outputs = { a } }
    step.body = body.statements(r, v, { inputs = inputs, scalars = spec.scalars }, { a }, "mixed")
    find_domain(spec, step, earlier)
    step.domain = dims_of(a)
    table.insert(spec.steps, step)
  end
end

local function listed(spec, set)
  local out = {}
  for _, dim in ipairs(spec.dims) do
    out[#out + 1] = set[dim] and dim or nil
  end
  return out
end

-- All values of a step lie in an array, over the dimensions along which they differ.
local function nested_text(spec, p)
  local out, arrays = {}, {}
  for _, step in ipairs(spec.steps) do
    local value, inside = step.values[1], {}
    for k, a in ipairs(spec.inputs) do
      inside[#inside + 1] = step.names[a.name] and p.load_input(a, k - 1) or nil
    end
    for _, other in ipairs(arrays) do
      inside[#inside + 1] = step.names[other.name] and ("    const %s %s = all_%s[%s];\n"):format(
        other.type.c, other.name, other.name, p.number_in(listed(spec, other.dims), spec.dims))
        or nil
    end
    for _, a in ipairs(step.outputs) do
      inside[#inside + 1] = p.start_output(a, a.number)
    end
    if value then
      local kept, f = listed(spec, value.dims), { type = value.type }
      local at = p.number_in(kept, spec.dims)
      local count = "1"
      for _, dim in ipairs(kept) do
        count = count .. " * n_" .. dim
      end
      out[#out + 1] = ("  %s *all_%s = (%s *)malloc(((size_t)(%s) + 1) * sizeof(%s));\n"):format(
        value.type.c, value.name, value.type.c, count, value.type.c)
      out[#out + 1] = M.loops(spec, kept) .. ("  {\n  %s sum_%s = %s;\n"):format(p.accumulator(f),
        value.name, p.start_value({ reduce = value.how }, f))
      out[#out + 1] = M.loops(spec, step.over) .. "  {\n" .. table.concat(inside)
        .. ("    %s %s;\n"):format(value.type.c, value.name)
      for _, statement in ipairs(step.body) do
        out[#out + 1] = "    " .. statement.c:gsub("\n", "\n    ") .. "\n"
      end
      out[#out + 1] = p.add(value.how, f, "sum_" .. value.name, value.name)
        .. ("  }\n  all_%s[%s] = (%s)sum_%s;\n  }\n"):format(value.name, at, value.type.c,
          value.name)
      arrays[#arrays + 1] = value
    else
      out[#out + 1] = M.loops(spec, listed(spec, step.domain)) .. "  {\n" .. table.concat(inside)
      for _, statement in ipairs(step.body) do
        out[#out + 1] = "    " .. statement.c:gsub("\n", "\n    ") .. "\n"
      end
      for _, a in ipairs(step.outputs) do
        out[#out + 1] = p.store_output(a, a.number)
      end
      out[#out + 1] = "  }\n"
    end
  end
  for _, value in ipairs(arrays) do
    out[#out + 1] = ("  free(all_%s);\n"):format(value.name)
  end
  return table.concat(out)
end

--- Gives a spec its steps: its outputs are once a row where they have `once`.
function M.write(r, spec)
  if spec.overs then
    write_nested(r, spec)
    return
  end
  local earlier, once, each = {}, {}, {}
  spec.steps = {}
  for _, a in ipairs(spec.outputs) do
    table.insert(a.once and once or each, a)
    a.inout = not spec.small and not body.has_bool(a) and r:chance(30) or nil
  end
  local function add(step)
    table.insert(spec.steps, step)
    for _, value in ipairs(step.values) do
      earlier[#earlier + 1] = value
    end
  end
  for _ = 1, r:pick { 1, 1, 2, 3 } do
    add(reduce_step(r, spec, earlier))
    if r:chance(20) then
      add(row_step(r, spec, earlier, {}))
    end
  end
  if #once > 0 then
    add(row_step(r, spec, earlier, once))
  end
  if #each > 0 then
    local v, _, held = readable(spec, false, earlier, each)
    local step = { values = {}, outputs = each, held = held }
    step.body = body.statements(r, v, spec, each, spec.body_kind)
    hold(r, v, spec, step, each)
    add(step)
  end
end

-- ---- as a user writes it ----

local function values_text(step)
  local out = {}
  for k, value in ipairs(step.values) do
    out[k] = step.once and ("%s = %q"):format(value.name, value.type.name)
      or ("%s = { %q, %q }"):format(value.name, value.how, (value.given or value.type).name)
  end
  return #out == 0 and "" or (step.once and "row = { " or "reduce = { ")
    .. table.concat(out, ", ") .. " }, "
end

--- The fields `over` and `steps` of s.kernel.
---@param spec table
---@return string
function M.spec_text(spec)
  local out = { (spec.overs and "" or '  over = { "' .. table.concat(spec.over, '", "') .. '" },\n')
    .. "  steps = {\n" }
  for _, step in ipairs(spec.steps) do
    local lines = {}
    for k, statement in ipairs(step.body) do
      lines[k] = "      " .. statement.cu:gsub("\n", "\n      ")
    end
    local over = step.over and 'over = { "' .. table.concat(step.over, '", "') .. '" }, ' or ""
    out[#out + 1] = ("    { %s%sbody = [[\n%s\n    ]] },\n"):format(values_text(step), over,
      table.concat(lines, "\n"))
  end
  return table.concat(out) .. "  },\n"
end

-- ---- the reference ----

--- The heads of loops over dimensions, of which one may be that of ragged rows.
---@param spec table
---@param dims string[]
---@return string
function M.loops(spec, dims)
  local out = {}
  for k, dim in ipairs(dims) do
    local from, to = "0", "n_" .. dim
    if spec.ragged and dim == spec.ragged.dim then
      from = ("fz_offset(r, 0, %s)"):format(spec.ragged.row)
      to = ("fz_offset(r, 0, %s + 1)"):format(spec.ragged.row)
    end
    out[k] = ("  for (int64_t %s = %s; %s < %s; %s++)\n"):format(dim, from, dim, to, dim)
  end
  return table.concat(out)
end

local function statements(step)
  local out = {}
  for k, statement in ipairs(step.body) do
    out[k] = "    " .. statement.c:gsub("\n", "\n    ") .. "\n"
  end
  return table.concat(out)
end

-- A value as a field of an output that reduces in this way.
local function field_of(value)
  return { type = value.given or value.type }
end

-- A step over the elements of a row. `p`: the printers of print_c.lua.
local function over_row(spec, step, p)
  local out, last = {}, {}
  for _, value in ipairs(step.values) do
    local f = field_of(value)
    out[#out + 1] = ("  %s sum_%s = %s;\n"):format(p.accumulator(f), value.name,
      p.start_value({ reduce = value.how }, f))
    out[#out + 1] = value.given and ("  int64_t at_%s = -1;\n"):format(value.name) or nil
    last[#last + 1] = p.add(value.how, f, "sum_" .. value.name, value.name,
      value.given and "at_" .. value.name, p.number_in(spec.over, spec.dims))
  end
  out[#out + 1] = M.loops(spec, spec.over) .. "  {\n"
  for k, a in ipairs(spec.inputs) do
    out[#out + 1] = p.load_input(a, k - 1)
  end
  for _, a in ipairs(step.held) do
    out[#out + 1] = p.load_input(a, a.number)
  end
  for _, value in ipairs(step.values) do
    out[#out + 1] = ("    %s %s;\n"):format(field_of(value).type.c, value.name)
  end
  for _, a in ipairs(step.outputs) do
    out[#out + 1] = p.start_output(a, a.number)
  end
  out[#out + 1] = statements(step) .. table.concat(last)
  for _, a in ipairs(step.outputs) do
    out[#out + 1] = p.store_output(a, a.number)
  end
  out[#out + 1] = "  }\n"
  for _, value in ipairs(step.values) do
    out[#out + 1] = ("  const %s %s = (%s)%s_%s; (void)%s;\n"):format(value.type.c, value.name,
      value.type.c, value.given and "at" or "sum", value.name, value.name)
  end
  return table.concat(out)
end

local function once_a_row(spec, step, p)
  local out = {}
  for _, value in ipairs(step.values) do
    out[#out + 1] = ("  %s %s;\n"):format(value.type.c, value.name)
  end
  out[#out + 1] = "  {\n"
  for _, a in ipairs(step.inputs) do
    for k, input in ipairs(spec.inputs) do
      out[#out + 1] = input == a and p.load_input(a, k - 1) or nil
    end
  end
  for _, a in ipairs(step.held) do
    out[#out + 1] = p.load_input(a, a.number)
  end
  for _, a in ipairs(step.outputs) do
    out[#out + 1] = p.start_output(a, a.number)
  end
  out[#out + 1] = statements(step)
  for _, a in ipairs(step.outputs) do
    out[#out + 1] = p.store_output(a, a.number)
  end
  out[#out + 1] = "  }\n"
  for _, value in ipairs(step.values) do
    out[#out + 1] = ("  (void)%s;\n"):format(value.name)
  end
  return table.concat(out)
end

--- The loops over rows, with those over their elements.
---@param spec table
---@param p table printers of print_c.lua
---@return string
function M.c_text(spec, p)
  for k, a in ipairs(spec.outputs) do
    a.number = #spec.inputs + k - 1
  end
  if spec.overs then
    return nested_text(spec, p)
  end
  local out = { M.loops(spec, spec.kept), "  {\n" }
  for _, step in ipairs(spec.steps) do
    out[#out + 1] = (step.once and once_a_row or over_row)(spec, step, p)
  end
  return table.concat(out) .. "  }\n"
end

return M
