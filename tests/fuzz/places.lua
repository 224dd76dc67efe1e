--- Places: which element of an array the body stands for, as the spec says it and as plain C.
---
--- A place is one dimension of an array: dim (its name), at and extent (text for the spec; nil: the
--- dimension itself), pad, c (the index in C over the kernel's indices), extent_c (without pad).
local M = {}

local function place(dim, more)
  local p = { dim = dim, c = dim, extent_c = "n_" .. dim }
  for key, value in pairs(more or {}) do
    p[key] = value
  end
  return p
end

local make = {}

function make.same(_, dim)
  return place(dim)
end

function make.padded(r, dim)
  return place(dim, { pad = r:int(1, 9) })
end

function make.shift(r, dim)
  local by = r:pick { 1, 1, 2, 3, 4, 5, 7, 8, 16 }
  return place(dim, { at = ("%s + %d"):format(dim, by), c = ("(%s + %d)"):format(dim, by),
    pad = by + r:pick { 0, 0, 1, 2 } })
end

function make.stride(r, dim)
  local by = r:pick { 2, 2, 3, 4, 5, 8 }
  local first = r:int(0, by - 1)
  local at = first > 0 and ("%d * %s + %d"):format(by, dim, first) or ("%d * %s"):format(by, dim)
  return place(dim, { at = at, c = "(" .. at .. ")", extent = ("%d * %s"):format(by, dim),
    extent_c = ("%d * n_%s"):format(by, dim), pad = r:chance(20) and r:int(1, 3) or nil,
    scale = by })
end

function make.div(r, dim)
  local by = r:pick { 2, 2, 3, 4, 8, 10 }
  return place(dim, { at = ("%s // %d"):format(dim, by), c = ("(%s / %d)"):format(dim, by),
    extent = ("(%s + %d) // %d"):format(dim, by - 1, by),
    extent_c = ("((n_%s + %d) / %d)"):format(dim, by - 1, by), shared = true })
end

function make.mod(r, dim)
  local by = r:pick { 2, 3, 4, 8, 10, 32 }
  return place(dim, { at = ("%s %% %d"):format(dim, by), c = ("(%s %% %d)"):format(dim, by),
    extent = tostring(by), extent_c = tostring(by), shared = true })
end

function make.fixed(r, dim)
  local at = r:int(0, 3)
  local extent = tostring(at + r:int(1, 3))
  return place(dim, { at = tostring(at), c = tostring(at), extent = extent, extent_c = extent,
    shared = true })
end

-- groups of `by`, each backwards
function make.groups(r, dim)
  local by = r:pick { 2, 4, 8 }
  return place(dim, {
    at = ("%s // %d * %d + %d - %s %% %d"):format(dim, by, by, by - 1, dim, by),
    c = ("(%s / %d * %d + %d - %s %% %d)"):format(dim, by, by, by - 1, dim, by),
    extent = ("(%s + %d) // %d * %d"):format(dim, by - 1, by, by),
    extent_c = ("((n_%s + %d) / %d * %d)"):format(dim, by - 1, by, by),
  })
end

function make.least(r, dim)
  local most = r:pick { 3, 7, 20 }
  return place(dim, { at = ("min(%s, %d)"):format(dim, most), extent = tostring(most + 1),
    c = ("(%s < %d ? %s : %d)"):format(dim, most, dim, most), extent_c = tostring(most + 1),
    shared = true })
end

--- A place along one of the kernel's dimensions. kind: "same", "shift", ...
function M.along(r, dim, kind)
  return make[kind](r, dim)
end

--- The sum of two dimensions (a Toeplitz matrix), in an array's dimension `dim`.
function M.sum(dim, other)
  return place(dim, { at = ("%s + %s"):format(dim, other), c = ("(%s + %s)"):format(dim, other),
    extent = ("%s + %s"):format(dim, other), extent_c = ("(n_%s + n_%s)"):format(dim, other),
    shared = true })
end

--- Two dimensions in one: `inner` counts in groups of `by`.
function M.fused(outer, inner, by)
  return place(outer, { at = ("%d * %s + %s %% %d"):format(by, outer, inner, by),
    c = ("(%d * %s + %s %% %d)"):format(by, outer, inner, by),
    extent = ("%d * %s"):format(by, outer), extent_c = ("%d * n_%s"):format(by, outer),
    shared = true })
end

--- What index array `index` holds, in a dimension of the array's own: by itself, as a * index + b,
--- or with a term over dimension `beside` (nil: none). `shared`: different values may meet;
--- `exact`: nothing lies behind.
function M.through(r, dim, index, beside, shared, exact)
  index.by, index.first, index.term = 1, 0, nil
  local held, pad = "at_" .. index.name, r:chance(10) and r:int(1, 5) or nil
  pad = not exact and pad or nil
  local at, c, term, most = index.name, held, nil, 0
  if beside and shared and r:chance(60) then
    local by = r:pick { 1, 1, 2, 3 }
    term, most = ("%d * %s"):format(by, beside), ("%d * (n_%s - 1)"):format(by, beside)
    index.term = { dim = beside, by = by }
  elseif beside then
    index.by = r:pick { 2, 4, 8, 16 }
    term, most = ("%s %% %d"):format(beside, index.by), index.by - 1
  elseif r:chance(30) then
    index.by = r:pick { 1, 2, 3, 4 }
    index.first = r:int(index.by == 1 and 1 or 0, math.max(index.by - 1, 1))
    term, most = tostring(index.first), index.first
  end
  if term then
    at = ("%d * %s + %s"):format(index.by, index.name, term)
    c = ("(%d * %s + (%s))"):format(index.by, held, term)
  end
  return place(dim, { at = at, c = c, pad = pad, index = index, limit = (
    "((n_%s + %d - (%s) + %d) / %d)"):format(dim, pad or 0, most, index.by - 1, index.by) })
end

--- Several dimensions in one, by numbers that are given at launch: the first ones have a pitch
--- each, the last one follows. `numbers`: names, and which dimension each is the pitch of (none:
--- where the array's elements begin).
function M.pitched(dims, numbers)
  local at, c, extent, extent_c = {}, {}, {}, {}
  for k, number in ipairs(numbers) do
    local dim = number.dim
    at[k] = dim and ("n_%s * %s"):format(number.name, dim) or "n_" .. number.name
    c[k] = at[k]
    extent[k] = dim and ("%s * %s"):format(number.name, dim) or number.name
    extent_c[k] = dim and ("n_%s * n_%s"):format(number.name, dim) or "n_" .. number.name
  end
  local last = dims[#dims]
  at[#at + 1], c[#c + 1] = last, last
  if not numbers[1].dim and #numbers == 1 then
    extent[2], extent_c[2] = last, "n_" .. last
  end
  return place(last, { at = table.concat(at, " + "), c = "(" .. table.concat(c, " + ") .. ")",
    extent = table.concat(extent, " + "), extent_c = "(" .. table.concat(extent_c, " + ") .. ")" })
end

--- The dimension in an own one of the array, which is as long or longer.
function M.own(dim, name)
  return { dim = name, at = dim, c = dim, extent_c = "n_" .. name }
end

--- What the body computes as `index.name`, below index.n, in a dimension of the array's own.
function M.computed(index)
  return place("bins", { at = index.name, c = "at_" .. index.name, extent = tostring(index.n),
    extent_c = tostring(index.n) })
end

--- Another constant place of an output: channel 1 of 3.
function M.channel(r)
  local n = r:int(2, 4)
  local at = r:int(0, n - 1)
  return { dim = "ch", at = tostring(at), c = tostring(at), extent = tostring(n),
    extent_c = tostring(n) }
end

--- The kinds that let every element have its own place.
M.distinct = { { "same", 60 }, { "shift", 14 }, { "stride", 12 }, { "padded", 8 },
  { "groups", 6 } }
M.any = { { "same", 40 }, { "shift", 14 }, { "stride", 10 }, { "padded", 5 }, { "groups", 5 },
  { "div", 9 }, { "mod", 7 }, { "fixed", 5 }, { "least", 5 } }

return M
