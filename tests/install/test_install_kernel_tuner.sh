#!/usr/bin/env bash
# Kernel Tuner, as pip installs it: its simulation mode searches what is exported, its schema takes
# it, and what it writes is imported.
. "$(dirname "$0")/../shell.sh"
pip_packages kernel-tuner-1.5 'kernel-tuner==1.5.*' numpy python-constraint2 jsonschema \
  jsonschema-specifications referencing rpds-py attrs typing-extensions xmltodict packaging || {
  echo "left out: pip could not install kernel-tuner: $(tail -n 1 "$scratch/pip")"
  exit 77
}
tuner=(env "PYTHONPATH=$packages" python3 "$root/tests/install/other_tuner.py")
cd "$scratch" || exit 1
sql() {
  python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())' "$@"
}

"$SCT_PROGRAM" doctor 2>/dev/null | grep -q '^ok *NVRTC' || {
  echo "no NVRTC here: nothing is tuned"
  exit 77
}
sed 's/sizes *=.*/sizes = { { row = 64, col = 32 } },/' "$root/tuning/kernels/transpose_f32.lua" \
  >spec.lua
expect 0 '' env SECTILE_FAKE_GPU=wrong@3,noload@5 "$SCT_PROGRAM" tune spec.lua --store our.db \
  --max-candidates 12 --search random -q
for format in kernel-tuner t4; do
  expect 0 '' "$SCT_PROGRAM" export --store our.db --format "$format" -o "$format.json"
done
expect 0 '12 results, 2 failed' "${tuner[@]}" simulate kernel-tuner.json results.json
expect 0 '' "${tuner[@]}" validate t4.json

# Its T4 results and its caches come back with the times that they were made of.
median='SELECT min(median_ns), count(*), sum(outcome = "ok") FROM outcome'
for file in results.json t4.json kernel-tuner.json; do
  expect 0 '' "$SCT_PROGRAM" import "$file" --store "$file.db"
  expect 0 "$(sql our.db "$median")" sql "$file.db" "$median"
done
expect 0 '' "${tuner[@]}" write open.json
expect 0 '' "$SCT_PROGRAM" import open.json --store open.db
expect 0 "('copied', '4096x1024', 'NVIDIA A100')" sql open.db \
  'SELECT replace(p.name, "kernel-tuner:", ""), size_label, d.name FROM run r, problem p, device d'
expect 0 "[('compile_error', 0.0), ('launch_error', 0.0), ('ok', 500000.0)]" sql open.db \
  'SELECT outcome, median_ns FROM outcome ORDER BY outcome'
finish
