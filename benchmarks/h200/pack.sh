#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Packs the directory image (dist/target/weft, made by the build or by ./weft on first use) so that it travels:
# benchmarks/h200/target/weft-image.tar.xz. The ahead-of-time cache stays behind: it fits one place only.
set -e
root=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd -P)
image=$root/dist/target/weft
out=$root/benchmarks/h200/target/weft-image.tar.xz
[ -x "$image/bin/weft" ] || "$root/weft" --version
mkdir -p "$(dirname "$out")"
# Class data archives hold what the jars hold; the machine that unpacks it starts without.
tar -C "$image/.." --sort=name --owner=0 --group=0 --exclude='weft/cache/*' --exclude='*.jsa' -cf - weft |
    xz -T0 -${LEVEL:-6} >"$out.new"
mv -f "$out.new" "$out"
ls -l "$out"
