-- columns: the schedule of reductions that keep the last dimension. Threads own neighbours along
-- it, a word of p.vec each, and the warps of a block take different rows of what is reduced.
-- Several blocks share the rows where there are too few columns to fill the GPU. The strategies
-- reduce_cols and reduce_cols_off are this schedule; templates/reduce_cols.cu is its text.
--
-- Rows that start anywhere (p.off): as many warps as a word has elements, or a multiple, so that
-- all rows of one warp start alike. It reads them by aligned words from the one on that holds the
-- block's first column, p.shift elements of which lie before that. The 32 words of its lanes so
-- hold all of 31 words' columns, wherever rows start, and what is beside these is dropped in the
-- end: nothing is shifted or exchanged while rows are read.
local columns = {}

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
  g:tie(k.index[p.dim], g.first + p.lane * p.vec - p.shift + (part or 0))
  return string.format("const long long %s = first + lane%s%s;", p.last,
    p.vec == 1 and "" or part and " * kVec + part" or " * kVec", p.off and " - shift" or "")
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

-- A row of which not all words lie in the array: value by value. `place`: the row's number.
local function add_singles(p, place, rows)
  local g = p.g
  local mark = #g.real
  local part = g:loop("part", p.vec)
  local lines = { row_index(p, place), column_index(p, part) }
  local column = p.k.index[p.dim]
  local inside = E.subst(column + 0, g.real):lt(0):lnot():land(E.subst(column, g.real):lt(p.n_last))
  g:when(inside:land(E.subst(place + 1, g.real):lt(rows):lnot():land(
    E.subst(place, g.real):lt(rows))))
  lines[3] = string.format("if (%s < 0 || %s >= n_%s) continue;", p.last, p.last, p.last)
  lines[4] = kit.concat {
    g:load_element(), g:declare_outputs(), g:body(),
    "mine[part] = combine(mine[part], " .. reduce.contribution(p) .. ");",
  }
  g:when(nil)
  g:close()
  g:forget(mark)
  return "#pragma unroll\nfor (int part = 0; part < kVec; part++) {\n"
    .. indented(kit.concat(lines), 2) .. "\n}"
end

--- Whole rounds of kRows rows with all loads in flight, then row by row.
---@param p table
---@return string
function columns.walk(p)
  local g, k = p.g, p.k
  local mark = #g.real
  local rows, per_round = reduce.count(k, p.reduced), p.n_warps * p.items
  local count = E.text(rows, true)
  local in_rounds = p.off and (rows - 1):max(0) or rows -- its words may reach behind a row
  local inside = (g.first + p.lane * p.vec - p.shift):lt(k.extents[p.dim])
  local round = g:loop("round", (in_rounds // per_round - p.share + p.shares - 1) // p.shares)
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
  local done = in_rounds // per_round * per_round
  local turn = g:loop("turn", kit.ceil_div(rows - done, p.shares * p.n_warps))
  local place = done + (turn * p.shares + p.share) * p.n_warps + p.warp
  local name = #p.reduced == 1 and k.dims[p.reduced[1]] or "place"
  local behind = p.off and 1 or 0
  local single = variant(p, {
    items = 1,
    lanes = function() return inside:land(E.subst(place + behind, g.real):lt(rows)) end,
    declare_index = function(part)
      return kit.concat { row_index(p, place), column_index(p, part) }
    end,
  })
  local rest = round_text(single)
  if p.off then
    rest = string.format("if (%s + 1 < %s) {\n%s\n} else { // the last word may end later\n%s\n}",
      name, count, indented(rest, 2), indented(add_singles(p, place, rows), 2))
  end
  g:close()
  g:forget(mark)
  local start = p.split and "share * (long long)kRows" or "0"
  local step = p.split and "kShares * (long long)kRows" or "kRows"
  -- an unrolled loop of rounds spills, and its loads would wait for each other all the same
  return string.format((p.off and "#pragma unroll 1\n" or "")
    .. "for (long long from = %s; from + kRows %s %s;\n     from += %s) {\n%s\n}\n"
    .. "for (long long %s = %s / kRows * kRows + %swarp; %s < %s;\n     %s += %skWarps) {\n"
    .. "  constexpr int kItems = 1; // the rest, row by row\n%s\n}", start, p.off and "<" or "<=",
    count, step, indented(main, 2), name, p.off and "(" .. count .. " - 1)" or factor(rows),
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

-- The column's partial goes to the outputs or, where blocks share it, to the workspace.
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
      .. "  all = combine(all, partial_at(partials, other * %s + %s));\n%s", factor(count),
      E.text(number, true), reduce.store(p, "all", p.is_column))
  end)
end

-- The thread's partials into shared memory, where columns find them.
local function put_partials(p)
  local g = p.g
  local part = g:loop("part", p.vec)
  local column = p.lane * p.vec + part - p.shift
  if not p.off then
    reduce.touch(p, true, (p.warp * p.vec + part) * p.part_slots + p.lane)
    g:close()
    return "#pragma unroll\nfor (int part = 0; part < kVec; part++)\n"
      .. "  from_warps[warp][part][lane] = mine[part];"
  end
  column = E.subst(column, g.real)
  g:when(column:lt(0):lnot():land(column:lt(p.n_columns)))
  reduce.touch(p, true,
    (p.warp * p.vec + column % p.vec) * p.part_slots + column // p.vec)
  g:when(nil)
  g:close()
  return "#pragma unroll\nfor (int part = 0; part < kVec; part++) {\n"
    .. "  const int column = lane * kVec + part - shift;\n"
    .. "  if (column >= 0 && column < kColumns)\n"
    .. "    from_warps[warp][column % kVec][column / kVec] = mine[part];\n}"
end

--- The warps' partials of a column as one, then those of all blocks that share it.
---@param p table
---@return string
function columns.combine_warps(p)
  local g = p.g
  local put = put_partials(p)
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
    put, "__syncthreads();", text,
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

-- Elements between the start of the aligned word that holds the first column of the warp's rows,
-- and that column: text and expression.
local function shift_of(p)
  local op = p.g.inputs[1]
  local at = E.subst(op.offset[1], { p.k.index[p.dim], p.g.first, p.k.index[p.reduced[1]], p.warp })
  local shift = at % 16 // op.record.bytes
  return string.format("// elements before `first` in its word, in all rows of this warp\n"
    .. "const int shift = (int)(%s);", E.text(shift, true)), shift
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
  if p.off then
    local shift
    lines[#lines + 1], shift = shift_of(p)
    p.shift = g:define("shift", 0, p.vec - 1, shift)
  end
  local groups = tiles * reduce.count(k, others)
  reduce.require_room(p, reduce.count(k, p.kept) * shares, groups)
  g.grid = groups * shares
  return kit.concat(lines)
end

-- Do the elements of `op` differ along the row?
local function along_row(p, op)
  for _, offset in ipairs(op.offset) do
    if E.mentions(offset, p.k.index[p.dim]) then
      return true
    end
  end
  return strides.turns(p.k, op, p.dim)
end

-- A lane's last word may reach behind its row, but not behind the array: where layouts say how far
-- rows are apart, extents need be no multiples of a word for rows to start on one. What is read
-- element by element along the row has no place behind it, wherever its layout puts it.
local function require_room(p)
  local k, last = p.k, {}
  for d, index in ipairs(k.index) do
    local at = k.extents[d] - 1
    last[#last + 1], last[#last + 2] = index, d == p.dim and at // p.vec * p.vec or at
  end
  for _, op in ipairs(p.g.inputs) do
    local runs = p.mover[op.number].runs
    if not runs and p.vec > 1 and along_row(p, op) then
      p.g:require((p.n_last % p.vec):eq(0))
    end
    for _, run in ipairs(runs or {}) do
      local f = run.field or 1
      local field, whole = op.record.fields[f], false
      for _, extent in ipairs(run.used) do
        whole = whole or extent:same(p.n_last) -- required to be a multiple of the width already
      end
      local start = E.subst(op.offset[f], last) - (run.record and field.offset or 0)
      local stop = start + p.vec * (run.record and op.record.bytes or field.bytes)
      if not whole then
        p.g:require(stop:le(op.bytes):lor(p.n_last:le(0)))
      end
    end
  end
end

--- Starts a plan: a block owns the columns of `words` words.
---@param k sectile.View
---@param kernel string
---@param c table threads, vec, items, hint, shares
---@param off? boolean rows start anywhere
---@return table? plan
---@return string? reason
function columns.plan(k, kernel, c, off)
  local p = reduce.start(k, kernel, c, off and around.words)
  local g = p.g
  if not p.any then
    return nil, "no operand moves better in groups"
  end
  p.off, p.shift, p.n_last = off, 0, k.extents[p.dim]
  p.n_warps, p.n_columns = c.threads // 32, (off and 31 or 32) * c.vec
  p.warp = g:define("warp", 0, p.n_warps - 1, g.thread // 32)
  p.lane = g:define("lane", 0, 31, g.thread % 32)
  p.moving = { p.dim }
  for _, d in ipairs(p.reduced) do
    p.moving[#p.moving + 1] = d
  end
  p.group_of = function() return p.lane * p.vec - p.shift end
  -- so many that neither lanes nor columns side by side meet in a bank
  p.part_slots = c.vec > 1 and 32 + 32 // c.vec or 32
  g.static_shared_bytes = p.n_warps * c.vec * p.part_slots * p.partial_bytes
  if g.static_shared_bytes > k.device.smem_block_bytes - 16 then
    return nil, "the warps' partials need more shared memory than a block has"
  end
  p.cut = cut(p, c.shares)
  if not off then
    require_room(p)
  end
  p.own_columns = string.format("constexpr int kColumns = %d * kVec; // neighbours along %s that "
    .. "the block owns", off and 31 or 32, p.last)
  p.bounds, p.p = tostring(c.threads), p
  kit.hand_over(g, p)
  return p
end

return columns
