-- Follows a page of documentation word for word in an empty directory.
--
--   lua5.4 follow.lua PAGE.md          in the current directory; `sectile` is in PATH
--
-- The first line of each fenced block says what happens to it:
--
--   ```lua NAME       (or any language) the block is written to the file NAME
--   ```cuda in NAME   these lines stand in the file NAME, in this order; `...` skips lines
--   ```console        lines `$ COMMAND` run in a shell; below them stands their standard output,
--                     and of a command that fails its errors too. A line `...` stands for any
--                     lines, `...` in a line for any text.
--   ```console about  numbers may be a tenth more or less (they follow from the compiler), and
--                     spaces may differ
--   ```console fails  the last command fails; else every one ends with 0, or 7 (budget spent)
--   ```console nvcc   left out where there is no nvcc; `console gpu`: where there is no GPU
--   ```sh in-ci       scripts that .ci/run starts, which are not run here
--   ```sectors 4 EXPR   a picture: 32 lanes of 4 bytes, each at the element EXPR of its `lane`,
--                     over sectors; `banks 4 EXPR`: over the banks of shared memory (lanes.lua)
--   ```text           only shown
--
-- SECTILE_UPDATE_GOLDEN=1 writes the output that was printed into the page. Lines that match stay,
-- and so does a `...`: as many lines before and after it are shown as before.

local page = assert(arg[1], "follow.lua PAGE.md")
local root = arg[0]:match("^(.*)/tests/docs/") or "."
package.path = root .. "/tests/docs/?.lua;" .. package.path
local lanes = require("lanes")
local update = os.getenv("SECTILE_UPDATE_GOLDEN") == "1"
local n_failed, n_commands, n_files, n_pictures = 0, 0, 0, 0

local function fail(number, text)
  n_failed = n_failed + 1
  io.stderr:write(string.format("%s:%d: %s\n", page, number, text))
end

local function read(path)
  local file = io.open(path)
  local text = file and file:read("a")
  return text, file and file:close()
end

local function write(path, text)
  local directory = path:match("^(.*)/")
  if directory then
    os.execute(string.format("mkdir -p '%s'", directory))
  end
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function lines_of(text)
  local list = {}
  for line in (text:gsub("\n*$", "\n")):gmatch("(.-)\n") do
    list[#list + 1] = (line:gsub("%s+$", ""))
  end
  if #list == 1 and list[1] == "" then
    return {}
  end
  return list
end

local function succeeds(command)
  return os.execute(command .. " >/dev/null 2>&1") == true
end

-- ---- comparing ----

local NUMBER = "%d+%.?%d*"
local SLACK = 0.1 -- of a number, where the page says `about`

-- Does `line` match `wanted`, in which `...` stands for any text? `about`: numbers and spaces may
-- differ a little.
local function matches(wanted, line, about)
  local numbers = {}
  if about then
    wanted = wanted:gsub(NUMBER, function(number)
      numbers[#numbers + 1] = tonumber(number)
      return "\1"
    end):gsub("%s+", "\2")
  end
  local pattern = wanted:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", ".*")
    :gsub("\1", "(" .. NUMBER:gsub("%%", "%%%%") .. ")"):gsub("\2", "%%s+")
  local found = { line:match("^" .. pattern .. "$") }
  for k, number in ipairs(numbers) do
    local there = tonumber(found[k])
    if not there or math.abs(there - number) > SLACK * math.max(there, number) then
      return false
    end
  end
  return found[1] ~= nil
end

-- Do the printed lines from `at` on match the wanted ones from `w` on? A line `...` takes any.
local function same(wanted, printed, about, w, at)
  w, at = w or 1, at or 1
  if w > #wanted then
    return at > #printed
  elseif wanted[w] == "..." then
    for from = at, #printed + 1 do
      if same(wanted, printed, about, w + 1, from) then
        return true
      end
    end
    return false
  end
  return at <= #printed and matches(wanted[w], printed[at], about)
    and same(wanted, printed, about, w + 1, at + 1)
end

-- The wanted lines as they should read: those that match as they are, the others as printed.
local function renewed(wanted, printed, about)
  local gap
  for n, line in ipairs(wanted) do
    if line == "..." then
      gap = gap and -1 or n
    end
  end
  if gap == -1 or (gap and #wanted - 1 > #printed) then
    return nil
  end
  local list = {}
  for n = 1, gap and gap - 1 or #printed do
    list[n] = wanted[n] and matches(wanted[n], printed[n], about) and wanted[n] or printed[n]
  end
  if gap then
    list[gap] = "..."
    for n = gap + 1, #wanted do
      local line = printed[#printed - #wanted + n]
      list[n] = matches(wanted[n], line, about) and wanted[n] or line
    end
  end
  return list
end

-- ---- what happens to blocks ----

local function run(command)
  write(".follow.sh", command .. "\n")
  local pipe = assert(io.popen("bash .follow.sh </dev/null 2>.follow.err"))
  local text = pipe:read("a")
  local _, _, status = pipe:close()
  local errors = status ~= 0 and status ~= 7 and read(".follow.err") or ""
  os.remove(".follow.sh")
  os.remove(".follow.err")
  return lines_of(text .. errors), status
end

-- One command of a console block and its output; gives the lines that should stand below it.
local function follow(step, may_fail, about)
  n_commands = n_commands + 1
  local printed, status = run(step.command)
  if may_fail and status == 0 then
    fail(step.number, "succeeds, and should fail: " .. step.command)
  elseif not may_fail and status ~= 0 and status ~= 7 then
    fail(step.number, string.format("exit code %d: %s\n%s", status, step.command,
      table.concat(printed, "\n")))
  elseif not same(step.wanted, printed, about) then
    local better = update and renewed(step.wanted, printed, about)
    if better then
      return better
    end
    fail(step.number, string.format("%s\nprints\n%s\nexpected\n%s", step.command,
      table.concat(printed, "\n"), table.concat(step.wanted, "\n")))
  end
  return step.wanted
end

local function console(block)
  local steps, lines = {}, {}
  for n, line in ipairs(block.lines) do
    local command, last = line:match("^%$ (.*)"), steps[#steps]
    if command then
      steps[#steps + 1] = { command = command, shown = { line }, wanted = {},
        number = block.number + n }
    elseif not last then
      fail(block.number + n, "a console block begins with `$ COMMAND`")
      return
    elseif #last.wanted == 0 and last.command:match("\\$") then
      last.command = last.command .. "\n" .. line
      last.shown[#last.shown + 1] = line
    else
      last.wanted[#last.wanted + 1] = line
    end
  end
  for n, step in ipairs(steps) do
    while step.wanted[#step.wanted] == "" do -- an empty line before the next command
      step.wanted[#step.wanted] = nil
      step.gap = true
    end
    table.move(step.shown, 1, #step.shown, #lines + 1, lines)
    local wanted = follow(step, n == #steps and block.word == "fails", block.word == "about")
    table.move(wanted, 1, #wanted, #lines + 1, lines)
    lines[#lines + 1] = step.gap and "" or nil
  end
  block.lines = lines
end

local function excerpt(block, path)
  local text = read(path)
  if not text then
    fail(block.number, "there is no file " .. path)
    return
  end
  local wanted = { "...", table.unpack(block.lines) }
  wanted[#wanted + 1] = "..."
  if not same(wanted, lines_of(text)) then
    fail(block.number, "these lines do not stand in " .. path)
  end
end

local function picture(block)
  local good, drawn = pcall(lanes.draw, block.language, block.word or "", block.rest)
  n_pictures = n_pictures + 1
  if not good then
    fail(block.number, drawn)
  elseif update then
    block.lines = drawn
  elseif not same(block.lines, drawn) then
    fail(block.number, "the picture is\n" .. table.concat(drawn, "\n"))
  end
end

-- Scripts that are shown, and which the continuous integration runs.
local function in_ci(block)
  local ci = read(root .. "/.ci/run")
  for n, line in ipairs(block.lines) do
    local script = line:match("^scripts/%w+")
    if script and not ci:find(script, 1, true) then
      fail(block.number + n, ".ci/run does not run " .. script)
    end
  end
end

local function left_out(word)
  return (word == "nvcc" and not succeeds("command -v nvcc"))
    or (word == "gpu" and not succeeds("nvidia-smi -L"))
end

local function apply(block)
  local word, rest = block.word, block.rest
  if block.language == "console" then
    if not left_out(word) then
      console(block)
    end
  elseif block.language == "sh" and word == "in-ci" then
    in_ci(block)
  elseif block.language == "sectors" or block.language == "banks" then
    picture(block)
  elseif word == "in" then
    excerpt(block, rest)
  elseif word then
    n_files = n_files + 1
    write(word, table.concat(block.lines, "\n") .. "\n")
  elseif block.language ~= "text" then
    fail(block.number, "nothing follows this block; tests/docs/follow.lua says how to mark it")
  end
end

local out, block = {}, nil
local number = 0
for line in (assert(read(page), page)):gmatch("(.-)\n") do
  number = number + 1
  local fence = line:match("^```(.*)")
  if block and fence == "" then
    apply(block)
    table.move(block.lines, 1, #block.lines, #out + 1, out)
    block = nil
  end
  if block then
    block.lines[#block.lines + 1] = line
  else
    out[#out + 1] = line
  end
  if fence and fence ~= "" then
    local language, word, rest = fence:match("^(%S+)%s*(%S*)%s*(.*)$")
    block = { language = language, word = word ~= "" and word or nil, rest = rest, lines = {},
      number = number }
  end
end
if update then
  write(page, table.concat(out, "\n") .. "\n")
end
print(string.format("%s: %d commands, %d files, %d pictures, %d failed", page, n_commands, n_files,
  n_pictures, n_failed))
os.exit(n_failed == 0 and n_commands + n_files + n_pictures > 0)
