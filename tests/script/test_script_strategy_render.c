/* Plans, templates, the kernel as a strategy sees it, and the expression functions it works with.
 */
#include "script_test.h"

#include "space/space.h"

static sct_device_desc device;
static sct_script *script;
static sct_space space;
static sct_rendered rendered;

/* Two records, a scalar and two dimensions, so that every field of the view has something to say.
 */
#define SPEC                                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "local pair = s.record { { 'x', 'f32' }, { 'y', 'f64' }, name = 'pair' }\n"                      \
  "return s.kernel { name = 'view', dims = { 'row', 'col' }, scalars = { { 'alpha', 'f32' } },\n"  \
  "  inputs = { s.array('a', pair, s.soa) }, outputs = { s.array('b', 'f32', s.pitched { align = " \
  "128 }) },\n"                                                                                    \
  "  body = 'b = alpha * a.x;', sizes = { { row = 64, col = 128 } } }\n"

/* Renders the last candidate of the strategy `text` with templates/probe.cu. */
static sct_status render_of(const char *spec_text, const char *text, const char *template_text) {
  sct_error ignored;
  (void)mkdir(path_of("own"), 0700);
  (void)mkdir(path_of("templates"), 0700);
  write_file("own/probe.lua", text);
  write_file("templates/probe.cu", template_text);
  sct_assets_override(folder);
  load_ok(spec_text);
  assert_int_equal(sct_script_load_device(&device, "h200", &ignored), SCT_OK);
  memset(&space, 0, sizeof space);
  memset(&rendered, 0, sizeof rendered);
  sct_error setup = {0};
  if (sct_script_new(&script, &spec, &device, path_of("own"), &setup) != SCT_OK ||
      sct_script_space(&space, script, &setup) != SCT_OK ||
      sct_space_enumerate(&space, &setup) != SCT_OK) {
    fail_msg("%s", setup.text);
  }
  const sct_candidate *last = &space.candidates[space.n_candidates - 1];
  assert_string_equal(space.strategies[last->strategy].name, "probe");
  memset(&err, 0, sizeof err);
  return sct_script_render(&rendered, script, &space, last, &err);
}

static sct_status render(const char *text, const char *template_text) {
  return render_of(SPEC, text, template_text);
}

static void done(void) {
  sct_kernel_code_free(&rendered.code);
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(&spec);
  sct_assets_override(NULL);
}

/* A strategy whose plan has this body, starting on line 3. */
#define PLAN(body)                                                                                 \
  "return { name = 'probe', template = 'probe.cu', axes = {},\n"                                   \
  "  plan = function(k, c)\n"                                                                      \
  "    " body "\n"                                                                                 \
  "  end }\n"
#define GOOD      "kernel = 'probe', threads = 64, grid = k.extents[1]"
#define LINE_CU   "// nothing\n"
#define ONE(list) PLAN("return { " GOOD ", traffic = { { " list " } } }")

static void assert_bad(const char *text, const char *cu, const char *place, const char *says) {
  const sct_status status = render(text, cu);
  if (status != SCT_ESPEC || !strstr(err.text, place) || !strstr(err.text, says)) {
    fail_msg("expected %s ... \"%s\", got %s\n---\n%s---\n%s", place, says,
             status == SCT_OK ? "no error" : err.text, text, cu);
  }
  assert_null(rendered.code.source);
  done();
}

static void assert_source(const char *plan, const char *cu, const char *source) {
  if (render(plan, cu) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  assert_null(rendered.rejected);
  assert_string_equal(rendered.code.source, source);
  done();
}

/* ---- plans ---- */

static void a_plan_becomes_a_description(void **state) {
  (void)state;
  const char *text = PLAN(
      "return { " GOOD ", doc = 'words', shared_bytes = 512,\n"
      "      static_shared_bytes = 64, align = { 16 },\n"
      "      requires = { (k.extents[2] % 4):eq(0) },\n"
      "      traffic = { { operand = 2, store = true, width = 4, bytes = 4 * k.extents[1] } }\n"
      "    }");
  assert_int_equal(render(text, LINE_CU), SCT_OK);
  const sct_kernel_code *code = &rendered.code;
  assert_string_equal(code->kernel, "probe");
  assert_string_equal(code->launcher_doc, "words");
  assert_int_equal(code->threads, 64);
  assert_int_equal(code->shared_bytes, 512);
  assert_int_equal(code->static_shared_bytes, 64);
  assert_int_equal(code->align[0], 16);
  assert_int_equal(code->align[1], 1);
  assert_int_equal(code->n_require, 1);
  assert_int_equal(code->traffic[0].width, 0);
  assert_int_equal(code->traffic[1].width, 4);
  assert_true(code->traffic[1].is_store);
  assert_true(code->traffic[1].bytes != SCT_EXPR_NONE);
  assert_true(code->traffic[1].sectors == SCT_EXPR_NONE);
  done();
}

static void a_plan_may_turn_a_candidate_down(void **state) {
  (void)state;
  assert_int_equal(render(PLAN("return nil, 'not today'"), LINE_CU), SCT_OK);
  assert_string_equal(rendered.rejected, "not today");
  assert_null(rendered.code.source);
  done();
  assert_int_equal(render(PLAN("local x = 1"), LINE_CU), SCT_OK); /* returns nothing */
  assert_string_equal(rendered.rejected, "rejected by its plan");
  done();
  assert_int_equal(render(PLAN("return false, 12"), LINE_CU), SCT_OK);
  assert_string_equal(rendered.rejected, "12");
  done();
}

/* What a strategy asks for holds with the layouts of each candidate, or there is no plan. */
static void layouts_that_do_not_fit_are_turned_down(void **state) {
  (void)state;
  const char *spec_text =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'k', dims = { 'i', 'j' }, outputs = { s.array('b', 'f32') },\n"
      "  inputs = { s.array('a', 'f32', s.choose { s.row_major, s.col_major }) },\n"
      "  body = 'b = a;', sizes = { { i = 64, j = 128 } } }\n";
  const char *strategy = "return { name = 'probe', template = 'probe.cu', axes = {}, applies = {\n"
                         "  { 'a moves with b', function(k) return strides.step(k, k.operands[1], "
                         "1, #k.dims):const() == 4 end } },\n"
                         "  plan = function(k, c) error('asked') end }\n";
  assert_int_equal(render_of(spec_text, strategy, LINE_CU), SCT_OK);
  assert_string_equal(rendered.rejected, "not with these layouts: a moves with b");
  done();
}

static void a_plan_that_fails_names_its_line(void **state) {
  (void)state;
  assert_bad(PLAN("local a = 1\n    error('no way')"), LINE_CU,
             "own/probe.lua:4: error: ", "no way");
  assert_bad(PLAN("return { x = k.absent.field }"), LINE_CU, "own/probe.lua:3: error: ", "nil");
  assert_bad(PLAN("return { x = k.extents[1] / 2 }"), LINE_CU,
             "own/probe.lua:3: error: ", "write `//`");
  assert_bad(PLAN("if k.extents[1] < 7 then return {} end"), LINE_CU,
             "own/probe.lua:3: error: ", "use lt, le, eq");
  assert_bad("return { name = 'probe', template = 'probe.cu', axes = {} }\n", LINE_CU, "",
             "the strategy has no function plan(k, c)");
}

static void a_plan_without_a_launch_is_refused(void **state) {
  (void)state;
  static const char *const plans[] = {
      PLAN("return {}"),
      PLAN("return { threads = 64, grid = k.extents[1] }"),
      PLAN("return { kernel = 'probe', grid = k.extents[1] }"),
      PLAN("return { kernel = 'probe', threads = 64 }"),
  };
  for (int k = 0; k < SCT_COUNT(plans); k++) {
    assert_bad(plans[k], LINE_CU, "", "a plan has kernel (a name), threads (1 to 1024) and grid");
  }
}

static void traffic_is_checked(void **state) {
  (void)state;
  assert_bad(ONE("operand = 3, width = 4"), LINE_CU, "", "'operand' of a plan's 'traffic'");
  assert_bad(ONE("operand = -1, width = 4"), LINE_CU, "", "'operand' of a plan's 'traffic'");
  assert_bad(ONE("operand = 1, width = -4"), LINE_CU, "", "'width' of a plan's 'traffic'");
  assert_bad(ONE("operand = 1, width = 4, bytes = 0.5"), LINE_CU, "", "an expression over extents");
  assert_bad(ONE("operand = 'a', width = 4"), LINE_CU, "", "'operand' of a plan's 'traffic'");
}

/* ---- templates ---- */

#define PLAIN                                                                                      \
  PLAN("local v = { word = 'x', none = {}, lines = 'one\\ntwo' }\n    return { " GOOD              \
       ", word = v.word, none = v.none, lines = v.lines }")

static void text_goes_through_and_values_are_put_in(void **state) {
  (void)state;
  assert_source(PLAIN, "a $(word) b\n", "a x b\n");
  assert_source(PLAIN, "$(word)$(word) $(1 + 2)\n", "xx 3\n");
  assert_source(PLAIN, "$ (word) $word \"\\n\" \\ \t.\n", "$ (word) $word \"\\n\" \\ \t.\n");
  assert_source(PLAIN, "$((\")\"))$(')')|\n", "))|\n");
  assert_source(PLAIN, "no newline at the end", "no newline at the end\n");
}

static void a_line_of_nothing_is_left_out(void **state) {
  (void)state;
  assert_source(PLAIN, "a\n  $(none.x)\nb\n", "a\nb\n");
  assert_source(PLAIN, "a\n  $(\"\")  \nb\n", "a\nb\n");
  assert_source(PLAIN, "a\n\nb\n", "a\n\nb\n"); /* an empty line of the template stays */
  assert_source(PLAIN, "a$(none.x)\n", "a\n");
}

static void lines_of_a_value_keep_the_indentation(void **state) {
  (void)state;
  assert_source(PLAIN, "{\n    $(lines)\n}\n", "{\n    one\n    two\n}\n");
  assert_source(PLAIN, "{\n  $(kit.unrolled('e', 4, 'one;'))\n}\n",
                "{\n#pragma unroll\n  for (int e = 0; e < 4; e++)\n    one;\n}\n");
  assert_source(PLAIN, "{\n  $(kit.unrolled('e', 1, 'one;'))\n}\n", "{\n  one;\n}\n");
}

static void a_line_an_item_of_a_list(void **state) {
  (void)state;
  assert_source(PLAIN, "  $(kit.each({ { a = 1, b = 'x' }, { a = 2, b = '' } }, '{a}{b};'))\n",
                "  1x;\n  2;\n");
  assert_source(PLAIN, "a\n  $(kit.each({ { b = '' } }, '{b}'))\nb\n", "a\nb\n");
}

static void lua_lines_steer(void **state) {
  (void)state;
  assert_source(PLAIN, "//% for n = 1, 3 do\nx$(n)\n//% end\n", "x1\nx2\nx3\n");
  assert_source(PLAIN, "//% if none.x then\nx\n  //% else\ny\n//% end\n", "y\n");
}

static void origins_of_lines_are_known(void **state) {
  (void)state;
  assert_int_equal(render(PLAIN, "a\n//% for n = 1, 2 do\nb\n//% end\n$(lines)\n"), SCT_OK);
  static const char file[] = "templates/probe.cu\n";
  sct_str lines = {0};
  sct_str_printf(&lines, "1 1 %s1 3 %s1 3 %s1 5 %s1 5 %s", file, file, file, file, file);
  assert_string_equal(rendered.code.lines, sct_str_c(&lines));
  sct_str_free(&lines);
  done();
  assert_int_equal(render(PLAIN, "a\nb\n//% local x\nc\n"), SCT_OK); /* neighbours are a run */
  assert_string_equal(rendered.code.lines, "2 1 templates/probe.cu\n1 4 templates/probe.cu\n");
  done();
}

static void a_template_that_fails_names_its_line(void **state) {
  (void)state;
  assert_bad(PLAIN, "a\nb\n//% error('stop')\n", "templates/probe.cu:3: error: ", "stop");
  assert_bad(PLAIN, "a\n$(none.field.deep)\n", "templates/probe.cu:2: error: ", "nil");
  assert_bad(PLAIN, "a\n$(wrod)\n", "templates/probe.cu:2: error: ", "unknown name 'wrod'");
  assert_bad(PLAIN, "a\nb\nc\n  $(absent())\n", "templates/probe.cu:4: error: ", "absent");
  assert_bad(PLAIN, "a\n$({})\n", "templates/probe.cu:2: error: ", "'$()' gave a table, not text");
  assert_bad(PLAIN, "$(1 == 1)\n", "templates/probe.cu:1: error: ", "gave a boolean, not text");
  assert_bad(PLAIN, "a\n$(word\n",
             "templates/probe.cu:2: error: ", "'$(' without its ')' on the same line");
  assert_bad(PLAIN, "a\n//% if then\n", "templates/probe.cu:2: error: ", "near 'then'");
  assert_bad(PLAIN, "a\n//% for n = 1, 2 do\nb\n", "templates/probe.cu:", "'end' expected");
}

static void a_template_that_runs_away_is_stopped(void **state) {
  (void)state;
  assert_bad(PLAIN, "a\n//% while true do end\n", "templates/probe.cu:2: error: ", "ran too long");
  assert_bad(PLAIN, "//% while true do\nb\n//% end\n", "templates/probe.cu:", "ran too long");
  assert_bad(PLAIN, "//% local s = ('x'):rep(1000000)\n//% while true do\n$(s)\n//% end\n",
             "templates/probe.cu:3: error: ", "more than 4 MiB");
  assert_bad(PLAN("while true do end"), LINE_CU, "own/probe.lua:3: error: ", "ran too long");
}

/* Values of a plan are looked at when no line of it runs any more: the file is named. */
static void a_plan_of_wrong_values_names_its_file(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "threads = {}",
      "threads = 0",
      "threads = 1025",
      "rounds = -4",
      "rounds = 1001",
      "windows = 1.5",
      "shared_bytes = -1",
      "static_shared_bytes = 1 << 40",
      "workspace_bytes = -1",
      "passes = 2",
      "passes = 1, workspace_bytes = 16",
      "passes = 17, workspace_bytes = 16",
      "align = { 3 }",
      "align = 16",
      "align = { 16, 16, 16, 16, 16, 16, 16, 16, 16 }",
      "requires = 'n > 0'",
      "grid_tiles = 7",
      "grid = 'many'",
      "traffic = { wavefront = 1 }",
      "shared_bytes = 'much'",
      "align = { 'x' }",
      "requires = { 'x' }",
      "traffic = { { operand = 1, width = 4, bytes = {} } }",
  };
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    char plan[512];
    snprintf(plan, sizeof plan,
             "return { name = 'probe', template = 'probe.cu', axes = {},\n"
             "  plan = function(k, c)\n"
             "    return { kernel = 'probe', threads = 64, grid = k.extents[1], %s }\n"
             "  end }\n",
             wrong[k]);
    assert_bad(plan, LINE_CU, "own/probe.lua:3: error: ", "");
  }
}

/* A field that nobody reads is one that is spelt wrong. */
static void a_plan_of_unknown_fields_is_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {{"roundz = 4", "did you mean 'rounds'?"},
                                         {"require = {}", "did you mean 'requires'?"},
                                         {"shared_byte = 4", "did you mean 'shared_bytes'?"},
                                         {"banana = 4", "'banana' in a plan: neither"}};
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    char plan[512];
    snprintf(plan, sizeof plan,
             "return { name = 'probe', template = 'probe.cu', axes = {},\n"
             "  plan = function(k, c)\n"
             "    return { kernel = 'probe', threads = 64, grid = k.extents[1],\n"
             "      %s }\n  end }\n",
             wrong[k][0]);
    assert_bad(plan, LINE_CU, "own/probe.lua:4: error: ", wrong[k][1]);
    const char *name_end = strchr(wrong[k][0], ' ');
    char cu[64];
    snprintf(cu, sizeof cu, "// $(%.*s)\n", (int)(name_end - wrong[k][0]), wrong[k][0]);
    if (k != 1) { /* a table is no text */
      assert_int_equal(render(plan, cu), SCT_OK);
      done();
    }
  }
}

static void lines_may_end_as_on_windows(void **state) {
  (void)state;
  assert_source(PLAIN, "a\r\n//% if true then\r\n  $(word)\r\n//% end\r\n", "a\n  x\n");
}

/* ---- the view: a plan that asserts in Lua; error() shows what it saw ---- */

static void assert_lua(const char *body) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "return { name = 'probe', template = 'probe.cu', axes = {},\n"
                 "  plan = function(k, c)\n    local function eq(a, b, what)\n"
                 "      if a ~= b then error(tostring(what) .. ': ' .. tostring(a) .. "
                 "' instead of ' .. tostring(b), 2) end\n    end\n%s\n"
                 "    return nil, 'all good'\n  end }\n",
                 body);
  const sct_status status = render(sct_str_c(&text), LINE_CU);
  if (status != SCT_OK || !rendered.rejected || strcmp(rendered.rejected, "all good") != 0) {
    fail_msg("%s", status == SCT_OK ? "not reached" : err.text);
  }
  sct_str_free(&text);
  done();
}

static void the_kernel_is_seen_whole(void **state) {
  (void)state;
  assert_lua("eq(k.name, 'view', 'name')\n eq(k.body, 'b = alpha * a.x;', 'body')\n"
             "eq(k.moves_only, false, 'moves_only')\n"
             "eq(#k.dims, 2, 'dims')\n eq(k.dims[1], 'row', 'dim')\n eq(k.dims[2], 'col', 'dim')\n"
             "eq(#k.index, 2, 'index')\n eq(#k.extents, 2, 'extents')\n"
             "eq(k.extent_names[2], 'col', 'extent name')\n"
             "eq(#k.scalars, 1, 'scalars')\n eq(k.scalars[1].name, 'alpha', 'scalar')\n"
             "eq(k.scalars[1].type, 'f32', 'type')\n eq(k.scalars[1].cuda, 'float', 'cuda')\n"
             "eq(k.device.cc, 90, 'cc')\n eq(k.device.sms, 132, 'sms')\n"
             "eq(k.device.threads_block, 1024, 'threads')\n");
}

static void an_operand_is_seen_whole(void **state) {
  (void)state;
  assert_lua(
      "local a, b = k.operands[1], k.operands[2]\n"
      "eq(#k.operands, 2, 'operands')\n eq(a.name, 'a', 'name')\n eq(a.number, 1, 'number')\n"
      "eq(a.is_output, false, 'out')\n eq(b.is_output, true, 'out')\n"
      "eq(a.is_index, false, 'index')\n eq(a.through_index, false, 'through')\n"
      "eq(a.layout, 'soa', 'layout')\n"
      "local r = a.record\n eq(r.name, 'pair', 'record')\n eq(r.bytes, 16, 'bytes')\n"
      "eq(r.data_bytes, 12, 'data')\n eq(r.align, 8, 'align')\n eq(r.bare, false, 'bare')\n"
      "eq(b.record.bare, true, 'bare')\n eq(#r.fields, 2, 'fields')\n"
      "eq(r.fields[2].name, 'y', 'field')\n eq(r.fields[2].type, 'f64', 'type')\n"
      "eq(r.fields[2].cuda, 'double', 'cuda')\n eq(r.fields[2].kind, 'float', 'kind')\n"
      "eq(r.fields[2].offset, 8, 'offset')\n eq(r.fields[2].prefix, 4, 'prefix')\n"
      "eq(r.fields[2].index, 2, 'index')\n eq(r.fields[2].bytes, 8, 'bytes')\n"
      "eq(#a.offset, 2, 'offsets')\n eq(#a.at, 2, 'at')\n eq(#a.extent, 2, 'extent')\n");
}

static void an_operand_answers_questions(void **state) {
  (void)state;
  assert_lua("local b = k.operands[2]\n"
             "eq(strides.step(k, b, 1, 2):const(), 4, 'along col')\n"
             "eq(strides.step(k, b, 1, 1):const(), nil, 'along row')\n"
             "local row, col, n = k.index[1], k.index[2], k.extents[2]\n"
             "eq(E.eval(b.offset[1], { row, 3, col, 5, n, 128, k.extents[1], 64 }), 4 * 389, 'b')\n"
             "local y = k.operands[1].offset[2]\n"
             "eq(E.eval(y, { row, 1, col, 2, n, 128, k.extents[1], 64 }), 32768 + 8 * 130, 'y')\n"
             "eq(E.eval(b.bytes, { n, 128, k.extents[1], 64 }), 32768, 'bytes')\n");
}

/* ---- the expression functions ---- */

static void variables_keep_their_name_and_bounds(void **state) {
  (void)state;
  assert_lua("local v = E.var('tile', 0, 7, 2)\n"
             "local lo, hi = v:range()\n eq(lo, 0, 'lo')\n eq(hi <= 7 and hi >= 6, true, 'hi')\n"
             "eq(v:divisor(), 2, 'divisor')\n eq(E.text(v), 'tile', 'text')\n"
             "eq(v:same(E.var('tile', 0, 7, 2)), true, 'the same')\n"
             "eq(v:same(E.var('tile', 0, 9)), false, 'other bounds')\n"
             "eq(E.text(E.var('tile', 0, 9) + v), E.text(E.var('tile', 0, 9) + v), 'stable')\n"
             "eq(E.text(E.var('low', -4, 3) * 2):find('#'), nil, 'no tag')\n"
             "local r = E.raw('lane_x', 0, 31)\n eq(r:same(E.raw('lane_x', 0, 99)), true, 'raw')\n"
             "local _, most = E.raw('lane_x', 0, 99):range()\n eq(most, 31, 'first bounds')\n");
}

static void substitution_is_simultaneous(void **state) {
  (void)state;
  assert_lua("local x, y = E.var('x', 0, 99), E.var('y', 0, 99)\n"
             "local e = 10 * x + y\n"
             "local swapped = E.subst(e, { x, y, y, x })\n"
             "eq(swapped:same(10 * y + x), true, 'swapped')\n"
             "eq(E.subst(e, { x, 3, y, 4 }):const(), 34, 'constants')\n"
             "eq(E.subst(e, {}):same(e), true, 'nothing')\n");
}

static void sums_are_taken_apart(void **state) {
  (void)state;
  assert_lua("local x, y, z = E.var('x', 0, 99), E.var('y', 0, 99), E.var('z', 0, 99)\n"
             "local e = 4 * x + y * 8 + z + 5\n"
             "local with, without = E.split(e, { x, z })\n"
             "eq(with:same(4 * x + z), true, 'with')\n"
             "eq(without:same(8 * y + 5), true, 'without')\n"
             "local coef, rest = E.linear(e, y)\n eq(coef, 8, 'coef')\n"
             "eq(rest:same(4 * x + z + 5), true, 'rest')\n"
             "eq(E.linear(x * x, x), nil, 'square')\n eq(E.linear(x // 3, x), nil, 'quotient')\n"
             "local none, all = E.linear(x, y)\n eq(none, 0, 'absent')\n"
             "eq(all:same(x), true, 'all of it')\n"
             "eq(E.mentions(e, x), true, 'x')\n eq(E.mentions(4 * x, y), false, 'y')\n"
             "eq(E.mentions(x - x, x), false, 'gone')\n");
}

static void divisors_and_values_are_known(void **state) {
  (void)state;
  assert_lua("local x, y = E.var('x', 0, 99), E.var('y', 0, 96, 8)\n"
             "eq(E.divisor(12 * x + 8 * y), 4, 'divisor')\n"
             "eq(E.divisor(y), 8, 'multiple')\n"
             "eq(E.divisor(4 * x, { x }, 16), 64, 'if x were')\n"
             "eq(E.divisor(4 * x + 2, { x }, 16), 2, 'with a rest')\n"
             "eq(#E.vars(x * y + x), 2, 'vars')\n eq(#E.vars(x - x + 3), 0, 'none')\n"
             "eq(E.eval(x // 7 * 100 + x % 7, { x, 23 }), 302, 'eval')\n"
             "eq(E.eval(x:lt(y), { x, 3, y, 8 }), 1, 'lt')\n"
             "eq(E.text(x + 1), 'x + 1', 'text')\n"
             "local line, sum = cuda.var('line[n + e]'), cuda.var('first + e')\n"
             "eq(E.text(4 * line), '4 * line[n + e]', 'name')\n"
             "eq(E.text(4 * sum), '4 * (first + e)', 'sum')\n");
}

static void wrong_arguments_are_told(void **state) {
  (void)state;
  static const struct {
    const char *body, *says;
  } cases[] = {
      {PLAN("return E.var()"), "string expected"},
      {PLAN("return E.var('x', 'low', 3)"), "number expected"},
      {PLAN("return E.subst(1)"), "table expected"},
      {PLAN("return E.subst('x', {})"), "an integer or an expression was expected, not a string"},
      {PLAN("return E.split(k.extents[1], { 'x' })"), "expression was expected, not a string"},
      {PLAN("return E.linear(k.extents[1])"), "expression was expected"},
      {PLAN("return E.eval(k.extents[1], {})"), "row"},
      {PLAN("return E.eval(k.extents[1], { k.extents[1], 1.5 })"), "integer"},
      {PLAN("return E.text({})"), "expression was expected, not a table"},
      {PLAN("local t = {}\n    for n = 1, 65 do t[n] = k.extents[1] end\n"
            "    return E.split(k.extents[1], t)"),
       "too many variables"},
      {PLAN("return E.nothing(1)"), "nothing"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_bad(cases[k].body, LINE_CU, "own/probe.lua:", cases[k].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_becomes_a_description),
      cmocka_unit_test(a_plan_may_turn_a_candidate_down),
      cmocka_unit_test(layouts_that_do_not_fit_are_turned_down),
      cmocka_unit_test(a_plan_that_fails_names_its_line),
      cmocka_unit_test(a_plan_without_a_launch_is_refused),
      cmocka_unit_test(traffic_is_checked),
      cmocka_unit_test(a_plan_of_unknown_fields_is_refused),
      cmocka_unit_test(text_goes_through_and_values_are_put_in),
      cmocka_unit_test(a_line_of_nothing_is_left_out),
      cmocka_unit_test(lines_of_a_value_keep_the_indentation),
      cmocka_unit_test(a_line_an_item_of_a_list),
      cmocka_unit_test(lua_lines_steer),
      cmocka_unit_test(origins_of_lines_are_known),
      cmocka_unit_test(a_template_that_fails_names_its_line),
      cmocka_unit_test(a_template_that_runs_away_is_stopped),
      cmocka_unit_test(a_plan_of_wrong_values_names_its_file),
      cmocka_unit_test(lines_may_end_as_on_windows),
      cmocka_unit_test(the_kernel_is_seen_whole),
      cmocka_unit_test(an_operand_is_seen_whole),
      cmocka_unit_test(an_operand_answers_questions),
      cmocka_unit_test(variables_keep_their_name_and_bounds),
      cmocka_unit_test(substitution_is_simultaneous),
      cmocka_unit_test(sums_are_taken_apart),
      cmocka_unit_test(divisors_and_values_are_known),
      cmocka_unit_test(wrong_arguments_are_told),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
