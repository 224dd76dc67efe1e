-- direct, one candidate for one dimension: sessions that run by the thousand are small.
return {
  name = "direct",
  doc = "One thread an element, every access where its layout puts it.",
  applies = {},
  axes = { { "threads", { 32 }, key = "t", doc = "threads a block" } },
  where = {},
  template = "direct.cu",
  plan = function(k, c)
    local g = cuda.new(k, "direct", c.threads)
    local from, to = g.inputs[1], g.outputs[1]
    local at = { k.index[1], cuda.var("thread") }
    return g:plan {
      dims = "", definitions = "", count = g:text(k.extents[1]),
      grid = kit.ceil_div(k.extents[1], c.threads),
      counted = "", find_row = "", unravel = function() return g:type(to) .. " value;" end,
      takes = false, declare_values = function() return "" end,
      call = function()
        return g:call { [from.name] = g:place(from, 1, at), [to.name] = "value" }
      end,
      stores = function() return g:place(to, 1, at) .. " = value;" end,
      doc = "One thread an element.",
    }
  end,
}
