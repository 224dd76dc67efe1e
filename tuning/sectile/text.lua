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

--- The text in a style, "bold".
function Text:paint(style, s)
  return self.colour and style ~= "plain" and CODES[style] .. s .. "\27[0m" or s
end

-- ---- lines ----

-- Columns that the text takes, without codes of colours.
local function columns_of(s)
  local _, n = string.gsub(string.gsub(s, "\27%[[%d;]*m", ""), "[^\128-\191]", "")
  return n
end

-- Words in lines that begin at column `from`, the first at `at`; one that is too long has a line of
-- its own.
local function wrapped(s, from, width, at)
  local parts, column, indent = {}, at or from, string.rep(" ", from)
  for blank, word in string.gmatch(s, "( *)([^ ]+)") do
    local n = columns_of(word)
    if #parts > 0 and column + #blank + n > width then
      parts[#parts + 1] = "\n" .. indent
      column, blank = from, ""
    end
    parts[#parts + 1] = blank .. word
    column = column + #blank + n
  end
  return table.concat(parts)
end

-- A line that is wider goes on in further ones, further right.
local function folded(line, width)
  local indent = string.match(line, "^ *")
  if #line <= width or columns_of(line) <= width then
    return line
  end
  return indent .. wrapped(string.sub(line, #indent + 1), #indent + 2, width, #indent)
end

--- Appends to the text. Lines fit the terminal, if there is one.
---@param fmt string
function Text:put(fmt, ...)
  local s = select("#", ...) > 0 and string.format(fmt, ...) or fmt
  if self.width > 0 then
    local open = self[#self]
    if open and string.sub(open, -1) ~= "\n" then -- the line was begun by an earlier call
      self[#self], s = nil, open .. s
    end
    s = string.gsub(s, "[^\n]+", function(line)
      return folded(line, self.width)
    end)
  end
  self[#self + 1] = s
end

-- Where sentences end at the latest.
function Text:reach()
  return self.width > 0 and math.min(self.width, WRAP_WIDTH) or WRAP_WIDTH
end

--- A head and what it says, in lines that begin below each other.
---@param head string
---@param s string
function Text:wrap(head, s)
  local room = WRAP_INDENT - 2
  local first = "  " .. head .. (#head < room and string.rep(" ", room - #head) or "  ")
  local lines = {}
  for line in string.gmatch(s, "[^\n]+") do
    lines[#lines + 1] = wrapped(line, WRAP_INDENT, self:reach(), #lines == 0 and #first or nil)
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
    width = math.max(width, columns_of(row[column]))
  end
  return width > 0 and math.max(width, #self.columns[column].head) or 0
end

-- Widths of the columns, and of a row.
function Table:widths(indent)
  local list, all = {}, indent - 2
  for c = 1, #self.columns do
    list[c] = self:width_of(c)
    all = all + (list[c] > 0 and list[c] + 2 or 0)
  end
  return list, math.max(all, indent)
end

--- Leaves out columns, in the order of `heads`, until rows fit whose column `last` has `least` of
--- its width. Returns how many were left out, and the width that shows all.
function Table:fit(indent, width, last, least, heads)
  local left_out, index = 0, {}
  for c, column in ipairs(self.columns) do
    index[column.head] = c
  end
  local spare = math.max(self:width_of(index[last]) - least, 0)
  local _, whole = self:widths(indent)
  for _, head in ipairs(heads) do
    local c = index[head]
    local _, all = self:widths(indent)
    if all - spare > width and c then
      left_out = left_out + (self:width_of(c) > 0 and 1 or 0)
      for _, row in ipairs(self.rows) do
        row[c] = ""
      end
    end
  end
  return left_out, whole - spare
end

-- The longest word of a column, below which it is not narrowed; figures are kept whole.
function Table:least_of(column)
  local least, pattern = 0, self.columns[column].right and ".+" or "[^ ]+"
  for word in string.gmatch(self.columns[column].head, "[^ ]+") do
    least = math.max(least, #word)
  end
  for _, row in ipairs(self.rows) do
    for word in string.gmatch(row[column], pattern) do
      least = math.max(least, columns_of(word))
    end
  end
  return least
end

-- Takes from the widest column of words, again and again, until rows are no wider than `width`.
function Table:narrow(widths, all, width)
  local least = {}
  for c = 1, #widths do
    least[c] = self:least_of(c)
  end
  while all > width do
    local widest
    for c = 1, #widths do
      if widths[c] > least[c] and (not widest or widths[c] > widths[widest]) then
        widest = c
      end
    end
    if not widest then
      return
    end
    widths[widest], all = widths[widest] - 1, all - 1
  end
end

-- The lines of a row: cells that are wider than their column go on below.
function Table:lines(row, widths, indent)
  local cells, height = {}, 1
  for c, width in ipairs(widths) do
    local s = row[c]
    cells[c] = {}
    if columns_of(s) > width then
      s = wrapped(s, 0, width)
    end
    for line in string.gmatch(s, "[^\n]+") do
      table.insert(cells[c], line)
    end
    height = width > 0 and math.max(height, #cells[c]) or height
  end
  local lines = {}
  for k = 1, height do
    local shown = {}
    for c, width in ipairs(widths) do
      if width > 0 then
        local s = cells[c][k] or ""
        local blank = string.rep(" ", width - columns_of(s))
        shown[#shown + 1] = self.columns[c].right and blank .. s or s .. blank
      end
    end
    lines[k] = string.gsub(string.rep(" ", indent) .. table.concat(shown, "  "), " +$", "")
  end
  return table.concat(lines, "\n")
end

--- The table; `below`: what follows the line of each row, by its number.
---@param t sectile.Table
---@param indent integer
---@param below? function
function Text:table(t, indent, below)
  local widths, all = t:widths(indent)
  local heads, named = {}, false
  if self.width > 0 then
    t:narrow(widths, all, self.width)
  end
  for c, column in ipairs(t.columns) do
    heads[c] = column.head
    named = named or (widths[c] > 0 and column.head ~= "")
  end
  if named then
    self:put("%s\n", self:paint("dim", t:lines(heads, widths, indent)))
  end
  for k, row in ipairs(t.rows) do
    self:put("%s\n", self:paint(row.style, t:lines(row, widths, indent)))
    self:put("%s", below and below(k) or "")
  end
end

return text
