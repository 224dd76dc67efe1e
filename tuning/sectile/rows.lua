-- rows: the schedule of kernels that find rows or records through an index array. A team of
-- neighbouring lanes shares a row, so that each request covers whole sectors of it and stores are
-- coalesced; each team has several rows on their way. templates/rows.cu is its text.
--
-- The kernel has two dimensions: rows, and columns or the units that records consist of
-- (rows.of_records). What does not change along a row, index arrays above all, is loaded once a
-- row.
local rows = {}

local indent = tiles.indent

local function unrolled(head, text)
  return "#pragma unroll\n" .. head .. " {\n" .. indent(text, 2) .. "\n}"
end

local function mentions(text, name)
  return string.find(text, "%f[%w_]" .. name .. "%f[^%w_]") ~= nil
end

-- `text` behind those of the declarations { name, text } that it, or a later one, mentions.
local function declared(list, text)
  for n = #list, 1, -1 do
    if mentions(text, list[n][1]) then
      text = list[n][2] .. "\n" .. text
    end
  end
  return text
end

-- ---- records as rows of units ----

-- The place of the record in a dense array of records: its first byte; nil: it is none.
local function record_start(op)
  local fields, start = op.record.fields, nil
  for f, field in ipairs(fields) do
    local at = op.offset[f] - field.offset
    if start and kit.const_of(at - start) ~= 0 then
      return nil
    end
    start = at
  end
  return E.divisor(start) % op.record.bytes == 0 and start or nil
end

-- Does the body do no more than copy whole records of one size?
local function copies_records(k)
  if not k.moves_only then
    return false
  end
  for statement in string.gmatch(k.body, "[^;]+") do
    local copy = string.find(statement, "^%s*[%w_]+%s*=%s*[%w_]+%s*$")
    if not copy and string.find(statement, "%S") then
      return false
    end
  end
  return true
end

-- The unit that records are cut into: bytes, C type, what the body does with one. nil: none.
local function unit_of(k, bytes)
  local first = k.operands[#k.operands].record.fields[1]
  if k.component_wise then
    return { bytes = first.bytes, field = first, body = k.component_body }
  elseif copies_records(k) then
    local word = kit.word_bytes(bytes)
    local field = { type = "", cuda = kit.word_type[word], kind = "u", lanes = 1 }
    return { bytes = word, field = field, body = k.body }
  end
end

--- A kernel over records, all of one size, as one over rows of units: its fields, if the body
--- treats them alike, else words. nil if it is none.
---@param k sectile.View
---@return sectile.View? view
---@return integer? units in a row
function rows.of_records(k)
  local bytes = k.operands[#k.operands].record.bytes
  local unit = #k.dims == 1 and unit_of(k, bytes)
  if not unit or bytes == unit.bytes then
    return nil
  end
  local column = E.raw("unit", 0, bytes // unit.bytes - 1)
  local view = setmetatable({
    dims = { k.dims[1], "unit" }, index = { k.index[1], column }, operands = {}, body = unit.body,
  }, { __index = k })
  for n, op in ipairs(k.operands) do
    view.operands[n] = op
    if not op.is_index then
      local start = op.record.bytes == bytes and record_start(op)
      local gaps = op.is_output and op.record.bytes > op.record.data_bytes and not op.owns_gaps
      if not start or gaps then
        return nil
      end
      local field = setmetatable(
        { name = "", bytes = unit.bytes, offset = 0, prefix = 0, index = 1 },
        { __index = unit.field })
      view.operands[n] = setmetatable({
        offset = { start + column * unit.bytes }, owns_gaps = false,
        record = {
          bytes = unit.bytes, align = unit.bytes, data_bytes = unit.bytes, packed = false,
          bare = true, fields = { field },
        },
      }, { __index = op })
    end
  end
  return view, bytes // unit.bytes
end

-- ---- the plan ----

local function along_row(p, op)
  return E.mentions(op.offset[1], p.col)
end

-- Is an input the same in every row? Then a piece of it serves all items.
local function along_column(p, op)
  if E.mentions(op.offset[1], p.row) then
    return false
  end
  for _, index in ipairs(p.g.inputs) do
    if index.is_index and E.mentions(op.offset[1], index.index_value) then
      return false
    end
  end
  return true
end

-- How the operands move: those that stay the same along a row, and the others, in words or single
-- elements. nil and a reason.
local function adopt_operands(p)
  local g, wide = p.g, p.vec == 1
  for _, op in ipairs(g.ops) do
    local list = along_row(p, op) and p.along or p.once
    list[#list + 1] = op
    if op.is_output and not along_row(p, op) then
      return nil, op.name .. " does not depend on the column"
    end
    if along_row(p, op) and strides.turns(g.k, op, 2) then
      return nil, op.name .. " is addressed through an index that changes along the row"
    end
    g.steady[op.number] = not along_row(p, op) or along_column(p, op)
      or (p.kept and op.through_index)
    local mover = along_row(p, op) and p.vec > 1 and movers.vector(g, op, 2, p.vec)
    if mover then
      movers.adopt_vector(g, mover, p.vec)
      p.mover[op.number], wide = mover, true
      g.needs.kept = g.needs.kept or p.kept
    end
  end
  return wide or nil, "no operand moves in wider words with this width"
end

---@class sectile.RowsOptions
---@field threads integer threads a block; a multiple of lanes
---@field lanes integer lanes that share a row
---@field items integer rows a team has on their way
---@field steps integer pieces of each that a lane has on their way
---@field vec integer neighbouring columns that a lane moves at once
---@field run boolean a team's rows are neighbours: their indexes come as one word
---@field hint "none"|"cs"|"stream" streaming: nothing, all, all but what an index points to
---@field units? integer columns of every row, if constant

--- A plan for templates/rows.cu.
---@param k sectile.View two dimensions
---@param kernel string
---@param o sectile.RowsOptions
---@return table? plan
---@return string? reason
function rows.plan(k, kernel, o)
  local g = kit.new(k, kernel, o.threads)
  local p = {
    g = g, k = k, kernel = kernel, threads = o.threads, lanes = o.lanes, items = o.items,
    steps = o.steps, vec = o.vec, run = o.run, row_name = k.dims[1], col_name = k.dims[2],
    row = k.index[1], col = k.index[2], n_row = k.extents[1], n_col = o.units or k.extents[2],
    teams = o.threads // o.lanes, mover = {}, once = {}, along = {}, kept = o.hint == "stream",
    units = o.units,
  }
  g.hint = o.hint == "none" and "none" or "cs"
  p.n_col_text = o.units and tostring(o.units) or "n_" .. p.col_name
  p.stride = o.lanes * o.vec -- columns from a lane's piece to its next
  if o.units and o.units % o.vec ~= 0 then
    return nil, "a row is no number of whole pieces"
  end
  local good, reason = adopt_operands(p)
  if not good then
    return nil, reason
  end
  if o.vec > 1 and not o.units then
    g:require((p.n_col % o.vec):eq(0))
  end
  p.straight = o.units == p.stride * o.steps
  if o.units and not p.straight and p.stride * (o.steps - 1) >= o.units then
    return nil, "a row has fewer pieces than there are steps"
  end
  p.tile = p.teams * o.items
  g.grid = kit.ceil_div(p.n_row, p.tile)
  p.team = g:define("team", 0, p.teams - 1, g.thread // o.lanes)
  p.lane = g:define("lane", 0, o.lanes - 1, g.thread % o.lanes)
  g.first = g:define("first", 0, kit.MAX_INDEX, g.block * p.tile)
  p.full = (g.first + p.tile):le(p.n_row)
  kit.hand_over(g, p)
  return p
end

--- constexpr lines at the top of the kernel.
---@param p table
---@return string
function rows.constants(p)
  local names = { string.format("kLanes = %d", p.lanes), string.format("kItems = %d", p.items) }
  if p.steps > 1 then
    names[#names + 1] = string.format("kSteps = %d", p.steps)
  end
  if p.vec > 1 then
    names[#names + 1] = string.format("kVec = %d", p.vec)
  end
  return string.format("constexpr int kThreads = %d, %s;\n"
    .. "constexpr int kTeams = kThreads / kLanes, kTile = kTeams * kItems; // %s that a block owns",
    p.threads, kit.concat(names, ", "), p.lanes == 1 and "elements" or "rows")
end

-- ---- what is loaded once a row ----

-- Ties the row to its meaning; declarations of the row at `item`.
local function row_of(p, item)
  local at = p.run and p.team * p.items + item or p.team + item * p.teams
  p.g:tie(p.row, p.g.first + at)
  local text = p.run and "team * kItems + item" or "team + item * kTeams"
  return { p.row_name, string.format("const long long %s = first + %s;", p.row_name, text) }
end

local function row_array(op)
  return op.name .. "_v"
end

-- Declarations of index values at hand.
local function indexes_at(p, item)
  local list = {}
  for _, op in ipairs(p.once) do
    if op.is_index then
      list[#list + 1] =
        { op.name, string.format("const long long %s = %s[%s];", op.name, row_array(op), item) }
    end
  end
  return list
end

-- A run of indexes as words, or nil.
local function load_run(p, op)
  local g = p.g
  local mover = p.run and op.is_index and movers.vector(g, op, 1, p.items)
  local run = mover and #mover.runs[1].used == 0 and mover.runs[1]
  if not run then
    return nil
  end
  movers.adopt_vector(g, mover, p.items)
  local mark = #g.real
  g:tie(p.row, g.first + p.team * p.items)
  for n = 0, run.count - 1 do
    g:touch(op, false, run.word, op.offset[1] + n * run.word)
  end
  g:forget(mark)
  local word = kit.word_type[run.word]
  return string.format("__align__(16) %s %s[kItems];\n{\n"
    .. "  const long long %s = first + team * kItems;\n"
    .. "  load_words<%s, %d>(%s, &at<%s>(%s, %s));\n}", op.record.fields[1].cuda, row_array(op),
    p.row_name, word, run.count, row_array(op), word, op.pointer, E.text(op.offset[1], true))
end

-- Loads what stays the same along a row.
local function load_once(p)
  local g, lines = p.g, {}
  g:when(p.busy, p.full)
  for _, op in ipairs(p.once) do
    local text = load_run(p, op)
    if not text then
      local mark = #g.real
      local item = g:loop("item", p.items)
      local row = row_of(p, item)
      local list = indexes_at(p, "item")
      table.insert(list, 1, row)
      local inside = {}
      for _, f in ipairs(op.used) do
        inside[#inside + 1] = string.format("%s = %s;",
          kit.member(row_array(op) .. "[item]", op.record.fields[f]), g:load(op, f, op.offset[f]))
      end
      g:close()
      g:forget(mark)
      text = string.format("%s %s[kItems];\n%s", op.is_index and "long long" or kit.value_type(op),
        row_array(op), unrolled("for (int item = 0; item < kItems; item++)",
          declared(list, kit.concat(inside))))
    end
    lines[#lines + 1] = text
  end
  g:when(nil)
  return kit.concat(lines)
end

-- ---- the pieces of rows ----

-- Opens the loops over the pieces at hand: declarations of row and column, and the text of the
-- guard.
local function open_pieces(p, once)
  local g = p.g
  local item = g:loop("item", once and 1 or p.items)
  local list = { row_of(p, item) }
  local step = p.steps > 1 and g:loop("step", p.steps)
  local col = p.start + (step and step * p.stride or 0)
  g:tie(p.col, col)
  list[2] = { p.col_name, string.format("const long long %s = start%s;", p.col_name,
    step and string.format(" + step * %d", p.stride) or "") }
  for _, index in ipairs(indexes_at(p, "item")) do
    list[#list + 1] = index
  end
  -- the loop over the columns has seen to the first piece
  local guard = not p.straight and p.steps > 1
  g:when(not p.straight and g:below(p.col, p.n_col) or nil, p.full)
  return list, guard and string.format("if (%s < %s)", p.col_name, p.n_col_text) or ""
end

local function close_pieces(p, mark)
  local g = p.g
  g:when(nil)
  if p.steps > 1 then
    g:close()
  end
  g:close()
  g:forget(mark)
end

-- The loops over pieces around `inside`; `once`: of one row, which stands for all.
local function pieces(p, list, guard, inside, once)
  local text = inside
  if guard ~= "" then
    text = guard .. " {\n" .. indent(inside, 2) .. "\n}"
  end
  text = declared(list, text)
  if p.steps > 1 then
    text = unrolled("for (int step = 0; step < kSteps; step++)", text)
  end
  return once and text or unrolled("for (int item = 0; item < kItems; item++)", text)
end

-- Text of the place in its array of the value `part` (default: the first) of the piece at hand.
local function piece_at(p, op, part)
  local piece = p.steps > 1 and "step" or "0"
  if not along_column(p, op) then
    piece = p.steps > 1 and "item * kSteps + step" or "item"
  end
  if p.vec == 1 then
    return piece
  end
  piece = string.find(piece, " ", 1, true) and "(" .. piece .. ")" or piece
  local start = piece == "0" and "" or piece .. " * kVec"
  if not part then
    return start == "" and "0" or start
  end
  return start .. (start == "" and "" or " + ") .. part
end

local function count_text(p, op)
  local list = { not along_column(p, op) and "kItems" or "", p.steps > 1 and "kSteps" or "",
    p.vec > 1 and "kVec" or "" }
  local text = kit.concat(list, " * ")
  return text == "" and "1" or text
end

-- A loop over the values of a piece; `inside` gives its text.
local function part_loop(p, inside)
  if p.vec == 1 then
    return inside()
  end
  local mark = #p.g.real
  local part = p.g:loop("part", p.vec)
  local piece = E.subst(p.col, p.g.real)
  p.g:tie(p.col, piece + part)
  local text = inside()
  p.g:close()
  p.g:forget(mark)
  return unrolled("for (int part = 0; part < kVec; part++)", text)
end

local function move_words(p, op, store, array)
  local g, run = p.g, p.mover[op.number].runs[1]
  local kept = p.kept and (op.through_index or along_column(p, op))
  for n = 0, run.count - 1 do
    g:touch(op, store, run.word, op.offset[1] + n * run.word)
  end
  local word = kit.word_type[run.word]
  local place = string.format("&at<%s>(%s, %s)", word, op.pointer, E.text(op.offset[1], true))
  return string.format("%s_%s<%s, %d>(%s, %s);", store and "store" or "load",
    kept and "kept" or "words", word, run.count, store and place or array, store and array or place)
end

-- Statement that loads a piece of `op`.
local function load_piece(p, op, list)
  local g, name = p.g, p.col_name
  if p.mover[op.number] then
    return move_words(p, op, false, string.format("&%s_v[%s]", op.name, piece_at(p, op)))
  end
  return part_loop(p, function()
    local text = string.format("%s_v[%s] = %s;", op.name, piece_at(p, op, "part"),
      g:load(op, 1, op.offset[1]))
    if p.vec == 1 then
      return text
    end
    return declared({ list[2] },
      string.gsub(text, "%f[%w_]" .. name .. "%f[^%w_]", "(" .. name .. " + part)"))
  end)
end

-- Loads the pieces of `ops` of all rows at hand, or of one that stands for all.
local function load_nest(p, ops, once)
  if #ops == 0 then
    return ""
  end
  local mark = #p.g.real
  local list, guard = open_pieces(p, once)
  local inside = {}
  for n, op in ipairs(ops) do
    inside[n] = load_piece(p, op, list)
  end
  close_pieces(p, mark)
  return pieces(p, list, guard, kit.concat(inside), once)
end

local function load_pieces(p)
  local lines, shared, own = {}, {}, {}
  for _, op in ipairs(p.along) do
    if not op.is_output then
      lines[#lines + 1] = string.format("%s%s %s_v[%s];",
        p.mover[op.number] and "__align__(16) " or "", kit.value_type(op), op.name,
        count_text(p, op))
      local list = along_column(p, op) and shared or own
      list[#list + 1] = op
    end
  end
  lines[#lines + 1] = load_nest(p, shared, true)
  lines[#lines + 1] = load_nest(p, own, false)
  return kit.concat(lines)
end

-- The value of every operand for the element at hand, the body, and where results go.
local function compute_value(p, list)
  local g, lines = p.g, {}
  for _, op in ipairs(g.inputs) do
    if not op.is_index then -- those are declared for the whole piece
      local at = along_row(p, op) and piece_at(p, op, "part") or "item"
      list[#list + 1] = { op.name, string.format("const %s %s = %s_v[%s];", kit.value_type(op),
        op.name, op.name, at) }
    end
  end
  lines[1] = g:declare_outputs()
  lines[2] = g:body()
  for _, op in ipairs(g.outputs) do
    lines[#lines + 1] = p.mover[op.number]
      and string.format("%s_v[%s] = %s;", op.name, p.vec > 1 and "part" or "0", op.name)
      or g:store_element { op }
  end
  return declared(list, kit.concat(lines))
end

local function store_pieces(p)
  local g, mark = p.g, #p.g.real
  local list, guard = open_pieces(p)
  local lines = {}
  for _, op in ipairs(g.outputs) do
    if p.mover[op.number] then
      lines[#lines + 1] = string.format("__align__(16) %s %s_v[%s];", kit.value_type(op), op.name,
        p.vec > 1 and "kVec" or "1")
    end
  end
  -- inside of a piece the column is another one for each part
  local outer = list[2][2]
  local inner = p.vec > 1 and { { p.col_name, (string.gsub(outer, ";$", " + part;")) } } or {}
  lines[#lines + 1] = part_loop(p, function() return compute_value(p, inner) end)
  for _, op in ipairs(g.outputs) do
    if p.mover[op.number] then
      lines[#lines + 1] = move_words(p, op, true, op.name .. "_v")
    end
  end
  close_pieces(p, mark)
  return pieces(p, list, guard, kit.concat(lines))
end

--- The whole tile: loads what stays the same along a row, then all pieces of all rows, and computes
--- and stores them.
---@param p table
---@return string
function rows.move(p)
  local g = p.g
  local per_turn = p.stride * p.steps
  local lane = p.lane * p.vec
  local lane_text = p.vec > 1 and "lane * kVec" or "lane"
  local idle = p.units and p.units < p.stride -- lanes that have nothing of the row
  p.busy = idle and E.subst(lane, g.real):lt(p.units) or nil
  local once = load_once(p)
  local mark = #g.real
  if p.straight or idle then
    p.start = g:define("start", 0, per_turn - 1, lane)
    local text = kit.concat { once, load_pieces(p), store_pieces(p) }
    g:forget(mark)
    if idle then
      text = string.format("if (start < %d) { // the other lanes have nothing of the row\n%s\n}",
        p.units, indent(text, 2))
    end
    return declared({ { "start", string.format("const int start = %s;", lane_text) } }, text)
  end
  local turn = g:loop("turn", kit.ceil_div(p.n_col, per_turn))
  p.start = g:define("start", 0, kit.MAX_INDEX, turn * per_turn + lane)
  local text = kit.concat { load_pieces(p), store_pieces(p) }
  g:close()
  g:forget(mark)
  return kit.concat {
    once, "#pragma unroll 1",
    string.format("for (long long start = %s; start < %s; start += %d) {", lane_text,
      p.n_col_text, per_turn),
    indent(text, 2), "}",
  }
end

--- The last rows, if they are no whole tile: one element after the other, directly.
---@param p table
---@return string
function rows.edge(p)
  local g, mark, rest = p.g, #p.g.real, p.full:lnot()
  local turn = g:loop("turn", p.items)
  g:tie(p.row, g.first + p.team + turn * p.teams)
  local below = g:below(p.row, p.n_row)
  g:when(below:land(E.subst(p.lane, g.real):lt(p.n_col)), rest)
  g:load_element(p.once) -- compilers take them out of the inner loop
  local step = g:loop("step", kit.ceil_div(p.n_col, p.lanes))
  g:tie(p.col, p.lane + step * p.lanes)
  local each = {}
  for _, op in ipairs(p.along) do
    each[#each + 1] = not op.is_output and op or nil
  end
  local call = g:call_element(below:land(g:below(p.col, p.n_col)), rest, each)
  g:close()
  g:close()
  g:forget(mark)
  return string.format("#pragma unroll 1\n"
    .. "for (long long %s = first + team; %s < n_%s; %s += kTeams)\n#pragma unroll 1\n"
    .. "  for (long long %s = lane; %s < %s; %s += kLanes)\n    %s", p.row_name, p.row_name,
    p.row_name, p.row_name, p.col_name, p.col_name, p.n_col_text, p.col_name, call)
end

return rows
