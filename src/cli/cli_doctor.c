/* The command `doctor`: checks everything a session needs and tells what to do about what is
 * missing. Each look is a row of the table at the end; none of them needs a GPU or a toolkit. */
#include "cli/cli_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LEAST_BYTES     (64.0 * 1024 * 1024)   /* below, a session may fail */
#define ENOUGH_BYTES    (1024.0 * 1024 * 1024) /* below, a word of warning */
#define HOT_CELSIUS     85
#define MAX_GPUS        32 /* device files looked for */
#define MODE_PROHIBITED 2
#define MODE_EXCLUSIVE  3

typedef enum level { FINE, WARN, FAIL } level;
static const char *const level_names[] = {"ok", "warn", "fail"};

typedef struct doctor {
  const cli_args *args;
  sct_measure_opts measure;
  json_t *checks;
  sct_status worst; /* SCT_OK: usable */
  /* what the first looks found */
  sct_device_desc device; /* to be tuned on: a GPU or a described one */
  sct_gpu_state state;
  bool is_gpu, has_nvrtc, busy;
} doctor;

/* ---- what was seen ---- */

/* Ranks failures: the one that tells more about the machine decides the exit code. */
static int weight(sct_status status) {
  static const sct_status order[] = {SCT_OK,    SCT_EIO,    SCT_EBUSY,     SCT_ENOTVERIFIED,
                                     SCT_EDATA, SCT_ENVRTC, SCT_ENODEVICE, SCT_EUNHEALTHY};
  for (int k = 0; k < SCT_COUNT(order); k++) {
    if (order[k] == status) {
      return k;
    }
  }
  return 1;
}

/* One line. `status` matters for FAIL only; `hint` may be NULL. */
SCT_PRINTF(6, 7)
static void say(doctor *d, level l, sct_status status, const char *name, const char *hint,
                const char *fmt, ...) {
  SCT_SCOPED(sct_str) seen = {0};
  SCT_STR_FORMAT(&seen, fmt);
  json_array_append_new(
      d->checks, json_pack("{s:s, s:s, s:o, s:o}", "name", name, "level", level_names[l], "text",
                           sct_json_string(sct_str_c(&seen)), "hint", sct_json_string(hint)));
  if (l == FAIL && weight(status) > weight(d->worst)) {
    d->worst = status;
  }
}

/* ---- the GPU ---- */

/* No driver is a failure only where a GPU was asked for. */
static void look_at_driver(doctor *d) {
  SCT_OWNED sct_device_desc *gpus = NULL;
  sct_error err = {0};
  int n = 0;
  const bool wanted = d->args->device && sct_has_prefix(d->args->device, "cuda:");
  const sct_status status = sct_measure_list(&gpus, &n, &d->measure, &err);
  if (status != SCT_OK) {
    say(d, FAIL, SCT_EUNHEALTHY, "driver", "try nvidia-smi; the GPU may need an administrator",
        "%s", err.text);
  } else if (n == 0) {
    say(d, wanted ? FAIL : WARN, SCT_ENODEVICE, "driver",
        "without a GPU candidates are verified, counted and predicted, not timed", "%s", err.text);
  } else {
    say(d, FINE, SCT_OK, "driver", NULL, "%d GPU%s, driver %s", n, n == 1 ? "" : "s",
        gpus[0].driver);
  }
  for (int k = 0; k < n; k++) {
    char memory[32];
    say(d, FINE, SCT_OK, gpus[k].id, NULL, "%s, CC %d.%d, %d SMs, %s, %s", gpus[k].name,
        gpus[k].cc_major, gpus[k].cc_minor, gpus[k].n_sms,
        sct_format_bytes(memory, (double)gpus[k].memory_bytes), gpus[k].uuid);
  }
  d->is_gpu = wanted || (!d->args->device && n > 0);
}

static void look_at_modes(doctor *d) {
  const sct_gpu_state *s = &d->state;
  const char *mode = sct_compute_mode_name(s->compute_mode);
  if (s->compute_mode == MODE_PROHIBITED) {
    say(d, FAIL, SCT_ENODEVICE, "mode", "`nvidia-smi -c 0` by an administrator allows it",
        "compute mode %s: nothing may compute on this GPU", mode);
  } else {
    say(d, FINE, SCT_OK, "mode",
        s->compute_mode == MODE_EXCLUSIVE ? "one process at a time may use this GPU, which is fine"
                                          : NULL,
        "compute mode %s%s", mode,
        s->mig         ? ", cut into slices (MIG)"
        : s->mig_slice ? ", a slice of a GPU (MIG)"
                       : "");
  }
}

static void look_at_others(doctor *d) {
  const sct_gpu_state *s = &d->state;
  if (s->n_others == 0) {
    say(d, FINE, SCT_OK, "processes", NULL, "nobody else computes on it");
    return;
  }
  SCT_SCOPED(sct_str) names = {0};
  for (int k = 0; k < s->n_processes; k++) {
    sct_str_printf(&names, "%s%lld%s%s%s", k > 0 ? ", " : "", (long long)s->processes[k].pid,
                   s->processes[k].name[0] ? " (" : "", s->processes[k].name,
                   s->processes[k].name[0] ? ")" : "");
  }
  say(d, WARN, SCT_OK, "processes", "times will be marked as contended", "%d other%s: %s",
      s->n_others, s->n_others == 1 ? "" : "s", sct_str_c(&names));
}

static void look_at_clocks(doctor *d) {
  const sct_gpu_state *s = &d->state;
  SCT_SCOPED(sct_str) reasons = {0};
  sct_throttle_names(&reasons, s->throttle, ", ");
  const bool hardware = sct_throttle_hardware(s->throttle) != 0;
  const bool hot = s->celsius >= HOT_CELSIUS;
  say(d, hardware || hot ? WARN : FINE, SCT_OK, "clocks",
      hardware ? "samples will be repeated until it is over"
      : hot    ? "cool it"
               : NULL,
      "SM %.0f of %.0f MHz, memory %.0f of %.0f MHz, %d degrees; held back by: %s", s->sm_mhz,
      s->sm_max_mhz, s->memory_mhz, s->memory_max_mhz, s->celsius,
      reasons.len > 0 ? sct_str_c(&reasons) : "nothing");
  if (s->ecc_errors > 0) {
    say(d, WARN, SCT_OK, "memory", "the GPU may need an administrator",
        "%lld uncorrected memory errors since the driver was loaded", (long long)s->ecc_errors);
  }
}

static void look_at_lock(doctor *d, const char *name) {
  sct_error err = {0};
  int fd = -1;
  if (name[0] == '\0') {
    return;
  }
  const sct_status status = sct_lock_take(&fd, name, &err);
  sct_lock_release(&fd);
  d->busy = status == SCT_EBUSY;
  if (status == SCT_OK) {
    say(d, FINE, SCT_OK, "lock", NULL, "%s is free", d->device.id);
  } else if (d->busy) {
    say(d, WARN, SCT_OK, "lock", "`tune --wait TIME` waits for it", "%s is being timed by %s",
        d->device.id, err.text);
  } else {
    say(d, FAIL, SCT_EIO, "lock", NULL, "%s", err.text);
  }
}

static void look_at_device(doctor *d) {
  sct_error err = {0};
  char lock[64] = "";
  sct_status status;
  if (!d->is_gpu) {
    const sct_tune_opts opts = {.device =
                                    d->args->device ? d->args->device : "virtual:" CLI_VIRTUAL};
    status = sct_tune_device(&d->device, &opts, &err);
    if (status != SCT_OK) {
      say(d, FAIL, status, "device", NULL, "%s", err.text);
      d->device.id[0] = '\0';
    }
    return;
  }
  const char *id = d->args->device ? d->args->device : "cuda:0";
  status = sct_measure_look(&d->device, &d->state, lock, (int)strtol(id + 5, NULL, 10), &d->measure,
                            &err);
  if (status != SCT_OK) {
    say(d, FAIL, status, "device", NULL, "%s: %s", id, err.text);
    d->device.id[0] = '\0';
    return;
  }
  look_at_lock(d, lock);
  if (!d->state.known) {
    say(d, WARN, SCT_OK, "NVML", "clocks, throttling and other processes are not seen",
        d->state.mig_slice ? "%s is a slice (MIG): NVML answers for whole GPUs"
                           : "%s: libnvidia-ml.so.1 does not answer for it",
        d->device.id);
    return;
  }
  look_at_modes(d);
  look_at_others(d);
  look_at_clocks(d);
}

static void look_at_mps(doctor *d) {
  sct_mps mps;
  const bool daemon = sct_mps_find(&mps);
  if (daemon && mps.pid > 0) {
    say(d, WARN, SCT_OK, "MPS", "`tune` refuses without --force",
        "the Multi-Process Service runs: %s, process %ld, pipe in %s", mps.program, mps.pid,
        mps.directory);
  } else if (daemon || d->state.mps_clients > 0) {
    say(d, WARN, SCT_OK, "MPS", "`tune` refuses without --force",
        "the Multi-Process Service is in front of the GPU (%s)",
        daemon ? mps.directory : "NVML lists clients of it");
  } else {
    say(d, FINE, SCT_OK, "MPS", NULL, "no Multi-Process Service");
  }
}

static void look_at_files(doctor *d) {
  static const char *const always[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
  SCT_SCOPED(sct_str) closed = {0};
  int n = 0;
  for (int k = 0; k < SCT_COUNT(always) + MAX_GPUS; k++) {
    char path[32];
    if (k < SCT_COUNT(always)) {
      snprintf(path, sizeof path, "%s", always[k]);
    } else {
      snprintf(path, sizeof path, "/dev/nvidia%d", k - SCT_COUNT(always));
    }
    if (access(path, F_OK) != 0) {
      continue;
    }
    n++;
    if (access(path, R_OK | W_OK) != 0) {
      sct_str_printf(&closed, "%s%s", closed.len > 0 ? ", " : "", path);
    }
  }
  if (closed.len > 0) {
    say(d, d->is_gpu ? FAIL : WARN, SCT_ENODEVICE, "device files",
        "ask for access (a group such as video or render)", "you may not open %s",
        sct_str_c(&closed));
  } else {
    say(d, FINE, SCT_OK, "device files", NULL, "%d below /dev%s", n,
        n > 0 ? ", all open to you" : "");
  }
}

/* ---- the compiler ---- */

/* Why a kernel of one line does not compile; false: it does. An NVRTC that loads may lack parts. */
static bool cannot_compile(sct_compiler *compiler, sct_str *why) {
  const sct_compile_unit unit = {
      .source = "__global__ void k(float *b) { b[threadIdx.x] = 1.0f; }\n", .kernel = "k"};
  SCT_SCOPED(sct_compiled) compiled = {0};
  sct_error err = {0};
  const sct_status status = sct_compiler_run(compiler, &unit, 1, &compiled, NULL, NULL, &err);
  if (status != SCT_OK) {
    sct_str_append(why, err.text);
  } else if (!compiled.ok) {
    sct_str_append(why, compiled.log);
  }
  return why->len > 0;
}

static void look_at_nvrtc(doctor *d) {
  const bool known = d->device.id[0] != '\0';
  char arch[24] = "sm_90";
  SCT_OWNED_PTR(sct_compiler) compiler = NULL;
  sct_error err = {0};
  SCT_SCOPED(sct_str) text = {0};
  if (known) {
    snprintf(arch, sizeof arch, "sm_%d%d", d->device.cc_major, d->device.cc_minor);
  }
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  const sct_status status = sct_compiler_new(&compiler, &opts, &err);
  if (status != SCT_OK) {
    say(d, FAIL, SCT_ENVRTC, "NVRTC",
        status == SCT_EUSAGE ? "another CUDA toolkit may know this GPU (CUDA_HOME)" : NULL, "%s",
        err.text);
    return;
  }
  if (cannot_compile(compiler, &text)) {
    say(d, FAIL, SCT_ENVRTC, "NVRTC",
        "install it anew (the CUDA toolkit, or `pip install nvidia-cuda-nvrtc`), or set CUDA_HOME "
        "to another toolkit",
        "%s (%s) compiles nothing: %s", sct_compiler_path(compiler), sct_compiler_version(compiler),
        sct_str_c(&text));
    return;
  }
  d->has_nvrtc = true;
  sct_compiler_archs(compiler, &text);
  say(d, FINE, SCT_OK, "NVRTC", NULL, "%s, compiles for %s (%s wanted); %s",
      sct_compiler_version(compiler), sct_str_c(&text), arch, sct_compiler_path(compiler));
  if (sct_compiler_headers(compiler)[0] != '\0') {
    say(d, FINE, SCT_OK, "headers", NULL, "%s", sct_compiler_headers(compiler));
  } else {
    say(d, WARN, SCT_OK, "headers",
        "`tune` needs none; `count` needs them for files that include CUDA headers",
        "no include directory of a CUDA toolkit");
  }
}

/* ---- files and limits ---- */

/* The directory itself, or the nearest above it that exists. Changes `path`. */
static void nearest_directory(sct_str *path) {
  while (path->len > 1 && !(access(sct_str_c(path), F_OK) == 0)) {
    SCT_SCOPED(sct_str) above = {0};
    sct_path_dirname(&above, sct_str_c(path));
    const bool same = strcmp(sct_str_c(&above), sct_str_c(path)) == 0;
    sct_str_clear(path);
    sct_str_append(path, sct_str_c(&above));
    if (same) {
      return;
    }
  }
}

static void look_at_space(doctor *d, const char *name, const char *directory) {
  struct statvfs fs;
  char left[32];
  if (statvfs(directory, &fs) != 0) {
    say(d, WARN, SCT_OK, name, NULL, "no answer about free space of '%s': %s", directory,
        strerror(errno));
    return;
  }
  const double bytes = (double)fs.f_bavail * (double)fs.f_frsize;
  const level l = bytes < LEAST_BYTES ? FAIL : bytes < ENOUGH_BYTES ? WARN : FINE;
  say(d, l, SCT_EIO, name, l == FINE ? NULL : "make room: results are kept here", "%s free in '%s'",
      sct_format_bytes(left, bytes), directory);
}

static void look_at_store(doctor *d) {
  SCT_SCOPED(sct_str) path = {0}, directory = {0};
  sct_error err = {0};
  sct_store *store = NULL;
  if (d->args->store) {
    sct_str_append(&path, d->args->store);
  } else if (sct_path_store(&path, &err) != SCT_OK) {
    say(d, FAIL, SCT_EUSAGE, "store", "set HOME, or name a file with --store", "%s", err.text);
    return;
  }
  const bool exists = sct_file_exists(sct_str_c(&path));
  sct_path_dirname(&directory, sct_str_c(&path));
  nearest_directory(&directory);
  if (access(sct_str_c(&directory), W_OK | X_OK) != 0) {
    say(d, FAIL, SCT_EIO, "store", "--store FILE or XDG_DATA_HOME names another place",
        "'%s' cannot be written: '%s': %s", sct_str_c(&path), sct_str_c(&directory),
        strerror(errno));
  } else if (!exists) {
    say(d, FINE, SCT_OK, "store", NULL, "'%s' will be made", sct_str_c(&path));
  } else {
    const sct_status status = sct_store_open(&store, sct_str_c(&path), true, &err);
    say(d, status == SCT_OK ? FINE : FAIL, status, "store",
        status == SCT_EDATA ? "move it away, or name another with --store" : NULL, "%s%s",
        status == SCT_OK ? sct_str_c(&path) : err.text, status == SCT_OK ? " is whole" : "");
    sct_store_close(store);
  }
  look_at_space(d, "disk", sct_str_c(&directory));
}

/* Why nothing can be written below this path; NULL: it can. */
static const char *why_unwritable(const char *path) {
  SCT_SCOPED(sct_str) directory = {0}, probe = {0};
  struct stat st;
  sct_str_append(&directory, path);
  while (directory.len > 1 && lstat(sct_str_c(&directory), &st) != 0 && errno != EACCES) {
    SCT_SCOPED(sct_str) above = {0};
    sct_path_dirname(&above, sct_str_c(&directory));
    const bool same = strcmp(sct_str_c(&above), sct_str_c(&directory)) == 0;
    sct_str_clear(&directory);
    sct_str_append(&directory, sct_str_c(&above));
    if (same) {
      break;
    }
  }
  if (stat(sct_str_c(&directory), &st) == 0 && !S_ISDIR(st.st_mode)) {
    return strerror(ENOTDIR);
  }
  sct_str_printf(&probe, "%s/.doctor-%ld", sct_str_c(&directory), (long)getpid());
  if (sct_mkdir(sct_str_c(&probe), 0700) != 0) {
    return strerror(errno);
  }
  (void)rmdir(sct_str_c(&probe));
  return NULL;
}

static void look_at_cache(doctor *d) {
  SCT_SCOPED(sct_str) path = {0};
  struct stat st;
  sct_path_cache(&path);
  const char *cache = sct_str_c(&path);
  const char *const unwritable = path.len > 0 ? why_unwritable(cache) : NULL;
  if (path.len == 0) {
    say(d, WARN, SCT_OK, "cache", "set HOME or XDG_CACHE_HOME",
        "there is none: neither HOME nor XDG_CACHE_HOME is an absolute path");
  } else if (lstat(cache, &st) != 0 && unwritable == NULL) {
    say(d, FINE, SCT_OK, "cache", NULL, "'%s' will be made", cache);
  } else if (lstat(cache, &st) != 0) {
    say(d, WARN, SCT_OK, "cache", "set XDG_CACHE_HOME: nothing is cached meanwhile",
        "'%s' cannot be made: %s", cache, unwritable);
  } else if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()) {
    say(d, WARN, SCT_OK, "cache", "remove it: nothing is cached meanwhile", "'%s' is %s", cache,
        S_ISDIR(st.st_mode) ? "another user's" : "no directory");
  } else if ((st.st_mode & 077) != 0) {
    say(d, WARN, SCT_OK, "cache", "compiled kernels are trusted; `chmod 700` keeps others out",
        "'%s' is open to others (mode %04o)", cache, (unsigned)st.st_mode & 07777);
  } else if (unwritable != NULL) {
    say(d, WARN, SCT_OK, "cache", "set XDG_CACHE_HOME: nothing new is cached meanwhile",
        "'%s' cannot be written: %s", cache, unwritable);
  } else {
    say(d, FINE, SCT_OK, "cache", NULL, "'%s', yours alone", cache);
  }
}

static void look_at_lock_directory(doctor *d) {
  SCT_SCOPED(sct_str) path = {0};
  sct_error err = {0};
  int fd = -1;
  const sct_status status = sct_lock_take(&fd, "doctor", &err);
  sct_lock_release(&fd);
  sct_lock_directory(&path);
  const bool good = status == SCT_OK || status == SCT_EBUSY; /* another doctor */
  say(d, good ? FINE : FAIL, status, "locks", NULL, "%s%s", good ? sct_str_c(&path) : err.text,
      good ? ", yours alone" : "");
}

static void look_at_limits(doctor *d) {
  int n_low = 0;
  for (int k = 0; k < SCT_N_ULIMITS; k++) {
    SCT_SCOPED(sct_str) text = {0};
    if (sct_ulimit_low(&text, (sct_ulimit)k, 0)) {
      say(d, WARN, SCT_OK, "limits", NULL, "%s", sct_str_c(&text));
      n_low++;
    }
  }
  if (n_low == 0) {
    say(d, FINE, SCT_OK, "limits", NULL, "open files, processes, memory and time are enough");
  }
}

/* ---- one kernel, from spec to verdict ---- */

static const char SPEC[] = "local s = require \"sectile\"\n"
                           "return s.kernel {\n"
                           "  name = \"doctor\", dims = { \"i\" },\n"
                           "  inputs = { s.array(\"a\", \"f32\") },\n"
                           "  outputs = { s.array(\"b\", \"f32\") },\n"
                           "  body = \"b = a;\", sizes = { { i = 4096 } },\n"
                           "}\n";

/* Compiles the naive variant and has it verified. */
static sct_status verify_one(doctor *d, sct_tune_candidates *cands, sct_verdict *verdict,
                             sct_error *err) {
  char arch[24];
  snprintf(arch, sizeof arch, "sm_%d%d", d->device.cc_major, d->device.cc_minor);
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  const sct_kernel_code *code = &cands->items[0].code;
  const sct_compile_unit unit = {.source = code->source, .kernel = code->kernel};
  SCT_OWNED_PTR(sct_compiler) compiler = NULL;
  SCT_SCOPED(sct_compiled) compiled = {0};
  SCT_OWNED_PTR(sct_measure) measure = NULL;
  sct_measure_opts how = d->measure;
  how.described = d->is_gpu ? NULL : &d->device;
  how.force = true; /* nothing is timed */
  SCT_TRY(sct_compiler_new(&compiler, &opts, err));
  SCT_TRY(sct_compiler_run(compiler, &unit, 1, &compiled, NULL, NULL, err));
  if (!compiled.ok) {
    return sct_fail(err, SCT_EINTERNAL, "the kernel does not compile: %s", compiled.log);
  }
  const sct_binary binary = {.code = code,
                             .cubin = compiled.cubin,
                             .cubin_bytes = compiled.cubin_bytes,
                             .entry = compiled.entry,
                             .ptx = compiled.ptx};
  const int ordinal = d->is_gpu ? (int)strtol(d->device.id + 5, NULL, 10) : 0;
  SCT_TRY(sct_measure_open(&measure, ordinal, &how, err));
  SCT_TRY(sct_measure_problem(measure, &cands->spec, code->layout, &binary, err));
  return sct_measure_verify(measure, &binary, verdict, err);
}

static sct_status run_kernel(doctor *d, const char *directory, sct_verdict *verdict,
                             sct_error *err) {
  SCT_SCOPED(sct_tune_candidates) cands = {0};
  SCT_SCOPED(sct_str) path = {0};
  sct_str_printf(&path, "%s/doctor.lua", directory);
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_file_write(sct_str_c(&path), SPEC, strlen(SPEC), err));
  SCT_TRY_DONE(sct_tune_candidates_make(&cands, sct_str_c(&path), &d->device,
                                        &(sct_tune_candidates_opts){0}, err));
  status = cands.n_items > 0 ? verify_one(d, &cands, verdict, err)
                             : sct_fail(err, SCT_EINTERNAL, "no kernel was generated");
done:
  (void)unlink(sct_str_c(&path));
  return status;
}

static void test_itself(doctor *d) {
  sct_verdict verdict = {.outcome = SCT_OUT_OK};
  sct_error err = {0};
  char directory[] = "/tmp/sectile-doctor-XXXXXX", took[32];
  if (d->device.id[0] == '\0' || !d->has_nvrtc || d->busy) {
    say(d, WARN, SCT_OK, "self-test", NULL, "left out: %s",
        d->busy        ? "the GPU is in use"
        : d->has_nvrtc ? "there is no device"
                       : "there is no NVRTC");
    return;
  }
  if (!mkdtemp(directory)) {
    say(d, FAIL, SCT_EIO, "self-test", NULL, "cannot make '%s': %s", directory, strerror(errno));
    return;
  }
  const int64_t start = sct_now_ns();
  const sct_status status = run_kernel(d, directory, &verdict, &err);
  (void)rmdir(directory);
  if (status != SCT_OK) {
    say(d, FAIL, status, "self-test", NULL, "%s: %s", d->device.id, err.text);
  } else if (verdict.outcome != SCT_OUT_OK) {
    say(d, FAIL, SCT_ENOTVERIFIED, "self-test", "the GPU or the toolkit is at fault",
        "%s: a plain copy is not verified: %s: %s", d->device.id, sct_outcome_text(verdict.outcome),
        verdict.detail);
  } else {
    say(d, FINE, SCT_OK, "self-test", NULL, "a kernel was compiled, run on %s and verified in %s",
        d->device.id, sct_format_ns(took, (double)(sct_now_ns() - start)));
  }
}

/* ---- the whole ---- */

static void (*const looks[])(doctor *d) = {look_at_driver, look_at_device,         look_at_mps,
                                           look_at_files,  look_at_nvrtc,          look_at_store,
                                           look_at_cache,  look_at_lock_directory, look_at_limits,
                                           test_itself};

sct_status cli_doctor(const cli_args *args, sct_error *err) {
  doctor d = {.args = args, .measure = cli_measure_opts(args), .checks = json_array()};
  const sct_device_kind *kind;
  const char *name;
  if (args->device) {
    sct_status bad = sct_device_parse(&kind, &name, args->device, err);
    if (bad == SCT_OK && kind->replays) {
      bad = sct_fail(err, SCT_EUSAGE, "device '%s': nothing runs on a recording", args->device);
    }
    if (bad != SCT_OK) {
      json_decref(d.checks);
      return bad;
    }
  }
  for (int k = 0; k < SCT_COUNT(looks); k++) {
    looks[k](&d);
  }
  const sct_status status =
      cli_show(args, "sectile.show", "doctor",
               json_pack("{s:i, s:o, s:o}", "exit_code", sct_exit_code(d.worst), "device",
                         sct_json_string(d.device.id), "checks", d.checks),
               cli_output_style(args), err);
  return status == SCT_OK ? d.worst : status;
}
