-- header_kernels: the kernels of a header as values for its templates: the comment above each, when
-- it is right, how it is launched.
local header_layouts = require "sectile.header_layouts"
local header_shared = require "sectile.header_shared"
local header_text = require "sectile.header_text"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

local SHARED_WITHOUT_OPTIN = 48 * 1024 -- bytes a block, CUDA programming guide
local SAID = 24 -- characters of a kernel's sentence that lines of a comment do not divide

-- ---- the comment above it ----

-- Describes the kernel unless its source does so itself, as the shipped templates do.
local function title(kernel, index)
  local start = string.sub(kernel.launch.doc, 1, SAID)
  local said = start == "" or string.find(kernel.source, start, 1, true)
  return kernel.label .. (index == 0 and ", the naive variant" or "") .. "."
    .. (said and "" or " " .. kernel.launch.doc)
end

-- The sizes that it won.
local function wins(h, index)
  local list = {}
  for _, device in ipairs(h.devices) do
    for _, size in ipairs(device.sizes) do
      if size.kernel == index then
        kit.append(list, device.name .. " at " .. size.run.size_label)
      end
    end
  end
  return list
end

local function needs(h, kernel)
  local launch, list = kernel.launch, {}
  for k, op in ipairs(h.sig.operands) do
    if launch.align[k] > 1 then
      kit.append(list, string.format("%s aligned to %d", op.name, launch.align[k]))
    end
  end
  kit.append(list, table.unpack(launch.requires))
  if kernel.optin_bytes > 0 then
    kit.append(list, string.format("%d bytes of shared memory", kernel.optin_bytes))
  end
  if kernel.feature then
    kit.append(list, kernel.feature .. ": compiled for sm_90 or later")
  end
  if launch.workspace_bytes > 0 then
    kit.append(list, string.format("%d bytes of workspace", launch.workspace_bytes))
  end
  if launch.passes > 0 then
    kit.append(list, string.format("%d launches one after the other", launch.passes))
  end
  return list
end

-- The text of a kernel of the user's own as it was timed, but for the headers that it includes:
-- these stand outside of its namespace, in `includes`.
local function own_text(source, includes)
  local lines = {}
  for line in string.gmatch(source, "([^\n]*)\n?") do
    local name = string.match(line, "^[ \t]*#[ \t]*include[ \t]*<([^>]+)")
    if not name then
      lines[#lines + 1] = line
    elseif not kit.has(includes, name) then
      includes[#includes + 1] = name
    end
  end
  return table.concat(lines, "\n")
end

-- ---- what it takes, and its launch ----

-- What kernels get, in their order; of one of the user's own also the values that are worked out,
-- as declarations: "int p2 = (int)(2 * n_row)".
local function add_arguments(kernel, h)
  kernel.arguments, kernel.values = {}, {}
  local own = #h.sig.arguments -- after them come the workspace and the number of a launch
  for _, k in ipairs(kernel.args) do
    kit.append(kernel.arguments, k == own + 1 and "pass"
      or "c." .. (h.sig.arguments[k + 1] or h.unused_name "workspace"))
  end
  for k, param in ipairs(kernel.launch.params or {}) do
    if param.value then
      local cuda = header_text.types[param.type].cuda
      local value = header_layouts.host(h.name, param.value)
      kit.append(kernel.values, string.format("%s p%d = (%s)%s", cuda, k - 1, cuda,
        header_text.is_identifier(param.value) and value or "(" .. value .. ")"))
      kit.append(kernel.arguments, "p" .. k - 1)
    else
      kit.append(kernel.arguments, "c." .. param.argument)
    end
  end
end

-- Grid and block, three numbers each, and the extents that they and the arguments mention.
local function add_configuration(kernel, h)
  local launch = kernel.launch
  if not kernel.is_own then
    local blocks = string.format("(unsigned)%s_k%d_blocks(&c)", h.detail, kernel.index)
    kernel.grid_sides, kernel.block_sides = { blocks, 1, 1 }, { launch.threads, 1, 1 }
    kernel.launch_over = {}
    return
  end
  kernel.grid_sides = kit.map(launch.grid_dims, function(side)
    return "(unsigned)(" .. header_layouts.host(h.name, side) .. ")"
  end)
  kernel.block_sides = launch.block
  local texts = kit.map(launch.params, function(param) return param.value or nil end)
  kernel.launch_over =
    header_layouts.mentioned(h.sig, kit.append(texts, table.unpack(launch.grid_dims)))
end

local function kernel_values(h, index, stored_row)
  local launch = stored_row.launch
  local bytes = launch.shared_bytes + launch.static_shared_bytes
  local kernel = stored.record(stored_row)
  kernel.index, kernel.is_own = index, launch.params ~= false
  kernel.optin_bytes = bytes > SHARED_WITHOUT_OPTIN and bytes or 0
  kernel.title, kernel.wins, kernel.needs = title(kernel, index), wins(h, index), needs(h, kernel)
  kernel.text = kernel.is_own and own_text(kernel.source, h.includes)
    or (string.gsub(kernel.source, "\n$", ""))
  kernel.name = kernel.is_own and launch.kernel or h.name .. "_" .. kernel.space
  kernel.entry = kernel.is_own
    and string.format("%s_detail::%s::%s", h.name, kernel.space, launch.kernel) or kernel.name
  kernel.grid = header_layouts.host(h.name, launch.grid)
  kernel.grid_over = header_layouts.mentioned(h.sig, { launch.grid })
  kernel.requires = kit.map(launch.requires, function(text)
    return header_layouts.host(h.name, text)
  end)
  kernel.requires_over = header_layouts.mentioned(h.sig, launch.requires)
  add_arguments(kernel, h)
  add_configuration(kernel, h)
  return kernel
end

--- Adds the kernels to the header's values.
---@param h table
function M.add(h)
  h.includes = {}
  h.kernels = kit.map(h.kernels, function(kernel, k) return kernel_values(h, k - 1, kernel) end)
  h.shared = header_shared.take(h.kernels)
  h.wants_shared =
    kit.any(h.kernels, function(kernel) return kernel.optin_bytes > 0 end) and 1 or 0
  h.wants_recent = kit.any(h.kernels, function(kernel) return kernel.feature end)
end

return M
