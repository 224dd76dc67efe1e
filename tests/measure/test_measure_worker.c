/* The worker as a process: its protocol, its guard zones, and how it dies. */
#include "measure_fixture.h"

#include "measure/measure_process.h"
#include "process/process_internal.h"
#include "worker/worker_backend.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS ((int64_t)60000000000)

static sct_child worker;
static sct_wire request;
static sct_reply reply;

/* Sends what `request` holds. */
static void call(sct_op op) {
  sct_worker_call(&worker, op, &request, LIMIT_NS, &reply);
  sct_wire_clear(&request);
}

static void call_ok(sct_op op) {
  call(op);
  if (reply.kind != SCT_REPLY_OK) {
    print_error("%s: %s\n", sct_op_name(op), reply.text);
  }
  assert_int_equal(reply.kind, SCT_REPLY_OK);
}

static void numbers(int n, ...) {
  va_list args;
  va_start(args, n);
  for (int k = 0; k < n; k++) {
    sct_wire_put_i64(&request, va_arg(args, int));
  }
  va_end(args);
}

static void open_fake(const char *script) {
  assert_ok(sct_worker_start(&worker, NULL, &fixture_err));
  numbers(2, 0, 1);
  sct_wire_put_text(&request, script);
  sct_wire_put_bytes(&request, "", 0); /* no description */
  sct_wire_put_text(&request, "");     /* no lock */
  call(SCT_OP_OPEN);
}

static int64_t new_buffer(int bytes) {
  numbers(5, bytes, 1, 0, 0, 0);
  call_ok(SCT_OP_ALLOC);
  return sct_wire_get_i64(&reply.body);
}

static int clean(void **state) {
  (void)state;
  sct_child_kill(&worker);
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return 0;
}

static void audit_all(int64_t *damage, int64_t *buffer, int64_t *offset) {
  numbers(1, 0);
  call_ok(SCT_OP_AUDIT);
  *damage = sct_wire_get_i64(&reply.body);
  *buffer = sct_wire_get_i64(&reply.body);
  *offset = sct_wire_get_i64(&reply.body);
}

static void test_it_describes_and_ends_cleanly(void **state) {
  (void)state;
  open_fake("ok");
  sct_got_open got;
  sct_reply_read(&reply, SCT_OP_OPEN, &got);
  assert_int_equal(reply.kind, SCT_REPLY_OK);
  assert_string_equal(got.device.name, "Fake GPU");
  new_buffer(100);
  new_buffer(0);
  assert_int_equal(sct_worker_stop(&worker, LIMIT_NS),
                   0); /* under a leak checker: no leak either */
  assert_false(sct_child_alive(&worker));
}

static void test_it_holds_no_other_descriptor(void **state) {
  (void)state;
  int leaked[2];
  assert_int_equal(pipe(leaked), 0); /* not close-on-exec, as a careless library might */
  open_fake("ok");
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd", (long)worker.pid);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    assert_true(entry->d_name[0] == '.' || atoi(entry->d_name) <= SCT_WORKER_FD);
  }
  closedir(dir);
  close(leaked[0]);
  close(leaked[1]);
}

static void test_guard_zones_start_at_the_next_byte(void **state) {
  (void)state;
  static const int sizes[] = {0, 1, 7, 8, 100, 4096};
  static const char *const scripts[] = {"guard", "before"};
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < SCT_COUNT(sizes); k++) {
      int64_t damage, where, offset;
      open_fake(scripts[s]);
      const int64_t other = new_buffer(64), id = new_buffer(sizes[k]);
      const int64_t zeros = new_buffer(sizes[k]);
      numbers(2, (int)zeros, 0);
      call_ok(SCT_OP_SET);
      numbers(3, (int)id, (int)zeros, (int)zeros); /* nothing is written */
      call_ok(SCT_OP_EXPECT);
      for (int turn = 0; turn < 2; turn++) { /* then once more, in its own place */
        numbers(3, turn - 1, 0, 0);          /* what to unload, number, serial */
        sct_wire_put_text(&request, "k");
        numbers(4, 0, 0, 5, 1); /* no shared memory; the image comes with it, for place 5 */
        sct_wire_put_bytes(&request, "image", 5);
        call_ok(SCT_OP_LOAD);
      }
      audit_all(&damage, &where, &offset);
      assert_int_equal(damage, SCT_DAMAGE_NONE);
      /* kernel, blocks, threads, shared, nothing of y and z, 1 argument from its start, neither
       * reversed nor rounded otherwise, no sequence */
      numbers(16, 0, 1, 32, 0, 0, 0, 0, 0, 1, 1, (int)id, 0, 0, 0, 0, 0);
      call_ok(SCT_OP_RUN);
      audit_all(&damage, &where, &offset);
      assert_int_equal(damage, s == 0 ? SCT_DAMAGE_AFTER : SCT_DAMAGE_BEFORE);
      assert_int_equal(where, id);
      assert_int_equal(offset, s == 0 ? sizes[k] : -1);
      audit_all(&damage, &where, &offset); /* reporting repaired the zone */
      assert_int_equal(damage, SCT_DAMAGE_NONE);
      assert_int_not_equal(other, id);
      sct_child_kill(&worker);
    }
  }
}

static void download(int64_t id, int bytes, uint8_t *out) {
  numbers(3, (int)id, 0, bytes);
  call_ok(SCT_OP_DOWNLOAD);
  size_t n = 0;
  const uint8_t *got = sct_wire_get_bytes(&reply.body, &n);
  assert_int_equal(n, bytes);
  memcpy(out, got, n);
}

/* Further copies are filled from the first, lie outside its guards, and nobody reads or compares
 * them: they are there for timing. */
static void test_copies_of_a_buffer(void **state) {
  (void)state;
  int64_t damage, where, offset;
  uint8_t bytes[100], got[100];
  memset(bytes, 0x3c, sizeof bytes);
  open_fake("memory=60000");
  numbers(5, 100, 5, 0, 0, 0);
  call_ok(SCT_OP_ALLOC);
  const int64_t id = sct_wire_get_i64(&reply.body);
  numbers(2, (int)id, 0);
  sct_wire_put_bytes(&request, bytes, sizeof bytes);
  call_ok(SCT_OP_UPLOAD);
  numbers(1, (int)id);
  call_ok(SCT_OP_REPEAT);
  download(id, 100, got);
  assert_memory_equal(got, bytes, sizeof bytes);
  audit_all(&damage, &where, &offset);
  assert_int_equal(damage, SCT_DAMAGE_NONE);
  static const int copies[] = {0, -1, SCT_MAX_COPIES + 1, 20}; /* the last is more than there is */
  for (int k = 0; k < SCT_COUNT(copies); k++) {
    numbers(5, 100, copies[k], 0, 0, 0);
    call(SCT_OP_ALLOC);
    assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  }
}

/* At addresses of any residue, with guard zones beside the data; compared as others. Several copies
 * lie as the driver has them. */
static void test_arrays_lie_where_they_are_asked_for(void **state) {
  (void)state;
  static const int bad[][2] = {{1, -8}, {1, 2 * SCT_MAX_ALIGN}, {2, 16}}; /* copies, residue */
  static const int residues[] = {1, 2, 3, 4, 8, 16, 28, 256, 511, 512, 1000, SCT_MAX_ALIGN};
  uint8_t bytes[100], got[100];
  open_fake("ok");
  const int64_t plain = new_buffer(100);
  for (int k = 0; k < SCT_COUNT(residues); k++) {
    int64_t damage, where, offset;
    numbers(5, 100, 1, residues[k], 0, 0);
    call_ok(SCT_OP_ALLOC);
    const int64_t id = sct_wire_get_i64(&reply.body);
    memset(bytes, residues[k] % 251, sizeof bytes);
    numbers(2, (int)plain, 0);
    sct_wire_put_bytes(&request, bytes, sizeof bytes);
    call_ok(SCT_OP_UPLOAD);
    numbers(2, (int)id, (int)plain);
    call_ok(SCT_OP_COPY);
    numbers(1, (int)id);
    call_ok(SCT_OP_SEAL);
    download(id, 100, got);
    assert_memory_equal(got, bytes, sizeof bytes);
    numbers(3, (int)id, (int)plain, -1);
    call_ok(SCT_OP_COMPARE);
    assert_int_equal(sct_wire_get_i64(&reply.body), 0);
    bytes[57]++;
    numbers(2, (int)plain, 0);
    sct_wire_put_bytes(&request, bytes, sizeof bytes);
    call_ok(SCT_OP_UPLOAD);
    numbers(3, (int)id, (int)plain, -1);
    call_ok(SCT_OP_COMPARE);
    assert_int_equal(sct_wire_get_i64(&reply.body), 1);
    assert_int_equal(sct_wire_get_i64(&reply.body), 57);
    audit_all(&damage, &where, &offset);
    assert_int_equal(damage, SCT_DAMAGE_NONE);
  }
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    numbers(5, 100, bad[k][0], bad[k][1], 0, 0);
    call(SCT_OP_ALLOC);
    assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  }
}

/* What is the second device's can be set, used by HOST and freed there, and no more. */
static void test_a_second_device_has_buffers_and_kernels(void **state) {
  (void)state;
  int64_t damage, where, offset;
  open_fake("devices=2");
  numbers(5, 100, 1, 0, 1, 0);
  call(SCT_OP_ALLOC);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED); /* there is none yet */
  for (int k = 0; k < 2; k++) {                   /* again: it stays */
    const sct_ask_open second = {.ordinal = 1, .script = "devices=2", .lock = ""};
    sct_worker_ask(&worker, SCT_OP_PEER, &second, LIMIT_NS, &reply, NULL);
    assert_int_equal(reply.kind, SCT_REPLY_OK);
  }
  const int64_t own = new_buffer(100);
  numbers(5, 100, 1, 0, 1, 0);
  call_ok(SCT_OP_ALLOC);
  const int64_t id = sct_wire_get_i64(&reply.body);
  assert_int_not_equal(own, id);
  numbers(2, (int)id, 0);
  call_ok(SCT_OP_SET);
  numbers(3, (int)id, 0, 8);
  call(SCT_OP_DOWNLOAD);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  numbers(2, (int)own, (int)id);
  call(SCT_OP_COPY);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  for (int device = 0; device < 2; device++) {
    numbers(3, -1, device, 0);
    sct_wire_put_text(&request, "k");
    numbers(4, 0, device, 0, device == 0); /* the image is there */
    sct_wire_put_bytes(&request, "image", device == 0 ? 5 : 0);
    call_ok(SCT_OP_LOAD);
  }
  for (int k = 0; k < 3; k++) { /* kernel and argument of two devices, or both of the second */
    const int64_t kernel = k == 0 ? 0 : 1;
    numbers(16, (int)kernel, 1, 32, 0, 0, 0, 0, 0, 1, 1, (int)(k == 1 ? own : id), 0, 0, 0, 0, 0);
    call(SCT_OP_RUN);
    assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  }
  numbers(16, 0, 1, 32, 0, 0, 0, 0, 0, 1, 1, (int)own, 0, 0, 0, 0, 0);
  call_ok(SCT_OP_RUN);
  audit_all(&damage, &where, &offset);
  assert_int_equal(damage, SCT_DAMAGE_NONE);
  numbers(1, 1);
  call_ok(SCT_OP_UNLOAD);
  numbers(2, 1, (int)id);
  call_ok(SCT_OP_FREE);
  assert_int_equal(sct_worker_stop(&worker, LIMIT_NS), 0);
}

static void test_sealed_buffers_are_watched(void **state) {
  (void)state;
  for (int placed = 0; placed < 2; placed++) {
    int64_t damage, where, offset, id;
    uint8_t got[21], data[21] = "placed at once, and..";
    open_fake("ok");
    new_buffer(10);
    if (placed) {
      sct_wire_put_bytes(&request, data, sizeof data);
      call_ok(SCT_OP_PLACE);
      id = sct_wire_get_i64(&reply.body);
      download(id, sizeof data, got);
      assert_memory_equal(got, data, sizeof data);
    } else {
      id = new_buffer(21);
      numbers(1, (int)id);
      call_ok(SCT_OP_SEAL);
    }
    audit_all(&damage, &where, &offset);
    assert_int_equal(damage, SCT_DAMAGE_NONE);
    numbers(2, (int)id, 20); /* the very last byte */
    sct_wire_put_bytes(&request, "x", 1);
    call_ok(SCT_OP_UPLOAD);
    audit_all(&damage, &where, &offset);
    assert_int_equal(damage, SCT_DAMAGE_CONTENT);
    assert_int_equal(where, id);
    sct_child_kill(&worker);
  }
}

static void test_fill_reaches_the_last_byte_only(void **state) {
  (void)state;
  int64_t damage, where, offset;
  open_fake("ok");
  for (int bytes = 0; bytes <= 17; bytes++) {
    const int64_t id = new_buffer(bytes);
    numbers(1, (int)id);
    sct_wire_put_i64(&request, 0x00ff00ff00ff00ff);
    sct_wire_put_i64(&request, 0x1100110011001100);
    sct_wire_put_i64(&request, 99);
    call_ok(SCT_OP_FILL);
    numbers(3, (int)id, 0, bytes);
    call_ok(SCT_OP_DOWNLOAD);
    size_t n = 0;
    const uint8_t *got = sct_wire_get_bytes(&reply.body, &n);
    assert_int_equal(n, bytes);
    for (int k = 0; k < bytes; k++) {
      const uint64_t word =
          (sct_mix64(99, (uint64_t)k / 8) & 0x00ff00ff00ff00ffULL) | 0x1100110011001100ULL;
      assert_int_equal(got[k], (word >> (k % 8 * 8)) & 0xff);
    }
    audit_all(&damage, &where, &offset);
    assert_int_equal(damage, SCT_DAMAGE_NONE);
  }
}

static void test_compare_counts_and_finds_the_first(void **state) {
  (void)state;
  open_fake("ok");
  int64_t id[3];
  uint8_t bytes[3][50] = {{0}};
  bytes[0][7] = 1;  /* a differs from ref */
  bytes[0][40] = 1; /* and here, but ref and ref2 differ too: not counted with them */
  bytes[2][40] = 9;
  bytes[2][3] = 9; /* where a and ref agree */
  for (int k = 0; k < 3; k++) {
    id[k] = new_buffer(50);
    numbers(2, (int)id[k], 0);
    sct_wire_put_bytes(&request, bytes[k], 50);
    call_ok(SCT_OP_UPLOAD);
  }
  numbers(3, (int)id[0], (int)id[1], -1);
  call_ok(SCT_OP_COMPARE);
  assert_int_equal(sct_wire_get_i64(&reply.body), 2);
  assert_int_equal(sct_wire_get_i64(&reply.body), 7);
  numbers(3, (int)id[0], (int)id[1], (int)id[2]);
  call_ok(SCT_OP_COMPARE);
  assert_int_equal(sct_wire_get_i64(&reply.body), 1);
  assert_int_equal(sct_wire_get_i64(&reply.body), 7);
  numbers(3, (int)id[1], (int)id[1], -1);
  call_ok(SCT_OP_COMPARE);
  assert_int_equal(sct_wire_get_i64(&reply.body), 0);
  assert_int_equal(sct_wire_get_i64(&reply.body), -1);
}

/* Every request with nothing, and with nonsense, in it: refused, and the worker lives on. */
static void test_malformed_requests_are_refused(void **state) {
  (void)state;
  open_fake("ok");
  new_buffer(16);
  for (int op = 0; op < SCT_N_OPS + 2; op++) {
    for (int64_t junk = -2; junk < 3; junk++) {
      if (op == SCT_OP_QUIT) {
        continue;
      }
      for (int64_t k = 0; k < (junk == -2 ? 0 : 12); k++) {
        sct_wire_put_i64(&request, junk == 2 ? INT64_MAX - k : junk * 1000000007 + k % 2);
      }
      sct_worker_call(&worker, (sct_op)op, &request, LIMIT_NS, &reply);
      sct_wire_clear(&request);
      assert_true(reply.kind == SCT_REPLY_FAILED || reply.kind == SCT_REPLY_OK);
    }
  }
  static const int places[] = {-1, SCT_MAX_IMAGES, 3}; /* the last: with nothing in it */
  for (int k = 0; k < SCT_COUNT(places); k++) {
    numbers(3, -1, 0, 0);
    sct_wire_put_text(&request, "k");
    numbers(4, 0, 0, places[k], k < 2);
    sct_wire_put_bytes(&request, "image", k < 2 ? 5 : 0);
    call(SCT_OP_LOAD);
    assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  }
  static const int64_t kernels[] = {7, 7, -1, SCT_MAX_KERNELS, 2}; /* the second: is there */
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    numbers(1, -1);
    sct_wire_put_i64(&request, kernels[k]);
    numbers(1, 0);
    sct_wire_put_text(&request, "k");
    numbers(4, 0, 0, 1, 1);
    sct_wire_put_bytes(&request, "image", 5);
    call(SCT_OP_LOAD);
    assert_int_equal(reply.kind, k % 4 == 0 ? SCT_REPLY_OK : SCT_REPLY_FAILED);
  }
  numbers(3, 0, 8, 9); /* one byte past the end */
  call(SCT_OP_DOWNLOAD);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  numbers(2, 0, 16);
  sct_wire_put_bytes(&request, "x", 1);
  call(SCT_OP_UPLOAD);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  new_buffer(16);
  assert_int_equal(sct_worker_stop(&worker, LIMIT_NS), 0);
}

static void test_freed_buffers_are_gone(void **state) {
  (void)state;
  open_fake("memory=100000");
  for (int k = 0; k < 50; k++) { /* more in all than there is */
    const int64_t id = new_buffer(50000);
    assert_int_equal(id, 0); /* ids are used again: a long session does not grow */
    numbers(2, 1, (int)id);
    call_ok(SCT_OP_FREE);
    numbers(2, (int)id, 0);
    call(SCT_OP_SET);
    assert_int_equal(reply.kind, SCT_REPLY_FAILED);
    assert_int_equal(reply.result, 0); /* not a CUDA result */
  }
  new_buffer(16);
  new_buffer(90000 - 6 * SCT_GUARD_BYTES);
  new_buffer(32);
  numbers(4, 3, 0, 2, 1); /* several at once: there is room for one of their size */
  call_ok(SCT_OP_FREE);
  assert_int_equal(new_buffer(90000), 0);
  numbers(3, 2, 0, 1); /* up to one that is not there */
  call(SCT_OP_FREE);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  assert_int_equal(new_buffer(90000), 0);
  static const uint8_t large[200000];
  sct_wire_put_bytes(&request, large, sizeof large);
  call(SCT_OP_PLACE);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  assert_int_equal(reply.status, SCT_ENOMEM);
  numbers(5, 200000, 1, 0, 0, 0);
  call(SCT_OP_ALLOC);
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  assert_int_equal(reply.result, 2);
  assert_int_equal(reply.status, SCT_ENOMEM);
}

static void test_a_dead_worker_is_told_with_its_signal(void **state) {
  (void)state;
  open_fake("ok");
  kill(worker.pid, SIGTERM);
  numbers(5, 8, 1, 0, 0, 0);
  call(SCT_OP_ALLOC);
  assert_int_equal(reply.kind, SCT_REPLY_DIED);
  assert_false(sct_child_alive(&worker));
  assert_non_null(strstr(reply.text, "signal 15"));
  numbers(5, 8, 1, 0, 0, 0);
  call(SCT_OP_ALLOC); /* asking nobody */
  assert_int_equal(reply.kind, SCT_REPLY_DIED);
}

static void test_a_stopped_worker_is_killed_with_its_group(void **state) {
  (void)state;
  open_fake("ok");
  const pid_t pid = worker.pid;
  assert_int_equal(getpgid(pid), pid);
  kill(pid, SIGSTOP);
  numbers(5, 8, 1, 0, 0, 0);
  sct_worker_call(&worker, SCT_OP_ALLOC, &request, 50000000, &reply);
  assert_int_equal(reply.kind, SCT_REPLY_TIMEOUT);
  assert_non_null(strstr(reply.text, "ALLOC within 50 ms"));
  assert_false(sct_child_alive(&worker));
  assert_int_equal(kill(pid, 0), -1); /* reaped: no zombie either */
  assert_int_equal(errno, ESRCH);
}

/* A parent that is killed must not leave workers, not even one in a kernel that never ends: our
 * child starts one and dies. */
static void test_it_does_not_outlive_its_parent(void **state) {
  (void)state;
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    sct_child w;
    const sct_status status = sct_worker_start(&w, NULL, NULL);
    const ssize_t written = status == SCT_OK ? write(fds[1], &w.pid, sizeof w.pid) : 0;
    if (written == sizeof w.pid) {
      sct_reply r = {0};
      sct_wire in = {0};
      sct_wire_put_i64(&in, 0);
      sct_wire_put_i64(&in, 1);
      sct_wire_put_text(&in, "hang");
      sct_wire_put_bytes(&in, "", 0);
      sct_wire_put_text(&in, "");
      sct_worker_call(&w, SCT_OP_OPEN, &in, LIMIT_NS, &r); /* it is past its start */
      sct_wire_clear(&in);
      sct_wire_put_i64(&in, -1);
      sct_wire_put_i64(&in, 0);
      sct_wire_put_text(&in, "k");
      sct_wire_put_i64(&in, 0);
      sct_wire_put_i64(&in, 1);
      sct_wire_put_bytes(&in, "image", 5);
      sct_worker_call(&w, SCT_OP_LOAD, &in, LIMIT_NS, &r);
      sct_wire_clear(&in);
      for (int k = 0; k < 5; k++) { /* kernel 0, 1 block, 1 thread, no arguments */
        sct_wire_put_i64(&in, k == 1 || k == 2);
      }
      (void)sct_wire_send(w.fd, SCT_OP_RUN, &in, SCT_NO_DEADLINE); /* and now it listens no more */
    }
    close(fds[1]);
    kill(getpid(), SIGKILL);
  }
  close(fds[1]);
  pid_t orphan = 0;
  assert_int_equal(read(fds[0], &orphan, sizeof orphan), sizeof orphan);
  close(fds[0]);
  assert_int_equal(waitpid(child, NULL, 0), child);
  while (kill(orphan, 0) == 0) { /* ctest's limit ends this if the worker lives on */
    char path[64], state_letter = '?';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)orphan);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%*d %*s %c", &state_letter) != 1 || state_letter == 'Z') {
      orphan = 0;
    }
    if (f) {
      fclose(f);
    }
    if (orphan == 0) {
      break;
    }
    usleep(1000);
  }
}

static void test_a_missing_program_is_an_error(void **state) {
  (void)state;
  assert_int_equal(sct_worker_start(&worker, "/nonexistent/worker", &fixture_err), SCT_EIO);
  assert_non_null(strstr(fixture_err.text, "/nonexistent/worker"));
  assert_false(sct_child_alive(&worker));
}

static void test_unknown_words_of_the_fake_are_refused(void **state) {
  (void)state;
  open_fake("wrogn@1");
  assert_int_equal(reply.kind, SCT_REPLY_FAILED);
  assert_non_null(strstr(reply.text, "did you mean 'wrong'"));
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_it_describes_and_ends_cleanly, clean),
      cmocka_unit_test_teardown(test_it_holds_no_other_descriptor, clean),
      cmocka_unit_test_teardown(test_guard_zones_start_at_the_next_byte, clean),
      cmocka_unit_test_teardown(test_copies_of_a_buffer, clean),
      cmocka_unit_test_teardown(test_arrays_lie_where_they_are_asked_for, clean),
      cmocka_unit_test_teardown(test_a_second_device_has_buffers_and_kernels, clean),
      cmocka_unit_test_teardown(test_sealed_buffers_are_watched, clean),
      cmocka_unit_test_teardown(test_fill_reaches_the_last_byte_only, clean),
      cmocka_unit_test_teardown(test_compare_counts_and_finds_the_first, clean),
      cmocka_unit_test_teardown(test_malformed_requests_are_refused, clean),
      cmocka_unit_test_teardown(test_freed_buffers_are_gone, clean),
      cmocka_unit_test_teardown(test_a_dead_worker_is_told_with_its_signal, clean),
      cmocka_unit_test_teardown(test_a_stopped_worker_is_killed_with_its_group, clean),
      cmocka_unit_test_teardown(test_it_does_not_outlive_its_parent, clean),
      cmocka_unit_test_teardown(test_a_missing_program_is_an_error, clean),
      cmocka_unit_test_teardown(test_unknown_words_of_the_fake_are_refused, clean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
