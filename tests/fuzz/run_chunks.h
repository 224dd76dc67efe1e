/* A naive variant in chunks, as NAME_host computes them (templates/header/host_chunks.cuh): each is
 * a launch with a smaller extent on parts of the arrays, and what it gives is put together.
 * Included by run_spec.c, whose helpers it uses. */
#ifndef FZ_RUN_CHUNKS_H
#define FZ_RUN_CHUNKS_H

typedef struct chunk {
  int64_t own, own_end, first, end; /* its own elements; with those that they need */
  int64_t n[FZ_MAX_EXTENTS];
  int64_t step[FZ_MAX_ARRAYS], bytes[FZ_MAX_ARRAYS];
} chunk;

static chunk cut(const world *w, const picked *p, const fz_run *run, int64_t own, int64_t wanted) {
  const sct_spec *spec = &w->spec;
  const int dim = spec->chunk_dim;
  const int64_t n = run->n[dim];
  chunk c = {.own = own, .own_end = own + wanted < n ? own + wanted : n};
  c.first = c.own > spec->halo_before ? c.own - spec->halo_before : 0;
  c.end = n - c.own_end > spec->halo_after ? c.own_end + spec->halo_after : n;
  memcpy(c.n, run->n, sizeof *c.n * (size_t)run->spec->n_extents);
  c.n[dim] = c.end - c.first;
  const sct_expr_env env = {spec->extent_var, run->n, spec->n_extents};
  for (int k = 0; k < run->spec->n_arrays; k++) {
    sct_error err = {0};
    const sct_expr step = sct_spec_chunk_step(spec, k, p->code.layout[k], dim);
    must(sct_expr_eval(spec->pool, step, &env, &c.step[k], &err), &err);
    c.bytes[k] = run->spec->bytes(k, p->code.layout[k], c.n);
  }
  return c;
}

/* What the launch finds: parts of inputs and of outputs as they are (what points fall on is set
 * once, before all chunks), or anything where all of it is written. false: an array ends before the
 * part does. */
static bool place_chunk(const world *w, launch *l, const picked *p, const fz_run *run,
                        const chunk *c, unsigned char *const *out) {
  sct_error err = {0};
  sct_ptx_memory_new(&l->memory);
  for (int k = 0; k < run->spec->n_arrays; k++) {
    const fz_array *a = &run->spec->arrays[k];
    const int64_t at = c->first * c->step[k];
    if (at + c->bytes[k] > run->bytes[k]) {
      return false;
    }
    unsigned char *part = malloc((size_t)c->bytes[k] + 1);
    unsigned char *required = malloc((size_t)c->bytes[k] + 1); /* padding may be anything */
    for (int64_t b = 0; b < c->bytes[k]; b++) {
      required[b] = run->state[k][at + b] >= FZ_BYTE_WRITTEN;
    }
    memcpy(part, (a->is_output ? out[k] : run->data[k]) + at, (size_t)c->bytes[k]);
    if (a->is_output && a->start < 0 && sct_spec_writes_all(&w->spec, k, p->code.layout[k])) {
      memset(part, 0xee, (size_t)c->bytes[k]);
    }
    const sct_ptx_buffer buffer = {.name = a->name,
                                   .bytes = c->bytes[k],
                                   .data = part,
                                   .read_only = !a->is_output,
                                   .output = a->is_output,
                                   .required = a->is_output ? required : NULL,
                                   .misalign = p->code.align[k]};
    must(sct_ptx_memory_add(l->memory, &l->address[k], &buffer, &err), &err);
    free(part);
    free(required);
    add_arg(l, &l->address[k], sizeof l->address[k]);
  }
  add_rest(l, p, run, c->n);
  return true;
}

static bool run_chunk(world *w, picked *p, const fz_run *run, const chunk *c,
                      unsigned char *const *out, sct_str *text) {
  launch l = {0};
  sct_error err = {0};
  sct_ptx_result result = {0};
  bool right = place_chunk(w, &l, p, run, c, out);
  const sct_ptx_launch_opts opts = {.module = p->module,
                                    .kernel = p->compiled.entry,
                                    .grid = {right ? blocks_of(w, p, c->n, false) : 1},
                                    .block = {p->code.threads},
                                    .shared_bytes = p->code.shared_bytes,
                                    .args = l.args,
                                    .n_args = l.n_args,
                                    .no_counters = true};
  sct_str_append(text, right ? "" : "a part of an array ends beyond it");
  if (right && sct_ptx_launch(&result, l.memory, &opts, &err) != SCT_OK) {
    sct_str_append(text, err.text);
    right = false;
  } else if (right && result.diag.kind != SCT_PTX_CLEAN) {
    sct_ptx_diag_print(text, &result.diag);
    right = false;
  }
  for (int k = run->spec->n_inputs; k < run->spec->n_arrays && right; k++) {
    const unsigned char *part = sct_ptx_memory_data(l.memory, l.address[k]);
    if (c->step[k] == 0) { /* of the device, whose elements may be anywhere */
      memcpy(out[k], part, (size_t)c->bytes[k]);
    } else {
      memcpy(out[k] + c->own * c->step[k], part + (c->own - c->first) * c->step[k],
             (size_t)((c->own_end - c->own) * c->step[k]));
    }
  }
  if (right) {
    keep_workspace(&l, p);
  }
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(l.memory);
  return right;
}

/* false: a finding, as `text` says. *any: chunks were run. */
static bool run_chunks(world *w, picked *p, const fz_run *run, bool *any, sct_str *text) {
  const int64_t n = run->n[w->spec.chunk_dim], wanted = 1 + below(w, n < 1 ? 1 : n < 9 ? n : 9);
  unsigned char *out[FZ_MAX_ARRAYS] = {NULL};
  bool right = true;
  *any = n > 0 && n / wanted < 100;
  for (int k = run->spec->n_inputs; k < run->spec->n_arrays; k++) {
    out[k] = malloc((size_t)run->bytes[k] + 1);
    for (int64_t b = 0; b < run->bytes[k]; b++) {
      out[k][b] = fz_start(run, k, b);
    }
  }
  for (int64_t own = 0; own < n && right && *any; own += wanted) {
    const chunk c = cut(w, p, run, own, wanted);
    *any = limits_hold(w, c.n) &&
           sct_codegen_fits(&w->spec, &p->code, &(sct_size){.extent = (int64_t *)(uintptr_t)c.n});
    right = !*any || run_chunk(w, p, run, &c, out, text);
  }
  for (int k = run->spec->n_inputs; k < run->spec->n_arrays; k++) {
    char why[512];
    if (right && *any && !fz_check(run, k, out[k], why, sizeof why)) {
      sct_str_append(text, why);
      right = false;
    }
    free(out[k]);
  }
  return right;
}

#endif
