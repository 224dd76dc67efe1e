#!/usr/bin/env bash
# `gen --winner` gives the kernel that the store has, and the trees of `gen --json` have the values
# of the texts in C.
. "$(dirname "$0")/../shell.sh"
cd "$scratch" || exit 1
kernels="$root/tuning/kernels"
sectile() { "$SCT_PROGRAM" "$@"; }

cat >check.py <<'END'
import json, random, re, sys

def value(tree, names):
    if isinstance(tree, str):
        return names[tree]
    if isinstance(tree, int):
        return tree
    operation, values = tree[0], [value(part, names) for part in tree[1:]]
    if operation in ("min", "max"):
        return {"min": min, "max": max}[operation](values)
    if operation == "not":
        return int(not values[0])
    out = values[0]
    for other in values[1:]:
        out = {"+": lambda: out + other, "*": lambda: out * other, "//": lambda: out // other,
               "%": lambda: out % other, "^": lambda: out ^ other, "<": lambda: out < other,
               "<=": lambda: out <= other, "==": lambda: out == other, "!=": lambda: out != other,
               "and": lambda: out and other, "or": lambda: out or other}[operation]()
    return int(out)

def of_c(text, names):
    text = re.sub(r"\b(\d+)LL\b", r"\1", text).replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text).replace("/", "//")
    return int(eval(text, {"min": min, "max": max}, names))

document = json.load(sys.stdin)
trees, launch = document["trees"], document["launch"]
texts = [*launch.get("grid_dims", [launch["grid"]]), *launch["requires"]]
grid = trees["grid"] if "grid_dims" in launch else trees["grid"][:1]
names = set(re.findall(r"\bn_\w+", " ".join(texts) + json.dumps(trees)))
for seed in range(200):
    random.seed(seed)
    sizes = [1, 2, 31, 32, 33, 128, 1000, 4096, 8191, 1 << 20]
    extents = {name: random.choice(sizes) for name in names}
    for text, tree in zip(texts, [*grid, *trees["requires"]], strict=True):
        if of_c(text, extents) != value(tree, extents):
            sys.exit(f"{document['label']}: {text} and {tree} differ at {extents}")
print("equal")
END
for spec in transpose_f32 sum_rows_f32 scan_rows permute5_f32 transpose_own softmax; do
  labels=$(sectile gen "$kernels/$spec.lua" --list | awk 'NR % 97 == 1' | head -8)
  while read -r label; do
    sectile gen "$kernels/$spec.lua" --pick "$label" --json >candidate.json
    expect 0 'equal' sh -c 'python3 check.py <candidate.json'
  done <<<"$labels"
done
sectile gen "$kernels/transpose_f32.lua" --json >naive.json
expect 0 '"arguments":["a","b","n_row","n_col"]' sh -c "tr -d ' \n' <naive.json"

"$SCT_PROGRAM" doctor 2>/dev/null | grep -q '^ok *NVRTC' || finish
cat >copy.lua <<'END'
local s = require "sectile"
return s.kernel {
  name = "copy", dims = { "i" },
  inputs = { s.array("a", "f32") }, outputs = { s.array("b", "f32") },
  body = "b = a;", sizes = { { i = 100 }, { i = 5000000 } },
}
END
store="$scratch/store.db"
winner() { sectile gen "${1:-copy.lua}" --winner --store "$store" "${@:2}"; }
expect 8 'there is no store' winner copy.lua
tune() { sectile tune copy.lua -d virtual:h200 --store "$store" -q "$@"; }
expect 0 '' tune --max-candidates 6
expect 8 'nothing of this spec: run `sectile tune`' winner "$kernels/crop_f32.lua"
expect 0 '"label"' winner copy.lua --size i=5000000 --json
expect 0 '' sectile emit copy --store "$store" -o copy.h
winner copy.lua --size i=5000000 -q >winner.cu 2>/dev/null
# what several kernels share stands once in a header, before them
expect 0 'True' python3 -c 'own = "__global__" + open("winner.cu").read().split("__global__")[1]
print(own in open("copy.h").read())'
if winner copy.lua -q >any.cu 2>/dev/null; then # one winner at all sizes
  expect 0 '' cmp any.cu winner.cu
else
  expect 2 'name one with --size' winner copy.lua
fi
expect 8 'no winner of this spec at i=7' winner copy.lua --size i=7
expect 8 'on virtual:a100' winner copy.lua -d virtual:a100
expect 2 '--winner says which candidate' winner copy.lua --pick x
sed -i 's/b = a;/b = -a;/' copy.lua
expect 8 'nothing of this spec' winner copy.lua
sed -i 's/b = -a;/b = a;/' copy.lua
# templates that make it otherwise: it is not what won
cp -r "$root/templates" "$root/tuning" .
for template in templates/*.cu; do
  echo '// another' >>"$template"
done
expect 8 'differs from the stored winner' winner copy.lua --size i=5000000 --assets .
finish
