#!/usr/bin/env bash
# tests/gpu/counters.py on a GPU that is none, with a profiler that asks us what we count.
. "$(dirname "$0")/../shell.sh"
mkdir -p "$scratch/bin"
cat >"$scratch/bin/ncu" <<'NCU'
#!/usr/bin/env python3
# Prints what the profile that started it prints without --counters, as ncu would.
import csv, os, subprocess, sys
words = open(f"/proc/{os.getppid()}/cmdline").read().split("\0")[1:-1]
program = sys.argv[-3]
words = [w for w in words if w not in ("--counters", "--json")] + ["--csv", "--device", "cuda:0"]
said = subprocess.run([program, *words], text=True, capture_output=True).stdout
rows = list(csv.reader(said.splitlines()))
out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
print("==PROF== Connected")
out.writerow(["ID", "Kernel Name"] + rows[0][2:])
for k, row in enumerate(rows[1:]):
    out.writerow([k, row[1]] + [os.environ.get("WRONG", v) if v == "256" else v for v in row[2:]])
NCU
chmod +x "$scratch/bin/ncu"
counters() {
  PATH="$scratch/bin:$PATH" SECTILE_FAKE_GPU=${GPU:-ok} XDG_DATA_HOME="$scratch/data" \
    XDG_CACHE_HOME="${SCT_TEST_CACHE:-$scratch/cache}" XDG_RUNTIME_DIR="$scratch" \
    python3 "$root/tests/gpu/counters.py" "$SCT_PROGRAM" --jobs 2 "$@"
}

GPU=none expect 77 'skipped: no GPU here' counters
expect 0 '8 launches: 152 of 152 exact counts are equal; 0 launches differ' counters \
  --only 'gallery banks'
WRONG=255 expect 1 ': 18 of 19 exact counts are equal; launch__block_size 256, ncu 255' counters \
  --only 'gallery patterns'
# A profiler that reports what an H200 counted for the oracle's launches: no exact count differs.
cat >"$scratch/bin/ncu" <<NCU
#!/usr/bin/env python3
import csv, os, sys
of = open(f"/proc/{os.getppid()}/cmdline").read()
name = "atomics_h200.csv" if "atomics" in of else "h200.csv"
rows = list(csv.reader(open("$root/tests/oracle/" + name)))
out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
head = [n if n.startswith(("memory_", "launch__")) else n + ".sum" for n in rows[0][1:]]
out.writerow(["ID", "Kernel Name"] + head)
out.writerow([""] * (2 + len(head)))
for k, row in enumerate(rows[1:]):
    out.writerow([k, row[0]] + [f"{int(v):,}" for v in row[1:]])
NCU
expect 0 '0 launches differ where ours are exact, 0 failed' counters --only '^oracle'
if ! grep -q '^641 launches: ' "$scratch/output" || ! grep -q '^about' "$scratch/output"; then
  fail 'not the launches of the oracle'
fi
finish
