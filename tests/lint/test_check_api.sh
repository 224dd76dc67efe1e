#!/usr/bin/env bash
# check_api must find a function or an option that the page lacks, and a function that scripts lack.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
mkdir -p "$tree/src/script" "$tree/tuning/sectile" "$tree/docs"
list=$tree/src/script/script_api.def
schema=$tree/tuning/sectile/schema.lua
page=$tree/docs/lua_api.md
check=("$root/scripts/check_api" "$tree")

cat >"$list" <<'DEF'
/* SCT_API_STD(library, name, cost) */
SCT_API_STD("", "assert", FREE)
SCT_API_STD("math", "abs", FREE)
SCT_API_OWN("core", "place", core_place)
DEF
cat >"$schema" <<'LUA'
return { ["s.array"] = { { "at", "table", "" } }, ["device file"] = { { "sms", "integer", "" } } }
LUA
echo 'Scripts have `assert`, `math.abs`, `core.place()`; an array has `at = { "i" }`.' >"$page"
expect 0 '3 functions, 1 options, nothing to report' "${check[@]}"

echo 'Scripts have `assert`, `core.place`; absolutely no math.abs; an array has `at`.' >"$page"
expect 1 'script_api.def:3: docs/lua_api.md does not mention `math.abs`' "${check[@]}"
absent '`assert`'
absent '`at`'

echo 'Scripts have `assert`, `core.place`, `math.abs` and `math.sin`; `at`; `c.threads`.' >"$page"
expect 1 'docs/lua_api.md:1: scripts have no `math.sin`' "${check[@]}"
absent 'c.threads'

echo 'Scripts have `assert`, `core.place`, `math.abs`.' >"$page"
expect 1 'does not mention `at` of s.array' "${check[@]}"
absent 'sms'

expect 0 'nothing to report' "$root/scripts/check_api"
finish
