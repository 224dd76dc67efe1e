/* `sectile profile SPEC`: a candidate as a profile has it, from some blocks of its launch at a
 * tuned size. */
#include "cli/cli_count.h"
#include "ptx/ptx.h"

#include <string.h>

enum { BLOCKS = 64 };

struct cli_candidate {
  sct_count_row row;
  sct_tune_candidates cands;
  const sct_tune_item *item;
  const sct_size *size;
  sct_compiler *compiler;
  sct_compiled compiled;
  sct_ptx_module *module;
  sct_block_counter *block_counter;
  sct_ptx_result result;
  sct_str requests; /* with --requests */
  sct_arena arena;
};
typedef struct cli_candidate profiled;

static sct_status find_size(profiled *p, const char *label, sct_error *err) {
  const sct_spec *spec = &p->cands.spec;
  int k = 0;
  if (label) {
    SCT_TRY(sct_names_choose(&k, SCT_NAMES_IN(spec->sizes, spec->n_sizes, label), label, err,
                             "the spec has no size '%s'", label));
  }
  p->size = &spec->sizes[k];
  return sct_codegen_fits(spec, &p->item->code, p->size)
             ? SCT_OK
             : sct_fail(err, SCT_EUSAGE, "'%s' is not right at %s: its requirements do not hold",
                        p->item->label, p->size->label);
}

static sct_status make_candidates(profiled *p, const cli_args *args, const sct_device_desc *device,
                                  sct_error *err) {
  SCT_TRY(cli_candidates_make(&p->cands, args, device, args->pick, err));
  SCT_TRY(cli_find_item(&p->item, &p->cands, args->pick, err));
  return find_size(p, args->size, err);
}

static sct_status compile(profiled *p, const sct_device_desc *device, sct_error *err) {
  const sct_kernel_code *code = &p->item->code;
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", device->cc_major, device->cc_minor);
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  const sct_compile_unit unit = {code->source, code->kernel, code->n_params > 0};
  SCT_TRY(sct_compiler_new(&p->compiler, &opts, err));
  SCT_TRY(sct_compiler_run(p->compiler, &unit, 1, &p->compiled, NULL, NULL, err));
  if (!p->compiled.ok) {
    SCT_SCOPED(sct_str) log = {0};
    sct_codegen_map_log(&log, code, p->compiled.log ? p->compiled.log : "");
    return sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&log));
  }
  return sct_ptx_parse(&p->module, p->compiled.ptx, "PTX", err);
}

/* Lines of the user's own kernels are those of the user's files, others those of the text. */
static void name_lines(profiled *p) {
  const sct_kernel_code *code = &p->item->code;
  for (int k = 0; k < p->result.n_insts; k++) {
    sct_ptx_inst_counters *inst = &p->result.insts[k];
    const char *file = NULL;
    int n_file = 0, line = 0;
    if (code->n_params > 0 && sct_codegen_line(code, inst->line, &file, &n_file, &line)) {
      inst->file = sct_arena_printf(&p->arena, "%.*s", n_file, file);
      inst->line = line;
    } else {
      inst->file = "source";
    }
  }
}

static void compare(profiled *p, sct_count_row *row) {
  sct_memops ptx, sass;
  SCT_SCOPED(sct_str) cause = {0};
  sct_error why = {0};
  const char *entry = p->compiled.entry;
  sct_status status = sct_ptx_memops_run(&ptx, p->module, entry, &p->result, &why);
  SCT_THEN(sct_sass_memops(&sass, p->compiled.cubin, p->compiled.cubin_bytes, entry, &why));
  row->exact = status == SCT_OK && sct_model_counts_exact(&ptx, &sass, &cause);
  row->cause = row->exact
                   ? NULL
                   : sct_arena_strdup(&p->arena, status == SCT_OK ? sct_str_c(&cause) : why.text);
}

/* What the whole launch asks of the device, as when the candidate is tuned. */
static sct_status ask(profiled *p, sct_count_row *row, const sct_device_desc *device,
                      const sct_partial_launch *launch, sct_error *err) {
  const sct_kernel_code *code = &p->item->code;
  const int64_t blocks = launch->blocks_run == launch->blocks ? SCT_ALL_BLOCKS : BLOCKS;
  SCT_SCOPED(sct_counters) counters = {0};
  sct_workload work = {.spec = &p->cands.spec,
                       .code = code,
                       .size = p->size,
                       .counters = &counters,
                       .registers = p->compiled.registers,
                       .shared_bytes = row->static_shared_bytes + row->shared_bytes};
  sct_status status = sct_block_counter_count(p->block_counter, &counters, code, p->module,
                                              p->compiled.entry, p->size, blocks, err);
  memcpy(work.machine, counters.machine, sizeof work.machine);
  SCT_THEN(sct_model_workload(&row->demand, device, &work, err));
  SCT_THEN(sct_model_coalescing(&row->coalescing, &counters, work.spec, code, p->size, err));
  row->sectors_error = counters.error;
  row->spec = work.spec;
  row->has_demand = status == SCT_OK;
  return status;
}

/* With all blocks they can be estimated, which takes several times as long. */
static bool wants_caches(const cli_args *args) {
  const char *of = args->metrics;
  return args->counters && (!of || strstr(of, "hit_rate") || strstr(of, "dram__"));
}

/* ---- each request as a line of text */

static void add_request(void *ctx, const sct_ptx_request *r) {
  sct_str *const text = ctx;
  if (text->len == 0) {
    sct_str_append(text, "block,warp,line,access,array,bytes,offsets\n");
  }
  sct_str_printf(text, "%lld,%d,%d,%s,%s,%d,", (long long)r->block, r->warp, r->line, r->access,
                 r->buffer ? r->buffer : "", r->width);
  for (int lane = 0; lane < SCT_COUNT(r->address) && r->mask >> lane != 0; lane++) {
    sct_str_append(text, lane > 0 ? " " : "");
    if (r->mask >> lane & 1) {
      sct_str_append_int(text, (int64_t)(r->address[lane] - r->base));
    } else {
      sct_str_append(text, "-");
    }
  }
  sct_str_append(text, "\n");
}

/* All blocks of the launch where a GPU's counters stand beside ours, or each request is wanted. */
static sct_status run(profiled *p, sct_count_row *row, const cli_args *args,
                      const sct_device_desc *device, sct_error *err) {
  const sct_kernel_code *code = &p->item->code;
  sct_partial_launch launch;
  const sct_ptx_watch watch = {.request = add_request, .ctx = &p->requests};
  const sct_ptx_cache_sizes caches =
      sct_count_caches(device, code->threads, p->compiled.registers,
                       p->compiled.static_shared_bytes + code->shared_bytes);
  sct_block_counter_new(&p->block_counter, &p->cands.spec, device, 1, 0);
  SCT_TRY(sct_block_counter_profile(
      p->block_counter, &p->result, &launch, code, p->module, p->compiled.entry, p->size,
      args->counters || args->requests ? SCT_ALL_BLOCKS : BLOCKS,
      wants_caches(args) ? &caches : NULL, args->requests ? &watch : NULL, err));
  *row = (sct_count_row){
      .name = sct_arena_printf(&p->arena, "%s at %s", p->item->label, p->size->label),
      .kernel = code->kernel,
      .entry = p->compiled.entry,
      .diag = p->result.diag,
      .counters = p->result.counters,
      .registers = p->compiled.registers,
      .static_shared_bytes = p->compiled.static_shared_bytes,
      .spill_loads = p->compiled.spill_load_bytes,
      .spill_stores = p->compiled.spill_store_bytes,
      .traffic = p->result.traffic,
      .shared_bytes = code->shared_bytes,
      .blocks_run = launch.blocks_run,
      .passes = code->passes,
      .source = code->source};
  SCT_TRY(ask(p, row, device, &launch, err));
  compare(p, row);
  name_lines(p);
  row->insts = p->result.insts;
  row->requests = p->result.requests;
  row->n_insts = p->result.n_insts;
  memcpy(row->grid, launch.grid, sizeof row->grid);
  memcpy(row->block, launch.block, sizeof row->block);
  if (p->result.diag.kind != SCT_PTX_CLEAN) {
    SCT_SCOPED(sct_str) text = {0};
    sct_ptx_diag_print(&text, &p->result.diag);
    row->problem = sct_arena_strdup(&p->arena, sct_str_c(&text));
  }
  return SCT_OK;
}

sct_status cli_candidate_open(cli_candidate **out, const cli_args *args,
                              const sct_device_desc *device, sct_error *err) {
  profiled *p = sct_alloc(sizeof *p);
  sct_status status = make_candidates(p, args, device, err);
  SCT_THEN(compile(p, device, err));
  SCT_THEN(run(p, &p->row, args, device, err));
  if (status != SCT_OK) {
    cli_candidate_free(p);
    return status;
  }
  *out = p;
  return SCT_OK;
}

const sct_count_row *cli_candidate_row(const cli_candidate *candidate) {
  return &candidate->row;
}

void cli_candidate_free(cli_candidate *p) {
  if (p) {
    sct_block_counter_free(p->block_counter);
    sct_ptx_result_free(&p->result);
    sct_str_free(&p->requests);
    sct_ptx_module_free(p->module);
    sct_compiled_free(&p->compiled);
    sct_compiler_free(p->compiler);
    sct_tune_candidates_free(&p->cands);
    sct_arena_free(&p->arena);
    sct_free(p);
  }
}

static sct_status write_launches(void *ctx, int ordinal, const char *path, sct_error *err) {
  const profiled *p = ctx;
  const sct_launches on = {
      .ordinal = ordinal, .image = p->compiled.cubin, .n_image = (int64_t)p->compiled.cubin_bytes};
  return sct_block_counter_launches(p->block_counter, &p->item->code, p->module, p->compiled.entry,
                                    p->size, &on, path, err);
}

static sct_status write_requests(const profiled *p, const cli_args *args, sct_error *err) {
  const char *const reads[] = {args->words[0]};
  SCT_TRY(cli_check_target(args, args->requests, reads, 1, err));
  return sct_file_write(args->requests, sct_str_c(&p->requests), p->requests.len, err);
}

sct_status cli_profile_spec(const cli_args *args, const sct_device_desc *device,
                            const json_t *baseline, sct_error *err) {
  cli_candidate *p = NULL;
  if (args->cases || args->kernel || args->grid || args->block || args->shared ||
      args->launch_args.n > 0) {
    return sct_fail(err, SCT_EUSAGE,
                    "--cases is for CUDA files, as --kernel, --grid, --block, --shared and --arg "
                    "are; a spec has launches of its own");
  }
  SCT_TRY(cli_candidate_open(&p, args, device, err));
  const bool failed = p->row.problem != NULL;
  const sct_count_report report = {.rows = &p->row, .n_rows = 1, .n_failed = failed};
  sct_status status = cli_profile_print(args, &report, device, baseline, write_launches, p, err);
  SCT_THEN(args->requests ? write_requests(p, args, err) : SCT_OK);
  cli_count_problems(args, &report);
  status = status == SCT_OK && failed ? SCT_ENOTVERIFIED : status;
  cli_candidate_free(p);
  return status;
}
