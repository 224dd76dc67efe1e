"""What scripts/suite/table.py makes of rows and results."""
import json
import math
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts", "suite"))
import picture  # noqa: E402
import sanitize  # noqa: E402
import table  # noqa: E402
import worked  # noqa: E402

LINE = "name | spec | i=1000 pick=permuted | i=10 | 36*i : 4*i | 0.9 | gather elem=4 n={i} m={i//2+1}"


def suite_rows():
    """those of the suite, with sums and in steps, which have specs of one folder"""
    return [row for name in ("rows", "sums", "steps") for row in table.load_rows(os.path.join(ROOT, "scripts", "suite", name + ".txt"))]


def entry(label, ns, naive=False, winner=False, outcome="ok", **more):
    return dict({"label": label, "median_ns": ns, "q1_ns": ns, "q3_ns": ns, "predicted_ns": None, "registers": 20,
                 "spill_bytes": 0, "naive": naive, "winner": winner, "outcome": outcome}, **more)


def part(label="i=1000 pick=permuted", winner_ns=100.0, naive_ns=300.0, **more):
    rows = [entry("staged", winner_ns, winner=True, **more), entry("direct", naive_ns, naive=True),
            entry("broken", None, naive=True, outcome="wrong_result")]
    return {"label": label, "read_bytes": 8000.0, "write_bytes": 4000.0, "verified": 2, "failed": 1, "tied": 1,
            "tried": 3, "untried": 4, "faster": None, "rows": rows}


def peers(**times):
    return [{"peer": name.replace("_", " "), "median_ns": ns} for name, ns in times.items()]


class Rows(unittest.TestCase):
    def test_a_row_is_read_with_its_expressions(self):
        row = table.read_rows("# note\n\n" + LINE + "\n")[0]
        self.assertEqual((row["read_bytes"], row["write_bytes"]), (36000, 4000))
        self.assertEqual(row["job"], "gather elem=4 n=1000 m=501")
        self.assertEqual((row["least"], row["median"], row["small"]), (0.9, None, "i=10"))

    def test_notes_stand_beside_rows(self):
        text = LINE + "\nnote: it waits for L2\n# note: no\nnote: and more \n"
        self.assertEqual(table.read_notes(text), ["it waits for L2", "and more"])
        self.assertEqual(len(table.read_rows(text)), 1)

    def test_a_row_at_another_size(self):
        row = table.at_size(table.read_rows(LINE)[0], "i=8")
        self.assertEqual((row["size"], row["small"], row["read_bytes"], row["write_bytes"]), ("i=8", None, 288, 32))
        self.assertEqual(row["job"], "gather elem=4 n=8 m=5")

    def test_wrong_rows_are_refused_with_their_place(self):
        for change, text in ((("| i=10 ", ""), "rows.txt:1: expected 7 columns"),
                             (("i=1000", "i"), "expected words like i=1024"),
                             (("36*i", "36*k"), "rows.txt:1: '36*k ': name 'k' is not defined"),
                             (("36*i", "__import__('os')"), "is no expression"),
                             ((" : ", " "), "expected READ : WRITE"),
                             (("0.9", "fast"), "target 'fast': expected a share"),
                             (("i=10 ", "i=10000000 "), "more than 1 MB")):
            with self.assertRaises(table.Bad) as caught:
                table.read_rows(LINE.replace(*change))
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(table.Bad) as caught:
            table.read_rows(LINE + "\n" + LINE)
        self.assertIn("rows.txt:2: row 'name' appears twice", str(caught.exception))

    def test_the_suite_itself_is_legal_and_makes_known_mixes(self):
        rows = suite_rows()
        self.assertGreater(len(rows), 110)
        for row in rows:
            share = row["read_bytes"] / (row["read_bytes"] + row["write_bytes"])
            mix = table.nearest_mix(row["read_bytes"], row["write_bytes"])
            self.assertLess(abs(mix[0] / sum(mix) - share), 0.08, row["row"])
        for spec, of_spec in table.sessions(rows):
            self.assertEqual(sum(1 for r in of_spec if r["small"]), 1, f"{spec} has one small size")

    def test_every_spec_of_the_suite_takes_its_sizes(self):
        seen = 0
        for spec, rows in table.sessions(suite_rows()):
            path, params = worked.kernels()[spec]
            with open(path, encoding="utf-8") as f:
                text = table.with_sizes(worked.with_params(f.read(), params), table.sizes_of(rows))
            for size in table.sizes_of(rows):
                self.assertIn(table.lua_sizes([size])[2:-2], text)
            for name, value in (p.split("=") for p in params):
                self.assertRegex(text, rf'\n[^-\n]*s\.params .*\b{name} = "?{value}\b')
            seen += 1
        self.assertGreater(seen, 50)

    def test_parameters_become_the_defaults_of_a_spec(self):
        text = '-- s.params\nlocal p = s.params { fields = 7, from = "aos", to = "soa" } -- to = "aos"\nto = 1\n'
        changed = worked.with_params(text, ["fields=12", "to=aosoa"])
        self.assertEqual(changed, text.replace("7", "12").replace('"soa"', '"aosoa"'))
        with self.assertRaises(ValueError):
            worked.with_params(text, ["field=12"])

    def test_every_other_row_has_a_spec_that_takes_its_sizes(self):
        for name, least in (("cases", 19), ("unseen", 36), ("permutes", 57)):
            rows = table.load_rows(os.path.join(ROOT, "scripts", "suite", name + ".txt"))
            self.assertGreaterEqual(len(rows), least)
            for spec, of_spec in table.sessions(rows):
                path, params = worked.find(spec, [os.path.join(ROOT, "tests", of) for of in (name, "unseen")] + [worked.FOLDER])
                with open(path, encoding="utf-8") as f:
                    table.with_sizes(worked.with_params(f.read(), params), table.sizes_of(of_spec))

    def test_a_sample_has_every_strategy(self):
        labels = [f"flat t{k}" for k in range(20)] + ["direct t1"] + [f"tile a{k} b1" for k in range(20)]
        drawn = table.sample(labels, 9)
        self.assertEqual(drawn, table.sample(labels, 9))
        self.assertEqual(sorted(d.split()[0] for d in drawn), ["direct"] + ["flat"] * 4 + ["tile"] * 4)
        self.assertEqual(len(set(drawn)), 9)
        self.assertEqual(sorted(table.sample(labels, 99)), sorted(labels))
        self.assertNotEqual(drawn, table.sample(labels, 9, seed=2))

    def test_neighbours_differ_in_one_axis(self):
        labels = ["tile a1 b1", "tile a2 b1", "tile a2 b2", "tile a1 b2 c1", "flat a1 b1", "tile a1 b3"]
        self.assertEqual(table.neighbours(labels, ["tile a1 b1"], 9), ["tile a2 b1", "tile a1 b3"])
        self.assertEqual(table.neighbours(labels, ["tile a1 b1", "tile a2 b1"], 9), ["tile a1 b3", "tile a2 b2"])
        self.assertEqual(table.neighbours(labels, ["tile a1 b1"], 1), ["tile a2 b1"])

    def test_what_sessions_take_beyond_their_budget_is_left_to_them(self):
        self.assertEqual(table.budget_of(10.0, []), 7.5)
        self.assertEqual(table.budget_of(10.0, [99.0, 3.0, 4.0, 5.0, 4.0, 4.0]), 6.0)
        self.assertEqual(table.budget_of(4.0, [3.0]), table.LEAST_BUDGET)
        self.assertEqual(table.budget_of(-5.0, []), table.LEAST_BUDGET)

    def test_sizes_are_replaced_brackets_and_all(self):
        text = "return s.kernel {\n  sizes   = {\n    { i = 1, p = \"identity\" },\n    { i = 2 },\n  }, -- so\n}\n"
        self.assertEqual(table.with_sizes(text, ["i=7 p=permuted", "i=3"]),
                         "return s.kernel {\n  sizes   = { { i = 7, p = \"permuted\" }, { i = 3 } }, -- so\n}\n")
        for wrong in ("return {}", "sizes = {\nsizes = {", "  sizes = { {"):
            with self.assertRaises(table.Bad):
                table.with_sizes(wrong, ["i=1"])

    def test_patterns_choose_by_row_and_spec(self):
        rows = table.load_rows()
        self.assertEqual([r["row"] for r in table.select(rows, ["map_*"])], ["map_double3", "map_float3"])
        self.assertEqual([r["row"] for r in table.select(rows, ["particle_soa_to_aos"])], ["soa_aos_28", "soa_aosoa_28"])
        self.assertEqual(table.select(rows, []), rows)
        self.assertEqual([r["row"] for r in table.select(rows, ["map_float3", "map"])], ["map_double3", "map_float3"])
        with self.assertRaises(table.Bad) as caught:
            table.select(rows, ["nothing_like_it"])
        self.assertIn("no row matches 'nothing_like_it'; rows are map_double3", str(caught.exception))

    def test_mixes_are_the_nearest(self):
        for read, write, mix in ((4, 4, (1, 1)), (100, 0, (1, 0)), (0, 5, (0, 1)), (36, 4, (8, 1)), (36, 16, (2, 1)),
                                 (19, 24, (1, 1)), (1, 2, (1, 2)), (12, 4, (3, 1)), (1 << 30, 4, (1, 0))):
            self.assertEqual(table.nearest_mix(read, write), mix)


class Results(unittest.TestCase):
    row = table.read_rows(LINE)[0]

    def test_shares_and_ratios(self):
        r = table.evaluate_row(self.row, part(), peers(cub=250.0, thrust=150.0) + [{"peer": "x", "failed": "crash"}],
                        {"median_ns": 95.0, "detail": "memcpy"})
        self.assertEqual((r["mix"], r["moved_bytes"], r["useful_bytes"]), ("8:1", 40000, 12000.0))
        self.assertAlmostEqual(r["share"], 0.95)
        self.assertAlmostEqual(r["ceiling_bytes_s"], 40000 / 95e-9)
        self.assertAlmostEqual(r["useful_bytes_s"], 12000 / 100e-9)
        self.assertEqual((r["best_peer"]["peer"], r["ratio"], r["naive_ratio"]), ("thrust", 1.5, 3.0))
        self.assertTrue(r["meets"])
        self.assertFalse(table.evaluate_row(self.row, part(winner_ns=106.0), [], {"median_ns": 95.0})["meets"])

    def test_copies_with_hints_are_a_share_of_their_own(self):
        def timed(**copies):
            return table.ceiling_of([{"peer": k, "median_ns": v, "detail": k} for k, v in copies.items()])
        self.assertEqual(timed(ceiling=95.0, hinted=90.0), {"peer": "ceiling", "median_ns": 95.0, "detail": "ceiling", "hinted_ns": 90.0})
        self.assertEqual(timed(ceiling=95.0, hinted=96.0)["hinted_ns"], 95.0)
        self.assertEqual(timed(ceiling=95.0)["hinted_ns"], 95.0)
        self.assertIsNone(timed(hinted=90.0))
        r = table.evaluate_row(self.row, part(), [], timed(ceiling=95.0, hinted=90.0))
        self.assertEqual((r["share"], r["hinted_share"]), (0.95, 0.9))
        self.assertTrue(r["meets"])

    def test_the_naive_variant_is_a_peer_and_failures_are_none(self):
        r = table.evaluate_row(self.row, part(), peers(cub=400.0), None)
        self.assertEqual((r["best_peer"]["peer"], r["ratio"]), ("naive", 3.0))
        self.assertIsNone(r["share"])
        self.assertIsNone(r["meets"])

    def test_what_is_missing_stays_empty(self):
        r = table.evaluate_row(self.row, None, [], None)
        self.assertEqual([r[k] for k in ("winner", "naive", "share", "ratio", "meets")], [None] * 5)
        self.assertIn("no verified winner", table.row_cells(r))

    def test_a_target_by_hand_compares_with_those_kernels_only(self):
        row = table.read_rows(LINE.replace("0.9", "hand"))[0]
        both = peers(cub=50.0) + [{"peer": "by hand, 1 a thread", "median_ns": 100.5}]
        self.assertTrue(table.evaluate_row(row, part(), both, None)["meets"])
        self.assertTrue(table.evaluate_row(row, part(winner_ns=101.4), both, None)["meets"])  # within the noise
        self.assertFalse(table.evaluate_row(row, part(winner_ns=102.0), both, None)["meets"])
        self.assertIsNone(table.evaluate_row(row, part(), peers(cub=50.0), None)["meets"])

    def test_small_sizes_compare_with_the_fastest_naive_variant(self):
        small = table.evaluate_small(self.row, part("i=10", winner_ns=100.0, naive_ns=99.5))
        self.assertTrue(small["good"])
        self.assertFalse(table.evaluate_small(self.row, part("i=10", winner_ns=100.0, naive_ns=98.0))["good"])
        self.assertIsNone(table.evaluate_small(self.row, None)["good"])

    def test_predictions_stand_in_where_nothing_is_timed(self):
        p = part(winner_ns=None, predicted_ns=50.0)
        p["rows"][1].update(median_ns=None, predicted_ns=75.0)
        r = table.evaluate_row(self.row, p, [], None)
        self.assertEqual((r["naive_ratio"], r["useful_bytes_s"], r["meets"]), (1.5, None, None))
        self.assertEqual(table.row_cells(r, timed=False)[2], "0.05")
        self.assertEqual(table.row_cells(r, timed=True)[2], "")

    def test_earlier_winners_and_what_came_close_are_taken_up_once(self):
        p = part()
        p["rows"] += [entry("second", 150.0), entry("third", 140.0), entry("wrong", 1.0, outcome="wrong_result")]
        self.assertEqual([c["label"] for c in table.close_behind(p)], ["third", "second", "direct"])
        self.assertEqual([c["label"] for c in table.close_behind(p, 1)], ["third"])
        doc = {"rows": [table.evaluate_row(self.row, p, [], None)], "small": [table.evaluate_small(self.row, part("i=10"))]}
        doc["small"][0]["winner"]["label"] = "small one"
        empty = {"rows": [table.evaluate_row(self.row, None, [], None)], "small": []}
        self.assertEqual(table.read_winners([empty, doc, doc]),
                         {"spec": ["staged", "third", "second", "direct", "small one"]})
        many = {"rows": [dict(doc["rows"][0], close=[{"label": str(k)} for k in range(99)])], "small": []}
        self.assertEqual(len(table.read_winners([many])["spec"]), table.MOST_LABELS)

    def test_a_size_is_found_by_its_extents(self):
        report = {"sizes": [part("i=10"), part("pick=permuted i=1000")]}
        self.assertIs(table.size_report(report, "i=1000 pick=permuted"), report["sizes"][1])
        self.assertIsNone(table.size_report(report, "i=11"))
        self.assertIsNone(table.size_report(None, "i=11"))

    def document(self):
        lines = ("# ---- pairs: of rows", LINE, LINE.replace("name", "other").replace("0.9", "0.75 median 0.90"),
                 "# ---- alone", LINE.replace("name", "none"))
        first, second, third = table.read_rows("\n".join(lines))
        evaluated = [table.evaluate_row(first, part(), peers(cub=400.0), {"median_ns": 80.0, "detail": "memcpy"}),
                  table.evaluate_row(second, part(spill_bytes=8), peers(cub=90.0), {"median_ns": 85.0}),
                  table.evaluate_row(third, None, peers(thrust=5.0), None)]
        small = [table.evaluate_small(self.row, part(naive_ns=90.0))]
        return {"date": "2026-01-02", "device": "GPU", "says": "timed", "how": "How.", "timed": True, "rows": evaluated,
                "small": small, "notes": ["a note"], "summary": table.summary(evaluated, small)}

    def test_the_summary_counts_and_names(self):
        s = self.document()["summary"]
        self.assertEqual((s["rows"], s["timed"], s["met"], s["missing"], s["missed"]), (3, 2, 1, ["none"], ["name"]))
        self.assertEqual((s["slower_than_a_peer"], s["spilling"], s["small_slower"]), (["other"], ["other"], ["name"]))
        self.assertAlmostEqual(s["peer_geomean"], math.sqrt(3.0 * 0.9))
        self.assertEqual(s["medians"], [{"target": 0.9, "median": 0.85, "rows": 1}])

    def test_pages_have_every_row_and_every_peer(self):
        doc = self.document()
        json.dumps(doc)
        text = table.page(doc)
        self.assertIn("| name | i=1000 pick=permuted | 0.10 | 120 | 0.800 |  | 0.9 | **no** | naive, 0.30 | 3.00 | 3.00 | "
                      "`staged` |", text)
        self.assertIn("| other | i=1000 pick=permuted | 0.10 | 120 | 0.850 |  | 0.75 median 0.90 | yes |", text)
        self.assertIn("| none | i=1000 pick=permuted | no verified winner |", text)
        self.assertIn("| work | ceiling | cub | thrust |", text)
        self.assertIn("| name | i=10 | 0.10 | 0.09 | 0.90 | `staged` |", text)
        self.assertIn("* a note", text)
        widths = {line.count("|") for line in text.splitlines() if line.startswith("| name | i=1000")}
        self.assertEqual(widths, {13})
        short = table.short_table(doc)
        self.assertIn("| pairs | 2 of 2 | 120 | 0.80 to 0.85 | 0.90 to 3.00 | 3.0 |", short)
        self.assertIn("| alone | 0 of 1 |  |  |  |  |", short)

    def test_predicted_times_are_held_against_measured_ones(self):
        doc = self.document()
        self.assertNotIn("Predicted by measured", table.page(doc))
        for entry_of, ns in ((doc["rows"][0]["winner"], 50.0), (doc["rows"][0]["naive"], 310.0), (doc["rows"][1]["winner"], 9.0)):
            entry_of["predicted_ns"] = ns
        text = table.page(doc)
        self.assertIn("Winner 0.50 (median; 0.50), 0 of 1 within a tenth; naive 1.03 (median; 1.03), 1 of 1 within a tenth.", text)
        self.assertIn("| name | 0.05 | 0.50 | 0.31 | 1.03 |", text)
        self.assertNotIn("| other | 0.01 |", text)
        self.assertNotIn("Predicted by measured", table.page(dict(doc, timed=False)))

    def test_the_readme_keeps_what_is_around_the_marks(self):
        once = table.put_between("# Title\n\ntext\n", "one")
        self.assertEqual(once, f"# Title\n\ntext\n\n{table.BEGIN}\none\n{table.END}\n")
        again = table.put_between(once + "after\n", "two")
        self.assertEqual(again, f"# Title\n\ntext\n\n{table.BEGIN}\ntwo\n{table.END}\nafter\n")


class Picture(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(picture.FIGURES, "suite.json"), encoding="utf-8") as f:
            self.doc = json.load(f)

    def test_the_picture_is_that_of_the_figures(self):
        for theme, colors in picture.THEMES.items():
            with open(os.path.join(picture.FIGURES, f"suite_{theme}.svg"), encoding="utf-8") as f:
                self.assertEqual(f.read(), picture.draw(self.doc, colors), "python3 scripts/suite/picture.py writes it")

    def test_bars_are_those_of_the_table(self):
        row = next(r for r in self.doc["rows"] if r["row"] == "transpose_f32_16384")
        bars = dict(picture.bars(row))
        self.assertAlmostEqual(bars["Sectile"], row["useful_bytes_s"] / 1e9)
        self.assertAlmostEqual(bars["Sectile"] / bars["naive CUDA"], row["naive_ratio"])
        self.assertAlmostEqual(bars["Sectile"] / max(v for k, v in bars.items() if k != "Sectile"), row["ratio"])


class Sanitize(unittest.TestCase):
    checked = {"name": "pick", "sizes": ["i=5 m=7", "i=6 m=9"], "extents": [[5, 7], [6, 9]], "scalars": ["k"],
               "arrays": [{"name": "at", "role": "in", "bytes": [[40], [48]], "limits": [7, 9], "index_bytes": 8},
                          {"name": "a", "role": "in", "bytes": [[28, 32], [36, 44]]},
                          {"name": "b", "role": "out", "bytes": [[20], [24]]}]}

    def test_the_program_calls_every_size_on_exact_arrays(self):
        text = sanitize.driver(self.checked)
        for part_of in ('#include "pick.h"', "a0 = indexes<long long>(40ull, 7ll);", "a1 = input(32ull);",
                        "a1 = input(44ull);", "a2 = fresh(24ull);", "pick(a0, a1, a2, 1, 6ll, 9ll, 0)",
                        "pick_variant(a0, a1, a2, 1, 5ll, 7ll).variant", "% limit);", '"%s: %s\\n", "i=6 m=9"'):
            self.assertIn(part_of, text)
        self.assertEqual(text.count("{"), text.count("}"))
        self.assertNotIn("workspace", text)

    def test_reductions_get_a_workspace_of_zeros(self):
        text = sanitize.driver(self.checked, "inline size_t pick_workspace_bytes(void) {")
        for part_of in ("w = fresh(pick_workspace_bytes());", "cudaMemset(w.p, 0, pick_workspace_bytes())",
                        "pick(a0, a1, a2, 1, 6ll, 9ll, w, 0)", "pick_variant(a0, a1, a2, 1, 5ll, 7ll, w).variant"):
            self.assertIn(part_of, text)

    def test_verdicts(self):
        summary = "x\n========= ERROR SUMMARY: 3 errors\n"
        for code, text, what in ((0, "========= ERROR SUMMARY: 0 errors", "clean"), (None, "", "out of time"),
                                 (9, summary, "ERROR SUMMARY: 3 errors"), (9, "", "found something"),
                                 (1, "========= Device not supported. Please", "unsupported"),
                                 (2, "a\nb\nlaunch: invalid", "exit code 2: b / launch: invalid")):
            self.assertEqual(sanitize.verdict(code, text), what)


if __name__ == "__main__":
    unittest.main()
