/* The modelled part of a profile as JSON: cache hits and the share of the device's speed that is
 * used; and the mix of instructions. */
#include "cli/cli_count.h"

static double share(int64_t a, int64_t b) {
  return b > 0 ? (double)a / (double)b : 0.0;
}

void cli_speed_json(json_t *doc, const sct_count_row *row, const sct_profile *p) {
  const sct_ptx_counters *c = &row->counters;
  const int64_t *n = c->machine.n;
  const sct_ptx_traffic *t = &row->traffic;
  const sct_speed *s = &p->speed;
  json_object_set_new(
      doc, "mix",
      json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "fp32", (json_int_t)n[SCT_PIPE_FP32], "fp64",
                (json_int_t)n[SCT_PIPE_FP64], "int",
                (json_int_t)(n[SCT_PIPE_INT] + n[SCT_PIPE_IMUL]), "xu", (json_int_t)n[SCT_PIPE_SFU],
                "lsu", (json_int_t)c->memory_instructions, "control",
                (json_int_t)c->control_instructions, "all", (json_int_t)n[SCT_PIPE_ISSUE]));
  json_object_set_new(doc, "caches",
                      t->known ? json_pack("{s:f, s:f, s:I, s:I}", "l1_hit_rate",
                                           share(t->l1_hits, t->l1_sectors), "l2_hit_rate",
                                           sct_ptx_l2_hit_rate(t), "dram_read_bytes",
                                           (json_int_t)(32 * t->dram_read), "dram_written_bytes",
                                           (json_int_t)(32 * t->dram_written))
                               : json_null());
  json_object_set_new(
      doc, "speed",
      s->known ? json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
                           "s:f, s:b}",
                           "limiter", s->limiter, "limit", sct_limit_name(s->limit), "predicted_ns",
                           s->ns, "memory", s->memory, "compute", s->compute, "issue", s->issue,
                           "dram", s->dram, "dram_bytes", s->dram_bytes, "flops_f16",
                           s->flops[SCT_PTX_FLOP_F16], "flops_f32", s->flops[SCT_PTX_FLOP_F32],
                           "flops_f64", s->flops[SCT_PTX_FLOP_F64], "intensity", s->intensity,
                           "ridge", s->ridge, "flight_bytes", s->flight_bytes, "launch_ns",
                           s->predicted.ns, "balanced", s->balanced)
               : json_null());
}
