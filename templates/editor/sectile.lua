---@meta sectile
-- What specs and layouts may say, for lua-language-server: keep it where `workspace.library` is.
-- Made by scripts/check_api of tuning/sectile/schema.lua; `sectile generate lua` prints it.

---@class sectile.Layout
---@class sectile.Record
---@class sectile.Array
---@class sectile.Kernel

---@class sectile.options.s_kernel
--- names the emitted functions and the header
---@field name string
--- the index space, slowest dimension first, up to 12
---@field dims table
--- list of `{ name, type }`, given at launch
---@field scalars? table
--- list of `s.array`
---@field inputs? table
--- list of `s.array`
---@field outputs table
--- CUDA C statements for one element
---@field body string
--- the problems that are tuned, one by one
---@field sizes table
--- for verification, relative to a value or to the median magnitude of its field; default 0:
--- results agree bit for bit
---@field tolerance? number

---@class sectile.options.s_array
--- the array's dimensions, slowest first; default: the kernel's
---@field dims? table|string
--- the index that is read or written: one expression for each of its dimensions, over the
--- kernel's dimensions and index arrays; default: the dimensions
---@field at? table|string
--- one expression for each of its dimensions, over extents: `"3 * i"` is three times the extent
--- of `i`
---@field extents? table|string
--- a number, or one for each dimension, added to the extents
---@field pad? integer|table
--- further elements that an input is read at: `name = { offset in every dimension }`
---@field taps? table
--- what taps find outside: `clamp`, `zero`, `wrap`; default `none`: they stay inside
---@field border? string
--- how the tuner fills an index array where a size does not say: `identity`, `permuted` or
--- `random`
---@field fill? string
--- of an output that lacks some of the kernel's dimensions: `sum`, `max` or `min` of what the
--- body gives for them
---@field reduce? string
--- of an output: the body reads what its element held and updates it in place
---@field inout? boolean

---@class sectile.options.s_record
--- its tag in the emitted header; default: the array's name and `_record`
---@field name? string
--- true: fields follow each other without gaps, and an array may begin at any byte
---@field packed? boolean
--- alignment of the record in bytes, a power of two
---@field align? integer

---@class sectile.options.layout_file
--- as it appears in labels
---@field name string
--- one sentence
---@field doc? string
--- list of parameters, see below
---@field params? table
--- `(l, field, idx, ext)`: the byte at which the field begins
---@field offset function
--- `(l, ext)`: the size of the array in bytes
---@field bytes function
--- padding belongs to the array and may be overwritten
---@field owns_gaps? boolean

---@class sectile.options.layout_parameter
--- the value when none is given; default: the first of the list
---@field default? integer|string
--- one sentence
---@field doc? string
--- smallest value; default 1
---@field min? integer
--- values outside the list are fine too
---@field open? boolean
--- may be an expression over the array's extents
---@field text? boolean
--- takes all positional values as one list
---@field list? boolean

---@class sectile
---@field row_major sectile.Layout the last index runs fastest
---@field col_major sectile.Layout the first index runs fastest
---@field aos sectile.Layout whole records one after the other
---@field soa sectile.Layout one contiguous section a field
---@field aosoa fun(params: { lanes: integer|integer[] }): sectile.Layout
---@field pitched fun(params: { align: integer?, pitch: string? }): sectile.Layout
---@field strided fun(strides: (integer|string)[]): sectile.Layout
---@field layout fun(file: string): sectile.Layout a layout of your own
---@field choose fun(layouts: sectile.Layout[]): sectile.Layout left to the tuner
---@field record fun(fields: sectile.options.s_record): sectile.Record
---@field kernel fun(options: sectile.options.s_kernel): sectile.Kernel
local s = {}

---@param name string
---@param type string|sectile.Record
---@param layout? sectile.Layout
---@param options? sectile.options.s_array
---@return sectile.Array
function s.array(name, type, layout, options) end

return s
