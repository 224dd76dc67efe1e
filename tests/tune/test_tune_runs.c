/* The strategy runs: n-d permutes by large tiles. */
#include "tune_permutes.h"

#define RUNS       "runs s56 p2 q2 vi4 vo1 r64 xshared hnone"
#define RUNS_ODD   "runs s28 p1 q1 vi1 vo1 r64 xshared hnone"
#define ODD_PIECES "runs s56 p1 q2 vi1 vo1 r64 xregisters hnone"

static const tp_case cases[] = {
    {REVERSED3, "runs s56 p2 q2 vi2 vo1 r64 xshared hnone"},
    {REVERSED3, "runs s28 p3 q2 vi1 vo1 r64 xshared hnone"},
    {ROWS3, "runs s28 p1 q2 vi4 vo4 r64 xshared hnone"},
    {ODD_ROWS, "runs s56 p1 q2 vi1 vo1 r64 xshared hnone"},
    {ODD_ROWS, "runs s28 p1 q2 vi1 vo1 r64 xregisters hnone"},
    {ODD_ROWS_F64, "runs s28 p1 q2 vi1 vo1 r64 xregisters hnone"},
    {ODD_ROW, "runs s28 p1 q1 vi1 vo1 r64 xregisters hkeepout"},
    {TWO_ROWS, "runs s28 p1 q2 vi1 vo1 r64 xregisters hnone"},
    {PITCHED_ROWS, "runs s28 p1 q1 vi1 vo1 r64 xregisters hnone"},
    {RANK4, "runs s56 p2 q2 vi2 vo2 r64 xshared hnone"},
    {RANK4_ODD, RUNS_ODD},
    {BYTES, "runs s28 p2 q1 vi16 vo8 r64 xshared hnone"},
    {RANK5_F32, RUNS},
    {RANK6, "runs s28 p2 q2 vi8 vo1 r64 xshared hnone"},
    {RANK7, "runs s28 p2 q2 vi4 vo1 r64 xshared hnone"},
    {OPERANDS, "runs s56 p2 q2 vi2 vo1 r64 xshared hnone"},
    {ODD_PAIRS, ODD_PIECES},
};

static const tv_mistake mistakes[] = {
    {RANK5_F32, RUNS, "__syncthreads();", ""},
    {RANK5_F32, RUNS, "/ 8 * 8 + 4", "/ 8 * 8"},
    {ODD_PAIRS, ODD_PIECES, "run_length + slack + 127", "run_length + 127"},
    {RANK4_ODD, RUNS_ODD, "cell >= 0 && ", ""},
    {RANK4_ODD, RUNS_ODD, "cell < run_length", "cell <= run_length"},
    {RANK4_ODD, RUNS_ODD, "item += kWarps", "item += kWarps + 1"},
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
