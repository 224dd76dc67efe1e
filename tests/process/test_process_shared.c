/* Bodies in shared memory: large ones arrive without a copy and cannot be changed afterwards; what
 * is no such body is refused; whatever happens, no descriptor stays behind. */
#include "process/process_internal.h"

#include <setjmp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define LARGE     ((size_t)300000)

/* ---- a socket, and what is open beside it ---- */

static int count_descriptors(void) {
  DIR *const dir = opendir("/proc/self/fd");
  int n = 0;
  assert_non_null(dir);
  while (readdir(dir)) {
    n++;
  }
  closedir(dir);
  return n;
}

static int count_mappings(void) {
  FILE *const f = fopen("/proc/self/maps", "r");
  char line[512];
  int n = 0;
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    n += strstr(line, "memfd:") != NULL;
  }
  fclose(f);
  return n;
}

typedef struct pair {
  int fds[2], n_open;
  sct_wire in;
  uint32_t code;
} pair;

static pair open_pair(void) {
  pair p = {0};
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p.fds), 0);
  p.n_open = count_descriptors();
  return p;
}

static void close_pair(pair *p) {
  sct_wire_free(&p->in);
  assert_int_equal(count_descriptors(), p->n_open);
  assert_int_equal(count_mappings(), 0);
  close(p->fds[0]);
  close(p->fds[1]);
}

static sct_io receive(pair *p) {
  return sct_wire_recv_shared(p->fds[0], &p->code, &p->in, sct_now_ns() + 60 * (int64_t)1000000000);
}

static uint8_t byte_of(size_t k) {
  return (uint8_t)(k * 37 >> 2);
}

static void fill(sct_wire *w, size_t n) {
  uint8_t *const bytes = malloc(n + 1);
  assert_non_null(bytes);
  for (size_t k = 0; k < n; k++) {
    bytes[k] = byte_of(k);
  }
  sct_wire_clear(w);
  sct_wire_put_bytes(w, bytes, n);
  free(bytes);
}

static void expect_filled(sct_wire *w, size_t n) {
  size_t got = 0;
  const uint8_t *const bytes = sct_wire_get_bytes(w, &got);
  assert_int_equal(got, n);
  for (size_t k = 0; k < n; k++) {
    if (bytes[k] != byte_of(k)) {
      fail_msg("byte %zu of %zu is wrong", k, n);
    }
  }
  assert_false(w->failed);
  assert_int_equal(w->data[w->len], 0);
}

/* Sent by a thread's stand-in: a process, as a socket takes no large body at once. */
static void send_filled(const pair *p, size_t n) {
  fflush(NULL);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    sct_wire w = {0};
    fill(&w, n);
    const sct_io io = sct_wire_send_shared(p->fds[1], 7, &w, SCT_NO_DEADLINE);
    _exit(io == SCT_IO_OK ? 0 : 1);
  }
}

static void expect_sent(void) {
  int status = 0;
  assert_true(wait(&status) > 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- what arrives ---- */

static void test_large_bodies_are_mapped(void **state) {
  (void)state;
  static const size_t sizes[] = {LARGE, 0,     SCT_WIRE_SHARED_BYTES - 8, SCT_WIRE_SHARED_BYTES - 9,
                                 5,     LARGE, SCT_WIRE_SHARED_BYTES,     2 * LARGE};
  pair p = open_pair();
  for (size_t k = 0; k < SCT_COUNT(sizes); k++) {
    send_filled(&p, sizes[k]);
    assert_int_equal(receive(&p), SCT_IO_OK);
    expect_sent();
    const bool large = sizes[k] + 8 >= SCT_WIRE_SHARED_BYTES;
    assert_int_equal(p.code, 7);
    assert_int_equal(p.in.mapped_bytes, large ? sizes[k] + 9 : 0);
    assert_int_equal(count_mappings(), large); /* none of before */
    assert_int_equal(count_descriptors(), p.n_open + large);
    sct_wire_close(&p.in);
    assert_int_equal(count_descriptors(), p.n_open);
    expect_filled(&p.in, sizes[k]);
    sct_wire_put_i64(&p.in, 1); /* a mapping takes nothing */
    assert_int_equal(p.in.failed, large);
  }
  close_pair(&p);
}

static void test_a_tail_is_written_too(void **state) {
  (void)state;
  pair p = open_pair();
  sct_wire out = {0};
  char *const text = malloc(LARGE);
  assert_non_null(text);
  memset(text, 't', LARGE);
  sct_wire_put_i64(&out, -5);
  sct_wire_put_tail(&out, text, LARGE);
  assert_int_equal(sct_wire_send_shared(p.fds[1], 3, &out, SCT_NO_DEADLINE), SCT_IO_OK);
  assert_int_equal(receive(&p), SCT_IO_OK);
  size_t got = 0;
  assert_int_equal(p.in.len, LARGE + 16);
  assert_true(p.in.mapped_bytes > 0);
  assert_int_equal(sct_wire_get_i64(&p.in), -5);
  const uint8_t *const bytes = sct_wire_get_bytes(&p.in, &got);
  assert_int_equal(got, LARGE);
  assert_memory_equal(bytes, text, LARGE);
  assert_int_equal(p.in.data[p.in.len], 0);
  out.failed = true;
  assert_int_equal(sct_wire_send_shared(p.fds[1], 3, &out, SCT_NO_DEADLINE), SCT_IO_REFUSED);
  sct_wire_free(&out);
  free(text);
  close_pair(&p);
}

static void test_memory_that_is_taken_stays(void **state) {
  (void)state;
  pair p = open_pair();
  send_filled(&p, LARGE);
  assert_int_equal(receive(&p), SCT_IO_OK);
  expect_sent();
  sct_wire taken = sct_wire_take(&p.in);
  assert_int_equal(taken.mapped_bytes, LARGE + 9);
  assert_null(p.in.data);
  send_filled(&p, 10);
  assert_int_equal(receive(&p), SCT_IO_OK);
  expect_sent();
  expect_filled(&taken, LARGE);
  sct_wire_free(&taken);
  taken = sct_wire_take(&p.in);
  assert_null(p.in.data);
  expect_filled(&taken, 10);
  sct_wire_free(&taken);
  close_pair(&p);
}

/* ---- sent on ---- */

/* What p has, through its socket once more. */
static void forward(pair *p) {
  sct_wire body = sct_wire_take(&p->in);
  fflush(NULL);
  const pid_t pid = fork(); /* by value it is more than a socket takes at once */
  assert_true(pid >= 0);
  if (pid == 0) {
    _exit(sct_wire_forward(p->fds[1], 9, &body, SCT_NO_DEADLINE) == SCT_IO_OK ? 0 : 1);
  }
  assert_int_equal(receive(p), SCT_IO_OK);
  expect_sent();
  assert_int_equal(p->code, 9);
  sct_wire_free(&body);
}

static void test_a_body_is_sent_on_by_its_file(void **state) {
  (void)state;
  static const struct {
    size_t n;
    bool closed, mapped;
  } cases[] = {{LARGE, false, true}, {LARGE, true, false}, {10, false, false}, {10, true, false}};
  for (size_t k = 0; k < SCT_COUNT(cases); k++) {
    pair p = open_pair();
    send_filled(&p, cases[k].n);
    assert_int_equal(receive(&p), SCT_IO_OK);
    expect_sent();
    if (cases[k].closed) {
      sct_wire_close(&p.in);
      sct_wire_close(&p.in);
    }
    for (int turn = 0; turn < 2; turn++) { /* what was sent on is as good as what came */
      forward(&p);
      assert_int_equal(p.in.mapped_bytes, cases[k].mapped ? cases[k].n + 9 : 0);
      assert_int_equal(count_descriptors(), p.n_open + cases[k].mapped);
    }
    expect_filled(&p.in, cases[k].n);
    close_pair(&p);
  }
}

/* ---- what a sender could do ---- */

enum { NONE = -1 };

/* A header and up to two descriptors. */
static void send_raw(const pair *p, uint32_t place, uint64_t len, int first, int second) {
  struct {
    uint32_t code, place;
    uint64_t len;
  } head = {0, place, len};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(2 * sizeof(int))];
  } c = {.align = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  const int fds[2] = {first, second};
  const size_t n = sizeof(int) * (size_t)((first >= 0) + (second >= 0));
  c.align.cmsg_len = CMSG_LEN(n);
  memcpy(CMSG_DATA(&c.align), fds, sizeof fds);
  struct iovec part = {&head, sizeof head};
  const struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = n > 0 ? &c : NULL,
                                 .msg_controllen = n > 0 ? CMSG_SPACE(n) : 0};
  assert_int_equal(sendmsg(p->fds[1], &message, 0), sizeof head);
}

static int make_file(size_t bytes, int last, int seals) {
  const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
  const uint8_t end = (uint8_t)last;
  assert_int_equal(bytes > 0 ? pwrite(fd, &end, 1, (off_t)bytes - 1) : 1, 1);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

static void test_what_is_no_sealed_body_is_refused(void **state) {
  (void)state;
  static const struct {
    size_t bytes; /* of the file; 0: none is sent */
    int last, seals;
    uint32_t place;
    uint64_t len; /* that is announced */
    int n;        /* descriptors */
    sct_io io;
  } cases[] = {
      {LARGE + 1, 0, ALL_SEALS, 1, LARGE, 1, SCT_IO_OK},
      {1, 0, ALL_SEALS, 1, 0, 1, SCT_IO_OK},
      {LARGE + 1, 0, 0, 1, LARGE, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS & ~F_SEAL_SEAL, 1, LARGE, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS & ~F_SEAL_SHRINK, 1, LARGE, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS & ~F_SEAL_GROW, 1, LARGE, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS & ~F_SEAL_WRITE, 1, LARGE, 1, SCT_IO_CLOSED},
      {LARGE, 0, ALL_SEALS, 1, LARGE, 1, SCT_IO_CLOSED}, /* would end in SIGBUS */
      {LARGE + 2, 0, ALL_SEALS, 1, LARGE, 1, SCT_IO_CLOSED},
      {LARGE + 1, 'x', ALL_SEALS, 1, LARGE, 1, SCT_IO_CLOSED}, /* no NUL */
      {LARGE + 1, 0, ALL_SEALS, 1, LARGE, 0, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS, 1, LARGE, 2, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS, 0, LARGE, 1, SCT_IO_CLOSED}, /* not announced */
      {LARGE + 1, 0, ALL_SEALS, 0, 0, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS, 2, LARGE, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS, 1, SCT_WIRE_MAX_BYTES + 1, 1, SCT_IO_CLOSED},
      {LARGE + 1, 0, ALL_SEALS, 1, UINT64_MAX, 1, SCT_IO_CLOSED},
  };
  for (size_t k = 0; k < SCT_COUNT(cases); k++) {
    pair p = open_pair();
    const int fd = make_file(cases[k].bytes, cases[k].last, cases[k].seals);
    send_raw(&p, cases[k].place, cases[k].len, cases[k].n > 0 ? fd : NONE,
             cases[k].n > 1 ? fd : NONE);
    close(fd);
    const sct_io io = receive(&p);
    if (io != cases[k].io) {
      fail_msg("case %zu: %d instead of %d", k, (int)io, (int)cases[k].io);
    }
    assert_int_equal(count_mappings(), io == SCT_IO_OK);
    close_pair(&p);
  }
}

static void test_other_files_are_refused(void **state) {
  (void)state;
  int pipe_fds[2];
  char path[] = "/tmp/sct_shared_XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0 && unlink(path) == 0 && ftruncate(file, 101) == 0);
  assert_int_equal(pipe(pipe_fds), 0);
  const int others[] = {file, pipe_fds[0], STDIN_FILENO};
  for (size_t k = 0; k < SCT_COUNT(others); k++) {
    pair p = open_pair();
    send_raw(&p, 1, 100, others[k], NONE);
    assert_int_equal(receive(&p), SCT_IO_CLOSED);
    close_pair(&p);
  }
  close(file);
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

/* Who asks for no descriptor gets none, and does not wait for a body that never comes. */
static void test_others_take_no_descriptor(void **state) {
  (void)state;
  for (uint32_t place = 0; place < 2; place++) {
    for (int series = 0; series < 2; series++) {
      pair p = open_pair();
      sct_wire inbox = {0};
      const int fd = make_file(1, 0, ALL_SEALS);
      send_raw(&p, place, 0, fd, NONE);
      close(fd);
      const sct_io io =
          series ? sct_wire_recv_series(p.fds[0], &inbox, &p.code, &p.in, SCT_NO_DEADLINE)
                 : sct_wire_recv(p.fds[0], &p.code, &p.in, SCT_NO_DEADLINE);
      assert_int_equal(io, place == 0 ? SCT_IO_OK : SCT_IO_CLOSED);
      sct_wire_free(&inbox);
      close_pair(&p);
    }
  }
}

/* What is checked once holds: the sender that kept a descriptor can do nothing with it. */
static void test_a_sender_cannot_change_what_it_sent(void **state) {
  (void)state;
  pair p = open_pair();
  char head[SCT_WIRE_HEADER_BYTES], control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {head, sizeof head};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  send_filled(&p, LARGE);
  assert_int_equal(recvmsg(p.fds[0], &message, 0), sizeof head);
  expect_sent();
  int fd = -1;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  assert_int_equal(fcntl(fd, F_GET_SEALS), ALL_SEALS);
  assert_int_equal(pwrite(fd, "x", 1, 9), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(ftruncate(fd, 0), -1);
  assert_int_equal(ftruncate(fd, (off_t)(2 * LARGE)), -1);
  assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  close(fd);
  close_pair(&p);
}

/* ---- what the system refuses ---- */

/* The number that the next descriptor gets. */
static int next_descriptor(const pair *p) {
  const int next = dup(p->fds[0]);
  close(next);
  return next;
}

/* Sends a large body, and receives it with at most so many descriptors. */
static sct_io receive_with(pair *p, int descriptors) {
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit few = {(rlim_t)descriptors, before.rlim_max};
  send_filled(p, LARGE);
  expect_sent();
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  const sct_io io = receive(p);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  return io;
}

static void test_no_descriptor_left_is_no_nonsense(void **state) {
  (void)state;
  pair p = open_pair();
  assert_int_equal(receive_with(&p, next_descriptor(&p)), SCT_IO_REFUSED);
  close_pair(&p);
}

/* Half of them are enough for bodies that are kept. */
static void test_few_descriptors_are_kept(void **state) {
  (void)state;
  pair p = open_pair();
  const int next = next_descriptor(&p);
  for (int over = 1; over <= 2; over++) {
    assert_int_equal(receive_with(&p, 2 * next + 2 * (over - 1)), SCT_IO_OK);
    assert_int_equal(p.in.descriptor, over == 1 ? -1 : next);
    forward(&p);
    assert_int_equal(p.in.mapped_bytes > 0, over == 2);
    expect_filled(&p.in, LARGE);
    sct_wire_free(&p.in);
  }
  close_pair(&p);
}

/* A limit on files is one on these too, and going past it would be a signal. */
static void test_a_limit_on_files_is_respected(void **state) {
  (void)state;
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit few = {LARGE, before.rlim_max};
  pair p = open_pair();
  for (size_t n = LARGE - 9; n <= LARGE; n += 9) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    send_filled(&p, n);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(receive(&p), SCT_IO_OK);
    expect_sent();
    assert_int_equal(p.in.mapped_bytes > 0, n + 9 <= LARGE);
    expect_filled(&p.in, n);
  }
  close_pair(&p);
}

#ifdef SCT_FAULTS
/* The variable is read before main, so each case is a process. Its exit status: how it went, and 10
 * more if the body is mapped. */
static int run_once(void) {
  pair p = open_pair();
  send_filled(&p, LARGE);
  const sct_io io = receive(&p);
  expect_sent();
  const bool mapped = p.in.mapped_bytes > 0;
  if (io == SCT_IO_OK) {
    expect_filled(&p.in, LARGE);
  }
  close_pair(&p);
  return (int)io + (mapped ? 10 : 0);
}

static void test_refused_calls(void **state) {
  (void)state;
  static const struct {
    const char *faults;
    int status;
  } cases[] = {
      {"memfd:3", 10 + SCT_IO_OK},      {"memfd:1", SCT_IO_OK},
      {"memfd:2", SCT_IO_OK},           {"write:1:EINTR", 10 + SCT_IO_OK},
      {"write:1", SCT_IO_OK},           {"write:2", SCT_IO_OK},
      {"mmap:1", SCT_IO_REFUSED},       {"recv:1", SCT_IO_CLOSED},
      {"recv:1:EINTR", 10 + SCT_IO_OK},
  };
  for (size_t k = 0; k < SCT_COUNT(cases); k++) {
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      setenv("SCT_FAULTS", cases[k].faults, 1);
      execl("/proc/self/exe", "test", "once", (char *)NULL);
      _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != cases[k].status) {
      fail_msg("%s: %d instead of %d", cases[k].faults, WEXITSTATUS(status), cases[k].status);
    }
  }
}
#endif

int main(int argc, char **argv) {
#ifdef SCT_FAULTS
  if (argc == 2 && strcmp(argv[1], "once") == 0) {
    return run_once();
  }
#endif
  (void)argc;
  (void)argv;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_large_bodies_are_mapped),
      cmocka_unit_test(test_a_tail_is_written_too),
      cmocka_unit_test(test_memory_that_is_taken_stays),
      cmocka_unit_test(test_a_body_is_sent_on_by_its_file),
      cmocka_unit_test(test_few_descriptors_are_kept),
      cmocka_unit_test(test_what_is_no_sealed_body_is_refused),
      cmocka_unit_test(test_other_files_are_refused),
      cmocka_unit_test(test_others_take_no_descriptor),
      cmocka_unit_test(test_a_sender_cannot_change_what_it_sent),
      cmocka_unit_test(test_no_descriptor_left_is_no_nonsense),
      cmocka_unit_test(test_a_limit_on_files_is_respected),
#ifdef SCT_FAULTS
      cmocka_unit_test(test_refused_calls),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
