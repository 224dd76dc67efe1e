-- exchange has no candidates here: sessions that run by the thousand are small.
return {
  name = "exchange",
  doc = "No candidates.",
  applies = {},
  axes = { { "threads", { 32 }, key = "t", doc = "threads a block" } },
  where = { "threads > 32" },
  template = "exchange.cu",
  plan = function()
    return nil, "no candidates"
  end,
}
