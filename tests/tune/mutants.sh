# shellcheck shell=bash
# Kernels that must be right, and mutants of them that must not: one place of a template, of the
# device library or of a strategy is changed. Sourced after shell.sh; specs are $scratch/SPEC.lua.

python3=$(python3 -c 'import sys; print(sys.executable)') # once, past wrappers

# tuned SPEC LABEL: prints what became of the candidate.
tuned() {
  rm -f "$scratch/store.db"
  "$SCT_PROGRAM" tune "$scratch/$1.lua" -d virtual:h200 --store "$scratch/store.db" \
    --assets "$scratch/assets" --only "$2" --json 2>/dev/null |
    "$python3" -c 'import json, sys
for size in json.load(sys.stdin)["tuned"][0]["report"]["sizes"]:
    for c in size["rows"]:
        if c["label"] == sys.argv[1]:
            print("outcome:", c["outcome"], c.get("detail", ""))' "$2"
  return 0 # also where the naive variant fails
}

# fresh_assets: what lies in $keep, if anything does, in place of the mutant before.
keep=''
fresh_assets() {
  rm -rf "$scratch/assets"
  mkdir -p "$scratch/assets/templates/device" "$scratch/assets/tuning/strategies" \
    "$scratch/assets/tuning/sectile"
  [ -z "$keep" ] || cp -r "$keep/." "$scratch/assets/"
}

# mutant FILE FROM TO SPEC LABEL: with TO instead of FROM in FILE, of templates/ or with a path from
# the root, the candidate fails.
mutant() {
  local file=$1
  [ -f "$root/$file" ] || file=templates/$1
  fresh_assets
  "$python3" - "$root/$file" "$scratch/assets/$file" "$2" "$3" <<'END'
import sys
text = open(sys.argv[1]).read()
assert sys.argv[3] in text, "nothing to change: " + sys.argv[3]
open(sys.argv[2], "w").write(text.replace(sys.argv[3], sys.argv[4]))
END
  expect 0 'outcome: ' tuned "$4" "$5"
  printf '%s of %s: %s -> %s\n' "$5" "$4" "$2" "$3" >>"$scratch/output"
  absent 'outcome: ok'
  absent 'outcome: compile'
}
fresh_assets
