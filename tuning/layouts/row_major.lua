-- What C does with a[rows][cols]: the last index runs fastest.
return {
  name = "row_major",
  doc = "The last index runs fastest, as in C.",
  offset = function(l, field, idx, ext)
    return l.linear(idx, ext) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext)
    return l.count(ext) * l.record.bytes
  end,
}
