/* The table of results: what is known of candidates, beside each other. */
#include "tune/tune_table.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- beginning and end ---- */

/* The first item with the layouts of each. */
static void find_groups(tune_table *t) {
  for (int k = 0; k < t->cands->n_items; k++) {
    t->duplicate[k] = t->group[k] = -1;
    for (int first = 0; first <= k && t->group[k] < 0 && t->cands->items[k].code.layout; first++) {
      if ((first == k || t->group[first] == first) && sct_tune_same_layouts(t->cands, first, k)) {
        t->group[k] = first;
      }
    }
  }
}

void sct_tune_table_init(tune_table *out, sct_tune_candidates *cands, bool times,
                         const sct_tune_opts *opts) {
  const size_t n_sizes = (size_t)cands->spec.n_sizes, n_items = (size_t)cands->n_items;
  *out = (tune_table){.cands = cands,
                      .times = times,
                      .select_any = opts->select_any,
                      .partial = opts->only.n > 0 || opts->share.n > 0 || opts->heat.store_path ||
                                 cands->n_ungenerated > 0};
  out->cells = sct_alloc(sizeof *out->cells * (n_items * n_sizes + 1));
  for (size_t k = 0; k < n_items * n_sizes; k++) {
    out->cells[k].row =
        (sct_row_outcome){.outcome = "ok", .detail = "", .race = "", SCT_NOT_COUNTED};
    out->cells[k].passed_over = cands->spec.sizes[k % n_sizes].around; /* their turn is later */
  }
  out->group = sct_alloc(sizeof *out->group * (n_items + 1));
  out->duplicate = sct_alloc(sizeof *out->duplicate * (n_items + 1));
  out->choices = sct_alloc(sizeof *out->choices * (n_sizes + 1));
  find_groups(out);
}

void sct_tune_table_free(tune_table *t) {
  for (int k = 0; t->cells && k < t->cands->n_items * t->cands->spec.n_sizes; k++) {
    sct_counters_free(&t->cells[k].counters);
    sct_times_free(&t->cells[k].row.times);
  }
  sct_free(t->cells);
  sct_free(t->group);
  sct_free(t->duplicate);
  sct_free(t->choices);
}

/* ---- what is known of an item ---- */

bool sct_tune_has_outcome(const tune_table *t, int k, int size) {
  const sct_tune_item *item = &t->cands->items[k];
  const tune_cell *cell = sct_tune_cell(t, k, size);
  if (!item->code.source || item->outcome != SCT_OUT_OK) {
    return item->code.source != NULL;
  }
  return cell->fits && (sct_tune_is_measured(t, cell) || !sct_row_is_ok(&cell->row));
}

bool sct_tune_was_tried(const tune_table *t, int k) {
  bool tried = false;
  for (int z = 0; z < t->cands->spec.n_sizes && t->cands->items[k].outcome == SCT_OUT_OK; z++) {
    tried = tried || (sct_tune_has_outcome(t, k, z) && sct_row_is_ok(&sct_tune_cell(t, k, z)->row));
  }
  return tried;
}

sct_id sct_tune_naive_outcome(const tune_table *t, int size, const int *layout) {
  const size_t bytes = sizeof *layout * (size_t)t->cands->spec.n_operands;
  for (int k = 0; k < t->cands->n_items; k++) {
    const int *of = t->cands->items[k].code.layout;
    if (sct_tune_is_naive_item(t->cands, k, size) && of && memcmp(of, layout, bytes) == 0) {
      return sct_tune_cell(t, k, size)->row.id;
    }
  }
  return 0;
}

bool sct_tune_matters(const tune_table *t, int k, int size) {
  return !t->cands->spec.sizes[size].sampled || !sct_tune_cell(t, k, size)->passed_over ||
         sct_tune_is_naive_item(t->cands, k, size);
}

bool sct_tune_known_already(const tune_table *t, int item) {
  for (int z = 0; z < t->cands->spec.n_sizes; z++) {
    const tune_cell *cell = sct_tune_cell(t, item, z);
    if (cell->fits && !cell->from_store && !cell->passed_over) {
      return false;
    }
  }
  return true;
}

/* Has it been verified at another size, in an earlier round of a search? */
static bool is_verified(const tune_table *t, int item) {
  bool verified = false;
  for (int z = 0; z < t->cands->spec.n_sizes; z++) {
    const tune_cell *cell = sct_tune_cell(t, item, z);
    verified = verified || (cell->verified && !cell->from_store);
  }
  return verified;
}

bool sct_tune_evaluated_already(const tune_table *t, int item) {
  return sct_tune_known_already(t, item) || is_verified(t, item);
}

void sct_tune_set_verified(tune_table *t, int item) {
  for (int z = 0; z < t->cands->spec.n_sizes; z++) {
    tune_cell *cell = sct_tune_cell(t, item, z);
    cell->verified = cell->verified || (cell->fits && sct_tune_matters(t, item, z));
  }
}

/* ---- what became of an item at a size ---- */

sct_row_outcome sct_tune_outcome(const tune_table *t, int k, int size) {
  const tune_cell *cell = sct_tune_cell(t, k, size);
  const sct_tune_item *item = &t->cands->items[k];
  sct_row_outcome row = cell->row;
  row.counts_exact = row.sectors_ld >= 0 && cell->counters.error == 0 && !item->approximate;
  if (item->outcome != SCT_OUT_OK) {
    row.outcome = sct_outcome_name(item->outcome);
    row.detail = item->detail;
  }
  return row;
}

void sct_tune_take_timing(tune_table *t, int k, int size, const sct_timing *timing,
                          const char *race) {
  tune_cell *cell = sct_tune_cell(t, k, size);
  sct_row_outcome *row = &cell->row;
  const char *detail = timing->verdict.detail;
  sct_times_free(&row->times);
  row->times = timing->times;
  row->outcome = sct_outcome_name(timing->verdict.outcome);
  row->detail = detail[0] != '\0' ? sct_arena_strdup(&t->cands->arena, detail) : "";
  row->race = race;
  cell->from_store = false;
}

/* The name holds what no other race in any store shares: the process, the moment, the problem and
 * the device. */
const char *sct_tune_race_new(tune_table *t) {
  char hex[SCT_HASH_HEX];
  struct timespec now;
  SCT_SCOPED(sct_str) text = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  sct_str_printf(&text, "%lld.%09ld %lld %ld %d %s %s", (long long)now.tv_sec, now.tv_nsec,
                 (long long)sct_now_ns(), (long)getpid(), t->n_races++, t->cands->device.uuid,
                 t->cands->spec.canonical ? t->cands->spec.canonical : "");
  return sct_arena_strdup(&t->cands->arena, sct_hash_hex(hex, sct_hash_text(sct_str_c(&text))));
}

/* ---- choosing ---- */

#define USUAL_COPY 0.89 /* of the data sheet's bandwidth, where no copy was measured */

double sct_tune_copy_rate(const sct_device_desc *device) {
  return device->copy_bytes_s > 0 ? device->copy_bytes_s : USUAL_COPY * device->peak_bytes_s;
}

/* Useful bytes that come from DRAM or go there: what an index finds again is in a cache. */
static double useful_bytes(const tune_table *t, int item, int size) {
  const sct_spec *spec = &t->cands->spec;
  const int *layout = t->cands->items[item].code.layout;
  double bytes = 0;
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *o = &spec->operands[op];
    const int64_t touched = sct_spec_touched_bytes(spec, op, &spec->sizes[size]),
                  array = sct_spec_bytes(spec, op, layout[op], &spec->sizes[size]);
    const int ways = (!o->is_output || sct_operand_is_read_too(o)) + (o->is_output && !o->keeps);
    bytes += (double)ways * (double)(touched < array ? touched : array);
  }
  return bytes;
}

double sct_tune_credible_ns(const tune_table *t, int item, int size) {
  const tune_cell *cell = sct_tune_cell(t, item, size);
  const double ns = cell->predicted.ns, most = SCT_CREDIBLE * sct_tune_copy_rate(&t->cands->device);
  const bool held = ns > 0 && most > 0 && !cell->estimated; /* an estimate is of nothing else */
  return held && useful_bytes(t, item, size) > most * ns / 1e9 ? 0 : ns;
}

double sct_tune_conversion_ns(const tune_table *t, int item, int size) {
  const sct_spec *spec = &t->cands->spec;
  const int *layout = t->cands->items[item].code.layout;
  const double rate = sct_tune_copy_rate(&t->cands->device);
  double ns = 0;
  for (int op = 0; op < spec->n_operands && layout && rate > 0; op++) {
    if (spec->operands[op].converted > 0 && layout[op] > 0) {
      const double bytes = (double)sct_spec_bytes(spec, op, 0, &spec->sizes[size]) +
                           (double)sct_spec_bytes(spec, op, layout[op], &spec->sizes[size]);
      ns += bytes / rate * 1e9 / (double)spec->operands[op].converted;
    }
  }
  return ns;
}

/* Adds that to the times of a row, whose samples are copied. */
static void add_conversion(sct_row_outcome *row, double ns) {
  const sct_times alone = row->times;
  row->times.samples_ns = NULL;
  sct_times_set(&row->times, &alone);
  for (int k = 0; k < row->times.n_samples; k++) {
    row->times.samples_ns[k] += ns;
  }
  row->times.median_ns += row->times.n_samples > 0 ? ns : 0;
  row->predicted_ns += row->predicted_ns > 0 ? ns : 0;
}

static void fill_row(const tune_table *t, int k, int size, sct_rank_row *row) {
  const tune_cell *cell = sct_tune_cell(t, k, size);
  const sct_tune_item *item = &t->cands->items[k];
  *row = (sct_rank_row){.outcome = sct_tune_outcome(t, k, size),
                        .label = item->label,
                        .naive = sct_tune_is_naive_item(t->cands, k, size),
                        .registers = item->compiled.registers,
                        .fast = sct_space_is_fast(&t->cands->space, item->candidate)};
  row->outcome.predicted_ns = sct_tune_credible_ns(t, k, size);
  row->eligible = cell->fits && sct_row_is_ok(&row->outcome) && sct_tune_is_measured(t, cell);
}

sct_choice sct_tune_decide(tune_table *t, int size, sct_rank_row *rows) {
  const int n_items = t->cands->n_items;
  bool any = t->select_any;
  for (int k = 0; k < n_items; k++) {
    fill_row(t, k, size, &rows[k]);
    const double ns = sct_tune_conversion_ns(t, k, size);
    if (ns > 0) { /* the first layout may need more sectors, and be better all the same */
      add_conversion(&rows[k].outcome, ns);
      any = true;
    }
  }
  const sct_choice choice = sct_choose(rows, n_items, any);
  for (int k = 0; k < n_items; k++) { /* pages are shared with processes until written to */
    tune_cell *cell = sct_tune_cell(t, k, size);
    if (rows[k].outcome.times.samples_ns != cell->row.times.samples_ns) {
      sct_free(rows[k].outcome.times.samples_ns);
      rows[k].outcome.times.samples_ns = cell->row.times.samples_ns;
    }
    if (cell->tied != rows[k].tied) {
      cell->tied = rows[k].tied;
    }
  }
  return choice;
}
