-- reduce_rows: the last dimension is reduced, along which threads read neighbours: a warp or a
-- block takes one output element, several blocks where there are few.
local function keeps_some(k)
  return #reduce.dims(k) > 0
end

return {
  name = "reduce_rows",
  doc = "The last dimension is reduced: a warp, a block or several blocks an output element.",
  reduces = true,
  applies = {
    { "the outputs are reduced", function(k) return k.reduces end },
    { "the last dimension is reduced", function(k) return k.reduced[#k.dims] end },
    { "some dimension is kept", keeps_some },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "scope", { "block", "warp" }, key = "s", doc = "who takes an output element" },
    { "lanes", { 32, 8, 2 }, key = "l", when = "scope == 'warp'",
      doc = "of a warp, that take one: few where rows are short" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "neighbouring elements in a word" },
    { "items", { 1, 2, 4, 8, 16 }, key = "i", doc = "words a thread, all loads in flight" },
    { "shares", { 1, 8, 64 }, key = "b", when = "scope == 'block'",
      doc = "blocks that share an output element" },
    { "hint", { "none", "cs", "keepin" }, key = "h", doc = kit.hints.DOC },
  },
  where = function(k)
    local list = reduce.where(k)
    list[#list] = "lanes < 32 or " .. list[#list]
    list[#list + 1] = "shares == 1 or hint == 'none'"
    list[#list + 1] = kit.hints.keeps("threads == 512 and scope == 'block'")
    list[#list + 1] = "lanes == 32 or (threads == 256 and vec * items * all_inputs <= 64)"
    return list
  end,
  facts = reduce.facts,
  template = "reduce_rows.cu",
  plan = function(k, c)
    local p, reason = reduce.plan_rows(k, "reduce_rows", c, function()
      return c.shares
    end)
    if not p then
      return nil, reason
    end
    local who = c.shares > 1 and c.shares .. " blocks" or "A block"
    if c.scope == "warp" then
      who = c.lanes < 32 and c.lanes .. " lanes" or "A warp"
    end
    p.doc = string.format("%s an output element; %d x %d elements of %s a thread are in flight.",
      who, c.items, c.vec, p.last)
    return p
  end,
}
