#!/usr/bin/env bash
# check_api must find a function that the page lacks, one that scripts lack, and a table of options
# that is not the schema's.
. "$(dirname "$0")/../shell.sh"

tree=$scratch/tree
mkdir -p "$tree/src/script" "$tree/tuning/sectile" "$tree/docs"
list=$tree/src/script/script_api.def
schema=$tree/tuning/sectile/schema.lua
page=$tree/docs/specs.md
layouts=$tree/docs/layouts.md
check=("$root/scripts/check_api" "$tree")

cat >"$list" <<'DEF'
/* SCT_API_STD(library, name, cost) */
SCT_API_STD("", "assert", FREE)
SCT_API_STD("math", "abs", FREE)
SCT_API_OWN("core", "place", core_place)
DEF
cat >"$schema" <<'LUA'
return { ["s.array"] = { { "at", "table", "where", required = true } },
         ["device file"] = { { "sms", "integer", "multiprocessors" } } }
LUA
echo 'Scripts have `assert`, `math.abs`, `core.place()`.' >"$page"
printf '%s\n' '<!-- options of s.array -->' '| option | |' '|---|---|' \
  '| `at` | where; required |' '<!-- end of options -->' >"$layouts"
printf '%s\n' '<!-- options of device file -->' '| option | |' '|---|---|' \
  '| `sms` | multiprocessors |' '<!-- end of options -->' >"$tree/docs/devices.md"
expect 0 '3 functions, 2 options, nothing to report' "${check[@]}"

sed -i 's/where/there/' "$layouts"
expect 1 'docs/layouts.md:4: not what tuning/sectile/schema.lua says' "${check[@]}"
expect 0 'nothing to report' "$root/scripts/check_api" --write "$tree"
expect 0 'nothing to report' "${check[@]}"
absent 'sms'

sed -i 's/of s.array/of s.arrays/' "$layouts"
expect 1 'schema.lua has no options of s.arrays' "${check[@]}"
expect 1 'no page has the options of s.array' "${check[@]}"
sed -i 's/of s.arrays/of s.array/' "$layouts"

echo 'Scripts have `assert`, `core.place`; absolutely no math.abs.' >"$page"
expect 1 'script_api.def:3: docs/specs.md does not mention `math.abs`' "${check[@]}"
absent '`assert`'

echo 'Scripts have `assert`, `core.place`, `math.abs` and `math.sin`; `c.threads`.' >"$page"
expect 1 'docs/specs.md:1: scripts have no `math.sin`' "${check[@]}"
absent 'c.threads'

expect 0 'nothing to report' "$root/scripts/check_api"
finish
