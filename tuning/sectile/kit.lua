-- kit: what strategies and templates share. It turns a kernel view `k` and offset expressions
-- into CUDA text, and notes every memory access it writes, so that the text and the counted
-- sectors come from one description.
--
-- A generator `g` (kit.new) belongs to one candidate. Names that the generated code declares
-- (block, thread, first, slot, ...) are expression variables; g:define() ties each to its meaning
-- in terms of block, thread, loops and extents, which is what counting evaluates.
local declare = require "sectile.declare"
local hints = require "sectile.hints"

local kit = {}

local MAX_INDEX = 1 << 40

-- Words of 1 to 16 bytes as CUDA spells them; __ldcs and __stcs take each of them.
local WORD = {
  [1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned int", [8] = "uint2",
  [16] = "uint4",
}

--- Names that generated code uses for itself.
kit.reserved = {
  "block", "thread", "warp", "lane", "team", "tiles", "rest", "first", "item", "part", "slot",
  "word", "element", "at",
}

-- ---- small things ----

-- Joins the pieces that are not empty.
local function concat(list, between)
  local some = {}
  for _, text in ipairs(list) do
    if text ~= "" then
      some[#some + 1] = text
    end
  end
  return table.concat(some, between or "\n")
end

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

--- Least common multiple.
---@param a integer
---@param b integer
---@return integer
function kit.lcm(a, b)
  return a // gcd(a, b) * b
end

--- ceil(e / n) for expressions and integers.
---@param e sectile.Expr|integer
---@param n sectile.Expr|integer
---@return sectile.Expr|integer
function kit.ceil_div(e, n)
  return (e + (n - 1)) // n
end

--- Largest power of two that divides n and is at most `most`.
---@param n integer
---@param most? integer default 16
---@return integer
function kit.word_bytes(n, most)
  local w = most or 16
  while w > 1 and n % w ~= 0 do
    w = w // 2
  end
  return w
end

-- ---- operands ----

local function const_of(e)
  if math.type(e) == "integer" then
    return e
  end
  return e:const()
end

local function same(a, b)
  local d = a - b
  return const_of(d) == 0
end

-- How an operand's pointer is typed: "record" (an array of structs), "scalar" (an array of one
-- type) or "bytes".
local function pointer_style(op)
  local record, fields = op.record, op.record.fields
  if not record.bare then
    local first = op.offset[1] - fields[1].offset
    local ok = E.divisor(first) % record.bytes == 0
    for f = 2, #fields do
      ok = ok and same(op.offset[f] - fields[f].offset, first)
    end
    if ok then
      return "record"
    end
  end
  for f, field in ipairs(fields) do
    if field.cuda ~= fields[1].cuda or E.divisor(op.offset[f]) % field.bytes ~= 0 then
      return "bytes"
    end
  end
  return "scalar"
end

--- C type of the operand's value: a struct or a plain type.
---@param op sectile.Operand
---@return string
function kit.value_type(op)
  return op.record.bare and op.record.fields[1].cuda or op.record.name
end

local function member(value, field)
  return field.name == "" and value or value .. "." .. field.name
end

-- What the parts of a generator are called in the annotations of this folder.
---@class sectile.Expr an expression (E, script_expr.c)
---@class sectile.View the kernel as strategies see it (script_view.c)
---@class sectile.Operand one of view.operands; kit.new adds style, pointer, used and reads
---@class sectile.Field one of operand.record.fields

-- ---- the generator ----

---@class sectile.Generator
local G = {}
G.__index = G

-- The type of an operand's pointer as a parameter, and the alignment that it promises.
local function argument(op)
  local type, align = "void", 1
  if op.style == "record" then
    type, align = op.record.name, op.record.align
  elseif op.style == "scalar" then
    type, align = op.record.fields[1].cuda, op.record.fields[1].bytes
  end
  return (op.is_output and "" or "const ") .. type .. " *", align
end

--- What divides the address of byte `at` of an operand, whose pointer is aligned to it.
---@param op sectile.Operand
---@param at sectile.Expr
---@return integer
function kit.known_align(op, at)
  local known = E.divisor(at)
  return op.style == "record" and gcd(known, op.record.align) or known
end

--- A generator for kernel view `k`. Fields that C reads: kernel, threads, grid, requires, align,
--- arguments, accesses, doc, static_shared_bytes.
---@param k sectile.View
---@param kernel string the kernel's name
---@param threads integer threads a block
---@return sectile.Generator
function kit.new(k, kernel, threads)
  local g = setmetatable({}, G)
  g.k, g.kernel, g.threads = k, kernel, threads
  g.accesses, g.requires, g.align, g.arguments = {}, { table.unpack(k.requires) }, {}, {}
  g.real, g.loops, g.needs = {}, {}, {}
  g.steady = {} -- by operand: its value is used again, so no streaming hint
  g.static_shared_bytes = 0
  g.hint = "none"
  g.thread = E.raw("thread", 0, 1023)
  g.block = E.raw("block", 0, MAX_INDEX)
  g.ops, g.inputs, g.outputs = {}, {}, {}
  local body = reads.without_comments(k.body)
  local names = reads.names_in(body)
  for n, op in ipairs(k.operands) do
    op.style = pointer_style(op)
    op.pointer = op.name .. (op.is_output and "_out" or "_in")
    op.used = reads.fields(op, body, names)
    if op.is_index then
      op.used = { 1 }
    end
    op.reads = reads.of(op, body, names)
    local list = op.is_output and g.outputs or g.inputs
    list[#list + 1] = op
    g.ops[n] = op
    g.arguments[n], g.align[n] = argument(op)
    g.needs.whole_words = g.needs.whole_words or op.record.packed
    g.needs.at = g.needs.at or op.style == "bytes"
    for f, field in ipairs(op.record.fields) do
      local below = kit.known_align(op, op.offset[f]) % field.bytes ~= 0
      local by_struct = op.style == "record" and op.is_output -- see G:load
      g.needs.pieces = g.needs.pieces or (below and not by_struct)
    end
  end
  -- index operands first: others need their values
  table.sort(g.inputs, function(a, b)
    if a.is_index ~= b.is_index then
      return a.is_index
    end
    return a.number < b.number
  end)
  return g
end

--- Declares the name of a C variable with range [lo, hi] whose meaning is `meaning` (an
--- expression over names defined before).
---@param name string
---@param lo integer
---@param hi integer
---@param meaning sectile.Expr
---@param multiple? integer the values are multiples of it
---@return sectile.Expr var
function G:define(name, lo, hi, meaning, multiple)
  local var = E.var(name, lo, hi, multiple or 1)
  self:tie(var, meaning)
  return var
end

--- Ties an existing variable (a dimension's index) to its meaning.
---@param var sectile.Expr
---@param meaning sectile.Expr
function G:tie(var, meaning)
  self.real[#self.real + 1] = var
  self.real[#self.real + 1] = E.subst(meaning, self.real)
end

--- Condition that a defined variable is below `limit`. It is about the meaning: the variable's own
--- range promises what a guard in the text makes true, so a comparison of it would fold away.
---@param var sectile.Expr
---@param limit sectile.Expr|integer
---@return sectile.Expr
function G:below(var, limit)
  return E.subst(var, self.real):lt(limit)
end

--- Forgets what was defined after `mark` (#g.real), as a C scope does.
---@param mark integer
function G:forget(mark)
  for n = #self.real, mark + 1, -1 do
    self.real[n] = nil
  end
end

--- Opens a loop `for (int name = 0; name < count; name++)`; close it with g:close().
---@param name string
---@param count sectile.Expr|integer
---@return sectile.Expr var
function G:loop(name, count)
  local n = const_of(count)
  local var = E.var(name, 0, n and n > 0 and n - 1 or MAX_INDEX)
  local inner = E.var(name .. "_of_loop", 0, n and n > 0 and n - 1 or MAX_INDEX)
  self.loops[#self.loops + 1] = {
    var = inner, count = E.subst(count + 0 * inner, self.real), mark = #self.real,
  }
  self.real[#self.real + 1] = var
  self.real[#self.real + 1] = inner
  return var
end

--- Closes the innermost loop.
function G:close()
  local loop = self.loops[#self.loops]
  self:forget(loop.mark)
  self.loops[#self.loops] = nil
end

--- Limits what follows to lanes for which `lanes` holds, in warps for which `warps` holds; both
--- are expressions over defined names, `warps` must be the same for all lanes and loops. nil lifts
--- a limit.
---@param lanes? sectile.Expr
---@param warps? sectile.Expr
function G:when(lanes, warps)
  self.condition = lanes and E.subst(lanes, self.real) or nil
  self.warp_condition = warps and E.subst(warps, self.real) or nil
end

--- Records one access: `op` nil for shared memory.
---@param op? sectile.Operand
---@param store boolean
---@param width integer bytes a lane
---@param at sectile.Expr byte offset in the operand or in shared memory
function G:touch(op, store, width, at)
  local loops = {}
  for _, loop in ipairs(self.loops) do
    loops[#loops + 1] = loop.var
    loops[#loops + 1] = loop.count
  end
  local access = {
    operand = op and op.number or nil,
    global = op ~= nil,
    store = store,
    width = width,
    at = E.subst(at, self.real),
    active = self.condition,
    warps = self.warp_condition,
    loops = loops,
    index = {},
  }
  for _, index in ipairs(self.inputs) do
    if index.is_index and (E.mentions(access.at, index.index_value)
      or (access.active and E.mentions(access.active, index.index_value))) then
      local linear = index.at[1]
      for d = 2, #index.at do
        linear = linear * index.extent[d] + index.at[d]
      end
      access.index[#access.index + 1] = {
        var = index.index_value, linear = E.subst(linear, self.real),
      }
    end
  end
  self.accesses[#self.accesses + 1] = access
end

--- Notes one bulk copy of `bytes` neighbouring bytes between `op` and shared memory by each lane
--- that g:when lets through.
---@param op sectile.Operand
---@param store boolean
---@param bytes integer
---@param at sectile.Expr byte offset in the operand
function G:touch_bulk(op, store, bytes, at)
  self:touch(op, store, bytes, at)
  self.accesses[#self.accesses].bulk = true
end

--- Notes that lanes exchange `words` words of 4 bytes each by shuffles.
---@param words integer
function G:touch_shuffle(words)
  self:touch(nil, false, 4 * words, 0 * self.thread)
  self.accesses[#self.accesses].shuffle = true
end

--- The kernel is right only if the condition over extents holds.
---@param condition sectile.Expr
function G:require(condition)
  for _, other in ipairs(self.requires) do
    if other:same(condition) then
      return
    end
  end
  self.requires[#self.requires + 1] = condition
end

--- The pointer of `op` needs this alignment.
---@param op sectile.Operand
---@param bytes integer
function G:need_align(op, bytes)
  if self.align[op.number] < bytes then
    self.align[op.number] = bytes
  end
end

-- ---- text of single accesses ----

-- Place of field f of `op` at byte offset `at`, as an lvalue.
local function place(op, f, at)
  local field = op.record.fields[f]
  if op.style == "record" then
    local number = E.text((at - field.offset) // op.record.bytes, true)
    return member(string.format("%s[%s]", op.pointer, number), field)
  elseif op.style == "scalar" then
    return string.format("%s[%s]", op.pointer, E.text(at // field.bytes, true))
  end
  return string.format("at<%s>(%s, %s)", field.cuda, op.pointer, E.text(at, true))
end

-- The function of `functions` (hints.lua) that moves a field with the generator's hint; nil: none.
-- __ldcs and __stcs know the built-in types only.
local function hinted(g, functions, op, field)
  local half = field.type == "f16" or field.type == "bf16"
  return not g.steady[op.number] and not (g.hint == "cs" and half) and functions[g.hint] or nil
end

-- The pieces in which the field at offset `at` is moved: as large as the offset's divisor, and what
-- a record's type promises, allow. The pointer must be aligned to them.
local function pieces_of(g, op, field, at)
  local piece = kit.word_bytes(kit.known_align(op, at), field.bytes)
  g:need_align(op, piece)
  return piece
end

local function touch_pieces(g, op, store, field, at, piece)
  for k = 0, field.bytes // piece - 1 do
    g:touch(op, store, piece, at + k * piece)
  end
end

--- Expression text that loads field f of global operand `op` at byte offset `at`.
---@param op sectile.Operand
---@param f integer
---@param at sectile.Expr
---@return string
function G:load(op, f, at)
  local field = op.record.fields[f]
  local piece = pieces_of(self, op, field, at)
  touch_pieces(self, op, false, field, at, piece)
  local text = place(op, f, at)
  if piece < field.bytes then
    -- not left to the packed struct: where members of one type between them are not read, NVVM 13.0
    -- loads members as if they were aligned (sm_90 and before); its stores are right
    local from = op.style == "record" and "&" .. text .. ", 0"
      or op.pointer .. ", " .. E.text(at, true)
    return string.format("gather_pieces<%s, %s>(%s)", field.cuda, WORD[piece], from)
  end
  local call = hinted(self, hints.loads, op, field)
  return call and string.format("%s(&%s)", call, text) or text
end

--- Statement that stores `value` to field f of global operand `op` at byte offset `at`.
---@param op sectile.Operand
---@param f integer
---@param at sectile.Expr
---@param value string
---@return string
function G:store(op, f, at, value)
  local field = op.record.fields[f]
  local piece = pieces_of(self, op, field, at)
  touch_pieces(self, op, true, field, at, piece)
  if op.style ~= "record" and piece < field.bytes then
    return string.format("scatter_pieces<%s, %s>(%s, %s, %s);", field.cuda, WORD[piece],
      op.pointer, E.text(at, true), value)
  end
  local text = place(op, f, at)
  local call = piece == field.bytes and hinted(self, hints.stores, op, field)
  return string.format(call and call .. "(&%s, %s);" or "%s = %s;", text, value)
end

--- Byte offset of field f of `op`, with variables replaced (E.subst's list).
---@param op sectile.Operand
---@param f integer
---@param with? table
---@return sectile.Expr
function kit.offset(op, f, with)
  return with and E.subst(op.offset[f], with) or op.offset[f]
end

--- The zero of a field's type.
---@param field sectile.Field
---@return string
function kit.zero(field)
  return string.find(field.cuda, " ", 1, true) and "(" .. field.cuda .. ")0" or field.cuda .. "()"
end

-- Statements that load what the body reads at one place of `op`.
local function load_read(g, op, read)
  local lines, outer = {}, g.condition
  local condition
  if read.inside then
    local inside = E.subst(read.inside, g.real)
    g.condition = outer and outer:land(inside) or inside
    condition = E.text(read.inside, true)
  end
  local function load(f)
    local value = g:load(op, f, read.offset[f])
    return condition and string.format("%s ? %s : %s", condition, value,
      kit.zero(op.record.fields[f])) or value
  end
  if op.record.bare then
    lines[1] = string.format("const %s %s = %s;", kit.value_type(op), read.name, load(1))
  else
    lines[1] = string.format("%s %s;", kit.value_type(op), read.name)
    for _, f in ipairs(read.used) do
      lines[#lines + 1] = string.format("%s = %s;", member(read.name, op.record.fields[f]), load(f))
    end
  end
  g.condition = outer
  return concat(lines)
end

--- Statements that declare operand values and load them with single accesses: for the element at
--- the dimensions' own variables.
---@param only? sectile.Operand[] default: all inputs
---@return string
function G:load_element(only)
  local lines = {}
  for _, op in ipairs(only or self.inputs) do
    if op.is_index then
      lines[#lines + 1] = string.format("const long long %s = %s;", op.name,
        self:load(op, 1, op.offset[1]))
    else
      for _, read in ipairs(op.reads) do
        lines[#lines + 1] = load_read(self, op, read)
      end
    end
  end
  return concat(lines)
end

--- Declarations of the outputs' values.
---@param only? sectile.Operand[] default: all outputs
---@return string
function G:declare_outputs(only)
  local lines = {}
  for _, op in ipairs(only or self.outputs) do
    lines[#lines + 1] = string.format("%s %s;", kit.value_type(op), op.name)
  end
  return concat(lines)
end

--- Statements that store the outputs' values with single accesses.
---@param only? sectile.Operand[] default: all outputs
---@return string
function G:store_element(only)
  local lines = {}
  for _, op in ipairs(only or self.outputs) do
    for f, field in ipairs(op.record.fields) do
      lines[#lines + 1] = self:store(op, f, op.offset[f], member(op.name, field))
    end
  end
  return concat(lines)
end

--- The body in braces of its own, so that its names stay inside.
---@return string
function G:body()
  local text = self.k.body
  local comment = string.find(text, "//", 1, true) -- it would take a bracket behind it along
  if not comment and not string.find(text, "\n", 1, true) and #text < 80 then
    return "{ " .. text .. " }"
  end
  return "{\n  " .. string.gsub(text, "\n%s*", "\n  ") .. "\n}"
end

-- ---- declarations ----

--- Type definitions: half floats and records, each once.
---@return string
function G:types()
  return declare.types(self.k)
end

--- Helper functions that the kernel needs.
---@return string
function G:helpers()
  return declare.helpers(self.needs, self.hint)
end

--- Parameters of the kernel: pointers, scalars, extents.
---@return string[]
function G:params()
  local list = {}
  for n, op in ipairs(self.ops) do
    list[#list + 1] = self.arguments[n] .. "__restrict__ " .. op.pointer
  end
  for _, scalar in ipairs(self.k.scalars) do
    list[#list + 1] = scalar.cuda .. " " .. scalar.name
  end
  for _, name in ipairs(self.k.extent_names) do
    list[#list + 1] = "long long n_" .. name
  end
  return list
end

-- Comma separated, broken into lines of at most 100 columns with `indent` in front of the second
-- and later ones.
local function wrapped(list, used, indent)
  local lines, line = {}, list[1]
  for n = 2, #list do
    if #line + #list[n] + (#lines == 0 and used or #indent) + 5 > 100 then
      lines[#lines + 1] = line .. ","
      line = list[n]
    else
      line = line .. ", " .. list[n]
    end
  end
  lines[#lines + 1] = line
  return concat(lines, "\n" .. indent)
end

--- Head of the kernel.
---@param bounds string|integer what stands in __launch_bounds__
---@return string
function G:head(bounds)
  local head = string.format("__global__ void __launch_bounds__(%s)\n%s(", bounds, self.kernel)
  local params = self:params()
  params[#params + 1] = self.has_workspace and "unsigned int *workspace" or nil
  return head .. wrapped(params, #self.kernel + 1, string.rep(" ", #self.kernel + 1)) .. ")"
end

local function arguments(g)
  local list = {}
  for _, op in ipairs(g.ops) do
    list[#list + 1] = op.pointer
  end
  for _, scalar in ipairs(g.k.scalars) do
    list[#list + 1] = scalar.name
  end
  for _, name in ipairs(g.k.extent_names) do
    list[#list + 1] = "n_" .. name
  end
  for _, dim in ipairs(g.k.dims) do
    list[#list + 1] = dim
  end
  return concat(list, ", ")
end

--- The function that computes one element with single accesses, for naive kernels and edges.
---@return string
function G:element()
  local dims = {}
  for _, dim in ipairs(self.k.dims) do
    dims[#dims + 1] = "long long " .. dim
  end
  local hint, accesses = self.hint, self.accesses
  self.accesses = {}
  local inside = concat {
    self:load_element(), self:declare_outputs(), self:body(), self:store_element(),
  }
  self.hint, self.accesses = hint, accesses
  local params = self:params()
  for _, dim in ipairs(dims) do
    params[#params + 1] = dim
  end
  return "// One element of the index space, every access where its layout puts it.\n"
    .. "__device__ __forceinline__ void element(" .. wrapped(params, 40, "    ") .. ") {\n  "
    .. string.gsub(inside, "\n", "\n  ") .. "\n}\n"
end

--- Statement that computes the element at the dimensions' variables; notes its accesses under the
--- conditions of g:when.
---@param lanes? sectile.Expr
---@param warps? sectile.Expr
---@param only? sectile.Operand[] inputs whose loads are noted; default: all
---@return string
function G:call_element(lanes, warps, only)
  self:when(lanes, warps)
  self:load_element(only)
  self:store_element()
  self:when(nil)
  return "element(" .. arguments(self) .. ");"
end

-- ---- cutting the index space ----

--- Text that finds which part of the index space a team (a block or a warp) owns: `tile` elements
--- of the last dimension for one value of each other dimension. Declares the other dimensions and
--- `first`; sets g.grid, g.first.
---@param tile integer
---@param team { name: string, var: sectile.Expr } the team's number, as text and as expression
---@param teams_per_block? integer default 1
---@return string
function G:cut(tile, team, teams_per_block)
  local k, lines = self.k, {}
  local n_dims = #k.dims
  local last, extent = k.dims[n_dims], k.extents[n_dims]
  local per_block = teams_per_block or 1
  local name = team.name
  local total = kit.ceil_div(extent, tile)
  if n_dims == 1 then
    self.first = self:define("first", 0, MAX_INDEX, team.var * tile)
    lines[1] = string.format("const long long first = %s * (long long)kTile; // of %s", name, last)
  else
    self:define("tiles", 1, MAX_INDEX, total)
    lines[1] = string.format("const long long tiles = (n_%s + kTile - 1) / kTile; // along %s",
      last, last)
    lines[2] = string.format("const long long first = %s %% tiles * kTile;", name)
    self.first = self:define("first", 0, MAX_INDEX, team.var % total * tile)
    local rest, rest_text = team.var // total, name .. " / tiles"
    for d = n_dims - 1, 1, -1 do
      if d == 1 then
        lines[#lines + 1] = string.format("const long long %s = %s;", k.dims[d], rest_text)
        self:tie(k.index[d], rest)
      else
        lines[#lines + 1] = string.format("const long long %s = %s %% n_%s;", k.dims[d], rest_text,
          k.dims[d])
        self:tie(k.index[d], rest % k.extents[d])
        rest, rest_text = rest // k.extents[d], string.format("%s / n_%s", rest_text, k.dims[d])
      end
      total = total * k.extents[d]
    end
    if per_block > 1 then
      lines[#lines + 1] = string.format("if (%s >= n_%s) return;", k.dims[1], k.dims[1])
    end
  end
  self.grid = per_block > 1 and kit.ceil_div(total, per_block) or total
  return concat(lines)
end

--- Puts into the plan what C reads of the generator. The lists are the generator's own: what the
--- template's calls note later is in them too.
---@param g sectile.Generator
---@param plan table
function kit.hand_over(g, plan)
  plan.grid, plan.requires, plan.align = g.grid, g.requires, g.align
  plan.arguments, plan.accesses = g.arguments, g.accesses
  plan.static_shared_bytes = g.static_shared_bytes
end

kit.word_type, kit.hints, kit.comment = WORD, hints, declare.comment
kit.wrapped, kit.element_arguments, kit.pointer_style, kit.argument =
  wrapped, arguments, pointer_style, argument
kit.concat, kit.member, kit.const_of = concat, member, const_of
kit.MAX_INDEX = MAX_INDEX
return kit
