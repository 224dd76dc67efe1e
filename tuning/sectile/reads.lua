-- reads: what a body reads of an array: which fields, and at which places. A place beside the
-- array's own (a tap) has offsets of its own, which follow from the array's formula, the tap's
-- distance and what lies beyond the border.
local reads = {}

-- Position of the first byte from `at` on, in steps of `by`, that is no white space.
local function skip_space(text, at, by)
  local byte = string.byte(text, at)
  while byte == 32 or (byte and byte >= 9 and byte <= 13) do
    at = at + by
    byte = string.byte(text, at)
  end
  return at
end

--- A body with blanks for its comments: what they name is not read.
---@param body string
---@return string
function reads.without_comments(body)
  local parts, at = {}, 1
  while true do
    local from, to = string.find(body, "/[/*]", at)
    if not from then
      parts[#parts + 1] = string.sub(body, at)
      return table.concat(parts)
    end
    local line = string.sub(body, to, to) == "/"
    local _, last = string.find(body, line and "\n" or "*/", to + 1, true)
    last = last or #body
    parts[#parts + 1] = string.sub(body, at, from - 1)
    parts[#parts + 1] = string.rep(" ", last - from + 1)
    at = last + 1
  end
end

--- Does a text name this?
---@param text string
---@param name string
---@return boolean
function reads.named(text, name)
  return string.find(text, "%f[%w_]" .. name .. "%f[^%w_]") ~= nil
end

local last_text, last_names -- a body is asked for again and again while spaces are built

--- The names in a text with the positions of their first byte and of the byte after the last.
function reads.names_in(text)
  if text == last_text then
    return last_names
  end
  local names = {}
  last_text, last_names = text, names
  for from, name, to in string.gmatch(text, "()([%a_][%w_]*)()") do
    names[#names + 1] = { from = from, name = name, to = to }
  end
  return names
end

local DOT = string.byte(".")

--- Fields of `op` that the body reads or writes; a mention of the whole record uses all.
function reads.fields(op, body, names)
  local used, whole = {}, op.record.bare
  for n, word in ipairs(names) do
    if word.name == op.name and string.byte(body, skip_space(body, word.from - 1, -1)) ~= DOT then
      local at = skip_space(body, word.to, 1)
      local field = names[n + 1]
      if string.byte(body, at) == DOT and field and field.from == skip_space(body, at + 1, 1) then
        local index = string.match(string.sub(body, field.to, field.to + 4), "^%[%d+%]") or ""
        used[field.name .. index] = true -- of an array all, where the index is no number
      else
        whole = true
      end
    end
  end
  local list = {}
  for f, field in ipairs(op.record.fields) do
    if whole or used[field.name] or used[string.match(field.name, "^[^%[]*")] then
      list[#list + 1] = f
    end
  end
  return list
end

--- The index that is read where `at`, which may lie up to -lo below and hi above the indices of
--- `op`'s dimension `d`, is asked for; and, where what lies outside is no element of the array, the
--- condition that it is inside.
---@param op sectile.Operand
---@param d integer
---@param at sectile.Expr
---@param lo integer <= 0
---@param hi integer >= 0
---@return sectile.Expr index
---@return sectile.Expr? inside
function reads.bordered(op, d, at, lo, hi)
  local extent, inside = op.extent[d], nil
  if op.border == "clamp" then
    at = lo < 0 and at:max(0) or at
    at = hi > 0 and at:min(extent - 1) or at
  elseif op.border == "wrap" and lo >= -1 and hi <= 1 then -- right for an extent of 1, too
    local below = lo < 0 and extent * at:lt(0) or 0
    local above = hi > 0 and extent * extent:le(at) or 0
    at = at + below - above
  elseif op.border == "wrap" then
    at = at % extent
  elseif op.border == "reflect" then
    local period = ((extent - 1) * 2):max(1)
    at = at % period
    at = at:min(period - at)
  elseif op.border ~= "none" then
    inside = lo < 0 and (0 * at):le(at) or nil
    if hi > 0 then
      local below = at:lt(extent)
      inside = inside and inside:land(below) or below
    end
  end
  return at, inside
end

-- May the array's own place along dimension d lie outside of it?
local function leaves(op, d)
  return op.leaves and op.leaves[d]
end

--- Byte offset of field `f` of `op` at a tap, or at the element of a window that `moved` says; and
--- the condition that it lies inside, where outside is no element of the array.
---@param op sectile.Operand
---@param f integer
---@param tap table delta: for each of its dimensions; count, step of a window
---@param moved? (sectile.Expr|false)[] of a window: the number of its element along each dimension
---@return sectile.Expr offset
---@return sectile.Expr? inside
---@return (table|false)[] for each of its dimensions that has a condition: at, extent
function reads.tap_offset(op, f, tap, moved)
  local with, inside, each = {}, nil, {}
  for d, delta in ipairs(tap.delta) do
    local at, here, far = op.at[d] + delta, nil, tap.count and (tap.count[d] - 1) * tap.step[d] or 0
    local low, high = math.min(delta, 0), math.max(delta + far, 0)
    at = moved and moved[d] and at + moved[d] * tap.step[d] or at
    if leaves(op, d) then
      low, high = -2, 2 -- anywhere
    end
    if low < 0 or high > 0 then
      at, here = reads.bordered(op, d, at, low, high)
    end
    kit.append(with, op.index[d], at)
    each[d] = here and { at = at, extent = op.extent[d] } or false
    inside = inside and here and inside:land(here) or inside or here
  end
  return E.subst(op.element[f], with), inside, each
end

-- A window's loops, each with the variable that stands for the number of an element.
local function loops_of(op, tap)
  local loops, moved = {}, {}
  for d, count in ipairs(tap.count) do
    moved[d] = count > 1 and E.var(string.format("window.%d", d), 0, count - 1)
    loops[#loops + 1] = count > 1 and { index = moved[d], count = count, d = d, op = op } or nil
  end
  return loops, moved
end

--- The places at which the body reads `op`: each with the name of its value, the fields that are
-- used, their offsets, and `inside`.
function reads.of(op, body, names)
  local list = {}
  local function add(tap, used)
    local read = { name = tap.name, delta = tap.delta, how = tap.how, count = tap.count,
      step = tap.step, used = used, offset = {} }
    local moved
    if tap.how then
      read.loops, moved = loops_of(op, tap)
    end
    for _, f in ipairs(used) do
      read.offset[f], read.inside, read.inside_each = reads.tap_offset(op, f, tap, moved)
    end
    list[#list + 1] = read
  end
  if op.gather then
    if reads.named(body, op.name) then
      add(op.gather, op.used)
    end
    return list
  end
  local hidden = kit.any(op.taps, function(tap) return tap.name == op.name end)
  if op.leaves and not hidden and (#op.taps == 0 or reads.named(body, op.name)) then
    add({ name = op.name, delta = kit.map(op.at, function() return 0 end) }, op.used)
    list[1].delta = nil
  elseif not hidden and (#op.taps == 0 or reads.named(body, op.name)) then
    list[1] = { name = op.name, used = op.used, offset = op.offset }
  end
  for _, tap in ipairs(op.taps) do
    if reads.named(body, tap.name) then
      add(tap, reads.fields({ name = tap.name, record = op.record }, body, names))
    end
  end
  return list
end

return reads
