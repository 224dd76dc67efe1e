/* Strategies of one's own in a session: one that wins, and every way to be wrong; and which device
 * a session takes. */
#include "tune_fixture.h"

#define SPEC TF_COPY("{ i = 4096 }")

/* A session with the built-in naive variant and the strategy files of FOLDER/dir. */
static tf_run session(const char *faults, const char *dir) {
  tf_run r = tf_new(faults, NULL);
  r.opts.strategy_dir = tf_path(dir);
  return r;
}

static void a_strategy_of_ones_own_wins(void **state) {
  (void)state;
  tf_add_strategy("mine", "mine", tf_strategy("mine", "{ 64, 96 }"));
  tf_write("mine/notes.txt", "no strategy, so it is not read");
  tf_write("mine/.hidden.lua", "this is not Lua");
  tf_run r = session("slow@0=3 slow@1=3 slow@2=3 slow@3=2", "mine");
  tf_tune_ok(&r, SPEC);
  tf_assert_winner(&r, 0, "mine t96");
  assert_int_equal(r.report.sizes[0].n_rows, 5);
  assert_false(tf_row(&r, 0, "mine t64")->naive);
  assert_true(tf_row(&r, 0, "direct t256")->naive);
  tf_free(&r);
}

static void a_strategy_folder_that_is_not_there_is_an_error(void **state) {
  (void)state;
  tf_run r = session("ok", "absent");
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EIO);
  assert_non_null(strstr(r.err.text, tf_path("absent")));
  tf_free(&r);
}

static void a_broken_strategy_file_is_an_error_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *place, *says;
  } cases[] = {
      {"return {\n  name = \"bad\",\n  axes = { { \"threads\" } },\n",
       "bad.lua:4: error: ", "expected"},
      {"return 7\n", "bad.lua:1: error: ", "returns a table, not a number"},
      {"return { name = \"bad\", templat = \"direct.cu\" }\n",
       "bad.lua:1: error: ", "unknown field 'templat' in a strategy; did you mean 'template'?"},
      {"local x = nil\nreturn x.field\n", "bad.lua:2: error: ", "nil"},
      {"return { name = \"direct\", template = \"direct.cu\", axes = {} }\n",
       "bad.lua:1: error: ", "there is a strategy 'direct' already: tuning/strategies/direct.lua"},
      {"return { name = (\"p\"):rep(49), template = \"direct.cu\", axes = {} }\n",
       "bad.lua:1: error: ", "an identifier, at most 48 letters"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tf_add_strategy("broken", "bad", cases[k].text);
    tf_run r = session("ok", "broken");
    tf_tune(&r, SPEC);
    assert_int_equal(r.status, SCT_ESPEC);
    if (!strstr(r.err.text, cases[k].place) || !strstr(r.err.text, cases[k].says)) {
      fail_msg("expected %s%s, got %s", cases[k].place, cases[k].says, r.err.text);
    }
    tf_free(&r);
  }
}

/* The strategy `name` with this text put in place of its template's name. */
static void add_with_template(const char *dir, const char *name, const char *cu, const char *text) {
  tf_write(sct_arena_printf(&tf_arena, "assets/templates/%s", cu), text);
  tf_add_strategy(dir, name, tf_replace(tf_strategy(name, "{ 64 }"), "direct.cu", cu));
}

static void assert_failed(const tf_run *r, const char *label, const char *outcome,
                          const char *place, const char *says) {
  tf_assert_outcome(r, 0, label, outcome);
  const sct_tune_row *row = tf_row(r, 0, label);
  assert_non_null(row->outcome.detail);
  if (!strstr(row->outcome.detail, place) || !strstr(row->outcome.detail, says)) {
    fail_msg("expected %s ... %s, got: %s", place, says, row->outcome.detail);
  }
}

static void a_template_that_raises_is_a_render_error(void **state) {
  (void)state;
  add_with_template("render", "raising", "raising.cu",
                    "// one\n//% local t = {}\n// three $(t.a.b)\n");
  add_with_template("render", "shouting", "shouting.cu", "// one\n//% error(\"not like this\")\n");
  add_with_template("render", "open", "open.cu", "// one\n// two\n// three\n// $(g:types(\n");
  tf_run r = session("slow@0=2", "render");
  tf_tune_ok(&r, SPEC);
  assert_failed(&r, "raising", "render_error", "templates/raising.cu:3: error: ", "nil");
  assert_failed(&r, "shouting", "render_error",
                "templates/shouting.cu:2: error: ", "not like this");
  assert_failed(&r, "open", "render_error",
                "templates/open.cu:4: error: ", "'$(' without its ')' on the same line");
  assert_int_equal(r.report.sizes[0].n_failed, 3);
  assert_int_equal(r.report.sizes[0].n_verified, 3);
  assert_true(r.report.sizes[0].rows[0].winner);
  tf_free(&r);
}

static void a_missing_template_is_a_render_error(void **state) {
  (void)state;
  tf_add_strategy("missing", "lost",
                  tf_replace(tf_strategy("lost", "{ 64 }"), "direct.cu", "nowhere.cu"));
  tf_run r = session("ok", "missing");
  tf_tune_ok(&r, SPEC);
  assert_failed(&r, "lost", "render_error", "templates/nowhere.cu", "no asset named");
  tf_free(&r);
}

static void a_plan_that_raises_is_a_render_error(void **state) {
  (void)state;
  tf_add_strategy("plan", "planless",
                  "return { name = \"planless\", template = \"direct.cu\", axes = {},\n"
                  "  plan = function(k, c)\n"
                  "    local w = k.operands[9].record\n"
                  "    return { width = w }\n"
                  "  end,\n"
                  "}\n");
  tf_run r = session("ok", "plan");
  tf_tune_ok(&r, SPEC);
  assert_failed(&r, "planless", "render_error", "plan/planless.lua:3: error: ", "nil");
  tf_free(&r);
}

static void a_kernel_that_does_not_compile_names_the_template(void **state) {
  (void)state;
  sct_str text = {0};
  sct_error err;
  tf_must(sct_asset_read(&text, "templates/direct.cu", &err), &err);
  const char *good = sct_arena_strdup(&tf_arena, sct_str_c(&text));
  sct_str_free(&text);
  static const char place[] = "if (thread >= $(count)) return;"; /* of maps */
  const char *bad = tf_replace(good, place, "if (thread >= no_such_name) return;");
  int line = 1;
  for (const char *p = good; p < strstr(good, place); p++) {
    line += *p == '\n';
  }
  add_with_template("compile", "typo", "typo.cu", bad);
  tf_run r = tf_new("slow@0=2", "compile.db");
  r.opts.strategy_dir = tf_path("compile");
  tf_tune_ok(&r, SPEC);
  assert_failed(&r, "typo", "compile_error",
                sct_arena_printf(&tf_arena, "templates/typo.cu:%d: error: ", line),
                "\"no_such_name\" is undefined");
  tf_stored s;
  tf_stored_open(&s, "compile.db");
  const sct_row_result *stored = tf_result(&s, "typo");
  assert_string_equal(stored->outcome.outcome, "compile_error");
  assert_non_null(strstr(stored->candidate.source, "no_such_name"));
  assert_int_equal(stored->outcome.times.n_samples, 0);
  tf_stored_close(&s);
  tf_free(&r);
}

/* 64 KiB of static shared memory do not fit a block without opting in. */
static void a_kernel_that_is_too_large_is_not_run(void **state) {
  (void)state;
  const char *text = tf_planned(tf_strategy("huge", "{ 64 }"), "p.shared_bytes = 300000");
  tf_add_strategy("large", "huge", text);
  tf_run r = session("slow@0=2", "large");
  tf_tune_ok(&r, SPEC);
  assert_failed(&r, "huge", "too_large", "64 threads", "300000 shared bytes");
  tf_free(&r);
}

/* ---- candidates ---- */

static void make_candidates_of(tf_run *r, const char *spec, sct_tune_candidates *cands) {
  sct_device_desc device;
  const char *path = tf_write("spec.lua", spec);
  tf_must(sct_script_load_device(&device, "h200", &r->err), &r->err);
  const sct_tune_candidates_opts opts = {.strategy_dir = r->opts.strategy_dir,
                                         .only = &r->opts.only};
  tf_must(sct_tune_candidates_make(cands, path, &device, &opts, &r->err), &r->err);
}

static void make_candidates(tf_run *r, sct_tune_candidates *cands) {
  make_candidates_of(r, SPEC, cands);
}

static int64_t pruned(const sct_tune_candidates *cands, const char *strategy, const char *reason) {
  int64_t n = 0;
  for (size_t k = 0; k < cands->space.n_prunes; k++) {
    const sct_prune *p = &cands->space.prunes[k];
    n += strcmp(p->strategy, strategy) == 0 && strstr(p->reason, reason) ? p->count : 0;
  }
  return n;
}

/* The axis "spare" changes nothing: two of three sources of each thread count are known. */
static void equal_sources_are_kept_once(void **state) {
  (void)state;
  const char *text = tf_replace(tf_strategy("duplicate", "{ 64, 96 }"), "{ \"threads\",",
                                "{ \"spare\", { 1, 2, 3 }, key = \"s\" }, { \"threads\",");
  tf_add_strategy("duplicates", "duplicate", text);
  tf_run r = session("ok", "duplicates");
  sct_tune_candidates cands;
  make_candidates(&r, &cands);
  assert_int_equal(cands.space.n_candidates, 3 + 6);
  assert_int_equal(cands.n_items, 3 + 2);
  assert_int_equal(pruned(&cands, "duplicate", "same source as an earlier candidate"), 4);
  assert_int_equal(pruned(&cands, "direct", ""), 0);
  assert_string_equal(cands.items[0].label, "direct t256"); /* the naive variant first */
  for (int k = 0; k < cands.n_items; k++) {
    assert_non_null(cands.items[k].code.source);
    assert_int_equal(cands.items[k].outcome, SCT_OUT_OK);
    for (int other = 0; other < k; other++) {
      assert_string_not_equal(cands.items[k].code.source, cands.items[other].code.source);
    }
  }
  sct_tune_candidates_free(&cands);
  tf_free(&r);
}

static void what_plan_and_constraints_turn_down_is_counted(void **state) {
  (void)state;
  const char *text = tf_strategy("fussy", "{ 32, 64, 96, 192, 160 }");
  text = tf_replace(text, "where = {}", "where = { \"threads >= 64\" }");
  text = tf_replace(text, "plan = function(k, c)",
                    "plan = function(k, c)\n    if c.threads % 64 == 32 then return nil, \"odd "
                    "warps\" end");
  tf_add_strategy("fussy", "fussy", text);
  tf_run r = session("ok", "fussy");
  sct_tune_candidates cands;
  make_candidates(&r, &cands);
  assert_int_equal(pruned(&cands, "fussy", "threads >= 64"), 1);
  assert_int_equal(pruned(&cands, "fussy", "odd warps"), 2);
  assert_int_equal(cands.n_items, 3 + 2);
  assert_string_equal(cands.items[3].label, "fussy t64");
  assert_string_equal(cands.items[4].label, "fussy t192");
  sct_tune_candidates_free(&cands);
  tf_free(&r);
}

/* Labels that are asked for, and the naive variant of each layout; nothing else is generated. */
static void only_what_is_asked_for_is_tried(void **state) {
  (void)state;
  static const char *const labels[] = {"duplicate t96", "direct t512"};
  static const char *const wrong[] = {"duplicate t96", "duplicate t65"};
  tf_add_strategy("only", "duplicate", tf_strategy("duplicate", "{ 64, 96, 160 }"));
  tf_run r = session("ok", "only");
  r.opts.only = (sct_tune_labels){SCT_COUNT(labels), labels};
  sct_tune_candidates cands;
  make_candidates(&r, &cands);
  assert_int_equal(cands.n_items, 3);
  assert_string_equal(cands.items[0].label, "direct t256");
  assert_string_equal(cands.items[1].label, "direct t512");
  assert_string_equal(cands.items[2].label, "duplicate t96");
  assert_int_equal(pruned(&cands, "duplicate", "not asked for"), 2);
  assert_int_equal(pruned(&cands, "direct", "not asked for"), 1);
  sct_tune_candidates_free(&cands);
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_rows, 3);
  tf_free(&r);

  r = session("ok", "only");
  r.opts.only = (sct_tune_labels){SCT_COUNT(wrong), wrong};
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EUSAGE);
  if (!strstr(r.err.text, "duplicate t65") || !strstr(r.err.text, "duplicate t64")) {
    fail_msg("expected both labels, got: %s", r.err.text);
  }
  tf_free(&r);
}

static void the_naive_variant_of_every_layout_stays(void **state) {
  (void)state;
  const char *spec =
      "local s = require \"sectile\"\n"
      "local vec = s.record { { \"x\", \"f32\" }, { \"y\", \"f64\" }, name = \"vec\" }\n"
      "return s.kernel {\n"
      "  name = \"lay\", dims = { \"i\" }, inputs = { s.array(\"a\", vec) },\n"
      "  outputs = { s.array(\"b\", vec, s.choose { s.aos, s.soa }) },\n"
      "  body = \"b = a;\", sizes = { { i = 4096 } },\n"
      "}\n";
  static const char *const label = "direct b=soa t128";
  tf_run r = tf_new("ok", NULL);
  r.opts.only = (sct_tune_labels){1, &label};
  sct_tune_candidates cands;
  make_candidates_of(&r, spec, &cands);
  assert_int_equal(cands.n_items, 3);
  sct_tune_candidates_free(&cands);
  tf_free(&r);
}

/* ---- devices ---- */

static void bad_device_ids_are_usage_errors(void **state) {
  (void)state;
  static const struct {
    const char *id;
    sct_status status;
    const char *says;
  } cases[] = {
      {"cuda:x", SCT_EUSAGE, "expected a number after the colon, as in cuda:0"},
      {"cuda:-1", SCT_EUSAGE, "expected a number"},
      {"cuda:99999", SCT_EUSAGE, "expected a number"},
      {"cuda:1.5", SCT_EUSAGE, "expected a number"},
      {"cuda:3", SCT_ENODEVICE, "there is no device cuda:3"},
      {"cuad:0", SCT_EUSAGE, "cuda"},
      {"h200", SCT_EUSAGE, "virtual"},
      {"", SCT_EUSAGE, "virtual"},
      {"virtual:h2000", SCT_ENODEVICE, "h200"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tf_run r = tf_new("ok", NULL);
    r.opts.device = cases[k].id;
    sct_device_desc desc;
    sct_error err = {0};
    assert_int_equal(sct_tune_device(&desc, &r.opts, &err), cases[k].status);
    if (!strstr(err.text, cases[k].says)) {
      fail_msg("'%s': expected \"%s\", got: %s", cases[k].id, cases[k].says, err.text);
    }
    tf_tune(&r, SPEC);
    assert_int_equal(r.status, cases[k].status);
    assert_string_equal(r.err.text, err.text);
    assert_int_equal(r.report.n_sizes, 0);
    tf_free(&r);
  }
}

/* "cuda:" has no number: it must not be read as 0. */
static void a_device_number_must_be_there(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  r.opts.device = "cuda:";
  sct_device_desc desc;
  assert_int_equal(sct_tune_device(&desc, &r.opts, &r.err), SCT_EUSAGE);
  tf_free(&r);
}

static void the_default_device_is_the_first_gpu_or_a_virtual_one(void **state) {
  (void)state;
  sct_device_desc desc;
  tf_run r = tf_new("devices=2", NULL);
  r.opts.device = NULL;
  tf_must(sct_tune_device(&desc, &r.opts, &r.err), &r.err);
  assert_string_equal(desc.id, "cuda:0");
  assert_false(desc.is_virtual);
  r.opts.device = "cuda:1";
  tf_must(sct_tune_device(&desc, &r.opts, &r.err), &r.err);
  assert_string_equal(desc.id, "cuda:1");
  r.opts.device = NULL;
  r.opts.measure.fake = "none";
  tf_must(sct_tune_device(&desc, &r.opts, &r.err), &r.err);
  assert_string_equal(desc.id, "virtual:h200");
  assert_true(desc.is_virtual);
  tf_free(&r);
}

static void a_spec_that_is_not_there_is_an_error(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  r.status = sct_tune_run(&r.report, tf_path("absent.lua"), &r.opts, NULL, &r.err);
  assert_int_equal(r.status, SCT_EIO);
  assert_non_null(strstr(r.err.text, "absent.lua"));
  tf_tune(&r, "return 1\n");
  assert_int_equal(r.status, SCT_ESPEC);
  assert_non_null(strstr(r.err.text, "spec.lua"));
  tf_free(&r);
}

/* ---- what spills */

#define GUARD "if (thread >= $(count)) return;"
#define SINES                                                                                      \
  "local s = require \"sectile\"\n"                                                                \
  "return s.kernel {\n"                                                                            \
  "  name = \"sines\", dims = { \"i\" },\n"                                                        \
  "  inputs = { s.array(\"a\", \"f32x4\") }, outputs = { s.array(\"b\", \"f32x4\") },\n"           \
  "  body = \"b.x = sinf(a.x); b.y = sinf(a.y); b.z = sinf(a.z); b.w = sinf(a.w);\",\n"            \
  "  sizes = { { i = 512 } },\n"                                                                   \
  "}\n"

/* More values at once than a block of 1,024 threads has registers for. */
#define MANY                                                                                       \
  GUARD                                                                                            \
  "\nint v[96];\n"                                                                                 \
  "#pragma unroll\n"                                                                               \
  "for (int k = 0; k < 96; k++) v[k] = ((const volatile int *)$(g.inputs[1].pointer))[k];\n"       \
  "#pragma unroll\n"                                                                               \
  "for (int k = 0; k < 96; k++) ((volatile int *)$(g.outputs[1].pointer))[k] = v[k];"

/* sinf has a frame of 32 bytes on the stack; a spill is what the assembler stores and loads for
 * want of registers. */
static void only_registers_in_memory_are_spills(void **state) {
  (void)state;
  sct_str text = {0};
  sct_error err;
  assert_int_equal(sct_asset_read(&text, "templates/direct.cu", &err), SCT_OK);
  tf_write("assets/templates/many.cu", tf_replace(sct_str_c(&text), GUARD, MANY));
  sct_str_free(&text);
  tf_add_strategy("more", "calm", tf_strategy("calm", "{ 64 }"));
  tf_add_strategy("more", "many",
                  tf_replace(tf_strategy("many", "{ 1024 }"), "template = \"direct.cu\"",
                             "template = \"many.cu\""));
  tf_run r = tf_new(NULL, NULL);
  r.opts.device = "virtual:h200";
  r.opts.strategy_dir = tf_path("more");
  tf_tune_ok(&r, SINES);
  tf_assert_outcome(&r, 0, "calm", "ok");
  tf_assert_outcome(&r, 0, "many", "spills");
  assert_null(strstr(tf_row(&r, 0, "many")->outcome.detail, "0 bytes stored"));
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_strategy_of_ones_own_wins),
      cmocka_unit_test(a_strategy_folder_that_is_not_there_is_an_error),
      cmocka_unit_test(a_broken_strategy_file_is_an_error_with_its_place),
      cmocka_unit_test(a_template_that_raises_is_a_render_error),
      cmocka_unit_test(a_missing_template_is_a_render_error),
      cmocka_unit_test(a_plan_that_raises_is_a_render_error),
      cmocka_unit_test(a_kernel_that_does_not_compile_names_the_template),
      cmocka_unit_test(a_kernel_that_is_too_large_is_not_run),
      cmocka_unit_test(equal_sources_are_kept_once),
      cmocka_unit_test(what_plan_and_constraints_turn_down_is_counted),
      cmocka_unit_test(only_what_is_asked_for_is_tried),
      cmocka_unit_test(the_naive_variant_of_every_layout_stays),
      cmocka_unit_test(bad_device_ids_are_usage_errors),
      cmocka_unit_test(a_device_number_must_be_there),
      cmocka_unit_test(the_default_device_is_the_first_gpu_or_a_virtual_one),
      cmocka_unit_test(a_spec_that_is_not_there_is_an_error),
      cmocka_unit_test(only_registers_in_memory_are_spills),
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
