/* Which runs, layouts and kernels go into a header.
 *
 *   devices  of each GPU the newest conditions; of GPUs alike, which a call cannot tell apart, the
 *            one with the most sizes, then the newest, and the banner names the others; a virtual
 *            device only where no GPU of its compute capability was timed; GPUs first, then the
 *            newest first
 *   layouts  one choice a header: that of the winner of the largest size on the first device; a
 *            size whose winner has others takes the best candidate with these
 *   kernels  the naive variant, every distinct winner of listed sizes, those of rules */
#include "emit/emit_internal.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* ---- what the store's own documents say ---- */

static sct_status parse(json_t **out, emit_header *h, const char *before, const char *text,
                        const char *check, sct_error *err) {
  const sct_json_doc doc = {&h->arena, before, "", SCT_EDATA, err};
  sct_json root;
  sct_status status = sct_json_parse(&root, &doc, text);
  SCT_THEN(sct_page_call(h->page, NULL, check, root.json, NULL, err));
  if (status != SCT_OK) {
    json_decref(root.json);
    return status;
  }
  *out = root.json;
  return SCT_OK;
}

static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

/* A signature that was checked. */
static void take_signature(emit_signature *sig, sct_arena *arena) {
  const char *const lists[] = {"operands", "scalars", "extents"};
  const json_t *item = NULL;
  int n = 0, sizes[SCT_COUNT(lists)];
  size_t k = 0;
  for (int l = 0; l < SCT_COUNT(lists); l++) {
    sizes[l] = (int)json_array_size(json_object_get(sig->doc, lists[l]));
    sig->n_arguments += sizes[l];
  }
  sig->n_operands = sizes[0];
  sig->n_extents = sizes[2];
  sig->arguments = SCT_ARENA_NEW(arena, const char *, sig->n_arguments + 2);
  sig->operands = sig->arguments;
  sig->layouts = SCT_ARENA_NEW(arena, const char *, sig->n_operands);
  sig->extents = SCT_ARENA_NEW(arena, const char *, sig->n_extents);
  sig->counts = SCT_ARENA_NEW(arena, bool, sig->n_extents);
  sig->name = text_of(sig->doc, "name");
  sig->host = json_is_object(json_object_get(sig->doc, "host"));
  sig->rows = sig->ragged = -1;
  json_array_foreach(json_object_get(sig->doc, "operands"), k, item) {
    const json_t *layouts = json_object_get(item, "layouts");
    sig->arguments[n++] = text_of(item, "name");
    sig->layouts[k] =
        json_array_size(layouts) == 1 ? json_string_value(json_array_get(layouts, 0)) : NULL;
    sig->stays |= sig->host && json_is_true(json_object_get(item, "stays")) ? UINT32_C(1) << k : 0;
  }
  json_array_foreach(json_object_get(sig->doc, "scalars"), k, item) {
    sig->arguments[n++] = text_of(item, "name");
  }
  json_array_foreach(json_object_get(sig->doc, "extents"), k, item) {
    sig->extents[k] = text_of(item, "name");
    sig->arguments[n++] = sct_arena_printf(arena, "n_%s", sig->extents[k]);
    sig->counts[k] =
        json_is_true(json_object_get(item, "dim")) && !json_is_true(json_object_get(item, "rows"));
    sig->rows = json_is_true(json_object_get(item, "rows")) ? (int)k : sig->rows;
    sig->ragged = json_is_true(json_object_get(item, "ragged")) ? (int)k : sig->ragged;
  }
}

sct_status emit_read_signature(emit_header *h, const char *json, sct_error *err) {
  SCT_TRY(sct_page_open(&h->page, "sectile.header", err));
  SCT_TRY(parse(&h->sig.doc, h, "the stored signature is damaged: ", json, "signature", err));
  take_signature(&h->sig, &h->arena);
  return SCT_OK;
}

static sct_status read_launch(json_t **out, emit_header *h, const sct_row_candidate *candidate,
                              sct_error *err) {
  return parse(out, h, "the stored launch data is damaged: ", candidate->launch, "launch", err);
}

/* The label of an operand's layout; NULL: it says none. */
static const char *layout_of(const emit_header *h, const json_t *launch, int operand) {
  const char *label = text_of(json_object_get(launch, "layouts"), h->sig.operands[operand]);
  return label != NULL ? label : h->sig.layouts[operand];
}

/* {"i": 1048576, ...} in the order of the extents; extents and their product are positive. */
static sct_status read_extents(emit_size *out, emit_header *h, const char *json, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  const sct_json_doc doc = {&arena, "the stored extents of a run are damaged: ", "", SCT_EDATA,
                            err};
  sct_json root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_json_parse(&root, &doc, json));
  out->extents = SCT_ARENA_NEW(&h->arena, int64_t, h->sig.n_extents);
  out->elements = 1;
  for (int k = 0; k < h->sig.n_extents; k++) {
    SCT_TRY_DONE(
        sct_json_integer(&out->extents[k], sct_json_member(root, h->sig.extents[k]), 0, LLONG_MAX));
    out->elements *= h->sig.counts[k] ? (double)out->extents[k] : 1.0;
  }
done:
  json_decref(root.json);
  return status;
}

/* The number of multiprocessors in a device description; 0: not known. */
static int64_t read_n_sms(const char *json) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(json);
  const int64_t n = json_integer_value(json_object_get(root, "n_sms"));
  return n > 0 && n < 100000 ? n : 0;
}

/* Every axis of `a` but layout.* stands with the same value in `b`. */
static bool axes_within(json_t *a, json_t *b) {
  const char *key = NULL;
  json_t *of_a = NULL;
  json_object_foreach(a, key, of_a) {
    if (!sct_has_prefix(key, "layout.") && !json_equal(of_a, json_object_get(b, key))) {
      return false;
    }
  }
  return true;
}

/* Whether two axes documents agree in all but the choice of layouts. */
static bool same_axes(const char *a, const char *b) {
  SCT_OWNED_PTR(json_t) left = sct_json_load(a);
  SCT_OWNED_PTR(json_t) right = sct_json_load(b);
  return json_is_object(left) && json_is_object(right) && axes_within(left, right) &&
         axes_within(right, left);
}

/* ---- reading rows ---- */

static sct_status load_problem(emit_header *h, sct_store *store, const sct_emit_request *request,
                               sct_error *err) {
  const bool by_hash = request->spec_hash != NULL;
  const char *name = request->name != NULL ? request->name : request->spec_hash;
  if (name == NULL) {
    return sct_fail(err, SCT_EUSAGE, "no kernel named: expected a name or the hash of a spec");
  }
  if (by_hash) {
    SCT_TRY(sct_store_problem_by_hash(store, &h->arena, request->spec_hash, &h->problems,
                                      &h->n_problems, err));
  } else {
    SCT_TRY(sct_store_problem_by_name(store, &h->arena, name, &h->problems, &h->n_problems, err));
  }
  for (int k = 0; k < h->n_problems; k++) {
    if (h->problem == NULL || h->problems[k].id > h->problem->id) {
      h->problem = &h->problems[k];
    }
  }
  if (h->problem != NULL) {
    return SCT_OK;
  }
  if (by_hash && request->name != NULL) {
    sct_row_problem *older = NULL;
    int n_older = 0;
    SCT_TRY(sct_store_problem_by_name(store, &h->arena, name, &older, &n_older, err));
    if (n_older > 0) {
      return sct_fail(err, SCT_EDATA,
                      "the spec of '%s' changed since it was tuned: run `sectile tune` on it again",
                      name);
    }
  }
  return sct_fail(err, SCT_EDATA,
                  "nothing is tuned for '%s' in this store: run `sectile tune` on its spec first",
                  name);
}

/* The hash of a candidate is that of its source and how it is launched (codegen.h). A header holds
 * what was measured, or nothing: a bit that a disk or a hand changed goes into no one's program. */
static sct_status check_source(const sct_row_candidate *c, sct_error *err) {
  char hex[SCT_HASH_HEX];
  SCT_SCOPED(sct_str) both = {0};
  sct_str_printf(&both, "%s%s", c->source, c->launch);
  sct_status status = SCT_OK;
  if (strcmp(sct_hash_hex(hex, sct_hash_bytes(both.data, both.len)), c->source_hash) != 0) {
    status = sct_fail(err, SCT_EDATA,
                      "the source of '%s' is not what its hash says (%s): it was changed or "
                      "damaged since it was measured; use a copy of the store, or a new one",
                      c->label, c->source_hash);
  }
  return status;
}

sct_status emit_load_result(const sct_row_result **out, emit_header *h, sct_store *store,
                            sct_id outcome, sct_error *err) {
  sct_row_result *row = SCT_ARENA_NEW(&h->arena, sct_row_result, 1);
  SCT_TRY(sct_store_result(store, &h->arena, outcome, row, err));
  *out = row;
  return check_source(&row->candidate, err);
}

/* ---- devices ---- */

/* A device row that has winners, and when it was last tuned. */
typedef struct contender {
  const sct_row_device *row;
  const char *started;
  sct_id last_run;
  int64_t n_sms;
  int n_sizes;
} contender;

static bool newer(const contender *a, const contender *b) {
  const int order = strcmp(a->started, b->started);
  return order != 0 ? order > 0 : a->last_run > b->last_run;
}

/* Whether both rows are of one GPU, whatever their driver, NVRTC and tool. */
static bool same_hardware(const sct_row_device *a, const sct_row_device *b) {
  return a->is_virtual == b->is_virtual && a->cc_major == b->cc_major &&
         a->cc_minor == b->cc_minor && strcmp(a->name, b->name) == 0 &&
         strcmp(a->uuid, b->uuid) == 0;
}

/* Two GPUs that a call cannot tell apart: it knows compute capability and multiprocessors. */
static bool alike(const contender *a, const contender *b) {
  return !a->row->is_virtual && !b->row->is_virtual && a->n_sms == b->n_sms &&
         a->row->cc_major == b->row->cc_major && a->row->cc_minor == b->row->cc_minor &&
         strcmp(a->row->name, b->row->name) == 0;
}

/* Reasons to leave `a` out because `b` is there. The next one is looked at only among those that
 * the ones before have left in: each alone is an order, together they are none. */
static bool has_newer_conditions(const contender *b, const contender *a) {
  return same_hardware(a->row, b->row) && newer(b, a);
}

static bool stands_for_it(const contender *b, const contender *a) {
  return alike(a, b) && (b->n_sizes != a->n_sizes ? b->n_sizes > a->n_sizes : newer(b, a));
}

static bool was_timed(const contender *b, const contender *a) {
  return a->row->is_virtual && !b->row->is_virtual && a->row->cc_major == b->row->cc_major &&
         a->row->cc_minor == b->row->cc_minor;
}

static bool (*const displaces[])(const contender *b, const contender *a) = {
    has_newer_conditions, stands_for_it, was_timed};

static bool stands_before(const contender *a, const contender *b) {
  if (a->row->is_virtual != b->row->is_virtual) {
    return !a->row->is_virtual;
  }
  return newer(a, b);
}

/* Fills `list` (room for all device rows) with what has winners; returns how many. */
static int list_contenders(contender *list, const emit_header *h) {
  int n = 0;
  for (int d = 0; d < h->n_device_rows; d++) {
    contender c = {.row = &h->device_rows[d], .started = ""};
    for (int k = 0; k < h->n_runs; k++) {
      const sct_row_run *run = &h->runs[k];
      if (run->device != c.row->id || run->winner == 0) {
        continue;
      }
      const contender seen = {.row = c.row, .started = run->started, .last_run = run->id};
      if (c.last_run == 0 || newer(&seen, &c)) {
        c.started = seen.started;
        c.last_run = seen.last_run;
      }
      c.n_sizes++;
    }
    c.n_sms = read_n_sms(c.row->description);
    if (c.last_run != 0) {
      list[n++] = c;
    }
  }
  return n;
}

/* Moves those of list[0..n) that nothing displaces to its front; returns how many. */
static int drop_displaced(contender *list, int n, contender *kept,
                          bool (*displaced)(const contender *b, const contender *a)) {
  int n_kept = 0;
  for (int k = 0; k < n; k++) {
    bool stays = true;
    for (int other = 0; other < n; other++) {
      stays = stays && (other == k || !displaced(&list[other], &list[k]));
    }
    if (stays) {
      kept[n_kept++] = list[k];
    }
  }
  memcpy(list, kept, sizeof *list * (size_t)n_kept);
  return n_kept;
}

/* The GPUs that this one stands for. */
static void note_alike(emit_header *h, emit_device *device, const contender *it,
                       const contender *before, int n_before) {
  device->alike = SCT_ARENA_NEW(&h->arena, const sct_row_device *, n_before + 1);
  for (int k = 0; k < n_before; k++) {
    if (before[k].row != it->row && alike(&before[k], it)) {
      device->alike[device->n_alike++] = before[k].row;
    }
  }
}

/* Sorts those of `list` that stay into h->devices. */
static void choose_devices(emit_header *h, contender *list, int n) {
  const size_t room = (size_t)n + 1;
  contender *kept = SCT_ARENA_NEW(&h->arena, contender, room);
  contender *current = SCT_ARENA_NEW(&h->arena, contender, room);
  n = drop_displaced(list, n, kept, displaces[0]);
  const int n_current = n;
  memcpy(current, list, sizeof *list * (size_t)n);
  for (int k = 1; k < SCT_COUNT(displaces); k++) {
    n = drop_displaced(list, n, kept, displaces[k]);
  }
  for (int k = 0; k < n; k++) {
    int place = h->n_devices++;
    for (; place > 0 && stands_before(&list[k], &kept[place - 1]); place--) {
      kept[place] = kept[place - 1];
    }
    kept[place] = list[k];
  }
  for (int d = 0; d < h->n_devices; d++) {
    h->devices[d].row = kept[d].row;
    h->devices[d].n_sms = kept[d].n_sms;
    note_alike(h, &h->devices[d], &kept[d], current, n_current);
  }
}

/* Table order: by number of elements; of equal extents (that differ in how index operands are
 * filled) the one that took longer comes first, and a call goes to the first. */
static bool size_before(const emit_size *a, const emit_size *b, int n_extents) {
  if (a->elements != b->elements) {
    return a->elements < b->elements;
  }
  for (int k = 0; k < n_extents; k++) {
    if (a->extents[k] != b->extents[k]) {
      return a->extents[k] < b->extents[k];
    }
  }
  return a->winner->outcome.times.median_ns > b->winner->outcome.times.median_ns;
}

static sct_status load_sizes(emit_header *h, emit_device *device, sct_store *store,
                             sct_error *err) {
  device->sizes = SCT_ARENA_NEW(&h->arena, emit_size, h->n_runs + 1);
  for (int k = 0; k < h->n_runs; k++) {
    sct_row_run *run = &h->runs[k];
    if (run->device != device->row->id || run->winner == 0) {
      continue;
    }
    emit_size size = {.run = run};
    SCT_TRY(read_extents(&size, h, run->extents, err));
    SCT_TRY(emit_load_result(&size.winner, h, store, run->winner, err));
    int place = device->n_sizes++;
    for (; place > 0 && size_before(&size, &device->sizes[place - 1], h->sig.n_extents); place--) {
      device->sizes[place] = device->sizes[place - 1];
    }
    device->sizes[place] = size;
  }
  return SCT_OK;
}

static sct_status load_devices(emit_header *h, sct_store *store, sct_error *err) {
  SCT_TRY(sct_store_devices(store, &h->arena, &h->device_rows, &h->n_device_rows, err));
  SCT_TRY(sct_store_runs(store, &h->arena, h->problem->id, 0, &h->runs, &h->n_runs, err));
  h->devices = SCT_ARENA_NEW(&h->arena, emit_device, h->n_device_rows + 1);
  contender *list = SCT_ARENA_NEW(&h->arena, contender, h->n_device_rows + 1);
  choose_devices(h, list, list_contenders(list, h));
  if (h->n_devices == 0) {
    return sct_fail(err, SCT_EDATA,
                    "no size of '%s' has a winner in this store: run `sectile tune` on its spec",
                    h->problem->name);
  }
  for (int d = 0; d < h->n_devices; d++) {
    SCT_TRY(load_sizes(h, &h->devices[d], store, err));
  }
  return SCT_OK;
}

/* ---- layouts ---- */

bool emit_has_layouts(const emit_header *h, const json_t *launch) {
  bool same = launch != NULL;
  for (int k = 0; k < h->sig.n_operands && same; k++) {
    const char *label = layout_of(h, launch, k);
    same = label != NULL && strcmp(h->layout[k], label) == 0;
  }
  return same;
}

static bool has_layouts(const emit_header *h, const sct_row_candidate *candidate) {
  SCT_OWNED_PTR(json_t) launch = sct_json_load(candidate->launch);
  return emit_has_layouts(h, launch);
}

/* The naive variant of the run with the layouts of the header: the stored one's duplicate. */
static int find_naive(const sct_row_result *rows, int n, const bool *legal, sct_id stored) {
  const sct_row_candidate *like = NULL;
  for (int k = 0; k < n; k++) {
    if (rows[k].outcome.id == stored) {
      like = &rows[k].candidate;
    }
  }
  for (int k = 0; k < n && like != NULL; k++) {
    if (legal[k] && strcmp(rows[k].candidate.strategy, like->strategy) == 0 &&
        same_axes(rows[k].candidate.axes, like->axes)) {
      return k;
    }
  }
  return -1;
}

/* By the run's conditions a winner need not be coalesced. */
static bool selects_any(const char *conditions) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(conditions);
  const char *selection = text_of(root, "selection");
  return selection != NULL && strcmp(selection, "any") == 0;
}

static bool is_sampled(const char *conditions) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(conditions);
  return json_is_true(json_object_get(root, "sampled"));
}

static sct_status check_launch(emit_header *h, const sct_row_candidate *candidate, sct_error *err) {
  json_t *launch = NULL;
  const sct_status status = read_launch(&launch, h, candidate, err);
  json_decref(launch);
  return status;
}

/* Sets winner and naive of a size to candidates with the layouts of the header; NULL where there is
 * none. */
static sct_status fit_layouts(emit_size *size, emit_header *h, emit_device *device,
                              sct_store *store, sct_error *err) {
  sct_row_result *rows = NULL;
  bool *legal = NULL;
  int n = 0;
  SCT_TRY(check_launch(h, &size->winner->candidate, err));
  SCT_TRY(sct_store_results(store, &h->arena, size->run->id, false, &rows, &n, err));
  legal = SCT_ARENA_NEW(&h->arena, bool, n + 1);
  for (int k = 0; k < n; k++) {
    legal[k] = sct_row_is_ok(&rows[k].outcome) && has_layouts(h, &rows[k].candidate);
  }
  size->sampled = is_sampled(size->run->conditions);
  size->rows = rows;
  size->legal = legal;
  size->n_rows = n;
  const int naive = find_naive(rows, n, legal, size->run->naive);
  if (naive >= 0) {
    SCT_TRY(emit_load_result(&size->naive, h, store, rows[naive].outcome.id, err));
  }
  if (!has_layouts(h, &size->winner->candidate)) {
    /* once more with samples, which the rule compares */
    SCT_TRY(sct_store_results(store, &h->arena, size->run->id, true, &rows, &n, err));
    const int best = emit_choose(rows, n, legal, naive, selects_any(size->run->conditions));
    const sct_row_result *here = NULL;
    if (best >= 0) {
      SCT_TRY(emit_load_result(&here, h, store, rows[best].outcome.id, err));
    }
    if (!size->sampled) {
      device->others[device->n_other++] =
          (emit_other){.run = size->run, .winner = size->winner, .here = here};
    }
    size->winner = here;
  }
  return SCT_OK;
}

static sct_status choose_layouts(emit_header *h, sct_store *store, sct_error *err) {
  const emit_device *first = &h->devices[0];
  const sct_row_result *largest = first->sizes[first->n_sizes - 1].winner;
  for (int k = 0; k < first->n_sizes; k++) { /* what is listed comes before samples */
    largest = is_sampled(first->sizes[k].run->conditions) ? largest : first->sizes[k].winner;
  }
  const char **layout = SCT_ARENA_NEW(&h->arena, const char *, h->sig.n_operands);
  SCT_OWNED_PTR(json_t) launch = NULL;
  SCT_TRY(read_launch(&launch, h, &largest->candidate, err));
  for (int k = 0; k < h->sig.n_operands; k++) {
    layout[k] = sct_arena_strdup(&h->arena, layout_of(h, launch, k));
  }
  h->layout = layout;
  for (int d = 0; d < h->n_devices; d++) {
    emit_device *device = &h->devices[d];
    int kept = 0;
    device->others = SCT_ARENA_NEW(&h->arena, emit_other, device->n_sizes + 1);
    for (int k = 0; k < device->n_sizes; k++) {
      SCT_TRY(fit_layouts(&device->sizes[k], h, device, store, err));
      if (device->sizes[k].winner != NULL) {
        device->sizes[kept++] = device->sizes[k];
      }
    }
    device->n_sizes = kept;
  }
  return SCT_OK;
}

/* ---- kernels ---- */

static bool same_kernel(const sct_row_candidate *a, const sct_row_candidate *b) {
  return strcmp(a->source, b->source) == 0 && strcmp(a->launch, b->launch) == 0;
}

/* "k1_staged": letters, digits and _ of the strategy. */
static const char *space_of(sct_arena *arena, int number, const char *strategy) {
  SCT_SCOPED(sct_str) s = {0};
  sct_str_printf(&s, "k%d_", number);
  for (const char *at = strategy; *at != '\0' && at - strategy < 40; at++) {
    const bool doubled = s.data[s.len - 1] == '_';
    if (isalnum((unsigned char)*at)) {
      sct_str_append_n(&s, at, 1);
    } else if (!doubled) {
      sct_str_append(&s, "_");
    }
  }
  return sct_arena_strdup(arena, sct_str_c(&s));
}

sct_status emit_add_kernel(int *index, emit_header *h, const sct_row_candidate *candidate,
                           sct_error *err) {
  for (int k = 0; k < h->n_kernels; k++) {
    if (same_kernel(h->kernels[k].source, candidate)) {
      *index = k;
      return SCT_OK;
    }
  }
  SCT_OWNED_PTR(json_t) launch = NULL;
  SCT_TRY(read_launch(&launch, h, candidate, err));
  emit_kernel *kernel = &h->kernels[h->n_kernels];
  kernel->source = candidate;
  kernel->space = space_of(&h->arena, h->n_kernels, candidate->strategy);
  kernel->function = sct_arena_strdup(&h->arena, text_of(launch, "kernel"));
  kernel->is_own = json_is_array(json_object_get(launch, "params"));
  if (kernel->is_own) {
    SCT_TRY(emit_check_own(candidate->source, kernel->function, err));
  } else { /* the workspace comes last, where there is one, or after it the number of a launch */
    const bool shares = json_integer_value(json_object_get(launch, "workspace_bytes")) > 0;
    const bool repeats = json_integer_value(json_object_get(launch, "passes")) > 0;
    const int n = h->sig.n_arguments + shares + (shares && repeats);
    h->sig.arguments[h->sig.n_arguments] = "workspace";
    h->sig.arguments[h->sig.n_arguments + 1] = "pass";
    kernel->args = SCT_ARENA_NEW(&h->arena, int, n);
    SCT_TRY(emit_check_source(kernel->args, &kernel->n_args, candidate->source, kernel->function,
                              h->sig.arguments, n, err));
  }
  *index = h->n_kernels++;
  return SCT_OK;
}

/* The naive variant that every call can fall back to: of the first size that has one. */
static sct_status add_naive(emit_header *h, sct_error *err) {
  const sct_row_result *naive = NULL;
  for (int d = 0; d < h->n_devices && naive == NULL; d++) {
    for (int k = h->devices[d].n_sizes - 1; k >= 0 && naive == NULL; k--) {
      naive = h->devices[d].sizes[k].naive;
    }
  }
  if (naive == NULL) {
    return sct_fail(err, SCT_EDATA,
                    "no naive variant of '%s' with the layouts of its winner passed its checks, "
                    "and a header falls back to it: run `sectile tune` on its spec again",
                    h->problem->name);
  }
  int index = 0;
  SCT_TRY(emit_add_kernel(&index, h, &naive->candidate, err));
  SCT_OWNED_PTR(json_t) launch = sct_json_load(naive->candidate.launch);
  const json_t *requires = json_object_get(launch, "requires");
  if (json_array_size(requires) > 0) {
    return sct_fail(err, SCT_EDATA,
                    "the naive variant of '%s' is only right when %s: it cannot be the fallback "
                    "for every call",
                    h->problem->name, json_string_value(json_array_get(requires, 0)));
  }
  return SCT_OK;
}

static sct_status collect_kernels(emit_header *h, sct_store *store, sct_error *err) {
  h->kernels = SCT_ARENA_NEW(&h->arena, emit_kernel, h->n_runs + 1 + SCT_RULE_MOST_EXTRA);
  SCT_TRY(add_naive(h, err));
  for (int d = 0; d < h->n_devices; d++) {
    for (int k = 0; k < h->devices[d].n_sizes; k++) {
      emit_size *size = &h->devices[d].sizes[k];
      size->shown = !size->sampled;
      if (size->shown) {
        SCT_TRY(emit_add_kernel(&size->kernel, h, &size->winner->candidate, err));
      }
    }
  }
  for (int d = 0; d < h->n_devices; d++) {
    SCT_TRY(emit_make_rule(h, &h->devices[d], store, err));
  }
  return SCT_OK;
}

sct_status emit_header_load(emit_header *out, sct_store *store, const sct_emit_request *request,
                            sct_error *err) {
  out->request = *request;
  SCT_TRY(load_problem(out, store, request, err));
  if (out->problem->signature[0] == '\0') { /* transfers, what other tuners measured */
    return sct_fail(err, SCT_EDATA, "'%s' is no kernel that `sectile tune` made",
                    out->problem->name);
  }
  SCT_TRY(emit_read_signature(out, out->problem->signature, err));
  if (request->host && (!out->sig.host || out->sig.stays != request->stays)) {
    return sct_fail(err, SCT_EDATA,
                    "the store has it without%s `host`: `sectile tune` on the spec adds that, and "
                    "does not measure again what it has",
                    !out->sig.host ? "" : " this");
  }
  SCT_TRY(load_devices(out, store, err));
  SCT_TRY(emit_load_ways(out, store, err));
  SCT_TRY(choose_layouts(out, store, err));
  return collect_kernels(out, store, err);
}

void emit_header_free(emit_header *h) {
  sct_page_close(h->page);
  json_decref(h->sig.doc);
  sct_arena_free(&h->arena);
  *h = (emit_header){0};
}
