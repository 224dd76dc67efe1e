-- show_sanitize: what `sanitize` prints for a person, from the document that --json prints.
local text = require "sectile.text"
local units = require "sectile.units"

local show = {}

local PAINTED = { error = "bad", warning = "warn", note = "bold" }

local function plural(n, what)
  return string.format("%d %s%s", n, what, n == 1 and "" or "s")
end

-- "k.cu:12: ", as compilers have it; without a line what the assembler reads.
local function place(at, file)
  return at.line > 0 and string.format("%s:%d: ", at.file ~= "" and at.file or file, at.line)
    or (at.ptx_line or 0) > 0 and string.format("%s (PTX line %d): ", file, at.ptx_line)
    or file .. ": "
end

local function put_line(out, at, file, level, message)
  out:put("%s%s %s\n", out:paint("bold", place(at, file)),
    out:paint(PAINTED[level], level .. ":"), message)
  if at.source then
    out:put("    %s\n", at.source)
  end
end

local function triple(list)
  return string.format("(%d,%d,%d)", list[1], list[2], list[3])
end

-- What a place in front of a finding is to it.
local function note(f)
  local b = f.before
  local by = b.thread and string.format("thread %s, warp %d", triple(b.thread), b.warp)
    or "another thread"
  return string.find(f.kind, "race", 1, true) and "the other access, by " .. by
    or "the value was loaded here, and never written"
end

local function put_finding(out, c, f, file)
  put_line(out, f, file, f.level, string.format("%s [%s]", f.text, f.kind))
  local b = f.before
  if b and not (string.find(f.kind, "^undefined") and b.line == f.line and b.file == f.file) then
    put_line(out, f.before, file, "note", note(f))
  end
  local where = { c.case, c.kernel ~= c.case and c.kernel or nil }
  if f.warp and f.warp >= 0 then
    where[#where + 1] = "block " .. triple(f.block)
    where[#where + 1] = f.thread and "thread " .. triple(f.thread) or "warp " .. f.warp
  end
  out:put("    in %s\n", table.concat(where, ", "))
end

---@param doc table
---@param look table
---@return sectile.Text
function show.findings(doc, look)
  local out = text.new(look)
  for _, c in ipairs(doc.cases) do
    for _, f in ipairs(c.findings) do
      put_finding(out, c, f, doc.file)
    end
    if c.problem then
      out:put("%s: %s case '%s' cannot run: %s\n", doc.file, out:paint("bad", "error:"), c.case,
        c.problem)
    end
  end
  local n = plural(#doc.cases, "case")
  out:put("%s: %s\n", n, doc.errors + doc.warnings == 0 and out:paint("good", "nothing found")
    or plural(doc.errors, "error") .. ", " .. plural(doc.warnings, "warning"))
  return out
end

-- A cell of a Markdown table.
local function cell(s)
  return (string.gsub(s, "[|\r\n]", { ["|"] = "\\|", ["\r"] = " ", ["\n"] = " " }))
end

--- For a pull request.
---@param doc table
---@param look table
---@return sectile.Text
function show.markdown(doc, look)
  local out = text.new(look)
  out:put("### %s: %s\n", units.base_name(doc.file), doc.errors + doc.warnings == 0
    and "nothing found in " .. plural(#doc.cases, "case")
    or plural(doc.errors, "error") .. ", " .. plural(doc.warnings, "warning"))
  if doc.errors + doc.warnings > 0 then
    out:put("\n| case | place | what | level |\n|---|---|---|---|\n")
  end
  for _, c in ipairs(doc.cases) do
    for _, f in ipairs(c.findings) do
      out:put("| %s | %s | %s (`%s`) | %s |\n", cell(c.case), (string.gsub(place(f, doc.file),
        ": $", "")), cell(f.text), f.kind, f.level)
    end
    if c.problem then
      out:put("| %s | | %s | error |\n", cell(c.case), cell(c.problem))
    end
  end
  return out
end

return show
