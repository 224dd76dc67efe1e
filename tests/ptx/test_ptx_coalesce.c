/* Counting models of older devices: address streams worked out by hand, and random ones against the
 * sentences of the programming guide, byte by byte and lane by lane. */
#include "ptx/exec/ptx_exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define BASE 8192

static sct_ptx_global count(sct_ptx_coalescing model, const ptx_access *a) {
  sct_ptx_global g = {0};
  const ptx_rules *rules = sct_ptx_rules(model);
  if (rules == NULL) {
    sct_ptx_count_global(&g, a);
  } else {
    sct_ptx_count_global_by(rules, &g, a);
  }
  return g;
}

static sct_ptx_shared count_shared(sct_ptx_coalescing model, const ptx_access *a) {
  sct_ptx_shared s = {0};
  const ptx_rules *rules = sct_ptx_rules(model);
  if (rules == NULL) {
    sct_ptx_count_shared(&s, a);
  } else {
    sct_ptx_count_shared_by(rules, &s, a);
  }
  return s;
}

/* ---- by hand */

typedef enum pattern { LINE, SWAP, BACK, SAME, SPREAD } pattern;

/* Lane i at BASE + shift + step x i, or neighbours swapped, or from the end, or all in one place,
 * or at pseudo-random multiples of 512. */
static ptx_access stream(pattern p, int width, int step, int shift, uint32_t mask) {
  ptx_access a = {.mask = mask, .width = width, .dir = PTX_READ};
  for (int i = 0; i < PTX_LANES; i++) {
    const int at = p == SWAP ? i ^ 1 : p == BACK ? 31 - i : p == SAME ? 0 : i;
    a.addr[i] = (uint64_t)(BASE + shift + (p == SPREAD ? (i * 13 % 32) * 512 : at * step));
  }
  return a;
}

typedef struct known {
  sct_ptx_coalescing model;
  pattern p;
  int width, step, shift;
  uint32_t mask;
  int64_t requests, sectors, tags, moved, ideal;
} known;

/* requests, transactions, 128-byte lines, bytes moved, least transactions */
static const known loads[] = {
    /* CC 1.0: 4, 8 and 16 bytes in order */
    {SCT_PTX_CC10, LINE, 4, 4, 0, PTX_ALL, 2, 2, 2, 128, 2},
    {SCT_PTX_CC10, LINE, 4, 4, 64, PTX_ALL, 2, 2, 2, 128, 2},
    {SCT_PTX_CC10, LINE, 8, 8, 0, PTX_ALL, 2, 2, 2, 256, 2},
    {SCT_PTX_CC10, LINE, 16, 16, 0, PTX_ALL, 2, 4, 4, 512, 4},
    {SCT_PTX_CC10, LINE, 16, 16, 128, PTX_ALL, 2, 4, 4, 512, 4},
    /* permuted, misaligned, strided, all the same: a transaction a lane */
    {SCT_PTX_CC10, SWAP, 4, 4, 0, PTX_ALL, 2, 32, 2, 1024, 2},
    {SCT_PTX_CC10, BACK, 8, 8, 0, PTX_ALL, 2, 32, 2, 1024, 2},
    {SCT_PTX_CC10, LINE, 4, 4, 4, PTX_ALL, 2, 32, 3, 1024, 2},
    {SCT_PTX_CC10, LINE, 4, 4, 32, PTX_ALL, 2, 32, 3, 1024, 2},
    {SCT_PTX_CC10, LINE, 8, 8, 64, PTX_ALL, 2, 32, 4, 1024, 2},
    {SCT_PTX_CC10, LINE, 16, 16, 64, PTX_ALL, 2, 32, 6, 1024, 4},
    {SCT_PTX_CC10, LINE, 4, 12, 0, PTX_ALL, 2, 32, 4, 1024, 2},
    {SCT_PTX_CC10, SAME, 4, 0, 0, PTX_ALL, 2, 32, 2, 1024, 2},
    /* 1 and 2 bytes never coalesce */
    {SCT_PTX_CC10, LINE, 1, 1, 0, PTX_ALL, 2, 32, 2, 1024, 2},
    {SCT_PTX_CC10, LINE, 2, 2, 0, PTX_ALL, 2, 32, 2, 1024, 2},
    /* idle lanes: no harm while the others stay in place; an idle half warp is no request */
    {SCT_PTX_CC10, LINE, 4, 4, 0, 0x0000aaaa, 1, 1, 1, 64, 1},
    {SCT_PTX_CC10, LINE, 4, 4, 0, 0x80000000, 1, 1, 1, 64, 1},
    {SCT_PTX_CC10, LINE, 4, 4, 4, 0x00000007, 1, 3, 1, 96, 1},
    {SCT_PTX_CC10, LINE, 16, 16, 0, 0x000000ff, 1, 1, 1, 128, 1},
    {SCT_PTX_CC10, SWAP, 4, 4, 0, 0x0000ffff, 1, 16, 1, 512, 1},
    /* CC 1.2: any order, and segments as small as will do */
    {SCT_PTX_CC12, LINE, 4, 4, 0, PTX_ALL, 2, 2, 2, 128, 2},
    {SCT_PTX_CC12, SWAP, 4, 4, 0, PTX_ALL, 2, 2, 2, 128, 2},
    {SCT_PTX_CC12, BACK, 4, 4, 0, PTX_ALL, 2, 2, 2, 128, 2},
    /* shifted by a word: bytes 4 to 68 need a whole segment; 68 to 132 one of 64 and one of 32 */
    {SCT_PTX_CC12, LINE, 4, 4, 4, 0x0000ffff, 1, 1, 1, 128, 1},
    {SCT_PTX_CC12, LINE, 4, 4, 4, 0xffff0000, 1, 2, 2, 96, 1},
    {SCT_PTX_CC12, LINE, 4, 4, 96, 0x0000ffff, 1, 2, 2, 64, 1},
    {SCT_PTX_CC12, LINE, 4, 4, 112, 0x0000ffff, 1, 2, 2, 96, 1},
    {SCT_PTX_CC12, LINE, 8, 8, 0, PTX_ALL, 2, 2, 2, 256, 2},
    {SCT_PTX_CC12, LINE, 8, 8, 8, 0x0000ffff, 1, 2, 2, 160, 1},
    {SCT_PTX_CC12, LINE, 16, 16, 0, PTX_ALL, 2, 4, 4, 512, 4},
    {SCT_PTX_CC12, LINE, 16, 16, 64, 0x0000ffff, 1, 3, 3, 256, 2},
    {SCT_PTX_CC12, LINE, 1, 1, 0, PTX_ALL, 2, 2, 2, 64, 2},
    {SCT_PTX_CC12, LINE, 1, 1, 24, 0x0000ffff, 1, 2, 1, 64, 1},
    {SCT_PTX_CC12, LINE, 2, 2, 0, PTX_ALL, 2, 2, 2, 64, 2},
    {SCT_PTX_CC12, LINE, 2, 2, 16, 0x0000ffff, 1, 1, 1, 64, 1},
    {SCT_PTX_CC12, LINE, 2, 2, 48, 0x0000ffff, 1, 2, 1, 64, 1},
    {SCT_PTX_CC12, SAME, 4, 0, 100, PTX_ALL, 2, 2, 2, 64, 2},
    {SCT_PTX_CC12, LINE, 4, 12, 0, 0x0000ffff, 1, 2, 2, 192, 1},
    {SCT_PTX_CC12, LINE, 4, 256, 0, PTX_ALL, 2, 32, 32, 1024, 2},
    {SCT_PTX_CC12, LINE, 4, 4, 0, 0x00008001, 1, 1, 1, 64, 1},
    {SCT_PTX_CC12, LINE, 4, 4, 0, 0x00000001, 1, 1, 1, 32, 1},
    {SCT_PTX_CC12, LINE, 8, 8, 0, 0x00008001, 1, 1, 1, 128, 1},
    /* CC 2.x: lines, wide lanes by half and quarter warps */
    {SCT_PTX_CC20, LINE, 4, 4, 0, PTX_ALL, 1, 1, 1, 128, 1},
    {SCT_PTX_CC20, SWAP, 4, 4, 0, PTX_ALL, 1, 1, 1, 128, 1},
    {SCT_PTX_CC20, LINE, 4, 4, 4, PTX_ALL, 1, 2, 2, 256, 1},
    {SCT_PTX_CC20, LINE, 8, 8, 0, PTX_ALL, 2, 2, 2, 256, 2},
    {SCT_PTX_CC20, LINE, 8, 8, 64, PTX_ALL, 2, 4, 4, 512, 2},
    {SCT_PTX_CC20, LINE, 16, 16, 0, PTX_ALL, 4, 4, 4, 512, 4},
    {SCT_PTX_CC20, LINE, 16, 16, 0, 0x0000ff00, 1, 1, 1, 128, 1},
    {SCT_PTX_CC20, SAME, 16, 0, 0, PTX_ALL, 4, 4, 4, 512, 4},
    {SCT_PTX_CC20, LINE, 1, 1, 0, PTX_ALL, 1, 1, 1, 128, 1},
    {SCT_PTX_CC20, SPREAD, 4, 0, 0, PTX_ALL, 1, 32, 32, 4096, 1},
    {SCT_PTX_CC20, LINE, 8, 24, 0, PTX_ALL, 2, 6, 6, 768, 2},
    /* CC 6.x: sectors; the tag lookup sees 8, 4 or 2 lanes at a time */
    {SCT_PTX_CC60, LINE, 4, 4, 0, PTX_ALL, 1, 4, 4, 128, 4},
    {SCT_PTX_CC60, LINE, 4, 4, 4, PTX_ALL, 1, 5, 5, 160, 4},
    {SCT_PTX_CC60, LINE, 8, 8, 0, PTX_ALL, 1, 8, 8, 256, 8},
    {SCT_PTX_CC60, LINE, 16, 16, 0, PTX_ALL, 1, 16, 16, 512, 16},
    {SCT_PTX_CC60, SAME, 4, 0, 0, PTX_ALL, 1, 1, 4, 32, 1},
    {SCT_PTX_CC60, LINE, 8, 24, 0, PTX_ALL, 1, 24, 12, 768, 8},
    {SCT_PTX_CC60, SPREAD, 4, 0, 0, 0x0000000f, 1, 4, 4, 128, 1},
    /* CC 7.0 and later */
    {SCT_PTX_CC70, LINE, 4, 4, 4, PTX_ALL, 1, 5, 2, 160, 4},
    {SCT_PTX_CC70, LINE, 8, 24, 0, PTX_ALL, 1, 24, 6, 768, 8},
};

static void check(const known *k, ptx_access *a) {
  const sct_ptx_global g = count(k->model, a);
  if (g.requests != k->requests || g.sectors != k->sectors || g.tags != k->tags ||
      g.moved != k->moved || g.sectors_ideal != k->ideal ||
      g.bytes != (int64_t)__builtin_popcount(k->mask) * k->width) {
    fail_msg("%s, pattern %d, width %d, step %d, shift %d, mask %08x: %lld requests, %lld "
             "transactions, %lld lines, %lld bytes moved, %lld ideal",
             sct_ptx_coalescing_name(k->model), k->p, k->width, k->step, k->shift, k->mask,
             (long long)g.requests, (long long)g.sectors, (long long)g.tags, (long long)g.moved,
             (long long)g.sectors_ideal);
  }
}

static void loads_by_hand(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(loads); k++) {
    const known *l = &loads[k];
    ptx_access a = stream(l->p, l->width, l->step, l->shift, l->mask);
    check(l, &a);
  }
}

/* Stores, atomics and loads past L1 differ on CC 2.x alone: 32-byte segments. */
static void directions(void **state) {
  (void)state;
  static const known others[] = {
      {SCT_PTX_CC10, LINE, 4, 4, 0, PTX_ALL, 2, 2, 2, 128, 2},
      {SCT_PTX_CC12, LINE, 4, 4, 4, 0xffff0000, 1, 2, 2, 96, 1},
      {SCT_PTX_CC20, LINE, 4, 4, 0, PTX_ALL, 1, 4, 1, 128, 4},
      {SCT_PTX_CC20, LINE, 4, 4, 4, PTX_ALL, 1, 5, 2, 160, 4},
      {SCT_PTX_CC20, LINE, 8, 8, 0, PTX_ALL, 2, 8, 2, 256, 8},
      {SCT_PTX_CC20, LINE, 16, 16, 16, PTX_ALL, 4, 20, 8, 640, 16},
      {SCT_PTX_CC20, SPREAD, 4, 0, 0, PTX_ALL, 1, 32, 32, 1024, 4},
      {SCT_PTX_CC60, LINE, 4, 4, 4, PTX_ALL, 1, 5, 5, 160, 4},
      {SCT_PTX_CC70, LINE, 4, 4, 0, PTX_ALL, 1, 4, 1, 128, 4},
  };
  for (int k = 0; k < SCT_COUNT(others); k++) {
    const known *l = &others[k];
    ptx_access a = stream(l->p, l->width, l->step, l->shift, l->mask);
    a.dir = PTX_WRITE;
    check(l, &a);
    a.dir = PTX_ATOMIC;
    check(l, &a);
    a.dir = PTX_READ;
    a.uncached = true;
    check(l, &a);
  }
}

static void shared_by_hand(void **state) {
  (void)state;
  static const struct {
    sct_ptx_coalescing model;
    pattern p;
    int width, step;
    uint32_t mask;
    int64_t requests, wavefronts, ideal;
  } cases[] = {
      {SCT_PTX_CC10, LINE, 4, 4, PTX_ALL, 2, 2, 2},
      {SCT_PTX_CC10, SWAP, 4, 4, PTX_ALL, 2, 2, 2},
      {SCT_PTX_CC10, LINE, 4, 12, PTX_ALL, 2, 2, 2},  /* odd strides have no conflict */
      {SCT_PTX_CC10, LINE, 4, 8, PTX_ALL, 2, 4, 2},   /* two lanes a bank */
      {SCT_PTX_CC10, LINE, 4, 64, PTX_ALL, 2, 32, 2}, /* one bank */
      {SCT_PTX_CC10, SAME, 4, 0, PTX_ALL, 2, 2, 2},   /* broadcast */
      {SCT_PTX_CC10, LINE, 1, 1, PTX_ALL, 2, 8, 2},   /* four lanes a word, one word a step */
      {SCT_PTX_CC10, LINE, 2, 2, PTX_ALL, 2, 4, 2},
      {SCT_PTX_CC10, LINE, 8, 8, PTX_ALL, 2, 8, 4}, /* two words, each with stride two */
      {SCT_PTX_CC10, LINE, 16, 16, PTX_ALL, 2, 32, 8},
      {SCT_PTX_CC10, LINE, 4, 4, 0x00ff0000, 1, 1, 1},
      {SCT_PTX_CC12, LINE, 4, 128, PTX_ALL, 2, 32, 2},
      {SCT_PTX_CC12, LINE, 4, 132, PTX_ALL, 2, 2, 2},
      {SCT_PTX_CC20, LINE, 4, 4, PTX_ALL, 1, 1, 1},
      {SCT_PTX_CC20, LINE, 4, 8, PTX_ALL, 1, 2, 1},
      {SCT_PTX_CC20, LINE, 4, 64, PTX_ALL, 1, 16, 1},
      {SCT_PTX_CC20, LINE, 1, 1, PTX_ALL, 1, 1, 1}, /* any number of lanes a word */
      {SCT_PTX_CC20, LINE, 8, 8, PTX_ALL, 2, 2, 2},
      {SCT_PTX_CC20, SAME, 8, 0, PTX_ALL, 2, 2, 2}, /* the halves do not share */
      {SCT_PTX_CC20, LINE, 16, 16, PTX_ALL, 4, 4, 4},
      {SCT_PTX_CC20, LINE, 16, 32, PTX_ALL, 4, 8, 4},
      {SCT_PTX_CC60, SAME, 8, 0, PTX_ALL, 1, 1, 1}, /* from 5.0 on they do */
      {SCT_PTX_CC60, LINE, 4, 128, PTX_ALL, 1, 32, 1},
      {SCT_PTX_CC70, SAME, 8, 0, PTX_ALL, 1, 1, 1},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const ptx_access a = stream(cases[k].p, cases[k].width, cases[k].step, 0, cases[k].mask);
    const sct_ptx_shared s = count_shared(cases[k].model, &a);
    if (s.requests != cases[k].requests || s.wavefronts != cases[k].wavefronts ||
        s.wavefronts_ideal != cases[k].ideal) {
      fail_msg("%s, pattern %d, width %d, step %d: %lld requests, %lld wavefronts, %lld ideal",
               sct_ptx_coalescing_name(cases[k].model), cases[k].p, cases[k].width, cases[k].step,
               (long long)s.requests, (long long)s.wavefronts, (long long)s.wavefronts_ideal);
    }
    assert_int_equal(s.bytes, (int64_t)__builtin_popcount(cases[k].mask) * cases[k].width);
  }
}

/* ---- the guide's sentences, slowly: memory is a map of bytes from BASE on */

#define MAP 65536

typedef struct bill {
  int64_t n, bytes;
} bill;

static bool active(const ptx_access *a, int i) {
  return (a->mask >> i & 1) != 0;
}

static int64_t at(const ptx_access *a, int i) {
  return (int64_t)a->addr[i] - BASE;
}

/* Segments of which some byte is wanted by lanes [first, first + n). */
static bill wanted(const ptx_access *a, int first, int n, int segment) {
  static uint8_t want[MAP];
  bill b = {0};
  memset(want, 0, sizeof want);
  for (int i = first; i < first + n; i++) {
    for (int k = 0; active(a, i) && k < a->width; k++) {
      want[at(a, i) + k] = 1;
    }
  }
  for (int s = 0; s < MAP; s += segment) {
    b.n += memchr(&want[s], 1, (size_t)segment) != NULL;
  }
  b.bytes = b.n * segment;
  return b;
}

/* "Threads must access the words in sequence: the k-th thread in the half-warp must access the k-th
 * word" of a segment, or of two in a row: every possible one is tried. */
static bill guide_cc10(const ptx_access *a, int first) {
  const int w = a->width, segment = w == 4 ? 64 : 128;
  bill alone = {0};
  for (int i = first; i < first + 16; i++) {
    alone.n += active(a, i);
  }
  alone.bytes = 32 * alone.n;
  for (int s = 0; (w == 4 || w == 8 || w == 16) && s < MAP; s += segment) {
    bool all = true;
    for (int k = 0; k < 16; k++) {
      all &= !active(a, first + k) || at(a, first + k) == s + k * w;
    }
    if (all) {
      return wanted(a, first, 16, segment);
    }
  }
  return alone;
}

/* Whether a lane among `lanes` wants a byte of [lo, hi). */
static bool uses(const ptx_access *a, uint32_t lanes, int64_t lo, int64_t hi) {
  for (int i = 0; i < 32; i++) {
    if ((lanes >> i & 1) != 0 && at(a, i) < hi && at(a, i) + a->width > lo) {
      return true;
    }
  }
  return false;
}

/* "Find the memory segment that contains the address requested by the lowest numbered active
 * thread. Find all other active threads whose address lies in the same segment. Reduce the
 * transaction size if possible ... Mark the serviced threads as inactive. Repeat." */
static bill guide_cc12(const ptx_access *a, int first) {
  bill b = {0};
  uint32_t left = a->mask & 0xffffu << first;
  while (left != 0) {
    int lowest = 0;
    while ((left >> lowest & 1) == 0) {
      lowest++;
    }
    int64_t size = a->width == 1 ? 32 : a->width == 2 ? 64 : 128;
    int64_t s = at(a, lowest) / size * size;
    uint32_t served = 0;
    for (int i = 0; i < 32; i++) {
      served |= (left >> i & 1) != 0 && at(a, i) >= s && at(a, i) < s + size ? 1u << i : 0;
    }
    if (size == 128 && uses(a, served, s, s + 64) != uses(a, served, s + 64, s + 128)) {
      s += uses(a, served, s, s + 64) ? 0 : 64;
      size = 64;
    }
    if (size == 64 && uses(a, served, s, s + 32) != uses(a, served, s + 32, s + 64)) {
      size = 32;
    }
    b.n++;
    b.bytes += size;
    left &= ~served;
  }
  return b;
}

typedef struct total {
  int64_t requests, n, bytes, tags;
} total;

static void add(total *t, const ptx_access *a, int first, int lanes, bill b) {
  const bool any = wanted(a, first, lanes, 32).n > 0;
  t->requests += any;
  t->n += any ? b.n : 0;
  t->bytes += any ? b.bytes : 0;
}

static void add_tags(total *t, const ptx_access *a, int lanes) {
  for (int i = 0; i < 32; i += lanes) {
    t->tags += wanted(a, i, lanes, 128).n;
  }
}

static total guide(sct_ptx_coalescing model, const ptx_access *a) {
  total t = {0};
  const int wide = a->width <= 4 ? 32 : 128 / a->width; /* lanes that make 128 bytes */
  const int segment = a->dir == PTX_READ && !a->uncached ? 128 : 32;
  switch (model) {
  case SCT_PTX_CC10:
  case SCT_PTX_CC12:
    for (int i = 0; i < 32; i += 16) {
      add(&t, a, i, 16, model == SCT_PTX_CC10 ? guide_cc10(a, i) : guide_cc12(a, i));
    }
    add_tags(&t, a, 16);
    break;
  case SCT_PTX_CC20:
    for (int i = 0; i < 32; i += wide) {
      add(&t, a, i, wide, wanted(a, i, wide, segment));
    }
    add_tags(&t, a, wide);
    break;
  default:
    add(&t, a, 0, 32, wanted(a, 0, 32, 32));
    add_tags(&t, a, model == SCT_PTX_CC60 ? wide / 4 : 32);
    break;
  }
  return t;
}

/* Steps of a half warp on 16 banks: lanes in a list; the head's word is broadcast, every other bank
 * takes its first lane. */
static int64_t guide_steps(const ptx_access *a, int first, int word) {
  int64_t list[16], steps = 0;
  int n = 0;
  for (int i = first; i < first + 16; i++) {
    if (active(a, i)) {
      list[n++] = at(a, i) / 4 + word;
    }
  }
  for (; n > 0; steps++) {
    const int64_t head = list[0];
    bool taken[16] = {false};
    int kept = 0;
    taken[head % 16] = true;
    for (int k = 0; k < n; k++) {
      const bool serve = list[k] == head || !taken[list[k] % 16];
      taken[list[k] % 16] = true;
      if (!serve) {
        list[kept++] = list[k];
      }
    }
    n = kept;
  }
  return steps;
}

/* Words of lanes [first, first + n) in the fullest of 32 banks. */
static int64_t guide_banks(const ptx_access *a, int first, int n) {
  static uint8_t want[MAP / 4];
  int64_t bank[32] = {0}, most = 0;
  memset(want, 0, sizeof want);
  for (int i = first; i < first + n; i++) {
    for (int b = 0; active(a, i) && b < a->width; b++) {
      want[(at(a, i) + b) / 4] = 1;
    }
  }
  for (int w = 0; w < MAP / 4; w++) {
    bank[w % 32] += want[w];
    most = bank[w % 32] > most ? bank[w % 32] : most;
  }
  return most;
}

static int64_t guide_wavefronts(sct_ptx_coalescing model, const ptx_access *a) {
  const int wide = a->width <= 4 ? 32 : 128 / a->width;
  int64_t n = 0;
  if (model == SCT_PTX_CC20) {
    for (int i = 0; i < 32; i += wide) {
      n += guide_banks(a, i, wide);
    }
    return n;
  }
  for (int i = 0; i < 32; i += 16) {
    for (int word = 0; word < (a->width < 4 ? 1 : a->width / 4); word++) {
      n += guide_steps(a, i, word);
    }
  }
  return n;
}

static ptx_access random_access(sct_rng *rng) {
  static const int widths[] = {1, 2, 4, 8, 16};
  ptx_access a = {.width = widths[sct_rng_below(rng, 5)]};
  a.dir = (ptx_dir)sct_rng_below(rng, 3);
  a.uncached = a.dir == PTX_READ && sct_rng_below(rng, 4) == 0;
  a.mask = sct_rng_below(rng, 2) == 0 ? (uint32_t)sct_rng_u64(rng) : PTX_ALL;
  a.mask &= sct_rng_below(rng, 4) == 0 ? (uint32_t)sct_rng_u64(rng) : PTX_ALL;
  a.mask = a.mask == 0 ? 1u << sct_rng_below(rng, 32) : a.mask;
  const int kind = (int)sct_rng_below(rng, 6), step = (int)sct_rng_below(rng, 20);
  const int base = (int)sct_rng_below(rng, 40) * (sct_rng_below(rng, 2) == 0 ? 1 : 8);
  const int odd = (int)sct_rng_below(rng, 32); /* one lane out of place */
  for (int i = 0; i < 32; i++) {
    const int random = (int)sct_rng_below(rng, kind == 0 ? 24 : 2000);
    const int place = kind == 1   ? i
                      : kind == 2 ? i ^ (step & 15)
                      : kind == 3 ? i * step
                      : kind == 4 ? i + (i == odd ? step : 0)
                                  : random;
    a.addr[i] = (uint64_t)(BASE + (base + place) * a.width);
  }
  return a;
}

static void random_streams(void **state) {
  (void)state;
  const uint64_t seed = 11;
  sct_rng rng = sct_rng_new(seed);
  int coalesced = 0;
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int k = 0; k < 1500; k++) {
    const ptx_access a = random_access(&rng);
    for (int m = 0; m < SCT_PTX_N_COALESCING; m++) {
      const sct_ptx_coalescing model = (sct_ptx_coalescing)m;
      const total t = guide(model, &a);
      const sct_ptx_global g = count(model, &a);
      if (g.requests != t.requests || g.sectors != t.n || g.moved != t.bytes || g.tags != t.tags) {
        fail_msg("stream %d, %s: %lld transactions of %lld bytes, %lld lines; the guide says %lld, "
                 "%lld and %lld",
                 k, sct_ptx_coalescing_name(model), (long long)g.sectors, (long long)g.moved,
                 (long long)g.tags, (long long)t.n, (long long)t.bytes, (long long)t.tags);
      }
      assert_true(g.sectors_ideal >= g.requests && g.sectors_ideal <= g.sectors);
      coalesced += model == SCT_PTX_CC10 && g.sectors < __builtin_popcount(a.mask);
      if (m == SCT_PTX_CC10 || m == SCT_PTX_CC12 || m == SCT_PTX_CC20) {
        const sct_ptx_shared s = count_shared(model, &a);
        assert_int_equal(s.wavefronts, guide_wavefronts(model, &a));
        assert_true(s.wavefronts >= s.wavefronts_ideal && s.requests <= s.wavefronts_ideal);
      }
    }
  }
  assert_in_range(coalesced, 75, 1100); /* both ways of CC 1.0 were seen */
}

/* ---- names */

static void names(void **state) {
  (void)state;
  static const struct {
    const char *wrong, *near;
  } wrong[] = {{"cc13", "cc12"}, {"cc11", "cc10"}, {"cc21", "cc20"},
               {"cc35", "cc60"}, {"cc61", "cc60"}, {"cc90", "cc70"},
               {"cc6", "cc60"},  {"CC20", "cc20"}, {"c10", "cc10"}};
  for (int m = 0; m < SCT_PTX_N_COALESCING; m++) {
    sct_ptx_coalescing found = SCT_PTX_N_COALESCING;
    const char *name = sct_ptx_coalescing_name((sct_ptx_coalescing)m);
    assert_int_equal(sct_ptx_coalescing_find(&found, name, NULL), SCT_OK);
    assert_int_equal(found, m);
  }
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    sct_ptx_coalescing found = SCT_PTX_CC20;
    sct_error err = {0};
    char hint[32];
    snprintf(hint, sizeof hint, "mean '%s'?", wrong[k].near);
    assert_int_equal(sct_ptx_coalescing_find(&found, wrong[k].wrong, &err), SCT_EUSAGE);
    if (strstr(err.text, wrong[k].wrong) == NULL || strstr(err.text, hint) == NULL) {
      fail_msg("%s: %s", wrong[k].wrong, err.text);
    }
    assert_int_equal(found, SCT_PTX_CC20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_by_hand),  cmocka_unit_test(directions),
      cmocka_unit_test(shared_by_hand), cmocka_unit_test(random_streams),
      cmocka_unit_test(names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
