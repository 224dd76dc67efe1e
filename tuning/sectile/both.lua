-- both: how operands of an exchange move that share a side in both directions: vectors and tiles,
-- outputs that run along X, and inputs that run along Y.
local both = {}

--- The C type of `count` neighbours, a constant called `name`.
function both.vec_type(type, count, name)
  return count > 1 and string.format("vec<%s, %s>", type, name) or type
end

--- Requires that vectors of `width` along a side start at multiples of it.
function both.require_vectors(p, op, side, width)
  if width == 1 then
    return true
  end
  local start = E.divisor(sides.element(p, op, 0, 0, true) + 0)
  if start % width ~= 0 and kit.const_of(sides.element(p, op, 0, 0, true)) ~= 0 then
    return false
  end
  for d, step in ipairs(p.about.steps[op.number]) do
    if not kit.has(side.dims, d) and E.divisor(step) % width ~= 0 then
      if kit.const_of(step) then
        return false
      end
      p.g:require((step % width):eq(0))
    end
  end
  if E.divisor(side.n) % width ~= 0 then
    p.g:require((side.n % width):eq(0))
  end
  p.g:need_align(op, width * op.record.bytes)
  return true
end

-- The words of a tile: text.
local function tile_count(p)
  local lines = p.is_lines and "kLines" or p.sector == 0 and p.rows and "kTileY" or "kTileX"
  local n = lines == "kTileX" and p.tile_x or p.lines_of_tile
  return p.tile_elems == n * (p.pitch or p.row_elems) and lines .. " * kPitch" or p.tile_elems
end

--- Shared memory for a tile of `op`.
function both.add_tile(p, op, name)
  local memory = {
    name = name, type = p.pack > 1 and "unsigned int" or p.g:type(op), count = tile_count(p),
    bytes = p.tile_elems * (p.pack > 1 and 4 or op.record.bytes),
    doc = (p.is_lines and "lines of %s, in the order of memory" or "a tile of %s"):format(op.name),
  }
  table.insert(p.memory, 1, memory)
  return memory
end

--- Where a vector along X lies in `op`, and the statement before the loop over vectors that this
--- needs: texts.
function both.place_on_line(p, op, type, suffix)
  p.line_text = p.pack > 1 and "line + r" or "line"
  if not p.linear[op.number].y or not p.lines_a_load then
    return sides.place(p, op), ""
  end
  local first = p.g:name(op.name .. suffix)
  local place = string.format("%s[%s]", first, sides.lines_on(p, op, p.pack > 1
    and "k * kLinesALoad + r" or "k * kLinesALoad"))
  return place, string.format("%s *const %s = &%s[%s];", type, first, op.pointer,
    sides.start(p, op))
end

--- An output that runs along X. Its tile is that of an input of as large elements, if there is one:
--- a thread leaves a result where it has taken the input's element from.
function both.adopt_turned(p, op)
  local type = p.g:type(op)
  local y = { op = op, type = type, value = p.g:name(op.name .. "_v"), declare_to = "" }
  y.vtype = both.vec_type(type, p.store, "kStore")
  y.stored_type = both.vec_type(type, p.load, "kLoad")
  y.rows, y.columns = p.g:name(op.name .. "_out"), p.g:name(op.name .. "_columns")
  for _, x in ipairs(p.exchanged) do
    if not y.tile and not x.memory.is_shared
      and x.memory.type == (p.pack > 1 and "unsigned int" or type) then
      y.tile, x.memory.is_shared = x.tile, true
      x.memory.doc = x.memory.doc .. ", then of " .. op.name
    end
  end
  if not y.tile then
    y.tile = p.g:name(op.name .. "_tile")
    both.add_tile(p, op, y.tile)
  end
  p.results[#p.results + 1], p.turned[#p.turned + 1] = y, y
  if not both.require_vectors(p, op, p.X, p.load) then
    return nil, op.name .. ": its lines do not start at a vector"
  end
  return true
end

--- Texts that leave a store's elements of an output in its tile, and that take a vector along X
--- from there: what exchanged inputs do, backwards.
function both.write_turned(p, y)
  local word = p.pack > 1 and "reinterpret_cast<const unsigned int *>(&" .. y.value
    .. ")[e / kPack]" or y.value .. "[e]"
  if p.store == 1 then
    y.store = string.format("%s[kept_at(x, y)] = %s;", y.tile, y.value)
  elseif p.rows then
    y.store = string.format("for (int e = 0; e < kStore; %s)\n  %s[kept_at(x, y + e)] = %s;",
      p.pack > 1 and "e += kPack" or "e++", y.tile, word)
  else
    y.store = string.format("*reinterpret_cast<%s *>(&%s[kept_at(x, y)]) = %s;", y.vtype, y.tile,
      y.value)
  end
  local to
  to, y.declare_to = both.place_on_line(p, y.op, y.type, "_to")
  local row = y.rows .. (p.pack > 1 and "[r]" or "")
  y.store_line = string.format("%s(&%s, %s);", cuda.STORES[p.evict], to, row)
  if p.pack > 1 then
    local words = p.rows and p.chunk or 1
    local vector = string.format("vec<unsigned int, %d>", words)
    y.take_line = kit.concat {
      string.format("alignas(16) unsigned int %s[kLoad];", y.columns),
      string.format("for (int e = 0; e < kLoad; e%s)", words > 1 and " += " .. words or "++"),
      words > 1 and string.format("  *reinterpret_cast<%s *>(&%s[e]) =\n      *reinterpret_cast<"
        .. "const %s *>(&%s[kept_at(x + e, line)]);", vector, y.columns, vector, y.tile)
        or string.format("  %s[e] = %s[kept_at(x + e, line)];", y.columns, y.tile),
      string.format("%s %s[kPack];\n%s(%s,\n    reinterpret_cast<unsigned int (&)[kPack][kLoad "
        .. "/ kPack]>(%s));", y.stored_type, y.rows, p.pack == 2 and "turn_halves_back"
        or "turn_bytes_back", y.columns, y.rows),
    }
  elseif p.load == 1 then
    y.take_line = string.format("const %s %s = %s[kept_at(x, line)];", y.type, y.rows, y.tile)
  elseif p.rows then
    y.take_line = string.format("const %s %s = *reinterpret_cast<const %s *>(&%s[kept_at(x, "
      .. "line)]);", y.stored_type, y.rows, y.stored_type, y.tile)
  else
    y.take_line = string.format("%s %s;\nfor (int e = 0; e < kLoad; e++)\n  %s[e] = "
      .. "%s[kept_at(x + e, line)];", y.stored_type, y.rows, y.rows, y.tile)
  end
end

--- Does an input move in vectors of a store along Y, at a tuned size where the outputs do?
function both.moves_wide(p, op)
  local k, about, first = p.k, p.about, p.Y.dims[1]
  return p.store > 1 and p.sector == 0 and p.linear[op.number].y
    and kit.const_of(about.steps[op.number][first]) == 1
    and kit.any(k.sizes, function(_, n)
      return sides.fits(k, about, about.Y, n, about.out, p.store)
        and sides.fits(k, about, about.Y, n, op.number, p.store)
    end)
    and both.require_vectors(p, op, p.Y, p.store)
end

--- An input that is loaded as outputs are stored, before the tiles are ready.
function both.adopt_straight(p, op)
  local x = { op = op, loaded = p.g:name(op.name .. "_in"), pointer = op.pointer }
  local index = (p.columns > 1 and "[k]" or "") .. (p.parts > 1 and "[part]" or "")
  x.type = both.vec_type(p.g:type(op), p.store, "kStore")
  x.dims = (p.columns > 1 and "[" .. p.columns .. "]" or "")
    .. (p.parts > 1 and "[" .. p.parts .. "]" or "")
  local column, line = sides.column(p, op)
  x.column = p.g:name(op.name .. "_from")
  x.from = string.format("const %s *const %s = &%s[%s];", p.g:type(op), x.column, op.pointer,
    column)
  x.load = string.format("%s%s = load<%s>(&%s[%s]);", x.loaded, index, x.type, x.column, line)
  p.straight[#p.straight + 1] = x
  p.direct[#p.direct + 1] = {
    op = op, declare = "", declare_element = "", declare_some = "", take_element = "",
    element = x.loaded .. index .. (p.store > 1 and "[e]" or ""),
  }
end

--- May a thread hold what it loads straight while the tiles come in?
function both.can_hold(p)
  local bytes = 0
  for n, op in ipairs(p.k.operands) do
    bytes = bytes + (sides.is_straight(p.k, p.about, n) and op.record.bytes or 0)
  end
  return not p.shared and p.sector == 0 and p.columns * p.parts <= 16
    and p.columns * p.parts * p.store * bytes <= 128
end

return both
