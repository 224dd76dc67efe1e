#!/usr/bin/env python3
"""The suite on a GPU: every row tuned, and its peers timed in the same run.

  suite.py [PATTERN...] [options]        PATTERN: rows or specs by name, with * or as a part; default all

  --program FILE    the sectile binary
  --peers FILE      the program made of peers.cu; "none" leaves them out, and the ceilings with them
  --device ID       default cuda:0; a virtual device is counted and predicted, and has no peers
  --seconds N       the whole run takes about so long; default 570
  --python FILE     the Python that may have PyTorch, Triton and CuPy; default this one; "none": leaves them out
  --out FOLDER      suite.json, suite.md, the store and all logs; default out/suite. Where OUT is set, suite.json and
                    suite.md are written into that folder too
  --limit N         seconds that each peer may take, its compilation included; default 60
  --small           only the small sizes: a trial of everything around the GPU
  --no-tune         peers and ceilings only
  --winners FILE    suite.json of an earlier run (several with commas): only what won or came close there is tried,
                    verified and timed anew; what is no candidate any more is left out, and specs without any are tuned
  --improve         with --winners: what time is left after that is spent on a search for better ones
  --sample N        do not compile all candidates: try N (at most 48) of each spec, drawn over its strategies, and those
                    of --winners; then what differs in one axis from the best of them
  --tune ARGS       further options of `sectile tune`, in one word; default none: searches end by themselves
  --write           put the page into docs/figures/suite.md, its JSON beside it, and the short table into the README
  --list            print the rows and stop

First the ceilings and the peers in CUDA, then those in Python, then the sessions, so that never two programs share the
GPU; the time that is left is shared among the sessions by their sizes. Results are written after every step. A peer
that crashes or hangs is reported as such and the rest goes on. Exit code 0, 1 if a row has no winner, 2 wrong usage.
"""
import argparse
import concurrent.futures
import json
import os
import platform
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import picture  # noqa: E402
import table  # noqa: E402
import worked  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
UNSEEN = os.path.join(ROOT, "tests", "unseen")
START_S = 60             # a program of peers has so long to start
STOP_S = 40              # a session may take so much longer than its budget
PEERS_SHARE, PYTHON_SHARE = 0.22, 0.36  # of the whole time, at most


TOO_LATE = "its time was over before anything was timed"


def say(text):
    print(text, flush=True)


# ---- programs of peers ----


class Server:
    """A program that takes jobs on standard input and answers in lines of JSON."""

    def __init__(self, command, log):
        self.command, self.log, self.child, self.hello = command, log, None, None

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                          text=True, start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(self.child, self.lines), daemon=True).start()
        self.hello = self.answer(START_S) or {"absent": "it does not start"}
        return "device" in self.hello

    @staticmethod
    def read(child, lines):
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    def answer(self, seconds):
        """the next answer; {} for a line that is none; None: the program ended or said nothing for so long"""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            return None
        try:
            value = json.loads(line)
            return value if isinstance(value, dict) else {}
        except ValueError:
            return {}

    def ask(self, line):
        try:
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
            return True
        except OSError:
            return False

    def alive(self):
        return self.child is not None and self.child.poll() is None

    def stop(self):
        """how the program ended, in words"""
        if not self.child:
            return "not started"
        hung = self.child.poll() is None
        if hung:
            try:
                self.child.wait(0.5)  # a program that just answered its last line may be about to end
                hung = False
            except subprocess.TimeoutExpired:
                os.killpg(self.child.pid, signal.SIGKILL)
                self.child.wait()
        code = self.child.returncode
        self.child = None
        return "hung" if hung else f"killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def close(self):
        if self.child:
            try:
                self.child.stdin.close()
                self.child.wait(20)
            except (OSError, subprocess.TimeoutExpired):
                pass
            self.stop()


def run_job(server, job_id, job, seconds, limit_s):
    """The answers about each peer of a job. Peers that end the program have "failed"; it is started anew."""
    results, seen, before, end = [], 0, -1, time.time() + seconds
    while True:
        if not server.alive() and not server.start():
            why = server.hello.get("absent") or server.hello.get("lost") or "it does not start"
            server.stop()
            return results + [{"peer": "(all)", "failed": why}]
        server.ask(f"{job_id} {job} skip={seen}")
        current = lost = None
        while True:
            left = end - time.time()
            answer = server.answer(max(0.1, min(limit_s, left)))
            if answer is None:
                break
            if "begin" in answer:
                current, seen = answer["begin"], seen + 1
            elif "peer" in answer:
                results.append({k: v for k, v in answer.items() if k != "job"})
                current = None
            elif "refused" in answer:
                results.append({"peer": current or "(all)", "failed": answer["refused"]})
                current = None
            elif "lost" in answer:
                lost = answer["lost"]
            elif answer.get("end"):
                return results
        how = server.stop()
        if current is not None or seen == before:  # else it ended after a peer, whose failure is known
            results.append({"peer": current or "(all)", "failed": lost or how})
        if seen == before or time.time() >= end:
            return results
        before = seen


def run_peers(server, jobs, seconds, limit_s, note, done):
    """jobs: [(row, job id, job)]; done(row, id, results) after each"""
    end, late = time.time() + seconds, []
    for row, job_id, job in jobs:
        left = end - time.time()
        if left <= 1:
            late += [row["row"]] if row["row"] not in late else []
            continue
        results = run_job(server, job_id, job, left, limit_s)
        done(row, job_id, results)
        if server.hello and "device" not in server.hello:
            why = server.hello.get("absent") or server.hello.get("lost") or "it does not start"
            note(f"{os.path.basename(server.command[-1])}: {why}")
            return
    if late:
        note(f"{os.path.basename(server.command[-1])}: no time was left for {', '.join(late)}")
    server.close()


def ceiling_job(row):
    reads, writes = table.nearest_mix(row["read_bytes"], row["write_bytes"])
    return f"ceiling read={reads} write={writes} bytes={row['read_bytes'] + row['write_bytes']}"


# ---- sessions ----


def derive(args, spec, sizes, out):
    """The file of a spec with these sizes, or None and what is wrong."""
    found = worked.find(spec, [args.specs, UNSEEN, worked.FOLDER])
    if not found:
        return None, f"there is no spec {spec}.lua"
    source, params = found
    path = os.path.join(out, "specs", spec + ".lua")
    with open(source, encoding="utf-8") as f:
        text = table.with_sizes(worked.with_params(f.read(), params), sizes)
    for layout in re.findall(r's\.layout\s*\(?"([\w.]+)"', text):
        shutil.copy(os.path.join(os.path.dirname(source), layout), os.path.join(out, "specs"))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path, None


def list_labels(args, spec, sizes):
    """the labels of all candidates of a spec; none where they cannot be had"""
    path, problem = derive(args, spec, sizes, args.out)
    if problem:
        return []
    try:
        result = subprocess.run([args.program, "gen", path, "--device", args.device, "--list", "--json"],
                                capture_output=True, text=True, timeout=60)
        return json.loads(result.stdout)["labels"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return []


def tune(args, spec, sizes, budget_s, out, only=()):
    """The report of a session over these sizes, or None, and what went wrong. `only`: labels to try, else all."""
    path, problem = derive(args, spec, sizes, out)
    if problem:
        return None, problem
    command = [args.program, "tune", path, "--device", args.device, "--store", os.path.join(out, "store.db"), "--json",
               "-q", "--no-range", "--budget", f"{budget_s:.1f}s"]
    command += [f"--only={label}" for label in only] if only else shlex.split(args.tune)
    environment = dict(os.environ, XDG_CACHE_HOME=os.environ.get("XDG_CACHE_HOME", os.path.join(out, "cache")))
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                             start_new_session=True)
    try:
        stdout, stderr = child.communicate(timeout=budget_s + STOP_S)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)  # it keeps what it has
        try:
            stdout, stderr = child.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            stdout, stderr = child.communicate()
    with open(os.path.join(out, "tuned", spec + ".json"), "w", encoding="utf-8") as f:
        f.write(stdout)
    try:
        document = json.loads(stdout)
        session = document["tuned"][0] if "tuned" in document else {"message": document["error"]["text"]}
    except (ValueError, KeyError, IndexError):
        session = {"message": f"exit code {child.returncode}: {stderr.strip()[-300:]}"}
    report = session.get("report")
    return report, None if report and report.get("sizes") else session.get("message") or "no report"


# ---- the whole ----


class Suite:
    def __init__(self, args, rows, winners):
        self.args, self.rows, self.begin, self.winners = args, rows, time.time(), winners
        self.virtual = args.device.startswith("virtual:")
        self.peers = {r["row"]: [] for r in rows}
        self.ceilings, self.results, self.small, self.notes, self.programs = {}, {}, {}, [], []
        self.device, self.says, self.conditions = args.device, "", None
        self.beyond = []  # how much longer than their budgets sessions took, in seconds
        for name in ("store.db", "store.db-wal", "store.db-shm"):  # all that is told is of this run
            if not args.no_tune and os.path.exists(os.path.join(args.out, name)):
                os.remove(os.path.join(args.out, name))
        for folder in ("specs", "tuned"):
            os.makedirs(os.path.join(args.out, folder), exist_ok=True)

    def left(self):
        return self.args.seconds - (time.time() - self.begin)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            say(f"note: {text}")

    def took_peers(self, row, job_id, results):
        if job_id.startswith("ceiling:"):
            self.ceilings[row["row"]] = table.ceiling_of(results)
        else:
            self.peers[row["row"]] += results
        for r in results:
            time_text = table.time_text(r.get("median_ns"))
            detail = f"failed: {r['failed']}" if "failed" in r else f"{time_text:>10} us {r.get('detail', '')}"
            say(f"{time.time() - self.begin:6.1f} s  {row['row']:24} {r['peer']:32} {detail}")
        self.reevaluate(row)
        self.write()

    def reevaluate(self, row, part=None):
        part = part or self.results.get(row["row"], {}).get("part")
        self.results[row["row"]] = {"part": part,
                                    "evaluated": table.evaluate_row(row, part, self.peers[row["row"]],
                                                                    self.ceilings.get(row["row"]))}

    def run_servers(self):
        if self.virtual or self.args.small:
            return
        total = self.args.seconds
        if self.args.peers != "none":
            server = Server(self.command(self.args.peers), os.path.join(self.args.out, "peers.log"))
            run_peers(server, self.cuda_jobs(), PEERS_SHARE * total, self.args.limit, self.note,
                      self.took_peers)
            self.programs.append(server.hello)
        if self.args.python != "none":
            server = Server([self.args.python, os.path.join(HERE, "peers.py")],
                            os.path.join(self.args.out, "python.log"))
            run_peers(server, self.python_jobs(), PYTHON_SHARE * total, self.args.limit, self.note, self.took_peers)
            self.programs.append(server.hello)

    @staticmethod
    def command(program):
        return [sys.executable, program] if program.endswith(".py") else [program]

    def cuda_jobs(self):
        """ceilings first: where time is short, a row loses a peer rather than its share"""
        for row in self.rows:
            yield row, "ceiling:" + row["row"], ceiling_job(row)
        for row in self.rows:
            if row["job"] and not row["job"].startswith("case "):  # those are PyTorch's alone
                yield row, row["row"], row["job"]

    def python_jobs(self):
        """libraries first, for all rows: what has to be compiled takes longer"""
        for what in ("library", "compiled"):
            for row in self.rows:
                if row["job"]:
                    yield row, row["row"], f"{row['job']} what={what}"

    def labels(self):
        """{spec: labels of its candidates}; a spec that fails here fails in its session"""
        groups = table.sessions(self.rows)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            lists = list(pool.map(lambda g: list_labels(self.args, g[0], table.sizes_of(g[1])), groups))
        return {spec: labels for (spec, _), labels in zip(groups, lists)}

    def leave_out_what_is_gone(self):
        """Winners that are no candidates any more; a spec that has no others is tuned."""
        for spec, labels in (self.labels() if self.winners else {}).items():
            earlier = self.winners.get(spec, [])
            gone = [label for label in earlier if labels and label not in labels]
            if gone:
                self.note(f"{spec}: no candidates any more: {', '.join(gone)}")
                self.winners[spec] = [label for label in earlier if label not in gone]

    def sampled(self):
        """labels for a first round, and then those beside the best"""
        everything = self.labels()
        first = {spec: (self.winners.get(spec, []) + table.sample(labels, min(48, self.args.sample)))[:table.MOST_LABELS]
                 for spec, labels in everything.items() if labels}
        yield first, 0.6
        evaluated = [r["evaluated"] for r in self.results.values()]
        best = table.read_winners([{"rows": evaluated, "small": list(self.small.values())}])
        yield {spec: (labels[:24] + table.neighbours(everything.get(spec, []), labels[:8], 40))[:table.MOST_LABELS]
               for spec, labels in best.items() if labels}, 1.0

    def run_sessions(self):
        self.leave_out_what_is_gone()
        if self.args.sample:
            begin, all_of_it = self.left(), self.rows
            for labels, part in self.sampled():
                self.run_each([r for r in all_of_it if r["spec"] in labels or part < 1], labels, (1 - part) * begin)
        else:
            self.run_each(self.rows, self.winners)
        if self.winners and self.args.improve and self.left() > 30:
            self.run_each(self.rows, {})  # the store has what was timed, so that only more can be found
        # whose time was over before their search had ended: they go on where they stopped
        again = [r for r in self.rows if self.results[r["row"]].get("cut")]
        if again and self.left() > 5:
            self.run_each(again, {})

    def run_each(self, chosen, winners, reserve=0.0):
        """`reserve`: seconds that are left to others"""
        groups = table.sessions(chosen)
        weights = [len(table.sizes_of(rows)) for _, rows in groups]
        for k, (spec, rows) in enumerate(groups):
            sizes = table.sizes_of(rows)
            if self.left() - reserve <= 0:
                self.took_report(spec, rows, None, "no time was left for it", 0.0)
                continue
            share = (self.left() - reserve) * weights[k] / sum(weights[k:])
            budget = table.budget_of(share, self.beyond)
            begin = time.time()
            only = winners.get(spec, [])
            report, problem = tune(self.args, spec, sizes, budget, self.args.out, only)
            seconds = time.time() - begin
            if seconds > budget:
                self.beyond.append(seconds - budget)
            self.took_report(spec, rows, report, problem, seconds)

    def took_report(self, spec, rows, report, problem, seconds):
        if not report and any(self.results.get(r["row"], {}).get("part") for r in rows):
            return  # what an earlier session found stays
        if report:
            self.device, self.says = report["device"]["name"], report["says"]
            self.conditions = report.get("conditions") or self.conditions
            for size in report["sizes"]:
                if size.get("faster"):
                    self.note(f"{spec} {size['label']}: {size['faster']}")
        for row in rows:
            self.reevaluate(row, table.size_report(report, row["size"]))
            evaluated = self.results[row["row"]]["evaluated"]
            self.results[row["row"]]["cut"] = bool(report) and bool(report.get("stopped_early"))
            if not evaluated["winner"]:
                evaluated["problem"] = TOO_LATE if self.ran_out(report) else problem or "no verified winner"
            if row["small"]:
                self.small[row["row"]] = table.evaluate_small(row, table.size_report(report, row["small"]))
            say(f"{time.time() - self.begin:6.1f} s  " + "  ".join(c for c in table.row_cells(evaluated, not self.virtual) if c))
        say(f"{time.time() - self.begin:6.1f} s  {spec}: {seconds:.1f} s{', ' + problem if problem else ''}")
        self.write()

    def tuned_how(self):
        if self.args.sample:
            return f"{self.args.sample} candidates of each spec drawn at random, and those beside the best of them"
        if self.winners:
            return f"winners of an earlier run and those close behind ({self.args.winners}), verified and timed anew"
        return f"tuned with {self.args.tune or 'the default search'}"

    @staticmethod
    def ran_out(report):
        return bool(report) and report.get("stopped_early") and all(not s["rows"] for s in report["sizes"])

    def document(self):
        evaluated = [self.results[r["row"]]["evaluated"] if r["row"] in self.results else table.evaluate_row(r, None, [], None)
                  for r in self.rows]
        small = [self.small[r["row"]] for r in self.rows if r["row"] in self.small]
        return {
            "version": 1, "rows_of": name_of(self.args.rows), "date": time.strftime("%Y-%m-%d"), "time": time.strftime("%H:%M:%S%z"),
            "device": self.device, "says": self.says or "nothing was tuned", "timed": not self.virtual,
            "how": f"{len(os.sched_getaffinity(0))} host cores, {time.time() - self.begin:.0f} s in all, "
                   f"{self.tuned_how()}.",
            "host": platform.processor() or platform.machine(), "conditions": self.conditions,
            "programs": [p for p in self.programs if p], "rows": evaluated, "small": small, "notes": self.notes,
            "summary": table.summary(evaluated, small),
        }

    def write(self):
        doc = self.document()
        texts = {"suite.json": json.dumps(doc, indent=1) + "\n", "suite.md": table.page(doc)}
        for folder in filter(None, (self.args.out, os.environ.get("OUT"))):
            os.makedirs(folder, exist_ok=True)
            for name, text in texts.items():
                path = os.path.join(folder, name)
                with open(path + ".new", "w", encoding="utf-8") as f:
                    f.write(text)
                os.replace(path + ".new", path)
        return doc


def read_winners(paths):
    documents = []
    for path in filter(None, paths.split(",")):
        with open(path, encoding="utf-8") as f:
            documents.append(json.load(f))
    return table.read_winners(documents)


def name_of(rows):
    """what a file of rows is called on its page"""
    return os.path.splitext(os.path.basename(rows))[0].replace("rows", "suite")


def publish(doc, rows):
    """the page of these rows (a file of rows); of the suite its JSON too, and table and picture of the README"""
    name = name_of(rows)
    with open(os.path.join(ROOT, "docs", "figures", name + ".md"), "w", encoding="utf-8") as f:
        f.write(table.page(doc))
    if name != "suite":
        return
    with open(os.path.join(ROOT, "docs", "figures", name + ".json"), "w", encoding="utf-8") as f:
        f.write(json.dumps(doc, indent=1) + "\n")
    picture.write(doc)
    readme = os.path.join(ROOT, "README.md")
    with open(readme, encoding="utf-8") as f:
        text = f.read()
    with open(readme, "w", encoding="utf-8") as f:
        f.write(table.put_between(text, table.short_table(doc)))


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench suite", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "sectile"))
    parser.add_argument("--peers", default=os.path.join(ROOT, "build", "release", "suite_peers"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "suite"))
    parser.add_argument("--specs", default=worked.FOLDER)
    parser.add_argument("--rows", default=table.ROWS)
    parser.add_argument("--winners", default="")
    parser.add_argument("--improve", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--tune", default="")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-tune", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def main():
    args = arguments()
    try:
        rows = table.select(table.load_rows(args.rows), args.patterns)
        if args.small:
            rows = [table.at_size(r, r["small"]) for r in rows if r["small"]]
        winners = read_winners(args.winners)
    except (table.Bad, OSError, ValueError, KeyError) as why:
        print(f"suite: {why}", file=sys.stderr)
        return 2
    if args.list:
        say(table.markdown(table.COLUMNS[:6], [[r["row"], r["spec"], r["size"], r["small"] or "", r["moved"], r["target"]]
                                               for r in rows]))
        return 0
    for path in [args.program] + ([args.peers] if args.peers != "none" and not args.small else []):
        if not os.path.exists(path) and not (path == args.peers and args.device.startswith("virtual:")):
            print(f"suite: there is no {path}; `scripts/bench build` makes it", file=sys.stderr)
            return 2
    suite = Suite(args, rows, winners)
    suite.notes += table.load_notes(args.rows)
    suite.run_servers()
    if not args.no_tune:
        suite.run_sessions()
    doc = suite.write()
    if args.write:
        publish(doc, args.rows)
    say("")
    say(table.page(doc).partition("## ")[0])  # the last lines are what is seen of a long output
    say(table.sentence(doc["summary"]))
    return 0 if args.no_tune or not doc["summary"]["missing"] else 1


if __name__ == "__main__":
    sys.exit(main())
