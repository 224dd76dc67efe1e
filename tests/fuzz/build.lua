--- Random specs, a family of features at a time, so that every strategy gets its share.
local body = require "body"
local layouts = require "layouts"
local places = require "places"
local steps = require "steps"
local types = require "types"

local M = {}

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
  local record = types.random_record(r, r:int(1, 7), list, record_options(r))
  local a = add_input(spec, record, along_all(r, spec.dims, r:chance(15) and places.any))
  layouts.choose(r, a, 12)
  if r:chance(20) then
    local b = add_input(spec, types.random_record(r, r:int(1, 4), list, record_options(r)),
      along_all(r, spec.dims))
    layouts.choose(r, b, 5)
  end
  local alike = r:chance(75)
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
  local record = r:chance(70) and bare(r, r:chance(60) and { types.by_name.f32 } or nil)
    or types.random_record(r, r:int(1, 3), palette(r), record_options(r))
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
  local same = r:chance(60)
  layouts.choose(r, add_output(spec, same and record or bare(r), along_all(r, spec.dims),
    { like = same and "a" or nil }), 5)
  maybe_broadcast(r, spec, 20)
  spec.body_kind = r:weighted { { "moves", 20 }, { "mixed", 80 } }
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
    last = index_array(r, "base", { places.through(r, OWN[2], pick) }, scatter)
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
  local record = r:chance(60) and bare(r)
    or types.random_record(r, r:int(1, 5), palette(r), record_options(r))
  local a = new_array("a", record, scatter and along_all(r, spec.dims) or addressed())
  table.insert(spec.inputs, a)
  layouts.choose(r, a, 5)
  if r:chance(20) then
    local b = new_array("b", bare(r), along_all(r, spec.dims))
    table.insert(spec.inputs, b)
    layouts.choose(r, b, 0)
  end
  local same = r:chance(75)
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
  local record = r:chance(65) and bare(r, list)
    or types.random_record(r, r:int(1, 4), list, record_options(r))
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
  local list = r:chance(60) and { types.by_name[one] } or types.scalars
  local record = r:chance(75) and bare(r, list)
    or types.random_record(r, r:int(1, 3), list, record_options(r))
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

-- Rows along the last dimensions mostly. Outputs have all dimensions, or those that rows lack.
function families.steps(r)
  local spec = start(r, r:weighted { { 1, 10 }, { 2, 55 }, { 3, 25 }, { 4, 10 } })
  local one = r:pick { "f32", "f32", "bf16", "i32", "f64", "i8" }
  local list = r:chance(60) and { types.by_name[one] } or types.scalars
  local first = r:chance(75) and r:int(math.min(2, #spec.dims), #spec.dims) or 1
  spec.over, spec.kept = {}, {}
  for d, dim in ipairs(spec.dims) do
    local reduced = d >= first
    if r:chance(10) and #spec.dims > 1 then
      reduced = not reduced
    end
    table.insert(reduced and spec.over or spec.kept, dim)
  end
  if #spec.over == 0 then
    spec.over, spec.kept = spec.dims, {}
  end
  spec.small = r:chance(40)
  local record = r:chance(80) and bare(r, list)
    or types.random_record(r, r:int(1, 3), list, record_options(r))
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
  local record = r:chance(70) and bare(r, list)
    or types.random_record(r, r:int(1, 3), list, record_options(r))
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

-- What points bring to an output, of types that atomic operations have. Floats are added only, as
-- small whole numbers, and onto 0.
local function add_collected(r, spec, where)
  local ways = { "add", "add", "min", "max", "and", "or", "xor" }
  local how = r:pick(ways)
  local list = {}
  for _, name in ipairs { "i32", "u32", "i64", "u64", "f32", "f32", "f64" } do
    local t = types.by_name[name]
    list[#list + 1] = (how == "add" or not types.is_float(t)) and t or nil
  end
  list = r:chance(60) and { r:pick(list) } or list
  local record = r:chance(70) and bare(r, list)
    or types.random_record(r, r:int(1, 4), list, { aligned = r:chance(15) })
  local o = add_output(spec, record, where, { accumulate = how })
  for _, f in ipairs(record.fields) do
    spec.small = spec.small or types.is_float(f.type)
    local byte = f.type.kind == "FZ_INT" and (how == "min" or how == "max") and -1
      or (how == "and" or how == "min") and 255 or 0
    o.start = types.is_float(f.type) and 0 or o.start and o.start ~= byte and -1 or byte
  end
  o.inout = o.start < 0 or r:chance(40)
  if o.inout then
    o.start = spec.small and o.start or -1
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
  local record = r:chance(65) and bare(r, list)
    or types.random_record(r, r:int(1, 4), list, record_options(r))
  local from = along_all(r, spec.dims, r:chance(20) and places.any)
  layouts.choose(r, add_input(spec, record, from), 5)
  maybe_broadcast(r, spec, 25)
  for _ = 1, r:pick { 1, 1, 1, 2 } do
    add_collected(r, spec, where)
  end
  if r:chance(12) then
    layouts.choose(r, add_output(spec, bare(r, list), along_all(r, spec.dims)), 0)
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

-- ---- extents ----

local LENGTHS = { 1, 2, 3, 5, 7, 8, 13, 16, 31, 32, 33, 48, 64, 97, 100, 127, 128, 129, 255, 256,
  257, 384, 512, 640, 1000, 1021, 1024, 2048, 4099 }

local function one_run(r, spec, most)
  for _ = 1, 200 do
    local n, count = {}, 1
    for d, dim in ipairs(spec.dims) do
      n[d] = math.min(r:pick(LENGTHS), spec.most[dim] or math.maxinteger)
      count = count * n[d]
    end
    if count <= most then
      return n
    end
  end
  return { 3, 2, 5, 1 }
end

-- Elements of an index array, whose places are in proportion to the kernel's dimensions.
local function count_of(array, dims, n)
  local count = 1
  for _, p in ipairs(array.places) do
    for d, dim in ipairs(dims) do
      count = count * (dim == p.dim and n[d] * (p.scale or 1) + (p.pad or 0) or 1)
    end
  end
  return count
end

local function position(spec, name)
  for d, own in ipairs(spec.own) do
    if own == name then
      return #spec.dims + d
    end
  end
  for d, dim in ipairs(spec.dims) do
    if dim == name then
      return d
    end
  end
end

-- The extents of the arrays' own dimensions: whatever scatters need, else anything; of what is
-- accumulated also more than shared memory has.
local function finish_run(r, spec, n, may_be_many)
  for _, index in ipairs(spec.inputs) do
    if index.own then
      local count = index.before and n[position(spec, index.before.own)]
        or count_of(index, spec.dims, n)
      local term = index.term and index.term.by * n[position(spec, index.term.dim)]
        or index.by + index.first
      local narrow = index.record.fields[1].type.bytes == 1
      n[position(spec, index.own)] = index.index == 2
          and index.by * count + index.first + r:pick { 0, 0, 1, 10 }
        or may_be_many and spec.outputs[1].accumulate and r:chance(25) and r:int(60000, 150000)
        or term + (narrow and r:pick { 8, 11, 64 } or r:pick { 8, 11, 64, 500, 1000 })
    end
  end
  return n
end

local function make_runs(r, spec)
  spec.runs, spec.sizes, spec.most = {}, {}, {}
  for _, list in ipairs { spec.inputs, spec.outputs } do
    for _, a in ipairs(list) do
      for _, lay in ipairs(a.layouts) do
        if lay.most then
          spec.most[lay.most.dim] = math.min(lay.most.n, spec.most[lay.most.dim] or lay.most.n)
        end
      end
    end
  end
  local n_dims = #spec.dims
  for k = 1, 12 do
    local n = one_run(r, spec, k <= 3 and 300 or k <= 9 and 6000 or 20000)
    spec.runs[k] = finish_run(r, spec, { table.unpack(n, 1, n_dims) }, k == 5)
  end
  for k, big in ipairs { n_dims == 1 and r:pick { 6000, 8191, 12288, 9001 } or 0 } do
    if big > 0 then
      spec.runs[12 + k] = finish_run(r, spec, { big })
    end
  end
  local none = { table.unpack(spec.runs[2], 1, n_dims) }
  none[r:int(1, n_dims)] = 0
  table.insert(spec.runs, finish_run(r, spec, none))
  for k = 1, r:pick { 1, 1, 2 } do
    local n, rest = {}, r:int(1, 6) * 32768 + (k - 1) * (r:int(1, 5000) * 2 + 1)
    for d = n_dims, 1, -1 do
      local most = d == 1 and rest or math.max(1, math.floor(rest ^ (1 / d) * r:pick { 1, 2, 4 }))
      n[d] = d == 1 and math.max(1, rest) or r:int(math.max(1, most // 2), math.max(1, most))
      n[d] = n[d] > 40 and r:chance(60) and n[d] // 32 * 32 or n[d]
      n[d] = math.min(n[d], spec.most[spec.dims[d]] or n[d])
      rest = math.max(1, rest // n[d])
    end
    spec.sizes[k] = finish_run(r, spec, n, true)
  end
end

-- A dimension of few elements at all sizes and most runs, which a kernel may require. Another one
-- grows.
local function make_thin(r, spec)
  local d, n_thin = r:int(1, #spec.dims), r:pick { 2, 3, 3, 4, 5, 7, 8 }
  n_thin = math.min(n_thin, spec.most[spec.dims[d]] or n_thin)
  local other = d > 1 and d - 1 or 2
  local most = spec.most[spec.dims[other]] or math.maxinteger
  for k, n in ipairs(spec.runs) do
    n[d] = n[d] > 0 and (k <= 2 or r:chance(75)) and n_thin or n[d]
  end
  for _, n in ipairs(spec.sizes) do
    n[other] = math.min(n[other] * math.max(1, n[d] // n_thin), most)
    n[d] = n_thin
  end
end

-- ---- specs ----

M.FAMILIES = { { "records", 34 }, { "permute", 14 }, { "stencil", 12 }, { "through", 12 },
  { "reduce", 14 }, { "places", 14 }, { "steps", 14 }, { "ragged", 12 }, { "accumulate", 12 },
  { "scan", 12 } }

-- How often a family has a dimension of few elements, in percent.
local THIN = { permute = 50, places = 25, records = 25 }

-- An index array of few bits holds few values.
local function widen_index(spec, index)
  local bytes = index.record.fields[1].type.bytes
  local most = bytes == 1 and 120 or bytes == 2 and 32000 or math.maxinteger
  for _, list in ipairs { spec.runs, spec.sizes } do
    for _, n in ipairs(list) do
      if n[position(spec, index.own)] > most then
        index.record = types.bare(types.by_name.i32)
      end
    end
  end
end

--- The abstract description of one spec: of that family, or of one that is drawn.
function M.spec(r, name, family)
  local drawn = r:weighted(M.FAMILIES)
  family = family or drawn
  local spec = families[family](r)
  spec.name, spec.family = name, family
  make_runs(r, spec)
  for _, a in ipairs(spec.inputs) do
    if a.own then
      widen_index(spec, a)
    end
  end
  if spec.over then
    steps.write(r, spec)
  else
    body.write(r, spec, spec.body_kind)
  end
  if #spec.dims > 1 and #spec.own == 0 and r:chance(THIN[family] or 0) then
    make_thin(r, spec)
  end
  if not spec.over then
    body.hold(r, spec)
  end
  return spec
end

return M
