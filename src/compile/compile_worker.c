/* compile_worker - the child's side: reads jobs, compiles, answers. It runs with limits on address
 * space and processor time, and may die of what it compiles. */
#include "compile/compile_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct state {
  sct_compile_engine engine;
  bool loaded;
  sct_wire in, out;
} state;

/* ---- dying of too little memory */

static int64_t memory_limit;          /* 0: none */
static char handler_stack[64 * 1024]; /* a stack overflow leaves none */

/* The most address space this process ever had, without asking for memory. */
static int64_t peak_bytes(void) {
  char text[2048];
  const int fd = sct_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
  const ssize_t n = fd >= 0 ? sct_read(fd, text, sizeof(text) - 1) : 0;
  if (fd >= 0) {
    (void)sct_close(fd);
  }
  text[n > 0 ? n : 0] = '\0';
  const char *const at = strstr(text, "VmPeak:");
  int64_t kib = 0;
  for (const char *c = at != NULL ? at + strlen("VmPeak:") : ""; *c != '\0' && *c != 'k'; ++c) {
    kib = *c >= '0' && *c <= '9' ? kib * 10 + (*c - '0') : kib;
  }
  return kib * 1024;
}

/* NVRTC does not check every allocation: what falls over close to the limit fell over it. */
static bool is_short_of_memory(void) {
  return memory_limit > 0 && peak_bytes() > memory_limit - memory_limit / 8;
}

static void on_fatal(int number) {
  if (is_short_of_memory()) {
    _exit(sct_exit_code(SCT_ENOMEM));
  }
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

static void watch_memory(void) {
  struct rlimit r;
  if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY) {
    return;
  }
  memory_limit = (int64_t)r.rlim_cur;
  const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
  struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | SA_RESETHAND};
  if (sigaltstack(&stack, NULL) == 0) {
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
    (void)sigaction(SIGABRT, &action, NULL);
  }
}

/* ---- jobs */

static sct_status load(state *s, sct_error *err) {
  if (!s->loaded) {
    SCT_TRY(sct_compile_nvrtc_load(&s->engine.nvrtc, err));
    s->loaded = true;
  }
  return SCT_OK;
}

static sct_status malformed(sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "a compile worker cannot read what it is asked");
}

/* The units of a message, which keeps their texts, as items with room for results. */
static sct_compile_item *items_of(const sct_ask_group *ask, sct_arena *arena) {
  const int64_t n = ask->n_units;
  sct_compile_item *const items = SCT_ARENA_NEW(arena, sct_compile_item, n);
  sct_compile_unit *const units = SCT_ARENA_NEW(arena, sct_compile_unit, n);
  sct_compiled *const results = SCT_ARENA_NEW(arena, sct_compiled, n);
  for (int64_t i = 0; i < n; ++i) {
    const sct_ask_unit *const unit = &ask->units[i];
    units[i] = (sct_compile_unit){unit->source, unit->kernel, unit->foreign};
    items[i] = (sct_compile_item){.in = &units[i],
                                  .out = &results[i],
                                  .key = unit->key,
                                  .alone = unit->alone,
                                  .expression = unit->expression};
    (void)snprintf(items[i].space, sizeof(items[i].space), "%s", unit->space);
  }
  return items;
}

static void begin_job(state *s, const sct_compile_job *job) {
  sct_process_limit_cpu(job->limit_ns + job->limit_ns / 4);
  s->engine.options = job->options;
  s->engine.n_options = (int)job->n_options;
  s->engine.limit_ns = job->limit_ns;
  s->engine.deadline_ns = sct_now_ns() + job->limit_ns;
}

void (*sct_compile_misbehave)(const char *source);

static sct_status serve_group(state *s, sct_error *err) {
  sct_ask_group ask;
  if (!sct_wire_get_whole(&s->in, sct_ask_group_table(), &ask)) {
    return malformed(err);
  }
  begin_job(s, &ask.job);
  const int n = (int)ask.n_units;
  SCT_SCOPED(sct_arena) arena = {0};
  sct_compile_item *const items = items_of(&ask, &arena);
  sct_compile_item **const list = SCT_ARENA_NEW(&arena, sct_compile_item *, n);
  for (int i = 0; i < n; ++i) {
    list[i] = &items[i];
    if (sct_compile_misbehave != NULL) {
      sct_compile_misbehave(items[i].in->source);
    }
  }
  const sct_status status = sct_compile_group(&s->engine, list, n, err);
  for (int i = 0; i < n; ++i) { /* a program that fails is taken apart in another order */
    list[i] = &items[i];
  }
  if (status == SCT_OK) {
    sct_compile_put_results(&s->out, list, n);
  }
  for (int i = 0; i < n; ++i) {
    sct_compiled_free(items[i].out);
  }
  sct_compile_objects_free(&s->engine.objects);
  return status;
}

static sct_status serve_file(state *s, sct_error *err) {
  sct_ask_file ask;
  if (!sct_wire_get_whole(&s->in, sct_ask_file_table(), &ask)) {
    return malformed(err);
  }
  begin_job(s, &ask.job);
  const sct_compile_file file = {ask.path, ask.kernels, (int)ask.n_kernels, ask.text};
  sct_compiled_file out = {.unknown = -1};
  const sct_status status = sct_compile_whole(&s->engine, &out, &file, ask.stand_ins, err);
  if (status == SCT_OK) {
    sct_compile_put_file(&s->out, &out);
  }
  sct_compiled_file_free(&out);
  sct_compile_objects_free(&s->engine.objects);
  return status;
}

static sct_status serve_about(state *s) {
  sct_wire_put(&s->out, sct_got_about_table(), &(sct_got_about){s->engine.nvrtc.about});
  return SCT_OK;
}

/* One request. false: the parent is gone, or memory is. */
static bool serve(state *s) {
  uint32_t op = 0;
  sct_error err = {0};
  if (sct_wire_recv(SCT_CHILD_FD, &op, &s->in, SCT_NO_DEADLINE) != SCT_IO_OK) {
    return false;
  }
  sct_wire_clear(&s->out);
  sct_status status = load(s, &err);
  SCT_THEN(op == SCT_COMPILE_OP_ABOUT   ? serve_about(s)
           : op == SCT_COMPILE_OP_GROUP ? serve_group(s, &err)
                                        : serve_file(s, &err));
  if (status == SCT_ENOMEM) { /* of NVRTC: nothing here is to be relied on any more */
    _exit(sct_exit_code(SCT_ENOMEM));
  }
  if (status != SCT_OK) {
    sct_wire_clear(&s->out);
    sct_wire_put_text(&s->out, err.text);
  }
  return sct_wire_send(SCT_CHILD_FD, (uint32_t)status, &s->out, SCT_NO_DEADLINE) == SCT_IO_OK;
}

/* In a thread, for its stack: NVRTC recurses, and may not raise the process' limit. */
static void *work(void *unused) {
  state *const s = sct_alloc(sizeof(*s));
  (void)unused;
  watch_memory();
  while (serve(s)) {
  }
  sct_wire_free(&s->in);
  sct_wire_free(&s->out);
  sct_free(s);
  return NULL;
}

int sct_compile_worker_main(int argc, char **argv) {
  pthread_attr_t attributes;
  pthread_t thread;
  const int refused = sct_process_enter(argc, argv);
  if (refused != 0) {
    return refused;
  }
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstacksize(&attributes, SCT_COMPILE_STACK_BYTES) != 0 ||
      sct_thread_create(&thread, &attributes, work, NULL) != 0) {
    return 1;
  }
  (void)pthread_attr_destroy(&attributes);
  (void)pthread_join(thread, NULL);
  return 0;
}
