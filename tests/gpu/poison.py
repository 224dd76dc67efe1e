#!/usr/bin/env python3
"""Tunes a copy among candidates that misbehave, on a GPU, and evaluates what became of each.

  tests/gpu/poison.py PROGRAM [OUT]    PROGRAM: the sectile binary; OUT: where stores and logs go,
                                       default $OUT/poison or out/gpu/poison

Once with --no-virtual-check, so that the GPU meets them all: each must have its outcome in the
report and in the store, the session must end well, and the good candidates between them must take
the time that they take in the second run, in which the CPU keeps the bad ones from the GPU. Prints a
table and how long each run took, and writes OUT/poison.json. Exit 1 if anything is wrong, 77
without a GPU. SECTILE_FAKE_GPU does not help: a fake GPU runs no code.
"""
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "poison")
NOISE = 0.03  # of one good candidate's time; their median must be within a third of it

# kind: outcomes on the GPU, outcomes where the CPU met it first (None: the GPU's)
WANTED = {
    "compile": (["compile_error"], None),
    "shared": (["too_large"], None),
    "illegal": (["illegal_access"], ["out_of_bounds"]),
    "misaligned": (["misaligned"], ["misaligned"]),
    "trap": (["trap"], ["trap"]),
    "assert": (["trap"], None),  # the virtual GPU does not know it and leaves it to the GPU
    "value": (["wrong_result"], ["wrong_result"]),
    "odd": (["wrong_result"], ["wrong_result"]),
    "race": (["wrong_result", "race"], ["wrong_result", "race"]),
    "loop": (["hang"], ["hang"]),
}
N_CAUGHT = sum(1 for _, first in WANTED.values() if first)


class Checks:
    def __init__(self):
        self.bad = 0

    def expect(self, good, text):
        print(("ok    " if good else "FAIL  ") + text, flush=True)
        self.bad += not good


def tune(program, out, name, *options):
    store, cache = os.path.join(out, name + ".db"), os.path.join(out, "cache")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(store + suffix):
            os.remove(store + suffix)
    command = [program, "tune", os.path.join(FOLDER, "copy.lua"), "--device", "cuda:0", "--store",
               store, "--assets", FOLDER, "--strategies", os.path.join(FOLDER, "strategies"),
               "--json", "-q", *options]
    started = time.time()
    result = subprocess.run(command, text=True, capture_output=True,
                            env=dict(os.environ, XDG_CACHE_HOME=cache))
    seconds = time.time() - started
    with open(os.path.join(out, name + ".json"), "w") as f:
        f.write(result.stdout)
    try:
        tuned = json.loads(result.stdout)["tuned"][0]
    except (ValueError, KeyError, IndexError):
        sys.exit(f"{name}: exit {result.returncode}: {result.stderr.strip()[-600:]}")
    return result.returncode, tuned, store, seconds


def rows_of(tuned):
    """kind -> row of the report"""
    rows = tuned["report"]["sizes"][0]["rows"]
    return {r["label"].split(" k", 1)[1]: r for r in rows if r["label"].startswith("poison k")}


def stored_outcomes(store):
    with sqlite3.connect(store) as db:
        found = db.execute("SELECT c.label, o.outcome FROM outcome o JOIN candidate c ON c.id = o.candidate")
        return {label.split(" k", 1)[1]: outcome for label, outcome in found if label.startswith("poison k")}


def check_run(checks, name, run, on_cpu):
    code, tuned, store, seconds = run
    rows, stored = rows_of(tuned), stored_outcomes(store)
    checks.expect(code == 0, f"{name}: the session went on to its end: exit {code}, {seconds:.1f} s")
    for kind, (gpu, cpu) in WANTED.items():
        wanted = cpu if on_cpu and cpu else gpu
        row = rows.get(kind, {"outcome": "missing", "detail": ""})
        good = row["outcome"] in wanted and stored.get(kind) == row["outcome"]
        checks.expect(good, f"{name}: {kind:11s} {row['outcome']:15s} stored {stored.get(kind)}; "
                        f"{(row['detail'] or '').splitlines()[0][:80] if row['detail'] else ''}")
    goods = [r for k, r in rows.items() if k.startswith("good")]
    checks.expect(len(goods) == 11 and all(r["outcome"] == "ok" for r in goods),
              f"{name}: {sum(r['outcome'] == 'ok' for r in goods)} of 11 good candidates verified and timed")
    winner = next((r for r in tuned["report"]["sizes"][0]["rows"] if r["winner"]), None)
    checks.expect(winner is not None and winner["outcome"] == "ok", f"{name}: winner {winner and winner['label']}")
    return {k: r["median_ns"] for k, r in rows.items() if k.startswith("good") and r["median_ns"]}


def check_times(checks, with_poison, without):
    both = sorted(set(with_poison) & set(without))
    ratios = [with_poison[k] / without[k] for k in both]
    middle = statistics.median(ratios) if ratios else 0
    checks.expect(len(both) == 11 and abs(middle - 1) < NOISE / 3 and all(abs(r - 1) < NOISE for r in ratios),
              f"good candidates behind bad ones: their time x {middle:.4f} (median), "
              f"[{min(ratios, default=0):.4f}, {max(ratios, default=0):.4f}]")
    return ratios


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    base = os.environ.get("OUT") or os.path.join(os.path.dirname(os.path.dirname(HERE)), "out", "gpu")
    out = os.path.abspath(sys.argv[2]) if len(sys.argv) == 3 else os.path.join(base, "poison")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    listed = subprocess.run([program, "devices", "--json"], text=True, capture_output=True)
    devices = [d for d in json.loads(listed.stdout)["devices"] if d["id"].startswith("cuda:")]
    if not devices:
        print("skipped: no GPU here")
        sys.exit(77)
    print(f"{devices[0]['name']}, {time.strftime('%Y-%m-%d')}")
    checks = Checks()
    on_gpu = tune(program, out, "on_gpu", "--no-virtual-check")
    checked = tune(program, out, "checked")
    times_gpu = check_run(checks, "on the GPU", on_gpu, False)
    times_checked = check_run(checks, "checked", checked, True)
    caught = checked[1]["report"]["caught"]
    checks.expect(caught == N_CAUGHT, f"checked: {caught} of {N_CAUGHT} never reached the GPU")
    ratios = check_times(checks, times_gpu, times_checked)
    with open(os.path.join(out, "poison.json"), "w") as f:
        json.dump({"device": devices[0]["name"], "wrong": checks.bad, "seconds": [on_gpu[3], checked[3]],
                   "outcomes": {k: rows_of(on_gpu[1])[k]["outcome"] for k in WANTED}, "ratios": ratios}, f, indent=1)
    print(f"{checks.bad} wrong")
    sys.exit(1 if checks.bad else 0)


if __name__ == "__main__":
    main()
