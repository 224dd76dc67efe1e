-- Array of structures of arrays: a block of `lanes` records, transposed. One block is what a warp
-- (or a fraction or multiple of it) reads with one instruction a field. The records' own padding
-- stays, so that every field is aligned whatever the order of their sizes.
return {
  name = "aosoa",
  doc = "Blocks of `lanes` records; inside a block every field is contiguous.",
  params = { { "lanes", { 4, 8, 16, 32, 64, 128, 256 }, default = 32, open = true } },
  offset = function(l, field, idx, ext)
    local i = l.linear(idx, ext)
    return i // l.lanes * (l.lanes * l.record.bytes) + l.lanes * field.offset
      + i % l.lanes * field.bytes
  end,
  bytes = function(l, ext)
    return l.round_up(l.count(ext), l.lanes) * l.record.bytes
  end,
}
