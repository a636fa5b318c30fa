#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the kernels to the PTX that ships as a resource. Needs nvcc; the build does not run this, as machines that
# build Weft have no CUDA toolkit. PTX of compute capability 8.0 runs on every device from Ampere on.
#
# The version line is set back so that older drivers accept the text: nothing newer than PTX ISA 7.7 (CUDA 11.7,
# __grid_constant__) is used, and ptxas, which checks it here, would say so.
set -e
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../../../../hal-native/src/main/resources/io/weft/nativehal/kernels/weft_kernels.cu
out=$here/../resources/io/weft/cuda/weft_kernels.ptx
nvcc=${NVCC:-nvcc}
ptxas=${PTXAS:-$(dirname "$(command -v "$nvcc")")/ptxas}
"$nvcc" -ptx -arch=compute_80 -O3 -o "$out.raw" "$source"
{
    printf '// SPDX-License-Identifier: Apache-2.0\n// Made from weft_kernels.cu by compile-kernels.sh; do not edit.\n'
    sed -e '/^\/\//d' -e 's/^\.version .*/.version 7.7/' "$out.raw"
} >"$out"
rm -f "$out.raw"
for target in sm_80 sm_90 sm_100; do
    "$ptxas" -arch="$target" -o /dev/null "$out" && echo "$target: accepted"
done
