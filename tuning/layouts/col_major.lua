-- What Fortran and BLAS do: the first index runs fastest.
return {
  name = "col_major",
  doc = "The first index runs fastest, as in Fortran.",
  offset = function(l, field, idx, ext)
    return l.linear_col(idx, ext) * l.record.bytes + field.offset
  end,
  bytes = function(l, ext)
    return l.count(ext) * l.record.bytes
  end,
}
