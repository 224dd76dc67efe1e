#!/usr/bin/env bash
# .ci/run in a tree of stand-ins: every stage runs, the last line is CTest's, any failure shows.
. "$(dirname "$0")/../shell.sh"
unset SECTILE_TEST_PART # the run that this test belongs to may have it

tree=$scratch/tree
mkdir -p "$tree/.ci" "$tree/scripts"
cp "$root/.ci/run" "$tree/.ci/run"
stand_in() { # stand_in NAME TEXT
  printf '#!/bin/bash\n%s\n' "$2" >"$tree/scripts/$1"
  chmod +x "$tree/scripts/$1"
}
fresh() {
  stand_in setup 'echo all there'
  stand_in lint 'echo clean'
  # shellcheck disable=SC2016
  stand_in package 'echo "makes $*"'
  # shellcheck disable=SC2016
  stand_in package_try 'echo "tries $*"'
  stand_in quickstart 'echo "budget $SECTILE_QUICKSTART_BUDGET"'
  # shellcheck disable=SC2016
  stand_in bare_loader 'echo "bare $1"; exec "$@"'
  # shellcheck disable=SC2016 # for the script that is written
  stand_in test 'echo "CI=$CI preset=${1:-dev}"; echo "100% tests passed, 0 tests failed out of 7"'
}
last_line() { # last_line TEXT: the output of the last command must end with exactly this line
  checks=$((checks + 1))
  [ "$(tail -n 1 "$scratch/output")" = "$1" ] || fail "the last line is not '$1'"
}
run=(bash "$tree/.ci/run")

fresh
expect 0 'CI=true preset=asan' "${run[@]}"
last_line '100% tests passed, 0 tests failed out of 7'
for stage in setup lint test quickstart packages sanitizers; do
  expect 0 "==== $stage: passed, " "${run[@]}"
done

fresh # long work is shared out over four commits; outside a repository, or with --all, all is done
# shellcheck disable=SC2016
stand_in test 'echo "part=${SECTILE_TEST_PART:-} $*"
echo "100% tests passed, 0 tests failed out of 7"'
expect 0 'part= asan' "${run[@]}"
expect 0 'makes wheel deb' "${run[@]}"
git init -q "$tree"
for part in 1 2 3 4; do
  git -C "$tree" -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$part"
  expect 0 "part=$part/4 asan" "${run[@]}"
  if [ "$part" = 4 ]; then
    expect 0 'makes wheel deb' "${run[@]}"
  else
    expect 0 'packages: with another commit' "${run[@]}"
    expect 0 'part= --all asan' "${run[@]}" --all
    expect 0 'makes wheel deb' "${run[@]}" --all
  fi
done
rm -rf "$tree/.git"

fresh # a failed check fails the whole, after all stages ran
stand_in lint 'exit 3'
expect 1 '==== lint: FAILED' "${run[@]}"
expect 1 ', failed: lint' "${run[@]}"
last_line '100% tests passed, 0 tests failed out of 7'

fresh # the quickstart runs where the loader knows nothing, or not at all
expect 0 'bare scripts/quickstart' "${run[@]}"
expect 0 'budget 4s' "${run[@]}"
stand_in bare_loader 'exit 77'
expect 0 'quickstart: left out' "${run[@]}"
stand_in bare_loader 'exit 4'
expect 1 ', failed: quickstart' "${run[@]}"

fresh # packages are made, then tried, or not at all where nothing can be fetched
expect 0 'makes wheel deb' "${run[@]}"
expect 0 'tries --suite bullseye wheel deb' "${run[@]}"
for script in package package_try; do
  fresh
  stand_in $script 'exit 77'
  expect 0 'packages: left out' "${run[@]}"
  stand_in $script 'exit 1'
  expect 1 ', failed: packages' "${run[@]}"
done

fresh # the first failing run of the tests has the last word
# shellcheck disable=SC2016
stand_in test '[ "$1" = asan ] && { echo "100% tests passed, 0 tests failed out of 7"; exit 0; }
echo "86% tests passed, 1 tests failed out of 7"; exit 8'
expect 1 ', failed: test' "${run[@]}"
last_line '86% tests passed, 1 tests failed out of 7'

fresh # a build that breaks leaves no result of an earlier run standing
# shellcheck disable=SC2016
stand_in test '[ "$1" = asan ] && exit 1; echo "100% tests passed, 0 tests failed out of 7"'
expect 1 ', failed: sanitizers' "${run[@]}"
last_line 'no result from the stage sanitizers'
finish
