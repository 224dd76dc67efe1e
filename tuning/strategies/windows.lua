-- windows: single elements through an index array in no order, one part of the table after the
-- other. What is asked for within a short time then lies in a part that L2 holds, so that a sector
-- that several elements share is fetched, or written, once.
--
--   gather    a block keeps the indexes of a large tile in registers and goes through the windows;
--             blocks that run at the same time are in about the same one
--   scatter   the grid goes through all tiles once a window, and stores what falls into it
--
-- Nothing waits for anything: that blocks keep step only makes it fast.
local function through(k)
  local found
  for _, op in ipairs(k.operands) do
    if op.through_index then
      if found then
        return nil
      end
      found = op
    end
  end
  return found
end

local function one_through_index(k)
  local op = through(k)
  return op ~= nil and #op.at == 1
end

local function all_bare(k)
  for _, op in ipairs(k.operands) do
    if not op.record.bare then
      return false
    end
  end
  return true
end

-- The window at hand, as map.lua asks for it.
local function open_window(p, op, count)
  local g, w = p.g, { lazy = false }
  p.window = w
  w.declare = function()
    local span = g:define("span", 0, kit.MAX_INDEX, kit.ceil_div(op.extent[1], count))
    w.low = g:define("low", 0, kit.MAX_INDEX, w.number * span)
    w.span = span
    return string.format("const long long low = window * span; // of %s's places", op.name)
  end
  -- is `other` moved only where the place lies in the window? Then the operand that says the place
  w.holds = function(other)
    return (other == op or (w.lazy and not other.is_index)) and op or nil
  end
  -- what `inside` gives, where the place lies in the window
  w.guard = function(inside)
    local outer = g.condition
    local within = E.subst(w.low:le(op.at[1]):land(op.at[1]:lt(w.low + w.span)), g.real)
    g.condition = outer and outer:land(within) or within
    w.entered = true
    local text = inside()
    w.entered = false
    g.condition = outer
    return string.format("if ((unsigned long long)(%s - low) < (unsigned long long)span) {\n%s\n}",
      E.text(op.at[1], true), tiles.indent(text, 2))
  end
  w.span_text = string.format("const long long span = %s;",
    E.text(kit.ceil_div(op.extent[1], count), true))
  return w
end

-- Of a scatter: the window and the tile that a block has. Lazy: what does not fall into the window
-- is not loaded, which words of several elements would be anyway.
local function cut_windows(g, p, op, count, lazy)
  local n_tiles = kit.ceil_div(p.k.extents[1], p.tile)
  local w = open_window(p, op, count)
  g:define("tiles", 1, kit.MAX_INDEX, n_tiles)
  w.number = g:define("window", 0, count - 1, g.block // n_tiles)
  w.lazy = lazy
  w.head = kit.concat {
    string.format("const long long tiles = (n_%s + kTile - 1) / kTile;", p.last),
    "const long long tile = block % tiles, window = block / tiles; // all tiles, window by window",
    w.span_text, w.declare(),
  }
  return { name = "tile", var = g.block % n_tiles }
end

-- Of a gather: the loop over windows around what is loaded through the index.
local function gather_windows(p, op, count)
  local g, w = p.g, open_window(p, op, count)
  w.head = w.span_text
  w.around = function(inside)
    local mark = #g.real
    w.number = g:loop("window", count)
    local low = w.declare()
    local text = inside()
    g:close()
    g:forget(mark)
    return "#pragma unroll 1\nfor (int window = 0; window < kWindows; window++) {\n"
      .. "  " .. low .. "\n" .. tiles.indent(text, 2) .. "\n}"
  end
end

return {
  name = "windows",
  doc = "Elements through an index array in no order: one part of the table after the other, so "
    .. "that L2 holds what is asked for.",
  applies = {
    { "there is one dimension, and one operand is addressed through an index array", function(k)
      return #k.dims == 1 and one_through_index(k)
    end },
    { "every operand is a bare type", all_bare },
  },
  axes = {
    { "threads", { 256, 512, 1024 }, key = "t", doc = "threads a block" },
    { "items", { 1, 2, 4, 8, 16 }, key = "i", doc = "groups a thread" },
    { "vec", { 1, 2, 4 }, key = "v", doc = "neighbouring elements in a group" },
    { "windows", { 2, 4, 8, 16 }, key = "w", doc = "parts of the table, one after the other" },
    { "hint", { "none", "stream" }, key = "h",
      doc = "cache hint: stream marks all but what the index points to as streaming" },
  },
  facts = function(k)
    local op = through(k)
    return {
      { "scatter", op and op.is_output and 1 or 0 }, { "bytes", op and op.record.bytes or 1 },
    }
  end,
  where = {
    "vec * bytes <= 16",
    -- a gather keeps its tile in registers, and the larger it is the more elements share a sector
    "scatter or (items * vec >= 8 and items * vec <= 32 and items * vec * bytes <= 128)",
    "scatter or threads * items * vec <= 8192",
    "scatter == 0 or (items * vec <= 8 and threads <= 512)",
  },
  template = "windows.cu",
  plan = function(k, c)
    local op = through(k)
    local p, reason = map.plan(k, "windows", {
      threads = c.threads, items = c.items, vec = c.vec, hint = c.hint == "stream" and "cs",
      mover = function(g, other)
        g.steady[op.number] = true
        return movers.vector(g, other, 1, c.vec) or { kind = "direct" }
      end,
      team = op.is_output and function(g, p)
        return cut_windows(g, p, op, c.windows, c.vec == 1)
      end or nil,
    })
    if not p then
      return nil, reason
    end
    if op.is_output then
      p.grid = p.grid * c.windows
      p.rest = p.full:lnot():land(E.subst(p.window.number, p.g.real):eq(0))
      p.last_tile = "else if (window == 0)"
    else
      gather_windows(p, op, c.windows)
      p.last_tile = "else"
    end
    p.p, p.windows = p, c.windows
    p.doc = string.format("%s is %s in %d parts, one after the other: what is asked for at a time "
      .. "lies in L2.", op.name, op.is_output and "written" or "read", c.windows)
    return p
  end,
}
