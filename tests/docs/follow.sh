# shellcheck shell=bash
# follow PAGE [DIRECTORY]: a page of documentation, word for word, in an empty directory, or in a
# copy of DIRECTORY, with the program that users get and a store of its own. Kernels that other
# tests compiled are not compiled again.
. "$(dirname "${BASH_SOURCE[0]}")/../shell.sh"

follow() {
  rm -rf "$scratch/empty"
  mkdir -p "$scratch/bin" "$scratch/empty"
  ln -sf "$SCT_RELEASED" "$scratch/bin/sectile"
  [ -z "${2:-}" ] || cp "$root/$2"/* "$scratch/empty"
  cd "$scratch/empty" || exit 1
  expect 0 ' 0 failed' env PATH="$scratch/bin:$PATH:/usr/local/cuda/bin" \
    COLUMNS="${columns-100}" \
    XDG_DATA_HOME="$scratch/data" XDG_CACHE_HOME="${SCT_TEST_CACHE:-$scratch/cache}" \
    lua5.4 "$root/tests/docs/follow.lua" "$root/$1"
}
