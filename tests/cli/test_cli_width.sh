#!/usr/bin/env bash
# What commands print fits the terminal: no line is wider than COLUMNS, unless it is one word.
. "$(dirname "$0")/../shell.sh"
needs_nvrtc

cd "$scratch" || exit 1
cp "$root/tuning/kernels/stride2.lua" "$root/tuning/kernels/particle_energy.lua" .
cat >k.cu <<'CUDA'
__global__ void a_kernel_with_a_long_name_that_is_in_the_way(const float *a, float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[8 * i] + a[8 * i + 1] + a[8 * i + 2]; /* as long as lines of source may be */
}
CUDA
launch=(--kernel a_kernel_with_a_long_name_that_is_in_the_way --grid 4 --block 256
  --arg 'a=f32[8192]' --arg 'b=f32[1024]')
db=(--store "$scratch/s.db")

# fits COMMAND...: at each of the widths
widths=80
fits() {
  local width
  for width in $widths; do
    checks=$((checks + 1))
    COLUMNS=$width "$SCT_PROGRAM" "$@" 2>/dev/null >"$scratch/output" </dev/null
    awk -v w="$width" 'length > w && /[^ ] +[^ ]/ { print; bad = 1 } END { exit bad }' \
      "$scratch/output" >"$scratch/wide" && [ -s "$scratch/output" ] && continue
    cp "$scratch/wide" "$scratch/output"
    fail "wider than $width columns, or empty: sectile $*"
  done
}

fits --help
for command in tune transfer profile; do # the longest
  fits "$command" --help
done
fits doctor
fits transfer -d virtual:h200 "${db[@]}"
widths='80 100 140'
fits examples
fits devices
fits check stride2.lua particle_energy.lua
fits space stride2.lua
fits space --modes stride2.lua
fits explain stride2.lua
fits tune stride2.lua -d virtual:h200 --max-candidates 6 "${db[@]}"
cp s.db t.db
fits compare s.db t.db
fits count k.cu "${launch[@]}"
fits count k.cu "${launch[@]}" --by line
expect 0 'requests_ld,' env COLUMNS=40 "$SCT_PROGRAM" count k.cu "${launch[@]}" --csv
checks=$((checks + 1))
[ "$(wc -l <"$scratch/output")" = 2 ] || fail 'rows of CSV are lines'
fits profile k.cu "${launch[@]}"
fits sanitize k.cu "${launch[@]}"
finish
