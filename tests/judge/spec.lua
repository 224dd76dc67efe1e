--- Reads a spec: what "sectile" gives to scripts, as far as the judge needs it, written from
--- docs/specs.md and docs/layouts.md. The layout files are those that the program has; their
--- functions run on whole numbers here.
local expression = require "expression"

local M = {}

-- ---- types and records ----

local BYTES = {
  i8 = 1, u8 = 1, bool = 1, e4m3 = 1, e5m2 = 1, i16 = 2, u16 = 2, f16 = 2, bf16 = 2, i32 = 4,
  u32 = 4, f32 = 4, i64 = 8, u64 = 8, f64 = 8, f32x2 = 8, f32x4 = 16, f64x2 = 16, i32x2 = 8,
  i32x4 = 16, i8x4 = 4, u8x4 = 4, f16x2 = 4, bf16x2 = 4, i4 = 1, u4 = 1, u1 = 1,
}
local SHARED = { i4 = 2, u4 = 2, u1 = 8 } -- elements a byte

local function round_up(x, m)
  return (x + m - 1) // m * m
end

-- Fields in order, each element of an array one of its own, each byte of one that shares bytes.
local function fields_of(list)
  local out = {}
  for _, given in ipairs(list) do
    local name, type, n = given[1] or given.name, given[2] or given.type, given[3]
    local each = BYTES[type] or error("unknown type " .. tostring(type))
    local per = n and SHARED[type] or 1
    for k = 0, n and n // per - 1 or 0 do
      out[#out + 1] = { name = name, element = n and k, per = per, type = type, bytes = each,
                        align = each, index = #out + 1 }
    end
  end
  return out
end

local function record_of(list)
  local record = { fields = fields_of(list), align = 1, data_bytes = 0 }
  local at = 0
  for _, field in ipairs(record.fields) do
    local align = list.packed and 1 or field.align -- in the record; layouts see the type's own
    field.prefix = record.data_bytes
    at = round_up(at, align)
    field.offset = at
    at = at + field.bytes
    record.data_bytes = record.data_bytes + field.bytes
    record.align = math.max(record.align, align)
  end
  record.align = math.max(record.align, list.align or 1)
  record.bytes = round_up(at, record.align)
  return record
end

-- ---- layouts ----

local helpers = { min = math.min, max = math.max, round_up = round_up }

function helpers.count(ext)
  local n = 1
  for k = 1, #ext do
    n = n * ext[k]
  end
  return n
end

function helpers.linear(idx, ext)
  local n = 0
  for k = 1, #ext do
    n = n * ext[k] + idx[k]
  end
  return n
end

function helpers.linear_col(idx, ext)
  local n = 0
  for k = #ext, 1, -1 do
    n = n * ext[k] + idx[k]
  end
  return n
end

-- The parameters of a layout that a spec gave: by name, by position, or all positions as a list.
local function given_of(desc, args)
  local given = {}
  for k, param in ipairs(desc.params or {}) do
    local value = args[param[1]]
    if value == nil and param.list then
      value = { table.unpack(args) }
    elseif value == nil then
      value = args[k]
    end
    if value == nil then
      value = param.default or param[2] and param[2][1]
    end
    given[k] = value
  end
  return given
end

-- All combinations of parameters that are lists, each as { desc, values, label }.
local function alternatives_of(layout)
  local desc, given = layout.desc, given_of(layout.desc, layout.args)
  local out = {}
  local function step(k, values, words)
    local param = (desc.params or {})[k]
    if not param then
      local text = #words > 0 and desc.name .. "(" .. table.concat(words, ", ") .. ")" or desc.name
      out[#out + 1] = { desc = desc, values = values, label = text }
      return
    end
    local value = given[k]
    local choices = type(value) == "table" and not param.list and value or { value }
    for _, one in ipairs(choices) do
      local all, said = {}, { table.unpack(words) }
      for name, old in pairs(values) do
        all[name] = old
      end
      all[param[1]] = one
      if param.list then
        said[#said + 1] = table.concat(one, ", ")
      elseif param[2] or one ~= param.default then
        said[#said + 1] = param[1] .. "=" .. tostring(one)
      end
      step(k + 1, all, said)
    end
  end
  step(1, {}, {})
  return out
end

local layout_meta = {}
function layout_meta.__call(layout, args)
  return setmetatable({ desc = layout.desc, args = args or {} }, layout_meta)
end

--- The layout's functions at these extents: the bytes of the array, and the offset of a field of
--- an element. Extents and indices of elements that share bytes are those of bytes.
function M.place(alternative, array, ext)
  local desc, l = alternative.desc, setmetatable({ record = array.record }, { __index = helpers })
  local env = {}
  for d, name in ipairs(array.dims) do
    env[name] = ext[d]
  end
  local function value_of(value)
    return type(value) == "string" and (expression.compile(value))(env) or value
  end
  for name, value in pairs(alternative.values) do
    if type(value) == "table" then
      local list = {}
      for k, item in ipairs(value) do
        list[k] = value_of(item)
      end
      value = list
    end
    l[name] = value_of(value)
  end
  return desc.bytes(l, ext), function(field, idx) return desc.offset(l, field, idx, ext) end
end

-- ---- the module that specs require ----

local function layout_file(s, path)
  local env = setmetatable({ require = function() return s end }, { __index = _G })
  local chunk = assert(loadfile(path, "t", env))
  return setmetatable({ desc = chunk(), args = {} }, layout_meta)
end

local function number(truth)
  return truth and 1 or 0
end

-- What layouts may call in place of operators that Lua keeps for itself.
local function add_operators(s)
  s.min, s.max = math.min, math.max
  function s.lt(a, b) return number(a < b) end
  function s.le(a, b) return number(a <= b) end
  function s.eq(a, b) return number(a == b) end
  function s.ne(a, b) return number(a ~= b) end
  function s.land(a, b) return number(a ~= 0 and b ~= 0) end
  function s.lor(a, b) return number(a ~= 0 or b ~= 0) end
  function s.lnot(a) return number(a == 0) end
  function s.xor(a, b) return a ~ b end
end

local function list_of(value)
  return value and (type(value) == "table" and value or { value })
end

local function array_of(s, name, type_, layout, options)
  local o = options or {}
  local is_record = type(type_) == "table"
  local array = {
    name = name, dims = list_of(o.dims), at = list_of(o.at), extents = list_of(o.extents),
    pad = o.pad, taps = o.taps or {}, border = o.border or "none", options = o,
    shared = not is_record and SHARED[type_] or 1,
    record = is_record and type_ or record_of { { "", type_ } },
  }
  layout = layout or (is_record and s.aos or s.row_major)
  array.alternatives = {}
  for _, choice in ipairs(layout.choices or { layout }) do
    for _, alternative in ipairs(alternatives_of(choice)) do
      table.insert(array.alternatives, alternative)
    end
  end
  return array
end

local function module_of(top, dir, params)
  local s = {}
  add_operators(s)
  for _, name in ipairs { "row_major", "col_major", "aos", "soa", "aosoa", "pitched", "strided" } do
    s[name] = layout_file(s, top .. "/tuning/layouts/" .. name .. ".lua")
  end
  function s.layout(file) return layout_file(s, dir .. "/" .. file) end
  function s.choose(list) return { choices = list } end
  function s.record(list) return record_of(list) end
  function s.array(...) return array_of(s, ...) end
  function s.kernel(kernel) return kernel end
  function s.params(defaults)
    for name, value in pairs(params) do
      defaults[name] = value
    end
    return defaults
  end
  return s
end

--- The kernel of a spec file, its arrays with dimensions and places filled in.
---@param path string
---@param top string the program's source tree, for its layouts
---@return table
function M.read(path, top)
  local dir = path:match "^(.*)/" or "."
  local s = module_of(top, dir, {})
  local env = setmetatable({}, { __index = _G })
  env.require = function() return s end
  env.include = function(file) return assert(loadfile(dir .. "/" .. file, "t", env))() end
  local kernel = assert(loadfile(path, "t", env))()
  kernel.arrays = {}
  for way, list in pairs { input = kernel.inputs or {}, output = kernel.outputs } do
    for _, array in ipairs(list) do
      array.is_output = way == "output"
      array.dims = array.dims or kernel.dims
      array.at = array.at or array.dims
      kernel.arrays[array.name] = array
    end
  end
  return kernel
end

--- The array's extents in elements at a size.
function M.extents(array, size, ragged_offsets)
  local out = {}
  for d, name in ipairs(array.dims) do
    local text = array.extents and array.extents[d] or name
    local pad = type(array.pad) == "table" and array.pad[d] or array.pad or 0
    out[d] = (expression.compile(text))(size) + pad + (ragged_offsets and 1 or 0)
  end
  return out
end

return M
