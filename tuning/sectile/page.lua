-- page: HTML from templates. A template (templates/report) is HTML with `//%` lines of Lua and
-- `$(expr)`, whose value is escaped, but for what page.html made.
local core = require "sectile.core"

local page = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

--- Text that cannot break out of an element or of an attribute in double quotes.
---@param text string
---@return string
function page.escape(text)
  local escaped = string.gsub(text, '[&<>"]', ENTITIES)
  escaped = string.gsub(escaped, "[\0-\9\11-\31]", "?") -- these are none of HTML's
  return escaped
end

--- A list of texts that are HTML already. Scripts have no text of more than 1 MiB.
---@param list string[]
---@return table
function page.html(list)
  return { html = list }
end

--- Part of a path of SVG.
---@return string
function page.box(x, y, width, height)
  return string.format("M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, width, height, -width)
end

local function put(out, value)
  if type(value) ~= "table" then
    out[#out + 1] = value ~= nil and page.escape(tostring(value)) or ""
    return
  end
  for _, text in ipairs(value.html) do
    out[#out + 1] = text
  end
end

--- The template filled with values, which it sees as globals.
---@param name string "report/page.html"
---@param values table
---@return table
function page.fill(name, values)
  local out = {}
  local env = setmetatable({ ipairs = ipairs, string = string }, { __index = values })
  function env._o(_, ...)
    for k = 1, select("#", ...) do
      local piece = select(k, ...)
      if type(piece) == "table" then
        put(out, piece[1])
      else
        out[#out + 1] = piece
      end
    end
    out[#out + 1] = string.sub(out[#out] or "\n", -1) ~= "\n" and "\n" or nil
  end
  core.template(name, env)()
  return page.html(out)
end

--- A page of its own, in parts.
---@param title string
---@param name string
---@param values table
---@return string[]
function page.whole(title, name, values)
  return page.fill("report/page.html", { title = title, body = page.fill(name, values) }).html
end

return page
