-- reduce_all: everything becomes one element. A grid that fills the GPU walks the array together,
-- and the block that comes last adds up what all of them found.
return {
  name = "reduce_all",
  doc = "All dimensions are reduced: blocks that fill the GPU, the last of them adds up.",
  reduces = true,
  applies = {
    { "the outputs are reduced", function(k) return k.reduces end },
    { "no dimension is kept", function(k) return #reduce.dims(k) == 0 end },
  },
  axes = {
    { "threads", { 256, 512, 1024 }, key = "t", doc = "threads a block" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "neighbouring elements in a word" },
    { "items", { 1, 2, 4, 8, 16 }, key = "i", doc = "words a thread, all loads in flight" },
    { "per_sm", { 1, 2, 4, 8 }, key = "g", doc = "blocks an SM, at most" },
    { "hint", { "none", "cs", "keepin" }, key = "h", doc = kit.hints.DOC },
  },
  where = function(k)
    local list = reduce.where(k)
    list[#list + 1] = "threads * per_sm <= 2048"
    list[#list + 1] = kit.hints.keeps("threads == 512 and per_sm >= 2")
    return list
  end,
  facts = reduce.facts,
  template = "reduce_rows.cu",
  plan = function(k, c)
    local most = c.per_sm * k.device.sms
    local p, reason = reduce.plan_rows(k, "reduce_all", {
      threads = c.threads, vec = c.vec, items = c.items, hint = c.hint, most = most,
    }, function(p)
      -- a block that has less than four tiles is not worth its part in the end
      local tiles = kit.ceil_div(k.extents[p.dim], 4 * c.threads * c.items * c.vec)
      return tiles:min(most):max(1)
    end)
    if not p then
      return nil, reason
    end
    p.doc = string.format("At most %d blocks an SM; %d x %d elements a thread are in flight.",
      c.per_sm, c.items, c.vec)
    return p
  end,
}
