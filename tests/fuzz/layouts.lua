--- Layouts: how the spec says one, and the byte of field f of element x in plain C.
---
--- In the C text `x` and `e` are the array's indices and extents, `a` is the array, `f` the field's
--- number, `n_<name>` an extent of the kernel.
local M = {}

local LINEAR = "fz_linear(x, e, a->n_dims)"
local COUNT = "fz_count(e, a->n_dims)"
local RECORD = " * a->bytes + a->fields[f].offset"

local function layout(lua, offset, bytes, more)
  local out = { lua = lua, offset = offset, bytes = bytes }
  for key, value in pairs(more or {}) do
    out[key] = value
  end
  return out
end

local make = {}

function make.aos()
  return layout("s.aos", LINEAR .. RECORD, COUNT .. " * a->bytes", { owns_gaps = true })
end

function make.row_major()
  return layout("s.row_major", LINEAR .. RECORD, COUNT .. " * a->bytes")
end

function make.col_major()
  return layout("s.col_major", "fz_linear_col(x, e, a->n_dims)" .. RECORD, COUNT .. " * a->bytes")
end

function make.soa()
  return layout("s.soa", ("fz_section(a, f, %s) + %s * a->fields[f].bytes"):format(COUNT, LINEAR),
    ("fz_section(a, a->n_fields - 1, %s) + %s * a->fields[a->n_fields - 1].bytes"):format(COUNT,
      COUNT))
end

function make.aosoa(r)
  local lanes = r:pick { 4, 8, 16, 32, 32, 64, 128, 2, 6, 24 }
  local inside = "%s / %d * (%d * a->bytes) + %d * a->fields[f].offset + %s %% %d * " ..
    "a->fields[f].bytes"
  return layout(("s.aosoa { lanes = %d }"):format(lanes),
    inside:format(LINEAR, lanes, lanes, lanes, LINEAR, lanes),
    ("fz_round_up(%s, %d) * a->bytes"):format(COUNT, lanes))
end

local ROWS = "fz_count(e, a->n_dims - 1)"
local LAST = "a->n_dims - 1"

function make.pitched(r, array)
  local lua, pitch
  if r:chance(65) then
    local align = math.max(array.record.real_align, r:pick { 16, 32, 64, 128, 256, 512 })
    lua = align == 256 and "s.pitched" or ("s.pitched { align = %d }"):format(align)
    pitch = ("fz_round_up(e[%s] * a->bytes, %d)"):format(LAST, align)
  else
    local more = array.record.real_align * r:int(0, 9)
    lua = ('s.pitched { pitch = "%d * %s + %d" }'):format(array.record.bytes,
      array.places[#array.places].dim, more)
    pitch = ("(%d * e[%s] + %d)"):format(array.record.bytes, LAST, more)
  end
  return layout(lua, ("fz_linear(x, e, %s) * %s + x[%s] * a->bytes + a->fields[f].offset"):format(
    LAST, pitch, LAST), ("%s * %s"):format(ROWS, pitch))
end

-- A stride that is a number: it holds for rows that are no longer.
local function constant_stride(r, array)
  local stride = r:pick { 33, 64, 100, 257, 1024 }
  local last = array.places[2]
  return layout(("s.strided { %d, 1 }"):format(stride),
    ("(x[0] * %d + x[1])%s"):format(stride, RECORD),
    ("(%s > 0) * ((e[0] - 1) * %d + e[1]) * a->bytes"):format(COUNT, stride),
    { most = { dim = last.dim, n = stride - (last.pad or 0) } })
end

-- Strides over the extents: the order of the dimensions in memory is any, each with some slack.
function make.strided(r, array)
  local n = #array.places
  local order, lua, c = {}, {}, {}
  if n == 2 and not (array.places[1].at or array.places[2].at) and r:chance(30) then
    return constant_stride(r, array)
  end
  for d = 1, n do
    order[d] = d
  end
  order = r:shuffled(order)
  local lua_step = tostring(r:pick { 1, 1, 1, 2, 3 })
  local c_step = lua_step
  for k = n, 1, -1 do
    local d = order[k]
    lua[d], c[d] = lua_step, c_step
    local slack = r:pick { 0, 0, 1, 3, 8 }
    lua_step = ("(%s) * (%s + %d)"):format(lua_step, array.places[d].dim, slack)
    c_step = ("(%s) * (e[%d] + %d)"):format(c_step, d - 1, slack)
  end
  local at, last, text = {}, {}, {}
  for d = 1, n do
    at[d] = ("x[%d] * (%s)"):format(d - 1, c[d])
    last[d] = ("(e[%d] > 0 ? e[%d] - 1 : 0) * (%s)"):format(d - 1, d - 1, c[d])
    text[d] = lua[d]:match "^%d+$" or ("%q"):format(lua[d])
  end
  return layout(("s.strided { %s }"):format(table.concat(text, ", ")),
    ("(%s)%s"):format(table.concat(at, " + "), RECORD),
    ("(%s > 0) * (%s + 1) * a->bytes"):format(COUNT, table.concat(last, " + ")))
end

-- ---- layout files ----

local files = {}

files[1] = function(r)
  local gap = r:int(0, 3)
  return layout(("s.layout \"backwards.lua\" { gap = %d }"):format(gap),
    ("(%d + %s - 1 - %s)%s"):format(gap, COUNT, LINEAR, RECORD),
    ("(%d + %s) * a->bytes"):format(gap, COUNT), { file = "backwards" })
end

files[2] = function()
  return layout('s.layout "sections64.lua"',
    ("fz_round_up(%s, 64) * fz_prefix(a, f) + %s * a->fields[f].bytes"):format(COUNT, LINEAR),
    ("fz_round_up(%s, 64) * fz_prefix(a, a->n_fields)"):format(COUNT), { file = "sections64" })
end

files[3] = function()
  return layout('s.layout "swapped.lua"', ("(%s ^ 1)%s"):format(LINEAR, RECORD),
    ("fz_round_up(%s, 2) * a->bytes"):format(COUNT), { file = "swapped" })
end

files[4] = function()
  return layout('s.layout "halves.lua"',
    ("(%s %% 2 * ((%s + 1) / 2) + %s / 2)%s"):format(LINEAR, COUNT, LINEAR, RECORD),
    ("(%s + 1) / 2 * 2 * a->bytes"):format(COUNT), { file = "halves" })
end

files[5] = function(r)
  local h, w = r:pick { 2, 4, 8 }, r:pick { 4, 8, 16 }
  local tile = "((fz_linear(x, e, a->n_dims - 2) * ((e[a->n_dims - 2] + %d) / %d) " ..
    "+ x[a->n_dims - 2] / %d) * ((e[a->n_dims - 1] + %d) / %d) + x[a->n_dims - 1] / %d) * %d " ..
    "+ x[a->n_dims - 2] %% %d * %d + x[a->n_dims - 1] %% %d"
  return layout(('s.layout "tiles.lua" { h = %d, w = %d }'):format(h, w),
    "(" .. tile:format(h - 1, h, h, w - 1, w, w, h * w, h, w, w) .. ")" .. RECORD,
    ("fz_count(e, a->n_dims - 2) * ((e[a->n_dims - 2] + %d) / %d) * ((e[a->n_dims - 1] + %d) " ..
      "/ %d) * %d * a->bytes"):format(h - 1, h, w - 1, w, h * w), { file = "tiles" })
end

M.file_text = {
  backwards = [[
return {
  name = "backwards",
  doc = "The last record first, `gap` records in front.",
  params = { { "gap", { 0, 1, 2, 3 }, min = 0, default = 0 } },
  offset = function(l, field, idx, ext)
    return (l.gap + l.count(ext) - 1 - l.linear(idx, ext)) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext) return (l.gap + l.count(ext)) * l.record.bytes end,
}
]],
  sections64 = [[
return {
  name = "sections64",
  doc = "A section a field, each of a multiple of 64 elements.",
  offset = function(l, field, idx, ext)
    return l.round_up(l.count(ext), 64) * field.prefix + l.linear(idx, ext) * field.bytes
  end,
  bytes = function(l, ext) return l.round_up(l.count(ext), 64) * l.record.data_bytes end,
}
]],
  swapped = [[
return {
  name = "swapped",
  doc = "Neighbours have changed places.",
  offset = function(l, field, idx, ext)
    return (l.linear(idx, ext) ~ 1) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext) return l.round_up(l.count(ext), 2) * l.record.bytes end,
}
]],
  halves = [[
return {
  name = "halves",
  doc = "Even elements first, then odd ones.",
  offset = function(l, field, idx, ext)
    local i = l.linear(idx, ext)
    return (i % 2 * ((l.count(ext) + 1) // 2) + i // 2) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext) return (l.count(ext) + 1) // 2 * 2 * l.record.bytes end,
}
]],
  tiles = [[
return {
  name = "tiles",
  doc = "Tiles of h rows of w elements.",
  params = { { "h", { 2, 4, 8 } }, { "w", { 4, 8, 16 } } },
  offset = function(l, field, idx, ext)
    local n = #ext
    local at = 0
    for d = 1, n - 2 do
      at = at * ext[d] + idx[d]
    end
    at = at * ((ext[n - 1] + l.h - 1) // l.h) + idx[n - 1] // l.h
    at = at * ((ext[n] + l.w - 1) // l.w) + idx[n] // l.w
    return (at * (l.h * l.w) + idx[n - 1] % l.h * l.w + idx[n] % l.w) * l.record.bytes
      + field.offset
  end,
  bytes = function(l, ext)
    local n = #ext
    local tiles = 1
    for d = 1, n - 2 do
      tiles = tiles * ext[d]
    end
    tiles = tiles * ((ext[n - 1] + l.h - 1) // l.h) * ((ext[n] + l.w - 1) // l.w)
    return tiles * (l.h * l.w) * l.record.bytes
  end,
}
]],
}

-- ---- choosing ----

local function of_file(r, n_dims)
  return r:pick { files[1], files[2], files[3], files[4], n_dims > 1 and files[5] or files[4] }(r)
end

-- One layout that suits the array. A file's name may be used once a spec with one set of
-- parameters, which labels keep apart.
local function one(r, array)
  local n = #array.places
  local kinds = array.record.bare
      and { { "row_major", n > 1 and 30 or 60 }, { "col_major", n > 1 and 12 or 0 },
        { "pitched", n > 1 and 14 or 0 }, { "strided", 6 }, { "aosoa", 2 }, { "file", 6 } }
    or { { "aos", 30 }, { "soa", 28 }, { "aosoa", 18 }, { "col_major", n > 1 and 4 or 0 },
      { "pitched", n > 1 and 6 or 0 }, { "strided", 3 }, { "row_major", 2 }, { "file", 7 } }
  local kind = n == 0 and (array.record.bare and "row_major" or "aos") or r:weighted(kinds)
  if kind == "file" then
    return of_file(r, n)
  end
  return make[kind](r, array)
end

--- Gives the array its layouts: one, or several that the tuner chooses from.
function M.choose(r, array, percent)
  local count = #array.places > 0 and r:chance(percent) and r:int(2, 3) or 1
  local seen
  array.layouts, seen = {}, {}
  for k = 1, count do
    -- a choice has the plain layout in front: what a program packs from
    local plain = array.record.bare and "row_major" or "aos"
    local lay = count > 1 and k == 1 and make[plain](r, array) or one(r, array)
    if not seen[lay.lua] then
      seen[lay.lua] = true
      table.insert(array.layouts, lay)
    end
  end
end

--- A fixed layout by its name.
function M.set(r, array, name)
  array.layouts = { make[name](r, array) }
end

return M
