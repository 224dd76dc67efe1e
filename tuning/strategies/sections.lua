-- sections: records whose fields lie in arrays of their own on one side. The fields' parts of a
-- tile travel through shared memory in words of up to 16 bytes, so that a field of 1 or 2 bytes
-- costs no more accesses than its bytes are worth.
local NARROW = 4 -- bytes: what a lane should move at least

-- Numbers of the fields of `op` that go through shared memory, and of the others. Fields that the
-- body does not read stay where they are.
local function split_fields(op, which)
  local staged, rest, fields = {}, {}, {}
  for f = 1, #op.record.fields do
    fields[f] = f
  end
  -- kit.new says what is used; before it has run, all may be
  for _, f in ipairs(not op.is_output and op.used or fields) do
    local list = (which == "all" or op.record.fields[f].bytes < NARROW) and staged or rest
    list[#list + 1] = f
  end
  return staged, #rest > 0 and rest or nil
end

local function sectioned(k, op)
  return not op.record.bare and movers.sectioned(k, op, #k.dims) or nil
end

local function stageable(k, op)
  return not op.record.bare and movers.stageable(k, op, #k.dims) or nil
end

local function any(k, test)
  for _, op in ipairs(k.operands) do
    if test(k, op) then
      return true
    end
  end
  return false
end

local function has_narrow(k)
  return any(k, function(_, op)
    return sectioned(k, op) and #split_fields(op, "narrow") > 0
      and select(2, split_fields(op, "narrow")) ~= nil
  end)
end

-- What tiles must be a multiple of.
local function period_of(k, c)
  local period = 1
  for _, op in ipairs(k.operands) do
    local own = sectioned(k, op) or (c.records and stageable(k, op))
    period = own and kit.lcm(period, own) or period
  end
  return period
end

local function mover(g, op, p, c)
  local k = p.k
  if sectioned(k, op) then
    local staged, rest = split_fields(op, c.fields)
    if #staged == 0 then
      return { kind = "direct" }
    end
    local image, why = movers.sections(g, op, #k.dims, p.tile, staged)
    if not image then
      return nil, why
    end
    image.part = rest ~= nil
    return { kind = "staged", image = image, rest = rest }
  elseif c.records and stageable(k, op) then
    local image, why = movers.image(g, op, #k.dims, p.tile, c.fix)
    if not image then
      return nil, why
    end
    return { kind = "staged", image = image }
  end
  return movers.vector(g, op, #k.dims, 1) or { kind = "direct" }
end

local DOC = "%s owns %d records at a time; %s fields that lie in arrays of their own go through "
  .. "shared memory, so that they move in words as wide as those of records."

return {
  name = "sections",
  doc = "Fields in arrays of their own travel through shared memory too, in words of up to 16 "
    .. "bytes.",
  applies = {
    { "some operand's fields lie in separate runs", function(k) return any(k, sectioned) end },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4, 8 }, key = "i", doc = "records a thread" },
    { "fields", { "all", "narrow" }, key = "w", when = "can_narrow",
      doc = "which fields go through shared memory: all, or those of 1 and 2 bytes" },
    { "records", { true, false }, key = "r", when = "can_stage", neutral = false,
      doc = "whole records through shared memory as well" },
    { "scope", { "block", "warp" }, key = "s",
      doc = "who owns a tile: warps need no block barrier" },
    { "fix", { "none", "pad" }, key = "f", doc = "how bank conflicts of records are avoided",
      when = "records" },
    { "hint", { "none", "cs", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC },
  },
  where = { "threads * items <= 2048", kit.hints.keeps("threads == 128 and items == 1") },
  facts = function(k)
    return {
      { "can_narrow", has_narrow(k) and 1 or 0 },
      { "can_stage", any(k, stageable) and 1 or 0 },
    }
  end,
  template = "map.cu",
  plan = function(k, c)
    local p, reason = map.plan(k, "sections", {
      threads = c.threads, items = c.items, vec = 1, scope = c.scope, hint = c.hint,
      period = period_of(k, c),
      mover = function(g, op, p) return mover(g, op, p, c) end,
    })
    if not p then
      return nil, reason
    end
    local good, why = map.place_images(p)
    if not good then
      return nil, why
    end
    p.p = p
    p.doc = string.format(DOC, c.scope == "warp" and "A warp" or "A block", p.tile,
      c.fields == "all" and "all" or "narrow")
    return p
  end,
}
