--- A random spec and the plain C that says what it means.
---
---   lua5.4 tests/fuzz/generate.lua SEED INDEX FOLDER [FAMILY]
---
--- writes FOLDER/spec.lua, the layout files that it names, and FOLDER/reference.c.
local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/?.lua;" .. package.path

local build = require "build"
local layouts = require "layouts"
local print_c = require "print_c"
local print_spec = require "print_spec"
local random = require "random"

local seed, index, folder = math.tointeger(arg[1]), math.tointeger(arg[2]), arg[3]
local family = arg[4] ~= "" and arg[4] or nil
if not (seed and index and folder) then
  io.stderr:write("usage: lua5.4 generate.lua SEED INDEX FOLDER [FAMILY]\n")
  os.exit(2)
elseif family and not build.families[family] then
  local names = {}
  for n, entry in ipairs(build.FAMILIES) do
    names[n] = entry[1]
  end
  io.stderr:write(("no family '%s'; there are %s\n"):format(family, table.concat(names, ", ")))
  os.exit(2)
end

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  assert(file:close())
end

local spec = build.spec(random.new(seed, index), ("fuzz_%d_%d"):format(seed, index), family)
write("spec.lua", print_spec.text(spec))
write("reference.c", print_c.text(spec))
for _, list in ipairs { spec.inputs, spec.outputs } do
  for _, a in ipairs(list) do
    for _, lay in ipairs(a.layouts) do
      if lay.file then
        write(lay.file .. ".lua", layouts.file_text[lay.file])
      end
    end
  end
end
