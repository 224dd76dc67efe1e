#!/usr/bin/env bash
# A report as a browser shows it: no error on the console, no request, and no wider than a phone.
. "$(dirname "$0")/../shell.sh"
look=$root/scripts/look

printf '<!doctype html><meta name=viewport content="width=device-width">x' \
  >"$scratch/good.html"
"$look" "$scratch/good.html" >"$scratch/output" 2>&1
if [ $? = 77 ]; then
  cat "$scratch/output"
  exit 77
fi

# Each kind of fault is seen.
expect 0 '"errors": [], "requests": [], "overflow": 0' "$look" "$scratch/good.html" --width 400
printf '<!doctype html><script>throw 1</script>' >"$scratch/error.html"
expect 1 '"errors": ["Uncaught"]' "$look" "$scratch/error.html"
printf '<!doctype html><link rel=stylesheet href=absent.css>' >"$scratch/request.html"
expect 1 'absent.css"]' "$look" "$scratch/request.html"
printf '<!doctype html><div style="width: 800px">x</div>' >"$scratch/wide.html"
expect 1 '"overflow": ' "$look" "$scratch/wide.html" --width 400
expect 1 "nothing on the page has 'absent'" "$look" "$scratch/good.html" --from absent \
  --png "$scratch/a.png"

expect 0 '' "$SCT_PROGRAM" transfer -d virtual:h200,virtual:h200 --store "$scratch/s.db" -q
expect 0 '' "$SCT_PROGRAM" report "$root/tuning/kernels/transpose_f32.lua" -d virtual:h200 \
  --store "$scratch/s.db" --max-candidates 40 -q -o "$scratch/report.html"
expect 0 'Copies to the device and back' cat "$scratch/report.html"
for shown in "1280 light" "400 dark"; do
  expect 0 '"errors": [], "requests": []' "$look" "$scratch/report.html" --width "${shown% *}" \
    --scheme "${shown#* }" --png "$scratch/shot.png"
  expect 0 "PNG" head -c 4 "$scratch/shot.png"
done
finish
