--- What may stand in the tables that users write: one list for checking, for the nearest-name
--- suggestions and for the reference pages, whose tables `scripts/check_api --write` makes of it.
---
--- An option is { name, type, doc, required = true }. Types: "string", "boolean", "integer",
--- "number", "table", "function", or several joined by "|".

local M = {}

M["s.record"] = {
  { "name", "string", "its tag in the emitted header; default: the array's name and `_record`" },
  { "packed", "boolean", "true: fields without padding, and an array may begin at any byte" },
  { "align", "integer", "alignment of the record in bytes, a power of two" },
}

M["s.choose"] = {
  { "converted", "integer", "the array arrives in the first layout of the list (outputs leave in "
    .. "it) and is converted once in this many launches: other layouts are charged that share of a "
    .. "copy" },
}

M["s.array"] = {
  { "dims", "table|string", "the array's dimensions, slowest first, `{}` for one element; "
    .. "default: the kernel's" },
  { "at", "table|string", "the index that is read or written: one expression for each of its "
    .. "dimensions, over the kernel's dimensions and index arrays; default: the dimensions" },
  { "extents", "table|string", "one expression for each of its dimensions, over extents: "
    .. "`\"3 * i\"` is three times the extent of `i`" },
  { "pad", "integer|table", "a number, or one for each dimension, added to the extents" },
  { "taps", "table", "further elements that an input is read at: `name = { offset in every "
    .. "dimension }`; or windows: `name = { window = 3, padding = 1, reduce = \"sum\" }`" },
  { "window", "integer|table", "the body reads a window of the input as one value: how many "
    .. "elements it has along each of the last dimensions, or by name: `{ h = 3, w = 3 }`" },
  { "reduce", "string|table", "how the elements of a window are combined: `sum`, `mean`, `max`, "
    .. "`min`; or of an output that lacks some of the kernel's dimensions: `sum`, `product`, "
    .. "`max`, `min`, `mean`, `variance` or `logsumexp` of the body's values along them, or the "
    .. "position of the extreme: `argmax`, `argmin`" },
  { "stride", "integer|table", "the distance between neighbouring windows, as `window`; "
    .. "default 1" },
  { "padding", "integer|table", "how far the first window begins before the array, as `window`; "
    .. "default 0" },
  { "dilation", "integer|table", "the distance between the elements of a window, as `window`; "
    .. "default 1" },
  { "count_include_pad", "boolean", "`false`: a mean divides by the elements inside the array; "
    .. "default: by all that a window has" },
  { "border", "string|number", "what is read outside the array: a number, `zero`, `clamp` (the "
    .. "nearest element), `reflect` (without repeating the edge) or `wrap`; `skip`, the default of "
    .. "windows, leaves it out; `none`, otherwise the default: all reads stay inside" },
  { "fill", "string", "how the tuner initialises an index array, unless a size says: `identity`, "
    .. "`permuted`, `random` or `constant` (all the same); offsets of ragged rows: `constant`, "
    .. "`uniform`, `power` or `file:NAME`; an input of `bool`: `random` or `prefix` (of each row "
    .. "of its last dimension the first half or more is true, as padding leaves it)" },
  { "none", "boolean", "of an index array: a negative value means that there is no element; the "
    .. "body must test for it; reads through a negative index return element 0" },
  { "accumulate", "string", "of an indexed output: `add`, `min`, `max`, `and`, `or` or `xor` of "
    .. "the body's values of all points that map to an element" },
  { "deterministic", "boolean", "of an output that is accumulated: bitwise reproducible results, "
    .. "float sums included" },
  { "scan", "string|table", "of an output: inclusive prefix `sum`, `product`, `max`, `min` or "
    .. "`logsumexp` of the body's values along one dimension, or the position of the extreme: "
    .. "`argmax`, `argmin`" },
  { "along", "string", "of a scan: the dimension; default: the kernel's last" },
  { "exclusive", "boolean", "of a scan: excludes the element itself" },
  { "inout", "boolean", "of an output: the body reads the old value of its element and updates "
    .. "it in place; reductions and accumulations start from the old value" },
  { "host", "boolean", "of `NAME_host`, which the header then has: `true`, the array lies on the "
    .. "host; `false`, it is the device's and stays there; default: as the kernel's `host`" },
}

M["s.kernel"] = {
  { "name", "string", "names the emitted functions and the header", required = true },
  { "dims", "table", "the index space, slowest dimension first, up to 12", required = true },
  { "extents", "table|string", "further numbers that places and extents name, given at launch: "
    .. "with `extents = { \"pitch\" }` they are `n_pitch` in `at` and in bodies" },
  { "scalars", "table", "list of `{ name, type }`, given at launch" },
  { "inputs", "table", "list of `s.array`" },
  { "outputs", "table", "list of `s.array`", required = true },
  { "body", "string", "CUDA C statements for one element; required, unless there are `steps`" },
  { "steps", "table", "instead of a body: list of `{ reduce = { name = how }, body = ... }`, which "
    .. "reduce rows to values, and of `{ body = ... }`, which use them; without any that reduces, "
    .. "several bodies in one launch" },
  { "over", "table|string", "the dimensions of a row that steps reduce; default: the last" },
  { "ragged", "table", "rows of different lengths: `{ k = \"ptr\" }` says that the elements of a "
    .. "row along `k` are those from `ptr[row]` to `ptr[row + 1] - 1`" },
  { "index", "table|string", "names of whole numbers that the body computes for each point, for "
    .. "`at` of outputs that accumulate" },
  { "also", "table", "existing kernels, as further candidates: a list of tables, or one" },
  { "sizes", "table", "the problem sizes to tune", required = true },
  { "host", "boolean", "the header also has `NAME_host`, for arrays of the host: chunks of the "
    .. "slowest dimension, copied and computed on several streams; arrays may say so one by one" },
  { "tolerance", "number", "for verification, relative to a value or to the median magnitude of "
    .. "its field; default 0: results agree bit for bit; above 0, one value of the type more or "
    .. "less is near, too" },
}

M["a step"] = {
  { "reduce", "table", "by name, `sum`, `product`, `max`, `min`, `argmax`, `argmin`, `mean`, "
    .. "`variance`, `logsumexp` or `softmax_sum` of the body's values for the elements of a row; "
    .. "`{ \"sum\", \"i64\" }` names another type than `f32` (`f64`, where an input has it)" },
  { "over", "table|string", "the dimensions that this step reduces; default: the kernel's `over`" },
  { "row", "table", "values that the body computes once per row: their types by name, as in "
    .. "`{ r = \"f32\" }`" },
  { "body", "string", "CUDA C statements for one element, or for one row",
    required = true },
}

M["a kernel of your own"] = {
  { "cuda", "string", "the CUDA file, below the spec's directory", required = true },
  { "kernel", "string", "the kernel in it; template arguments as in `f<float, {TILE}>`, where "
    .. "braces stand for an axis' value", required = true },
  { "args", "table", "what each parameter receives, in the kernel's order: names of arrays and "
    .. "scalars, expressions (as `int`), `{ expression, type }`", required = true },
  { "grid", "string|integer|table", "blocks: an expression, or up to three for x, y and z",
    required = true },
  { "block", "string|integer|table", "threads of a block, the same", required = true },
  { "axes", "table", "values to be tried, by name: `{ TILE = { 16, 32 } }`" },
  { "where", "string|table", "conditions, as text: over axes they leave out combinations, over "
    .. "extents they say for which sizes the kernel is right" },
  { "shared", "string|integer", "bytes of dynamic shared memory; default 0" },
  { "align", "table", "required pointer alignment by array: `{ a = 16 }`; default: that of "
    .. "their type" },
  { "name", "string", "begins its labels; default: `own_` and the kernel's name" },
}

M["layout file"] = {
  { "name", "string", "as it appears in labels", required = true },
  { "doc", "string", "one sentence" },
  { "params", "table", "list of parameters, see below" },
  { "offset", "function", "`(l, field, idx, ext)`: the byte at which the field begins",
    required = true },
  { "bytes", "function", "`(l, ext)`: the size of the array in bytes", required = true },
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
  { "bus_bits", "integer", "width of the memory bus" },
  { "pin_gbit_s", "number", "what one of its pins moves; with bus_bits it must give peak_gb_s" },
  { "copy_gb_s", "number", "measured copy ceiling, read + written; default: unknown" },
  { "inflight_kib", "integer", "bytes in flight a multiprocessor needs; default: by cc" },
  { "l2_bytes_clk", "integer",
    "bytes a cycle between all SMs and L2; default: by cc, SMs and bus_bits" },
  { "fp32_clk", "integer", "results of f32 a cycle and multiprocessor; default: by cc" },
  { "fp64_clk", "integer", "the same of f64" },
  { "sfu_clk", "integer", "the same of reciprocals, roots, sine, exp2, log2" },
  { "int_clk", "integer", "the same of 32-bit integers, comparisons, minima" },
  { "latency_cycles", "integer", "of a lone load from device memory; default: by cc" },
  { "l2_latency_cycles", "integer", "of a hit in L2; default: by cc" },
  { "shared_latency_cycles", "integer", "of shared memory, shuffles and L1; default: 30" },
  { "alu_cycles", "number", "of a sum that waits for another one's result; default: 4.5" },
  { "sfu_cycles", "number", "of a special function's result; default: 18" },
  { "l1_kib", "integer", "L1 and shared memory of a multiprocessor together; default: by cc" },
  { "l1_bytes_clk", "integer", "bytes a cycle from the L1 of a multiprocessor; default: by cc" },
  { "sm_bytes_clk", "integer", "bytes a cycle between a multiprocessor and L2; default: 80" },
  { "part_store_sectors", "number",
    "sectors that L2 reads while it takes a store to part of one; default: 3.2" },
  { "block_ns", "number", "the device, for each block that it starts; default: 1.2 cycles" },
  { "launch_us", "number", "an empty kernel between two events; default: 3.1" },
  { "pcie", "table", "`{ generation = 5, lanes = 16 }`: the link to the host" },
  { "nvlink", "table", "`{ generation = 4, links = 18 }`: to a second device; default: by pcie" },
  { "atomic_sector_ns", "number", "the device, for a sector updated by a request; default: 0.011" },
  { "atomic_line_ns", "number", "a slice of L2, for a line of an atomic request; default: 0.01" },
  { "atomic_lane_ns", "number", "and for each sector, or lane of one word; default: 0.73" },
  { "held", "table", "`{ error = 0.06, against = \"...\" }`: how far its predictions are off" },
}

M["held"] = {
  { "error", "number", "mean relative error", required = true },
  { "against", "string", "measured figures, and whose", required = true },
}

M["pcie"] = {
  { "generation", "integer", "1 to 6", required = true },
  { "lanes", "integer", "1 to 16", required = true },
  { "gb_s", "number", "what copies reach each way; default: 87 % of the link's raw rate" },
  { "latency_us", "number", "of the smallest copy; default: 10" },
  { "host_gb_s", "number", "the host's own copy, for pageable memory; default: 13" },
}

M["nvlink"] = {
  { "generation", "integer", "1 to 5", required = true },
  { "links", "integer", "1 to 36, all to one device, as through a switch", required = true },
  { "gb_s", "number", "what copies reach each way; default: 87 % of the links' raw rate" },
}

return M
