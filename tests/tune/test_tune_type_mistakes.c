/* Kernels of small types with a mistake in them: verification finds each. */
#include "tune_verify.h"

#define SPEC(inputs, outputs, body)                                                                \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'k', dims = { 'row', 'col' }, inputs = { " inputs " },\n"              \
  "  outputs = { " outputs " }, body = '" body "', sizes = { { row = 40, col = 256 } } }\n"
#define VEC8     "map threads=128 items=1 vec=8 evict=none"
#define UNROLLED "map threads=128 items=1 vec=8 unroll=1 evict=none"

static const char int4[] =
    SPEC("s.array('q', 'i4'), s.array('g', 'f32', s.row_major, { at = { "
         "'row', 'col // 128' }, extents = { 'row', '(col + 127) // 128' } })",
         "s.array('w', 'f16')", "w = g * q;");
static const char bits[] =
    SPEC("s.array('m', 'u1'), s.array('x', 'u16')", "s.array('y', 'u16')", "y = m ? x : 0;");
static const char fp8[] = SPEC("s.array('x', 'f32')", "s.array('y', 'e4m3')", "y = x * 100.0f;");
static const char from_fp8[] =
    SPEC("s.array('x', 'e4m3'), s.array('z', 'e5m2')", "s.array('y', 'f32')", "y = x + z;");
static const char bools[] =
    SPEC("s.array('a', 'bool'), s.array('b', 'bool')", "s.array('c', 'bool')", "c = a && !b;");
static const char pairs[] =
    SPEC("s.array('a', 'bf16x2')", "s.array('c', 'bf16x2')", "c.x = a.y; c.y = -a.x;");
static const char arrays[] =
    SPEC("s.array('a', s.record { { 'q', 'f32', 5 }, name = 'cell' })",
         "s.array('o', s.record { { 'q', 'f32', 5 }, name = 'cell' }, s.soa)",
         "for (int n = 0; n < 5; n++) o.q[n] = a.q[4 - n];");

static void mistakes_are_found(void **state) {
  (void)state;
  static const tv_mistake mistakes[] = {
      {int4, UNROLLED, "(e >> 1), e & 1,", "(e >> 1), 0,"},
      {int4, UNROLLED, "q_v[item][e / kInside]", "q_v[item][e % kInside]"},
      {int4, UNROLLED, "return (int)((unsigned int)byte", "return ((unsigned int)byte"},
      {int4, UNROLLED, "(32 - kBits - kBits * at)", "(32 - kBits * at)"},
      {bits, UNROLLED, "((1 << kBits) - 1)", "3"},
      {bits, UNROLLED, "byte >> kBits * at", "byte >> 7 - at"},
      {fp8, VEC8, "bits = (unsigned char)pair;", "bits = (unsigned char)(pair >> 8);"},
      {fp8, VEC8, "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32"},
      {from_fp8, VEC8, "cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2"},
      {from_fp8, VEC8, "(bits << 8)", "(bits << 7)"},
      {bools, VEC8, "b_v[item][e]", "b_v[item][e ^ 1]"},
      {pairs, "map threads=128 items=1 vec=4 evict=none", "c.y = -a.x;", "c.y = a.x;"},
      {arrays, "map threads=128 items=1 vec=1 load=straight team=block evict=none", "a.q[4 - n]",
       "a.q[n]"},
  };
  tv_assert_found(mistakes, SCT_COUNT(mistakes));
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes_are_found)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
