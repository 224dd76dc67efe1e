/* Where arrays lie in the situations of a candidate: addresses alike and unlike, in pairs. */
#include "measure_cover.h"
#include "measure_session.h"

#include <string.h>

#define FULL_GRIDS 4 /* of so many situations one has all the blocks that there are to be */

void sct_situations_add(sct_situations *list, sct_case *c, const int64_t *residue) {
  sct_situation s = {.c = c, .few = list->n % FULL_GRIDS != FULL_GRIDS - 1};
  if (residue) {
    memcpy(s.residue, residue, sizeof s.residue);
  }
  SCT_GROW(list->all, (size_t)list->n, list->cap);
  list->all[list->n++] = s;
}

#define VECTOR ((int64_t)16) /* bytes of the widest one: by it addresses are alike or unlike */

/* Of an address: where a driver puts it, exactly as aligned as the code needs, at a vector, one
 * element before one, or anywhere else. */
enum { AT_DRIVERS, AT_LEAST, AT_VECTOR, AT_BEFORE, AT_OTHER, N_ADDRESSES };

static int address_of(int64_t residue, int64_t align) {
  return residue == 0                      ? AT_DRIVERS
         : residue % VECTOR == 0           ? AT_VECTOR
         : residue % VECTOR == align       ? AT_LEAST
         : (residue + align) % VECTOR == 0 ? AT_BEFORE
                                           : AT_OTHER;
}

/* An address of this kind, or near it. */
static int64_t residue_at(int address, int64_t align, uint64_t *rng) {
  const int64_t vector = VECTOR * (int64_t)(1 + sct_take(rng) % (SCT_PLACE_BYTES / VECTOR - 1));
  const int64_t any = align * (int64_t)(sct_take(rng) % (uint64_t)(SCT_PLACE_BYTES / align));
  const int64_t residues[N_ADDRESSES] = {0, vector - VECTOR + align, vector, vector - align, any};
  return align >= VECTOR && address != AT_DRIVERS ? any : residues[address];
}

#define N_ADDRESS_TRIES 12

/* Where the arrays lie in each situation: of some that are drawn, what covers most pairs. Arrays
 * that must be aligned to more than vectors stay where they just are so. */
static void choose_addresses(sct_situations *list, const sct_spec *spec,
                             const sct_kernel_code *code) {
  const int n = spec->n_operands, n_rests = SCT_N_RESTS;
  const int last = spec->n_dims - 1;
  const int of_operands =
      n * N_ADDRESSES < SCT_MAX_TRAITS - n_rests ? n : (SCT_MAX_TRAITS - n_rests) / N_ADDRESSES;
  SCT_SCOPED(sct_cover) cover = {0};
  sct_cover_init(&cover, of_operands * N_ADDRESSES + n_rests);
  for (int k = 0; k < list->n; k++) {
    sct_situation *s = &list->all[k];
    uint64_t rng = sct_mix64((uint64_t)k, (uint64_t)s->c->dims[last]);
    int64_t best[SCT_MAX_OPERANDS] = {0};
    sct_traits its = {0};
    int most = -1;
    const bool least = k % 2 == 0; /* no larger power of two divides these */
    for (int attempt = 0; attempt < (least ? 1 : N_ADDRESS_TRIES); attempt++) {
      int64_t residue[SCT_MAX_OPERANDS] = {0};
      sct_traits t = {0};
      for (int op = 0; op < n; op++) {
        const int64_t align = sct_code_residue(code, op);
        const bool free = align > 0 && align < SCT_PLACE_BYTES;
        const int address = (int)(sct_take(&rng) % N_ADDRESSES);
        residue[op] = free && !least ? residue_at(address, align, &rng) : align;
        if (op < of_operands) {
          sct_traits_add(&t, op * N_ADDRESSES + (free ? address_of(residue[op], align) : 0));
        }
      }
      sct_traits_add(&t, of_operands * N_ADDRESSES + sct_rest_of(s->c->dims[last], 4));
      const int gain = sct_cover_gain(&cover, &t);
      if (gain > most) {
        most = gain;
        its = t;
        memcpy(best, residue, sizeof best);
      }
    }
    sct_cover_add(&cover, &its);
    memcpy(s->residue, best, sizeof s->residue);
  }
}

/* Kernels that look at addresses as numbers, to peel a head or to choose a path, meet all pairs of
 * what these can be modulo a vector, each with several remainders of the last extent. */
#define MOST_ADDRESSES 32 /* for one case */
#define N_UNLIKE_TRIES 64

static int64_t least_residue(const sct_spec *spec, const sct_kernel_code *code) {
  int64_t least = VECTOR;
  for (int op = 0; op < spec->n_operands; op++) {
    const int64_t align = sct_code_residue(code, op);
    least = align > 0 && align < least ? align : least;
  }
  return least;
}

/* All alike for small n, then drawn. */
static void draw_residues(const sct_spec *spec, const sct_kernel_code *code, int n,
                          int64_t residue[SCT_MAX_OPERANDS], uint64_t *rng) {
  const int64_t least = least_residue(spec, code);
  for (int op = 0; op < spec->n_operands; op++) {
    const int64_t align = sct_code_residue(code, op);
    residue[op] = align;
    if (align > 0 && align < VECTOR) {
      const int64_t at = n < VECTOR / least ? n * least : (int64_t)(sct_take(rng) % VECTOR);
      const int64_t high = VECTOR * (int64_t)(sct_take(rng) % (SCT_PLACE_BYTES / VECTOR));
      residue[op] = high + at / align * align;
    }
  }
}

/* Of some that are drawn, those that cover most pairs of residues. false: no new pair. */
static bool choose_residues(const sct_spec *spec, const sct_kernel_code *code, int n,
                            sct_cover *cover, int64_t best[SCT_MAX_OPERANDS], uint64_t *rng) {
  sct_traits its = {0};
  int most = 0;
  for (int attempt = 0; attempt < N_UNLIKE_TRIES; attempt++) {
    int64_t residue[SCT_MAX_OPERANDS] = {0};
    sct_traits t = {0};
    draw_residues(spec, code, n, residue, rng);
    for (int op = 0; op < spec->n_operands && op < SCT_MAX_TRAITS / VECTOR; op++) {
      sct_traits_add(&t, op * (int)VECTOR + (int)(residue[op] % VECTOR));
    }
    const int gain = sct_cover_gain(cover, &t);
    if (gain > most) {
      most = gain;
      its = t;
      memcpy(best, residue, sizeof residue);
    }
  }
  sct_cover_add(cover, &its);
  return most > 0;
}

static void add_unlike(sct_situations *list, const sct_spec *spec, const sct_kernel_code *code) {
  static const int wanted[] = {SCT_REST_ONE, SCT_REST_ALL_BUT_ONE, SCT_REST_NONE, SCT_REST_OTHER,
                               SCT_N_RESTS};
  const int last = spec->n_dims - 1, n = list->n;
  for (int w = 0; w < SCT_COUNT(wanted); w++) {
    sct_case *c = NULL;
    for (int k = 0; k < n; k++) {
      sct_case *other = list->all[k].c;
      const int64_t elements = other->shape.n_elements;
      const bool tiny = elements > 0 && elements < 4; /* less than a head may be */
      const bool whole = other->dims[last] > 2 * VECTOR && elements > 4 * VECTOR;
      const bool rest = whole && sct_rest_of(other->dims[last], 4) == wanted[w];
      const bool suits = wanted[w] == SCT_N_RESTS ? tiny : rest;
      c = suits && (!c || elements < c->shape.n_elements) ? other : c;
    }
    int64_t residue[SCT_MAX_OPERANDS] = {0};
    uint64_t rng = (uint64_t)w;
    SCT_SCOPED(sct_cover) cover = {0};
    sct_cover_init(&cover, SCT_MAX_TRAITS);
    for (int k = 0;
         k < MOST_ADDRESSES && c && choose_residues(spec, code, k, &cover, residue, &rng); k++) {
      sct_situations_add(list, c, residue);
    }
  }
}

void sct_situations_place(sct_situations *list, const sct_spec *spec, const sct_kernel_code *code,
                          bool inspects) {
  choose_addresses(list, spec, code);
  if (inspects) {
    add_unlike(list, spec, code);
  }
}
