/* The counters of 531 kernels against what an H200's profiler gave for them (tests/oracle). */
#include "nvrtc_text.h"
#include "ptx/ptx.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define WORDS (16 << 20)
#define N     10000

/* One column of the table and the counter that stands for it. */
enum {
  REQUESTS_LD,
  SECTORS_LD,
  TAGS_LD,
  REQUESTS_ST,
  SECTORS_ST,
  TAGS_ST,
  SECTORS,
  SECTORS_IDEAL,
  TAGS,
  WAVEFRONTS_LD,
  WAVEFRONTS_ST,
  WAVEFRONTS,
  WAVEFRONTS_IDEAL,
  N_COLUMNS
};
static const char *const columns[N_COLUMNS] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st",
    "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l1_tag_requests_global",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
};

typedef struct oracle {
  json_t *cases;
  char *table; /* the CSV, cut into lines */
  int column[N_COLUMNS];
  sct_ptx_module *module;
  sct_ptx_memory *memory;
  uint64_t in, b, out, ind, perm;
} oracle;

/* Field `k` of a CSV line (no quotes in this file). */
static const char *field(const char *line, int k) {
  for (; k > 0; k--) {
    line = strchr(line, ',') + 1;
  }
  return line;
}

static void read_header(oracle *o, const char *header) {
  for (int c = 0; c < N_COLUMNS; c++) {
    o->column[c] = -1;
    int k = 0;
    for (const char *p = header; p != NULL; k++) {
      const size_t n = strcspn(p, ",\n");
      if (n == strlen(columns[c]) && memcmp(p, columns[c], n) == 0) {
        o->column[c] = k;
      }
      p = strchr(p, ',');
      p = p != NULL ? p + 1 : NULL;
    }
    assert_true(o->column[c] > 0);
  }
}

static void add_buffer(oracle *o, uint64_t *address, const char *name, const void *data,
                       int64_t bytes) {
  sct_error err = {0};
  const sct_ptx_buffer b = {.name = name, .bytes = bytes, .data = data};
  assert_int_equal(sct_ptx_memory_add(o->memory, address, &b, &err), SCT_OK);
}

static void make_buffers(oracle *o) {
  sct_ptx_memory_new(&o->memory);
  uint32_t *words = sct_alloc(sizeof(*words) * WORDS);
  int32_t *index = sct_alloc(sizeof(*index) * N);
  assert_non_null(words);
  assert_non_null(index);
  add_buffer(o, &o->out, "out", words, 4LL * WORDS);
  for (int i = 0; i < WORDS; i++) {
    words[i] = (uint32_t)i & 0xffff;
  }
  add_buffer(o, &o->in, "in", words, 4LL * WORDS);
  add_buffer(o, &o->b, "b", words, 4LL * WORDS);
  for (int i = 0; i < N; i++) {
    index[i] = i;
  }
  add_buffer(o, &o->ind, "ind", index, 4LL * N);
  for (int64_t i = 0; i < N; i++) {
    index[i] = (int32_t)((i * 7919 + 13) % N);
  }
  add_buffer(o, &o->perm, "perm", index, 4LL * N);
  sct_free(words);
  sct_free(index);
}

static int setup(void **state) {
  static oracle o;
  sct_error err = {0};
  sct_str cuda = {0}, table = {0};
  assert_int_equal(sct_file_read(&cuda, SCT_TESTS_DIR "/oracle/micro.cu", &err), SCT_OK);
  assert_int_equal(sct_file_read(&table, SCT_TESTS_DIR "/oracle/h200.csv", &err), SCT_OK);
  json_error_t json_err;
  o.cases = json_load_file(SCT_TESTS_DIR "/oracle/manifest.json", 0, &json_err);
  assert_non_null(o.cases);
  o.table = table.data;
  read_header(&o, o.table);
  char *ptx = nvrtc_ptx(sct_str_c(&cuda), "micro.cu", "sm_90", NULL);
  assert_non_null(ptx);
  if (sct_ptx_parse(&o.module, ptx, "micro.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  make_buffers(&o);
  free(ptx);
  sct_str_free(&cuda);
  *state = &o;
  return 0;
}

static int teardown(void **state) {
  oracle *o = *state;
  json_decref(o->cases);
  sct_free(o->table);
  sct_ptx_module_free(o->module);
  sct_ptx_memory_free(o->memory);
  return 0;
}

static const char *row_of(const oracle *o, const char *name) {
  const size_t n = strlen(name);
  for (const char *line = strchr(o->table, '\n'); line != NULL; line = strchr(line + 1, '\n')) {
    if (strncmp(line + 1, name, n) == 0 && line[1 + n] == ',') {
      return line + 1;
    }
  }
  return NULL;
}

typedef union arg_value {
  uint64_t address;
  uint32_t word;
  double real;
} arg_value;

static arg_value arg_of(const oracle *o, const json_t *a) {
  arg_value v = {0};
  if (json_is_string(a)) {
    const char *name = json_string_value(a);
    v.address = strcmp(name, "in") == 0    ? o->in
                : strcmp(name, "b") == 0   ? o->b
                : strcmp(name, "out") == 0 ? o->out
                : strcmp(name, "ind") == 0 ? o->ind
                                           : o->perm;
  } else if (json_is_object(a)) {
    v.real = json_number_value(json_object_get(a, "f64"));
  } else {
    v.word = (uint32_t)json_integer_value(a);
  }
  return v;
}

/* Some of these kernels read shared memory that nobody wrote: counts are what matters here. */
static void run_case(const oracle *o, const json_t *c, sct_ptx_result *result) {
  arg_value values[8];
  const void *args[8];
  sct_error err = {0};
  const json_t *list = json_object_get(c, "args");
  sct_ptx_launch_opts opts = {
      .module = o->module, .args = args, .no_races = true, .no_definedness = true};
  opts.kernel = json_string_value(json_object_get(c, "kernel"));
  opts.n_args = (int)json_array_size(list);
  for (int i = 0; i < opts.n_args; i++) {
    values[i] = arg_of(o, json_array_get(list, (size_t)i));
    args[i] = &values[i];
  }
  for (size_t k = 0; k < 3; k++) {
    opts.grid[k] = json_integer_value(json_array_get(json_object_get(c, "grid"), k));
    opts.block[k] = json_integer_value(json_array_get(json_object_get(c, "block"), k));
  }
  if (sct_ptx_launch(result, o->memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static int64_t counter(const sct_ptx_counters *c, int column) {
  const sct_ptx_global global = sct_ptx_global_sum(c);
  const sct_ptx_shared shared = sct_ptx_shared_sum(c);
  const int64_t values[N_COLUMNS] = {
      [REQUESTS_LD] = c->load.requests,
      [SECTORS_LD] = c->load.sectors,
      [TAGS_LD] = c->load.tags,
      [REQUESTS_ST] = c->store.requests,
      [SECTORS_ST] = c->store.sectors,
      [TAGS_ST] = c->store.tags,
      [SECTORS] = global.sectors,
      [SECTORS_IDEAL] = global.sectors_ideal,
      [TAGS] = global.tags,
      [WAVEFRONTS_LD] = c->shared_load.wavefronts,
      [WAVEFRONTS_ST] = c->shared_store.wavefronts,
      [WAVEFRONTS] = shared.wavefronts,
      [WAVEFRONTS_IDEAL] = shared.wavefronts_ideal,
  };
  return values[column];
}

static bool same_counts(const sct_ptx_counters *c, const oracle *o, const char *row,
                        sct_str *report) {
  bool same = true;
  for (int k = 0; k < N_COLUMNS; k++) {
    const int64_t want = strtoll(field(row, o->column[k]), NULL, 10);
    if (counter(c, k) != want) {
      same = false;
      sct_str_printf(report, " %s %lld (H200 %lld)", columns[k], (long long)counter(c, k),
                     (long long)want);
    }
  }
  return same;
}

static void all_cases_count_as_on_an_h200(void **state) {
  const oracle *o = *state;
  int different = 0, cases = 0;
  size_t i = 0;
  json_t *c = NULL;
  json_array_foreach(o->cases, i, c) {
    const char *name = json_string_value(json_object_get(c, "case"));
    sct_ptx_result result;
    sct_str report = {0};
    run_case(o, c, &result);
    if (result.diag.kind != SCT_PTX_CLEAN) {
      sct_ptx_diag_print(&report, &result.diag);
      fail_msg("%s: %s", name, sct_str_c(&report));
    }
    const char *row = row_of(o, name);
    assert_non_null(row);
    if (!same_counts(&result.counters, o, row, &report)) {
      print_message("%s:%s\n", name, sct_str_c(&report));
      different++;
    }
    cases++;
    sct_str_free(&report);
    sct_ptx_result_free(&result);
  }
  assert_int_equal(cases, 531);
  assert_int_equal(different, 0);
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_cases_count_as_on_an_h200)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
