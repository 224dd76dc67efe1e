-- What the lint scripts share: reading files, finding them, and reporting in one form.
local M = {}

---@param path string
---@return string[] lines without their line ends
function M.lines(path)
  local file <close>, why = io.open(path, "r")
  if not file then
    io.stderr:write(why, "\n")
    os.exit(2)
  end
  local out = {}
  for line in file:lines() do
    out[#out + 1] = line
  end
  return out
end

---@param text string
---@return string text as one word of a shell command
local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Files below root/folder whose name ends in one of the extensions ("" stands for a name without
--- a dot), in order, as paths relative to root. A folder that is not there holds none.
---@param root string
---@param folder string
---@param extensions string[]
---@return string[]
function M.files(root, folder, extensions)
  local wanted, out = {}, {}
  for _, extension in ipairs(extensions) do
    wanted[extension] = true
  end
  local command = ("cd %s && [ -d %s ] && find %s -type f | LC_ALL=C sort"):format(quoted(root),
    quoted(folder), quoted(folder))
  local pipe <close> = assert(io.popen(command))
  for path in pipe:lines() do
    local name = path:match("[^/]+$")
    if wanted[name:match("%.([^.]+)$") or ""] then
      out[#out + 1] = path
    end
  end
  return out
end

---@param set table
---@return integer
function M.count(set)
  local n = 0
  for _ in pairs(set) do
    n = n + 1
  end
  return n
end

---@param set table
---@return string keys "a, b, c"
function M.sorted_keys(set)
  local keys = {}
  for key in pairs(set) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return table.concat(keys, ", ")
end

--- Two functions: one reports a finding at a place, the other prints the summary and ends the
--- program with 0 or 1.
---@param tool string
---@return fun(path: string, line: integer, text: string) report
---@return fun(summary: string) finish
function M.reporter(tool)
  local n = 0
  local function report(path, line, text)
    n = n + 1
    io.stdout:write(("%s:%d: %s\n"):format(path, line, text))
  end
  local function finish(summary)
    io.stdout:write(("%s: %s, %s\n"):format(tool, summary,
      n == 0 and "nothing to report" or n .. " to mend"))
    os.exit(n == 0 and 0 or 1, true)
  end
  return report, finish
end

return M
