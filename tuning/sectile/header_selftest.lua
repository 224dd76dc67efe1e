-- header_selftest: a file with cases for the kernels of a header, as values for its template: what
-- arrays hold before a launch, and after it.
local header_text = require "sectile.header_text"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

-- A list as an initialiser, "{1, 2}".
local function braced(list)
  return "{" .. table.concat(list, ", ") .. "}"
end

local function words_of(...)
  return braced(kit.map({ ... }, function(word) return string.format("0x%xULL", word) end))
end

-- What an array of a case refers to: arrays of their own, each by its name; NULL: there is none.
local function add_array(case, k, array, self)
  local function own(list, what, value)
    local name = string.format("%s_%d_%d", what, case.number, k - 1)
    if value then
      kit.append(list, stored.record { name = name, values = value })
    end
    return value and self .. "_" .. name or "NULL"
  end
  case.words[k] = words_of(array.key, array.and_mask, array.or_mask)
  case.digest_names[k] = own(case.digests, "digests", array.bits and kit.map(array.bits,
    function(bits, part) return words_of(bits, array.sums[part]) end))
  case.before[k] = own(case.buffers, "before", array.before)
  case.after[k] = own(case.buffers, "after", array.after)
  case.bytes[k], case.tolerance[k] = array.bytes, array.tolerance
  case.usual_names[k] = own(case.usual, "usual", array.usual)
end

local function case_values(h, from, number)
  local case = stored.record {
    number = number, poison = from.poison, extents = from.extents, words = {}, digests = {},
    digest_names = {}, buffers = {}, before = {}, after = {}, bytes = {}, tolerance = {},
    usual = {}, usual_names = {}, places = kit.map(from.places, braced),
    scalars = kit.map(from.scalars, braced),
    label = table.concat(kit.map(h.sig.extents, function(extent, k)
      return string.format("n_%s=%d", extent.name, from.extents[k])
    end), " "),
  }
  for k, array in ipairs(from.arrays) do
    add_array(case, k, array, h.self)
  end
  return case
end

-- Around thresholds: extents, and what values of outputs may differ by. Inputs there are made as
-- those of a case of which the file makes all; without one there are none.
local function add_edges(h, tests)
  local model = nil
  for number, case in ipairs(tests.cases) do
    local made = true
    for k, op in ipairs(h.sig.operands) do
      local array = case.arrays[k]
      made = made and (op.is_output or not array.before and array.and_mask | array.or_mask ~= 0)
    end
    model = made and number or model
  end
  h.edges, h.model = {}, (model or 1) - 1
  h.host_bytes = kit.map(h.sig.operands, function(op) return op.host_bytes end)
  h.edge_numbers = kit.map(h.sig.extents, function(_, k) return k - 1 end)
  h.edge_extents = kit.map(h.sig.extents, function(extent, k)
    return string.format("n_%s = n[%d]", extent.name, k - 1)
  end)
  for _, edge in ipairs(model and tests.edges or {}) do
    local arrays = tests.cases[model].arrays
    kit.append(h.edges, stored.record { extents = edge.extents,
      tolerance = kit.map(edge.tolerance, function(value, k)
        return value == 0 and arrays[k].tolerance < 0 and -1 or value
      end) })
  end
end

--- Adds what the file's template needs in addition to the header's values.
---@param h table
---@param tests table cases, computes
function M.add(h, tests)
  h.self = string.sub(h.name, 1, 200) .. "_selftest"
  h.computes = tests.computes and 1 or 0
  h.most_residue, h.part_bytes, h.most_fields = 0, 1, 1
  for _, op in ipairs(h.sig.operands) do
    op.extent_numbers = op.formula and kit.map(h.sig.extents, function(extent, e)
      return kit.has(op.extents, extent.name) and e - 1 or nil
    end)
    h.most_fields = math.max(h.most_fields, #op.record.fields)
    for _, field in ipairs(op.record.fields) do
      local type = header_text.types[field.type]
      field.lanes, field.exponent = type.exponent > 0 and type.lanes or 1, type.exponent
    end
  end
  h.cases = kit.map(tests.cases, function(case, k) return case_values(h, case, k - 1) end)
  add_edges(h, tests)
  for _, case in ipairs(tests.cases) do
    for _, place in ipairs(case.places) do
      h.most_residue = math.max(h.most_residue, table.unpack(place))
    end
    for _, array in ipairs(case.arrays) do
      h.part_bytes = math.max(h.part_bytes, array.part_bytes)
    end
  end
end

return M
