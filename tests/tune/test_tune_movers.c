/* What the movers cost at small sizes without a rest, derived by hand: requests, sectors and shared
 * wavefronts of single candidates. A mover that falls back to narrower accesses, or a shared layout
 * whose banks collide, is right all the same; here it shows. */
#include "codegen/codegen_fixture.h"
#include "model/model.h"

typedef struct cost {
  int64_t requests_ld, sectors_ld, requests_st, sectors_st;
  int64_t wavefronts_ld, wavefronts_st; /* -1: not looked at */
} cost;

static const struct {
  const char *spec, *label;
  int64_t extent[3];
  cost want;
  const char *why;
} cases[] = {
    {"mixed_aos_to_soa",
     "sections t256 i1 wall r1 sblock fnone hnone",
     {256},
     {12, 192, 10, 152, -1, -1},
     "6144 bytes in by 16; 2048 + 1024 + 1024 + 512 + 256 out: 4 + 2 + 2 + 1 + 1 requests"},
    {"mixed_aos_to_soa",
     "sections t256 i1 wnarrow r1 sblock fnone hnone",
     {256},
     {12, 192, 26, 152, -1, -1},
     "three wide fields directly, 8 warps each; the narrow ones in a request each"},
    {"mixed_soa_to_aos",
     "sections t128 i2 wall r1 swarp fnone hnone",
     {256},
     {4 * (1 + 1 + 1 + 1 + 1), 152, 4 * 3, 192, -1, -1},
     "each warp 64 records: 512, 256, 256, 128, 64 bytes in, 1536 out"},
    {"particle_soa_to_aos",
     "sections t128 i1 wall r1 sblock fnone hnone",
     {128},
     {7, 112, 7, 112, 4 * 7 + 28, 28 + 4 * 7},
     "7 fields of 512 bytes: everything whole words; records of 7 words never collide"},
    {"particle_soa_to_aos",
     "async t128 i1 n2 g2 fnone w0 ccg",
     {4 * 264 * 128},
     {1056 * 7, 1056 * 112, 1056 * 7, 1056 * 112, 1056 * 56, 1056 * 28},
     "264 blocks of four tiles; copies that pass no register take no shared store"},
    {"shifted",
     "shift t128 i1 w1 nlane hnone",
     {1024},
     {4 * 2 + 16, 4 * (16 + 1) + 16 * 5, 4 + 16, 128, -1, -1},
     "a tile by words, 512 bytes a request and a word for the last lane; the last tile by floats"},
    {"shifted",
     "shift t128 i1 w1 nload hnone",
     {1024},
     {4 * 2 + 16, 4 * (16 + 17) + 16 * 5, 4 + 16, 128, -1, -1},
     "the second load of each lane reads the first 4 bytes of the next lane's word"},
    {"shifted_u8",
     "shift t128 i1 w2 nlane hnone",
     {2 * 4096},
     {4 * 3 + 128, 4 * (32 + 32 + 1) + 128 * 2, 4 * 2 + 128, 4 * 2 * 32 + 128, -1, -1},
     "32 bytes a lane: each request half of 32 sectors; bytes in the last tile, straddling"},
    {"particle_aos_to_soa",
     "bulk t128 i4 g0 n1 w1 obulk hnone",
     {4 * 512},
     {4, 4 * 448, 4 * 7, 4 * 448, 4 * 112, 4 * 112},
     "a copy of 14336 bytes a tile in, 7 of 2048 out; picking and putting 7 words by 16 warps"},
    {"particle_soa_to_aos",
     "bulk t128 i1 g4 n4 w0 ovector hnone",
     {4 * 528 * 128},
     {2112 * 7, 2112 * 112, 2112 * 7, 2112 * 112, 2112 * (28 + 28), 2112 * 28},
     "528 blocks of four tiles; 7 copies of 512 bytes in, 3584 bytes out by 7 warps in words of "
     "16"},
    {"particle_aos_to_soa",
     "bulk t128 i1 g0 n1 w1 obulk hkeepin",
     {4 * 128},
     {4, 448, 28, 448, -1, -1},
     "a hint to L2 changes no access: 3584 bytes a tile in, 7 of 512 out"},
    {"add_const_double3",
     "flat t128 i1 v2 hkeepout",
     {256},
     {12, 192, 12, 192, -1, -1},
     "nor here: three tiles of 256 scalars, 512 bytes a request"},
    {"record48_aos_to_aos",
     "bulk t128 i2 g4 n2 w0 obulk hnone",
     {3 * 256},
     {3, 3 * 384, 3, 3 * 384, -1, -1},
     "a copy of 12288 bytes either way"},
    {"particle_aos_to_soa",
     "shuffle t128 i1 v4 hnone",
     {512},
     {4 * 7, 448, 28, 448, 0, 0},
     "4 records of 7 words are 7 words of 16 bytes, 512 bytes a request"},
    {"record48_soa_to_aos",
     "shuffle t256 i2 v1 hcs",
     {512},
     {12 * 16, 768, 3 * 16, 768, 0, 0},
     "a float a lane in, 3 words of 16 bytes a record out"},
    {"gather_rows64",
     "gather t256 l4 i2 s1 p16 xone hnone",
     {128, 128},
     {16 + 16, 16 + 256, 16, 256, -1, -1},
     "a request is 8 rows of 64 bytes and before it 8 indexes, a sector"},
    {"gather_rows64",
     "gather t128 l4 i4 s1 p16 xrun hstream",
     {128, 128},
     {4 + 16, 4 * 4 + 256, 16, 256, -1, -1},
     "32 indexes a warp come in one request; each of 8 lanes' rows is 2 sectors"},
    {"scatter_f32x4",
     "windows t256 i1 v1 w2 hnone",
     {512, 512},
     {2 * 16 + 2 * 16, -1, 2 * 16, -1, -1, -1},
     "each window reads all indexes, and loads and stores what falls into it"},
    {"indirect_f32",
     "windows t256 i2 v4 w2 hstream",
     {2048, 2048},
     {16 + 2 * 8 * 8, -1, 16, 256, -1, -1},
     "indexes and results by words, once; the table once a window"},
    {"gather_rows12",
     "gather t256 l3 i1 s1 p4 xone hnone",
     {64, 64},
     {6 + 6, -1, 6, 6 * 4, -1, -1},
     "192 threads: a warp moves 10 2/3 records and stores 128 bytes that follow each other"},
    {"gather_rows256",
     "gather t256 l16 i4 s1 p16 xone hnone",
     {64, 64, 64},
     {32 + 32, 32 + 512, 32, 512, -1, -1},
     "a request is two rows of 256 bytes"},
    {"scatter_rows256",
     "gather t128 l32 i4 s2 p16 xrun hnone",
     {16, 256, 16},
     {4 + 32, 4 + 512, 32, 512, -1, -1},
     "a request is half a row of 1 KB; the 4 indexes of a warp's rows come as one word"},
    {"transpose_f32",
     "tile t256 a64 b64 vi4 vo4 fxor k0 og hnone",
     {704, 192},
     {1056, 16896, 1056, 16896, -1, -1},
     "11 x 3 tiles: a band of 8 and one of 3, each tile once"},
    {"transpose_u8",
     "packed t256 a128 b128 w4 rnone oa hnone",
     {128, 128},
     {32, 512, 32, 512, 128, 128},
     "16384 bytes: 512 a request, 128 a wavefront on both sides"},
    {"transpose_u8",
     "packed t256 a128 b128 w1 rnone oa hnone",
     {128, 128},
     {128, 512, 128, 512, 128, 128},
     "128 bytes a request; banks never collide here either"},
    {"transpose_f16",
     "packed t256 a128 b256 w2 rnone ob hnone",
     {256, 128},
     {2 * 2 * 64, 2048, 2 * 2 * 64, 2048, 4 * 128, 4 * 128},
     "four tiles of 16384 bytes, 256 a request"},
    {"transpose_f32",
     "jagged t256 a512 b256 ob",
     {121, 255},
     {2 * (81 + 80) + 3, 2 * 64 * (2 * 16) + 2 * 2 * (76 + 72) + 3, 255 * 4, 255 * 16, 255 * 4, 3},
     "tiles of rows 0 to 63 and 57 to 120 by 128 and 127 columns, 40 words a row in turn; what "
     "lies "
     "before a row in its line is 76 and 72 sectors of 32 rows; the array ends with 3 elements "
     "behind a whole word; two words of each run from a sector on; banks never collide"},
    {"permute_210_f32",
     "permute t256 i16 p2 q2 vi1 vo1 r64 n8 xshared oa hnone",
     {8, 64, 8},
     {128, 512, 128, 512, 256, 128},
     "one tile of 4096: k and j are a run of 512 in, i and j one out; lanes of odd i meet others"},
    {"permute_210_f32",
     "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone",
     {8, 48, 8},
     {96, 384, 96, 384, -1, 96},
     "j in two chunks of 24, by one block: 1536 elements each"},
    {"permute_102_f32",
     "permute t256 i16 p1 q2 vi4 vo4 r64 n8 xregisters oa hnone",
     {2, 3, 64},
     {3, 48, 3, 48, 0, 0},
     "three tiles of two rows of 256 bytes: a warp's 16-byte words each"},
    {"permute_210_f32",
     "runs s28 p2 q2 vi4 vo4 r64 xshared hnone",
     {8, 64, 8},
     {8 * 4, 512, 8 * 4, 512, 128 * 8, 0},
     "8 rows of 512 elements in, as many out, 512 bytes a request; j is 8 and i 516 elements apart "
     "in the tile, so that 8 lanes meet; copies that pass no register take no shared store"},
    {"permute_102_f32",
     "runs s28 p1 q2 vi1 vo1 r64 xshared hnone",
     {2, 3, 61},
     {2 + 5 * 3, 8 + 3 * 9 + 2 * 8, 4 + 2 * 5, 3 * 16, 14, 0},
     "lanes start at lines: 61 elements are 2 or 3 of them, the two rows of a run out 4 or 5"},
};

static void assert_cost(int k, const char *what, int64_t got, int64_t want) {
  if (want >= 0 && got != want) {
    fail_msg("%s, %s: %lld %s, expected %lld (%s)", cases[k].spec, cases[k].label, (long long)got,
             what, (long long)want, cases[k].why);
  }
}

static void movers_cost_what_they_should(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    fixture f;
    fixture_open(&f, cases[k].spec);
    sct_kernel_code code = fixture_make(&f, cases[k].label);
    int64_t extent[SCT_MAX_EXTENTS] = {cases[k].extent[0], cases[k].extent[1], cases[k].extent[2]};
    sct_fill fill[SCT_MAX_OPERANDS] = {0};
    const sct_size size = {.label = "small", .extent = extent, .fill = fill};
    sct_counters c;
    assert_true(sct_codegen_fits(&f.spec, &code, &size));
    MUST(sct_model_count(&c, &f.spec, &code, &size, INT64_MAX, err));
    const cost *want = &cases[k].want;
    assert_cost(k, "load requests", c.load.requests, want->requests_ld);
    assert_cost(k, "sectors loaded", c.load.sectors, want->sectors_ld);
    assert_cost(k, "store requests", c.store.requests, want->requests_st);
    assert_cost(k, "sectors stored", c.store.sectors, want->sectors_st);
    assert_cost(k, "wavefronts of shared loads", c.wavefronts_ld, want->wavefronts_ld);
    assert_cost(k, "wavefronts of shared stores", c.wavefronts_st, want->wavefronts_st);
    sct_counters_free(&c);
    sct_kernel_code_free(&code);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(movers_cost_what_they_should),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
