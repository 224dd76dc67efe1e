/* SIGKILL of the tuner at random moments of a session, with resuming after each: no row that was
 * stored is lost, none is double, nothing is left running or lying about, and in the end there is
 * what an undisturbed session has.
 *
 * Then SIGKILL of the worker at random moments of a session on the fake GPU: the session goes on as
 * if nothing had happened.
 *
 *   test_kill [N [SEED]]      N kills of the tuner (default 10) and N / 3 of workers; the seed is
 *                             printed */
#include "faults_session.h"

#define KILLS_A_SESSION 5
#define FAKE            "slow@0=4 slow@2=2"

#define KEYS                                                                                       \
  "SELECT group_concat(line, char(10)) FROM (SELECT p.spec_hash || ' ' || d.key || ' ' || "        \
  "r.size_label || ' ' || c.source_hash || ' ' || o.outcome AS line FROM outcome o JOIN "          \
  "candidate c ON c.id = o.candidate JOIN run r ON r.id = o.run JOIN problem p ON p.id = "         \
  "r.problem JOIN device d ON d.id = r.device ORDER BY o.id)"

#define DOUBLES                                                                                    \
  "SELECT (SELECT count(*) FROM outcome) - (SELECT count(*) FROM (SELECT DISTINCT p.spec_hash, "   \
  "d.key, r.size_label, c.source_hash FROM outcome o JOIN candidate c ON c.id = o.candidate JOIN " \
  "run r ON r.id = o.run JOIN problem p ON p.id = r.problem JOIN device d ON d.id = r.device))"

typedef struct kind {
  const char *name, *fake;
  const char *const *words;
  int64_t whole_ns; /* an undisturbed session */
  char rows[FS_MAX / 4], header[FS_MAX];
} kind;

static kind kinds[] = {{"virtual", NULL, fs_tune, 0, "", ""},
                       {"fake GPU", FAKE, fs_tune_gpu, 0, "", ""}};

typedef struct tally {
  int kills, early, lost, doubles, damaged, strange, different, orphans;
  double resume_ms[4096];
  int n_resume;
} tally;

static fs_place place;
static fs_run run;

static void emit_to(char header[FS_MAX]) {
  unlink(fs_path(&place, "out.h"));
  fs_execute(&place, fs_emit, NULL, NULL, &run);
  fs_slurp(header, fs_path(&place, "out.h"));
}

static void start_over(void) {
  fs_reset_store(&place, fs_path(&place, "base.db"));
  fs_delete(fs_path(&place, "cache"));
}

static void undisturbed(kind *k) {
  start_over();
  fs_execute(&place, k->words, NULL, k->fake, &run);
  if (run.exit_code != 0 ||
      !fs_query(fs_path(&place, "store.db"), FS_ROWS, "copy", k->rows, sizeof k->rows)) {
    fprintf(stderr, "an undisturbed session ended with %d:\n%s", run.exit_code, run.err);
    exit(3);
  }
  k->whole_ns = run.wall_ns;
  emit_to(k->header);
}

/* Every line of `before` must be in `after`. */
static bool holds_all(const char *before, const char *after) {
  for (const char *line = before; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    char one[1024];
    snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
    if (!strstr(after, one)) {
      return false;
    }
  }
  return true;
}

static void complain(const char *what, const kind *k, int at) {
  fprintf(stderr, "kill %d (%s): %s\n", at, k->name, what);
}

static void check_store(tally *t, const kind *k, char *keys, size_t n) {
  static char text[FS_MAX], now[FS_MAX];
  const char *path = fs_path(&place, "store.db");
  if (!fs_query(path, "PRAGMA integrity_check", NULL, text, sizeof text) ||
      strcmp(text, "ok") != 0) {
    complain(text, k, t->kills);
    t->damaged++;
  }
  if (!fs_query(path, DOUBLES, NULL, text, sizeof text) || strcmp(text, "0") != 0) {
    complain("rows are double", k, t->kills);
    t->doubles++;
  }
  if (!fs_query(path, KEYS, NULL, now, sizeof now) || !holds_all(keys, now)) {
    complain("stored rows are lost", k, t->kills);
    t->lost++;
  }
  snprintf(keys, n, "%s", now);
}

/* false: the session had ended already. */
static bool kill_one(tally *t, const kind *k, sct_rng *rng, char *keys, size_t n) {
  const int64_t wait_ns = (int64_t)(sct_rng_unit(rng) * (double)k->whole_ns);
  const pid_t pid = fs_start(&place, k->words, NULL, k->fake, NULL);
  fs_pause(wait_ns);
  kill(pid, SIGKILL);
  fs_finish(&place, pid, &run);
  const bool hit = run.exit_code == 128 + SIGKILL;
  t->kills += hit;
  t->early += !hit;
  t->orphans += run.orphans;
  check_store(t, k, keys, n);
  return hit;
}

/* Some kills, then a session that is let go on to its end. */
static void session(tally *t, const kind *k, int kills, sct_rng *rng) {
  static char keys[FS_MAX], text[FS_MAX];
  keys[0] = '\0';
  start_over();
  fs_query(fs_path(&place, "store.db"), KEYS, NULL, keys, sizeof keys);
  for (int n = 0; n < kills && kill_one(t, k, rng, keys, sizeof keys); n++) {
  }
  fs_execute(&place, k->words, NULL, k->fake, &run);
  t->resume_ms[t->n_resume++ % SCT_COUNT(t->resume_ms)] = (double)run.wall_ns / 1e6;
  check_store(t, k, keys, sizeof keys);
  if (run.exit_code != 0 ||
      !fs_query(fs_path(&place, "store.db"), FS_ROWS, "copy", text, sizeof text) ||
      strcmp(text, k->rows) != 0) {
    complain("another result than undisturbed", k, t->kills);
    fprintf(stderr, "exit %d\n%s\ninstead of\n%s\n%s", run.exit_code, text, k->rows, run.err);
    t->different++;
  }
  emit_to(text);
  if (k->fake == NULL && strcmp(text, k->header) != 0) { /* times differ on the other */
    complain("another header than undisturbed", k, t->kills);
    t->different++;
  }
  char name[256];
  static const char *const folders[] = {"cache/sectile", "cache/sectile/objects",
                                        "cache/sectile/entries", "cache/sectile/new"};
  for (int f = 0; f < SCT_COUNT(folders); f++) {
    fs_strange_files(fs_path(&place, folders[f]), NULL, name);
    if (name[0] != '\0') {
      complain(name, k, t->kills);
      t->strange++;
    }
  }
}

/* ---- the worker ---- */

typedef struct worker_tally {
  int kills, missed, wrong, n;
  double lost_ms[4096];
} worker_tally;

/* A worker process below the tuner, or 0. */
static pid_t find_worker(pid_t tuner) {
  pid_t found = 0;
  DIR *d = opendir("/proc");
  for (const struct dirent *e; d && found == 0 && (e = readdir(d)) != NULL;) {
    char path[300], text[256] = "";
    const pid_t pid = atoi(e->d_name);
    snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
    FILE *f = pid > 0 ? fopen(path, "r") : NULL;
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) {
      fclose(f);
    }
    char wanted[32];
    const int len = snprintf(wanted, sizeof wanted, "--worker%c%ld", 0, (long)tuner);
    if (n > 15 && memmem(text, n, wanted, (size_t)len + 1)) {
      found = pid;
    }
  }
  if (d) {
    closedir(d);
  }
  return found;
}

static void kill_worker(worker_tally *w, const kind *k, sct_rng *rng) {
  static char text[FS_MAX];
  fs_reset_store(&place, fs_path(&place, "base.db"));
  const int64_t start = sct_now_ns();
  const int64_t wait_ns = (int64_t)(sct_rng_unit(rng) * (double)k->whole_ns);
  const pid_t pid = fs_start(&place, k->words, NULL, k->fake, NULL);
  fs_pause(wait_ns);
  const pid_t worker = find_worker(pid);
  const bool hit = worker > 0 && kill(worker, SIGKILL) == 0;
  fs_finish(&place, pid, &run);
  w->kills += hit;
  w->missed += !hit; /* it had not begun, or was over */
  if (hit && w->n < SCT_COUNT(w->lost_ms)) {
    w->lost_ms[w->n++] = (double)(sct_now_ns() - start - k->whole_ns) / 1e6;
  }
  if (run.exit_code != 0 || run.orphans > 0 ||
      !fs_query(fs_path(&place, "store.db"), FS_ROWS, "copy", text, sizeof text) ||
      strcmp(text, k->rows) != 0) {
    fprintf(stderr, "kill %d of a worker after %.1f ms: exit %d, %d orphans\n%s\n%s", w->kills,
            (double)wait_ns / 1e6, run.exit_code, run.orphans, text, run.err);
    w->wrong++;
  }
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static tally t;
  const int wanted = argc > 1 ? atoi(argv[1]) : 10;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
  sct_rng rng = sct_rng_new(seed);
  snprintf(place.dir, sizeof place.dir, "/tmp/sct_kill_XXXXXX");
  if (!mkdtemp(place.dir)) {
    fs_die("make a folder");
  }
  printf("| seed | %llu |\n", (unsigned long long)seed);
  fflush(stdout);
  fs_prepare(&place);
  fs_adopt();
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    undisturbed(&kinds[k]);
  }
  for (int n = 0; t.kills < wanted && n < 20 * wanted; n++) {
    const int left = wanted - t.kills;
    session(&t, &kinds[n % SCT_COUNT(kinds)], left < KILLS_A_SESSION ? left : KILLS_A_SESSION,
            &rng);
  }
  const int n = t.n_resume < SCT_COUNT(t.resume_ms) ? t.n_resume : SCT_COUNT(t.resume_ms);
  qsort(t.resume_ms, (size_t)n, sizeof t.resume_ms[0], by_value);
  printf("| SIGKILL of the tuner | %d |\n| too late, not counted | %d |\n"
         "| stored rows lost | %d |\n| double rows | %d |\n| integrity check failed | %d |\n"
         "| sessions resumed to the end | %d |\n| another final result | %d |\n"
         "| processes left running | %d |\n| temporary files left | %d |\n"
         "| resuming to the end, median, worst | %.0f ms, %.0f ms |\n",
         t.kills, t.early, t.lost, t.doubles, t.damaged, t.n_resume, t.different, t.orphans,
         t.strange, t.resume_ms[n / 2], t.resume_ms[n - 1]);
  static worker_tally w;
  start_over();
  undisturbed(&kinds[1]); /* fills the cache */
  fs_reset_store(&place, fs_path(&place, "base.db"));
  fs_execute(&place, kinds[1].words, NULL, kinds[1].fake, &run);
  kinds[1].whole_ns = run.wall_ns;
  while (w.kills < (wanted + 2) / 3 && w.missed < 10 * wanted) {
    kill_worker(&w, &kinds[1], &rng);
  }
  qsort(w.lost_ms, (size_t)w.n, sizeof w.lost_ms[0], by_value);
  printf("| SIGKILL of a worker | %d |\n| sessions that did not recover | %d |\n"
         "| session longer by, median, worst | %.0f ms, %.0f ms |\n",
         w.kills, w.wrong, w.lost_ms[w.n / 2], w.lost_ms[w.n > 0 ? w.n - 1 : 0]);
  fs_delete(place.dir);
  const int wrong = t.lost + t.doubles + t.damaged + t.different + t.orphans + t.strange + w.wrong;
  return wrong == 0 && t.kills == wanted ? 0 : 1;
}
