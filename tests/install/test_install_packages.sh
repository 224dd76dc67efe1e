#!/usr/bin/env bash
# Wheel and .deb of what is installed, as pip and dpkg read them; the libraries that a configuration
# takes where static ones are and are not. scripts/package_try does more, in empty systems.
. "$(dirname "$0")/../shell.sh"
build=$(dirname "$SCT_RELEASED")
version=$("$SCT_RELEASED" --version | sed 's/^sectile //')

# ---- wheel ----
expect 0 '' cmake --install "$build" --prefix "$scratch/tree" --strip
expect 0 'manylinux_2_28_x86_64.whl' \
  "$root/scripts/package_wheel" "$scratch/tree" manylinux_2_28_x86_64 "$scratch"
wheel=$scratch/sectile-$version-py3-none-manylinux_2_28_x86_64.whl
mkdir "$scratch/again"
touch "$scratch/tree/bin/sectile"
expect 0 '' "$root/scripts/package_wheel" "$scratch/tree" manylinux_2_28_x86_64 "$scratch/again"
expect 0 '' cmp "$wheel" "$scratch/again/$(basename "$wheel")"
if python3 -m pip --version >/dev/null 2>&1; then
  expect 0 '' python3 -m pip install --quiet --no-index --no-deps --no-compile \
    --no-warn-script-location --platform manylinux_2_28_x86_64 --only-binary :all: \
    --target "$scratch/place" "$wheel"
  expect 0 "sectile $version" "$scratch/place/bin/sectile" --version
  expect 0 '' diff -r "$scratch/tree/share" "$scratch/place/share"
  expect 0 'Requires-Dist: nvidia-cuda-nvrtc' \
    cat "$scratch/place/sectile-$version.dist-info/METADATA"
  # what pip has put beside the program is the NVRTC that it takes
  mkdir -p "$scratch/place/nvidia/cu13/lib"
  echo 'no library' >"$scratch/place/nvidia/cu13/lib/libnvrtc.so.13"
  hidden='mount --bind /mnt /usr/local && exec "$@"' # where a toolkit may be
  bare=("$root/scripts/bare_loader" env -u CUDA_HOME -u CUDA_PATH PATH=/usr/bin:/bin
    HOME=/nowhere "XDG_DATA_HOME=$scratch" "XDG_CACHE_HOME=$scratch" bash -c "$hidden" bash)
  if "${bare[@]}" true 2>/dev/null; then
    expect 4 'place/nvidia/cu13/lib/libnvrtc.so.13: ' \
      "${bare[@]}" "$scratch/place/bin/sectile" doctor
  fi
else
  echo "no pip here: the wheel was not installed"
fi

# ---- .deb ----
if command -v dpkg-deb >/dev/null; then
  expect 0 '' cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/deb"
  deb=$(echo "$scratch"/deb/sectile_"$version"_*.deb)
  expect 0 'libc6 (>= ' dpkg-deb -f "$deb" Depends # by dpkg-shlibdeps, of this build
  expect 0 '' dpkg-deb -x "$deb" "$scratch/unpacked"
  expect 0 "sectile $version" "$scratch/unpacked/usr/bin/sectile" --version
  expect 0 '' diff -r "$scratch/tree/share" "$scratch/unpacked/usr/share"
fi

# ---- libraries ----
configure() {
  rm -rf "$scratch/configured"
  cmake -S "$root" -B "$scratch/configured" -G Ninja -DSECTILE_TESTS=OFF "$@"
}
expect 0 'shared: LUA, SQLITE, JANSSON, XXHASH' configure -DSECTILE_STATIC=OFF
expect 1 'expected AUTO, ON or OFF' configure -DSECTILE_STATIC=maybe
# one that is too old is named, with what to install
mkdir -p "$scratch/old/include"
echo '#define SQLITE_VERSION_NUMBER 3034001' >"$scratch/old/include/sqlite3.h"
expect 1 'SQLite 3.37 or later' \
  configure "-DCMAKE_PREFIX_PATH=$scratch/old"
# static ones that do not link: the shared ones next to them
mkdir -p "$scratch/shared/lib"
for library in lua5.4 sqlite3 jansson xxhash; do
  echo 'no archive' >"$scratch/shared/lib/lib$library.a"
done
expect 0 'shared: LUA, SQLITE, JANSSON, XXHASH' configure "-DCMAKE_PREFIX_PATH=$scratch/shared"
expect 1 'SECTILE_STATIC=ON' configure "-DCMAKE_PREFIX_PATH=$scratch/shared" -DSECTILE_STATIC=ON
finish
