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
    local g = cuda.new(k, "poison", 256)
    return g:plan {
      kind = c.kind, good = c.kind:match("^good(%d+)$") or false,
      from = g.inputs[1].pointer, to = g.outputs[1].pointer, count = g:text(k.extents[1]),
      copy = g:call { [g.inputs[1].name] = g.inputs[1].pointer .. "[i]",
                      [g.outputs[1].name] = g.outputs[1].pointer .. "[i]" },
      grid = kit.ceil_div(k.extents[1], 256), doc = "One thread an element: " .. c.kind .. ".",
      shared_bytes = c.kind == "shared" and 400000 or nil, -- more than any GPU has
    }
  end,
}
