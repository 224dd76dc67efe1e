/* Of a profile, what follows from a model: what caches find, what of the device's speed is used,
 * the roofline; and the mix of instructions. */
#include "cli/cli_count.h"

#include <string.h>

static const char *const flop_names[SCT_PTX_N_FLOPS] = {"f16", "f32", "f64"};

/* "25.2 MB" */
static void append_si(sct_str *out, double value, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int k = 0;
  for (; value >= 999.5 && k + 1 < SCT_COUNT(prefixes); k++) {
    value /= 1e3;
  }
  sct_str_printf(out, "%.3g %s%s", value, prefixes[k], unit);
}

static double share(int64_t a, int64_t b) {
  return b > 0 ? (double)a / (double)b : 0.0;
}

void cli_caches_print(sct_str *out, const sct_count_row *row) {
  const sct_ptx_traffic *t = &row->traffic;
  sct_str text = {0};
  if (!t->known && row->blocks_run == 0) {
    cli_wrap(out, "caches", "not estimated: the blocks that are resident at once touch too much");
  }
  if (!t->known || t->l1_sectors + t->l2_reads + t->l2_writes == 0) {
    return;
  }
  sct_str_printf(&text, "estimated: L1 finds %.1f %% of the sectors, L2 %.1f %%; DRAM ",
                 100.0 * share(t->l1_hits, t->l1_sectors), 100.0 * sct_ptx_l2_hit_rate(t));
  append_si(&text, 32.0 * (double)t->dram_read, "B read, ");
  append_si(&text, 32.0 * (double)t->dram_written, "B written");
  cli_wrap_str(out, "caches", &text);
}

static void append_limit(sct_str *out, const sct_speed *s, const sct_device_desc *device) {
  sct_str_printf(out, "limit: %s", s->limiter);
  if (s->limit != SCT_LIMIT_ISSUE) {
    sct_str_printf(out, " (%s)", sct_limit_name(s->limit));
  }
  if (s->limit == SCT_LIMIT_INFLIGHT && s->flight_bytes > 0.0) {
    sct_str_append(out, ": loads of an SM can have ");
    append_si(out, s->flight_bytes, "B on their way, ");
    append_si(out, (double)device->inflight_bytes, "B keep DRAM busy");
  }
}

static void append_speed(sct_str *out, const sct_speed *s, const sct_device_desc *device) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "predicted: memory %.0f %%, compute %.0f %%, issue %.0f %% of the device in %.3g "
                 "us\n",
                 100.0 * s->memory, 100.0 * s->compute, 100.0 * s->issue, s->ns / 1e3);
  append_limit(&text, s, device);
  cli_wrap_str(out, "speed", &text);
}

static void append_roofline(sct_str *out, const sct_speed *s, const sct_device_desc *device) {
  sct_str text = {0};
  bool any = false;
  for (int t = 0; t < SCT_PTX_N_FLOPS; t++) {
    if (s->flops[t] > 0.0) {
      sct_str_append(&text, any ? ", " : "");
      append_si(&text, s->flops[t], "flop of ");
      sct_str_append(&text, flop_names[t]);
      any = true;
    }
  }
  sct_str_append(&text, any ? ", " : "no flop, ");
  append_si(&text, s->dram_bytes, "B of DRAM");
  if (any) {
    sct_str_printf(&text, ": %.3g a byte; memory limits below %.3g", s->intensity, s->ridge);
  }
  sct_str_append(&text, "\nceilings: ");
  append_si(&text, device->peak_bytes_s, "B/s");
  for (int t = SCT_PTX_FLOP_F32; t < SCT_PTX_N_FLOPS; t++) {
    sct_str_append(&text, ", ");
    append_si(&text, s->peak_flops[t], "flop/s of ");
    sct_str_append(&text, flop_names[t]);
  }
  cli_wrap_str(out, "roofline", &text);
}

void cli_mix_print(sct_str *out, const sct_ptx_counters *c) {
  const int64_t *n = c->machine.n, all = n[SCT_PIPE_ISSUE];
  const struct {
    const char *name;
    int64_t n;
  } pipes[] = {{"fp32", n[SCT_PIPE_FP32]},
               {"fp64", n[SCT_PIPE_FP64]},
               {"int", n[SCT_PIPE_INT] + n[SCT_PIPE_IMUL]},
               {"xu", n[SCT_PIPE_SFU]},
               {"lsu", c->memory_instructions},
               {"control", c->control_instructions}};
  int64_t rest = all;
  sct_str text = {0};
  for (int k = 0; k < SCT_COUNT(pipes) && all > 0; k++) {
    rest -= pipes[k].n;
    if (pipes[k].n > 0) {
      sct_str_printf(&text, "%s %.1f %%, ", pipes[k].name, 100.0 * share(pipes[k].n, all));
    }
  }
  if (all > 0) {
    sct_str_printf(&text, "other %.1f %% of about %lld machine instructions of warps",
                   100.0 * share(rest > 0 ? rest : 0, all), (long long)all);
    cli_wrap_str(out, "mix", &text);
  }
}

void cli_speed_print(sct_str *out, const sct_speed *speed, const sct_device_desc *device) {
  if (speed->known) {
    append_speed(out, speed, device);
    append_roofline(out, speed, device);
  }
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
      s->known ? json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                           "limiter", s->limiter, "limit", sct_limit_name(s->limit), "predicted_ns",
                           s->ns, "memory", s->memory, "compute", s->compute, "issue", s->issue,
                           "dram", s->dram, "dram_bytes", s->dram_bytes, "flops_f16",
                           s->flops[SCT_PTX_FLOP_F16], "flops_f32", s->flops[SCT_PTX_FLOP_F32],
                           "flops_f64", s->flops[SCT_PTX_FLOP_F64], "intensity", s->intensity,
                           "ridge", s->ridge, "flight_bytes", s->flight_bytes)
               : json_null());
}
