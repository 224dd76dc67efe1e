#!/usr/bin/env bash
# docs/gallery.md shows what the program prints, pictures that are true, and the figures that it is
# about. SECTILE_UPDATE_GOLDEN=1 writes what is printed and drawn into the page.
. "$(dirname "$0")/follow.sh"
columns= # rows are looked for below
follow docs/gallery.md examples/gallery

# figure HEADING LINE...: these lines stand below the heading, in this order.
figure() {
  local heading=$1 section
  shift
  section=$(awk -v h="## $heading" 'index($0, "## ") == 1 { on = index($0, h) == 1 } on' \
    "$root/docs/gallery.md")
  for line in "$@"; do
    checks=$((checks + 1))
    case $section in
    *"$line"*) section=${section#*"$line"} ;;
    *) fail "gallery.md, '$heading': no '$line', or not in this order" ;;
    esac
  done
}

figure 'Records' '24 sectors where 8 would do' \
  '  loads      98304  2359296  24.0    8.0    1572864    3.00  33.3 %' \
  '  stores     98304  2359296  24.0    8.0    1572864    3.00  33.3 %' \
  'double3.cu:16  global loads       8     98304  2359296  24.0    8.0    1572864' \
  'issue 1     strided, double3.cu:20: stores of 8 bytes' 'as one flat array of' \
  '  loads      98304   786432   8.0    8.0          0    1.00  100 %' \
  'global.loads.sectors           2359296    786432  -66.7 %' \
  'global.stores.sectors          2359296    786432  -66.7 %'
figure 'Indexed accesses' \
  'float identity,6,313,1250,1250,313' 'float permuted,6,313,10000,1250,10000' \
  'double identity,6,313,2500,2500,625' 'double permuted,6,313,10000,2500,10000' \
  'float identity,6,313,1250,1250,1250' 'float permuted,6,313,10000,1250,10000' \
  'double identity,6,313,2500,2500,2500' 'double permuted,6,313,10000,2500,10000'
figure 'Five patterns' '4 sectors, as few' '5 sectors where 4' '12 sectors where 4' \
  '32768   4.00       100%' '262144  32.00      12.5%' '40960   5.00        80%' \
  '98304  12.00      33.3%' '8192   1.00      12.5%'
figure 'Transposes' '16 sectors where 4' '32 wavefronts where 1' '1 wavefront, as few' \
  'stores     32768   524288  16.0    4.0     393216    4.00   25 %' \
  'stores     32768   131072   4.0    4.0          0    1.00  100 %' \
  'loads      32768     1048576  32.0    1.0    1015808  32.0-way' \
  'loads      32768       32768   1.0    1.0          0   1.0-way'
figure 'Half warps' \
  'in order              1024     1024   1.00' 'shifted by 1          1024    16384  16.00' \
  'swapped               1024    16384  16.00' 'float3 direct         3072    49152  16.00' \
  'float3 shared         3072     3072   1.00' \
  'in order              1024     1024  1.00' 'shifted by 1          1024     1536  1.50' \
  'swapped               1024     1024  1.00' 'float3 direct         3072     6144  2.00' \
  'float3 shared         3072     3072  1.00'
figure 'Banks' '2 wavefronts where 1' '8 wavefronts where 1' \
  'float, pitch 1 ' ' 256          0   exact' 'float, pitch 2 ' ' 512        128   exact' \
  'float, pitch 8 ' '2048        896   exact' 'float, pitch 32' '8192       3968   exact' \
  'float, pitch 33' '4352          0   exact' 'double, pitch 32' '12288       3840   exact' \
  'double, pitch 33' '8704          0   exact'
figure 'Divergence' '18.3 of 32 lanes active; 8448 of 8448' '32.0 of 32 lanes active; 0 of 8448'
figure 'Batching' 'loads of an SM can have 8.19 kB' 'limit: memory (DRAM bytes)'
figure 'Occupancy' '8 blocks an SM, 10.00 waves, occupancy 100 %' \
  '2 blocks an SM, 40.00 waves, occupancy 25 %' \
  'issue 2     occupancy: 16 of 64 warps are resident, limited by shared'
finish
