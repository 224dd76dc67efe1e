/* Texture fetches from linear memory: tex1Dfetch through a texture object. */
#include "ptx/exec/ptx_exec.h"
#include "ptx/exec/ptx_values.h"

#define MAX_TEXELS    (INT64_C(1) << 27)
#define TEXTURE_ALIGN 512

static const struct {
  uint8_t bytes;
  bool sign;
  ptx_type reads; /* type of the instruction */
} texels[SCT_PTX_N_TEXELS] = {
    [SCT_PTX_TEXEL_F32] = {4, false, PTX_T_F32}, [SCT_PTX_TEXEL_F16] = {2, false, PTX_T_F32},
    [SCT_PTX_TEXEL_S32] = {4, true, PTX_T_S32},  [SCT_PTX_TEXEL_S16] = {2, true, PTX_T_S32},
    [SCT_PTX_TEXEL_S8] = {1, true, PTX_T_S32},   [SCT_PTX_TEXEL_U32] = {4, false, PTX_T_U32},
    [SCT_PTX_TEXEL_U16] = {2, false, PTX_T_U32}, [SCT_PTX_TEXEL_U8] = {1, false, PTX_T_U32},
};

sct_status sct_ptx_memory_add_texture(sct_ptx_memory *m, uint64_t *handle, const sct_ptx_texture *t,
                                      sct_error *err) {
  const ptx_buf *b = ptx_memory_window(m, t->address);
  if (t->type < 0 || t->type >= SCT_PTX_N_TEXELS ||
      (t->channels != 1 && t->channels != 2 && t->channels != 4)) {
    return sct_fail(err, SCT_EUSAGE, "a texture of texel type %d with %d channels (1, 2 or 4)",
                    (int)t->type, t->channels);
  }
  if (t->texels < 0 || t->texels > MAX_TEXELS || t->address % TEXTURE_ALIGN != 0) {
    return sct_fail(
        err, SCT_EUSAGE, "a texture of %lld texels at 0x%llx: at most %lld, at a multiple of %d",
        (long long)t->texels, (unsigned long long)t->address, (long long)MAX_TEXELS, TEXTURE_ALIGN);
  }
  const int64_t bytes = t->texels * t->channels * texels[t->type].bytes;
  if (b == NULL || t->address < b->base || (int64_t)(t->address - b->base) + bytes > b->bytes) {
    return sct_fail(err, SCT_EUSAGE, "a texture of %lld bytes at 0x%llx is outside of every buffer",
                    (long long)bytes, (unsigned long long)t->address);
  }
  if (m->n_textures == PTX_MAX_TEXTURES) {
    return sct_fail(err, SCT_EUSAGE, "more than %d textures", PTX_MAX_TEXTURES);
  }
  *handle = PTX_WINDOW(PTX_WINDOW_TEXTURES) + (uint64_t)m->n_textures;
  m->textures[m->n_textures++] = *t;
  return SCT_OK;
}

/* ---- one lane */

typedef struct texel {
  uint32_t value[4];
  uint64_t undefined[4]; /* bits */
} texel;

static const sct_ptx_texture *texture_at(ptx_exec *x, const ptx_uop *u, int lane) {
  const uint64_t handle = ptx_r64(x, u->a)[lane], k = handle - PTX_WINDOW(PTX_WINDOW_TEXTURES);
  const sct_ptx_memory *m = x->launch->memory;
  if ((x->state[u->a] | x->state[u->b]) >> lane & 1) {
    sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_ADDRESS, lane, handle,
                  "the texture or the index was never set");
    return NULL;
  }
  if (k >= (uint64_t)m->n_textures) {
    sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, handle, "0x%llx is no texture object",
                  (unsigned long long)handle);
    return NULL;
  }
  if (texels[m->textures[k].type].reads != (ptx_type)u->from) {
    sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, handle,
                  "fetches .%s from a texture whose texels read as .%s",
                  sct_ptx_type_name((ptx_type)u->from),
                  sct_ptx_type_name(texels[m->textures[k].type].reads));
    return NULL;
  }
  return &m->textures[k];
}

/* One channel, widened to 32 bits. */
static void channel(const sct_ptx_texture *t, const uint8_t *p, const uint8_t *defined, int c,
                    texel *out) {
  const int bytes = texels[t->type].bytes, drop = 32 - 8 * bytes;
  uint32_t v = 0, set = 0;
  memcpy(&v, p + c * bytes, (size_t)bytes);
  if (defined != NULL) {
    memcpy(&set, defined + c * bytes, (size_t)bytes);
  } else {
    set = PTX_ALL >> drop;
  }
  if (texels[t->type].sign) {
    v = (uint32_t)((int32_t)(v << drop) >> drop);
  } else if (t->type == SCT_PTX_TEXEL_F16) {
    const float f = sct_ptx_f16_to_f32((uint16_t)v);
    memcpy(&v, &f, 4);
  }
  const bool whole = set == PTX_ALL >> drop;
  out->value[c] = v;
  out->undefined[c] = whole ? 0 : bytes == 4 ? (uint32_t)~set : PTX_ALL;
}

/* false: fault. An index outside reads zeros in all channels. */
static bool fetch(ptx_exec *x, const ptx_uop *u, int lane, texel *out, bool *approx) {
  const sct_ptx_texture *t = texture_at(x, u, lane);
  *out = (texel){0};
  if (t == NULL) {
    return false;
  }
  const int64_t index = (int32_t)ptx_r32(x, u->b)[lane];
  const int bytes = t->channels * texels[t->type].bytes;
  if (index < 0 || index >= t->texels) {
    return true;
  }
  ptx_access acc = {.mask = 1u << lane, .width = bytes, .dir = PTX_READ};
  acc.addr[lane] = t->address + (uint64_t)(index * bytes);
  const ptx_part part = sct_ptx_part_global(x, u, &acc, acc.mask);
  ptx_uop read = *u;
  read.op = PTX_MEM_NC; /* textures are read through the read-only path */
  if (part.mask == 0 || (x->launch->races && !sct_ptx_race(x, &read, &acc, &part, 0))) {
    return false;
  }
  const size_t off = (acc.addr[lane] - part.origin) & part.keep;
  for (int c = 0; c < 4; c++) {
    if (c < t->channels) {
      channel(t, part.host + off, part.defined != NULL ? part.defined + off : NULL, c, out);
    } else {
      out->undefined[c] = PTX_ALL;
    }
  }
  *approx |= part.approx;
  return true;
}

void sct_ptx_op_tex1d(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *slots = x->code->vec + u->vec;
  texel got[PTX_LANES];
  bool approx = false;
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    if (!fetch(x, u, ptx_first_lane(m), &got[ptx_first_lane(m)], &approx)) {
      return;
    }
  }
  x->counters.texture_requests += x->launch->counters;
  for (int c = 0; c < 4; c++) {
    const uint64_t both = (uint64_t)x->mask << 32 | x->mask;
    uint64_t bits[PTX_LANES] = {0};
    uint32_t lanes = 0;
    x->state[slots[c]] = (x->state[slots[c]] & ~both) | (approx ? both & ~(uint64_t)PTX_ALL : 0);
    for (uint32_t m = x->mask; m != 0; m &= m - 1) {
      const int i = ptx_first_lane(m);
      ptx_r32(x, slots[c])[i] = got[i].value[c];
      bits[i] = got[i].undefined[c];
      lanes |= (uint32_t)(bits[i] != 0) << i;
    }
    if (lanes != 0 && x->launch->definedness) {
      sct_ptx_shadow_set(x, slots[c], lanes, bits);
    }
  }
}
