#!/usr/bin/env bash
# What is installed is found by man, shells, pkg-config and CMake, and a project builds with it: its
# headers are written from its store, and again when something they follow from has changed.
. "$(dirname "$0")/../shell.sh"
to="$scratch/to here"
sectile="$to/bin/sectile"

expect 0 '' cmake --install "$(dirname "$SCT_RELEASED")" --prefix "$to"
expect 0 'SECTILE 1' head -1 "$to/share/man/man1/sectile.1"
expect 0 '' cmp <("$sectile" generate bash) "$to/share/bash-completion/completions/sectile"
expect 0 '#compdef sectile' head -1 "$to/share/zsh/site-functions/_sectile"
expect 0 'complete -c sectile' cat "$to/share/fish/vendor_completions.d/sectile.fish"
expect 0 '' lua5.4 "$to/share/sectile/lua/sectile.lua"
expect 0 'Copyright' cat "$to/share/doc/sectile/LICENSE"
for library in Lua Jansson xxHash SQLite; do
  expect 0 "$library" cat "$to/share/doc/sectile/licences.txt"
done
# pages lead to pages that are there
pages=$(grep -oE '\]\(docs/[a-z_]+\.md' "$to/share/doc/sectile/README.md" | sed 's/](//' | sort -u)
for page in $pages; do
  expect 0 '' test -s "$to/share/doc/sectile/$page"
done
if command -v pkg-config >/dev/null; then
  pc() { PKG_CONFIG_PATH="$to/share/pkgconfig" pkg-config "$@"; }
  expect 0 "$("$sectile" --version | sed 's/^sectile //')" pc --modversion sectile
  expect 0 'sectile' eval "$(pc --variable=program sectile) --version" # it escapes blanks
fi

"$sectile" doctor 2>/dev/null | grep -q '^ok *NVRTC' || {
  echo "no NVRTC here: nothing is tuned"
  finish
}
# A project that builds the program itself: its targets are known, and headers follow from it.
mkdir -p "$scratch/fetched"
cp -r "$root/tests/install/project/." "$scratch/fetched"
fetch='include(FetchContent)\nFetchContent_Declare(sectile URL nowhere)'
fetch+='\nFetchContent_MakeAvailable(sectile)'
sed -i "s/^find_package.*/$fetch/" "$scratch/fetched/CMakeLists.txt"
touch "$scratch/fetched/kept.db"
expect 0 '' cmake -S "$scratch/fetched" -B "$scratch/fetched/tree" -G Ninja \
  "-DFETCHCONTENT_SOURCE_DIR_SECTILE=$root"
expect 0 "$scratch/fetched/specs/turn.lua --store $scratch/fetched/kept.db" \
  ninja -C "$scratch/fetched/tree" -t commands main
project="$scratch/a project"
mkdir -p "$project/specs"
cp -r "$root/tests/install/project/." "$project"
tune() { "$sectile" tune "$1" -d virtual:h200 --max-candidates 2 --store "$project/kept.db" -q; }
expect 0 '' tune "$project/specs/turn.lua"

# build NAME GENERATOR: configures and builds in a directory of this name, and runs the program.
build() { cmake --build "$project/$1" || return 1; }
more=64
for generator in Ninja 'Unix Makefiles'; do
  tree="$project/$generator"
  expect 0 '' cmake -S "$project" -B "$tree" -G "$generator" "-DCMAKE_PREFIX_PATH=$to"
  expect 0 '' build "$generator"
  expect 0 'turn: 4096 bytes' "$tree/main"
  header="$tree/sectile/turn.h"
  cp -p "$header" "$scratch/first.h"
  expect 0 '' build "$generator"
  expect 0 '' test ! "$header" -nt "$scratch/first.h"
  # a layout that the spec reads: the spec is another one then, and the store does not have it
  sed -i "s/ + 0 / + $more /" "$project/specs/turned.lua"
  expect 1 'sectile tune' build "$generator"
  expect 0 '' tune "$project/specs/turn.lua"
  expect 0 '' build "$generator"
  expect 0 "turn: $((4096 + more)) bytes" "$tree/main"
  sed -i "s/ + $more / + 0 /" "$project/specs/turned.lua"
  touch "$project/kept.db"
  expect 0 '' build "$generator"
  expect 0 'turn: 4096 bytes' "$tree/main"
  more=128
done
mkdir "$project/wrong"
for call in 'specs/turn.lua' 'specs/turn.lua kept.db FROM x' 'specs/turn.lua kept.db HEADER'; do
  sed "s|sectile_add_kernel(.*|sectile_add_kernel(main $call)|" \
    "$root/tests/install/project/CMakeLists.txt" >"$project/CMakeLists.txt"
  expect 1 'sectile_add_kernel' cmake -S "$project" -B "$project/wrong" "-DCMAKE_PREFIX_PATH=$to"
done

# The examples, as a user has them.
cp -r "$to/share/doc/sectile/examples" "$scratch/examples"
cd "$scratch/examples/cmake" || exit 1
expect 0 '' "$sectile" tune transpose.lua -d virtual:h200 --max-candidates 4 --store transpose.db -q
# turns PROGRAM: it transposes, or says that there is no GPU.
turns() {
  if "$1" >"$scratch/output" 2>&1; then
    expect 0 '0 of 3000000 elements are wrong' "$1"
  else
    expect 1 'cudaMalloc: ' "$1"
  fi
}
has() { python3 -c "import $1" 2>/dev/null; }
toolkit=$(dirname "$(readlink -f "$(PATH="$PATH:/usr/local/cuda/bin" command -v nvcc)")")/..
export PATH="$to/bin:$PATH"
for other in make nvrtc torch cupy; do
  cp transpose.db "../$other"
done
if [ -e "$toolkit/lib64/libcudart.so" ] && command -v make >/dev/null; then
  for form in make:c nvrtc:cuda; do
    cd "../${form%:*}" || exit 1
    expect 0 "--form ${form#*:}" make "CUDA=$toolkit"
    turns ./turn
    expect 0 'up to date' make "CUDA=$toolkit" turn
  done
fi
cd ../cupy || exit 1
expect 0 '' sectile emit ../cmake/transpose.lua --store transpose.db -o transpose.h \
  --python transpose.py
expect 0 '' python3 -c 'import transpose'
if has cupy && nvidia-smi >/dev/null 2>&1; then
  expect 0 ': 0 of 6000000 elements are wrong' python3 turn.py
else
  echo "no CuPy or no GPU here: nothing is called from it"
fi
cd ../torch || exit 1
if has torch && [ -x "$toolkit/bin/nvcc" ]; then
  expect 0 '' env "CUDA_HOME=$toolkit" python3 setup.py -q build_ext --inplace
  expect 0 '' python3 turn.py # all elements are right, or there is no GPU
else
  echo "no PyTorch here: its extension is not built"
fi
cd ../cmake || exit 1
nvcc="$toolkit/bin/nvcc"
[ -x "$nvcc" ] || {
  echo "no nvcc here: no CUDA is built"
  finish
}
expect 0 '' env CUDACXX="$nvcc" cmake -B build -G Ninja "-DCMAKE_PREFIX_PATH=$to"
expect 0 '' cmake --build build
turns ./build/turn
finish
