/* Kernels that are right, which verification on the virtual device must accept, and mutants of
 * them, which it must refuse. In those of our own kernels one place of a template, of the device
 * library, of a strategy or of the CUDA source is changed; data files (tests/tune/mutants/NAME.lua)
 * list them. Those of users' kernels are written out, in directories (tests/mutants/NAME).
 * tests/tune/mutants.lua says how.
 *
 *   test_tune_mutants [option]... [NAME|DIR|SPEC.lua]...    default: all of both
 *
 *   NAME         a data file, or a directory of tests/mutants
 *   DIR          another directory: a word with a slash
 *   SPEC.lua     with --operators: a candidate of each strategy, drawn by the seed
 *   --own        all directories of tests/mutants, or a quarter of SECTILE_TEST_PART of them
 *   --kind KIND  of this kind only
 *   --number N   number N of each data file only
 *   --operators  what tests/tune/mutants/operators.lua makes of the candidates' CUDA source, one
 *                change each, in place of the written mutants; a miss is no failure then, as many
 *                change nothing that can be seen
 *   --sample N   so many of all, drawn by the seed
 *   --seed S     also of the data
 *   --verbose    prints what became of each
 *
 * Prints a table, and below it those that are not caught. Exit code 1 where a right kernel is
 * refused, or a written mutant is missed or does not run, unless docs/figures/mutants.md lists it.
 */
#include "mutants_run.h"
#include "part.h"

#include <dirent.h>
#include <sys/resource.h>

#define MAX_GROUPS 400

static struct {
  const char *kind;
  const char *names[256];
  int n_names;
  int64_t number, sample;
  uint64_t seed;
  bool operators, own, verbose;
} options = {.seed = MR_SEED};

typedef struct work {
  mr_group groups[MAX_GROUPS];
  int n_groups;
  int n_failed;
  sct_str page; /* docs/figures/mutants.md */
} work;

/* ---- which ---- */

static bool is_wanted(const md_item *item) {
  return !item->kind ||
         (!options.operators && (!options.kind || strcmp(item->kind, options.kind) == 0) &&
          (options.number == 0 || item->number == options.number));
}

/* A candidate of each strategy that planning accepts, if one of a few does. */
static void draw(mr_group *g) {
  sct_rng rng = sct_rng_new(options.seed);
  for (int strategy = 0; strategy < g->f.space.n_strategies; strategy++) {
    int64_t n = 0, first = -1;
    for (size_t c = g->f.space.n_candidates; c > 0; c--) {
      const bool is_its = g->f.space.candidates[c - 1].strategy == strategy;
      n += is_its;
      first = is_its ? (int64_t)c - 1 : first;
    }
    for (int tries = 0; n > 0 && tries < 8; tries++) {
      sct_str label = {0};
      sct_space_label(&label, &g->f.space, &g->f.space.candidates[first + sct_rng_below(&rng, n)]);
      md_item *item = SCT_ARENA_NEW(&md_arena, md_item, 1);
      *item = (md_item){.name = "drawn", .label = sct_arena_strdup(&md_arena, sct_str_c(&label))};
      sct_str_free(&label);
      const int at = mr_add_of(g, item, g->f.script, &g->f.space);
      if (!g->list[at].detail) {
        break;
      }
      g->n--; /* rejected */
    }
  }
}

static void open_groups(work *w, const char *name) {
  int n = 0;
  const md_group *groups = md_groups(name, &n);
  for (int k = 0; k < n; k++) {
    assert_in_range(w->n_groups, 0, MAX_GROUPS - 1);
    mr_group *g = &w->groups[w->n_groups++];
    mr_open(g, &groups[k]);
    for (int i = 0; i < groups[k].n_items; i++) {
      if (is_wanted(&groups[k].items[i])) {
        mr_render(g, i);
      }
    }
    if (groups[k].drawn) {
      draw(g);
    }
    const size_t n_written = g->n;
    for (size_t i = 0; options.operators && i < n_written; i++) {
      if (g->list[i].item && !g->list[i].detail) {
        mr_operate(g, (int)i);
      }
    }
  }
}

static const char *kind_of(const mr_kernel *kernel) {
  return kernel->change ? kernel->change->kind : kernel->item ? kernel->item->kind : NULL;
}

/* Leaves out mutants of other kinds, and those that are not drawn: as many are left as it says. */
static void sample(work *w) {
  sct_rng rng = sct_rng_new(options.seed);
  int64_t n = 0;
  for (int g = 0; g < w->n_groups; g++) {
    for (size_t k = 0; k < w->groups[g].n; k++) {
      mr_kernel *kernel = &w->groups[g].list[k];
      const char *kind = kind_of(kernel);
      if (kind && options.kind && strcmp(kind, options.kind) != 0) {
        kernel->end = MR_LEFT_OUT;
      }
      n += kind && kernel->end != MR_LEFT_OUT;
    }
  }
  const int64_t all = options.sample > 0 && options.sample < n ? options.sample : n;
  int64_t needed = all;
  if (all < n) {
    printf("%lld of %lld mutants, seed %llu\n", (long long)all, (long long)n,
           (unsigned long long)options.seed);
  }
  for (int g = 0; g < w->n_groups; g++) {
    for (size_t k = 0; k < w->groups[g].n; k++) {
      mr_kernel *kernel = &w->groups[g].list[k];
      if (kind_of(kernel) && kernel->end != MR_LEFT_OUT) {
        const bool is_drawn = sct_rng_below(&rng, n--) < needed; /* of those that follow */
        needed -= is_drawn;
        kernel->end = is_drawn ? kernel->end : MR_LEFT_OUT;
      }
    }
  }
}

/* ---- what came of them ---- */

static void print_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\n') {
      printf("\\n");
    } else {
      putchar(*text);
    }
  }
}

static void print_change(const char *where, const char *from, const char *to) {
  printf(", %s: ", where);
  print_text(from);
  printf(" -> ");
  print_text(to);
}

static void print_kernel(const mr_group *g, const mr_kernel *kernel, const char *what) {
  const char *kind = kind_of(kernel);
  if (kernel->item->what && !kernel->change) {
    printf("%s: %s %d: %s%s%s\n", what, kernel->item->name, kernel->item->number,
           *kernel->item->what ? kernel->item->what : kernel->item->label,
           kernel->detail ? ": " : "", kernel->detail ? kernel->detail : "");
    return;
  }
  printf("%s%s%s: %s, spec %s, %s '%s'", what, kind ? ": " : "", kind ? kind : "", g->data->data,
         g->data->spec, kernel->item->name, kernel->item->label);
  if (kernel->item->number > 0) {
    printf(", number %d", kernel->item->number);
  }
  if (kernel->change) {
    print_change(kernel->change->where, kernel->change->from, kernel->change->to);
  } else if (kernel->item->file) {
    print_change(kernel->item->file, kernel->item->from, kernel->item->to);
  }
  printf("%s%s\n", kernel->detail ? ": " : "", kernel->detail ? kernel->detail : "");
}

/* Do the figures list a kernel of a directory as one that is not caught, or refused? */
static bool is_known(const work *w, const mr_kernel *kernel) {
  char row[128];
  snprintf(row, sizeof row, "\n| %s | %d |", kernel->item->name, kernel->item->number);
  return kernel->item->what && strstr(sct_str_c(&w->page), row) != NULL;
}

/* Must a kernel that is a mutant be caught? */
static bool is_held(const work *w, const mr_kernel *kernel) {
  return !options.operators && strcmp(kind_of(kernel), "large") != 0 && !is_known(w, kernel);
}

static void report(work *w) {
  static const char *const ends[] = {"", "missed", "caught", "does not run", "same code"};
  for (int g = 0; g < w->n_groups; g++) {
    for (size_t k = 0; k < w->groups[g].n; k++) {
      const mr_kernel *kernel = &w->groups[g].list[k];
      const bool is_mutant = kind_of(kernel) != NULL;
      const bool is_left_out = w->groups[g].data->drawn && kernel->end == MR_NOT_RUN;
      const bool is_good = kernel->end == (is_mutant ? MR_WRONG : MR_RIGHT) || is_left_out;
      if (!kernel->item || kernel->end == MR_LEFT_OUT) {
        continue;
      }
      const bool is_failure = !is_good && (is_mutant ? is_held(w, kernel) : !is_known(w, kernel));
      w->n_failed += is_failure;
      const bool is_listed = is_failure || (is_mutant ? kernel->end == MR_RIGHT : !is_good);
      if (options.verbose || is_listed) {
        print_kernel(&w->groups[g], kernel,
                     is_mutant ? ends[kernel->end]
                     : is_good ? "right"
                               : "not right");
      }
    }
  }
}

static void print_row(const work *w, const char *kind) {
  int n[MR_SAME + 1] = {0};
  for (int g = 0; g < w->n_groups; g++) {
    for (size_t k = 0; k < w->groups[g].n; k++) {
      const mr_kernel *kernel = &w->groups[g].list[k];
      const char *its = kind_of(kernel);
      n[kernel->end] += its && (!kind || strcmp(its, kind) == 0);
    }
  }
  const int all = n[MR_WRONG] + n[MR_RIGHT];
  if (all + n[MR_NOT_RUN] + n[MR_SAME] > 0) {
    printf("%-10s %8d %8d %8d %8d %10d\n", kind ? kind : "all", all, n[MR_WRONG], n[MR_RIGHT],
           n[MR_NOT_RUN], n[MR_SAME]);
  }
}

static void print_table(const work *w) {
  int n = 0;
  const char **kinds = md_kinds(&n);
  printf("\n%-10s %8s %8s %8s %8s %10s\n", "kind", "mutants", "caught", "missed", "not run",
         "same code");
  for (int k = 0; k < n; k++) {
    print_row(w, kinds[k]);
  }
  print_row(w, NULL);
}

static double seconds(const struct timeval *t) {
  return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* Processor time of this program and of workers that have ended. */
static double processor_s(void) {
  struct rusage own, workers;
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &workers);
  return seconds(&own.ru_utime) + seconds(&own.ru_stime) + seconds(&workers.ru_utime) +
         seconds(&workers.ru_stime);
}

/* Returns how many kernels ran. */
static int verify(work *w) {
  double spent_s = 0;
  int n = 0;
  for (int k = 0; k < w->n_groups; k++) {
    mr_group *g = &w->groups[k];
    if (options.kind || options.number || options.sample || options.operators) {
      mr_leave_out(g);
    }
    mr_compile(g);
    const double before_s = processor_s();
    mr_verify(g, options.seed);
    spent_s += processor_s() - before_s;
    for (size_t i = 0; i < g->n; i++) {
      n += g->list[i].end == MR_RIGHT || g->list[i].end == MR_WRONG;
    }
  }
  printf("%d kernels verified, %.1f s of processor time, %.1f ms each\n", n, spent_s,
         1e3 * spent_s / (n > 0 ? n : 1));
  return n;
}

static void mutants_are_caught(void **state) {
  work *w = sct_alloc(sizeof *w);
  *w = (work){0};
  (void)state;
  md_open();
  if (options.kind) {
    md_check_kind(options.kind);
  }
  for (int k = 0; k < options.n_names; k++) {
    open_groups(w, options.names[k]);
  }
  (void)sct_file_read(&w->page, SCT_ROOT_DIR "/docs/figures/mutants.md", NULL);
  sample(w);
  const int n = verify(w);
  print_table(w);
  report(w);
  const int n_failed = w->n_failed;
  for (int g = 0; g < w->n_groups; g++) {
    mr_close(&w->groups[g]);
  }
  sct_str_free(&w->page);
  sct_free(w);
  md_close();
  if (n == 0) {
    fail_msg("there is no such mutant");
  }
  if (n_failed > 0) {
    fail_msg("%d are not caught, or are candidates that are not right", n_failed);
  }
}

/* ---- the program ---- */

static int setup(void **state) {
  (void)state;
  mr_setup();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  mr_teardown();
  return 0;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a folder that end so, without their ends. */
static void take_all(sct_arena *arena, const char *folder, const char *end) {
  const int first = options.n_names;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
    const size_t n = strlen(e->d_name), n_end = strlen(end);
    if (n > n_end && e->d_name[0] != '.' && strcmp(e->d_name + n - n_end, end) == 0 &&
        strcmp(e->d_name, "operators.lua") != 0) {
      assert_in_range(options.n_names, 0, SCT_COUNT(options.names) - 1);
      options.names[options.n_names++] = sct_arena_strndup(arena, e->d_name, n - n_end);
    }
  }
  closedir(dir);
  qsort(options.names + first, (size_t)(options.n_names - first), sizeof *options.names, by_name);
}

/* All directories of users' kernels, or a part of them. */
static void take_own(sct_arena *arena) {
  int n = options.n_names;
  take_all(arena, SCT_TESTS_DIR "/mutants", "");
  for (int k = n, end = options.n_names; k < end; k++) {
    if (part_has_of(k, 4)) { /* each takes a second or more */
      options.names[n++] = options.names[k];
    }
  }
  options.n_names = n;
}

static bool take(int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    const char *word = argv[k];
    if (strcmp(word, "--operators") == 0) {
      options.operators = true;
    } else if (strcmp(word, "--own") == 0) {
      options.own = true;
    } else if (strcmp(word, "--verbose") == 0) {
      options.verbose = true;
    } else if (word[0] != '-' && options.n_names < SCT_COUNT(options.names)) {
      options.names[options.n_names++] = word;
    } else if (k + 1 == argc) {
      return false;
    } else if (strcmp(word, "--kind") == 0) {
      options.kind = argv[++k];
    } else if (strcmp(word, "--number") == 0) {
      options.number = atoll(argv[++k]);
    } else if (strcmp(word, "--sample") == 0) {
      options.sample = atoll(argv[++k]);
    } else if (strcmp(word, "--seed") == 0) {
      options.seed = strtoull(argv[++k], NULL, 10);
    } else {
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  sct_arena arena = {0};
  if (!take(argc, argv)) {
    fprintf(stderr, "test_tune_mutants: the head of tests/tune/test_tune_mutants.c says how\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* lines stay whole where errors go there, too */
  const bool all = options.n_names == 0 && !options.own;
  if (all) {
    take_all(&arena, SCT_TESTS_DIR "/tune/mutants", ".lua");
  }
  if (all || options.own) {
    take_own(&arena);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(mutants_are_caught)};
  const int failed = cmocka_run_group_tests(tests, setup, teardown);
  sct_arena_free(&arena);
  return failed;
}
