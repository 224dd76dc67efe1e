--- The module of spec scripts: `local s = require "sectile"`.
---
---     return s.kernel {
---       name    = "add",
---       dims    = { "i" },
---       inputs  = { s.array("a", "f32"), s.array("b", "f32") },
---       outputs = { s.array("c", "f32") },
---       body    = "c = a + b;",
---       sizes   = { { i = 1 << 20 } },
---     }
---
--- Every function notes the place it was called from, so that whatever is found wrong later can be
--- shown where it was written.

local core = require "sectile.core"
local check = require "sectile.check"
local kit = require "sectile.kit"
local layout = require "sectile.layout"
local own = require "sectile.own"
local sizes = require "sectile.sizes"

local M = {}

-- ---- parameters ----

local WANTED = {
  integer = { "a whole number", function(text) return math.tointeger(tonumber(text)) end },
  float = { "a number", function(text) return tonumber(text) end },
  string = { "a text", function(text) return text end },
  boolean = { "true or false", function(text)
    if text == "true" or text == "false" then
      return text == "true"
    end
  end },
}

local has_params = false

local function param_value(name, default, text, place)
  local wanted = WANTED[math.type(default) or type(default)]
  if not wanted then
    check.fail_key(place, name, "s.params: '%s' must be a number, a text or a boolean, not a %s",
      name, type(default))
  end
  if text == nil then
    return default
  end
  local value = wanted[2](text)
  if value == nil then
    check.fail_key(place, name, "the parameter '%s' is %s; `-p %s=%s` gives none", name,
      wanted[1], name, text)
  end
  return value
end

--- Values that `-p NAME=VALUE` may change. Each has the type of its default.
---@param defaults table from names to numbers, texts and booleans
---@return table from the same names to values
function M.params(defaults)
  local place = check.place()
  if type(defaults) ~= "table" or has_params then
    check.fail(place, "s.params is called once, with the defaults, as in s.params { fields = 7 }")
  end
  has_params = true
  local given, values, names = core.given_params(), {}, {}
  for name, default in pairs(defaults) do
    if type(name) ~= "string" or not name:match "^[%a_][%w_]*$" then
      check.fail(place, "s.params: '%s' is no name", name)
    end
    names[#names + 1] = name
    values[name] = param_value(name, default, given[name], place)
  end
  for name in pairs(given) do
    if values[name] == nil then
      check.fail(place, "there is no parameter '%s'%s", name, core.suggest(name, names))
    end
  end
  return values
end

-- ---- layouts ----

local layout_value -- forward: calling a layout gives a layout

local call_layout = core.placed(function(self, given)
  local place, name = check.place(), check.open(self, "layout").name
  if type(given) ~= "table" then
    check.fail(place, "layout %s: parameters are given as a table, as in s.%s { ... }", name, name)
  end
  return layout_value(name, given, place)
end)

-- Arrays that are made with one value that leaves something to the tuner get the same layout.
local ties = 0

local function next_tie()
  ties = ties + 1
  return ties
end

layout_value = function(name, given, place)
  return check.seal({ kind = "layout", name = name, given = given, place = place,
    tie = given and next_tie() }, call_layout)
end

for _, name in ipairs(core.layout_names()) do
  M[name] = layout_value(name, nil, { file = "?", line = 0 })
end

--- A layout from a file below the spec's folder, or a built-in one by its name.
---@param file string
---@return table
function M.layout(file)
  local place = check.place()
  if type(file) ~= "string" then
    check.fail(place, "s.layout takes the name of a file, not a %s", type(file))
  end
  layout.read(file, place)
  return layout_value(file, nil, place)
end

-- s.aos as it stands was made by nobody's line: errors in it belong to the call it is used in.
local function placed(thing, place)
  if thing.place.line > 0 then
    return thing
  end
  return { kind = "layout", name = thing.name, place = place }
end

-- An item of a choice may be a choice itself.
local function collect_choices(value, place, out)
  local choose, lay = check.open(value, "choose"), check.open(value, "layout")
  if choose then
    for _, choice in ipairs(choose.choices) do
      out[#out + 1] = choice
    end
  elseif lay then
    out[#out + 1] = placed(lay, place)
  else
    check.fail(place, "s.choose takes layouts, as in s.choose { s.aos, s.soa }; not a %s",
      type(value))
  end
end

--- Leaves the layout to the tuner. Arrays that are made with one such value get the same layout.
---@param choices table list of layouts
---@return table
function M.choose(choices)
  local place = check.place()
  if type(choices) ~= "table" or #choices == 0 then
    check.fail(place, "s.choose takes a list of layouts, as in s.choose { s.aos, s.soa }")
  end
  check.options(choices, "s.choose", place)
  if choices.converted and choices.converted < 1 then
    check.fail_key(place, "converted", "s.choose: converted = %d; arrays are converted once in so "
      .. "many launches, 1 or more", choices.converted)
  end
  local out = {}
  for k, value in ipairs(choices) do
    if type(value) ~= "table" then
      check.fail(place, "s.choose: item %d must be a table, not a %s", k, type(value))
    end
    collect_choices(value, place, out)
  end
  return check.seal { kind = "choose", choices = out, place = place, tie = next_tie(),
    converted = choices.converted }
end

-- ---- records ----

local MAX_FIELDS = 64 -- SCT_MAX_FIELDS
local TYPES = core.types()

-- How many fields an array is: one an element, or, where elements share bytes, one a byte.
local function n_fields(name, of, count, place)
  local shared = TYPES[of].shared
  local most = MAX_FIELDS * shared
  if math.type(count) ~= "integer" or count < 1 or count > most then
    check.fail(place, "s.record: field '%s' has %s elements; expected a whole number from %d to %d",
      name, tostring(count), shared, most)
  elseif count % shared ~= 0 then
    check.fail_word(place, name, "s.record: field '%s' has %d elements of %s, of which %d share a "
      .. "byte, and the last byte is not full; write %d", name, count, of, shared,
      (count // shared + 1) * shared)
  end
  return count // shared
end

-- The fields of an item { name, type [, count] }: one, or those of an array.
local function add_fields(out, field, k, place)
  local name, count = type(field) == "table" and field[1], type(field) == "table" and field[3]
  if type(name) ~= "string" or #field < 2 or #field > 3 then
    check.fail(place, "s.record: field %d must be { name, type }, as in { \"x\", \"f32\" }, or "
      .. "{ name, type, count }, as in { \"q\", \"f32\", 19 }", k)
  end
  for key in pairs(field) do
    if type(key) == "string" then
      check.fail_key(place, key, "s.record: field '%s' has no option '%s'; it is { name, type } or "
        .. "{ name, type, count }", name, key)
    end
  end
  local of = check.type_name(field[2], ("field '%s'"):format(name), place)
  if name:find("[", 1, true) then
    check.fail(place, "s.record: field '%s': an array is { \"%s\", \"%s\", count }", name,
      name:match "^[^%[]*", of)
  end
  for element = 0, (count and n_fields(name, of, count, place) or 1) - 1 do
    out[#out + 1] = { count and ("%s[%d]"):format(name, element) or name, of }
  end
end

--- A record: fields in order, laid out as a C struct unless packed.
---@param fields table list of { name, type } or { name, type, count }, and packed, align, name
---@return table
function M.record(fields)
  local place = check.place()
  if type(fields) ~= "table" then
    check.fail(place, "s.record takes a table of { name, type } pairs, not a %s", type(fields))
  end
  check.options(fields, "s.record", place)
  local out = {}
  for k, field in ipairs(fields) do
    add_fields(out, field, k, place)
  end
  if #out == 0 then
    check.fail(place, "a record needs at least one field")
  end
  return check.seal {
    kind = "record", place = place, fields = out, name = fields.name,
    packed = fields.packed or false, align = fields.align or 0,
  }
end

-- ---- arrays ----

-- "i" and { "i" } mean the same; numbers become text.
local function texts(value, what, place)
  local list = type(value) == "table" and value or { value }
  check.list(list, "string|integer", what, place)
  return kit.map(list, function(item)
    return type(item) == "string" and item or ("%d"):format(item)
  end)
end

local WORDS = {
  fill = core.fills(),
  reduce = { "sum", "product", "max", "min", "argmax", "argmin", "mean", "variance", "logsumexp",
             "softmax_sum" },
  accumulate = { "add", "min", "max", "and", "or", "xor" },
  scan = { "sum", "product", "max", "min", "argmax", "argmin", "logsumexp" },
  border = { "none", "clamp", "zero", "wrap", "reflect", "skip" },
}
local FOLDS = { "sum", "mean", "max", "min" }
local MAX_REACH = 65536 -- SCT_MAX_TAP_DELTA
-- What torch.nn.functional.pad calls them.
local PADDINGS = { zeros = "zero", constant = "zero", replicate = "clamp", circular = "wrap" }

-- A window as it is written; which dimensions it means is known with those of the kernel.
local function copy_window(name, options, what, place)
  local window = { name = name, given = {}, what = what }
  for _, key in ipairs { "window", "stride", "padding", "dilation" } do
    local value, least = options[key], key == "padding" and 0 or 1
    if type(value) == "table" then
      check.plain(value, ("%s: %s"):format(what, key), place)
    end
    for _, number in pairs(type(value) == "table" and value or { value }) do
      if math.type(number) ~= "integer" or number < least or number > MAX_REACH then
        check.fail_key(place, key, "%s: %s is a whole number from %d to %d, or a table of them",
          what, key, least, MAX_REACH)
      end
    end
    window.given[key] = type(value) == "table" and kit.copy(value) or value
  end
  if type(options.reduce) ~= "string" then
    check.fail_key(place, "window", "%s becomes one value: say which by reduce = \"max\" (sum, "
      .. "mean, min)", what)
  end
  local how = check.word(options.reduce, FOLDS, what .. ": unknown reduce", place)
  window.how = how == "mean" and options.count_include_pad == false and "mean inside" or how
  return window
end

-- What NumPy and PyTorch call reductions and scans, and other words for them.
local ELSEWHERE = {
  prod = "product", cumprod = "product", cumsum = "sum", count = "sum, of 1 in the body",
  amax = "max", cummax = "max", maximum = "max", amin = "min", cummin = "min", minimum = "min",
  average = "mean", avg = "mean", any = "max", all = "min", var = "variance",
  std = "variance, and take sqrtf of it in a later step", moments = "mean and variance",
  var_mean = "mean and variance", norm = "sum, of squares in the body",
  lse = "logsumexp", logcumsumexp = "logsumexp", sumexp = "softmax_sum", softmax = "softmax_sum",
}

-- The word for how values become one.
local function how_word(word, option, unknown, place)
  local other = (option == "reduce" or option == "scan") and ELSEWHERE[word]
  if other then
    check.fail_word(place, word, "%s '%s'; write %s", unknown, word, other)
  end
  return check.word(word, WORDS[option], unknown, place)
end

-- { west = { 0, -1 }, ... } as a list in order of names. In one dimension a number will do.
local function copy_taps(taps, what, place)
  check.plain(taps, what .. ": taps", place)
  local out = {}
  for name, delta in pairs(taps) do
    if type(name) ~= "string" then
      check.fail_key(place, "taps", "%s: every tap has a name, as in taps = { west = { 0, -1 } }",
        what)
    end
    local list = type(delta) == "table" and delta or { delta }
    if list.window then
      out[#out + 1] = copy_window(name, list, ("%s: window '%s'"):format(what, name), place)
    else
      check.list(list, "integer", ("%s: tap '%s'"):format(what, name), place)
      out[#out + 1] = { name = name, delta = kit.copy(list) }
    end
  end
  table.sort(out, function(a, b) return a.name < b.name end)
  return out
end

-- Reductions whose result has a fraction, whatever is reduced.
local HAS_FRACTION = { mean = true, variance = true, logsumexp = true, softmax_sum = true }

-- What values, and what is compared, may be.
local VALUE_TYPES = { "i32", "i64", "u32", "u64", "f32", "f64" }

local function check_value_type(what, of, place)
  check.type_name(of, what, place)
  if not kit.has(VALUE_TYPES, of) then
    check.fail_word(place, of, "%s: values are %s, not %s", what, table.concat(VALUE_TYPES, " "),
      of)
  end
end

-- Is the result where an extreme is found?
local function is_index(how)
  return how == "argmax" or how == "argmin"
end

-- { "argmax", "i32" }
local function how_and_type(pair, what, key, place)
  check.list(pair, "string", what, place)
  if #pair < 1 or #pair > 2 then
    check.fail_key(place, key, "%s is a word, or { word, type } as in { \"argmax\", \"i32\" }",
      what)
  end
  if pair[2] then
    check_value_type(what, pair[2], place)
  end
  return pair[1], pair[2]
end

local function array_type(value, what, place)
  local record = check.open(value, "record")
  if record then
    return record
  elseif type(value) == "table" then
    check.fail(place, "%s: its type must be a type name or an s.record", what)
  end
  local fields = { { "", check.type_name(value, what, place) } }
  return { kind = "record", place = place, fields = fields, packed = false, align = 0 }
end

-- The options of an array that are words, and what goes with them.
local function copy_words(array, options, what, place)
  for option in pairs(WORDS) do
    local word = options[option]
    if option == "border" and type(word) == "number" then
      array.border_value, word = word + 0.0, nil
    elseif option == "border" then
      word = PADDINGS[word] or word
    elseif option == "reduce" and options.window then
      word = nil -- of the window
    end
    if type(word) == "table" then -- only reduce and scan may be one
      word, array.compared = how_and_type(word, ("%s: %s"):format(what, option), option, place)
    end
    local is_file = option == "fill" and word and word:find "^file:" -- of what is asked elsewhere
    array[option] = is_file and word
      or word and how_word(word, option, ("%s: unknown %s"):format(what, option), place)
  end
  if array.compared and not is_index(array.reduce or array.scan) then
    local key = array.reduce and "reduce" or "scan"
    check.fail_key(place, key, "%s: only argmax and argmin name a type, that in which values are "
      .. "compared; write %s = \"%s\"", what, key, array[key])
  end
  for _, option in ipairs { "along", "exclusive" } do
    if options[option] ~= nil and not array.scan then
      check.fail_key(place, option, "%s: %s belongs to a scan, as in { scan = \"sum\", %s }", what,
        option, option == "along" and "along = \"i\"" or "exclusive = true")
    end
  end
  array.along, array.exclusive = options.along, options.exclusive or nil
end

-- Checks the number that lies outside of the array: one of its type.
local function check_border_value(array, what, place)
  local value, of = array.border_value, array.record.fields[1]
  local type = of[1] == "" and TYPES[of[2]]
  if not type or type.lanes > 1 or type.shared > 1 then
    check.fail_key(place, "border", "%s: a number is the border of numbers, not of records or "
      .. "vectors; border = \"zero\" is that of any", what)
  elseif value ~= value then
    check.fail_key(place, "border", "%s: its border is no number (NaN)", what)
  end
  local bits = of[2]:find "^[iu]" and tonumber(of[2]:match "%d+") or of[2] == "bool" and 1
  local least = of[2]:find "^i" and -(2.0 ^ (bits - 1)) or 0
  if bits and (value ~= math.floor(value) or value < least or value >= least + 2.0 ^ bits
    or value >= 2.0 ^ 63) then
    check.fail_key(place, "border", "%s: %s is no %s", what, ("%.17g"):format(value), of[2])
  end
end

-- Where the body reads an input: taps, windows, and what lies outside.
local function add_reads(array, options, what, place)
  array.taps = options.taps ~= nil and copy_taps(options.taps, what, place) or {}
  if options.window then
    table.insert(array.taps, 1, copy_window(array.name, options, what .. ": its window", place))
  end
  array.stride = options.stride
  local first = kit.any(array.taps, function(tap) return tap.how end) and "skip"
  for _, option in ipairs(options.window and {} or { "padding", "dilation", "count_include_pad",
    "stride" }) do
    if options[option] ~= nil and not (first and option == "stride") then
      check.fail_key(place, option, "%s: %s belongs to a window, as in { window = 3, %s = ... }",
        what, option, option)
    end
  end
  if array.border_value then
    check_border_value(array, what, place)
  end
  array.leaves_out = first and not array.border_value and not array.border -- by default
  array.border = array.border_value and "value" or array.border or first or nil
  if #array.taps == 0 and array.border == "skip" then
    check.fail_key(place, "border", "%s: only windows leave out what lies outside; read alone, an "
      .. "element has a value there, as with border = 0", what)
  end
end

--- An array: what its elements are and where they lie.
---@param name string as the body calls it
---@param element string|table a type name or a record
---@param lay? table a layout or a choice; default row_major for a bare type, aos for a record
---@param options? table of the schema's "s.array"
---@return table
function M.array(name, element, lay, options)
  local place = check.place()
  if type(name) ~= "string" then
    check.fail(place, "s.array: its first argument is a name, not a %s", type(name))
  end
  local what = ("array '%s'"):format(name)
  local record = array_type(element, what, place)
  if lay == nil then
    lay = check.open(element, "record") and M.aos or M.row_major
  end
  local choice = check.open(lay, "choose") or check.open(lay, "layout")
  if not choice then
    check.fail(place, "%s: its third argument is a layout such as s.aos, not a %s; options come " ..
      "fourth", what, type(lay))
  end
  options = options or {}
  if type(options) ~= "table" then
    check.fail(place, "%s: options are given as a table, not a %s", what, type(options))
  end
  check.options(options, "s.array", place)
  for key in pairs(options) do
    if type(key) ~= "string" then
      check.fail(place, "%s: options have names, as in { at = { \"i + 1\" } }", what)
    end
  end
  local array = {
    kind = "array", place = place, name = name, record = record,
    layouts = layout.alternatives(placed(choice, place), place), tie = choice.tie,
    converted = choice.converted,
  }
  for _, option in ipairs { "dims", "at", "extents" } do
    if options[option] ~= nil then
      array[option] = texts(options[option], what .. ": " .. option, place)
    end
  end
  array.pad = options.pad
  if type(array.pad) == "table" then
    check.list(array.pad, "integer", what .. ": pad", place)
    array.pad = kit.copy(array.pad)
  end
  copy_words(array, options, what, place)
  add_reads(array, options, what, place)
  array.inout, array.none = options.inout or nil, options.none or nil
  array.deterministic, array.host = options.deterministic or nil, options.host
  return check.seal(array)
end

-- ---- kernels ----

local function open_arrays(list, what, place)
  check.list(list, "table", what, place)
  return kit.map(list, function(value, k)
    return check.open(value, "array")
      or check.fail_key(place, what, "%s: item %d must be an s.array(...)", what, k)
  end)
end

local function copy_scalars(list, place)
  check.list(list, "table", "scalars", place)
  return kit.map(list, function(scalar, k)
    if type(scalar[1]) ~= "string" or #scalar ~= 2 then
      check.fail_key(place, "scalars", "scalars: item %d must be { name, type }", k)
    end
    local what = ("scalar '%s'"):format(scalar[1])
    return { scalar[1], check.type_name(scalar[2], what, place) }
  end)
end

-- A pitch that is known at launch is a dimension of the array, of which `at` says what is read.
local function take_pitch(array)
  local name = nil
  for _, one in ipairs(array.layouts) do
    local elements = one.read.desc.name == "pitched" and one.values.elements
    local is_new = type(elements) == "string" and string.find(elements, "^[%a_][%w_]*$")
      and not kit.has(array.dims, elements)
    name = is_new and elements or name
  end
  if not name then
    return
  elseif #array.layouts > 1 or array.pad then
    check.fail_word(array.place, name, "array '%s': a pitch that is known at launch, '%s', goes "
      .. "with neither s.choose nor pad", array.name, name)
  end
  array.at = array.at or array.dims
  for _, option in ipairs { "dims", "extents" } do
    array[option] = array[option] and kit.copy(array[option])
    if array[option] then
      array[option][#array[option]] = name
    end
  end
  array.layouts = layout.alternatives({ name = "row_major", place = array.place }, array.place)
end

-- Whole numbers by dimension: `given` is one for all of `among`, a list for the last of them, or
-- names them as the array or the kernel does.
local function by_dim(given, default, array, kernel_dims, among, key, what)
  local list = kit.map(array.dims, function() return default end)
  local function set(d, value)
    if not d or not (among == nil or among[d]) then
      check.fail_key(array.place, key, "%s: %s is given for %s", what, key,
        d and ("dimension '%s', along which it has no window"):format(array.dims[d])
          or "a dimension that the array has not")
    end
    list[d] = value
  end
  if type(given) ~= "table" then
    for d in ipairs(list) do
      if given and (among and among[d] or not among and d == #list) then
        list[d] = given
      end
    end
    return list
  end
  for name, value in pairs(given) do
    local d = math.type(name) == "integer" and #list - #given + name
    for n, dim in ipairs(array.dims) do
      local kernels = #kernel_dims == #list and kernel_dims[n]
      d = (dim == name or kernels == name) and n or d
    end
    set(list[d] ~= nil and d or nil, value)
  end
  return list
end

-- The places of windows: their elements by dimension, and, where the array does not say it, the
-- places of the first and extents that they all fit into.
local function set_windows(array, kernel_dims)
  local first, stride
  for n, tap in ipairs(array.taps) do
    if tap.how then
      local given, what = tap.given, tap.what
      local among = {}
      tap = { name = tap.name, how = tap.how, count = {} }
      for d, count in ipairs(by_dim(given.window, 0, array, kernel_dims, nil, "window", what)) do
        among[d], tap.count[d] = count ~= 0, math.max(count, 1)
      end
      tap.step = by_dim(given.dilation, 1, array, kernel_dims, among, "dilation", what)
      local padding = by_dim(given.padding, 0, array, kernel_dims, among, "padding", what)
      tap.delta = kit.map(padding, function(size) return -size end)
      stride = stride or by_dim(given.stride or array.stride, 1, array, kernel_dims, among,
        "stride", what)
      array.taps[n], first = tap, first or tap
    end
  end
  if not first then
    return
  end
  local function index_of(d) -- the kernel's dimension that the array's moves with
    return kit.has(kernel_dims, array.dims[d]) and array.dims[d]
      or #kernel_dims == #array.dims and kernel_dims[d]
      or check.fail_key(array.place, "dims", "array '%s' has a dimension '%s' that the kernel has "
        .. "not; say where its windows begin: at = { ... }", array.name, array.dims[d])
  end
  array.at = array.at or kit.map(array.dims, function(_, d)
    return stride[d] == 1 and index_of(d) or ("%d * %s"):format(stride[d], index_of(d))
  end)
  local fits = not array.extents and not kit.any(array.dims, function(dim, d)
    return first.delta[d] ~= 0 or not kit.has(kernel_dims, dim)
  end)
  if fits and array.leaves_out and #array.taps == 1 then
    array.border = nil -- as many elements as the windows have
  end
  array.extents = array.extents or kit.map(array.dims, function(dim, d)
    if not kit.has(kernel_dims, dim) then
      return dim
    end
    local more = (first.count[d] - 1) * first.step[d] + 1 + 2 * first.delta[d] - stride[d]
    local text = stride[d] == 1 and dim or ("%d * %s"):format(stride[d], dim)
    return more == 0 and text or more > 0 and ("%s + %d"):format(text, more)
      or ("max(%s - %d, 0)"):format(text, -more)
  end)
end

-- Copies of the arrays; one without dims has the kernel's.
local function with_dims(arrays, dims)
  return kit.map(arrays, function(array)
    local copy = kit.copy(array)
    copy.dims, copy.taps = copy.dims or dims, kit.copy(array.taps)
    set_windows(copy, dims)
    take_pitch(copy)
    if type(copy.pad) == "number" then
      copy.pad = kit.map(copy.dims, function() return array.pad end)
    end
    for _, option in ipairs { "at", "extents", "pad" } do
      local list = copy[option]
      if list and #list ~= #copy.dims then
        check.fail_key(copy.place, option, "array '%s' has %d dimension%s, but %s has %d item%s",
          copy.name, #copy.dims, #copy.dims == 1 and "" or "s", option, #list,
          #list == 1 and "" or "s")
      end
    end
    for _, tap in ipairs(copy.taps) do
      if #tap.delta ~= #copy.dims then
        check.fail_key(copy.place, tap.name,
          "array '%s' has %d dimension%s, but tap '%s' has %d offset%s", copy.name, #copy.dims,
          #copy.dims == 1 and "" or "s", tap.name, #tap.delta, #tap.delta == 1 and "" or "s")
      end
    end
    return copy
  end)
end

-- ---- steps ----

local MAX_VALUES = 32 -- SCT_MAX_VALUES

-- Has some field of the inputs a type whose name matches?
local function any_type(inputs, pattern)
  return kit.any(inputs, function(array)
    return kit.any(array.record.fields, function(field) return field[2]:find(pattern) end)
  end)
end

-- The type of values where a spec names none.
local function value_type(inputs)
  return any_type(inputs, "^f64") and "f64" or "f32"
end

-- The type of values that are compared, where a spec names none: an integer that holds all inputs,
-- if none of them has a fraction.
local function compared_type(inputs)
  if #inputs == 0 or any_type(inputs, "f") then
    return value_type(inputs)
  end
  return any_type(inputs, "^u64") and "u64" or any_type(inputs, "[iu]64") and "i64"
    or any_type(inputs, "^u32") and "i64" or "i32"
end

-- { r = "f32" } as a list in order of names.
local function copy_row(row, what, place)
  local out = {}
  check.plain(row, what .. ": row", place)
  for name, of in pairs(row) do
    if type(name) ~= "string" then
      check.fail_key(place, "row", "%s: every value has a name, as in row = { r = \"f32\" }", what)
    end
    check_value_type(("value '%s'"):format(name), of, place)
    out[#out + 1] = { name = name, type = of }
  end
  return out
end

-- { m = "max", n = { "sum", "i64" } } as a list in order of names.
local function copy_values(reduce, inputs, what, place)
  local out = {}
  check.plain(reduce, what .. ": reduce", place)
  for name, how in pairs(reduce) do
    local word, of = how, nil
    if type(how) == "table" then
      word, of = how_and_type(how, ("%s: '%s'"):format(what, name), "reduce", place)
    end
    if type(name) ~= "string" or type(word) ~= "string" then
      check.fail_key(place, "reduce", "%s: every value has a name, as in reduce = { m = \"max\" }",
        what)
    end
    word = how_word(word, "reduce", what .. ": unknown reduce", place)
    if HAS_FRACTION[word] and of and not of:find "^f" then
      check.fail_word(place, of, "%s: '%s' is a %s, which has a fraction, and %s has none; write "
        .. "f32 or f64, or nothing", what, name, word, of)
    end
    out[#out + 1] = is_index(word)
      and { name = name, reduce = word, type = "i64", compared = of or compared_type(inputs) }
      or { name = name, reduce = word, type = of or value_type(inputs) }
  end
  if #out == 0 then
    check.fail_key(place, "reduce", "%s: reduce names no value, as reduce = { m = \"max\" } does",
      what)
  end
  return out
end

local function copy_steps(steps, inputs, place)
  check.list(steps, "table", "steps", place)
  local out = {}
  for k, step in ipairs(steps) do
    local what = ("step %d"):format(k)
    check.options(step, "a step", place)
    if #step > 0 then
      check.fail_key(place, "steps", "%s: every entry has a name, as in { body = \"y = x / s;\" }",
        what)
    end
    if step.reduce and step.row then
      check.fail_key(place, "row", "%s has reduce and row; a step reduces, or is done once a row",
        what)
    end
    if step.over and not step.reduce then
      check.fail_key(place, "over", "%s has over and does not reduce; over says along what", what)
    end
    out[k] = { body = step.body, reduces = step.reduce ~= nil,
               over = step.over and texts(step.over, what .. ": over", place) }
    out[k].values = step.reduce and copy_values(step.reduce, inputs, what, place)
      or copy_row(step.row or {}, what, place)
  end
  local values = 0
  for _, step in ipairs(out) do
    values = values + #step.values
  end
  if values > MAX_VALUES then
    check.fail_key(place, "steps", "%d values in all; steps have at most %d", values, MAX_VALUES)
  end
  if #out == 0 then
    check.fail_key(place, "steps", "steps is empty; write body = \"...\", or steps that reduce")
  end
  return out
end

-- What is computed: a body, or steps.
local function check_bodies(options, place)
  if options.body and options.steps then
    check.fail_key(place, "steps", "s.kernel has body and steps; steps replace a body, "
      .. "which may be the last of them: { body = ... }")
  elseif not options.body and not options.steps then
    check.fail(place, "s.kernel needs 'body': CUDA C statements for one element; or steps, which "
      .. "reduce rows first")
  elseif options.over and not options.steps then
    check.fail_key(place, "over", "over says what steps reduce, and this kernel has none; a body "
      .. "reduces to outputs that lack the dimension and have reduce = ...")
  end
end

-- Names of numbers that the body computes, as values of the only step.
local function copy_computed(options, place)
  local names = texts(options.index, "index", place)
  if options.steps then
    check.fail_key(place, "index", "index names what a body computes for its outputs; kernels with "
      .. "steps do not accumulate")
  elseif #names == 0 or #names > MAX_VALUES then
    check.fail_key(place, "index", "index has 1 to %d names, not %d", MAX_VALUES, #names)
  end
  return kit.map(names, function(name) return { name = name, type = "i64" } end)
end

-- { k = "ptr" } as a dimension and the array of its offsets.
local function copy_ragged(ragged, place)
  check.plain(ragged, "ragged", place)
  local out, n = {}, 0
  for dim, offsets in pairs(ragged) do
    out, n = { dim = dim, offsets = offsets }, n + 1
  end
  if n ~= 1 or type(out.dim) ~= "string" or type(out.offsets) ~= "string" then
    check.fail_key(place, "ragged", "ragged names one dimension and the array of its offsets, as "
      .. "in ragged = { k = \"ptr\" }")
  end
  return out
end

--- Sizes between limits, by samples.
---@param options table from extents to { least, most }, and bytes, expressions, samples
---@return table
function M.range(options)
  return sizes.range(options, check.place())
end

--- Sizes of the calls that a program made.
---@param file string a CSV below the spec's directory: extents, and how many calls had them
---@return table
function M.calls(file)
  return sizes.calls(file, check.place())
end

--- A kernel: what a spec script returns.
---@param options table name, dims, extents, ragged, index, scalars, inputs, outputs, body, steps,
--- over, also, sizes, tolerance, host
---@return table
function M.kernel(options)
  local place = check.place()
  if type(options) ~= "table" then
    check.fail(place, "s.kernel takes a table, not a %s", type(options))
  end
  check.options(options, "s.kernel", place)
  for name in pairs(has_params and {} or core.given_params()) do
    check.fail(place, "the spec takes no parameters (s.params), but '%s' is given", name)
  end
  if #options > 0 then
    check.fail(place, "s.kernel: every entry has a name, as in dims = { \"i\" }")
  end
  check.list(options.dims, "string", "dims", place)
  check_bodies(options, place)
  local dims = kit.copy(options.dims)
  local inputs = with_dims(open_arrays(options.inputs or {}, "inputs", place), dims)
  local outputs = with_dims(open_arrays(options.outputs, "outputs", place), dims)
  for _, output in ipairs(outputs) do
    local how = output.reduce or output.scan
    output.compared = output.compared or is_index(how) and compared_type(inputs) or nil
  end
  local all_sizes =
    sizes.copy(options.sizes, kit.append(kit.copy(inputs), table.unpack(outputs)), place)
  return check.seal {
    kind = "kernel", place = place, name = options.name, dims = dims,
    scalars = copy_scalars(options.scalars or {}, place), inputs = inputs,
    outputs = outputs,
    body = options.body or "", sizes = all_sizes.list, weights = all_sizes.weights,
    n_sampled = all_sizes.n_sampled, n_added = all_sizes.n_added, n_around = all_sizes.n_around,
    steps = options.steps and copy_steps(options.steps, inputs, place),
    ragged = options.ragged and copy_ragged(options.ragged, place),
    values = options.index and copy_computed(options, place),
    over = options.over and texts(options.over, "over", place),
    extents = options.extents and texts(options.extents, "extents", place),
    also = options.also and own.copy(options.also, place),
    tolerance = options.tolerance, host = options.host,
  }
end

-- ---- the module ----

-- Called through core.placed, a function knows the line it was called from even where Lua has
-- replaced the caller's frame, as in `return s.kernel { ... }`.
for _, name in ipairs { "layout", "choose", "record", "array", "params", "range",
                       "calls", "kernel" } do
  M[name] = core.placed(M[name])
end

-- Functions on expressions, for layout files.

for _, name in ipairs { "lt", "le", "eq", "ne", "min", "max", "xor", "land", "lor", "lnot" } do
  M[name] = core[name]
end

return core.freeze(M, "sectile")
