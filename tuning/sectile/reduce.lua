-- reduce: what kernels that reduce share. A thread keeps a `partial`, a field for each value of the
-- outputs; elements are added to it by `combine`, and so are the partials of lanes, warps and
-- blocks. The order is the same in every run, so results are too.
--
-- Blocks that reduce to one place leave their partials in a workspace, and the last combines them.
-- It begins with MOST_COUNTERS counters, which are 0 again when a launch, of any kernel, ends.
local reduce = {}

local MOST_PARTIAL_BYTES = 1 << 20 -- of a workspace
local MOST_COUNTERS = 1 << 16
local MOST_ROW_BLOCKS = 4096 -- that fill every GPU: where there are more rows, none is shared

-- ---- partials ----

-- The type in which a field is accumulated: halves as floats; sums of integers without a sign, as
-- those may wrap.
local function accumulator(field, how)
  if field.kind == "float" then
    return field.bytes == 8 and "double" or "float"
  end
  local wide = field.bytes == 8 and "long long" or "int"
  return (how == "sum" or field.kind == "uint") and "unsigned " .. wide or wide
end

local INFINITY = {
  float = "__int_as_float(0x7f800000)", double = "__longlong_as_double(0x7ff0000000000000ll)",
}
local LARGEST = {
  i8 = "127", i16 = "32767", i32 = "2147483647", i64 = "9223372036854775807ll",
  u8 = "255u", u16 = "65535u", u32 = "4294967295u", u64 = "18446744073709551615ull",
}

-- What an empty reduction gives: 0, or the value that every other one replaces.
local function identity(field, how, type)
  if how == "sum" or (how == "max" and field.kind == "uint") then
    return field.kind ~= "float" and "0" or type == "float" and "0.0f" or "0.0"
  elseif field.kind == "float" then
    return (how == "max" and "-" or "") .. INFINITY[type]
  end
  return how == "max" and "-" .. LARGEST[field.type] .. " - 1" or LARGEST[field.type]
end

local function combined(slot, one, other)
  if slot.how == "sum" then
    return string.format("%s.%s + %s.%s", one, slot.name, other, slot.name)
  end
  local call = slot.how
  if slot.field.kind == "float" then
    call = slot.type == "float" and "f" .. slot.how .. "f" or "f" .. slot.how
  end
  return string.format("%s(%s.%s, %s.%s)", call, one, slot.name, other, slot.name)
end

--- What a partial holds: a slot for each field of each output.
---@param g sectile.Generator
---@return table slots of { op, f, field, how, name, type, bytes, at, identity, combined }
---@return integer bytes of the struct
function reduce.slots(g)
  local slots, taken, at, align = {}, {}, 0, 1
  for _, op in ipairs(g.outputs) do
    for f, field in ipairs(op.record.fields) do
      local name = field.name == "" and op.name or op.name .. "_" .. field.name
      while taken[name] do
        name = name .. "_"
      end
      taken[name] = true
      local type = accumulator(field, op.reduce)
      local bytes = field.bytes == 8 and 8 or 4
      at, align = (at + bytes - 1) // bytes * bytes, math.max(align, bytes)
      slots[#slots + 1] = {
        op = op, f = f, field = field, how = op.reduce, name = name, type = type, bytes = bytes,
        at = at, identity = identity(field, op.reduce, type),
      }
      slots[#slots].combined = combined(slots[#slots], "one", "other")
      at = at + bytes
    end
  end
  return slots, (at + align - 1) // align * align
end

local function list_of(slots, text)
  local list = {}
  for n, slot in ipairs(slots) do
    list[n] = text(slot)
  end
  return list
end

local TYPES = [[
// What is reduced: a field for each value of the outputs.
struct partial {
  %s
};
// Of no element.
__device__ __forceinline__ partial nothing() {
  return {%s};
}
__device__ __forceinline__ partial combine(const partial &a, const partial &b) {
  return {%s};
}
]]

local LANES = [[
// The partials of %d lanes side by side as one, in each of them.
__device__ __forceinline__ partial combine_lanes(partial p) {
#pragma unroll
  for (int distance = %d; distance > 0; distance /= 2)
    p = combine(p, {%s});
  return p;
}
]]

local SHARED = [[
// Another block's partial, which is not in this SM's L1.
__device__ __forceinline__ partial partial_at(const partial *partials, long long number) {
  return {%s};
}
]]

local WORKSPACE = string.format([[
// what blocks leave for the one that comes last, and how many have come: 0 again at the end
unsigned int *const arrived = workspace;
partial *const partials = reinterpret_cast<partial *>(workspace + %d);]], MOST_COUNTERS)

--- The struct of partials and the functions on it.
---@param p table plan: slots, combines_lanes, split (do blocks share a place?)
---@return string
function reduce.types(p)
  local slots, parts = p.slots, {}
  parts[1] = string.format(TYPES,
    table.concat(list_of(slots, function(s) return s.type .. " " .. s.name .. ";" end), "\n  "),
    table.concat(list_of(slots, function(s) return s.identity end), ", "),
    table.concat(list_of(slots, function(s) return combined(s, "a", "b") end), ", "))
  if p.combines_lanes then
    local n = p.team_lanes or 32
    parts[2] = string.format(LANES, n, n // 2, table.concat(list_of(slots, function(s)
      return string.format("__shfl_xor_sync(0xffffffffu, p.%s, distance)", s.name)
    end), ", "))
  end
  if p.split then
    local all = list_of(slots, function(s) return "__ldcg(&partials[number]." .. s.name .. ")" end)
    parts[#parts + 1] = string.format(SHARED, table.concat(all, ", "))
  end
  return table.concat(parts, "")
end

--- The partial of one element whose outputs are computed.
---@param p table plan
---@return string
function reduce.contribution(p)
  return "partial{" .. table.concat(list_of(p.slots, function(s)
    local value = kit.member(s.op.name, s.field)
    return s.type == s.field.cuda and value or string.format("(%s)%s", s.type, value)
  end), ", ") .. "}"
end

--- The function that gives the partial of one element.
---@param p table plan
---@return string
function reduce.element(p)
  local g = p.g
  local params = g:params()
  for _, dim in ipairs(g.k.dims) do
    params[#params + 1] = "long long " .. dim
  end
  local hint, accesses = g.hint, g.accesses
  g.accesses = {}
  local inside = kit.concat {
    g:load_element(), g:declare_outputs(), g:body(), "return " .. reduce.contribution(p) .. ";",
  }
  g.hint, g.accesses = hint, accesses
  return "// What one element of the index space gives, every access where its layout puts it.\n"
    .. "__device__ __forceinline__ partial element(" .. kit.wrapped(params, 40, "    ") .. ") {\n  "
    .. string.gsub(inside, "\n", "\n  ") .. "\n}\n"
end

--- A statement that adds the element at the dimensions' variables to `mine`.
---@param p table plan
---@param lanes? sectile.Expr
---@param warps? sectile.Expr
---@return string
function reduce.add_element(p, lanes, warps)
  p.g:when(lanes, warps)
  p.g:load_element()
  p.g:when(nil)
  return "mine = combine(mine, element(" .. kit.element_arguments(p.g) .. "));"
end

--- Statements that store the partial `name` to the outputs, at the dimensions' variables.
---@param p table plan
---@param name string
---@param lanes sectile.Expr
---@param warps? sectile.Expr
---@return string
function reduce.store(p, name, lanes, warps)
  local lines = {}
  p.g:when(lanes, warps)
  for n, slot in ipairs(p.slots) do
    local value = name .. "." .. slot.name
    if slot.type ~= slot.field.cuda then
      value = string.format("(%s)%s", slot.field.cuda, value)
    end
    lines[n] = p.g:store(slot.op, slot.f, slot.op.offset[slot.f], value)
  end
  p.g:when(nil)
  return kit.concat(lines)
end

-- Notes that a partial is moved between registers and shared memory, or the workspace.
function reduce.touch(p, store, number, in_workspace)
  for _, slot in ipairs(p.slots) do
    p.g:touch(nil, store, slot.bytes, number * p.partial_bytes + slot.at, in_workspace)
  end
end

-- ---- the index space ----

--- Dimensions that are kept and those that are reduced, by number, slowest first.
---@param k sectile.View
---@return integer[] kept
---@return integer[] reduced
function reduce.dims(k)
  local kept, reduced = {}, {}
  for d = 1, #k.dims do
    local list = k.reduced[d] and reduced or kept
    list[#list + 1] = d
  end
  return kept, reduced
end

--- The product of the extents of some dimensions.
---@param k sectile.View
---@param dims integer[]
---@return sectile.Expr|integer
function reduce.count(k, dims)
  local n = 1
  for _, d in ipairs(dims) do
    n = n * k.extents[d]
  end
  return n
end

--- The number of a kept element, over its dimensions' variables.
function reduce.linear(k, dims)
  local n = 0
  for _, d in ipairs(dims) do
    n = n * k.extents[d] + k.index[d]
  end
  return n
end

--- Text that takes the variable `name` apart into the indices of `dims`, the last one fastest; ties
--- them.
---@param g sectile.Generator
---@param dims integer[]
---@param name string
---@param var sectile.Expr
---@return string
function reduce.unravel(g, dims, name, var)
  local k, lines = g.k, {}
  local rest, text = var, name
  for n = #dims, 1, -1 do
    local d = dims[n]
    if n == 1 then
      lines[#lines + 1] = string.format("const long long %s = %s;", k.dims[d], text)
      g:tie(k.index[d], rest)
    else
      lines[#lines + 1] = string.format("const long long %s = %s %% n_%s;", k.dims[d], text,
        k.dims[d])
      g:tie(k.index[d], rest % k.extents[d])
      rest, text = rest // k.extents[d], string.format("%s / n_%s", text, k.dims[d])
    end
  end
  return kit.concat(lines)
end

-- ---- a plan ----

--- Facts for the axes: `widest`, the bytes of the inputs' widest record; `all`, of all inputs.
---@param k sectile.View
---@return table
function reduce.facts(k)
  local widest, all = 1, 0
  for _, op in ipairs(k.operands) do
    if not op.is_output then
      widest, all = math.max(widest, op.record.bytes), all + op.record.bytes
    end
  end
  return { { "widest", widest }, { "all_inputs", math.max(all, 1) } }
end

--- Constraints of the axes vec and items: words of up to 16 bytes, 32 to 128 bytes a thread in
--- flight (2,048 threads with less leave the memory idle, more does not fit the registers).
---@return string[]
function reduce.where()
  return {
    "vec == 1 or vec * widest <= 16", "vec * items * all_inputs <= 128 or vec * items == 1",
    "vec * items * all_inputs >= 32 or vec * items >= 16",
  }
end

--- Starts a plan: generator, slots, movers for `vec` neighbours along the last dimension.
---@param k sectile.View
---@param kernel string
---@param c table threads, vec, items, hint
---@param mover? fun(op, vec): sectile.Mover? of the inputs; default: words where rows start on one
---@return table plan
function reduce.start(k, kernel, c, mover)
  local g = kit.new(k, kernel, c.threads)
  g.hint = kit.hints.of(k, c.hint)
  local p = {
    g = g, k = k, kernel = kernel, threads = c.threads, vec = c.vec or 1, items = c.items or 1,
    dim = #k.dims, last = k.dims[#k.dims], mover = {}, ragged = false,
    images_in = {}, images_out = {},
  }
  p.slots, p.partial_bytes = reduce.slots(g)
  p.most_partials, p.most_counters = MOST_PARTIAL_BYTES // p.partial_bytes, MOST_COUNTERS
  p.kept, p.reduced = reduce.dims(k)
  p.any = p.vec == 1
  for _, op in ipairs(g.inputs) do
    local how = mover and mover(op, p.vec) or movers.vector(g, op, #k.dims, p.vec)
    p.mover[op.number] = how or { kind = "direct" }
    if how then
      p.any = true
      movers.adopt_vector(g, how, p.vec)
    end
  end
  return p
end

-- ---- blocks that share a place ----

--- Where a block stands among those that share an output element: `shares` of them (1: it has it
--- alone; an expression: the whole grid), this one's number, and the element's. Declares them.
---@param p table plan
---@param shares sectile.Expr|integer
---@return string
function reduce.cut_shares(p, shares)
  local g = p.g
  p.shares, p.shares_text = shares, "kShares"
  p.split = shares ~= 1
  if not p.split then
    p.share, p.team, p.team_text = 0, g.block, "block"
    return ""
  end
  g.has_workspace, p.workspace_bytes = true, 4 * MOST_COUNTERS + p.most_partials * p.partial_bytes
  if math.type(shares) == "integer" then
    p.share = g:define("share", 0, shares - 1, g.block % shares)
    p.team = g:define("team", 0, kit.MAX_INDEX, g.block // shares)
    p.team_text = "team"
    return string.format("constexpr int kShares = %d; // blocks that share an output element\n"
      .. "const int share = (int)(block %% kShares);\n"
      .. "const long long team = block / kShares;\n%s", shares, WORKSPACE)
  end
  p.share, p.team, p.team_text, p.shares_text = g.block, E.raw("team", 0, 0) * 0, "0", "shares"
  return "const int shares = (int)gridDim.x; // blocks that share it all\n"
    .. "const int share = (int)block;\n" .. WORKSPACE
end

--- What must hold of the extents where blocks share: room for `partials` and `groups` counters.
---@param p table plan
---@param partials sectile.Expr|integer
---@param groups sectile.Expr|integer
function reduce.require_room(p, partials, groups)
  if p.split and not kit.const_of(partials) then
    p.g:require(partials:le(p.most_partials))
  end
  if p.split and not kit.const_of(groups) then
    p.g:require(groups:le(p.most_counters))
  end
end

--- Statements by which the block that comes last goes on alone; `left` has left its partials.
---@param p table plan
---@param left string
---@return string
function reduce.wait_for_others(p, left)
  local g = p.g
  g:when(g.thread:eq(0))
  g:touch(nil, true, 1, 0 * g.thread)
  g:when(nil)
  g:touch(nil, false, 1, 0 * g.thread)
  return string.format([[
__shared__ bool last_block;
%s
if (thread == 0) { // the counter goes from the last one to 0, for the next launch
  last_block = atomicInc(&arrived[%s], %s - 1) == %s - 1;
}
__syncthreads();
if (!last_block) return;
__threadfence(); // what the others left is seen from here on]], left, p.team_text, p.shares_text,
    p.shares_text)
end

-- ---- the lanes and warps of a block ----

-- Notes what combine_lanes exchanges.
local function touch_lanes(p)
  local words, turns, lanes = 0, 0, p.team_lanes or 32
  for _, slot in ipairs(p.slots) do
    words = words + slot.bytes // 4
  end
  while lanes > 1 do
    turns, lanes = turns + 1, lanes // 2
  end
  p.g:touch_shuffle(words * turns)
end

-- All partials of the block's threads in thread 0.
local function combine_block(p)
  local g = p.g
  local n_warps = p.threads // 32
  touch_lanes(p)
  g:when((g.thread % 32):eq(0))
  reduce.touch(p, true, g.thread // 32)
  g:when(g.thread:lt(n_warps))
  reduce.touch(p, false, g.thread)
  g:when(nil, g.thread:lt(32))
  touch_lanes(p)
  g:when(nil)
  return [[
mine = combine_lanes(mine);
if (thread % 32 == 0) from_warps[thread / 32] = mine;
__syncthreads();
if (thread < 32) mine = combine_lanes(thread < kThreads / 32 ? from_warps[thread] : nothing());]]
end

local function indented(text, by)
  return string.rep(" ", by) .. string.gsub(text, "\n", "\n" .. string.rep(" ", by))
end

--- The end of a block whose threads hold `mine`: one partial, that of all shares, the outputs.
---@param p table plan
---@return string
function reduce.finish_block(p)
  local g = p.g
  local lines = { combine_block(p), "", "" }
  if p.split then
    g:when(g.thread:eq(0))
    reduce.touch(p, true, g.block, true)
    g:when(nil)
    lines[2] = reduce.wait_for_others(p, "if (thread == 0) {\n  partials[block] = mine;\n"
      .. "  __threadfence(); // before it counts as arrived\n}")
    g.one_in = p.shares
    local other = g:loop("other", kit.ceil_div(p.shares, p.threads)) * p.threads + g.thread
    g:when(other:lt(p.shares))
    reduce.touch(p, false, p.team * p.shares + other, true)
    g:when(nil)
    g:close()
    local from = p.team_text == "0" and "other"
      or string.format("team * %s + other", p.shares_text)
    lines[3] = string.format("mine = nothing();\nfor (int other = thread; other < %s; other += "
      .. "kThreads)\n  mine = combine(mine, partial_at(partials, %s));\n%s", p.shares_text, from,
      combine_block(p))
  end
  lines[4] = "if (thread == 0) {\n"
    .. indented(reduce.store(p, "mine", g.thread:eq(0)), 2) .. "\n}"
  g.one_in = nil
  return kit.concat(lines)
end

-- ---- the fastest dimension is reduced ----

-- The loop over the reduced dimensions but the last, if there are any: opens it, gives its head.
local function open_outer(p)
  local k, g = p.k, p.g
  local outer = {}
  for n = 1, #p.reduced - 1 do
    outer[n] = p.reduced[n]
  end
  if #outer == 0 then
    return nil
  end
  local count = reduce.count(k, outer)
  local place = g:loop("place", count)
  if #outer == 1 then
    g:tie(k.index[outer[1]], place)
    return string.format("for (long long %s = 0; %s < n_%s; %s++) {", k.dims[outer[1]],
      k.dims[outer[1]], k.dims[outer[1]], k.dims[outer[1]])
  end
  return string.format("for (long long place = 0; place < %s; place++) {\n  %s",
    E.text(count, true), (string.gsub(reduce.unravel(g, outer, "place", place), "\n", "\n  ")))
end

-- What of a row lies before the first aligned word in it: defines `before`, gives the text that
-- adds it. "" where tiles begin with the row.
local function add_before(p)
  local g, k = p.g, p.k
  if not p.peels then
    p.before = 0
    return ""
  end
  local op, index = g.inputs[1], k.index[p.dim]
  local at = E.subst(op.offset[1], { index, 0 * g.thread })
  local vec = 16 // op.record.bytes
  local least = (0 * g.thread + vec - at // op.record.bytes % vec) % vec
  p.before = g:define("before", 0, vec - 1, least:min(k.extents[p.dim]))
  local mark = #g.real
  g:tie(index, p.member + 0)
  local here = E.subst(p.member + 0, g.real):lt(E.subst(p.before, g.real))
  if p.split then
    here = here:land(E.subst(p.share + 0, g.real):eq(0))
  end
  local add = reduce.add_element(p, here, p.full)
  g:forget(mark)
  return string.format("// what lies before the first aligned word of the row\n"
    .. "const long long before = %s;\nif (%s%s < before) {\n  const long long %s = %s;\n  %s\n}\n",
    E.text(least:min(k.extents[p.dim]), true), p.split and "share == 0 && " or "", p.member_text,
    p.last, p.member_text, add)
end

--- Adds everything that the team reduces to `mine`: whole tiles with all loads in flight, then the
--- rest one by one.
---@param p table plan: shares and share, team_size, member, member_text; peels: tiles begin with
--- the first aligned word of a row
---@return string
function reduce.walk_row(p)
  local k, g = p.k, p.g
  local mark = #g.real
  local last, tile = p.last, p.team_size * p.items * p.vec
  local head = open_outer(p)
  local peeled = add_before(p)
  local extent = k.extents[p.dim] - p.before
  local round = g:loop("round", (extent // tile - p.share + p.shares - 1) // p.shares)
  g.first = g:define("first", 0, kit.MAX_INDEX,
    p.before + (round * p.shares + p.share) * tile)
  local loads = map.load_values(p)
  local adds = map.each_value(p, function()
    return "mine = combine(mine, " .. reduce.contribution(p) .. ");"
  end)
  g:close()
  local turn = g:loop("turn", kit.ceil_div(extent % tile, p.shares * p.team_size))
  g:tie(k.index[p.dim], p.before + extent // tile * tile
    + (turn * p.shares + p.share) * p.team_size + p.member)
  local inside = k.index[p.dim]:lt(k.extents[p.dim])
  local rest = reduce.add_element(p, p.lanes and inside:land(p.lanes()) or inside, p.full)
  g:close()
  if head then
    g:close()
  end
  g:forget(mark)
  local from = p.split and "share * (long long)kTile" or "0"
  local whole = string.format("n_%s / kTile * kTile", last)
  if p.peels then
    from = p.split and "before + " .. from or "before"
    whole = string.format("before + (n_%s - before) / kTile * kTile", last)
  end
  local step = p.split and string.format("%s * (long long)kTile", p.shares_text) or "kTile"
  local own = p.split and string.format(" + share * %d + %s", p.team_size, p.member_text)
    or " + " .. p.member_text
  local stride = p.split and string.format("%s * %d", p.shares_text, p.team_size)
    or tostring(p.team_size)
  local text = string.format("for (long long first = %s; first + kTile <= n_%s;\n"
    .. "     first += %s) {\n%s\n%s\n}\n"
    .. "for (long long %s = %s%s; %s < n_%s;\n     %s += %s)\n  %s", from, last, step,
    indented(loads, 2), indented(adds, 2), last, whole, own, last, last, last, stride, rest)
  text = peeled .. text
  text = head and head .. "\n" .. indented(text, 2) .. "\n}" or text
  return p.lanes and "if (" .. p.has_row .. ") {\n" .. indented(text, 2) .. "\n}" or text
end

--- The end of a warp whose lanes hold `mine`.
---@param p table plan
---@return string
function reduce.finish_warp(p)
  local first, condition = p.member:eq(0), "lane == 0"
  if p.lanes then
    first, condition = first:land(p.lanes()), condition .. " && " .. p.has_row
  end
  touch_lanes(p)
  return "mine = combine_lanes(mine);\nif (" .. condition .. ") {\n"
    .. indented(reduce.store(p, "mine", first, p.full), 2) .. "\n}"
end

-- A warp an output element, or `lanes` of a warp: then the warp stays together to the end.
local function cut_warps(p, lanes)
  local g = p.g
  local kept, teams = reduce.count(p.k, p.kept), p.threads // lanes
  p.team_size, p.member_text, p.team_lanes = lanes, "lane", lanes
  p.member = g:define("lane", 0, lanes - 1, g.thread % lanes)
  p.share, p.shares, p.split, p.team_text = 0, 1, false, "team"
  p.team = g:define("team", 0, kit.MAX_INDEX, g.block * teams + g.thread // lanes)
  p.has_row = "team < " .. E.text(kept, true)
  g.grid = kit.ceil_div(kept, teams)
  local has_row = g:below(p.team, kept)
  local last = ""
  if lanes == 32 then
    p.full = has_row
    last = string.format("\nif (!(%s)) return;", p.has_row)
  else
    p.lanes = function() return has_row end
  end
  return string.format("const int lane = thread %% %d;\n"
    .. "const long long team = block * %d + thread / %d; // %s on its own", lanes, teams, lanes,
    lanes == 32 and "each warp" or lanes .. " lanes each") .. last
end

--- A plan for templates/reduce_rows.cu: a block, a warp or `shares` blocks an output element.
---@param k sectile.View
---@param kernel string
---@param c table threads, items, vec, hint; scope: "block" or "warp"; lanes: of a warp; most:
--- shares there may be; peels: tiles begin with the first aligned word of a row
---@param shares fun(p): sectile.Expr|integer
---@return table? plan
---@return string? reason
function reduce.plan_rows(k, kernel, c, shares)
  local p = reduce.start(k, kernel, c, c.peels and around.words)
  local g = p.g
  if not p.any then
    return nil, "no operand moves better in groups"
  end
  p.peels = c.peels
  local n_warps = c.threads // 32
  local kept = reduce.count(k, p.kept)
  p.scope, p.combines_lanes = c.scope or "block", true
  p.team_size, p.member, p.member_text = c.threads, g.thread, "thread"
  if p.scope == "warp" then
    p.cut = cut_warps(p, c.lanes or 32)
  else
    p.most_partials = c.most or MOST_ROW_BLOCKS
    p.cut = reduce.cut_shares(p, shares(p))
    p.most_counters = c.most and 1 or MOST_ROW_BLOCKS
    if math.type(p.shares) == "integer" then
      reduce.require_room(p, kept * p.shares, kept)
    end
    g.grid = kept * p.shares
    g.static_shared_bytes = n_warps * p.partial_bytes
  end
  p.rounds = c.most and 2 -- a whole grid that shares may be any grid
  p.cut = kit.concat { p.cut, reduce.unravel(g, p.kept, p.team_text, p.team) }
  p.tile = p.team_size * p.items * p.vec
  p.bounds = tostring(c.threads)
  p.p = p
  kit.hand_over(g, p)
  return p
end

return reduce
