/* Which runs, devices, layouts and kernels of a store go into a header. */
#include "emit/emit_fixture.h"
#include "emit/emit_internal.h"

static emit_header load(fixture *f, const char *name) {
  emit_header h = {0};
  const sct_emit_request request = {.name = name};
  fixture_check(f, emit_header_load(&h, f->store, &request, &f->err));
  return h;
}

/* ---- what there is to emit ---- */

static void nothing_tuned_says_what_to_run(void **state) {
  fixture *f = *state;
  fixture_refused(f, "add3", "nothing is tuned for 'add3'");
  fixture_refused(f, "add3", "run `sectile tune`");
  fixture_problem(f, "add3", ADD_SIGNATURE);
  fixture_refused(f, "add3", "no size of 'add3' has a winner");
  const sct_id h200 = fixture_h200(f);
  sct_row_run run = fixture_run(f, h200, "i=8", "{\"i\": 8}", 384, "2025-01-01T00:00:00Z");
  (void)fixture_result(f, &run, &add_direct, 1000, false); /* a session that never ended */
  fixture_refused(f, "add3", "no size of 'add3' has a winner");
}

static void a_changed_spec_is_named(void **state) {
  fixture *f = *state;
  fixture_add(f);
  const sct_emit_request changed = {.name = "add3", .spec_hash = "0123456789abcdef"};
  sct_str out = {0};
  assert_int_equal(fixture_emit(&out, f, &changed), SCT_EDATA);
  assert_non_null(strstr(f->err.text, "the spec of 'add3' changed since it was tuned"));
  const sct_emit_request unknown = {.name = "other", .spec_hash = "0123456789abcdef"};
  f->err = (sct_error){0};
  assert_int_equal(fixture_emit(&out, f, &unknown), SCT_EDATA);
  assert_non_null(strstr(f->err.text, "nothing is tuned for 'other'"));
  const sct_emit_request neither = {0};
  f->err = (sct_error){0};
  assert_int_equal(fixture_emit(&out, f, &neither), SCT_EUSAGE);
  assert_int_equal(out.len, 0);
}

static void the_spec_s_hash_decides_between_versions(void **state) {
  fixture *f = *state;
  fixture_add(f);
  char old_hash[SCT_HASH_HEX];
  sct_hash_hex(old_hash, sct_hash_text(ADD_SIGNATURE));
  /* a later version of the spec, tuned too */
  sct_row_problem later = {.name = "add3",
                           .spec_hash = "ffff",
                           .spec_file = "later.lua",
                           .canonical = "",
                           .signature = (char *)ADD_SIGNATURE};
  fixture_check(f, sct_store_put_problem(f->store, &later, &f->err));
  f->problem = later.id;
  fixture_add_size(f, fixture_h200(f), 1 << 22, &add_flat, 50000, "2025-02-01T00:00:00Z");
  sct_str by_name = fixture_header(f, "add3");
  assert_true(has_text(&by_name, "later.lua"));
  assert_true(has_text(&by_name, "i=4194304"));
  assert_false(has_text(&by_name, "i=1048576"));
  sct_str by_hash = {0};
  const sct_emit_request request = {.name = "add3", .spec_hash = old_hash};
  fixture_check(f, fixture_emit(&by_hash, f, &request));
  assert_true(has_text(&by_hash, "add3.lua"));
  assert_true(has_text(&by_hash, "i=1048576"));
  sct_str_free(&by_name);
  sct_str_free(&by_hash);
}

/* ---- sizes and devices ---- */

static void every_size_has_its_winner(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  fixture_add_size(f, h200, 1 << 26, &add_staged, 780000, "2025-01-01T00:00:00Z");
  fixture_add_size(f, h200, 1 << 10, &add_direct, 2000, "2025-01-01T00:01:00Z");
  fixture_add_size(f, h200, 1 << 20, &add_flat, 14000, "2025-01-01T00:02:00Z");
  fixture_add_size(f, h200, 1 << 24, &add_staged, 200000, "2025-01-01T00:03:00Z");
  emit_header h = load(f, "add3");
  assert_int_equal(h.n_devices, 1);
  assert_int_equal(h.devices[0].n_sms, 132);
  assert_int_equal(h.devices[0].n_sizes, 4);
  static const double elements[] = {1 << 10, 1 << 20, 1 << 24, 1 << 26};
  for (int k = 0; k < 4; k++) {
    assert_true(h.devices[0].sizes[k].elements == elements[k]);
  }
  assert_int_equal(h.n_kernels, 3); /* the naive variant, flat, and staged once */
  assert_string_equal(h.kernels[0].space, "k0_direct");
  assert_int_equal(h.devices[0].sizes[0].kernel, 0);
  assert_string_equal(h.kernels[h.devices[0].sizes[1].kernel].space, "k1_flat");
  assert_int_equal(h.devices[0].sizes[2].kernel, h.devices[0].sizes[3].kernel);
  emit_header_free(&h);
}

static void one_source_with_two_launches_is_two_kernels(void **state) {
  fixture *f = *state;
  fixture_add_two_devices(f);
  emit_header h = load(f, "add3");
  assert_int_equal(h.n_devices, 2);
  assert_string_equal(h.devices[0].row->name, "NVIDIA H200"); /* the newest first */
  assert_string_equal(h.devices[1].row->name, "NVIDIA A100");
  assert_int_equal(h.n_kernels, 4);
  assert_string_equal(h.kernels[2].source->label, "staged t512 big");
  assert_string_equal(h.kernels[3].source->label, "staged t512");
  assert_string_equal(h.kernels[2].source->source, h.kernels[3].source->source);
  emit_header_free(&h);
}

static void newer_conditions_replace_older_ones(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id newer = fixture_device_with(f, "NVIDIA H200", "GPU-1", "590.0", 90, 132);
  const sct_id older = fixture_device_with(f, "NVIDIA H200", "GPU-1", "580.1", 90, 132);
  const sct_id other = fixture_device_with(f, "NVIDIA H200", "GPU-9", "570.0", 90, 132);
  fixture_add_size(f, older, 1 << 20, &add_flat, 14000, "2025-01-01T00:00:00Z");
  fixture_add_size(f, newer, 1 << 26, &add_staged, 780000, "2025-03-01T00:00:00Z");
  fixture_add_size(f, other, 1 << 24, &add_flat, 200000, "2025-02-01T00:00:00Z");
  emit_header h = load(f, "add3");
  assert_int_equal(h.n_devices, 1); /* a call cannot tell two GPUs of the same kind apart */
  assert_string_equal(h.devices[0].row->driver, "590.0");
  assert_int_equal(h.devices[0].n_sizes, 1);
  assert_int_equal(h.devices[0].n_alike, 1); /* older conditions of the same GPU are no other GPU */
  assert_string_equal(h.devices[0].alike[0]->uuid, "GPU-9");
  emit_header_free(&h);
  fixture_add_size(f, other, 1 << 26, &add_flat, 790000, "2025-02-01T00:00:00Z");
  h = load(f, "add3");
  assert_int_equal(h.n_devices, 1); /* the one that knows more sizes, however old */
  assert_string_equal(h.devices[0].row->uuid, "GPU-9");
  assert_int_equal(h.devices[0].n_sizes, 2);
  assert_string_equal(h.devices[0].alike[0]->driver, "590.0");
  emit_header_free(&h);
  (void)fixture_device_with(f, "NVIDIA H200", "GPU-5", "570.0", 90, 132); /* nothing tuned there */
  const sct_id slice = fixture_device_with(f, "NVIDIA H200", "GPU-2", "570.0", 90, 60);
  fixture_add_size(f, slice, 1 << 24, &add_flat, 400000, "2025-01-01T00:00:00Z");
  h = load(f, "add3");
  assert_int_equal(h.n_devices, 2); /* fewer multiprocessors: a call can tell */
  assert_int_equal(h.devices[0].n_alike, 1);
  assert_int_equal(h.devices[1].n_alike, 0);
  emit_header_free(&h);
}

static void counted_gives_way_to_timed(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_device_with(f, "NVIDIA H200", "", "", 90, 132);
  const sct_id a100 = fixture_device_with(f, "NVIDIA A100", "", "", 80, 108);
  fixture_add_size(f, a100, 1 << 20, &add_flat, 0, "2025-05-01T00:00:00Z");
  fixture_add_size(f, h200, 1 << 20, &add_flat, 0, "2025-05-02T00:00:00Z");
  emit_header h = load(f, "add3");
  assert_int_equal(h.n_devices, 2);
  emit_header_free(&h);
  /* an old timing of a GPU of compute capability 9.0 weighs more than any count */
  const sct_id gpu = fixture_device_with(f, "NVIDIA H100", "GPU-7", "580.1", 90, 114);
  fixture_add_size(f, gpu, 1 << 20, &add_staged, 20000, "2024-01-01T00:00:00Z");
  h = load(f, "add3");
  assert_int_equal(h.n_devices, 2);
  assert_string_equal(h.devices[0].row->name, "NVIDIA H100");
  assert_string_equal(h.devices[1].row->name, "NVIDIA A100");
  assert_true(h.devices[1].row->is_virtual);
  emit_header_free(&h);
}

static void equal_extents_go_to_the_slower_fill(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  static const struct {
    const char *label;
    const kernel *winner;
    double ns;
  } fills[] = {{"i=64 pick=identity", &add_flat, 1000}, {"i=64 pick=permuted", &add_staged, 3000}};
  for (int k = 0; k < 2; k++) {
    sct_row_run run =
        fixture_run(f, h200, fills[k].label, "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
    const sct_id naive = fixture_result(f, &run, &add_direct, 9000, false);
    fixture_finish(f, &run, fixture_result(f, &run, fills[k].winner, fills[k].ns, true), naive);
  }
  emit_header h = load(f, "add3");
  assert_int_equal(h.devices[0].n_sizes, 2);
  assert_string_equal(h.devices[0].sizes[0].run->size_label, "i=64 pick=permuted");
  emit_header_free(&h);
}

/* Samples of a transpose on an H200: few elements are for the naive variant, few rows for the
 * strip, all else for the tile. */
static void fixture_samples(fixture *f, bool listed) {
  fixture_problem(f, "transpose", TRANSPOSE_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  for (int k = 0; k < 30; k++) {
    const long long row = 4LL << (k % 6 * 2), col = 16LL << (k / 6 * 4);
    const bool few = row * col <= 1 << 16;
    char label[64], extents[64];
    snprintf(label, sizeof label, "row=%lld col=%lld", row, col);
    snprintf(extents, sizeof extents, "{\"row\": %lld, \"col\": %lld}", row, col);
    sct_row_run run = fixture_run(f, h200, label, extents, 8.0 * (double)(row * col), "2025");
    run.conditions = listed && k == 29 ? "{}" : "{\"sampled\": true}";
    const sct_id naive = fixture_result(f, &run, &transpose_direct, few ? 1000 : 9000, false);
    const sct_id strip =
        fixture_result(f, &run, &transpose_strip, !few && row <= 64 ? 1000 : 3000, true);
    const sct_id tile =
        fixture_result(f, &run, &transpose_tile, !few && row > 64 ? 1000 : 3000, true);
    fixture_finish(f, &run, few ? naive : row <= 64 ? strip : tile, naive);
  }
}

static void samples_make_a_rule(void **state) {
  fixture *f = *state;
  fixture_samples(f, true);
  sct_str text = fixture_header(f, "transpose");
  assert_true(has_text(&text, "  const long long n_row = c->n_row, n_col = c->n_col;\n"
                              "  if (n_row * n_col <= 1LL << 17) return "
                              "transpose_detail_take(0, 0, 0, \"n_row * n_col <= 1 << 17\");"));
  assert_true(has_text(&text, "\n  if (n_row <= 128) return transpose_detail_take(2, 0, 0, "
                              "\"n_row * n_col > 1 << 17, n_row <= 128\");"));
  assert_true(has_text(&text, "\n  return transpose_detail_take(1, 0, 0, "
                              "\"n_row * n_col > 1 << 17, n_row > 128\");"));
  assert_true(has_text(&text, "take 0.0 % longer in the mean than the best timed there,\n"));
  assert_true(has_text(&text, "at worst 0.0 %: 29 sizes"));
  assert_true(has_text(&text, "{{4096, 1048576}, 1, \"row=4096 col=1048576\"},\n};"));
  assert_false(has_text(&text, "row=4 col=16\""));
  sct_str_free(&text);
}

/* Three values of one extent around each threshold, at small sizes that were tuned. */
static void a_self_test_knows_both_sides_of_thresholds(void **state) {
  fixture *f = *state;
  fixture_samples(f, true);
  emit_header h = load(f, "transpose");
  int64_t(*edges)[EMIT_MOST_EDGE_EXTENTS];
  assert_int_equal(emit_edges(&h, &edges), 6);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(edges[k][0], 4); /* n_row * n_col <= 1 << 17 */
    assert_int_equal(edges[k][1], 32767 + k);
    assert_int_equal(edges[3 + k][0], 127 + k); /* beyond it, n_row <= 128 */
    assert_int_equal(edges[3 + k][1], 4096);
  }
  json_t *row = json_array_get(json_object_get(h.sig.doc, "extents"), 0);
  json_object_set_new(row, "dim", json_false()); /* a number that goes with what arrays hold */
  assert_int_equal(emit_edges(&h, &edges), 0);
  emit_header_free(&h);
}

static void a_range_alone_shows_a_size_of_each_branch(void **state) {
  fixture *f = *state;
  fixture_samples(f, false);
  emit_header h = load(f, "transpose");
  assert_int_equal(h.n_kernels, 3);
  assert_int_equal(h.n_extra, 2);
  int n_shown = 0;
  for (int k = 0; k < h.devices[0].n_sizes; k++) {
    n_shown += h.devices[0].sizes[k].shown;
  }
  assert_int_equal(n_shown, 3);
  emit_header_free(&h);
  sct_str text = fixture_header(f, "transpose");
  assert_true(has_text(&text, "transpose_detail_rule_0, NULL, 0},"));
  assert_true(has_text(&text, "  // k0_direct: "));
  sct_str_free(&text);
}

/* Rows of different lengths are told apart by how long they are in the mean. */
static void rows_of_different_lengths_have_a_mean(void **state) {
  fixture *f = *state;
  emit_header h = {0};
  fixture_check(
      f, emit_read_signature(&h,
                             "{\"name\": \"lengths\", \"dims\": [\"row\", \"el\"], \"extents\": "
                             "[{\"name\": \"row\", \"dim\": true, \"rows\": true}, {\"name\": "
                             "\"el\", \"dim\": true, \"ragged\": true}], \"scalars\": [], "
                             "\"operands\": [" OPERAND("a", "in", BARE_F32, "true", "\"row_major\"",
                                                       "\"el\"") "], \"body\": \"\"}",
                             &f->err));
  assert_int_equal(h.sig.rows, 0);
  assert_int_equal(h.sig.ragged, 1);
  emit_header_free(&h);
}

/* ---- layouts ---- */

#define CHOICE_LAUNCH_OF(doc, a, b, requires)                                                      \
  "{\"kernel\": \"add3_kernel\", \"threads\": 256, \"grid\": \"n_i\", \"shared_bytes\": 0, "       \
  "\"static_shared_bytes\": 0, \"requires\": [" requires "], \"align\": {\"a\": 8, \"b\": 8}, "    \
                                                         "\"layouts\": {\"a\": \"" a               \
                                                         "\", \"b\": \"" b "\"}, \"doc\": \"" doc  \
                                                         "\"}"
#define CHOICE_LAUNCH(a, b, requires) CHOICE_LAUNCH_OF("", a, b, requires)
/* Kernels are told apart by source and launch: the label stands in there too. */
#define CHOICE_KERNEL(label, strategy, threads, a, b, registers)                                   \
  {                                                                                                \
    "add_direct.cu", label, strategy,                                                              \
        "{\"layout.a\": \"" a "\", \"layout.b\": \"" b "\", \"threads\": " threads "}",            \
        CHOICE_LAUNCH_OF(label, a, b, ""), registers                                               \
  }

static const kernel aos_direct = CHOICE_KERNEL("direct aos", "direct", "256", "aos", "aos", 16);
static const kernel soa_direct = CHOICE_KERNEL("direct soa", "direct", "256", "soa", "aos", 16);
static const kernel soa_other = CHOICE_KERNEL("direct soa t1", "direct", "128", "soa", "aos", 16);
static const kernel aos_best = CHOICE_KERNEL("best aos", "staged", "1", "aos", "aos", 16);
static const kernel soa_best = CHOICE_KERNEL("best soa", "staged", "2", "soa", "aos", 16);
static const kernel soa_tied = CHOICE_KERNEL("tied soa", "staged", "3", "soa", "aos", 12);
static const kernel soa_wild = CHOICE_KERNEL("wild soa", "staged", "4", "soa", "aos", 8);

static const char *const choice_signature =
    "{\"name\": \"add3\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "
    "\"scalars\": [{\"name\": \"k\", \"type\": \"f64\", \"cuda\": \"double\"}], \"operands\": "
    "[" OPERAND("a", "in", VEC3, "false", "\"aos\", \"soa\"", "\"i\"") ", " OPERAND(
        "b", "out", VEC3, "false", "\"aos\"", "\"i\"") "], \"body\": \"b.x = a.x;\"}";

/* The large size is won by soa, the small one by aos. */
static void fixture_choice(fixture *f, bool soa_in_small) {
  fixture_problem(f, "add3", choice_signature);
  const sct_id h200 = fixture_h200(f);
  sct_row_run small = fixture_run(f, h200, "i=64", "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
  const sct_id naive = fixture_result(f, &small, &aos_direct, 9000, false);
  const sct_id winner = fixture_result(f, &small, &aos_best, 1000, true);
  if (soa_in_small) {
    (void)fixture_result(f, &small, &soa_other, 4900, true);
    (void)fixture_result(f, &small, &soa_direct, 5000, false);
    (void)fixture_result(f, &small, &soa_best, 2000, true);
    (void)fixture_result(f, &small, &soa_tied, 2009, true);  /* within 0.5 %, fewer registers */
    (void)fixture_result(f, &small, &soa_wild, 1500, false); /* faster, not coalesced */
  }
  fixture_finish(f, &small, winner, naive);
  sct_row_run large =
      fixture_run(f, h200, "i=4096", "{\"i\": 4096}", 196608, "2025-01-01T00:01:00Z");
  const sct_id large_naive = fixture_result(f, &large, &aos_direct, 90000, false);
  (void)fixture_result(f, &large, &soa_direct, 80000, false);
  fixture_finish(f, &large, fixture_result(f, &large, &soa_best, 10000, true), large_naive);
}

static void the_largest_size_chooses_the_layouts(void **state) {
  fixture *f = *state;
  fixture_choice(f, true);
  emit_header h = load(f, "add3");
  assert_string_equal(h.layout[0], "soa");
  assert_string_equal(h.layout[1], "aos");
  assert_int_equal(h.devices[0].n_sizes, 2);
  const emit_size *small = &h.devices[0].sizes[0];
  assert_string_equal(small->winner->candidate.label, "tied soa");
  assert_string_equal(small->naive->candidate.label, "direct soa"); /* the duplicate, not t1 */
  assert_string_equal(h.kernels[0].source->label, "direct soa");
  emit_header_free(&h);
  sct_str out = fixture_header(f, "add3");
  assert_true(
      has_text(&out, "layout soa; over (i)\n//           the layout was chosen from aos, soa\n"));
  assert_true(has_text(&out, "add3(const void *a, add3_vec3 *b, double k, long long n_i"));
  sct_str_free(&out);
}

/* The signature of an add3 whose first array is read at further places, as `more` says. */
static const char *tapped_signature(char *out, size_t n, const char *more) {
  static const char mark[] = "\"role\": \"in\", ";
  const char *at = strstr(choice_signature, mark);
  assert_non_null(at);
  snprintf(out, n, "%.*s%s%s%s", (int)(at - choice_signature), choice_signature, mark, more,
           at + strlen(mark));
  return out;
}

static void taps_are_said(void **state) {
  fixture *f = *state;
  char text[4096];
  fixture_problem(f, "add3",
                  tapped_signature(text, sizeof text,
                                   "\"taps\": [\"next (1)\", \"prior (-1)\"], "
                                   "\"border\": \"wrap\", "));
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=64", "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &aos_direct, 9000, false);
  fixture_finish(f, &run, naive, naive);
  sct_str out = fixture_header(f, "add3");
  assert_true(has_text(&out, "//           taps next (1), prior (-1); border wrap\n"));
  assert_true(has_text(&out, "add3(const add3_vec3 *a, add3_vec3 *b, double k, long long n_i"));
  sct_str_free(&out);
}

static void damaged_taps_are_named(void **state) {
  fixture *f = *state;
  char text[4096];
  fixture_problem(f, "add3", tapped_signature(text, sizeof text, "\"taps\": [3], "));
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=64", "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &aos_direct, 9000, false);
  fixture_finish(f, &run, naive, naive);
  fixture_refused(f, "add3", "taps[0]: expected text");
}

static void a_size_without_these_layouts_is_left_out(void **state) {
  fixture *f = *state;
  fixture_choice(f, false);
  emit_header h = load(f, "add3");
  assert_int_equal(h.devices[0].n_sizes, 1);
  assert_string_equal(h.devices[0].sizes[0].run->size_label, "i=4096");
  emit_header_free(&h);
}

static void a_header_needs_its_naive_variant(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", choice_signature);
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=64", "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &aos_direct, 9000, false);
  fixture_finish(f, &run, fixture_result(f, &run, &soa_best, 1000, true), naive);
  fixture_refused(f, "add3", "no naive variant of 'add3' with the layouts of its winner");
}

static void a_naive_variant_has_no_conditions(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", choice_signature);
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=64", "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
  kernel picky = aos_direct;
  picky.launch = CHOICE_LAUNCH("aos", "aos", "\"n_i % 2 == 0\"");
  const sct_id naive = fixture_result(f, &run, &picky, 9000, false);
  fixture_finish(f, &run, naive, naive);
  fixture_refused(f, "add3", "is only right when n_i % 2 == 0");
}

/* ---- damaged rows ---- */

static void damage_is_named(void **state) {
  fixture *f = *state;
  static const struct {
    const char *from, *to, *says;
  } damages[] = {
      {"\"name\": \"add3\"", "\"name\": \"int\"", "signature is damaged: name: expected a name"},
      {"\"name\": \"a\"", "\"name\": \"a; evil()\"", "operands[0].name: expected a name"},
      {"\"name\": \"a\"", "\"name\": 5", "operands[0].name: expected text"},
      {"\"name\": \"b\"", "\"name\": \"a\"",
       "a: expected every argument to have a name of its own"},
      {"\"name\": \"k\"", "\"name\": \"n_i\"", "n_i: expected every argument to have a name"},
      {"\"role\": \"out\"", "\"role\": \"both\"", "operands[1].role: expected in or out"},
      {"\"type\": \"f64\"", "\"type\": \"f65\"", "type: expected a type such as f32"},
      {"\"name\": \"x\"", "\"name\": \"x; } evil\"", "fields[0].name: expected a name"},
      {"\"name\": \"x\"", "\"name\": \"x[0]; } evil\"", "fields[0].name: expected a name"},
      {"\"name\": \"x\"", "\"name\": \"x[999]\"", "fields[0].name: expected a name"},
      {"\"name\": \"x\"", "\"name\": \"x[\"", "fields[0].name: expected a name"},
      {"\"name\": \"x\"", "\"name\": \"[0]\"", "fields[0].name: expected a name"},
      {"\"offset\": 16", "\"offset\": 17", "offset: expected a whole number from 0 to 16"},
      {"\"align\": 8", "\"align\": 3", "align: expected a power of two"},
      {"\"bytes\": 24", "\"bytes\": -1", "record.bytes: expected a whole number"},
      {"\"dim\": true", "\"dim\": false", "extents: expected at least one with"},
      {"\"extents\": [", "\"extents\": [{\"name\": \"m\"}, ",
       "extents[1]: expected those with \"dim\": true first"},
      {"\"operands\": [", "\"operands\": 7, \"x\": [", "operands: expected a list"},
      {"\"operands\": [", "\"operands\": {\"a\": 1}, \"x\": [", "operands: expected a list"},
      {"\"operands\": [", "\"operands\": [7, ", "operands[0]: expected an object"},
      {"[\"aos\"]", "[\"aos\", null]", "operands[0].layouts[1]: expected text"},
      {"\"bytes\": [\"24 * n_i\"]", "\"inside\": [\"n_i = 1\"]",
       "operands[0].inside[0]: expected an expression over the extents"},
      {"\"bytes\": [\"24 * n_i\"]", "\"apart\": [[\"1\"]]",
       "operands[0].apart[0]: expected a step and its last index"},
      {"\"body\"", "", "signature is damaged: the document: expected"},
      {"\"body\"", "\"host\": {\"chunks\": \"j\"}, \"body\"", "host.chunks: expected a dimension"},
      {"\"body\"", "\"host\": {\"chunks\": \"i\", \"before\": -1}, \"body\"",
       "host.before: expected a whole number from 0 to 65536"},
      {"\"body\"", "\"host\": {\"chunks\": \"i\", \"before\": 0, \"after\": 0}, \"body\"",
       "operands[0].chunk_steps: expected a list"},
  };
  fixture_add(f);
  for (int k = 0; k < SCT_COUNT(damages); k++) {
    sct_str text = {0};
    const char *at = strstr(ADD_SIGNATURE, damages[k].from);
    assert_non_null(at);
    sct_str_append_n(&text, ADD_SIGNATURE, (size_t)(at - ADD_SIGNATURE));
    sct_str_append(&text, damages[k].to);
    sct_str_append(&text, at + strlen(damages[k].from));
    emit_header h = {0};
    sct_error err = {0};
    assert_int_equal(emit_read_signature(&h, sct_str_c(&text), &err), SCT_EDATA);
    if (strstr(err.text, damages[k].says) == NULL) {
      fail_msg("'%s' is not in: %s", damages[k].says, err.text);
    }
    emit_header_free(&h);
    sct_str_free(&text);
  }
}

static void damaged_launch_data_are_named(void **state) {
  fixture *f = *state;
  static const struct {
    const char *launch, *says;
  } damages[] = {
      {ADD_LAUNCH("0", "n_i", "0", "", "8"), "launch data is damaged: threads: expected a whole"},
      {ADD_LAUNCH("2000", "n_i", "0", "", "8"), "threads: expected a whole number from 1 to 1024"},
      {ADD_LAUNCH("256", "evil()", "0", "", "8"), "grid: expected an expression over the extents"},
      {ADD_LAUNCH("256", "n_i; evil()", "0", "", "8"), "grid: expected an expression"},
      {ADD_LAUNCH("256", "n_i", "-1", "", "8"), "shared_bytes: expected a whole number"},
      {ADD_LAUNCH("256", "n_i", "0", "\"n_i = 3\"", "8"), "requires[0]: expected an expression"},
      {ADD_LAUNCH("256", "n_i", "0", "5", "8"), "requires[0]: expected text"},
      {ADD_LAUNCH("256", "n_i", "0", "", "12"), "align.a: expected a power of two"},
      {"{}", "kernel: expected text"},
      {"", "the document: expected"},
  };
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  for (int k = 0; k < SCT_COUNT(damages); k++) {
    char label[32];
    snprintf(label, sizeof(label), "i=%d", k);
    kernel broken = add_direct;
    broken.launch = damages[k].launch;
    sct_row_run run = fixture_run(f, h200, label, "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
    const sct_id id = fixture_result(f, &run, &broken, 9000, false);
    fixture_finish(f, &run, id, id);
    fixture_refused(f, "add3", damages[k].says);
    fixture_finish(f, &run, 0, 0);
  }
}

static void damaged_sources_and_extents_are_named(void **state) {
  fixture *f = *state;
  fixture_problem(f, "add3", ADD_SIGNATURE);
  const sct_id h200 = fixture_h200(f);
  sct_row_run cut = fixture_run(f, h200, "i=1", "{\"i\": 64}", 3072, "2025-01-01T00:00:00Z");
  const sct_id half =
      fixture_result_with(f, &cut, &add_direct, "__global__ void add3_kernel(", 1, false);
  fixture_finish(f, &cut, half, half);
  fixture_refused(f, "add3", "the stored source of kernel 'add3_kernel' cannot stand in a header");
  fixture_finish(f, &cut, 0, 0);
  sct_row_run sizeless = fixture_run(f, h200, "i=2", "{\"j\": 64}", 3072, "2025-01-01T00:00:00Z");
  const sct_id id = fixture_result(f, &sizeless, &add_direct, 9000, false);
  fixture_finish(f, &sizeless, id, id);
  fixture_refused(f, "add3", "the stored extents of a run are damaged: i: expected a whole number");
}

static void one_record_has_one_shape(void **state) {
  fixture *f = *state;
  static const char *const two_shapes =
      "{\"name\": \"add3\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "
      "\"scalars\": [{\"name\": \"k\", \"type\": \"f64\"}], \"operands\": "
      "[" OPERAND("a", "in", VEC3, "false", "\"aos\"", "\"i\"") ", " OPERAND(
          "b", "out",
          "{\"name\": \"vec3\", \"fields\": [{\"name\": \"x\", \"type\": \"f32\", \"offset\": 0}], "
          "\"bytes\": 4, \"align\": 4}",
          "false", "\"aos\"", "\"i\"") "], \"body\": \"\"}";
  fixture_problem(f, "add3", two_shapes);
  fixture_add_size(f, fixture_h200(f), 64, &add_direct, 9000, "2025-01-01T00:00:00Z");
  fixture_refused(f, "add3", "give the record 'vec3' two shapes");
}

/* Packed or not, three doubles have the same layout, and `b = a` needs one type. */
static void records_of_one_layout_are_one_type(void **state) {
  fixture *f = *state;
  static const char *const alike =
      "{\"name\": \"add3\", \"dims\": [\"i\"], \"extents\": [{\"name\": \"i\", \"dim\": true}], "
      "\"scalars\": [{\"name\": \"k\", \"type\": \"f64\"}], \"operands\": "
      "[" OPERAND("a", "in", VEC3_WITH("true"), "false", "\"aos\"", "\"i\"") ", " OPERAND(
          "b", "out", VEC3_WITH("false"), "false", "\"aos\"", "\"i\"") "], \"body\": \"\"}";
  fixture_problem(f, "add3", alike);
  fixture_add_size(f, fixture_h200(f), 64, &add_direct, 9000, "2025-01-01T00:00:00Z");
  sct_str header = fixture_header(f, "add3");
  const char *first = strstr(sct_str_c(&header), "} add3_vec3;");
  assert_non_null(first);
  assert_null(strstr(first + 1, "} add3_vec3;"));
  sct_str_free(&header);
}

/* ---- what older versions made ---- */

static void a_kernel_that_keeps_partial_results_is_refused(void **state) {
  fixture *f = *state;
  fixture_problem(f, "row_sum", ROW_SUM_SIGNATURE);
  sct_row_run run = fixture_run(f, fixture_h200(f), "row=16 col=64", "{\"row\": 16, \"col\": 64}",
                                64, "2025-01-04T00:00:00Z");
  kernel old = row_sum_shared;
  old.launch = ROW_SUM_LAUNCH("reduce_rows", "8 * n_row", "", "16", ", \"exclusive\": true");
  const sct_id naive = fixture_result(f, &run, &row_sum_direct, 70000, false);
  fixture_finish(f, &run, fixture_result(f, &run, &old, 20000, true), naive);
  fixture_refused(f, "row_sum", "keeps partial results in an array of its own");
}

/* As tests/emit/nvcc/dispatch.cu has it of the header itself. */
static void programs_ask_what_a_call_takes(void **state) {
  fixture *f = *state;
  static const struct {
    sct_emit_device on;
    int64_t n;
    const char *labels[5], *size, *device;
  } cases[] = {
      {{"NVIDIA H200", 9, 0, 132},
       2,
       {"flat t256 w16", "staged t512 big", "direct t256"},
       NULL,
       "NVIDIA H200"},
      {{"NVIDIA H200", 9, 0, 132},
       1 << 20,
       {"flat t256 w16", "flat t256 w16", "staged t512 big", "direct t256"},
       "i=1048576",
       "NVIDIA H200"},
      {{"NVIDIA H200", 9, 0, 132},
       1 << 23,
       {"flat t256 w16", "staged t512 big", "direct t256"},
       NULL,
       "NVIDIA H200"},
      {{"NVIDIA H200", 9, 0, 132},
       (1 << 23) + 1,
       {"staged t512 big", "direct t256"},
       NULL,
       "NVIDIA H200"},
      {{"NVIDIA H100", 9, 0, 114},
       2,
       {"flat t256 w16", "staged t512 big", "direct t256"},
       NULL,
       "NVIDIA H200"},
      {{"NVIDIA B200", 10, 0, 148},
       2,
       {"flat t256 w16", "staged t512 big", "direct t256"},
       NULL,
       "NVIDIA H200"},
      {{"NVIDIA A10", 8, 6, 72}, 1 << 26, {"staged t512", "direct t256"}, NULL, "NVIDIA A100"},
      {{"Tesla V100", 7, 0, 80}, 1 << 24, {"staged t512"}, "i=16777216", "NVIDIA A100"},
  };
  sct_emit *header = NULL;
  const sct_emit_request request = {.name = "add3"};
  fixture_add_two_devices(f);
  fixture_check(f, sct_emit_open(&header, f->store, &request, &f->err));
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_emit_taken taken;
    sct_emit_take(&taken, header, &cases[k].on, &cases[k].n);
    for (int n = 0; cases[k].labels[n] != NULL; n++) {
      assert_string_equal(taken.labels[n], cases[k].labels[n]);
    }
    assert_string_equal(taken.labels[taken.n - 1], "direct t256");
    assert_string_equal(taken.device, cases[k].device);
    assert_string_equal(taken.size ? taken.size : "", cases[k].size ? cases[k].size : "");
  }
  sct_emit_close(header);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
      TEST(nothing_tuned_says_what_to_run),
      TEST(a_kernel_that_keeps_partial_results_is_refused),
      TEST(a_changed_spec_is_named),
      TEST(the_spec_s_hash_decides_between_versions),
      TEST(every_size_has_its_winner),
      TEST(one_source_with_two_launches_is_two_kernels),
      TEST(newer_conditions_replace_older_ones),
      TEST(counted_gives_way_to_timed),
      TEST(equal_extents_go_to_the_slower_fill),
      TEST(programs_ask_what_a_call_takes),
      TEST(samples_make_a_rule),
      TEST(a_self_test_knows_both_sides_of_thresholds),
      TEST(a_range_alone_shows_a_size_of_each_branch),
      TEST(rows_of_different_lengths_have_a_mean),
      TEST(the_largest_size_chooses_the_layouts),
      TEST(taps_are_said),
      TEST(damaged_taps_are_named),
      TEST(a_size_without_these_layouts_is_left_out),
      TEST(a_header_needs_its_naive_variant),
      TEST(a_naive_variant_has_no_conditions),
      TEST(damage_is_named),
      TEST(damaged_launch_data_are_named),
      TEST(damaged_sources_and_extents_are_named),
      TEST(one_record_has_one_shape),
      TEST(records_of_one_layout_are_one_type),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
