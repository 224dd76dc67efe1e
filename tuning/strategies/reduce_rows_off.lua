-- reduce_rows_off: the last dimension is reduced, and rows start anywhere. A team takes what lies
-- before the first aligned word of its row one by one, and the rest in words of 16 bytes: it does
-- not matter which lane has which element, so nothing is shifted.
return {
  name = "reduce_rows_off",
  doc = "The last dimension is reduced, rows start anywhere: words from the first aligned one on.",
  reduces = true,
  applies = {
    { "the outputs are reduced", function(k) return k.reduces end },
    { "the last dimension is reduced", function(k) return k.reduced[#k.dims] end },
    { "some dimension is kept", function(k) return #reduce.dims(k) > 0 end },
    { "rows of small elements may start off a word of 16 bytes, those of all inputs alike",
      function(k) return around.rows_alike(k) ~= nil end },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "scope", { "block", "warp" }, key = "s", doc = "who takes an output element" },
    { "items", { 1, 2, 4 }, key = "i", doc = "words a thread, all loads in flight" },
    { "shares", { 1, 8 }, key = "b", when = "scope == 'block'",
      doc = "blocks that share an output element" },
  },
  where = {
    -- in flight: as with reduce_rows, where 32 to 128 bytes a thread reach the ceiling
    "items * n_inputs >= 2", "items * n_inputs <= 8",
  },
  facts = function(k)
    local n = 0
    for _, op in ipairs(k.operands) do
      n = n + (op.is_output and 0 or 1)
    end
    return { { "n_inputs", n } }
  end,
  template = "reduce_rows.cu",
  plan = function(k, c)
    local op, off = around.rows_alike(k)
    if not op then
      return nil, off
    end
    local p, reason = reduce.plan_rows(k, "reduce_rows_off", {
      threads = c.threads, scope = c.scope, items = c.items, vec = 16 // op.record.bytes,
      peels = true,
    }, function()
      return c.shares
    end)
    if not p then
      return nil, reason
    end
    p.g:require(off) -- else reduce_rows has the same words
    local who = c.shares > 1 and c.shares .. " blocks" or "A block"
    p.doc = string.format("%s an output element; %d words of 16 bytes of %s a thread are in "
      .. "flight, from the first aligned one of the row on.", c.scope == "warp" and "A warp" or who,
      c.items, p.last)
    return p
  end,
}
