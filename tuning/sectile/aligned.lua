-- aligned: for map, vectors that begin where words of the first output do, wherever its rows start.
-- A row's first and last vector move in part; inputs whose rows start elsewhere are read by the
-- aligned words around a vector (across.lua).
local aligned = {}

local WORD = 16

-- The number of the element of a bare operand that runs along rows; nil: it is none.
local function number_of(k, op)
  local bytes = op.record.bytes
  local runs = op.record.bare and not op.is_index and not op.through_index and op.style ~= "bytes"
    and strides.fixed(k, op, 1, #k.dims) == bytes and E.divisor(op.offset[1]) % bytes == 0
  return runs and op.offset[1] // bytes or nil
end

-- Does a row of `op` start off a word of 16 bytes at some tuned size?
local function starts_off_words(k, op)
  return kit.any(k.dims, function(_, d)
    local step = d < #k.dims and strides.step(k, op, 1, d)
    return step and kit.any(k.given, function(given) return E.eval(step + 0, given) % WORD ~= 0 end)
  end)
end

-- Does an operand stay where it is along rows?
local function stays(k, op)
  return op.record.bare and not op.is_index and not op.through_index
    and strides.fixed(k, op, 1, #k.dims) == 0
end

--- Bytes of the smallest element of outputs whose rows start anywhere; 0: vectors may begin with
--- rows, or lie across them, or modes are unrolled, or an operand moves in another way.
---@param k sectile.View
---@return integer
function aligned.bytes(k)
  local least, off, follows = WORD, false, false
  for _, op in ipairs(#k.dims > 1 and across.bytes(k) == 0 and not thin.view(k) and k.operands
    or {}) do
    local runs = number_of(k, op) and not op.keeps
    if not runs and (op.is_output or not stays(k, op)) then
      return 0
    elseif op.is_output then
      least, off = math.min(least, op.record.bytes), off or starts_off_words(k, op)
    else
      follows = follows or runs and not op.old_of
    end
  end
  return off and follows and least < WORD and least or 0
end

--- May a plan have such vectors? nil and a reason if not.
---@param p table
---@param c table
---@return boolean?
---@return string? why
function aligned.fits(p, c)
  local first, k = p.g.outputs[1], p.k
  p.aligned_at = number_of(k, first)
  if not p.aligned_at or kit.any(p.g.outputs, function(op) return op.keeps end) then
    return nil, "an output does not run along rows, or keeps elements"
  elseif c.load ~= "straight" or c.store == "staged" then
    return nil, "inputs are read by words around vectors in any case"
  elseif p.inside > 1 or p.vec > kit.longest(k, #k.dims) then
    return nil, "rows are shorter than a vector, or a vector covers several"
  end
  return true
end

--- The access path of an operand that moves along rows, and its vector; nil: no path serves it.
---@param p table
---@param op sectile.Operand
---@return string?
---@return table?
function aligned.path(p, op)
  local number, bytes = number_of(p.k, op), p.vec * op.record.bytes
  local word = math.min(bytes, WORD)
  if number and E.divisor(number - p.aligned_at) % p.vec == 0 then
    p.g:need_align(op, word)
    return "vector", { word = word, extents = {} }
  elseif number and not op.is_output and not op.old_of and op.record.bytes < WORD
    and bytes >= 4 and (bytes % WORD == 0 or WORD % bytes == 0) then
    p.g:need_align(op, word)
    return "around"
  end
  p.is_apart = p.is_apart or op.is_output
  return "elements"
end

--- The statement that moves the place of item's vector back to where a word starts.
---@param p table
---@return string
function aligned.shift_back(p)
  local k, put = p.k, {}
  for d, dim in ipairs(k.dims) do
    kit.append(put, k.index[d], d == #k.dims and 0 or cuda.var("indices[item]." .. dim))
  end
  return string.format("indices[item].%s -= (int)(%s) & (kVec - 1);", k.dims[#k.dims],
    p.g:text(E.subst(p.aligned_at, put)))
end

return aligned
