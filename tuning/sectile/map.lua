-- map: the schedule of maps. A team (a block or a warp) owns a tile of neighbouring elements
-- along the last dimension; each thread takes kItems groups of kVec neighbouring elements of it.
-- Every operand has a mover (movers.lua). The strategies vector, flat and staged are this
-- schedule with different movers; templates/map.cu is its text.
local map = {}

local function indent(text, by)
  return string.rep(" ", by) .. string.gsub(text, "\n", "\n" .. string.rep(" ", by))
end

-- An array that is indexed at run time lies in local memory, so such loops are always unrolled.
local function unrolled(text)
  return "#pragma unroll\n" .. text
end

-- Fields of `op` that move by single accesses; nil: none.
local function direct_fields(p, op)
  local mover = p.mover[op.number]
  if mover.kind == "direct" then
    return op.used
  end
  return mover.kind == "staged" and mover.rest or nil
end

-- Name of the array that holds an operand's values.
local function array_of(op)
  return op.name .. "_v"
end

-- Name of the array that a vector mover's run fills: one a field, unless the run is whole records.
local function run_array(op, run)
  local name = run.record and "" or op.record.fields[run.field].name
  return name == "" and array_of(op) or op.name .. "_" .. name .. "_v"
end

-- Condition under which a tile is whole; its text too where the extents alone do not say so: words
-- around the tile's elements must lie in their array.
local function full_condition(p)
  local k, stop = p.k, p.g.first + p.tile
  local full, text = stop:le(k.extents[p.dim]), string.format("first + kTile <= n_%s", p.last)
  for _, op in ipairs(p.g.inputs) do
    local run = p.mover[op.number].kind == "vector" and p.mover[op.number].runs[1]
    if run and (run.shifted or run.spaced) then
      local inside = around.limit(k, op, p.dim, run, stop)
      full, text = full:land(inside), text .. " && " .. E.text(inside, true)
    end
  end
  return full, text
end

-- Is an input's value the same all along the tile? It is loaded once then.
local function uniform(k, op)
  for _, f in ipairs(op.used) do
    if E.mentions(op.offset[f], k.index[#k.dims]) then
      return false
    end
  end
  return not op.is_output and not strides.turns(k, op, #k.dims)
end

-- Asks opts.mover for every operand's mover and takes what it needs into the plan. nil and a reason
-- if one has none.
local function adopt_movers(p, opts)
  local g = p.g
  for _, op in ipairs(g.ops) do
    local mover, reason = opts.mover(g, op, p)
    if not mover then
      return nil, string.format("%s: %s", op.name, reason)
    end
    p.any = p.any or mover.kind ~= "direct"
    local alike = uniform(p.k, op)
    g.steady[op.number] = g.steady[op.number] or alike
    mover = alike and mover.kind ~= "staged" and { kind = "uniform" } or mover
    p.mover[op.number] = mover
    if mover.kind == "vector" then
      movers.adopt_vector(g, mover, opts.vec)
    elseif mover.kind == "staged" then
      local slices = opts.threads // p.team_size
      if opts.stages then
        slices = op.is_output and (opts.out_images or 1) or opts.stages
      end
      mover.image.slice = opts.stages and (op.is_output and "out_slice" or "stage")
      mover.image.bytes = kit.ceil_div(mover.image.bytes, p.image_align) * p.image_align
      movers.adopt_image(g, mover.image, slices)
      local list = op.is_output and p.images_out or p.images_in
      list[#list + 1] = mover.image
    end
  end
  return true
end

---@class sectile.MapPlan what map.plan gives, for templates/map.cu
---@class sectile.MapOptions
---@field threads integer threads a block
---@field items integer groups a thread
---@field vec integer neighbouring elements in a group
---@field mover fun(g, op, p): sectile.Mover? an operand's mover, or nil and a reason
---@field scope? "block"|"warp" who owns a tile
---@field hint? "none"|"cs"|"keepin"|"keepout"
---@field unroll? integer 1: the copies of tiles stay loops
---@field min_blocks? integer for the launch bounds
---@field stages? integer images of every input, for tiles that are on their way
---@field out_images? integer images of every output where there are stages; default 1
---@field image_align? integer bytes that images are aligned to; default 16
---@field more_shared_bytes? integer static ones that the template declares itself
---@field team? fun(g, p): table whose number finds the tile: name, var; default the block
---@field period? integer the tile is rounded up to a multiple of it (1)

--- A plan for templates/map.cu. The strategy that returns it sets p.p = p and p.doc.
---@param k sectile.View
---@param kernel string
---@param opts sectile.MapOptions
---@return sectile.MapPlan? plan
---@return string? reason why there is none
function map.plan(k, kernel, opts)
  local g = kit.new(k, kernel, opts.threads)
  local n_dims = #k.dims
  local p = {
    g = g, k = k, kernel = kernel, threads = opts.threads, vec = opts.vec, dim = n_dims,
    last = k.dims[n_dims], scope = opts.scope or "block",
    mover = {}, images_in = {}, images_out = {}, image_align = opts.image_align or 16,
    more_shared_bytes = opts.more_shared_bytes or 0,
    copy_unroll = opts.unroll == 1 and "#pragma unroll 1" or "#pragma unroll",
  }
  g.hint = kit.hints.of(k, opts.hint)
  p.team_size = p.scope == "warp" and 32 or opts.threads
  local period = opts.period or 1
  p.tile = kit.ceil_div(p.team_size * opts.items * opts.vec, period) * period
  p.items = kit.ceil_div(p.tile, p.team_size * opts.vec)
  p.ragged = p.tile ~= p.team_size * p.items * opts.vec
  p.any = false -- does any operand move better than directly?
  local good, reason = adopt_movers(p, opts)
  if not good then
    return nil, reason
  end
  local warps = opts.threads // 32
  local team = opts.team and opts.team(g, p) or { name = "block", var = g.block }
  p.member_text, p.member = "thread", g.thread
  p.declare = ""
  if p.scope == "warp" then
    local warp = g:define("warp", 0, warps - 1, g.thread // 32)
    p.member = g:define("lane", 0, 31, g.thread % 32)
    p.member_text = "lane"
    team = { name = "team", var = g:define("team", 0, kit.MAX_INDEX, g.block * warps + warp) }
    p.warp = warp
    p.declare = string.format(
      "const int warp = thread / 32, lane = thread %% 32;\n"
        .. "const long long team = block * %d + warp; // each warp on its own", warps)
  end
  p.cut = g:cut(p.tile, team, p.scope == "warp" and warps or 1)
  p.full, p.full_text = full_condition(p)
  p.sync = p.scope == "warp" and "__syncwarp();" or "__syncthreads();"
  local min_blocks = opts.min_blocks or 0
  p.bounds = min_blocks > 0 and string.format("%d, %d", opts.threads, min_blocks)
    or tostring(opts.threads)
  p.team = { size = p.team_size, member = p.member, text = p.member_text, warp = p.warp }
  kit.hand_over(g, p)
  return p
end

--- constexpr lines at the top of the kernel.
---@param p sectile.MapPlan
---@return string
function map.constants(p)
  local names = { string.format("kItems = %d", p.items) }
  if not p.ragged and p.scope == "block" then
    table.insert(names, 1, string.format("kThreads = %d", p.threads))
  end
  if p.vec > 1 then
    names[#names + 1] = string.format("kVec = %d", p.vec)
  end
  local tile = p.ragged and tostring(p.tile)
    or (p.scope == "warp" and "32" or "kThreads") .. " * kItems" .. (p.vec > 1 and " * kVec" or "")
  return string.format(
    "constexpr int %s;\nconstexpr int kTile = %s; // elements of %s that a %s owns",
    kit.concat(names, ", "), tile, p.last, p.scope)
end

-- What stands above an image.
local function describe(image)
  local what = "tile, in the order of memory"
  if #image.runs > 1 or image.part then
    what = "fields of the tile, one run of bytes after the other"
  end
  if image.fix == "pad" then
    what = what .. string.format(", %d bytes of padding every 128", image.unit)
  elseif image.fix == "xor" then
    what = what .. ", 16-byte words swizzled within 8 rows of 128 bytes"
  end
  return string.format("// %s's %s", image.op.name, what)
end

--- Declarations of the images: static, or where p.dynamic says so parts of the dynamic shared
--- memory, which may be larger.
---@param p sectile.MapPlan
---@return string
function map.images(p)
  local lines, at = {}, 0
  if p.dynamic then
    lines[1] = string.format("extern __shared__ __align__(%d) unsigned char shared_tiles[];",
      p.image_align)
  end
  for _, list in ipairs { p.images_in, p.images_out } do
    for _, image in ipairs(list) do
      local slices = image.slices > 1 and string.format("[%d]", image.slices) or ""
      lines[#lines + 1] = describe(image)
      if not p.dynamic then
        lines[#lines + 1] = string.format("__shared__ __align__(%d) unsigned char %s%s[%d];",
          p.image_align, image.name, slices, image.bytes)
      elseif image.slices > 1 then
        lines[#lines + 1] = string.format("auto %s = reinterpret_cast<unsigned char (*)[%d]>"
          .. "(shared_tiles + %d); // %d of them", image.name, image.bytes, at, image.slices)
      else
        lines[#lines + 1] = string.format("unsigned char *const %s = shared_tiles + %d;",
          image.name, at)
      end
      at = at + image.bytes * image.slices
    end
  end
  return kit.concat(lines)
end

--- Moves the images to dynamic shared memory if they are more than a block has without asking.
--- nil and a reason if they are more than it can have.
---@param p sectile.MapPlan
---@return boolean? good
---@return string? reason
function map.place_images(p)
  local device, bytes, more = p.k.device, p.g.static_shared_bytes, p.more_shared_bytes
  if bytes + more <= device.smem_block_bytes then
    p.static_shared_bytes = bytes + more
    return true
  elseif kit.ceil_div(more, p.image_align) * p.image_align + bytes > device.smem_optin_bytes then
    return nil, "the tiles need more shared memory than a block has"
  end
  p.dynamic, p.shared_bytes, p.static_shared_bytes = true, bytes, more
  return true
end

--- Copies all input tiles in.
---@param p sectile.MapPlan
---@return string
function map.copy_in(p)
  local lines = {}
  for _, image in ipairs(p.images_in) do
    lines[#lines + 1] = movers.copy(p.g, image, p.team, p.tile, p.g.first, p.copy_unroll, p.full)
  end
  return kit.concat(lines)
end

--- Copies all output tiles out.
---@param p sectile.MapPlan
---@return string
function map.copy_out(p)
  local lines = {}
  for _, image in ipairs(p.images_out) do
    lines[#lines + 1] = movers.copy(p.g, image, p.team, p.tile, p.g.first, p.copy_unroll, p.full)
  end
  return kit.concat(lines)
end

-- ---- values in registers ----

local function value_count(p)
  return p.vec > 1 and "kItems * kVec" or "kItems"
end

-- Arrays that hold an operand's values between loading and use.
local function declare_values(p, op)
  local mover, count = p.mover[op.number], value_count(p)
  local align = mover.kind == "vector" and "__align__(16) " or ""
  if mover.kind == "vector" and not mover.runs[1].record then
    local lines = {}
    for _, run in ipairs(mover.runs) do
      local field = op.record.fields[run.field]
      lines[#lines + 1] = string.format("%s%s %s[%s];", align, field.cuda, run_array(op, run),
        count)
    end
    return kit.concat(lines)
  end
  local type = op.is_index and mover.kind == "direct" and "long long" or kit.value_type(op)
  return string.format("%s%s %s[%s];", align, type, array_of(op), count)
end

-- Opens the loop over items; inside, `group` is the first element of the thread's group, relative
-- to the tile.
local function open_items(p)
  local item = p.g:loop("item", p.items)
  p.item = item
  p.group = p.group_of and p.group_of(item) or (item * p.team_size + p.member) * p.vec
  return "for (int item = 0; item < kItems; item++) {\n"
end

local function slot_text(p)
  return string.format("(item * %d + %s)%s", p.team_size, p.member_text,
    p.vec > 1 and " * kVec" or "")
end

-- The index of a value in its arrays, and the loop over the parts of a group if there are several.
local function value_index(p)
  return p.vec > 1 and "item * kVec + part" or "item"
end

local function part_loop(p, inside)
  if p.vec == 1 then
    return inside()
  end
  local part = p.g:loop("part", p.vec)
  p.part = part
  local text = inside()
  p.g:close()
  p.part = nil
  return "#pragma unroll\nfor (int part = 0; part < kVec; part++) {\n" .. indent(text, 2) .. "\n}"
end

-- Declares the last dimension's variable for the element at hand.
local function declare_index(p)
  local g = p.g
  if p.declare_index then
    return p.declare_index(p.part)
  end
  local slot = p.vec > 1 and p.group + (p.part or 0) or p.group
  g:tie(p.k.index[p.dim], g.first + slot)
  return string.format("const long long %s = first + %s%s;", p.last, slot_text(p),
    p.part and " + part" or "")
end

-- Condition and text for tiles that are no multiple of the team: the slot must lie in the tile.
local function guard(p)
  if not p.ragged then
    p.g:when(p.lanes and p.lanes(), p.full)
    return ""
  end
  p.g:when(p.g:below(p.group, p.tile), p.full)
  return string.format("if (%s >= kTile) break;\n", slot_text(p))
end

local function load_vector(p, op, mover)
  local g, lines = p.g, {}
  local at_group = value_index(p) == "item" and "item" or "item * kVec"
  for _, run in ipairs(mover.runs) do
    local f = run.field or 1
    local field = op.record.fields[f]
    local array = string.format("&%s[%s]", run_array(op, run), at_group)
    if run.shifted or run.spaced then
      lines[#lines + 1] = around.load(g, op, run, array, p.vec)
    elseif run.exchange then
      lines[#lines + 1] = exchange.load(g, op, run, array,
        op.offset[f] - (run.record and field.offset or 0))
    else
      local at = op.offset[f] - (run.record and field.offset or 0)
      for n = 0, run.count - 1 do
        g:touch(op, false, run.word, at + n * run.word)
      end
      local word = kit.word_type[run.word]
      lines[#lines + 1] = string.format("load_words<%s, %d>(%s, &at<%s>(%s, %s));", word,
        run.count, array, word, op.pointer, E.text(at, true))
    end
  end
  return kit.concat(lines)
end

local function load_direct(p, op)
  local g, lines, at = p.g, {}, value_index(p)
  for _, f in ipairs(direct_fields(p, op)) do
    local value = kit.member(string.format("%s[%s]", array_of(op), at), op.record.fields[f])
    lines[#lines + 1] = string.format("%s = %s;", value, g:load(op, f, op.offset[f]))
  end
  return kit.concat(lines)
end

-- What `inside` gives for `op`, under the condition of its window (windows.lua), if it has one.
local function in_window(p, op, inside)
  local w = p.window
  return w and not w.entered and w.holds(op) and w.guard(inside) or inside()
end

-- Values of index operands that this operand's place mentions, read back from their arrays: of the
-- element at hand, or of the whole group if `at` says where.
local function declare_indexes(p, op, at)
  local lines = {}
  for _, index in ipairs(p.g.inputs) do
    if index.is_index and not op.is_index and p.mover[index.number].kind ~= "uniform" then
      for f = 1, #op.offset do
        if E.mentions(op.offset[f], index.index_value) then
          lines[#lines + 1] = string.format("const long long %s = %s[%s];", index.name,
            array_of(index), at or value_index(p))
          break
        end
      end
    end
  end
  return kit.concat(lines)
end

-- Does the place of one of these operands depend on an index that differs from item to item?
local function mentions_index(p, ops)
  for _, op in ipairs(ops) do
    for f = 1, #op.offset do
      for _, dim in ipairs(p.moving or { p.dim }) do
        if E.mentions(op.offset[f], p.k.index[dim]) then
          return true
        end
      end
    end
  end
  return false
end

-- One loop nest that loads the values of `ops` (vector movers a group at a time, direct ones an
-- element at a time).
local function load_nest(p, ops)
  local g, out = p.g, {}
  local mark = #g.real
  local text = open_items(p)
  out[#out + 1] = guard(p)
  local vectors, directs = {}, {}
  for _, op in ipairs(ops) do
    local list = p.mover[op.number].kind == "vector" and vectors or directs
    list[#list + 1] = op
  end
  if p.vec > 1 and #vectors > 0 then
    out[#out + 1] = declare_index(p) .. "\n"
    local seen = {}
    for _, op in ipairs(vectors) do
      local indexes = declare_indexes(p, op, p.vec > 1 and "item * kVec" or "item")
      out[#out + 1] = (indexes == "" or seen[indexes]) and "" or indexes .. "\n"
      out[#out + 1] = load_vector(p, op, p.mover[op.number]) .. "\n"
      seen[indexes] = true
    end
  end
  local rest = p.vec > 1 and directs or ops
  if #rest > 0 then
    out[#out + 1] = part_loop(p, function()
      local index, seen = declare_index(p), {}
      local lines = { mentions_index(p, rest) and index or "" }
      for _, op in ipairs(rest) do
        local indexes = declare_indexes(p, p.window and p.window.holds(op) or op)
        if indexes ~= "" and not seen[indexes] then
          seen[indexes] = true
          lines[#lines + 1] = indexes
        end
        local mover = p.mover[op.number]
        lines[#lines + 1] = in_window(p, op, function()
          return mover.kind == "vector" and load_vector(p, op, mover) or load_direct(p, op)
        end)
      end
      return kit.concat(lines)
    end) .. "\n"
  end
  g:when(nil)
  g:close()
  g:forget(mark)
  local inside = string.gsub(kit.concat(out, ""), "\n$", "")
  return unrolled(text .. indent(inside, 2) .. "\n}")
end

--- Loads everything that does not come through an image: index operands first, then what they
--- lead to.
---@param p sectile.MapPlan
---@return string
function map.load_values(p)
  local plain, through, lines = {}, {}, {}
  for _, op in ipairs(p.g.inputs) do
    if p.mover[op.number].kind == "uniform" then
      p.g:when(nil, p.full)
      lines[#lines + 1] = p.g:load_element { op }
      p.g:when(nil)
    elseif p.mover[op.number].kind ~= "staged" or direct_fields(p, op) then
      lines[#lines + 1] = declare_values(p, op)
      local last = op.through_index or (p.window and p.window.holds(op))
      local list = last and through or plain
      list[#list + 1] = op
    end
  end
  if #plain > 0 then
    lines[#lines + 1] = load_nest(p, plain)
  end
  if #through > 0 then
    local all_windows = p.window and p.window.around or function(nest) return nest() end
    lines[#lines + 1] = all_windows(function() return load_nest(p, through) end)
  end
  return kit.concat(lines)
end

-- Declares one input's value for the element at hand, from its array or its image.
local function value_of(p, op, slot)
  local mover = p.mover[op.number]
  local at = value_index(p)
  if mover.kind == "uniform" then
    return ""
  elseif mover.kind == "staged" then
    local lines = { movers.pick(p.g, mover.image, slot, p.warp) }
    for _, f in ipairs(mover.rest or {}) do
      lines[#lines + 1] = string.format("%s = %s;", kit.member(op.name, op.record.fields[f]),
        kit.member(string.format("%s[%s]", array_of(op), at), op.record.fields[f]))
    end
    return kit.concat(lines)
  elseif mover.kind == "vector" and not mover.runs[1].record and not op.record.bare then
    local lines = { string.format("%s %s;", op.record.name, op.name) }
    for _, run in ipairs(mover.runs) do
      local field = op.record.fields[run.field]
      lines[#lines + 1] = string.format("%s.%s = %s[%s];", op.name, field.name, run_array(op, run),
        at)
    end
    return kit.concat(lines)
  end
  local type = op.is_index and "long long" or kit.value_type(op)
  return string.format("const %s %s = %s[%s];", type, op.name, array_of(op), at)
end

-- Takes the output's value to where it goes: memory, an image, or the group's array.
local function result_of(p, op, slot)
  local g, mover = p.g, p.mover[op.number]
  local at = p.vec > 1 and "part" or "0"
  if mover.kind == "direct" then
    return in_window(p, op, function() return g:store_element { op } end)
  elseif mover.kind == "staged" then
    local lines = { movers.put(g, mover.image, slot, p.warp) }
    for _, f in ipairs(mover.rest or {}) do
      lines[#lines + 1] = g:store(op, f, op.offset[f], kit.member(op.name, op.record.fields[f]))
    end
    return kit.concat(lines)
  elseif mover.runs[1].record then
    return string.format("%s[%s] = %s;", array_of(op), at, op.name)
  end
  local lines = {}
  for _, run in ipairs(mover.runs) do
    lines[#lines + 1] = string.format("%s[%s] = %s;", run_array(op, run), at,
      kit.member(op.name, op.record.fields[run.field]))
  end
  return kit.concat(lines)
end

local function declare_group(p, op)
  local mover = p.mover[op.number]
  local count = p.vec > 1 and "kVec" or "1"
  if mover.runs[1].record then
    return string.format("__align__(16) %s %s[%s];", kit.value_type(op), array_of(op), count)
  end
  local lines = {}
  for _, run in ipairs(mover.runs) do
    local field = op.record.fields[run.field]
    lines[#lines + 1] =
      string.format("__align__(16) %s %s[%s];", field.cuda, run_array(op, run), count)
  end
  return kit.concat(lines)
end

local function store_vector(p, op)
  local g, lines = p.g, {}
  for _, run in ipairs(p.mover[op.number].runs) do
    local f = run.field or 1
    local field = op.record.fields[f]
    local at = op.offset[f] - (run.record and field.offset or 0)
    if run.exchange then
      lines[#lines + 1] = exchange.store(g, op, run, run_array(op, run), at)
    else
      for n = 0, run.count - 1 do
        g:touch(op, true, run.word, at + n * run.word)
      end
      local word = kit.word_type[run.word]
      lines[#lines + 1] = string.format("store_words<%s, %d>(&at<%s>(%s, %s), %s);", word,
        run.count, word, op.pointer, E.text(at, true), run_array(op, run))
    end
  end
  return kit.concat(lines)
end

local function in_body(p, name)
  return string.find(p.k.body, "%f[%w_]" .. name .. "%f[^%w_]") ~= nil
end

-- Does computing an element mention the variable `name`: in the body, or where a result goes
-- directly?
local function used_in_compute(p, name, var)
  for _, op in ipairs(p.g.outputs) do
    for _, f in ipairs(direct_fields(p, op) or {}) do
      if E.mentions(op.offset[f], var) then
        return true
      end
    end
  end
  return in_body(p, name)
end

--- Computes every element of the tile and leaves the results to the statement `result`.
---@param p sectile.MapPlan with declare_index, group_of and moving where items are no tile
---@param result fun(): string
---@return string
function map.each_value(p, result)
  local g = p.g
  local mark = #g.real
  local head = open_items(p)
  local inside = part_loop(p, function()
    local index, named = declare_index(p), false
    for _, dim in ipairs(p.moving or { p.dim }) do
      named = named or in_body(p, p.k.dims[dim])
    end
    local lines = { named and index or "" }
    for _, op in ipairs(g.inputs) do
      local used = not op.is_index or in_body(p, op.name)
      lines[#lines + 1] = used and value_of(p, op) or ""
    end
    lines[#lines + 1] = g:declare_outputs()
    lines[#lines + 1] = g:body()
    lines[#lines + 1] = result()
    return kit.concat(lines)
  end)
  g:close()
  g:forget(mark)
  return unrolled(head .. indent(inside, 2) .. "\n}")
end

--- Computes every element of the tile and stores what goes straight to memory.
---@param p sectile.MapPlan
---@return string
function map.compute(p)
  local g, out = p.g, {}
  local mark = #g.real
  local head = open_items(p)
  out[#out + 1] = guard(p)
  local vectors, slot_used = {}, #p.images_in + #p.images_out > 0
  for _, op in ipairs(g.outputs) do
    if p.mover[op.number].kind == "vector" then
      vectors[#vectors + 1] = op
      out[#out + 1] = declare_group(p, op) .. "\n"
    end
  end
  out[#out + 1] = part_loop(p, function()
    local lines = {}
    local slot
    if slot_used then
      slot = g:define("slot", 0, p.tile - 1, p.vec > 1 and p.group + p.part or p.group)
      lines[1] = string.format("const int slot = %s%s; // this element's place in the tile",
        slot_text(p), p.vec > 1 and " + part" or "")
    end
    local index = declare_index(p)
    lines[#lines + 1] = used_in_compute(p, p.last, p.k.index[p.dim]) and index or ""
    for _, op in ipairs(g.inputs) do
      local used = op.is_index and used_in_compute(p, op.name, op.index_value)
      lines[#lines + 1] = used and value_of(p, op, slot) or ""
    end
    local function values_and_results()
      local text = {}
      for k, op in ipairs(g.inputs) do
        text[k] = not op.is_index and value_of(p, op, slot) or ""
      end
      text[#text + 1] = kit.concat { g:declare_outputs(), g:body() }
      for _, op in ipairs(g.outputs) do
        text[#text + 1] = result_of(p, op, slot)
      end
      return kit.concat(text)
    end
    local lazy = p.window and p.window.lazy -- then the body must not see what was not loaded
    lines[#lines + 1] = lazy and p.window.guard(values_and_results) or values_and_results()
    return kit.concat(lines)
  end)
  if #vectors > 0 then
    out[#out + 1] = "\n" .. string.gsub(declare_index(p), "const long long " .. p.last,
      "const long long group_start", 1)
    local seen = {}
    for _, op in ipairs(vectors) do
      local indexes = declare_indexes(p, op, p.vec > 1 and "item * kVec" or "item")
      out[#out + 1] = (indexes == "" or seen[indexes]) and "" or "\n" .. indexes
      seen[indexes] = true
      local text = store_vector(p, op)
      out[#out + 1] = "\n" .. string.gsub(text, "%f[%w_]" .. p.last .. "%f[^%w_]", "group_start")
    end
  end
  g:when(nil)
  g:close()
  g:forget(mark)
  return unrolled(head .. indent(kit.concat(out, ""), 2) .. "\n}")
end

--- The last, partial tile: one element after the other, directly.
---@param p sectile.MapPlan
---@return string
function map.edge(p)
  local g = p.g
  local mark = #g.real
  local once, each = {}, {}
  for _, op in ipairs(g.inputs) do -- compilers take what does not change out of the loop
    local list = uniform(p.k, op) and once or each
    list[#list + 1] = op
  end
  local rest = p.rest or p.full:lnot()
  g:when(E.subst(g.first + p.member, g.real):lt(p.k.extents[p.dim]), rest)
  g:load_element(once)
  local turn = g:loop("turn", kit.ceil_div(p.tile, p.team_size))
  g:tie(p.k.index[p.dim], g.first + turn * p.team_size + p.member)
  local call = g:call_element(p.k.index[p.dim]:lt(p.k.extents[p.dim]), rest, each)
  g:close()
  g:forget(mark)
  return string.format("for (long long %s = first + %s; %s < n_%s; %s += %d)\n  %s", p.last,
    p.member_text, p.last, p.last, p.last, p.team_size, call)
end

return map
