-- shift: inputs that start off a word ("i + 1", rows of any length) or skip elements ("3 * i"),
-- read by the aligned words around them: as few requests as a plain copy of the same bytes.

-- Bytes of the smallest and of the largest element.
local function sizes(k)
  local least, most = 16, 1
  for _, op in ipairs(k.operands) do
    least, most = math.min(least, op.record.bytes), math.max(most, op.record.bytes)
  end
  return least, most
end

-- Elements in a group: as many of the smallest as fill its words.
local function width_of(k, words)
  return words * 16 // sizes(k)
end

-- A plain mover is as good where it has 16-byte words.
local function plain(k, op, width)
  local mover = movers.vector({ k = k }, op, #k.dims, width)
  return mover, mover and mover.runs[1].record and mover.runs[1].word == 16
end

local function mover_of(k, op, c)
  local vec = width_of(k, c.words)
  local mover, good = plain(k, op, vec)
  local other = not good and around.mover(k, op, #k.dims, vec, c.next == "lane") or nil
  return other or mover or { kind = "direct" }
end

local function has(k, what)
  for _, op in ipairs(k.operands) do
    local run = (mover_of(k, op, { words = 1 }).runs or {})[1]
    if run and run[what] then
      return true
    end
  end
  return false
end

return {
  name = "shift",
  doc = "Inputs that start off a word or skip elements, by the aligned words around them.",
  applies = {
    { "an input starts off a word, or skips elements of which a word holds several", function(k)
      return has(k, "shifted") or has(k, "spaced")
    end },
  },
  axes = {
    { "threads", { 256, 128, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4 }, key = "i", doc = "groups a thread, all loads in flight" },
    { "words", { 1, 2, 4 }, key = "w", doc = "words of 16 bytes that a group's elements fill" },
    { "next", { "load", "lane" }, key = "n", when = "shifts",
      doc = "the word after a group's last: loaded, or from the next lane" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
  },
  where = {
    kit.hints.keeps("threads == 128 and items == 1"),
    "items * words <= 8", "words * spread <= 4",
    "threads <= 256 or items * words <= 4", -- 128 registers hold no more
  },
  facts = function(k)
    local least, most = sizes(k)
    return { { "shifts", has(k, "shifted") and 1 or 0 }, { "spread", most // least } }
  end,
  template = "map.cu",
  plan = function(k, c)
    local p, reason = map.plan(k, "shift", {
      threads = c.threads, items = c.items, vec = width_of(k, c.words), hint = c.hint,
      mover = function(_, op) return mover_of(k, op, c) end,
    })
    if not p then
      return nil, reason
    end
    p.p = p
    p.doc = string.format("Each thread moves %d x %d neighbouring elements; inputs that lie off a "
      .. "word or skip elements are read by the aligned words around them.", c.items, p.vec)
    return p
  end,
}
