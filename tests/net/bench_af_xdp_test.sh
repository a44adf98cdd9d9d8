#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The benchmark table af_xdp: it has the rows that this host can give, says why for the others, and leaves nothing behind, when
# it is killed too. No figure is judged: other work goes on beside tests.
#
#   bench_af_xdp_test.sh WEIR
set -u
weir=$1
failed=0

skip() {
	echo "SKIP: $1"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ "$(nproc)" -ge 2 ] || skip "a generator and a receiver need two CPUs"
command -v jq >/dev/null || skip "jq is missing"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

check() {
	local what=$1
	shift
	if "$@" >"$dir/out" 2>&1; then
		echo "ok: $what"
	else
		echo "FAILED: $what"
		sed 's/^/  /' "$dir/out"
		failed=1
	fi
}
has() { jq -e "$1" "$dir/json"; }
nothing_left() {
	for _ in $(seq 50); do
		if [ -z "$(pgrep -P "$1")" ] && ! pgrep -g "$1" && ! ip link show near 2>/dev/null; then
			return 0
		fi
		sleep 0.1
	done
	ps -o pid,ppid,pgid,args -g "$1"
	return 1
}

check "the table is measured" sh -c "'$weir' bench af_xdp --quick --json >'$dir/json'"
check "the generator's row" has '.rows[] | select(.name == "generator" and .engine == "kernel-live") | .ns > 0'
check "weir's row, with headroom, cycles and loss" \
	has '.rows[] | select(.name == "rx_drop" and .engine == "weir") | .params |
		.headroom > 0 and .cycles > 0 and .lost < 1 and (.bound == "receiving" or .bound == "generator")'
if command -v dpdk-testpmd >/dev/null; then
	check "DPDK's row, with headroom, cycles and loss" \
		has '.rows[] | select(.name == "rx_drop" and .engine == "dpdk") | .params |
			.headroom > 0 and .cycles > 0 and .lost < 1'
fi
# A missing peer is a row that says so. The helper programs of the shell are not needed in an empty PATH.
PATH=/nowhere "$weir" bench af_xdp --quick >"$dir/text"
check "the exit code without DPDK is 0" test $? = 0
check "without DPDK the row says what to do" grep 'dpdk-testpmd is not installed; scripts/setup --bench' "$dir/text"

set -m # a process group of its own
for signal in INT KILL; do
	"$weir" bench af_xdp >/dev/null 2>&1 &
	pid=$!
	sleep 2
	kill -$signal $pid
	wait $pid 2>/dev/null
	check "SIG$signal leaves nothing behind" nothing_left $pid
done
exit $failed
