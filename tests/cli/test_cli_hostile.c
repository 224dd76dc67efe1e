/* The corpus of tests/script/hostile: every attack goes through the real program, which must end,
 * must not crash, must say what is wrong at which line, and must show nothing of other files.
 *
 * A line of the corpus is KIND|EXPECTED|TEXT. Control characters stand there as their pictures
 * (U+2400 and on, U+2424 a new line), @OUT@ is a folder beside the spec's. KIND says where the text
 * goes (`places`), EXPECTED what becomes of it: 3 refused with file and line, 1 refused as a file,
 * 0 harmless (its kernel is looked at), f a candidate that fails, with file and line. */
#include "cli_fixture.h"
#include "part.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { MAX_ATTACKS = 1000, BATCH = 12, AT_ONCE = 3, MAX_RSS_KIB = 1200 * 1024 };

typedef struct attack {
  const char *category, *kind, *text;
  size_t n;
  int line; /* in its file of the corpus */
  char expected;
} attack;

static attack attacks[MAX_ATTACKS];
static int n_attacks;
static long largest_kib;

/* ---- where the text goes ---- */

#define SPEC(fields) "local s = require 'sectile'\nreturn s.kernel { " fields " }\n"
#define OUTPUTS      "outputs = { s.array('b', 'f32') }, "
#define INPUT(array) "inputs = { " array " }, " OUTPUTS
#define A            "s.array('a', 'f32')"
#define BODY         "body = 'b = a;', "
#define SIZES        "sizes = { { i = 64 } }"
#define HEAD         "name = 'k', dims = { 'i' }, "
/* of an output: elements of what is only read may overlap */
#define WITH_LAYOUT                                                                                \
  SPEC(HEAD "inputs = { " A                                                                        \
            " }, outputs = { s.array('b', 'f32', s.layout 'layout_%d.lua') }, " BODY SIZES)
#define STRATEGY                                                                                   \
  "return { name = 'p%d', template = 'probe%d.cu', axes = {},\n  plan = function(k, c)\n"

typedef enum how { CHECK, ALONE, SPACE, CANDIDATE } how;

/* %d is the attack's number; the text stands between `before` and `after`. */
static const struct place {
  const char *kind;
  how run;
  const char *file, *before, *after;
} places[] = {
    {"raw", CHECK, "in/spec_%d.lua", "", ""},
    {"prelude", CHECK, "in/spec_%d.lua", "", "\n" SPEC(HEAD INPUT(A) BODY SIZES)},
    {"slow", ALONE, "in/spec_%d.lua", "", "\n"},
    {"name", CHECK, "in/spec_%d.lua", "local s = require 'sectile'\nreturn s.kernel { name = ",
     ", dims = { 'i' }, " INPUT(A) BODY SIZES " }"},
    {"dim", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { name = 'k', dims = { ",
     " }, " INPUT(A) BODY SIZES " }"},
    {"scalar", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD "scalars = { { ",
     ", 'f32' } }, " INPUT(A) BODY SIZES " }"},
    {"array", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD "inputs = { s.array(",
     ", 'f32') }, " OUTPUTS BODY SIZES " }"},
    {"field", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD "inputs = { s.array('a', s.record { { ",
     ", 'f32' } }) }, " OUTPUTS BODY SIZES " }"},
    {"record", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD
     "inputs = { s.array('a', s.record { { 'x', 'f32' }, name = ",
     " }) }, " OUTPUTS "body = 'b = a.x;', " SIZES " }"},
    {"at", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD
     "inputs = { s.array('a', 'f32', s.row_major, { at = ",
     " }) }, " OUTPUTS BODY SIZES " }"},
    {"extents", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD
     "inputs = { s.array('a', 'f32', s.row_major, { extents = ",
     " }) }, " OUTPUTS BODY SIZES " }"},
    {"option", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD
     "inputs = { s.array('a', 'f32', s.row_major, ",
     ") }, " OUTPUTS BODY SIZES " }"},
    {"sizes", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD INPUT(A) BODY "sizes = ", " }"},
    {"kernel", CHECK, "in/spec_%d.lua", "local s = require 'sectile'\nreturn s.kernel { ", " }"},
    {"body", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD INPUT(A) SIZES ", body = [====[\n",
     "\n]====] }"},
    {"bodyexpr", CHECK, "in/spec_%d.lua",
     "local s = require 'sectile'\nreturn s.kernel { " HEAD INPUT(A) SIZES ", body = ", " }"},
    {"layout", CHECK, "in/layout_%d.lua", "", "\n"},
    {"layoutname", CHECK, "in/layout_%d.lua", "return { name = ",
     ", bytes = function(l, ext) return ext[1] * 4 end,\n  offset = function(l, f, idx, ext) "
     "return idx[1] * 4 end }"},
    {"offset", CHECK, "in/layout_%d.lua",
     "return { name = 'x', bytes = function(l, ext) return ext[1] * 4 end,\n  offset = function(l, "
     "f, idx, ext)\n",
     "\n  end }"},
    {"fifo", CHECK, NULL, NULL, NULL},
    {"device", CHECK, NULL, NULL, NULL},
    {"huge", CHECK, NULL, NULL, NULL},
    {"strategy", SPACE, "own_%d/own.lua", "", "\n"},
    {"strategylink", SPACE, NULL, NULL, NULL},
    {"plan", CANDIDATE, "plans/p%d.lua", STRATEGY, "\n  end }\n"},
    {"template", CANDIDATE, "assets/templates/probe%d.cu", "", "\n"},
};

static const struct place *place_of(const attack *a) {
  for (int k = 0; k < SCT_COUNT(places); k++) {
    if (strcmp(places[k].kind, a->kind) == 0) {
      return &places[k];
    }
  }
  fail_msg("%s:%d: unknown kind '%s'", a->category, a->line, a->kind);
  return NULL;
}

/* ---- the corpus ---- */

/* The text of a line with pictures as the characters they show. */
static void unfold(attack *a, const char *text, size_t n) {
  sct_str out = {0};
  for (size_t k = 0; k < n; k++) {
    const unsigned char *u = (const unsigned char *)text + k;
    if (k + 2 < n && u[0] == 0xe2 && u[1] == 0x90 && (u[2] < 0xa0 || u[2] == 0xa4)) {
      const char c = u[2] == 0xa4 ? '\n' : (char)(u[2] - 0x80);
      sct_str_append_n(&out, &c, 1);
      k += 2;
    } else if (k + 5 <= n && memcmp(u, "@OUT@", 5) == 0) {
      sct_str_append(&out, fx_path("outside"));
      k += 4;
    } else {
      sct_str_append_n(&out, text + k, 1);
    }
  }
  char *copy = sct_arena_alloc(&fx_arena, out.len + 1);
  assert_non_null(copy);
  memcpy(copy, sct_str_c(&out), out.len);
  a->text = copy;
  a->n = out.len;
  sct_str_free(&out);
}

/* "{{{...}}}" and the like, `n` deep; the texts of the kinds deep*. */
static void deepen(attack *a) {
  static const struct {
    const char *kind, *first, *open, *middle, *close;
  } shapes[] = {{"deeptable", "local x = ", "{", "1", "}"},
                {"deepcall", "local x = ", "type(", "1", ")"},
                {"deepparen", "local x = ", "(", "1", ")"},
                {"deepconcat", "local x = ", "'a' .. ", "'a'", ""},
                {"deepif", "", "if x then ", "", "end "}};
  const long n = strtol(a->text, NULL, 10);
  for (int k = 0; k < SCT_COUNT(shapes); k++) {
    if (strcmp(shapes[k].kind, a->kind) != 0) {
      continue;
    }
    sct_str text = {0};
    sct_str_append(&text, shapes[k].first);
    for (long d = 0; d < 2 * n + 1; d++) {
      sct_str_append(&text, d < n ? shapes[k].open : d == n ? shapes[k].middle : shapes[k].close);
    }
    sct_str_append(&text, " error 'deep'");
    a->kind = "prelude";
    a->text = sct_arena_strdup(&fx_arena, sct_str_c(&text));
    a->n = text.len;
    sct_str_free(&text);
  }
}

static void read_line(const char *category, int line, const char *text, size_t n) {
  const char *bar = memchr(text, '|', n);
  const char *next = bar ? memchr(bar + 1, '|', n - (size_t)(bar + 1 - text)) : NULL;
  if (!next || next != bar + 2 || n_attacks == MAX_ATTACKS) {
    fail_msg("%s:%d: KIND|EXPECTED|TEXT was expected", category, line);
    return;
  }
  attack *a = &attacks[n_attacks++];
  *a = (attack){.category = category, .line = line, .expected = bar[1]};
  a->kind = sct_arena_strndup(&fx_arena, text, (size_t)(bar - text));
  unfold(a, next + 1, n - (size_t)(next + 1 - text));
  deepen(a);
}

static void read_category(const char *name) {
  sct_str path = {0}, text = {0};
  sct_error err;
  sct_str_printf(&path, "%s/script/hostile/%s", SCT_TESTS_DIR, name);
  assert_int_equal(sct_file_read(&text, sct_str_c(&path), &err), SCT_OK);
  const char *category = sct_arena_strndup(&fx_arena, name, strcspn(name, "."));
  int line = 1;
  for (const char *p = sct_str_c(&text); *p; line++) {
    const size_t n = strcspn(p, "\n");
    if (*p != '#') {
      read_line(category, line, p, n);
    }
    p += n + (p[n] == '\n');
  }
  sct_str_free(&text);
  sct_str_free(&path);
}

static int is_category(const struct dirent *entry) {
  return sct_has_suffix(entry->d_name, ".txt");
}

/* ---- the folders ---- */

static void write_bytes(const char *name, const char *before, const char *text, size_t n,
                        const char *after) {
  FILE *file = fopen(fx_path(name), "wb");
  assert_non_null(file);
  fputs(before, file);
  assert_int_equal(fwrite(text, 1, n, file), n);
  fputs(after, file);
  assert_int_equal(fclose(file), 0);
}

static const char *numbered(const char *format, int number) {
  char text[512];
  char digits[16];
  size_t n = 0;
  snprintf(digits, sizeof digits, "%d", number);
  for (const char *p = format; *p && n + sizeof digits < sizeof text; p++) {
    if (p[0] == '%' && p[1] == 'd') {
      n += (size_t)snprintf(text + n, sizeof text - n, "%s", digits);
      p++;
    } else {
      text[n++] = *p;
    }
  }
  text[n] = '\0';
  return sct_arena_strdup(&fx_arena, text);
}

static void write_attack(const attack *a, int number) {
  const struct place *place = place_of(a);
  if (!place->file) {
    return;
  }
  if (place->run == SPACE) {
    assert_int_equal(mkdir(fx_path(numbered("own_%d", number)), 0700), 0);
  }
  write_bytes(numbered(place->file, number), numbered(place->before, number), a->text, a->n,
              place->after);
  if (strcmp(place->file, "in/layout_%d.lua") == 0) {
    const char *spec = numbered(WITH_LAYOUT, number);
    fx_write(numbered("in/spec_%d.lua", number), spec);
  } else if (strcmp(a->kind, "template") == 0) {
    sct_str plan = {0};
    sct_str_printf(&plan, "%s%s", numbered(STRATEGY, number),
                   "    return { kernel = 'k', threads = 64, grid = k.extents[1] } end }\n");
    fx_write(numbered("plans/p%d.lua", number), sct_str_c(&plan));
    sct_str_free(&plan);
  } else if (strcmp(a->kind, "plan") == 0) {
    fx_write(numbered("assets/templates/probe%d.cu", number), "// nothing\n");
  }
}

static void write_surroundings(void) {
  static const char *const folders[] = {"in",     "in/sub",           "outside", "plans",
                                        "assets", "assets/templates", "links"};
  for (int k = 0; k < SCT_COUNT(folders); k++) {
    assert_int_equal(mkdir(fx_path(folders[k]), 0700), 0);
  }
  fx_write("outside/canary.lua", "CANARY_CONTENT = = 'CANARY_CONTENT'\n");
  fx_write("in/loop_a.lua", "return include 'loop_b.lua'\n");
  fx_write("in/loop_b.lua", "return include 'loop_a.lua'\n");
  fx_write("in/good.lua", SPEC(HEAD INPUT(A) BODY SIZES));
  write_bytes("in/bytes.lua", "", "\x1bLua\x54\x00", 6, "");
  write_bytes("in/zero.lua", "return 1", "\0", 1, "2");
  write_bytes("in/huge.lua", "return", "", 0, "");
  assert_int_equal(truncate(fx_path("in/huge.lua"), (1 << 20) + 1), 0);
  write_bytes("in/large.lua", "return", "", 0, "");
  assert_int_equal(truncate(fx_path("in/large.lua"), (off_t)1 << 40), 0);
  assert_int_equal(mkfifo(fx_path("in/pipe.lua"), 0600), 0);
  assert_int_equal(symlink(fx_path("outside/canary.lua"), fx_path("in/link.lua")), 0);
  assert_int_equal(symlink(fx_path("outside"), fx_path("in/folder")), 0);
  assert_int_equal(symlink("link.lua", fx_path("in/hop.lua")), 0);
  assert_int_equal(symlink(fx_path("outside/canary.lua"), fx_path("links/own.lua")), 0);
}

/* ---- running ---- */

typedef struct job {
  pid_t pid;
  int number; /* names its output files */
} job;

static job start(const char *const *words, int number) {
  char out[32];
  char err[32];
  snprintf(out, sizeof out, "out_%d", number);
  snprintf(err, sizeof err, "err_%d", number);
  const char *out_path = fx_path(out), *err_path = fx_path(err);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(open(out_path, O_CREAT | O_TRUNC | O_WRONLY, 0600), 1);
    dup2(open(err_path, O_CREAT | O_TRUNC | O_WRONLY, 0600), 2);
    dup2(open("/dev/null", O_RDONLY), 0);
    alarm(120); /* a hang is a failure of the test, not of the machine */
    fx_exec_(words);
  }
  return (job){pid, number};
}

/* Waits, reads what it said, and looks for what must never be there. */
static void finish(fx_result *r, const job *j) {
  int status = 0;
  struct rusage usage;
  fx_free(r);
  while (wait4(j->pid, &status, 0, &usage) != j->pid) {
  }
  r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  largest_kib = usage.ru_maxrss > largest_kib ? usage.ru_maxrss : largest_kib;
  sct_error err = {0};
  assert_int_equal(sct_file_read(&r->out, fx_path(numbered("out_%d", j->number)), &err), SCT_OK);
  assert_int_equal(sct_file_read(&r->err, fx_path(numbered("err_%d", j->number)), &err), SCT_OK);
  static const char *const never[] = {"CANARY_CONTENT", "root:x:0:", "\x1b", "AddressSanitizer"};
  for (int k = 0; k < SCT_COUNT(never); k++) {
    if (strstr(sct_str_c(&r->out), never[k]) || strstr(sct_str_c(&r->err), never[k])) {
      fx_show(r);
      fail_msg("the output holds '%s'", never[k]);
    }
  }
  if (r->exit_code >= 128) {
    fx_show(r);
    fail_msg("killed by signal %d", r->exit_code - 128);
  }
}

/* "FOLDER/name.lua:12: error: ...", "FOLDER/name.lua:12:3: error: ..." of a body, or
 * "templates/name.cu:12: error: ..." anywhere in the text. */
static bool is_located(const char *text) {
  static const char *const ends[] = {".lua:", ".cu:"};
  for (int k = 0; k < SCT_COUNT(ends); k++) {
    for (const char *at = strstr(text, ends[k]); at; at = strstr(at + 1, ends[k])) {
      const char *digits = at + strlen(ends[k]);
      const size_t n = strspn(digits, "0123456789:");
      if (n > 0 && digits[0] != '0' && sct_has_prefix(digits + n, " error: ")) {
        return true;
      }
    }
  }
  return false;
}

static void complain(const attack *a, int number, const char *what, const char *said) {
  print_error("%s.txt:%d (number %d): %s\n  %s|%c|%.300s\n  said: %.600s\n", a->category, a->line,
              number, what, a->kind, a->expected, a->text, said);
}

/* A refusal with its place, or none where none is due. */
static bool evaluate(const attack *a, int number, int exit_code, const char *said) {
  const int expected = a->expected - '0';
  if (exit_code != expected) {
    char what[64];
    snprintf(what, sizeof what, "exit code %d", exit_code);
    complain(a, number, what, said);
    return false;
  }
  if (exit_code == 3 && !is_located(said)) {
    complain(a, number, "no file and line", said);
    return false;
  }
  return true;
}

static const char *spec_of(const attack *a, int number) {
  return strcmp(a->kind, "fifo") == 0     ? "in/pipe.lua"
         : strcmp(a->kind, "device") == 0 ? "/dev/zero"
         : strcmp(a->kind, "huge") == 0   ? "in/huge.lua"
                                          : numbered("in/spec_%d.lua", number);
}

/* Outside of comments and strings every curly bracket closes, and nothing of an attack is left. */
static bool brackets_close(const char *cuda) {
  int depth = 0;
  for (const char *p = cuda; *p; p++) {
    if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n") - 1;
    } else if (p[0] == '/' && p[1] == '*') {
      const char *end = strstr(p + 2, "*/");
      p = end ? end + 1 : p + strlen(p) - 1;
    } else if (sct_has_prefix(p, "INJECTED") || depth < 0) {
      return false;
    } else {
      depth += (*p == '{') - (*p == '}');
    }
  }
  return depth == 0;
}

/* The kernel of a spec that was accepted holds nothing of the attack. */
static bool harmless(const attack *a, int number) {
  fx_result r = {0};
  const job j = start((const char *[]){"gen", spec_of(a, number), NULL}, number);
  finish(&r, &j);
  const bool good = r.exit_code == 0 && brackets_close(sct_str_c(&r.out));
  if (!good) {
    complain(a, number, "the kernel of what was accepted", sct_str_c(&r.out));
  }
  fx_free(&r);
  return good;
}

/* ---- batches of `check` ---- */

typedef struct batch {
  int numbers[BATCH];
  int n;
  job job;
} batch;

static void start_batch(batch *b) {
  const char *words[BATCH + 3] = {"check", "--json"};
  for (int k = 0; k < b->n; k++) {
    words[2 + k] = spec_of(&attacks[b->numbers[k]], b->numbers[k]);
  }
  b->job = start(words, b->numbers[0]);
}

static int finish_batch(const batch *b) {
  fx_result r = {0};
  int n_bad = 0;
  finish(&r, &b->job);
  json_t *doc = fx_json(&r);
  json_t *checked = json_object_get(doc, "checked");
  assert_int_equal(json_array_size(checked), (size_t)b->n);
  for (int k = 0; k < b->n; k++) {
    json_t *one = json_array_get(checked, (size_t)k), *error = json_object_get(one, "error");
    const attack *a = &attacks[b->numbers[k]];
    const bool ok = json_is_true(json_object_get(one, "ok"));
    const char *said = ok ? "ok" : json_string_value(json_object_get(error, "text"));
    const int code = ok ? 0 : (int)json_integer_value(json_object_get(error, "exit_code"));
    bool good = evaluate(a, b->numbers[k], code, said ? said : "");
    good = good && (!ok || harmless(a, b->numbers[k]));
    n_bad += !good;
  }
  json_decref(doc);
  fx_free(&r);
  return n_bad;
}

static int run_batches(how which, int size) {
  batch running[AT_ONCE];
  int n_running = 0, n_bad = 0, n_alone = 0;
  for (int k = 0; k < n_attacks;) {
    batch b = {.n = 0};
    for (; k < n_attacks && b.n < size; k++) {
      /* each of those that run alone may take all of its time: a run has a part of them */
      if (place_of(&attacks[k])->run == which && (which != ALONE || part_has(n_alone++))) {
        b.numbers[b.n++] = k;
      }
    }
    if (b.n == 0) {
      break;
    }
    if (n_running == AT_ONCE) {
      n_bad += finish_batch(&running[0]);
      memmove(running, running + 1, sizeof *running * (size_t)--n_running);
    }
    start_batch(&b);
    running[n_running++] = b;
  }
  for (int k = 0; k < n_running; k++) {
    n_bad += finish_batch(&running[k]);
  }
  return n_bad;
}

/* ---- strategies, plans, templates ---- */

static int run_strategies(void) {
  int n_bad = 0;
  for (int k = 0; k < n_attacks; k++) {
    if (place_of(&attacks[k])->run != SPACE) {
      continue;
    }
    fx_result r = {0};
    const bool link = strcmp(attacks[k].kind, "strategylink") == 0;
    const char *folder = link ? "links" : numbered("own_%d", k);
    const job j = start((const char *[]){"space", "in/good.lua", "--strategies", folder, NULL}, k);
    finish(&r, &j);
    n_bad += !evaluate(&attacks[k], k, r.exit_code, sct_str_c(&r.err));
    fx_free(&r);
  }
  return n_bad;
}

/* All plans and templates in one run: each is a candidate that fails, at a line of its own. */
static int run_candidates(void) {
  fx_result r = {0};
  int n_bad = 0;
  const job j = start((const char *[]){"space", "in/good.lua", "--strategies", "plans", "--assets",
                                       "assets", "--json", NULL},
                      n_attacks);
  finish(&r, &j);
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r), *failed = json_object_get(doc, "failed"), *one;
  for (int k = 0; k < n_attacks; k++) {
    if (place_of(&attacks[k])->run != CANDIDATE) {
      continue;
    }
    const char *said = NULL;
    size_t index;
    json_array_foreach(failed, index, one) {
      const char *label = json_string_value(json_object_get(one, "label"));
      if (strcmp(label, numbered("p%d", k)) == 0) {
        said = json_string_value(json_object_get(one, "detail"));
      }
    }
    if (!said || !is_located(said)) {
      complain(&attacks[k], k, "no failed candidate with file and line", said ? said : "nothing");
      n_bad++;
    }
  }
  json_decref(doc);
  fx_free(&r);
  return n_bad;
}

/* ---- the whole ---- */

static int count_files(const char *name) {
  int n = 0;
  DIR *dir = opendir(fx_path(name));
  assert_non_null(dir);
  while (readdir(dir)) {
    n++;
  }
  closedir(dir);
  return n;
}

static void print_counts(double seconds) {
  print_message("hostile: %d scripts in %.1f s, largest process %ld MiB:", n_attacks, seconds,
                largest_kib / 1024);
  for (int k = 0, from = 0; k <= n_attacks; k++) {
    if (k == n_attacks || attacks[k].category != attacks[from].category) {
      print_message(" %s %d%s", attacks[from].category, k - from, k == n_attacks ? "" : ",");
      from = k;
    }
  }
  print_message("; 0 hangs, 0 crashes, 0 other files read\n");
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void every_attack_is_survived(void **state) {
  (void)state;
  struct dirent **names = NULL;
  const double start_s = now_s();
  write_surroundings();
  const int n_files = scandir(SCT_TESTS_DIR "/script/hostile", &names, is_category, alphasort);
  for (int k = 0; k < n_files; k++) {
    read_category(names[k]->d_name);
    free(names[k]);
  }
  free(names);
  assert_true(n_attacks >= 220);
  for (int k = 0; k < n_attacks; k++) {
    write_attack(&attacks[k], k);
  }
  setenv("SECTILE_SCRIPT_STEPS", "2000000", 1); /* a tenth, for it to be quick */
  const int inside = count_files("in"), outside = count_files("outside");
  setenv("SECTILE_SCRIPT_SECONDS", "1", 1);
  int n_bad = run_batches(ALONE, 1);
  unsetenv("SECTILE_SCRIPT_SECONDS");
  n_bad += run_batches(CHECK, BATCH);
  n_bad += run_strategies();
  n_bad += run_candidates();
  assert_int_equal(count_files("in"), inside);
  assert_int_equal(count_files("outside"), outside);
  assert_true(SCT_SANITIZED || largest_kib < MAX_RSS_KIB);
  if (n_bad > 0) {
    fail_msg("%d of %d attacks", n_bad, n_attacks);
  }
  print_counts(now_s() - start_s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_attack_is_survived)};
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
