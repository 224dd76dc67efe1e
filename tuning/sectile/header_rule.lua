-- header_rule: the rule of a device, which kernels calls of any extents take, as C: a function of
-- few comparisons, as one would write it by hand.
local kit = require "sectile.kit"
local stored = require "sectile.stored"

local M = {}

local PLAIN = 1 << 16 -- numbers from here on stand as shifts, where they are round

-- "96", "1LL << 20", "5LL << 18"
local function number(value)
  local shift, odd = 0, value
  while odd > 0 and odd % 2 == 0 do
    shift, odd = shift + 1, odd // 2
  end
  if value < PLAIN or odd >= 1000 then
    return value < 1 << 31 and tostring(value) or value .. "LL"
  end
  return string.format("%dLL << %d", odd, shift)
end

local function said(value)
  return (string.gsub(number(value), "LL", ""))
end

-- "n_row * n_col"
local function product(node)
  return table.concat(kit.map(node.of, function(name) return "n_" .. name end), " * ")
end

-- "n_row * n_col <= 1LL << 20"; `times`: of rows of different lengths.
local function condition(node, sign)
  local most = number(node.most)
  local times = node.over and " * n_" .. node.over or ""
  most = node.over and string.find(most, "<", 1, true) and "(" .. most .. ")" or most
  return product(node) .. " " .. sign .. " " .. most .. times
end

-- "64 < n_col <= 96, n_row > 8": all bounds on the way to a branch.
local function where_of(path)
  local order, bounds = {}, {}
  for _, step in ipairs(path) do
    local name = product(step.node) .. (step.node.over and " / n_" .. step.node.over or "")
    if not bounds[name] then
      bounds[name] = {}
      order[#order + 1] = name
    end
    bounds[name][step.sign] = said(step.node.most) -- later bounds are nearer
  end
  local parts = kit.map(order, function(name)
    local above, most = bounds[name][">"], bounds[name]["<="]
    return not most and name .. " > " .. above
      or (above and above .. " < " or "") .. name .. " <= " .. most
  end)
  return #parts > 0 and table.concat(parts, ", ") or "any extents"
end

local function percent(ratio)
  return string.format(ratio < 1.095 and "%.1f %%" or "%.0f %%", 100 * (ratio - 1))
end

local function note_of(h, leaf)
  local names = kit.map(leaf.kernels, function(k) return h.kernels[k + 1].space end)
  return string.format("%s: %d size%s, + %s, at worst + %s",
    #names > 0 and table.concat(names, ", ") or h.kernels[1].space, leaf.sizes,
    leaf.sizes == 1 and "" or "s", percent(leaf.regret.mean), percent(leaf.regret.worst))
end

local function add_leaf(rule, h, leaf, before, path)
  local order = { leaf.kernels[1] or 0, leaf.kernels[2] or 0, leaf.kernels[3] or 0 }
  local where = where_of(path)
  kit.append(rule.branches, { where = where, order = order })
  kit.append(rule.lines, stored.record {
    text = string.format("%sreturn %s_take(%d, %d, %d, \"%s\");", before, h.detail, order[1],
      order[2], order[3], where),
    note = note_of(h, leaf),
  })
end

local function with(path, node, sign)
  return kit.append(kit.copy(path), { node = node, sign = sign })
end

local function add_node(rule, h, node, depth, path)
  local blank = string.rep("  ", depth)
  if node.kernels then
    return add_leaf(rule, h, node, blank, path)
  end
  for _, name in ipairs(node.of) do
    rule.over[name] = true
  end
  rule.over[node.over or ""] = true
  local low_first = node.low.kernels or not node.high.kernels
  local first, sign = node.high, ">"
  local second, other = node.low, "<="
  if low_first then
    first, sign, second, other = second, other, first, sign
  end
  local test = blank .. "if (" .. condition(node, sign) .. ") "
  if first.kernels then
    add_leaf(rule, h, first, test, with(path, node, sign))
  else
    kit.append(rule.lines, stored.record { text = test .. "{", note = false })
    add_node(rule, h, first, depth + 1, with(path, node, sign))
    kit.append(rule.lines, stored.record { text = blank .. "}", note = false })
  end
  return add_node(rule, h, second, depth, with(path, node, other))
end

-- What calls at sizes that were not tuned lose, in words; nothing: not known.
local function regret_lines(device)
  local regret = device.rule.regret
  return regret.samples > 0 and {
    string.format("calls of other sizes take %s longer in the mean than the best %s there,",
      percent(regret.mean), device.is_virtual and "predicted" or "timed"),
    string.format("95 %% of them up to %s, at worst %s: %d sizes, each left out in turn,",
      percent(regret.p95), percent(regret.worst), regret.samples),
    "and a quarter of the calls with arrays that begin an element after where cudaMalloc puts them",
  } or {}
end

--- Adds to each device its rule: lines of C, the extents that these mention, the branches, and what
--- it costs, in words.
---@param h table
function M.add(h)
  for _, device in ipairs(h.devices) do
    local rule = { lines = {}, branches = {}, over = {} }
    add_node(rule, h, device.rule.tree, 1, {})
    rule.over = kit.map(h.extents, function(name) return rule.over[name] and name or nil end)
    rule.sizes = device.rule.sizes
    device.range = regret_lines(device)
    for _, branch in ipairs(rule.branches) do
      local first = h.kernels[branch.order[1] + 1]
      kit.append(first.wins, device.name
        .. (#rule.branches > 1 and " where " or " at ") .. branch.where)
    end
    device.rule = stored.record(rule)
  end
end

return M
