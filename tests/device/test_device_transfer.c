/* Host memory of every kind, and a second device's, through the driver's door, with a stub driver
 * behind it; what a description states of copies. */
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
  for (int kind = 0; kind < SCT_HOST_PEER; kind++) {
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
  for (int kind = 0; kind < SCT_HOST_PEER; kind++) {
    sct_host_block none = {.kind = (sct_host_kind)kind};
    const int calls = stub.calls;
    sct_cuda_block_close(cuda, &none);
    assert_int_equal(stub.calls, calls);
  }
  sct_cuda_close(cuda);
}

/* ---- a second device ---- */

/* Memory of a kind of device 1, copied to device 0 and back, and closed. */
static sct_status use_peer(sct_cuda *cuda, sct_cuda *peer, sct_host_kind kind, sct_error *err) {
  sct_host_block b = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_cuda_peer_open(cuda, peer, &b, kind, BYTES, err));
  assert_true(b.kind == kind && b.bytes == BYTES && b.host == NULL && b.alias == 0x1000);
  assert_true(stub.allocated_in == 1 && stub.current == 0);
  assert_true(stub.reaches[0] == (kind == SCT_HOST_PEER) && stub.reaches[1] == stub.reaches[0]);
  SCT_TRY_DONE(sct_cuda_peer_copy(peer, b.alias, cuda, 0x3000, 16, err));
  assert_true(stub.copied_from == 1 && stub.copied_to == 0);
  SCT_TRY_DONE(sct_cuda_peer_copy(cuda, 0x3000, peer, b.alias, 16, err));
  assert_true(stub.copied_from == 0 && stub.copied_to == 1);
done:
  sct_cuda_peer_close(cuda, peer, &b);
  assert_true(b.alias == 0);
  /* where a call that gives back fails, there is nobody to tell */
  assert_true(status != SCT_OK || (stub.fail_at > 0 && stub.calls >= stub.fail_at) ||
              (stub.freed_in == 1 && stub.current == 0));
  return status;
}

static void open_two(sct_cuda **cuda, sct_cuda **peer) {
  assert_int_equal(sct_cuda_open(cuda, 0, NULL), SCT_OK);
  assert_int_equal(sct_cuda_open(peer, 1, NULL), SCT_OK);
  assert_int_equal(sct_cuda_make_current(*cuda, NULL), SCT_OK);
}

/* With and without peer access in turn, so that it is switched on and off; each call fails once. */
static void test_a_peer_and_every_failure(void **state) {
  (void)state;
  static const sct_host_kind kinds[] = {SCT_HOST_STAGED, SCT_HOST_PEER, SCT_HOST_STAGED};
  int failed = 0;
  for (int at = 1; at <= 40; at++) {
    sct_cuda *cuda = NULL, *peer = NULL;
    stub = (struct stub){.n_devices = 2};
    open_two(&cuda, &peer);
    stub.fail_at = stub.calls + at;
    stub.fail_with = 201;
    for (int k = 0; k < SCT_COUNT(kinds); k++) {
      sct_error err = {0};
      const bool before = stub.calls < stub.fail_at;
      if (use_peer(cuda, peer, kinds[k], &err) != SCT_OK) {
        assert_true(before && strstr(err.text, " failed: CUDA_ERROR_INVALID_CONTEXT (201)"));
        assert_int_equal(sct_cuda_last(cuda) + sct_cuda_last(peer), 201);
        failed++;
      }
    }
    stub.fail_at = 0;
    assert_int_equal(sct_cuda_make_current(cuda, NULL), SCT_OK);
    assert_int_equal(use_peer(cuda, peer, SCT_HOST_PEER, NULL), SCT_OK); /* as if nothing was */
    sct_cuda_close(peer);
    sct_cuda_close(cuda);
    assert_int_equal(stub.contexts, 0);
  }
  assert_in_range(failed, 15, 30); /* calls of three rounds, those that give back not among them */
}

static void test_who_cannot_reach_is_said(void **state) {
  (void)state;
  for (int who = 0; who < 2; who++) {
    sct_cuda *cuda = NULL, *peer = NULL;
    sct_error err = {0};
    stub = (struct stub){.n_devices = 2};
    stub.cannot_reach[who] = true;
    open_two(&cuda, &peer);
    assert_int_equal(use_peer(cuda, peer, SCT_HOST_PEER, &err), SCT_EUSAGE);
    assert_string_equal(err.text, who == 0 ? "cuda:0 cannot access the memory of cuda:1"
                                           : "cuda:1 cannot access the memory of cuda:0");
    assert_int_equal(sct_cuda_last(who == 0 ? cuda : peer), 217);
    assert_true(!stub.reaches[0] && !stub.reaches[1]);
    assert_int_equal(use_peer(cuda, peer, SCT_HOST_STAGED, NULL), SCT_OK);
    sct_cuda_close(peer);
    sct_cuda_close(cuda);
    assert_nothing_alive();
  }
}

/* ---- what is stated ---- */

static double stated(const sct_device_desc *d, sct_host_kind kind, sct_way way, int64_t bytes) {
  return sct_stated_transfer_ns(d, NULL, kind, way, bytes);
}

static void test_stated_times(void **state) {
  (void)state;
  sct_device_desc d = {.pcie_latency_ns = 1000, .host_copy_bytes_s = 5e9};
  assert_true(stated(&d, SCT_HOST_LOCKED, SCT_TO_DEVICE, 1000) == 0);
  d.pcie_bytes_s = 10e9;
  assert_true(stated(&d, SCT_HOST_LOCKED, SCT_TO_DEVICE, 50000) == 6000);
  assert_true(stated(&d, SCT_HOST_MAPPED, SCT_BOTH_WAYS, 50000) == 6000);
  assert_true(stated(&d, SCT_HOST_PAGEABLE, SCT_TO_HOST, 50000) == 16000);
  assert_true(stated(&d, SCT_HOST_PAGEABLE, SCT_BOTH_WAYS, 50000) == 32000);
  assert_string_equal(sct_host_name(SCT_HOST_COMBINED), "write-combined");
  assert_string_equal(sct_way_name(SCT_HOST_COMBINED, SCT_TO_HOST), "to host");
  assert_string_equal(sct_way_name(SCT_HOST_STAGED, SCT_TO_HOST), "to peer");
}

/* Links of their own join devices of one model; all others meet at the slower link to the host. */
static void test_stated_times_of_a_peer(void **state) {
  (void)state;
  const sct_device_desc d = {
      .name = "One", .pcie_latency_ns = 1000, .pcie_bytes_s = 10e9, .peer_bytes_s = 100e9};
  sct_device_desc peer = d;
  const sct_way way = SCT_BOTH_WAYS;
  assert_true(sct_stated_transfer_ns(&d, &peer, SCT_HOST_PEER, way, 50000) == 1500);
  assert_true(sct_stated_transfer_ns(&d, &peer, SCT_HOST_STAGED, way, 50000) == 6000);
  snprintf(peer.name, sizeof peer.name, "Two");
  peer.pcie_bytes_s = 5e9;
  assert_true(sct_stated_transfer_ns(&d, &peer, SCT_HOST_PEER, way, 50000) == 11000);
  peer.pcie_bytes_s = 0;
  assert_true(sct_stated_transfer_ns(&d, &peer, SCT_HOST_PEER, way, 50000) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_every_kind_and_every_failure, set_up),
      cmocka_unit_test_setup(test_zeroed_blocks_are_closed, set_up),
      cmocka_unit_test_setup(test_a_peer_and_every_failure, set_up),
      cmocka_unit_test_setup(test_who_cannot_reach_is_said, set_up),
      cmocka_unit_test_setup(test_stated_times, set_up),
      cmocka_unit_test_setup(test_stated_times_of_a_peer, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
