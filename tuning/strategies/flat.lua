-- flat: a map that treats every component alike needs no records: it is a map over n x components
-- scalars.

-- The kernel as seen by the generator: one dimension of scalars, one bare array an operand.
local function flattened(k)
  local fields = #k.operands[1].record.fields
  local scalar = E.raw("scalar", 0, kit.MAX_INDEX)
  local count = fields
  for d = 1, #k.dims do
    count = count * k.extents[d]
  end
  local view = setmetatable({
    dims = { "scalar" }, index = { scalar }, extents = { count }, operands = {},
  }, { __index = k })
  view.body = k.component_body
  view.prologue = string.format("const long long n_scalar = %s;", E.text(count + 0, true))
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
      record = bare, offset = { scalar * field.bytes }, at = { scalar }, extent = { count },
      owns_gaps = false,
      run = function()
        return { contiguous = true, align = field.bytes, align_if = 256 }
      end,
    }, { __index = op })
  end
  return view, count
end

-- Every operand is the dense array of its records in the order of the index space.
local function dense(k)
  local fields = k.operands[1].record.fields
  local linear = k.index[1]
  for d = 2, #k.dims do
    linear = linear * k.extents[d] + k.index[d]
  end
  for _, op in ipairs(k.operands) do
    for f, field in ipairs(op.record.fields) do
      local place = kit.const_of(op.offset[f] - linear * op.record.bytes)
      local whole = op.record.bytes == #fields * field.bytes and #op.record.fields == #fields
      if place ~= field.offset or not whole then
        return false
      end
    end
  end
  return true
end

return {
  name = "flat",
  doc = "A component-wise map over records as a map over all their scalars, moved in words of up "
    .. "to 16 bytes.",
  applies = {
    { "the records have several fields", function(k) return #k.operands[1].record.fields > 1 end },
    { "the body treats every component alike", function(k) return k.component_wise end },
    { "every operand is a dense array of records", dense },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4, 8 }, key = "i", doc = "words a thread, all loads in flight" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "scalars in a word" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
  },
  where = {
    "vec * scalar_bytes <= 16", "items * vec * scalar_bytes <= 128",
    kit.hints.keeps("threads == 128 and items == 1"),
  },
  facts = function(k)
    return { { "scalar_bytes", k.operands[1].record.fields[1].bytes } }
  end,
  template = "map.cu",
  plan = function(k, c)
    if not dense(k) then
      return nil, "an operand is no dense array of records"
    end
    local view = flattened(k)
    local p, reason = map.plan(view, "flat", {
      threads = c.threads, items = c.items, vec = c.vec, hint = c.hint,
      mover = function(g, op)
        return movers.vector(g, op, 1, c.vec) or { kind = "direct" }
      end,
    })
    if not p then
      return nil, reason
    end
    p.p = p
    p.doc = string.format("Components are treated alike, so records vanish: a map over all "
      .. "scalars, %d x %d a thread.", c.items, c.vec)
    return p
  end,
}
