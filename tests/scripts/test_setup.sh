#!/usr/bin/env bash
# scripts/setup on machines that lack this and that: dpkg-query, apt-get, id and sudo are replaced.
. "$(dirname "$0")/../shell.sh"

fake=$scratch/fake
state=$scratch/installed # the names that the machine has
calls=$scratch/calls     # what was run to change it
mkdir -p "$fake"
tool() { # tool NAME: its text comes on stdin
  { printf '#!/bin/bash\nstate=%q calls=%q\n' "$state" "$calls"; cat; } >"$fake/$1"
  chmod +x "$fake/$1"
}
tool dpkg-query <<'TOOL'
name=${*: -1}
grep -qx "$name" "$state" && printf installed
TOOL
tool apt-get <<'TOOL'
echo "apt-get $*" >>"$calls"
[ -z "${APT_BREAKS:-}" ] || { echo "E: no network"; exit 100; }
install=false
for word in "$@"; do
  case "$word" in
    install) install=true ;;
    -*) ;;
    *) $install && echo "$word" >>"$state" ;;
  esac
done
exit 0
TOOL
tool sudo <<'TOOL'
[ -z "${SUDO_ASKS:-}" ] || exit 1
[ "$1" = -n ] && shift
echo "sudo $1" >>"$calls"
exec "$@"
TOOL
tool id <<'TOOL'
echo "${FAKE_UID:-0}"
TOOL
all() { awk '!/^#/ && NF { print $2 }' "$root/scripts/packages.txt"; }
setup=(env PATH="$fake:$PATH" "$root/scripts/setup")
reset() { all >"$state"; : >"$calls"; }

reset
expect 0 'nothing to install' "${setup[@]}"
expect 0 '' test ! -s "$calls"

reset # a missing package is installed, the second run does nothing
sed -i '/libsqlite3-dev/d; /clang$/d' "$state"
expect 0 'installing: libsqlite3-dev clang' "${setup[@]}"
expect 0 'install --no-install-recommends libsqlite3-dev clang' cat "$calls"
: >"$calls"
expect 0 'nothing to install' "${setup[@]}"
expect 0 '' test ! -s "$calls"

reset # the tools of the tests are not needed to run the program
sed -i '/clang/d; /cmocka/d; /^lua/d; /llvm/d' "$state"
expect 0 'nothing to install' "${setup[@]}" --run-only
expect 0 'install: libcmocka-dev clang libclang-rt-14-dev llvm clang-format lua5.4 lua-check' \
  "${setup[@]}" --dry-run
expect 0 '' test ! -s "$calls"

reset # not root: sudo, and clear words where it is not to be had
sed -i '/ninja-build/d' "$state"
expect 1 'apt-get install --no-install-recommends ninja-build' \
  env FAKE_UID=1000 SUDO_ASKS=1 "${setup[@]}"
expect 0 '' test ! -s "$calls"
expect 0 'installing: ninja-build' env FAKE_UID=1000 "${setup[@]}"
expect 0 'sudo env' cat "$calls"

reset # apt-get fails, or says yes and installs nothing
sed -i '/gcc/d' "$state"
expect 1 'apt-get could not install: gcc' env APT_BREAKS=1 "${setup[@]}"
expect 1 'E: no network' env APT_BREAKS=1 "${setup[@]}"
tool apt-get <<<'exit 0'
expect 1 'still missing after the installation: gcc' "${setup[@]}"

expect 2 "unknown option '--bogus'" "${setup[@]}" --bogus
finish
