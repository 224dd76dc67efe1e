-- generate: what is made of the tables of commands and options (cli_generate.c): help, the man
-- page, completions for shells; and definitions for editors.
--
-- The document has `version`, `commands` (name, words, doc, details, example, options), `options`
-- of every command, and `exits` (code, text); an option has name, letter, arg, doc, file.
local generate = {}

local text = require "sectile.text"
local USUAL_WIDTH = 100 -- where the terminal's is not known

-- ---- help ----

local function joined(s)
  return (string.gsub(s, "\n", " "))
end

local function option_table(options)
  local t = text.table { "", "" }
  for _, o in ipairs(options) do
    t:row("plain", (o.letter and "-" .. o.letter .. ", " or "    ") .. "--" .. o.name
      .. (o.arg and " " .. o.arg or ""), joined(o.doc))
  end
  return t
end

-- Several statuses may share an exit code: "4    no device, no NVRTC".
local function exit_lines(exits)
  local lines, last = {}, nil
  for _, e in ipairs(exits) do
    if e.code == last then
      lines[#lines] = lines[#lines] .. ", " .. e.text
    else
      lines[#lines + 1] = string.format("  %-4d %s", e.code, e.text)
    end
    last = e.code
  end
  return table.concat(lines, "\n") .. "\n"
end

local function new_text(look)
  return text.new { width = look.width > 0 and look.width or USUAL_WIDTH }
end

--- The help of the program.
---@return sectile.Text
function generate.program(doc, look)
  local out, commands = new_text(look), text.table { "", "" }
  for _, c in ipairs(doc.commands) do
    commands:row("plain", c.name .. " " .. c.words, c.doc)
  end
  out:put("Sectile generates and autotunes CUDA kernels for memory-bound work.\n\n"
    .. "Usage: sectile COMMAND [options]\n\nCommands:\n")
  out:table(commands, 2)
  out:put("\n`sectile COMMAND --help` describes one command. Options of every command:\n")
  out:table(option_table(doc.options), 2)
  out:put("\nQuick start:\n  sectile init\n  sectile tune my_kernel.lua --budget 60s\n"
    .. "  sectile emit my_kernel.lua -o my_kernel.h\n\nExit codes:\n")
  out:put("%s", exit_lines(doc.exits))
  return out
end

--- The help of the command look.command.
---@return sectile.Text
function generate.command(doc, look)
  local c, out = doc.commands[look.command], new_text(look)
  out:put("Usage: sectile %s%s%s [options]\n\n%s: %s.\n\n", c.name, c.words ~= "" and " " or "",
    c.words, c.name, c.doc)
  out:put("%s\n", joined(c.details))
  if #c.options > 0 then
    out:put("\nOptions:\n")
    out:table(option_table(c.options), 2)
  end
  out:put("\nOptions of every command:\n")
  out:table(option_table(doc.options), 2)
  out:put("\nExample:\n  sectile %s\n", c.example)
  return out
end

-- ---- man page ----

-- No character of it starts a request, and `-` is one that can be copied.
local function roff(s)
  s = string.gsub(s, "\\", "\\e")
  s = string.gsub("\n" .. s, "\n([.'])", "\n\\&%1")
  return (string.gsub(string.sub(s, 2), "%-", "\\-"))
end

local function man_options(options)
  local list = {}
  for k, o in ipairs(options) do
    list[k] = string.format(".TP\n%s\\fB%s\\fR%s\n%s\n",
      o.letter and "\\fB\\-" .. o.letter .. "\\fR, " or "", roff("--" .. o.name),
      o.arg and " \\fI" .. o.arg .. "\\fR" or "", roff(o.doc))
  end
  return table.concat(list)
end

---@return string[]
function generate.man(doc)
  local out = { string.format([[
.TH SECTILE 1 "" "sectile %s"
.SH NAME
sectile \- tune memory\-bound GPU kernels
.SH SYNOPSIS
.B sectile
.I COMMAND
[options]
.SH DESCRIPTION
Sectile generates and autotunes CUDA kernels for memory\-bound work: from a short description of the
computation and the memory layouts it generates variants with different access patterns, verifies
and times each, and writes the fastest as a header.
.SH COMMANDS
]], doc.version) }
  for _, c in ipairs(doc.commands) do
    out[#out + 1] = string.format(
      ".SS sectile %s %s\n%s.\n.PP\n%s\n%s.PP\nExample:\n.EX\n  sectile %s\n.EE\n", c.name, c.words,
      roff(c.doc), roff(c.details), man_options(c.options), roff(c.example))
  end
  out[#out + 1] = ".SH OPTIONS OF EVERY COMMAND\n" .. man_options(doc.options)
    .. ".SH EXIT STATUS\n"
  for _, e in ipairs(doc.exits) do
    out[#out + 1] = string.format(".TP\n%d\n%s\n", e.code, roff(e.text))
  end
  return out
end

-- ---- shells ----

-- What a command takes: its own options and those of every command, in the order of the table.
local function all_options(doc, command)
  local list = {}
  for _, options in ipairs { doc.options, command.options } do
    for _, o in ipairs(options) do
      list[#list + 1] = o
    end
  end
  table.sort(list, function(a, b)
    return a.index < b.index
  end)
  return list
end

-- "--store", "-h": those of options, or of options that name a file.
local function names(options, files_only)
  local list = {}
  for _, o in ipairs(options) do
    if not files_only or o.file then
      list[#list + 1] = "--" .. o.name
      list[#list + 1] = o.letter and "-" .. o.letter or nil
    end
  end
  return list
end

local function case(label, words)
  return string.format("    %s) words='%s' ;;\n", label, table.concat(words, " "))
end

---@return string[]
function generate.bash(doc)
  local commands, cases = {}, {}
  for k, c in ipairs(doc.commands) do
    commands[k] = c.name
    cases[k] = case(c.name, names(all_options(doc, c)))
  end
  local list = table.concat(commands, " ")
  return { string.format([==[
# bash completion for sectile: made by `sectile generate bash`
_sectile() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local word words command=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ " %s " == *" $word "* ]] && command=$word && break
  done
  case $prev in
    %s) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case $command in
]==], list, table.concat(names(doc.every, true), "|")),
    case("''", { list, table.concat(names(doc.options), " ") }), table.concat(cases), [==[
  esac
  if [[ -z $command || $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _sectile sectile
]==] }
end

-- Text within '...' of zsh, in which brackets and colons have a meaning of their own.
local function zsh(s)
  return (string.gsub(string.gsub(s, "[%[%]:]", "\\%0"), "'", "'\\''"))
end

local function zsh_option(o)
  return string.format(" \\\n        %s'[%s]%s'",
    o.letter and string.format("{-%s,--%s}", o.letter, o.name) or "--" .. o.name, zsh(o.doc),
    o.arg and ":" .. o.arg .. ":" .. (o.file and "_files" or "") or "")
end

---@return string[]
function generate.zsh(doc)
  local commands, cases = {}, {}
  for k, c in ipairs(doc.commands) do
    local options = {}
    for n, o in ipairs(all_options(doc, c)) do
      options[n] = zsh_option(o)
    end
    commands[k] = string.format("    '%s:%s'\n", c.name, zsh(c.doc))
    cases[k] = string.format("      %s) _arguments%s '*:file:_files' ;;\n", c.name,
      table.concat(options))
  end
  return { [[
#compdef sectile
# made by `sectile generate zsh`
_sectile() {
  local state
  local -a commands
  commands=(
]], table.concat(commands), [[
  )
  _arguments -C '1: :->command' '*:: :->words'
  case $state in
    command) _describe command commands ;;
    words) case $words[1] in
]], table.concat(cases), [[
    esac ;;
  esac
}
_sectile "$@"
]] }
end

-- Text within '...' of fish.
local function fish(s)
  return (string.gsub(s, "['\\]", "\\%0"))
end

local function fish_options(options, when)
  local list = {}
  for k, o in ipairs(options) do
    list[k] = string.format("complete -c sectile%s -l %s%s%s -d '%s'\n", when, o.name,
      o.letter and " -s " .. o.letter or "", o.arg and (o.file and " -rF" or " -x") or "",
      fish(o.doc))
  end
  return table.concat(list)
end

---@return string[]
function generate.fish(doc)
  local out = { "# made by `sectile generate fish`\n", fish_options(doc.options, "") }
  for _, c in ipairs(doc.commands) do
    out[#out + 1] = string.format(
      "complete -c sectile -n __fish_use_subcommand -f -a %s -d '%s'\n", c.name, fish(c.doc))
    out[#out + 1] = fish_options(c.options,
      string.format(" -n '__fish_seen_subcommand_from %s'", c.name))
  end
  return out
end

--- Definitions for editors with lua-language-server.
---@return string[]
function generate.lua()
  return { require "sectile.editor" }
end

return generate
