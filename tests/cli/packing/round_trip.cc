// Packs and unpacks arrays through emitted headers, compiled by a compiler that knows no CUDA, and
// compares every byte, those around the arrays included, with offsets that are written down here a
// second time. Exit 1 on a difference.
#include "cells_soa.h"
#include "fixed.h"
#include "grid_cols.h"
#include "grid_pitched.h"
#include "grid_strided.h"
#include "map_aos.h"
#include "map_aosoa.h"
#include "map_headed.h"
#include "map_rotated.h"
#include "map_soa.h"
#include "map_soa.h" // more than once
#include "sheet_strided.h"
#include "table_soa.h"
#ifdef WITH_VECTORS
#include "quad_cols.h"
#endif

#include <cstdio>
#include <functional>
#include <vector>

typedef std::vector<unsigned char> Bytes;
static int failures = 0;
static const size_t kGuard = 64;
static unsigned long long state = 0x9e3779b97f4a7c15ull;

static unsigned char next_byte() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned char)(state >> 32);
}

struct Field {
  int64_t at, bytes; // in the plain element
};

struct Array {
  const char *name;
  int64_t elements, element_bytes;
  std::vector<Field> fields;
  int64_t bytes, said; // as computed here, as the header says
  std::function<int64_t(size_t field, int64_t element)> place;
  std::function<bool(void *packed, const void *plain)> pack;
  std::function<bool(void *plain, const void *packed)> unpack;
};

static void expect(bool holds, const Array &a, const char *what) {
  if (!holds) {
    failures++;
    std::printf("%s, %lld elements: %s\n", a.name, (long long)a.elements, what);
  }
}

static void check(const Array &a) {
  expect(a.bytes == a.said, a, "bytes() is not the size of the layout");
  if (a.bytes != a.said) {
    return;
  }
  const size_t plain_bytes = size_t(a.elements * a.element_bytes);
  Bytes plain(plain_bytes + 2 * kGuard);
  for (unsigned char &b : plain) {
    b = next_byte();
  }
  Bytes want(size_t(a.bytes) + 2 * kGuard, 0xa5), back(plain.size(), 0x5a), restored(back);
  std::fill(want.begin() + kGuard, want.end() - kGuard, 0);
  for (int64_t e = 0; e < a.elements; e++) {
    for (size_t f = 0; f < a.fields.size(); f++) {
      const unsigned char *from = &plain[kGuard] + e * a.element_bytes + a.fields[f].at;
      memcpy(&want[kGuard] + a.place(f, e), from, size_t(a.fields[f].bytes));
      memcpy(&restored[kGuard] + e * a.element_bytes + a.fields[f].at, from,
             size_t(a.fields[f].bytes));
    }
  }
  const Bytes before(plain);
  Bytes packed(want.size(), 0xa5);
  expect(a.pack(&packed[kGuard], &plain[kGuard]), a, "pack() refuses");
  expect(packed == want, a, "pack() writes other bytes");
  expect(plain == before, a, "pack() writes to the plain array");
  expect(a.unpack(&back[kGuard], &packed[kGuard]), a, "unpack() refuses");
  expect(back == restored, a, "unpack() writes other bytes");
  expect(packed == want, a, "unpack() writes to the packed array");
  expect(a.pack(nullptr, &plain[kGuard]) == (a.bytes == 0), a, "pack() to null");
  expect(a.pack(&packed[kGuard], nullptr) == (a.elements == 0), a, "pack() from null");
  expect(a.unpack(nullptr, &packed[kGuard]) == (a.elements == 0), a, "unpack() to null");
  expect(a.unpack(&back[kGuard], nullptr) == (a.bytes == 0), a, "unpack() from null");
  expect(packed == want && back == restored, a, "what is refused has written");
}

static int64_t up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

#define CALLS(space, type, ...)                                                                    \
  [=](void *to, const void *from) {                                                                \
    return space::pack(to, static_cast<const type *>(from), __VA_ARGS__);                          \
  },                                                                                               \
      [=](void *to, const void *from) {                                                            \
        return space::unpack(static_cast<type *>(to), from, __VA_ARGS__);                          \
      }

// The functions of C, which layouts have that the spec fixes.
#define C_CALLS(prefix, type, ...)                                                                 \
  [=](void *to, const void *from) {                                                                \
    return prefix##_pack(to, static_cast<const type *>(from), __VA_ARGS__);                        \
  },                                                                                               \
      [=](void *to, const void *from) {                                                            \
        return prefix##_unpack(static_cast<type *>(to), from, __VA_ARGS__);                        \
      }

// struct mixed { u8 flag; f64 value; u16 tag; f32 w; }
static const std::vector<Field> kMixed = {{0, 1}, {8, 8}, {16, 2}, {20, 4}};

static void check_maps(int64_t n) {
  const int64_t value = up(n, 8), tag = value + 8 * n, w = up(tag + 2 * n, 4);
  const int64_t section[] = {0, value, tag, w};
  check({"aos", n, 24, kMixed, 24 * n, map_aos_layout_a::bytes(n),
         [](size_t f, int64_t e) { return 24 * e + kMixed[f].at; },
         CALLS(map_aos_layout_a, map_aos_mixed, n)});
  check({"soa", n, 24, kMixed, w + 4 * n, map_soa_layout_a::bytes(n),
         [=](size_t f, int64_t e) { return section[f] + kMixed[f].bytes * e; },
         CALLS(map_soa_layout_a, map_soa_mixed, n)});
  check({"fixed soa", n, 24, kMixed, w + 4 * n, fixed_layout_a_bytes(n),
         [=](size_t f, int64_t e) { return section[f] + kMixed[f].bytes * e; },
         C_CALLS(fixed_layout_a, fixed_mixed, n)});
  check({"aosoa(32)", n, 24, kMixed, up(n, 32) * 24, map_aosoa_layout_a::bytes(n),
         [](size_t f, int64_t e) {
           return e / 32 * 768 + 32 * kMixed[f].at + e % 32 * kMixed[f].bytes;
         },
         CALLS(map_aosoa_layout_a, map_aosoa_mixed, n)});
  check({"rotated", n, 24, kMixed, 24 * n, map_rotated_layout_a::bytes(n),
         [=](size_t f, int64_t e) {
           return (e < n / 2 ? e + n - n / 2 : e - n / 2) * 24 + kMixed[f].at;
         },
         CALLS(map_rotated_layout_a, map_rotated_mixed, n)});
  check({"headed", n, 24, kMixed, 24 * n + 64, map_headed_layout_a::bytes(n),
         [](size_t f, int64_t e) { return 64 + 24 * e + kMixed[f].at; },
         CALLS(map_headed_layout_a, map_headed_mixed, n)});
  for (int64_t e = 0; e < n; e++) { // these functions, for one element at a time
    const bool same =
        map_soa_layout_a::offset_flag(e) == e && map_soa_layout_a::offset_w(e, n) == w + 4 * e;
    failures += same ? 0 : 1;
  }
}

static void check_sheets(int64_t rows, int64_t cols) {
  const std::vector<Field> word = {{0, 4}}, half = {{0, 2}};
  const int64_t r = rows + 2, c = cols + 2; // with the halo
  check({"col_major", r * c, 4, word, 4 * r * c, grid_cols_layout_a::bytes(rows, cols),
         [=](size_t, int64_t e) { return (e % c * r + e / c) * 4; },
         CALLS(grid_cols_layout_a, float, rows, cols)});
  check({"fixed col_major", r * c, 4, word, 4 * r * c, fixed_layout_c_bytes(rows, cols),
         [=](size_t, int64_t e) { return (e % c * r + e / c) * 4; },
         C_CALLS(fixed_layout_c, float, rows, cols)});
  check({"pitched", r * c, 4, word, r * up(4 * c, 64), grid_pitched_layout_a::bytes(rows, cols),
         [=](size_t, int64_t e) { return e / c * up(4 * c, 64) + e % c * 4; },
         CALLS(grid_pitched_layout_a, float, rows, cols)});
  check({"strided", r * c, 4, word, ((r - 1) * (c + 8) + c) * 4,
         grid_strided_layout_a::bytes(rows, cols),
         [=](size_t, int64_t e) { return (e / c * (c + 8) + e % c) * 4; },
         CALLS(grid_strided_layout_a, float, rows, cols)});
  const int64_t last = rows * cols == 0 ? -1 : (rows - 1) * (cols + 8) + cols - 1;
  check({"strided halves", rows * cols, 2, half, (last + 1) * 2,
         sheet_strided_layout_b::bytes(rows, cols),
         [=](size_t, int64_t e) { return (e / cols * (cols + 8) + e % cols) * 2; },
         CALLS(sheet_strided_layout_b, unsigned short, rows, cols)});
#ifdef WITH_VECTORS
  check({"vectors",
         rows * cols,
         16,
         {{0, 16}},
         16 * rows * cols,
         quad_cols_layout_b::bytes(rows, cols),
         [=](size_t, int64_t e) { return (e % cols * rows + e / cols) * 16; },
         CALLS(quad_cols_layout_b, float4, rows, cols)});
#endif
}

int main() {
  for (const int64_t n : {0, 1, 31, 32, 33, 1000}) {
    check_maps(n);
    const std::vector<Field> cell = {{0, 1}, {4, 4}, {8, 4}, {12, 4}, {16, 1}, {17, 1}};
    const int64_t q = up(n, 4), at[] = {0, q, q + 4 * n, q + 8 * n, q + 12 * n, q + 13 * n};
    check({"cells", n, 20, cell, q + 14 * n, cells_soa_layout_a::bytes(n),
           [=](size_t f, int64_t e) { return at[f] + cell[f].bytes * e; },
           CALLS(cells_soa_layout_a, cells_soa_cell, n)});
    // a table of its own extent: the index space is not asked for
    check({"table",
           n,
           8,
           {{0, 4}, {4, 4}},
           8 * n,
           table_soa_layout_t::bytes(n),
           [=](size_t f, int64_t e) { return int64_t(f) * 4 * n + 4 * e; },
           CALLS(table_soa_layout_t, table_soa_vec2, n)});
  }
  static const int64_t pairs[][2] = {{0, 0},   {0, 33},  {33, 0},   {1, 1},   {1, 1000},
                                     {31, 33}, {33, 31}, {1000, 1}, {7, 1000}};
  for (const auto &pair : pairs) {
    check_sheets(pair[0], pair[1]);
  }
  static_assert(sizeof(cells_soa_cell::q) == 12 && sizeof(cells_soa_cell::t) == 2, "arrays");
  failures += cells_soa_layout_a::offset_q_1(3, 8) != 52;
  map_soa_mixed one = {};
  float cell = 0;
  failures += map_soa_layout_a::bytes(-1) != -1;
  failures += map_soa_layout_a::pack(&one, &one, -1) || map_soa_layout_a::unpack(&one, &one, -1);
  failures += grid_cols_layout_a::bytes(5, -1) != -1;
  failures += fixed_layout_b_bytes(5, 7) != 140; // plain: its bytes only
  failures += fixed_layout_c_offset(1, 2, 5) != 60;
  int64_t seen = 0;
  map_soa_layout_a::each_field(
      [&](int64_t at, int64_t plain, size_t n) { seen += at + plain + int64_t(n); }, 2);
  failures += seen != 30 + 135 + 184; // sizes, bytes in soa, bytes in plain records
  failures += grid_cols_layout_a::pack(&cell, &cell, -3, -3);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
