/* compile_run - the way of a request through cache, batches and workers. */
#include "compile/compile_internal.h"

#include <poll.h>
#include <string.h>

#define PROGRESS_NS ((int64_t)100000000)

/* Part of every cache key: raise it when an entry's meaning changes. */
static const char KEY_FORMAT[] = "sectile compile 1";

typedef struct sct_compile_run {
  sct_arena arena; /* owns all below */
  sct_compile_item *items;
  int n_items;
  bool *wanted; /* [n_items] */
  int n_wanted;
  sct_compile_item **todo; /* wanted and not in the cache, each source once */
  int n_todo;
  sct_compile_span *batches; /* of todo */
  int n_batched;             /* of todo, that are in batches */
  int n_batches, next_batch;
  int first_batch;         /* of those made last, all before it are handed out */
  sct_compile_span *again; /* those whose worker failed; the last is taken first */
  int n_again;
  int *finished; /* units in the order of completion */
  int n_finished, n_taken;
} sct_compile_run;

/* ---- preparing */

/* A directive other than #pragma: a macro would be seen by the units after it. */
static bool has_directives(const char *source) {
  for (const char *line = source; line != NULL && *line != '\0';) {
    const char *at = line + strspn(line, " \t");
    if (*at == '#') {
      at += 1 + strspn(at + 1, " \t");
      if (!sct_has_prefix(at, "pragma")) {
        return true;
      }
    }
    line = strchr(line, '\n');
    line += line != NULL;
  }
  return false;
}

static sct_hash hash_unit(const sct_compile_unit *unit) {
  const sct_hash pair[] = {sct_hash_text(unit->source), sct_hash_text(unit->kernel)};
  const sct_hash own = sct_hash_bytes(pair, sizeof(pair));
  return unit->foreign ? sct_hash_bytes(&own, sizeof(own)) : own; /* compiled in another way */
}

/* The key adds all that decides what NVRTC makes of a source. */
static sct_hash hash_key(const sct_compiler *compiler, sct_hash unit) {
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "%s\n%s %lld\n%s\n", KEY_FORMAT, compiler->about.version,
                 (long long)compiler->about.file_bytes, sct_str_c(&compiler->option_line));
  const sct_hash pair[] = {sct_hash_text(sct_str_c(&text)), unit};
  return sct_hash_bytes(pair, sizeof(pair));
}

static void init_item(const sct_compiler *compiler, sct_compile_item *item,
                      const sct_compile_unit *unit, sct_compiled *result) {
  char hex[SCT_HASH_HEX];
  const sct_hash hash = hash_unit(unit);
  item->in = unit;
  item->out = result;
  item->key = hash_key(compiler, hash);
  item->alone = unit->foreign || has_directives(unit->source);
  item->first = (int)(item - compiler->run->items);
  for (int i = 0; i < item->first; ++i) {
    item->first = sct_hash_equal(compiler->run->items[i].key, item->key) ? i : item->first;
  }
  (void)snprintf(item->space, sizeof(item->space), "u%.16s", sct_hash_hex(hex, hash));
  item->expression =
      sct_arena_printf(&compiler->run->arena, "%s%s%s", item->alone ? "" : item->space,
                       item->alone ? "" : "::", unit->kernel);
}

/* Puts what is to be done into batches, in its order and at most `batch` long; units with
 * directives by themselves. With several workers the last batches are shorter, so that they end
 * together. */
static void make_batches(const sct_compiler *compiler, sct_compile_run *r) {
  const int share = compiler->n_workers > 1 ? 2 * compiler->n_workers : 1;
  sct_compile_span *last = NULL;
  int most = 0;
  r->first_batch = r->n_batches;
  for (; r->n_batched < r->n_todo; ++r->n_batched) {
    const int i = r->n_batched;
    if (last != NULL && last->n < most && !r->todo[i]->alone && !r->todo[last->first]->alone) {
      ++last->n;
    } else {
      const int fair = (r->n_todo - i + share - 1) / share;
      most = fair < compiler->batch ? fair : compiler->batch;
      last = &r->batches[r->n_batches++];
      *last = (sct_compile_span){.first = i, .n = 1};
    }
  }
}

/* ---- finishing */

static void copy_result(sct_compiled *to, const sct_compiled *from) {
  *to = *from;
  to->log = from->log != NULL ? sct_strdup(from->log) : NULL;
  to->entry = from->entry != NULL ? sct_strdup(from->entry) : NULL;
  if (to->object != NULL) {
    sct_compile_object_hold(to, to->object);
  }
}

/* The unit's result is there: so are those of equal units. */
static void finish(sct_compile_run *r, const sct_compile_item *item) {
  for (int i = item->first; i < r->n_items; ++i) {
    if (r->items[i].first == item->first) {
      r->finished[r->n_finished++] = i;
      if (&r->items[i] != item) {
        copy_result(r->items[i].out, item->out);
      }
    }
  }
}

static void fail_alone(sct_compile_run *r, sct_compile_item *item, const sct_compile_end *end) {
  sct_str text = {0};
  sct_str_printf(&text, "error: %s\n", end->text);
  item->out->failure = end->failure;
  item->out->log = text.data;
  finish(r, item);
}

static void keep_on_disk(sct_compiler *compiler, sct_compile_item *const *units, int n) {
  for (int i = 0; i < n; ++i) {
    const sct_compile_object *const object = units[i]->out->object;
    if (object == NULL) {
      continue;
    }
    bool first = true;
    for (int k = 0; k < i && first; ++k) {
      first = units[k]->out->object != object;
    }
    if (first) {
      sct_compile_cache_put_object(&compiler->cache, object);
    }
    sct_compile_cache_put_entry(&compiler->cache, units[i]->key, units[i]->out);
  }
}

/* A worker failed over these units. One that had a fresh worker to itself is guilty; the others are
 * tried again so. */
static void take_failure(sct_compile_run *r, const sct_compile_span *span,
                         const sct_compile_end *end) {
  if (span->n == 1 && span->fresh) {
    fail_alone(r, r->todo[span->first], end);
    return;
  }
  for (int i = span->n - 1; i >= 0; --i) {
    r->again[r->n_again++] = (sct_compile_span){.first = span->first + i, .n = 1, .fresh = true};
  }
}

/* The reply of a worker, or its end. */
static sct_status collect(sct_compiler *compiler, sct_compile_worker *w, sct_error *err) {
  sct_compile_run *const r = compiler->run;
  const sct_compile_span span = w->span;
  sct_compile_item **const units = r->todo + span.first;
  sct_compile_end end;
  SCT_TRY(sct_compile_worker_receive(compiler, w, &end, err));
  if (end.failure == SCT_COMPILE_NONE) {
    const sct_status status =
        sct_compile_get_results(&compiler->reply, &compiler->objects, units, span.n, err);
    if (status != SCT_EDATA) {
      SCT_TRY(status);
      keep_on_disk(compiler, units, span.n);
      for (int i = 0; i < span.n; ++i) {
        finish(r, units[i]);
      }
      return SCT_OK;
    }
    sct_child_kill(&w->child);
    end.failure = SCT_COMPILE_CRASH;
    (void)snprintf(end.text, sizeof(end.text),
                   "the compiler crashed on it: its process answered what makes no sense");
  }
  take_failure(r, &span, &end);
  return SCT_OK;
}

/* ---- handing out */

static void put_back(sct_compile_run *r, const sct_compile_span *span) {
  r->again[r->n_again++] = *span;
}

enum { SHARE = 4 }; /* batches of a window for each worker: few, as what is first is waited for */

/* The batch that is handed out as number `turn`. Compilers that share work go through it in
 * windows, and each begins at a place of its own: when it has come round, the others have compiled
 * the rest of the window, all but what they have in hand, which is compiled twice. */
static int batch_of(const sct_compiler *compiler, int turn) {
  const sct_compile_run *const r = compiler->run;
  const int window = compiler->n_places * compiler->n_workers * SHARE;
  const int first = r->first_batch + (turn - r->first_batch) / window * window;
  const int left = r->n_batches - first;
  const int n = left < window ? left : window;
  const int begin = (int)((int64_t)n * compiler->place / compiler->n_places);
  return first + (turn - first + begin) % n;
}

/* What another compiler has put into the cache since the request began is finished. Of the rest the
 * first units that stand together stay in `span`, the others wait. Returns whether any are left. */
static void leave_out_cached(sct_compiler *compiler, sct_compile_span *span, bool *left) {
  sct_compile_run *const r = compiler->run;
  const sct_compile_span all = *span;
  sct_compile_span part = {0};
  *left = false;
  for (int i = all.first; i < all.first + all.n; ++i) {
    sct_compile_item *const item = r->todo[i];
    if (sct_compile_cache_get(&compiler->cache, &compiler->objects, item->key, item->out)) {
      finish(r, item);
    } else if (part.n > 0 && part.first + part.n == i) {
      ++part.n;
    } else {
      if (*left) {
        put_back(r, &part);
      }
      part = (sct_compile_span){.first = i, .n = 1};
      *left = true;
    }
  }
  *span = part;
}

/* Something to do for a worker; *found: is there any? */
static void next_span(sct_compiler *compiler, sct_compile_span *out, bool *found) {
  sct_compile_run *const r = compiler->run;
  *found = r->n_again > 0;
  if (*found) {
    *out = r->again[--r->n_again];
    return;
  }
  if (r->next_batch == r->n_batches) {
    make_batches(compiler, r);
  }
  while (!*found && r->next_batch < r->n_batches) {
    *out = r->batches[batch_of(compiler, r->next_batch++)];
    *found = true;
    if (compiler->n_places > 1) {
      leave_out_cached(compiler, out, found);
    }
  }
}

static int count_busy(const sct_compiler *compiler) {
  int n = 0;
  for (int i = 0; i < compiler->n_workers; ++i) {
    n += compiler->workers[i].busy;
  }
  return n;
}

/* Gives every idle worker something to do. A worker that cannot be started is done without, as long
 * as there is another. */
static sct_status hand_out(sct_compiler *compiler, sct_error *err) {
  sct_compile_run *const r = compiler->run;
  for (int i = 0; i < compiler->n_workers; ++i) {
    sct_compile_worker *const w = &compiler->workers[i];
    sct_compile_span span;
    bool found = false;
    if (!w->busy) {
      next_span(compiler, &span, &found);
    }
    if (!found) {
      continue;
    }
    const sct_status status = sct_compile_worker_ready(compiler, w, span.fresh, err);
    if (status != SCT_OK) {
      put_back(r, &span);
      return count_busy(compiler) > 0 ? SCT_OK : status;
    }
    span.fresh = w->n_jobs == 0;
    w->span = span;
    const sct_compile_job job = sct_compile_job_of(compiler);
    sct_wire_clear(&compiler->wire);
    sct_compile_put_group(&compiler->wire, &job, r->todo + span.first, span.n);
    if (compiler->wire.failed) {
      return sct_fail(err, SCT_EINTERNAL, "%d sources are too large for a message", span.n);
    }
    (void)sct_compile_worker_send(compiler, w, SCT_COMPILE_OP_GROUP); /* if not, it has ended */
  }
  return SCT_OK;
}

/* ---- the steps */

static void run_free(sct_compiler *compiler) {
  sct_compile_run *const r = compiler->run;
  if (r == NULL) {
    return;
  }
  sct_arena_free(&r->arena);
  sct_free(r);
  compiler->run = NULL;
}

static void prepare(sct_compiler *compiler, const sct_compile_unit *units, sct_compiled *results) {
  sct_compile_run *const r = compiler->run;
  r->items = SCT_ARENA_NEW(&r->arena, sct_compile_item, r->n_items);
  r->wanted = SCT_ARENA_NEW(&r->arena, bool, r->n_items);
  r->todo = SCT_ARENA_NEW(&r->arena, sct_compile_item *, r->n_items);
  r->batches = SCT_ARENA_NEW(&r->arena, sct_compile_span, r->n_items);
  r->again = SCT_ARENA_NEW(&r->arena, sct_compile_span, r->n_items);
  r->finished = SCT_ARENA_NEW(&r->arena, int, r->n_items);
  for (int i = 0; i < r->n_items; ++i) {
    init_item(compiler, &r->items[i], &units[i], &results[i]);
  }
}

sct_status sct_compiler_open(sct_compiler *compiler, const sct_compile_unit *units, int n,
                             sct_compiled *results, sct_error *err) {
  if (compiler->run != NULL) {
    return sct_fail(err, SCT_EUSAGE, "a request of a compiler begins before the end of another");
  }
  if (n <= 0) {
    return SCT_OK;
  }
  memset(results, 0, sizeof(*results) * (size_t)n);
  compiler->run = sct_alloc(sizeof(*compiler->run));
  compiler->run->n_items = n;
  prepare(compiler, units, results);
  return SCT_OK;
}

/* An item and those that are equal to it are done together, so they are wanted together. */
sct_status sct_compiler_want(sct_compiler *compiler, int unit, sct_error *err) {
  sct_compile_run *const r = compiler->run;
  if (r == NULL || unit < 0 || unit >= r->n_items) {
    return sct_fail(err, SCT_EUSAGE, "no unit %d to compile", unit);
  }
  if (r->wanted[unit]) {
    return SCT_OK;
  }
  sct_compile_item *const item = &r->items[r->items[unit].first];
  for (int i = item->first; i < r->n_items; ++i) {
    if (r->items[i].first == item->first) {
      r->wanted[i] = true;
      ++r->n_wanted;
    }
  }
  if (sct_compile_cache_get(&compiler->cache, &compiler->objects, item->key, item->out)) {
    finish(r, item);
  } else {
    r->todo[r->n_todo++] = item;
  }
  return SCT_OK;
}

sct_status sct_compiler_begin(sct_compiler *compiler, const sct_compile_unit *units, int n,
                              sct_compiled *results, sct_error *err) {
  SCT_TRY(sct_compiler_open(compiler, units, n, results, err));
  sct_status status = SCT_OK;
  for (int i = 0; status == SCT_OK && i < n; ++i) {
    status = sct_compiler_want(compiler, i, err);
  }
  if (status != SCT_OK) {
    run_free(compiler);
  }
  return status;
}

sct_status sct_compiler_step_begin(sct_compiler *compiler, struct pollfd *ready, int *n,
                                   sct_error *err) {
  *n = 0;
  if (sct_compiler_left(compiler) == 0) {
    return SCT_OK;
  }
  SCT_TRY(hand_out(compiler, err));
  for (int i = 0; i < compiler->n_workers; ++i) {
    if (compiler->workers[i].busy) {
      ready[(*n)++] = (struct pollfd){.fd = compiler->workers[i].child.fd, .events = POLLIN};
    }
  }
  return SCT_OK;
}

sct_status sct_compiler_step_end(sct_compiler *compiler, const struct pollfd *ready,
                                 sct_error *err) {
  const int64_t now = sct_now_ns();
  if (sct_compiler_left(compiler) == 0) {
    return SCT_OK;
  }
  for (int i = 0; i < compiler->n_workers; ++i) {
    sct_compile_worker *const w = &compiler->workers[i];
    if (!w->busy) {
      continue;
    }
    const bool answers = (ready++)->revents != 0;
    if (answers || now >= w->deadline_ns) {
      SCT_TRY(collect(compiler, w, err));
    }
  }
  return hand_out(compiler, err);
}

/* Not longer than until the time of a worker is over. */
static int64_t shorten(const sct_compiler *compiler, int64_t wait_ns) {
  const int64_t now = sct_now_ns();
  for (int i = 0; i < compiler->n_workers; ++i) {
    const sct_compile_worker *const w = &compiler->workers[i];
    wait_ns = w->busy && w->deadline_ns - now < wait_ns ? w->deadline_ns - now : wait_ns;
  }
  return wait_ns > 0 ? wait_ns : 0;
}

sct_status sct_compiler_step(sct_compiler *compiler, int64_t wait_ns, sct_error *err) {
  struct pollfd ready[SCT_COMPILE_MAX_WORKERS];
  int n = 0;
  SCT_TRY(sct_compiler_step_begin(compiler, ready, &n, err));
  if (n > 0) {
    (void)poll(ready, (nfds_t)n, (int)((shorten(compiler, wait_ns) + 999999) / 1000000));
  }
  return sct_compiler_step_end(compiler, ready, err);
}

int sct_compiler_next(sct_compiler *compiler) {
  sct_compile_run *const r = compiler->run;
  return r != NULL && r->n_taken < r->n_finished ? r->finished[r->n_taken++] : -1;
}

int sct_compiler_left(const sct_compiler *compiler) {
  const sct_compile_run *const r = compiler->run;
  return r != NULL ? r->n_wanted - r->n_finished : 0;
}

void sct_compiler_end(sct_compiler *compiler) {
  sct_compile_workers_kill(compiler, compiler->workers[0].busy ? 0 : 1);
  run_free(compiler);
}

/* ---- all at once */

sct_status sct_compiler_run(sct_compiler *compiler, const sct_compile_unit *units, int n,
                            sct_compiled *results, bool (*progress)(void *ctx, int done, int total),
                            void *ctx, sct_error *err) {
  SCT_TRY(sct_compiler_begin(compiler, units, n, results, err));
  sct_status status = SCT_OK;
  for (bool last = n <= 0; status == SCT_OK && !last;) {
    const int left = sct_compiler_left(compiler);
    last = left == 0;
    if (progress != NULL && !progress(ctx, n - left, n)) {
      status = sct_fail(err, SCT_EINTERRUPTED, "compiling was stopped");
    } else if (!last) {
      status = sct_compiler_step(compiler, PROGRESS_NS, err);
    }
  }
  sct_compiler_end(compiler);
  return status;
}
