-- Array of structures: whole records one after the other, the last index fastest.
return {
  name = "aos",
  doc = "Whole records one after the other, the last index fastest.",
  owns_gaps = true, -- a record's padding is the record's
  offset = function(l, field, idx, ext)
    return l.linear(idx, ext) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext)
    return l.count(ext) * l.record.bytes
  end,
}
