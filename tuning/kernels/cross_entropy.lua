-- Cross entropy of rows of logits with a label each, and its mean over all rows.
--
-- Steps reduce different dimensions: the columns of a row, then the rows. The array of the result
-- has one element.
local s = require "sectile"

return s.kernel {
  name    = "cross_entropy",
  dims    = { "row", "col" },
  inputs  = {
    s.array("x", "f32"), s.array("label", "i32", s.row_major, { dims = { "row" } }),
  },
  outputs = { s.array("loss", "f32", s.row_major, { dims = {} }) },
  steps   = {
    { reduce = { l = "logsumexp", t = "sum" }, over = "col",
      body = "l = x; t = col == label ? x : 0.0f;" },
    { reduce = { mean = "mean" }, over = "row", body = "mean = l - t;" },
    { body = "loss = mean;" },
  },
  sizes   = { { row = 16384, col = 4096 }, { row = 4096, col = 50257 } },
}
