-- gather: rows or records that are found through an index array, or go to where one says. Lanes
-- share a row, so that its sectors are asked for whole; several rows a team are on their way.
local function view_of(k)
  if #k.dims == 2 then
    return k
  end
  return rows.of_records(k)
end

local function through_index(k)
  for _, op in ipairs(k.operands) do
    if op.through_index then
      return true
    end
  end
  return false
end

-- Index arrays have one value a row.
local function rows_by_index(k)
  local view = view_of(k)
  local found = false
  for _, op in ipairs(view and view.operands or {}) do
    if op.is_index and E.mentions(op.offset[1], view.index[2]) then
      return false
    end
    if not op.record.bare then
      return false
    end
    found = found or op.through_index
  end
  return found
end

-- Bytes of the smallest and of the largest element of what lies along rows.
local function sizes(view)
  local least, most = 16, 1
  for _, op in ipairs(view.operands) do
    if E.mentions(op.offset[1], view.index[2]) then
      least, most = math.min(least, op.record.bytes), math.max(most, op.record.bytes)
    end
  end
  return least, most
end

local DOC = "%s share a row and move %d bytes each; a team of them has %d %s on their way."

return {
  name = "gather",
  doc = "Rows or records through an index array: lanes share a row, several rows on their way.",
  applies = {
    { "an operand is addressed through an index array", through_index },
    { "the index array has one value a row, or one for each of records of one size",
      rows_by_index },
  },
  axes = {
    { "threads", { 256, 128, 512 }, key = "t", doc = "threads a block" },
    { "lanes", { 1, 2, 3, 4, 6, 8, 16, 32 }, key = "l", doc = "lanes that share a row" },
    { "items", { 1, 2, 4, 8 }, key = "i", doc = "rows a team has on their way" },
    { "steps", { 1, 2, 4 }, key = "s", doc = "pieces of each row that a lane has on their way" },
    { "piece", { 16, 8, 4, 2, 1 }, key = "p", doc = "bytes of a piece" },
    { "index", { "one", "run" }, key = "x", when = "items >= 4",
      doc = "a team's rows: spread over the tile, or neighbours, whose indexes come as one word" },
    { "hint", { "none", "cs", "stream" }, key = "h",
      doc = "cache hint: cs streams everything, stream all but what an index points to" },
  },
  facts = function(k)
    local view, units = view_of(k)
    local least, most = sizes(view)
    return {
      { "least", least }, { "most", most }, { "row_bytes", units and units * least or 0 },
    }
  end,
  where = {
    "piece >= least", "piece // least * most <= 32", "items * steps <= 8",
    "threads <= 256 or items * steps <= 4",
    -- rows of a known length: every lane has work; a row of odd length leaves some without
    "row_bytes == 0 or lanes * piece * steps == row_bytes "
      .. "or (steps == 1 and lanes * piece > row_bytes and lanes * piece < 2 * row_bytes)",
    "(lanes != 3 and lanes != 6) or (lanes * piece * steps == row_bytes and threads == 256)",
    "lanes * piece >= 32 or row_bytes < 32 or lanes == 1", -- less than a sector a request
    -- rows of any length
    "row_bytes > 0 or lanes >= 8", "row_bytes > 0 or piece == 16 or (lanes == 32 and items <= 4)",
    "row_bytes > 0 or hint == 'none' or threads == 256",
  },
  template = "rows.cu",
  plan = function(k, c)
    local view, units = view_of(k)
    local p, reason = rows.plan(view, "gather", {
      threads = c.lanes % 3 == 0 and 192 or c.threads, lanes = c.lanes, items = c.items,
      steps = c.steps, vec = c.piece // sizes(view), run = c.index == "run", hint = c.hint,
      units = units,
    })
    if not p then
      return nil, reason
    end
    p.p = p
    p.doc = string.format(DOC, c.lanes == 1 and "No lanes" or c.lanes .. " lanes",
      c.piece * c.steps, c.items, c.items == 1 and "row" or "rows")
    return p
  end,
}
