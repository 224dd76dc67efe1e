-- spread: how the threads of a block are spread over a tile of an exchange (sides.lua).
local spread = {}

local LANES = 32

--- Vectors of the tile that a thread loads, and where they lie: texts.
function spread.loads(p)
  local X, Y = p.X, p.Y
  local ahead = p.sector > 0 and " - kAhead" or ""
  if p.is_lines then
    p.line_place = string.format("const long long %s = %s%s + line;", Y.at, Y.first, ahead)
    p.line_outside = string.format("%s%s >= %s",
      p.sector > 0 and Y.at .. " < 0 || " or "", Y.at, Y.extent)
    p.width = string.format("const int width = guarded ? (int)min((long long)kTileX, %s - %s) "
      .. ": kTileX;", X.extent, X.first)
  else
    local across = p.tile_x // p.load
    local total = across * (p.lines_of_tile // p.pack)
    p.loads, p.vectors = kit.ceil_div(total, p.threads), total
    p.ragged = total % p.threads ~= 0
    p.lines_a_load = p.threads % across == 0 and p.threads // across * p.pack or false
    p.lines_a_load_text = "kThreads / kLoadsALine" .. (p.pack > 1 and " * kPack" or "")
    local vector = p.lines_a_load and "threadIdx.x" or "vector"
    p.in_x = string.format("%s %% kLoadsALine%s", vector, p.load > 1 and " * kLoad" or "")
    p.in_line = string.format("%s / kLoadsALine%s", vector, p.pack > 1 and " * kPack" or "")
    p.vector_place = p.lines_a_load and "const int line = thread_line + k * kLinesALoad;"
      or kit.concat { "const int vector = k * kThreads + threadIdx.x;",
        string.format("const int x = %s, line = %s;", p.in_x, p.in_line) }
    p.past = string.format(p.lines_a_load and "line >= %d" or "vector >= %d",
      p.lines_a_load and p.lines_of_tile or total)
    local at_y = string.format("%s%s + line%s", Y.first, ahead, p.pack > 1 and " + r" or "")
    p.in_place = string.format("const long long %s = %s + x, %s = %s;", X.at, X.first, Y.at, at_y)
    p.in_bounds = string.format("!guarded || (%s < %s && %s%s < %s)", X.at, X.extent,
      p.sector > 0 and Y.at .. " >= 0 && " or "", Y.at, Y.extent)
    p.in_inside = string.format("%s(%s)", p.ragged and "!(" .. p.past .. ") && " or "", p.in_bounds)
  end
end

-- A column of the tile is stored by lanes that are neighbours along Y.
local function stores_of_columns(p)
  local Y, warps = p.Y, p.threads // LANES
  local units, lanes = kit.ceil_div(p.tile_y, p.store), p.lanes
  while lanes > 1 and lanes >= 2 * units do
    lanes = lanes // 2
  end
  local columns = LANES // lanes -- of a warp at a time
  local groups, shares = kit.ceil_div(p.tile_x, columns), 1
  while 2 * shares * groups <= warps do
    shares = 2 * shares -- warps that share a column
  end
  local parts = kit.ceil_div(units, lanes)
  p.columns, p.parts = kit.ceil_div(groups, warps // shares), kit.ceil_div(parts, shares)
  local warp = shares > 1 and string.format("warp %% %d", warps // shares) or "warp"
  local at = p.columns > 1 and "k * kWarps + warp" or warp
  at = columns > 1 and p.columns > 1 and "(" .. at .. ")" or at
  p.out_x = at .. (columns > 1 and " * kColumns + lane / kLanes" or "")
  p.column_lanes = lanes
  local unit = lanes == LANES and "lane" or "lane % kLanes"
  local part = p.parts > 1 and "part" or nil
  if shares > 1 then
    local share = string.format("warp / %d", warps // shares)
    part = part and string.format("(part * %d + %s)", shares, share) or share
  end
  p.out_y = part and string.format("%s * kLanes + %s", part, unit) or unit
  if p.store > 1 then
    p.out_y = (part and "(" .. p.out_y .. ")" or p.out_y) .. " * kStore"
  end
  p.out_beyond = p.columns * (warps // shares) * columns ~= p.tile_x and "x >= kTileX"
  p.out_ragged = p.parts * shares * lanes ~= units
  p.out_doc = columns == 1 and string.format("a warp's lanes are neighbours along %s", Y.name)
    or string.format("%d lanes are neighbours along %s\n// a warp has %d columns: its reads of the "
      .. "tile meet all banks", lanes, Y.name, columns)
end

-- Columns that go on in each other are one run of the outputs: neighbouring threads store
-- neighbours, from column to column.
local function stores_of_runs(p)
  p.run_stores = p.tile_x // p.shared.inner * p.tile_y // p.store
  local total = p.run_stores * p.shared.inner
  p.columns, p.parts = kit.ceil_div(total, p.threads), 1
  p.out_unit = p.columns > 1 and "k * kThreads + threadIdx.x" or "threadIdx.x"
  p.out_x, p.out_y = "at / kTileY * kInner + unit / kRun", "at % kTileY"
  p.out_beyond = total % p.threads ~= 0 and "unit >= kInner * kRun"
  p.out_doc = string.format("neighbouring threads are neighbours along %s, from column to column",
    p.Y.name)
end

--- Columns of the tile that a thread stores, and which part of them: texts.
function spread.stores(p)
  local X, Y = p.X, p.Y
  if p.shared then
    stores_of_runs(p)
  else
    stores_of_columns(p)
  end
  local crosses = string.format("guarded && %s >= %s", X.at, X.extent)
  p.out_beyond = p.out_beyond and p.out_beyond .. " || (" .. crosses .. ")" or crosses
  -- stores at a time: more than fit into the registers would spill
  local most = p.shared and 4 or p.sector > 0 and p.store > 1 and 8 or 16
  local unroll = p.columns * p.parts <= most and "" or " " .. math.max(most // p.parts, 1)
  p.each_column = p.columns > 1 and string.format("#pragma unroll%s\nfor (int k = 0; k < %d; k++)"
    .. "\n  ", unroll, p.columns) or ""
  p.leave_part = p.parts > 1 and "break" or "return"
  p.next_part = p.parts > 1 and "continue" or "return"
  p.out_past = p.out_ragged and string.format("if (y >= kTileY) %s;", p.leave_part) or ""
  p.column_place = string.format("const long long %s = %s + x;", X.at, X.first)
  p.out_place = string.format("const long long %s = %s%s + y;", Y.at, Y.first,
    p.sector > 0 and " - shift" or "")
end

return spread
