/* Where the winner of a size is predicted to be slower than the naive variant: at the tuned extents
 * times powers of two, in every direction. A header has no model, so it asks this table before it
 * takes the kernel for other extents (templates/header/variants.cuh). */
#include "process/process.h"
#include "tune/tune_counting.h"
#include "json/json.h"

#include <string.h>

#define SLOWER 1.05 /* predicted times this close are the same */
#define BLOCKS 6 /* that are counted, of each kernel at each shape: some 50 ms with 24 of a sum */
#define STEPS  50000 /* of a block that runs for that: a millisecond */
#define MOST   243   /* shapes: 20 s on one core for a sparse product, whose indices are walked */

#define MOST_PROCESSES 64

/* The extents of a shape are those of the size times 2^(step * k), k in [-reach, reach]. */
typedef struct lattice {
  int n_dims, step, reach, n;
} lattice;

/* false: too many dimensions, or none. */
static bool choose_lattice(lattice *l, int n_dims) {
  static const int steps[][2] = {{2, 10}, {2, 5}, {3, 2}, {4, 1}, {4, 1}}; /* step, reach */
  if (n_dims < 1 || n_dims > SCT_COUNT(steps)) {
    return false;
  }
  *l = (lattice){n_dims, steps[n_dims - 1][0], steps[n_dims - 1][1], 1};
  for (int d = 0; d < n_dims; d++) {
    l->n *= 2 * l->reach + 1;
  }
  return l->n <= MOST;
}

static int64_t scaled(int64_t extent, int shift) {
  if (shift >= 0) {
    return extent << shift;
  }
  const int64_t whole = (extent + (INT64_C(1) << (-shift - 1))) >> -shift; /* rounded */
  return whole > 1 ? whole : 1;
}

/* Extents of shape `at`, the last dimension fastest; other extents are as tuned. */
static void shape_extents(int64_t *out, const lattice *l, const sct_size *size, int at) {
  for (int d = l->n_dims - 1; d >= 0; d--) {
    const int each = 2 * l->reach + 1;
    out[d] = scaled(size->extent[d], (at % each - l->reach) * l->step);
    at /= each;
  }
}

/* One of two kernels that are compared. */
typedef struct side {
  int item;
  sct_block_counter *block_counter; /* of both */
  tune_parsed parsed;
} side;

static bool can_count(const tune_counting *c, int item) {
  return c->table->cands->items[item].compiled.ok && !c->recorded;
}

static bool count(const tune_counting *c, side *of, const sct_size *size, sct_counters *out) {
  const sct_tune_item *item = &c->table->cands->items[of->item];
  return sct_codegen_fits(&c->table->cands->spec, &item->code, size) &&
         sct_tune_parse(&of->parsed, item->compiled.ptx, NULL) == SCT_OK &&
         sct_block_counter_count(of->block_counter, out, &item->code, of->parsed.module,
                                 item->compiled.entry, size, BLOCKS, NULL) == SCT_OK;
}

/* 0: the model cannot tell. */
static double predicted_ns(const tune_counting *c, side *of, const sct_size *size) {
  const sct_tune_item *item = &c->table->cands->items[of->item];
  SCT_SCOPED(sct_counters) counters = {0};
  sct_prediction p = {0};
  const sct_workload work = {.spec = &c->table->cands->spec,
                             .code = &item->code,
                             .size = size,
                             .counters = &counters,
                             .registers = item->compiled.registers,
                             .shared_bytes = item->code.shared_bytes +
                                             (item->compiled.ok ? item->compiled.static_shared_bytes
                                                                : item->code.static_shared_bytes)};
  if (!count(c, of, size, &counters)) {
    return 0;
  }
  const bool known = sct_model_predict(&p, c->rated, &work, NULL) == SCT_OK;
  return known ? p.ns : 0;
}

/* All that decides about the shapes of one size. */
typedef struct comparison {
  const tune_counting *counting;
  lattice lattice;
  int size;
  side winner, naive;
  int n_processes, process; /* this one, of those that share the shapes */
} comparison;

/* '1': the winner is slower or unknown. */
static char compare_shape(comparison *of, int at) {
  const tune_counting *const c = of->counting;
  const sct_spec *spec = &c->table->cands->spec;
  int64_t extent[SCT_MAX_ARGS];
  sct_size shape = spec->sizes[of->size];
  memcpy(extent, shape.extent, sizeof *extent * (size_t)spec->n_extents);
  shape.extent = extent;
  shape_extents(extent, &of->lattice, &spec->sizes[of->size], at);
  const double naive_ns = predicted_ns(c, &of->naive, &shape);
  const double winner_ns = naive_ns > 0 ? predicted_ns(c, &of->winner, &shape) : 0;
  return naive_ns > 0 && (winner_ns <= 0 || winner_ns > SLOWER * naive_ns) ? '1' : '0';
}

/* Every n-th shape, in one of n processes. */
static void compare_share(int fd, void *ctx) {
  comparison *of = ctx;
  SCT_SCOPED(sct_wire) out = {0};
  for (int at = of->process; at < of->lattice.n; at += of->n_processes) {
    const char digit = compare_shape(of, at);
    sct_wire_put_raw(&out, &digit, 1);
  }
  (void)sct_wire_send(fd, SCT_OK, &out, SCT_NO_DEADLINE);
}

/* The digits of a process's share; of one that died they are found here. */
static void take_share(char *digits, sct_child *child, comparison *of) {
  SCT_SCOPED(sct_wire) in = {0};
  uint32_t code = 0;
  const bool good =
      sct_child_alive(child) && sct_wire_recv(child->fd, &code, &in, SCT_NO_DEADLINE) == SCT_IO_OK;
  for (int at = of->process; at < of->lattice.n; at += of->n_processes) {
    const char *digit = good ? sct_wire_get_raw(&in, 1) : NULL;
    digits[at] = digit && !in.failed ? *digit : compare_shape(of, at);
  }
  (void)sct_child_wait(child, 0);
}

/* "0110...": a digit a shape. */
static void compare_shapes(char digits[MOST + 1], comparison *of) {
  sct_child children[MOST_PROCESSES];
  const int cores = sct_cores();
  of->n_processes = cores < MOST_PROCESSES ? cores : MOST_PROCESSES;
  for (of->process = 0; of->process < of->n_processes; of->process++) {
    sct_child *child = &children[of->process];
    if (sct_child_fork(child, "shapes", compare_share, of, NULL) != SCT_OK) {
      *child = (sct_child){.fd = -1};
    }
  }
  for (of->process = 0; of->process < of->n_processes; of->process++) {
    take_share(digits, &children[of->process], of);
  }
  digits[of->lattice.n] = '\0';
}

/* Unless the table is there already, or there is nothing to compare. */
void sct_tune_add_shapes(const tune_counting *c, int size, sct_str *conditions) {
  const int winner = c->table->choices[size].winner;
  const int naive = winner >= 0 ? sct_tune_naive_at(c->table->cands, winner, size) : -1;
  comparison of = {
      .counting = c, .size = size, .winner = {.item = winner}, .naive = {.item = naive}};
  char hex[SCT_HASH_HEX], digits[MOST + 1];
  if (c->table->cands->spec.sizes[size].sampled || naive < 0 || naive == winner ||
      !choose_lattice(&of.lattice, c->table->cands->spec.n_dims) || !can_count(c, naive) ||
      !can_count(c, winner)) {
    return;
  }
  sct_hash_hex(hex, c->table->cands->items[winner].code.hash);
  SCT_OWNED_PTR(json_t) doc = sct_json_load(sct_str_c(conditions));
  const char *known = json_string_value(json_object_get(json_object_get(doc, "shapes"), "winner"));
  sct_block_counter *block_counter = NULL;
  if (known && strcmp(known, hex) == 0) {
    goto done;
  }
  sct_block_counter_new(&block_counter, &c->table->cands->spec, &c->table->cands->device, c->seed,
                        STEPS);
  of.winner.block_counter = of.naive.block_counter = block_counter;
  compare_shapes(digits, &of);
  json_object_set_new(doc, "shapes",
                      json_pack("{s:s, s:i, s:i, s:s}", "winner", hex, "step", of.lattice.step,
                                "reach", of.lattice.reach, "slower", digits));
  sct_str_clear(conditions);
  (void)sct_json_dump(conditions, json_incref(doc), JSON_COMPACT, NULL);
done:
  sct_tune_parsed_free(&of.winner.parsed);
  sct_tune_parsed_free(&of.naive.parsed);
  sct_block_counter_free(block_counter);
}
