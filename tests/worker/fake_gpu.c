/* fake_gpu - a GPU that stands in for those of the driver, for tests of everything around one. A
 * program that links this file has it: whoever opens a device with a script
 * (sct_measure_opts.fake), or runs with one in the environment variable SECTILE_FAKE_GPU, gets it.
 *
 * It runs no code: the parent tells it (EXPECT) which bytes a kernel places in which buffer, and a
 * launch places them. A script makes chosen candidates fail. The script is a list of words, split
 * by spaces or commas:
 *   KIND@N=V    candidate N (0 the naive variant, 1 the first other binary loaded in the session,
 *               ...) has fault KIND from its V-th launch in a worker on; without @N every kernel,
 *               without =V from the first launch
 *   D:WORD      the word is of device cuda:D only
 *   ok          nothing
 *   wrong       one byte of an output is wrong          unwritten   its last bytes are not written
 *   guard       writes right behind an output           before      and right before it
 *   gap         writes every byte of an output that no element owns
 *   input       changes an input                        stray       changes another size's array
 *   hang        never ends                              crash       kills the worker
 *   exit        the worker exits                        noload      the image does not load
 *   child       starts a process of its own, and hangs
 *   refuse701   the launch is refused with result 701   sticky700   the launch ends with result 700
 *   slow@N=F    takes F times as long                   fast        takes 1 ns
 * and, for the device:
 *   none        there is no GPU                         devices=N   there are N (1)
 *   gone=G      the G-th worker and later ones cannot open it
 *   memory=B    it has B bytes
 *   cold=N      its first N timed units run at half the clock
 *   throttle=B  NVML tells throttle reasons B (bits of device_throttle.def), of each unit
 *   heat=N      and hardware slowdown, the first N times that it is asked
 *   lost=N      it falls off the bus at the N-th unit of a worker
 *   lock=N      it has the lock "fake-N"; without this word any number of sessions share it
 *   others=N    N other processes compute on it
 *   joins=N     another process begins to compute on it at the N-th sample of a worker
 *   leaves=N    and ends at this one
 *   late=N      launches are counted from the N-th sample of a worker on
 *   nopeer      another device's memory is out of its reach
 *   copies      kernels of two arrays whose output nobody expects copy the first to the second
 *   mode=M      it is in compute mode M (2 prohibited, 3 exclusive process)      mig   it is sliced
 *   mps=N       N clients of MPS compute on it */
#include "fake_launch.h"
#include "worker/worker_backend.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
#define FAULTS(X) \
  X(OK, "ok") X(WRONG, "wrong") X(UNWRITTEN, "unwritten") X(GUARD, "guard") \
  X(BEFORE, "before") X(GAP, "gap") X(INPUT, "input") X(STRAY, "stray") \
  X(HANG, "hang") X(CRASH, "crash") X(EXIT, "exit") X(CHILD, "child") \
  X(NOLOAD, "noload") X(REFUSE, "refuse") X(STICKY, "sticky") X(SLOW, "slow") \
  X(FAST, "fast") X(NONE, "none") X(DEVICES, "devices") X(GONE, "gone") \
  X(MEMORY, "memory") X(COLD, "cold") X(THROTTLE, "throttle") X(HEAT, "heat") \
  X(LOST, "lost") X(LOCK, "lock") X(OTHERS, "others") X(JOINS, "joins") \
  X(LEAVES, "leaves") X(LATE, "late") X(MODE, "mode") X(MIG, "mig") \
  X(MPS, "mps") X(NOPEER, "nopeer") X(COPIES, "copies")
/* clang-format on */
#define FAULT_ID(id, name)   FAULT_##id,
#define FAULT_NAME(id, name) name,
typedef enum fault_kind { FAULTS(FAULT_ID) N_FAULTS } fault_kind;
static const char *const fault_names[N_FAULTS] = {FAULTS(FAULT_NAME)};

typedef struct fault {
  fault_kind kind;
  int64_t device, candidate; /* -1: all */
  double value;              /* -1: not given */
  int result;                /* of refuse and sticky */
} fault;

#define MAX_FAULTS 32

typedef struct fake_script {
  fault faults[MAX_FAULTS];
  int n;
  int ordinal; /* of the device that reads it; -1: none yet */
} fake_script;

typedef struct allocation {
  uint8_t *raw;
  int64_t bytes;
} allocation;

typedef struct expectation {
  uint8_t *p;
  int64_t bytes;
  uint8_t *flags, *data;
  bool whole;         /* an element owns each byte */
  int64_t placed;     /* the unit in which it was placed; 0: none */
  uint64_t placed_as; /* by a kernel with these faults (bits) */
} expectation;

typedef struct fake_kernel {
  int64_t serial, launches;
} fake_kernel;

typedef struct fake_backend {
  sct_backend base;
  fake_script script;
  int last, pending; /* pending: a sticky result that the next synchronisation returns */
  int64_t used_bytes, limit_bytes;
  allocation *allocations;
  size_t n_allocations, cap_allocations;
  expectation *expectations;
  size_t n_expectations, cap_expectations;
  bool changed;    /* an input */
  double timer_ns; /* of what was queued since timer_start */
  int64_t unit;    /* that is under way: its number, from 1 on; 0: none */
  int64_t n_units;
  uint64_t samples;
  int64_t asked;  /* how often NVML was */
  int64_t looked; /* how often it was asked for other processes */
} fake_backend;

static fake_backend *self(sct_backend *b) {
  return (fake_backend *)b;
}

/* ---- the script ---- */

static sct_status parse_word(fault *out, const char *word, sct_error *err) {
  char name[32];
  const size_t digits = strspn(word, "0123456789");
  const bool of_one = digits > 0 && word[digits] == ':';
  const char *bare = of_one ? word + digits + 1 : word;
  const size_t len = strcspn(bare, "@=0123456789");
  const char *rest = bare + len;
  snprintf(name, sizeof name, "%.*s", (int)len, bare);
  *out = (fault){.kind = N_FAULTS, .device = -1, .candidate = -1, .value = -1};
  out->device = of_one ? strtoll(word, NULL, 10) : -1;
  int k;
  SCT_TRY(sct_names_choose(&k, SCT_NAMES(fault_names, N_FAULTS), name, err,
                           "fake GPU: unknown word '%s'", word));
  out->kind = (fault_kind)k;
  char *end = (char *)rest;
  if (*rest >= '0' && *rest <= '9') {
    out->result = (int)strtol(rest, &end, 10);
  }
  if (*end == '@') {
    out->candidate = strtoll(end + 1, &end, 10);
  }
  if (*end == '=') {
    out->value = strtod(end + 1, &end);
  }
  return *end == '\0' ? SCT_OK
                      : sct_fail(err, SCT_EUSAGE, "fake GPU: cannot read '%s' of '%s'", end, word);
}

static sct_status parse_script(fake_script *out, const char *text, int ordinal, sct_error *err) {
  *out = (fake_script){.ordinal = ordinal};
  while (*text != '\0') {
    const size_t len = strcspn(text, " ,");
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)len, text);
    if (len > 0) {
      if (out->n == MAX_FAULTS) {
        return sct_fail(err, SCT_EUSAGE, "fake GPU: more than %d words", MAX_FAULTS);
      }
      SCT_TRY(parse_word(&out->faults[out->n++], word, err));
    }
    text += len + (text[len] != '\0');
  }
  return SCT_OK;
}

/* The fault of this kind that a kernel has at this launch, or NULL. */
static const fault *find_fault(const fake_script *s, fault_kind kind, const fake_kernel *kernel) {
  for (int k = 0; k < s->n; k++) {
    const fault *f = &s->faults[k];
    const bool mine = (f->device < 0 || f->device == s->ordinal) &&
                      (f->candidate < 0 || (kernel && f->candidate == kernel->serial));
    const bool now = !kernel || kind == FAULT_SLOW || (double)kernel->launches >= f->value;
    if (f->kind == kind && mine && now) {
      return f;
    }
  }
  return NULL;
}

static double device_value(const fake_script *s, fault_kind kind, double otherwise) {
  const fault *f = find_fault(s, kind, NULL);
  return f ? f->value : otherwise;
}

static int fake_count(const char *script, sct_error *err) {
  fake_script s;
  if (parse_script(&s, script, -1, err) != SCT_OK) {
    return -1;
  }
  if (find_fault(&s, FAULT_NONE, NULL)) {
    (void)sct_fail(err, SCT_ENODEVICE, "the fake driver was not found");
    return -1;
  }
  return (int)device_value(&s, FAULT_DEVICES, 1);
}

static void describe(sct_device_desc *out, int ordinal, const fake_script *s) {
  *out = (sct_device_desc){
      .name = "Fake GPU",
      .cc_major = 9,
      .n_sms = 132,
      .smem_sm_bytes = 233472,
      .smem_block_bytes = 49152,
      .smem_block_optin_bytes = 232448,
      .smem_reserved_bytes = 1024,
      .regs_sm = 65536,
      .regs_thread = 255,
      .regs_unit = 256,
      .threads_sm = 2048,
      .threads_block = 1024,
      .blocks_sm = 32,
      .l2_bytes = 65536,
      .peak_bytes_s = 4.8e12,
      .memory_bytes = (int64_t)device_value(s, FAULT_MEMORY, 0x1p30),
      .clock_khz = 1980000,
      .driver = "fake",
  };
  snprintf(out->id, sizeof out->id, "cuda:%d", ordinal);
  snprintf(out->uuid, sizeof out->uuid, "GPU-00000000-0000-0000-0000-%012d", ordinal);
}

static sct_status fake_peek(sct_device_desc *out, int ordinal, const char *script, sct_error *err) {
  fake_script s;
  SCT_TRY(parse_script(&s, script, ordinal, err));
  describe(out, ordinal, &s);
  return SCT_OK;
}

#define OTHER_PID 4000 /* of the first other process */
#define FAKE_MHZ  1980.0

static sct_status fake_look(sct_device_desc *out, sct_gpu_state *state, char lock[64], int ordinal,
                            const char *script, sct_error *err) {
  fake_script s;
  SCT_TRY(parse_script(&s, script, ordinal, err));
  const int n = fake_count(script, err);
  if (n < 0 || ordinal < 0 || ordinal >= n) {
    return n < 0 ? SCT_ENODEVICE
                 : sct_fail(err, SCT_ENODEVICE, "there is no device cuda:%d", ordinal);
  }
  describe(out, ordinal, &s);
  *state = (sct_gpu_state){.known = true,
                           .mig = find_fault(&s, FAULT_MIG, NULL) != NULL,
                           .compute_mode = (int)device_value(&s, FAULT_MODE, 0),
                           .mps_clients = (int)device_value(&s, FAULT_MPS, 0),
                           .sm_mhz = FAKE_MHZ,
                           .sm_max_mhz = FAKE_MHZ,
                           .throttle = (uint64_t)device_value(&s, FAULT_THROTTLE, 0),
                           .ecc_errors = 0,
                           .celsius = 40};
  state->n_others = (int)device_value(&s, FAULT_OTHERS, 0) + state->mps_clients;
  while (state->n_processes < state->n_others && state->n_processes < SCT_COUNT(state->processes)) {
    const int k = state->n_processes++;
    state->processes[k] = (sct_gpu_process){.pid = OTHER_PID + k, .bytes = 1 << 20, .name = "else"};
  }
  const fault *named = find_fault(&s, FAULT_LOCK, NULL);
  if (named) {
    snprintf(lock, 64, "fake-%d-%d", (int)named->value, ordinal);
  }
  return SCT_OK;
}

/* ---- memory ---- */

static sct_status fail(fake_backend *f, int result, const char *what, sct_error *err) {
  f->last = result;
  return sct_fail(err, result == 2 ? SCT_ENOMEM : SCT_EINTERNAL, "%s failed: %s (%d), %s", what,
                  sct_cuda_result_name(result), result, sct_cuda_result_text(result));
}

static sct_status fake_alloc(sct_backend *b, sct_cuda_ptr *out, int64_t bytes, sct_error *err) {
  fake_backend *f = self(b);
  if (f->used_bytes + bytes > f->limit_bytes || sct_fault(SCT_FAULT_DRIVER)) {
    return fail(f, 2, "cuMemAlloc", err);
  }
  SCT_GROW(f->allocations, f->n_allocations, f->cap_allocations);
  uint8_t *raw = sct_alloc((size_t)bytes);
  f->allocations[f->n_allocations++] = (allocation){raw, bytes};
  f->used_bytes += bytes;
  *out = (uintptr_t)raw;
  return SCT_OK;
}

static void forget(fake_backend *f, const uint8_t *from, const uint8_t *to) {
  for (size_t k = f->n_expectations; k-- > 0;) {
    expectation *e = &f->expectations[k];
    if (e->p >= from && e->p < to) {
      sct_free(e->flags);
      sct_free(e->data);
      *e = f->expectations[--f->n_expectations];
    }
  }
}

static void fake_release(sct_backend *b, sct_cuda_ptr p) {
  fake_backend *f = self(b);
  for (size_t k = 0; k < f->n_allocations; k++) {
    allocation *a = &f->allocations[k];
    if (a->raw == sct_host(p)) {
      forget(f, a->raw, a->raw + a->bytes);
      f->used_bytes -= a->bytes;
      sct_free(a->raw);
      *a = f->allocations[--f->n_allocations];
      return;
    }
  }
}

#define LAUNCH_NS       2.0
#define BYTES_PER_NS    4000.0 /* of a kernel: 4 TB/s */
#define MEMCPY_PER_NS   4200.0
#define OWN_COPY_PER_NS 4100.0
#define JITTER          0.001 /* each way, evenly spread */
#define SM_CLOCK_MHZ    1980.0

static sct_status fake_copy(sct_backend *b, int variant, sct_cuda_ptr to, sct_cuda_ptr from,
                            int64_t bytes, sct_error *err) {
  (void)err;
  if (bytes > 0) {
    memcpy(sct_host(to), sct_host(from), (size_t)bytes);
  }
  self(b)->timer_ns +=
      LAUNCH_NS + 2.0 * (double)bytes / (variant == 0 ? MEMCPY_PER_NS : OWN_COPY_PER_NS);
  return SCT_OK;
}

static sct_status fake_expect(sct_backend *b, sct_cuda_ptr p, const uint8_t *flags,
                              const uint8_t *data, int64_t bytes, sct_error *err) {
  (void)err;
  fake_backend *f = self(b);
  forget(f, sct_host(p), sct_host(p) + 1);
  expectation e = {.p = sct_host(p),
                   .bytes = bytes,
                   .whole = bytes > 0 && memchr(flags, 0, (size_t)bytes) == NULL};
  e.flags = sct_alloc((size_t)bytes + 1);
  e.data = sct_alloc((size_t)bytes + 1);
  SCT_GROW(f->expectations, f->n_expectations, f->cap_expectations);
  memcpy(e.flags, flags, (size_t)bytes);
  memcpy(e.data, data, (size_t)bytes);
  f->expectations[f->n_expectations++] = e;
  return SCT_OK;
}

/* ---- kernels ---- */

static sct_status fake_load(sct_backend *b, sct_cuda_kernel *out, const void *image,
                            const char *entry, int64_t shared_bytes, int64_t serial,
                            sct_error *err) {
  (void)image;
  (void)entry;
  (void)shared_bytes;
  const fake_kernel probe = {.serial = serial};
  if (sct_fault(SCT_FAULT_DRIVER) || find_fault(&self(b)->script, FAULT_NOLOAD, &probe)) {
    return fail(self(b), 200, "cuModuleLoadData", err);
  }
  fake_kernel *kernel = sct_alloc(sizeof *kernel);
  kernel->serial = serial;
  *out = (sct_cuda_kernel){kernel, kernel};
  return SCT_OK;
}

static void fake_unload(sct_backend *b, sct_cuda_kernel *kernel) {
  (void)b;
  sct_free(kernel->module);
  *kernel = (sct_cuda_kernel){0};
}

/* The memory that arguments of a launch lie in, which has further copies of their arrays, too. */
typedef struct touched {
  const uint8_t *from[SCT_MAX_ARGS], *to[SCT_MAX_ARGS];
  int n;
} touched;

static void find_touched(touched *out, const fake_backend *f, const sct_launch *launch) {
  out->n = 0;
  for (size_t a = 0; a < f->n_allocations; a++) {
    const uint8_t *from = f->allocations[a].raw, *to = from + f->allocations[a].bytes;
    bool holds = false;
    for (int k = 0; k < launch->n_args && !holds; k++) {
      const uint8_t *arg = sct_host(launch->args[k].value[0]);
      holds = launch->args[k].bytes == sizeof(uint64_t) && arg >= from && arg < to;
    }
    out->from[out->n] = from;
    out->to[out->n] = to;
    out->n += holds && out->n < SCT_MAX_ARGS - 1;
  }
}

static bool is_touched(const touched *t, const uint8_t *p) {
  int k = 0;
  while (k < t->n && (p < t->from[k] || p >= t->to[k])) {
    k++;
  }
  return k < t->n;
}

static bool is_output(const fake_backend *f, const uint8_t *p) {
  for (size_t k = 0; k < f->n_expectations; k++) {
    if (f->expectations[k].p == p) {
      return true;
    }
  }
  return false;
}

/* Changes the first byte of the data of an allocation that is no output: an argument of this launch
 * or (stray) none. */
static void change_input(fake_backend *f, const sct_launch *launch, bool stray, int64_t guard) {
  for (size_t k = 0; k < f->n_allocations; k++) {
    uint8_t *p = f->allocations[k].raw + guard;
    if (f->allocations[k].bytes > 2 * guard + 15 && !is_output(f, p) &&
        fake_is_argument(launch, p) != stray && !f->changed) {
      *p ^= 0x40;
      f->changed = true; /* the next launch must not undo it */
      return;
    }
  }
}

#define UNWRITTEN_BYTES 16

/* The faults that concern the bytes of an output, as bits. */
static uint64_t byte_faults(const fake_backend *f, const fake_kernel *kernel) {
  static const fault_kind kinds[] = {FAULT_UNWRITTEN, FAULT_GAP, FAULT_WRONG, FAULT_GUARD,
                                     FAULT_BEFORE};
  uint64_t bits = 0;
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    bits |= find_fault(&f->script, kinds[k], kernel) ? (uint64_t)1 << kinds[k] : 0;
  }
  return bits;
}

static bool has(uint64_t bits, fault_kind kind) {
  return (bits >> kind & 1) != 0;
}

static void place_bytes(const expectation *e, uint64_t faults) {
  int64_t left = has(faults, FAULT_UNWRITTEN) ? UNWRITTEN_BYTES : 0;
  const bool gap = has(faults, FAULT_GAP);
  bool wrong = has(faults, FAULT_WRONG);
  for (int64_t k = e->bytes - 1; k >= 0; k--) {
    if (e->flags[k] == 0) {
      e->p[k] = gap ? 0x77 : e->p[k];
    } else if (left > 0) {
      left--;
    } else {
      e->p[k] = wrong && k <= e->bytes / 2 ? e->data[k] ^ 0x40 : e->data[k];
      wrong = wrong && k > e->bytes / 2;
    }
  }
}

/* Places the expected bytes of one output. A unit may launch a quick kernel often, and how long
 * that takes here must not look like a hang: what was placed in it stays as it is. */
static void place(const fake_backend *f, expectation *e, const fake_kernel *kernel) {
  const uint64_t faults = byte_faults(f, kernel);
  if (f->unit > 0 && e->placed == f->unit && e->placed_as == faults) {
    return;
  }
  e->placed = f->unit;
  e->placed_as = faults;
  if (e->whole && faults == 0) {
    memcpy(e->p, e->data, (size_t)e->bytes);
  } else {
    place_bytes(e, faults);
  }
  if (has(faults, FAULT_GUARD)) {
    e->p[e->bytes] = 0xff;
  }
  if (has(faults, FAULT_BEFORE)) {
    e->p[-1] = 0xff;
  }
}

/* Faults that end the launch, and perhaps the process. */
static sct_status fail_launch(fake_backend *f, const fake_kernel *kernel, sct_error *err) {
  if (find_fault(&f->script, FAULT_CRASH, kernel)) {
    kill(getpid(), SIGKILL);
  }
  if (find_fault(&f->script, FAULT_EXIT, kernel)) {
    _exit(3);
  }
  const bool child = find_fault(&f->script, FAULT_CHILD, kernel) && sct_fork() >= 0;
  while (child || find_fault(&f->script, FAULT_HANG, kernel)) {
    pause();
  }
  const fault *refuse = find_fault(&f->script, FAULT_REFUSE, kernel);
  const fault *sticky = find_fault(&f->script, FAULT_STICKY, kernel);
  f->pending = sticky ? sticky->result : f->pending;
  return refuse ? fail(f, refuse->result, "cuLaunchKernel", err) : SCT_OK;
}

static sct_status fake_launch(sct_backend *b, const sct_cuda_kernel *kernel,
                              const sct_launch *launch, sct_error *err) {
  fake_backend *f = self(b);
  fake_kernel *k = kernel->function;
  const int64_t guard = 4096;
  if (sct_fault(SCT_FAULT_DRIVER)) {
    return fail(f, 701, "cuLaunchKernel", err);
  }
  SCT_TRY(fail_launch(f, k, err));
  touched memory;
  double bytes = 0;
  bool expected = false;
  find_touched(&memory, f, launch);
  for (size_t e = 0; e < f->n_expectations; e++) {
    expectation *x = &f->expectations[e];
    if (fake_is_argument(launch, x->p)) {
      place(f, x, k);
      expected = true;
    }
    bytes += is_touched(&memory, x->p) ? 2.0 * (double)x->bytes : 0.0;
  }
  if (!expected && find_fault(&f->script, FAULT_COPIES, NULL)) {
    fake_copy_arrays(launch);
  }
  if (find_fault(&f->script, FAULT_INPUT, k)) {
    change_input(f, launch, false, guard);
  }
  if (find_fault(&f->script, FAULT_STRAY, k)) {
    change_input(f, launch, true, guard);
  }
  const fault *slow = find_fault(&f->script, FAULT_SLOW, k);
  f->timer_ns += LAUNCH_NS + (find_fault(&f->script, FAULT_FAST, k)
                                  ? 1.0
                                  : bytes / BYTES_PER_NS * (slow ? slow->value : 1.0));
  k->launches += (double)f->looked >= device_value(&f->script, FAULT_LATE, 0);
  return SCT_OK;
}

static sct_status fake_sync(sct_backend *b, sct_error *err) {
  fake_backend *f = self(b);
  f->pending = sct_fault(SCT_FAULT_DRIVER) ? 719 : f->pending;
  return f->pending ? fail(f, f->pending, "cuStreamSynchronize", err) : SCT_OK;
}

static sct_status fake_timer_start(sct_backend *b, sct_error *err) {
  (void)err;
  self(b)->timer_ns = 0;
  return SCT_OK;
}

static sct_status fake_timer_stop(sct_backend *b, double *ns, sct_error *err) {
  fake_backend *f = self(b);
  SCT_TRY(fake_sync(b, err));
  const double unit = (double)(sct_mix64(1, f->samples++) >> 11) * 0x1p-53;
  *ns = f->timer_ns * (1.0 + JITTER * (2.0 * unit - 1.0));
  return SCT_OK;
}

static sct_status fake_unit_begin(sct_backend *b, sct_error *err) {
  fake_backend *f = self(b);
  f->unit = ++f->n_units;
  return fake_timer_start(b, err);
}

static sct_status fake_unit_end(sct_backend *b, double *ns, double *mhz, sct_error *err) {
  self(b)->unit = 0;
  const fault *cold = find_fault(&self(b)->script, FAULT_COLD, NULL);
  *mhz = cold && (double)self(b)->samples < cold->value ? SM_CLOCK_MHZ / 2 : SM_CLOCK_MHZ;
  SCT_TRY(fake_timer_stop(b, ns, err));
  *ns *= SM_CLOCK_MHZ / *mhz;
  return SCT_OK;
}

static sct_status fake_check_health(sct_backend *b, uint64_t *reasons, sct_error *err) {
  fake_backend *f = self(b);
  const double unit = (double)f->samples;
  if (unit >= device_value(&f->script, FAULT_LOST, 1e18)) {
    return fail(f, 999, "watching the GPU", err);
  }
  *reasons = (uint64_t)device_value(&f->script, FAULT_THROTTLE, 0);
  *reasons |= (double)f->asked++ < device_value(&f->script, FAULT_HEAT, 0) ? 0x40 : 0;
  return SCT_OK;
}

static int fake_newcomers(sct_backend *b, sct_gpu_process *first) {
  fake_backend *f = self(b);
  const double sample = (double)f->looked++;
  *first = (sct_gpu_process){.pid = OTHER_PID, .bytes = 1 << 20, .name = "else"};
  return sample >= device_value(&f->script, FAULT_JOINS, 1e18) &&
         sample < device_value(&f->script, FAULT_LEAVES, 1e18);
}

static sct_status fake_launch_empty(sct_backend *b, sct_error *err) {
  (void)err;
  self(b)->timer_ns += LAUNCH_NS;
  return SCT_OK;
}

static sct_status fake_block_open(sct_backend *b, sct_backend *peer, sct_host_block *out,
                                  sct_host_kind kind, int64_t bytes, sct_error *err) {
  fake_backend *f = self(b);
  if (kind == SCT_HOST_PEER && find_fault(&f->script, FAULT_NOPEER, NULL)) {
    return fail(f, 217, "cuDeviceCanAccessPeer", err);
  }
  return sct_host_block_open(b, peer, out, kind, bytes, err);
}

/* ---- the device itself ---- */

static int fake_last(sct_backend *b) {
  const int last = self(b)->last;
  self(b)->last = 0;
  return last;
}

static void fake_close(sct_backend *b) {
  fake_backend *f = self(b);
  for (size_t k = 0; k < f->n_expectations; k++) {
    sct_free(f->expectations[k].flags);
    sct_free(f->expectations[k].data);
  }
  for (size_t k = 0; k < f->n_allocations; k++) {
    sct_free(f->allocations[k].raw);
  }
  sct_free(f->expectations);
  sct_free(f->allocations);
  sct_free(f);
}

static sct_status checksum(sct_backend *b, const sct_region *regions, int n, uint64_t *sums,
                           sct_error *err) {
  (void)b;
  (void)err;
  for (int k = 0; k < n; k++) {
    sums[k] =
        sct_region_sum(sct_host(regions[k].base) + regions[k].lo, regions[k].lo, regions[k].hi);
  }
  return SCT_OK;
}

static const sct_backend_ops fake_ops = {
    .close = fake_close,
    .last = fake_last,
    .alloc = fake_alloc,
    .release = fake_release,
    .upload = sct_host_upload,
    .download = sct_host_download,
    .scatter = sct_host_scatter,
    .gather = sct_host_gather,
    .set = sct_host_set,
    .copy = fake_copy,
    .load = fake_load,
    .unload = fake_unload,
    .launch = fake_launch,
    .sync = fake_sync,
    .timer_start = fake_timer_start,
    .timer_stop = fake_timer_stop,
    .unit_begin = fake_unit_begin,
    .unit_end = fake_unit_end,
    .launch_empty = fake_launch_empty,
    .check_health = fake_check_health,
    .newcomers = fake_newcomers,
    .fill = sct_host_fill,
    .checksum = checksum,
    .compare = sct_host_compare,
    .expect = fake_expect,
    .block_open = fake_block_open,
    .block_close = sct_host_block_close,
    .transfer = sct_host_transfer,
    .n_copies = 2,
};

static sct_status fake_open(sct_backend **out, int ordinal, const char *script, int64_t generation,
                            sct_error *err) {
  fake_script parsed;
  SCT_TRY(parse_script(&parsed, script, ordinal, err));
  const int n = fake_count(script, err);
  if (n < 0 || ordinal < 0 || ordinal >= n) {
    return n < 0 ? SCT_ENODEVICE
                 : sct_fail(err, SCT_ENODEVICE, "there is no device cuda:%d", ordinal);
  }
  if ((double)generation >= device_value(&parsed, FAULT_GONE, 1e9)) {
    return sct_fail(err, SCT_EUNHEALTHY, "cuInit failed: CUDA_ERROR_UNKNOWN (999)");
  }
  fake_backend *f = sct_alloc(sizeof *f);
  f->base.ops = &fake_ops;
  f->script = parsed;
  describe(&f->base.desc, ordinal, &parsed);
  f->limit_bytes = (int64_t)device_value(&parsed, FAULT_MEMORY, 0x1p30);
  *out = &f->base;
  return SCT_OK;
}

static const char *fake_in_environment(void) {
  return getenv("SECTILE_FAKE_GPU");
}

static const sct_gpu_stand_in fake_gpu = {.script = fake_in_environment,
                                          .count = fake_count,
                                          .peek = fake_peek,
                                          .look = fake_look,
                                          .open = fake_open};

__attribute__((constructor)) static void stand_in(void) {
  sct_worker_stand_in = &fake_gpu;
}
