/* What a GPU's parts do, by micro-kernels: as a device description of its own, which is kept in a
 * file for each GPU next to the store. */
#include "tune/tune_device.h"
#include "tune/tune_record.h"

#include <math.h>
#include <string.h>

#define SOURCE "templates/calibrate.cu"
#define LIKE   "h200" /* whose constants the model was fitted to */

/* What an H200 takes, at REFERENCE_MHZ. */
#define REFERENCE_MHZ 1980.0
static const double reference_ns[SCT_N_MICROS] = {
#define SCT_MICRO(id, kernel, threads, blocks, an_sm, array, n, work, reference) reference,
#include "measure/measure_micro.def"
#undef SCT_MICRO
};

/* ---- constants ---- */

/* How much longer a part takes than an H200's, in cycles or in ns. */
static double cycles_by(const sct_calibration *c, sct_micro k) {
  return c->ns[k] * c->mhz[k] / (reference_ns[k] * REFERENCE_MHZ);
}

static double ns_by(const sct_calibration *c, sct_micro k) {
  return c->ns[k] / reference_ns[k];
}

static int whole(double value) {
  return value > 1 ? (int)(fmin(value, 1e6) + 0.5) : 1;
}

void sct_tune_apply_calibration(sct_device_desc *out, const sct_device_desc *like,
                                const sct_calibration *c) {
  const double l2 = cycles_by(c, SCT_MICRO_L2_READ);
  out->copy_bytes_s = c->copy_bytes_s;
  out->launch_ns = c->launch_ns > 0 ? c->launch_ns : like->launch_ns;
  out->latency_cycles = whole(like->latency_cycles * cycles_by(c, SCT_MICRO_DRAM_LATENCY));
  out->l2_latency_cycles = whole(like->l2_latency_cycles * cycles_by(c, SCT_MICRO_L2_LATENCY));
  out->shared_latency_cycles =
      whole(like->shared_latency_cycles * cycles_by(c, SCT_MICRO_SHARED_LATENCY));
  out->alu_cycles = like->alu_cycles * cycles_by(c, SCT_MICRO_SUM);
  out->sfu_cycles = like->sfu_cycles * cycles_by(c, SCT_MICRO_POWER);
  out->l1_bytes_clk = whole(like->l1_bytes_clk / cycles_by(c, SCT_MICRO_L1_READ));
  out->sm_bytes_clk = whole(like->sm_bytes_clk / cycles_by(c, SCT_MICRO_SM_READ));
  out->l2_bytes_clk = whole(like->l2_bytes_clk / l2);
  out->part_store_sectors = like->part_store_sectors * cycles_by(c, SCT_MICRO_STORE) / l2;
  out->block_ns = like->block_ns * ns_by(c, SCT_MICRO_BLOCK);
  out->atomic_sector_ns = like->atomic_sector_ns * ns_by(c, SCT_MICRO_ADD_SECTOR);
  out->atomic_line_ns = like->atomic_line_ns * ns_by(c, SCT_MICRO_ADD_LANES);
  out->atomic_lane_ns = like->atomic_lane_ns * ns_by(c, SCT_MICRO_ADD_LANES);
}

/* ---- the description ---- */

static void put(sct_str *out, const char *key, double value, bool whole) {
  sct_str_printf(out, whole ? "  %s = %.0f,\n" : "  %s = %.4g,\n", key, value);
}

static void write_description(sct_str *out, const sct_device_desc *d) {
  char now[32];
  sct_tune_timestamp(now);
  sct_str_printf(out,
                 "-- Measured by `sectile devices --calibrate`, %s, driver %s.\nreturn {\n"
                 "  name = \"%s\", cc = \"%d.%d\", sms = %d, clock_mhz = %d, l2_mib = %.6g,\n"
                 "  memory_gb = %.6g, peak_gb_s = %.6g,\n",
                 now, d->driver, d->name, d->cc_major, d->cc_minor, d->n_sms, d->clock_khz / 1000,
                 (double)d->l2_bytes / (1 << 20), 1e-9 * (double)d->memory_bytes,
                 1e-9 * d->peak_bytes_s);
  put(out, "copy_gb_s", 1e-9 * d->copy_bytes_s, false);
  put(out, "launch_us", 1e-3 * d->launch_ns, false);
  put(out, "latency_cycles", d->latency_cycles, true);
  put(out, "l2_latency_cycles", d->l2_latency_cycles, true);
  put(out, "shared_latency_cycles", d->shared_latency_cycles, true);
  put(out, "alu_cycles", d->alu_cycles, false);
  put(out, "sfu_cycles", d->sfu_cycles, false);
  put(out, "l1_bytes_clk", d->l1_bytes_clk, true);
  put(out, "sm_bytes_clk", d->sm_bytes_clk, true);
  put(out, "l2_bytes_clk", d->l2_bytes_clk, true);
  put(out, "part_store_sectors", d->part_store_sectors, false);
  put(out, "block_ns", d->block_ns, false);
  put(out, "atomic_sector_ns", d->atomic_sector_ns, false);
  put(out, "atomic_line_ns", d->atomic_line_ns, false);
  put(out, "atomic_lane_ns", d->atomic_lane_ns, false);
  sct_str_append(out, "}\n");
}

/* ---- measuring ---- */

static sct_status compile(sct_compiled_file *out, sct_compiler *compiler, sct_error *err) {
  const char *kernels[SCT_N_MICROS];
  SCT_SCOPED(sct_str) text = {0}, kernels_text = {0};
  SCT_TRY(sct_asset_read(&kernels_text, SOURCE, err));
  sct_str_printf(&text, "constexpr int kRounds = %d;\n%s", SCT_MICRO_ROUNDS,
                 sct_str_c(&kernels_text));
  for (int k = 0; k < SCT_N_MICROS; k++) {
    kernels[k] = sct_micro_kernel((sct_micro)k);
  }
  const sct_compile_file file = {
      .path = SOURCE, .kernels = kernels, .n_kernels = SCT_N_MICROS, .text = sct_str_c(&text)};
  SCT_TRY(sct_compiler_file(compiler, out, &file, err));
  return out->ok ? SCT_OK : sct_fail(err, SCT_EINTERNAL, "%s", out->log ? out->log : SOURCE);
}

static sct_status measure(sct_calibration *out, const tune_device *on, sct_error *err) {
  SCT_SCOPED(sct_compiled_file) compiled = {0};
  sct_kernel_code code[SCT_N_MICROS];
  sct_binary kernels[SCT_N_MICROS];
  SCT_TRY(compile(&compiled, on->compiler, err));
  for (int k = 0; k < SCT_N_MICROS; k++) {
    code[k] = (sct_kernel_code){.kernel = sct_micro_kernel((sct_micro)k),
                                .threads = sct_micro_threads((sct_micro)k)};
    kernels[k] = (sct_binary){.code = &code[k],
                              .cubin = compiled.cubin,
                              .cubin_bytes = compiled.cubin_bytes,
                              .entry = compiled.entries[k],
                              .ptx = compiled.ptx};
  }
  return sct_measure_calibrate(on->measure, kernels, out, err);
}

sct_status sct_tune_calibrate(sct_str *out, const tune_device *on, sct_error *err) {
  sct_calibration measured;
  sct_device_desc like, desc = on->desc;
  SCT_TRY(sct_script_load_device(&like, LIKE, err));
  SCT_TRY(measure(&measured, on, err));
  sct_tune_apply_calibration(&desc, &like, &measured);
  write_description(out, &desc);
  return SCT_OK;
}

/* ---- the file ---- */

sct_status sct_tune_calibration_path(sct_str *out, const char *store, const char *uuid,
                                     sct_error *err) {
  SCT_SCOPED(sct_str) path = {0};
  if (store) {
    sct_str_append(&path, store);
  } else {
    SCT_TRY(sct_path_store(&path, err));
  }
  sct_path_dirname(out, sct_str_c(&path));
  sct_str_printf(out, "/devices/%s.lua", uuid);
  return SCT_OK;
}

static sct_status keep(const char *path, const sct_str *text, sct_error *err) {
  SCT_SCOPED(sct_str) directory = {0};
  sct_path_dirname(&directory, path);
  SCT_TRY(sct_dir_make(sct_str_c(&directory), err));
  return sct_file_write(path, text->data, text->len, err);
}

sct_status sct_tune_calibrated(sct_device_desc *out, const tune_device *on,
                               const sct_tune_opts *opts, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0}, text = {0};
  SCT_TRY(sct_tune_calibration_path(&path, opts->store_path, on->desc.uuid, err));
  if (sct_script_read_device(out, sct_str_c(&path), NULL) == SCT_OK) {
    return SCT_OK;
  }
  SCT_TRY(sct_tune_calibrate(&text, on, err));
  SCT_TRY(keep(sct_str_c(&path), &text, err));
  return sct_script_read_device(out, sct_str_c(&path), err);
}

sct_status sct_tune_calibrate_device(sct_str *text, sct_str *path, const sct_tune_opts *opts,
                                     sct_error *err) {
  tune_device on = {0};
  sct_status status = sct_tune_device_open(&on, opts, err);
  if (status == SCT_OK && (!on.kind->times || on.kind->replays)) {
    status = sct_fail(err, SCT_EUSAGE, "%s: only a GPU can be calibrated: cuda:0, ...", on.desc.id);
  }
  SCT_THEN(sct_tune_calibrate(text, &on, err));
  SCT_THEN(sct_tune_calibration_path(path, opts->store_path, on.desc.uuid, err));
  SCT_THEN(keep(sct_str_c(path), text, err));
  if (on.measure) {
    sct_measure_close(on.measure);
  }
  sct_tune_device_close(&on);
  return status;
}
