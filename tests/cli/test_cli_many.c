/* `tune` on several devices at once: fake GPUs of one machine, and virtual ones. */
#include "device/device.h"

#include "cli_gpu_fixture.h"

#include <dirent.h>
#include <signal.h>

#define TUNE                                                                                       \
  "tune", "copy.lua", "--store", "many.db", "--no-virtual-check", "--assets", "assets", "--wait",  \
      "1h", "--again"

static int set_up(void **state) {
  if (fx_gpu_setup(state) != 0) {
    return 1;
  }
  fx_result r = {0}; /* what is compiled once need not be again */
  fx_fake("devices=1");
  fx_run(&r, TUNE, "-d", "cuda:0", "--store", "first.db");
  fx_expect(&r, 0, NULL, NULL);
  fx_free(&r);
  return 0;
}

/* ---- what was told ---- */

static const json_t *tuned(const json_t *doc, size_t k) {
  return json_array_get(json_object_get(doc, "tuned"), k);
}

static void expect_tuned(const json_t *doc, size_t k, const char *device, int exit_code) {
  assert_string_equal(json_string_value(json_object_get(tuned(doc, k), "device_id")), device);
  assert_int_equal(json_integer_value(json_object_get(tuned(doc, k), "exit_code")), exit_code);
  const json_t *report = json_object_get(tuned(doc, k), "report");
  const json_t *id = json_object_get(json_object_get(report, "device"), "id");
  assert_true(exit_code != 0 || strcmp(json_string_value(id), device) == 0);
}

static int count_of(const json_t *events, const char *name, const char *device) {
  const json_t *event;
  size_t k;
  int n = 0;
  json_array_foreach(events, k, event) {
    n += strcmp(json_string_value(json_object_get(event, "event")), name) == 0 &&
         strcmp(json_string_value(json_object_get(event, "device_id")), device) == 0;
  }
  return n;
}

static json_t *read_events(void) {
  sct_str text = {0};
  if (sct_file_read(&text, fx_path("stream"), NULL) != SCT_OK) {
    return json_array();
  }
  for (size_t n = text.len; n > 0 && text.data[n - 1] != '\n'; n--) {
    text.data[n - 1] = '\0'; /* a line that is being written */
  }
  json_t *events = fx_events(sct_str_c(&text));
  sct_str_free(&text);
  return events;
}

static void wait_for_event(const char *name, const char *device) {
  for (int n = 0; n == 0; usleep(10000)) {
    json_t *events = read_events();
    n = count_of(events, name, device);
    json_decref(events);
  }
}

static int count_text(const char *text, const char *part) {
  int n = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

static void wait_for_text(const char *part, int times) {
  for (int n = 0; n < times; usleep(10000)) {
    sct_str said = {0};
    n = sct_file_read(&said, fx_path("stderr"), NULL) == SCT_OK ? count_text(sct_str_c(&said), part)
                                                                : 0;
    sct_str_free(&said);
  }
}

/* The GPU `device` is held by this process. */
static int hold(int device) {
  char name[32];
  int fd = -1;
  snprintf(name, sizeof name, "fake-1-%d", device);
  assert_int_equal(sct_lock_take(&fd, name, NULL), SCT_OK);
  return fd;
}

/* ---- tests ---- */

static void every_device_has_a_session(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=3 lock=1");
  fx_run(&r, TUNE, "-d", "cuda:2,cuda:0", "--json", "--events", "stream");
  fx_expect(&r, 0, NULL, "cuda:0: copy.lua: time 8/8");
  json_t *doc = fx_json(&r), *events = read_events();
  assert_int_equal(json_array_size(json_object_get(doc, "tuned")), 2);
  expect_tuned(doc, 0, "cuda:2", 0);
  expect_tuned(doc, 1, "cuda:0", 0);
  const json_t *event;
  size_t k;
  json_array_foreach(events, k, event) {
    assert_non_null(json_string_value(json_object_get(event, "device_id")));
  }
  assert_int_equal(count_of(events, "end", "cuda:0"), 1);
  assert_int_equal(count_of(events, "timed", "cuda:0"), 8);
  assert_int_equal(count_of(events, "timed", "cuda:2"), 8);
  assert_int_equal(count_of(events, "timed", "cuda:1"), 0);
  json_decref(events);
  json_decref(doc);
  fx_run(&r, "export", "--store", "many.db"); /* rows of each, by UUID */
  doc = fx_json(&r);
  assert_int_equal(json_array_size(json_object_get(doc, "devices")), 2);
  json_decref(doc);
  fx_run(&r, TUNE, "-d", "all");
  fx_expect(&r, 0, "copy on cuda:1 (Fake GPU, CC 9.0): timed", NULL);
  const char *text = sct_str_c(&r.out); /* in the order of devices, whoever was first */
  assert_true(strstr(text, "on cuda:0") < strstr(text, "on cuda:1"));
  assert_true(strstr(text, "on cuda:1") < strstr(text, "on cuda:2"));
  fx_run(&r, "emit", "copy.lua", "--store", "many.db"); /* of three alike it says which */
  fx_expect(&r, 0, "tuned too, alike, and left out: GPU-00000000-", NULL);
  fx_free(&r);
}

static void all_may_be_one_or_none(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=1");
  fx_run(&r, TUNE, "-d", "all", "--json");
  fx_expect(&r, 0, NULL, "copy.lua: time 8/8");
  json_t *doc = fx_json(&r);
  expect_tuned(doc, 0, "cuda:0", 0);
  json_decref(doc);
  fx_fake("none");
  fx_run(&r, TUNE, "-d", "all");
  fx_expect(&r, 4, NULL, "the fake driver was not found");
  fx_free(&r);
}

static void lists_that_make_no_sense(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=2");
  fx_run(&r, TUNE, "-d", "cuda:0,cuda:0");
  fx_expect(&r, 2, NULL, "--device: 'cuda:0' is given twice");
  fx_run(&r, TUNE, "-d", "cuda:0,");
  fx_expect(&r, 2, NULL, "expected ids with commas between them, as in cuda:0,cuda:1");
  fx_run(&r, TUNE, "-d", "cuda:0,cudo:1");
  fx_expect(&r, 2, NULL, "device 'cudo:1': unknown kind 'cudo'");
  fx_run(&r, TUNE, "-d", "cuda:1,cuda:2"); /* there is no such GPU: the other is tuned */
  fx_expect(&r, 4, "copy on cuda:1", "cuda:2: there is no device cuda:2");
  fx_free(&r);
}

/* One session ends while the other has not begun: they run side by side. */
static void one_does_not_wait_for_the_other(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=2 lock=1");
  unlink(fx_path("stream"));
  int lock = hold(0);
  const pid_t pid =
      fx_start((const char *const[]){TUNE, "-d", "cuda:0,cuda:1", "--events", "stream", NULL});
  wait_for_event("end", "cuda:1");
  json_t *events = read_events();
  assert_int_equal(count_of(events, "start", "cuda:0"), 0);
  json_decref(events);
  sct_lock_release(&lock);
  fx_finish(&r, pid);
  fx_expect(&r, 0, "copy on cuda:0", "sectile: cuda:0: warning: cuda:0 is being timed by");
  fx_free(&r);
}

static void one_that_fails_stops_no_other(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=3 lock=1 1:lost=3"); /* cuda:0 is held, cuda:1 falls off the bus */
  int lock = hold(0);
  const char *const words[] = {"tune",     "copy.lua", "--store", "fails.db", "--no-virtual-check",
                               "--assets", "assets",   "--json",  "-d",       NULL,
                               NULL};
  const char *list[SCT_COUNT(words)];
  memcpy(list, words, sizeof words);
  list[SCT_COUNT(words) - 2] = "cuda:0,cuda:1,cuda:2";
  fx_run_list(&r, list);
  fx_expect(&r, 75, NULL, "is being timed by process");
  json_t *doc = fx_json(&r);
  assert_int_equal(json_integer_value(json_object_get(doc, "exit_code")), 75);
  expect_tuned(doc, 0, "cuda:0", 75);
  expect_tuned(doc, 1, "cuda:1", 6);
  expect_tuned(doc, 2, "cuda:2", 0);
  json_decref(doc);
  list[SCT_COUNT(words) - 2] = "cuda:2,cuda:1,cuda:0"; /* the first in the list that failed */
  fx_run_list(&r, list);
  fx_expect(&r, 6, NULL, "sectile: cuda:1: ");
  sct_lock_release(&lock);
  fx_run(&r, "export", "--store", "fails.db"); /* what cuda:2 measured is stored */
  fx_expect(&r, 0, "GPU-00000000-0000-0000-0000-000000000002", NULL);
  fx_free(&r);
}

static void what_is_wrong_with_the_spec_is_said_once(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=2");
  fx_write("bad.lua", "return 1 +\n");
  fx_run(&r, "tune", "bad.lua", "copy.lua", "-d", "all", "--store", "many.db", "--no-virtual-check",
         "--assets", "assets");
  fx_expect(&r, 3, "copy on cuda:1", "bad.lua:");
  assert_int_equal(count_text(sct_str_c(&r.err), "bad.lua:2: error"), 1);
  fx_free(&r);
}

static void ctrl_c_ends_all_and_keeps_what_was_measured(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=3 lock=1");
  unlink(fx_path("stream"));
  int locks[] = {hold(0), hold(2)};
  const pid_t pid = fx_start((const char *const[]){TUNE, "-d", "all", "--json", "--store",
                                                   "ctrl.db", "--events", "stream", NULL});
  wait_for_text("waiting up to", 2);
  wait_for_event("end", "cuda:1");
  assert_int_equal(kill(pid, SIGINT), 0);
  fx_finish(&r, pid);
  fx_expect(&r, 130, NULL, "stopping after this step");
  json_t *doc = fx_json(&r);
  expect_tuned(doc, 0, "cuda:0", 130);
  expect_tuned(doc, 1, "cuda:1", 0);
  expect_tuned(doc, 2, "cuda:2", 130);
  json_decref(doc);
  fx_run(&r, "export", "--store", "ctrl.db");
  fx_expect(&r, 0, "GPU-00000000-0000-0000-0000-000000000001", NULL);
  sct_lock_release(&locks[0]);
  sct_lock_release(&locks[1]);
  fx_free(&r);
}

/* The process of the only session of `parent` that has not ended; 0: there are none or several. */
static pid_t session_of(pid_t parent) {
  DIR *proc = opendir("/proc");
  pid_t found = 0;
  int n = 0;
  assert_non_null(proc);
  for (const struct dirent *e = readdir(proc); e; e = readdir(proc)) {
    char path[300];
    sct_str stat = {0}, line = {0};
    long ppid = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
    if (atol(e->d_name) > 0 && sct_file_read(&stat, path, NULL) == SCT_OK) {
      const char *after = strrchr(sct_str_c(&stat), ')');
      ppid = after ? strtol(after + 4, NULL, 10) : 0;
      snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
    }
    if (ppid == parent && sct_file_read(&line, path, NULL) == SCT_OK && line.len > 0 &&
        memmem(line.data, line.len, "--session", 9)) {
      found = (pid_t)atol(e->d_name);
      n++;
    }
    sct_str_free(&stat);
    sct_str_free(&line);
  }
  closedir(proc);
  return n == 1 ? found : 0;
}

static void a_session_that_is_killed_takes_no_other_along(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=2 lock=1");
  unlink(fx_path("stream"));
  int lock = hold(1);
  const pid_t pid = fx_start((const char *const[]){TUNE, "-d", "all", "--json", "--store",
                                                   "killed.db", "--events", "stream", NULL});
  wait_for_event("end", "cuda:0");
  wait_for_text("cuda:1: warning: cuda:1 is being timed by", 1);
  pid_t session = session_of(pid);
  for (; session == 0 || kill(session, SIGKILL) != 0; session = session_of(pid)) {
  }
  fx_finish(&r, pid);
  sct_lock_release(&lock);
  fx_expect(&r, 1, NULL, "cuda:1: the session on cuda:1 ended by signal 9 (Killed)");
  json_t *doc = fx_json(&r), *events = read_events();
  expect_tuned(doc, 0, "cuda:0", 0);
  expect_tuned(doc, 1, "cuda:1", 1);
  assert_int_equal(count_of(events, "end", "cuda:1"), 1);
  json_decref(events);
  json_decref(doc);
  fx_free(&r);
}

#ifdef SCT_FAULTS
/* How often the program itself receives from its sessions, when nothing fails. */
static int count_receives(fx_result *r) {
  int n = 0;
  setenv("SCT_FAULTS", "count", 1);
  fx_run(r, TUNE, "-d", "cuda:0,cuda:1");
  const char *counts = strstr(sct_str_c(&r->err), "fault: count main");
  const char *receives = counts ? strstr(counts, " recv=") : NULL;
  assert_non_null(receives);
  assert_int_equal(sscanf(receives, " recv=%d", &n), 1);
  return n;
}

/* What a session says last is lost: its outcome is told already, so the loss is said besides. */
static void a_last_word_that_is_lost_is_said(void **state) {
  (void)state;
  fx_result r = {0};
  fx_fake("devices=2");
  int fired = 0;
  for (int n = count_receives(&r) + 2; fired < 3; n--) { /* progress makes some more or fewer */
    char fault[32];
    assert_true(n > 0);
    snprintf(fault, sizeof fault, "recv@main:%d", n);
    setenv("SCT_FAULTS", fault, 1);
    fx_run(&r, TUNE, "-d", "cuda:0,cuda:1");
    if (strstr(sct_str_c(&r.err), " fails\n")) {
      fx_expect(&r, 1, NULL, "; what it measured is stored");
      fired++;
    } else {
      fx_expect(&r, 0, "copy on cuda:1", NULL);
    }
  }
  unsetenv("SCT_FAULTS");
  fx_free(&r);
}
#endif

static void cores_are_shared(void **state) {
  (void)state;
  fx_result r = {0};
  char first[96], second[96];
  fx_fake("devices=2");
  const int n = sct_cores(), second_share = n / 2 > 0 ? n / 2 : 1;
  snprintf(first, sizeof first, "cuda:0: info: session 1 of 2, on %d cores", n - n / 2);
  snprintf(second, sizeof second, "cuda:1: info: session 2 of 2, on %d cores", second_share);
  fx_run(&r, TUNE, "-d", "all", "-v");
  fx_expect(&r, 0, NULL, first);
  fx_expect(&r, 0, NULL, second);
  fx_free(&r);
}

static void virtual_devices_at_once(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, TUNE, "-d", "virtual:h200,virtual:a100", "--max-candidates", "1", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  expect_tuned(doc, 0, "virtual:h200", 0);
  expect_tuned(doc, 1, "virtual:a100", 0);
  json_decref(doc);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_device_has_a_session),
      cmocka_unit_test(all_may_be_one_or_none),
      cmocka_unit_test(lists_that_make_no_sense),
      cmocka_unit_test(one_does_not_wait_for_the_other),
      cmocka_unit_test(one_that_fails_stops_no_other),
      cmocka_unit_test(what_is_wrong_with_the_spec_is_said_once),
      cmocka_unit_test(ctrl_c_ends_all_and_keeps_what_was_measured),
      cmocka_unit_test(a_session_that_is_killed_takes_no_other_along),
#ifdef SCT_FAULTS
      cmocka_unit_test(a_last_word_that_is_lost_is_said),
#endif
      cmocka_unit_test(cores_are_shared),
      cmocka_unit_test(virtual_devices_at_once),
  };
  return cmocka_run_group_tests(tests, set_up, fx_teardown);
}
