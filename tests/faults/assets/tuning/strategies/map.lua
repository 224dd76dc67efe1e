-- map, two candidates: sessions that run by the thousand are small.
return {
  name = "map",
  doc = "Each thread moves neighbouring elements.",
  applies = {},
  axes = {
    { "threads", { 32 }, key = "threads=", doc = "threads a block" },
    { "items", { 2, 4 }, key = "items=", doc = "elements of a thread" },
  },
  where = {},
  template = "items.cu",
  plan = function(k, c)
    local g = cuda.new(k, "map", c.threads)
    local last, values = #k.dims, {}
    if last > 1 then
      return nil, "there is one dimension"
    end
    for _, op in ipairs(k.operands) do
      values[op.name] = g:place(op, 1)
    end
    return g:plan {
      items = c.items, dim = k.dims[1], count = g:text(k.extents[1]), call = g:call(values),
      grid = kit.ceil_div(k.extents[1], c.threads * c.items), doc = "Some elements a thread.",
    }
  end,
}
