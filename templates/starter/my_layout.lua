-- A layout: at which byte does a field of an element lie? Sectile derives everything else from it:
-- the CUDA text, what is contiguous, how sectors are counted, the reference results.
--
-- `offset` runs once with symbolic indices, so it may use + - * // % and the functions of `l`, but
-- must not compare or branch on them.
return {
  name   = "blocked",
  doc    = "Blocks of `lanes` records; inside a block every field is contiguous.",
  params = { { "lanes", { 16, 32, 64 }, default = 32 } },

  -- l.linear(idx, ext): the element's number, row-major. field.offset: where the field stands in
  -- the record; field.bytes: its size; l.record.bytes: the record's.
  offset = function(l, field, idx, ext)
    local i = l.linear(idx, ext)
    local block, lane = i // l.lanes, i % l.lanes
    return block * (l.lanes * l.record.bytes) + l.lanes * field.offset + lane * field.bytes
  end,

  -- How large the array is; elements that fill up the last block count.
  bytes = function(l, ext)
    return l.round_up(l.count(ext), l.lanes) * l.record.bytes
  end,
}
