/* Host memory of every kind through the driver's door, with a stub driver behind it; what a
 * description states of copies. */
#include "device/stub_driver.h"

#define BYTES 64

static void expect_block(const sct_host_block *b, sct_host_kind kind) {
  assert_true(b->kind == kind && b->bytes == BYTES && b->host != NULL);
  const bool plain = kind == SCT_HOST_PAGEABLE || kind == SCT_HOST_REGISTERED;
  assert_true(plain == (b->host != pinned));
  assert_int_equal(b->alias, kind == SCT_HOST_MAPPED    ? 0x2000
                             : kind == SCT_HOST_MANAGED ? (uintptr_t)pinned
                                                        : 0);
}

/* A block of a kind is opened, copied to the device and back on both streams, and closed. */
static sct_status use_block(sct_cuda *cuda, sct_host_kind kind, sct_error *err) {
  sct_host_block b = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_cuda_block_open(cuda, &b, kind, BYTES, err));
  expect_block(&b, kind);
  for (int k = 0; k < 2 && kind != SCT_HOST_MAPPED; k++) {
    SCT_TRY_DONE(sct_cuda_use_stream(cuda, k, err));
    SCT_TRY_DONE(sct_cuda_block_copy(cuda, &b, true, (uintptr_t)pinned, 16, err));
    assert_true(kind != SCT_HOST_MANAGED || stub.prefetched_to == 41); /* the stub's device */
    SCT_TRY_DONE(sct_cuda_block_copy(cuda, &b, false, (uintptr_t)pinned, 16, err));
    assert_true(kind != SCT_HOST_MANAGED || stub.prefetched_to == -1); /* the host */
    SCT_TRY_DONE(sct_cuda_sync(cuda, err));
  }
done:
  sct_cuda_block_close(cuda, &b);
  assert_null(b.host);
  return status;
}

static void test_every_kind_and_every_failure(void **state) {
  (void)state;
  static const unsigned flags[SCT_N_HOSTS] = {[SCT_HOST_COMBINED] = 4, [SCT_HOST_MAPPED] = 2};
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    sct_status status = SCT_EINTERNAL;
    int at = 1;
    for (; status != SCT_OK && at < 20; at++) {
      sct_cuda *cuda = NULL;
      sct_error err = {0};
      stub = (struct stub){.n_devices = 2};
      assert_int_equal(sct_cuda_open(&cuda, 1, NULL), SCT_OK);
      stub.fail_at = stub.calls + at;
      stub.fail_with = 2; /* out of memory */
      status = use_block(cuda, (sct_host_kind)kind, &err);
      /* where giving back fails, there is nobody to tell */
      const bool gave_back = stub.calls < stub.fail_at;
      assert_true(status == SCT_OK || (status == SCT_ENOMEM && strstr(err.text, " failed: ")));
      assert_int_equal(stub.host_flags, flags[kind]);
      stub.fail_at = 0;
      sct_cuda_close(cuda);
      if (status != SCT_OK || gave_back) {
        assert_nothing_alive();
        assert_int_equal(stub.pinned, 0);
      }
    }
    assert_true(at > 3); /* several calls could fail */
  }
}

static void test_zeroed_blocks_are_closed(void **state) {
  (void)state;
  sct_cuda *cuda = NULL;
  assert_int_equal(sct_cuda_open(&cuda, 0, NULL), SCT_OK);
  for (int kind = 0; kind < SCT_N_HOSTS; kind++) {
    sct_host_block none = {.kind = (sct_host_kind)kind};
    const int calls = stub.calls;
    sct_cuda_block_close(cuda, &none);
    assert_int_equal(stub.calls, calls);
  }
  sct_cuda_close(cuda);
}

static void test_stated_times(void **state) {
  (void)state;
  sct_device_desc d = {.pcie_latency_ns = 1000, .host_copy_bytes_s = 5e9};
  assert_true(sct_stated_transfer_ns(&d, SCT_HOST_LOCKED, SCT_TO_DEVICE, 1000) == 0);
  d.pcie_bytes_s = 10e9;
  assert_true(sct_stated_transfer_ns(&d, SCT_HOST_LOCKED, SCT_TO_DEVICE, 50000) == 6000);
  assert_true(sct_stated_transfer_ns(&d, SCT_HOST_MAPPED, SCT_BOTH_WAYS, 50000) == 6000);
  assert_true(sct_stated_transfer_ns(&d, SCT_HOST_PAGEABLE, SCT_TO_HOST, 50000) == 16000);
  assert_true(sct_stated_transfer_ns(&d, SCT_HOST_PAGEABLE, SCT_BOTH_WAYS, 50000) == 32000);
  assert_string_equal(sct_host_name(SCT_HOST_COMBINED), "write-combined");
  assert_string_equal(sct_way_name(SCT_TO_HOST), "to host");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_every_kind_and_every_failure, set_up),
      cmocka_unit_test_setup(test_zeroed_blocks_are_closed, set_up),
      cmocka_unit_test_setup(test_stated_times, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
