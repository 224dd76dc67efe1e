-- staged: threads own whole records; the team copies tiles between global and shared memory in
-- 16-byte words.
local function list_staged(p)
  local names = {}
  for _, list in ipairs { p.images_in, p.images_out } do
    for _, image in ipairs(list) do
      names[#names + 1] = image.op.name
    end
  end
  return kit.concat(names, " and ")
end

-- Worth staging: records of several fields whose tiles are runs of bytes. Returns the period of the
-- tiles.
local function stageable(k, op)
  return not op.record.bare and movers.stageable(k, op, #k.dims) or nil
end

local function has_stageable(k, output)
  for _, op in ipairs(k.operands) do
    if op.is_output == output and stageable(k, op) then
      return true
    end
  end
  return false
end

return {
  name = "staged",
  doc = "Threads own whole records; tiles of them travel between global and shared memory in words "
    .. "of up to 16 bytes.",
  applies = {
    { "some operand's records form runs of whole tiles", function(k)
      return has_stageable(k, false) or has_stageable(k, true)
    end },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4 }, key = "i", doc = "records a thread" },
    { "stage_in", { true, false }, key = "in", doc = "inputs through shared memory",
      when = "can_in", neutral = false },
    { "stage_out", { true, false }, key = "out", doc = "outputs through shared memory",
      when = "can_out", neutral = false },
    { "scope", { "block", "warp" }, key = "s",
      doc = "who owns a tile: warps need no block barrier" },
    { "fix", { "none", "pad", "xor" }, key = "f", doc = "how bank conflicts are avoided" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
    { "unroll", { 0, 1 }, key = "u", doc = "0: unroll the copies of tiles, 1: leave them loops" },
  },
  where = {
    "stage_in or stage_out", "items > 1 or unroll == 0",
    kit.hints.keeps("threads == 128 and items == 1"),
  },
  facts = function(k)
    return {
      { "can_in", has_stageable(k, false) and 1 or 0 },
      { "can_out", has_stageable(k, true) and 1 or 0 },
    }
  end,
  template = "map.cu",
  plan = function(k, c)
    local period, staged = 1, {}
    for _, op in ipairs(k.operands) do
      local wanted = op.is_output and c.stage_out or not op.is_output and c.stage_in
      staged[op.number] = wanted and stageable(k, op)
      if staged[op.number] then
        period = kit.lcm(period, staged[op.number])
      end
    end
    local p, reason = map.plan(k, "staged", {
      threads = c.threads, items = c.items, vec = 1, scope = c.scope, hint = c.hint,
      unroll = c.unroll, period = period,
      mover = function(g, op, p)
        if not staged[op.number] then
          return movers.vector(g, op, #k.dims, 1) or { kind = "direct" }
        end
        local image, why = movers.image(g, op, #k.dims, p.tile, c.fix)
        if not image then
          return nil, why
        end
        return { kind = "staged", image = image }
      end,
    })
    if not p then
      return nil, reason
    end
    if #p.images_in + #p.images_out == 0 then
      return nil, "nothing to stage"
    end
    local good, why = map.place_images(p)
    if not good then
      return nil, why
    end
    p.p = p
    p.doc = string.format("%s owns %d records at a time; %s %s through shared memory in 16-byte "
      .. "words, so every sector is moved whole.", c.scope == "warp" and "A warp" or "A block",
      p.tile, list_staged(p), #p.images_in + #p.images_out > 1 and "go" or "goes")
    return p
  end,
}
