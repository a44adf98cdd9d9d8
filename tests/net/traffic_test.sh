#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Real traffic through weir, between three network namespaces of this test's own:
#
#      A                          W                          B
#   [ a0 ]----- veth ------[ a1   weir   b1 ]----- veth ------[ b0 ]
#   10.77.0.1                                               10.77.0.2
#
#   1. forward.o sends what comes in by one port out by the other: ping loses nothing, iperf3 moves 200 MB over TCP and both
#      ends count the same bytes.
#   2. xdpfilt_alw_udp.o passes what its map does not name; PASS goes up to the host through weir's taps, which a bridge in W joins. `weir map set`
#      puts UDP port 7777 (0x611e in network order) into its map: that port stops, the rest flows.
#
#   traffic_test.sh WEIR FORWARD.o KIND       KIND: xdp (AF_XDP) or packet (AF_PACKET)
#
# Exit 77: not root, or a tool is missing. V=1 shows what is done.
set -u
weir=$1 forward=$2 kind=$3
filter=/usr/lib/x86_64-linux-gnu/bpf/xdpfilt_alw_udp.o

skip() {
	echo "SKIP: $1"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for tool in ip iperf3 ping ethtool jq; do
	command -v $tool >/dev/null || skip "$tool is missing"
done
[ -r $filter ] || skip "$filter is missing: apt-get install libxdp1"

A=weirA$$ W=weirW$$ B=weirB$$
dir=$(mktemp -d)
pids=
failed=0
[ -z "${V:-}" ] || set -x

cleanup() {
	for p in $pids; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	for ns in $A $W $B; do ip netns del $ns 2>/dev/null; done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

in_a() { ip netns exec $A "$@"; }
in_w() { ip netns exec $W "$@"; }
in_b() { ip netns exec $B "$@"; }

check() { # check NAME CONDITION...
	local name=$1
	shift
	if "$@"; then
		echo "[       OK ] $kind: $name"
	else
		echo "[  FAILED  ] $kind: $name"
		failed=1
	fi
}

until_true() { # until_true SECONDS COMMAND...: waits for a condition
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

build_net() {
	for ns in $A $W $B; do
		ip netns add $ns
		ip -n $ns link set lo up
		ip netns exec $ns sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	done
	ip link add a0 netns $A type veth peer name a1 netns $W
	ip link add b0 netns $B type veth peer name b1 netns $W
	ip -n $A addr add 10.77.0.1/24 dev a0
	ip -n $B addr add 10.77.0.2/24 dev b0
	for end in "$A a0" "$W a1" "$W b1" "$B b0"; do
		set -- $end
		ip -n "$1" link set "$2" up
		# What the README asks of a veth: no checksums left to a device that is none, no super-frames.
		ip netns exec "$1" ethtool -K "$2" tx off tso off gso off gro off >/dev/null 2>&1
	done
}

start_weir() { # start_weir OBJECT ARGUMENT...
	: >"$dir/weir.json"
	# Not through in_w: the signal of stop_weir goes to weir itself, and no shell stands between.
	ip netns exec $W "$weir" run "$@" --in $kind:a1,host=tap --in $kind:b1,host=tap --control "$dir/control" --json \
		>"$dir/weir.json" 2>"$dir/weir.err" &
	weir_pid=$!
	pids="$pids $weir_pid"
	until_true 10 test -S "$dir/control" || {
		cat "$dir/weir.err"
		return 1
	}
}

# Ends the instance by the signal that a user's ^C is, and looks at its accounting.
stop_weir() {
	kill -INT $weir_pid
	wait $weir_pid
	check "$1: exit code 0 after SIGINT" [ $? = 0 ]
	cat "$dir/weir.err"
	tail -1 "$dir/weir.json" >"$dir/last.json"
	check "$1: every frame is accounted for" jq -e '
		(.received + .generated + .cloned) ==
		(.transmitted + .passed + .aborted + ([.dropped[]] | add // 0) + .in_flight)
		and .received > 0' "$dir/last.json"
	[ "${V:-}" ] && cat "$dir/last.json"
	return 0
}

ping_all() { # all of 50 pings come back
	in_a ping -q -c 50 -i 0.02 -W 2 10.77.0.2 >"$dir/ping" 2>&1
	grep -q ' 0% packet loss' "$dir/ping" || {
		cat "$dir/ping"
		return 1
	}
}

# iperf3 ends its test by a message of its own, with the last data still in the receiver's socket: what its server counts is
# a little less than what was sent. So the count that has to match to the byte is of a transfer that is read to its end.
tcp_iperf3() {
	ip netns exec $B iperf3 -s -1 -J >"$dir/server.json" 2>&1 &
	local server=$! sent received
	pids="$pids $server"
	until_true 10 sh -c "ip netns exec $B ss -ltn | grep -q :5201"
	timeout 60 ip netns exec $A iperf3 -c 10.77.0.2 -n 200M -J >"$dir/client.json" 2>&1 || return 1
	wait $server
	sent=$(jq '.end.sum_sent.bytes' "$dir/client.json")
	received=$(jq '.end.sum_received.bytes' "$dir/server.json")
	echo "  iperf3: sent $sent, received $received bytes, $(jq '.end.sum_sent.bits_per_second / 1e6 | floor' "$dir/client.json") Mbit/s, $(jq '.end.sum_sent.retransmits' "$dir/client.json") retransmits"
	[ "$sent" -ge 200000000 ] && [ "$received" -ge $((sent / 100 * 95)) ]
}

tcp_exact() {
	head -c 200000000 /dev/urandom >"$dir/sent"
	ip netns exec $B timeout 60 socat -u TCP4-LISTEN:5300,reuseaddr OPEN:"$dir/received",creat,trunc &
	local server=$!
	pids="$pids $server"
	until_true 10 sh -c "ip netns exec $B ss -ltn | grep -q :5300"
	timeout 60 ip netns exec $A socat -u OPEN:"$dir/sent" TCP4:10.77.0.2:5300 || return 1
	wait $server
	cmp "$dir/sent" "$dir/received"
}

udp_arrives() { # udp_arrives PORT: of 20 datagrams to it, does one arrive?
	: >"$dir/udp"
	ip netns exec $B timeout 3 socat -u UDP4-RECV:$1 OPEN:"$dir/udp",append &
	local server=$! i
	until_true 3 sh -c "ip netns exec $B ss -lun | grep -q :$1"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo hello | in_a socat -u - UDP4-SENDTO:10.77.0.2:$1
	done
	until_true 1 test -s "$dir/udp"
	kill $server 2>/dev/null
	wait $server 2>/dev/null
	test -s "$dir/udp"
}
command -v socat >/dev/null || skip "socat is missing"

build_net

# 1. Forwarding
a1=$(in_w cat /sys/class/net/a1/ifindex) b1=$(in_w cat /sys/class/net/b1/ifindex)
check "forward: weir starts" start_weir "$forward" --map "tx_port[$a1]=b1" --map "tx_port[$b1]=a1"
until_true 5 in_a ping -q -c 1 -W 1 10.77.0.2
check "forward: ping loses nothing" ping_all
check "forward: iperf3 completes 200 MB of TCP" tcp_iperf3
check "forward: 200 MB of TCP arrive, equal to the byte" tcp_exact
stop_weir forward

# 2. Filtering, with PASS up to the host
check "filter: weir starts" start_weir $filter
in_w ip link add br0 type bridge
for tap in weir-a1 weir-b1; do
	until_true 5 in_w ip link set $tap master br0
	in_w ip link set $tap up
done
in_w ip link set br0 up
until_true 10 in_a ping -q -c 1 -W 1 10.77.0.2
check "filter: ping loses nothing" ping_all
check "filter: UDP to 7777 arrives before it is in the map" udp_arrives 7777
check "filter: weir map set" in_w "$weir" map set filter_ports 0x611e 0x0a --control "$dir/control"
check "filter: UDP to 7777 is stopped" eval '! udp_arrives 7777'
check "filter: UDP to 7778 arrives" udp_arrives 7778
check "filter: ping still loses nothing" ping_all
stop_weir filter
exit $failed
