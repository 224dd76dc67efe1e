-- exchange: runs of several words a lane, moved so that neighbouring lanes move neighbouring words.
-- A warp takes the words of its 32 runs striped (lane l has words l, l + 32, ...), and the lanes
-- exchange them by shuffles: for n words a lane, n shuffles and up to 2 n log2 n selections. With
-- n = 2^a b, b odd, the lanes l and l + 32 / 2^a would ask the same lane at the same time, so words
-- are rotated by a before and after; lanes differ in which of the b words they give, so these are
-- rotated too.
local exchange = {}

local LANES = 32
local SMALLEST = 4 -- bytes that a shuffle moves

--- Marks those of a vector mover's runs that a warp can move striped: several words a lane, no lane
--- out of line. Returns how many.
---@param g sectile.Generator
---@param mover sectile.Mover of kind "vector"
---@param dim integer the dimension's number
---@param width integer elements a lane
---@return integer
function exchange.mark(g, mover, dim, width)
  local n = 0
  for _, run in ipairs(mover.runs) do
    local follow = run.record and strides.record_run(g.k, mover.op, dim, LANES * width) ~= nil
      or not run.record and mover.op.run(run.field, dim, LANES * width).contiguous
    if run.count > 1 and run.word >= SMALLEST and follow then
      run.exchange = true
      n = n + 1
    end
  end
  g.needs.striped = g.needs.striped or n > 0
  return n
end

-- Byte offset of the first word that a lane moves striped, where its own run starts at `at`.
local function striped(g, run, at)
  return at + g.lane * (run.word - run.count * run.word)
end

local function touch_words(g, op, store, run, at)
  for n = 0, run.count - 1 do
    g:touch(op, store, run.word, at + n * LANES * run.word)
  end
  g:touch_shuffle(run.count * run.word // SMALLEST)
end

--- Statement that loads a run into `array`.
---@param g sectile.Generator g.lane is the lane's number, `lane` in the text
---@param op sectile.Operand
---@param run table
---@param array string
---@param at sectile.Expr where the lane's own run starts
---@return string
function exchange.load(g, op, run, array, at)
  local first, word = striped(g, run, at), kit.word_type[run.word]
  touch_words(g, op, false, run, first)
  return string.format("load_striped<%s, %d>(%s, &at<%s>(%s, %s), lane);", word, run.count, array,
    word, op.pointer, E.text(first, true))
end

--- Statement that stores a run from `array`.
---@param g sectile.Generator
---@param op sectile.Operand
---@param run table
---@param array string
---@param at sectile.Expr
---@return string
function exchange.store(g, op, run, array, at)
  local first, word = striped(g, run, at), kit.word_type[run.word]
  touch_words(g, op, true, run, first)
  return string.format("store_striped<%s, %d>(&at<%s>(%s, %s), %s, lane);", word, run.count, word,
    op.pointer, E.text(first, true), array)
end

return exchange
