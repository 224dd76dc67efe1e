/* What a launch gives a kernel: arrays, scalars and extents in this order, or what the user gives
 * for a kernel of their own. */
#include "measure_data.h"

#include <string.h>

int sct_code_params(sct_param out[SCT_MAX_ARGS], const sct_spec *spec,
                    const sct_kernel_code *code) {
  int n = 0;
  if (code->n_params > 0) {
    memcpy(out, code->params, sizeof *out * (size_t)code->n_params);
    return code->n_params;
  }
  for (int k = 0; k < spec->n_operands; k++) {
    out[n++] = (sct_param){.kind = SCT_PARAM_ARRAY, .number = k};
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    out[n++] = (sct_param){.kind = SCT_PARAM_SCALAR, .number = k};
  }
  for (int k = 0; k < spec->n_extents; k++) {
    out[n++] = (sct_param){SCT_PARAM_VALUE, 0, spec->extent_var[k], SCT_TYPE_I64};
  }
  return n;
}

sct_scalar_values sct_shape_scalars(const sct_shape *s) {
  return (sct_scalar_values){s->addressing->spec,
                             s->addressing->seed,
                             s->variant,
                             s->near,
                             &s->addressing->literals,
                             sct_mix64((uint64_t)s->n_elements, 1)};
}

int sct_code_value(uint8_t out[16], const sct_scalar_values *scalars, const sct_param *param,
                   const int64_t *extent) {
  const sct_spec *spec = scalars->spec;
  const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
  int64_t value = 0;
  if (param->kind == SCT_PARAM_SCALAR) {
    memset(out, 0, 16);
    sct_data_scalar(out, scalars, param->number);
    return sct_type_get(spec->scalars[param->number].type)->bytes;
  }
  if (sct_expr_eval(spec->pool, param->value, &env, &value, NULL) != SCT_OK) {
    value = 0; /* it divides by an extent that is 0 */
  }
  (void)sct_param_bytes(out, param->type, value); /* what it cannot hold is a requirement */
  return sct_type_get(param->type)->bytes;
}

void sct_code_grid_yz(int yz[2], const sct_spec *spec, const sct_kernel_code *code,
                      const int64_t *extent) {
  const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
  for (int d = 0; d < 2; d++) {
    int64_t value = 1;
    if (code->n_params > 0 &&
        sct_expr_eval(spec->pool, code->grid_dims[d + 1], &env, &value, NULL) != SCT_OK) {
      value = 1;
    }
    yz[d] = value >= 1 && value <= UINT16_MAX ? (int)value : 1; /* else nothing is launched */
  }
}
