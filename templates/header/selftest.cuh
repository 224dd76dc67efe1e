// $(file) - written by sectile $(version); do not edit. Again: sectile emit $(spec_file)$(form_option) -o $(header) --selftest $(file)
//
// $(name)_selftest(stream) runs every kernel of $(header) in situations in which they were verified:
// extents around what they divide by and compare with, arrays at addresses alike and unlike. It
// compares with results that an interpreter of PTX computed on a CPU. It is null where all are
// right, else a text that says what is wrong. The file that has $(name)_IMPLEMENTATION
// includes it after the header. With $(name)_SELFTEST_MAIN it is a program of its own.
#ifndef SECTILE_SELFTEST_$(name)
#define SECTILE_SELFTEST_$(name)
#if defined($(name)_SELFTEST_MAIN) && !defined($(name)_IMPLEMENTATION)
#define $(name)_IMPLEMENTATION
#endif
#include "$(header)"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct $(self)_field {
  int offset, bytes, lanes;
  int exponent;  // bits of it in a number with a sign; 0: no floating-point number
} $(self)_field;
typedef struct $(self)_array {
  const char *name;
  bool written;
  int align, record_bytes, n_fields;
  const $(self)_field *fields;
} $(self)_array;
//% for n, a in ipairs(operands) do
static const $(self)_field $(self)_fields_$(n - 1)[] = {
//%   for _, f in ipairs(a.record.fields) do
    {$(f.offset), $(f.bytes), $(f.lanes), $(f.exponent)},
//%   end
};
//% end
enum {
  $(self)_n_arrays = $(#operands),
  $(self)_guard = 256,
  $(self)_most_residue = $(most_residue),
  $(self)_part = $(part_bytes),  // bytes, of which there is a digest
  $(self)_most_fields = $(most_fields),
};
static const $(self)_array $(self)_arrays[] = {
//% for n, a in ipairs(operands) do
    {"$(a.name)", $(a.is_output), $(kernels[1].launch.align[n]), $(a.record.bytes), $(#a.record.fields), $(self)_fields_$(n - 1)},
//% end
};

// ---- Cases: what arrays hold before a launch, and outputs after it.

// Of the fields that begin in a part: a sum of hashes of what must be met bit for bit, NaN and
// infinity too, and bits of the sum of other values, each times 1 to 2 by its place.
typedef struct $(self)_digest {
  unsigned long long hashes, sum;
} $(self)_digest;
typedef struct $(self)_words {
  unsigned long long key, and_mask, or_mask;
} $(self)_words;
typedef struct $(self)_case {
  const char *label;
  long long extents[$(detail)_n_extents];
  unsigned char scalars[$(#scalars > 0 and #scalars or 1)][16];
  long long bytes[$(self)_n_arrays];
  const unsigned char *before[$(self)_n_arrays];  // null: words of an input, else `poison`
  $(self)_words words[$(self)_n_arrays];
  const unsigned char *after[$(self)_n_arrays];    // null: of an input, or where there are
  const $(self)_digest *digests[$(self)_n_arrays];
  unsigned char poison;
  double tolerance[$(self)_n_arrays];     // -1: of bits; relative to a value or, if greater, to
  const double *usual[$(self)_n_arrays];  // the median magnitude of each field
  int n_places;
  // residues of addresses modulo the least power of two that is more, 512 or above
  const int (*places)[$(self)_n_arrays];
} $(self)_case;

//% for _, c in ipairs(cases) do
//%   for _, b in ipairs(c.buffers) do
static const unsigned char $(self)_$(b.name)[] = {
$(b.values)
};
//%   end
//%   for _, u in ipairs(c.usual) do
static const double $(self)_$(u.name)[] = {$(join(u.values))};
//%   end
//%   for _, d in ipairs(c.digests) do
static const $(self)_digest $(self)_$(d.name)[] = {
//%     for _, part in ipairs(d.values) do
    $(part),
//%     end
};
//%   end
static const int $(self)_places_$(c.number)[][$(self)_n_arrays] = {
//%   for _, place in ipairs(c.places) do
    $(place),
//%   end
};
//% end
static const $(self)_case $(self)_cases[] = {
//% for _, c in ipairs(cases) do
    {"$(c.label)",
     {$(join(c.extents))},
     {$(join(c.scalars))},
     {$(join(c.bytes))},
     {$(join(c.before))},
     {$(join(c.words))},
     {$(join(c.after))},
     {$(join(c.digest_names))},
     $(c.poison),
     {$(join(c.tolerance))},
     {$(join(c.usual_names))},
     (int)(sizeof $(self)_places_$(c.number) / sizeof $(self)_places_$(c.number)[0]),
     $(self)_places_$(c.number)},
//% end
};

//% if #edges > 0 then
// Extents around the thresholds of the rule. Results there are compared with those of the naive
// variant on this device; of arrays with more bytes in all, extents are left out.
#ifndef $(name)_SELFTEST_BYTES
#define $(name)_SELFTEST_BYTES (256LL << 20)
#endif
typedef struct $(self)_edge {
  long long extents[$(detail)_n_extents];
  double tolerance[$(self)_n_arrays];
} $(self)_edge;
static const $(self)_edge $(self)_edges[] = {
//%   for _, e in ipairs(edges) do
    {{$(join(e.extents))}, {$(join(e.tolerance))}},
//%   end
};

//% end
// ---- Numbers that look random.

static unsigned long long $(self)_scramble(unsigned long long z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

static unsigned long long $(self)_mix(unsigned long long seed, unsigned long long index) {
  const unsigned long long golden = 0x9e3779b97f4a7c15ULL;
  return $(self)_scramble($(self)_scramble(seed + golden) + (index + 1) * golden);
}

// ---- Comparing.

// 2 to the power of -1022 to 1023.
static double $(self)_power(int exponent) {
  const unsigned long long bits = (unsigned long long)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

// Bits of the significand that are stored.
static int $(self)_digits(const $(self)_field *f) {
  return f->bytes / f->lanes * 8 - 1 - f->exponent;
}

// A floating-point number of 1 to 8 bytes; NaN and infinities as such.
static double $(self)_number(const unsigned char *at, const $(self)_field *f) {
  const int bytes = f->bytes / f->lanes, digits = $(self)_digits(f);
  const int most = (1 << f->exponent) - 1, bias = most / 2;
  const double huge = $(self)_power(1023);
  unsigned long long bits = 0;
  memcpy(&bits, at, (size_t)bytes);
  const unsigned long long part = bits & ((1ULL << digits) - 1);
  const int exponent = (int)(bits >> digits & (unsigned long long)most);
  const bool is_e4m3 = f->exponent == 4;  // which has no infinities
  const double step = $(self)_power(-digits);
  double value = (double)part * step * $(self)_power(1 - bias);
  if (exponent == most && (!is_e4m3 || part == 7)) {
    value = huge * 4;
    value = part != 0 ? value - value : value;
  } else if (exponent > 0) {
    value = (double)(part + (1ULL << digits)) * step * $(self)_power(exponent - bias);
  }
  return bits >> (8 * bytes - 1) & 1 ? -value : value;
}

// Compilers and devices round some functions otherwise: what is computed may differ at its end.
static bool $(self)_near(double got, double want, double tolerance, double usual) {
  if (got != got || want != want) return got != got && want != want;
  const double magnitude = want < 0 ? -want : want;
  const double off = got < want ? want - got : got - want;
  return got == want || off <= tolerance * (magnitude < usual ? usual : magnitude);
}

// What is found of a part.
typedef struct $(self)_found {
  unsigned long long hashes;
  double sum, tolerance;  // of the sum
} $(self)_found;

typedef struct $(self)_state {
  const $(self)_array *array;
  const unsigned char *got, *want;
  double tolerance;
  const double *usual;
  long long wrong;         // the first byte that is; -1: none
  $(self)_found *found;  // of each part, where there is no `want`
} $(self)_state;

static double $(self)_tolerance(const $(self)_state *s, const $(self)_field *f) {
  const int digits = $(self)_digits(f);
  const double least = $(computes) * (digits < 23 ? 4 : 16) * $(self)_power(-digits);
  return s->tolerance < least ? least : s->tolerance;
}

static void $(self)_add($(self)_state *s, const $(self)_field *f, long long at) {
  $(self)_found *const part = &s->found[at / $(self)_part];
  const bool near = f->exponent > 0 && ($(computes) || s->tolerance > 0);
  for (int lane = 0; lane < f->lanes && near; lane++) {
    const long long byte = at + lane * (f->bytes / f->lanes);
    const double usual = s->usual[f - s->array->fields], x = $(self)_number(s->got + byte, f);
    const double weight = 1 + (double)($(self)_mix(0, (unsigned long long)byte) >> 11) * $(self)_power(-53);
    const double magnitude = x < 0 ? -x : x;
    if (x - x != 0) {
      part->hashes += $(self)_mix(x != x ? 0 : x > 0 ? 1 : 2, (unsigned long long)byte);
      continue;
    }
    part->sum += weight * x;  // and its own roundings
    part->tolerance +=
        weight * ($(self)_tolerance(s, f) + 1e-13) * (magnitude < usual ? usual : magnitude);
  }
  for (int n = 0; n < f->bytes && !near; n += 8) {
    unsigned long long word = 0;
    memcpy(&word, s->got + at + n, (size_t)(f->bytes - n < 8 ? f->bytes - n : 8));
    part->hashes += $(self)_mix(word, (unsigned long long)(at + n));
  }
}

// A field of an element: `at` in the array, `plain` in an array of elements one after the other.
static void $(self)_value(void *context, int64_t at, int64_t plain, size_t n) {
  $(self)_state *const s = ($(self)_state *)context;
  const $(self)_field *f = s->array->fields;
  if (s->wrong >= 0 || (s->want != NULL && memcmp(s->got + at, s->want + at, n) == 0)) return;
  while (f->offset != plain % s->array->record_bytes) f++;
  if (s->want == NULL) {
    $(self)_add(s, f, at);
    return;
  }
  bool right = f->exponent > 0 && s->tolerance >= 0;
  for (int lane = 0; lane < f->lanes && right; lane++) {
    const long long byte = at + lane * (f->bytes / f->lanes);
    right = $(self)_near($(self)_number(s->got + byte, f), $(self)_number(s->want + byte, f),
                         $(self)_tolerance(s, f), s->usual[f - s->array->fields]);
  }
  if (!right) s->wrong = at;
}

// A sum that overflows says so much only.
static bool $(self)_is_sum(const $(self)_found *found, const $(self)_digest *want) {
  const double got = found->sum;
  double sum;
  memcpy(&sum, &want->sum, sizeof sum);
  if (sum - sum != 0) return got - got != 0;
  return (got < sum ? sum - got : got - sum) <= found->tolerance;
}

// Each field of each element of array number `k`.
static void $(self)_each(void (*value)(void *, int64_t, int64_t, size_t), void *context, int k,
                         const $(self)_case *c) {
  const $(self)_array *const a = &$(self)_arrays[k];
//% for n, a in ipairs(operands) do
//%   if a.is_output and a.packs then
  if (k == $(n - 1)) {
    $(a.prefix)_each_field(value, context$(join(a.extent_numbers, ", c->extents[%s]", "")));
    return;
  }
//%   end
//% end
  for (long long at = 0; at < c->bytes[k]; at += a->record_bytes) {
    for (int f = 0; f < a->n_fields; f++) {
      value(context, at + a->fields[f].offset, a->fields[f].offset, (size_t)a->fields[f].bytes);
    }
  }
}

// ---- Running.

static char $(self)_text[600];
static int $(self)_n_runs;  // of the last call

static const char *$(self)_say(const char *variant, const $(self)_case *c, int place, const char *what) {
  char where[200] = "";
  for (int k = 0; k < $(self)_n_arrays; k++) {
    const size_t n = strlen(where);
    if (c->places[place][k] != 0) {
      snprintf(where + n, sizeof where - n, "%s%s=%d", n > 0 ? " " : ", addresses modulo 512: ",
               $(self)_arrays[k].name, c->places[place][k]);
    }
  }
  snprintf($(self)_text, sizeof $(self)_text, "$(name), %s at %s%s: %s", variant, c->label, where, what);
  return $(self)_text;
}

// Arrays of a case on the device, between guard zones.
typedef struct $(self)_memory {
  unsigned char *device[$(self)_n_arrays], *host[$(self)_n_arrays];
  unsigned char *before[$(self)_n_arrays];
  $(self)_found *found[$(self)_n_arrays];
  void *workspace;
} $(self)_memory;

static size_t $(self)_size(const $(self)_case *c, int k) {
  return (size_t)c->bytes[k] + 2 * $(self)_guard + 512 + 2 * $(self)_most_residue;
}

static size_t $(self)_n_parts(const $(self)_case *c, int k) {
  return (size_t)(c->bytes[k] / $(self)_part + 1);
}

// Where an array begins in its memory.
static int $(self)_first(const $(self)_memory *m, const $(self)_case *c, int k, int place) {
  const int residue = c->places[place][k];
  int span = 512;
  while (span <= residue) span *= 2;
  const int at = (int)(((uintptr_t)m->device[k] + $(self)_guard) % (uintptr_t)span);
  return $(self)_guard + (residue - at + span) % span;
}

static void $(self)_make_before(unsigned char *out, const $(self)_case *c, int k) {
  const $(self)_words w = c->words[k];
  if (c->before[k] != NULL) {
    memcpy(out, c->before[k], (size_t)c->bytes[k]);
    return;
  }
  memset(out, c->poison, (size_t)c->bytes[k]);
  for (long long at = 0; at < c->bytes[k] && (w.and_mask | w.or_mask) != 0; at += 8) {
    unsigned long long word = $(self)_mix(w.key, (unsigned long long)(at / 8));
    word = (word & w.and_mask) | w.or_mask;
    memcpy(out + at, &word, (size_t)(c->bytes[k] - at < 8 ? c->bytes[k] - at : 8));
  }
}

static void $(self)_free($(self)_memory *m) {
  for (int k = 0; k < $(self)_n_arrays; k++) {
    cudaFree(m->device[k]);
    free(m->host[k]);
    free(m->before[k]);
    free(m->found[k]);
  }
  cudaFree(m->workspace);
}

static cudaError_t $(self)_allocate($(self)_memory *m, const $(self)_case *c, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  memset(m, 0, sizeof *m);
  for (int k = 0; k < $(self)_n_arrays && error == cudaSuccess; k++) {
    m->host[k] = (unsigned char *)malloc($(self)_size(c, k));
    m->before[k] = (unsigned char *)malloc((size_t)c->bytes[k] + 1);
    m->found[k] = ($(self)_found *)malloc($(self)_n_parts(c, k) * sizeof($(self)_found));
    if (m->host[k] == NULL || m->before[k] == NULL || m->found[k] == NULL) {
      return cudaErrorMemoryAllocation;
    }
    $(self)_make_before(m->before[k], c, k);
    error = cudaMalloc((void **)&m->device[k], $(self)_size(c, k));
  }
//% if workspace then
  const size_t bytes = $(name)_workspace_bytes();
  if (error == cudaSuccess && bytes > 0) error = cudaMalloc(&m->workspace, bytes);
  if (error == cudaSuccess && bytes > 0) error = cudaMemsetAsync(m->workspace, 0, bytes, stream);
//% else
  (void)stream;
//% end
  return error;
}

static cudaError_t $(self)_fill($(self)_memory *m, $(name)_args *args, const $(self)_case *c, int place,
                                cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  void *at[$(self)_n_arrays];
  for (int k = 0; k < $(self)_n_arrays && error == cudaSuccess; k++) {
    const int first = $(self)_first(m, c, k, place);
    memset(m->host[k], 0xa5, $(self)_size(c, k));
    memcpy(m->host[k] + first, m->before[k], (size_t)c->bytes[k]);
    error = cudaMemcpyAsync(m->device[k], m->host[k], $(self)_size(c, k), cudaMemcpyHostToDevice, stream);
    at[k] = m->device[k] + first;
  }
  memset(args, 0, sizeof *args);
//% for n, a in ipairs(operands) do
  memcpy(&args->$(a.name), &at[$(n - 1)], sizeof(void *));
//% end
//% for n, s in ipairs(scalars) do
  memcpy(&args->$(s.name), c->scalars[$(n - 1)], sizeof args->$(s.name));
//% end
//% for n, e in ipairs(extents) do
  args->n_$(e) = c->extents[$(n - 1)];
//% end
//% if workspace then
  args->$(workspace) = m->workspace;
//% end
  return error;
}

// What is wrong with the arrays after a launch; null: nothing.
static const char *$(self)_judge($(self)_memory *m, const char *variant, const $(self)_case *c, int place,
                                 cudaStream_t stream) {
  for (int k = 0; k < $(self)_n_arrays; k++) {
    char what[300];
    const $(self)_array *const a = &$(self)_arrays[k];
    const int first = $(self)_first(m, c, k, place);
    unsigned char *const got = m->host[k] + first;
    const size_t size = $(self)_size(c, k);
    cudaError_t error =
        cudaMemcpyAsync(m->host[k], m->device[k], size, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return $(self)_say(variant, c, place, cudaGetErrorString(error));
    $(self)_state s = {a, got, a->written ? c->after[k] : m->before[k], c->tolerance[k], c->usual[k], -1,
                       m->found[k]};
    memset(m->found[k], 0, $(self)_n_parts(c, k) * sizeof($(self)_found));
    for (long long b = -first; b < (long long)size - first; b++) {
      const bool outside = b < 0 || b >= c->bytes[k];
      if ((outside && got[b] != 0xa5) || (!outside && !a->written && got[b] != s.want[b])) {
        snprintf(what, sizeof what, "it wrote to byte %lld of %s, %s", b, a->name,
                 outside ? "which is outside of the array" : "an input");
        return $(self)_say(variant, c, place, what);
      }
    }
    if (a->written) $(self)_each($(self)_value, &s, k, c);
    if (s.wrong >= 0) {
      snprintf(what, sizeof what, "%s is wrong at byte %lld: 0x%02x... instead of 0x%02x...",
               a->name, s.wrong, got[s.wrong], s.want[s.wrong]);
      return $(self)_say(variant, c, place, what);
    }
    for (size_t p = 0; p < $(self)_n_parts(c, k) && a->written && s.want == NULL; p++) {
      const $(self)_digest *const d = &c->digests[k][p];
      if (s.found[p].hashes != d->hashes || !$(self)_is_sum(&s.found[p], d)) {
        snprintf(what, sizeof what, "%s is wrong between byte %lld and byte %lld", a->name,
                 (long long)p * $(self)_part, (long long)(p + 1) * $(self)_part - 1);
        return $(self)_say(variant, c, place, what);
      }
    }
  }
  return NULL;
}

// One variant, -1: the one that the launch function takes.
static const char *$(self)_run($(self)_memory *m, int variant, const $(self)_case *c, int place,
                               cudaStream_t stream) {
  $(name)_args args;
  $(detail)_place here = {NULL, 0, 0};
  const void *kernel = NULL;
  const char *const label = variant < 0 ? "the kernel of a call" : $(detail)_variants[variant].label;
  cudaError_t error = $(self)_fill(m, &args, c, place, stream);
  if (error == cudaSuccess) error = $(detail)_find_place(&here);
  if (error == cudaSuccess && variant >= 0) {
    if (!$(detail)_takes(&$(detail)_variants[variant], &args, &here)) return NULL;
    error = $(detail)_find_kernel(&kernel, variant);
    if (error == cudaSuccess) error = $(detail)_variants[variant].launch(kernel, args, stream);
  } else if (error == cudaSuccess) {
//% if #starts > 0 then
    return NULL;  // it sets outputs first, of which cases have values
//% else
    error = $(name)_launch(&args, stream);
//% end
  }
  $(self)_n_runs += error == cudaSuccess;
  return error == cudaSuccess ? $(self)_judge(m, label, c, place, stream)
                              : $(self)_say(label, c, place, cudaGetErrorString(error));
}

//% if #edges > 0 then
// ---- Around thresholds.

static void $(self)_find_bytes(long long *out, const long long *n) {
  const long long $(join(edge_extents));
//%   for _, x in ipairs(extents) do
  (void)n_$(x);
//%   end
  const long long all[] = {$(join(host_bytes))};
  memcpy(out, all, sizeof all);
}

// The mean magnitude of what each field of an array holds.
typedef struct $(self)_means {
  const $(self)_array *array;
  const unsigned char *bytes;
  double sums[$(self)_most_fields], counts[$(self)_most_fields];
} $(self)_means;

static void $(self)_add_magnitude(void *context, int64_t at, int64_t plain, size_t n) {
  $(self)_means *const m = ($(self)_means *)context;
  int f = 0;
  while (m->array->fields[f].offset != plain % m->array->record_bytes) f++;
  const $(self)_field *const field = &m->array->fields[f];
  for (int lane = 0; lane < field->lanes && field->exponent > 0; lane++) {
    const double x = $(self)_number(m->bytes + at + lane * ((int)n / field->lanes), field);
    m->counts[f] += x - x == 0;
    m->sums[f] += x - x != 0 ? 0 : x < 0 ? -x : x;
  }
}

// What the naive variant writes, and how large its values are.
static cudaError_t $(self)_make_after($(self)_memory *m, $(self)_case *c, unsigned char **after,
                                      double (*usual)[$(self)_most_fields], cudaStream_t stream) {
  $(name)_args args;
  const void *kernel = NULL;
  cudaError_t error = $(self)_fill(m, &args, c, 0, stream);
  if (error == cudaSuccess) error = $(detail)_find_kernel(&kernel, 0);
  if (error == cudaSuccess) error = $(detail)_variants[0].launch(kernel, args, stream);
  for (int k = 0; k < $(self)_n_arrays && error == cudaSuccess; k++) {
    $(self)_means means = {&$(self)_arrays[k], NULL, {0}, {0}};
    const size_t bytes = (size_t)c->bytes[k];
    if (!$(self)_arrays[k].written) continue;
    after[k] = (unsigned char *)malloc(bytes + 1);
    if (after[k] == NULL) return cudaErrorMemoryAllocation;
    error = cudaMemcpyAsync(after[k], m->device[k] + $(self)_first(m, c, k, 0), bytes,
                            cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    means.bytes = after[k];
    if (error == cudaSuccess) $(self)_each($(self)_add_magnitude, &means, k, c);
    for (int f = 0; f < $(self)_most_fields; f++) {
      usual[k][f] = means.counts[f] > 0 ? means.sums[f] / means.counts[f] : 0;
    }
    c->after[k] = after[k];
    c->usual[k] = usual[k];
  }
  return error;
}

// Inputs as those of another case, and nothing of outputs.
static $(self)_case $(self)_make_case(const $(self)_edge *edge, const char *label) {
  static const int place[1][$(self)_n_arrays] = {{0}};
  $(self)_case c = $(self)_cases[$(model)];
  c.label = label;
  memcpy(c.extents, edge->extents, sizeof c.extents);
  memcpy(c.tolerance, edge->tolerance, sizeof c.tolerance);
  $(self)_find_bytes(c.bytes, c.extents);
  for (int k = 0; k < $(self)_n_arrays; k++) {
    if (c.before[k] != NULL) c.poison = 0;  // what an output holds counts
    c.before[k] = NULL;
    c.digests[k] = NULL;
  }
  c.n_places = 1;
  c.places = place;
  return c;
}

static const char *$(self)_try_edge(const $(self)_edge *edge, cudaStream_t stream) {
  const int n_variants = (int)(sizeof $(detail)_variants / sizeof $(detail)_variants[0]);
  char label[300];
  snprintf(label, sizeof label, "$(join(extents, "n_%s=%lld", " "))"$(join(edge_numbers, ", edge->extents[%s]", "")));
  $(self)_case c = $(self)_make_case(edge, label);
  $(self)_memory memory;
  unsigned char *after[$(self)_n_arrays] = {NULL};
  double usual[$(self)_n_arrays][$(self)_most_fields], bytes = 0;
  const char *wrong = NULL;
  for (int k = 0; k < $(self)_n_arrays; k++) bytes += (double)c.bytes[k];
  if (bytes > (double)($(name)_SELFTEST_BYTES)) return NULL;
  cudaError_t error = $(self)_allocate(&memory, &c, stream);
  if (error == cudaSuccess) error = $(self)_make_after(&memory, &c, after, usual, stream);
  if (error != cudaSuccess && error != cudaErrorMemoryAllocation) {
    wrong = $(self)_say($(detail)_variants[0].label, &c, 0, cudaGetErrorString(error));
  }
  for (int v = -1; v < n_variants && error == cudaSuccess && wrong == NULL; v++) {
    wrong = $(self)_run(&memory, v, &c, 0, stream);
  }
  if (error == cudaErrorMemoryAllocation) cudaGetLastError();  // too large for this device or host
  for (int k = 0; k < $(self)_n_arrays; k++) free(after[k]);
  $(self)_free(&memory);
  return wrong;
}

//% end
#ifdef __cplusplus
extern "C" {
#endif
const char *$(name)_selftest(cudaStream_t stream);
#ifdef __cplusplus
}
#endif

const char *$(name)_selftest(cudaStream_t stream) {
  const int n_variants = (int)(sizeof $(detail)_variants / sizeof $(detail)_variants[0]);
  const int n_cases = (int)(sizeof $(self)_cases / sizeof $(self)_cases[0]);
  const char *wrong = NULL;
  $(self)_n_runs = 0;
  for (int k = 0; k < n_cases && wrong == NULL; k++) {
    const $(self)_case *const c = &$(self)_cases[k];
    $(self)_memory memory;
    const cudaError_t error = $(self)_allocate(&memory, c, stream);
    if (error != cudaSuccess) wrong = $(self)_say("memory", c, 0, cudaGetErrorString(error));
    for (int run = 0; run < c->n_places * (n_variants + 1) && wrong == NULL; run++) {
      wrong = $(self)_run(&memory, run / c->n_places - 1, c, run % c->n_places, stream);
    }
    $(self)_free(&memory);
  }
//% if #edges > 0 then
  const int n_edges = (int)(sizeof $(self)_edges / sizeof $(self)_edges[0]);
  for (int k = 0; k < n_edges && wrong == NULL; k++) {
    wrong = $(self)_try_edge(&$(self)_edges[k], stream);
  }
//% end
  return wrong;
}

#ifdef $(name)_SELFTEST_MAIN
int main(void) {
  const char *const wrong = $(name)_selftest(NULL);
  printf("%s\n", wrong != NULL ? wrong : "$(name): right");
  printf("%d launches\n", $(self)_n_runs);
  return wrong != NULL;
}
#endif
#endif  // SECTILE_SELFTEST_$(name)
