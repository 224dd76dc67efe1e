// Views of arrays in the layouts of swapped.h: each element is where the header's functions say.
#include <mdspan>
#ifndef __cpp_lib_mdspan
#error "no mdspan"
#endif
#include "swapped.h"

#include <stdio.h>
#include <stdlib.h>

static int failures;
static void check(bool good, const char *what) {
  if (!good) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main() {
  const int64_t rows = 5, cols = 3;
  char *const bytes = static_cast<char *>(malloc((size_t)swapped_layout_a_bytes(rows, cols)));
  swapped_pair plain[rows * cols];
  auto x = swapped_layout_a_span_x(reinterpret_cast<float *>(bytes), rows, cols);
  auto q0 = swapped_layout_a_span_q_0(reinterpret_cast<unsigned short *>(bytes), rows, cols);
  auto q1 = swapped_layout_a_span_q_1(reinterpret_cast<const unsigned short *>(bytes), rows, cols);
  static_assert(decltype(x)::rank() == 2 && !decltype(x)::is_always_strided());
  check(x.extent(0) == rows && x.extent(1) == cols, "extents");
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < cols; c++) {
      x[r, c] = (float)(100 * r + c);
      q0[r, c] = (unsigned short)(10 * r + c);
      check((char *)&x[r, c] - bytes == swapped_layout_a_offset_x(r, c, cols), "x is at its offset");
      check(&q1[r, c] - &q0[r, c] == rows * cols, "sections of fields");
    }
  }
  check(swapped_layout_a_unpack(plain, bytes, rows, cols), "unpack");
  check(plain[2 * cols + 1].x == 201 && plain[2 * cols + 1].q[0] == 21, "the element (2, 1)");

  auto b = swapped_layout_b_span(plain, rows, cols);
  b[4, 2].x = 7;
  check(plain[4 * cols + 2].x == 7 && b.mapping().is_strided(), "C order");
  float room[100];
  auto w = swapped_layout_w_span(room, cols);
  check(w.rank() == 1 && &w[2] == room + 2, "a vector");
  auto c = swapped_layout_c_span(room, rows, cols);
  check(&c[1, 2] - room == 1 + 2 * (rows + 3), "strides");
  check(c.mapping().required_span_size() == 2 * (rows + 3) + rows, "size");
  check(c.mapping() == swapped_layout_c_span(room, rows, cols).mapping() &&
            c.mapping() != swapped_layout_c_span(room, rows, cols + 1).mapping(),
        "mappings compare");
  free(bytes);
  printf("%d wrong\n", failures);
  return failures != 0;
}
