#!/usr/bin/env bash
# NVRTC of other toolkits, as pip installs them: the oldest that is supported, and one before it,
# which lacks what sm_90 has since and gets no such candidate. Others: SECTILE_TEST_TOOLKITS.
. "$(dirname "$0")/../shell.sh"
export XDG_CACHE_HOME="$scratch/cache"
cd "$scratch" || exit 1
sed 's/sizes *=.*/sizes = { { i = 512, j = 64, m = 64 } },/' \
  "$root/tuning/kernels/scatter_add_rows.lua" >rows.lua
sed 's/sizes *=.*/sizes = { { row = 64, col = 96 } },/' "$root/tuning/kernels/transpose_f32.lua" \
  >turn.lua
tried=0
for version in ${SECTILE_TEST_TOOLKITS:-12.0.140 12.4.127}; do
  case $version in
    13.*) package=nvidia-cuda-nvrtc ;;
    *) package=nvidia-cuda-nvrtc-cu${version%%.*} ;;
  esac
  pip_packages "nvrtc-$version" "$package==$version" || {
    echo "left out: pip could not install $package $version: $(tail -n 1 "$scratch/pip")"
    continue
  }
  tried=$((tried + 1))
  library=$(find "$packages/nvidia" -name 'libnvrtc.so.1*' | head -n 1)
  with=(env "SECTILE_NVRTC=$library" "$SCT_PROGRAM")
  minor=${version%.*}
  expect 0 "ok    NVRTC         $minor, " "${with[@]}" doctor -d virtual:h200
  expect 0 '' "${with[@]}" tune turn.lua -d virtual:h200 --max-candidates 8 --store "$version.db" -q
  expect 0 ' 0 failed' "${with[@]}" tune turn.lua -d virtual:h200 --max-candidates 8 \
    --store "$version.db"
  expect 0 "NVRTC $minor" "${with[@]}" emit turn.lua --store "$version.db"
  case $version in
    11.* | 12.0.*)
      expect 0 'left out: NVRTC 12.1 or later has atomic additions of vectors' "${with[@]}" \
        tune rows.lua -d virtual:h200 --max-candidates 1 --store "$version.db"
      ;;
  esac
done
[ "$tried" -gt 0 ] || exit 77
finish
