-- text: what a person reads of a command's document: lines, tables, wrapped sentences, colour.
local text = {}

local CODES = {
  plain = "",
  bold = "\27[1m",
  dim = "\27[2m",
  good = "\27[1;32m",
  warn = "\27[33m",
  bad = "\27[31m",
}
local WRAP_INDENT, WRAP_WIDTH = 14, 80

---@class sectile.Text
---@field colour boolean
---@field width integer of a terminal; 0: as wide as it comes
local Text = {}
Text.__index = Text

--- Texts are appended to a list, as scripts have none of more than 1 MiB.
---@param look table colour, width
---@return sectile.Text
function text.new(look)
  return setmetatable({ colour = look.colour, width = look.width or 0 }, Text)
end

---@param fmt string
function Text:put(fmt, ...)
  self[#self + 1] = select("#", ...) > 0 and string.format(fmt, ...) or fmt
end

--- The text in a style, "bold".
function Text:paint(style, s)
  return self.colour and style ~= "plain" and CODES[style] .. s .. "\27[0m" or s
end

-- ---- sentences ----

-- Words in lines that begin at column `from`, the first at `at`; one that is too long has a line of
-- its own.
local function wrapped(s, from, width, at)
  local parts, column = {}, at or from
  for word in string.gmatch(string.gsub(s, " $", "") .. " ", "([^ ]*) ") do
    if #parts > 0 and column + 1 + #word > width then
      parts[#parts + 1] = "\n" .. string.rep(" ", from)
      column = from
    elseif #parts > 0 then
      parts[#parts + 1] = " "
      column = column + 1
    end
    parts[#parts + 1] = word
    column = column + #word
  end
  return table.concat(parts)
end

--- A head and what it says, in lines that begin below each other.
---@param head string
---@param s string
function Text:wrap(head, s)
  local room = WRAP_INDENT - 2
  local first = "  " .. head .. (#head < room and string.rep(" ", room - #head) or "  ")
  local lines = {}
  for line in string.gmatch(s, "[^\n]+") do
    lines[#lines + 1] = wrapped(line, WRAP_INDENT, WRAP_WIDTH, #lines == 0 and #first or nil)
  end
  self:put("%s\n", first .. table.concat(lines, "\n" .. string.rep(" ", WRAP_INDENT)))
end

local LEAST_GAIN = 0.005 -- of a launch's time; less is none

--- Issue `k` of `profile`, `check` and `tune`; launch_ns: predicted time of the launch, nil: not
--- known.
function Text:issue(k, issue, place, launch_ns)
  local share = string.format("%.3g %% of the %s", 100 * issue.gain, issue.of)
  local gain = "up to " .. share
  if issue.gain_ns and launch_ns then
    gain = issue.gain_ns < LEAST_GAIN * launch_ns and "no time, by the model; " .. share
      or string.format("up to %.3g of %.3g us, %s", issue.gain_ns / 1e3, launch_ns / 1e3, share)
  end
  self:wrap("issue " .. k, string.format("%s%s: %s\ntry: %s\ngain: %s", issue.id,
    place and ", " .. place or "", issue.evidence, issue.advice, gain))
end

-- ---- tables ----

---@class sectile.Table
---@field columns table[] each with head, right
---@field rows table[] each a list of cells, with `style`
local Table = {}
Table.__index = Table

--- Columns by their heads, ">time" where cells stand on the right.
---@param heads string[]
---@return sectile.Table
function text.table(heads)
  local columns = {}
  for k, head in ipairs(heads) do
    local right = string.sub(head, 1, 1) == ">"
    columns[k] = { head = right and string.sub(head, 2) or head, right = right }
  end
  return setmetatable({ columns = columns, rows = {} }, Table)
end

--- A row of cells; those that are nil or false stay empty.
---@param style string
---@param ... any
function Table:row(style, ...)
  local row = { style = style }
  for k = 1, #self.columns do
    local cell = select(k, ...)
    row[k] = cell and tostring(cell) or ""
  end
  self.rows[#self.rows + 1] = row
end

-- The width of the widest cell; 0 if all are empty: then the column is left out.
function Table:width_of(column)
  local width = 0
  for _, row in ipairs(self.rows) do
    width = math.max(width, #row[column])
  end
  return width > 0 and math.max(width, #self.columns[column].head) or 0
end

function Table:widths(indent)
  local list, all = {}, indent - 2
  for c = 1, #self.columns do
    list[c] = self:width_of(c)
    all = all + (list[c] > 0 and list[c] + 2 or 0)
  end
  return list, math.max(all, indent)
end

--- Leaves out columns, in the order of `heads`, until rows fit; then `last` comes last and goes on
--- in further lines. Returns how many were left out.
function Table:fit(indent, width, last, heads)
  local left_out, index = 0, {}
  for c, column in ipairs(self.columns) do
    index[column.head] = c
  end
  for _, head in ipairs(heads) do
    local c = index[head]
    local _, all = self:widths(indent)
    if all > width and c then
      left_out = left_out + (self:width_of(c) > 0 and 1 or 0)
      for _, row in ipairs(self.rows) do
        row[c] = ""
      end
    end
  end
  local _, all = self:widths(indent)
  self.wrapped, self.width = all > width and index[last] or nil, width
  return left_out
end

function Table:line(row, widths, indent)
  local cells = {}
  for c, width in ipairs(widths) do
    if width > 0 and c ~= self.wrapped then
      local blank = string.rep(" ", width - #row[c])
      cells[#cells + 1] = self.columns[c].right and blank .. row[c] or row[c] .. blank
    end
  end
  local line = string.rep(" ", indent) .. table.concat(cells, "  ")
  if self.wrapped then
    line = line .. (#cells > 0 and "  " or "")
    line = line .. wrapped(row[self.wrapped], #line, self.width)
  end
  return (string.gsub(line, " +$", ""))
end

--- The table; `below`: what follows the line of each row, by its number.
---@param t sectile.Table
---@param indent integer
---@param below? function
function Text:table(t, indent, below)
  local widths, heads, named = t:widths(indent), {}, false
  for c, column in ipairs(t.columns) do
    heads[c] = column.head
    named = named or (widths[c] > 0 and column.head ~= "")
  end
  if named then
    self:put("%s\n", self:paint("dim", t:line(heads, widths, indent)))
  end
  for k, row in ipairs(t.rows) do
    self:put("%s\n", self:paint(row.style, t:line(row, widths, indent)))
    self:put("%s", below and below(k) or "")
  end
end

return text
