#!/usr/bin/env bash
# Modules that `emit --python` writes: they import, compile their header, refuse what is no array
# for the kernel, and launch, on fakes of PyTorch, CuPy and the CUDA runtime. tests/gpu/modules.py
# runs them on a GPU. Skipped where there is no toolkit or no Python.
. "$(dirname "$0")/../shell.sh"
export PYTHONDONTWRITEBYTECODE=1
here="$root/tests/emit"
python3=$(python3 -c 'import sys; print(sys.executable)') || exit 77
needs_toolkit

fake="$scratch/fake"
mkdir -p "$fake/lib" "$scratch/modules"
ln -s "$toolkit/include" "$fake/include"
expect 0 '' c++ -std=c++11 -shared -fPIC -pthread -isystem "$toolkit/include" \
  -Wl,-soname,libcudart.so.99 -o "$fake/lib/libcudart.so.99" "$here/nvcc/fake_cudart.cc"
sectile() { "$SCT_PROGRAM" "$@" --store "$scratch/store.db"; }
cd "$scratch/modules" || exit 1
for name in blend sum shares points masked; do
  expect 0 '' sectile tune "$here/python/$name.lua" -d virtual:h200 --max-candidates 1 -q
  expect 0 '' sectile emit "$name" -o "$name.h" --python "$name.py"
done
cp "$here/python/fakes.py" "$here/python/check.py" .
python() { env CUDA_HOME="$fake" "$@"; }

# It imports without a compiler, and says what is missing at the first call.
call='import fakes; from points import *
t = lambda kind, *n: fakes.Tensor(n, getattr(fakes.torch, kind))
points(t("float32", 9, 3), t("float16", 9), t("float32", 9, 3))'
expect 0 '' python "$python3" -c 'import points'
expect 1 'points: no C compiler is found' python env PATH="$scratch" "$python3" -c "$call"
expect 1 'no CUDA runtime of 12.8 or later' env CUDA_HOME= CUDA_PATH="$scratch" PATH=/usr/bin \
  "$python3" -c "import points; points._toolkits = lambda: []; $call"
expect 1 'points: false -std=c11' python env CC=false "$python3" -c "$call"
expect 0 'as it should be' python "$python3" check.py "$fake/lib/libcudart.so.99"
expect 0 '' test -f "$(ls __pycache__/points.*.so)"

# The library can be made before, and then takes no compiler; one of another header is refused.
expect 0 '/libpoints.so' python "$python3" points.py
expect 0 '' python env PATH="$scratch" "$python3" -c "$call"
echo '// changed' >>points.h
expect 1 'libpoints.so was compiled from another header' python "$python3" -c "$call"
rm libpoints.so points.h
expect 1 'points.h is not there' python "$python3" -c "$call"

# What the option asks for.
expect 2 'name the header with -o' sectile emit points --python points.py
expect 2 "did you mean 'sm_90'" sectile emit points --targets sm_91 -o points.h
expect 2 'leave --form cuda out' sectile emit points --targets sm_90 --form cuda -o points.h
expect 2 'so its form is c' sectile emit points --form cuda -o points.h --python points.py
expect 2 'write both into one directory' sectile emit points -o points.h --python ../points.py
expect 2 'is no module that Python can import' sectile emit points -o points.h --python points.txt
expect 2 'is no module that Python can import' sectile emit points -o points.h --python 1.py
expect 2 'letters, digits, and . _ - + only' sectile emit points -o 'a b.h' --python points.py
expect 0 '' sectile emit points -o points.h --python points.py
cp points.py first.py
expect 0 '' sectile emit points -o points.h --python points.py
expect 0 '' cmp points.py first.py
finish
