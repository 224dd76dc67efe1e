# shellcheck shell=bash disable=SC2034
# What the shell tests share: a scratch folder, commands with their expected outcome, a verdict.
# Source it; end the test with `finish`.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Kernels are kept in the cache of all tests, results in the scratch folder; none in the user's.
export XDG_CACHE_HOME="${SCT_TEST_CACHE:-$scratch/cache}" XDG_DATA_HOME="$scratch/data"
export SECTILE_NO_RANGE=1 # it takes time, and has tests of its own
failures=0
checks=0

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1" >&2
  sed 's/^/    | /' "$scratch/output" >&2
}

# expect STATUS TEXT COMMAND...: the command must end with STATUS and print TEXT (a fixed string;
# '' for any output). The output stays in $scratch/output.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  checks=$((checks + 1))
  "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
  if [ "$status" != "$wanted" ]; then
    fail "exit status $status instead of $wanted: $*"
  elif [ -n "$text" ] && ! grep -qF -- "$text" "$scratch/output"; then
    fail "no '$text' in the output of: $*"
  fi
}

# absent TEXT: the output of the last `expect` must not hold TEXT.
absent() {
  checks=$((checks + 1))
  if grep -qF -- "$1" "$scratch/output"; then
    fail "unexpected '$1' in the output"
  fi
}

# needs_nvrtc: ends the test as skipped where the program finds no NVRTC.
needs_nvrtc() {
  "$SCT_PROGRAM" doctor 2>/dev/null | grep -q '^ok *NVRTC' || exit 77
}

# needs_toolkit: the same where there is no CUDA toolkit; else it is in $toolkit, its compiler in
# $nvcc.
needs_toolkit() {
  nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null) || exit 77
  toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  needs_nvrtc
}

# pip_packages NAME PACKAGE...: the directory that holds these packages of PyPI, in $packages. It is
# kept for later runs, of other clones too. Fails where there is no pip, or no index that answers.
pip_packages() {
  packages=$HOME/.cache/sectile-tests/$1
  [ -d "$packages" ] && return
  local part
  mkdir -p "$(dirname "$packages")"
  part=$(mktemp -d "$packages.XXXXXX")
  timeout 120 python3 -m pip install --quiet --no-deps --only-binary :all: --target "$part" \
    "${@:2}" >"$scratch/pip" 2>&1 && mv -T "$part" "$packages" 2>/dev/null
  rm -rf "$part"
  [ -d "$packages" ]
}

# in_part: does this run have the next case of a long test (tests/part.h)?
cases=0
in_part() {
  local part=0 parts=1
  if [[ ${SECTILE_TEST_PART:-} =~ ^([0-9]+)/([1-9][0-9]*)$ ]]; then
    part=${BASH_REMATCH[1]} parts=${BASH_REMATCH[2]}
  fi
  [ $((cases++ % parts)) = $((part % parts)) ]
}

finish() {
  printf '%d checks, %d failed\n' "$checks" "$failures"
  [ "$failures" = 0 ] && [ "$checks" -gt 0 ]
  exit
}
