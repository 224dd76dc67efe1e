-- tiles: the schedule of kernels whose inputs run along one dimension (a) and whose outputs run
-- along another (b). A block owns a box of tile_a x tile_b elements; inputs that run along a are
-- exchanged through a tile in shared memory. The strategies tile and packed are this schedule
-- with different tiles; templates/tile.cu is its text.
--
-- A plan `p` gives what is particular: p.exchanged, the tiles in shared memory (op, name, type and
-- elems as declared, how in words), and p.cell(x, store, y, col), which notes an access to the
-- element at row y, column col of one and returns its text.
local tiles = {}

function tiles.indent(text, by)
  return string.rep(" ", by) .. string.gsub(text, "\n", "\n" .. string.rep(" ", by))
end

function tiles.capital(name)
  return string.upper(string.sub(name, 1, 1)) .. string.sub(name, 2)
end

function tiles.unit_stride(op)
  return op.fastest > 0 and op.step == op.record.bytes
end

--- Are all elements of `op` along dimension `dim` one run? (A unit stride is one of pairs: places
--- such as `i % 10` start again after some.) Words that start anywhere need it.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@return boolean
function tiles.is_run(k, op, dim)
  local step = strides.step(k, op, 1, dim)
  return step ~= nil and kit.const_of(step) == op.record.bytes
end

-- Dimension numbers (a, b): what the exchanged inputs and the outputs run along. nil: nothing to
-- exchange.
function tiles.directions(k)
  local a, b
  for _, op in ipairs(k.operands) do
    if op.is_output then
      if not tiles.unit_stride(op) or (b and b ~= op.fastest) then
        return nil
      end
      b = op.fastest
    end
  end
  for _, op in ipairs(k.operands) do
    if not op.is_output and tiles.unit_stride(op) and op.fastest ~= b then
      if a and a ~= op.fastest then
        return nil
      end
      a = op.fastest
    end
  end
  return a, b
end

function tiles.all_bare(k)
  for _, op in ipairs(k.operands) do
    if not op.record.bare or op.is_index or op.through_index then
      return false
    end
  end
  return true
end

-- Have the exchanged inputs and the outputs elements of one size, below a word?
function tiles.small_elements(k)
  local bytes = 0
  local a, b = tiles.directions(k)
  for _, op in ipairs(k.operands) do
    if op.is_output or (op.fastest == a and tiles.unit_stride(op)) then
      if bytes ~= 0 and op.record.bytes ~= bytes then
        return false
      end
      bytes = op.record.bytes
    end
  end
  return a ~= nil and b ~= nil and bytes < 4
end

function tiles.largest(k)
  local bytes = 1
  for _, op in ipairs(k.operands) do
    bytes = math.max(bytes, op.record.bytes)
  end
  return bytes
end

--- A plan with the box that a block owns, its dimensions and extents. nil and a reason if there is
--- nothing to exchange.
---@param k sectile.View
---@param c table the candidate: threads, tile_a, tile_b, hint
---@param kernel string
---@return table? p
---@return string? reason
function tiles.start(k, c, kernel)
  local a, b = tiles.directions(k)
  if not a then
    return nil, "with these layouts inputs and outputs run along the same dimension"
  end
  local g = kit.new(k, kernel, c.threads)
  g.hint = kit.hints.of(k, c.hint)
  local p = {
    g = g, k = k, kernel = kernel, threads = c.threads, tile_a = c.tile_a, tile_b = c.tile_b,
    dim_a = a, dim_b = b, a = k.dims[a], b = k.dims[b], bytes = tiles.largest(k),
    exchanged = {}, skew = 0, border = "one element at a time, still through shared memory",
  }
  p.p = p -- for the template
  p.A, p.B = tiles.capital(p.a), tiles.capital(p.b)
  p.var_a, p.var_b = k.index[a], k.index[b]
  p.n_a, p.n_b = k.extents[a], k.extents[b]
  p.bounds = tostring(c.threads)
  return p
end

--- The first steps of a plan: it is started, its operands are taken in, the tiles find room in
--- shared memory, and its blocks an order.
---@param k sectile.View
---@param c table the candidate; its `order` is that of tiles.cut()
---@param start fun(k: sectile.View, c: table): table?, string? calls tiles.start()
---@param adopt fun(p: table): boolean?, string? takes the operands in
---@param most? integer bytes of shared memory that a block may have; past those that it has without
--- asking the tiles are dynamic (p.shared_bytes)
---@return table? p nil and a reason if there is no such plan
---@return string? reason
function tiles.prepare(k, c, start, adopt, most)
  local p, reason = start(k, c)
  if not p then
    return nil, reason
  end
  local good, why = adopt(p)
  if not good then
    return nil, why
  end
  local g, at_once = p.g, k.device.smem_block_bytes
  if g.static_shared_bytes > (most or at_once) then
    return nil, "the tiles need more shared memory than a block has"
  elseif g.static_shared_bytes > at_once then
    p.shared_bytes, g.static_shared_bytes = g.static_shared_bytes, 0
  end
  p.cut = tiles.cut(p, c.order)
  return p
end

--- Whether the exchanged inputs have `op` among them.
---@param p table
---@param op sectile.Operand
---@return boolean
function tiles.is_exchanged(p, op)
  return not op.is_output and tiles.unit_stride(op) and op.fastest == p.dim_a
end

--- Declarations of the tiles in shared memory: static, or with p.shared_bytes parts of the dynamic
--- one, which may be larger; those are bytes.
---@param p table
---@return string
function tiles.declare(p)
  local lines, at = {}, 0
  if p.shared_bytes then
    lines[1] = "extern __shared__ __align__(16) unsigned char shared_tiles[];"
  end
  for _, x in ipairs(p.exchanged) do
    lines[#lines + 1] = "// " .. x.how
    if p.shared_bytes then
      lines[#lines + 1] = string.format("unsigned char *const %s = shared_tiles + %d;", x.name, at)
      at = at + x.elems
    else
      lines[#lines + 1] = string.format("__shared__ __align__(16) %s %s[%d];", x.type, x.name,
        x.elems)
    end
  end
  return kit.concat(lines)
end

-- p.thin ("a", "b" or nil): the dimension that lies in one tile and need not fill it.

-- Does the element at row y, column x of the box lie in the index space along p.thin? nil without.
function tiles.on_edge(p, y, x)
  if p.thin == "a" then
    return (p.first_a + x):lt(p.n_a)
  end
  return p.thin == "b" and (p.first_b + y):lt(p.n_b) or nil
end

-- The same as the head of a statement; nil without.
function tiles.edge_text(p)
  local dim = p.thin and p[p.thin]
  return dim and string.format("if (first_%s + tile_%s < n_%s)", dim,
    p.thin == "a" and "x" or "y", dim) or nil
end

-- When a block's box lies in the index space, but for p.thin, and with p.inner not on its last row
-- either: the expression and its text.
function tiles.full_condition(p)
  local along_a = string.format("first_%s + k%s <= n_%s", p.a, p.A, p.a)
  local along_b = string.format("first_%s + k%s %s n_%s", p.b, p.B, p.inner and "<" or "<=", p.b)
  local function full_a() return (p.first_a + p.tile_a):le(p.n_a) end
  local function full_b() return (p.first_b + (p.inner and p.tile_b + 1 or p.tile_b)):le(p.n_b) end
  if p.thin == "a" then
    return full_b(), along_b
  elseif p.thin == "b" then
    return full_a(), along_a
  end
  local text, full = along_a .. " && " .. along_b, full_a():land(full_b())
  if p.skew > 0 then
    text = text .. string.format(" && first_%s >= kSkew", p.b)
    full = full:land((p.first_b + 0):le(p.skew - 1):lnot())
  end
  return full, text
end

local BAND = 8 -- tiles

-- Order "g": bands of BAND rows of tiles, within a band column by column, so that blocks that run
-- together need few rows and few columns. Adds the lines that find where a block is; returns its
-- number along the fast and along the slow dimension, as expressions and as text.
local function in_band(g, lines, fast, fast_n, slow, slow_n, outer)
  local box, box_text = g.block, "block"
  if outer then
    box, box_text = g.block % (fast_n * slow_n), string.format("block %% (tiles_%s * tiles_%s)",
      fast, slow)
  end
  lines[#lines + 1] = string.format("const long long band = %s / (%d * tiles_%s) * %d; "
    .. "// bands of %d tiles", box_text, BAND, fast, BAND, BAND)
  lines[#lines + 1] = string.format("const long long band_rows = tiles_%s - band < %d ? "
    .. "tiles_%s - band : %d;", slow, BAND, slow, BAND)
  lines[#lines + 1] = string.format("const long long in_band = %s - band * tiles_%s;", box_text,
    fast)
  local band = g:define("band", 0, kit.MAX_INDEX, box // (BAND * fast_n) * BAND, BAND)
  local rows = g:define("band_rows", 1, BAND, (slow_n - band):min(BAND))
  local inside = g:define("in_band", 0, kit.MAX_INDEX, box - band * fast_n)
  return inside // rows, "in_band / band_rows", band + inside % rows,
    "(band + in_band % band_rows)"
end

-- Adds the lines that find where a block is along the dimensions beside a and b, of `boxes` boxes
-- each; sets the grid.
local function place_outer(p, lines, boxes_each, text)
  local g, k = p.g, p.k
  local rest, rest_text = g.block // boxes_each, "block / " .. text
  local total, left = boxes_each, #k.dims - 2
  for d = #k.dims, 1, -1 do
    if d ~= p.dim_a and d ~= p.dim_b then
      left = left - 1
      lines[#lines + 1] = string.format("const long long %s = %s%s;", k.dims[d], rest_text,
        left > 0 and " % n_" .. k.dims[d] or "")
      g:tie(k.index[d], left > 0 and rest % k.extents[d] or rest)
      rest, rest_text = rest // k.extents[d], string.format("%s / n_%s", rest_text, k.dims[d])
      total = total * k.extents[d]
    end
  end
  g.grid = total
end

-- Finds the tile of a block along the dimension that is not p.thin, which has a single one.
local function cut_thin(p)
  local g, lines = p.g, {}
  local long, thin, extent, size = p.b, p.a, p.n_b, p.tile_b
  if p.thin == "b" then
    long, thin, extent, size = p.a, p.b, p.n_a, p.tile_a
  end
  local count = kit.ceil_div(extent, size)
  local name = "k" .. tiles.capital(long)
  local place, text = g.block, "block"
  if #p.k.dims > 2 then
    lines[1] = string.format("const long long tiles_%s = (n_%s + %s - 1) / %s;", long, long, name,
      name)
    place, text = place % count, "block % tiles_" .. long
  end
  lines[#lines + 1] = string.format("const long long first_%s = %s * %s;", long, text, name)
  lines[#lines + 1] = string.format("constexpr long long first_%s = 0; // n_%s <= k%s", thin, thin,
    tiles.capital(thin))
  local first = g:define("first_" .. long, 0, kit.MAX_INDEX, place * size, size)
  p.first_a, p.first_b = first, 0
  if p.thin == "a" then
    p.first_a, p.first_b = 0, first
  end
  place_outer(p, lines, count, "tiles_" .. long)
  return kit.concat(lines)
end

-- Finds the tile of a block; consecutive blocks go along dimension a, along b with order "b", or in
-- bands with order "g".
function tiles.cut(p, order)
  if p.thin then
    return cut_thin(p)
  end
  local g, k, lines = p.g, p.k, {}
  local tiles_a = kit.ceil_div(p.n_a, p.tile_a)
  local tiles_b = kit.ceil_div(p.n_b + math.max(p.skew - 1, 0), p.tile_b)
  local extra = p.skew > 0 and string.format(" + %d", p.skew - 1) or ""
  local count = {
    [p.a] = string.format("tiles_%s = (n_%s + k%s - 1) / k%s", p.a, p.a, p.A, p.A),
    [p.b] = string.format("tiles_%s = (n_%s%s + k%s - 1) / k%s", p.b, p.b, extra, p.B, p.B),
  }
  local fast, fast_n, slow, slow_n = p.a, tiles_a, p.b, tiles_b
  if order == "b" then
    fast, fast_n, slow, slow_n = p.b, tiles_b, p.a, tiles_a
  end
  local size = { [p.a] = p.tile_a, [p.b] = p.tile_b }
  local name = { [p.a] = "k" .. p.A, [p.b] = "k" .. p.B }
  local outer = #k.dims > 2
  lines[1] = "const long long " .. count[fast]
    .. ((outer or order == "g") and ", " .. count[slow] or "") .. ";"
  local fast_place, fast_text = g.block % fast_n, "block % tiles_" .. fast
  local slow_place, slow_text = g.block // fast_n, "block / tiles_" .. fast
  local why = string.format(" // tiles along %s first", fast)
  if order == "g" then
    fast_place, fast_text, slow_place, slow_text =
      in_band(g, lines, fast, fast_n, slow, slow_n, outer)
    why = ""
  elseif outer then
    slow_place, slow_text = slow_place % slow_n, slow_text .. " % tiles_" .. slow
  end
  local function start_at(dim, number, text, comment)
    lines[#lines + 1] = string.format("const long long first_%s = %s * %s;%s", dim, text, name[dim],
      comment)
    p[dim == p.a and "first_a" or "first_b"] =
      g:define("first_" .. dim, 0, kit.MAX_INDEX, number * size[dim], size[dim])
  end
  start_at(fast, fast_place, fast_text, why)
  start_at(slow, slow_place, slow_text, "")
  place_outer(p, lines, fast_n * slow_n, string.format("(tiles_%s * tiles_%s)", fast, slow))
  return kit.concat(lines)
end

-- A word of `width` elements of `op` along dimension `dim`: nil and a reason if alignment forbids
-- it.
function tiles.adopt_word(p, op, dim, width, skewed)
  if width == 1 then
    return true
  end
  local bytes = width * op.record.bytes
  local run = op.run(1, dim, width)
  if bytes > 16 or not run.contiguous then
    return nil, "a group is wider than 16 bytes or not contiguous"
  elseif skewed and not tiles.is_run(p.k, op, dim) then
    return nil, "its elements are not one run"
  elseif skewed and kit.const_of(op.offset[1] - p.g.outputs[1].offset[1]) ~= 0 then
    return nil, "its runs start on other sectors than those of the first output"
  end
  p.g.needs.words, p.g.needs.at = true, true
  p.g:need_align(op, skewed and 32 or bytes)
  if skewed or run.align % bytes == 0 then
    return true
  end
  local group = E.var("group", 0, kit.MAX_INDEX)
  local start = E.subst(op.offset[1], { p.k.index[dim], group * width })
  local extents = movers.needed_multiples(p.k, start, width, bytes)
  if not extents then
    return nil, "rows do not start on a word"
  end
  for _, extent in ipairs(extents) do
    p.g:require((extent % width):eq(0))
  end
  return true
end

-- The value of every input for one element; exchanged ones come from the tile at (y, x).
local function read_inputs(p, y, col, value)
  local g, lines = p.g, {}
  local exchanged = {}
  for _, x in ipairs(p.exchanged) do
    exchanged[x.op.number] = x
  end
  for _, op in ipairs(g.inputs) do
    local x = exchanged[op.number]
    if x then
      lines[#lines + 1] = string.format("const %s %s = %s;", op.record.fields[1].cuda, op.name,
        value and value(x) or p.cell(x, false, y, col))
    else
      lines[#lines + 1] = g:load_element { op }
    end
  end
  return kit.concat(lines)
end

-- Elements by which the run of column var_a is moved back so that it starts on a sector.
local function skew_of(p)
  local op = p.g.outputs[1]
  return E.subst(op.offset[1], { p.var_b, p.first_b }) // op.record.bytes % p.skew
end

-- Row of the shared tile that holds element y of a store run, and the line that declares it if it
-- is skewed.
function tiles.tile_row(p, y, text)
  if p.skew == 0 then
    return y, ""
  end
  local shift = E.var("run_shift", 0, p.skew - 1)
  return p.g:define("tile_line", 0, p.tile_b + p.skew - 1, p.skew - shift + y),
    string.format("const int tile_line = kSkew - run_shift + %s; // its row in the tile", text)
end

-- Where the store run of a column starts, in terms of dimension b: expression and text. A skewed
-- run starts `shift` elements earlier; appends the declaration of `shift`, with `why` as a comment
-- above it.
function tiles.run_start(p, lines, why)
  if p.skew == 0 then
    return p.first_b, "first_" .. p.b
  end
  lines[#lines + 1] = why
  lines[#lines + 1] = string.format("const int run_shift = (int)(%s);", E.text(skew_of(p), true))
  local shift = p.g:define("run_shift", 0, p.skew - 1, skew_of(p))
  return p.first_b - shift, string.format("first_%s - run_shift", p.b)
end

-- How the lanes of a warp lie on the tile when storing: along_b groups of neighbours along b in
-- along_a columns, so that one store covers 128 bytes of each column. A job is one such place.
function tiles.lane_grid(p)
  local along_b = math.min(32, math.max(1, 128 // (p.vec_out * p.bytes)), p.tile_b // p.vec_out)
  local along_a = 32 // along_b
  local groups = p.tile_b // (along_b * p.vec_out)
  return {
    along_a = along_a, along_b = along_b, groups = groups, warps = p.threads // 32,
    jobs = groups * (p.tile_a // along_a),
  }
end

-- Declares job, y and x of one turn: their expressions and text.
function tiles.define_job(p, grid, turn)
  local g = p.g
  local lane = g:define("lane", 0, 31, g.thread % 32)
  local job = g:define("warp_job", 0, grid.jobs - 1, g.thread // 32 + turn * grid.warps)
  local in_run = job % grid.groups * grid.along_b + lane % grid.along_b
  local y = g:define("tile_y", 0, p.tile_b - 1, in_run * p.vec_out, p.vec_out)
  local col = g:define("tile_x", 0, p.tile_a - 1, job // grid.groups * grid.along_a
    + lane // grid.along_b)
  local run, column = "", "warp_job"
  if grid.groups > 1 then
    run = string.format("warp_job %% %d * %d + ", grid.groups, grid.along_b)
    column = string.format("warp_job / %d", grid.groups)
  end
  local text = string.format("const int warp_job = thread / 32 + turn * %d;\n"
    .. "const int tile_y = %s;\n"
    .. "const int tile_x = %s * %d + lane / %d;",
    grid.warps, string.format(p.vec_out > 1 and "(%slane %% %d) * %d" or "%slane %% %d", run,
      grid.along_b, p.vec_out), column, grid.along_a, grid.along_b)
  return y, col, text
end

-- Reads the inputs of one element, computes, and passes every output to `result(op)`, which gives
-- the statement that takes it further.
function tiles.compute_element(p, index, row, col, declare, result, value)
  local g = p.g
  local lines = {
    index, declare, read_inputs(p, row, col, value), g:declare_outputs(), g:body(),
  }
  for _, op in ipairs(g.outputs) do
    lines[#lines + 1] = result(op)
  end
  return kit.concat(lines)
end

-- Does computing one element mention the index along b: in the body, or for an input that is not
-- exchanged?
function tiles.needs_row(p)
  return #p.exchanged < #p.g.inputs
    or string.find(p.k.body, "%f[%w_]" .. p.b .. "%f[^%w_]") ~= nil
end

-- Is the output's value the only input's, bit by bit?
local function copies(p, op)
  local from = p.g.inputs[1]
  return p.k.moves_only and #p.g.inputs == 1
    and from.record.fields[1].cuda == op.record.fields[1].cuda
end

-- Statements that compute a group of p.vec_out neighbours along b, which starts at row y of a run,
-- from the arrays of values at hand (`a_v`), and declare the outputs' words. `guard`, a statement,
-- leaves out those that have no values.
function tiles.compute_group(p, start, start_text, y, guard)
  local g, lines = p.g, {}
  local result = {}
  for _, op in ipairs(g.outputs) do
    result[op.number] = copies(p, op) and g.inputs[1].name .. "_v" or op.name .. "_v"
    if not copies(p, op) then
      lines[#lines + 1] = string.format("__align__(16) %s %s_v[%d];", op.record.fields[1].cuda,
        op.name, p.vec_out)
    end
  end
  if #lines == 0 then
    return "", result
  end
  local part = g:loop("part", p.vec_out)
  g:tie(p.var_b, start + y + part)
  local index = tiles.needs_row(p) and string.format("const long long %s = %s + tile_y + part;",
    p.b, start_text) or ""
  local inside = tiles.compute_element(p, index, nil, nil, "", function(op)
    return string.format("%s_v[part] = %s;", op.name, op.name)
  end, function(x)
    return x.op.name .. "_v[part]"
  end)
  g:close()
  lines[#lines + 1] = "#pragma unroll"
  lines[#lines + 1] = string.format("for (int part = 0; part < %d; part++) {", p.vec_out)
  lines[#lines + 1] = tiles.indent(kit.concat { guard or "", inside }, 2)
  lines[#lines + 1] = "}"
  return kit.concat(lines), result
end

-- ---- border tiles ----

-- Limits the notes to cells of a border tile that lie in the index space.
local function border_condition(p, cell, cells)
  local inside = p.var_a:lt(p.n_a):land(p.var_b:lt(p.n_b))
  if cells % p.threads ~= 0 then
    inside = inside:land(p.g:below(cell, cells))
  end
  if p.skew > 0 then -- the first tile starts before the array
    inside = inside:land((E.subst(p.var_b, p.g.real) + 1):le(0):lnot())
  end
  p.g:when(inside, p.full:lnot())
end

-- The same for the text: does the element at the dimensions' variables lie in the index space?
local function inside_text(p)
  return string.format("%s%s < n_%s && %s < n_%s", p.skew > 0 and p.b .. " >= 0 && " or "", p.b,
    p.b, p.a, p.a)
end

function tiles.load_border(p, x)
  local g, op = p.g, x.op
  local rows = p.tile_b + p.skew
  local mark = #g.real
  local turn = g:loop("turn", kit.ceil_div(rows * p.tile_a, p.threads))
  local cell = g:define("tile_cell", 0, rows * p.tile_a - 1, g.thread + turn * p.threads)
  local col = g:define("tile_x", 0, p.tile_a - 1, cell % p.tile_a)
  local row = g:define("tile_y", 0, rows - 1, cell // p.tile_a)
  g:tie(p.var_a, p.first_a + col)
  g:tie(p.var_b, p.first_b - p.skew + row)
  border_condition(p, cell, rows * p.tile_a)
  local load = g:load(op, 1, op.offset[1])
  local place = p.cell(x, true, row, col)
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("for (int tile_cell = thread; tile_cell < %d; tile_cell += kThreads) {",
      rows * p.tile_a),
    string.format("  const int tile_x = tile_cell %% k%s, tile_y = tile_cell / k%s;", p.A, p.A),
    string.format("  const long long %s = first_%s%s + tile_y, %s = first_%s + tile_x;", p.b, p.b,
      p.skew > 0 and " - kSkew" or "", p.a, p.a),
    string.format("  if (%s)", inside_text(p)),
    string.format("    %s = %s;", place, load),
    "}",
  }
end

function tiles.store_border(p)
  local g = p.g
  local mark = #g.real
  local turn = g:loop("turn", kit.ceil_div(p.tile_b * p.tile_a, p.threads))
  local cell = g:define("tile_cell", 0, p.tile_b * p.tile_a - 1, g.thread + turn * p.threads)
  local y = g:define("tile_y", 0, p.tile_b - 1, cell % p.tile_b)
  local col = g:define("tile_x", 0, p.tile_a - 1, cell // p.tile_b)
  g:tie(p.var_a, p.first_a + col)
  local lines = {
    string.format("const int tile_y = tile_cell %% k%s, tile_x = tile_cell / k%s;", p.B, p.B),
    string.format("const long long %s = first_%s + tile_x;", p.a, p.a),
  }
  local start, start_text = tiles.run_start(p, lines)
  local row, declare = tiles.tile_row(p, y, "tile_y")
  g:tie(p.var_b, start + y)
  border_condition(p, cell, p.tile_b * p.tile_a)
  lines[#lines + 1] = string.format("const long long %s = %s + tile_y;", p.b, start_text)
  lines[#lines + 1] = string.format("if (%s) {", inside_text(p))
  lines[#lines + 1] = tiles.indent(tiles.compute_element(p, "", row, col, declare, function(op)
    return g:store_element { op }
  end), 2)
  lines[#lines + 1] = "}"
  g:when(nil)
  g:close()
  g:forget(mark)
  return kit.concat {
    string.format("for (int tile_cell = thread; tile_cell < k%s * k%s; tile_cell += kThreads) {",
      p.A, p.B),
    tiles.indent(kit.concat(lines), 2),
    "}",
  }
end

return tiles
