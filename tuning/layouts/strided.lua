-- An element stride for every dimension, slowest first: s.strided { 8192, 1 }, or as expressions
-- over the extents: s.strided { "n + 3", 1 } for dims { "m", "n" }. Strides that let two elements
-- of what is written meet are refused, and so are sizes at which they do.
return {
  name = "strided",
  doc = "An element stride for every dimension.",
  params = { { "strides", list = true, text = true, open = true } },
  offset = function(l, field, idx, ext)
    if #l.strides ~= #ext then
      error(("strided: %d strides for %d dimensions"):format(#l.strides, #ext))
    end
    local at = 0
    for k = 1, #ext do
      at = at + idx[k] * l.strides[k]
    end
    return at * l.record.bytes + field.offset
  end,
  bytes = function(l, ext)
    local last = 0
    for k = 1, #ext do
      last = last + l.max(ext[k] - 1, 0) * l.strides[k]
    end
    return l.min(l.count(ext), 1) * (last + 1) * l.record.bytes
  end,
}
