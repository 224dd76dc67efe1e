-- direct: the naive variant, and what everything else is compared with.

-- A block an output element; what is reduced is dealt out to its threads one by one.
local function reduction(k, c)
  local p = reduce.start(k, "direct", { threads = c.threads, hint = c.hint })
  local g = p.g
  local count = reduce.count(k, p.reduced)
  p.kept_text = reduce.unravel(g, p.kept, "block", g.block)
  p.count_text = E.text(count, true)
  p.add = function()
    local turn = g:loop("turn", kit.ceil_div(count, c.threads))
    local place = g:define("place", 0, kit.MAX_INDEX, turn * c.threads + g.thread)
    local mark = #g.real
    local text = reduce.unravel(g, p.reduced, "place", place)
    text = text .. "\n" .. reduce.add_element(p, place:lt(count))
    g:forget(mark)
    g:close()
    return text
  end
  p.combine = function()
    reduce.touch(p, true, g.thread)
    local half = c.threads // 2
    while half > 0 do
      g:when(g.thread:lt(half))
      reduce.touch(p, false, g.thread + half)
      reduce.touch(p, false, g.thread)
      reduce.touch(p, true, g.thread)
      half = half // 2
    end
    g:when(nil)
    return ""
  end
  p.store = function()
    g:when(g.thread:eq(0))
    reduce.touch(p, false, g.thread)
    return reduce.store(p, "mine", g.thread:eq(0))
  end
  g.static_shared_bytes = c.threads * p.partial_bytes
  g.grid = reduce.count(k, p.kept)
  p.p, p.doc = p, string.format("A block of %d threads an output element, each of which takes "
    .. "every %d-th of what is reduced.", c.threads, c.threads)
  kit.hand_over(g, p)
  return p
end

-- Threads a block, the naive variant's first: 256, or of a reduction of fewer elements the warps
-- that these keep busy.
local function threads(k)
  local list, most = { 256, 128, 512, 1024 }, 0
  for _, extents in ipairs(k.reduces and k.sizes or {}) do
    local count = 1
    for d = 1, #k.dims do
      count = count * (k.reduced[d] and extents[d] or 1)
    end
    most = math.max(most, count)
  end
  for _, few in ipairs(k.reduces and { 128, 64, 32 } or {}) do
    if most <= few then
      list = { few, 256, 512, 1024 }
    end
  end
  return list
end

return {
  name = "direct",
  doc = "One thread an element, a block an element of a reduction; every access where its layout "
    .. "puts it.",
  applies = {},
  splits = "none", -- it is right at all extents
  taps = true,
  reduces = true,
  axes = function(k)
    return {
      { "threads", threads(k), key = "t", doc = "threads a block" },
      { "hint", { "none", "cs" }, key = "h",
        doc = "cache hint: cs marks loads and stores as streaming" },
    }
  end,
  where = {},
  template = "direct.cu",
  plan = function(k, c)
    if k.reduces then
      return reduction(k, c)
    end
    local g = kit.new(k, "direct", c.threads)
    g.hint = c.hint
    local last = #k.dims
    local cut = g:cut(c.threads, { name = "block", var = g.block })
    g:tie(k.index[last], g.first + g.thread)
    local plan = {
      g = g, kernel = g.kernel, threads = g.threads, cut = cut,
      last = k.dims[last], inside = k.index[last]:lt(k.extents[last]),
      doc = string.format("One thread an element of %s; every access where its layout puts it.",
        kit.concat(k.dims, ", ")),
    }
    kit.hand_over(g, plan)
    return plan
  end,
}
