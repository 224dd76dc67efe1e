-- reduce_cols: the last dimension is kept, along which threads read neighbours: each owns a few of
-- them, and the warps of a block take different rows of what is reduced. Several blocks share the
-- rows where there are too few columns to fill the GPU.

-- Where the rows of a round lie, and the text that finds the element at hand. `place` is the number
-- of the reduced element: of its only dimension, or of all of them together.
local function row_index(p, place, text)
  local g, k = p.g, p.k
  if #p.reduced == 1 then
    g:tie(k.index[p.reduced[1]], place)
    return text and string.format("const long long %s = %s;", k.dims[p.reduced[1]], text) or ""
  end
  local lines = { text and string.format("const long long place = %s;", text) or "" }
  lines[2] = reduce.unravel(g, p.reduced, "place", place)
  return kit.concat(lines)
end

local function column_index(p, part)
  local g, k = p.g, p.k
  g:tie(k.index[p.dim], g.first + p.lane * p.vec + (part or 0))
  return string.format("const long long %s = first + lane%s;", p.last,
    p.vec == 1 and "" or part and " * kVec + part" or " * kVec")
end

local function indented(text, by)
  return string.rep(" ", by) .. string.gsub(text, "\n", "\n" .. string.rep(" ", by))
end

-- The text of an expression as one factor.
local function factor(e)
  local text = E.text(e, true)
  return string.find(text, " ", 1, true) and "(" .. text .. ")" or text
end

-- Loads what one round needs, then adds it to the thread's partials.
local function round_text(p)
  return map.load_values(p) .. "\n" .. map.each_value(p, function()
    local at = p.vec > 1 and "part" or "0"
    return string.format("mine[%s] = combine(mine[%s], %s);", at, at, reduce.contribution(p))
  end)
end

local function variant(p, changes)
  return setmetatable(changes, { __index = p })
end

-- Whole rounds of kRows rows with all loads in flight, then row by row.
local function walk(p)
  local g, k = p.g, p.k
  local mark = #g.real
  local rows, per_round = reduce.count(k, p.reduced), p.n_warps * p.items
  local count = E.text(rows, true)
  local inside = (g.first + p.lane * p.vec):lt(k.extents[p.dim])
  local round = g:loop("round", (rows // per_round - p.share + p.shares - 1) // p.shares)
  local from = g:define("from", 0, kit.MAX_INDEX, (round * p.shares + p.share) * per_round)
  local whole = variant(p, {
    lanes = function() return inside end,
    declare_index = nil,
  })
  whole.declare_index = function(part)
    return row_index(p, from + whole.item * p.n_warps + p.warp,
      "from + item * kWarps + warp") .. "\n" .. column_index(p, part)
  end
  local main = round_text(whole)
  g:close()
  local turn = g:loop("turn", kit.ceil_div(rows % per_round, p.shares * p.n_warps))
  local place = rows // per_round * per_round + (turn * p.shares + p.share) * p.n_warps + p.warp
  local name = #p.reduced == 1 and k.dims[p.reduced[1]] or "place"
  local single = variant(p, {
    items = 1,
    lanes = function() return inside:land(E.subst(place, g.real):lt(rows)) end,
    declare_index = function(part)
      return kit.concat { row_index(p, place), column_index(p, part) }
    end,
  })
  local rest = round_text(single)
  g:close()
  g:forget(mark)
  local start = p.split and "share * (long long)kRows" or "0"
  local step = p.split and "kShares * (long long)kRows" or "kRows"
  return string.format("for (long long from = %s; from + kRows <= %s;\n     from += %s) {\n"
    .. "%s\n}\nfor (long long %s = %s / kRows * kRows + %swarp; %s < %s;\n     %s += %skWarps) {\n"
    .. "  constexpr int kItems = 1; // the rest, row by row\n%s\n}", start, count, step,
    indented(main, 2), name, factor(rows),
    p.split and "share * kWarps + " or "", name, count, name, p.split and "kShares * " or "",
    indented(rest, 2))
end

-- A loop over the block's columns, a thread each.
local function each_column(p, inside)
  local g, k = p.g, p.k
  local mark = #g.real
  local turn = g:loop("turn", kit.ceil_div(p.n_columns, p.threads))
  p.column = turn * p.threads + g.thread
  g:tie(k.index[p.dim], g.first + p.column)
  p.is_column = p.column:lt(p.n_columns):land((g.first + p.column):lt(k.extents[p.dim]))
  local text = inside()
  g:close()
  g:forget(mark)
  return string.format("for (int column = thread; column < kColumns; column += kThreads) {\n"
    .. "  const long long %s = first + column;\n  if (%s >= n_%s) break;\n%s\n}", p.last, p.last,
    p.last, indented(text, 2))
end

-- The column's partial goes to the outputs or, where blocks share it, to the module's array.
local function leave(p)
  local g, k = p.g, p.k
  if not p.split then
    return reduce.store(p, "all", p.is_column)
  end
  local number = reduce.linear(k, p.kept)
  g:when(p.is_column)
  reduce.touch(p, true, p.share * reduce.count(k, p.kept) + number, true)
  g:when(nil)
  return string.format("partials[share * %s + %s] = all;", factor(reduce.count(k, p.kept)),
    E.text(number, true))
end

-- What the other blocks left for the columns of this one.
local function combine_shares(p)
  local g, k = p.g, p.k
  local count = reduce.count(k, p.kept)
  return each_column(p, function()
    local number = reduce.linear(k, p.kept)
    local other = g:loop("other", p.shares)
    g:when(p.is_column)
    reduce.touch(p, false, other * count + number, true)
    g:when(nil)
    g:close()
    return string.format("partial all = nothing();\n#pragma unroll\n"
      .. "for (int other = 0; other < kShares; other++)\n"
      .. "  all = combine(all, partial_at(other * %s + %s));\n%s", factor(count),
      E.text(number, true), reduce.store(p, "all", p.is_column))
  end)
end

-- The warps' partials of a column as one, then those of all blocks that share it.
local function combine_warps(p)
  local g = p.g
  local part = g:loop("part", p.vec)
  reduce.touch(p, true, (p.warp * p.vec + part) * p.part_slots + p.lane)
  g:close()
  local text = each_column(p, function()
    local other = g:loop("other", p.n_warps)
    g:when(p.is_column)
    reduce.touch(p, false,
      (other * p.vec + p.column % p.vec) * p.part_slots + p.column // p.vec)
    g:when(nil)
    g:close()
    return "partial all = from_warps[0][column % kVec][column / kVec];\n#pragma unroll 8\n"
      .. "for (int other = 1; other < kWarps; other++)\n"
      .. "  all = combine(all, from_warps[other][column % kVec][column / kVec]);\n" .. leave(p)
  end)
  local lines = {
    "#pragma unroll\nfor (int part = 0; part < kVec; part++)\n"
      .. "  from_warps[warp][part][lane] = mine[part];",
    "__syncthreads();", text,
  }
  if p.split then
    lines[4] = reduce.wait_for_others(p,
      "__threadfence(); // before it counts as arrived\n__syncthreads();")
    g.one_in = p.shares
    lines[5] = combine_shares(p)
    g.one_in = nil
  end
  return kit.concat(lines)
end

-- Finds the block's columns, and its indices of the other kept dimensions.
local function cut(p, shares)
  local g, k = p.g, p.k
  local lines = { reduce.cut_shares(p, shares) }
  local tiles = kit.ceil_div(k.extents[p.dim], p.n_columns)
  local others = {}
  for n = 1, #p.kept - 1 do
    others[n] = p.kept[n]
  end
  if #others == 0 then
    lines[2] = string.format("const long long first = %s * kColumns;", p.team_text)
    g.first = g:define("first", 0, kit.MAX_INDEX, p.team * p.n_columns)
  else
    local rest = g:define("rest", 0, kit.MAX_INDEX, p.team // tiles)
    lines[2] = string.format("const long long tiles = (n_%s + kColumns - 1) / kColumns;\n"
      .. "const long long first = %s %% tiles * kColumns, rest = %s / tiles;", p.last, p.team_text,
      p.team_text)
    g.first = g:define("first", 0, kit.MAX_INDEX, p.team % tiles * p.n_columns)
    lines[3] = reduce.unravel(g, others, "rest", rest)
  end
  local groups = tiles * reduce.count(k, others)
  reduce.require_room(p, reduce.count(k, p.kept) * shares, groups)
  g.grid = groups * shares
  return kit.concat(lines)
end

return {
  name = "reduce_cols",
  doc = "The last dimension is kept: threads own neighbours along it, warps take different rows.",
  reduces = true,
  applies = {
    { "the outputs are reduced", function(k) return k.reduces end },
    { "the last dimension is kept", function(k) return not k.reduced[#k.dims] end },
  },
  axes = {
    { "threads", { 128, 256, 512, 1024 }, key = "t", doc = "threads a block" },
    { "vec", { 1, 2, 4, 8, 16 }, key = "v", doc = "neighbouring elements in a word" },
    { "items", { 1, 2, 4, 8, 16 }, key = "i", doc = "rows a warp takes at once" },
    { "shares", { 1, 2, 4, 8, 16 }, key = "b",
      doc = "blocks that share the rows of their columns" },
    { "hint", { "none", "cs" }, key = "h", doc = "cache hint: cs marks loads as streaming" },
  },
  where = function(k)
    local list = reduce.where(k)
    list[#list + 1] = "shares * threads <= 4096"
    return list
  end,
  facts = reduce.facts,
  template = "reduce_cols.cu",
  plan = function(k, c)
    local p = reduce.start(reduce.folded(k), "reduce_cols", c)
    local g = p.g
    if not p.any then
      return nil, "no operand moves better in groups"
    end
    p.n_warps, p.n_columns = c.threads // 32, 32 * c.vec
    p.warp = g:define("warp", 0, p.n_warps - 1, g.thread // 32)
    p.lane = g:define("lane", 0, 31, g.thread % 32)
    p.moving = { p.dim }
    for _, d in ipairs(p.reduced) do
      p.moving[#p.moving + 1] = d
    end
    p.group_of = function() return p.lane * p.vec end
    -- so many that neither lanes nor columns side by side meet in a bank
    p.part_slots = c.vec > 1 and 32 + 32 // c.vec or 32
    g.static_shared_bytes = p.n_warps * c.vec * p.part_slots * p.partial_bytes
    if g.static_shared_bytes > k.device.smem_block_bytes - 16 then
      return nil, "the warps' partials need more shared memory than a block has"
    end
    p.cut = cut(p, c.shares)
    p.exclusive, p.bounds, p.p = p.split, tostring(c.threads), p
    p.walk = function() return walk(p) end
    p.combine_warps = function() return combine_warps(p) end
    p.doc = string.format("%s %d neighbours along %s; %d x %d elements a thread are in flight.",
      c.shares > 1 and c.shares .. " blocks take" or "A block takes", p.n_columns, p.last, c.items,
      c.vec)
    kit.hand_over(g, p)
    return p
  end,
}
