-- map, two candidates: sessions that run by the thousand are small.
return {
  name = "map",
  doc = "One thread an element, every access where its layout puts it.",
  applies = {},
  axes = {
    { "threads", { 64, 96 }, key = "t", doc = "threads a block" },
    { "hint", { "none" }, key = "h",
      doc = "cache hint: cs marks loads and stores as streaming" },
  },
  where = {},
  template = "direct.cu",
  plan = function(k, c)
    local g = kit.new(k, "map", c.threads)
    g.hint = c.hint
    local last = #k.dims
    local cut = g:cut(c.threads, { name = "block", var = g.block })
    g:tie(k.index[last], g.first + g.thread)
    local plan = {
      g = g, kernel = g.kernel, threads = g.threads, cut = cut,
      last = k.dims[last], inside = k.index[last]:lt(k.extents[last]),
      doc = string.format("One thread an element of %s; every access where its layout puts it.",
        kit.concat(k.dims, ", ")),
    }
    kit.hand_over(g, plan)
    return plan
  end,
}
