/* Every form of ptx_forms.def, one kernel each: those that run decode without an error, the others
 * are refused with kernel, line and text, and take no other kernel with them. */
#include "ptx_kernel.h"

enum { RUNS, REFUSED };

typedef struct form {
  const char *name, *operands;
  int state;
} form;

static const form forms[] = {
#define PTX_FORM(name, operands, state) {name, operands, state},
#include "ptx_forms.def"
#undef PTX_FORM
};

/* The declarations that the operands name; ".reg.b16" without a blank as cuda_fp16.hpp has it. */
#define FORMS_HEAD                                                                                 \
  ".version 9.0\n.target sm_100\n.address_size 64\n"                                               \
  ".const .align 16 .b8 cv[16];\n.global .align 16 .b8 gv[64];\n"                                  \
  ".func (.param .b32 r) fn(.param .b32 a)\n"                                                      \
  "{\n.reg.b32 x;\nld.param.b32 x, [a];\nst.param.b32 [r], x;\nret;\n}\n"

static void write_kernel(sct_str *out, const form *f, int number) {
  sct_str_printf(out,
                 ".visible .entry k%d(.param .u64 in, .param .align 16 .b8 agg[64])\n{\n"
                 ".reg .pred %%p<4>;\n.reg.b16 %%h<8>;\n.reg .b32 %%r<8>;\n.reg .b64 %%d<10>;\n"
                 ".shared .align 128 .b8 sh[256];\n.local .align 16 .b8 lo[64];\n"
                 ".param .b64 p64;\n.param .b32 p32, r32;\n"
                 "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n",
                 number);
  sct_str_printf(out, "%s%s%s;\nNEXT:\nret;\n}\n", f->name, f->operands[0] != '\0' ? " " : "",
                 f->operands);
}

static int line_of(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++) {
    line += *text == '\n';
  }
  return line;
}

/* "forms.ptx:17: error: kernel 'k3': ...: 'tex.2d.v4.f32.f32 ...'" */
static void check_refused(const char *text, const form *f, int number, const char *error) {
  char name[32], entry[32], place[64];
  snprintf(name, sizeof name, "kernel 'k%d'", number);
  snprintf(entry, sizeof entry, ".entry k%d(", number);
  const char *at = strstr(strstr(text, entry), f->name);
  snprintf(place, sizeof place, "forms.ptx:%d: error", line_of(text, at));
  if (error == NULL) {
    fail_msg("%s decodes: mark it RUNS in ptx_forms.def", f->name);
  }
  if (strstr(error, "not supported") == NULL || strncmp(error, place, strlen(place)) != 0 ||
      strstr(error, name) == NULL || strstr(error, f->name) == NULL ||
      strstr(error, f->operands) == NULL) {
    fail_msg("%s %s: '%s' lacks '%s', '%s' or the text", f->name, f->operands, error, place, name);
  }
}

static void every_form_decodes(void **state) {
  (void)state;
  sct_str text = {0};
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  int n_refused = 0;
  sct_str_append(&text, FORMS_HEAD);
  for (int i = 0; i < SCT_COUNT(forms); i++) {
    write_kernel(&text, &forms[i], i);
  }
  if (sct_ptx_parse(&module, sct_str_c(&text), "forms.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(sct_ptx_n_kernels(module), SCT_COUNT(forms));
  for (int i = 0; i < SCT_COUNT(forms); i++) {
    const char *error = sct_ptx_kernel_at(module, i)->error;
    if (forms[i].state != RUNS) {
      check_refused(sct_str_c(&text), &forms[i], i, error);
      n_refused += forms[i].state == REFUSED;
    } else if (error != NULL) {
      fail_msg("%s: %s", forms[i].name, error);
    }
  }
  assert_int_equal(n_refused, 3);
  sct_ptx_module_free(module);
  sct_str_free(&text);
}

/* The list is the whole vocabulary: 478 forms of 69 opcodes, none twice. */
static void the_list_is_whole(void **state) {
  (void)state;
  int n_opcodes = 0;
  for (int i = 0; i < SCT_COUNT(forms); i++) {
    const size_t op = strcspn(forms[i].name, ".");
    bool first = true;
    for (int k = 0; k < i; k++) {
      assert_string_not_equal(forms[i].name, forms[k].name);
      first = first &&
              (strcspn(forms[k].name, ".") != op || strncmp(forms[i].name, forms[k].name, op) != 0);
    }
    n_opcodes += first;
  }
  assert_int_equal(SCT_COUNT(forms), 478);
  assert_int_equal(n_opcodes, 69);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_form_decodes),
                                     cmocka_unit_test(the_list_is_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
