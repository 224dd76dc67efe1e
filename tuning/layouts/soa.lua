-- Structure of arrays: one section a field. A section starts where its type may start, so that
-- fields of different sizes leave a few bytes between sections at odd counts.
local function section(l, field, n)
  local start = 0
  for k, f in ipairs(l.record.fields) do
    start = l.round_up(start, f.align)
    if k == field.index then
      return start
    end
    start = start + f.bytes * n
  end
end

return {
  name = "soa",
  doc = "One contiguous section a field, the last index fastest.",
  offset = function(l, field, idx, ext)
    return section(l, field, l.count(ext)) + l.linear(idx, ext) * field.bytes
  end,
  bytes = function(l, ext)
    local last = l.record.fields[#l.record.fields]
    return section(l, last, l.count(ext)) + last.bytes * l.count(ext)
  end,
}
