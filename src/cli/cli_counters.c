/* Of `profile --counters`: what NVIDIA's profiler counted of a launch beside what we did. */
#include "cli/cli_count.h"

#include <math.h>

typedef struct pair {
  const cli_metric *metric;
  double ours, theirs; /* NAN: not known */
  bool exact, equal;
} pair;

/* A count equals another to the digit; of a ratio the profiler may print two decimals. */
static bool is_equal(double ours, double theirs) {
  return ours == theirs || (ours != floor(ours) && fabs(ours - theirs) < 0.0051);
}

/* What both have of a launch. Returns how many. */
static int pairs_of(pair out[CLI_N_METRICS], const cli_counters *c, int launch,
                    const sct_count_row *row) {
  double ours[CLI_N_METRICS];
  sct_profile p;
  int n = 0;
  sct_count_profile(&p, row, c->device);
  cli_metrics_of(ours, row, &p);
  sct_profile_free(&p);
  for (int k = 0; k < CLI_N_METRICS; k++) {
    const double theirs = c->ncu->values[launch][k];
    if (c->wanted[k] && !isnan(ours[k]) && !isnan(theirs)) {
      out[n++] = (pair){&cli_metrics[k], ours[k], theirs, cli_metric_is_exact(&cli_metrics[k], row),
                        is_equal(ours[k], theirs)};
    }
  }
  return n;
}

static int count(const pair *pairs, int n, bool equal) {
  int found = 0;
  for (int k = 0; k < n; k++) {
    found += pairs[k].exact && pairs[k].equal == equal;
  }
  return found;
}

json_t *cli_counters_json(const cli_counters *c, int launch, const sct_count_row *row) {
  pair pairs[CLI_N_METRICS];
  const int n = pairs_of(pairs, c, launch, row);
  json_t *metrics = json_array();
  for (int k = 0; k < n; k++) {
    const pair *p = &pairs[k];
    json_array_append_new(metrics, json_pack("{s:s, s:b, s:o, s:o, s:b}", "metric", p->metric->name,
                                             "exact", p->exact, "sectile", sct_json_number(p->ours),
                                             "ncu", sct_json_number(p->theirs), "equal", p->equal));
  }
  return json_pack("{s:i, s:i, s:o}", "equal", count(pairs, n, true), "differ",
                   count(pairs, n, false), "metrics", metrics);
}
