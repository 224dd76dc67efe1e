/* Messages: what goes in comes out, and nothing blocks, crashes or passes half. */
#include "process/process_internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define SECOND_NS ((int64_t)1000000000)

static void test_body_round_trip(void **state) {
  (void)state;
  const double real = 0x1.8p-1000;
  sct_wire w = {0};
  sct_wire_put_i64(&w, INT64_MIN);
  sct_wire_put_raw(&w, &real, sizeof real);
  sct_wire_put_bytes(&w, "a\0b", 3);
  sct_wire_put_bytes(&w, NULL, 0);
  sct_wire_put_text(&w, "text");
  assert_int_equal(sct_wire_get_i64(&w), INT64_MIN);
  assert_memory_equal(sct_wire_get_raw(&w, sizeof real), &real, sizeof real);
  size_t n = 99;
  assert_memory_equal(sct_wire_get_bytes(&w, &n), "a\0b", 3);
  assert_int_equal(n, 3);
  assert_non_null(sct_wire_get_bytes(&w, &n));
  assert_int_equal(n, 0);
  assert_string_equal(sct_wire_get_text(&w), "text");
  assert_false(w.failed);
  assert_int_equal(w.data[w.len], 0); /* PTX that comes last is a C string */
  assert_int_equal(sct_wire_get_i64(&w), 0);
  assert_true(w.failed);
  sct_wire_free(&w);
}

static void test_lying_lengths_are_refused(void **state) {
  (void)state;
  sct_wire w = {0};
  size_t n = 7;
  sct_wire_put_i64(&w, -4); /* a length that would wrap around */
  sct_wire_put_i64(&w, 1);
  assert_non_null(sct_wire_get_bytes(&w, &n));
  assert_int_equal(n, 0);
  assert_true(w.failed);
  sct_wire_clear(&w);
  sct_wire_put_bytes(&w, "no end", 6);
  assert_string_equal(sct_wire_get_text(&w), "");
  assert_true(w.failed);
  sct_wire_free(&w);
}

static void *echo(void *arg) {
  const int fd = *(int *)arg;
  sct_wire w = {0};
  uint32_t code = 0;
  while (sct_wire_recv(fd, &code, &w, SCT_NO_DEADLINE) == SCT_IO_OK) {
    assert_int_equal(sct_wire_send(fd, code + 1, &w, SCT_NO_DEADLINE), SCT_IO_OK);
  }
  sct_wire_free(&w);
  return NULL;
}

static void test_large_messages_pass_both_ways(void **state) {
  (void)state;
  int fds[2];
  pthread_t thread;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_int_equal(pthread_create(&thread, NULL, echo, &fds[1]), 0);
  const size_t n = 5000000; /* many times a socket's buffer */
  uint8_t *bytes = sct_alloc(n);
  for (size_t k = 0; k < n; k++) {
    bytes[k] = (uint8_t)(k * 31 >> 3);
  }
  sct_wire out = {0}, in = {0};
  sct_wire_put_bytes(&out, bytes, n);
  const int64_t deadline = sct_now_ns() + 60 * SECOND_NS;
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t code = 0;
    size_t got = 0;
    assert_int_equal(sct_wire_send(fds[0], k, &out, deadline), SCT_IO_OK);
    assert_int_equal(sct_wire_recv(fds[0], &code, &in, deadline), SCT_IO_OK);
    assert_int_equal(code, k + 1);
    const uint8_t *back = sct_wire_get_bytes(&in, &got);
    assert_int_equal(got, n);
    assert_memory_equal(back, bytes, n);
  }
  close(fds[0]);
  pthread_join(thread, NULL);
  close(fds[1]);
  sct_wire_free(&out);
  sct_wire_free(&in);
  sct_free(bytes);
}

/* A message that ends in the middle is none. */
static void test_a_message_that_breaks_off(void **state) {
  (void)state;
  static const struct {
    uint32_t code, magic;
    uint64_t len;
  } head = {1, 0, 8};
  int fds[2];
  uint32_t code = 0;
  sct_wire body = {0};
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_int_equal(send(fds[1], &head, sizeof head, 0), sizeof head);
  assert_int_equal(send(fds[1], "half", 4, 0), 4);
  close(fds[1]);
  assert_int_equal(sct_wire_recv(fds[0], &code, &body, SCT_NO_DEADLINE), SCT_IO_CLOSED);
  close(fds[0]);
  sct_wire_free(&body);
}

static void test_silence_is_a_timeout(void **state) {
  (void)state;
  int fds[2];
  sct_wire w = {0};
  uint32_t code = 0;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  const int64_t start = sct_now_ns();
  assert_int_equal(sct_wire_recv(fds[0], &code, &w, start + 20000000), SCT_IO_TIMEOUT);
  assert_true(sct_now_ns() >= start + 20000000);
  assert_int_equal(send(fds[1], "half a head", 11, 0), 11);
  assert_int_equal(sct_wire_recv(fds[0], &code, &w, sct_now_ns() + 5000000), SCT_IO_TIMEOUT);
  for (int k = 0; k < 300000; k++) { /* more than the other side's buffer takes */
    sct_wire_put_i64(&w, 1);
  }
  assert_int_equal(sct_wire_send(fds[0], 1, &w, sct_now_ns() + 20000000), SCT_IO_TIMEOUT);
  close(fds[0]);
  close(fds[1]);
  sct_wire_free(&w);
}

static void test_a_closed_end_is_told_without_a_signal(void **state) {
  (void)state;
  int fds[2];
  sct_wire w = {0};
  uint32_t code = 0;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  close(fds[1]);
  sct_wire_put_i64(&w, 1);
  assert_int_equal(sct_wire_send(fds[0], 1, &w, SCT_NO_DEADLINE), SCT_IO_CLOSED); /* no SIGPIPE */
  assert_int_equal(sct_wire_recv(fds[0], &code, &w, SCT_NO_DEADLINE), SCT_IO_CLOSED);
  close(fds[0]);
  sct_wire_free(&w);
}

/* Nobody takes more than SCT_WIRE_MAX_BYTES, so the sender says so and sends nothing. */
static void test_what_is_too_large_is_not_sent(void **state) {
  (void)state;
  int fds[2];
  sct_wire body = {0}, in = {0};
  uint32_t code = 0;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  sct_wire_put_bytes(&body, fds, SCT_WIRE_MAX_BYTES - 7); /* never read; behind 8 bytes of length */
  assert_int_equal(sct_wire_send(fds[0], 1, &body, SCT_NO_DEADLINE), SCT_IO_TOO_LARGE);
  sct_wire_clear(&body);
  sct_wire_put_bytes(&body, fds, SCT_WIRE_MAX_BYTES + 1);
  assert_int_equal(sct_wire_send(fds[0], 1, &body, SCT_NO_DEADLINE), SCT_IO_TOO_LARGE);
  assert_int_equal(sct_wire_recv(fds[1], &code, &in, sct_now_ns() + 5000000), SCT_IO_TIMEOUT);
  sct_wire_clear(&body);
  assert_int_equal(sct_wire_send(fds[0], 3, &body, SCT_NO_DEADLINE), SCT_IO_OK);
  assert_int_equal(sct_wire_recv(fds[1], &code, &in, SCT_NO_DEADLINE), SCT_IO_OK);
  assert_int_equal(code, 3);
  close(fds[0]);
  close(fds[1]);
  sct_wire_free(&body);
  sct_wire_free(&in);
}

static void test_another_protocol_is_refused(void **state) {
  (void)state;
  int fds[2];
  sct_wire w = {0};
  uint32_t code = 0;
  uint8_t header[SCT_WIRE_HEADER_BYTES];
  memset(header, 0xff, sizeof header); /* a body of 2^64 - 1 bytes */
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_int_equal(send(fds[1], header, sizeof header, 0), sizeof header);
  assert_int_equal(sct_wire_recv(fds[0], &code, &w, SCT_NO_DEADLINE), SCT_IO_NONSENSE);
  close(fds[0]);
  close(fds[1]);
  sct_wire_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_body_round_trip),
      cmocka_unit_test(test_lying_lengths_are_refused),
      cmocka_unit_test(test_large_messages_pass_both_ways),
      cmocka_unit_test(test_a_message_that_breaks_off),
      cmocka_unit_test(test_silence_is_a_timeout),
      cmocka_unit_test(test_a_closed_end_is_told_without_a_signal),
      cmocka_unit_test(test_what_is_too_large_is_not_sent),
      cmocka_unit_test(test_another_protocol_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
