#!/usr/bin/env bash
# scripts/bench suite without a GPU: what it makes of its table, of peers and sessions that
# misbehave (stand-ins for both), and a trial with the program itself on a virtual and a fake GPU.
. "$(dirname "$0")/../shell.sh"
unset OUT # where it is set, reports are also copied there

command -v python3 >/dev/null || { echo 'skipped: there is no python3'; exit 77; }
here=$root/tests/scripts

expect 0 OK python3 "$here/suite_table.py"

# ---- stand-ins ----

mkdir -p "$scratch/specs"
for name in good crash hang lost noise hangs breaks silent late; do
  printf 'return s.kernel {\n  sizes   = { { i = 5 } },\n}\n' >"$scratch/specs/$name.lua"
done
row() { # row NAME FAULT
  echo "$1 | $1 | i=1000 | i=10 | 4*i : 4*i | 0.9 | map n={i} fault=$2"
}
{
  row good none
  row crash crash
  row hang hang
  row lost lost
  row noise noise
  row breaks none
  row silent none
  row absent none
  row late none
  echo "late_too | late | i=2000 | - | 4*i : 4*i | 0.9 | -"
} >"$scratch/rows.txt"
out=$scratch/out
suite=("$root/scripts/bench" suite --rows "$scratch/rows.txt" --specs "$scratch/specs" --out "$out"
  --program "$here/suite_program.py" --peers "$here/suite_peers.py" --python none --limit 2)
has() { # has TEXT: a Python expression over the document `d` and its rows `r` that must be true
  checks=$((checks + 1))
  python3 - "$out/suite.json" "$1" >"$scratch/output" 2>&1 <<'PYTHON' || fail "not so: $1"
import json, sys
d = json.load(open(sys.argv[1]))
r = {row["row"]: row for row in d["rows"]}
def seen(p):
    return p["peer"], p.get("median_ns") or p["failed"]
peers = {name: [seen(p) for p in row["peers"]] for name, row in r.items()}
sys.exit(0 if eval(sys.argv[2]) else f"{peers}\n{d['summary']}\n{d['notes']}")
PYTHON
}

good='| good | i=1000 | 0.50 | 16 | 2.000 | 2.000 | 0.9 | yes | one, 1.00 | 2.00 | 3.00 '
expect 1 "$good" "${suite[@]}"
all='[("one", 1000.0), ("by hand, two", 2000.0), ("three", 3000.0)]'
bad() { echo "peers['$1'] == [('one', 1000.0), ('by hand, two', '$2'), ('three', 3000.0)]"; }
has "peers['good'] == $all and peers['noise'] == $all"
has "$(bad crash 'killed by signal 11')"
has "$(bad hang hung)"
has "$(bad lost 'by hand, two: an illegal memory access was encountered')"
has "r['good']['ceiling']['median_ns'] == 1000.0 and r['good']['share'] == 2.0"
has "r['breaks']['problem'] == 'breaks.lua:1: error: no'"
has "r['silent']['problem'].startswith('exit code 70')"
has "r['absent']['problem'] == 'there is no spec absent.lua'"
has "d['summary']['missing'] == ['breaks', 'silent', 'absent'] and d['summary']['timed'] == 7"
has "len(d['small']) == 9 and d['summary']['small_slower'] == [] and d['summary']['small'] == 6"
has "abs(d['summary']['peer_geomean'] - (2 ** 6 * 3) ** (1 / 7)) < 1e-9"
has "d['device'] == 'stand-in GPU' and r['late_too']['size'] == 'i=2000'"
expect 0 '| late | i=10 |' "${suite[@]}" late --small
has "list(r) == ['late'] and r['late']['size'] == 'i=10' and d['small'] == []"
"${suite[@]}" >/dev/null 2>&1
expect 0 'i = 1000 }, { i = 10 }' cat "$out/specs/good.lua"
expect 0 '| hang | 1.00 | failed | 1.00 | 3.00 |' cat "$out/suite.md"

# a folder for what is to be kept
mkdir "$scratch/kept"
expect 0 'good' env OUT="$scratch/kept" "${suite[@]}" good
expect 0 'suite.json suite.md' bash -c "ls '$scratch/kept' | paste -sd ' '"

# what there is no time for is said; nothing is left out silently
expect 0 'note: suite_peers.py: no time was left for good' "${suite[@]}" good --seconds 3
has "any('no time was left' in note for note in d['notes'])"

expect 1 'no time was left for it' "${suite[@]}" good crash --peers none --seconds 0
has "r['crash']['problem'] == 'no time was left for it' and d['summary']['timed'] == 0"

# a sample, and then what differs from its best in one axis
expect 0 'drawn at random' "${suite[@]}" good --sample 1
has "r['good']['winner']['label'].startswith('slow t')"

# a program of peers that is not there, or has nothing to offer
expect 0 'note: suite_peers.py: nothing is installed' env SUITE_PEERS_ABSENT=1 "${suite[@]}" good
has "peers['good'] == [] and r['good']['winner']['label'] == 'fast t1'"
has "r['good']['best_peer']['peer'] == 'naive'"
expect 2 "no row matches 'nothing'" "${suite[@]}" nothing
expect 2 'there is no /nowhere; `scripts/bench build` makes it' "${suite[@]}" --program /nowhere
expect 0 '| crash | crash | i=1000 | i=10 | 4*i : 4*i | 0.9 |' "${suite[@]}" --list

# what won earlier is tried alone; what is gone is left out; where nothing is left all are tried
sed 's/fast t1/won t2/' "$out/suite.json" >"$scratch/earlier.json"
expect 0 'winners of an earlier run' "${suite[@]}" good --winners "$scratch/earlier.json"
has "r['good']['winner']['label'] == 'won t2'"
expect 0 'good: ' "${suite[@]}" good --winners "$scratch/earlier.json" --improve
has "r['good']['winner']['label'] == 'fast t1'"
sed 's/fast t1/gone t1/' "$scratch/earlier.json" | sed 's/won t2/gone t1/' >"$scratch/gone.json"
expect 0 'good: no candidates any more: gone t1' "${suite[@]}" good --winners "$scratch/gone.json"
has "r['good']['winner']['label'] == 'fast t1'"
both=$scratch/gone.json,$scratch/earlier.json
expect 0 'good: no candidates any more: gone t1' "${suite[@]}" good --winners "$both"
has "r['good']['winner']['label'] == 'won t2'"
expect 2 'earlier.json.absent' "${suite[@]}" good --winners "$scratch/earlier.json.absent"

# ---- sanitize ----

mkdir "$scratch/bin"
# shellcheck disable=SC2016 # for the scripts that are written
printf '#!/bin/bash\necho "#!/bin/bash" >"${@: -1}"\nchmod +x "${@: -1}"\n' >"$scratch/bin/nvcc"
# shellcheck disable=SC2016
printf '#!/bin/bash
[[ "$*" = *racecheck*crash ]] && {
  echo "========= Warning: Race reported at x"; echo "= RACECHECK SUMMARY: 2 hazards"; exit 9; }
[[ "$*" = *synccheck*hang ]] && sleep 100
echo "= ERROR SUMMARY: 0 errors"\n' >"$scratch/bin/compute-sanitizer"
chmod +x "$scratch/bin/"*
sanitize=(env PATH="$scratch/bin:$PATH" "$root/scripts/bench" sanitize --run "$out"
  --program "$here/suite_program.py" --limit 2)
expect 1 '4 specs, 10 runs clean, 3 specs with' "${sanitize[@]}" good crash hang noise
expect 0 'RACECHECK SUMMARY: 2 hazards; Warning: Race reported at x"' cat "$out/sanitize.json"
expect 0 '"synccheck": "out of time"' cat "$out/sanitize.json"
expect 0 '"build": "emit: sectile: nothing is tuned"' cat "$out/sanitize.json"
expect 0 '1 specs, 4 runs clean, 0 specs with' "${sanitize[@]}" good
expect 2 'holds no run of the suite' "${sanitize[@]}" --run /nowhere

# ---- the program itself ----

if [ -n "${SCT_PROGRAM:-}" ]; then
  printf 'local s = require "sectile"\nreturn s.kernel {\n  name = "move", dims = { "i" },
  inputs = { s.array("a", "f64") }, outputs = { s.array("b", "f64") },
  body = "b = a;",\n  sizes = { { i = 5 } },\n}\n' >"$scratch/specs/move.lua"
  echo 'move | move | i=100000 | i=2000 | 8*i : 8*i | 0.9 | -' >"$scratch/rows.txt"
  real=("${suite[@]}" --program "$SCT_PROGRAM" --peers none --tune '--max-candidates 2')
  expect 0 'counted and predicted, not timed' "${real[@]}" --device virtual:h200 --small
  has "not d['timed'] and r['move']['winner']['predicted_ns'] > 0"
  has "r['move']['winner']['median_ns'] is None"
  expect 0 'drawn at random' "${real[@]}" --device virtual:h200 --small --sample 2
  has "r['move']['winner']['predicted_ns'] > 0 and r['move']['tuned']['tried'] > 2"
  expect 0 '1 rows, 1 timed' env SECTILE_FAKE_GPU=ok "${real[@]}" --device cuda:0
  expect 0 '## Small problems' cat "$out/suite.md"
  has "d['timed'] and r['move']['winner']['median_ns'] > 0"
  has "r['move']['naive'] and len(d['small']) == 1"

  # a long body at all sizes of its rows: within the budget of a script's instructions
  spec="$scratch/specs/d3q19.lua"
  python3 - "$root/scripts/suite" >"$spec" <<'PYTHON' || fail 'the suite has no d3q19'
import sys
sys.path.insert(0, sys.argv[1])
import table
import worked
rows = [row for row in table.load_rows() if row["spec"] == "d3q19_step"]
print(table.with_sizes(open(worked.kernels()["d3q19_step"][0]).read(), table.sizes_of(rows)))
PYTHON
  expect 0 'direct a=soa threads=256' "$SCT_PROGRAM" gen "$spec" --list
fi
finish
