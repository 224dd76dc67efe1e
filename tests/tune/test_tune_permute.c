/* The strategy permute: n-d permutes in tiles of several dimensions. */
#include "tune_permutes.h"

#define EXCHANGED "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"

static const tp_case cases[] = {
    {REVERSED3, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {REVERSED3, "permute t256 i16 p2 q3 vi1 vo1 r64 n2 xshared oa hnone"},
    {ROWS3, "permute t256 i8 p1 q2 vi4 vo4 r64 n8 xregisters oa hnone"},
    {RANK4, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK5, "permute t256 i32 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK5_F32, "permute t256 i16 p2 q2 vi1 vo1 r64 n8 xshared ob hnone"},
    {RANK6, "permute t256 i16 p2 q3 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK6, "permute t256 i16 p2 q2 vi4 vo2 r64 n8 xshared ob hnone"},
    {RANK7, "permute t256 i8 p3 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK8, "permute t256 i8 p3 q4 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK8, "tile t256 a32 b32 vi1 vo1 fpad k1 oa hnone"},
    {PITCHED, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {OPERANDS, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {OPERANDS, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xregisters oa hnone"},
};

static const tv_mistake mistakes[] = {
    {REVERSED3, EXCHANGED, "__syncthreads(); // all", "// all"},
    {REVERSED3, EXCHANGED, "2 * left + 1", "left"},
    {REVERSED3, EXCHANGED, "len_j != out_j", "round == 1"},
    {REVERSED3, EXCHANGED, "const int b_start = b_before;", ""},
    {REVERSED3, EXCHANGED, "& 31)]", "& 15)]"},
    {RANK4, EXCHANGED, "if (round % 32 == 0)",
     "if (round == 0)"}, /* one block takes more than 32 tiles */
};

static void permutes_are_right(void **state) {
  (void)state;
  tp_assert_right(cases, SCT_COUNT(cases));
}

static void each_mistake_is_found(void **state) {
  (void)state;
  tv_assert_found(mistakes, SCT_COUNT(mistakes));
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(permutes_are_right),
                                     cmocka_unit_test(each_mistake_is_found)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
