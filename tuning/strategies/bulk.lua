-- bulk: tiles of the inputs come by bulk copies (cp.async.bulk, sm_90), one a run of bytes, that
-- one thread starts and an mbarrier reports; outputs may leave by bulk copies as well. No thread
-- spends an instruction on a byte that is only moved, and as much is on its way as shared memory
-- holds.
local WORD = 16 -- bytes: addresses and sizes of bulk copies are multiples
local LINE = 128 -- bytes: what sm_90 likes the shared side aligned to
local MAX_EXPECTED = (1 << 20) - 1 -- bytes that a phase of an mbarrier can wait for

local function aligned(image)
  for _, run in ipairs(image.runs) do
    if run.word < WORD or run.bytes % WORD ~= 0 then
      return false
    end
  end
  return true
end

local function mover(g, op, p, c)
  local how, why = pipeline.mover(g, op, p, "none", c.sections)
  if how and how.image and (not op.is_output or c.store == "bulk") and not aligned(how.image) then
    return nil, "bulk copies move multiples of 16 bytes from and to multiples of 16"
  end
  return how, why
end

local function expected_bytes(p)
  local bytes = 0
  for _, image in ipairs(p.images_in) do
    for _, run in ipairs(image.runs) do
      bytes = bytes + run.bytes
    end
  end
  return bytes
end

-- Bytes of a record that go through shared memory, in and out.
local function record_bytes(k)
  local bytes_in, bytes_out = 0, 0
  for _, op in ipairs(k.operands) do
    if not op.is_output then
      bytes_in = bytes_in + op.record.bytes
    elseif not op.record.bare then
      bytes_out = bytes_out + op.record.bytes
    end
  end
  return bytes_in, bytes_out
end

local DOC = "A block takes %s; the inputs' tiles of %d records come by bulk copies%s%s."

return {
  name = "bulk",
  doc = "Input tiles by bulk copies into shared memory (sm_90), several on their way; outputs by "
    .. "bulk copies too.",
  applies = {
    { "the device has bulk copies", function(k) return k.device.cc >= 90 end },
    { "the index space has one dimension", function(k) return #k.dims == 1 end },
    { "there are records, and every input's tiles are runs of bytes", pipeline.applies },
  },
  axes = {
    { "threads", { 128, 256, 512 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4, 8 }, key = "i", doc = "records a thread in a tile" },
    { "per_sm", { 0, 1, 2, 4 }, key = "g",
      doc = "blocks an SM that stay and loop over tiles; 0: a block a tile" },
    { "stages", { 1, 2, 3, 4 }, key = "n", doc = "tiles in shared memory at once" },
    { "sections", { true, false }, key = "w", when = "can_section", neutral = false,
      doc = "an output's fields in arrays of their own through shared memory" },
    { "store", { "vector", "bulk" }, key = "o", when = "can_records or sections",
      doc = "how outputs leave shared memory: in words by all threads, or by bulk copies" },
    { "hint", { "none", "keepin", "keepout" }, key = "h", doc = kit.hints.DOC,
      when = "threads == 128 and per_sm == 0 and items <= 2" },
  },
  where = {
    "per_sm > 0 or stages == 1", "stages > 1 or per_sm == 0",
    -- enough threads to compute, and blocks that fit at once
    "per_sm == 0 or threads * per_sm >= 512", "threads * per_sm <= 2048",
    "per_sm * (threads * items * (stages * bytes_in + 2 * bytes_out) + 1024) <= smem_sm_bytes",
    "per_sm > 0 or 3 * (threads * items * (bytes_in + bytes_out) + 1024) <= smem_sm_bytes",
    -- on their way at once: half of what the device needs, and not several times as much
    "per_sm == 0 or 2 * per_sm * stages * threads * items * bytes_in >= inflight_bytes",
    "stages <= 2 or (stages - 2) * per_sm * threads * items * bytes_in <= 2 * inflight_bytes",
  },
  facts = function(k)
    local records, sections = pipeline.outputs(k)
    local bytes_in, bytes_out = record_bytes(k)
    return {
      { "can_records", records }, { "can_section", sections },
      { "bytes_in", bytes_in }, { "bytes_out", bytes_out },
      { "smem_sm_bytes", k.device.smem_sm_bytes },
      { "inflight_bytes", k.device.inflight_bytes },
    }
  end,
  template = "bulk.cu",
  plan = function(k, c)
    local stays = c.per_sm > 0
    local p, reason = pipeline.plan(k, "bulk", c, {
      mover = function(g, op, p) return mover(g, op, p, c) end,
      out_images = stays and 2 or 1, image_align = LINE, more_shared_bytes = 8 * c.stages,
      hint = c.hint,
    })
    if not p then
      return nil, reason
    end
    local g = p.g
    g.needs.bulk, g.needs.bulk_store = true, c.store == "bulk" and #p.images_out > 0
    p.stays, p.stores, p.expected = stays, g.needs.bulk_store, expected_bytes(p)
    if p.expected > MAX_EXPECTED then
      return nil, "an mbarrier cannot wait for so many bytes"
    end
    p.copy_in = function()
      local lines = {}
      for _, image in ipairs(p.images_in) do
        lines[#lines + 1] = pipeline.copy_bulk(g, image, p, "&arrived[stage]")
      end
      return kit.concat(lines)
    end
    p.bulk_out = function()
      local lines = {}
      for _, image in ipairs(p.images_out) do
        lines[#lines + 1] = pipeline.copy_bulk(g, image, p)
      end
      return kit.concat(lines)
    end
    p.doc = string.format(DOC, stays and "one tile after the other" or "one tile", p.tile,
      c.stages > 1 and string.format(", %d on their way while one is computed", c.stages - 1)
      or "", p.stores and ", and the outputs leave by such" or "")
    return p
  end,
}
