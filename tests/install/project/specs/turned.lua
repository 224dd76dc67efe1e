return {
  name = "turned",
  offset = function(l, field, idx, ext)
    return (ext[1] - 1 - idx[1]) * l.record.bytes + 0 + field.offset
  end,
  bytes = function(l, ext) return l.count(ext) * l.record.bytes + 0 end,
}
