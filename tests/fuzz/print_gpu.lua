--- The part of a program for a GPU that calls one emitted header: lua5.4 print_gpu.lua NAME HEADER
---
--- Everything is read from the header's text, as a user would: names and order of the arguments,
--- the alignment that the naive variant asks of them, the arrays that have to be packed.
local name, path = arg[1], arg[2]
local file = assert(io.open(path))
local text = file:read "a"
file:close()

local function fail(what)
  io.stderr:write(path, ": no ", what, "\n")
  os.exit(1)
end

-- Names of the parameters in a list of declarations.
local function names_in(list)
  local out = {}
  for item in (list .. ","):gmatch "([^,]*)," do
    out[#out + 1] = item:match "([%a_][%w_]*)%s*$"
  end
  return out
end

local arguments = text:match("\ncudaError_t " .. name .. "%((.-)%)")
local takes = text:match("inline bool " .. name .. "_detail_k0_takes%(.-\n}")
if not (arguments and takes) then
  fail "launch function"
end

local function is_array(item)
  return arguments:find("%*%s*" .. item .. "%f[^%w_]")
end

-- Extents in the order in which an array's packing functions take them; nil: it has none.
local function packing(array)
  local head = "inline bool " .. name .. "_layout_" .. array .. "_pack%(void %*packed,(.-)%)"
  local list = text:match(head)
  if not list then
    return nil
  end
  local out = {}
  for _, item in ipairs(names_in(list)) do
    if item:find "^n_" then
      out[#out + 1] = ('extent("%s")'):format(item:sub(3))
    end
  end
  return table.concat(out, ", ")
end

local call, variant, aligns, packs = {}, {}, {}, {}
for _, item in ipairs(names_in(arguments)) do
  local value
  if item == "stream" then
    value = "0"
  elseif item == "workspace" then
    value = "workspace"
  elseif item:find "^n_" then
    value = ('extent("%s")'):format(item:sub(3))
  elseif is_array(item) then
    value = ('array("%s")'):format(item)
    local align = takes:match("aligned%(c%->" .. item .. ", (%d+)%)") or "1"
    aligns[#aligns + 1] = ('    {"%s", %s},\n'):format(item, align)
    local extents = packing(item)
    if extents then
      local space = name .. "_layout_" .. item
      local more = extents ~= "" and ", " .. extents or ""
      packs[#packs + 1] = ('  if (is("%s")) return pack ? %s_pack(to, AnyConst{from}%s) : ' ..
        "%s_unpack(Any{to}, from%s);\n"):format(item, space, more, space, more)
      local ask = '  if (is("%s", true)) { bytes = %s_bytes(%s); return true; }\n'
      packs[#packs + 1] = ask:format(item, space, extents)
    end
  else
    value = ('scalar("%s")'):format(item)
  end
  call[#call + 1] = value
  if item ~= "stream" then
    variant[#variant + 1] = value
  end
end
local workspace = arguments:find("workspace", 1, true)

io.write(([[
#include "%s.h"
#include "gpu.h"
extern "C" const fz_spec fz_%s;

struct Case_%s : Case {
  Case_%s() : Case(&fz_%s, {
%s  }) {}
  cudaError_t call() override { return %s(%s); }
  const char *variant() override { return %s_variant(%s).variant; }
  size_t workspace_bytes() override { return %s; }
  bool convert(void *to, const void *from, bool pack) override {
    (void)to, (void)from, (void)pack;
%s    return false;
  }
};
static Case_%s the_case;
]]):format(name, name, name, name, name, table.concat(aligns), name, table.concat(call, ", "), name,
  table.concat(variant, ", "),
  workspace and name .. "_workspace_bytes()" or "0",
  table.concat(packs), name))
