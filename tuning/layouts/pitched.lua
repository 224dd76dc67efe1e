-- Rows at a pitch: what cudaMallocPitch gives. The pitch is the row's bytes rounded up to `align`,
-- or stated in bytes or elements: s.pitched { pitch = "4 * col + 64" } or { elements = "col + 16" }
-- for dims { "row", "col" }. An `elements` that is a new name is known at launch (sectile.lua).
local function pitch_of(l, ext)
  local row = ext[#ext] * l.record.bytes
  local stated = l.elements ~= 0 and l.elements * l.record.bytes or l.pitch
  return stated ~= 0 and stated or l.round_up(row, l.align)
end

return {
  name = "pitched",
  doc = "Row-major with rows that start at multiples of `align` bytes.",
  params = {
    { "align", { 16, 32, 64, 128, 256, 512 }, default = 256, open = true },
    { "pitch", default = 0, text = true, open = true, doc = "bytes from row to row; 0: as align" },
    { "elements", default = 0, text = true, open = true,
      doc = "elements from row to row; 0: as pitch" },
  },
  offset = function(l, field, idx, ext)
    local row = 0
    for k = 1, #ext - 1 do
      row = row * ext[k] + idx[k]
    end
    return row * pitch_of(l, ext) + idx[#ext] * l.record.bytes + field.offset
  end,
  bytes = function(l, ext)
    local rows = 1
    for k = 1, #ext - 1 do
      rows = rows * ext[k]
    end
    return rows * pitch_of(l, ext)
  end,
}
