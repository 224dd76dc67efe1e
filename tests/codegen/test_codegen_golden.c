/* Golden kernels: a change of the generator shows as a change of text that a person reviews.
 * SECTILE_UPDATE_GOLDEN=1 rewrites the files. */
#include "codegen_fixture.h"

static const struct {
  const char *spec, *label, *file;
} kernels[] = {
    {"add_const_double3", "direct t256 hnone", "add_direct"},
    {"add_const_double3", "flat t256 i4 v2 hcs", "add_flat"},
    {"add_const_double3", "staged t256 i2 in1 out1 sblock fnone hnone u0", "add_staged"},
    {"add_const_double3", "staged t128 i1 in1 out1 sblock fpad hnone u0", "add_staged_pad"},
    {"add_const_double3", "vector t256 i1 v2 hnone b0", "add_vector"},
    {"particle_soa_to_aos", "staged t256 i1 in0 out1 swarp fnone hnone u0", "soa_to_aos_warp"},
    {"particle_soa_to_aos", "staged t128 i2 in0 out1 sblock fxor hcs u1", "soa_to_aos_xor"},
    {"particle_soa_to_aos", "vector t256 i1 v4 hnone b0", "soa_to_aos_vector"},
    {"mixed_aos_to_soa", "staged t256 i1 in1 out0 sblock fnone hnone u0", "mixed_staged"},
    {"mixed_aos_to_soa", "sections t256 i2 wall r1 sblock fpad hnone", "mixed_sections"},
    {"mixed_soa_to_aos", "sections t256 i2 wnarrow r1 swarp fnone hcs", "mixed_sections_narrow"},
    {"particle_soa_to_aos", "async t128 i2 n2 g4 fnone w0 ccg", "soa_to_aos_async"},
    {"particle_aos_to_soa", "async t256 i4 n4 g2 fnone w1 ccg", "aos_to_soa_async"},
    {"indirect_f32", "vector t256 i4 v4 hnone b0", "indirect_vector"},
    {"gather_rows16", "direct t128 hnone", "gather_direct"},
    {"shifted", "vector t256 i1 v4 hnone b0", "shifted_vector"},
    {"shifted", "shift t128 i2 w1 nlane hcs", "shifted_lanes"},
    {"shifted_u8", "shift t256 i1 w1 nload hnone", "shifted_bytes"},
    {"indirect_f32", "windows t256 i4 v4 w4 hstream", "gather_windows"},
    {"scatter_f32", "windows t256 i1 v4 w4 hstream", "scatter_windows"},
    {"gather_rows64", "gather t256 l4 i4 s1 p16 xrun hstream", "gather_lanes"},
    {"gather_rows256", "gather t256 l16 i2 s2 p16 xone hnone", "gather_rows"},
    {"broadcast", "vector t256 i2 v4 hnone b0", "broadcast_vector"},
    {"transpose_f32", "direct t256 hnone", "transpose_direct"},
    {"transpose_f32", "tile t256 a64 b64 vi4 vo4 fxor k0 oa hnone", "transpose_xor"},
    {"transpose_f32", "tile t256 a32 b32 vi1 vo1 fpad k0 oa hnone", "transpose_pad"},
    {"transpose_f32", "tile t512 a64 b128 vi1 vo4 fpad k1 oa hnone", "transpose_skew"},
    {"transpose_f32", "tile t256 a64 b64 vi4 vo4 fxor k0 og hnone", "transpose_bands"},
    {"transpose_u8", "packed t256 a128 b128 w4 rnone oa hnone", "transpose_packed"},
    {"transpose_f32",
     "exchange threads=512 tile=64x64 load=4 store=4 start=any blocks=out evict=loads",
     "exchange_vectors"},
    {"transpose_f16",
     "exchange threads=512 tile=128x128 load=lines store=2 start=sector blocks=out evict=none",
     "exchange_lines"},
    {"transpose_u8",
     "exchange threads=256 tile=128x128 load=16 store=16 start=any blocks=out evict=loads",
     "exchange_bytes"},
    {"permute6_f32", "exchange threads=256 tile=64x64 blocks=tiles evict=loads",
     "exchange_permute"},
    {"stencil3d_f32", "direct t256 hnone", "stencil3d_direct"},
    {"stencil3d_f32",
     "stencil halo=registers threads=256 lanes=32 vec=4 items=1 rows=1 wide=2 march=4 "
     "align=sector "
     "store=none",
     "stencil3d_registers"},
    {"stencil2d_f32",
     "stencil halo=shared threads=256 lanes=32 vec=1 items=8 rows=2 wide=1 march=1 align=sector "
     "store=none",
     "stencil2d_shared"},
    {"transpose_f16", "packed t256 a128 b256 w1 rsector ob hnone", "transpose_realigned"},
    {"transpose_f16", "jagged t256 a512 b256 ob", "transpose_jagged"},
    {"particle_aos_to_soa", "bulk t128 i4 g0 n1 w1 obulk hnone", "aos_to_soa_bulk"},
    {"particle_soa_to_aos", "bulk t256 i2 g2 n3 w0 obulk hnone", "soa_to_aos_bulk"},
    {"particle_soa_to_aos", "shuffle t128 i1 v4 hcs", "soa_to_aos_shuffle"},
    {"add_const_double3", "flat t128 i1 v2 hkeepin", "double3_keepin"},
    {"particle_soa_to_aos", "bulk t128 i1 g0 n1 w0 ovector hkeepout", "soa_to_aos_keepout"},
    {"permute6_f32", "permute t256 i16 p2 q3 vi1 vo1 r64 n8 xshared oa hnone", "permute_shared"},
    {"permute_102_f32", "permute t256 i16 p1 q2 vi4 vo4 r64 n8 xregisters oa hnone",
     "permute_registers"},
    {"permute5_f32", "runs s56 p2 q2 vi4 vo1 r64 xshared hnone", "permute_runs"},
    {"sum_rows_f32", "direct t256 hnone", "sum_direct"},
    {"sum_cols_f32",
     "reduce threads=512 lanes=32 vec=4 items=8 outputs=1 blocks=528 evict=streaming",
     "reduce_cols"},
    {"sum_rows_f32",
     "reduce threads=512 lanes=512 vec=4 start=any items=4 outputs=1 blocks=1 evict=none",
     "reduce_rows_any"},
    {"max_rows_f32",
     "reduce threads=256 lanes=32 vec=4 start=vector items=4 outputs=1 blocks=1 evict=none",
     "reduce_rows"},
    {"add_const_double3", "map threads=256 items=2 vec=2 evict=loads", "map_flat"},
    {"broadcast", "map threads=256 items=2 vec=4 evict=none", "map_broadcast"},
    {"record12_aos_to_soa", "map threads=256 items=1 vec=4 load=staged team=block evict=stores",
     "map_staged"},
    {"mixed_soa_to_aos", "map threads=128 items=2 vec=1 store=staged team=warp evict=none",
     "map_warps"},
};

static void test_kernels_are_as_reviewed(void **state) {
  (void)state;
  const bool update = getenv("SECTILE_UPDATE_GOLDEN") != NULL;
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    fixture f;
    fixture_open(&f, kernels[k].spec);
    sct_kernel_code code = fixture_make(&f, kernels[k].label);
    char path[512];
    snprintf(path, sizeof path, "%s/golden/%s.cu", SCT_TESTS_DIR, kernels[k].file);
    if (update) {
      MUST(sct_file_write(path, code.source, strlen(code.source), err));
    }
    sct_str want = {0};
    MUST(sct_file_read(&want, path, err));
    if (strcmp(sct_str_c(&want), code.source) != 0) {
      print_error("%s of %s differs from %s; SECTILE_UPDATE_GOLDEN=1 rewrites it\n%s\n",
                  kernels[k].label, kernels[k].spec, path, code.source);
      fail();
    }
    sct_str_free(&want);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_are_as_reviewed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
