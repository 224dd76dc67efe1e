#!/usr/bin/env python3
"""How near the model's times are to those of a GPU, on kernels that nothing was fitted to.

  model.py [SPEC.lua|FOLDER...] [options]     default: all of tests/holdout and tests/holdout/second

  --program FILE    the sectile binary; default build/release/sectile
  --device ID       default cuda:0; a virtual device has predictions only
  --budget TIME     of each spec, in seconds; default 3s
  --others N        candidates of each size besides the naive one and the winner, spread over the ranks; default 3
  --out FOLDER      model.json, model.md, the store; default out/model. Where OUT is set, both files are written there too
  --read FILE       the table of an earlier model.json; nothing runs

Each spec is tuned by itself. Of each size the naive variant, the winner and a few others stand with what was predicted
and what was measured; then the mean error (|predicted / measured - 1|) and the largest factor between the two, of
winners, naive variants, launches of 1 to 64 blocks and all. Exit code 0, 1 if a spec has no winner, 2 wrong usage.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FEW_BLOCKS = 64
STOP_S = 60  # a session may take so much longer than its budget
PROFILE_S = 30


def run(args, words, seconds):
    """what the program prints as JSON; None: it said nothing in time"""
    try:
        done = subprocess.run([args.program, *words, "--json", "-q"], capture_output=True, text=True,
                              timeout=seconds, check=False)
        return json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None


def budget(text):
    """seconds, as the program takes them"""
    if not text.endswith("s") or not text[:-1].isdigit():
        raise argparse.ArgumentTypeError("expected a time such as 3s")
    return int(text[:-1])


def spread(rows, n):
    """n of the rows, from the first to the last"""
    if len(rows) <= n:
        return rows
    return [rows[k * (len(rows) - 1) // max(n - 1, 1)] for k in range(n)]


def chosen(size, others):
    """the rows of a size that are looked at, with their kind"""
    good = [row for row in size["rows"] if row["outcome"] == "ok" and row.get("predicted_ns")]
    good.sort(key=lambda row: row.get("median_ns") or row["predicted_ns"])
    winner = [row for row in good if row["winner"]]
    naive = [row for row in good if row["naive"] and row not in winner]
    rest = [row for row in good if row not in winner and not row["naive"]]
    kinds = [("winner", winner), ("naive", naive[:1]), ("other", spread(rest, others))]
    return [(kind, row) for kind, rows in kinds for row in rows]


def tune(args, spec):
    """the entries of a spec: one a candidate that is looked at"""
    doc = run(args, ["tune", spec, "--device", args.device, "--budget", f"{args.budget}s", "--again", "--no-range",
                     "--store", os.path.join(args.out, "store.db")], args.budget + STOP_S)
    report = doc and doc["tuned"] and doc["tuned"][0].get("report")
    if not report:
        return []
    return [{"spec": spec, "name": report["name"], "size": size["label"], "label": row["label"], "kind": kind,
             "naive": row["naive"], "predicted_ns": row["predicted_ns"], "measured_ns": row.get("median_ns"),
             "limit": row.get("predicted_limit")}
            for size in report["sizes"] for kind, row in chosen(size, args.others)]


def count_blocks(args, entry):
    doc = run(args, ["profile", entry["spec"], "--device", args.device, "--pick", entry["label"], "--size",
                     entry["size"]], PROFILE_S)
    case = doc and doc["cases"] and doc["cases"][0]
    grid = case and case.get("launch", {}).get("grid")
    entry["blocks"] = grid and grid[0] * grid[1] * grid[2]


def is_few(entry):
    return bool(entry["blocks"]) and entry["blocks"] <= FEW_BLOCKS


CLASSES = (
    ("winners", lambda e: e["kind"] == "winner" and not is_few(e)),
    ("naive", lambda e: e["naive"] and not is_few(e)),
    ("1 to 64 blocks", is_few),
    ("others", lambda e: e["kind"] == "other" and not is_few(e)),
    ("all", lambda e: True),
)


def summary(entries):
    """a line for each class: how many, mean error, largest factor and whose it is"""
    lines = []
    for name, belongs in CLASSES:
        ratios = [(e["predicted_ns"] / e["measured_ns"], e) for e in entries if belongs(e) and e["measured_ns"]]
        if not ratios:
            lines.append(f"| {name} | 0 | | | |")
            continue
        error = sum(abs(ratio - 1.0) for ratio, _ in ratios) / len(ratios)
        factor, worst = max(((max(ratio, 1.0 / ratio), e) for ratio, e in ratios), key=lambda pair: pair[0])
        lines.append(f"| {name} | {len(ratios)} | {100 * error:.1f} % | {factor:.2f} | {worst['name']} "
                     f"{worst['size']}: {worst['label']} |")
    return lines


def page(entries):
    out = ["| kernel | size | candidate | blocks | predicted us | measured us | predicted / measured | limit |",
           "|---|---|---|---:|---:|---:|---:|---|"]
    for e in entries:
        measured = e["measured_ns"]
        times = f"{measured / 1000:.2f} | {e['predicted_ns'] / measured:.2f}" if measured else " | "
        out.append(f"| {e['name']} | {e['size']} | {e['kind']}: {e['label']} | {e['blocks'] or ''} | "
                   f"{e['predicted_ns'] / 1000:.2f} | {times} | {e['limit'] or ''} |")
    return "\n".join([*out, "", "| launches | number | mean error | largest factor | of |", "|---|---:|---:|---:|---|",
                      *summary(entries), ""])


def write(args, entries, missing):
    doc = {"device": args.device, "budget_s": args.budget, "date": time.strftime("%Y-%m-%d"), "missing": missing,
           "entries": entries}
    for folder in filter(None, (args.out, os.environ.get("OUT"))):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as file:
            json.dump(doc, file, indent=1)
        with open(os.path.join(folder, "model.md"), "w", encoding="utf-8") as file:
            file.write(page(entries))


def specs_of(words):
    out = []
    holdout = os.path.join(ROOT, "tests", "holdout")
    for word in words or [holdout, os.path.join(holdout, "second")]:
        out += sorted(glob.glob(os.path.join(word, "*.lua"))) if os.path.isdir(word) else [word]
    return out


def measure(args, specs):
    entries, missing = [], []
    for spec in specs:
        began = time.time()
        found = tune(args, spec)
        entries += found
        missing += [] if any(e["kind"] == "winner" for e in found) else [spec]
        print(f"{os.path.basename(spec)}: {len(found)} candidates, {time.time() - began:.1f} s", file=sys.stderr,
              flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda entry: count_blocks(args, entry), entries))
    write(args, entries, missing)
    return entries, missing


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "sectile"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--budget", default=3, type=budget)
    parser.add_argument("--others", type=int, default=3)
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "model"))
    parser.add_argument("--read")
    args = parser.parse_args()
    missing = []
    if args.read:
        with open(args.read, encoding="utf-8") as file:
            entries = json.load(file)["entries"]
    else:
        specs = specs_of(args.words)
        if not specs:
            parser.error("no specs; name some, or a folder of them")
        os.makedirs(args.out, exist_ok=True)
        entries, missing = measure(args, specs)
    print(page(entries))
    for spec in missing:
        print(f"no winner: {spec}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
