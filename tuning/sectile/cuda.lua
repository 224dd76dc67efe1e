-- cuda: the generator, by which plans and templates of strategies name, type, move and write what a
-- kernel holds. docs/strategies.md is its reference, with a whole strategy.
--
-- Names cannot meet: user's names that the template's text or the library takes too get a `_` in
-- the kernel (the function compute has them as they are), and so do names from g:name(wanted).
local cuda = {}

local declare = require "sectile.declare"

--- Functions of the device library by what L2 keeps (`evict`): loads, or stores, or neither.
cuda.LOADS = {
  none = "load", loads = "load_evict_last", stores = "load", streaming = "load_streaming",
}
cuda.STORES = {
  none = "store", loads = "store", stores = "store_evict_last", streaming = "store_streaming",
}

---@class sectile.Cuda
local G = {}
G.__index = G

local function variable(text, least)
  local is_sum = string.find(string.gsub(text, "%b[]", ""), " ", 1, true)
  return E.var(is_sum and "(" .. text .. ")" or text, least, kit.MAX_INDEX)
end

--- A variable of generated text that is not negative; `text` may be any C expression.
---@param text string
---@return sectile.Expr
function cuda.var(text)
  return variable(text, 0)
end

--- A name that neither the template, nor the device library, nor the kernel has yet.
---@param wanted string
---@return string
function G:name(wanted)
  local name = wanted
  while self.k.words[name] or self.own[name] do
    name = name .. "_"
  end
  self.own[name] = true
  return name
end

-- Types of records: under other names where something else has theirs, as no body can name them.
local function bind_types(g)
  for _, op in ipairs(g.k.operands) do
    local record = op.record
    if not record.bare and not g.types_of[record.name] then
      g.types_of[record.name] = g:name(record.name)
    end
    record.name = g.types_of[record.name]
  end
end

-- Names of the kernel's parameters; what they are called in expressions where that differs.
local function bind_names(g)
  local k = g.k
  local function rename(var, name, wanted)
    if name ~= wanted then
      g.put[#g.put + 1], g.put[#g.put + 2] = var, cuda.var(name)
    end
  end
  for n, op in ipairs(g.ops) do
    if op.old_of then
      op.pointer, op.name = g.ops[op.old_of].pointer, g:name(op.name .. "_old")
    elseif op.tap_of then
      op.pointer = g.ops[op.tap_of].pointer
    else
      op.pointer = g:name(op.array_name or op.name)
      g.arguments_of[n] = op.pointer
    end
  end
  for n, scalar in ipairs(k.scalars) do
    g.scalar_names[n] = g:name(scalar.name)
  end
  for n, computed in ipairs(k.computed or {}) do
    g.computed_names[n] = g:name(computed.name .. "_v")
  end
  for n, name in ipairs(k.extent_names) do
    local wanted = "n_" .. name
    g.extent_names[n] = g:name(wanted)
    rename(k.extent_vars[n], g.extent_names[n], wanted)
  end
end

-- A body, the kernel's or that of a step, with the names that it mentions and the function that it
-- becomes. A step also has `values`, which it reduces to, and `outputs`, which it assigns.
local function part_of(g, name, body, step)
  local part = kit.copy(step or {})
  part.name, part.body, part.in_body, g.own[name] = name, body, {}, true
  part.text = reads.without_comments(body)
  part.names = reads.names_in(part.text)
  for _, word in ipairs(part.names) do
    part.in_body[word.name] = true
  end
  return part
end

--- A generator for the kernel view `k`: `ops`, `inputs` (index arrays first, in the order in
--- which they are read), `outputs`.
---@param k sectile.View
---@param kernel string the kernel's name
---@param threads integer threads a block
---@return sectile.Cuda
function cuda.new(k, kernel, threads)
  local g = setmetatable({
    k = k, kernel = kernel, threads = threads, own = {}, put = {}, ops = {}, inputs = {},
    outputs = {}, requires = { table.unpack(k.requires) }, align = {}, arguments = {},
    multiples = kit.map(k.multiples, kit.copy),
    arguments_of = {}, old = {}, scalar_names = {}, extent_names = {}, types_of = {},
    computed_names = {},
  }, G)
  g.own[kernel] = true
  g.whole = part_of(g, "compute", k.body)
  g.steps = kit.map(k.steps or {}, function(step, n)
    local part = part_of(g, "step_" .. n, step.body, step)
    part.suffix = "_" .. n
    part.doc = string.format("Step %d, %s.", n, step.per_row and "once a row"
      or "for one element of a row")
    return part
  end)
  bind_types(g)
  g.body, g.in_body = g.whole.text, g.whole.in_body
  local names = g.whole.names
  for n, op in ipairs(k.operands) do
    op.style = kit.pointer_style(op)
    op.used = op.is_index and { 1 } or reads.fields(op, g.body, names)
    op.reads = reads.of(op, g.body, names)
    g.ops[n] = op
    if op.old_of then
      g.old[op.old_of] = op
    elseif not op.tap_of then
      g.arguments[n], g.align[n] = kit.argument(op)
    end
    table.insert(op.is_output and g.outputs or g.inputs, op)
  end
  table.sort(g.inputs, function(a, b)
    if a.is_index ~= b.is_index then
      return a.is_index
    elseif a.is_index and a.index_depth ~= b.index_depth then
      return a.index_depth < b.index_depth
    end
    return a.number < b.number
  end)
  g.whole.outputs = g.outputs
  for n, step in ipairs(g.steps) do
    step.outputs = kit.map(k.steps[n].outputs, function(number) return g.ops[number] end)
    step.reads = kit.map(g.ops, function(op)
      return kit.map(reads.of(op, step.text, step.names), function(read)
        return step.in_body[read.name] and not op.is_output and read or nil
      end)
    end)
  end
  bind_names(g)
  for _, old in pairs(g.old) do
    old.reads = { { name = old.name, used = old.used, offset = old.offset } }
    for _, step in ipairs(g.steps) do
      step.reads[old.number] = step.in_body[g.ops[old.old_of].name] and old.reads or {}
    end
  end
  return g
end

-- ---- what holds of extents and pointers ----

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

--- The kernel is right only if an extent is a multiple of a number.
---@param extent sectile.Expr
---@param number integer
function G:require_multiple(extent, number)
  self:require((extent % number):eq(0))
  strides.add_multiple(self.multiples, extent, number)
end

--- The pointer of `op` needs this alignment.
---@param op sectile.Operand
---@param bytes integer
function G:need_align(op, bytes)
  local n = op.old_of or op.tap_of or op.number
  self.align[n] = math.max(self.align[n], bytes)
end

--- The plan that the strategy returns: `p` with what the program reads of the generator. nil and
--- why: its blocks need more static shared memory than there is.
---@param p table
---@return table?
---@return string? why
function G:plan(p)
  if (p.static_shared_bytes or 0) > self.k.device.smem_block_bytes then
    return nil, "it needs more shared memory than a block has"
  end
  for _, name in ipairs { "kernel", "requires", "align" } do
    if p[name] ~= nil and p[name] ~= self[name] then
      p.overridden = name -- the program says so
    end
  end
  if p.threads and (p.threads < 1 or p.threads > 1024) then
    p.overridden = "threads"
  end
  p.g, p.k, p.kernel, p.threads = self, self.k, self.kernel, self.threads
  for n = p.traffic and #p.traffic or 0, 1, -1 do -- what is updated in place is counted twice
    if not self.arguments[p.traffic[n].operand] then
      table.remove(p.traffic, n)
    end
  end
  self.has_workspace, self.has_pass = p.workspace_bytes ~= nil, p.passes ~= nil
  p.requires, p.align = self.requires, self.align
  return p
end

-- ---- expressions, types, places ----

--- C text of an expression, as long long.
---@param e sectile.Expr|integer
---@param with? table how the text calls variables: a list for E.subst
---@param enclosed? boolean in parentheses, unless it is a name or a number
---@return string
function G:text(e, with, enclosed)
  if math.type(e) == "integer" then
    return tostring(e)
  end
  e = with and E.subst(e, with) or e
  local text = E.text(#self.put > 0 and E.subst(e, self.put) or e, true)
  return enclosed and not string.find(text, "^[%w_]+$") and "(" .. text .. ")" or text
end

--- C type of field `f` of an operand; of its whole value without `f`.
---@param op sectile.Operand
---@param f? integer
---@return string
function G.type(_, op, f)
  local record = op.record
  if f or record.bare then
    return record.fields[f or 1].cuda
  end
  return record.name
end

--- An array's element as an lvalue: field `f`, or the whole record.
---@param op sectile.Operand
---@param f? integer
---@param with? table how the text calls variables
---@param offset? sectile.Expr[] of a read's fields; default: the operand's own
---@return string
function G:place(op, f, with, offset)
  if op.style == "bytes" then
    return "*" .. self:address(op, f, with, offset)
  end
  local first = f or 1
  while offset and not offset[first] do -- a tap has offsets of the fields that are used
    first = first + 1
  end
  local field, at = op.record.fields[first], (offset or op.offset)[first]
  at = op.style == "record" and (at - field.offset) // op.record.bytes or at // field.bytes
  local element = string.format("%s[%s]", op.pointer, self:text(at, with))
  return op.style == "record" and f and kit.member(element, field) or element
end

--- The address of an array's element.
---@param op sectile.Operand
---@param f? integer
---@param with? table
---@param offset? sectile.Expr[]
---@return string
function G:address(op, f, with, offset)
  if op.style == "bytes" then
    local at = (offset or op.offset)[f or 1] - (f and 0 or op.record.fields[1].offset)
    return string.format("at_byte<%s>(%s, %s)", self:type(op, f), op.pointer, self:text(at, with))
  end
  return "&" .. self:place(op, f, with, offset)
end

-- ---- how operands move ----

--- Does the place of `op` change along dimension `dim`, on its own or by an index array?
---@param op sectile.Operand
---@param dim integer
---@return boolean
function G:changes(op, dim)
  local index = self.k.index[dim]
  return strides.turns(self.k, op, dim)
    or kit.any(op.used, function(f) return E.mentions(op.offset[f], index) end)
end

--- May records of `op` move whole? Bytes between an output's fields may be somebody else's.
---@param op sectile.Operand
---@return boolean
function cuda.moves_whole(op)
  return op.record.bare or not op.is_output or op.owns_gaps
    or op.record.bytes == op.record.data_bytes
end

--- The bytes of the words in which field `f` of `op`, or its whole value, moves by itself; the
--- pointer's alignment to them is taken into the plan. The second result is these bytes where they
--- are fewer than load and store use by default, as the type's alignment is more than the place
--- has.
---@param op sectile.Operand
---@param f? integer
---@param offset? sectile.Expr[] of a read's fields; default: the operand's own
---@return integer word
---@return integer? shorter
function G:single(op, f, offset)
  if not f and not op.record.bare then
    return math.min(op.record.align, 16), nil
  end
  local bytes = math.min(op.record.fields[f or 1].bytes, 16)
  local word = kit.word_bytes(kit.known_align(op, (offset or op.offset)[f or 1]), bytes)
  self:need_align(op, word)
  return word, word < bytes and word or nil
end

--- The widest words for `bytes` neighbouring bytes from offset `start` on: `word`, and `extents`,
--- which must be multiples of `width`.
---@param start sectile.Expr
---@param bytes integer
---@param width integer
---@return table
function G:words(start, bytes, width)
  local word = kit.word_bytes(bytes)
  while word > 1 do
    local extents = strides.needed_multiples(self.k, start, width, word)
    if extents then
      return { word = word, extents = extents }
    end
    word = word // 2
  end
  return { word = 1, extents = {} }
end

--- How `width` neighbours along `dim` move as one vector: `word` (bytes that one instruction
--- moves), `extents` (which must be multiples of the width) and `reversed` (the last one lies
--- lowest); nil where they do not follow each other, or an index array's values differ among them.
---@param op sectile.Operand
---@param f? integer a field; nil: whole records
---@param dim integer
---@param width integer
---@return table?
function G:vector(op, f, dim, width)
  local k = self.k
  local bytes = kit.bytes_of(op, f)
  if width == 1 or strides.turns(k, op, dim) then
    return nil
  end
  local start, reversed
  if f or op.record.bare then
    local step = strides.step(k, op, f or 1, dim)
    step = step and kit.const_of(step)
    reversed = step == -bytes and not op.is_output
    local group = E.var("group", 0, kit.MAX_INDEX) * width
    start = (step == bytes or reversed)
      and E.subst(op.offset[f or 1], { k.index[dim], reversed and group + (width - 1) or group })
  else
    start = strides.record_run(k, op, dim, width)
  end
  if not start or (not f and not cuda.moves_whole(op)) then
    return nil
  end
  local vector = self:words(start, bytes * width, width)
  if reversed then
    vector.reversed = true
    vector.extents[#vector.extents + 1] = k.extents[dim]
  end
  return vector
end

--- The vector, if one instruction moves more than an element of it and the first lies lowest; else
--- nil.
---@param op sectile.Operand
---@param f? integer
---@param dim integer
---@param width integer
---@return table?
function G:wide_vector(op, f, dim, width)
  local vector = self:vector(op, f, dim, width)
  local element = f and op.record.fields[f].bytes or op.record.align
  return vector and not vector.reversed and vector.word > element and vector or nil
end

--- Takes what a vector needs of extents and pointers into the plan.
---@param op sectile.Operand
---@param vector table what g:vector gave
---@param width integer
function G:adopt(op, vector, width)
  self:need_align(op, vector.word)
  for _, extent in ipairs(vector.extents) do
    self:require_multiple(extent, width)
  end
end

--- What the kernel calls indices and what index arrays hold, as a list for E.subst.
---@param at sectile.Expr[] by mode
---@param held fun(op: sectile.Operand): string? the text of what an index array holds, if known
---@return table
function G:binding(at, held)
  local with = {}
  for d, e in ipairs(at) do
    kit.append(with, self.k.index[d], e)
  end
  for _, op in ipairs(self.inputs) do
    local value = op.is_index and held(op)
    if value then
      kit.append(with, op.index_value, variable(value, op.has_none and -kit.MAX_INDEX or 0))
    end
  end
  for n, computed in ipairs(self.k.computed or {}) do
    kit.append(with, computed.value, cuda.var(self.computed_names[n]))
  end
  return with
end

--- The binding of a plan whose kernel moves `p.vec` neighbours along the fastest mode.
---@param p table g, vec, index (names by mode), values (what index arrays hold, by name)
---@param e? any of the element e of a vector
---@return table
function cuda.vector_binding(p, e)
  local at = kit.map(p.index, cuda.var)
  at[#at] = e and p.vec > 1 and at[#at] + cuda.var("e") or at[#at]
  return p.g:binding(at, function(op) return p.values[op.name] end)
end

--- An operand of such a plan, or its field `f`, on its way: name, type, and the word of its
--- vectors, where it has some (p.any says that one has).
---@param p table
---@param op sectile.Operand
---@param f? integer
---@param at string where the kernel has it, "%s[item]" of its name
---@return table
function cuda.vector_stream(p, op, f, at)
  local g, last = p.g, #p.k.dims
  local x = { op = op, f = f, element = g:type(op, f), name = g:value_name(op, f) }
  x.many = p.vec > 1 and g:changes(op, last)
  local vector = x.many and g:wide_vector(op, f, last, p.vec)
  if vector then
    g:adopt(op, vector, p.vec)
    x.word, p.any = vector.word, true
  end
  x.type = x.many and string.format("vec<%s, kVec>", x.element) or x.element
  x.at = string.format(at, x.name)
  x.value = x.at .. (x.many and "[e]" or "")
  return x
end

--- The parts in which an operand moves: false for its whole value, else the fields that the body
--- mentions.
---@param op sectile.Operand
---@param whole any may records move whole, where nothing of somebody else's lies between fields?
---@return (integer|false)[]
function cuda.parts(op, whole)
  local all = op.style == "record" and #op.used == #op.record.fields and whole
    and cuda.moves_whole(op)
  return (op.record.bare or all) and { false } or op.used
end

--- A name for the value of a part.
---@param op sectile.Operand
---@param f? integer|false
---@return string
function G:value_name(op, f)
  local field = f and op.record.fields[f].word or ""
  return self:name(op.name .. (field == "" and "" or "_" .. field) .. "_v")
end

-- The function that loads an input: the read-only path is not for what the kernel writes too.
---@param op sectile.Operand
---@param wanted? string|false default: load
---@return string
function cuda.load_name(op, wanted)
  local name = wanted or "load"
  return op.old_of and name ~= "load_streaming" and "load_coherent" or name
end

--- Text that loads a value. `word`: the bytes of its words, where these are not what load takes.
---@param name string one of the library's functions
---@param type string
---@param word? integer
---@param address string
---@return string
function cuda.load(name, type, word, address)
  return string.format("%s<%s%s>(%s)", name, type, word and ", " .. word or "", address)
end

--- The statement that stores a value at an address.
---@param name string
---@param word? integer
---@param address string
---@param value string
---@return string
function cuda.store(name, word, address, value)
  return string.format("%s%s(%s, %s);", name, word and "<" .. word .. ">" or "", address, value)
end

--- The statement `store` for a value that may be kept: nothing is stored if the flag is set; of a
--- vector whose elements have flags, the elements whose flag is not set are.
---@param flag string
---@param store string the statement that stores all
---@param address? string|false of a vector
---@param value? string
---@return string
function cuda.store_unless(flag, store, address, value)
  return address and string.format("if (!any_of(%s))\n  %s\nelse\n  store_unless(%s, %s, %s);",
    flag, store, address, value, flag) or string.format("if (!%s)\n  %s", flag, store)
end

--- Do CUDA's own loads take the type of a field?
---@param field sectile.Field
---@return boolean
function cuda.is_built_in(field)
  return field.kind ~= "bool" and not declare.is_struct(field.type)
end

-- ---- text of the kernel ----

--- Type definitions: half floats and records, each once.
---@return string
function G:types()
  return declare.types(self.k)
end

-- Names and parameters of the function that a body becomes: what it mentions.
local function element_params(g, part)
  local list = {}
  local function add(name, type)
    list[#list + 1] = { name = name, type = type }
  end
  for _, op in ipairs(g.inputs) do
    local some = part.reads and part.reads[op.number] or op.reads
    local array = op.old_of and g.ops[op.old_of]
    local is_output = kit.has(part.outputs, array) -- whose parameter has the old value
    for _, read in ipairs((op.is_index or is_output) and {} or some) do
      local name, type = array and array.name or read.name, g:type(op)
      add(name, op.record.bare and type .. " " or "const " .. type .. " &")
      list[#list].of = read.name
    end
    if op.is_index and part.in_body[op.name] then
      add(op.name, "long long ")
    end
  end
  for n, scalar in ipairs(g.k.scalars) do
    if part.in_body[scalar.name] then
      add(scalar.name, scalar.cuda .. " ")
      list[#list].value = g.scalar_names[n]
    end
  end
  for n, computed in ipairs(part == g.whole and g.k.computed or {}) do
    add(computed.name, "long long &")
    list[#list].value = g.computed_names[n]
  end
  for d, dim in ipairs(g.k.dims) do
    if part.in_body[dim] then
      add(dim, "long long ")
      list[#list].dim = d
    end
  end
  for n, name in ipairs(g.k.extent_names) do -- where the body says what a dimension is
    if part.in_body["n_" .. name] then
      add("n_" .. name, "long long ")
      list[#list].value = g.extent_names[n]
    end
  end
  for _, step in ipairs(part.values and g.steps or {}) do
    for _, value in ipairs(step.values) do
      if step == part or part.in_body[value.name] then
        add(value.name, step == part and reduce.given_type(value) .. " &" or value.cuda .. " ")
      end
    end
  end
  for _, op in ipairs(part.outputs) do
    add(op.name, reduce.given_type(op) .. " &")
    if op.keeps then
      add(op.name .. "_kept", "bool &")
    end
  end
  return list
end

--- The function compute: the user's body, under the user's names; or that of a step.
---@param step? table one of g.steps
---@return string
function G:compute(step)
  local part = step or self.whole
  local list = kit.map(element_params(self, part), function(p) return p.type .. p.name end)
  local head = "__device__ __forceinline__ void " .. part.name .. "("
  local body, least = part.body, math.huge
  for spaces in string.gmatch(body, "\n( *)%S") do
    least = math.min(least, #spaces)
  end
  body = least < math.huge and string.gsub(body, "\n" .. string.rep(" ", least), "\n  ") or body
  return head .. table.concat(list, ", ") .. ") {\n" .. kit.verbatim("  " .. body) .. "\n}\n"
end

--- A call of compute. `values` has the text of each value by the user's name, and of dimensions
--- that the body names. Outputs get what they held before, where the body reads or keeps it. Where
--- `values` lacks what a kept output held, or has a flag `<output>_kept`, the caller stores unless
--- that flag, which is declared here if need be, is set.
---@param values table<string, string>
---@param step? table one of g.steps: a call of its function
---@return string
function G:call(values, step)
  local part = step or self.whole
  local list, before, behind = {}, {}, {}
  for _, name in ipairs(part == self.whole and self.computed_names or {}) do
    before[#before + 1] = string.format("long long %s;", name)
  end
  for _, op in ipairs(part.outputs) do
    local old = self.old[op.number] and values[self.old[op.number].name]
    local restore = old and string.format("%s = %s;", values[op.name], old)
    before[#before + 1] = op.is_inout and restore or nil
    if op.keeps then
      local flag = op.name .. "_kept"
      if not values[flag] then
        values[flag] = self:name(flag)
        before[#before + 1] = string.format("bool %s = false;", values[flag])
        behind[#behind + 1] = restore and string.format("if (%s)\n  %s", values[flag], restore)
      end
    end
  end
  for n, param in ipairs(element_params(self, part)) do
    list[n] = param.value or values[param.of or param.name]
      or error("no value for " .. param.name, 2)
  end
  return kit.concat { kit.concat(before), part.name .. "(" .. table.concat(list, ", ") .. ");",
    kit.concat(behind) }
end

--- Parameters of the kernel: pointers, scalars, extents.
---@return string[]
function G:param_list()
  local list = {}
  for n, argument in ipairs(self.arguments) do
    list[n] = argument .. "__restrict__ " .. self.arguments_of[n]
  end
  for n, scalar in ipairs(self.k.scalars) do
    list[#list + 1] = scalar.cuda .. " " .. self.scalar_names[n]
  end
  for _, name in ipairs(self.extent_names) do
    list[#list + 1] = "long long " .. name
  end
  return list
end

--- Parameters for a device function of the template.
---@return string
function G:params()
  return table.concat(self:param_list(), ", ")
end

--- The names of those parameters, for a call.
---@return string
function G:arguments_text()
  local list = { table.unpack(self.arguments_of) }
  kit.append(list, table.unpack(self.scalar_names))
  return table.concat(kit.append(list, table.unpack(self.extent_names)), ", ")
end

--- Head of the kernel.
---@param bounds string|integer what stands in __launch_bounds__
---@return string
function G:head(bounds, cluster)
  local list = self:param_list()
  list[#list + 1] = self.has_workspace and "unsigned int *workspace" or nil
  list[#list + 1] = self.has_pass and "int pass" or nil
  return string.format("__global__ void %s__launch_bounds__(%s)\n%s(%s)",
    cluster and string.format("__cluster_dims__(%s, 1, 1) ", cluster) or "", bounds, self.kernel,
    table.concat(list, ", "))
end

return cuda
