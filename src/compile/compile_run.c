/* compile_run - the compiler object: options, and the way of a request through cache, batches and
 * worker threads. */
#include "compile/compile_internal.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum {
  DEFAULT_BATCH = 16,
  MAX_DEFAULT_THREADS =
      8, /* more do not help: NVRTC's threads stop scaling (H200 machine, 16 cores) */
  MAX_THREADS = 64,
  PROGRESS_MS = 100
};
static const int64_t DEFAULT_LIMIT_NS = 60000000000;

/* Part of every cache key: raise it when an entry's meaning changes. */
static const char KEY_FORMAT[] = "sectile compile 1";

/* ---- the compiler */

static int core_count(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static bool add_option(sct_compiler *compiler, const char *text) {
  char **const options =
      sct_realloc(compiler->options, (size_t)(compiler->n_options + 1) * sizeof(*options));
  if (options == NULL) {
    return false;
  }
  compiler->options = options;
  options[compiler->n_options] = sct_strdup(text);
  if (options[compiler->n_options] == NULL) {
    return false;
  }
  sct_str_printf(&compiler->option_line, "%s%s", compiler->n_options > 0 ? " " : "", text);
  ++compiler->n_options;
  return !compiler->option_line.failed;
}

static sct_status set_options(sct_compiler *compiler, const sct_compile_opts *opts,
                              sct_error *err) {
  /* -lineinfo costs no time and does not change the code; it doubles the cubin. Without warnings
   * the log holds errors only. Raising the stack limit is per process, so not for threads. */
  static const char *const fixed[] = {
      "--ptxas-options=-v", /* first: see compile_program.c */
      "-std=c++17",         "-default-device",           "-lineinfo",
      "--disable-warnings", "--modify-stack-limit=false"};
  char arch[64];
  (void)snprintf(arch, sizeof(arch), "--gpu-architecture=%s", opts->arch);
  bool good = true;
  for (int i = 0; i < SCT_COUNT(fixed) && good; ++i) {
    good = add_option(compiler, fixed[i]);
  }
  good = good && add_option(compiler, arch);
  for (int i = 0; opts->extra != NULL && opts->extra[i] != NULL && good; ++i) {
    good = add_option(compiler, opts->extra[i]);
  }
  return good ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory for compiler options");
}

sct_status sct_compiler_new(sct_compiler **out, const sct_compile_opts *opts, sct_error *err) {
  sct_compiler *const compiler = sct_alloc(sizeof(*compiler));
  if (compiler == NULL) {
    return sct_fail(err, SCT_ENOMEM, "out of memory for a compiler");
  }
  if (!sct_compile_objects_init(&compiler->objects)) {
    sct_free(compiler);
    return sct_fail(err, SCT_EINTERNAL, "cannot make a lock");
  }
  compiler->cache.objects_fd = -1;
  compiler->cache.entries_fd = -1;
  const int cores = core_count();
  const int threads = cores < MAX_DEFAULT_THREADS ? cores : MAX_DEFAULT_THREADS;
  compiler->threads = opts->threads > 0 ? opts->threads : threads;
  compiler->threads = compiler->threads < MAX_THREADS ? compiler->threads : MAX_THREADS;
  compiler->batch = opts->batch > 0 ? opts->batch : DEFAULT_BATCH;
  compiler->limit_ns = opts->limit_ns > 0 ? opts->limit_ns : DEFAULT_LIMIT_NS;

  sct_status status = sct_compile_nvrtc_load(&compiler->nvrtc, err);
  if (status == SCT_OK) {
    status = sct_compile_nvrtc_check_arch(&compiler->nvrtc, opts->arch, err);
  }
  if (status == SCT_OK) {
    status = set_options(compiler, opts, err);
  }
  if (status != SCT_OK) {
    sct_compiler_free(compiler);
    return status;
  }
  sct_compile_cache_open(&compiler->cache, opts->cache_dir);
  *out = compiler;
  return SCT_OK;
}

void sct_compiler_free(sct_compiler *compiler) {
  if (compiler == NULL) {
    return;
  }
  for (int i = 0; i < compiler->n_options; ++i) {
    sct_free(compiler->options[i]);
  }
  sct_free(compiler->options);
  sct_str_free(&compiler->option_line);
  sct_compile_cache_close(&compiler->cache);
  sct_compile_objects_free(&compiler->objects);
  sct_free(compiler);
}

void sct_compiler_trim(sct_compiler *compiler) {
  sct_compile_objects_trim(&compiler->objects);
}

const char *sct_compiler_version(const sct_compiler *compiler) {
  return compiler->nvrtc.version_text;
}

const char *sct_compiler_options(const sct_compiler *compiler) {
  return sct_str_c(&compiler->option_line);
}

void sct_compiled_free(sct_compiled *result) {
  sct_free(result->log);
  sct_free(result->entry);
  sct_compile_object_release(result->object);
  memset(result, 0, sizeof(*result));
}

/* ---- a request */

typedef struct span {
  int first, n; /* in request.todo */
} span;

typedef struct request {
  sct_compiler *compiler;
  sct_compile_item *items;
  int n_items;
  sct_compile_item **todo; /* not in the cache, each source once */
  int n_todo;
  span *batches;
  int n_batches;
  atomic_bool stop;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  int next_batch;
  int n_done;    /* units: cached, or compiled by a worker */
  int n_running; /* workers */
  sct_status status;
  sct_error err;
} request;

/* A directive other than #pragma: a macro would be seen by the units behind it. */
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
  return sct_hash_bytes(pair, sizeof(pair));
}

/* The key adds all that decides what NVRTC makes of a source. */
static sct_hash hash_key(const sct_compiler *compiler, sct_hash unit) {
  sct_str text = {0};
  sct_str_printf(&text, "%s\n%s %lld\n%s\n", KEY_FORMAT, compiler->nvrtc.version_text,
                 (long long)compiler->nvrtc.file_bytes, sct_str_c(&compiler->option_line));
  const sct_hash pair[] = {sct_hash_text(sct_str_c(&text)), unit};
  sct_str_free(&text);
  return sct_hash_bytes(pair, sizeof(pair));
}

static sct_status init_item(const sct_compiler *compiler, sct_compile_item *item,
                            const sct_compile_unit *unit, sct_compiled *result, sct_error *err) {
  char hex[SCT_HASH_HEX];
  const sct_hash hash = hash_unit(unit);
  item->in = unit;
  item->out = result;
  item->key = hash_key(compiler, hash);
  item->alone = has_directives(unit->source);
  item->lead = -1;
  (void)snprintf(item->space, sizeof(item->space), "u%.16s", sct_hash_hex(hex, hash));
  sct_str expression = {0};
  sct_str_printf(&expression, "%s%s%s", item->alone ? "" : item->space,
                 item->alone ? "" : "::", unit->kernel);
  item->expression = expression.data;
  return sct_str_status(&expression, err);
}

/* Finds equal units: each points to the first of its kind. */
static sct_status link_equal(request *r, sct_error *err) {
  size_t n_slots = 16;
  while (n_slots < (size_t)r->n_items * 2) {
    n_slots *= 2;
  }
  int *const slots = sct_alloc(n_slots * sizeof(*slots)); /* index + 1; 0: free */
  if (slots == NULL) {
    return sct_fail(err, SCT_ENOMEM, "out of memory for %d sources", r->n_items);
  }
  for (int i = 0; i < r->n_items; ++i) {
    size_t slot = r->items[i].key.lo & (n_slots - 1);
    while (slots[slot] != 0 && !sct_hash_equal(r->items[slots[slot] - 1].key, r->items[i].key)) {
      slot = (slot + 1) & (n_slots - 1);
    }
    if (slots[slot] == 0) {
      slots[slot] = i + 1;
    } else {
      r->items[i].lead = slots[slot] - 1;
    }
  }
  sct_free(slots);
  return SCT_OK;
}

/* Batches in the order of the request, at most `batch` long, short enough to give every thread one;
 * units with directives by themselves. */
static void make_batches(request *r) {
  const int threads = r->compiler->threads;
  const int share = (r->n_todo + threads - 1) / threads;
  const int most = share < r->compiler->batch ? share : r->compiler->batch;
  for (int i = 0; i < r->n_todo; ++i) {
    span *const last = r->n_batches > 0 ? &r->batches[r->n_batches - 1] : NULL;
    if (last != NULL && last->n < most && !r->todo[i]->alone && !r->todo[last->first]->alone) {
      ++last->n;
    } else {
      r->batches[r->n_batches++] = (span){i, 1};
    }
  }
}

static sct_status prepare(request *r, const sct_compile_unit *units, sct_compiled *results,
                          sct_error *err) {
  const size_t n = (size_t)r->n_items;
  r->items = sct_alloc(n * sizeof(*r->items));
  r->todo = sct_alloc(n * sizeof(*r->todo));
  r->batches = sct_alloc(n * sizeof(*r->batches));
  if (r->items == NULL || r->todo == NULL || r->batches == NULL) {
    return sct_fail(err, SCT_ENOMEM, "out of memory for %d sources", r->n_items);
  }
  for (int i = 0; i < r->n_items; ++i) {
    SCT_TRY(init_item(r->compiler, &r->items[i], &units[i], &results[i], err));
  }
  SCT_TRY(link_equal(r, err));
  for (int i = 0; i < r->n_items; ++i) {
    sct_compile_item *const item = &r->items[i];
    if (item->lead >= 0) {
      continue;
    }
    if (sct_compile_cache_get(&r->compiler->cache, &r->compiler->objects, item->key, item->out)) {
      ++r->n_done;
    } else {
      r->todo[r->n_todo++] = item;
    }
  }
  make_batches(r);
  return SCT_OK;
}

/* ---- workers */

static void *work(void *argument) {
  request *const r = argument;
  sct_error err = {0};
  (void)pthread_mutex_lock(&r->lock);
  while (r->next_batch < r->n_batches && !atomic_load(&r->stop)) {
    const span batch = r->batches[r->next_batch++];
    (void)pthread_mutex_unlock(&r->lock);
    const sct_status status =
        sct_compile_group(r->compiler, r->todo + batch.first, batch.n, &r->stop, &err);
    (void)pthread_mutex_lock(&r->lock);
    if (status == SCT_OK) {
      r->n_done += batch.n;
    } else if (r->status == SCT_OK) {
      r->status = status;
      r->err = err;
      atomic_store(&r->stop, true);
    }
    (void)pthread_cond_signal(&r->changed);
  }
  --r->n_running;
  (void)pthread_cond_signal(&r->changed);
  (void)pthread_mutex_unlock(&r->lock);
  return NULL;
}

/* Sleeps until something changed, or a moment. Called and left with the lock held. */
static void wait_a_moment(request *r) {
  struct timespec until;
  (void)clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += PROGRESS_MS * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000L;
  until.tv_nsec %= 1000000000L;
  (void)pthread_cond_timedwait(&r->changed, &r->lock, &until);
}

static void watch(request *r, bool (*progress)(void *ctx, int done, int total), void *ctx) {
  (void)pthread_mutex_lock(&r->lock);
  while (r->n_running > 0) {
    const int done = r->n_done;
    (void)pthread_mutex_unlock(&r->lock);
    if (progress != NULL && !atomic_load(&r->stop) && !progress(ctx, done, r->n_items)) {
      atomic_store(&r->stop, true);
    }
    (void)pthread_mutex_lock(&r->lock);
    if (r->n_running > 0 && r->n_done == done) {
      wait_a_moment(r);
    }
  }
  (void)pthread_mutex_unlock(&r->lock);
}

static bool init_locks(request *r) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) {
    return false;
  }
  const bool good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                    pthread_mutex_init(&r->lock, NULL) == 0 &&
                    pthread_cond_init(&r->changed, &attributes) == 0;
  (void)pthread_condattr_destroy(&attributes);
  return good;
}

static int start_workers(request *r, pthread_t *threads) {
  const int most = r->n_batches < r->compiler->threads ? r->n_batches : r->compiler->threads;
  pthread_attr_t attributes;
  int n = 0;
  if (pthread_attr_init(&attributes) != 0) {
    return 0;
  }
  (void)pthread_attr_setstacksize(&attributes, SCT_COMPILE_STACK_BYTES);
  (void)pthread_mutex_lock(&r->lock);
  while (n < most && sct_thread_create(&threads[n], &attributes, work, r) == 0) {
    ++n;
    ++r->n_running;
  }
  (void)pthread_mutex_unlock(&r->lock);
  (void)pthread_attr_destroy(&attributes);
  return n;
}

static sct_status run_workers(request *r, bool (*progress)(void *ctx, int done, int total),
                              void *ctx, sct_error *err) {
  pthread_t threads[MAX_THREADS];
  if (!init_locks(r)) {
    return sct_fail(err, SCT_EINTERNAL, "cannot make a lock");
  }
  const int n = start_workers(r, threads);
  if (n == 0 && r->n_batches > 0) {
    r->status = sct_fail(&r->err, SCT_EINTERNAL, "cannot start a thread: %s", strerror(errno));
  }
  watch(r, progress, ctx);
  for (int i = 0; i < n; ++i) {
    (void)pthread_join(threads[i], NULL);
  }
  (void)pthread_cond_destroy(&r->changed);
  (void)pthread_mutex_destroy(&r->lock);
  if (r->status == SCT_OK && atomic_load(&r->stop)) {
    return sct_fail(err, SCT_EINTERRUPTED, "compiling was stopped");
  }
  return r->status == SCT_OK ? SCT_OK : sct_fail(err, r->status, "%s", r->err.text);
}

static sct_status copy_equal(request *r, sct_error *err) {
  for (int i = 0; i < r->n_items; ++i) {
    if (r->items[i].lead < 0) {
      continue;
    }
    const sct_compiled *const from = r->items[r->items[i].lead].out;
    sct_compiled *const to = r->items[i].out;
    *to = *from;
    to->log = from->log != NULL ? sct_strdup(from->log) : NULL;
    to->entry = from->entry != NULL ? sct_strdup(from->entry) : NULL;
    if (to->object != NULL) {
      atomic_fetch_add(&to->object->refs, 1);
    }
    if ((to->log == NULL) != (from->log == NULL) || (to->entry == NULL) != (from->entry == NULL)) {
      return sct_fail(err, SCT_ENOMEM, "out of memory for compiler results");
    }
  }
  return SCT_OK;
}

static void request_free(request *r) {
  for (int i = 0; r->items != NULL && i < r->n_items; ++i) {
    sct_free(r->items[i].expression);
  }
  sct_free(r->items);
  sct_free(r->todo);
  sct_free(r->batches);
}

sct_status sct_compiler_run(sct_compiler *compiler, const sct_compile_unit *units, int n,
                            sct_compiled *results, bool (*progress)(void *ctx, int done, int total),
                            void *ctx, sct_error *err) {
  if (n <= 0) {
    return SCT_OK;
  }
  memset(results, 0, sizeof(*results) * (size_t)n);
  request r = {.compiler = compiler, .n_items = n};
  sct_status status = prepare(&r, units, results, err);
  if (status == SCT_OK) {
    status = run_workers(&r, progress, ctx, err);
  }
  if (status == SCT_OK) {
    status = copy_equal(&r, err);
  }
  if (status == SCT_OK && progress != NULL && !progress(ctx, n, n)) {
    status = sct_fail(err, SCT_EINTERRUPTED, "compiling was stopped");
  }
  request_free(&r);
  return status;
}
