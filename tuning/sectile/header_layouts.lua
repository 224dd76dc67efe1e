-- header_layouts: where the bytes of a header's arrays lie, as values for templates: the functions
-- by which a host fills and reads arrays, and the record types of arguments.
--
-- Offsets and sizes are the expressions of the layout itself, as the kernels have them. Names begin
-- with NAME_layout_<operand>, so that a program looks the same whatever wins. The user's names are
-- only the parameters of one-line functions, or begin with n_.
local header_text = require "sectile.header_text"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

-- What expressions call, and what these functions are called in the header.
local FUNCTIONS =
  { min = "min", max = "max", sct_floor_div = "floor_div", sct_floor_mod = "floor_mod" }

--- The expression as the header's host functions have it, which call NAME_min and the like.
---@param name string the kernel's
---@param text string
---@return string
function M.host(name, text)
  return (string.gsub(text, "[%w_]+", function(word)
    return FUNCTIONS[word] and name .. "_" .. FUNCTIONS[word]
  end))
end

--- The extents that some texts mention.
---@param sig table
---@param texts string[]
---@return string[]
function M.mentioned(sig, texts)
  local words = header_text.words(texts)
  return kit.map(sig.extents, function(extent)
    return words["n_" .. extent.name] and extent.name or nil
  end)
end

--- Is the byte of an element a sum of its indices, each times something that knows none of them?
---@param op table
---@return boolean
function M.is_linear(op)
  local text = op.formula.offsets[1]
  local words = header_text.words { text }
  return not (string.find(text, "[/%%<>&|^~?:=!]") or words.min or words.max
    or words.sct_floor_div or words.sct_floor_mod)
end

-- ---- records ----

--- How many fields from number k on are one array; 1: it is none.
---@param record table
---@param k integer
---@return integer
function M.array_length(record, k)
  local base = string.match(record.fields[k].name, "^[^%[]*%[")
  local n = 1
  while base and k + n <= #record.fields
    and string.sub(record.fields[k + n].name, 1, #base) == base do
    n = n + 1
  end
  return n
end

-- "q[19]", or "x": the field as a member, of so many elements each.
local function declared(record, k, shared)
  local name = record.fields[k].name
  local base = string.match(name, "^[^%[]*")
  return base ~= name and string.format("%s[%d]", base, M.array_length(record, k) * shared) or base
end

-- Numbers of the fields that begin a member.
local function members_of(record)
  local list, k = {}, 1
  while k <= #record.fields do
    list[#list + 1] = k
    k = k + M.array_length(record, k)
  end
  return list
end

--- "vec3 { f64 x, y, z } of 24 bytes", or "f32"
---@param record table
---@return string
function M.record_text(record)
  if not record.name then
    return record.fields[1].type
  end
  local parts = kit.map(members_of(record), function(k)
    local type = record.fields[k].type
    local same = k > 1 and type == record.fields[k - 1].type
    return (k == 1 and "" or same and ", " or "; ") .. (same and "" or type .. " ")
      .. declared(record, k, header_text.types[type].shared)
  end)
  return string.format("%s { %s } of %d bytes%s", record.name, table.concat(parts), record.bytes,
    record.packed and ", packed" or "")
end

-- NAME_<these> are names that headers have already.
local TAKEN = header_text.set_of [[
  FIND_KERNEL bf16 f16 IMPLEMENTATION LINKAGE SELFTEST_BYTES SELFTEST_MAIN args choice detail ends
  selftest floor_div floor_mod launch log max min n_variants pack_field places provenance tuning
  tunings unpack_field variant variant_of workspace_bytes
]]

--- What the record's type is called in the header.
---@param name string the kernel's
---@param record table
---@return string
function M.record_type(name, record)
  local taken = TAKEN[record.name] or string.find(record.name, "^layout_")
    or string.find(record.name, "^detail_") or string.find(record.name, "^selftest_")
  return name .. "_" .. record.name .. (taken and "_record" or "")
end

-- "double x, y, z", fields of one type on one line; "alignas(16) float x" first where the record is
-- aligned to more than its fields: C has it at members only, where packing would undo it.
local function member_lines(record)
  local aligned = not record.packed and record.align > stored.natural_align(record)
  local list, line, note = {}, "", ""
  for _, k in ipairs(members_of(record)) do
    local field, type = record.fields[k], header_text.types[record.fields[k].type]
    local count = M.array_length(record, k)
    local first, next = k == 1 and aligned, record.fields[k + count]
    if first then
      line = string.format("alignas(%d) ", record.align)
    end
    line = line .. ((line == "" or first) and field.cuda or ",") .. " " .. declared(record, k, 1)
    if type.shared > 1 then
      note = note .. string.format("  // %d of %s, %d a byte, low bits first", count * type.shared,
        field.type, type.shared)
    end
    local same = next and next.cuda == field.cuda and type.shared == 1
      and header_text.types[next.type].shared == 1
    if first or not same then
      list[#list + 1] = stored.record { text = line, note = note }
      line, note = "", ""
    end
  end
  return list
end

-- Records of one layout have one name, packed or not (spec_bind.c).
local function same_record(a, b)
  local same = #a.fields == #b.fields and a.bytes == b.bytes and a.align == b.align
  for k = 1, same and #a.fields or 0 do
    local x, y = a.fields[k], b.fields[k]
    same = same and x.name == y.name and x.cuda == y.cuda and x.offset == y.offset
  end
  return same
end

-- The types that the header defines: those of operands that take or pack records.
local function record_types(sig)
  local types, first = {}, {}
  for _, op in ipairs(sig.operands) do
    local before = op.has_struct and first[op.record.name]
    if before and not same_record(before.record, op.record) then
      stored.refuse("the stored signature is damaged: operands '%s' and '%s' give the record '%s' "
        .. "two shapes", before.name, op.name, op.record.name)
    elseif op.has_struct and not before then
      first[op.record.name] = op
      types[#types + 1] = stored.record {
        type = M.record_type(sig.name, op.record), packed = op.record.packed,
        aligned = op.record.packed and op.record.align > 1, bytes = op.record.bytes,
        align = op.record.align, members = member_lines(op.record),
        fields = kit.map(members_of(op.record), function(k) return op.record.fields[k] end),
      }
    end
  end
  return types
end

-- ---- one operand ----

-- "4 * row of x, 4 * n of y": offsets of the first fields and the last.
local SHOWN_FIELDS = 3
local function shown_offsets(op)
  local n = #op.record.fields
  local parts = kit.map(op.record.fields, function(field, k)
    if n > SHOWN_FIELDS and k >= SHOWN_FIELDS and k < n then
      return k == SHOWN_FIELDS and "..." or nil
    end
    return op.formula.offsets[k] .. (op.record.name and " of " or "") .. field.name
  end)
  return table.concat(parts, ", ")
end

-- The indices and extents that an offset uses.
local function used(sig, op, text)
  local words = header_text.words { text }
  local list = kit.map(op.dims, function(dim) return words[dim] and dim or nil end)
  for _, extent in ipairs(sig.extents) do
    list[#list + 1] = words["n_" .. extent.name] and "n_" .. extent.name or nil
  end
  return list
end

local function field_values(sig, op, k)
  local field, text = op.record.fields[k], op.formula.offsets[k]
  local base, element = string.match(field.name, "^([^%[]*)%[?(%d*)") -- q[3]: offset_q_3
  local suffix = (field.name ~= "" and "_" or "") .. base
    .. (element ~= "" and "_" .. element or "")
  local names = used(sig, op, text)
  return stored.record {
    suffix = suffix, offset = "offset" .. suffix, formula = M.host(sig.name, text), names = names,
    parameters = #names > 0 and kit.map(names, function(name) return "int64_t " .. name end)
      or { "void" },
    arguments = kit.map(names, function(name) return op.counter_of[name] or name end),
    plain = "plain" .. (field.offset > 0 and " + " .. field.offset or ""), bytes = field.bytes,
  }
end

-- Extents that pack() takes: those of any layout the tuner may choose, so that a program does not
-- change when another one wins. `unused`: those that each_field() does not need.
local function add_extents(sig, op)
  local taken, needed = kit.copy(op.shape), kit.copy(op.shape)
  for _, formula in ipairs(op.formulas) do
    kit.append(taken, formula.bytes, table.unpack(formula.offsets))
  end
  kit.append(needed, table.unpack(op.formula.offsets))
  op.extents = M.mentioned(sig, taken)
  local found = M.mentioned(sig, needed)
  op.unused = kit.map(op.extents, function(extent)
    return not kit.has(found, extent) and extent or nil
  end)
end

-- The loops over an array's elements, each further in than the one before, and where they end.
local function add_loops(sig, op)
  op.host_shape = kit.map(op.shape, function(text) return M.host(sig.name, text) end)
  op.loops, op.ends = {}, {}
  for d, extent in ipairs(op.host_shape) do
    local indent = string.rep("  ", d - 1)
    op.loops[d] = stored.record {
      indent = indent, index = d - 1, extent = extent,
      step = d == #op.dims and ", plain += " .. op.record.bytes or "",
    }
    table.insert(op.ends, 1, indent)
  end
  op.indent = string.rep("  ", #op.dims)
end

-- What a list says of the layout that the header has; false: nothing.
function M.of_layout(op, list)
  local found = list and kit.map(op.layouts, function(label, k)
    return label == op.layout and list[k] or nil
  end)
  return found and found[1] or false
end

local function add_layout(sig, op)
  local plain = op.layout == "row_major" or op.layout == "aos"
  op.is_chosen, op.is_record = #op.layouts > 1, op.record.name ~= false
  op.formula = M.of_layout(op, op.formulas)
  op.packs = op.formula ~= false and (op.is_chosen or not plain)
  op.takes_struct = op.is_record and op.layout == "aos"
  op.has_struct = op.takes_struct or op.packs and op.is_record
  if op.formula then
    op.what = op.layout .. (op.formula.doc ~= "" and ". " or "") .. op.formula.doc
    op.prefix = sig.name .. "_layout_" .. op.name
    op.shown_offsets = shown_offsets(op)
    op.host_bytes = M.host(sig.name, op.formula.bytes)
    op.counters = kit.map(op.dims, function(_, d) return "i" .. d - 1 end)
    op.counter_of = {} -- of a loop, by the index that it counts
    for d, dim in ipairs(op.dims) do
      op.counter_of[dim] = op.counters[d]
    end
    op.fields = kit.map(op.record.fields, function(_, f) return field_values(sig, op, f) end)
    op.plain_type = op.is_record and M.record_type(sig.name, op.record) or op.record.fields[1].cuda
    add_extents(sig, op)
    add_loops(sig, op)
  end
end

-- ---- strides ----

-- What NAME_layout_<operand>_offset takes for the element with 1 at `dim` and 0 at all others.
local function unit(op, dim)
  local names = kit.map(op.fields[1].names, function(name)
    return name == dim and "1" or op.counter_of[name] and "0" or name
  end)
  return table.concat(names, ", ")
end

--- The stride of a dimension in values of so many bytes, where offsets are linear in the indices.
---@param op table
---@param dim string
---@param bytes integer
---@return string
function M.stride(op, dim, bytes)
  local offset = op.prefix .. "_offset"
  return string.format("(%s(%s) - %s(%s)) / %d", offset, unit(op, dim), offset, unit(op), bytes)
end

-- ---- all ----

-- Every expression that host functions work out.
local function all_texts(h)
  local all = {}
  for _, op in ipairs(h.sig.operands) do
    kit.append(all, table.unpack(op.inside))
    for _, steps in ipairs(op.apart) do
      kit.append(all, table.unpack(steps))
    end
    kit.append(all, table.unpack(op.bytes or {}))
    if op.formula then
      kit.append(all, op.formula.bytes)
    end
    if op.packs then
      kit.append(all, table.unpack(op.formula.offsets))
      kit.append(all, table.unpack(op.shape))
    end
  end
  for _, kernel in ipairs(h.kernels) do
    local launch = kernel.launch
    kit.append(all, launch.grid, table.unpack(launch.requires))
    for _, param in ipairs(launch.params or {}) do
      kit.append(all, param.value or nil)
    end
    kit.append(all, table.unpack(launch.params and launch.grid_dims or {}))
  end
  return all
end

--- Adds what templates ask of layouts to the operands and to the header's values.
---@param h table
function M.add(h)
  for k, op in ipairs(h.sig.operands) do
    op.layout = h.layouts[k]
    add_layout(h.sig, op)
  end
  local words = header_text.words(all_texts(h))
  h.calls = stored.record {}
  for name, after in pairs(FUNCTIONS) do
    h.calls[after] = words[name] or false
  end
  h.has_layouts = kit.any(h.sig.operands, function(op) return op.formula end)
  h.has_packing = kit.any(h.sig.operands, function(op) return op.packs end)
  h.records = record_types(h.sig)
  -- some type that the host part names is one of CUDA's structs
  h.names_vectors = kit.any(h.sig.operands, function(op)
    return (op.has_struct or op.packs) and kit.any(op.record.fields, function(field)
      return header_text.types[field.type].vector
    end)
  end)
end

return M
