-- pipeline: the schedule of maps whose inputs' tiles are brought into shared memory by copies that
-- pass no register, several tiles ahead. A block takes one tile, or stays and loops over tiles.
-- The strategies async (cp.async) and bulk (cp.async.bulk) are it with different copies.
local pipeline = {}

--- The period of tiles of `op` that are runs of bytes, one or one a field, or nil.
---@param k sectile.View
---@param op sectile.Operand
---@return integer?
function pipeline.source(k, op)
  return movers.stageable(k, op, #k.dims) or movers.sectioned(k, op, #k.dims)
end

--- Are there records, and is every input's tile made of runs of bytes?
---@param k sectile.View
---@return boolean
function pipeline.applies(k)
  local records = false
  for _, op in ipairs(k.operands) do
    if not op.is_output and not pipeline.source(k, op) then
      return false
    end
    records = records or not op.record.bare
  end
  return records
end

--- What tiles must be a multiple of.
---@param k sectile.View
---@return integer
function pipeline.period(k)
  local period = 1
  for _, op in ipairs(k.operands) do
    local own = (not op.is_output or not op.record.bare) and pipeline.source(k, op)
    period = own and kit.lcm(period, own) or period
  end
  return period
end

--- Some output's records or fields can go through shared memory: its records in one run (1 or 0),
--- its fields in runs of their own.
---@param k sectile.View
---@return integer records
---@return integer sections
function pipeline.outputs(k)
  local records, sections = 0, 0
  for _, op in ipairs(k.operands) do
    if op.is_output and not op.record.bare then
      records = movers.stageable(k, op, #k.dims) and 1 or records
      sections = movers.sectioned(k, op, #k.dims) and 1 or sections
    end
  end
  return records, sections
end

local function all_fields(op)
  local list = {}
  for f = 1, #op.record.fields do
    list[f] = f
  end
  return list
end

--- How `op` moves: inputs through images; outputs too, unless they are no records, or their fields
--- lie in sections and `sections` is false.
---@param g sectile.Generator
---@param op sectile.Operand
---@param p sectile.MapPlan
---@param fix "none"|"xor" how bank conflicts are avoided
---@param sections boolean
---@return sectile.Mover? mover nil if there is no such image
---@return string? reason
function pipeline.mover(g, op, p, fix, sections)
  local k, dim = p.k, #p.k.dims
  local whole = movers.stageable(k, op, dim)
  if op.is_output and (op.record.bare or not pipeline.source(k, op)
    or (not sections and not whole)) then
    return movers.vector(g, op, dim, 1) or { kind = "direct" }
  elseif not op.is_output and #op.used == 0 then
    return { kind = "direct" } -- the body reads nothing of it
  end
  local image, why
  if whole then
    image, why = movers.image(g, op, dim, p.tile, fix)
  else
    image, why = movers.sections(g, op, dim, p.tile, op.is_output and all_fields(op) or op.used)
  end
  if not image then
    return nil, why
  end
  return { kind = "staged", image = image }
end

--- The loop over a block's tiles, whole ones only: `per_sm` blocks an SM stay, 0: a block a tile.
--- Sets p.blocks and p.stage; what map.plan takes as `team`.
---@param g sectile.Generator
---@param p sectile.MapPlan
---@param c { per_sm: integer, stages: integer }
---@return table team
function pipeline.open_tiles(g, p, c)
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

--- Ends that loop: what follows is about the rest, which the last block computes.
---@param p sectile.MapPlan
---@return string
function pipeline.close_tiles(p)
  local g = p.g
  g:close()
  g.first = g:define("first", 0, kit.MAX_INDEX, p.k.extents[1] // p.tile * p.tile)
  p.full = (g.block + 1):ne(p.blocks)
  return ""
end

--- A plan for candidate c: map.plan with this loop, its images placed.
---@param k sectile.View
---@param name string the kernel's
---@param c table threads, items, stages, per_sm
---@param more table further options of map.plan; mover(g, op, p) at least
---@return sectile.MapPlan? plan
---@return string? reason
function pipeline.plan(k, name, c, more)
  local options = {
    threads = c.threads, items = c.items, vec = 1, period = pipeline.period(k), stages = c.stages,
    team = function(g, p) return pipeline.open_tiles(g, p, c) end,
  }
  for key, value in pairs(more) do
    options[key] = value
  end
  local p, reason = map.plan(k, name, options)
  if not p then
    return nil, reason
  elseif #p.images_in == 0 then
    return nil, "the body reads no input"
  end
  local good, why = map.place_images(p)
  if not good then
    return nil, why
  end
  p.g.grid, p.grid = p.blocks, p.blocks
  p.p, p.stages, p.team.warp = p, c.stages, p.stage
  p.rounds = c.per_sm > 0 and 2 * c.stages + 1 or nil -- every stage filled twice and once more
  p.close_tiles = function() return pipeline.close_tiles(p) end
  return p
end

-- ---- bulk copies ----

--- Statements of one thread that start the bulk copies (sm_90) of a tile between global memory and
--- its image, a copy a run: loads report to the mbarrier `barrier`, stores join the group at hand.
---@param g sectile.Generator
---@param image sectile.Image
---@param p sectile.MapPlan
---@param barrier? string address of the mbarrier, for loads
---@return string
function pipeline.copy_bulk(g, image, p, barrier)
  local op, lines = image.op, {}
  g:when(g.thread:eq(0))
  for _, run in ipairs(image.runs) do
    local at = movers.base_of(image, run, g.first, p.tile)
    g:touch_bulk(op, op.is_output, run.bytes, at)
    local shared = image.slices > 1 and string.format("%s[%s]", image.name, image.slice)
      or image.name
    if run.start > 0 then
      shared = shared .. " + " .. run.start
    end
    local global = string.format("&at<char>(%s, %s)", op.pointer, E.text(at, true))
    if op.is_output then
      lines[#lines + 1] = string.format("bulk_store(%s, %s, %d);", global, shared, run.bytes)
    else
      lines[#lines + 1] = string.format("bulk_load(%s, %s, %d, %s);", shared, global, run.bytes,
        barrier)
    end
  end
  g:when(nil)
  return kit.concat(lines)
end

return pipeline
