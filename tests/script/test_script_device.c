/* Device descriptions: the figures that the counting and occupancy rules rest on. */
#include "script_test.h"

static sct_device_desc desc;

static void load_device(const char *name) {
  if (sct_script_load_device(&desc, name, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static void test_h200(void **state) {
  (void)state;
  load_device("h200");
  assert_string_equal(desc.name, "NVIDIA H200");
  assert_string_equal(desc.id, "virtual:h200");
  assert_string_equal(desc.uuid, "");
  assert_true(desc.is_virtual);
  assert_int_equal(desc.cc_major * 10 + desc.cc_minor, 90);
  assert_int_equal(desc.n_sms, 132);
  assert_int_equal(desc.smem_sm_bytes, 228 << 10);
  assert_int_equal(desc.smem_block_bytes, 48 << 10);
  assert_int_equal(desc.smem_block_optin_bytes, 227 << 10);
  assert_int_equal(desc.smem_reserved_bytes, 1 << 10);
  assert_int_equal(desc.regs_sm, 65536);
  assert_int_equal(desc.regs_thread, 255);
  assert_int_equal(desc.regs_unit, 256);
  assert_int_equal(desc.threads_sm, 2048);
  assert_int_equal(desc.threads_block, 1024);
  assert_int_equal(desc.blocks_sm, 32);
  assert_int_equal(desc.l2_bytes, (int64_t)60 << 20);
  assert_true(desc.peak_bytes_s == 4.8e12);
  assert_true(desc.copy_bytes_s == 4.289e12);
  assert_int_equal(desc.l2_bytes_clk, 4224);
  const int pipes[SCT_N_PIPES] = {128, 64, 16, 64, 64, 128};
  assert_memory_equal(desc.pipe_clk, pipes, sizeof pipes);
  assert_int_equal(desc.latency_cycles, 479);
  assert_true(desc.launch_ns == 3100);
  assert_true(desc.pcie_bytes_s == 3.938 * 16 * 0.87 * 1e9 && desc.pcie_latency_ns == 10000 &&
              desc.host_copy_bytes_s == 13e9 && desc.peer_bytes_s == 25 * 18 * 0.87 * 1e9);
  assert_true(desc.atomic_sector_ns == 0.011 && desc.atomic_line_ns == 0.01 &&
              desc.atomic_lane_ns == 0.73);
  assert_int_equal(desc.inflight_bytes, 48 << 10);
  assert_int_equal(desc.memory_bytes, 141000000000);
  assert_int_equal(desc.clock_khz, 1980000);
}

/* Bounds of what was ever sold; a digit too many or too few leaves them. */
static void check_plausible(const sct_device_desc *d) {
  assert_true(d->smem_unit >= 128 && d->warp_unit >= 2);
  assert_int_equal(d->counting_only, d->cc_major < 7);
  assert_in_range(d->n_sms, 6, 200);
  assert_in_range(d->clock_khz, 900000, 2700000);
  /* hosts of modules with NVLink-C2C; modules that share the host's memory have no link */
  assert_true(d->pcie_bytes_s == 0 || (d->pcie_bytes_s > 3e9 && d->pcie_bytes_s < 450e9));
  assert_true(d->peer_bytes_s == 0 || (d->peer_bytes_s > 20e9 && d->peer_bytes_s < 1000e9));
  if (d->counting_only) {
    return;
  }
  assert_string_equal(d->coalescing, "cc70");
  assert_true(d->warp_unit == 4 && !d->regs_by_block);
  assert_true(d->smem_block_optin_bytes + d->smem_reserved_bytes == d->smem_sm_bytes);
  assert_true((d->cc_major >= 8) == (d->smem_reserved_bytes > 0));
  assert_true(d->threads_sm % 512 == 0 && d->threads_sm >= d->threads_block);
  assert_true(d->peak_bytes_s > 5e10 && d->peak_bytes_s < 1e13);
  assert_true(d->copy_bytes_s < d->peak_bytes_s);
  /* L2 moves more than the memory, and a load takes longer than the 200 cycles of L2 */
  assert_true((double)d->l2_bytes_clk * d->clock_khz * 1e3 > 1.1 * d->peak_bytes_s);
  assert_in_range(d->latency_cycles, 300, 1000);
  assert_true(d->pipe_clk[SCT_PIPE_ISSUE] == 128 && d->launch_ns > 1e3 && d->launch_ns < 1e4);
  assert_true(d->atomic_sector_ns > 0 && d->atomic_sector_ns < 0.1 && d->atomic_line_ns > 0 &&
              d->atomic_lane_ns > 0);
  assert_true(d->memory_bytes >= 4000000000 && d->memory_bytes < 400000000000);
  assert_true(d->l2_bytes >= 512 << 10 && d->l2_bytes <= 128 << 20);
  /* Little's law: what an SM must have in flight grows with what it moves */
  assert_true((double)d->inflight_bytes > 0.5 * d->peak_bytes_s / d->n_sms * 1e-6);
}

static void test_every_device_is_plausible(void **state) {
  (void)state;
  sct_arena arena = {0};
  sct_device_desc *devices = NULL;
  int n = 0;
  if (sct_script_load_devices(&devices, &n, &arena, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  for (int k = 0; k < n; k++) {
    print_message("%s\n", devices[k].id);
    check_plausible(&devices[k]);
  }
  sct_arena_free(&arena);
}

/* At least so many chips of each compute capability; of one capability no two are the same. */
static void test_every_generation_is_described(void **state) {
  (void)state;
  static const struct {
    int cc, chips;
  } wanted[] = {{70, 4}, {72, 2},  {75, 12}, {80, 3},  {86, 12}, {87, 3}, {89, 10},
                {90, 5}, {100, 2}, {103, 1}, {110, 1}, {120, 6}, {121, 1}};
  sct_arena arena = {0};
  sct_device_desc *devices = NULL;
  int n = 0;
  assert_int_equal(sct_script_load_devices(&devices, &n, &arena, &err), SCT_OK);
  for (int w = 0; w < SCT_COUNT(wanted); w++) {
    int chips = 0;
    for (int k = 0; k < n; k++) {
      chips += 10 * devices[k].cc_major + devices[k].cc_minor == wanted[w].cc;
    }
    if (chips < wanted[w].chips) {
      fail_msg("CC %d: %d described", wanted[w].cc, chips);
    }
  }
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < a; b++) {
      const sct_device_desc *x = &devices[a], *y = &devices[b];
      if (strcmp(x->name, y->name) == 0 && x->n_sms == y->n_sms &&
          x->memory_bytes == y->memory_bytes) {
        fail_msg("%s is %s", x->id, y->id);
      }
    }
  }
  sct_arena_free(&arena);
}

/* CUDA C Programming Guide 4.2, table F-2, and the data sheets. */
static void test_devices_for_counting(void **state) {
  (void)state;
  static const struct {
    const char *name, *coalescing;
    int cc, sms, regs_sm, regs_thread, regs_unit, warp_unit, threads_sm, threads_block, blocks_sm;
    int64_t smem_sm_kib, smem_block_kib, smem_unit, l2_kib, memory_mb;
    bool by_block;
  } known[] = {
      {"geforce_8800", "cc10", 10, 16, 8192, 124, 256, 2, 768, 512, 8, 16, 16, 512, 0, 768, true},
      {"gtx280", "cc12", 13, 30, 16384, 124, 512, 2, 1024, 512, 8, 16, 16, 512, 0, 1000, true},
      {"c2050", "cc20", 20, 14, 32768, 63, 64, 2, 1536, 1024, 8, 48, 48, 128, 768, 3000, false},
      {"gtx1070", "cc60", 61, 15, 65536, 255, 256, 4, 2048, 1024, 32, 96, 48, 256, 2048, 8000,
       false},
  };
  for (int k = 0; k < SCT_COUNT(known); k++) {
    load_device(known[k].name);
    assert_true(desc.counting_only && desc.is_virtual);
    assert_string_equal(desc.coalescing, known[k].coalescing);
    assert_int_equal(desc.cc_major * 10 + desc.cc_minor, known[k].cc);
    assert_int_equal(desc.n_sms, known[k].sms);
    assert_int_equal(desc.regs_sm, known[k].regs_sm);
    assert_int_equal(desc.regs_thread, known[k].regs_thread);
    assert_int_equal(desc.regs_unit, known[k].regs_unit);
    assert_int_equal(desc.regs_by_block, known[k].by_block);
    assert_int_equal(desc.warp_unit, known[k].warp_unit);
    assert_int_equal(desc.threads_sm, known[k].threads_sm);
    assert_int_equal(desc.threads_block, known[k].threads_block);
    assert_int_equal(desc.blocks_sm, known[k].blocks_sm);
    assert_int_equal(desc.smem_sm_bytes, known[k].smem_sm_kib << 10);
    assert_int_equal(desc.smem_block_bytes, known[k].smem_block_kib << 10);
    assert_int_equal(desc.smem_block_optin_bytes, known[k].smem_block_kib << 10);
    assert_int_equal(desc.smem_reserved_bytes, 0);
    assert_int_equal(desc.smem_unit, known[k].smem_unit);
    assert_int_equal(desc.l2_bytes, known[k].l2_kib << 10);
    assert_int_equal(desc.memory_bytes, known[k].memory_mb * 1000000);
    assert_int_equal(desc.inflight_bytes, 0); /* unknown, as is all that predicts times */
    assert_true(desc.l2_bytes_clk == 0 && desc.pipe_clk[SCT_PIPE_ISSUE] == 0 &&
                desc.latency_cycles == 0);
  }
}

static void test_unknown_devices(void **state) {
  (void)state;
  assert_int_equal(sct_script_load_device(&desc, "h2000", &err), SCT_ENODEVICE);
  assert_string_equal(err.text,
                      "there is no description of a device 'h2000'; did you mean 'h200'?");
  assert_int_equal(sct_script_load_device(&desc, "../kernels/shifted", &err), SCT_ENODEVICE);
  assert_int_equal(sct_script_load_device(&desc, "", &err), SCT_ENODEVICE);
  assert_int_equal(sct_script_load_device(&desc, "a_name_far_too_long", &err), SCT_ENODEVICE);
  assert_int_equal(desc.n_sms, 0);
}

/* A folder put over the embedded assets may hold a wrong description. */
static void test_wrong_descriptions(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *says;
  } cases[] = {
      {"return 3", 1, "a device file returns a table"},
      {"return { name = 'x',\n sm = 4 }", 2, "device file has no option 'sm'; did you mean 'sms'?"},
      {"return { name = 'x' }", 1, "device file needs 'cc'"},
      {"return { name = 'x',\n cc = '9.9', sms = 1, clock_mhz = 1, l2_mib = 1, memory_gb = 1, "
       "peak_gb_s = 1 }",
       2, "unknown compute capability '9.9'"},
      {"return { name = 'x', cc = '9.0', sms = 1, clock_mhz = 1, l2_mib = 1, memory_gb = 1,\n"
       "peak_gb_s = 300, bus_bits = 192, pin_gbit_s = 14 }",
       2, "192 bits at 14 Gbit/s are 336 GB/s, not 300"},
      {"return { name = 'x', cc = '9.0',\n sms = 0, clock_mhz = 1, l2_mib = 1, memory_gb = 1, "
       "peak_gb_s = 1 }",
       2, "sms must be more than 0"},
      {"return { name = 'x', cc = '9.0', clock_mhz = 1,\n sms = 1.5, l2_mib = 1, memory_gb = 1, "
       "peak_gb_s = 1 }",
       2, "sms must be an integer, not a number"},
      {"return { name = 'x', cc = '2.0', sms = 1, clock_mhz = 1,\n l2_mib = 0, memory_gb = 1, "
       "peak_gb_s = 1 }",
       2, "l2_mib must be more than 0"},
      {"return { name = 'x', cc = '1.0', sms = 1, clock_mhz = 1,\n l2_mib = -1, memory_gb = 1, "
       "peak_gb_s = 1 }",
       2, "l2_mib must be more than 0"},
#define DEVICE                                                                                     \
  "return { name = 'x', cc = '9.0', sms = 1, clock_mhz = 1, l2_mib = 1, "                          \
  "memory_gb = 1, peak_gb_s = 1,\n "
#define PCIE   DEVICE "pcie = "
#define NVLINK DEVICE "nvlink = "
      {PCIE "5 }", 2, "pcie must be a table, not an integer"},
      {PCIE "{ generation = 5 } }", 1, "pcie needs 'lanes'"},
      {PCIE "{ generation = 7, lanes = 16 } }", 2, "generation must be 1 to 6, not 7"},
      {PCIE "{ generation = 0, lanes = 16 } }", 2, "generation must be 1 to 6, not 0"},
      {PCIE "{ generation = 3, lanes = 17 } }", 2, "lanes must be 1 to 16, not 17"},
      {PCIE "{ generation = 3, lanes = 8, gb_s = 0 } }", 2, "gb_s must be more than 0"},
      {PCIE "{ generation = 3, lanes = 8, gb_s = 0/0 } }", 2, "gb_s must be more than 0"},
      {PCIE "{ generation = 3, lanes = 8, latency_us = 1/0 } }", 2, "latency_us must be more"},
      {PCIE "{ generation = 3, lanes = 8, rate = 1 } }", 2, "pcie has no option 'rate'"},
      {DEVICE "held = { error = -1, against = 'a' } }", 2, "error must be 0 or more"},
      {DEVICE "held = { error = 0.1 } }", 1, "held needs 'against'"},
      {NVLINK "true }", 2, "nvlink must be a table, not a boolean"},
      {NVLINK "{ generation = 4 } }", 1, "nvlink needs 'links'"},
      {NVLINK "{ generation = 6, links = 18 } }", 2, "generation must be 1 to 5, not 6"},
      {NVLINK "{ generation = 4, links = 0 } }", 2, "links must be 1 to 36, not 0"},
      {NVLINK "{ generation = 4, links = 2, gb_s = -1 } }", 2, "gb_s must be more than 0"},
      {NVLINK "{ generation = 4, links = 2, lanes = 1 } }", 2, "nvlink has no option 'lanes'"},
#undef NVLINK
#undef PCIE
#undef DEVICE
      {"while true do end", 1, "ran too long"},
  };
  assert_int_equal(mkdir(path_of("tuning"), 0700), 0);
  assert_int_equal(mkdir(path_of("tuning/devices"), 0700), 0);
  sct_assets_override(folder);
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    write_file("tuning/devices/wrong.lua", cases[k].text);
    assert_int_equal(sct_script_load_device(&desc, "wrong", &err), SCT_ESPEC);
    char place[64];
    snprintf(place, sizeof place, "tuning/devices/wrong.lua:%d: error: ", cases[k].line);
    if (!sct_has_prefix(err.text, place) || !strstr(err.text, cases[k].says)) {
      fail_msg("expected %s%s, got %s", place, cases[k].says, err.text);
    }
  }
  sct_assets_override(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_h200),
      cmocka_unit_test(test_every_device_is_plausible),
      cmocka_unit_test(test_every_generation_is_described),
      cmocka_unit_test(test_devices_for_counting),
      cmocka_unit_test(test_unknown_devices),
      cmocka_unit_test(test_wrong_descriptions),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
