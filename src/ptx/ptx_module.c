/* Modules: parse, decode every kernel, describe them. */
#include "ptx/decode/ptx_code.h"
#include "ptx/front/ptx_parse.h"

#include <string.h>

static void free_body(ptx_func *f) {
  sct_free(f->scopes);
  sct_free(f->insts);
  sct_free(f->labels);
  f->scopes = NULL;
  f->insts = NULL;
  f->labels = NULL;
}

void sct_ptx_module_free(sct_ptx_module *m) {
  if (m == NULL) {
    return;
  }
  for (ptx_func *f = m->funcs; f != NULL; f = f->next) {
    sct_ptx_code_free(f->code);
    free_body(f);
    sct_free(f->reg_class);
  }
  sct_free(m->text);
  sct_free(m->calls);
  sct_free(m->functions);
  sct_arena_free(&m->arena);
  sct_free(m);
}

static char number_of(const ptx_sym *sym) {
  const ptx_type_kind kind = sct_ptx_type_kind(sym->type);
  const bool one = sct_ptx_type_bytes(sym->type) == sym->bytes;
  return one && kind == PTX_KIND_F                           ? 'f'
         : one && (kind == PTX_KIND_U || kind == PTX_KIND_S) ? 'i'
                                                             : '\0';
}

static void describe(sct_ptx_module *m, ptx_func *f, sct_ptx_kernel *k) {
  sct_ptx_param *params = NULL;
  *k = (sct_ptx_kernel){.n_params = f->n_params,
                        .param_bytes = f->param_bytes,
                        .max_threads = f->max_threads,
                        .error = f->error};
  k->name = sct_arena_strndup(&m->arena, f->name.p, (size_t)f->name.len);
  if (f->n_params > 0) {
    params = SCT_ARENA_NEW(&m->arena, sct_ptx_param, f->n_params);
  }
  for (int i = 0; i < f->n_params; i++) {
    const ptx_sym *p = f->params[i];
    params[i] = (sct_ptx_param){
        .offset = p->offset, .bytes = p->bytes, .align = p->align, .number = number_of(p)};
    params[i].name = sct_arena_strndup(&m->arena, p->name.p, (size_t)p->name.len);
  }
  k->params = params;
  if (f->code != NULL) {
    k->static_shared_bytes = f->code->shared_packed;
    k->n_instructions = (int)f->code->n_insts;
    k->exact = !f->code->has_approx;
  }
}

/* Decodes all kernels; what cannot be decoded keeps its reason. */
static void decode_all(sct_ptx_module *m) {
  for (ptx_func *f = m->funcs; f != NULL; f = f->next) {
    m->n_kernels += f->is_entry && f->has_body;
  }
  if (m->n_kernels == 0) {
    return;
  }
  m->kernels = SCT_ARENA_NEW(&m->arena, sct_ptx_kernel, m->n_kernels);
  m->kernel_funcs = SCT_ARENA_NEW(&m->arena, ptx_func *, m->n_kernels);
  int n = 0;
  for (ptx_func *f = m->funcs; f != NULL; f = f->next) {
    if (f->is_entry && f->has_body) {
      f->code = sct_ptx_decode(m, f, &f->error);
      m->kernel_funcs[n] = f;
      describe(m, f, &m->kernels[n]);
      n++;
    }
  }
  for (ptx_func *f = m->funcs; f != NULL; f = f->next) {
    free_body(f);
  }
}

/* ---- variables */

static void list_variables(sct_ptx_module *m) {
  int n = 0;
  for (const ptx_sym *sym = m->syms; sym != NULL; sym = sym->next) {
    n += sct_ptx_is_variable(sym);
  }
  m->variables = SCT_ARENA_NEW(&m->arena, sct_ptx_variable, n + 1);
  m->variable_syms = SCT_ARENA_NEW(&m->arena, const ptx_sym *, n + 1);
  for (const ptx_sym *sym = m->syms; sym != NULL; sym = sym->next) {
    if (sct_ptx_is_variable(sym)) {
      m->variable_syms[m->n_variables] = sym;
      m->variables[m->n_variables++] = (sct_ptx_variable){
          .name = sct_arena_strndup(&m->arena, sym->name.p, (size_t)sym->name.len),
          .bytes = sym->bytes,
          .number = number_of(sym)};
    }
  }
}

sct_status sct_ptx_parse(sct_ptx_module **out, const char *text, const char *name, sct_error *err) {
  sct_status status = SCT_OK;
  sct_ptx_module *m = sct_alloc(sizeof *m);
  m->text = sct_strdup(text);
  m->name = sct_arena_strdup(&m->arena, name != NULL ? name : "ptx");
  SCT_TRY_DONE(sct_ptx_parse_text(m, err));
  sct_ptx_name_functions(m);
  decode_all(m);
  list_variables(m);
  *out = m;
  m = NULL;
done:
  sct_ptx_module_free(m);
  return status;
}

int sct_ptx_n_kernels(const sct_ptx_module *m) {
  return m->n_kernels;
}

const sct_ptx_kernel *sct_ptx_kernel_at(const sct_ptx_module *m, int index) {
  return index >= 0 && index < m->n_kernels ? &m->kernels[index] : NULL;
}

const sct_ptx_kernel *sct_ptx_kernel_find(const sct_ptx_module *m, const char *name) {
  int i = 0;
  while (i < m->n_kernels && strcmp(m->kernels[i].name, name) != 0) {
    i++;
  }
  return sct_ptx_kernel_at(m, i);
}

const ptx_func *sct_ptx_func_find(const sct_ptx_module *m, const char *kernel) {
  const sct_ptx_kernel *k = sct_ptx_kernel_find(m, kernel);
  return k != NULL ? m->kernel_funcs[k - m->kernels] : NULL;
}

int sct_ptx_n_variables(const sct_ptx_module *m) {
  return m->n_variables;
}

const sct_ptx_variable *sct_ptx_variable_at(const sct_ptx_module *m, int index) {
  return index >= 0 && index < m->n_variables ? &m->variables[index] : NULL;
}
