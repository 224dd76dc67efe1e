-- async: tiles of the inputs come by asynchronous copies that pass no register, several of them on
-- their way while one is computed: more bytes in flight than registers would hold.
local function source(k, op)
  return movers.stageable(k, op, #k.dims) or movers.sectioned(k, op, #k.dims)
end

local function all_sources(k)
  local records = false
  for _, op in ipairs(k.operands) do
    if not op.is_output and not source(k, op) then
      return false
    end
    records = records or not op.record.bare
  end
  return records
end

-- What tiles must be a multiple of.
local function period_of(k)
  local period = 1
  for _, op in ipairs(k.operands) do
    local own = (not op.is_output or not op.record.bare) and source(k, op)
    period = own and kit.lcm(period, own) or period
  end
  return period
end

local function all_fields(op)
  local list = {}
  for f = 1, #op.record.fields do
    list[f] = f
  end
  return list
end

local function image_of(g, op, p, c)
  local dim = #p.k.dims
  if movers.stageable(p.k, op, dim) then
    return movers.image(g, op, dim, p.tile, c.fix)
  end
  return movers.sections(g, op, dim, p.tile, op.is_output and all_fields(op) or op.used)
end

local function mover(g, op, p, c)
  if op.is_output and (op.record.bare or not source(p.k, op)
    or (not c.sections and not movers.stageable(p.k, op, #p.k.dims))) then
    return movers.vector(g, op, #p.k.dims, 1) or { kind = "direct" }
  end
  local image, why = image_of(g, op, p, c)
  if not image then
    return nil, why
  end
  for _, run in ipairs(image.runs) do
    if not op.is_output and run.unit < 4 then
      return nil, "its words are narrower than an asynchronous copy"
    end
  end
  return { kind = "staged", image = image }
end

-- The loop over a block's tiles: whole ones only.
local function open_tiles(g, p, c)
  local whole = p.k.extents[1] // p.tile
  p.blocks = kit.ceil_div(p.k.extents[1], p.tile)
  if c.per_sm > 0 then
    p.blocks = p.blocks:min(c.per_sm * p.k.device.sms)
  end
  local round = g:loop("round", (whole - g.block + p.blocks - 1) // p.blocks)
  local tile = g:define("tile", 0, kit.MAX_INDEX, g.block + round * p.blocks)
  p.stage = g:define("stage", 0, math.max(c.stages - 1, 0), round % c.stages)
  p.warp = p.stage
  return { name = "tile", var = tile }
end

local DOC = "A block takes %s; the inputs' tiles of %d records come by asynchronous copies%s."

return {
  name = "async",
  doc = "Input tiles by asynchronous copies into shared memory (sm_80), several on their way.",
  applies = {
    { "the device has asynchronous copies", function(k) return k.device.cc >= 80 end },
    { "the index space has one dimension", function(k) return #k.dims == 1 end },
    { "there are records, and every input's tiles are runs of bytes", all_sources },
  },
  axes = {
    { "threads", { 128, 256 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4 }, key = "i", doc = "records a thread in a tile" },
    { "stages", { 1, 2, 4 }, key = "n", doc = "tiles in shared memory at once" },
    { "per_sm", { 0, 2, 4, 8 }, key = "g",
      doc = "blocks an SM that stay and loop over tiles; 0: a block a tile" },
    { "fix", { "none", "xor" }, key = "f", doc = "how bank conflicts are avoided" },
    { "sections", { true, false }, key = "w", when = "can_section", neutral = false,
      doc = "an output's fields in arrays of their own through shared memory" },
    { "cache", { "cg", "ca" }, key = "c", doc = "caches that the copies fill" },
  },
  where = {
    "per_sm > 0 or stages == 1", "stages > 1 or per_sm == 0",
    "threads * per_sm <= 2048",
    "cache == 'cg' or stages == 1", "fix == 'none' or stages <= 2", -- little to expect together
  },
  facts = function(k)
    local sections = 0
    for _, op in ipairs(k.operands) do
      if op.is_output and movers.sectioned(k, op, #k.dims) then
        sections = 1
      end
    end
    return { { "can_section", sections } }
  end,
  template = "async.cu",
  plan = function(k, c)
    local p, reason = map.plan(k, "async", {
      threads = c.threads, items = c.items, vec = 1, period = period_of(k), stages = c.stages,
      mover = function(g, op, p) return mover(g, op, p, c) end,
      team = function(g, p) return open_tiles(g, p, c) end,
    })
    if not p then
      return nil, reason
    end
    local good, why = map.place_images(p)
    if not good then
      return nil, why
    end
    local g = p.g
    for _, image in ipairs(p.images_in) do
      for _, run in ipairs(image.runs) do
        if c.cache == "cg" and run.unit < 16 then
          return nil, "copies past L1 have 16 bytes"
        end
      end
    end
    g.needs.copy_async = c.cache
    g.grid, p.grid = p.blocks, p.blocks
    p.p, p.stages, p.team.warp = p, c.stages, p.stage
    p.copy_in = function()
      local lines = {}
      for _, image in ipairs(p.images_in) do
        lines[#lines + 1] = movers.copy_async(g, image, p.team, p.tile, g.first, "#pragma unroll",
          p.full)
      end
      return kit.concat(lines)
    end
    p.close_tiles = function() -- what follows is outside of the loop: the rest, by the last block
      g:close()
      local n = k.extents[1]
      g.first = g:define("first", 0, kit.MAX_INDEX, n // p.tile * p.tile)
      p.full = (g.block + 1):ne(p.blocks)
      return ""
    end
    p.doc = string.format(DOC, c.per_sm > 0 and "one tile after the other" or "one tile", p.tile,
      c.stages > 1 and string.format(", %d on their way while one is computed", c.stages - 1)
      or "")
    return p
  end,
}
