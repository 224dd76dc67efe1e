-- header_host: functions for arrays of the host (`host = true`) as values for their templates:
-- along which extent arrays are cut, how chunks follow each other in each array, what is copied
-- which way, and what a plan is by default.
local header_layouts = require "sectile.header_layouts"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

-- An array of the device that kernels use where it is. Where taps reach beyond a chunk, they would
-- write what is another chunk's: then they write a copy of it, as of the host's.
local function is_direct(host, op)
  return op.stays and not (op.is_output and (host.before > 0 or host.after > 0))
end

-- Whether an output reduces or accumulates, and chunks do not divide it.
local function is_shared(sig, op)
  local along = kit.map(sig.dims, function(dim)
    return dim.name == sig.host.chunks and dim or nil
  end)[1]
  return op.is_output and op.step == "0" and (op.accumulate ~= false or along.reduced)
end

-- Parameters without the workspace, which the plan has; its place among the arguments is NULL.
local function add_parameters(host, h)
  local n = #h.sig.arguments
  host.parameters = { table.unpack(h.parameters, 1, n) }
  host.extents = { table.unpack(h.parameters, n - #h.sig.extents + 1, n) }
  host.arguments = { table.unpack(h.arguments, 1, n) }
  if h.workspace then
    kit.append(host.arguments, "NULL")
  end
end

-- What an array is along the chunks, and which way it goes.
local function add_arrays(host, h)
  local sig = h.sig
  local steps = kit.map(sig.operands, function(op) return op.step end)
  local bytes = kit.map(sig.operands, function(op)
    return header_layouts.of_layout(op, op.bytes)
  end)
  local function host_text(text)
    return header_layouts.host(h.name, text)
  end
  host.arrays = kit.map(sig.operands, function(op) return op.name end)
  host.steps, host.steps_over = kit.map(steps, host_text), header_layouts.mentioned(sig, steps)
  host.bytes, host.bytes_over = kit.map(bytes, host_text), header_layouts.mentioned(sig, bytes)
  host.is_in = kit.map(sig.operands, function(op)
    return not op.is_direct
      and not (op.is_output and header_layouts.of_layout(op, op.writes_all))
  end)
  host.is_out = kit.map(sig.operands, function(op) return not op.is_direct and op.is_output end)
  -- each array's type as a member of the arguments has it
  for k, op in ipairs(sig.operands) do
    op.pointer = string.sub(h.parameters[k], 1, -1 - #op.name)
  end
end

-- Which arrays are the device's, and which chunks go onto; false for what no array is.
local function add_device(host, h)
  local sig = h.sig
  local function flags(what)
    local any = kit.any(sig.operands, function(op) return op[what] end)
    return any and kit.map(sig.operands, function(op) return op[what] end)
  end
  local staged = kit.any(sig.operands, function(op) return op.stays and not op.is_direct end)
  local names = kit.map(sig.operands, function(op) return op.stays and op.name or nil end)
  host.direct, host.shared = flags "is_direct", flags "is_shared"
  host.device_arrays = #names > 0 and names
  host.to_device = staged and "cudaMemcpyDefault" or "cudaMemcpyHostToDevice"
  host.to_host = staged and "cudaMemcpyDefault" or "cudaMemcpyDeviceToHost"
  -- further conditions on array k, where there is one to make
  local direct = h.detail .. "_direct[k]"
  host.if_combined = "" -- where chunks are not, the header has none of it
  host.if_copied = host.direct and " && !" .. direct or ""
  host.or_direct = host.direct and " || " .. direct or ""
  host.whole_at = host.direct
    and string.format("%s ? (void *)h->from[k] : p->whole[k]", direct) or "p->whole[k]"
end

-- What each byte of an array is set to before points fall on it; a launch need not clear what
-- chunks go onto.
local function add_launches(host, h)
  h.onto = host.shared ~= false and #h.starts > 0
  host.start = h.onto and kit.map(h.sig.operands, function(op)
    return op.start or -1
  end)
  local function launch(args)
    return string.format(h.onto and "%s_launch_onto(%s, false)" or "%s_launch(%s)", h.detail, args)
  end
  host.launch_onto = launch "c, stream"
  host.launch_chunk = host.shared
    and h.detail .. "_launch_in_turn(h, &c, slot->stream, which)" or launch "&c, slot->stream"
end

--- Adds the functions of `host = true` to the header's values; false: there are none.
---@param h table
---@param ways table
function M.add(h, ways)
  local sig, host = h.sig, h.sig.host
  h.host, h.onto, h.tuner = false, false, false
  if not host then
    return
  end
  for _, op in ipairs(sig.operands) do
    op.step = header_layouts.of_layout(op, op.chunk_steps)
    op.is_direct, op.is_shared = is_direct(host, op), is_shared(sig, op)
  end
  h.host = stored.record(kit.copy(ways))
  h.host.extent, h.host.before, h.host.after = "n_" .. host.chunks, host.before, host.after
  h.host.plan, h.host.options = h.unused_name "plan", h.unused_name "options"
  h.host.chosen = ways.chosen or false
  add_parameters(h.host, h)
  add_arrays(h.host, h)
  add_device(h.host, h)
  add_launches(h.host, h)
end

return M
