-- vector: threads own runs of neighbouring elements and move them in words of up to 16 bytes;
-- with width 1 several elements a thread, so that more loads are in flight.
local DOC = "Each thread moves %d x %d neighbouring elements%s."

return {
  name = "vector",
  doc = "Threads own groups of neighbouring elements, moved as words of up to 16 bytes where the "
    .. "layouts allow.",
  applies = {},
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4 }, key = "i", doc = "groups a thread, all loads in flight" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "neighbouring elements in a group" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
    { "min_blocks", { 0, 2 }, key = "b", doc = "blocks an SM that launch bounds ask for; 0: none",
      when = "items * vec >= 8" },
  },
  where = {
    kit.hints.keeps("threads == 128 and items == 1 and min_blocks == 0"),
    -- small elements: as many as fill several words of 16 bytes
    "items * vec <= 16 or items * vec * thread_bytes <= 128",
    "items * vec * thread_bytes <= 256",
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
    local p, reason = map.plan(k, "vector", {
      threads = c.threads, items = c.items, vec = c.vec, hint = c.hint, min_blocks = c.min_blocks,
      mover = function(g, op)
        return movers.vector(g, op, #k.dims, c.vec) or { kind = "direct" }
      end,
    })
    if not p then
      return nil, reason
    end
    if not p.any and c.vec > 1 then
      return nil, "no operand moves in wider words with this width"
    end
    p.p = p
    p.doc = string.format(DOC, c.items, c.vec,
      p.any and ", in words as wide as alignment allows" or "")
    return p
  end,
}
