-- async: tiles of the inputs come by asynchronous copies that pass no register, several of them on
-- their way while one is computed: more bytes in flight than registers would hold.
local function mover(g, op, p, c)
  local how, why = pipeline.mover(g, op, p, c.fix, c.sections)
  for _, run in ipairs(how and how.image and how.image.runs or {}) do
    if not op.is_output and run.unit < 4 then
      return nil, "its words are narrower than an asynchronous copy"
    end
  end
  return how, why
end

local DOC = "A block takes %s; the inputs' tiles of %d records come by asynchronous copies%s."

return {
  name = "async",
  doc = "Input tiles by asynchronous copies into shared memory (sm_80), several on their way.",
  applies = {
    { "the device has asynchronous copies", function(k) return k.device.cc >= 80 end },
    { "the index space has one dimension", function(k) return #k.dims == 1 end },
    { "there are records, and every input's tiles are runs of bytes", pipeline.applies },
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
    -- no policy of L2: ptxas 13.0 gives some of these copies another register than holds it
    { "cache", { "cg", "ca" }, key = "c", doc = "caches that the copies fill" },
  },
  where = {
    "per_sm > 0 or stages == 1", "stages > 1 or per_sm == 0",
    "threads * per_sm <= 2048",
    "cache == 'cg' or stages == 1",
    "fix == 'none' or stages <= 2", -- little to expect together
  },
  facts = function(k)
    local _, sections = pipeline.outputs(k)
    return { { "can_section", sections } }
  end,
  template = "async.cu",
  plan = function(k, c)
    local p, reason = pipeline.plan(k, "async", c, {
      mover = function(g, op, p) return mover(g, op, p, c) end,
    })
    if not p then
      return nil, reason
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
    p.copy_in = function()
      local lines = {}
      for _, image in ipairs(p.images_in) do
        lines[#lines + 1] = movers.copy_async(g, image, p.team, p.tile, g.first, "#pragma unroll",
          p.full)
      end
      return kit.concat(lines)
    end
    p.doc = string.format(DOC, c.per_sm > 0 and "one tile after the other" or "one tile", p.tile,
      c.stages > 1 and string.format(", %d on their way while one is computed", c.stages - 1)
      or "")
    return p
  end,
}
