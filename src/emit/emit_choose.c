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

/* The number of the first row of the same race; 0: it was measured alone. */
static int race_of(const sct_row_result *rows, int r) {
  const char *race = rows[r].outcome.race;
  int first = 0;
  while (race && race[0] != '\0' && first < r &&
         (!rows[first].outcome.race || strcmp(rows[first].outcome.race, race) != 0)) {
    first++;
  }
  return race && race[0] != '\0' ? first + 1 : 0;
}

static sct_rank_row rank_row(const sct_row_result *rows, int r, bool legal, bool naive) {
  const sct_row_outcome *o = &rows[r].outcome;
  return (sct_rank_row){.eligible = legal,
                        .naive = naive,
                        .timed = o->median_ns > 0,
                        .samples_ns = o->samples_ns,
                        .n_samples = o->n_samples,
                        .median_ns = o->median_ns,
                        .race = race_of(rows, r),
                        .predicted_ns = o->predicted_ns > 0 ? o->predicted_ns : 0, /* or NaN */
                        .sectors = o->sectors_ld + o->sectors_st,
                        .wavefronts = o->wavefronts,
                        .requests = o->requests_ld + o->requests_st,
                        .error = o->how.sectors_error,
                        .registers = rows[r].candidate.registers,
                        .fast = is_fast(&rows[r].candidate),
                        .coalesced = o->how.coalesced,
                        .label = rows[r].candidate.label};
}

int emit_choose(const sct_row_result *rows, int n, const bool *legal, int naive, bool any) {
  sct_rank_row *list = sct_alloc(sizeof *list * (size_t)(n + 1));
  for (int r = 0; r < n; r++) {
    list[r] = rank_row(rows, r, legal[r], r == naive);
  }
  const sct_choice choice = sct_choose(list, n, any);
  sct_free(list);
  return choice.winner;
}
