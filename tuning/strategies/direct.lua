-- direct: the naive variant, and what everything else is compared with.

local LANES = 32

-- How many outputs a block has side by side: one, or where the fastest mode is kept a warp's, so
-- that it reads neighbours; but not where blocks would be fewer than a quarter of the
-- multiprocessors.
local function lanes_of(k)
  local few = k.reduced[#k.dims]
  for _, extents in ipairs(k.sizes) do
    local kept = 1
    for d = 1, #k.dims do
      kept = kept * (k.reduced[d] and 1 or extents[d])
    end
    few = few or 4 * kept < LANES * k.device.sms
  end
  return few and 1 or LANES
end

-- A block an output element, or LANES of them; what is reduced is dealt out to its threads.
local function reduction(k, c)
  local p = reduce.start(k, "direct", { threads = c.threads, hint = c.hint })
  local g = p.g
  local kept, count, lanes = reduce.count(k, p.kept), reduce.count(k, p.reduced), lanes_of(k)
  local groups = c.threads // lanes
  p.lanes, p.groups, p.has_output = lanes, groups, g.thread:eq(0)
  local output, name, has_team = g.block, "block", nil
  if lanes > 1 then
    output, name = g:define("team", 0, kit.MAX_INDEX, g.block * lanes + g.thread % lanes), "team"
    has_team = g:below(output, kept)
    p.has_output = g.thread:lt(lanes):land(has_team)
  end
  p.kept_count = E.text(kept + 0 * g.thread, true)
  p.kept_text = reduce.unravel(g, p.kept, name, output)
  p.count_text = E.text(count, true)
  p.add = function()
    local turn = g:loop("turn", kit.ceil_div(count, groups))
    local place = g:define("place", 0, kit.MAX_INDEX, turn * groups + g.thread // lanes)
    local mark = #g.real
    local text = reduce.unravel(g, p.reduced, "place", place)
    local inside = place:lt(count)
    text = text .. "\n" .. reduce.add_element(p, has_team and inside:land(has_team) or inside)
    g:forget(mark)
    g:close()
    return text
  end
  p.combine = function()
    reduce.touch(p, true, g.thread)
    local half = c.threads // 2
    while half >= lanes do
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
    g:when(p.has_output)
    reduce.touch(p, false, g.thread)
    return reduce.store(p, "mine", p.has_output)
  end
  g.static_shared_bytes = c.threads * p.partial_bytes
  g.grid = kit.ceil_div(kept, lanes)
  p.p, p.doc = p, string.format("A block of %d threads %s, each of which takes every %d-th of what "
    .. "is reduced.", c.threads, lanes > 1 and lanes .. " neighbouring output elements"
    or "an output element", groups)
  kit.hand_over(g, p)
  return p
end

-- Threads a block, the naive variant's first: 256, or where one has all that becomes an output, the
-- warps that this keeps busy.
local function threads(k)
  local list, most = { 256, 128, 512, 1024 }, 0
  for _, extents in ipairs(k.reduces and k.sizes or {}) do
    local count = 1
    for d = 1, #k.dims do
      count = count * (k.reduced[d] and extents[d] or 1)
    end
    most = math.max(most, count)
  end
  for _, few in ipairs(k.reduces and lanes_of(k) == 1 and { 128, 64, 32 } or {}) do
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
