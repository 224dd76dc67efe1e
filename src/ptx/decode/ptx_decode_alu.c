/* Arithmetic is decoded by table: opcode, the modifiers that make up the form, and the type give
 * one row of ptx_alu.def; what is left over must be allowed there. */
#include "ptx/decode/ptx_decode.h"
#include "ptx/exec/ptx_exec.h"

#include <string.h>

typedef struct alu_row {
  const char *op, *sub, *types;
  ptx_fn fn;
  const char *sig, *attrs;
  ptx_undef undef;
} alu_row;

static const alu_row alu_rows[] = {
#define PTX_ALU(op, sub, types, fn, sig, attrs, undef)                                             \
  {op, sub, types, sct_ptx_op_##fn, sig, attrs, PTX_UNDEF_##undef},
#include "ptx_alu.def"
#undef PTX_ALU
};

/* Modifiers that any float form may have, and the attribute letter that allows each. */
static const struct {
  const char *name;
  char attr;
  uint16_t flag;
} attr_mods[] = {{"rn", 'R', 0},           {"rz", 'R', PTX_F_RZ},   {"rm", 'R', PTX_F_RM},
                 {"rp", 'R', PTX_F_RP},    {"ftz", 'Z', PTX_F_FTZ}, {"sat", 'S', PTX_F_SAT},
                 {"cc", 'C', PTX_F_CC},    {"NaN", 'n', PTX_F_NAN}, {"xorsign", 'X', PTX_F_XORSIGN},
                 {"relu", 'r', PTX_F_RELU}};

typedef struct alu_mods {
  ptx_type type;
  char sub[48];
  char attrs[8];
  uint16_t flags;
} alu_mods;

static int attr_of(ptx_span m) {
  for (int i = 0; i < SCT_COUNT(attr_mods); i++) {
    if (sct_ptx_span_is(m, attr_mods[i].name)) {
      return i;
    }
  }
  return -1;
}

static ptx_type type_at(const ptx_dec *d, int i) {
  return sct_ptx_type_find(d->inst->mods[i].p, d->inst->mods[i].len);
}

static bool sort_mods(ptx_dec *d, alu_mods *out) {
  size_t n_attrs = 0, n_sub = 0;
  const int n = d->inst->n_mods;
  int at = n - 1; /* the type is the last modifier, or the first one that is a type */
  *out = (alu_mods){.type = at > 0 ? type_at(d, at) : PTX_T_NONE};
  for (int i = 1; out->type == PTX_T_NONE && i < n; i++) {
    at = i;
    out->type = type_at(d, i);
  }
  for (int i = 1; i < n; i++) {
    const ptx_span m = d->inst->mods[i];
    const int attr = attr_of(m);
    if (i == at && out->type != PTX_T_NONE) {
      continue;
    }
    if (attr >= 0 && strchr(out->attrs, attr_mods[attr].attr) != NULL) {
      return sct_ptx_dec_unknown(d); /* twice, or two rounding modes */
    }
    if (attr >= 0 && n_attrs + 1 < sizeof out->attrs) {
      out->attrs[n_attrs++] = attr_mods[attr].attr;
      out->flags |= attr_mods[attr].flag;
    } else if (n_sub + (size_t)m.len + 2 < sizeof out->sub) {
      n_sub += (size_t)snprintf(out->sub + n_sub, sizeof out->sub - n_sub, "%s%.*s",
                                n_sub > 0 ? "." : "", m.len, m.p);
    } else {
      return sct_ptx_dec_unknown(d);
    }
  }
  return true;
}

/* What a letter of a row demands: a modifier's own letter. */
static const struct {
  char letter, needs;
} demands[] = {{'!', 'R'}, {'X', 'X'}, {'F', 'Z'}, {'c', 'C'}, {'s', 'S'}};

static bool attrs_allowed(const char *attrs, const alu_mods *mods) {
  for (int i = 0; i < SCT_COUNT(demands); i++) {
    if (strchr(attrs, demands[i].letter) != NULL && strchr(mods->attrs, demands[i].needs) == NULL) {
      return false;
    }
  }
  if ((mods->flags & PTX_F_SAT) != 0 && (mods->flags & (PTX_F_CC | PTX_F_RELU)) != 0) {
    return false; /* a saturated sum has no carry, and no second clamp */
  }
  for (const char *a = mods->attrs; *a != '\0'; a++) {
    const bool rn_only =
        *a == 'R' && strchr(attrs, 'N') != NULL && (mods->flags & PTX_F_RND_MASK) == 0;
    const bool demanded = *a == 'Z' && strchr(attrs, 'F') != NULL;
    if (strchr(attrs, *a) == NULL && !rn_only && !demanded) {
      return false;
    }
  }
  return true;
}

static const alu_row *alu_find(const ptx_span op, const alu_mods *mods) {
  for (int i = 0; i < SCT_COUNT(alu_rows); i++) {
    const alu_row *r = &alu_rows[i];
    if (r->op[0] == op.p[0] && sct_ptx_span_is(op, r->op) && strcmp(r->sub, mods->sub) == 0 &&
        sct_ptx_type_in(mods->type, r->types) && attrs_allowed(r->attrs, mods)) {
      return r;
    }
  }
  return NULL;
}

bool sct_ptx_dec_alu(ptx_dec *d) {
  alu_mods mods;
  if (!sort_mods(d, &mods)) {
    return false;
  }
  const alu_row *row = alu_find(d->inst->mods[0], &mods);
  if (row == NULL) {
    return sct_ptx_dec_unknown(d);
  }
  d->code->has_approx |= strchr(row->attrs, 'A') != NULL;
  return sct_ptx_dec_put_operands(d, row->sig, mods.type,
                                  (ptx_uop){.fn = row->fn,
                                            .flags = mods.flags,
                                            .undef = (uint8_t)row->undef,
                                            .bytes = (uint8_t)sct_ptx_type_bytes(mods.type)});
}
