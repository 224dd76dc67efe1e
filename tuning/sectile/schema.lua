--- What may stand in the tables that users write: one list for checking, for the nearest-name
--- suggestions and for the reference page.
---
--- An option is { name, type, doc, required = true }. Types: "string", "boolean", "integer",
--- "number", "table", "function", or several joined by "|".

local M = {}

M["s.record"] = {
  { "name", "string", "C struct tag in the emitted header; default: <array>_record" },
  { "packed", "boolean", "fields follow each other without gaps" },
  { "align", "integer", "alignment of the record in bytes, a power of two" },
}

M["s.array"] = {
  { "dims", "table|string", "names of its dimensions, slowest first; default: the kernel's" },
  { "at", "table|string", "where it is read or written, over dimensions and index arrays" },
  { "extents", "table|string", "its extents, over the extents of the dimensions by their names" },
  { "pad", "integer|table", "added to the extents" },
  { "taps", "table", "further places that are read: name = { offset in every dimension }" },
  { "border", "string", "what taps find outside of it: clamp, zero or wrap; default: none is" },
  { "fill", "string", "how the tuner fills an index array: identity, permuted or random" },
  { "reduce", "string", "how an output that lacks dimensions is put together: sum, max or min" },
}

M["s.kernel"] = {
  { "name", "string", "names the emitted functions and the header", required = true },
  { "dims", "table", "names of the dimensions, slowest first", required = true },
  { "scalars", "table", "list of { name, type }" },
  { "inputs", "table", "list of s.array" },
  { "outputs", "table", "list of s.array", required = true },
  { "body", "string", "CUDA C statements for one element", required = true },
  { "sizes", "table", "list of { dimension = extent, index array = fill }", required = true },
  { "tolerance", "number", "relative; default 0: results agree bit for bit (sums: see there)" },
}

M["layout file"] = {
  { "name", "string", "as it appears in labels", required = true },
  { "doc", "string", "one sentence for `sectile examples`" },
  { "params", "table", "list of { name, values, default = value }" },
  { "offset", "function", "(l, field, idx, ext) -> byte offset", required = true },
  { "bytes", "function", "(l, ext) -> size of the array in bytes", required = true },
  { "owns_gaps", "boolean", "padding belongs to the array and may be overwritten" },
}

M["layout parameter"] = {
  { "default", "integer|string", "the value when none is given; default: the first of the list" },
  { "doc", "string", "one sentence" },
  { "min", "integer", "smallest value; default 1" },
  { "open", "boolean", "values outside the list are fine too" },
  { "text", "boolean", "may be an expression over the array's extents" },
  { "list", "boolean", "takes all positional values as one list" },
}

M["device file"] = {
  { "name", "string", "as the driver calls it", required = true },
  { "cc", "string", "compute capability, as in \"9.0\"", required = true },
  { "sms", "integer", "multiprocessors", required = true },
  { "clock_mhz", "integer", "boost clock", required = true },
  { "l2_mib", "number", "L2 cache; 0: none", required = true },
  { "memory_gb", "number", "device memory, in units of 10^9 bytes", required = true },
  { "peak_gb_s", "number", "memory bandwidth of the data sheet", required = true },
  { "copy_gb_s", "number", "measured copy ceiling, read + written; default: unknown" },
  { "inflight_kib", "integer", "bytes in flight a multiprocessor needs; default: by cc" },
  { "l2_bytes_clk", "integer", "bytes a cycle between all SMs and L2; default: 32 an SM" },
  { "fp32_clk", "integer", "results of f32 a cycle and multiprocessor; default: by cc" },
  { "fp64_clk", "integer", "the same of f64" },
  { "sfu_clk", "integer", "the same of reciprocals, roots, sine, exp2, log2" },
  { "int_clk", "integer", "the same of 32-bit integers, comparisons, minima" },
  { "latency_cycles", "integer", "of a lone load from device memory; default: by cc" },
  { "launch_us", "number", "an empty kernel between two events; default: 3.1" },
}

return M
