/* faults_session - a small session of the whole program in a folder of its own, and what must hold
 * of it whatever failed on the way: the store is intact, older rows are there, the old header or
 * the whole new one, nothing left behind. */
#ifndef FAULTS_SESSION_H
#define FAULTS_SESSION_H

#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FS_ROOT    SCT_TESTS_DIR "/faults/"
#define FS_OLD     "/* the header before */\n"
#define FS_LIMIT_S 120
#define FS_MAX     (1 << 16) /* bytes of an output that are looked at */

typedef struct fs_place {
  char dir[96];
  char old_rows[FS_MAX / 4], new_rows[FS_MAX / 4]; /* what the store must hold in the end */
  char header[FS_MAX];                             /* the whole new one */
} fs_place;

typedef struct fs_run {
  int exit_code; /* 128 + signal */
  bool hung;
  int orphans;
  int64_t wall_ns;
  char out[FS_MAX], err[FS_MAX];
} fs_run;

/* ---- files ---- */

static inline const char *fs_path(const fs_place *p, const char *name) {
  static char paths[8][160];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", p->dir, name);
  return path;
}

static inline int fs_remove_(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
  (void)st, (void)kind, (void)ftw;
  return remove(path);
}

static inline void fs_delete(const char *path) {
  (void)nftw(path, fs_remove_, 16, FTW_DEPTH | FTW_PHYS);
}

static inline _Noreturn void fs_die(const char *what) {
  fprintf(stderr, "cannot %s: %s\n", what, strerror(errno));
  exit(3);
}

/* Up to FS_MAX - 1 bytes as text; "" if there is no file. */
static inline void fs_slurp(char out[FS_MAX], const char *path) {
  FILE *f = fopen(path, "r");
  out[f ? fread(out, 1, FS_MAX - 1, f) : 0] = '\0';
  if (f) {
    fclose(f);
  }
}

static inline void fs_spill(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
    fs_die(path);
  }
}

static inline void fs_copy(const char *from, const char *to) {
  char bytes[65536];
  FILE *in = fopen(from, "r"), *out = fopen(to, "w");
  if (!in || !out) {
    fs_die(from);
  }
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;) {
    if (fwrite(bytes, 1, n, out) != n) {
      fs_die(to);
    }
  }
  fclose(in);
  if (fclose(out) != 0) {
    fs_die(to);
  }
}

/* ---- runs ---- */

static inline void fs_child_(const fs_place *p, const char *const *words, const char *faults,
                             const char *fake, const char *out) {
  char *argv[32] = {(char *)(uintptr_t) "sectile"};
  int n = 1;
  for (; words[n - 1] && n < SCT_COUNT(argv) - 1; n++) {
    argv[n] = (char *)(uintptr_t)words[n - 1];
  }
  const int fd = open(out ? out : fs_path(p, "stdout"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err = open(fs_path(p, "stderr"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int in = open("/dev/null", O_RDONLY);
  if (dup2(in, 0) < 0 || dup2(fd, 1) < 0 || dup2(err, 2) < 0 || chdir(p->dir) != 0) {
    _exit(126);
  }
  for (int k = 3; k < 64; k++) {
    close(k);
  }
  setenv("XDG_CACHE_HOME", fs_path(p, "cache"), 1);
  setenv("XDG_DATA_HOME", p->dir, 1);
  faults ? setenv("SCT_FAULTS", faults, 1) : unsetenv("SCT_FAULTS");
  fake ? setenv("SECTILE_FAKE_GPU", fake, 1) : unsetenv("SECTILE_FAKE_GPU");
  execv(SCT_PROGRAM, argv);
  _exit(126);
}

static inline pid_t fs_start(const fs_place *p, const char *const *words, const char *faults,
                             const char *fake, const char *out) {
  fflush(NULL);
  const pid_t pid = fork();
  if (pid < 0) {
    fs_die("fork");
  }
  if (pid == 0) {
    fs_child_(p, words, faults, fake, out);
  }
  return pid;
}

static inline void fs_pause(int64_t ns) {
  const struct timespec t = {ns / 1000000000, ns % 1000000000};
  nanosleep(&t, NULL);
}

/* Processes that the run left behind are ours now (fs_adopt). Waits a little for those that are
 * about to end; kills and counts the others. */
static inline int fs_reap_orphans(void) {
  const int64_t end = sct_now_ns() + (int64_t)5 * 1000000000;
  for (;;) {
    const pid_t got = waitpid(-1, NULL, WNOHANG);
    if (got < 0) {
      return 0;
    }
    if (got == 0 && sct_now_ns() > end) {
      break;
    }
    if (got == 0) {
      fs_pause(200000);
    }
  }
  int n = 0;
  char command[64];
  snprintf(command, sizeof command, "pgrep -P %ld", (long)getpid());
  FILE *list = popen(command, "r");
  for (char line[32]; list && fgets(line, sizeof line, list);) {
    const pid_t pid = atoi(line);
    n += pid > 0 && kill(pid, SIGKILL) == 0;
  }
  if (list) {
    pclose(list);
  }
  while (waitpid(-1, NULL, WNOHANG) >= 0) {
    fs_pause(1000000);
  }
  return n > 0 ? n : 1;
}

static inline void fs_adopt(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static inline void fs_finish(const fs_place *p, pid_t pid, fs_run *r) {
  const int64_t start = sct_now_ns();
  int status = 0;
  r->hung = false;
  for (int64_t pause_ns = 200000;;) {
    const pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid) {
      break;
    }
    if (sct_now_ns() - start > (int64_t)FS_LIMIT_S * 1000000000) {
      r->hung = true;
      kill(pid, SIGKILL);
    }
    fs_pause(pause_ns);
    pause_ns = pause_ns < 4000000 ? pause_ns * 2 : pause_ns;
  }
  r->wall_ns = sct_now_ns() - start;
  r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  r->orphans = fs_reap_orphans();
  fs_slurp(r->out, fs_path(p, "stdout"));
  fs_slurp(r->err, fs_path(p, "stderr"));
}

static inline void fs_execute(const fs_place *p, const char *const *words, const char *faults,
                              const char *fake, fs_run *r) {
  fs_finish(p, fs_start(p, words, faults, fake, NULL), r);
}

#define FS_ASSETS FS_ROOT "assets"
static const char *const fs_tune[] = {
    "tune",   "--assets", FS_ASSETS,      "--store",          "store.db",
    "--json", "--device", "virtual:h200", FS_ROOT "tiny.lua", NULL};
static const char *const fs_tune_gpu[] = {
    "tune",   "--assets", FS_ASSETS, "--store",          "store.db",
    "--json", "--device", "cuda:0",  FS_ROOT "tiny.lua", NULL};
static const char *const fs_tune_many[] = {
    "tune",   "--assets", FS_ASSETS,       "--store",          "store.db",
    "--json", "--device", "cuda:0,cuda:1", FS_ROOT "tiny.lua", NULL};
static const char *const fs_tune_older[] = {"tune",         "--assets",  FS_ASSETS,
                                            "--store",      "store.db",  "--device",
                                            "virtual:h200", "older.lua", NULL};
static const char *const fs_emit[] = {"emit", "--store", "store.db", "copy", "-o", "out.h", NULL};

/* ---- the store ---- */

#define FS_ROWS                                                                                    \
  "SELECT group_concat(line, char(10)) FROM (SELECT p.name || ' ' || r.size_label || ' ' || "      \
  "d.device_id || ' ' || c.label || ' ' || o.outcome || ' ' || o.detail || ' ' || o.registers "    \
  "|| ' ' || o.requests_ld || ' ' || o.sectors_ld || ' ' || o.sectors_st || ' ' || o.coalesced "   \
  "|| ' ' || c.source_hash || ' ' || c.launch || ' ' || iif(r.winner = o.id, 'winner', '') AS "    \
  "line FROM outcome o JOIN candidate c ON c.id = o.candidate JOIN run r ON r.id = o.run JOIN "    \
  "problem p ON p.id = r.problem JOIN device d ON d.id = r.device WHERE p.name = ?1 ORDER BY "     \
  "line)"

/* One text of one row; "" for none or NULL. false: the file cannot be read as a store. */
static inline bool fs_query(const char *path, const char *sql, const char *arg, char *out,
                            size_t n) {
  sqlite3 *db = NULL;
  sqlite3_stmt *s = NULL;
  bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK;
  if (good && arg) {
    good = sqlite3_bind_text(s, 1, arg, -1, SQLITE_STATIC) == SQLITE_OK;
  }
  const int step = good ? sqlite3_step(s) : SQLITE_ERROR;
  const unsigned char *text = step == SQLITE_ROW ? sqlite3_column_text(s, 0) : NULL;
  snprintf(out, n, "%s", text ? (const char *)text : "");
  good = step == SQLITE_ROW || step == SQLITE_DONE;
  sqlite3_finalize(s);
  sqlite3_close(db);
  return good;
}

/* ---- what must hold ---- */

/* Names of a folder that no rule explains; "" if none. */
static inline void fs_strange_files(const char *dir, const char *const *known, char out[256]) {
  out[0] = '\0';
  DIR *d = opendir(dir);
  for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
    bool fine = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    for (int k = 0; !known && !fine && k == 0; k++) {
      fine = e->d_name[0] != '.';
    }
    for (int k = 0; known && known[k] && !fine; k++) {
      fine = strcmp(e->d_name, known[k]) == 0;
    }
    if (!fine) {
      snprintf(out, 256, "%s", e->d_name);
    }
  }
  if (d) {
    closedir(d);
  }
}

/* Says what is wrong with the folder after a run, "" if nothing. */
static inline void fs_check_files(const fs_place *p, char why[512]) {
  static const char *const known[] = {"store.db", "store.db-wal", "store.db-shm", "out.h",
                                      "stdout",   "stderr",       "cache",        "older.lua",
                                      "once",     "base.db",      "both.db",      NULL};
  static char text[FS_MAX];
  char name[256];
  why[0] = '\0';
  if (!fs_query(fs_path(p, "store.db"), "PRAGMA integrity_check", NULL, text, sizeof text) ||
      strcmp(text, "ok") != 0) {
    snprintf(why, 512, "integrity check: %.300s", text);
    return;
  }
  if (!fs_query(fs_path(p, "store.db"), FS_ROWS, "older", text, sizeof text) ||
      strcmp(text, p->old_rows) != 0) {
    snprintf(why, 512, "older rows are lost or changed");
    return;
  }
  fs_slurp(text, fs_path(p, "out.h"));
  if (strcmp(text, FS_OLD) != 0 && strcmp(text, p->header) != 0) {
    snprintf(why, 512, "the header is neither the old one nor the new one");
    return;
  }
  fs_strange_files(p->dir, known, name);
  if (name[0] == '\0') {
    fs_strange_files(fs_path(p, "cache/sectile/objects"), NULL, name);
  }
  if (name[0] == '\0') {
    fs_strange_files(fs_path(p, "cache/sectile/entries"), NULL, name);
  }
  if (name[0] != '\0') {
    snprintf(why, 512, "left behind: %s", name);
  }
}

/* ---- setting up ---- */

/* A store with the older problem (base.db), one with both (both.db), a filled cache, and what
 * everything must come to. Ends the program if a session without faults does not work. */
static inline void fs_prepare(fs_place *p) {
  static fs_run r;
  char text[4096];
  fs_slurp(r.out, FS_ROOT "tiny.lua");
  char *name = strstr(r.out, "\"copy\"");
  if (!name) {
    fs_die("find the kernel's name");
  }
  snprintf(text, sizeof text, "%.*s\"older\"%s", (int)(name - r.out), r.out, name + 6);
  fs_spill(fs_path(p, "older.lua"), text);
  const struct {
    const char *const *words;
    const char *keep_as;
  } steps[] = {{fs_tune_older, "base.db"}, {fs_tune, "both.db"}, {fs_emit, NULL}};
  for (int k = 0; k < SCT_COUNT(steps); k++) {
    fs_execute(p, steps[k].words, NULL, NULL, &r);
    if (r.exit_code != 0) {
      fprintf(stderr, "a session without faults ended with %d:\n%s", r.exit_code, r.err);
      exit(3);
    }
    if (steps[k].keep_as) {
      fs_copy(fs_path(p, "store.db"), fs_path(p, steps[k].keep_as));
    }
  }
  fs_slurp(p->header, fs_path(p, "out.h"));
  if (!fs_query(fs_path(p, "store.db"), FS_ROWS, "older", p->old_rows, sizeof p->old_rows) ||
      !fs_query(fs_path(p, "store.db"), FS_ROWS, "copy", p->new_rows, sizeof p->new_rows) ||
      p->old_rows[0] == '\0' || p->new_rows[0] == '\0') {
    fs_die("read what a session stored");
  }
}

static inline void fs_reset_store(const fs_place *p, const char *from) {
  unlink(fs_path(p, "store.db"));
  unlink(fs_path(p, "store.db-wal"));
  unlink(fs_path(p, "store.db-shm"));
  if (from) {
    fs_copy(from, fs_path(p, "store.db"));
  }
}

#endif
