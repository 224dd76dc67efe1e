/* Every call that can fail fails in turn: a whole session (tune, emit) is run once for each call of
 * each kind in each kind of process, and whatever happens, the program ends by itself, says what
 * failed, keeps the store and the older files, and loses no memory.
 *
 *   test_torture [SEED]       a sample, for CTest; the seed is printed
 *
 *   test_torture --all [JOBS [EVERY [MINUTES [STEP[/PROCESS[/CALL[/FIRST]]]]]]]
 *                             every call, or every EVERY-th, until the time is up; of one step, of
 *                             one kind of process, one kind of call, from the FIRST call on
 *
 *   test_torture --one STEP CACHE FAULTS
 *                             one of them, with its output */
#include "faults_session.h"

#include <sys/mman.h>

#define MAX_ROWS    128
#define SAMPLE_RUNS 70
#define MINUTE_NS   ((int64_t)60 * 1000000000)
#define MAX_JOBS    16
#define MAX_N       4000 /* of one row; the fake GPU polls its driver far more often */

/* ---- what is run ---- */

typedef struct step {
  const char *name, *fake, *base;
  const char *const *words;
} step;

static const step steps[] = {
    {"tune", NULL, "base.db", fs_tune},
    {"emit", NULL, "both.db", fs_emit},
    {"gpu", "ok", "base.db", fs_tune_gpu},
    {"many", "devices=2", "base.db", fs_tune_many},
};

typedef struct row {
  int step;
  char kind[16], role[16];
  bool cold; /* the compile cache is empty */
  int calls; /* a run without faults makes */
  int first; /* number of its first job */
  int n;     /* jobs */
  /* what came of them */
  int ran, fired, absorbed, failed, wrong;
} row;

typedef struct table {
  row rows[MAX_ROWS];
  int n_rows, n_jobs;
} table;

static fs_place base; /* the folder that the others are made from */

/* Where a kind's calls happen only in a compilation, the cache must not know the kernels. */
static bool wants_cold(const row *r) {
  static const char *const kinds[] = {"open",  "read",   "write", "rename", "close", "mkdir",
                                      "nvrtc", "thread", "fork",  "pipe",   "mmap"};
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    if (strcmp(r->kind, kinds[k]) == 0) {
      return r->step == 0 && strcmp(r->role, "worker") != 0;
    }
  }
  return strcmp(r->role, "main") != 0 && strcmp(r->role, "worker") != 0 &&
         strcmp(r->role, "check") != 0;
}

static void add_row(table *t, int which, const char *role, const char *kind, int calls) {
  if (strcmp(kind, "malloc") == 0) {
    return; /* ends the process, as a kill does: test_memory */
  }
  for (int k = 0; k < t->n_rows; k++) {
    row *r = &t->rows[k];
    if (r->step == which && strcmp(r->role, role) == 0 && strcmp(r->kind, kind) == 0) {
      r->calls = r->calls > calls ? r->calls : calls; /* several processes of a role */
      return;
    }
  }
  if (t->n_rows == MAX_ROWS) {
    fs_die("keep so many kinds");
  }
  row *r = &t->rows[t->n_rows++];
  *r = (row){.step = which, .calls = calls};
  snprintf(r->kind, sizeof r->kind, "%s", kind);
  snprintf(r->role, sizeof r->role, "%s", role);
  r->cold = wants_cold(r);
}

/* Reads "fault: count ROLE KIND=N KIND=N" lines. */
static void read_counts(table *t, int which, char *text) {
  char *lines = text;
  for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
    char role[16], kind[16];
    int at = 0, calls = 0;
    if (sscanf(line, "fault: count %15s%n", role, &at) != 1) {
      continue;
    }
    for (int used = 0; sscanf(line + at, " %15[a-z]=%d%n", kind, &calls, &used) == 2; at += used) {
      add_row(t, which, role, kind, calls);
    }
  }
}

static void make_slot(fs_place *p, const char *name) {
  *p = base;
  snprintf(p->dir, sizeof p->dir, "%.60s/%s", base.dir, name);
  if (mkdir(p->dir, 0700) != 0) {
    fs_die("make a folder");
  }
}

static void fill_cache(const fs_place *p) {
  char command[512];
  snprintf(command, sizeof command, "rm -rf %s/cache && cp -a %s/cache %s/cache", p->dir, base.dir,
           p->dir);
  if (system(command) != 0) {
    fs_die("copy the cache");
  }
}

static void start_step(const fs_place *p, const step *s, bool cold) {
  fs_reset_store(p, fs_path(&base, s->base));
  fs_spill(fs_path(p, "out.h"), FS_OLD);
  if (cold) {
    fs_delete(fs_path(p, "cache"));
  } else if (access(fs_path(p, "cache/sectile/entries"), F_OK) != 0) {
    fill_cache(p);
  }
}

static void count_calls(table *t) {
  static fs_run r;
  fs_place p;
  make_slot(&p, "count");
  for (int s = 0; s < SCT_COUNT(steps); s++) {
    for (int cold = s == 0; cold >= 0; cold--) {
      start_step(&p, &steps[s], cold);
      fs_execute(&p, steps[s].words, "count", steps[s].fake, &r);
      if (r.exit_code != 0) {
        fprintf(stderr, "%s ended with %d:\n%s", steps[s].name, r.exit_code, r.err);
        exit(3);
      }
      read_counts(t, s, r.err);
    }
  }
  for (int k = 0; k < t->n_rows; k++) {
    row *r2 = &t->rows[k];
    r2->first = t->n_jobs;
    r2->n = r2->calls < MAX_N || strcmp(r2->kind, "driver") != 0 ? r2->calls : MAX_N;
    t->n_jobs += r2->n;
  }
}

/* ---- one run ---- */

typedef enum verdict { UNFIRED, ABSORBED, FAILED, WRONG } verdict;

/* Lines that are neither ours nor progress: "path.lua: phase 1/3 (2 ms)". */
static bool has_message(const char *err) {
  for (const char *line = err; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (strncmp(line, "sectile: ", 9) == 0 || strncmp(line, FS_ROOT, strlen(FS_ROOT)) == 0) {
      const char *colon = strstr(line, ".lua: ");
      const char *end = line + strcspn(line, "\n");
      if (!colon || colon > end || strncmp(line, "sectile: ", 9) == 0) {
        return true;
      }
    }
    const char *error = strstr(line, ": error: ");
    if (error && error < line + strcspn(line, "\n")) {
      return true;
    }
  }
  return false;
}

/* Blocks that a process which ended by itself still had. What was forked starts with a copy of its
 * parent's memory. */
static bool has_leak(const char *err, char why[512]) {
  for (const char *at = err; (at = strstr(at, "fault: live ")) != NULL; at++) {
    char role[16];
    long long n = 0;
    if (sscanf(at, "fault: live %15s %lld", role, &n) == 2 && n != 0 &&
        strcmp(role, "check") != 0 && strcmp(role, "script") != 0) {
      snprintf(why, 512, "%lld blocks of memory lost in %s", n, role);
      return true;
    }
  }
  return false;
}

/* 1 internal, files; 9 memory that is mapped; 4 no NVRTC or device; 6 the worker. A child that ends
 * without a word looks like the doing of what it was given: the script (3), or the kernels (5). */
static bool code_fits(const row *r, int code) {
  return code == 1 || code == 4 || code == 6 || code == 9 ||
         (code == 3 && strcmp(r->role, "script") == 0) ||
         (code == 5 && (strcmp(r->kind, "nvrtc") == 0 || strcmp(r->role, "main") != 0));
}

static verdict evaluate(const fs_place *p, const row *r, const fs_run *run, char why[512]) {
  static char rows[FS_MAX];
  why[0] = '\0';
  if (run->hung) {
    snprintf(why, 512, "it did not end");
  } else if (run->orphans > 0) {
    snprintf(why, 512, "%d processes left running", run->orphans);
  } else if (run->exit_code != 0 && !code_fits(r, run->exit_code)) {
    snprintf(why, 512, "exit code %d", run->exit_code);
  } else if (run->exit_code != 0 && !has_message(run->err)) {
    snprintf(why, 512, "exit code %d without a message", run->exit_code);
  } else if (!has_leak(run->err, why)) {
    fs_check_files(p, why);
  }
  if (why[0] == '\0' && run->exit_code == 0 && steps[r->step].fake == NULL) {
    if (!fs_query(fs_path(p, "store.db"), FS_ROWS, "copy", rows, sizeof rows) ||
        strcmp(rows, p->new_rows) != 0) {
      snprintf(why, 512, "success, with another result");
    }
  }
  if (why[0] != '\0') {
    return WRONG;
  }
  if (!strstr(run->err, " fails\n")) {
    return UNFIRED;
  }
  return run->exit_code == 0 ? ABSORBED : FAILED;
}

/* Running again without faults must come to what an undisturbed session comes to. */
static bool resumes(const fs_place *p, const step *s, char why[512]) {
  static fs_run run;
  static char rows[FS_MAX];
  fs_execute(p, s->words, NULL, s->fake, &run);
  if (run.exit_code != 0) {
    snprintf(why, 512, "running again ended with %d", run.exit_code);
    return false;
  }
  fs_check_files(p, why);
  if (why[0] == '\0' && s->fake == NULL &&
      (!fs_query(fs_path(p, "store.db"), FS_ROWS, "copy", rows, sizeof rows) ||
       strcmp(rows, p->new_rows) != 0)) {
    snprintf(why, 512, "running again has another result");
  }
  return why[0] == '\0';
}

#define RESUME_EVERY 7

static verdict run_job(const fs_place *p, const row *r, int n, bool show) {
  static fs_run run;
  char faults[256], why[512];
  const step *s = &steps[r->step];
  start_step(p, s, r->cold);
  unlink(fs_path(p, "once"));
  snprintf(faults, sizeof faults, "%s@%s:%d,once=%s", r->kind, r->role, n, fs_path(p, "once"));
  fs_execute(p, s->words, faults, s->fake, &run);
  verdict v = evaluate(p, r, &run, why);
  if (v == FAILED && n % RESUME_EVERY == 0 && !resumes(p, s, why)) {
    v = WRONG;
  }
  if (v == WRONG) {
    fprintf(stderr, "WRONG: %s %s %s: %s\n", s->name, r->cold ? "cold" : "warm", faults, why);
  }
  if (v == WRONG || show) {
    fprintf(stderr, "    | exit %d, %.0f ms: %.1500s\n", run.exit_code, (double)run.wall_ns / 1e6,
            run.err);
  }
  if (v == WRONG) {
    fs_delete(fs_path(p, "cache"));
  }
  return v;
}

/* ---- many runs ---- */

static void note(row *r, verdict v) {
  __atomic_fetch_add(&r->ran, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&r->fired, v != UNFIRED, __ATOMIC_RELAXED);
  __atomic_fetch_add(&r->absorbed, v == ABSORBED, __ATOMIC_RELAXED);
  __atomic_fetch_add(&r->failed, v == FAILED, __ATOMIC_RELAXED);
  __atomic_fetch_add(&r->wrong, v == WRONG, __ATOMIC_RELAXED);
}

static row *row_of(table *t, int job) {
  int k = 0;
  while (k + 1 < t->n_rows && job >= t->rows[k + 1].first) {
    k++;
  }
  return &t->rows[k];
}

/* `jobs` processes share the list of `n` job numbers. */
static void run_jobs(table *t, const int *list, int n, int jobs, int64_t until_ns) {
  int *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (next == MAP_FAILED) {
    fs_die("share memory");
  }
  fflush(NULL);
  for (int k = 0; k < jobs; k++) {
    if (fork() == 0) {
      char name[16];
      fs_place p;
      snprintf(name, sizeof name, "slot%d", k);
      make_slot(&p, name);
      fs_adopt();
      for (int at;
           sct_now_ns() < until_ns && (at = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < n;) {
        row *r = row_of(t, list[at]);
        note(r, run_job(&p, r, list[at] - r->first + 1, false));
      }
      _exit(0);
    }
  }
  while (wait(NULL) > 0 || errno == EINTR) {
  }
  munmap(next, sizeof *next);
}

static int print_table(const table *t) {
  int wrong = 0, fired = 0, n_runs = 0;
  printf(
      "| session | process | call | calls | runs | took effect | session unharmed | ended with a "
      "message | wrong |\n|---|---|---|---:|---:|---:|---:|---:|---:|\n");
  for (int k = 0; k < t->n_rows; k++) {
    const row *r = &t->rows[k];
    wrong += r->wrong;
    fired += r->fired;
    n_runs += r->ran;
    if (r->ran > 0) {
      printf("| %s | %s | %s | %d | %d | %d | %d | %d | %d |\n", steps[r->step].name, r->role,
             r->kind, r->calls, r->ran, r->fired, r->absorbed, r->failed, r->wrong);
    }
  }
  printf("\n%d runs, %d with an effect, %d wrong\n", n_runs, fired, wrong);
  return fired > 0 && wrong == 0 ? 0 : 1;
}

/* "STEP/PROCESS/CALL/FIRST", of which the later may be left out. The first call of `r` that it
 * names, from 1; 0: none. */
static int first_of(const row *r, const char *path) {
  const char *const names[] = {steps[r->step].name, r->role, r->kind};
  for (int k = 0; k < SCT_COUNT(names) && *path; k++) {
    const size_t n = strcspn(path, "/");
    if (strlen(names[k]) != n || strncmp(names[k], path, n) != 0) {
      return 0;
    }
    path += n + (path[n] == '/');
  }
  return *path ? atoi(path) : 1;
}

static int list_all(const table *t, int *list, int every, const char *path) {
  int n = 0;
  for (int k = 0; k < t->n_rows; k++) {
    const row *r = &t->rows[k];
    const int first = first_of(r, path);
    for (int at = first; first > 0 && at <= r->n; at += every) {
      list[n++] = r->first + at - 1;
    }
  }
  return n;
}

static int by_job(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* A number of jobs from every row, at least one, the rest by chance. */
static int sample(const table *t, int *list, uint64_t seed) {
  sct_rng rng = sct_rng_new(seed);
  int n = 0;
  for (int k = 0; k < t->n_rows; k++) {
    list[n++] = t->rows[k].first + (int)sct_rng_below(&rng, t->rows[k].n);
  }
  while (n < SAMPLE_RUNS) { /* more where there is more */
    list[n++] = (int)sct_rng_below(&rng, t->n_jobs);
  }
  qsort(list, (size_t)n, sizeof *list, by_job);
  return n;
}

static int one(table *t, const char *step_name, const char *cache, const char *faults) {
  row r = {.cold = strcmp(cache, "cold") == 0};
  int n = 0;
  fs_place p;
  (void)t;
  for (int s = 0; s < SCT_COUNT(steps); s++) {
    r.step = strcmp(steps[s].name, step_name) == 0 ? s : r.step;
  }
  if (sscanf(faults, "%15[a-z]@%15[a-z-]:%d", r.kind, r.role, &n) != 3) {
    fprintf(stderr, "expected KIND@ROLE:N\n");
    return 2;
  }
  make_slot(&p, "one");
  fs_adopt();
  static const char *const names[] = {"no effect", "unharmed", "ended with a message", "WRONG"};
  const verdict v = run_job(&p, &r, n, true);
  printf("%s\n", names[v]);
  return v == WRONG;
}

int main(int argc, char **argv) {
  const bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
  const bool single = argc == 5 && strcmp(argv[1], "--one") == 0;
  table *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  snprintf(base.dir, sizeof base.dir, "/tmp/sct_torture_XXXXXX");
  if (t == MAP_FAILED || !mkdtemp(base.dir)) {
    fs_die("start");
  }
  fs_prepare(&base);
  int result = 0;
  if (single) {
    result = one(t, argv[2], argv[3], argv[4]);
  } else {
    count_calls(t);
    const uint64_t seed = !all && argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = all && argc > 2 ? atoi(argv[2]) : cores;
    jobs = jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : jobs;
    int *list = malloc(sizeof *list * (size_t)(t->n_jobs + SAMPLE_RUNS + MAX_ROWS));
    int n = 0;
    int64_t until_ns = INT64_MAX;
    if (!list) {
      fs_die("list the runs");
    }
    if (all) {
      const int every = argc > 3 && atoi(argv[3]) > 0 ? atoi(argv[3]) : 1;
      until_ns =
          argc > 4 && atoi(argv[4]) > 0 ? sct_now_ns() + atoi(argv[4]) * MINUTE_NS : until_ns;
      n = list_all(t, list, every, argc > 5 ? argv[5] : "");
    } else {
      n = sample(t, list, seed);
      printf("seed %llu: %d of %d runs\n", (unsigned long long)seed, n, t->n_jobs);
    }
    run_jobs(t, list, n, jobs, until_ns);
    free(list);
    result = print_table(t);
  }
  fs_delete(base.dir);
  return result;
}
