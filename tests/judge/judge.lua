--- Judges candidates of specs by brute force, and holds the program to it: the index space is gone
--- through for what it touches, and each request of the launch is looked at. Nothing of the program
--- is used but its list of requests and its layout files.
---
---   lua5.4 tests/judge/judge.lua [options] SPEC.lua...      these, at sizes that are small enough
---   lua5.4 tests/judge/judge.lua [options] --random COUNT   random ones
---
---   --program FILE   default build/dev/sectile
---   --seed S         of random specs and of the candidates that are drawn; default 1
---   --first K        the first of the random specs; default 1
---   --candidates N   of each spec; default 3
---   --points N       most points of an index space; default 8000
---   --tune N         tunes every Nth candidate too; default none
---   --keep DIR       keeps random specs that have a finding
---
--- A line for each verdict, and each figure of an array, on which both do not agree, then one that
--- sums up. Exit code 0: they agree on all.
local top = arg[0]:match "^(.*)/tests/judge/" or "."
package.path = top .. "/tests/judge/?.lua;" .. top .. "/tests/fuzz/?.lua;" .. package.path
local expression = require "expression"
local footprint = require "footprint"
local json = require "json"
local random = require "random"
local requests = require "requests"
local sizes = require "sizes"
local spec = require "spec"

local options = { program = top .. "/build/dev/sectile", seed = 1, first = 1, candidates = 3,
                  points = 8000, tune = math.huge }
local files = {}

local function read_options()
  local k = 1
  while k <= #arg do
    local name = arg[k]:match "^%-%-(%a+)$"
    if name then
      options[name] = math.tointeger(arg[k + 1]) or arg[k + 1]
      k = k + 1
    else
      files[#files + 1] = arg[k]
    end
    k = k + 1
  end
end

-- ---- the program ----

local scratch

local function quoted(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- What the program prints, nil and its message where it fails.
local function run(...)
  local words = { quoted(options.program) }
  for _, word in ipairs { ... } do
    words[#words + 1] = quoted(word)
  end
  local pipe = io.popen(table.concat(words, " ") .. " 2>" .. scratch .. "/err")
  local out = pipe:read "a"
  if pipe:close() then
    return out
  end
  local err = io.open(scratch .. "/err")
  local text = err:read "a"
  err:close()
  return nil, text ~= "" and text or out
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

-- ---- one spec ----

local CLOSE = 0.02 -- figures and limits that are no further apart, relative

local sums = { specs = 0, candidates = 0, skipped = 0, uncoalesced = 0, found = 0, close = 0,
               tuned = 0, unknown = 0 }

local function found(of, label, text, ...)
  sums.found = sums.found + 1
  print(("%s: %s: " .. text):format(of, label, ...))
end

-- Which of the array's layouts a candidate has.
local function layout_of(array, label)
  for _, alternative in ipairs(array.alternatives) do
    if (label .. " "):find(" " .. array.name .. "=" .. alternative.label .. " ", 1, true) then
      return alternative
    end
  end
  return array.alternatives[1]
end

-- The choices of layouts in a label; candidates with the same touch the same bytes.
local function layouts_in(kernel, label)
  local out = {}
  for _, array in pairs(kernel.arrays) do
    out[#out + 1] = #array.alternatives > 1 and layout_of(array, label).label or nil
  end
  return table.concat(out, " ")
end

-- Extent of the places that an index array points to: the values that it may hold are below.
local function limit_of(kernel, index, size)
  local limit = math.huge
  for _, array in pairs(kernel.arrays) do
    local ext = spec.extents(array, size)
    for d, text in ipairs(array.at) do
      local place, names = expression.compile(text)
      if names[index.name] and array ~= index then
        local function fits(value)
          local most = 0
          for _, at_end in ipairs { 0, 1 } do
            local env = { [index.name] = value }
            for name, extent in pairs(size) do
              if math.type(extent) == "integer" then
                env[name], env["n_" .. name] = at_end * (extent - 1), extent
              end
            end
            most = math.max(most, place(env))
          end
          return most < ext[d]
        end
        local low, high = 0, ext[d]
        while high - low > 1 do
          local middle = (low + high) // 2
          low, high = fits(middle) and middle or low, fits(middle) and high or middle
        end
        limit = math.min(limit, low + 1)
      end
    end
  end
  return limit
end

-- How the tuner fills the index array at this size, nil: as it does where nothing is said.
local function fill_of(kernel, index, size)
  local said = size[index.name] or index.options.fill
  for _, array in pairs(kernel.arrays) do
    for _, text in ipairs(array.at) do
      local _, names = expression.compile(text)
      if array.is_output and names[index.name] and not said then
        said = array.options.accumulate and "random" or "permuted"
      end
    end
  end
  return said
end

-- What the tuner puts into an index array: a kernel that looks up bytes through it is profiled, and
-- where its lanes went are the values.
local function contents_of(kernel, index, size)
  local ext, dims, extents = spec.extents(index, size), {}, {}
  for d, extent in ipairs(ext) do
    dims[d] = ("%q"):format("d" .. d)
    extents[d] = ("d%d = %d"):format(d, extent)
  end
  local fill = fill_of(kernel, index, size)
  local path = scratch .. "/probe.lua"
  write(path, ([[
local s = require "sectile"
return s.kernel {
  name = "probe", dims = { %s },
  inputs = {
    s.array("%s", "%s", s.row_major, { %s none = %s }),
    s.array("probed", "u8", s.row_major, { dims = { "m_probe" }, at = { "%s" } }),
  },
  outputs = { s.array("o_probe", "u8") },
  body = "o_probe = probed;", sizes = { { %s, m_probe = %d } },
}
]]):format(table.concat(dims, ", "), index.name, index.record.fields[1].type,
    fill and ("fill = %q,"):format(fill) or "", tostring(index.options.none == true), index.name,
    table.concat(extents, ", "), limit_of(kernel, index, size)))
  assert(run("profile", path, "-q", "--requests", scratch .. "/requests"))
  local values, lanes_of = {}, {}
  for line in io.lines(scratch .. "/requests") do
    local warp, access, array, offsets = line:match "^(%d+,%d+),%d+,(%a+),([%w_]+),%d+,(.*)"
    if array == "probed" then
      lanes_of[warp] = {}
      for offset in offsets:gmatch "%d+" do
        table.insert(lanes_of[warp], math.tointeger(offset))
      end
    elseif access == "store" then
      local lane = 0
      for offset in offsets:gmatch "%d+" do
        lane = lane + 1
        values[math.tointeger(offset)] = lanes_of[warp][lane]
      end
    end
  end
  return values
end

-- What is touched of each operand. Places in ragged rows are those that the plain kernel asks for:
-- a thread goes to each point's own elements and nowhere else. Where the body computes places, each
-- point has an element of its own.
local function sets_of(kernel, label, size, contents, plain)
  local sets, touched = {}, nil
  for name, array in pairs(kernel.arrays) do
    local why = footprint.unknown(kernel, array)
    if why then
      touched = touched or requests.touched(plain())
    end
    for _, way in ipairs { " loads", " stores" } do
      if why == "computed" then
        sets[name .. way] = { set = touched[name .. way] or {},
                              sectors = sizes.points(kernel, size) }
      elseif why then
        sets[name .. way] = { set = touched[name .. way] or {},
                              sectors = footprint.sectors(touched[name .. way]) }
      else
        local set, n = footprint.of(kernel, array, layout_of(array, label), size, contents)
        sets[name .. way] = { set = set, sectors = n }
        if way == " loads" then
          sets[name .. " stores"] = sets[name .. way]
          break
        end
      end
    end
    sets[name .. " loads"].asked = footprint.asked(kernel, array, size)
    sets[name .. " stores"].asked = sets[name .. " loads"].asked
  end
  return sets
end

-- In how many windows the candidate goes through what an index points to, one after the other.
local function windows_in(label)
  return math.tointeger(label:match " windows=(%d+)") or 1
end

-- How often a kernel that goes through an array in windows needs a sector of one that is not behind
-- an index: in each window that has one of the `each` points of the sector.
local function times_needed(windows, each)
  return each > 1 and windows * (1 - (1 - 1 / windows) ^ each) or 1
end

local function add_windows(sets, kernel, windows, size)
  for name, array in pairs(kernel.arrays) do
    local is_index = false
    for _, other in pairs(kernel.arrays) do
      for _, index in ipairs(footprint.indices(kernel, other)) do
        is_index = is_index or index == array
      end
    end
    local set = sets[name .. " loads"]
    if not is_index and #footprint.indices(kernel, array) == 0 and set.sectors > 0 then
      local each = sizes.points(kernel, size) / set.sectors
      set.sectors = set.sectors * times_needed(windows, each)
    end
  end
end

local function near(a, b)
  return math.abs(a - b) <= CLOSE * math.max(a, b) + 1
end

local function said(coalesced)
  return coalesced and "coalesced" or "not coalesced"
end

-- Holds the program's figures of a candidate to ours: with --requests it counts all blocks.
local function compare(of, label, theirs, counts)
  local coalesced, margin = requests.verdict(counts)
  sums.candidates = sums.candidates + 1
  sums.uncoalesced = sums.uncoalesced + (coalesced and 0 or 1)
  if theirs.coalesced ~= coalesced then
    local close = margin <= CLOSE
    sums.close = sums.close + (close and 1 or 0)
    found(of, label, "%s by the program, %s here%s", said(theirs.coalesced), said(coalesced),
      close and ", close to the limit" or "")
  end
  for _, access in ipairs(theirs.arrays) do
    local c = counts[access.array .. " " .. access.access]
      or { sectors = 0, ideal = 0, footprint = 0 }
    access.minimum, c.minimum = requests.minimum(access), requests.minimum(c)
    for _, figure in ipairs { "sectors", "minimum", "footprint" } do
      if not near(access[figure], c[figure]) then
        found(of, label, "%s of %s %s: %.1f by the program, %.1f here", figure, access.array,
          access.access, access[figure], c[figure])
      end
    end
  end
end

-- What `tune` says of the candidate, from some of its blocks where there are many.
local function compare_tuned(of, path, label, counts)
  local text = run("tune", path, "--only", label, "--device", "virtual:h200", "--json", "-q",
    "--store", scratch .. "/store")
  os.remove(scratch .. "/store")
  local size = text and json.read(text).tuned[1].report.sizes[1]
  for _, row in ipairs(size and size.rows or {}) do
    if row.label == label and row.outcome == "ok" then
      local coalesced, margin, share = requests.verdict(counts)
      sums.tuned = sums.tuned + 1
      sums.unknown = sums.unknown + (row.coalesced_unknown and 1 or 0)
      if row.coalesced_unknown and row.sectors_error == 0 then
        found(of, label, "unknown when tuned, of exact counts")
      elseif not row.coalesced_unknown and row.coalesced ~= coalesced and margin > CLOSE then
        found(of, label, "%s when tuned, %s here", said(row.coalesced), said(coalesced))
      elseif math.abs(row.coalesced_share - share) > CLOSE + row.sectors_error then
        found(of, label, "share %.3f when tuned, %.3f here", row.coalesced_share, share)
      end
    end
  end
end

-- Labels of a few candidates of different strategies, drawn, and of the plain kernel of each choice
-- of layouts.
local function draw(kernel, path, r)
  local text, why = run("gen", path, "--list", "-q")
  if not text then
    return nil, why
  end
  local plain, others, by_strategy = {}, {}, {}
  for label in text:gmatch "[^\n]+" do
    local strategy = label:match "^%S+"
    local list = by_strategy[strategy]
    if strategy == "direct" then
      local layouts = layouts_in(kernel, label)
      plain[layouts] = plain[layouts] or label
    end
    if not list then
      list = {}
      by_strategy[strategy] = list
      others[#others + 1] = list
    end
    list[#list + 1] = label
  end
  local drawn = {}
  for _, list in ipairs(r:shuffled(others)) do
    drawn[#drawn + 1] = #drawn < options.candidates and r:pick(list) or nil
  end
  for _ = #drawn + 1, options.candidates do
    drawn[#drawn + 1] = r:pick(r:pick(others))
  end
  return drawn, plain
end

local function profile(path, label)
  return run("profile", path, "--pick", label, "--json", "-q", "--requests", scratch .. "/requests")
end

local function judge_candidate(of, kernel, path, size, label, contents, plain)
  local text, why = profile(path, label)
  local case = text and json.read(text).cases[1]
  local theirs = case and case.coalescing
  if (why or ""):find "requirements are not met" then
    return
  elseif not theirs then -- such as a template whose text does not compile
    found(of, label, "no figures: %s", (why or ""):match "[^\n]*")
    return
  end
  local list = read(scratch .. "/requests")
  local sets = sets_of(kernel, label, size, contents, function()
    local other = plain[layouts_in(kernel, label)] or label
    assert(profile(path, other))
    return read(scratch .. "/requests")
  end)
  if windows_in(label) > 1 then
    add_windows(sets, kernel, windows_in(label), size)
  end
  local counts = requests.count(list, sets)
  compare(of, label, theirs, counts)
  if sums.candidates % options.tune == 0 then
    compare_tuned(of, path, label, counts)
  end
end

--- `path` has one size, which is small.
local function judge(of, path, size, r)
  local kernel = spec.read(path, top)
  local drawn, plain = draw(kernel, path, r)
  sums.specs = sums.specs + 1
  if not drawn then
    sums.skipped = sums.skipped + 1
    print(("%s: skipped: %s"):format(of, plain:match "[^\n]*"))
    return
  end
  local contents = {}
  for _, array in pairs(kernel.arrays) do
    for _, index in ipairs(footprint.indices(kernel, array)) do
      contents[index.name] = contents[index.name] or contents_of(kernel, index, size)
    end
  end
  for _, label in ipairs(drawn) do
    judge_candidate(of, kernel, path, size, label, contents, plain)
  end
end

-- ---- files, and random specs ----

local function judge_file(path)
  local dir, name = path:match "^(.*)/([^/]+)$"
  local copy = scratch .. "/" .. name
  os.execute(("cp -r %s/. %s"):format(quoted(dir or "."), quoted(scratch)))
  local readable, small = pcall(function()
    return sizes.small(spec.read(path, top), options.points)
  end)
  if not readable then
    sums.skipped = sums.skipped + 1
    print(("%s: skipped: %s"):format(path, small))
    return
  end
  for k, size in ipairs(small) do
    write(copy, sizes.replace(read(path), size))
    local good, why = pcall(judge, path, copy, size, random.new(options.seed, k))
    if not good then
      found(path, sizes.text(size), "%s", why)
    end
  end
end

local function judge_random(index)
  local generate = require "generate_spec"
  local r = random.new(options.seed, index)
  local text, size = generate.spec(r, index, options.points)
  local path = ("%s/judged_%d.lua"):format(scratch, index)
  write(path, text)
  local before = sums.found
  local good, why = pcall(judge, "random " .. index, path, size, r)
  if not good then
    found("random " .. index, "-", "%s", why)
  end
  if options.keep and sums.found > before then
    os.execute(("mkdir -p %s && cp %s %s"):format(quoted(options.keep), quoted(path),
      quoted(options.keep)))
  end
  os.remove(path)
end

read_options()
io.stdout:setvbuf "line"
scratch = io.popen("mktemp -d"):read "l"
local good, why = pcall(function()
  for _, path in ipairs(files) do
    judge_file(path)
  end
  for index = options.first, options.first + (options.random or 0) - 1 do
    judge_random(index)
  end
end)
os.execute("rm -rf " .. quoted(scratch))
assert(good, why)
print(("%d specs, %d candidates (%d not coalesced, %d tuned, %d unknown), %d skipped, "
  .. "%d findings, %d close to the limit"):format(sums.specs, sums.candidates, sums.uncoalesced,
  sums.tuned, sums.unknown, sums.skipped, sums.found, sums.close))
os.exit(sums.found == 0)
