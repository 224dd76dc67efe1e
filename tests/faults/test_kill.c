/* SIGKILL of the tuner at random moments of a session, with resuming after each: no row that was
 * stored is lost, none is double, nothing is left running or lying about, and in the end there is
 * what an undisturbed session has.
 *
 *   test_kill [N [SEED]]      N kills, default 10; the seed is printed */
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

static void kill_one(tally *t, const kind *k, sct_rng *rng, char *keys, size_t n) {
  const int64_t wait_ns = (int64_t)(sct_rng_unit(rng) * (double)k->whole_ns);
  const pid_t pid = fs_start(&place, k->words, NULL, k->fake, NULL);
  fs_pause(wait_ns);
  kill(pid, SIGKILL);
  fs_finish(&place, pid, &run);
  t->kills++;
  t->early += run.exit_code != 128 + SIGKILL; /* it was done already */
  t->orphans += run.orphans;
  check_store(t, k, keys, n);
}

/* Some kills, then a session that is let go on to its end. */
static void session(tally *t, const kind *k, int kills, sct_rng *rng) {
  static char keys[FS_MAX], text[FS_MAX];
  keys[0] = '\0';
  start_over();
  fs_query(fs_path(&place, "store.db"), KEYS, NULL, keys, sizeof keys);
  for (int n = 0; n < kills; n++) {
    kill_one(t, k, rng, keys, sizeof keys);
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
  printf("seed %llu, %d kills\n", (unsigned long long)seed, wanted);
  fs_prepare(&place);
  fs_adopt();
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    undisturbed(&kinds[k]);
  }
  for (int n = 0; t.kills < wanted; n++) {
    const int left = wanted - t.kills;
    session(&t, &kinds[n % SCT_COUNT(kinds)], left < KILLS_A_SESSION ? left : KILLS_A_SESSION,
            &rng);
  }
  const int n = t.n_resume < SCT_COUNT(t.resume_ms) ? t.n_resume : SCT_COUNT(t.resume_ms);
  qsort(t.resume_ms, (size_t)n, sizeof t.resume_ms[0], by_value);
  printf("| SIGKILL of the tuner | %d |\n| of them after its end | %d |\n"
         "| stored rows lost | %d |\n| double rows | %d |\n| integrity check failed | %d |\n"
         "| sessions resumed to the end | %d |\n| another final result | %d |\n"
         "| processes left running | %d |\n| temporary files left | %d |\n"
         "| resuming to the end, median, worst | %.0f ms, %.0f ms |\n",
         t.kills, t.early, t.lost, t.doubles, t.damaged, t.n_resume, t.different, t.orphans,
         t.strange, t.resume_ms[n / 2], t.resume_ms[n - 1]);
  fs_delete(place.dir);
  const int wrong = t.lost + t.doubles + t.damaged + t.different + t.orphans + t.strange;
  return wrong == 0 && t.kills - t.early > 0 ? 0 : 1;
}
