-- shuffle: threads own records, or groups of neighbouring ones, as in `vector`; but a warp moves
-- their words in order, and lanes get those of their own from each other by shuffles. No shared
-- memory, no barrier.
local DOC = "Each thread owns %d x %d neighbouring elements; a warp moves their words in order and "
  .. "its lanes exchange them by shuffles."

local function mover(g, op, p, c)
  local dim = #p.k.dims
  local how = movers.vector(g, op, dim, c.vec, true)
  if not how then
    return { kind = "direct" }
  end
  p.exchanged = (p.exchanged or 0) + exchange.mark(g, how, dim, c.vec)
  return how
end

return {
  name = "shuffle",
  doc = "Threads own records; warps move their words in order and exchange them by shuffles.",
  applies = {
    { "no operand is addressed through an index", function(k)
      for _, op in ipairs(k.operands) do
        if op.through_index then
          return false
        end
      end
      return true
    end },
    { "there are records", function(k)
      for _, op in ipairs(k.operands) do
        if not op.record.bare then
          return true
        end
      end
      return false
    end },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4 }, key = "i", doc = "groups a thread, all loads in flight" },
    { "vec", { 1, 2, 4 }, key = "v", doc = "neighbouring elements in a group" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
  },
  where = {
    kit.hints.keeps("threads == 128 and items == 1"),
    "items * vec * thread_bytes <= 384", -- more do not stay in registers
  },
  facts = function(k)
    local bytes = 0
    for _, op in ipairs(k.operands) do
      bytes = bytes + op.record.bytes
    end
    return { { "thread_bytes", bytes } }
  end,
  template = "map.cu",
  plan = function(k, c)
    local p, reason = map.plan(k, "shuffle", {
      threads = c.threads, items = c.items, vec = c.vec, hint = c.hint,
      mover = function(g, op, p) return mover(g, op, p, c) end,
    })
    if not p then
      return nil, reason
    end
    if p.exchanged == nil or p.exchanged == 0 then
      return nil, "no operand has several words a thread that follow each other"
    end
    local g = p.g
    g.lane = g:define("lane", 0, 31, g.thread % 32)
    p.declare = "const int lane = thread % 32;"
    p.p = p
    p.doc = string.format(DOC, c.items, c.vec)
    return p
  end,
}
