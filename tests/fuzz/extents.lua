--- Extents of a random spec: those that it runs at, and those that are tuned.
local types = require "types"

local M = {}

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
        or may_be_many and not spec.ordered and spec.outputs[1].accumulate and r:chance(25)
          and r:int(60000, 150000)
        or term + (narrow and r:pick { 8, 11, 64 } or r:pick { 8, 11, 64, 500, 1000 })
    end
  end
  -- a pitch is at least what the dimensions after its own reach: those of the last one come first
  local reach = {}
  for k = #(spec.numbers or {}), 1, -1 do
    local one, at = spec.numbers[k], position(spec, spec.numbers[k].name)
    local least = one.dim and math.max(1, reach[#one.before] or n[#spec.dims]) or 0
    n[at] = one.dim and least + r:pick { 0, 0, 1, 4, 16 } or r:pick { 0, 1, 4, 16, 33 }
    if one.dim then
      reach[#one.before + 1] = n[at] * math.max(1, n[position(spec, one.dim)])
    else
      reach = {}
    end
  end
  for _, one in ipairs(spec.longer or {}) do
    n[position(spec, one.name)] = n[#spec.dims] + r:pick { 0, 0, 1, 4, 16 }
  end
  return n
end

--- Sets spec.runs, spec.sizes and spec.most, what layouts allow of a dimension.
function M.make_runs(r, spec)
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
    for d, dim in ipairs(spec.long and spec.dims or {}) do
      n[d] = dim ~= spec.over[1] and r:int(1, d == 1 and 5 or 40)
        or r:pick { 33000, 36864, 65536, 70000, 100001, 131072, 262144 }
      n[d] = math.min(n[d], spec.most[dim] or n[d])
    end
    spec.sizes[k] = finish_run(r, spec, n, true)
  end
end

--- A dimension of few elements at all sizes and most runs, which a kernel may require. Another one
--- grows.
function M.make_thin(r, spec)
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

--- An index array of few bits holds few values.
function M.widen_index(spec, index)
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

return M
