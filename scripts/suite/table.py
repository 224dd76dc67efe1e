"""The suite as data, and what is made of its results: rows, shares, ratios, pages. Nothing here runs anything."""
import fnmatch
import math
import os
import random
import re
import statistics

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = os.path.join(HERE, "rows.txt")
NOTE = "note: "
COLUMNS = ("row", "spec", "size", "small", "moved", "target", "peers")
MIXES = ((1, 1), (1, 0), (0, 1), (2, 1), (3, 1), (4, 1), (8, 1), (1, 2), (1, 4))  # those that peers.cu makes
NOISE = 1.01  # a winner may be this much slower than the naive variant before it counts as slower
SMALL_BYTES = 1 << 20


class Bad(Exception):
    """the table, or what the user asked for, is wrong"""


# ---- rows ----


def extents(size):
    """"i=4 pick=permuted" as {"i": 4, "pick": "permuted"}"""
    out = {}
    for word in size.split():
        name, mark, value = word.partition("=")
        if not mark or not name.isidentifier() or not value:
            raise Bad(f"size '{size}': expected words like i=1024, not '{word}'")
        out[name] = int(value) if value.isdigit() else value
    if not out:
        raise Bad("a size has at least one extent")
    return out


def evaluate(text, values):
    """an integer expression over extents: + - * // % and brackets"""
    if not re.fullmatch(r"[\w\s+*/%()-]+", text):
        raise Bad(f"'{text}' is no expression over extents")
    numbers = {name: value for name, value in values.items() if isinstance(value, int)}
    try:
        return int(eval(text, {"__builtins__": {}}, numbers))  # names and arithmetic only, see above
    except (NameError, SyntaxError, TypeError, ZeroDivisionError) as why:
        raise Bad(f"'{text}': {why}") from None


def fill_in(text, values):
    """"dims={i//32},7" with its expressions as numbers"""
    return re.sub(r"\{([^}]*)\}", lambda m: str(evaluate(m.group(1), values)), text)


def read_target(text):
    """(least share or None for "as fast as by hand", median of the group or None)"""
    words = text.split()
    if text == "hand":
        return None, None
    try:
        if len(words) == 1:
            return float(words[0]), None
        if len(words) == 3 and words[1] == "median":
            return float(words[0]), float(words[2])
    except ValueError:
        pass
    raise Bad(f"target '{text}': expected a share like 0.95, '0.75 median 0.90' or 'hand'")


def read_row(line, place):
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) != len(COLUMNS):
        raise Bad(f"{place}: expected {len(COLUMNS)} columns ({', '.join(COLUMNS)}), not {len(cells)}")
    row = dict(zip(COLUMNS, cells))
    try:
        values = extents(row["size"])
        read, mark, write = row["moved"].partition(":")
        if not mark:
            raise Bad(f"moved '{row['moved']}': expected READ : WRITE")
        row["read_bytes"], row["write_bytes"] = evaluate(read, values), evaluate(write, values)
        row["least"], row["median"] = read_target(row["target"])
        row["job"] = None if row["peers"] == "-" else fill_in(row["peers"], values)
        row["small"] = None if row["small"] == "-" else row["small"]
        if row["small"]:
            small = extents(row["small"])
            if sum(evaluate(part, small) for part in (read, write)) > 2 * SMALL_BYTES:
                raise Bad(f"small '{row['small']}' has arrays of more than 1 MB")
    except Bad as why:
        raise Bad(f"{place}: {why}") from None
    return row


def at_size(row, size):
    """a row at another size, without a small one"""
    values = extents(size)
    read, _, write = row["moved"].partition(":")
    return dict(row, size=size, small=None, read_bytes=evaluate(read, values), write_bytes=evaluate(write, values),
                job=None if row["peers"] == "-" else fill_in(row["peers"], values))


def read_rows(text, name="rows.txt"):
    rows, group = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# ----"):
            group = line.strip("# -").partition(":")[0]
        elif line.strip() and not line.startswith(("#", NOTE)):
            row = dict(read_row(line, f"{name}:{number}"), group=group)
            if any(other["row"] == row["row"] for other in rows):
                raise Bad(f"{name}:{number}: row '{row['row']}' appears twice")
            rows.append(row)
    return rows


def load_rows(path=ROWS):
    with open(path, encoding="utf-8") as f:
        return read_rows(f.read(), os.path.basename(path))


def read_notes(text):
    """what a file of rows says of their results, for every page of them: reasons, what was tried"""
    return [line[len(NOTE):].strip() for line in text.splitlines() if line.startswith(NOTE)]


def load_notes(path=ROWS):
    with open(path, encoding="utf-8") as f:
        return read_notes(f.read())


def select(rows, patterns):
    """the rows whose name or spec matches one of the patterns ("transpose*", "soa"); all without patterns"""
    chosen = []
    for pattern in patterns:
        wide = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
        hits = [r for r in rows if fnmatch.fnmatch(r["row"], wide) or fnmatch.fnmatch(r["spec"], wide)]
        if not hits:
            raise Bad(f"no row matches '{pattern}'; rows are {', '.join(r['row'] for r in rows)}")
        chosen += hits
    return [r for r in rows if not patterns or r in chosen]


def nearest_mix(read_bytes, write_bytes):
    """the (reads, writes) of MIXES whose share of reads is nearest"""
    share = read_bytes / (read_bytes + write_bytes)
    return min(MIXES, key=lambda mix: abs(mix[0] / (mix[0] + mix[1]) - share))


def sessions(rows):
    """rows of one spec are tuned together: [(spec, rows)], in order of first appearance"""
    out = {}
    for row in rows:
        out.setdefault(row["spec"], []).append(row)
    return list(out.items())


def sizes_of(rows):
    """the sizes that a session of these rows times, each once"""
    return list(dict.fromkeys([r["size"] for r in rows] + [r["small"] for r in rows if r["small"]]))


LEAST_BUDGET = 2.0  # seconds: less, and nothing may be timed


def budget_of(share, beyond):
    """what a session may spend of its share of the time, in seconds: beyond its budget it starts a worker, ends the
    step at hand and races; `beyond`: how long that took in earlier sessions"""
    more = statistics.fmean(beyond[-5:]) if beyond else 2.5
    return max(LEAST_BUDGET, share - more)


def lua_sizes(sizes):
    parts = []
    for size in sizes:
        words = [f"{k} = {v}" if isinstance(v, int) else f'{k} = "{v}"' for k, v in extents(size).items()]
        parts.append("{ " + ", ".join(words) + " }")
    return "{ " + ", ".join(parts) + " }"


def with_sizes(spec_text, sizes):
    """the text of a spec with other sizes in place of its own"""
    found = list(re.finditer(r"^\s*sizes\s*=\s*(?=\{)", spec_text, re.MULTILINE))
    if len(found) != 1:
        raise Bad(f"expected one line 'sizes = {{' in the spec, found {len(found)}")
    start, depth = found[0].end(), 0
    for at in range(start, len(spec_text)):
        depth += {"{": 1, "}": -1}.get(spec_text[at], 0)
        if depth == 0:
            return spec_text[:start] + lua_sizes(sizes) + spec_text[at + 1:]
    raise Bad("the brackets of 'sizes' do not match")


# ---- winners of earlier runs ----

MOST_LABELS = 64  # that one session takes with --only


def read_winners(documents):
    """{spec: labels} of earlier results: winners, naive variants apart, and those that came close behind"""
    out = {}
    for doc in documents:
        places = {r["row"]: r["spec"] for r in doc["rows"]}
        for entry in doc["rows"] + [dict(small, spec=places.get(small["row"])) for small in doc["small"]]:
            labels = [entry["winner"]["label"]] if entry["winner"] else []
            for label in labels + [c["label"] for c in entry.get("close") or []]:
                if label not in out.setdefault(entry["spec"], []):
                    out[entry["spec"]].append(label)
    return {spec: labels[:MOST_LABELS] for spec, labels in out.items()}


def close_behind(part, most=4):
    """the fastest rows but the winner, that another run may find ahead of it"""
    rows = [r for r in part["rows"] if r["outcome"] == "ok" and time_of(r) and not r["winner"]] if part else []
    return [{"label": r["label"], "median_ns": r["median_ns"], "coalesced": r.get("coalesced")}
            for r in sorted(rows, key=time_of)[:most]]


# ---- some of many candidates ----


def sample(labels, n, seed=1):
    """n of the labels, of every strategy as many as of the others where it has them, drawn at random"""
    groups = {}
    for label in labels:
        groups.setdefault(label.split()[0], []).append(label)
    draw = random.Random(seed)
    for group in groups.values():
        draw.shuffle(group)
    out = []
    while len(out) < n and any(groups.values()):
        for group in groups.values():
            if group and len(out) < n:
                out.append(group.pop())
    return out


def neighbours(labels, best, n):
    """n of the labels that differ in one axis from one of `best`, those of its first in front"""
    out = []
    for label in best:
        words = label.split()
        for other in labels:
            more = other.split()
            if len(more) == len(words) and sum(a != b for a, b in zip(words, more)) == 1 and more[0] == words[0]:
                if other not in out and other not in best:
                    out.append(other)
    return out[:n]


# ---- results ----


def size_report(report, size):
    """the part of a session's report that is about this size, or None"""
    wanted = extents(size)
    for part in (report or {}).get("sizes", []):
        if part.get("label") and extents(part["label"]) == wanted:
            return part
    return None


def pick(part, mark):
    return next((r for r in part["rows"] if r[mark] and r["outcome"] == "ok"), None) if part else None


def fastest_naive(part):
    naive = [r for r in part["rows"] if r["naive"] and r["outcome"] == "ok"] if part else []
    return min(naive, key=lambda r: time_of(r) or math.inf, default=None)


def time_of(entry):
    return entry and (entry.get("median_ns") or entry.get("predicted_ns"))


def best_peer(peers, naive=None, hand_only=False):
    """the fastest of the verified peers, the naive variant among them"""
    times = [p for p in peers if p.get("median_ns") and ("by hand" in p["peer"] or not hand_only)]
    if naive and naive.get("median_ns") and not hand_only:
        times.append({"peer": "naive", "median_ns": naive["median_ns"]})
    return min(times, key=lambda p: p["median_ns"], default=None)


def keep(row):
    names = ("label", "median_ns", "q1_ns", "q3_ns", "predicted_ns", "resident_ns", "launch_overhead_ns", "registers",
             "spill_bytes", "shared_bytes", "sectors_ld", "sectors_st", "degree", "counts", "coalesced")
    return {name: row.get(name) for name in names} if row else None


def ceiling_of(results):
    """of what a ceiling's job gave: the plain copy, with the time of the best copy of all as hinted_ns"""
    timed = {r["peer"]: r for r in results if r.get("median_ns")}
    plain, hinted = timed.get("ceiling"), timed.get("hinted")
    return plain and dict(plain, hinted_ns=min(r["median_ns"] for r in (plain, hinted) if r))


def evaluate_row(row, part, peers, ceiling):
    """one row of the result; `part`, `peers` and `ceiling` may be missing"""
    winner, naive = pick(part, "winner"), fastest_naive(part)
    moved = row["read_bytes"] + row["write_bytes"]
    useful = part["read_bytes"] + part["write_bytes"] if part else None
    ns = winner and winner["median_ns"]
    ceiling_ns = ceiling and ceiling.get("median_ns")
    hinted_ns = ceiling and ceiling.get("hinted_ns")
    best, hand = best_peer(peers, naive), best_peer(peers, hand_only=True)
    out = {
        "row": row["row"], "group": row["group"], "spec": row["spec"], "size": row["size"], "target": row["target"],
        "mix": "%d:%d" % nearest_mix(row["read_bytes"], row["write_bytes"]), "moved_bytes": moved,
        "useful_bytes": useful, "winner": keep(winner), "naive": keep(naive), "peers": peers, "ceiling": ceiling,
        "ceiling_bytes_s": moved / ceiling_ns * 1e9 if ceiling_ns else None,
        "useful_bytes_s": useful / ns * 1e9 if ns else None,
        "share": ceiling_ns / ns if ns and ceiling_ns else None,
        "hinted_share": hinted_ns / ns if ns and hinted_ns else None,
        "copy_share": winner.get("share") if winner else None,
        "best_peer": best, "ratio": best["median_ns"] / ns if ns and best else None,
        "naive_ratio": time_of(naive) / time_of(winner) if time_of(naive) and time_of(winner) else None,
        "tuned": {k: part[k] for k in ("verified", "failed", "tied", "tried", "untried")} if part else None,
        "faster": part and part.get("faster"), "close": close_behind(part),
    }
    if not ns:
        out["meets"] = None
    elif row["least"] is None:
        out["meets"] = hand["median_ns"] * NOISE >= ns if hand else None
    else:
        out["meets"] = out["share"] >= row["least"] if out["share"] else None
    return out


def evaluate_small(row, part):
    """the small size of a row: winner against naive"""
    winner, naive = pick(part, "winner"), fastest_naive(part)
    if not winner or not naive:
        return {"row": row["row"], "size": row["small"], "winner": keep(winner), "naive": keep(naive), "ratio": None,
                "good": None}
    a, b = time_of(winner), time_of(naive)
    return {"row": row["row"], "size": row["small"], "winner": keep(winner), "naive": keep(naive), "ratio": b / a,
            "good": a <= b * NOISE}


def summary(results, small):
    timed = [r for r in results if r["winner"] and r["winner"]["median_ns"]]
    ratios = [r["ratio"] for r in timed if r["ratio"]]
    groups = {}
    for r in timed:
        median = read_target(r["target"])[1]
        if median and r["share"]:
            groups.setdefault(median, []).append(r["share"])
    return {
        "rows": len(results), "timed": len(timed),
        "missing": [r["row"] for r in results if not r["winner"]],
        "met": sum(1 for r in timed if r["meets"]), "missed": [r["row"] for r in timed if r["meets"] is False],
        "medians": [{"target": m, "median": statistics.median(s), "rows": len(s)} for m, s in sorted(groups.items())],
        "slower_than_a_peer": [r["row"] for r in timed if r["ratio"] and r["ratio"] * NOISE < 1],
        "peer_geomean": math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None,
        "spilling": [r["row"] for r in results if r["winner"] and r["winner"]["spill_bytes"]],
        "small": sum(1 for r in small if r["good"] is not None),
        "small_slower": [r["row"] for r in small if r["good"] is False],
    }


# ---- pages ----


def number(value, digits, scale=1.0):
    return "" if value is None else f"{value * scale:.{digits}f}"


def time_text(ns):
    return "" if not ns else f"{ns / 1e3:.2f}"


def state_of(result):
    return {True: "yes", False: "**no**", None: ""}[result["meets"]]


def row_cells(result, timed=True):
    winner, best = result["winner"], result["best_peer"]
    if not winner:
        return [result["row"], result["size"], result.get("problem") or "no verified winner"] + [""] * 9
    best_text = f"{best['peer']}, {time_text(best['median_ns'])}" if best else ""
    return [result["row"], result["size"], time_text(winner["median_ns"] if timed else winner["predicted_ns"]),
            number(result["useful_bytes_s"], 0, 1e-9), number(result["share"], 3),
            number(result["hinted_share"], 3), result["target"], state_of(result),
            best_text, number(result["ratio"], 2), number(result["naive_ratio"], 2), f"`{winner['label']}`"]


HEADS = ("work", "size", "us", "GB/s", "of ceiling", "of hinted", "target", "met", "best peer, us", "x peer", "x naive", "winner")


def markdown(heads, rows, right=()):
    lines = ["| " + " | ".join(heads) + " |", "|" + "|".join("---:" if h in right else "---" for h in heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows])


def sentence(s):
    parts = [f"{s['rows']} rows, {s['timed']} timed, {s['met']} meet their target"]
    if s["peer_geomean"]:
        parts.append(f"geometric mean over the best peer {s['peer_geomean']:.2f}")
    parts += [f"median of the rows with a median target {m['median']:.3f} (target {m['target']:.2f})" for m in s["medians"]]
    for key, text in (("missed", "below their target"), ("slower_than_a_peer", "slower than a peer"),
                      ("missing", "without a result"), ("spilling", "with spills"),
                      ("small_slower", "slower than naive at a small size")):
        parts.append(f"{text}: {', '.join(s[key]) or 'none'}")
    return "; ".join(parts) + "."


def page(doc):
    """docs/figures/suite.md, or that of other rows"""
    timed = doc["timed"]
    heads = [("predicted us" if h == "us" and not timed else h) for h in HEADS]
    right = ("us", "predicted us", "GB/s", "of ceiling", "of hinted", "x peer", "x naive")
    name = doc.get("rows_of", "suite")
    out = [TITLES.get(name, f"# {name}"), "",
           f"`scripts/bench {name}` on {doc['date']}: {doc['device']}. {doc['says']}. {doc['how']}", "",
           "Of ceiling: what the best copy of the same bytes and the same mix of reads and writes takes, by the time of",
           "the winner; targets are of this. Of hinted: the same of copies whose reads or writes are marked as the last",
           "that L2 gives up, where they are faster. x peer, x naive: their time by the winner's. Times are medians, streaming, less what a launch",
           "costs ([measure.md](../measure.md)).", "", sentence(doc["summary"]), "",
           markdown(heads, [row_cells(r, timed) for r in doc["rows"]], right), ""]
    small = [r for r in doc["small"] if r["winner"]]
    if small:
        out += ["## Small problems: winner and naive", "", markdown(
            ("work", "size", "winner us", "naive us", "x naive", "winner"),
            [[r["row"], r["size"], time_text(time_of(r["winner"])), time_text(time_of(r["naive"])),
              number(r["ratio"], 2), f"`{r['winner']['label']}`"] for r in small],
            ("winner us", "naive us", "x naive")), ""]
    names = sorted({p["peer"] for r in doc["rows"] for p in r["peers"]})
    if names:
        out += ["## Peers, us", "", markdown(
            ["work", "ceiling"] + names,
            [[r["row"], time_text((r["ceiling"] or {}).get("median_ns"))] + [peer_cell(r, n) for n in names]
             for r in doc["rows"]], ["ceiling"] + names), ""]
    if timed:
        out += predicted(doc["rows"])
    if doc["notes"]:
        out += ["## Notes", ""] + [f"* {note}" for note in doc["notes"]] + [""]
    return "\n".join(out)


def predicted_share(entry):
    """what the model predicts, by what was measured; None where one of them is not known"""
    known = entry and entry["predicted_ns"] and entry["median_ns"]
    return entry["predicted_ns"] / entry["median_ns"] if known else None


def predicted(rows):
    """the section that holds predicted times against measured ones; nothing where there are none"""
    rows = [r for r in rows if predicted_share(r["winner"]) and predicted_share(r["naive"])]
    if not rows:
        return []
    said = []
    for what in ("winner", "naive"):
        shares = [predicted_share(r[what]) for r in rows]
        near = sum(1 for share in shares if 0.9 <= share <= 1.1)
        said.append(f"{what} {statistics.median(shares):.2f} (median; {span(shares, 2)}), {near} of {len(rows)} within a tenth")
    return ["## Predicted by measured", "", "What the model says before a candidate runs ([measure.md](../measure.md)), by the time it took. "
            f"{'; '.join(said).capitalize()}.", "", markdown(
                ("work", "winner predicted us", "by measured", "naive predicted us", "by measured"),
                [[r["row"]] + [cell for what in ("winner", "naive")
                               for cell in (time_text(r[what]["predicted_ns"]), number(predicted_share(r[what]), 2))]
                 for r in rows],
                ("winner predicted us", "by measured", "naive predicted us")), ""]


def peer_cell(result, name):
    found = [p for p in result["peers"] if p["peer"] == name]
    return "" if not found else time_text(found[0].get("median_ns")) or "failed"


def span(values, digits, scale=1.0):
    """"least to most", or one figure where they are the same"""
    known = [v for v in values if v is not None]
    ends = sorted({number(min(known), digits, scale), number(max(known), digits, scale)}, key=float) if known else []
    return " to ".join(ends)


def short_table(doc):
    """what stands in the README: a line a group of rows"""
    groups = {}
    for r in doc["rows"]:
        groups.setdefault(r["group"], []).append(r)
    rows = []
    for group, of_group in groups.items():
        timed = [r for r in of_group if r["winner"] and r["winner"]["median_ns"]]
        rows.append([group, f"{len(timed)} of {len(of_group)}", span([r["useful_bytes_s"] for r in timed], 0, 1e-9),
                     span([r["share"] for r in timed], 2), span([r["ratio"] for r in timed], 2),
                     span([r["naive_ratio"] for r in timed], 1)])
    heads = ("work", "rows timed", "GB/s", "of a copy", "x best peer", "x naive")
    mean = doc["summary"]["peer_geomean"]
    over = f" Geometric mean over the best peer: {mean:.2f}." if mean else ""
    return f"{doc['device']}, {doc['date']}.{over}\n\n" + markdown(heads, rows, heads[1:])


TITLES = {"suite": "# The suite", "cases": "# Cases that did badly once", "unseen": "# Work that nothing is tuned for",
          "permutes": "# Permutations of the tensor literature",
          "sums": "# Sums, largest values, running sums and sums by an index", "steps": "# Rows that are reduced and then used"}
BEGIN, END = "<!-- suite -->", "<!-- end of suite -->"


def put_between(text, part):
    """`text` with `part` between its two marks; they are added at the end where there are none"""
    if BEGIN not in text or END not in text:
        return f"{text.rstrip()}\n\n{BEGIN}\n{part}\n{END}\n"
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{part}\n{END}{rest.split(END, 1)[1]}"
