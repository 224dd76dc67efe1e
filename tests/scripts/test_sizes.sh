#!/usr/bin/env bash
# scripts/bench sizes without a GPU: which sizes it draws, what it compares, and that a later run
# goes on. A stand-in for the program writes stores: at each size of a spec the naive variant takes
# 8000 ns, the header's first kernel 1000 and wants aligned arrays, its second 2000; what a fresh
# tune finds takes 1250 and wants none.
. "$(dirname "$0")/../shell.sh"

command -v python3 >/dev/null || { echo 'skipped: there is no python3'; exit 77; }
cat >"$scratch/program" <<'PROGRAM'
#!/usr/bin/env python3
import json, os, re, sqlite3, sys
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as file:
    file.write(" ".join(words[:2]) + "\n")
if words[0] == "emit":
    leaf = {"kernels": [1, 2], "regret": {}}
    tree = {"of": ["row"], "over": None, "most": 1 << 30, "low": leaf, "high": {"kernels": [0]}}
    regret = {"samples": 9, "mean": 1.1, "p95": 1.2, "worst": 1.5}
    print(json.dumps({"kernels": ["naive", "fast", "any"], "hashes": ["n", "f", "a"],
                      "rules": [{"device": "stand-in", "tree": tree, "regret": regret}]}))
    sys.exit()
db = sqlite3.connect(words[words.index("--store") + 1])
db.executescript("""
  CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, extents);
  CREATE TABLE IF NOT EXISTS candidate (id INTEGER PRIMARY KEY, source_hash, launch);
  CREATE TABLE IF NOT EXISTS outcome (run, candidate, outcome, median_ns, predicted_ns);""")
kernels = [("n", 8000, 4), ("f", 1000, 16), ("a", 2000, 4)]
if "_fresh" in words[1]:
    kernels = [("w", 1250, 4)]
text = open(words[1]).read()
for row, col in re.findall(r"\{ row = (\d+), col = (\d+) \}", text):
    run = db.execute("INSERT INTO run (extents) VALUES (?)",
                     [json.dumps({"row": int(row), "col": int(col)})]).lastrowid
    for source, ns, align in kernels:
        kernel = db.execute("INSERT INTO candidate (source_hash, launch) VALUES (?, ?)",
                            [source, json.dumps({"align": {"a": align}})]).lastrowid
        db.execute("INSERT INTO outcome VALUES (?, ?, 'ok', ?, 0)", [run, kernel, ns])
db.commit()
PROGRAM
chmod +x "$scratch/program"
touch "$scratch/output"
export CALLS="$scratch/calls"
out="$scratch/out"
sizes() { # sizes KERNEL OPTION...
  "$root/scripts/bench" sizes "$@" --program "$scratch/program" --device virtual:h200 --out "$out"
}
has() { grep -qF -- "$1" "$2" || fail "$2 lacks '$1': $(cat "$2")"; }

sizes sum_rows_f32 --sizes 4 >"$scratch/first" || fail "the first run failed"
[ "$(wc -l <"$out/results.jsonl")" = 4 ] || fail 'not four results'
# three calls take the fast kernel, the best there is; the fourth has arrays it does not take
[ "$(grep -c '"taken": "fast", "header_ns": 1000, "best_ns": 1000' "$out/results.jsonl")" = 3 ] ||
  fail "not three calls of the fast kernel: $(cat "$out/results.jsonl")"
has '"offset": true, "taken": "any", "header_ns": 2000, "best_ns": 1250' "$out/results.jsonl"
has '| sum_rows_f32 | 4 | 0.889 | 0.62 | 0.62 |' "$out/sizes.md"
has '**Predicted, not timed.**' "$out/sizes.md"

# a later run does what is left: of the same seed two sizes more, and nothing where all is there
printf '{"kernel": "cut sh' >>"$out/results.jsonl"
: >"$CALLS"
sizes sum_rows_f32 --sizes 4 >/dev/null || fail "the second run failed"
[ ! -s "$CALLS" ] || fail "it did again what was done: $(cat "$CALLS")"
sizes sum_rows_f32 --sizes 6 >/dev/null || fail "the third run failed"
[ "$(grep -c _fresh "$CALLS")" = 2 ] || fail "not two fresh tunes: $(cat "$CALLS")"
sizes sum_rows_f32 --sizes 1 --seed 2 >/dev/null || fail "another seed failed"
[ "$(wc -l <"$out/results.jsonl")" = 7 ] || fail 'another seed has no size of its own'
has 'seeds 1, 2' "$out/sizes.md"

expect 2 "no kernel 'nothing'" sizes nothing
finish
