-- direct: the naive variant, and what everything else is compared with.
return {
  name = "direct",
  doc = "One thread an element, every access where its layout puts it.",
  applies = {},
  axes = {
    { "threads", { 256, 128, 512, 1024 }, key = "t", doc = "threads a block" },
    { "hint", { "none", "cs" }, key = "h", doc = "cache hint: cs marks loads and stores as streaming" },
  },
  where = {},
  template = "direct.cu",
  plan = function(k, c)
    local g = kit.new(k, "direct", c.threads)
    g.hint = c.hint
    local last = #k.dims
    local doc = "One thread an element of " .. kit.concat(k.dims, ", ") .. "; every access where its layout puts it."
    local cut = g:cut(c.threads, { name = "block", var = g.block })
    g:tie(k.index[last], g.first + g.thread)
    return {
      g = g, doc = doc, kernel = g.kernel, threads = g.threads, grid = g.grid, cut = cut,
      last = k.dims[last], inside = k.index[last]:lt(k.extents[last]),
      requires = g.requires, align = g.align, arguments = g.arguments, accesses = g.accesses,
    }
  end,
}
