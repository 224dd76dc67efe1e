-- Reads data files of mutants (tests/tune/mutants/NAME.lua) for test_tune_mutants.c. A data file
-- returns
--
--   specs       name -> a spec's text
--   candidates  name -> { spec, label [, device = "h200"] [, change = { file, from, to }] }
--               right as they are; `change` of an asset holds for their mutants as well
--   mutants     a list of { kind, candidate or list of candidates, file, from, to }: in the asset
--               `file`, of templates/ or with a path from the root, every `from` becomes `to`; with
--               "source" as the file, the first `from` in the candidate's CUDA source
--
-- A directory has spec.lua, with kernels of a user's own (`also`), and k.cu. All of its kernels are
-- right; but where one has an axis MUT, 0 alone is, and others are what k.cu says after `MUT == N`:
--
--   // TEXT           wrong, and how
--   // right: TEXT    right, too
--   // large: TEXT    wrong at extents that no launch on a virtual device has
local M = {}

--- What a mutant gets wrong; those of a directory have its name for that.
M.kinds = {
  "bound",     -- where a range ends, or what is guarded
  "barrier",   -- nobody waits: for threads, for copies
  "identity",  -- what a reduction or a scan begins with
  "index",     -- which element, lane, thread or block
  "rounding",  -- how a value is rounded or converted
  "alignment", -- what is asked of pointers, where vectors start
  "scope",     -- who sees an access, and when; what is atomic
  "carry",     -- what goes on from element to element, tile to tile, block to block
  "loop",      -- how often
  "value",     -- none of these
  "large",     -- what shows only where extents are too large for a launch on a virtual device
}

--- Ends with the list of kinds, unless `kind` is one.
function M.check_kind(kind)
  for _, known in ipairs(M.kinds) do
    if kind == known then
      return
    end
  end
  error(("no kind '%s' of mutants; kinds are %s"):format(kind, table.concat(M.kinds, ", ")), 0)
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function exists(path)
  local file = io.open(path, "rb")
  return file ~= nil and file:close()
end

-- The list of assets, each { path, text }, with one change more.
local function changed(assets, file, from, to)
  file = exists(M.root .. "/" .. file) and file or "templates/" .. file
  local list, text = {}, nil
  for k, asset in ipairs(assets) do
    list[k] = asset
    text = asset[1] == file and table.remove(list, k)[2] or text
  end
  text = text or read(M.root .. "/" .. file)
  local pattern = from:gsub("%p", "%%%0")
  local result, n = text:gsub(pattern, (to:gsub("%%", "%%%%")))
  if n == 0 or from == "" then
    error(("nothing to change in %s: %s"):format(file, from), 0)
  end
  list[#list + 1] = { file, result }
  return list, file
end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

-- The candidates, in groups of one spec and device, and the item of each by its name.
local function group_candidates(name, data)
  local groups, items = {}, {}
  for _, candidate in ipairs(sorted_keys(data.candidates)) do
    local c = data.candidates[candidate]
    local spec, label, device = c[1], c[2], c.device or "h200"
    local key = spec .. " on " .. device
    local group = groups[key]
    if not group then
      group = { data = name, spec = spec, device = device, items = {} }
      group.text = data.specs[spec] or error(("%s: no spec '%s'"):format(candidate, spec), 0)
      groups[key], groups[#groups + 1] = group, group
    end
    local item = { name = candidate, label = label, assets = {} }
    if c.change then
      item.assets = changed(item.assets, table.unpack(c.change))
    end
    group.items[#group.items + 1] = item
    item.index, items[candidate] = #group.items, { item = item, group = group }
  end
  return groups, items
end

local function add_mutant(of, mutant, number)
  local item = {
    name = of.item.name, number = number, kind = mutant[1], original = of.item.index,
    label = of.item.label, assets = of.item.assets, from = mutant[4], to = mutant[5],
  }
  if mutant[3] ~= "source" then
    item.assets, item.file = changed(item.assets, mutant[3], mutant[4], mutant[5])
  end
  of.group.items[#of.group.items + 1] = item
end

-- The group of a directory: its right kernels first.
local function read_directory(path)
  local spec, kind = path .. "/spec.lua", path:match "([^/]+)/*$"
  local text, whats = read(spec), {}
  for number, what in read(path .. "/k.cu"):gmatch "MUT == (%d+)%s*//%s*([^\n]*)" do
    whats[number] = whats[number] or what
  end
  local right, wrong = {}, {}
  local values = text:match "MUT%s*=%s*(%b{})"
  for kernel in text:gmatch 'kernel%s*=%s*"([%w_]+)' do
    for value in (values or "0"):gmatch "%d+" do
      local item = {
        name = kind, label = "own_" .. kernel, what = whats[value] or kernel,
        number = values and tonumber(value) or #right + 1, assets = {},
      }
      item.label = item.label .. (values and " MUT=" .. value or "")
      if value == "0" or item.what:find "^right:" then
        right[#right + 1] = item
      else
        item.kind, item.original = item.what:find "^large:" and "large" or kind, 1
        wrong[#wrong + 1] = item
      end
    end
  end
  M.kinds[#M.kinds + 1] = kind
  table.move(wrong, 1, #wrong, #right + 1, right)
  return { data = kind, spec = "its own", path = spec, device = "h200", items = right }
end

--- The groups of a data file, a directory or, where candidates are to be drawn, a spec: candidates
--- first, then their mutants.
function M.groups(name)
  local data
  if name:find "%.lua$" then
    return {
      { data = name, spec = "itself", path = name, device = "h200", drawn = true, items = {} },
    }
  elseif name:find "/" then
    return { read_directory(name) }
  elseif exists(M.root .. "/tests/mutants/" .. name .. "/spec.lua") then
    return { read_directory(M.root .. "/tests/mutants/" .. name) }
  else
    data = dofile(M.root .. "/tests/tune/mutants/" .. name .. ".lua")
  end
  local groups, items = group_candidates(name, data)
  local number = 0
  for _, mutant in ipairs(data.mutants) do
    M.check_kind(mutant[1])
    for _, candidate in ipairs(type(mutant[2]) == "table" and mutant[2] or { mutant[2] }) do
      number = number + 1
      add_mutant(items[candidate] or error("no candidate '" .. candidate .. "'", 0), mutant, number)
    end
  end
  return groups
end

-- Comments, and lines that are settled when the source is compiled.
local function is_left_out(text, at)
  local comment = text:find("//", 1, true)
  return comment and comment <= at or text:find "constexpr" or text:find "static_assert"
    or text:find "alignof"
end

-- The changes that one operator makes, appended to the list. Lines: { first byte, text }.
local function operate(list, source, lines, kind, operator)
  local pattern, to, unless = table.unpack(operator)
  local first, last = source:find(pattern)
  local n = 1
  while first do
    while lines[n + 1] and lines[n + 1][1] <= first do
      n = n + 1
    end
    local start, text = table.unpack(lines[n])
    if not is_left_out(text, first - start + 1) and not (unless and text:find(unless)) then
      local rest = source:sub(first, last + 1) -- with what follows, for frontiers
      local replaced = rest:gsub(pattern, to, 1)
      list[#list + 1] = {
        kind = kind, at = first - 1, from = source:sub(first, last),
        to = replaced:sub(1, #replaced - (#rest - (last - first + 1))),
        where = ("line %d: %s"):format(n, text:match "^%s*(.*)$"),
      }
    end
    first, last = source:find(pattern, last + 1)
  end
end

--- What operators change in a kernel's source, one occurrence each, in the order of the table.
function M.operators(source)
  local list, lines, at = {}, {}, 1
  for text in source:gmatch "([^\n]*)\n?" do
    lines[#lines + 1], at = { at, text }, at + #text + 1
  end
  local operators = dofile(M.root .. "/tests/tune/mutants/operators.lua")
  for _, kind in ipairs(M.kinds) do
    for _, operator in ipairs(operators[kind] or {}) do
      operate(list, source, lines, kind, operator)
    end
  end
  return list
end

return M
