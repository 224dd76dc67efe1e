#!/usr/bin/env bash
# scripts/test_select finds tests by name, and by what has changed since a commit, in a small
# project of the same shape; scripts/test_times says which tests grew, on fast and on slow machines.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
mkdir -p "$tree"/src/{one,two} "$tree"/tests/{one,two,docs} "$tree"/docs "$tree/templates"
cp "$root"/tests/{timed.c,part.h} "$tree/tests/"
cp -r "$root/scripts" "$tree/"
echo 'int one(void);' >"$tree/src/one/one.h"
printf '#include "one/one.h"\nint one(void) { return 1; }\n' >"$tree/src/one/one.c"
echo 'int two(void) { return 2; }' >"$tree/src/two/two.c"
printf '#include "one/one.h"\nint main(void) { return one() - 1; }\n' >"$tree/tests/one/test_one.c"
printf 'int two(void);\nint main(void) { return two() - 2; }\n' >"$tree/tests/two/test_two.c"
echo '/* reads two/data.txt */' >>"$tree/tests/two/test_two.c"
echo 'grep word ../../docs/page.md' >"$tree/tests/docs/test_page.sh"
# shellcheck disable=SC2016
echo '"$SCT_PROGRAM" --version' >"$tree/tests/docs/test_program.sh"
echo 'word' >"$tree/docs/page.md"
echo 'data' >"$tree/tests/two/data.txt"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(small C)
enable_testing()
add_subdirectory(tests)
END
cat >"$tree/tests/CMakeLists.txt" <<'END'
include_directories(../src .)
add_executable(timed timed.c)
add_executable(program ../src/one/one.c one/test_one.c)
foreach(name one two)
  add_executable(test_${name} ../src/${name}/${name}.c ${name}/test_${name}.c)
  add_test(NAME test_${name} COMMAND timed ${CMAKE_BINARY_DIR}/times test_${name} -
    $<TARGET_FILE:test_${name}>)
endforeach()
foreach(name page program)
  add_test(NAME test_${name} COMMAND timed ${CMAKE_BINARY_DIR}/times test_${name} -
    bash ${CMAKE_CURRENT_SOURCE_DIR}/docs/test_${name}.sh)
  set_tests_properties(test_${name} PROPERTIES ENVIRONMENT "SCT_PROGRAM=$<TARGET_FILE:program>")
endforeach()
END
cd "$tree" || exit 1
git_here() { git -c user.name=a -c user.email=a@b "$@"; }
echo build >.gitignore
git init -q . && git add . && git_here commit -qm one
expect 0 '' cmake -S . -B build -G Ninja -DCMAKE_C_FLAGS=-D_GNU_SOURCE
expect 0 '' ninja -C build
expect 0 '100% tests passed' ctest --test-dir build
expect 0 'test_two' cat build/times

select=(scripts/test_select build)
chosen() { # chosen NAMES: the last line of what was selected
  checks=$((checks + 1))
  [ "$(tail -n 1 "$scratch/output")" = "$1" ] || fail "not '$1'"
}
expect 0 'tests/timed tests/test_one' "${select[@]}" one
chosen test_one
expect 0 '' "${select[@]}" test_two tests/docs
chosen 'test_two|test_page|test_program'
expect 2 "is called 'pag'; there are test_page" "${select[@]}" pag

changed=("${select[@]}" --changed)
expect 0 '' "${changed[@]}" HEAD
chosen ''
since() { # since FILE NAMES: a line more in FILE is a change that reaches these tests
  printf '\n' >>"$1"
  expect 0 '' "${changed[@]}"
  chosen "$2"
  git checkout -q "$1"
}
since src/one/one.h 'test_one|test_program' # by what the compiler read
since src/two/two.c test_two
since tests/two/data.txt test_two
since docs/page.md test_page
since tests/docs/test_page.sh test_page
since tests/CMakeLists.txt 'test_one|test_two|test_page|test_program'
printf '\n' >>src/two/two.c
git_here commit -qam two # what is committed: the last one, or since a revision
expect 0 '' "${changed[@]}"
chosen test_two
expect 2 "no revision 'nine'" "${changed[@]}" nine

# ---- times ----
times=(scripts/test_times dev build)
rm build/times
for k in 1 2 3 4 5 6; do
  echo "test_$k 10.0 0.0" >>lines
  echo "test_$k 20.00" >>build/times # this machine takes twice as long
done
{ echo '# head'; cat lines; } >tests/times.txt
expect 0 '120 s of processor time in 6 tests; 60 at the speed' "${times[@]}"
absent 'grew'
sed -i 's/test_3 20.00/test_3 80.00/' build/times
expect 0 'test_3                                  40.0 s,    10.0 in the table: grew' "${times[@]}"
absent 'test_2'
expect 0 'test_2' "${times[@]}" --table
sed -i '/test_4/d; /test_5/d' build/times
sed -i '/\[=\[test_one/s/$/\nadd_test([=[test_4]=])/' build/tests/CTestTestfile.cmake
expect 0 '' "${times[@]}" --write
# it was not in this part
expect 0 'test_4                                  10.0     0.0' cat tests/times.txt
absent 'test_5'
expect 0 'test_3                                  80.0     0.0' cat tests/times.txt
expect 2 'expected dev or asan' scripts/test_times fast
finish
