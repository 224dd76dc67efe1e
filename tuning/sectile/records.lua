-- records: what makes maps over records simpler: a body that treats every component alike needs no
-- records, and contiguous records are one run of bytes.
local records = {}

--- The byte at which the records of `op` begin, where they lie as one dense array in the order of
--- the index space; else nil.
---@param k sectile.View
---@param op sectile.Operand
---@return integer?
function records.dense(k, op)
  local linear = k.index[1]
  for d = 2, #k.dims do
    linear = linear * k.extents[d] + k.index[d]
  end
  local known, first = strides.known(k.multiples), nil
  for f, field in ipairs(op.record.fields) do
    local apart = op.offset[f] - linear * op.record.bytes
    local place = kit.const_of(#known > 0 and E.subst(apart, known) or apart)
    first = first or place and place - field.offset
    if not place or place - field.offset ~= first then
      return nil
    end
  end
  return first
end

-- Does every operand hold nothing but its components, all of one size, contiguous?
local function components_only(k)
  local fields = k.operands[1].record.fields
  return not kit.any(k.operands, function(op)
    return op.record.bytes ~= #fields * fields[1].bytes or #op.record.fields ~= #fields
      or not records.dense(k, op)
  end)
end

--- The kernel over the components of its records, where that is equivalent: one dimension of
--- scalars, one bare array an operand. nil: it is not.
---@param k sectile.View
---@return sectile.View?
function records.flattened(k)
  local fields = #k.operands[1].record.fields
  if fields == 1 or not k.component_wise or not components_only(k) then
    return nil
  end
  local scalar = E.raw("scalar", 0, kit.MAX_INDEX)
  local count = fields * kit.product(k.extents)
  local view = setmetatable({
    dims = { "scalar" }, index = { scalar }, extents = { count }, operands = {},
    sizes = kit.map(k.given, function(given) return { E.eval(count, given) } end),
    body = k.component_body,
  }, { __index = k })
  for n, op in ipairs(k.operands) do
    local field = op.record.fields[1]
    local one = {
      name = "", type = field.type, cuda = field.cuda, kind = field.kind, lanes = field.lanes,
      bytes = field.bytes, offset = 0, prefix = 0, index = 1,
    }
    local bare = {
      bytes = field.bytes, align = field.bytes, data_bytes = field.bytes, packed = false,
      bare = true, fields = { one },
    }
    view.operands[n] = setmetatable({
      record = bare, offset = { scalar * field.bytes + records.dense(k, op) },
      at = { scalar }, extent = { count }, owns_gaps = false,
    }, { __index = op })
  end
  return view
end

return records
