//% if calls.min then
static inline int64_t $(name)_min(int64_t a, int64_t b) {
  return b < a ? b : a;
}
//% end
//% if calls.max then
static inline int64_t $(name)_max(int64_t a, int64_t b) {
  return a < b ? b : a;
}
//% end
//% if calls.floor_div then
static inline int64_t $(name)_floor_div(int64_t a, int64_t b) {  // rounds down
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
//% end
//% if calls.floor_mod then
static inline int64_t $(name)_floor_mod(int64_t a, int64_t b) {  // has b's sign
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
//% end
//% if has_layouts then
// ---- Where the bytes of arrays lie, for the host.

//% end
//% if has_packing then
// Pack and unpack copy a field between these.
typedef struct $(name)_ends {
  unsigned char *to;
  const unsigned char *from;
} $(name)_ends;
static inline void $(name)_pack_field(void *ends, int64_t packed, int64_t plain, size_t n) {
  const $(name)_ends *const e = (const $(name)_ends *)ends;
  memcpy(e->to + packed, e->from + plain, n);
}
static inline void $(name)_unpack_field(void *ends, int64_t packed, int64_t plain, size_t n) {
  const $(name)_ends *const e = (const $(name)_ends *)ends;
  memcpy(e->to + plain, e->from + packed, n);
}

//% end
//% for _, o in ipairs(operands) do
//%   if o.formula then
// $(o.name): $(o.what)
//
// Bytes of the array; -1 if an extent is negative.
//%     if #o.extents > 0 then
static inline int64_t $(o.prefix)_bytes($(join(o.extents, "int64_t n_%s"))) {
  return $(join(o.extents, "n_%s < 0", " || ")) ? -1 : $(o.host_bytes);
}
//%     else
static inline int64_t $(o.prefix)_bytes(void) {
  return $(o.host_bytes);
}
//%     end

//%   end
//%   if o.packs then
//%     if o.is_record then
// Bytes from the start of the array to each field of element ($(join(o.dims))).
//%     else
// Bytes from the start of the array to element ($(join(o.dims))).
//%     end
//%     for _, f in ipairs(o.fields) do
static inline int64_t $(o.prefix)_$(f.offset)($(join(f.parameters))) {
  return $(f.formula);
}
//%     end

// Calls copy(context, byte in the array, byte in the plain array, how many bytes) for every field
// of every element; plain arrays hold elements in C order, the last index fastest.
static inline void $(o.prefix)_each_field(
    void (*copy)(void *context, int64_t packed, int64_t plain, size_t n), void *context$(join(o.extents, ", int64_t n_%s", ""))) {
//%     for _, extent in ipairs(o.unused) do
  (void)n_$(extent);
//%     end
  int64_t plain = 0;
//%     for _, l in ipairs(o.loops) do
  $(l.indent)for (int64_t i$(l.index) = 0; i$(l.index) < $(l.extent); i$(l.index)++$(l.step)) {
//%     end
//%     for _, f in ipairs(o.fields) do
  $(o.indent)copy(context, $(o.prefix)_$(f.offset)($(join(f.arguments))), $(f.plain), $(f.bytes));
//%     end
//%     for _, indent in ipairs(o.ends) do
  $(indent)}
//%     end
}

// Writes all bytes of `packed`: the fields of `plain`, and 0 between and after them. False, and
// nothing is written, if an extent is negative or a pointer that is needed null.
static inline bool $(o.prefix)_pack(void *packed, const $(o.plain_type) *plain$(join(o.extents, ", int64_t n_%s", ""))) {
  const int64_t size = $(o.prefix)_bytes($(join(o.extents, "n_%s")));
  $(name)_ends ends = {(unsigned char *)packed, (const unsigned char *)plain};
  if (size < 0 || (size > 0 && packed == NULL) || (plain == NULL$(join(o.host_shape, " && %s > 0", "")))) {
    return false;
  }
  if (size > 0) {
    memset(packed, 0, (size_t)size);
  }
  $(o.prefix)_each_field($(name)_pack_field, &ends$(join(o.extents, ", n_%s", "")));
  return true;
}

// The way back. What of `plain` belongs to no field stays as it is.
static inline bool $(o.prefix)_unpack($(o.plain_type) *plain, const void *packed$(join(o.extents, ", int64_t n_%s", ""))) {
  const int64_t size = $(o.prefix)_bytes($(join(o.extents, "n_%s")));
  $(name)_ends ends = {(unsigned char *)plain, (const unsigned char *)packed};
  if (size < 0 || (size > 0 && packed == NULL) || (plain == NULL$(join(o.host_shape, " && %s > 0", "")))) {
    return false;
  }
  $(o.prefix)_each_field($(name)_unpack_field, &ends$(join(o.extents, ", n_%s", "")));
  return true;
}

//%     if o.is_chosen then
#ifdef __cplusplus
namespace $(o.prefix) {  // the same in C++

//%     for _, f in ipairs(o.fields) do
inline int64_t $(f.offset)($(join(f.parameters))) {
  return $(o.prefix)_$(f.offset)($(join(f.names)));
}
//%     end
inline int64_t bytes($(join(o.extents, "int64_t n_%s"))) {
  return $(o.prefix)_bytes($(join(o.extents, "n_%s")));
}
template <typename Copy> inline void each_field(Copy copy$(join(o.extents, ", int64_t n_%s", ""))) {
  $(o.prefix)_each_field(
      [](void *context, int64_t packed, int64_t plain, size_t n) {
        (*static_cast<Copy *>(context))(packed, plain, n);
      },
      &copy$(join(o.extents, ", n_%s", "")));
}
inline bool pack(void *packed, const $(o.plain_type) *plain$(join(o.extents, ", int64_t n_%s", ""))) {
  return $(o.prefix)_pack(packed, plain$(join(o.extents, ", n_%s", "")));
}
inline bool unpack($(o.plain_type) *plain, const void *packed$(join(o.extents, ", int64_t n_%s", ""))) {
  return $(o.prefix)_unpack(plain, packed$(join(o.extents, ", n_%s", "")));
}

}  // namespace $(o.prefix)
#endif

//%     end
//%   end
//% end
//% if has_layouts then
#ifdef __cpp_lib_mdspan  // in files that include <mdspan> before
#include <mdspan>
//%   if has_packing then

// A layout policy: `Place` says at which element, counted from the array's first byte, an index is.
template <class Place> struct $(name)_places {
  template <class Extents> struct mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = $(name)_places;
    Extents shape;
    Place place;
    const Extents &extents() const noexcept { return shape; }
    index_type required_span_size() const noexcept { return place.size(); }
    template <class... Index> index_type operator()(Index... i) const noexcept {
      return place(static_cast<int64_t>(i)...);
    }
    static constexpr bool is_always_unique() noexcept { return true; }
    static constexpr bool is_always_exhaustive() noexcept { return false; }
    static constexpr bool is_always_strided() noexcept { return false; }
    static constexpr bool is_unique() noexcept { return true; }
    static constexpr bool is_exhaustive() noexcept { return false; }
    static constexpr bool is_strided() noexcept { return false; }
    friend bool operator==(const mapping &, const mapping &) = default;
  };
};
//%   end
//%   for _, o in ipairs(operands) do
//%     if o.formula then
//%       if o.packs then
//%         if not o.record.packed then
//%           for _, f in ipairs(o.fields) do

struct $(o.prefix)_place$(f.suffix) {
//%             for _, extent in ipairs(o.extents) do
  int64_t n_$(extent);
//%             end
  int64_t size() const noexcept { return $(o.prefix)_bytes($(join(o.extents, "n_%s"))) / $(f.bytes); }
  int64_t operator()($(join(o.counters, "[[maybe_unused]] int64_t %s"))) const noexcept {
    return $(o.prefix)_$(f.offset)($(join(f.arguments))) / $(f.bytes);
  }
  friend bool operator==(const $(o.prefix)_place$(f.suffix) &, const $(o.prefix)_place$(f.suffix) &) = default;
};
template <class T> auto $(o.prefix)_span$(f.suffix)(T *first$(join(o.extents, ", int64_t n_%s", ""))) {
  static_assert(sizeof(T) == $(f.bytes));
  using extents = std::dextents<int64_t, $(#o.dims)>;
  using places = $(name)_places<$(o.prefix)_place$(f.suffix)>;
  return std::mdspan<T, extents, places>(first, {extents($(join(o.host_shape))), {$(join(o.extents, "n_%s"))}});
}
//%           end
//%         end
//%       else

template <class T> auto $(o.prefix)_span(T *first$(join(o.extents, ", [[maybe_unused]] int64_t n_%s", ""))) {
  static_assert(sizeof(T) == $(o.record.bytes));
  return std::mdspan<T, std::dextents<int64_t, $(#o.dims)>>(first$(join(o.host_shape, ", %s", "")));
}
//%       end
//%     end
//%   end
#endif

//% end
