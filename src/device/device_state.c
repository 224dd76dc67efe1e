/* A GPU's state as NVML reports it: who else computes on it, modes, clocks, throttling, errors. All
 * of it optional: what cannot be asked is unknown. */
#include "device_internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define NVML_CLOCK_SM          1
#define NVML_CLOCK_MEMORY      2
#define NVML_ECC_UNCORRECTED   1
#define NVML_ECC_VOLATILE      0 /* since the driver was loaded */
#define NVML_GPU_IS_LOST       15
#define NVML_NO_MEMORY_FIGURE  (~0ULL)
#define NVML_INSUFFICIENT_SIZE 7
#define MAX_PROCESSES_ASKED    64
#define CU_ECC_UNCORRECTABLE   214
#define CU_UNKNOWN             999

static const struct {
  uint64_t bit;
  const char *name, *meaning;
  int hardware;
} reasons[] = {
#define SCT_THROTTLE(id, bit, name, hardware, meaning) {bit, name, meaning, hardware},
#include "device_throttle.def"
#undef SCT_THROTTLE
};

uint64_t sct_throttle_hardware(uint64_t bits) {
  uint64_t mask = 0;
  for (int k = 0; k < SCT_COUNT(reasons); k++) {
    mask |= reasons[k].hardware ? reasons[k].bit : 0;
  }
  return bits & mask;
}

void sct_throttle_names(sct_str *out, uint64_t bits, const char *between) {
  const size_t start = out->len;
  for (int k = 0; k < SCT_COUNT(reasons); k++) {
    if (bits & reasons[k].bit) {
      sct_str_printf(out, "%s%s", out->len > start ? between : "", reasons[k].name);
    }
  }
}

const char *sct_throttle_meaning(uint64_t bits) {
  for (int k = 0; k < SCT_COUNT(reasons); k++) {
    if (bits & reasons[k].bit) {
      return reasons[k].meaning;
    }
  }
  return "";
}

static const char *const modes[] = {"default", "exclusive_thread", "prohibited",
                                    "exclusive_process"};

const char *sct_compute_mode_name(int mode) {
  return mode >= 0 && mode < SCT_COUNT(modes) ? modes[mode] : "unknown";
}

/* ---- processes ---- */

static void process_name(int64_t pid, char out[48]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%lld/comm", (long long)pid);
  (void)sct_read_line(path, out, 48);
}

typedef int list_processes(void *device, unsigned *n, sct_nvml_process *processes);

static void add_processes(const sct_nvml *nvml, list_processes *list, bool mps,
                          sct_gpu_state *out) {
  sct_nvml_process found[MAX_PROCESSES_ASKED];
  unsigned n = MAX_PROCESSES_ASKED;
  const int result = list ? list(nvml->device, &n, found) : -1;
  if (result != 0 && result != NVML_INSUFFICIENT_SIZE) {
    return;
  }
  out->mps_clients += mps ? (int)n : 0;
  for (unsigned k = 0; result == 0 && k < n && k < MAX_PROCESSES_ASKED; k++) {
    if ((int64_t)found[k].pid == (int64_t)getpid()) {
      continue;
    }
    if (out->n_processes < SCT_COUNT(out->processes)) {
      sct_gpu_process *p = &out->processes[out->n_processes];
      p->pid = found[k].pid;
      p->bytes = found[k].bytes == NVML_NO_MEMORY_FIGURE ? -1 : (int64_t)found[k].bytes;
      process_name(p->pid, p->name);
      out->n_processes++;
    }
    out->n_others++;
  }
}

/* Returns how many; -1 unknown. */
static int list_numbers(const sct_nvml *nvml, sct_nvml_process *found, int room) {
  list_processes *const lists[] = {nvml->compute_processes, nvml->mps_processes};
  int n = 0;
  for (int k = 0; k < SCT_COUNT(lists); k++) {
    unsigned more = (unsigned)(room - n);
    if (lists[k] && lists[k](nvml->device, &more, found + n) == 0) {
      n += (int)more < room - n ? (int)more : room - n;
    } else if (k == 0) {
      return -1; /* not known, or too many */
    }
  }
  return n;
}

static bool is_known(const sct_nvml_known *known, unsigned pid) {
  bool found = (long)pid == (long)getpid();
  for (int k = 0; k < known->n; k++) {
    found = found || known->pid[k] == pid;
  }
  return found;
}

int sct_nvml_newcomers(const sct_nvml *nvml, sct_nvml_known *known, sct_gpu_process *first) {
  sct_nvml_process found[SCT_COUNT(known->pid)];
  const int n = nvml->device ? list_numbers(nvml, found, SCT_COUNT(found)) : -1;
  int n_new = 0;
  if (n >= 0 && !known->asked) {
    known->asked = true;
    known->n = n;
    for (int k = 0; k < n; k++) {
      known->pid[k] = found[k].pid;
    }
    return 0;
  }
  for (int k = 0; k < n; k++) {
    if (is_known(known, found[k].pid)) {
      continue;
    }
    if (n_new++ == 0) {
      *first = (sct_gpu_process){
          .pid = found[k].pid,
          .bytes = found[k].bytes == NVML_NO_MEMORY_FIGURE ? -1 : (int64_t)found[k].bytes};
      process_name(first->pid, first->name);
    }
  }
  return n_new;
}

/* ---- the state ---- */

static double clock_of(int (*get)(void *, int, unsigned *), void *device, int type) {
  unsigned mhz = 0;
  return get && get(device, type, &mhz) == 0 ? (double)mhz : 0.0;
}

void sct_nvml_state(const sct_nvml *nvml, sct_gpu_state *out) {
  *out = (sct_gpu_state){.compute_mode = -1, .ecc_errors = -1, .celsius = -1};
  if (!nvml->device) {
    out->mig_slice = nvml->mig_slice;
    return;
  }
  unsigned current = 0, pending = 0, celsius = 0;
  unsigned long long value = 0;
  int mode = 0;
  out->known = true;
  out->mig_slice = nvml->mig_slice;
  add_processes(nvml, nvml->compute_processes, false, out);
  add_processes(nvml, nvml->mps_processes, true, out);
  if (nvml->compute_mode && nvml->compute_mode(nvml->device, &mode) == 0) {
    out->compute_mode = mode;
  }
  if (nvml->mig_mode && nvml->mig_mode(nvml->device, &current, &pending) == 0) {
    out->mig = current != 0;
  }
  out->sm_mhz = clock_of(nvml->clock, nvml->device, NVML_CLOCK_SM);
  out->sm_max_mhz = clock_of(nvml->max_clock, nvml->device, NVML_CLOCK_SM);
  out->memory_mhz = clock_of(nvml->clock, nvml->device, NVML_CLOCK_MEMORY);
  out->memory_max_mhz = clock_of(nvml->max_clock, nvml->device, NVML_CLOCK_MEMORY);
  if (nvml->reasons && nvml->reasons(nvml->device, &value) == 0) {
    out->throttle = value;
  }
  if (nvml->ecc_errors &&
      nvml->ecc_errors(nvml->device, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &value) == 0) {
    out->ecc_errors = (int64_t)value;
  }
  if (nvml->temperature && nvml->temperature(nvml->device, 0, &celsius) == 0) {
    out->celsius = (int)celsius;
  }
}

int sct_nvml_check_health(const sct_nvml *nvml, int64_t ecc_before, uint64_t *throttle) {
  unsigned long long value = 0;
  *throttle = 0;
  if (!nvml->device) {
    return 0;
  }
  int result = nvml->reasons ? nvml->reasons(nvml->device, &value) : 0;
  if (result == NVML_GPU_IS_LOST) {
    return CU_UNKNOWN;
  }
  *throttle = result == 0 ? value : 0;
  value = 0;
  result = nvml->ecc_errors && ecc_before >= 0
               ? nvml->ecc_errors(nvml->device, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &value)
               : -1;
  if (result == NVML_GPU_IS_LOST) {
    return CU_UNKNOWN;
  }
  return result == 0 && (int64_t)value > ecc_before ? CU_ECC_UNCORRECTABLE : 0;
}
