/* cli_gpu_fixture - the program on fake GPUs (tests/worker/fake_gpu.c), with one spec and few
 * candidates; and its stream of events. */
#ifndef CLI_GPU_FIXTURE_H
#define CLI_GPU_FIXTURE_H

#include "cli_fixture.h"

#define FX_COPY_SPEC                                                                               \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"copy\", dims = { \"i\" },\n"                                                         \
  "  inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") },\n"               \
  "  body = \"b = a;\", sizes = { { i = 5000 } },\n"                                               \
  "}\n"

#define FX_THREADS "{ 256, 128, 512, 1024 }"

/* The naive strategy with eight thread counts, of which its own file has the first, the second, the
 * fourth and the seventh. */
static inline void fx_write_direct_(const char *name) {
  sct_str text = {0};
  assert_int_equal(sct_asset_read(&text, name, NULL), SCT_OK);
  const char *const at = strstr(sct_str_c(&text), FX_THREADS);
  assert_non_null(at);
  fx_write("assets/tuning/strategies/direct.lua",
           sct_arena_printf(&fx_arena, "%.*s{ 256, 128, 64, 512, 192, 384, 1024, 768 }%s",
                            (int)(at - sct_str_c(&text)), sct_str_c(&text),
                            at + strlen(FX_THREADS)));
  sct_str_free(&text);
}

/* Nothing but the naive strategy: these tests are about the GPU, not about the space. */
static inline void fx_switch_off_(const char *name) {
  const char *base = sct_path_basename(name);
  sct_error err = {0};
  assert_int_equal(sct_dir_make(fx_path("assets/tuning/strategies"), &err), SCT_OK);
  if (strcmp(base, "direct.lua") == 0) {
    fx_write_direct_(name);
    return;
  }
  fx_write(sct_arena_printf(&fx_arena, "assets/%s", name),
           sct_arena_printf(&fx_arena,
                            "return { name = \"%.*s\", template = \"direct.cu\", axes = {},\n"
                            "  applies = { { \"off\", function() return false end } } }\n",
                            (int)(strlen(base) - 4), base));
}

static inline int fx_gpu_setup(void **state) {
  if (fx_setup(state) != 0) {
    return 1;
  }
  int n = 0;
  const char **names = sct_asset_names(&n, &fx_arena, "tuning/strategies/", "");
  for (int k = 0; k < n; k++) {
    fx_switch_off_(names[k]);
  }
  fx_write("copy.lua", FX_COPY_SPEC);
  return setenv("XDG_RUNTIME_DIR", fx_folder, 1);
}

static inline void fx_fake(const char *script) {
  assert_int_equal(setenv("SECTILE_FAKE_GPU", script, 1), 0);
}

/* ---- events ---- */

/* The events of a stream, in order; each line must be an object of its own. */
static inline json_t *fx_events(const char *text) {
  json_t *events = json_array();
  double before = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
    json_error_t error;
    json_t *event = json_loads(line, JSON_DISABLE_EOF_CHECK, &error);
    assert_non_null(event);
    assert_int_equal((size_t)error.position, strcspn(line, "\n"));
    const double now = json_real_value(json_object_get(event, "seconds"));
    assert_true(now >= before);
    before = now;
    json_array_append_new(events, event);
  }
  return events;
}

static inline int fx_count(const json_t *events, const char *name) {
  const json_t *event;
  size_t k;
  int n = 0;
  json_array_foreach(events, k, event) {
    n += strcmp(json_string_value(json_object_get(event, "event")), name) == 0;
  }
  return n;
}

static inline const json_t *fx_event(const json_t *events, const char *name) {
  const json_t *event;
  size_t k;
  json_array_foreach(events, k, event) {
    if (strcmp(json_string_value(json_object_get(event, "event")), name) == 0) {
      return event;
    }
  }
  fail_msg("no event '%s'", name);
  return NULL;
}

#endif
