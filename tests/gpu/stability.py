#!/usr/bin/env python3
"""Does tuning come to the same result each time? On a GPU.

  tests/gpu/stability.py PROGRAM [OUT] [--runs N] [--jobs SPEC,...] [--measure GPU_MEASURE]

  PROGRAM      the sectile binary
  OUT          where stores and reports go; default $OUT/stability or out/gpu/stability
  --runs N     sessions of each spec, each with a store of its own; default 10
  --jobs       kernels of worked specs; default add_const_double3,transpose_f32,particle_aos_to_aos
  --measure    also runs gpu_measure same slower (100 comparisons each), from the build folder

For each spec and size: how often which candidate won, and whether one candidate is the winner, or
tied with it, in every run. Prints a short table last and writes OUT/stability.json. Exit 1 if a
figure misses its target, 77 without a GPU.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts", "suite"))
import worked  # noqa: E402

DEFAULT = "add_const_double3,transpose_f32,particle_aos_to_aos"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base = os.environ.get("OUT") or os.path.join(ROOT, "out", "gpu")
    parser.add_argument("program")
    parser.add_argument("out", nargs="?", default=os.path.join(base, "stability"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", default=DEFAULT)
    parser.add_argument("--measure")
    parser.add_argument("--device", default="cuda:0")
    return parser.parse_args()


def tune(args, spec, run):
    """One session with a fresh store; kernels come from one cache, so that only the first compiles."""
    store = os.path.join(args.out, f"{spec}.{run}.db")
    path, params = worked.kernels()[spec]
    command = [os.path.abspath(args.program), "tune", path, *worked.options(params), "--device", args.device, "--store", store, "--json", "-q"]
    started = time.time()
    result = subprocess.run(command, text=True, capture_output=True,
                            env=dict(os.environ, XDG_CACHE_HOME=os.path.join(args.out, "cache")))
    for suffix in ("", "-wal", "-shm"):
        if run > 0 and os.path.exists(store + suffix):  # the first is a complete sweep: scripts/bench search
            os.remove(store + suffix)
    if result.returncode != 0:
        sys.exit(f"{spec} run {run}: exit {result.returncode}: {result.stderr.strip()[-600:]}")
    report = json.loads(result.stdout)["tuned"][0]["report"]
    return report["sizes"], time.time() - started


def look_at(sizes):
    """label of a size -> (winner, the set of those tied with it, median of the winner)"""
    seen = {}
    for size in sizes:
        winner = next(r for r in size["rows"] if r["winner"])
        tied = {r["label"] for r in size["rows"] if r["tied"] or r["winner"]}
        time_ns = winner["median_ns"] or winner["predicted_ns"]
        seen[size["label"]] = (winner["label"], tied, time_ns)
    return seen


def best_of(sizes, n=12):
    """label of a size -> the fastest of a session, for whoever asks why it came out so"""
    kept = ("label", "median_ns", "q1_ns", "q3_ns", "tied")
    return {size["label"]: [{k: r[k] for k in kept} for r in size["rows"][:n]] for size in sizes}


def evaluate(spec, label, runs):
    """runs: what look_at() gave for this size, one a session"""
    winners = collections.Counter(winner for winner, _, _ in runs)
    first, count = winners.most_common(1)[0]
    always = set.intersection(*(tied for _, tied, _ in runs))
    common = sorted(set(winners) & always)
    times = [t for _, _, t in runs]
    good = count == len(runs) or bool(common)
    return {"spec": spec, "size": label, "runs": len(runs), "good": good, "winner": first, "won": count,
            "winners": dict(winners), "tied_in_all": common, "ties": [len(tied) for _, tied, _ in runs],
            "spread": max(times) / min(times) - 1}


def measure(args):
    path = os.path.join(args.out, "gpu_measure.json")
    result = subprocess.run([os.path.abspath(args.measure), "same", "slower", "--json", path], text=True,
                            capture_output=True)
    print(result.stdout, end="", flush=True)
    found = {}
    if os.path.exists(path):
        with open(path) as f:
            found = json.load(f)
    return result.returncode == 0, found


def main():
    args = arguments()
    args.out = os.path.abspath(args.out)
    shutil.rmtree(args.out, ignore_errors=True)
    os.makedirs(args.out)
    if args.device.startswith("cuda:"):
        listed = subprocess.run([os.path.abspath(args.program), "devices", "--json"], text=True, capture_output=True)
        if not any(d["id"].startswith("cuda:") for d in json.loads(listed.stdout)["devices"]):
            print("skipped: no GPU here")
            sys.exit(77)
    verdicts, best = [], []
    for spec in args.jobs.split(","):
        seen, seconds = collections.defaultdict(list), []
        for run in range(args.runs):
            sizes, took = tune(args, spec, run)
            seconds.append(took)
            best.append({"spec": spec, "run": run, "sizes": best_of(sizes)})
            for label, what in look_at(sizes).items():
                seen[label].append(what)
        print(f"{spec}: {args.runs} sessions, {seconds[0]:.1f} s the first, {min(seconds):.1f} to {max(seconds):.1f} s",
              flush=True)
        verdicts += [evaluate(spec, label, runs) for label, runs in seen.items()]
    good, compared = measure(args) if args.measure else (True, {})
    with open(os.path.join(args.out, "stability.json"), "w") as f:
        json.dump({"sessions": verdicts, "comparisons": compared, "best": best}, f, indent=1)
    print()
    for v in verdicts:
        print(f"{'ok    ' if v['good'] else 'MISSED'} {v['spec']:22s} {v['size']:22s} {v['winner']:34s} won "
              f"{v['won']}/{v['runs']}, {len(v['tied_in_all'])} winner(s) tied in all runs, ties "
              f"{min(v['ties'])} to {max(v['ties'])}, times within {100 * v['spread']:.1f} %")
    sys.exit(0 if good and all(v["good"] for v in verdicts) else 1)


if __name__ == "__main__":
    main()
