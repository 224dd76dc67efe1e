--- Prints a description as the reference: tables, formulas, and loops over the index space.
local M = {}

local steps = require "steps"
local types = require "types"

local function all_arrays(spec)
  local out = table.move(spec.inputs, 1, #spec.inputs, 1, {})
  return table.move(spec.outputs, 1, #spec.outputs, #out + 1, out)
end

-- ---- tables ----

local function field_row(a, f)
  local combined = a.reduce or a.scan or a.accumulate
  return ('  {"%s", %s, %d, %d, %d, %d, %s},\n'):format(f.name, f.type.kind, f.type.lanes,
    f.type.bytes, f.type.align, f.offset, combined and "FZ_ANY_ZERO" or f.exact or "FZ_BITS")
end

local function array_tables(a, number)
  local fields, labels, gaps = {}, {}, {}
  for k, f in ipairs(a.record.fields) do
    fields[k] = field_row(a, f)
  end
  for k, lay in ipairs(a.layouts) do
    labels[k] = ("%q"):format(lay.lua)
    gaps[k] = tostring(lay.owns_gaps or false)
  end
  local head = ("static const fz_field fields_%d[] = {\n%s};\n"):format(number,
    table.concat(fields))
  return head .. ("static const char *const labels_%d[] = {%s};\n"):format(number,
    table.concat(labels, ", ")) .. ("static const bool gaps_%d[] = {%s};\n"):format(number,
    table.concat(gaps, ", "))
end

local function array_row(a, number)
  local row = '  {"%s", %s, %d, %d, %s, %d, fields_%d, %d, %d, %d, %d, labels_%d, gaps_%d},\n'
  return row:format(a.name, tostring(a.output or false), a.index, a.start or -1,
    tostring(a.accumulate and not a.inout or false), #a.record.fields, number, a.record.bytes,
    a.record.real_align, #a.places, #a.layouts, number, number)
end

-- ---- formulas ----

-- Declares what formulas name: the extents.
local function extents_head(spec)
  local out = {}
  for d, dim in ipairs(spec.dims) do
    out[d] = ("  const int64_t n_%s = n[%d]; (void)n_%s;\n"):format(dim, d - 1, dim)
  end
  for d, dim in ipairs(spec.own) do
    out[#out + 1] = ("  const int64_t n_%s = n[%d]; (void)n_%s;\n"):format(dim, #spec.dims + d - 1,
      dim)
  end
  return table.concat(out)
end

local function extent_function(spec, arrays)
  local out = { "static int64_t extent_of(int array, int dim, const int64_t *n) {\n",
    extents_head(spec), "  switch (array * 8 + dim) {\n" }
  for number, a in ipairs(arrays) do
    for d, p in ipairs(a.places) do
      out[#out + 1] = ("  case %d: return %s + %d;\n"):format((number - 1) * 8 + d - 1, p.extent_c,
        p.no_pad and 0 or p.pad or 0)
    end
  end
  out[#out + 1] = "  default: return 1;\n  }\n}\n"
  return table.concat(out)
end

local FIND = [[
  const fz_array *a = &arrays[array]; (void)a;
  int64_t e[FZ_MAX_DIMS];
  for (int d = 0; d < a->n_dims; d++) {
    e[d] = extent_of(array, d, n);
  }
]]

local function layout_function(spec, arrays, head, key)
  local out = { head, " {\n", extents_head(spec), FIND, "  switch (array * 8 + layout) {\n" }
  for number, a in ipairs(arrays) do
    for k, lay in ipairs(a.layouts) do
      out[#out + 1] = ("  case %d: return %s;\n"):format((number - 1) * 8 + k - 1, lay[key])
    end
  end
  out[#out + 1] = "  default: return 0;\n  }\n}\n"
  return table.concat(out)
end

-- Values of each index array lie below the least of what the arrays read through it allow.
local function limit_function(spec)
  local arrays, cases = all_arrays(spec), {}
  for number, index in ipairs(arrays) do
    local limits = {}
    for _, a in ipairs(arrays) do
      for _, p in ipairs(a.places) do
        if p.limit and (p.index or a) == index then
          limits[#limits + 1] = ("  limit = fz_least(limit, %s);\n"):format(p.limit)
        end
      end
    end
    if #limits > 0 then
      cases[#cases + 1] = ("  if (array == %d) {\n%s  }\n"):format(number - 1,
        table.concat(limits))
    end
  end
  return ("static int64_t limit_of(int array, const int64_t *n) {\n%s  (void)array;\n" ..
    "  int64_t limit = INT64_MAX;\n%s  return limit < INT64_MAX ? limit : 0;\n}\n"):format(
    extents_head(spec), table.concat(cases))
end

-- ---- loops ----

local function value_type(t)
  return t.c
end

-- Declares the variable `name` with the record's fields.
local function declare(name, record)
  if record.bare then
    return ("%s %s;"):format(value_type(record.fields[1].type), name)
  end
  local fields = {}
  for _, f in ipairs(record.fields) do
    if f.element == 0 then
      local text = f.count > 0 and f.name:gsub("%[.*", ("[%d]"):format(f.count)) or f.name
      fields[#fields + 1] = ("%s %s;"):format(value_type(f.type), text)
    end
  end
  return ("struct { %s } %s;"):format(table.concat(fields, " "), name)
end

local function member(name, record, f)
  return record.bare and name or name .. "." .. f.name
end

local function place_list(a)
  local out = {}
  for d, p in ipairs(a.places) do
    out[d] = p.c
  end
  return #out > 0 and table.concat(out, ", ") or "0"
end

local function load_at(name, a, number, place)
  local out = { ("    memset(&%s, 0, sizeof %s);\n"):format(name, name) }
  for k, f in ipairs(a.record.fields) do
    out[#out + 1] = ("    fz_get(r, %d, %d, %s, &%s);\n"):format(number, k - 1, place,
      member(name, a.record, f))
  end
  return table.concat(out)
end

local function is_max(how)
  return how == "max" or how == "argmax"
end

local function start_value(a, f)
  local how = a.reduce or a.scan
  if how == "sum" or how == "product" then
    return how == "sum" and "0" or "1"
  end
  local float = types.is_float(f.type)
  local bits = f.type.bytes * 8
  if float then
    return is_max(how) and "-HUGE_VAL" or "HUGE_VAL"
  elseif f.type.kind == "FZ_INT" then
    return (is_max(how) and "(int64_t)(~0ull << %d)" or "(int64_t)~(~0ull << %d)"):format(
      bits - 1)
  end
  return is_max(how) and "0" or ("(~0ull >> %d)"):format(64 - bits)
end

-- What outside is, where it is a number.
local function outside_text(a, name)
  return a.border_value and ("    %s = (%s)%d;\n"):format(name, a.record.fields[1].type.c,
    a.border_value) or ""
end

local JOINED = { -- of an element v_ and what is known
  sum = "(%s)(%s + v_)", max = "(v_ > %s || (v_ == %s && !signbit((double)v_))) ? v_ : %s",
  min = "(v_ < %s || (v_ == %s && signbit((double)v_))) ? v_ : %s",
}

local function joined(tap, name, t)
  if tap.how == "sum" and t.kind == "FZ_INT" then
    return ("(%s)((uint64_t)%s + (uint64_t)v_)"):format(t.c, name)
  end
  return tap.how == "sum" and JOINED.sum:format(t.c, name)
    or JOINED[tap.how]:format(name, name, name)
end

-- A window: its elements, in the order of loops, become one.
local function load_window(a, number, tap)
  local t, out = a.record.fields[1].type, {}
  local start = start_value({ reduce = tap.how }, { type = t })
  out[1] = ("    %s %s = (%s)%s;\n"):format(t.c, tap.name, t.c, start)
  for d, count in ipairs(tap.count) do
    out[#out + 1] = ("    for (int64_t w%d = 0; w%d < %d; w%d++)\n"):format(d, d, count, d)
  end
  out[#out + 1] = ("    {\n    int64_t t[] = {%s};\n    bool inside = true;\n    %s v_;\n"):format(
    place_list(a), t.c)
  for d, delta in ipairs(tap.delta) do
    out[#out + 1] = ("    inside &= fz_tap(&t[%d], %d + w%d * %d, extent_of(%d, %d, n), FZ_%s);\n")
      :format(d - 1, delta, d, tap.step[d], number, d - 1, a.border:upper())
  end
  out[#out + 1] = ("    memset(&v_, 0, sizeof v_);\n%s    if (inside) {\n%s    }\n"):format(
    outside_text(a, "v_"), load_at("v_", a, number, "t"))
  out[#out + 1] = a.border == "skip" and "    if (!inside) {\n      continue;\n    }\n" or nil
  out[#out + 1] = ("    %s = %s;\n    }\n"):format(tap.name, joined(tap, tap.name, t))
  return table.concat(out)
end

local function load_tap(a, number, tap)
  if tap.how then
    return load_window(a, number, tap)
  end
  local out = { ("    %s\n    {\n    int64_t t[] = {%s};\n    bool inside = true;\n"):format(
    declare(tap.name, a.record), place_list(a)) }
  for d, delta in ipairs(tap.delta) do
    out[#out + 1] = ("    inside &= fz_tap(&t[%d], %d, extent_of(%d, %d, n), FZ_%s);\n"):format(
      d - 1, delta, number, d - 1, a.border:upper())
  end
  out[#out + 1] = ("    memset(&%s, 0, sizeof %s);\n%s    if (inside) {\n%s    }\n    }\n"):format(
    tap.name, tap.name, outside_text(a, tap.name), load_at(tap.name, a, number, "t"))
  return table.concat(out)
end

local function load_input(a, number)
  if a.leaves then -- its own place may lie outside
    local here = { name = a.name, delta = {} }
    for d in ipairs(a.places) do
      here.delta[d] = 0
    end
    local out = { load_tap(a, number, here), ("    (void)%s;\n"):format(a.name) }
    for _, tap in ipairs(a.taps) do
      out[#out + 1] = load_tap(a, number, tap) .. ("    (void)%s;\n"):format(tap.name)
    end
    return table.concat(out)
  end
  local out = { "    ", declare(a.name, a.record), "\n",
    ("    const int64_t x_%s[] = {%s}; (void)x_%s;\n"):format(a.name, place_list(a), a.name),
    load_at(a.name, a, number, "x_" .. a.name), ("    (void)%s;\n"):format(a.name) }
  if a.index > 0 then
    local at = (a.none and "fz_most((int64_t)%s, 0)" or "(int64_t)%s"):format(a.name)
    out[#out + 1] = ("    const int64_t at_%s = %s; (void)at_%s;\n"):format(a.name, at, a.name)
  end
  for _, tap in ipairs(a.taps or {}) do
    out[#out + 1] = load_tap(a, number, tap)
    out[#out + 1] = ("    (void)%s;\n"):format(tap.name)
  end
  return table.concat(out)
end

local function place_text(a)
  return ("    const int64_t x_%s[] = {%s};\n"):format(a.name, place_list(a))
end

-- What an output holds before, where it is updated, and whether it is kept.
local function start_output(a, number)
  local out = { ("    %s\n    memset(&%s, 0, sizeof %s);\n"):format(
    declare(a.name, a.given or a.record), a.name, a.name) }
  out[#out + 1] = not a.accumulate and place_text(a) or nil
  out[#out + 1] = a.inout and not (a.accumulate or a.reduce)
    and load_at(a.name, a, number, "x_" .. a.name) or nil
  out[#out + 1] = a.keeps and ("    bool %s_kept = false;\n"):format(a.name) or nil
  return table.concat(out)
end

local COMBINED = { add = "(%s)(v_ + %s)", ["and"] = "(%s)(v_ & %s)", ["or"] = "(%s)(v_ | %s)",
  xor = "(%s)(v_ ^ %s)" }

-- What a point brings to an element joins what is there. Sums of integers wrap. Of floats, NaN
-- brings nothing, and 0 is above -0.
local EXTREMES = { min = "%s < v_", max = "%s > v_" }
local FLOAT_EXTREMES = { min = "(%s < v_ || (%s == v_ && signbit(%s)))",
  max = "(%s > v_ || (%s == v_ && !signbit(%s)))" }

local function accumulate(a, number)
  local out = {}
  for k, f in ipairs(a.record.fields) do
    local value = member(a.name, a.record, f)
    local extremes = types.is_float(f.type) and FLOAT_EXTREMES or EXTREMES
    local text = COMBINED[a.accumulate] and COMBINED[a.accumulate]:format(f.type.c, value)
      or extremes[a.accumulate]:format(value, value, value) .. " ? " .. value .. " : v_"
    local at = ("r, %d, %d, x_%s"):format(number, k - 1, a.name)
    out[k] = ("    { %s v_; fz_get(%s, &v_); v_ = %s; fz_put(%s, &v_); }\n"):format(f.type.c, at,
      text, at)
  end
  local text = table.concat(out)
  return place_text(a)
    .. (a.keeps and ("    if (!%s_kept) {\n%s    }\n"):format(a.name, text) or text)
end

local function store_output(a, number)
  if a.accumulate then
    return accumulate(a, number)
  end
  local out = {}
  for k, f in ipairs(a.record.fields) do
    out[#out + 1] = ("    fz_put(r, %d, %d, x_%s, &%s);\n"):format(number, k - 1, a.name,
      member(a.name, a.record, f))
  end
  local text = table.concat(out)
  return a.keeps and ("    if (%s_kept) {\n    fz_keep(r, %d, x_%s);\n    } else {\n%s    }\n")
    :format(a.name, number, a.name, text) or text
end

-- ---- reductions ----

local function accumulator(f)
  return f.type.kind == "FZ_INT" and "int64_t" or f.type.kind == "FZ_UINT" and "uint64_t"
    or "double"
end

local function reduce_names(number, k)
  return ("sum_%d_%d"):format(number, k - 1)
end

-- The dimensions of what an output's elements are combined to: its own, or those of a scan's lines.
local function kept_dims(spec, a)
  local kept = {}
  for _, p in ipairs(a.scan and {} or a.places) do
    kept[#kept + 1] = p.dim
  end
  for _, dim in ipairs(a.scan and spec.dims or {}) do
    kept[#kept + 1] = dim ~= spec.along and dim or nil
  end
  return kept
end

local function start_sums(spec, n_inputs)
  local out = {}
  for k, a in ipairs(spec.outputs) do
    local number = n_inputs + k - 1
    local kept = kept_dims(spec, a)
    local n_kept = #kept
    for d, dim in ipairs(kept) do
      kept[d] = "n_" .. dim
    end
    kept[#kept + 1] = "1"
    out[#out + 1] = ("  const int64_t kept_%d[] = {%s};\n  const int64_t count_%d = " ..
      "fz_count(kept_%d, %d);\n"):format(number, table.concat(kept, ", "), number, number,
      n_kept)
    if a.reduce and a.inout then -- which elements have something to be reduced
      out[#out + 1] = ("  bool *some_%d = (bool *)calloc((size_t)(count_%d + 1), sizeof(bool));\n")
        :format(number, number)
    end
    if a.given then
      local at = "at_" .. number
      out[#out + 1] = ("  int64_t *%s = (int64_t *)malloc((size_t)(count_%d + 1) * 8);\n" ..
        "  memset(%s, -1, (size_t)(count_%d + 1) * 8);\n"):format(at, number, at, number)
    end
    for i, f in ipairs((a.given or a.record).fields) do
      local name, c = reduce_names(number, i), accumulator(f)
      out[#out + 1] = ("  %s *%s = (%s *)malloc((size_t)(count_%d + 1) * 8);\n"):format(c, name, c,
        number)
      out[#out + 1] = ("  for (int64_t q_ = 0; q_ < count_%d; q_++) {\n" ..
        "    %s[q_] = %s;\n  }\n"):format(number, name, start_value(a, f))
    end
  end
  return table.concat(out)
end

local function to_sum(f, text)
  if f.type.from then
    return "(double)" .. f.type.from .. "(" .. text .. ")"
  end
  return ("(%s)%s"):format(accumulator(f), text)
end

-- The number of an element among those over some of the dimensions.
local function number_in(over, dims)
  local text, is_over = "0", {}
  for _, dim in ipairs(over) do
    is_over[dim] = true
  end
  for _, dim in ipairs(dims) do
    text = is_over[dim] and ("(%s * n_%s + %s)"):format(text, dim, dim) or text
  end
  return text
end

-- Adds the value `text` of a field to what is known of a row; `at` (and `number`, the element's):
-- where an extreme is found, the first one being at -1.
local function add(how, f, cell, text, at, number)
  local value = to_sum(f, text)
  if at then
    return ("    if (%s %s %s || (%s == %s && %s < 0)) { %s = %s; %s = %s; }\n"):format(value,
      is_max(how) and ">" or "<", cell, value, cell, at, cell, value, at, number)
  end
  if how == "sum" or how == "product" then
    local as = accumulator(f) == "int64_t" and "(int64_t)((uint64_t)%s + (uint64_t)%s)" or "%s + %s"
    as = how == "sum" and as or as:gsub("%+", "*")
    return ("    %s = %s;\n"):format(cell, as:format(cell, value))
  end -- comparisons with NaN are false: it is passed over
  return ("    if (%s %s %s) { %s = %s; }\n"):format(value, how == "max" and ">" or "<", cell, cell,
    value)
end

-- The dimensions that the output lacks; in ragged rows elements are numbered through all rows.
local function reduced_dims(spec, a)
  local kept, out = {}, {}
  for _, p in ipairs(a.places) do
    kept[p.dim] = true
  end
  for _, dim in ipairs(spec.dims) do
    out[#out + 1] = not kept[dim] and dim or nil
  end
  return out
end

local function add_to_sums(spec, n_inputs)
  local out = {}
  for k, a in ipairs(spec.outputs) do
    local number = n_inputs + k - 1
    out[#out + 1] = ("    const int64_t p_%s = fz_linear(x_%s, kept_%d, %d);\n"):format(a.name,
      a.name, number, #a.places)
    out[#out + 1] = a.inout and ("    some_%d[p_%s] = true;\n"):format(number, a.name) or nil
    for i, f in ipairs((a.given or a.record).fields) do
      out[#out + 1] = add(a.reduce, f, ("%s[p_%s]"):format(reduce_names(number, i), a.name),
        member(a.name, a.record, f), a.given and ("at_%d[p_%s]"):format(number, a.name),
        number_in(reduced_dims(spec, a), spec.dims))
    end
  end
  return table.concat(out)
end

local function from_sum(f, cell)
  if f.type.to then
    return f.type.to .. "((float)" .. cell .. ")"
  end
  return ("(%s)%s"):format(f.type.c, cell)
end

-- What an output holds is one more value for what has some.
local function join_old(a, f, i, number)
  local cell = reduce_names(number, i) .. "[q_]"
  local text = "    if (!some_%d[q_]) {\n      continue;\n    }\n" ..
    "    { %s v_; fz_get(r, %d, %d, x_, &v_);\n%s    }\n"
  return text:format(number, f.type.c, number, i - 1, add(a.reduce, f, cell, "v_"))
end

local function store_sums(spec, n_inputs)
  local out = {}
  for k, a in ipairs(spec.outputs) do
    local number = n_inputs + k - 1
    out[#out + 1] = ("  for (int64_t q_ = 0; q_ < count_%d; q_++) {\n" ..
      "    int64_t x_[FZ_MAX_DIMS];\n    fz_unlinear(q_, kept_%d, %d, x_);\n"):format(number,
      number, #a.places)
    for i, f in ipairs(a.record.fields) do
      out[#out + 1] = a.inout and join_old(a, f, i, number) or nil
      out[#out + 1] = ("    { const %s v_ = %s; fz_put(r, %d, %d, x_, &v_); }\n"):format(f.type.c,
        a.given and ("(%s)at_%d[q_]"):format(f.type.c, number)
          or from_sum(f, reduce_names(number, i) .. "[q_]"), number, i - 1)
    end
    out[#out + 1] = a.given and ("  }\n  free(at_%d);\n"):format(number) or "  }\n"
    out[#out + 1] = a.inout and ("  free(some_%d);\n"):format(number) or nil
    for i in ipairs(a.record.fields) do
      out[#out + 1] = ("  free(%s);\n"):format(reduce_names(number, i))
    end
  end
  return table.concat(out)
end

-- ---- scans ----

-- An element of each output, from what those before it on its line come to.
local function scan_element(spec, n_inputs)
  local out = {}
  for k, a in ipairs(spec.outputs) do
    local number, kept = n_inputs + k - 1, kept_dims(spec, a)
    out[#out + 1] = ("    const int64_t line_%s[] = {%s};\n    const int64_t p_%s = " ..
      "fz_linear(line_%s, kept_%d, %d);\n"):format(a.name, table.concat(kept, ", ")
      .. (#kept > 0 and ", 0" or "0"), a.name, a.name, number, #kept)
    for i, f in ipairs(a.record.fields) do
      local cell = ("%s[p_%s]"):format(reduce_names(number, i), a.name)
      local put = ("    { const %s v_ = %s; fz_put(r, %d, %d, x_%s, &v_); }\n"):format(f.type.c,
        from_sum(f, cell), number, i - 1, a.name)
      local sum = add(a.scan, f, cell, member(a.name, a.record, f))
      out[#out + 1] = a.exclusive and put .. sum or sum .. put
    end
  end
  return table.concat(out)
end

local function free_sums(spec, n_inputs)
  local out = {}
  for k, a in ipairs(spec.outputs) do
    for i in ipairs(a.record.fields) do
      out[#out + 1] = ("  free(%s);\n"):format(reduce_names(n_inputs + k - 1, i))
    end
  end
  return table.concat(out)
end

-- ---- the loop nest ----

local function element_text(spec)
  local out = {}
  local n_inputs = #spec.inputs
  for k, a in ipairs(spec.inputs) do
    out[#out + 1] = load_input(a, k - 1)
  end
  for k, a in ipairs(spec.outputs) do
    out[#out + 1] = start_output(a, n_inputs + k - 1)
  end
  out[#out + 1] = spec.index and ("    int64_t at_%s;\n"):format(spec.index.name) or nil
  for _, statement in ipairs(spec.body) do
    out[#out + 1] = "    " .. statement.c:gsub("\n", "\n    ") .. "\n"
  end
  if spec.outputs[1].reduce then
    out[#out + 1] = add_to_sums(spec, n_inputs)
  elseif spec.along then
    out[#out + 1] = scan_element(spec, n_inputs)
  else
    for k, a in ipairs(spec.outputs) do
      out[#out + 1] = store_output(a, n_inputs + k - 1)
    end
  end
  return table.concat(out)
end

local function compute_function(spec)
  local out = { "static void compute(const fz_run *r) {\n  const int64_t *n = r->n;\n",
    extents_head(spec) }
  for k, scalar in ipairs(spec.scalars) do
    out[#out + 1] = ("  %s %s;\n  fz_get_scalar(r, %d, &%s);\n  (void)%s;\n"):format(scalar.type.c,
      scalar.name, k - 1, scalar.name, scalar.name)
  end
  if spec.steps then
    return table.concat(out) .. steps.c_text(spec, {
      load_input = load_input, start_output = start_output, store_output = store_output,
      accumulator = accumulator, start_value = start_value, add = add, number_in = number_in,
    }) .. "}\n"
  end
  local reduces = spec.outputs[1].reduce
  out[#out + 1] = (reduces or spec.along) and start_sums(spec, #spec.inputs) or ""
  out[#out + 1] = steps.loops(spec, spec.dims)
  out[#out + 1] = "  {\n" .. element_text(spec) .. "  }\n"
  out[#out + 1] = reduces and store_sums(spec, #spec.inputs)
    or spec.along and free_sums(spec, #spec.inputs) or ""
  out[#out + 1] = "}\n"
  return table.concat(out)
end

local function list_runs(list, name)
  local out = {}
  for k, n in ipairs(list) do
    out[k] = "  {" .. table.concat(n, ", ") .. "},\n"
  end
  return ("static const int64_t %s[][FZ_MAX_EXTENTS] = {\n%s};\n"):format(name, table.concat(out))
end

local function spec_table(spec, arrays)
  local names, most = {}, {}
  for _, list in ipairs { spec.dims, spec.own } do
    for _, dim in ipairs(list) do
      names[#names + 1] = ("%q"):format(dim)
      most[#most + 1] = spec.most[dim] or 0
    end
  end
  local scalars = { '  {"", FZ_INT, 0},\n' }
  for k, scalar in ipairs(spec.scalars) do
    scalars[k] = ('  {"%s", %s, %d},\n'):format(scalar.name, scalar.type.kind, scalar.type.bytes)
  end
  return table.concat {
    "static const fz_scalar scalars[] = {\n", table.concat(scalars), "};\n",
    ("static const char *const names[] = {%s};\nstatic const int64_t most[] = {%s};\n"):format(
      table.concat(names, ", "), table.concat(most, ", ")),
    list_runs(spec.runs, "runs"), list_runs(spec.sizes, "sizes"),
    "#ifdef __cplusplus\nextern \"C\"\n#endif\n",
    ('const fz_spec fz_%s = {"%s", "%s", '):format(spec.name, spec.name, spec.family),
    ("%d, %d, %d, %d, %d, %d, %d, %s, %s, "):format(#spec.dims, #spec.dims + #spec.own, #arrays,
      #spec.inputs, #spec.scalars, #spec.runs, #spec.sizes, tostring(spec.small or false),
      tostring(spec.outputs[1].reduce ~= nil or spec.outputs[#spec.outputs].once ~= nil)),
    "names, most, arrays, scalars, runs, sizes, extent_of, limit_of, bytes_of, offset_of, ",
    "compute};\n",
    ("#ifdef FZ_LIBRARY\nconst fz_spec *const fz_reference = &fz_%s;\n#endif\n"):format(spec.name),
  }
end

--- The text of the reference program.
---@param spec table
---@return string
function M.text(spec)
  local arrays = all_arrays(spec)
  local out = { "#include \"reference.h\"\n\n" }
  for number, a in ipairs(arrays) do
    out[#out + 1] = array_tables(a, number - 1)
  end
  out[#out + 1] = "static const fz_array arrays[] = {\n"
  for number, a in ipairs(arrays) do
    out[#out + 1] = array_row(a, number - 1)
  end
  out[#out + 1] = "};\n\n"
  out[#out + 1] = extent_function(spec, arrays)
  out[#out + 1] = limit_function(spec)
  out[#out + 1] = layout_function(spec, arrays,
    "static int64_t offset_of(int array, int layout, int f, const int64_t *x, const int64_t *n)",
    "offset")
  out[#out + 1] = layout_function(spec, arrays,
    "static int64_t bytes_of(int array, int layout, const int64_t *n)", "bytes")
  out[#out + 1] = compute_function(spec)
  out[#out + 1] = spec_table(spec, arrays)
  return table.concat(out)
end

return M
