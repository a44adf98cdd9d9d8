#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Gathers real objects and runs objects_test on them: those of Debian's packages, those embedded in its binaries, and the
# kernel's samples and selftests, compiled here.
#
#   objects_test.sh OBJECTS_TEST OUT
set -u
test=$1 out=$2
here=$(dirname "$0")/../objects

mkdir -p "$out"
bash "$here/build-samples.sh" "$out/samples" clang-19:v3 || exit $?
rm -rf "$out/carved"
python3 "$here/carve-elf.py" "$out/carved" /usr/sbin/xdp-bench /usr/sbin/xdp-trafficgen \
	/usr/lib/x86_64-linux-gnu/libknot.so.13 || exit 1
exec "$test" "$here/state.json" /usr/lib/x86_64-linux-gnu/bpf /usr/libexec/xdp-tools "$out/carved" "$out/samples/clang-19-v3"
