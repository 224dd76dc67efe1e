/* PTX as other compilers write it: LLVM's for a language of blocks, with line information of a
 * script, and that of a compiler for Python, with helpers, weak and common variables. */
#include "count_fixture.h"

#define BLOCKS FX_COUNT "block_add.ptx"
#define PYTHON FX_COUNT "increment.ptx"
#define SHAPE  "--grid", "4", "--block", "128"

static void kernels_are_launched_by_either_name(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count", BLOCKS, "--csv", "--kernel", "block_add", SHAPE, "--shared", "512", "--arg",
         "in", "--arg", "b", "--arg", "out", "--arg", "400", "--arg", "null");
  fx_expect(&r, 0, "\nblock_add,4,50,13,4,50,13,", NULL); /* 100 lanes of 16 bytes */
  fx_run(&r, "count", PYTHON, "--csv", "--kernel", "increment", SHAPE, "--arg", "null", "--arg",
         "null", "--arg", "8", "--arg", "4", "--arg", "f32[8]", "--arg", "8", "--arg", "4", "--arg",
         "1.5");
  fx_expect(&r, 0, "\nincrement,4,4,4,4,4,4,", NULL);
  fx_run(&r, "count", PYTHON, "--json", "--kernel", "increment", SHAPE, "--arg", "null", "--arg",
         "null", "--arg", "8", "--arg", "4", "--arg", "f32[8]", "--arg", "8", "--arg", "4", "--arg",
         "1.5");
  fx_expect(&r, 0, "\"compiler\": \"ptx\"", NULL);
  fx_run(&r, "count", PYTHON, "--csv", "--kernel", "__main__::increment", "--grid", "1", "--block",
         "32", "--arg", "null");
  fx_expect(&r, 3, NULL, "--arg: kernel '__main__::increment' takes 8, not 1");
  fx_free(&r);
}

static void lines_are_those_of_the_script(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "profile", BLOCKS, "--kernel", "block_add", SHAPE, "--shared", "512", "--arg", "in",
         "--arg", "b", "--arg", "out", "--arg", "400", "--arg", "null");
  fx_expect(&r, 0, "add.py:23", NULL);
  fx_free(&r);
}

static void what_ptx_does_not_say_is_asked_for(void **state) {
  (void)state;
  static const char structs[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                                ".visible .entry _ZN1a1kE1s(.param .align 8 .b8 p[16])\n"
                                "{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
                                "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [p+8];\n"
                                "st.global.u32 [%rd1], %r1;\nret;\n}\n"
                                ".visible .entry _ZN1b1kEv()\n{\nret;\n}\n";
  fx_result r = {0};
  const char *const file = fx_write("s.ptx", structs);
  fx_run(&r, "count", file, "--csv", "--kernel", "a::k", SHAPE, "--arg", "[\"out\", {\"i32\": 3}]");
  fx_expect(&r, 0, "\na::k,0,0,0,16,", NULL);
  fx_run(&r, "count", file, "--csv", "--kernel", "a::k", SHAPE, "--arg", "{\"p\": \"out\"}");
  fx_expect(&r, 3, NULL, "PTX does not say where the members of a struct lie");
  fx_run(&r, "count", file, "--csv", "--kernel", "a::k", SHAPE, "--arg", "s=null");
  fx_expect(&r, 3, NULL, "give their values in order, without names");
  fx_run(&r, "count", file, "--csv", "--kernel", "k", SHAPE); /* two have this name */
  fx_expect(&r, 3, NULL, "has no kernel 'k'; did you mean 'a::k'?");
  fx_free(&r);
}

static void machine_code_may_be_unknown(void **state) {
  (void)state;
  fx_result r = {0};
  fx_run(&r, "count",
         fx_write("n.ptx", ".version 99.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k()\n{\nret;\n}\n"),
         "--kernel", "k", SHAPE);
  fx_expect(&r, 0, "approximate",
            "counts of kernel 'k' are approximate: its machine code is not known: ptxas says: line "
            "1; fatal");
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_launched_by_either_name),
      cmocka_unit_test(lines_are_those_of_the_script),
      cmocka_unit_test(what_ptx_does_not_say_is_asked_for),
      cmocka_unit_test(machine_code_may_be_unknown),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
