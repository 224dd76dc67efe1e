/* Golden kernels: a change of the generator shows as a change of text that a person reviews. Of the
 * device library a file has the names only: the text that a kernel carries is templates/device's.
 * SECTILE_UPDATE_GOLDEN=1 rewrites the files; `test_codegen_golden FOLDER` writes whole kernels,
 * for compilers (tests/emit/test_emit_worked.sh). */
#include "codegen_fixture.h"

#include "script/script_strategy_internal.h"

static const struct {
  const char *spec, *label, *file;
} kernels[] = {
    {"add_const_double3", "direct threads=256", "add_direct"},
    {"gather_rows16", "direct threads=128", "gather_direct"},
    {"indirect_f32", "windows threads=512 items=16 windows=16", "gather_windows"},
    {"scatter_f32", "windows threads=256 items=2 windows=2", "scatter_windows"},
    {"transpose_f32", "direct threads=256", "transpose_direct"},
    {"transpose_f32",
     "exchange threads=512 tile=64x64 load=4 store=4 start=any blocks=out evict=loads",
     "exchange_vectors"},
    {"transpose_f16",
     "exchange threads=512 tile=128x128 load=lines store=2 start=sector blocks=out evict=none",
     "exchange_lines"},
    {"transpose_u8",
     "exchange threads=256 tile=128x128 load=16 store=16 start=any blocks=out evict=loads",
     "exchange_bytes"},
    {"quantise_both", "exchange threads=256 tile=128x128 load=16 store=8 blocks=out evict=loads",
     "exchange_both"},
    {"permute6_f32", "exchange threads=256 tile=64x64 blocks=tiles evict=loads",
     "exchange_permute"},
    {SCT_TESTS_DIR "/cases/records_change_places.lua",
     "box threads=512 box=1x32x16x3 items=4 load=registers evict=loads", "box"},
    {SCT_TESTS_DIR "/cases/records_change_places.lua",
     "box threads=512 box=1x64x48x3 items=2 load=async evict=stores", "box_async"},
    {SCT_TESTS_DIR "/cases/names_of_boxes.lua", "box_words threads=256 box=40x61x3 evict=none",
     "box_words"},
    {"stencil3d_f32", "direct threads=256", "stencil3d_direct"},
    {"stencil3d_f32",
     "stencil halo=registers threads=256 lanes=32 vec=4 items=1 rows=1 wide=2 march=4 "
     "align=sector "
     "store=none",
     "stencil3d_registers"},
    {"stencil2d_f32",
     "stencil halo=shared threads=256 lanes=32 vec=1 items=8 rows=2 wide=1 march=1 align=sector "
     "store=none",
     "stencil2d_shared"},
    {"sum_rows_f32", "direct threads=256", "sum_direct"},
    {"sum_cols_f32",
     "reduce threads=512 lanes=32 vec=4 items=8 outputs=1 blocks=528 evict=streaming",
     "reduce_cols"},
    {"sum_rows_f32",
     "reduce threads=512 lanes=512 vec=4 start=any items=4 outputs=1 blocks=1 evict=none",
     "reduce_rows_any"},
    {"sum_rows_f32",
     "reduce threads=256 lanes=any vec=4 start=any items=4 outputs=1 blocks=528 evict=streaming",
     "reduce_rows_chosen"},
    {"max_rows_f32",
     "reduce threads=256 lanes=32 vec=4 start=vector items=4 outputs=1 blocks=1 evict=none",
     "reduce_rows"},
    {"row_argmax",
     "reduce threads=256 lanes=32 vec=4 start=vector items=4 outputs=1 blocks=1 evict=none",
     "reduce_argmax"},
    {"prefix_sum", "direct threads=1024", "scan_direct"},
    {"prefix_sum",
     "scan threads=256 lanes=256 vec=4 items=4 order=tiles hold=registers evict=streaming",
     "scan_tiles"},
    {"prefix_sum",
     "scan threads=128 lanes=128 vec=4 items=16 order=tiles hold=shared evict=streaming",
     "scan_tiles_shared"},
    {"scan_rows", "scan threads=256 lanes=8 vec=4 items=4 order=rows hold=registers evict=none",
     "scan_rows"},
    {"quantise_rows", "direct threads=256", "steps_direct"},
    {"clip_rows", "rows threads=256 lanes=256 vec=4 start=vector hold=registers items=4 evict=none",
     "rows_kept"},
    {"layer_norm",
     "rows threads=256 lanes=256 vec=4 start=vector hold=registers items=4 evict=none",
     "rows_block"},
    {"softmax", "rows threads=256 lanes=2048 vec=4 start=vector hold=registers items=8 evict=none",
     "rows_cluster"},
    {"softmax", "rows threads=128 lanes=128 vec=4 start=any hold=first items=4 evict=streaming",
     "rows_first"},
    {"normalise_columns",
     "rows threads=512 lanes=128 vec=4 blocks=4 hold=registers items=8 evict=none", "rows_columns"},
    {"softmax_bf16", "rows threads=128 lanes=32 vec=8 start=vector hold=none items=4 evict=none",
     "rows_again"},
    {"add_const_double3", "map threads=256 items=2 vec=2 evict=loads", "map_flat"},
    {"broadcast", "map threads=256 items=2 vec=4 evict=none", "map_broadcast"},
    {"record12_aos_to_soa", "map threads=256 items=1 vec=4 load=staged team=block evict=stores",
     "map_staged"},
    {"mixed_soa_to_aos", "map threads=128 items=2 vec=1 store=staged team=warp evict=none",
     "map_warps"},
    {"dequant_q4_0", "map threads=256 items=1 vec=1 load=staged store=staged team=block evict=none",
     "map_bits"},
};

static const char *whole; /* the folder that gets whole kernels; NULL: compare */

/* The kernel with a line a file of the device library in place of the definitions it carries. */
static void shorten(sct_str *out, const sct_script *script, const char *source) {
  const char *file = NULL;
  for (int k = 0; k < script->n_parts; k++) {
    const struct sct_library_part *part = &script->parts[k];
    const size_t n = strlen(part->text);
    if (strncmp(source, part->text, n) != 0 || source[n] != '\n') {
      continue;
    }
    if (part->file == file) {
      sct_str_printf(out, ", %s", part->name);
    } else {
      sct_str_printf(out, "%s// %s: %s", file ? "\n" : "", part->file, part->name);
    }
    file = part->file;
    source += n + 1;
  }
  sct_str_printf(out, "%s%s", file ? "\n\n" : "", source);
}

static void test_kernels_are_as_reviewed(void **state) {
  (void)state;
  const bool update = getenv("SECTILE_UPDATE_GOLDEN") != NULL;
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    fixture f;
    fixture_open(&f, kernels[k].spec);
    sct_kernel_code code = fixture_make(&f, kernels[k].label);
    sct_str path = {0}, now = {0}, want = {0};
    sct_str_printf(&path, "%s/%s.cu", whole ? whole : SCT_TESTS_DIR "/golden", kernels[k].file);
    if (whole) {
      sct_str_append(&now, code.source);
    } else {
      shorten(&now, f.script, code.source);
    }
    if (whole || update) {
      MUST(sct_file_write(sct_str_c(&path), now.data, now.len, err));
    }
    MUST(sct_file_read(&want, sct_str_c(&path), err));
    if (strcmp(sct_str_c(&want), sct_str_c(&now)) != 0) {
      print_error("%s of %s differs from %s; SECTILE_UPDATE_GOLDEN=1 rewrites it\n%s\n",
                  kernels[k].label, kernels[k].spec, sct_str_c(&path), sct_str_c(&now));
      fail();
    }
    sct_str_free(&path);
    sct_str_free(&now);
    sct_str_free(&want);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_are_as_reviewed)};
  whole = argc > 1 ? argv[1] : NULL;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
