#!/usr/bin/env python3
"""Stands in for sectile in tests of the suite: `tune SPEC ... --json` reports invented times for the sizes of the spec,
`check` an array of its own, `emit` writes a header.

Specs named hangs, breaks and silent do what they say; one named late has no result the first time.
"""
import json
import os
import re
import sys
import time

if sys.argv[1] == "check":
    name = os.path.basename(sys.argv[3])[:-4]
    print(json.dumps({"checked": [{"name": name, "sizes": ["i=10"], "extents": [[10]], "scalars": [],
                                   "arrays": [{"name": "a", "role": "in", "bytes": [[40]]}]}]}))
    sys.exit(0)
if sys.argv[1] == "gen":
    print(json.dumps({"labels": ["slow t1", "slow t2", "slow t3", "slow t1 u2", "won t2"]}))
    sys.exit(0)
if sys.argv[1] == "emit":
    if "noise" in sys.argv[2]:
        sys.exit("sectile: nothing is tuned")
    open(sys.argv[sys.argv.index("-o") + 1], "w", encoding="utf-8").close()
    sys.exit(0)
spec = os.path.basename(sys.argv[2])[:-4]
text = open(sys.argv[2], encoding="utf-8").read()
if spec == "hangs":
    time.sleep(100)
if spec == "silent":
    sys.exit(70)
if spec == "breaks":
    print(json.dumps({"error": {"status": "spec error", "exit_code": 3, "text": "breaks.lua:1: error: no"}}))
    sys.exit(3)

open(sys.argv[sys.argv.index("--store") + 1], "w", encoding="utf-8").close()
only = [word[7:] for word in sys.argv if word.startswith("--only=")]
if "gone t1" in only:
    text = "no candidate is called 'gone t1'; did you mean 'fast t1'?"
    print(json.dumps({"tuned": [{"spec": sys.argv[2], "exit_code": 2, "message": text, "report": None}]}))
    sys.exit(2)

late = spec == "late" and not os.path.exists(sys.argv[2] + ".seen")
if late:
    open(sys.argv[2] + ".seen", "w", encoding="utf-8").close()


def entry(label, ns, **more):
    return dict({"label": label, "outcome": "ok", "median_ns": ns, "q1_ns": ns, "q3_ns": ns, "registers": 9,
                 "spill_bytes": 0, "naive": False, "winner": False}, **more)


sizes = []
for size in re.findall(r"\{ (i = \d+) \}", text):
    sizes.append({"label": size.replace(" ", ""), "read_bytes": 4000.0, "write_bytes": 4000.0, "verified": 2, "failed": 0,
                  "tied": 1, "tried": 2, "untried": 0, "faster": None,
                  "rows": [] if late else [entry(only[0] if only else "fast t1", 500.0, winner=True), entry("direct", 1500.0, naive=True)]})
print(json.dumps({"tuned": [{"spec": sys.argv[2], "exit_code": 0, "message": None, "report": {
    "name": spec, "device": {"name": "stand-in GPU"}, "says": "timed", "stopped_early": late, "conditions": {"mps": False}, "sizes": sizes}}]}))
