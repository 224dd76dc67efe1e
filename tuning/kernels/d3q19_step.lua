-- A step of a lattice Boltzmann method, D3Q19 with BGK collisions in a periodic box: every cell
-- pulls the densities that flow to it from its neighbours, and relaxes them.
--
-- Two buffers are swapped from step to step, so they have one layout, which the tuner chooses for
-- both: `layout` is one value. 19 reads and 19 writes of 4 bytes a cell; the arithmetic hides.
local s = require "sectile"

-- Where densities flow to: z, y, x of the 19 directions, and their shares of the fluid at rest.
local directions, fields, taps = {}, {}, {}
for z = -1, 1 do
  for y = -1, 1 do
    for x = -1, 1 do
      local length = z * z + y * y + x * x
      if length < 3 then
        local weight = length == 0 and "1.0f / 3" or length == 1 and "1.0f / 18" or "1.0f / 36"
        directions[#directions + 1] = { z, y, x, weight = weight }
      end
    end
  end
end
for q, c in ipairs(directions) do
  fields[q] = { "q" .. q, "f32" }
  if c.weight ~= "1.0f / 3" then
    taps["from" .. q] = { -c[1], -c[2], -c[3] }
  end
end

-- The sum of what `term` gives for the directions along an axis, those against it subtracted.
local function moment(axis)
  local text = ""
  for q, c in ipairs(directions) do
    local sign = axis and c[axis] or 1
    if sign ~= 0 then
      text = text .. (sign < 0 and " - " or text == "" and "" or " + ") .. "p" .. q
    end
  end
  return text
end

local function product(c)
  local text = ""
  for axis, name in ipairs { "uz", "uy", "ux" } do
    if c[axis] ~= 0 then
      text = text .. (c[axis] < 0 and " - " or text == "" and "" or " + ") .. name
    end
  end
  return text == "" and "0.0f" or text
end

local lines = {}
for q, c in ipairs(directions) do
  local from = c.weight == "1.0f / 3" and "a" or "from" .. q
  lines[#lines + 1] = ("const float p%d = %s.q%d;"):format(q, from, q)
end
lines[#lines + 1] = "const float rho = " .. moment() .. ";"
for axis, name in ipairs { "uz", "uy", "ux" } do
  lines[#lines + 1] = ("const float %s = (%s) / rho;"):format(name, moment(axis))
end
lines[#lines + 1] = "const float still = 1.0f - 1.5f * (uz * uz + uy * uy + ux * ux);"
lines[#lines + 1] = "float along;"
for q, c in ipairs(directions) do
  lines[#lines + 1] = ("along = %s;"):format(product(c))
  lines[#lines + 1] = ("b.q%d = p%d + omega * (%s * rho * (still + along * (3.0f + 4.5f * along))"
    .. " - p%d);"):format(q, q, c.weight, q)
end

local cell = s.record { name = "cell", table.unpack(fields) }
local layout = s.choose { s.soa, s.aosoa { lanes = 32 }, s.aos }

return s.kernel {
  name      = "d3q19_step",
  dims      = { "z", "y", "x" },
  scalars   = { { "omega", "f32" } },
  inputs    = { s.array("a", cell, layout, { taps = taps, border = "wrap" }) },
  outputs   = { s.array("b", cell, layout) },
  body      = table.concat(lines, "\n"),
  tolerance = 1e-4,
  sizes     = { { z = 256, y = 256, x = 256 } },
}
