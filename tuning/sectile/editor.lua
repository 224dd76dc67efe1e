--- What specs and layouts may say, for lua-language-server: text from the schema and from what the
--- built-in layouts say of themselves. `sectile generate lua` prints it.

local core = require "sectile.core"
local declare = require "sectile.declare"
local schema = require "sectile.schema"

local HEAD = [[
---@meta sectile
-- What specs and layouts may say, for lua-language-server: keep it where `workspace.library` is.
-- Printed by `sectile generate lua`.

---@class sectile.Record
---@class sectile.Array
---@class sectile.Kernel
---@class sectile.Layout
---@overload fun(params: table): sectile.Layout
]]
local TAIL = [[
---@field params fun(defaults: table): table values that `-p NAME=VALUE` may change
---@field layout fun(file: string): sectile.Layout a layout of your own
---@field choose fun(layouts: sectile.options.s_choose): sectile.Layout left to the tuner
---@field record fun(fields: sectile.options.s_record): sectile.Record
---@field kernel fun(options: sectile.options.s_kernel): sectile.Kernel
local s = {}

---@param name string
---@param type string|sectile.Record
---@param layout? sectile.Layout
---@param options? sectile.options.s_array
---@return sectile.Array
function s.array(name, type, layout, options) end

return s
]]

local lines = { HEAD }
local CLASSES = { "s.kernel", "s.array", "s.record", "s.choose", "layout file", "layout parameter" }
for _, name in ipairs(CLASSES) do
  lines[#lines + 1] = "---@class sectile.options." .. name:gsub("%W", "_")
  for _, option in ipairs(schema[name]) do
    lines[#lines + 1] = declare.comment(option[3], "---")
    lines[#lines + 1] = ("---@field %s%s %s"):format(option[1], option.required and "" or "?",
      option[2])
  end
  lines[#lines + 1] = ""
end
lines[#lines + 1] = "---@class sectile"
for _, name in ipairs(core.layout_names()) do
  local layout = core.layout_file(name)
  for _, param in ipairs(layout.params or {}) do
    lines[#lines + 1] = declare.comment(("`%s`%s"):format(param[1], param.doc
      and ": " .. param.doc or ""), "---")
  end
  lines[#lines + 1] = ("---@field %s sectile.Layout %s"):format(name, layout.doc)
end
lines[#lines + 1] = TAIL
return table.concat(lines, "\n")
