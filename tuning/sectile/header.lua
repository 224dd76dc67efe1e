-- header: an emitted header, and the files next to it: what a store says of a kernel as values for
-- the templates of templates/header, and these filled. What a sentence says stands in the
-- templates; the values are only what differs between headers.
--
-- Where a hole stands says what its text may do. In a comment (`//`, in Python `#`) it stays on its
-- line, between quotes it stays in the literal. Elsewhere it is code: a name or an expression that
-- was checked (stored.lua), or a kernel.
local core = require "sectile.core"
local header_figures = require "sectile.header_figures"
local header_host = require "sectile.header_host"
local header_kernels = require "sectile.header_kernels"
local header_layouts = require "sectile.header_layouts"
local header_python = require "sectile.header_python"
local header_rule = require "sectile.header_rule"
local header_selftest = require "sectile.header_selftest"
local header_text = require "sectile.header_text"
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

-- ---- templates ----

-- The context at the end of a template's text that begins in another one.
local function context_after(where, text, mark)
  local at = 1
  while where ~= "comment" do
    local quote = string.find(text, "\"", at, true)
    local comment = where == "code" and string.find(text, mark, at, true)
    if comment and comment < (quote or #text + 1) then
      where = "comment"
    elseif not quote then
      break
    else
      where, at = where == "code" and "literal" or "code", quote + 1
    end
  end
  return where
end

local function shown(value)
  if type(value) == "number" then
    return header_text.number(value)
  end
  return type(value) == "boolean" and tostring(value) or value
end

-- Every item of a list in place of %s in `format`.
local function join(list, format, between)
  if type(list) ~= "table" then
    error("join takes a list", 2)
  end
  local parts = kit.map(list, function(item)
    return (string.gsub(format or "%s", "%%s", function() return shown(item) end))
  end)
  return table.concat(parts, between or ", ")
end

-- Looked up for every line.
local concat, sub, type, ipairs = table.concat, string.sub, type, ipairs

--- Appends to `out` the lines of a template, which sees the values as globals.
---@param out string[]
---@param name string "header/banner.cuh"
---@param values table
function M.fill(out, name, values)
  local mark = string.find(name, "%.py$") and "#" or "//"
  local after = { code = {}, literal = {}, comment = {} } -- by where a text begins, and the text
  local env = setmetatable({ ipairs = ipairs, join = join }, { __index = stored.record(values) })
  function env._o(_, ...)
    local where, parts = "code", { ... }
    for k, piece in ipairs(parts) do
      if type(piece) ~= "table" then
        after[where][piece] = after[where][piece] or context_after(where, piece, mark)
        where = after[where][piece]
      else
        local text = shown(piece[1])
        if type(text) ~= "string" then
          error("a hole without a value", 2)
        elseif where == "comment" then
          text = header_text.comment(text, sub(concat(parts, "", 1, k - 1), -1))
        elseif where == "literal" then
          text = header_text.literal(text)
        end
        parts[k] = text
      end
    end
    local line = concat(parts)
    local ends_blank = where == "comment" and sub(line, -1) == " "
    out[#out + 1] = ends_blank and (string.match(line, "^.*[^ ]") or "") or line
    out[#out + 1] = "\n"
  end
  core.template(name, env)()
end

-- ---- arguments ----

-- Parameters of functions of the header must not be called as arguments are.
local function unused_name(sig)
  local taken = {}
  for _, items in ipairs { sig.operands, sig.scalars } do
    for _, item in ipairs(items) do
      taken[item.name] = true
    end
  end
  return function(wish)
    while taken[wish] do
      wish = wish .. "_x"
    end
    return wish
  end
end

-- The spec reduces, scans or accumulates in one order, or has steps over long rows: its launch
-- function takes a workspace, whichever kernels have won.
local function takes_workspace(h)
  return h.workspace_bytes > 0 or h.sig.workspace or kit.any(h.sig.operands, function(op)
    return op.reduce or op.ordered or op.scan
  end)
end

-- Has the array elements even where there is nothing to reduce? An output that has what is reduced
-- among its dimensions, as a softmax, has none then, and frameworks give such arrays no address.
local function has_elements(sig, op)
  return op.offsets and not op.is_output or op.is_output and not kit.any(sig.extents, function(x)
    return x.reduced and kit.has(op.dims, x.name)
  end)
end

-- "f16", "bf16": types that CUDA's headers have a pointer to; nil for others.
local function half_of(op)
  local name = op.record.fields[1].type
  return not op.record.name and (name == "f16" or name == "bf16") and name or nil
end

local function add_operands(h)
  local sig, width = h.sig, 0
  for k = 1, #sig.operands + #sig.scalars do
    width = math.max(width, #sig.arguments[k])
  end
  local function padded(name)
    return name .. string.rep(" ", width - #name)
  end
  h.blank = padded ""
  for _, op in ipairs(sig.operands) do
    -- element (i, j) of the index space is element (i, j) of the operand, if `at` says no other
    local own = table.concat(op.at, "\n") == table.concat(op.dims, "\n")
    op.moved_to = own and {} or op.at
    op.padded, op.shown = padded(op.name), header_layouts.record_text(op.record)
    op.never_null = has_elements(sig, op)
    op.reduce_note = string.find(op.reduce or "", "^arg")
      and ": the lowest index of those that have it, -1 where none is"
      or op.inout and ", and of what it holds" or ""
  end
  for _, scalar in ipairs(sig.scalars) do
    scalar.padded, scalar.bits = padded(scalar.name), header_text.types[scalar.type].bits
  end
  h.operands, h.scalars = sig.operands, sig.scalars
end

-- "const vec3 *a"
local function pointer_parameter(h, op)
  local first, half = header_text.types[op.record.fields[1].type], half_of(op)
  local pointed = op.takes_struct and header_layouts.record_type(h.name, op.record)
    or half and h.name .. "_" .. half or (op.is_record or first.bits) and "void" or first.cuda
  return (op.is_output and "" or "const ") .. pointed .. " *" .. op.name
end

-- Parameters and arguments of the launch function, without the stream.
local function add_arguments(h)
  local sig = h.sig
  h.arguments = kit.copy(sig.arguments)
  h.parameters = kit.map(sig.operands, function(op) return pointer_parameter(h, op) end)
  for _, scalar in ipairs(sig.scalars) do
    kit.append(h.parameters, header_text.types[scalar.type].cuda .. " " .. scalar.name)
  end
  for _, extent in ipairs(sig.extents) do
    kit.append(h.parameters, "long long n_" .. extent.name)
  end
  h.workspace = takes_workspace(h) and h.unused_name "workspace"
  if h.workspace then
    kit.append(h.arguments, h.workspace)
    kit.append(h.parameters, "void *" .. h.workspace)
  end
end

-- ---- what must not overlap, and what extents must satisfy ----

-- Arrays of which one is written, as far as it is known how large all are; and outputs that each
-- launch sets before points fall on them.
local function add_ranges(h)
  local sig, texts, start_texts = h.sig, {}, {}
  h.ranges, h.starts = {}, {}
  for k, op in ipairs(sig.operands) do
    local bytes = header_layouts.of_layout(op, op.bytes)
    if bytes then
      kit.append(texts, bytes)
      kit.append(h.ranges,
        stored.record { op = op, bytes = header_layouts.host(h.name, bytes), index = k })
    end
    if bytes and op.start then
      kit.append(start_texts, bytes)
      kit.append(h.starts, h.ranges[#h.ranges])
    end
  end
  h.ranges = #sig.operands > 1 and #h.ranges == #sig.operands and h.ranges or {}
  h.ranges_over = header_layouts.mentioned(sig, texts)
  h.starts_over = header_layouts.mentioned(sig, start_texts)
end

local function add_limits(h)
  local over, bounds = {}, {}
  local function host(text)
    return header_layouts.host(h.name, text)
  end
  h.limits, h.has_steps = {}, false
  for _, op in ipairs(h.sig.operands) do
    local apart = kit.map(op.apart, function(steps)
      local pairs_of = {}
      for k = 1, #steps, 2 do
        kit.append(pairs_of, string.format("{%s, %s}", host(steps[k]), host(steps[k + 1])))
      end
      kit.append(over, table.unpack(steps))
      return #steps > 0 and pairs_of or nil
    end)
    kit.append(over, table.unpack(op.inside))
    kit.append(bounds, table.unpack(op.bounds))
    if #op.inside + #apart > 0 then
      kit.append(h.limits,
        stored.record { name = op.name, inside = kit.map(op.inside, host), apart = apart })
    end
    h.has_steps = h.has_steps or #apart > 0
  end
  h.bounds = kit.map(bounds, host)
  h.checks_extents = #h.limits + #bounds > 0
  h.limits_over = header_layouts.mentioned(h.sig, over)
  h.bounds_over = header_layouts.mentioned(h.sig, bounds)
end

-- ---- the whole ----

-- The lines of a text.
local function lines_of(text)
  local lines = {}
  for line in string.gmatch(text, "([^\n]*)\n?") do
    lines[#lines + 1] = line
  end
  return text == "" and {} or lines
end

local function add_extents(h)
  local sig = h.sig
  local function last(items, what)
    local found = kit.map(items, function(item, k)
      return item[what] and { item.name, k } or nil
    end)
    return table.unpack(found[#found] or {})
  end
  local row, rows = last(sig.extents, "rows")
  local offsets = last(sig.operands, "offsets")
  h.ragged, h.rows = last(sig.extents, "ragged") or "", (rows or 0) - 1
  h.extents = kit.map(sig.extents, function(extent) return extent.name end)
  h.dims = kit.map(sig.dims, function(dim) return dim.name end)
  h.reduced = kit.map(sig.dims, function(dim) return dim.reduced end)
  h.index = string.format(#h.dims > 1 and "(%s)" or "%s", table.concat(h.dims, ", "))
  h.index_ranges = kit.map(sig.dims, function(dim)
    return dim.ragged and offsets and row
      and string.format("[%s[%s], %s[%s + 1])", offsets, row, offsets, row)
      or "[0, n_" .. dim.name .. ")"
  end)
end

local sig -- of the kernel, as header.signature() has read it

-- What the templates of a header see.
local function values_of(doc)
  local h = kit.copy(doc)
  h.sig, h.name, h.detail = sig, sig.name, sig.name .. "_detail"
  h.date, h.body, h.unused_name = doc.date or false, lines_of(sig.body), unused_name(sig)
  h.stream, h.call, h.forced = h.unused_name "stream", h.unused_name "call", h.unused_name "variant"
  h.linkage = h.form == "inline" and h.name .. "_LINKAGE " or ""
  h.form_option = (h.form == "inline" and "" or " --form " .. h.form)
    .. (doc.targets and " --targets " .. doc.targets or "")
  h.workspace_bytes = 0
  for _, kernel in ipairs(h.kernels) do
    kernel.launch, kernel.feature = stored.launch(kernel.launch, sig), kernel.feature or false
    h.workspace_bytes = math.max(h.workspace_bytes, kernel.launch.workspace_bytes)
  end
  for _, image in ipairs(h.images or {}) do
    image.name = string.format("%s_%d%d", image.is_ptx and "ptx" or "sm", image.major, image.minor)
  end
  h.scans = kit.any(sig.operands, function(op) return op.scan end)
  h.has_f = kit.any(sig.operands, function(op) return half_of(op) == "f16" end)
  h.has_bf = kit.any(sig.operands, function(op) return half_of(op) == "bf16" end)
  h.has_choice = kit.any(sig.operands, function(op) return #op.layouts > 1 end)
  add_extents(h)
  header_layouts.add(h)
  add_operands(h)
  add_arguments(h)
  add_ranges(h)
  add_limits(h)
  header_host.add(h, doc.ways)
  header_figures.add(h)
  header_kernels.add(h)
  header_rule.add(h)
  return h
end

-- Gives back what `f` gives, or nil and what is wrong with the store's data.
local function refusing(f)
  return function(...)
    local right, given = pcall(f, ...)
    if right then
      return given
    elseif type(given) ~= "table" then
      error(given, 0)
    end
    return nil, given.refused
  end
end

--- Reads the signature of the kernel that all further calls are about.
M.signature = refusing(function(doc)
  sig = stored.signature(doc)
  return {}
end)

--- Checks how a kernel is launched.
M.launch = refusing(function(doc)
  stored.launch(doc, sig)
  return {}
end)

--- Refuses a store that does not say where elements lie, for files that need it.
M.formulas = refusing(function()
  for _, op in ipairs(sig.operands) do
    if not op.formulas then
      stored.refuse("the store does not say where the elements of '%s' lie: an older sectile tuned "
        .. "it; `sectile tune` on the spec adds that without measuring again", op.name)
    end
  end
  return {}
end)

local PARTS = { "banner", "types", "layouts", "declarations", "kernels", "variants", "log",
  "runtime", "host", "host_copy", "host_chunks", "host_calls", "public" }

--- The header; the form c has compiled kernels in the place of their sources.
M.header = refusing(function(doc)
  local out, values = {}, values_of(doc)
  for _, part in ipairs(PARTS) do
    local file = part == "kernels" and doc.form == "c" and "code" or part
    if values.host or string.sub(part, 1, 4) ~= "host" then
      M.fill(out, "header/" .. file .. ".cuh", values)
    end
  end
  return out
end)

--- The module of Python next to it.
M.python = refusing(function(doc)
  local out, values = {}, values_of(doc)
  header_python.add(values)
  M.fill(out, "header/module.py", values)
  return out
end)

--- The file of cases next to it.
M.selftest = refusing(function(doc)
  local out, values = {}, values_of(doc)
  header_selftest.add(values, doc.tests)
  M.fill(out, "header/selftest.cuh", values)
  return out
end)

return M
