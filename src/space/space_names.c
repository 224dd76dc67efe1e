/* Names of candidates: labels, and finding them again. */
#include "space/space.h"

#include <string.h>

int64_t sct_space_intern(const char *text) {
  const sct_hash h = sct_hash_text(text);
  /* bit 61 set, bits 62 and 63 clear: far from any axis value, and inside the range expressions
   * keep exact */
  return (int64_t)((h.lo & (((uint64_t)1 << 61) - 1)) | ((uint64_t)1 << 61));
}

void sct_space_label(sct_str *out, const sct_space *space, const sct_candidate *cand) {
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  sct_str_append(out, strategy->name);
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *axis = &strategy->axes[a];
    if (axis->n_values > 1) {
      sct_str_printf(out, " %s%s", axis->key, axis->values[cand->value[a]].text);
    }
  }
}

int64_t sct_space_find(const sct_space *space, const char *label, sct_error *err) {
  sct_arena arena = {0};
  const char **labels =
      sct_alloc(sizeof *labels * (space->n_candidates + 1)); /* for the suggestion */
  sct_str text = {0};
  int64_t found = -1;
  int n = 0;
  for (size_t c = 0; labels && found < 0 && c < space->n_candidates; c++) {
    sct_str_clear(&text);
    sct_space_label(&text, space, &space->candidates[c]);
    if (strcmp(sct_str_c(&text), label) == 0) {
      found = (int64_t)c;
    }
    labels[n] = sct_arena_strdup(&arena, sct_str_c(&text));
    n += labels[n] != NULL;
  }
  if (found < 0) {
    sct_str message = {0};
    sct_str_printf(&message, "no candidate is called '%s'", label);
    sct_str_suggest(&message, label, labels, n);
    sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&message));
    sct_str_free(&message);
  }
  sct_str_free(&text);
  sct_free(labels);
  sct_arena_free(&arena);
  return found;
}

bool sct_space_value(const sct_space *space, const sct_candidate *cand, const char *axis,
                     const sct_axis_value **out) {
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  for (int a = 0; a < strategy->n_axes; a++) {
    if (strcmp(strategy->axes[a].name, axis) == 0) {
      *out = &strategy->axes[a].values[cand->value[a]];
      return true;
    }
  }
  return false;
}
