-- thin: a mode of few elements that some operands run along and others do not, like fields of a
-- record: pixels of three bytes in one array, three planes in another. A thread may unroll it, so
-- that each operand moves in runs of its own.
local thin = {}

local LONGEST = 32

--- The extent of mode d and the extents in it of which it is made, as a list for E.subst, where all
--- tuned sizes agree on these.
---@param k sectile.View
---@param d integer
---@return integer? extent
---@return table put
function thin.agreed_extent(k, d)
  local n, put = kit.const_of(k.extents[d]) or k.sizes[1] and k.sizes[1][d], {}
  for _, var in ipairs(E.vars(k.extents[d] + 0)) do
    local value = E.eval(var, k.given[1])
    if kit.any(k.given, function(given) return E.eval(var, given) ~= value end) then
      return nil, {}
    end
    kit.append(put, var, value)
  end
  return n, put
end

--- The kernel with constants in place of the extents of the list `put`, which it requires.
---@param k sectile.View
---@param put table
---@return sectile.View
function thin.fixed(k, put)
  local function fixed(list)
    return kit.map(list, function(e) return E.subst(e + 0, put) end)
  end
  local v = setmetatable({
    extents = fixed(k.extents), requires = { table.unpack(k.requires) },
  }, { __index = k })
  for n = 1, #put, 2 do
    v.requires[#v.requires + 1] = put[n]:eq(put[n + 1])
  end
  v.operands = kit.map(k.operands, function(op)
    return setmetatable({
      offset = fixed(op.offset), at = fixed(op.at), extent = fixed(op.extent),
      bytes = E.subst(op.bytes + 0, put),
    }, { __index = op })
  end)
  return v
end

-- Does an operand run along mode d?
local function is_run(k, d)
  return kit.any(k.operands, function(op)
    local step = strides.fixed(k, op, 1, d)
    return step and (step == op.record.bytes or step == op.record.fields[1].bytes)
  end)
end

-- Mode d as the last one, of constant extent: the list of all extents that this fixes is `put`.
local function view(k, d, put)
  local function reordered(list)
    local moved = { table.unpack(list) }
    table.insert(moved, table.remove(moved, d))
    return moved
  end
  local fixed = thin.fixed(k, put)
  return setmetatable({
    dims = reordered(k.dims), index = reordered(k.index), from = reordered(k.from),
    extents = reordered(fixed.extents), reduced = reordered(k.reduced),
    sizes = kit.map(k.sizes, reordered), unrolled = k.dims[d],
  }, { __index = fixed })
end

--- The kernel with its thin mode as the last, its extent a constant that the kernel requires, and
--- that extent; nil if it has none, or one that is last and of such an extent already.
---@param k sectile.View
---@return sectile.View?
---@return integer? extent
function thin.view(k)
  for d = #k.dims, 1, -1 do
    local n, put = thin.agreed_extent(k, d)
    if n and #k.dims > 1 and n > 1 and n <= LONGEST
      and not (d == #k.dims and #put == 0 and n & (n - 1) == 0) then
      local v = view(k, d, put)
      if is_run(v, #k.dims) and is_run(v, #k.dims - 1) then
        return v, n
      end
    end
  end
  return nil
end

return thin
