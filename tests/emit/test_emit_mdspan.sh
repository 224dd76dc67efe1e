#!/usr/bin/env bash
# Views of C++23 of arrays in their layouts. Skipped where no compiler here has <mdspan> (GCC 16, or
# libc++ of 18 and later); CXX_MDSPAN names one, with its options.
. "$(dirname "$0")/../shell.sh"
needs_nvrtc
here="$root/tests/emit/mdspan"
cd "$scratch" || exit 1
printf '#include <mdspan>\n#ifndef __cpp_lib_mdspan\n#error none\n#endif\n' >has.cc
found=
for compiler in "${CXX_MDSPAN:-false}" c++ 'clang++ -stdlib=libc++'; do
  # shellcheck disable=SC2086 # a compiler and its options
  if $compiler -std=c++23 -fsyntax-only has.cc 2>/dev/null; then
    found=$compiler
    break
  fi
done
[ -n "$found" ] || {
  echo "no compiler here has mdspan"
  exit 77
}
strict="$found -std=c++23 -Wall -Wextra -Wpedantic -Werror -DSECTILE_NO_RUNTIME -I."
expect 0 '' "$SCT_PROGRAM" tune "$here/swapped.lua" -d virtual:h200 --max-candidates 1 \
  --store store.db -q
expect 0 '' "$SCT_PROGRAM" emit swapped --store store.db -o swapped.h -q
# shellcheck disable=SC2086
expect 0 '' $strict "$here/main.cc" -o main
expect 0 '0 wrong' ./main
finish
