#!/usr/bin/env bash
# scripts/bench model without a GPU: what it makes of predicted and measured times. A stand-in for
# the program reports them; of the spec named silent it says nothing.
. "$(dirname "$0")/../shell.sh"
unset OUT # where it is set, reports are also copied there

command -v python3 >/dev/null || { echo 'skipped: there is no python3'; exit 77; }
cat >"$scratch/program" <<'PROGRAM'
#!/usr/bin/env bash
row() { # row LABEL NAIVE WINNER PREDICTED MEASURED
  printf '{"label": "%s", "outcome": "ok", "naive": %s, "winner": %s, ' "$1" "$2" "$3"
  printf '"predicted_ns": %s, "median_ns": %s}' "$4" "$5"
}
case "$1 $2" in
  *silent*) exit 70 ;;
  tune*)
    printf '{"tuned": [{"report": {"name": "k", "sizes": [{"label": "i=9", "rows": [%s]}]}}]}\n' \
      "$(row w false true 110.0 100.0), $(row n true false 300.0 400.0),
         $(row a false false 120.0 120.0), $(row b false false 500.0 200.0)" ;;
  *)
    blocks=65
    [[ $* != *'--pick b'* ]] || blocks=64
    printf '{"cases": [{"launch": {"grid": [%s, 1, 1]}}]}\n' "$blocks" ;;
esac
PROGRAM
chmod +x "$scratch/program"
mkdir "$scratch/specs"
touch "$scratch/specs/k.lua"
model=("$root/scripts/bench" model --program "$scratch/program" --out "$scratch/out")

expect 0 '| winners | 1 | 10.0 % | 1.10 | k i=9: w |' "${model[@]}" "$scratch/specs"
expect 0 '| naive | 1 | 25.0 % | 1.33 | k i=9: n |' "${model[@]}" "$scratch/specs"
expect 0 '| 1 to 64 blocks | 1 | 150.0 % | 2.50 | k i=9: b |' "${model[@]}" "$scratch/specs"
expect 0 '| others | 1 | 0.0 % | 1.00 | k i=9: a |' "${model[@]}" "$scratch/specs"
expect 0 '| k | i=9 | winner: w | 65 | 0.11 | 0.10 | 1.10 |' \
  "${model[@]}" --read "$scratch/out/model.json"
touch "$scratch/specs/silent.lua"
expect 1 "no winner: $scratch/specs/silent.lua" "${model[@]}" "$scratch/specs"
expect 2 'no specs' "${model[@]}" "$scratch/out"
expect 2 'expected a time such as 3s' "${model[@]}" --budget 3 "$scratch/specs"
finish
