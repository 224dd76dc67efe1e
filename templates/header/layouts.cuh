//% if has_packing then
#ifdef __cplusplus
// Arrays whose layout the tuner chose, for the host.

//% end
//% for _, o in ipairs(operands) do
//%   if o.packs then
// $(o.name): $(o.what)
namespace $(name)_layout_$(o.name) {

//%     if o.calls.min then
inline int64_t min(int64_t a, int64_t b) {
  return b < a ? b : a;
}
//%     end
//%     if o.calls.max then
inline int64_t max(int64_t a, int64_t b) {
  return a < b ? b : a;
}
//%     end
//%     if o.calls.sct_floor_div then
inline int64_t sct_floor_div(int64_t a, int64_t b) {  // rounds down
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
//%     end
//%     if o.calls.sct_floor_mod then
inline int64_t sct_floor_mod(int64_t a, int64_t b) {  // has b's sign
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
//%     end
//%     if o.is_record then
// Bytes from the start of the array to each field of element ($(join(o.dims))).
//%     else
// Bytes from the start of the array to element ($(join(o.dims))).
//%     end
//%     for _, f in ipairs(o.fields) do
inline int64_t $(f.offset)($(join(f.parameters))) {
  return $(f.formula);
}
//%     end

// Bytes of the array; -1 if an extent is negative.
inline int64_t bytes($(join(o.extents, "int64_t n_%s"))) {
//%     if #o.extents > 0 then
  return $(join(o.extents, "n_%s < 0", " || ")) ? -1 : $(o.bytes);
//%     else
  return $(o.bytes);
//%     end
}

// Calls copy(byte in the array, byte in the plain array, how many bytes) for every field of every
// element; plain arrays hold elements in C order, the last index fastest.
template <typename Copy>
inline void each_field(Copy copy$(join(o.extents, ", int64_t n_%s", ""))) {
//%     for _, extent in ipairs(o.unused) do
  (void)n_$(extent);
//%     end
  int64_t plain = 0;
//%     for _, l in ipairs(o.loops) do
  $(l.indent)for (int64_t i$(l.index) = 0; i$(l.index) < $(l.extent); i$(l.index)++$(l.step)) {
//%     end
//%     for _, f in ipairs(o.fields) do
  $(o.indent)copy($(f.offset)($(join(f.arguments))), $(f.plain), $(f.bytes));
//%     end
//%     for _, indent in ipairs(o.ends) do
  $(indent)}
//%     end
}

// Writes all bytes() bytes of `packed`: the fields of `plain`, and 0 between and after them. False,
// and nothing is written, if an extent is negative or a pointer that is needed null.
inline bool pack(void *packed, const $(o.plain_type) *plain$(join(o.extents, ", int64_t n_%s", ""))) {
  const int64_t size = bytes($(join(o.extents, "n_%s")));
  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr$(join(o.shape, " && %s > 0", "")))) {
    return false;
  }
  unsigned char *const to = static_cast<unsigned char *>(packed);
  const unsigned char *const from = reinterpret_cast<const unsigned char *>(plain);
  if (size > 0) {
    memset(to, 0, size_t(size));
  }
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + at, from + place, n); }$(join(o.extents, ", n_%s", "")));
  return true;
}

// The way back. What of `plain` belongs to no field stays as it is.
inline bool unpack($(o.plain_type) *plain, const void *packed$(join(o.extents, ", int64_t n_%s", ""))) {
  const int64_t size = bytes($(join(o.extents, "n_%s")));
  if (size < 0 || (size > 0 && packed == nullptr) || (plain == nullptr$(join(o.shape, " && %s > 0", "")))) {
    return false;
  }
  unsigned char *const to = reinterpret_cast<unsigned char *>(plain);
  const unsigned char *const from = static_cast<const unsigned char *>(packed);
  each_field([=](int64_t at, int64_t place, size_t n) { memcpy(to + place, from + at, n); }$(join(o.extents, ", n_%s", "")));
  return true;
}

}  // namespace $(name)_layout_$(o.name)

//%   end
//% end
//% if has_packing then
#endif  // __cplusplus

//% end
