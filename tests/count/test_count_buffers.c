/* What the buffers of a manifest hold, and that only those are made that a case uses. */
#include "count/count_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "{\"buffers\": {\"x\": {\"bytes\": 10, \"fill\": \"f32\"}, \"in\": {\"bytes\": 8}},\n"
    "\"cases\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [1],\n"
    "\"args\": [\"b\", \"out+4\", \"ind\", \"perm\", [\"x\"]]}]}";

static sct_count_manifest manifest;
static sct_ptx_memory *memory;
static uint64_t address[16];

static int setup(void **state) {
  (void)state;
  char path[] = "/tmp/sct_count_XXXXXX";
  sct_error err = {0};
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
  close(fd);
  const sct_status status = sct_count_read(&manifest, path, &err);
  unlink(path);
  if (status != SCT_OK || manifest.n_buffers > SCT_COUNT(address)) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(count_memory_new(&memory, address, &manifest, &err), SCT_OK);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  sct_ptx_memory_free(memory);
  sct_count_manifest_free(&manifest);
  return 0;
}

static int buffer(const char *name) {
  for (int k = 0; k < manifest.n_buffers; k++) {
    if (strcmp(manifest.buffers[k].name, name) == 0) {
      return k;
    }
  }
  fail_msg("no buffer '%s'", name);
  return -1;
}

static uint32_t word(const char *name, int64_t i) {
  uint32_t v;
  const int k = buffer(name);
  assert_true(4 * i + 4 <= manifest.buffers[k].bytes);
  memcpy(&v, sct_ptx_memory_data(memory, address[k]) + 4 * i, 4);
  return v;
}

static void given_buffers_hold_what_the_page_says(void **state) {
  (void)state;
  assert_int_equal(manifest.buffers[buffer("b")].bytes, 64 << 20);
  assert_int_equal(manifest.buffers[buffer("out")].bytes, 64 << 20);
  assert_int_equal(manifest.buffers[buffer("ind")].bytes, 40000);
  assert_int_equal(manifest.buffers[buffer("perm")].bytes, 40000);
  for (int64_t i = 0; i < 10000; i++) {
    assert_int_equal(word("ind", i), i);
    assert_int_equal(word("perm", i), (i * 7919 + 13) % 10000);
  }
  assert_int_equal(word("b", 65535), 65535);
  assert_int_equal(word("b", 65536 + 7), 7);
  assert_int_equal(word("b", (16 << 20) - 1), 65535);
  assert_int_equal(word("out", 12345), 0);
}

static void own_buffers_go_before_the_given_ones(void **state) {
  (void)state;
  assert_int_equal(manifest.n_buffers, count_n_given + 2); /* and one that holds the list */
  assert_int_equal(manifest.buffers[buffer("in")].bytes, 8);
  assert_int_equal(manifest.buffers[buffer("x")].bytes, 10); /* two words and a half */
  assert_int_equal(word("x", 0), 0);
  assert_int_equal(word("x", 1), 0x3f800000);
}

static void only_used_buffers_are_made(void **state) {
  (void)state;
  assert_false(manifest.buffers[buffer("in")].used);
  assert_true(address[buffer("in")] == 0);
  assert_true(manifest.buffers[buffer("x")].used); /* by a member of a struct */
  for (int k = 0; k < manifest.n_buffers; k++) {
    assert_int_equal(address[k] % 512, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(given_buffers_hold_what_the_page_says),
      cmocka_unit_test(own_buffers_go_before_the_given_ones),
      cmocka_unit_test(only_used_buffers_are_made),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
