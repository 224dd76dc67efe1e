/* What was so on the GPU while a session timed, as JSON: for the store, the report and events. */
#include "tune/tune_internal.h"
#include "json/json.h"

#include <stdlib.h>

static json_t *positive(double value) {
  return value > 0 ? json_real(value) : json_null();
}

static json_t *names_of(uint64_t throttle) {
  json_t *list = json_array();
  for (int bit = 0; bit < 64; bit++) {
    SCT_SCOPED(sct_str) name = {0};
    sct_throttle_names(&name, throttle & (UINT64_C(1) << bit), "");
    if (name.len > 0) {
      json_array_append_new(list, json_string(sct_str_c(&name)));
    }
  }
  return list;
}

static json_t *process_of(const sct_gpu_process *p) {
  return json_pack("{s:I, s:o, s:o}", "pid", (json_int_t)p->pid, "name",
                   sct_json_string(p->name[0] ? p->name : NULL), "bytes",
                   p->bytes >= 0 ? json_integer(p->bytes) : json_null());
}

static json_t *others_of(const sct_gpu_state *s) {
  json_t *list = json_array();
  for (int k = 0; k < s->n_processes; k++) {
    json_array_append_new(list, process_of(&s->processes[k]));
  }
  return list;
}

sct_status sct_tune_conditions(sct_str *out, const sct_conditions *c, sct_error *err) {
  const sct_gpu_state *s = &c->start;
  json_t *doc =
      json_pack("{s:b, s:i, s:o, s:o, s:b, s:b, s:b, s:s, s:o, s:o}", "contended",
                s->n_others > 0 || c->n_contended > 0, "n_others", s->n_others, "others",
                others_of(s), "joined", c->n_contended > 0 ? process_of(&c->joined) : json_null(),
                "mps", c->mps, "mig", s->mig, "mig_slice", s->mig_slice, "compute_mode",
                sct_compute_mode_name(s->known ? s->compute_mode : -1), "celsius",
                s->known && s->celsius >= 0 ? json_integer(s->celsius) : json_null(), "ecc_errors",
                s->known && s->ecc_errors >= 0 ? json_integer(s->ecc_errors) : json_null());
  json_t *clocks =
      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "sm_mhz_start", positive(s->sm_mhz),
                "sm_mhz_limit", positive(s->sm_max_mhz), "memory_mhz_start",
                positive(s->memory_mhz), "memory_mhz_limit", positive(s->memory_max_mhz),
                "sm_mhz_least", positive(c->sm_min_mhz), "sm_mhz_most", positive(c->sm_max_mhz));
  json_t *samples =
      json_pack("{s:I, s:I, s:I, s:I, s:o}", "n", (json_int_t)c->n_samples, "slow",
                (json_int_t)c->n_slow, "repeated", (json_int_t)c->n_repeated, "contended",
                (json_int_t)c->n_contended, "throttle", names_of(c->throttle));
  json_object_set_new(doc, "clocks", clocks);
  json_object_set_new(doc, "samples", samples);
  return sct_json_dump(out, doc, JSON_COMPACT | JSON_REAL_PRECISION(10), err);
}
