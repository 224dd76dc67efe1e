-- poison: the naive copy, and candidates that misbehave, each behind a good one.
--
-- The good ones differ by a constant that no run meets, so they are kernels of their own with the
-- same machine code otherwise, and any of them must take the same time.
return {
  name = "poison",
  doc = "A copy that is right, or wrong in one way.",
  applies = {},
  axes = {
    {
      "kind",
      {
        "good0", "compile", "good1", "shared", "good2", "illegal", "good3", "misaligned", "good4",
        "trap", "good5", "assert", "good6", "value", "good7", "odd", "good8", "race", "good9",
        "loop", "good10",
      },
      key = "k", doc = "what it does wrong",
    },
  },
  where = {},
  template = "poison.cu",
  plan = function(k, c)
    local threads = 256
    local g = kit.new(k, "poison", threads)
    g.hint = "none"
    local last = #k.dims
    local cut = g:cut(threads, { name = "block", var = g.block })
    g:tie(k.index[last], g.first + g.thread)
    local plan = {
      g = g, kernel = g.kernel, threads = threads, cut = cut, last = k.dims[last],
      inside = k.index[last]:lt(k.extents[last]), doc = "One thread an element: " .. c.kind .. ".",
      kind = c.kind, good = c.kind:match("^good(%d+)$") or false,
    }
    kit.hand_over(g, plan)
    if c.kind == "shared" then
      plan.shared_bytes = 400000 -- more than any GPU has
    end
    return plan
  end,
}
