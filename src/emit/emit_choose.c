/* The rule of selection (sct_choose) once more, for a size whose winner has other layouts than the
 * header: among stored candidates with the right ones. */
#include "emit/emit_internal.h"

#include "measure/measure.h"

#include <string.h>

static bool is_fast(const sct_row_candidate *candidate) {
  SCT_OWNED_PTR(json_t) axes = sct_json_load(candidate->axes);
  const char *math = json_string_value(json_object_get(axes, "math"));
  return math != NULL && strcmp(math, "fast") == 0;
}

int emit_choose(const sct_row_result *rows, int n, const bool *legal, int naive, bool any) {
  sct_rank_row *list = sct_alloc(sizeof *list * (size_t)(n + 1));
  for (int r = 0; r < n; r++) {
    list[r] = (sct_rank_row){.outcome = rows[r].outcome,
                             .eligible = legal[r],
                             .naive = r == naive,
                             .fast = is_fast(&rows[r].candidate),
                             .registers = rows[r].candidate.registers,
                             .label = rows[r].candidate.label};
  }
  const sct_choice choice = sct_choose(list, n, any);
  sct_free(list);
  return choice.winner;
}
