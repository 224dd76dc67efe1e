--- Random specs, a family of features at a time, so that every strategy gets its share.
local body = require "body"
local extents = require "extents"
local layouts = require "layouts"
local places = require "places"
local steps = require "steps"
local types = require "types"

local M = {}

local MOST_NESTED = 70
local DIMS = { "i", "j", "k", "l" }
local OWN = { "m", "p", "q2" }

-- ---- arrays ----

local function new_array(name, record, list, more)
  local a = { name = name, record = record, places = list, index = 0 }
  for key, value in pairs(more or {}) do
    a[key] = value
  end
  return a
end

local function along_all(r, dims, kinds)
  local list = {}
  for k, dim in ipairs(dims) do
    list[k] = places.along(r, dim, kinds and r:weighted(kinds) or "same")
  end
  return list
end

-- Some of the dimensions in their order, at least one.
local function some(r, dims)
  local out = {}
  for _, dim in ipairs(dims) do
    if r:chance(55) then
      out[#out + 1] = dim
    end
  end
  return #out > 0 and out or { r:pick(dims) }
end

local function start(r, n_dims)
  local spec = { dims = {}, own = {}, inputs = {}, outputs = {}, scalars = {}, features = {} }
  for k = 1, n_dims do
    spec.dims[k] = DIMS[k]
  end
  for k = 1, r:pick { 0, 0, 0, 1, 2 } do
    spec.scalars[k] = { name = "s" .. k, type = r:pick(types.scalars) }
  end
  return spec
end

local NAMES_IN, NAMES_OUT = { "a", "b", "c", "d" }, { "o", "w", "g" }

local function add_input(spec, record, list, more)
  local a = new_array(NAMES_IN[#spec.inputs + 1], record, list, more)
  table.insert(spec.inputs, a)
  return a
end

local function add_output(spec, record, list, more)
  local a = new_array(NAMES_OUT[#spec.outputs + 1], record, list, more)
  a.output = true
  table.insert(spec.outputs, a)
  return a
end

local function bare(r, list)
  return types.bare(r:pick(list or types.list))
end

-- Types of one spec: often few, so that moves and alike formulas are possible.
local function palette(r)
  local kind = r:int(1, 6)
  if kind <= 2 then
    return { r:pick(types.scalars) }
  elseif kind == 3 then
    return { r:pick(types.list), r:pick(types.scalars) }
  elseif kind == 4 then
    return types.scalars
  elseif kind == 5 then
    return r:chance(50)
      and { types.by_name.f32, types.by_name.f32x4, types.by_name.u8, types.by_name.f16 }
      or { types.by_name.e4m3, types.by_name.bf16x2, types.by_name.bool, types.by_name.u8x4 }
  end
  return types.list
end

local function record_options(r)
  return { packed = r:chance(25), aligned = r:chance(15) }
end

-- A record that only inputs have.
local function input_record(r, n, list)
  local options = record_options(r)
  options.bits = r:chance(25)
  return types.random_record(r, n, list, options)
end

-- An input whose elements share bytes along its last dimension.
local function add_shared(r, spec, where)
  local t, last = r:pick(types.shared), where[#where]
  local a = add_input(spec, types.bare(t), where)
  a.part = ("(%s %% %d)"):format(last.c, t.count)
  last.c = ("(%s / %d)"):format(last.c, t.count)
  last.extent_c = ("((%s + %d) / %d)"):format(last.extent_c, (last.pad or 0) + t.count - 1, t.count)
  last.no_pad = true -- it is among the elements
  layouts.set(r, a, "row_major")
end

-- A small extra input: fewer dimensions, other places.
local function maybe_broadcast(r, spec, percent)
  if #spec.inputs < 4 and r:chance(percent) then
    local dims = some(r, spec.dims)
    local where = along_all(r, dims, r:chance(50) and places.any)
    if r:chance(40) then
      add_shared(r, spec, where)
    else
      layouts.choose(r, add_input(spec, bare(r, types.scalars), where), 0)
    end
  end
end

-- ---- families ----

local families = {}
M.families = families

function families.records(r)
  local spec = start(r, r:weighted { { 1, 80 }, { 2, 15 }, { 3, 5 } })
  local list = palette(r)
  local alike = r:chance(75)
  local record = alike and types.random_record(r, r:int(1, 7), list, record_options(r))
    or input_record(r, r:int(1, 7), list)
  local a = add_input(spec, record, along_all(r, spec.dims, r:chance(15) and places.any))
  layouts.choose(r, a, 12)
  if r:chance(20) then
    local b = add_input(spec, input_record(r, r:int(1, 4), list), along_all(r, spec.dims))
    layouts.choose(r, b, 5)
  end
  local other = alike
      and (r:chance(50) and record
        or types.variant(r, record, { packed = r:chance(25), aligned = r:chance(10) }))
    or types.random_record(r, r:int(1, 6), list, record_options(r))
  local o = add_output(spec, other, along_all(r, spec.dims, r:chance(12) and places.distinct),
    { like = alike and "a" or nil })
  layouts.choose(r, o, 12)
  if r:chance(15) then
    layouts.choose(r, add_output(spec, bare(r, list), along_all(r, spec.dims)), 5)
  end
  maybe_broadcast(r, spec, 15)
  spec.body_kind = r:weighted { { "moves", 50 }, { "alike", alike and 20 or 0 }, { "mixed", 30 } }
  return spec
end

function families.permute(r)
  local spec = start(r, r:weighted { { 2, 50 }, { 3, 30 }, { 4, 20 } })
  local t = r:pick(types.list)
  local from = r:chance(80) and r:shuffled(spec.dims) or spec.dims
  local to = r:chance(50) and r:shuffled(spec.dims) or spec.dims
  local a = add_input(spec, types.bare(t), along_all(r, from, r:chance(15) and places.distinct))
  layouts.set(r, a, r:weighted { { "row_major", 75 }, { "col_major", 15 }, { "pitched", 5 },
    { "strided", 5 } })
  local o = add_output(spec, types.bare(r:chance(70) and t or r:pick(types.list)),
    along_all(r, to, r:chance(12) and places.distinct))
  layouts.set(r, o, r:weighted { { "row_major", 75 }, { "col_major", 15 }, { "pitched", 5 },
    { "strided", 5 } })
  for _, add in ipairs { add_output, add_input } do -- both orders at once
    if r:chance(30) then
      local order = r:chance(80) and r:pick { from, to } or r:shuffled(spec.dims)
      layouts.set(r, add(spec, types.bare(r:chance(50) and t or r:pick(types.list)),
        along_all(r, order)), r:weighted { { "row_major", 90 }, { "col_major", 10 } })
    end
  end
  maybe_broadcast(r, spec, 20)
  spec.body_kind = r:weighted { { "moves", 60 }, { "alike", 20 }, { "mixed", 20 } }
  return spec
end

local function random_taps(r, n_dims, reach)
  local taps, seen = {}, { [("0 "):rep(n_dims)] = true }
  for k = 1, r:int(2, 6) do
    local delta = {}
    for d = 1, n_dims do
      delta[d] = r:chance(50) and 0 or r:int(-reach, reach)
    end
    local key = table.concat(delta, " ") .. " "
    if not seen[key] then
      seen[key] = true
      taps[#taps + 1] = { name = "tap" .. k, delta = delta }
    end
  end
  if #taps == 0 then
    taps[1] = { name = "tap1", delta = { reach } }
    for d = 2, n_dims do
      taps[1].delta[d] = 0
    end
  end
  return taps
end

function families.stencil(r)
  local spec = start(r, r:weighted { { 1, 25 }, { 2, 45 }, { 3, 30 } })
  local same = r:chance(60)
  local record = r:chance(70) and bare(r, r:chance(60) and { types.by_name.f32 } or nil)
    or same and types.random_record(r, r:int(1, 3), palette(r), record_options(r))
    or input_record(r, r:int(1, 3), palette(r))
  local border = r:pick { "clamp", "zero", "wrap", "none", "clamp" }
  local reach = r:pick { 1, 1, 1, 2, 3, 5 }
  local taps = random_taps(r, #spec.dims, reach)
  local list = along_all(r, spec.dims)
  if border == "none" then
    for d, dim in ipairs(spec.dims) do
      list[d] = places.along(r, dim, "same")
      list[d].at = ("%s + %d"):format(dim, reach)
      list[d].c = ("(%s + %d)"):format(dim, reach)
      list[d].pad = 2 * reach + r:pick { 0, 0, 1 }
    end
  elseif r:chance(10) then
    list = along_all(r, spec.dims, places.distinct)
  end
  local a = add_input(spec, record, list, { taps = taps, border = border })
  layouts.choose(r, a, 5)
  layouts.choose(r, add_output(spec, same and record or bare(r), along_all(r, spec.dims),
    { like = same and "a" or nil }), 5)
  maybe_broadcast(r, spec, 20)
  spec.body_kind = r:weighted { { "moves", 20 }, { "mixed", 80 } }
  return spec
end

-- An array longer or shorter than what is read of it, along each dimension.
local function leaving(r, dim)
  local by, first = r:pick { 1, 1, 2, 2, 3, 5 }, r:int(-3, 3)
  local more = r:int(-4, 4)
  local at = ("%d * %s + %d"):format(by, dim, first)
  return { dim = dim, at = at, c = "(" .. at .. ")",
    extent = ("max(%d * %s + %d, 1)"):format(by, dim, more),
    extent_c = ("fz_most(%d * n_%s + %d, 1)"):format(by, dim, more), scale = by }
end

local WINDOW_TYPES = { "f32", "f32", "i32", "u32", "f64", "i64", "u64" }

-- A window of the types that it gives back, and taps, under every border.
function families.windows(r)
  local spec = start(r, r:weighted { { 1, 25 }, { 2, 45 }, { 3, 30 } })
  local list, taps = {}, r:chance(30) and random_taps(r, #spec.dims, 3) or {}
  for d, dim in ipairs(spec.dims) do
    list[d] = leaving(r, dim)
  end
  for k = 1, r:pick { 1, 1, 2 } do
    local window = { name = "window" .. k, how = r:pick { "sum", "max", "min" }, delta = {},
      count = {}, step = {} }
    for d in ipairs(spec.dims) do
      window.count[d], window.step[d] = r:int(2, 4), r:pick { 1, 1, 1, 2, 3 }
      window.delta[d] = -r:int(0, 3)
    end
    taps[#taps + 1] = window
  end
  local border = r:pick { "clamp", "zero", "wrap", "reflect", "skip", "skip", "number" }
  local a = add_input(spec, types.bare(types.by_name[r:pick(WINDOW_TYPES)]), list,
    { taps = taps, border = border, leaves = true,
      border_value = border == "number" and r:int(0, 9) or nil })
  layouts.set(r, a, r:weighted { { "row_major", 85 }, { "pitched", 15 } })
  layouts.choose(r, add_output(spec, bare(r, { types.by_name.f32, types.by_name.i32,
    types.by_name.u8 }), along_all(r, spec.dims)), 5)
  maybe_broadcast(r, spec, 20)
  spec.body_kind = "mixed"
  return spec
end

local INDEX_TYPES = { "i32", "i32", "i32", "u32", "i64", "u64", "u16", "i16", "u8", "i8" }

local function index_array(r, name, list, scatter)
  local a = new_array(name, types.bare(types.by_name[r:pick(INDEX_TYPES)]), list,
    { index = scatter and 2 or 1, fill = scatter and r:pick { "permuted", "permuted", "identity" }
      or r:pick { "random", "permuted", "identity" } })
  if not scatter and a.record.fields[1].type.kind == "FZ_INT" and r:chance(20) then
    a.none, a.index = true, 4
  end
  layouts.set(r, a, "row_major")
  return a
end

-- Arrays at what an index array holds, or one that is itself read at what another holds.
function families.through(r)
  local spec = start(r, r:weighted { { 1, 45 }, { 2, 40 }, { 3, 15 } })
  local scatter = r:chance(40)
  local index_dims = r:chance(70) and { spec.dims[1] } or some(r, spec.dims)
  local pick = index_array(r, "pick",
    along_all(r, index_dims, r:chance(12) and { { "shift", 1 }, { "stride", 1 } }), scatter)
  spec.inputs[1], spec.own, pick.own = pick, { OWN[1] }, OWN[1]
  local last = pick
  if r:chance(30) then
    spec.own, pick.own = { OWN[2], OWN[1] }, OWN[2]
    last = index_array(r, "base", { places.through(r, OWN[2], pick, nil, nil, scatter) }, scatter)
    spec.inputs[2], last.own, last.before = last, OWN[1], pick
  end
  local is_indexed, others = {}, {}
  for _, dim in ipairs(index_dims) do
    is_indexed[dim] = true
  end
  for _, dim in ipairs(spec.dims) do
    table.insert(is_indexed[dim] and {} or others, dim)
  end
  local function addressed()
    local list = scatter and #others == 0 and spec.dims or others
    local beside = #list > 0 and r:chance(30) and r:pick(list) or nil
    local where = { places.through(r, OWN[1], last, beside, not scatter) }
    for _, dim in ipairs(others) do
      if scatter or dim ~= beside or r:chance(30) then
        where[#where + 1] = places.along(r, dim, "same")
      end
    end
    return where
  end
  local same = r:chance(75)
  local record = r:chance(60) and bare(r)
    or same and types.random_record(r, r:int(1, 5), palette(r), record_options(r))
    or input_record(r, r:int(1, 5), palette(r))
  local a = new_array("a", record, scatter and along_all(r, spec.dims) or addressed())
  table.insert(spec.inputs, a)
  layouts.choose(r, a, 5)
  if r:chance(20) then
    local b = new_array("b", bare(r), along_all(r, spec.dims))
    table.insert(spec.inputs, b)
    layouts.choose(r, b, 0)
  end
  local o = add_output(spec, same and record or bare(r),
    scatter and addressed() or along_all(r, spec.dims), { like = same and "a" or nil })
  layouts.choose(r, o, 5)
  spec.body_kind = r:weighted { { "moves", 65 }, { "mixed", 35 } }
  return spec
end

-- The output that reduces to `kept`, a record or an index of what one holds.
local function add_reduced(r, spec, record, where, kept)
  local how = kept and r:pick(kept)
  local is_index = how and record.bare and r:chance(20)
  local o = add_output(spec, is_index and bare(r, types.indices) or record, where, { reduce = how })
  if is_index then
    o.reduce, o.given = r:pick { "argmax", "argmin" }, bare(r, types.values)
  elseif how and r:chance(35) then -- onto values that the output holds
    o.inout, o.start = true, -2
  end
  layouts.choose(r, o, is_index and 0 or 5)
  for _, f in ipairs(record.fields) do
    spec.small = spec.small or o.reduce == "sum" and types.is_float(f.type)
  end
end

function families.reduce(r)
  local spec = start(r, r:weighted { { 1, 30 }, { 2, 45 }, { 3, 20 }, { 4, 5 } })
  local one = r:pick { "f32", "f32", "i32", "u32", "f64", "f16" }
  local list = r:chance(60) and { types.by_name[one] } or types.numbers
  local record = r:chance(65) and bare(r, list) or input_record(r, r:int(1, 4), list)
  local order = r:chance(30) and r:shuffled(spec.dims) or spec.dims
  local a = add_input(spec, record, along_all(r, order, r:chance(20) and places.any))
  layouts.choose(r, a, 6)
  if r:chance(25) then
    local dims = r:chance(50) and spec.dims or some(r, spec.dims)
    layouts.choose(r, add_input(spec, bare(r, list), along_all(r, dims)), 0)
  end
  local kept = {}
  if #spec.dims > 1 and r:chance(85) then
    local lost = r:int(1, #spec.dims)
    for d, dim in ipairs(spec.dims) do
      if d ~= lost and (#spec.dims == 2 or r:chance(75)) then
        kept[#kept + 1] = dim
      end
    end
  end
  kept = r:chance(20) and r:shuffled(kept) or kept
  for _ = 1, r:pick { 1, 1, 1, 2, 3 } do
    local out = r:chance(75) and bare(r, list)
      or types.random_record(r, r:int(1, 3), list, record_options(r))
    local places_out = along_all(r, kept)
    for _, p in ipairs(places_out) do
      p.pad = r:chance(8) and r:int(1, 3) or nil
    end
    add_reduced(r, spec, out, places_out, { "sum", "sum", "max", "min" })
  end
  spec.body_kind = r:weighted { { "moves", 55 }, { "mixed", 45 } }
  return spec
end

-- Running sums along one dimension, mostly the last.
function families.scan(r)
  local spec = start(r, r:weighted { { 1, 35 }, { 2, 45 }, { 3, 20 } })
  spec.along = r:chance(65) and spec.dims[#spec.dims] or r:pick(spec.dims)
  local one = r:pick { "f32", "f32", "i32", "u32", "f64", "i64", "f16", "u8" }
  local list = r:chance(60) and { types.by_name[one] } or types.numbers
  local record = r:chance(75) and bare(r, list) or input_record(r, r:int(1, 3), list)
  local order = r:chance(20) and r:shuffled(spec.dims) or spec.dims
  layouts.choose(r, add_input(spec, record, along_all(r, order, r:chance(20) and places.any)), 5)
  maybe_broadcast(r, spec, 25)
  for _ = 1, r:pick { 1, 1, 1, 2 } do
    local out = r:chance(80) and bare(r, list)
      or types.random_record(r, r:int(1, 2), list, record_options(r))
    local where = along_all(r, r:chance(15) and r:shuffled(spec.dims) or spec.dims,
      r:chance(15) and places.distinct)
    local o = add_output(spec, out, where,
      { scan = r:pick { "sum", "sum", "max", "min" }, exclusive = r:chance(40) })
    layouts.choose(r, o, 3)
    for _, f in ipairs(out.fields) do
      spec.small = spec.small or o.scan == "sum" and types.is_float(f.type)
    end
  end
  spec.body_kind = r:weighted { { "moves", 55 }, { "mixed", 45 } }
  return spec
end

-- Rows along the last dimensions mostly, or columns. Outputs have all dimensions, or those that
-- rows lack.
function families.steps(r)
  local spec = start(r, r:weighted { { 1, 10 }, { 2, 55 }, { 3, 25 }, { 4, 10 } })
  local one = r:pick { "f32", "f32", "bf16", "i32", "f64", "i8" }
  local list = r:chance(60) and { types.by_name[one] } or types.scalars
  local first = r:chance(75) and r:int(math.min(2, #spec.dims), #spec.dims) or 1
  local columns = #spec.dims > 1 and r:chance(25)
  spec.over, spec.kept = {}, {}
  for d, dim in ipairs(spec.dims) do
    local reduced = d >= first
    if columns then
      reduced = d == #spec.dims - 1
    end
    if r:chance(10) and #spec.dims > 1 then
      reduced = not reduced
    end
    table.insert(reduced and spec.over or spec.kept, dim)
  end
  if #spec.over == 0 then
    spec.over, spec.kept = spec.dims, {}
  end
  spec.small = r:chance(40)
  -- few rows, which only a cluster holds, or several blocks share; or such columns
  spec.long = #spec.dims == 2 and #spec.over == 1 and r:chance(25)
  local record = r:chance(80) and bare(r, list) or input_record(r, r:int(1, 3), list)
  local order = r:chance(10) and r:shuffled(spec.dims) or spec.dims
  layouts.choose(r, add_input(spec, record, along_all(r, order, r:chance(10) and places.any)), 6)
  for _ = 1, r:pick { 0, 1, 1, 2 } do
    layouts.choose(r, add_input(spec, bare(r, list), along_all(r, some(r, spec.dims))), 0)
  end
  for _ = 1, r:pick { 1, 1, 2 } do
    local out = r:chance(80) and bare(r, list)
      or types.random_record(r, r:int(1, 3), list, record_options(r))
    local where = along_all(r, spec.dims, r:chance(8) and places.distinct)
    layouts.choose(r, add_output(spec, out, where), 5)
  end
  if #spec.kept > 0 and r:chance(35) then
    layouts.choose(r, add_output(spec, bare(r, list), along_all(r, spec.kept), { once = true }), 0)
  end
  spec.body_kind = r:weighted { { "moves", 20 }, { "mixed", 80 } }
  return spec
end

-- Steps that reduce different dimensions: the last one all that are reduced at all.
function families.nested(r)
  local spec = start(r, r:pick { 2, 3, 3 })
  local reduced = {}
  spec.over, spec.overs = spec.dims, {}
  for k = 1, r:pick { 1, 2 } do
    spec.overs[k] = some(r, spec.dims)
    for _, dim in ipairs(spec.overs[k]) do
      reduced[dim] = true
    end
  end
  if #spec.overs[1] == #spec.dims then -- the last step reduces more
    table.remove(spec.overs[1])
  end
  local others = {}
  for _, dim in ipairs(spec.dims) do
    others[#others + 1] = not table.concat(spec.overs[1]):find(dim) and dim or nil
  end
  reduced[r:pick(others)] = true
  local all = {}
  for _, dim in ipairs(spec.dims) do
    all[#all + 1] = reduced[dim] and dim or nil
  end
  table.insert(spec.overs, all)
  local list = r:chance(60) and { types.by_name[r:pick { "f32", "i32", "f64", "i8" }] }
    or types.scalars
  for _ = 1, r:pick { 1, 2, 2 } do
    local dims = #spec.inputs == 0 and spec.dims or some(r, spec.dims)
    layouts.choose(r, add_input(spec, bare(r, list), along_all(r, dims)), 0)
  end
  for _ = 1, r:pick { 1, 1, 2 } do
    local dims = {}
    for _, dim in ipairs(spec.dims) do
      dims[#dims + 1] = (not reduced[dim] or r:chance(35)) and dim or nil
    end
    layouts.choose(r, add_output(spec, bare(r, list), along_all(r, dims)), 0)
  end
  return spec
end

-- Rows of different lengths along the last dimension, the first being the rows: reduced, or mapped.
function families.ragged(r)
  local spec = start(r, r:weighted { { 2, 70 }, { 3, 30 } })
  local row, last = spec.dims[1], spec.dims[#spec.dims]
  spec.ragged = { dim = last, row = row }
  local ptr = new_array("ptr", types.bare(types.by_name[r:pick { "i32", "i32", "u32", "i64" }]),
    along_all(r, { row }), { index = 3 })
  ptr.places[1].pad, ptr.places[1].limit = 1, ("n_%s + 1"):format(last)
  layouts.set(r, ptr, "row_major")
  spec.inputs[1] = ptr
  local list = r:chance(60) and { types.by_name[r:pick { "f32", "f32", "i32", "f64", "f16" }] }
    or types.numbers
  local record = r:chance(70) and bare(r, list) or input_record(r, r:int(1, 3), list)
  layouts.choose(r, add_input(spec, record, along_all(r, { last }, r:chance(30) and places.any)), 5)
  maybe_broadcast(r, spec, 60)
  local kept, elements = {}, {}
  for d, dim in ipairs(spec.dims) do
    table.insert(d < #spec.dims and kept or elements, dim)
    table.insert(d > 1 and d < #spec.dims and elements or {}, dim)
  end
  local kind = r:weighted { { "reduce", 45 }, { "map", 25 }, { "steps", 30 } }
  if kind == "steps" then
    spec.over, spec.kept, spec.small = { last }, kept, r:chance(40)
  end
  for n = 1, r:pick { 1, 1, 2 } do
    local out = r:chance(80) and bare(r, list)
      or types.random_record(r, r:int(1, 2), list, record_options(r))
    local reduces, once = kind == "reduce", kind == "steps" and n == 2
    local where = along_all(r, (reduces or once) and kept or r:shuffled(elements),
      kind == "map" and r:chance(20) and places.distinct)
    add_reduced(r, spec, out, where, reduces and { "sum", "sum", "max", "min" })
    spec.outputs[#spec.outputs].once = once or nil
  end
  spec.body_kind = r:weighted { { "moves", 45 }, { "mixed", 55 } }
  return spec
end

-- What points bring to an output, of types that atomic operations have. Floats are added as small
-- whole numbers, and all join what is 0 at the start.
local function add_collected(r, spec, where)
  local ways = { "add", "add", "min", "max", "and", "or", "xor" }
  local how = r:pick(ways)
  local list = {}
  for _, name in ipairs { "i32", "u32", "i64", "u64", "f32", "f32", "f64" } do
    local t = types.by_name[name]
    list[#list + 1] = (not types.is_float(t) or how == "add" or how == "min" or how == "max")
      and t or nil
  end
  list = r:chance(60) and { r:pick(list) } or list
  local record = r:chance(70) and bare(r, list)
    or types.random_record(r, r:int(1, 4), list, { aligned = r:chance(15) })
  local o = add_output(spec, record, where, { accumulate = how })
  local has_floats = false
  for _, f in ipairs(record.fields) do
    has_floats = has_floats or types.is_float(f.type)
    spec.small = spec.small or how == "add" and has_floats
    local byte = f.type.kind == "FZ_INT" and (how == "min" or how == "max") and -1
      or (how == "and" or how == "min") and 255 or 0
    o.start = types.is_float(f.type) and 0 or o.start and o.start ~= byte and -1 or byte
  end
  local extreme = has_floats and how ~= "add" -- whose identity has no bytes alike
  o.inout = extreme or o.start < 0 or r:chance(40)
  if o.inout then
    o.start = extreme and 0 or spec.small and o.start or -1
    layouts.choose(r, o, 8)
  else
    local even = record.bytes == #record.fields * record.fields[1].type.bytes -- sections touch
    layouts.set(r, o, r:pick(record.bare and { "row_major", "col_major" }
      or even and { "aos", "soa" } or { "aos" }))
  end
end

-- Several points on an element: where an index says, or where dimensions share a place or are lost.
function families.accumulate(r)
  local spec = start(r, r:weighted { { 1, 50 }, { 2, 40 }, { 3, 10 } })
  local where, lost = {}, {}
  if r:chance(75) then
    local dims = r:chance(60) and { spec.dims[1] } or some(r, spec.dims)
    local pick = new_array("pick", types.bare(types.by_name[r:pick(INDEX_TYPES)]),
      along_all(r, dims, r:chance(12) and { { "shift", 1 }, { "stride", 1 } }),
      { index = 1, fill = r:pick { "random", "constant", "identity", "random" } })
    layouts.set(r, pick, "row_major")
    spec.inputs[1], spec.own[1], pick.own = pick, OWN[1], OWN[1]
    where[1] = places.through(r, OWN[1], pick)
    for _, dim in ipairs(dims) do
      lost[dim] = true
    end
  elseif r:chance(60) then
    spec.index = { name = "bin", n = r:pick { 1, 8, 64, 1000 } }
    where[1] = places.computed(spec.index)
  end
  local kinds = #where == 0 and places.any or { { "same", 70 }, { "shift", 20 }, { "padded", 10 } }
  for d, dim in ipairs(spec.dims) do
    if not lost[dim] and (r:chance(75) or d == #spec.dims and #where == 0) then
      where[#where + 1] = places.along(r, dim, r:weighted(kinds))
    end
  end
  local list = r:chance(50) and { types.by_name[r:pick { "f32", "i32", "u64", "f64" }] }
    or types.scalars
  local record = r:chance(65) and bare(r, list) or input_record(r, r:int(1, 4), list)
  local from = along_all(r, spec.dims, r:chance(20) and places.any)
  layouts.choose(r, add_input(spec, record, from), 5)
  maybe_broadcast(r, spec, 25)
  for _ = 1, r:pick { 1, 1, 1, 2 } do
    add_collected(r, spec, where)
  end
  if r:chance(12) then
    layouts.choose(r, add_output(spec, bare(r, list), along_all(r, spec.dims)), 0)
  elseif r:chance(25) then -- kept in one order, of fewer elements: each goes through all points
    spec.ordered = true
    for _, o in ipairs(spec.outputs) do
      o.deterministic = true
    end
  end
  spec.body_kind = r:weighted { { "moves", 45 }, { "mixed", 55 } }
  return spec
end

function families.places(r)
  local spec = start(r, r:weighted { { 1, 30 }, { 2, 45 }, { 3, 20 }, { 4, 5 } })
  local list = r:chance(60) and { r:pick(types.list) } or types.list
  for _ = 1, r:int(1, 3) do
    local dims = r:chance(70) and spec.dims or some(r, r:shuffled(spec.dims))
    local where = along_all(r, dims, places.any)
    if #spec.dims > 1 and r:chance(10) then
      where = { places.sum(spec.dims[1], spec.dims[2]) }
    elseif #spec.dims > 1 and r:chance(10) then
      where = { places.fused(spec.dims[1], spec.dims[2], r:pick { 2, 4, 5 }) }
    end
    layouts.choose(r, add_input(spec, bare(r, list), where), 5)
  end
  for _ = 1, r:pick { 1, 1, 2 } do
    local where = along_all(r, spec.dims, r:chance(45) and places.distinct)
    if r:chance(10) then
      table.insert(where, r:int(1, #where + 1), places.channel(r))
    end
    layouts.choose(r, add_output(spec, bare(r, list), where), 5)
  end
  spec.body_kind = r:weighted { { "moves", 50 }, { "alike", 15 }, { "mixed", 35 } }
  return spec
end

-- Places that follow from numbers given at launch: pitches, where arrays begin, longer rows.
function families.numbers(r)
  local spec = start(r, r:weighted { { 1, 15 }, { 2, 55 }, { 3, 30 } })
  local list = r:chance(60) and { r:pick(types.list) } or types.list
  spec.numbers = {}
  local function number(dim, before)
    local new = { name = "p" .. #spec.numbers + 1, dim = dim, before = before }
    table.insert(spec.numbers, new)
    return new
  end
  local function where()
    local first = (#spec.dims == 1 or r:chance(30)) and number() or nil
    local mine = { first }
    for d = 1, #spec.dims - 1 do
      mine[#mine + 1] = number(spec.dims[d], { table.unpack(spec.dims, d + 1) })
    end
    return { places.pitched(spec.dims, mine) }
  end
  local function longer()
    local list_of = along_all(r, spec.dims)
    local name = "ld" .. #spec.longer + 1
    table.insert(spec.longer, { name = name, dim = spec.dims[#spec.dims] })
    list_of[#list_of] = places.own(spec.dims[#spec.dims], name)
    return list_of
  end
  spec.longer = {}
  local function any()
    local dice = r:int(1, 10)
    return dice <= 5 and #spec.numbers < 4 and where() or dice <= 8 and longer()
      or along_all(r, spec.dims)
  end
  for _ = 1, r:int(1, 2) do
    layouts.choose(r, add_input(spec, bare(r, list), any()), 0)
  end
  for _ = 1, r:pick { 1, 1, 2 } do
    layouts.set(r, add_output(spec, bare(r, list), any()), "row_major")
  end
  for _, of in ipairs { spec.numbers, spec.longer } do
    for _, one in ipairs(of) do
      table.insert(spec.own, one.name)
    end
  end
  spec.body_kind = r:weighted { { "moves", 55 }, { "mixed", 45 } }
  return spec
end

-- ---- specs ----

M.FAMILIES = { { "records", 34 }, { "permute", 14 }, { "stencil", 12 }, { "through", 12 },
  { "reduce", 14 }, { "places", 14 }, { "steps", 14 }, { "ragged", 12 }, { "accumulate", 12 },
  { "scan", 12 }, { "numbers", 10 }, { "nested", 10 },
  { "windows", 0 } } -- windows: half of the stencils

-- How often a family has a dimension of few elements, in percent.
local THIN = { permute = 50, places = 25, records = 25 }

--- The abstract description of one spec: of that family, or of one that is drawn.
function M.spec(r, name, family)
  local drawn = r:weighted(M.FAMILIES)
  family = family or drawn == "stencil" and r:chance(50) and "windows" or drawn
  local spec = families[family](r)
  spec.name, spec.family = name, family
  extents.make_runs(r, spec)
  for _, list in ipairs(spec.overs and { spec.runs, spec.sizes } or {}) do
    for _, n in ipairs(list) do -- what is computed anew for each element takes long
      for d = 1, #spec.dims do
        n[d] = math.min(n[d], MOST_NESTED)
      end
    end
  end
  for _, a in ipairs(spec.inputs) do
    if a.own then
      extents.widen_index(spec, a)
    end
  end
  if spec.over then
    steps.write(r, spec)
  else
    body.write(r, spec, spec.body_kind)
  end
  if #spec.dims > 1 and #spec.own == 0 and r:chance(THIN[family] or 0) then
    extents.make_thin(r, spec)
  end
  if not spec.over then
    body.hold(r, spec)
  end
  return spec
end

return M
