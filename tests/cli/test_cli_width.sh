#!/usr/bin/env bash
# What commands print fits the terminal: no line is wider than COLUMNS, unless it is one word.
. "$(dirname "$0")/../shell.sh"
needs_nvrtc

cd "$scratch" || exit 1
cp "$root/tuning/kernels/transpose_f32.lua" "$root/tuning/kernels/particle_energy.lua" .
cat >k.cu <<'CUDA'
__global__ void a_kernel_with_a_long_name_that_is_in_the_way(const float *a, float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[8 * i] + a[8 * i + 1] + a[8 * i + 2]; /* as long as lines of source may be */
}
CUDA
launch=(--kernel a_kernel_with_a_long_name_that_is_in_the_way --grid 4 --block 256
  --arg 'a=f32[8192]' --arg 'b=f32[1024]')
db=(--store "$scratch/s.db")

# fits COMMAND...: at each width
fits() {
  local width
  for width in 80 100 140; do
    checks=$((checks + 1))
    COLUMNS=$width "$SCT_PROGRAM" "$@" 2>/dev/null >"$scratch/output" </dev/null
    awk -v w="$width" 'length > w && /[^ ] +[^ ]/ { print; bad = 1 } END { exit bad }' \
      "$scratch/output" >"$scratch/wide" && [ -s "$scratch/output" ] && continue
    cp "$scratch/wide" "$scratch/output"
    fail "wider than $width columns, or empty: sectile $*"
  done
}

fits --help
for command in $("$SCT_PROGRAM" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
  fits "$command" --help
done
fits examples
fits devices
fits doctor
fits check transpose_f32.lua particle_energy.lua
fits space transpose_f32.lua
fits space --modes transpose_f32.lua
fits explain transpose_f32.lua
fits tune transpose_f32.lua -d virtual:h200 --max-candidates 6 "${db[@]}"
fits tune particle_energy.lua -d virtual:h200 --max-candidates 6 "${db[@]}"
cp s.db t.db
fits compare s.db t.db
fits count k.cu "${launch[@]}"
fits count k.cu "${launch[@]}" --by line
expect 0 'requests_ld,' env COLUMNS=40 "$SCT_PROGRAM" count k.cu "${launch[@]}" --csv
checks=$((checks + 1))
[ "$(wc -l <"$scratch/output")" = 2 ] || fail 'rows of CSV are lines'
fits profile k.cu "${launch[@]}"
fits sanitize k.cu "${launch[@]}"
fits transfer -d virtual:h200 "${db[@]}"
finish
