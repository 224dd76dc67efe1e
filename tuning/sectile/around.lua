-- around: inputs that no aligned word starts at or ends with: read by the aligned words around
-- them.
--
--   shifted    neighbours without a gap that start anywhere ("i + 1", a row of any length): words
--              of 16 bytes, put together from the two they straddle
--   spaced     elements a constant step apart ("3 * i"): every word that holds a wanted element,
--              loaded once
--
-- Where rows start anywhere and it does not matter which lane has which element, nothing need be
-- put together: the reader starts at an aligned word (around.rows_alike, around.words).
--
-- The first two are movers of kind "vector" whose one run has `shifted` or `spaced`; map.lua asks
-- around.load for the text. Words before the first element exist, because arrays start aligned;
-- words behind the last one need not, so around.limit says up to where a tile may be read like
-- this.
local around = {}

local WORD = 16
local MAX_WORDS = 16 -- a thread's words for one group of spaced elements

-- What is known of a place modulo `word`: a constant, or nil.
local function residue(at, word)
  for rest = 0, word - 1 do
    if E.divisor(at - rest) % word == 0 then
      return rest
    end
  end
end

-- Byte offset of the group's first element, for groups of `width` elements, and the step from
-- element to element; nil if it is no constant.
local function group_start(k, op, dim, width)
  local step, rest = E.linear(op.offset[1], k.index[dim])
  step = step and kit.const_of(step)
  if not step or E.mentions(rest, k.index[dim]) then
    return nil
  end
  local group = E.var("group", 0, kit.MAX_INDEX)
  return E.subst(op.offset[1], { k.index[dim], group * width }), step
end

-- The words that hold an element of the group, relative to the one it starts in.
local function words_of(rest, step, bytes, width, word)
  local list, last = {}, -1
  for n = 0, width - 1 do
    local at = (rest + n * step) // word
    if at > last then
      list[#list + 1], last = at, at
    end
    if (rest + n * step) % word + bytes > word then
      return nil -- it straddles two words
    end
  end
  return list
end

-- Only where every 4 bytes hold an element: ptxas makes single loads of a word's parts again if
-- fewer of them are used.
local function spaced(op, start, step, width)
  local bytes = op.record.bytes
  if step > 4 then
    return nil
  end
  for _, word in ipairs { 16, 8, 4 } do
    local rest = residue(start, word)
    local words = rest and step % bytes == 0 and words_of(rest, step, bytes, width, word)
    if words and #words <= MAX_WORDS and #words < width then
      return { word = word, rest = rest, step = step, words = words }
    end
  end
end

--- How the bare input `op` moves for `width` elements along dimension `dim` if no plain words do: a
--- mover of kind "vector", or nil.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer the dimension's number
---@param width integer
---@param share? boolean lanes hand the words between them on, instead of loading them twice
---@return sectile.Mover?
function around.mover(k, op, dim, width, share)
  local bytes = op.record.bytes
  if op.is_output or op.is_index or op.through_index or not op.record.bare then
    return nil
  end
  local start, step = group_start(k, op, dim, width)
  if not start or step < bytes or E.divisor(start) % kit.word_bytes(bytes) ~= 0 then
    return nil
  end
  local run = { record = true, used = {} }
  if step == bytes then
    local count = width * bytes // WORD
    local rest = residue(start, WORD)
    if count == 0 or width * bytes % WORD ~= 0 or rest == 0 then
      return nil
    end
    run.word, run.count = WORD, count
    run.shifted = { rest = rest, share = share }
  else
    run.spaced = spaced(op, start, step, width)
    if not run.spaced then
      return nil
    end
    run.word, run.count = run.spaced.word, #run.spaced.words
  end
  return { kind = "vector", op = op, runs = { run } }
end

--- Condition under which all elements before `stop` along dimension `dim` may be read by whole
--- words: the last of them ends inside of the array.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@param run table
---@param stop sectile.Expr
---@return sectile.Expr
function around.limit(k, op, dim, run, stop)
  local last = E.subst(op.offset[1], { k.index[dim], stop - 1 }) + op.record.bytes
  return kit.ceil_div(last, run.word):le(op.bytes // run.word)
end

-- ---- where the reader chooses where to start ----

--- Bytes from an element to the next along dimension `dim`; nil if they differ.
---@param k sectile.View
---@param op sectile.Operand
---@param dim integer
---@return sectile.Expr?
function around.step(k, op, dim)
  local index = k.index[dim]
  local step = E.subst(op.offset[1], { index, index + 1 }) - op.offset[1]
  return not E.mentions(step, index) and step or nil
end

--- The inputs of a kernel that may read its rows by aligned words from any of them on: bare arrays
--- of elements of one size below a word, neighbours along the last dimension beside each other, all
--- rows alike. The first of them; and the condition that rows start off a word somewhere. nil and a
--- reason if they are not so.
---@param k sectile.View
---@return sectile.Operand? op
---@return sectile.Expr|string off
function around.rows_alike(k)
  local last, first, off = #k.dims, nil, nil
  for _, op in ipairs(k.operands) do
    if not op.is_output then
      local bytes = op.record.bytes
      local step = op.record.bare and E.linear(op.offset[1], k.index[last])
      first = first or op
      local plain = bytes < WORD and WORD % bytes == 0 and not op.is_index and not op.through_index
      if not plain or not step or kit.const_of(step) ~= bytes then
        return nil, "an input is no array of small elements that follow each other"
      elseif bytes ~= first.record.bytes or E.divisor(op.offset[1]) % bytes ~= 0
        or E.divisor(op.offset[1] - first.offset[1]) % WORD ~= 0 then
        return nil, "the inputs' rows do not start alike"
      end
    end
  end
  for dim = 1, last - 1 do
    local step = first and around.step(k, first, dim)
    if not step then
      return nil, "rows are no constant step apart"
    elseif E.divisor(step) % WORD ~= 0 then
      local here = (step % WORD):ne(0)
      off = off and off:lor(here) or here
    end
  end
  if not off then
    return nil, "rows start on a word"
  end
  return first, off
end

--- A mover for groups of `width` elements that start on a word because the reader began at one.
---@param op sectile.Operand
---@param width integer elements that fill words
---@return sectile.Mover
function around.words(op, width)
  local run = { record = true, word = WORD, count = width * op.record.bytes // WORD, used = {} }
  return { kind = "vector", op = op, runs = { run } }
end

--- Takes what a run needs into the plan.
---@param g sectile.Generator
---@param run table
function around.adopt(g, run)
  g.needs.spaced = g.needs.spaced or run.spaced ~= nil
  if run.shifted then
    g.needs.shifted = g.needs.shifted or {}
    g.needs.shifted[run.shifted.share and "share" or "load"] = true
  end
end

-- Notes the access to a word of which only the parts of 4 bytes in `used` are read: the machine's
-- code has the narrowest loads that cover them (src/ptx/ptx_live.c).
local function touch_word(g, op, at, word, used)
  local n = 0
  for part = 0, word // 4 - 1 do
    n = n + (used[part] and 1 or 0)
  end
  if n == word // 4 or n > 2 then
    g:touch(op, false, word, at)
  elseif n == 2 and used[0] == used[1] then
    g:touch(op, false, 8, at + (used[0] and 0 or 8))
  else
    for part = 0, word // 4 - 1 do
      if used[part] then
        g:touch(op, false, 4, at + part * 4)
      end
    end
  end
end

-- The set of parts of 4 bytes from byte `from` up to before byte `to`.
local function parts(from, to)
  local used = {}
  for part = from // 4, (to + 3) // 4 - 1 do
    used[part] = true
  end
  return used
end

local function load_shifted(g, op, run, array)
  local at, shifted, count = op.offset[1], run.shifted, run.count
  local start, rest = at // WORD * WORD, run.shifted.rest
  local all = parts(0, WORD)
  for n = 0, count - 1 do
    local alone = rest and not shifted.share and n == 0
    touch_word(g, op, start + n * WORD, WORD, alone and parts(rest, WORD) or all)
  end
  local lanes, warps = g.condition, g.warp_condition
  local off = not rest and E.subst((at % WORD):ne(0), g.real) or nil
  if shifted.share then
    local last = E.subst((g.thread % 32):eq(31), g.real)
    off = off and off:land(last) or last
  end
  g.condition = lanes and off and lanes:land(off) or off or lanes
  touch_word(g, op, start + count * WORD, WORD, rest and parts(0, rest) or all)
  g.condition, g.warp_condition = lanes, warps
  return string.format("%s<%d, %d, %s>(%s, %s, %s);",
    shifted.share and "share_shifted" or "load_shifted", count, rest or -1,
    tostring(E.divisor(at) % 4 ~= 0 and (rest or 1) % 4 ~= 0), array, op.pointer, E.text(at, true))
end

local function load_spaced(g, op, run, array, width)
  local s, at = run.spaced, op.offset[1]
  for _, word in ipairs(s.words) do
    local used = {}
    for n = 0, width - 1 do
      local place = s.rest + n * s.step
      if place // s.word == word then
        used[place % s.word // 4] = true
      end
    end
    touch_word(g, op, at - s.rest + word * s.word, s.word, used)
  end
  return string.format("load_spaced<%s, %s, %d, %d, %d>(%s, &at<char>(%s, %s));",
    kit.word_type[s.word], op.record.fields[1].cuda, width, s.rest, s.step, array, op.pointer,
    E.text(at - s.rest, true))
end

--- Statement that loads a group of `op` into `array` (text of its address), and notes the accesses.
---@param g sectile.Generator
---@param op sectile.Operand
---@param run table
---@param array string
---@param width integer
---@return string
function around.load(g, op, run, array, width)
  if run.shifted then
    return load_shifted(g, op, run, array)
  end
  return load_spaced(g, op, run, array, width)
end

return around
