#!/usr/bin/env bash
# docs/exercises.md: its commands tell a wrong, a racy, a slow and a right solution of each exercise
# apart (tests/exercises).
. "$(dirname "$0")/../shell.sh"
needs_nvrtc

# exercise NAME KERNEL LIMIT LIMIT OUTCOME: what the kernel that is given out is above, and the slow
# solution; and what the wrong one is.
exercise() {
  local name=$1 tune
  mkdir "$scratch/$name" && cd "$scratch/$name" || exit 1
  cp "$root/examples/exercises/$name"* .
  local sanitize=("$SCT_PROGRAM" sanitize "$name.cu" --cases "$name.json"
    --limits "${name}_limits.json")
  tune=("$SCT_PROGRAM" tune "$name.lua" -d virtual:h200 --store s.db --only "own_$2" -q)
  expect 5 "error: $3: " "${sanitize[@]}" # as it is given out
  cp "$root/tests/exercises/$name/slow.cu" "$name.cu"
  expect 5 "error: $4: " "${sanitize[@]}"
  absent 'race]'
  cp "$root/tests/exercises/$name/racy.cu" "$name.cu"
  expect 5 'race]' "${sanitize[@]}"
  cp "$root/tests/exercises/$name/wrong.cu" "$name.cu"
  expect 0 "failed: own_$2: $5" "${tune[@]}"
  cp "$root/tests/exercises/$name/right.cu" "$name.cu"
  expect 0 'nothing found' "${sanitize[@]}"
  expect 0 " own_$2 " "${tune[@]}"
  absent 'failed: '
}

while read -r name kernel limit slow outcome; do
  in_part && exercise "$name" "$kernel" "$limit" "$slow" "$outcome"
done <<'END'
transpose transpose excess conflicts read or wrote outside its arrays
float3 increment excess excess some output elements were never written
banks transpose32 conflicts conflicts results differ from the reference
divergence series divergent divergent results differ from the reference
histogram histogram sectors sectors results differ from the reference
reduction sum_rows divergent conflicts results differ from the reference
END
finish
