#!/usr/bin/env bash
# plain.sh NVCC FLAG...: builds a program of a C11 file and two CUDA files, one of which has the
# kernels, and runs it. FLAG: where its headers are.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nvcc=$(command -v "$1")
shift
cuda() { "$nvcc" -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror "$@"; }
cuda "$@" -c -o implementation.o "$here/implementation.cu"
cuda "$@" -c -o elsewhere.o "$here/elsewhere.cu"
toolkit=$(dirname "$(readlink -f "$nvcc")")/..
cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" -isystem "$toolkit/include" -c -o plain.o \
  "$here/plain.c"
cuda -cudart none -o plain plain.o elsewhere.o implementation.o "$here/fake_cudart.cc"
./plain
