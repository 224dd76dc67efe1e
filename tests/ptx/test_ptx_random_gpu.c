/* Random kernels (random_kernel.h) on a GPU, on the virtual device and in plain C: all three must
 * give the same bits. Exit code 77 without a GPU of compute capability 9.0 or later.
 *
 *   test_ptx_random_gpu [KERNELS [FIRST_SEED [FOLDER]]]   default: 500 1 .
 *   test_ptx_random_gpu --write KERNELS FIRST_SEED FOLDER only writes FOLDER/SEED.ptx, for ptxas
 *
 * FOLDER receives random_mismatch.ptx: the first kernel that differs, cut after the statement that
 * makes it differ. The first ten are printed with the lines of theirs that it takes. */
#include "cuda_door.h"
#include "random_run.h"

#define MAX_REPORTS 10

typedef struct session {
  cuda_door door;
  uint64_t in, out; /* on the GPU */
  const char *folder;
  uint8_t input[RANDOM_IN_BYTES], gpu[RANDOM_OUT_BYTES], virt[RANDOM_OUT_BYTES],
      plain[RANDOM_OUT_BYTES];
  random_program program;
  random_coverage cover;
  int64_t n_kernels, n_mismatches, n_virtual_wrong, n_failed, lines;
} session;

static bool run_gpu(session *s, const char *text, sct_str *message) {
  static char log[8192];
  void *module = NULL, *function = NULL;
  void *args[2] = {&s->in, &s->out};
  const cuda_door *d = &s->door;
  int result = cuda_load(d, &module, text, log, sizeof log);
  if (result != 0) {
    sct_str_printf(message, "the driver refuses it (%d): %s", result, log);
    return false;
  }
  result = d->function(&function, module, "k");
  result = result != 0 ? result : d->upload(s->in, s->input, RANDOM_IN_BYTES);
  result = result != 0 ? result : d->set(s->out, 0, RANDOM_OUT_BYTES);
  result = result != 0
               ? result
               : d->launch(function, RANDOM_BLOCKS, 1, 1, RANDOM_BLOCK, 1, 1, 0, NULL, args, NULL);
  result = result != 0 ? result : d->synchronize();
  result = result != 0 ? result : d->download(s->gpu, s->out, RANDOM_OUT_BYTES);
  (void)d->unload(module);
  if (result != 0) {
    sct_str_printf(message, "CUDA error %d", result);
  }
  return result == 0;
}

/* All three results of the program at hand; false: one of them has none. */
static bool run_all(session *s, const char *text, sct_str *message) {
  random_eval(&s->program, s->input, s->plain);
  return random_run_virtual(text, s->input, s->virt, message) && run_gpu(s, text, message);
}

/* ---- which lines it takes */

typedef struct lines {
  const char *at[4096];
  size_t len[4096];
  bool kept[4096];
  int n;
} lines;

static void split(lines *l, const char *text) {
  l->n = 0;
  while (*text != '\0' && l->n < (int)SCT_COUNT(l->at)) {
    const size_t len = strcspn(text, "\n");
    l->at[l->n] = text;
    l->len[l->n] = len;
    l->kept[l->n++] = true;
    text += len + (text[len] != '\0');
  }
}

static void join(sct_str *out, const lines *l) {
  sct_str_clear(out);
  for (int k = 0; k < l->n; k++) {
    if (l->kept[k]) {
      sct_str_append_n(out, l->at[k], l->len[k]);
      sct_str_append(out, "\n");
    }
  }
}

/* The virtual device first: it refuses what would read nothing or never end. */
static bool still_differs(session *s, const char *text) {
  sct_str ignored = {0};
  const bool ran =
      random_run_virtual(text, s->input, s->virt, &ignored) && run_gpu(s, text, &ignored);
  sct_str_free(&ignored);
  return ran && random_differs(s->gpu, s->virt) >= 0;
}

/* Drops line after line of the body as long as GPU and virtual device differ. */
static void print_reduced(session *s, const char *text) {
  static lines l;
  sct_str less = {0};
  split(&l, text);
  int first = 0;
  while (first < l.n && strncmp(l.at[first], "bar.sync 0;", 11) != 0) {
    first++;
  }
  for (bool any = true; any;) {
    any = false;
    for (int k = l.n - 1; k > first; k--) {
      if (l.kept[k]) {
        l.kept[k] = false;
        join(&less, &l);
        l.kept[k] = !still_differs(s, sct_str_c(&less));
        any |= !l.kept[k];
      }
    }
  }
  printf("reduced:\n");
  for (int k = first; k < l.n; k++) {
    if (l.kept[k]) {
      printf("  %.*s\n", (int)l.len[k], l.at[k]);
    }
  }
  sct_str_free(&less);
}

/* The shortest beginning of the program that differs. */
static void report(session *s, uint64_t seed) {
  random_program_make(&s->program, seed, -1);
  const int whole = random_program_length(&s->program);
  for (int n = 1; n <= whole; n++) {
    sct_str text = {0}, message = {0};
    random_program_make(&s->program, seed, n);
    random_emit(&s->program, &text);
    const bool ran = run_all(s, sct_str_c(&text), &message);
    const int at = ran ? random_differs(s->gpu, s->virt) : 0;
    if (ran && at >= 0) {
      sct_str_append(&message, "GPU against virtual: ");
      random_describe(&message, s->gpu, s->virt, at);
      sct_str_append(&message, s->virt[at] == s->plain[at]
                                   ? " (plain C agrees with the virtual one)"
                                   : " (plain C: neither)");
    }
    if (!ran || at >= 0) {
      sct_str last = {0}, path = {0};
      random_emit_last(&s->program, &last);
      printf("seed %llu, statement %d: %s\n%s", (unsigned long long)seed, n, sct_str_c(&message),
             sct_str_c(&last));
      sct_str_printf(&path, "%s/random_mismatch.ptx", s->folder);
      if (s->n_mismatches + s->n_failed == 1 &&
          sct_file_write(sct_str_c(&path), text.data, text.len, NULL) == SCT_OK) {
        printf("... in %s\n", sct_str_c(&path));
      }
      if (ran) {
        print_reduced(s, sct_str_c(&text));
      }
      sct_str_free(&last);
      sct_str_free(&path);
      n = whole;
    }
    sct_str_free(&text);
    sct_str_free(&message);
  }
}

static void one_kernel(session *s, uint64_t seed) {
  sct_str text = {0}, message = {0};
  random_program_make(&s->program, seed, -1);
  random_cover(&s->cover, &s->program);
  random_input(s->input, seed);
  random_emit(&s->program, &text);
  for (size_t k = 0; k < text.len; k++) {
    s->lines += text.data[k] == ';';
  }
  s->n_kernels++;
  const bool ran = run_all(s, sct_str_c(&text), &message);
  const bool differs = ran && random_differs(s->gpu, s->virt) >= 0;
  s->n_failed += !ran;
  s->n_mismatches += differs;
  const bool wrong = ran && random_differs(s->plain, s->virt) >= 0;
  if (wrong) {
    printf("seed %llu: the virtual device and plain C differ\n", (unsigned long long)seed);
  }
  s->n_virtual_wrong += wrong;
  if (!ran) {
    printf("seed %llu: %s\n", (unsigned long long)seed, sct_str_c(&message));
  }
  if ((!ran || differs) && s->n_failed + s->n_mismatches <= MAX_REPORTS) {
    report(s, seed);
  }
  sct_str_free(&text);
  sct_str_free(&message);
}

/* How often each opcode was there: rows of random_ops.def with the same first word are one. */
static void print_coverage(const session *s) {
  int n_rows = 0, n_opcodes = 0;
  for (int k = 0; k < SCT_COUNT(random_ops); k++) {
    const size_t len = strcspn(random_ops[k].text, ". ");
    int64_t sum = 0;
    bool known = false;
    n_rows += s->cover.ops[k] > 0;
    for (int j = 0; j < SCT_COUNT(random_ops); j++) {
      if (strncmp(random_ops[j].text, random_ops[k].text, len) == 0 &&
          strcspn(random_ops[j].text, ". ") == len) {
        known |= j < k;
        sum += s->cover.ops[j];
      }
    }
    if (!known) {
      printf("%s%.*s %lld", n_opcodes++ % 10 == 0 ? "\n  " : ", ", (int)len, random_ops[k].text,
             (long long)sum);
    }
  }
  printf("\n  shfl %lld, vote %lld, redux %lld, exchanges through shared memory %lld\n",
         (long long)s->cover.kinds[RANDOM_SHFL], (long long)s->cover.kinds[RANDOM_VOTE],
         (long long)s->cover.kinds[RANDOM_REDUX], (long long)s->cover.kinds[RANDOM_EXCHANGE]);
  printf(
      "%s: %lld random kernels, %lld instructions, %d of %d forms: %lld mismatches, %lld not run; "
      "virtual against plain C: %lld mismatches\n",
      s->door.name, (long long)s->n_kernels, (long long)s->lines, n_rows, SCT_COUNT(random_ops),
      (long long)s->n_mismatches, (long long)s->n_failed, (long long)s->n_virtual_wrong);
}

static int write_kernels(session *s, int64_t n, uint64_t first, const char *folder) {
  for (uint64_t seed = first; seed < first + (uint64_t)n; seed++) {
    sct_str text = {0}, path = {0};
    random_program_make(&s->program, seed, -1);
    random_emit(&s->program, &text);
    sct_str_printf(&path, "%s/%llu.ptx", folder, (unsigned long long)seed);
    const sct_status status = sct_file_write(sct_str_c(&path), text.data, text.len, NULL);
    sct_str_free(&text);
    sct_str_free(&path);
    if (status != SCT_OK) {
      return 1;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  static session s;
  if (argc == 5 && strcmp(argv[1], "--write") == 0) {
    return write_kernels(&s, atoll(argv[2]), strtoull(argv[3], NULL, 0), argv[4]);
  }
  const int64_t n = argc > 1 ? atoll(argv[1]) : 500;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  s.folder = argc > 3 ? argv[3] : ".";
  if (!cuda_open(&s.door) || s.door.major < 9) {
    printf("skipped: no GPU of compute capability 9.0 or later\n");
    return 77;
  }
  if (s.door.alloc(&s.in, RANDOM_IN_BYTES) != 0 || s.door.alloc(&s.out, RANDOM_OUT_BYTES) != 0) {
    printf("no memory on the GPU\n");
    return 1;
  }
  for (int64_t k = 0; k < n; k++) {
    one_kernel(&s, first + (uint64_t)k);
  }
  print_coverage(&s);
  (void)s.door.release(s.in);
  (void)s.door.release(s.out);
  return n > 0 && s.n_mismatches + s.n_failed + s.n_virtual_wrong == 0 ? 0 : 1;
}
