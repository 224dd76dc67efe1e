#!/usr/bin/env bash
# code.sh TOOLKIT: builds the programs plain.c and code.cc with headers in the form c, which are
# here, and runs them. The toolkit's headers are all that is taken of CUDA.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
c() { cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -isystem "$toolkit/include" "$@"; }
cxx() { c++ -std=c++11 -Wall -Wextra -Werror -I. -isystem "$toolkit/include" "$@"; }
toolkit=$1
c -x c -c -o code_implementation.o "$here/implementation.cu"
cxx -x c++ -c -o code_implementation_cxx.o "$here/implementation.cu"
cxx -x c++ -c -o code_elsewhere.o "$here/elsewhere.cu"
c -c -o code_plain.o "$here/plain.c"
cxx -c -o code_fake.o "$here/fake_cudart.cc"
cxx -pthread -o code_plain code_plain.o code_elsewhere.o code_implementation.o code_fake.o
./code_plain
for implementation in code_implementation.o code_implementation_cxx.o; do
  cxx -pthread -o code "$here/code.cc" "$implementation" code_fake.o
  ./code
done
