-- reduce_cols: the last dimension is kept, along which threads read neighbours: each owns a few of
-- them, and the warps of a block take different rows of what is reduced. Several blocks share the
-- rows where there are too few columns to fill the GPU.
return {
  name = "reduce_cols",
  doc = "The last dimension is kept: threads own neighbours along it, warps take different rows.",
  reduces = true,
  applies = {
    { "the outputs are reduced", function(k) return k.reduces end },
    { "the last dimension is kept", function(k) return not k.reduced[#k.dims] end },
  },
  axes = {
    { "threads", { 128, 256, 512, 1024 }, key = "t", doc = "threads a block" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "neighbouring elements in a word" },
    { "items", { 1, 2, 4, 8, 16 }, key = "i", doc = "rows a warp takes at once" },
    { "shares", { 1, 2, 4, 8, 16 }, key = "b",
      doc = "blocks that share the rows of their columns" },
    { "hint", { "none", "cs", "keepin" }, key = "h", doc = kit.hints.DOC },
  },
  where = function(k)
    local list = reduce.where(k)
    list[#list + 1] = "shares * threads <= 4096"
    list[#list + 1] = kit.hints.keeps("threads == 512")
    return list
  end,
  facts = reduce.facts,
  template = "reduce_cols.cu",
  plan = function(k, c)
    local p, reason = columns.plan(k, "reduce_cols", c)
    if not p then
      return nil, reason
    end
    p.doc = string.format("%s %d neighbours along %s; %d x %d elements a thread are in flight.",
      c.shares > 1 and c.shares .. " blocks take" or "A block takes", p.n_columns, p.last, c.items,
      c.vec)
    return p
  end,
}
