return {
  name = "evens",
  doc = "Even elements first, then odd ones.",
  offset = function(l, field, idx, ext)
    local i = l.linear(idx, ext)
    return (i % 2 * ((l.count(ext) + 1) // 2) + i // 2) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext) return (l.count(ext) + 1) // 2 * 2 * l.record.bytes end,
}
