-- foreign: a run of the store in the formats of other tuners: Kernel Tuner's cache, T4 results.
--
-- A run has problem, device, run (rows of the store), extents (their values) and rows: a candidate
-- with its outcome, `axes` a list of name and value in order.
local foreign = {}

local STRATEGY, CANDIDATE = "strategy", "candidate"
local ABSENT = "-" -- a parameter that the strategy does not have
local MS = 1e6 -- ns

-- ---- JSON ----

local function quoted(s)
  return '"' .. string.gsub(s, '[%c"\\]', function(c)
    return c == '"' and '\\"' or c == "\\" and "\\\\" or string.format("\\u%04x", string.byte(c))
  end) .. '"'
end

-- A float always has a point or an exponent; what is no finite number is null.
local function number(value)
  local s = string.format("%.17g", value)
  return string.find(s, "[in]") and "null" or string.find(s, "[.e]") and s or s .. ".0"
end

-- An object with its members in this order; arguments alternate between keys and values.
local function object(...)
  local list, o = { ... }, { keys = {}, values = {} }
  for k = 1, #list, 2 do
    o.keys[#o.keys + 1] = list[k]
    o.values[#o.values + 1] = list[k + 1]
  end
  return o
end

local function add(o, key, value)
  o.keys[#o.keys + 1] = key
  o.values[#o.values + 1] = value
end

-- Appends the value as text; a table without keys is a list.
local function write(out, value, indent)
  local kind = type(value)
  if kind ~= "table" then
    out[#out + 1] = kind == "string" and quoted(value)
      or math.type(value) == "float" and number(value)
      or tostring(value)
    return
  end
  local keys, items = value.keys, value.values or value
  local inner = "\n" .. string.rep(" ", indent + 1)
  out[#out + 1] = keys and "{" or "["
  for k, item in ipairs(items) do
    out[#out + 1] = (k > 1 and "," or "") .. inner .. (keys and quoted(keys[k]) .. ": " or "")
    write(out, item, indent + 1)
  end
  out[#out + 1] = (#items > 0 and "\n" .. string.rep(" ", indent) or "") .. (keys and "}" or "]")
end

local function document(value)
  local out = {}
  write(out, value, 0)
  return out
end

-- ---- parameters ----

-- A value as Python's str() writes it.
local function python(value)
  return value == true and "True" or value == false and "False"
    or math.type(value) == "float" and string.format("%.15g", value)
    or tostring(value)
end

local function key_of(run, row)
  local parts = {}
  for k, name in ipairs(run.names) do
    parts[k] = python(row.values[name])
  end
  return table.concat(parts, ",")
end

-- Adds the names of all parameters to a run, and to each row its value of each: strategies have
-- axes of their own, so a value says that there is none. Where rows differ in what is no axis, such
-- as layouts, the label is one more.
local function take_parameters(run)
  local known, seen, twice = { [STRATEGY] = true }, {}, false
  run.names = { STRATEGY }
  for _, row in ipairs(run.rows) do
    row.values = { [STRATEGY] = row.strategy }
    for _, axis in ipairs(row.axes) do
      run.names[#run.names + 1] = not known[axis[1]] and axis[1] or nil
      known[axis[1]] = true
      row.values[axis[1]] = axis[2]
    end
  end
  for _, row in ipairs(run.rows) do
    for _, name in ipairs(run.names) do
      if row.values[name] == nil then
        row.values[name] = ABSENT
      end
    end
    local key = key_of(run, row)
    twice, seen[key] = twice or seen[key] ~= nil, true
  end
  run.names[#run.names + 1] = twice and CANDIDATE or nil
  for _, row in ipairs(run.rows) do
    row.values[CANDIDATE] = row.label
  end
end

local function parameters_of(run, row)
  local o = object()
  for _, name in ipairs(run.names) do
    add(o, name, row.values[name])
  end
  return o
end

-- All values that a parameter has, each once.
local function values_of(run, name)
  local list, known = {}, {}
  for _, row in ipairs(run.rows) do
    local value = row.values[name]
    list[#list + 1] = not known[value] and value or nil
    if value == false and not known[value] then
      list[#list + 1] = false
    end
    known[value] = true
  end
  return list
end

-- ---- times ----

local function times_of(row)
  local list = {}
  for k, ns in ipairs(row.samples_ns) do
    list[k] = ns / MS
  end
  return list
end

local function mean_ms(row)
  local sum, n = 0.0, #row.samples_ns
  for _, ns in ipairs(row.samples_ns) do
    sum = sum + ns
  end
  return (n > 0 and sum / n or row.median_ns) / MS
end

-- Both formats have a time for each part of a candidate's evaluation. Sectile compiles and checks
-- in batches next to the measuring and stores no time of these: 0. `benchmark`: what samples took.
local function add_parts(o, row, names, benchmark)
  for _, name in ipairs(names) do
    add(o, name, 0.0)
  end
  add(o, benchmark, mean_ms(row) * #row.samples_ns * math.max(row.launches, 1))
end

-- What our outcomes are called by Kernel Tuner and in T4.
local WORDS = {
  ok = { nil, "correct" },
  render_error = { "InvalidConfig", "constraints" },
  too_large = { "InvalidConfig", "constraints" },
  spills = { "InvalidConfig", "constraints" },
  compile_error = { "CompilationFailedConfig", "compile" },
  hang = { "RuntimeFailedConfig", "timeout" },
  wrong_result = { "RuntimeFailedConfig", "correctness" },
  not_written = { "RuntimeFailedConfig", "correctness" },
  input_changed = { "RuntimeFailedConfig", "correctness" },
  race = { "RuntimeFailedConfig", "correctness" },
}
local OTHER = { "RuntimeFailedConfig", "runtime" }

local function words_of(row)
  return WORDS[row.outcome] or OTHER
end

-- ---- Kernel Tuner ----

local function kernel_tuner_entry(run, row)
  local entry, word = parameters_of(run, row), words_of(row)[1]
  add(entry, "time", word or mean_ms(row))
  add(entry, word and "__error__" or "times", word or times_of(row))
  add_parts(entry, row, { "compile_time", "verification_time", "strategy_time", "framework_time" },
    "benchmark_time")
  add(entry, "timestamp", row.measured)
  add(entry, "source_hash", row.source_hash)
  return entry
end

--- Kernel Tuner wants the very end to be brace, newline, brace: the cache is last.
---@param run table
---@return string[]
function foreign.kernel_tuner(run)
  local params, cache = object(), object()
  take_parameters(run)
  for _, name in ipairs(run.names) do
    add(params, name, values_of(run, name))
  end
  for _, row in ipairs(run.rows) do
    add(cache, key_of(run, row), kernel_tuner_entry(run, row))
  end
  local d = run.device
  local ours = object("spec_hash", run.problem.spec_hash, "uuid", d.uuid, "driver", d.driver,
    "nvrtc", d.nvrtc, "size", run.run.size_label)
  return document(object("device_name", d.name, "kernel_name", run.problem.name, "problem_size",
    run.extents, "tune_params_keys", run.names, "tune_params", params, "objective", { "time" },
    "sectile", ours, "cache", cache))
end

-- ---- T4 ----

local function t4_result(run, row)
  local good, measurements = row.outcome == "ok", {}
  if good then
    measurements[1] = object("name", "time", "value", mean_ms(row), "unit", "ms")
  end
  local times = object("runtimes", times_of(row))
  add_parts(times, row, { "compilation", "validation", "search_algorithm", "framework" },
    "benchmark")
  return object("timestamp", row.measured, "configuration", parameters_of(run, row), "times", times,
    "invalidity", words_of(row)[2], "correctness", good and 1 or 0, "objectives", { "time" },
    "measurements", measurements)
end

---@param run table
---@return string[]
function foreign.t4(run)
  local results = {}
  take_parameters(run)
  for k, row in ipairs(run.rows) do
    results[k] = t4_result(run, row)
  end
  local metadata = object("timeunit", "milliseconds", "kernel", run.problem.name, "device",
    run.device.name, "size", run.run.size_label)
  return document(object("schema_version", "1.0.0", "metadata", metadata, "results", results))
end

return foreign
