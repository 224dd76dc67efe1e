/* The driver's door with a stub driver behind it: every call, every failure of every call, and
 * nothing left behind. */
#include "device/stub_driver.h"

/* ---- tests ---- */

static void test_no_driver_names_the_file(void **state) {
  (void)state;
  sct_error err;
  sct_cuda *cuda = NULL;
  stub.missing = true;
  assert_int_equal(sct_cuda_count(&err), -1);
  assert_non_null(strstr(err.text, "libcuda.so.1"));
  assert_int_equal(sct_cuda_open(&cuda, 0, &err), SCT_ENODEVICE);
  assert_null(cuda);
}

static void test_every_symbol_is_needed(void **state) {
  (void)state;
  sct_error err;
  static const char *const names[] = {
#define SCT_DRIVER(member, symbol, params) symbol,
#include "device/device_driver.def"
#undef SCT_DRIVER
  };
  for (int k = 0; k < SCT_COUNT(names); k++) {
    stub.missing_symbol = names[k];
    assert_int_equal(sct_cuda_count(&err), -1);
    assert_non_null(strstr(err.text, names[k]));
  }
}

static void test_counting(void **state) {
  (void)state;
  sct_error err;
  assert_int_equal(sct_cuda_count(&err), 2);
  stub = (struct stub){.fail_at = 1, .fail_with = 100};
  assert_int_equal(sct_cuda_count(&err), 0); /* a driver that sees no GPU */
  stub = (struct stub){.fail_at = 1, .fail_with = 803};
  assert_int_equal(sct_cuda_count(&err), -1);
  assert_non_null(strstr(err.text, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"));
  stub = (struct stub){.fail_at = 2, .fail_with = 3};
  assert_int_equal(sct_cuda_count(&err), -1);
}

static void check_description(const sct_device_desc *d) {
  assert_string_equal(d->name, "Stub 41");
  assert_string_equal(d->id, "cuda:1");
  assert_string_equal(d->uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
  assert_int_equal(d->cc_major, 1075); /* 1000 + the attribute's number */
  assert_int_equal(d->n_sms, 1016);
  assert_int_equal(d->smem_block_optin_bytes, 1097);
  assert_int_equal(d->smem_sm_bytes, 1081);
  assert_int_equal(d->smem_reserved_bytes, 1111);
  assert_int_equal(d->regs_sm, 1082);
  assert_int_equal(d->threads_sm, 1039);
  assert_int_equal(d->blocks_sm, 1106);
  assert_int_equal(d->l2_bytes, 1038);
  assert_true(d->peak_bytes_s == 2.0 * 3201e6 * 6144 / 8); /* an H200: 4.92 TB/s */
  assert_int_equal(d->memory_bytes, (int64_t)141 << 30);
  assert_false(d->is_virtual);
}

static void test_describe(void **state) {
  (void)state;
  sct_cuda *cuda = NULL;
  sct_device_desc d;
  stub.nvml = true;
  assert_int_equal(sct_cuda_open(&cuda, 1, NULL), SCT_OK);
  sct_cuda_describe(cuda, &d);
  check_description(&d);
  assert_string_equal(d.driver, "580.159.04");
  sct_cuda_close(cuda);
  assert_nothing_alive();

  stub.nvml = false; /* optional */
  assert_int_equal(sct_cuda_open(&cuda, 1, NULL), SCT_OK);
  sct_cuda_describe(cuda, &d);
  assert_string_equal(d.driver, "CUDA 13.0");
  sct_cuda_close(cuda);

  assert_int_equal(sct_cuda_peek(&d, 1, NULL), SCT_OK); /* without a context */
  check_description(&d);
  assert_nothing_alive();
}

static sct_gpu_state look(void) {
  sct_device_desc d;
  sct_gpu_state s;
  assert_int_equal(sct_cuda_peek_state(&d, &s, 1, NULL), SCT_OK);
  check_description(&d);
  assert_nothing_alive();
  return s;
}

static void test_state(void **state) {
  (void)state;
  memset(&nvml, 0, sizeof nvml);
  sct_gpu_state s = look();
  assert_false(s.known); /* no NVML */
  assert_int_equal(s.compute_mode, -1);
  stub.nvml = true;
  nvml.n_processes = 3; /* the first is this process */
  nvml.reasons = 0x44;
  nvml.ecc_errors = 5;
  s = look();
  assert_true(s.known && s.mig && !s.mig_slice);
  assert_int_equal(s.compute_mode, 3);
  assert_string_equal(sct_compute_mode_name(s.compute_mode), "exclusive_process");
  assert_int_equal(s.n_others, 2);
  assert_int_equal(s.processes[0].pid, 900000001);
  assert_int_equal(s.processes[0].bytes, -1);
  assert_int_equal(s.processes[1].bytes, 2000);
  assert_true(s.sm_mhz == 1980 && s.sm_max_mhz == 1990 && s.memory_mhz == 3201 &&
              s.memory_max_mhz == 3202);
  assert_int_equal(s.throttle, 0x44);
  assert_int_equal(s.ecc_errors, 5);
  assert_int_equal(s.celsius, 41);
  nvml.mps_clients = 2;
  s = look();
  assert_int_equal(s.mps_clients, 2);
  nvml.n_processes = 40;
  s = look();
  assert_int_equal(s.n_processes, 8);
  nvml.result = 3; /* not supported, all of it */
  s = look();
  assert_true(s.known && !s.mig && s.sm_max_mhz == 0);
  assert_int_equal(s.n_others, 0);
  assert_int_equal(s.compute_mode, -1);
  assert_int_equal(s.ecc_errors, -1);
  assert_int_equal(s.celsius, -1);
  memset(&nvml, 0, sizeof nvml);
}

static void test_watching(void **state) {
  (void)state;
  sct_error err;
  sct_cuda *cuda = NULL;
  uint64_t reasons = 7;
  memset(&nvml, 0, sizeof nvml);
  assert_int_equal(sct_cuda_open(&cuda, 1, NULL), SCT_OK);
  assert_int_equal(sct_cuda_check_health(cuda, &reasons, &err), SCT_OK);
  assert_int_equal(reasons, 0); /* no NVML */
  sct_cuda_close(cuda);
  stub.nvml = true;
  nvml.ecc_errors = 5;
  nvml.reasons = 0x4c;
  assert_int_equal(sct_cuda_open(&cuda, 1, NULL), SCT_OK);
  assert_int_equal(sct_cuda_check_health(cuda, &reasons, &err), SCT_OK); /* those errors are old */
  assert_int_equal(reasons, 0x4c);
  nvml.ecc_errors = 6;
  assert_int_equal(sct_cuda_check_health(cuda, &reasons, &err), SCT_EUNHEALTHY);
  assert_non_null(strstr(err.text, "CUDA_ERROR_ECC_UNCORRECTABLE (214)"));
  assert_int_equal(sct_cuda_last(cuda), 214);
  nvml.result = 15;
  assert_int_equal(sct_cuda_check_health(cuda, &reasons, &err), SCT_EUNHEALTHY);
  assert_true(sct_cuda_is_lost(sct_cuda_last(cuda)));
  nvml.result = 3;
  assert_int_equal(sct_cuda_check_health(cuda, &reasons, &err), SCT_OK);
  sct_cuda_close(cuda);
  memset(&nvml, 0, sizeof nvml);
}

static void test_throttle_reasons(void **state) {
  (void)state;
  sct_str text = {0};
  sct_throttle_names(&text, 0x4c, ", ");
  assert_string_equal(sct_str_c(&text), "power_cap, hardware_slowdown, hardware_thermal_slowdown");
  assert_int_equal(sct_throttle_hardware(0x1ff), 0x0e8);
  assert_string_equal(sct_throttle_meaning(0x4), "the power limit");
  assert_string_equal(sct_throttle_meaning(0), "");
  sct_str_free(&text);
}

static void test_wrong_numbers(void **state) {
  (void)state;
  sct_error err;
  sct_cuda *cuda = NULL;
  assert_int_equal(sct_cuda_open(&cuda, 2, &err), SCT_ENODEVICE);
  assert_non_null(strstr(err.text, "cuda:2"));
  assert_non_null(strstr(err.text, "2 GPUs are visible"));
  assert_int_equal(sct_cuda_open(&cuda, -1, &err), SCT_ENODEVICE);
  assert_nothing_alive();
}

/* One of everything. Stops at the first failure; *cuda is closed by the caller. */
static sct_status use_everything(sct_cuda **cuda, sct_error *err) {
  sct_cuda_ptr p = 0;
  sct_cuda_kernel kernel = {0};
  uint8_t bytes[16] = {0};
  long long argument = 77;
  void *args[] = {&argument}, *host = NULL;
  sct_cuda_ptr seen = 0;
  double ns = 0;
  sct_status status = SCT_OK;
  SCT_TRY(sct_cuda_open(cuda, 0, err));
  SCT_TRY_DONE(sct_cuda_alloc(*cuda, &p, 0, err));
  SCT_TRY_DONE(sct_cuda_host_alloc(*cuda, &host, &seen, sizeof pinned, err));
  assert_true(host == pinned && seen == 0x2000 && pinned[7] == 0); /* zeroed */
  assert_int_equal(stub.host_flags, 2);                            /* seen by the device */
  SCT_TRY_DONE(sct_cuda_upload(*cuda, p, bytes, sizeof bytes, err));
  SCT_TRY_DONE(sct_cuda_set(*cuda, p, 0xa5, 16, err));
  sct_cuda_reset_persisting_l2(*cuda);
  SCT_TRY_DONE(sct_cuda_copy(*cuda, p, p, 16, err));
  SCT_TRY_DONE(sct_cuda_download(*cuda, bytes, p, sizeof bytes, err));
  SCT_TRY_DONE(sct_cuda_load(*cuda, &kernel, "image", "kernel", 100000, err));
  SCT_TRY_DONE(sct_cuda_timer_start(*cuda, err));
  SCT_TRY_DONE(sct_cuda_launch(*cuda, &kernel, 2147483647, 256, 100000, args, err));
  SCT_TRY_DONE(sct_cuda_timer_stop(*cuda, &ns, err));
  SCT_TRY_DONE(sct_cuda_sync(*cuda, err));
  assert_true(ns == 250000);
  assert_int_equal(bytes[15], 7);
done:
  sct_cuda_unload(*cuda, &kernel);
  sct_cuda_release(*cuda, p);
  sct_cuda_host_free(*cuda, host);
  return status;
}

static void test_calls_reach_the_driver(void **state) {
  (void)state;
  sct_cuda *cuda = NULL;
  sct_error err;
  assert_int_equal(use_everything(&cuda, &err), SCT_OK);
  assert_int_equal(stub.grid, 2147483647);
  assert_int_equal(stub.block, 256);
  assert_int_equal(stub.shared, 100000);
  assert_int_equal(stub.shared_bytes, 100000); /* more than 48 KiB must be asked for */
  assert_int_equal(stub.arg, 77);
  assert_int_equal(stub.set_byte, 0xa5);
  assert_int_equal(stub.forgets, 1);
  const int calls = stub.calls;
  assert_int_equal(sct_cuda_copy(cuda, 1, 2, 0, &err), SCT_OK);
  assert_int_equal(stub.calls, calls); /* nothing to do: nothing asked */
  sct_cuda_close(cuda);
  assert_nothing_alive();
}

/* Fails the 1st, 2nd, ... call in turn: the failure is told, named and leaves nothing behind. */
static void test_every_call_may_fail(void **state) {
  (void)state;
  int n_failures = 0;
  for (int at = 1; at < 1000; at++) {
    sct_cuda *cuda = NULL;
    sct_error err = {0};
    stub = (struct stub){.n_devices = 2, .fail_at = at, .fail_with = 700};
    const sct_status status = use_everything(&cuda, &err);
    if (stub.calls < at) { /* past the last call */
      assert_int_equal(status, SCT_OK);
      sct_cuda_close(cuda);
      break;
    }
    if (status != SCT_OK) {
      n_failures++;
      assert_non_null(strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
      assert_non_null(strstr(err.text, "cu"));
      if (cuda) {
        assert_int_equal(sct_cuda_last(cuda), 700);
        assert_int_equal(sct_cuda_last(cuda), 0); /* asked once */
      }
    }
    stub.fail_at = 0;
    if (cuda) {
      sct_cuda_close(cuda);
    }
    /* what could not be given back because that very call failed is counted alive: one at most */
    const int alive[] = {stub.contexts, stub.streams,     stub.events,
                         stub.modules,  stub.allocations, stub.pinned};
    int total = 0;
    for (int k = 0; k < SCT_COUNT(alive); k++) {
      assert_true(alive[k] >= 0);
      total += alive[k];
    }
    assert_true(total <= (status == SCT_OK ? 1 : 0));
  }
  assert_true(n_failures > 20);
}

static void test_results_become_statuses(void **state) {
  (void)state;
  static const struct {
    int result;
    sct_status status;
  } cases[] = {{2, SCT_ENOMEM},       {46, SCT_EBUSY},       {101, SCT_ENODEVICE},
               {214, SCT_EUNHEALTHY}, {700, SCT_EUNHEALTHY}, {1, SCT_EINTERNAL}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_cuda *cuda = NULL;
    stub =
        (struct stub){.n_devices = 1, .fail_at = 4, .fail_with = cases[k].result}; /* the context */
    assert_int_equal(sct_cuda_open(&cuda, 0, NULL), cases[k].status);
    assert_nothing_alive();
  }
}

static void test_impossible_launches_are_refused_here(void **state) {
  (void)state;
  sct_cuda *cuda = NULL;
  sct_cuda_kernel kernel = {0};
  sct_error err;
  void *args[1] = {&kernel};
  assert_int_equal(sct_cuda_open(&cuda, 0, NULL), SCT_OK);
  assert_int_equal(sct_cuda_load(cuda, &kernel, "image", "other", 0, &err), SCT_EINTERNAL);
  assert_non_null(strstr(err.text, "no function of this name"));
  assert_int_equal(stub.modules, 0);
  assert_int_equal(sct_cuda_load(cuda, &kernel, "image", "kernel", 0, &err), SCT_OK);
  static const int64_t blocks[] = {0, -1, (int64_t)INT32_MAX + 1};
  for (int k = 0; k < SCT_COUNT(blocks); k++) {
    const int calls = stub.calls;
    assert_int_equal(sct_cuda_launch(cuda, &kernel, blocks[k], 32, 0, args, &err), SCT_EINTERNAL);
    assert_int_equal(stub.calls, calls);
    assert_int_equal(sct_cuda_last(cuda), 1);
  }
  sct_cuda_unload(cuda, &kernel);
  sct_cuda_close(cuda);
  assert_nothing_alive();
}

/* The real door, on whatever machine this is: an answer or a reason, never a crash. */
static void test_the_real_door(void **state) {
  (void)state;
  sct_error err = {0};
  sct_device_set_door(NULL);
  assert_null(sct_device_library("libno-such-library.so.1"));
  const int n = sct_cuda_count(&err);
  assert_true(n >= 0 || strlen(err.text) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_no_driver_names_the_file, set_up),
      cmocka_unit_test_setup(test_every_symbol_is_needed, set_up),
      cmocka_unit_test_setup(test_counting, set_up),
      cmocka_unit_test_setup(test_describe, set_up),
      cmocka_unit_test_setup(test_state, set_up),
      cmocka_unit_test_setup(test_watching, set_up),
      cmocka_unit_test_setup(test_throttle_reasons, set_up),
      cmocka_unit_test_setup(test_wrong_numbers, set_up),
      cmocka_unit_test_setup(test_calls_reach_the_driver, set_up),
      cmocka_unit_test_setup(test_every_call_may_fail, set_up),
      cmocka_unit_test_setup(test_results_become_statuses, set_up),
      cmocka_unit_test_setup(test_impossible_launches_are_refused_here, set_up),
      cmocka_unit_test_setup(test_the_real_door, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
