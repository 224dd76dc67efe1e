/* Names of candidates: labels, and finding them again. */
#include "space/space.h"

#include <string.h>

int64_t sct_space_intern(const char *text) {
  const sct_hash h = sct_hash_text(text);
  /* bit 61 set, bits 62 and 63 clear: far from any axis value, and inside the range that
   * expressions keep exact */
  return (int64_t)((h.lo & (((uint64_t)1 << 61) - 1)) | ((uint64_t)1 << 61));
}

/* Does the strategy have that axis with this value only? */
static bool has_only(const sct_strategy *strategy, const sct_axis *axis) {
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *own = &strategy->axes[a];
    if (strcmp(own->name, axis->name) == 0) {
      return own->n_values == 1 && strcmp(own->values[0].text, axis->values[0].text) == 0;
    }
  }
  return false;
}

/* Does the axis tell candidates of the strategy apart, at whatever size? */
static bool is_in_labels(const sct_space *space, const sct_strategy *strategy,
                         const sct_axis *axis) {
  bool varies = axis->n_values > 1;
  for (int k = 0; k < space->n_strategies && !varies; k++) {
    const sct_strategy *other = &space->strategies[k];
    varies = other->applies && strcmp(other->name, strategy->name) == 0 && !has_only(other, axis);
  }
  return varies;
}

void sct_space_label(sct_str *out, const sct_space *space, const sct_candidate *cand) {
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  sct_str_append(out, strategy->name);
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *axis = &strategy->axes[a];
    if (is_in_labels(space, strategy, axis)) {
      sct_str_append(out, " ");
      sct_str_append(out, axis->key);
      sct_str_append(out, axis->values[cand->value[a]].text);
    }
  }
}

bool sct_space_is_fast(const sct_space *space, int64_t candidate) {
  const sct_candidate *cand = &space->candidates[candidate];
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  return strategy->has_math && cand->value[strategy->n_axes - 1] == 1;
}

/* Words that two labels share, in any order. */
static int shared_words(const char *a, const char *b) {
  int n = 0;
  while (*a) {
    const size_t len = strcspn(a, " ");
    for (const char *p = b; *p && len > 0;) {
      const size_t other = strcspn(p, " ");
      if (other == len && strncmp(a, p, len) == 0) {
        n++;
        break;
      }
      p += other + (p[other] == ' ');
    }
    a += len + (a[len] == ' ');
  }
  return n;
}

static bool same_strategy(const char *label, const char *name) {
  const size_t len = strlen(name);
  return strncmp(label, name, len) == 0 && (label[len] == '\0' || label[len] == ' ');
}

/* The candidate of the same strategy that shares most words with the label, or -1. */
static int64_t nearest_label(const sct_space *space, const char *label) {
  SCT_SCOPED(sct_str) text = {0};
  int64_t best = -1;
  int most = -1;
  for (size_t c = 0; c < space->n_candidates; c++) {
    const sct_candidate *cand = &space->candidates[c];
    if (!same_strategy(label, space->strategies[cand->strategy].name)) {
      continue;
    }
    sct_str_clear(&text);
    sct_space_label(&text, space, cand);
    const int shared = shared_words(label, sct_str_c(&text));
    if (shared > most) {
      most = shared;
      best = (int64_t)c;
    }
  }
  return best;
}

static void suggest_label(sct_str *out, const sct_space *space, const char *label) {
  const int64_t near = nearest_label(space, label);
  if (near >= 0) {
    sct_str_append(out, "; did you mean '");
    sct_space_label(out, space, &space->candidates[near]);
    sct_str_append(out, "'?");
    return;
  }
  const char **names = sct_alloc(sizeof(*names) * (size_t)(space->n_strategies + 1));
  char word[64];
  int n = 0;
  for (int k = 0; names && k < space->n_strategies; k++) {
    const char *name = space->strategies[k].name;
    if (space->strategies[k].applies && (n == 0 || strcmp(names[n - 1], name) != 0)) {
      names[n++] = name; /* one may be there several times, for some sizes each */
    }
  }
  snprintf(word, sizeof(word), "%.*s", (int)strcspn(label, " "), label);
  sct_str_append(out, "; a label begins with a strategy");
  sct_str_suggest(out, word, SCT_NAMES(names, n));
  sct_free(names);
}

int64_t sct_space_find(const sct_space *space, const char *label, int64_t from, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  for (size_t c = (size_t)from; c < space->n_candidates; c++) {
    sct_str_clear(&text);
    sct_space_label(&text, space, &space->candidates[c]);
    if (strcmp(sct_str_c(&text), label) == 0) {
      return (int64_t)c;
    }
  }
  sct_str_clear(&text);
  sct_str_printf(&text, "no candidate is called '%s'", label);
  suggest_label(&text, space, label);
  (void)sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&text));
  return -1;
}
