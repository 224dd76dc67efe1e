/* A small store for the tests of emit: problems, devices, runs and results with real kernels
 * (tests/emit/kernels), written through the public interface of store. */
#ifndef EMIT_FIXTURE_H
#define EMIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emit/emit.h"
#include "store/store.h"

typedef struct fixture {
  sct_store *store;
  char folder[64];
  sct_str path;
  sct_error err;
  sct_id problem;
} fixture;

/* ---- documents ---- */

#define VEC3 VEC3_WITH("false")
#define VEC3_WITH(packed)                                                                          \
  "{\"name\": \"vec3\", \"fields\": ["                                                             \
  "{\"name\": \"x\", \"type\": \"f64\", \"cuda\": \"double\", \"offset\": 0, \"bytes\": 8},"       \
  "{\"name\": \"y\", \"type\": \"f64\", \"cuda\": \"double\", \"offset\": 8, \"bytes\": 8},"       \
  "{\"name\": \"z\", \"type\": \"f64\", \"cuda\": \"double\", \"offset\": 16, \"bytes\": 8}],"     \
  "\"bytes\": 24, \"align\": 8, \"packed\": " packed "}"
#define BARE_F32                                                                                   \
  "{\"name\": null, \"fields\": [{\"name\": \"\", \"type\": \"f32\", \"cuda\": \"float\", "        \
  "\"offset\": 0, \"bytes\": 4}], \"bytes\": 4, \"align\": 4, \"packed\": false}"
#define OPERAND(name, role, record, bare, layouts, dims)                                           \
  "{" OPERAND_FIELDS(name, role, record, bare, layouts, dims)
#define OPERAND_FIELDS(name, role, record, bare, layouts, dims)                                    \
  "\"name\": \"" name "\", \"role\": \"" role "\", \"record\": " record ", \"bare\": " bare        \
  ", \"pointer\": \"void *\", \"layouts\": [" layouts "], \"dims\": [" dims "]}"

#define ADD_BYTES "\"bytes\": [\"24 * n_i\"], "
#define ADD_SIGNATURE                                                                              \
  "{\"name\": \"add3\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "      \
  "\"scalars\": [{\"name\": \"k\", \"type\": \"f64\", \"cuda\": \"double\"}], \"operands\": "      \
  "[{" ADD_BYTES OPERAND_FIELDS("a", "in", VEC3, "false", "\"aos\"", "\"i\"") ", {" ADD_BYTES      \
      OPERAND_FIELDS("b", "out", VEC3, "false", "\"aos\"",                                         \
                     "\"i\"") "], \"body\": \"b.x = a.x + k; b.y = a.y + k;\\nb.z = a.z + k;\"}"

/* A packed record of 6 bytes in structs of arrays or arrays of structs, and a 16-bit scalar. */
#define ITEM                                                                                       \
  "{\"name\": \"item\", \"fields\": ["                                                             \
  "{\"name\": \"w\", \"type\": \"f32\", \"cuda\": \"float\", \"offset\": 0, \"bytes\": 4},"        \
  "{\"name\": \"h\", \"type\": \"f16\", \"cuda\": \"f16\", \"offset\": 4, \"bytes\": 2}],"         \
  "\"bytes\": 6, \"align\": 1, \"packed\": true}"
#define SCALE_SIGNATURE_WITH(formulas)                                                             \
  "{\"name\": \"scale\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "     \
  "\"scalars\": [{\"name\": \"k\", \"type\": \"f16\", \"cuda\": \"f16\"}, {\"name\": \"stream\", " \
  "\"type\": \"f32\", \"cuda\": \"float\"}], \"operands\": [{" formulas OPERAND_FIELDS(            \
      "p", "in", ITEM, "false", "\"soa\", \"aos\"",                                                \
      "\"i\"") ", {" formulas OPERAND_FIELDS("q", "out", ITEM, "false", "\"soa\", \"aos\"",        \
                                             "\"i\"") "], \"body\": \"q.w = p.w * stream; q.h = "  \
                                                      "p.h;\"}"
#define SCALE_SIGNATURE                                                                            \
  SCALE_SIGNATURE_WITH(                                                                            \
      "\"shape\": [\"n_i\"], \"formulas\": [{\"doc\": \"Field after field.\", "                    \
      "\"bytes\": \"6 * n_i\", \"offsets\": [\"4 * i\", \"2 * i + 4 * n_i\"]}, "                   \
      "{\"doc\": \"\", \"bytes\": \"6 * n_i\", \"offsets\": [\"6 * i\", \"6 * i + "                \
      "4\"]}], ")

#define TRANSPOSE_SIGNATURE                                                                        \
  "{\"name\": \"transpose\", \"dims\": [\"row\", "                                                 \
  "\"col\"], \"extents\": [{\"name\": \"row\", \"dim\": true}, {\"name\": \"col\", \"dim\": "      \
  "true}], \"scalars\": [], \"operands\": [" OPERAND(                                              \
      "a", "in", BARE_F32, "true", "\"row_major\"",                                                \
      "\"row\", \"col\"") ", " OPERAND("b", "out", BARE_F32, "true", "\"col_major\"",              \
                                       "\"row\", \"col\"") "], \"body\": \"b = a;\"}"

#define ROW_SUM_SIGNATURE                                                                          \
  "{\"name\": \"row_sum\", \"dims\": [\"row\", \"col\"], \"extents\": [{\"name\": \"row\", "       \
  "\"dim\": true}, {\"name\": \"col\", \"dim\": true, \"reduced\": true}], \"scalars\": [], "      \
  "\"operands\": [" OPERAND("a", "in", BARE_F32, "true", "\"row_major\"",                          \
                            "\"row\", \"col\"") ", "                                               \
                                                "{\"reduce\": \"sum\", " OPERAND_FIELDS(           \
                                                    "total", "out", BARE_F32, "true",              \
                                                    "\"row_major\"",                               \
                                                    "\"row\"") "], \"body\": \"total = a;\"}"

/* A record that is called as add3's and has other fields, and one called as a type of headers. */
#define SHIFT_SIGNATURE                                                                            \
  "{\"name\": \"shift2\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "    \
  "\"scalars\": [], \"operands\": [" OPERAND(                                                      \
      "a", "in",                                                                                   \
      "{\"name\": \"vec3\", \"fields\": ["                                                         \
      "{\"name\": \"x\", \"type\": \"f32\", \"offset\": 0, \"bytes\": 4},"                         \
      "{\"name\": \"y\", \"type\": \"f32\", \"offset\": 4, \"bytes\": 4}],"                        \
      "\"bytes\": 8, \"align\": 4, \"packed\": false}",                                            \
      "false", "\"aos\"", "\"i\"") ", " OPERAND("b", "out",                                        \
                                                "{\"name\": \"choice\", \"fields\": [{\"name\": "  \
                                                "\"x\", \"type\": \"f32\", \"offset\": 0, "        \
                                                "\"bytes\": 4}], \"bytes\": 4, \"align\": 4, "     \
                                                "\"packed\": false}",                              \
                                                "false", "\"aos\"",                                \
                                                "\"i\"") "], \"body\": \"b.x = a.x;\"}"

#define PITCHED_SIGNATURE                                                                          \
  "{\"name\": \"pitched\", \"dims\": [\"row\", \"col\"], \"extents\": [{\"name\": \"row\", "       \
  "\"dim\": true}, {\"name\": \"col\", \"dim\": true}, {\"name\": \"from\", \"dim\": false}, "     \
  "{\"name\": \"to\", \"dim\": false}], \"scalars\": [], \"operands\": "                           \
  "[{\"bytes\": [\"4 * n_row * n_from\"], \"inside\": [\"n_col <= n_from\"], "                     \
  "\"bounds\": [\"4 * n_row * n_from\"], " OPERAND_FIELDS(                                         \
      "a", "in", BARE_F32, "true", "\"row_major\"",                                                \
      "") ", {\"bytes\": [\"4 * n_row * n_to\"], \"bounds\": [\"4 * n_row * n_to\"], "             \
          "\"apart\": [[\"n_to\", \"n_row - 1\", \"1\", \"n_col - 1\"]], " OPERAND_FIELDS(         \
              "b", "out", BARE_F32, "true", "\"row_major\"", "") "], \"body\": \"b = a;\"}"

/* ---- kernels ---- */

typedef struct kernel {
  const char *file, *label, *strategy, *axes, *launch;
  int registers;
} kernel;

#define ADD_LAUNCH(threads, grid, shared, requires, align)                                         \
  "{\"kernel\": \"add3_kernel\", \"threads\": " threads ", \"grid\": \"" grid                      \
  "\", \"shared_bytes\": " shared                                                                  \
  ", \"static_shared_bytes\": 0, \"requires\": [" requires "], \"align\": {\"a\": " align          \
                                                           ", \"b\": " align                       \
                                                           "}, \"layouts\": {\"a\": \"aos\", "     \
                                                           "\"b\": "                               \
                                                           "\"aos\"}, \"doc\": \"How it works.\"}"
#define TRANSPOSE_LAUNCH(grid)                                                                     \
  "{\"kernel\": \"transpose_kernel\", \"threads\": 256, \"grid\": \"" grid                         \
  "\", \"shared_bytes\": 0, \"static_shared_bytes\": 0, \"requires\": [], \"align\": {\"a\": 4, "  \
  "\"b\": 4}, \"layouts\": {\"a\": \"row_major\", \"b\": \"col_major\"}, \"doc\": \"\"}"

static const kernel add_direct = {"add_direct.cu",
                                  "direct t256",
                                  "direct",
                                  "{\"threads\": 256}",
                                  ADD_LAUNCH("256", "(n_i + 255) / 256", "0", "", "8"),
                                  16};
static const kernel add_flat = {
    "add_flat.cu",
    "flat t256 w16",
    "flat",
    "{\"threads\": 256, \"width\": 16}",
    ADD_LAUNCH("256", "(3 * n_i / 2 + 255) / 256", "0", "\"n_i % 2 == 0\"", "16"),
    18};
static const kernel add_staged = {"add_staged.cu",
                                  "staged t512",
                                  "staged",
                                  "{\"threads\": 512}",
                                  ADD_LAUNCH("512", "(n_i + 511) / 512", "12288", "", "8"),
                                  24};
static const kernel transpose_direct = {"transpose_direct.cu",
                                        "direct t256",
                                        "direct",
                                        "{\"threads\": 256}",
                                        TRANSPOSE_LAUNCH("(n_row * n_col + 255) / 256"),
                                        16};
static const kernel transpose_tile = {"transpose_tile.cu",
                                      "tile 32x32",
                                      "tile",
                                      "{\"tile\": 32}",
                                      TRANSPOSE_LAUNCH("(n_row + 31) / 32 * ((n_col + 31) / 32)"),
                                      20};

/* The tile's source, as if its tiles were of 8 rows. */
static const kernel transpose_strip = {"transpose_tile.cu",
                                       "strip 8",
                                       "tile",
                                       "{\"tile\": 8}",
                                       TRANSPOSE_LAUNCH("(n_row + 7) / 8 * ((n_col + 127) / 128)"),
                                       20};

/* One source with other launch data is another kernel. */
static const kernel add_staged_big = {"add_staged.cu",
                                      "staged t512 big",
                                      "staged",
                                      "{\"threads\": 512, \"big\": true}",
                                      ADD_LAUNCH("512", "(n_i + 511) / 512", "65536", "", "8"),
                                      24};

#define SCALE_LAUNCH(p, q)                                                                         \
  "{\"kernel\": \"scale_kernel\", \"threads\": 128, \"grid\": \"(n_i + 127) / 128\", "             \
  "\"shared_bytes\": 0, \"static_shared_bytes\": 0, \"requires\": [], \"align\": {\"p\": 4, "      \
  "\"q\": 4}, \"layouts\": {\"p\": \"" p "\", \"q\": \"" q "\"}, \"doc\": \"\"}"
static const kernel scale_soa = {"scale_direct.cu",
                                 "direct t128 soa",
                                 "direct",
                                 "{\"layout.p\": \"soa\", \"threads\": 128}",
                                 SCALE_LAUNCH("soa", "soa"),
                                 12};

#define ROW_SUM_LAUNCH(kernel, grid, requires, align, more)                                        \
  "{\"kernel\": \"" kernel "\", \"threads\": 256, \"grid\": \"" grid                               \
  "\", \"shared_bytes\": 0, \"static_shared_bytes\": "                                             \
  "32, \"requires\": [" requires "], \"align\": "                                                  \
                                 "{\"a\": " align ", \"total\": 4}, "                              \
                                 "\"layouts\": {\"a\": "                                           \
                                 "\"row_major\", "                                                 \
                                 "\"total\": "                                                     \
                                 "\"row_major\"}, "                                                \
                                 "\"doc\": \"\"" more "}"
static const kernel row_sum_direct = {"row_sum_direct.cu",
                                      "direct t256",
                                      "direct",
                                      "{\"threads\": 256}",
                                      ROW_SUM_LAUNCH("direct", "n_row", "", "4", ""),
                                      16};
/* Eight blocks a row, which meet in the workspace. */
static const kernel row_sum_shared = {"row_sum_shared.cu",
                                      "reduce_rows b8",
                                      "reduce_rows",
                                      "{\"shares\": 8}",
                                      ROW_SUM_LAUNCH("reduce_rows", "8 * n_row",
                                                     "\"n_col % 4 == 0\", \"8 * n_row <= 4096\"",
                                                     "16", ", \"workspace_bytes\": 278528"),
                                      32};

static inline void use_fixture_kernels(void) {
  (void)row_sum_direct, (void)row_sum_shared;
  (void)add_staged_big, (void)scale_soa;
  (void)add_direct, (void)add_flat, (void)add_staged, (void)transpose_direct, (void)transpose_tile;
  (void)transpose_strip;
}

/* ---- rows ---- */

static inline void fixture_check(fixture *f, sct_status status) {
  if (status != SCT_OK) {
    fail_msg("%s: %s", sct_status_text(status), f->err.text);
  }
}

/* A header's text, and that as a file. */
static inline sct_status fixture_emit(sct_str *out, fixture *f, const sct_emit_request *request) {
  SCT_OWNED_PTR(sct_emit) header = NULL;
  SCT_TRY(sct_emit_open(&header, f->store, request, &f->err));
  return sct_emit_render(out, header, &f->err);
}

static inline sct_status fixture_write(fixture *f, const sct_emit_request *request,
                                       const char *path) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(fixture_emit(&text, f, request));
  return sct_file_write(path, text.data, text.len, &f->err);
}

static inline void fixture_open(fixture *f) {
  use_fixture_kernels();
  *f = (fixture){0};
  snprintf(f->folder, sizeof(f->folder), "/tmp/sct_emit_XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  sct_str_printf(&f->path, "%s/store.db", f->folder);
  fixture_check(f, sct_store_open(&f->store, sct_str_c(&f->path), false, &f->err));
}

static inline void fixture_close(fixture *f) {
  char command[128];
  sct_store_close(f->store);
  sct_str_free(&f->path);
  snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
  assert_int_equal(system(command), 0);
}

static inline int fixture_setup(void **state) {
  *state = malloc(sizeof(fixture));
  fixture_open(*state);
  return 0;
}

static inline int fixture_teardown(void **state) {
  fixture_close(*state);
  free(*state);
  return 0;
}

static inline void fixture_problem(fixture *f, const char *name, const char *signature) {
  char hash[SCT_HASH_HEX];
  sct_hash_hex(hash, sct_hash_text(signature));
  char file[128];
  snprintf(file, sizeof(file), "%s.lua", name);
  sct_row_problem row = {.name = (char *)name,
                         .spec_hash = hash,
                         .spec_file = file,
                         .canonical = (char *)signature,
                         .signature = (char *)signature};
  fixture_check(f, sct_store_put_problem(f->store, &row, &f->err));
  f->problem = row.id;
}

static inline sct_id fixture_device_with(fixture *f, const char *name, const char *uuid,
                                         const char *driver, int cc, int n_sms) {
  char key[256];
  char arch[16];
  char description[64];
  snprintf(key, sizeof(key), "%s %s %s %d", name, uuid, driver, cc);
  snprintf(arch, sizeof(arch), "sm_%d", cc);
  snprintf(description, sizeof(description), "{\"n_sms\": %d}", n_sms);
  sct_row_device row = {.key = key,
                        .name = (char *)name,
                        .device_id = (char *)(uuid[0] != '\0' ? "cuda:0" : "virtual:h200"),
                        .uuid = (char *)uuid,
                        .driver = (char *)driver,
                        .nvrtc = "13.0",
                        .tool = "0.1.0",
                        .arch = arch,
                        .cc_major = cc / 10,
                        .cc_minor = cc % 10,
                        .is_virtual = uuid[0] == '\0',
                        .description = description};
  fixture_check(f, sct_store_put_device(f->store, &row, &f->err));
  return row.id;
}

static inline sct_id fixture_h200(fixture *f) {
  return fixture_device_with(f, "NVIDIA H200", "GPU-1", "580.1", 90, 132);
}

static inline sct_row_run fixture_run(fixture *f, sct_id device, const char *label,
                                      const char *extents, double bytes, const char *started) {
  sct_row_run row = {.problem = f->problem,
                     .device = device,
                     .size_label = (char *)label,
                     .extents = (char *)extents,
                     .read_bytes = bytes / 2,
                     .write_bytes = bytes / 2,
                     .ceiling_bytes_s = 4.2e12,
                     .noise = 0.01,
                     .n_candidates = 40,
                     .n_verified = 38,
                     .n_failed = 2,
                     .n_tied = 1,
                     .started = (char *)started,
                     .conditions = "{}"};
  fixture_check(f, sct_store_put_run(f->store, &row, &f->err));
  return row;
}

static inline void fixture_hash(char hex[SCT_HASH_HEX], const char *source, const char *launch) {
  sct_str both = {0};
  sct_str_printf(&both, "%s%s", source, launch);
  sct_hash_hex(hex, sct_hash_bytes(both.data, both.len));
  sct_str_free(&both);
}

/* A verified result, timed (median_ns > 0) or only counted (0). Returns the outcome's id. */
static inline sct_id fixture_result_with(fixture *f, const sct_row_run *run, const kernel *k,
                                         const char *source, double median_ns, bool coalesced) {
  char hash[SCT_HASH_HEX];
  fixture_hash(hash, source, k->launch);
  const double requests = 1000;
  sct_row_candidate candidate = {.problem = f->problem,
                                 .source_hash = hash,
                                 .label = (char *)k->label,
                                 .strategy = (char *)k->strategy,
                                 .axes = (char *)k->axes,
                                 .source = (char *)source,
                                 .kernel = "k",
                                 .launch = (char *)k->launch,
                                 .options = "-arch=sm_90",
                                 .registers = k->registers};
  sct_row_outcome outcome = {.run = run->id,
                             .outcome = "ok",
                             .detail = "",
                             .times.median_ns = median_ns,
                             .times.q1_ns = median_ns,
                             .times.q3_ns = median_ns,
                             .times.min_ns = median_ns,
                             .requests_ld = requests,
                             .sectors_ld = 8 * requests,
                             .sectors_ld_ideal = 8 * requests,
                             .requests_st = requests,
                             .sectors_st = (coalesced ? 8 : 24) * requests,
                             .sectors_st_ideal = 8 * requests,
                             .degree = coalesced ? 1 : 0.33,
                             .how.coalesced = coalesced,
                             .counts_exact = true,
                             .predicted_ns = 3700};
  fixture_check(f, sct_store_put_result(f->store, &candidate, &outcome, false, &f->err));
  return outcome.id;
}

static inline sct_id fixture_result(fixture *f, const sct_row_run *run, const kernel *k,
                                    double median_ns, bool coalesced) {
  sct_str path = {0};
  sct_str source = {0};
  sct_str_printf(&path, "%s/emit/kernels/%s", SCT_TESTS_DIR, k->file);
  fixture_check(f, sct_file_read(&source, sct_str_c(&path), &f->err));
  const sct_id id = fixture_result_with(f, run, k, sct_str_c(&source), median_ns, coalesced);
  sct_str_free(&source);
  sct_str_free(&path);
  return id;
}

static inline void fixture_finish(fixture *f, sct_row_run *run, sct_id winner, sct_id naive) {
  run->winner = winner;
  run->naive = naive;
  fixture_check(f, sct_store_finish_run(f->store, run, &f->err));
}

/* One size of add3 on `device`, won by `winner` in `median_ns` (0: counted). */
static inline void fixture_add_size(fixture *f, sct_id device, long long n, const kernel *winner,
                                    double median_ns, const char *started) {
  char label[64];
  char extents[64];
  snprintf(label, sizeof(label), "i=%lld", n);
  snprintf(extents, sizeof(extents), "{\"i\": %lld}", n);
  sct_row_run run = fixture_run(f, device, label, extents, 48.0 * (double)n, started);
  const sct_id naive = fixture_result(f, &run, &add_direct, median_ns * 2, false);
  const sct_id best =
      winner == &add_direct ? naive : fixture_result(f, &run, winner, median_ns, true);
  fixture_finish(f, &run, best, naive);
}

/* add3 on an H200: small sizes won by flat, large ones by staged. */
static inline void fixture_add(fixture *f) {
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  fixture_add_size(f, h200, 1 << 20, &add_flat, 14000, "2025-01-01T00:00:00Z");
  fixture_add_size(f, h200, 1 << 26, &add_staged, 780000, "2025-01-01T00:01:00Z");
}

/* add3 on an H200 and an A100, as tests/emit/nvcc/dispatch.cu expects it. */
static inline void fixture_add_two_devices(fixture *f) {
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id a100 = fixture_device_with(f, "NVIDIA A100", "GPU-2", "570.2", 80, 108);
  fixture_add_size(f, a100, 1 << 24, &add_staged, 560000, "2025-01-01T00:00:00Z");
  const sct_id h200 = fixture_h200(f);
  fixture_add_size(f, h200, 1 << 20, &add_flat, 14000, "2025-01-02T00:00:00Z");
  fixture_add_size(f, h200, 1 << 26, &add_staged_big, 780000, "2025-01-02T00:01:00Z");
}

/* scale, tuned in the layout soa on a described device only: counted, not timed. */
static inline void fixture_scale(fixture *f) {
  fixture_problem(f, "scale", SCALE_SIGNATURE);
  const sct_id device = fixture_device_with(f, "NVIDIA H200", "", "", 90, 132);
  sct_row_run run =
      fixture_run(f, device, "i=65536", "{\"i\": 65536}", 786432.0, "2025-01-03T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &scale_soa, 0, true);
  fixture_finish(f, &run, naive, naive);
}

/* Everything that is not a name is as hostile as it can be; the records are of the awkward kinds.
 */
#define HOSTILE_TEXT                                                                               \
  "*/ } int evil = 1; \\\" \\\\ \\n#error broke out\\n \?\?/\\n // /* \\u202e } \\\\"
#define WIDE                                                                                       \
  "{\"name\": \"wide\", \"fields\": ["                                                             \
  "{\"name\": \"v\", \"type\": \"f32x4\", \"offset\": 0, \"bytes\": 16},"                          \
  "{\"name\": \"t\", \"type\": \"u8\", \"offset\": 16, \"bytes\": 1},"                             \
  "{\"name\": \"h\", \"type\": \"bf16\", \"offset\": 18, \"bytes\": 2}],"                          \
  "\"bytes\": 64, \"align\": 64, \"packed\": false}"
#define HOSTILE_SIGNATURE                                                                          \
  "{\"name\": \"hostile\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}, "    \
  "{\"name\": \"m\", "                                                                             \
  "\"dim\": false}], \"operands\": [" OPERAND(                                                     \
      "aligned", "in", ITEM, "false", "\"aos\", \"" HOSTILE_TEXT "\"",                             \
      "\"" HOSTILE_TEXT "\"") ", " OPERAND("blocks", "out", WIDE, "false", "\"aos\"",              \
                                           "\"i\"") "], \"body\": \"" HOSTILE_TEXT "\"}"
#define HOSTILE_LAUNCH                                                                             \
  "{\"kernel\": \"launch\", \"threads\": 64, \"grid\": \"(n_i + n_m) / 64 + 1\", "                 \
  "\"shared_bytes\": 0, \"static_shared_bytes\": 0, \"requires\": [], \"align\": {\"aligned\": "   \
  "1, "                                                                                            \
  "\"blocks\": 64}, \"layouts\": {\"aligned\": \"aos\", \"blocks\": \"aos\"}, \"doc\": "           \
  "\"" HOSTILE_TEXT "\"}"

static inline void fixture_hostile(fixture *f) {
  static const char *const text =
      "*/ } int evil = 1; \" \\ \n#error broke out\n \?\?/\n // /* \xff } \\";
  static const char *const source =
      "__global__ void launch(const void *aligned, void *blocks, long long n_i, long long n_m) {\n"
      "  (void)aligned, (void)blocks, (void)n_i, (void)n_m;\n}\n";
  const kernel bad = {"", text, text, "{}", HOSTILE_LAUNCH, 1};
  fixture_problem(f, "hostile", HOSTILE_SIGNATURE);
  const sct_id device = fixture_device_with(f, text, text, text, 90, 132);
  sct_row_run run = fixture_run(f, device, text, "{\"i\": 64, \"m\": 1}", 1, text);
  const sct_id id = fixture_result_with(f, &run, &bad, source, 1000, true);
  fixture_finish(f, &run, id, id);
}

static inline void fixture_transpose(fixture *f) {
  fixture_problem(f, "transpose", TRANSPOSE_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  sct_row_run run = fixture_run(f, h200, "row=4096 col=4096", "{\"row\": 4096, \"col\": 4096}",
                                134217728.0, "2025-01-01T00:02:00Z");
  const sct_id naive = fixture_result(f, &run, &transpose_direct, 110000, false);
  fixture_finish(f, &run, fixture_result(f, &run, &transpose_tile, 36000, true), naive);
}

/* A problem with the kernels of transpose, and one that has won a matrix of few rows. */
static inline void fixture_strips(fixture *f) {
  const char *const at = strstr(TRANSPOSE_SIGNATURE, "transpose");
  sct_str signature = {0};
  sct_str_printf(&signature, "%.*sstrips%s", (int)(at - TRANSPOSE_SIGNATURE), TRANSPOSE_SIGNATURE,
                 at + strlen("transpose"));
  fixture_problem(f, "strips", sct_str_c(&signature));
  sct_str_free(&signature);
  const sct_id h200 = fixture_h200(f);
  static const char *const sizes[][2] = {{"row=4096 col=4096", "{\"row\": 4096, \"col\": 4096}"},
                                         {"row=7 col=500000", "{\"row\": 7, \"col\": 500000}"}};
  for (int k = 0; k < SCT_COUNT(sizes); k++) {
    sct_row_run run =
        fixture_run(f, h200, sizes[k][0], sizes[k][1], 134217728.0, "2025-01-01T00:02:00Z");
    const sct_id naive = fixture_result(f, &run, &transpose_direct, 110000, false);
    const kernel *winner = k == 0 ? &transpose_tile : &transpose_strip;
    fixture_finish(f, &run, fixture_result(f, &run, winner, 36000, true), naive);
  }
}

static inline void fixture_shift_with(fixture *f, const char *signature) {
  static const char *const source =
      "struct vec3 {\n  float x, y;\n};\nstruct choice {\n  float x;\n};\n"
      "__global__ void shift2_kernel(const vec3 *a, choice *b, long long n_i) {\n"
      "  const long long i = blockIdx.x * 64ll + threadIdx.x;\n"
      "  if (i < n_i) b[i].x = a[i].x;\n}\n";
  const kernel k = {
      "",
      "direct t64",
      "direct",
      "{}",
      "{\"kernel\": \"shift2_kernel\", \"threads\": 64, \"grid\": \"(n_i + 63) / 64\", "
      "\"shared_bytes\": 0, \"static_shared_bytes\": 0, \"requires\": [], \"align\": "
      "{\"a\": 4, \"b\": 4}, \"layouts\": {\"a\": \"aos\", \"b\": \"aos\"}, "
      "\"doc\": \"\"}",
      16};
  fixture_problem(f, "shift2", signature);
  sct_row_run run = fixture_run(f, fixture_h200(f), "i=64", "{\"i\": 64}", 768, "2025-01-01");
  const sct_id id = fixture_result_with(f, &run, &k, source, 1000, true);
  fixture_finish(f, &run, id, id);
}

static inline void fixture_shift(fixture *f) {
  fixture_shift_with(f, SHIFT_SIGNATURE);
}

/* Rows of which both pitches are given at launch. */
static inline void fixture_pitched(fixture *f) {
  static const char *const source =
      "__global__ void pitched_kernel(const float *a, float *b, long long n_row, long long n_col,\n"
      "                               long long n_from, long long n_to) {\n"
      "  const long long i = blockIdx.x * 64ll + threadIdx.x, row = i / n_col, col = i % n_col;\n"
      "  if (row < n_row) b[row * n_to + col] = a[row * n_from + col];\n}\n";
  const kernel k = {"",
                    "direct t64",
                    "direct",
                    "{}",
                    "{\"kernel\": \"pitched_kernel\", \"threads\": 64, \"grid\": "
                    "\"(n_row * n_col + 63) / 64\", \"shared_bytes\": 0, "
                    "\"static_shared_bytes\": 0, \"requires\": [], \"align\": "
                    "{\"a\": 4, \"b\": 4}, \"layouts\": {\"a\": \"row_major\", "
                    "\"b\": \"row_major\"}, \"doc\": \"\"}",
                    16};
  fixture_problem(f, "pitched", PITCHED_SIGNATURE);
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "row=8 col=8 from=8 to=8",
                  "{\"row\": 8, \"col\": 8, \"from\": 8, \"to\": 8}", 512, "2025-01-01");
  const sct_id id = fixture_result_with(f, &run, &k, source, 1000, true);
  fixture_finish(f, &run, id, id);
}

/* Sums of rows: a long row has several blocks. */
static inline void fixture_row_sum_with(fixture *f, const char *signature) {
  fixture_problem(f, "row_sum", signature);
  const sct_id h200 = fixture_h200(f);
  sct_row_run run = fixture_run(f, h200, "row=16 col=1048576", "{\"row\": 16, \"col\": 1048576}",
                                67108928.0, "2025-01-04T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &row_sum_direct, 70000, false);
  fixture_finish(f, &run, fixture_result(f, &run, &row_sum_shared, 20000, true), naive);
}

static inline void fixture_row_sum(fixture *f) {
  fixture_row_sum_with(f, ROW_SUM_SIGNATURE);
}

/* The header of `name`; the caller frees it. Fails the test if there is none. */
static inline sct_str fixture_header(fixture *f, const char *name) {
  sct_str out = {0};
  const sct_emit_request request = {.name = name};
  fixture_check(f, fixture_emit(&out, f, &request));
  return out;
}

/* No header comes out of the store; f->err says why. */
static inline void fixture_refused(fixture *f, const char *name, const char *words) {
  sct_str out = {0};
  const sct_emit_request request = {.name = name};
  f->err = (sct_error){0};
  assert_int_equal(fixture_emit(&out, f, &request), SCT_EDATA);
  assert_int_equal(out.len, 0);
  if (strstr(f->err.text, words) == NULL) {
    fail_msg("'%s' is not in the error: %s", words, f->err.text);
  }
  sct_str_free(&out);
}

static inline bool has_text(const sct_str *text, const char *part) {
  return strstr(sct_str_c(text), part) != NULL;
}

#endif
