-- reduce_cols_off: the last dimension is kept, and rows start anywhere. The warps of a block take
-- rows so that all rows of one start alike, and read them by the aligned words that hold the
-- block's columns (columns.lua).
return {
  name = "reduce_cols_off",
  doc = "The last dimension is kept, rows start anywhere: a warp's rows all start alike, by "
    .. "aligned words.",
  reduces = true,
  applies = {
    { "the outputs are reduced", function(k) return k.reduces end },
    { "the last dimension is kept", function(k) return not k.reduced[#k.dims] end },
    { "one dimension is reduced, or all that are lie like one",
      function(k)
        local _, reduced = reduce.dims(k)
        return #reduced == 1
      end },
    { "rows of small elements may start off a word of 16 bytes, those of all inputs alike",
      function(k) return around.rows_alike(k) ~= nil end },
  },
  axes = {
    { "threads", { 128, 256, 512, 1024 }, key = "t", doc = "threads a block" },
    { "items", { 2, 4, 8 }, key = "i", doc = "rows a warp takes at once" },
    { "shares", { 1, 4, 16 }, key = "b", doc = "blocks that share the rows of their columns" },
  },
  where = {
    "threads >= 32 * vec", -- so that the rows of a warp start alike
    "items * n_inputs <= 8", "shares * threads <= 4096",
    "items != 4 or shares == 1", -- between 2 and 8 nothing is won, and ptxas spills
  },
  facts = function(k)
    local n, bytes = 0, 16
    for _, op in ipairs(k.operands) do
      n = n + (op.is_output and 0 or 1)
      bytes = op.is_output and bytes or math.min(bytes, op.record.bytes)
    end
    return { { "n_inputs", n }, { "vec", 16 // bytes } }
  end,
  template = "reduce_cols.cu",
  plan = function(k, c)
    local op, off = around.rows_alike(k)
    if not op then
      return nil, off
    end
    local p, reason = columns.plan(k, "reduce_cols_off", {
      threads = c.threads, items = c.items, shares = c.shares, vec = 16 // op.record.bytes,
    }, true)
    if not p then
      return nil, reason
    end
    local step = around.step(k, op, p.reduced[1])
    p.g:require(off) -- else reduce_cols has the same words
    -- a word that begins in a row ends in the array, but for the last row
    p.g:require((p.n_last * op.record.bytes):le(step):land((p.n_last + 0):le(p.vec - 1):lnot()))
    p.doc = string.format("%s %d neighbours along %s in words of 16 bytes, %d rows at once; all "
      .. "rows of a warp start alike.", c.shares > 1 and c.shares .. " blocks take" or
      "A block takes", p.n_columns, p.last, c.items)
    return p
  end,
}
