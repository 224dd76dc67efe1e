-- Packets of mixed fields, in blocks of sixteen, to a plane a field.
local s = require "sectile"
local packet = s.record {
  { "time", "f64" }, { "port", "u16" }, { "flags", "u8" }, { "size", "u32" }, name = "packet_t",
}
return s.kernel {
  name    = "packets_apart",
  dims    = { "i" },
  inputs  = { s.array("a", packet, s.aosoa { lanes = 16 }) },
  outputs = { s.array("b", packet, s.soa) },
  body    = "b = a;",
  sizes   = { { i = 20000000 } },
}
