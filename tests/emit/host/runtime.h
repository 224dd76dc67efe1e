// A CUDA runtime whose streams are queues. What is queued runs in one of several orders that CUDA
// allows; in some of them a wait that is missing leaves wrong results. Memory and handles are
// counted, and the call number $FAULT fails.
#ifndef RUNTIME_H
#define RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
// What a program's kernels do: arguments are kept when they are launched, and used later.
void *keep_arguments(const char *kernel, void **args);
void run_kernel(const char *kernel, void *kept); // frees them

typedef enum order {
  LATE,     // when someone waits for it
  EARLY,    // at once, but for the stream `late`
  BACKWARDS // late, and the streams that were made last first
} order;
extern order run_order;
extern cudaStream_t late;
extern FILE *trace; // what is queued or waited for; NULL: it is not asked for

extern int n_alive;   // memory and handles
extern int n_pending; // what is queued and has not run
extern int fail_at;   // the call that fails, counted down; 0: none
extern bool failed;   // it did

#ifdef __cplusplus
}
#endif
#endif
