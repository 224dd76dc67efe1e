#!/usr/bin/env bash
# A limit of the shell that stops a session is named with what lifts it, and no script is blamed.
. "$(dirname "$0")/../shell.sh"

cat >"$scratch/move.lua" <<'LUA'
local s = require "sectile"
return s.kernel {
  name = "move", dims = { "i" },
  inputs = { s.array("a", "f32") }, outputs = { s.array("b", "f32") },
  body = "b = a;", sizes = { { i = 5 } },
}
LUA
export XDG_CACHE_HOME=$scratch/cache
# under OPTION VALUE COMMAND...: both limits, soft and hard
under() { (ulimit "$1" "$2" && shift 2 && exec "$@"); }
check=("$SCT_PROGRAM" check "$scratch/move.lua")
space=("$SCT_PROGRAM" space "$scratch/move.lua")
tune=("$SCT_PROGRAM" tune "$scratch/move.lua" --device virtual:h200 --store "$scratch/s.db")

expect 0 'move.lua: ok' "${check[@]}"
if grep -aq __asan_init "$SCT_PROGRAM"; then # it reserves more than any limit allows
  finish
fi
expect 9 'ulimit -d unlimited' under -d 3500 "${space[@]}"
absent 'lua:1: error'
absent 'layout.lua'
absent 'cuda.lua'
expect 9 'ulimit -v unlimited' under -v 10000 "${space[@]}"
absent 'layout.lua'
expect 1 'the limit on stack is 64 KiB' under -s 64 "${space[@]}"
absent 'lua:1: error'
expect 1 'ulimit -n 1024' under -n 8 "${tune[@]}"
expect 4 'the limit on address space is 195.3 MiB (`ulimit -v unlimited` lifts it)' \
  under -v 200000 "${tune[@]}"
absent '4 GiB'
finish
