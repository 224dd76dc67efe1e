/* Profiles: figures by section and line, and the issue that each kind of waste becomes. */
#include "count_fixture.h"

#include <math.h>

static const char kernels[] =
    "struct point { double x, y, z; };\n"
    "__global__ void records(const point *a, point *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  point v = a[i];\n"
    "  v.x += 1; v.y += 1; v.z += 1;\n"
    "  b[i] = v;\n"
    "}\n"
    "__global__ void flat(const double *a, double *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  b[i] = a[i] + 1;\n"
    "}\n"
    "template <int PITCH> __global__ void turn(const float *a, float *b) {\n"
    "  __shared__ float t[32][PITCH];\n"
    "  t[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x + 1024 * blockIdx.x];\n"
    "  __syncthreads();\n"
    "  b[threadIdx.y * 32 + threadIdx.x + 1024 * blockIdx.x] = t[threadIdx.x][threadIdx.y];\n"
    "}\n"
    "__global__ void column(const float *a, float *b) {\n"
    "  b[blockIdx.x * 32 + threadIdx.x] = a[threadIdx.x * 4096 + blockIdx.x];\n"
    "}\n"
    "__global__ void shifted(const float *a, float *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  b[i] = a[i + 1];\n"
    "}\n"
    "__global__ void narrow(const unsigned char *a, unsigned char *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  b[i] = a[i] ^ 1;\n"
    "}\n"
    "__global__ void split(const int *a, int *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];\n"
    "  if (i % 2) { for (int k = 0; k < 50; k++) v = v * v + k; }\n"
    "  b[i] = v;\n"
    "}\n"
    "__global__ void held(float *b) {\n"
    "  extern __shared__ float s[];\n"
    "  s[threadIdx.x] = 1;\n"
    "  __syncthreads();\n"
    "  b[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];\n"
    "}\n"
    "__global__ void kept(const int *a, int *b) {\n"
    "  int own[64], i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  for (int k = 0; k < 64; k++) own[k] = a[k];\n"
    "  b[i] = own[a[i] & 63];\n"
    "}\n"
    "__global__ void sums(float *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  float v = b[i], w = v + 1, x = v + 2, y = v + 3;\n"
    "  for (int k = 0; k < 100; k++) {\n"
    "    v = v * v + w; w = w * w + x; x = x * x + y; y = y * y + v;\n"
    "  }\n"
    "  b[i] = v + w + x + y;\n"
    "}\n"
    "__global__ void doubles(double *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  double v = b[i];\n"
    "  for (int k = 0; k < 100; k++) v = v * v + 1.5;\n"
    "  b[i] = v;\n"
    "}\n"
    "__global__ void steps(int *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x, v = b[i];\n"
    "  for (int k = 0; k < 100; k++) v = (v ^ k) << (v & 3);\n"
    "  b[i] = v;\n"
    "}\n"
    "__global__ void gather(const float *a, const int *at, float *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  b[i] = a[at[i] * 8 % 10000];\n"
    "}\n"
    "__global__ void counted(int *b) {\n"
    "  atomicAdd(&b[threadIdx.x & 7], 1);\n"
    "}\n"
    "__global__ void same(const float *a, float *b) {\n"
    "  b[blockIdx.x * blockDim.x + threadIdx.x] = a[blockIdx.x];\n"
    "}\n"
    "__global__ void far(const float *a, float *b) {\n" /* two lanes a line */
    "  int i = threadIdx.x / 2 * 512 + threadIdx.x % 2 + 2 * (threadIdx.y + blockIdx.x);\n"
    "  b[i] = a[i];\n"
    "}\n"
    "__constant__ int table[256];\n" /* no thread of a warp reads what another one does, or all one
                                      */
    "__global__ void looked(int *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;\n"
    "  for (int k = 0; k < 100; k++) v += table[(v + 5 * threadIdx.x) & 255];\n"
    "  b[i] = v;\n"
    "}\n"
    "__global__ void alike(int *b) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.x;\n"
    "  for (int k = 0; k < 100; k++) v += table[v & 255];\n"
    "  b[i] = v;\n"
    "}\n"
    "__global__ void beyond(int *b) { b[(long long)threadIdx.x << 30] = 1; }\n";

#define CASE(name, kernel, grid, block, args, more)                                                \
  "{\"case\": \"" name "\", \"kernel\": \"" kernel "\", \"grid\": [" grid "], "                    \
  "\"block\": [" block "], \"args\": [" args "]" more "}"
#define IN_OUT "\"in\", \"out\""

static const char *const cases[] = {
    CASE("records", "records", "4096", "256", IN_OUT, ""),
    CASE("flat", "flat", "1056", "256", IN_OUT, ""),
    CASE("turn", "turn<32>", "1056", "32, 32", IN_OUT, ""),
    CASE("padded", "turn<33>", "1056", "32, 32", IN_OUT, ""),
    CASE("column", "column", "4096", "32", IN_OUT, ""),
    CASE("shifted", "shifted", "1056", "256", IN_OUT, ""),
    CASE("narrow", "narrow", "1056", "256", IN_OUT, ""),
    CASE("split", "split", "1056", "256", IN_OUT, ""),
    CASE("held", "held", "1056", "256", "\"out\"", ", \"shared\": 100000"),
    CASE("kept", "kept", "1056", "256", IN_OUT, ""),
    CASE("odd", "flat", "1056", "100", IN_OUT, ""),
    CASE("few", "flat", "7", "256", IN_OUT, ""),
    CASE("tail", "flat", "1160", "256", IN_OUT, ""),
    CASE("sums", "sums", "1056", "256", "\"out\"", ""),
    CASE("doubles", "doubles", "1056", "256", "\"out\"", ""),
    CASE("steps", "steps", "1056", "256", "\"out\"", ""),
    CASE("gather", "gather", "30", "320", "\"in\", \"perm\", \"out\"", ""),
    CASE("counted", "counted", "1056", "256", "\"out\"", ""),
    CASE("same", "same", "1056", "256", IN_OUT, ""),
    CASE("thin", "same", "10560", "256", IN_OUT, ""),
    CASE("far", "far", "132", "32, 4", IN_OUT, ""),
    CASE("looked", "looked", "1056", "256", "\"out\"", ""),
    CASE("alike", "alike", "1056", "256", "\"out\"", ""),
    CASE("beyond", "beyond", "1", "32", "\"out\"", ""),
};

static void write_cases(void) {
  sct_str text = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str_printf(&text, "%s%s", k > 0 ? ",\n" : "[", cases[k]);
  }
  sct_str_append(&text, "]\n");
  fx_write("cases.json", sct_str_c(&text));
  sct_str_free(&text);
}

static json_t *profiled;

static int setup(void **state) {
  fx_result r = {0};
  (void)fx_setup(state);
  if (!fx_has_nvrtc()) {
    return 0;
  }
  fx_write("k.cu", kernels);
  write_cases();
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--json", "-q");
  fx_expect(&r, 5, NULL, "sectile: case 'beyond': ");
  profiled = fx_json(&r);
  fx_free(&r);
  return 0;
}

static int teardown(void **state) {
  json_decref(profiled);
  return fx_teardown(state);
}

static json_t *find_case(const char *name) {
  size_t k = 0;
  json_t *one = NULL;
  if (!profiled) {
    skip();
  }
  json_array_foreach(json_object_get(profiled, "cases"), k, one) {
    if (strcmp(json_string_value(json_object_get(one, "case")), name) == 0) {
      return one;
    }
  }
  fail_msg("no case '%s'", name);
  return NULL;
}

static json_int_t figure(const char *name, const char *section, const char *part, const char *key) {
  json_t *at = json_object_get(find_case(name), section);
  at = part ? json_object_get(at, part) : at;
  return json_integer_value(json_object_get(at, key));
}

/* The issues of a case are these, "id:line" each, best first; "": none. */
static void assert_issues(const char *name, const char *wanted) {
  sct_str got = {0};
  size_t k = 0;
  json_t *issue = NULL;
  double before = INFINITY;
  json_array_foreach(json_object_get(find_case(name), "issues"), k, issue) {
    const double gain = json_number_value(json_object_get(issue, "gain"));
    const double ns = json_number_value(json_object_get(issue, "gain_ns"));
    assert_true(gain > 0.0 && gain <= 1.0 && ns >= 0.0 && ns <= before);
    before = ns;
    sct_str_printf(&got, "%s%s:%d", k > 0 ? " " : "",
                   json_string_value(json_object_get(issue, "id")),
                   (int)json_integer_value(json_object_get(issue, "line")));
    assert_true(json_string_length(json_object_get(issue, "evidence")) > 20);
    assert_true(json_string_length(json_object_get(issue, "advice")) > 20);
  }
  if (strcmp(sct_str_c(&got), wanted) != 0) {
    fail_msg("%s: expected '%s', got '%s'", name, wanted, sct_str_c(&got));
  }
  sct_str_free(&got);
}

static void test_figures(void **state) {
  (void)state;
  static const char *const ways[] = {"loads", "stores"};
  for (int k = 0; k < 2; k++) { /* 4096 x 256 records of three doubles */
    assert_int_equal(figure("records", "global", ways[k], "requests"), 3 * 4096 * 8);
    assert_int_equal(figure("records", "global", ways[k], "sectors"), 24 * 3 * 4096 * 8);
    assert_int_equal(figure("records", "global", ways[k], "sectors") -
                         figure("records", "global", ways[k], "sectors_ideal"),
                     1572864);
  }
  assert_int_equal(figure("turn", "shared", "loads", "wavefronts"), 32 * 32 * 1056);
  assert_int_equal(figure("padded", "shared", "loads", "wavefronts"), 32 * 1056);
  assert_int_equal(figure("turn", "launch", NULL, "shared_bytes"), 4096);
  assert_int_equal(figure("held", "launch", NULL, "shared_bytes"), 100000);
  assert_in_range(figure("flat", "launch", NULL, "registers"), 4, 32);
  assert_true(figure("split", "warps", NULL, "divergent_branches") > 0);
  const json_t *waves = json_object_get(json_object_get(find_case("flat"), "launch"), "waves");
  assert_true(json_real_value(waves) == 1.0); /* 132 x 8 blocks of an H200 */
}

static void test_issues(void **state) {
  (void)state;
  assert_issues("records", "strided:6 strided:4");
  assert_issues("flat", "");
  assert_issues("turn", "conflicts:16");
  assert_issues("padded", "latency:0"); /* a load of 4 bytes a thread */
  assert_issues("counted", "contended:69");
  assert_issues("same", "uniform:72");
  assert_issues("column", "scattered:19 block starts:0"); /* of a warp each */
  assert_issues("shifted", "unaligned:23");
  assert_issues("narrow", "narrow:27 narrow:27");
  assert_issues("split", "integers:0 divergence:31");
  assert_issues("held", "occupancy:0");
  assert_issues("odd", "odd block:0");
  assert_issues("few", "few blocks:0");
  assert_issues("tail", "tail:0");
  assert_issues("steps", "integers:0");
  assert_issues("thin", "latency:0 uniform:72");
  assert_issues("far", "scattered:76 scattered:76 small grid:0");
  assert_true(json_is_string(json_object_get(find_case("beyond"), "problem")));
  assert_null(json_object_get(find_case("beyond"), "issues"));
}

/* Nsight Compute's of its sample of uncoalesced accesses (addConstDouble3 of 1,048,576): L1 62.97
 * %, L2 66.61 %. */
static double rate(const char *name, const char *key) {
  return 100.0 *
         json_number_value(json_object_get(json_object_get(find_case(name), "caches"), key));
}

static void test_caches(void **state) {
  (void)state;
  fx_result r = {0};
  assert_true(fabs(rate("records", "l1_hit_rate") - 62.97) < 10.0);
  assert_true(fabs(rate("records", "l2_hit_rate") - 66.61) < 10.0);
  assert_true(rate("flat", "l1_hit_rate") == 0.0);
  /* half of 2 x 67,584, and 6,000 that the launch reads for itself */
  assert_true(fabs(rate("flat", "l2_hit_rate") - 100.0 * 73584 / 141168) < 1e-6);
  static const char *const both[] = {"dram_read_bytes", "dram_written_bytes"};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(figure("records", "caches", NULL, both[k]), 24 * 1048576);
    assert_int_equal(figure("flat", "caches", NULL, both[k]), 8 * 1056 * 256);
  }
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--json", "-q", "--threads", "1");
  json_t *doc = fx_json(&r);
  assert_true(json_equal(json_object_get(doc, "cases"), json_object_get(profiled, "cases")));
  json_decref(doc);
  fx_free(&r);
}

static double speed(const char *name, const char *key) {
  return json_number_value(json_object_get(json_object_get(find_case(name), "speed"), key));
}

static void test_speed(void **state) {
  (void)state;
  static const struct {
    const char *name, *limiter, *limit;
  } wanted[] = {
      {"flat", "memory", "DRAM bytes"}, {"records", "memory", "L2 sectors"},
      {"sums", "issue", "issue"},       {"doubles", "compute", "FP64"},
      {"steps", "compute", "INT"},      {"few", "latency", "bytes in flight"},
  };
  for (int k = 0; k < SCT_COUNT(wanted); k++) {
    const json_t *s = json_object_get(find_case(wanted[k].name), "speed");
    const char *limit = json_string_value(json_object_get(s, "limit"));
    if (strcmp(limit, wanted[k].limit) != 0) {
      fail_msg("%s: limit '%s', not '%s'", wanted[k].name, limit, wanted[k].limit);
    }
    assert_string_equal(json_string_value(json_object_get(s, "limiter")), wanted[k].limiter);
  }
  const double threads = 1056 * 256;
  assert_true(speed("sums", "flops_f32") == threads * (4 * 2 * 100 + 3 + 3));
  assert_true(speed("doubles", "flops_f64") == threads * 2 * 100);
  assert_true(speed("records", "flops_f64") == 3 * 1048576 && speed("steps", "flops_f32") == 0);
  assert_true(speed("flat", "intensity") == 1.0 / 16);
  assert_true(speed("sums", "compute") > 0.5 && speed("flat", "compute") < 0.1);
  assert_true(speed("flat", "memory") > 0.85 && speed("sums", "memory") < 0.3);
  /* 256 loads of 8 bytes a thread are on their way in each of the few blocks' SMs */
  assert_true(speed("few", "flight_bytes") == 8 * 256);
}

static void test_mix(void **state) {
  (void)state;
  const int64_t warps = 1056 * 8;
  assert_true(figure("sums", "mix", NULL, "fp32") >= warps * 400);
  assert_true(figure("doubles", "mix", NULL, "fp64") == warps * 100);
  assert_int_equal(figure("flat", "mix", NULL, "lsu"), warps * 2);
  assert_true(figure("steps", "mix", NULL, "int") >= warps * 200);
  assert_true(figure("split", "mix", NULL, "control") > 0);
}

/* An index and what it points to stand in one line. */
static void test_accesses_of_a_line(void **state) {
  (void)state;
  assert_issues("gather", "few blocks:0 irregular:66");
  size_t k = 0;
  json_t *a = NULL;
  int n = 0;
  json_array_foreach(json_object_get(find_case("gather"), "accesses"), k, a) {
    n += json_integer_value(json_object_get(a, "line")) == 66;
  }
  assert_int_equal(n, 3); /* two loads, a store */
}

static void test_local_memory(void **state) {
  (void)state;
  bool found = false;
  size_t k = 0;
  json_t *issue = NULL;
  json_array_foreach(json_object_get(find_case("kept"), "issues"), k, issue) {
    found = found || strcmp(json_string_value(json_object_get(issue, "id")), "local memory") == 0;
  }
  assert_true(found);
}

/* Lanes that ask for words of constant memory of their own take turns. */
static void test_constant_memory(void **state) {
  (void)state;
  const int64_t loads = 1056 * 8 * 100;
  assert_int_equal(figure("looked", "warps", NULL, "constant_requests"), loads);
  assert_int_equal(figure("looked", "warps", NULL, "constant_words"), 32 * loads);
  assert_int_equal(figure("alike", "warps", NULL, "constant_requests"), loads);
  assert_int_equal(figure("alike", "warps", NULL, "constant_words"), loads);
  assert_int_equal(figure("flat", "warps", NULL, "constant_requests"), 0);
  assert_issues("looked", "constants:0");
  assert_issues("alike", "integers:0");
  assert_string_equal(
      json_string_value(json_object_get(json_object_get(find_case("looked"), "speed"), "limit")),
      "constant words");
}

static void test_what_a_person_reads(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("flat");
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "-q", "--top", "1");
  fx_expect(&r, 5,
            "records: records\n"
            "  launch      grid (4096, 1, 1), block (256, 1, 1): 4096 blocks of 256 threads\n",
            NULL);
  fx_expect(
      &r, 5,
      "NVIDIA H200, 132 SMs: 8 blocks an SM, 3.88 waves, occupancy 100 %\n              (limit: "
      "threads)\n",
      NULL);
  fx_expect(&r, 5, "  speed       predicted: memory 100 %, compute 2 %, issue 3 % of the device",
            NULL);
  fx_expect(&r, 5, "              limit: memory (L2 sectors)\n", NULL);
  fx_expect(&r, 5, "  roofline    3.15 Mflop of f64, 50.3 MB of DRAM: 0.0625 a byte; memory", NULL);
  fx_expect(&r, 5, "              ceilings: 4.8 TB/s, 66.9 Tflop/s of f32, 33.5 Tflop/s of f64\n",
            NULL);
  fx_expect(&r, 5, "  caches      estimated: L1 finds 66.7 % of the sectors, L2 75.0 %; DRAM",
            NULL);
  fx_expect(&r, 5, "loads of an SM can have 2.05 kB", NULL);
  fx_expect(&r, 5, "  loads      98304  2359296  24.0    8.0    1572864    3.00  33.3 %", NULL);
  fx_expect(&r, 5,
            "  k.cu:4  global loads      8     98304  2359296  24.0    8.0    1572864\n"
            "      point v = a[i];\n  and 1 more; --top 2 shows them\n",
            NULL);
  fx_expect(&r, 5,
            "  issue 1     strided, k.cu:6: stores of 8 bytes per thread, stride 24 bytes:\n"
            "              24.0 sectors per request where 8.0 would do\n"
            "              try: let neighbouring",
            NULL);
  fx_expect(&r, 5, " us, 33.3 % of the sectors\n  issue 2     strided, k.cu:4: loads", NULL);
  fx_expect(&r, 5, "gain: no time, by the model; 33.3 % of the sectors\n", NULL);
  fx_expect(&r, 5, "  issues      none that the rules know\n", NULL);
  fx_expect(&r, 5, "  failed      out_of_bounds: ", NULL);
  fx_run(&r, "profile", "k.cu");
  fx_expect(&r, 2, NULL, "of a CUDA file needs its launches: --cases FILE, or --kernel, --grid");
  fx_run(&r, "profile", "k.cu", "-q", "--kernel", "records", "--grid", "64", "--block", "256",
         "--arg", "a=f64[49152]", "--arg", "b=f64[49152]");
  fx_expect(&r, 0, "strided, k.cu:4: loads of 8 bytes", NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "-d", "virtual:h2000");
  fx_expect(&r, 4, NULL, "did you mean 'h200'");
  fx_free(&r);
}

static void test_a_page(void **state) {
  (void)state;
  static const char *const wanted[] = {"<title>k.cu</title>",
                                       "<h2>records</h2>",
                                       "issue 1",
                                       "loads of a of 8 bytes per lane",
                                       "<svg",
                                       "with the sectors of a request next to its lines",
                                       "<b> 24.0</b><u>/8.0  </u>",
                                       "Roofline, predicted"};
  fx_result r = {0};
  sct_str page = {0};
  sct_error err;
  (void)find_case("flat");
  fx_run(&r, "profile", "k.cu", "-q", "--kernel", "records", "--grid", "64", "--block", "256",
         "--arg", "a=f64[49152]", "--arg", "b=f64[49152]", "--html", "k.html");
  fx_expect(&r, 0, "issue 1", NULL);
  assert_int_equal(sct_file_read(&page, fx_path("k.html"), &err), SCT_OK);
  for (int k = 0; k < SCT_COUNT(wanted); k++) {
    if (!strstr(page.data, wanted[k])) {
      fail_msg("the page has no '%s'", wanted[k]);
    }
  }
  assert_null(strstr(page.data, "http"));
  sct_str_free(&page);
  fx_free(&r);
}

/* The records as one flat array, under the name of the case that had them one by one. */
static void test_a_baseline(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("flat");
  fx_write("one.json", "[" CASE("add", "records", "4096", "256", IN_OUT, "") "]");
  static const char after[] = "[" CASE("add", "flat", "12288", "256", IN_OUT, "") ",\n";
  static const char more[] = CASE("new", "flat", "1", "256", IN_OUT, "") "]";
  char text[512];
  snprintf(text, sizeof text, "%s%s", after, more);
  fx_write("other.json", text);
  fx_run(&r, "profile", "k.cu", "--cases", "one.json", "-q", "--json", "-o", "before.json");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "other.json", "-q", "--baseline", "before.json");
  fx_expect(&r, 0, "786432   -66.7 %\n", NULL);
  fx_expect(&r, 0, "  global.loads.sectors ", NULL);
  fx_expect(&r, 0, "  baseline    it has no such case\n", NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "other.json", "-q", "--baseline", "before.json",
         "--json");
  fx_expect(&r, 0, "\"figure\": \"global.stores.sectors\"", NULL);
  fx_write("renamed.json", "[" CASE("sum", "flat", "12288", "256", IN_OUT, "") "]");
  fx_run(&r, "profile", "k.cu", "--cases", "renamed.json", "-q", "--baseline", "before.json");
  fx_expect(&r, 0, "  baseline    case add\n", NULL);
  fx_expect(&r, 0, "786432   -66.7 %\n", NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "one.json", "--baseline", "one.json");
  fx_expect(&r, 8, NULL, "'one.json' is no profile");
  fx_run(&r, "profile", "k.cu", "--cases", "one.json", "--baseline", "before.json", "-o",
         "before.json");
  fx_expect(&r, 2, NULL, "before.json");
  fx_free(&r);
}

#define LD_SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"

static void test_a_profilers_names(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("flat");
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "-q", "--csv");
  assert_true(fx_figure(sct_str_c(&r.out), "\"records\"", LD_SECTORS) == 2359296);
  assert_true(fx_figure(sct_str_c(&r.out), "\"records\"",
                        "memory_l2_theoretical_sectors_global_ideal") == 2 * 786432);
  assert_true(fx_figure(sct_str_c(&r.out), "\"flat\"", "launch__grid_size") == 1056);
  assert_true(fx_figure(sct_str_c(&r.out), "\"turn\"", "memory_l1_wavefronts_shared") ==
              33 * 32 * 1056);
  fx_expect(&r, 5, "\n\"beyond\",\"beyond\",,,", NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "-q", "--csv", "--metrics",
         "launch__block_size," LD_SECTORS);
  fx_expect(&r, 5,
            "case,kernel,launch__block_size," LD_SECTORS "\n\"records\",\"records\",256,2359296\n",
            NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "-q", "--metrics", LD_SECTORS);
  fx_expect(&r, 5, "records: records\n  metric  ", NULL);
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--metrics", "launch__grid_sise");
  fx_expect(&r, 2, NULL, "no metric 'launch__grid_sise' here; did you mean 'launch__grid_size'?");
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--csv", "--json");
  fx_expect(&r, 2, NULL, "--json has all figures");
  fx_free(&r);
}

/* The sections that are asked for, in their usual order, and nothing of the others. */
static void test_sections(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("flat");
  fx_run(&r, "profile", "k.cu", "--kernel", "flat", "--grid", "1056", "--block", "256", "--arg",
         "in", "--arg", "out", "--section", "issues,global", "-q");
  assert_string_equal(sct_str_c(&r.out),
                      "flat: flat\n"
                      "  global  requests  sectors  each  ideal  excessive  factor   used   tags\n"
                      "  loads       8448    67584   8.0    8.0          0    1.00  100 %  16896\n"
                      "  stores      8448    67584   8.0    8.0          0    1.00  100 %  16896\n"
                      "  issues      none that the rules know\n");
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--section", "global,isues");
  fx_expect(&r, 2, NULL, "there is no section 'isues' here; did you mean 'issues'?");
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--section", "global", "--json");
  fx_expect(&r, 2, NULL, "--section chooses from the text");
  fx_free(&r);
}

static double predicted_at(const char *clock, const char *kernel) {
  fx_result r = {0};
  fx_run(&r, "profile", "k.cu", "--kernel", kernel, "--grid", "1056", "--block", "256", "--arg",
         "b=out", "--clock", clock, "--json", "-q");
  json_t *doc = fx_json(&r);
  const json_t *speed = json_object_get(json_array_get(json_object_get(doc, "cases"), 0), "speed");
  const double ns = json_number_value(json_object_get(speed, "predicted_ns"));
  json_decref(doc);
  fx_free(&r);
  return ns;
}

/* What is bound by arithmetic takes longer at a lower clock, but for its launch. */
static void test_a_clock(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("sums");
  const double fast = predicted_at("1800", "steps"), slow = predicted_at("450", "steps");
  assert_true(slow > 2.5 * fast && slow < 4.0 * fast);
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--clock", "0");
  fx_expect(&r, 2, NULL, "--clock '0': expected a whole number");
  fx_free(&r);
}

static void test_options_of_the_compiler(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("flat");
  fx_write("o.cu", "__global__ void k(float *a) { a[WIDTH * threadIdx.x] = 1; }\n");
  fx_write("o.json", "{\"options\": [\"-DWIDTH=8\"], \"cases\": [{\"kernel\": \"k\", "
                     "\"grid\": 1, \"block\": 32, \"args\": [\"out\"]}]}");
  fx_run(&r, "profile", "o.cu", "--cases", "o.json", "--section", "global");
  fx_expect(&r, 0, "  stores         1       32  32.0 ", NULL);
  fx_run(&r, "count", "o.cu", "--kernel", "k", "--grid", "1", "--block", "32", "--arg", "out",
         "--nvrtc=-DWIDTH=1", "--csv");
  fx_expect(&r, 0, "\nk,0,0,0,1,4,1,", NULL);
  fx_run(&r, "profile", "o.cu", "--cases", "o.json", "--nvrtc=--use_fast_mat");
  fx_expect(&r, 2, NULL, "unrecognized option --use_fast_mat");
  fx_free(&r);
}

static void test_a_spec(void **state) {
  (void)state;
  fx_result r = {0};
  (void)find_case("flat");
  fx_run(&r, "profile", FX_SPECS "add_const_double3.lua", "-q");
  fx_expect(&r, 0, "direct threads=256 at ", NULL);
  fx_expect(&r, 0, "counts are those of 64 of the blocks, spread over the grid\n", NULL);
  fx_expect(&r, 0, "what is said of the whole launch is from a sample", NULL);
  fx_expect(&r, 0, "24.0 sectors per request where 8.0 would do", NULL);
  fx_expect(&r, 0, "limit: memory (L2 sectors)\n  roofline    ~3.15 Mflop of f64, 50.3 MB", NULL);
  fx_expect(&r, 0, "strided, source:", NULL);
  fx_run(&r, "profile", FX_SPECS "transpose_own.lua", "-q", "--pick",
         "own_transpose PAD=0 ROWS=8 TILE=32", "--size", "row=4096 col=4096");
  fx_expect(&r, 0, "  launch      grid (128, 128, 1), block (32, 8, 1)", NULL);
  fx_expect(&r, 0, "conflicts, transpose_own.cu:18: loads of shared memory conflict in", NULL);
  fx_run(&r, "profile", FX_SPECS "transpose_own.lua", "--size", "row=4096 col=4097");
  fx_expect(&r, 2, NULL,
            "the spec has no size 'row=4096 col=4097'; did you mean 'row=4096 col=4096'?");
  fx_run(&r, "profile", FX_SPECS "transpose_own.lua", "--pick", "own_transpose");
  fx_expect(&r, 2, NULL, "no candidate is called");
  fx_run(&r, "profile", FX_SPECS "transpose_own.lua", "--cases", "cases.json");
  fx_expect(&r, 2, NULL, "--cases is for CUDA files");
  fx_run(&r, "profile", "absent.lua");
  fx_expect(&r, 1, NULL, "absent.lua");
  fx_free(&r);
}

/* Each request of the whole launch: one of a full warp, one of a single lane. */
static void test_requests(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("few.lua",
           "local s = require 'sectile'\n"
           "local pair = s.record { { 'x', 'f32' }, { 'y', 'f32' } }\n"
           "return s.kernel { name = 'few', dims = { 'i' }, inputs = { s.array('a', pair) },\n"
           "  outputs = { s.array('b', 'u8') }, body = 'b = a.y;', sizes = { { i = 34 } } }\n");
  sct_str list = {0};
  sct_error err = {0};
  fx_run(&r, "profile", "few.lua", "-q", "--requests", "few.csv");
  fx_expect(&r, 0, "few", NULL);
  assert_int_equal(sct_file_read(&list, fx_path("few.csv"), &err), SCT_OK);
  const char *const out = sct_str_c(&list);
  assert_non_null(strstr(out, "block,warp,line,access,array,bytes,offsets\n0,0,"));
  assert_non_null(strstr(out, ",load,a,4,4 12 20 28 36 44 52 60 68 76 84 92 100 108 116 124 132 "));
  assert_non_null(strstr(out, "\n0,1,"));
  assert_non_null(strstr(out, ",load,a,4,260 268\n"));
  assert_non_null(strstr(out, ",store,b,1,32 33\n"));
  fx_run(&r, "profile", "k.cu", "--cases", "cases.json", "--requests", "k.csv");
  fx_expect(&r, 2, NULL, "--requests are for specs");
  sct_str_free(&list);
  fx_free(&r);
}

int main(void) {
  enum { SANITIZED = 6 }; /* of them: most of the paths, and few runs of all cases */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_a_person_reads),
      cmocka_unit_test(test_a_page),
      cmocka_unit_test(test_a_baseline),
      cmocka_unit_test(test_sections),
      cmocka_unit_test(test_options_of_the_compiler),
      cmocka_unit_test(test_a_spec),
      cmocka_unit_test(test_requests),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_issues),
      cmocka_unit_test(test_local_memory),
      cmocka_unit_test(test_constant_memory),
      cmocka_unit_test(test_a_profilers_names),
      cmocka_unit_test(test_a_clock),
      cmocka_unit_test(test_caches),
      cmocka_unit_test(test_speed),
      cmocka_unit_test(test_mix),
      cmocka_unit_test(test_accesses_of_a_line),
  };
  const size_t n = SCT_SANITIZED ? SANITIZED : SCT_COUNT(tests);
  return _cmocka_run_group_tests("profile", tests, n, setup, teardown);
}
