/* `transfer SPEC`: ways from the host and back, modelled on a virtual device and timed on a fake
 * GPU; tables, timelines, what is stored, and what is refused. */
#include "cli_gpu_fixture.h"
#include "device/device.h"

#include <math.h>

#define SPEC(host, sizes)                                                                          \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"move\", dims = { \"i\" }, " host "\n"                                                \
  "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"               \
  "  body = \"b = a;\", sizes = { " sizes " },\n"                                                  \
  "}\n"

static double number(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static const json_t *first_size(const json_t *doc) {
  return json_array_get(json_object_get(doc, "sizes"), 0);
}

/* A way by its memory, chunk (0: all), streams and threads. */
static const json_t *way(const json_t *size, const char *memory, double chunk, int streams,
                         int threads) {
  const json_t *each = NULL;
  size_t k = 0;
  json_array_foreach(json_object_get(size, "ways"), k, each) {
    if (strcmp(json_string_value(json_object_get(each, "memory")), memory) == 0 &&
        number(each, "chunk") == chunk && number(each, "streams") == streams &&
        number(each, "threads") == threads) {
      return each;
    }
  }
  fail_msg("no way %s %g %d %d", memory, chunk, streams, threads);
  return NULL;
}

static bool is_near(double a, double b) {
  return fabs(a - b) <= 1e-6 * fabs(b);
}

/* 64 MiB each way, of which the model's times follow by hand. */
static void a_virtual_device_is_modelled(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("host.lua", SPEC("host = true,", "{ i = 1 << 24 }"));
  fx_run(&r, "transfer", "host.lua", "-d", "virtual:h200", "--store", "t.db", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *size = first_size(doc);
  const double link = 3.938 * 16 * 0.87, bytes = 1 << 26; /* GB/s, bytes a ns */
  const double kernel = number(json_object_get(size, "engines_ns"), "kernel");
  assert_true(json_is_false(json_object_get(doc, "timed")));
  assert_true(is_near(number(size, "bound_ns"), 10000 + bytes / link));
  assert_true(kernel > 0 && kernel < number(size, "bound_ns") / 10);
  const json_t *plain = way(size, "page-locked", 0, 1, 0);
  assert_true(is_near(number(plain, "modelled_ns"), 2 * (10000 + bytes / link) + kernel));
  assert_true(number(plain, "hidden") < 1e-9);
  const json_t *pageable = way(size, "pageable", 0, 1, 0);
  assert_true(
      is_near(number(pageable, "modelled_ns"), 2 * (10000 + bytes / link + bytes / 13.0) + kernel));
  /* 16 chunks of 4 MiB: all copies in, then the last chunk's kernel and its copy out */
  const json_t *chunks = way(size, "page-locked", 1 << 20, 3, 0);
  const double copy = 10000 + bytes / 16 / link;
  assert_true(number(chunks, "modelled_ns") > 17 * copy &&
              number(chunks, "modelled_ns") < 17 * copy + kernel);
  assert_true(number(chunks, "hidden") > 0.9);
  assert_true(
      is_near(number(chunks, "share"), number(size, "bound_ns") / number(chunks, "modelled_ns")));
  assert_true(json_is_null(json_object_get(chunks, "failure")));
  const json_t *chosen =
      json_array_get(json_object_get(size, "ways"), (size_t)number(size, "page_locked"));
  assert_true(number(chosen, "modelled_ns") <= number(chunks, "modelled_ns"));
  assert_true(json_array_size(json_object_get(chosen, "timeline")) >= 3 * 4);
  json_decref(doc);
  fx_free(&r);
}

static void text_says_what_was_chosen(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("host.lua", SPEC("host = true,", "{ i = 1 << 24 }"));
  fx_run(&r, "transfer", "host.lua", "-d", "virtual:h200", "--store", "t.db");
  fx_expect(&r, 0, "modelled by stated rates, not timed; results verified at small sizes", NULL);
  fx_expect(&r, 0, "i=16777216: 64 MiB to the device, 64 MiB back; bound 1.234 ms (in ", NULL);
  fx_expect(&r, 0, "\n  page-locked arrays: chunks of i=", NULL);
  fx_expect(&r, 0, "computed by the naive variant, as the store has no winner", NULL);
  fx_expect(&r, 0, " to `sizes`, then `sectile tune host.lua`", NULL);
  fx_expect(&r, 0, "\n    in     |", NULL);
  fx_expect(&r, 0, "\n    host   |", NULL);
  fx_expect(&r, 0, "to lock the pages of pageable arrays takes about 3.728 ms: for one call it ",
            NULL);
  fx_free(&r);
}

/* What a header takes for chunks of that size computes them, and it is said why. */
static void chunks_have_the_kernel_that_a_header_takes(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("two.lua", SPEC("host = true,", "{ i = 1000 }, { i = 1 << 20 }, { i = 1 << 22 }"));
  fx_run(&r, "tune", "two.lua", "-d", "virtual:h200", "--store", "two.db", "-q", "--assets",
         "assets");
  fx_expect(&r, 0, NULL, NULL);
  fx_run(&r, "transfer", "two.lua", "-d", "virtual:h200", "--store", "two.db", "--json", "--size",
         "i=4194304", "--assets", "assets");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  assert_int_equal(json_array_size(json_object_get(doc, "sizes")), 1);
  const json_t *size = first_size(doc);
  const json_t *chunk = way(size, "page-locked", 1 << 20, 2, 0);
  assert_string_equal(json_string_value(json_object_get(chunk, "tuned")), "i=1048576");
  assert_true(json_is_true(json_object_get(chunk, "tuned_exactly")));
  const json_t *ring = way(size, "pageable", 1 << 18, 8, 4);
  assert_true(json_is_null(json_object_get(ring, "tuned")));
  assert_string_equal(json_string_value(json_object_get(ring, "rule_of")), "NVIDIA H200");
  assert_true(json_is_false(json_object_get(ring, "tuned_exactly")));
  json_decref(doc);
  fx_run(&r, "export", "--store", "two.db");
  fx_expect(&r, 0, "page-locked chunk=1048576 streams=2 threads=0", NULL);
  fx_run(&r, "emit", "two.lua", "--store", "two.db", "-o", "two.h", "-q");
  fx_expect(&r, 0, NULL, NULL);
  sct_str header = {0};
  assert_int_equal(sct_file_read(&header, fx_path("two.h"), NULL), SCT_OK);
  assert_non_null(strstr(sct_str_c(&header), "of the largest array 2 MiB, page-locked 16 MiB"));
  assert_null(strstr(sct_str_c(&header), "the fastest of those")); /* none was timed */
  sct_str_free(&header);
  fx_run(&r, "emit", "host", "--store", "two.db");
  fx_expect(&r, 8, NULL, "'host' is no kernel that `sectile tune` made");
  fx_free(&r);
}

/* The fake copies where nobody expects a result, so that this spec is right in chunks. */
static void a_gpu_is_timed(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("copies");
  fx_write("host.lua", SPEC("host = true,", "{ i = 2500001 }"));
  fx_run(&r, "transfer", "host.lua", "-d", "cuda:0", "--store", "gpu.db", "--json", "--assets",
         "assets");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *size = first_size(doc);
  assert_true(json_is_true(json_object_get(doc, "timed")));
  const json_t *plain = way(size, "page-locked", 0, 1, 0);
  assert_true(json_array_size(json_object_get(plain, "samples_ns")) >= 5);
  assert_true(number(plain, "median_ns") > 0 && number(plain, "total_ns") > 0);
  const json_t *chosen =
      json_array_get(json_object_get(size, "ways"), (size_t)number(size, "pageable"));
  assert_true(number(chosen, "median_ns") > 0);
  json_decref(doc);
  fx_run(&r, "export", "--store", "gpu.db");
  fx_expect(&r, 0, "pageable chunk=", NULL);
  fx_run(&r, "tune", "host.lua", "-d", "cuda:0", "--store", "gpu.db", "-q", "--assets", "assets",
         "--max-candidates", "1");
  fx_run(&r, "emit", "host.lua", "--store", "gpu.db", "-o", "gpu.h", "-q");
  fx_expect(&r, 0, NULL, NULL);
  sct_str header = {0};
  assert_int_equal(sct_file_read(&header, fx_path("gpu.h"), NULL), SCT_OK);
  assert_non_null(strstr(sct_str_c(&header), "the fastest of those timed on "));
  sct_str_free(&header);
  fx_free(&r);
}

static void wrong_results_are_failures(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("ok");
  fx_write("scale.lua", "local s = require \"sectile\"\n" /* which the fake does not compute */
                        "return s.kernel {\n"
                        "  name = \"two\", dims = { \"i\" }, host = true,\n"
                        "  inputs = { s.array(\"a\", \"f32\"), s.array(\"c\", \"f32\") },\n"
                        "  outputs = { s.array(\"b\", \"f32\") },\n"
                        "  body = \"b = a;\", sizes = { { i = 3000 } },\n"
                        "}\n");
  fx_run(&r, "transfer", "scale.lua", "-d", "cuda:0", "--store", "gpu.db", "--assets", "assets");
  fx_expect(&r, 5, "failed", NULL);
  fx_expect(&r, 5, "b of element i=0", NULL);
  fx_free(&r);
}

static void small_sizes_are_not_cut(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("small.lua", SPEC("host = true,", "{ i = 1 }, { i = 33 }"));
  fx_run(&r, "transfer", "small.lua", "-d", "virtual:h200", "--store", "t.db");
  fx_expect(&r, 0, "i=1: 4 B to the device, 4 B back; bound 10 us", NULL);
  fx_expect(&r, 0, "page-locked arrays: all at once", NULL);
  fx_free(&r);
}

/* ---- two devices ---- */

/* The best way in chunks of page-locked memory (threads 0) or through the ring, by so many devices;
 * NULL: there is none. */
static const json_t *best(const json_t *size, int devices, bool ring) {
  const json_t *each = NULL, *found = NULL;
  size_t k = 0;
  json_array_foreach(json_object_get(size, "ways"), k, each) {
    if (number(each, "devices") == devices && (number(each, "threads") > 0) == ring &&
        number(each, "chunk") > 0 &&
        (!found || number(each, "modelled_ns") < number(found, "modelled_ns"))) {
      found = each;
    }
  }
  return found;
}

static void check_none_failed(const json_t *size) {
  const json_t *each = NULL;
  size_t k = 0;
  json_array_foreach(json_object_get(size, "ways"), k, each) {
    if (json_is_string(json_object_get(each, "failure"))) {
      fail_msg("way %d: %s", (int)k, json_string_value(json_object_get(each, "failure")));
    }
  }
}

/* By the model two devices at best halve the time, of each way and of the bound. */
static void check_times(const json_t *size) {
  const double one = number(size, "bound_ns"), two = number(size, "two_bound_ns");
  const json_t *each = NULL;
  size_t k = 0;
  int n_halved = 0;
  assert_true(two >= one / 2 && two < 0.51 * one + 10000); /* a latency is not halved */
  json_array_foreach(json_object_get(size, "ways"), k, each) {
    if (number(each, "devices") == 2) {
      const double ns = number(each, "modelled_ns");
      assert_true(ns >= two && is_near(number(each, "share"), two / ns));
      const json_t *same =
          number(each, "threads") > 16
              ? best(size, 1, true)
              : way(size, json_string_value(json_object_get(each, "memory")), number(each, "chunk"),
                    (int)number(each, "streams"), (int)number(each, "threads"));
      assert_int_equal(number(same, "devices"), 1);
      assert_true(ns >= number(same, "modelled_ns") / 2);
      n_halved += ns < 0.55 * number(same, "modelled_ns");
    }
  }
  assert_true(n_halved >= 4);
}

static void two_devices_share_a_job(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("pair.lua", SPEC("host = true,", "{ i = (1 << 26) + 1 }"));
  fx_run(&r, "transfer", "pair.lua", "-d", "virtual:h200,virtual:h200", "--store", "pair.db",
         "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *size = first_size(doc);
  assert_string_equal(json_string_value(json_object_get(json_object_get(doc, "peer"), "id")),
                      "virtual:h200");
  assert_true(json_is_null(json_object_get(doc, "one_device")));
  check_none_failed(size);
  check_times(size);
  const json_t *chosen =
      json_array_get(json_object_get(size, "ways"), (size_t)number(size, "page_locked"));
  assert_int_equal(number(chosen, "devices"), 2);
  int n_of[2] = {0, 0};
  const json_t *each = NULL;
  size_t k = 0;
  json_array_foreach(json_object_get(chosen, "timeline"), k, each) {
    n_of[(int)number(each, "device")]++;
  }
  assert_true(n_of[1] >= 3 && n_of[0] >= n_of[1] && n_of[0] <= n_of[1] + 3); /* a chunk of one */
  json_decref(doc);
  fx_run(&r, "transfer", "pair.lua", "-d", "virtual:h200,virtual:h200", "--store", "pair.db");
  fx_expect(&r, 0, "on NVIDIA H200 (virtual:h200) and NVIDIA H200 (virtual:h200): modelled", NULL);
  fx_expect(&r, 0, "; of two devices ", NULL);
  fx_expect(&r, 0, "memory          devices  ", NULL);
  fx_expect(&r, 0, "page-locked arrays: a half on each device, chunks of i=", NULL);
  fx_expect(
      &r, 0,
      "two threads of the host do it, each with a device and a plan of its own (docs/transfer.md",
      NULL);
  fx_expect(&r, 0, "\n    out 1    |", NULL);
  fx_expect(&r, 0, "\n    in 2     |", NULL);
  fx_run(&r, "export", "--store", "pair.db");
  fx_expect(&r, 0, " devices=2\"", NULL);
  fx_expect(&r, 0, "\\\"devices\\\":2", NULL);
  fx_run(&r, "report", "pair.lua", "-d", "virtual:h200", "--store", "pair.db", "-o", "pair.html",
         "--assets", "assets", "--max-candidates", "1");
  fx_expect(&r, 0, NULL, NULL);
  sct_str page = {0};
  assert_int_equal(sct_file_read(&page, fx_path("pair.html"), NULL), SCT_OK);
  assert_non_null(strstr(sct_str_c(&page), ">devices</th>"));
  assert_non_null(strstr(sct_str_c(&page), "kernel 2<"));
  sct_str_free(&page);
  fx_run(&r, "compare", "pair.db", "pair.db");
  fx_expect(&r, 0, NULL, NULL);
  fx_free(&r);
}

/* Odd rows with a halo, of which each device has some; and jobs that no two can have. */
static void halves_have_halos(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("halo.lua", "local s = require \"sectile\"\n"
                       "return s.kernel {\n"
                       "  host = true, name = \"halo\", dims = { \"y\", \"x\" },\n"
                       "  inputs = { s.array(\"a\", \"f32\", s.row_major, {\n"
                       "    taps = { up = { -1, 0 }, below = { 2, 0 } }, border = \"clamp\" }) },\n"
                       "  outputs = { s.array(\"b\", \"f32\") },\n"
                       "  body = \"b = up + 2.0f * a + 4.0f * below;\",\n"
                       "  sizes = { { y = 20001, x = 1001 }, { y = 1, x = 1 }, { y = 2, x = 3 },\n"
                       "    { y = 0, x = 5 } },\n"
                       "}\n");
  fx_run(&r, "transfer", "halo.lua", "-d", "virtual:h200,virtual:h200", "--store", "halo.db",
         "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *sizes = json_object_get(doc, "sizes");
  check_none_failed(first_size(doc));
  check_times(first_size(doc));
  assert_true(json_is_true(json_object_get(doc, "halo")));
  check_none_failed(json_array_get(sizes, 1));
  assert_true(json_is_null(json_object_get(json_array_get(sizes, 1), "two_bound_ns")));
  check_none_failed(json_array_get(sizes, 2));
  assert_true(number(json_array_get(sizes, 2), "two_bound_ns") > 0);
  assert_null(best(json_array_get(sizes, 2), 2, false));
  assert_int_equal(json_array_size(json_object_get(json_array_get(sizes, 3), "ways")), 0);
  json_decref(doc);
  fx_free(&r);
}

static void what_two_devices_cannot_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("host.lua", SPEC("host = true,", "{ i = 100 }"));
  fx_write("keep.lua", "local s = require \"sectile\"\n"
                       "return s.kernel {\n  name = \"keeps\", dims = { \"i\" },\n"
                       "  inputs = { s.array(\"a\", \"f32\", s.row_major, { host = true }) },\n"
                       "  outputs = { s.array(\"sum\", \"f32\", s.row_major, { inout = true }) },\n"
                       "  body = \"sum = sum + a;\", sizes = { { i = 1 << 22 } } }\n");
  fx_run(&r, "transfer", "keep.lua", "-d", "virtual:h200,virtual:h200");
  fx_expect(&r, 0, "\nsum stays on the device, so the job is not divided between two devices\n",
            NULL);
  fx_expect(&r, 0, "\n  page-locked arrays: all at once, ", NULL);
  fx_write("columns.lua",
           "local s = require \"sectile\"\n"
           "return s.kernel {\n"
           "  host = true, name = \"col_sums\", dims = { \"row\", \"col\" }, tolerance = 1e-4,\n"
           "  inputs = { s.array(\"a\", \"f32\") },\n"
           "  outputs = { s.array(\"b\", \"f32\", s.row_major,\n"
           "    { dims = { \"col\" }, reduce = \"sum\", inout = true }) },\n"
           "  body = \"b = a;\", sizes = { { row = 3001, col = 40 } } }\n");
  fx_run(&r, "transfer", "columns.lua", "-d", "virtual:h200,virtual:h200");
  fx_expect(&r, 0, "\nb is one for all chunks, so the job is not divided between two devices\n",
            NULL);
  fx_run(&r, "transfer", "host.lua", "-d", "virtual:h200,virtual:a100");
  fx_expect(&r, 2, NULL,
            "virtual:a100 (NVIDIA A100-SXM4-40GB) is of another model than virtual:h200 (NVIDIA "
            "H200), whose winners compute both halves: expected a second NVIDIA H200, or "
            "virtual:h200 alone");
  fx_fake("devices=2");
  fx_run(&r, "transfer", "host.lua", "-d", "cuda:0,cuda:0");
  fx_expect(&r, 2, NULL, "cuda:0 is one device");
  fx_run(&r, "transfer", "host.lua", "-d", "cuda:0,");
  fx_expect(&r, 2, NULL, "expected a device, or two with a comma between them");
  fx_fake("devices=2 lock=8");
  int fd = -1;
  assert_int_equal(sct_lock_take(&fd, "fake-8-1", NULL), SCT_OK);
  fx_run(&r, "transfer", "host.lua", "-d", "cuda:0,cuda:1", "--store", "held.db");
  fx_expect(&r, 75, NULL, "cuda:1 (Fake GPU) is being timed by process ");
  sct_lock_release(&fd);
  fx_free(&r);
}

/* Gives ways of two devices a chunk of 999 MiB and a time that none beats; `devices`: what their
 * axes say. */
static void make_fastest(json_t *exported, const char *devices) {
  json_t *problem = NULL, *candidate = NULL, *outcome = NULL;
  size_t k = 0, c = 0, o = 0;
  char axes[200];
  snprintf(
      axes, sizeof axes,
      "{\"memory\":\"page-locked\",\"chunk\":9,\"chunk_mib\":999,\"streams\":3,\"threads\":0%s}",
      devices);
  json_array_foreach(json_object_get(exported, "problems"), k, problem) {
    json_array_foreach(json_object_get(problem, "candidates"), c, candidate) {
      if (!strstr(json_string_value(json_object_get(candidate, "label")), "devices=2")) {
        continue;
      }
      json_object_set_new(candidate, "axes", json_string(axes));
      const char *hash = json_string_value(json_object_get(candidate, "source_hash"));
      const json_t *run = json_array_get(json_object_get(problem, "runs"), 0);
      json_array_foreach(json_object_get(run, "outcomes"), o, outcome) {
        if (strcmp(json_string_value(json_object_get(outcome, "candidate")), hash) == 0 &&
            json_number_value(json_object_get(outcome, "median_ns")) > 0) {
          json_object_set_new(outcome, "median_ns", json_real(1));
        }
      }
    }
  }
}

/* Timed on two fake GPUs; what headers take as defaults is of one. */
static void two_gpus_are_timed(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("copies devices=2");
  fx_write("host.lua", SPEC("host = true,", "{ i = 2500001 }"));
  fx_run(&r, "transfer", "host.lua", "-d", "cuda:0,cuda:1", "--store", "gpus.db", "--json",
         "--assets", "assets", "--budget", "2s");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  const json_t *size = first_size(doc), *each = NULL;
  size_t k = 0;
  int n_timed[3] = {0};
  check_none_failed(size);
  json_array_foreach(json_object_get(size, "ways"), k, each) {
    n_timed[(int)number(each, "devices")] += number(each, "median_ns") > 0;
  }
  assert_true(n_timed[1] >= 5 && n_timed[2] >= 5);
  json_decref(doc);
  fx_run(&r, "tune", "host.lua", "-d", "cuda:0", "--store", "gpus.db", "-q", "--assets", "assets",
         "--max-candidates", "1");
  for (int devices = 1; devices <= 2; devices++) {
    const char *file = devices == 1 ? "one.json" : "two.json";
    const char *store = devices == 1 ? "one.db" : "two.db";
    fx_run(&r, "export", "--store", "gpus.db");
    fx_expect(&r, 0, " devices=2", NULL);
    json_t *stored = fx_json(&r);
    make_fastest(stored, devices == 1 ? "" : ",\"devices\":2");
    char *text = json_dumps(stored, 0);
    fx_write(file, text);
    free(text);
    json_decref(stored);
    fx_run(&r, "import", fx_path(file), "--store", store, "-q");
    fx_expect(&r, 0, NULL, NULL);
    fx_run(&r, "emit", "host.lua", "--store", store, "-o", "gpus.h", "-q");
    fx_expect(&r, 0, NULL, NULL);
    sct_str header = {0};
    assert_int_equal(sct_file_read(&header, fx_path("gpus.h"), NULL), SCT_OK);
    assert_int_equal(strstr(sct_str_c(&header), "page-locked 999 MiB") != NULL, devices == 1);
    assert_non_null(strstr(sct_str_c(&header), "the fastest of those timed on "));
    sct_str_free(&header);
  }
  fx_free(&r);
}

static void what_cannot_be_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_write("plain.lua", SPEC("", "{ i = 100 }"));
  fx_write("host.lua", SPEC("host = true,", "{ i = 100 }"));
  fx_run(&r, "transfer", "plain.lua", "-d", "virtual:h200");
  fx_expect(&r, 2, NULL, "plain.lua: move has no `host = true`");
  fx_expect(&r, 2, NULL, "write it into s.kernel { ... }, or at arrays");
  fx_write("stays.lua", "local s = require \"sectile\"\n"
                        "return s.kernel {\n  name = \"move\", dims = { \"i\" },\n"
                        "  inputs = { s.array(\"a\", \"f32\") },\n"
                        "  outputs = { s.array(\"b\", \"f32\", s.row_major, { host = true }) },\n"
                        "  body = \"b = a;\", sizes = { { i = 100 } } }\n");
  fx_run(&r, "transfer", "stays.lua", "-d", "virtual:h200");
  fx_expect(&r, 0, "i=100: 0 B to the device, 400 B back", NULL);
  fx_run(&r, "transfer", "host.lua", "-d", "virtual:h200", "--size", "i=1000");
  fx_expect(&r, 2, NULL, "the spec has no size 'i=1000'");
  fx_run(&r, "transfer", "host.lua", "--sizes", "4K");
  fx_expect(&r, 2, NULL, "--sizes is for copies alone");
  fx_run(&r, "transfer", "--size", "i=100");
  fx_expect(&r, 2, NULL, "--size is of a spec");
  fx_run(&r, "transfer", "none.lua");
  fx_expect(&r, 1, NULL, "cannot read 'none.lua'");
  fx_run(&r, "transfer", "host.lua", "-d", "virtual:geforce_8800");
  fx_expect(&r, 4, NULL, "is described only");
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_virtual_device_is_modelled),
      cmocka_unit_test(text_says_what_was_chosen),
      cmocka_unit_test(chunks_have_the_kernel_that_a_header_takes),
      cmocka_unit_test(a_gpu_is_timed),
      cmocka_unit_test(wrong_results_are_failures),
      cmocka_unit_test(small_sizes_are_not_cut),
      cmocka_unit_test(two_devices_share_a_job),
      cmocka_unit_test(halves_have_halos),
      cmocka_unit_test(what_two_devices_cannot_is_said),
      cmocka_unit_test(two_gpus_are_timed),
      cmocka_unit_test(what_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, fx_gpu_setup, fx_teardown);
}
