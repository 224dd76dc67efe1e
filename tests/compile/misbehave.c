/* misbehave - a compile worker that misbehaves on command: a source holds the comment "//!WORD",
 * and a program that links this file compiles it. */
#include "compile/compile_internal.h"
#include "process/process_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(void) {
  for (;;) {
    (void)pause();
  }
}

static void crash(void) {
  (void)signal(SIGSEGV, SIG_DFL);
  (void)raise(SIGSEGV);
}

static void leave(void) {
  _exit(3);
}

static void send_raw(const void *bytes, size_t n) {
  if (sct_write(SCT_CHILD_FD, bytes, n) != (ssize_t)n) {
    _exit(4);
  }
}

/* A message of the right form that holds nonsense. */
static void answer_garbage(void) {
  sct_wire w = {0};
  for (int64_t i = 0; i < 40; ++i) {
    sct_wire_put_i64(&w, (int64_t)((uint64_t)i * 0x1234567890abcdef));
  }
  if (sct_wire_send(SCT_CHILD_FD, SCT_OK, &w, SCT_NO_DEADLINE) != SCT_IO_OK) {
    _exit(4);
  }
  hang();
}

/* Bytes that are no message at all. */
static void answer_noise(void) {
  char noise[64];
  memset(noise, 0xee, sizeof(noise));
  send_raw(noise, sizeof(noise));
  hang();
}

/* The first bytes of a message, and nothing more. */
static void answer_half(void) {
  const uint64_t head[3] = {SCT_OK, 1000, 1};
  send_raw(head, sizeof(head));
  hang();
}

/* Takes memory until there is none, as a compiler does that does not look. */
static void exhaust(void) {
  enum { CHUNK = 1 << 20, MOST = 1 << 14 };
  for (int i = 0; i < MOST; ++i) {
    volatile char *const chunk = sct_alloc(CHUNK);
    if (chunk == NULL) {
      abort();
    }
    chunk[i % CHUNK] = 1;
  }
}

static const struct {
  const char *word;
  void (*act)(void);
} faults[] = {
    {"//!hang", hang},          {"//!crash", crash},
    {"//!exit", leave},         {"//!garbage", answer_garbage},
    {"//!noise", answer_noise}, {"//!half", answer_half},
    {"//!exhaust", exhaust},
};

static void misbehave(const char *source) {
  for (int i = 0; i < SCT_COUNT(faults); ++i) {
    if (strstr(source, faults[i].word) != NULL) {
      faults[i].act();
    }
  }
}

__attribute__((constructor)) static void link_in(void) {
  sct_compile_misbehave = misbehave;
}
