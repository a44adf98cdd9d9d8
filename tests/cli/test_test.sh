#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `weir test` from the outside: verdicts, targets, errors, comparisons, state, suites. No root, no kernel BPF.
# usage: test_test.sh WEIR OBJECT-DIR
set -u
weir=$(realpath "$1")
objects=$(realpath "$2")
packaged=/usr/lib/x86_64-linux-gnu/bpf
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0

# check NAME WANTED-CODE PATTERN COMMAND...: the exit code, and a line of the output that matches.
check() {
	local name=$1 want=$2 pattern=$3 code
	shift 3
	"$@" >out 2>&1
	code=$?
	if [ "$code" -ne "$want" ] || ! grep -qE -- "$pattern" out; then
		echo "FAILED: $name: code $code (wanted $want), wanted a line like: $pattern"
		sed 's/^/    /' out | head -20
		failed=$((failed + 1))
	fi
}

# The engines are compared elsewhere: here, most runs interpret, since opening LLVM takes longer than the test.
own() {
	"$weir" test "$objects/verdicts.o" --engine interp --in sample "$@"
}

# --- misuse ---------------------------------------------------------------------------------------
check "no object" 2 'an object is needed' "$weir" test --in sample
check "no packets" 2 '--in is needed' "$weir" test x.o
check "no such object" 1 'absent.o' "$weir" test absent.o --in sample
check "no such capture" 1 'absent.pcap' "$weir" test /usr/libexec/xdp-tools/xdp_drop.o --in absent.pcap
check "unknown format" 2 'tap or junit' "$weir" test -c x.yaml --format xml

# --- packaged objects ---------------------------------------------------------------------------
check "xdp_drop" 0 '^28 packets: XDP_DROP 28$' "$weir" test /usr/libexec/xdp-tools/xdp_drop.o --in sample
check "xdp_pass" 0 '^28 packets: XDP_PASS 28$' "$weir" test /usr/libexec/xdp-tools/xdp_pass.o --engine interp --in sample

# B7.02: the verdict table of xdp-filter's objects. Ports are keys in network order; flags: 2 destination, 4 TCP, 8 UDP.
# Rows: alw lets pass what is not listed, dny drops it. The objects do not look at the fragment offset: the payload of a
# later fragment is taken for a TCP header.
eth=0200000000020200000000010800
ip() { echo "4500$1 1234$2 40$3 0000 0a000001 0a000002"; }
tcp8080="$eth $(ip 0028 4000 06) 9c401f90 000003e8 00000000 5002faf0 00000000"
tcp8081="$eth $(ip 0028 4000 06) 9c401f91 000003e8 00000000 5002faf0 00000000"
udp8080="$eth $(ip 001c 4000 11) 9c401f90 00080000"
fragment="$eth $(ip 0028 0010 06) 9c401f90 000003e8 00000000 5002faf0 00000000"
arp="ffffffffffff020000000001 0806 0001080006040001 020000000001 0a000001 000000000000 0a000002"
table() { # OBJECT TCP8080 TCP8081 UDP8080 ARP FRAGMENT
	local n=0 p
	echo "  - name: $1"
	echo "    object: $packaged/xdpfilt_$1.o"
	echo "    maps: ['filter_ports[0x1f 0x90 0x00 0x00]=6']"
	echo "    packets:"
	for p in "$tcp8080" "$tcp8081" "$udp8080" "$arp" "$fragment"; do
		shift
		echo "      - { hex: '$p', expect: { verdict: $1, bytes: same, port: none } }"
	done
}
{
	echo "cases:"
	table alw_tcp DROP PASS PASS PASS DROP
	table dny_tcp PASS DROP DROP DROP PASS
} >b702.yaml
check "B7.02 verdict table" 0 '^ok 2 - dny_tcp' "$weir" test -c b702.yaml --engine interp
check "B7.02 verdict table, default engine" 0 '^ok 2 - dny_tcp' "$weir" test -c b702.yaml
check "B7.02 a wrong table fails" 1 '^not ok 1 - alw_tcp' \
	"$weir" test --engine interp -c <(sed 's/verdict: DROP, bytes: same, port: none/verdict: TX/' b702.yaml)

if [ ! -e "$objects/verdicts.o" ]; then
	echo "no clang: the tests with own objects are left out"
	[ $failed -eq 0 ] && exit 77
	exit 1
fi

# --- redirects ----------------------------------------------------------------------------------
# B1.06: a target that cannot be sent to is told with its errno. The capture's own port takes no frames.
check "B1.06 EOPNOTSUPP" 0 'XDP_REDIRECT, not sent: EOPNOTSUPP' own -p redirect_ifindex --global ifindex=1
# B1.07: any ifindex gives XDP_REDIRECT; the failure comes after.
check "B1.07 EINVAL" 0 'XDP_REDIRECT, not sent: EINVAL, .*\(ifindex 99999\)' own -p redirect_ifindex
# B1.08: a miss returns the flags, a hit XDP_REDIRECT, flags beyond the mask XDP_ABORTED.
verdicts=(XDP_ABORTED XDP_DROP XDP_PASS XDP_TX)
for flags in 0 1 2 3; do
	for key in 4 5; do
		check "B1.08 miss, key $key, flags $flags" 0 "^28 packets: ${verdicts[$flags]} 28" \
			own -p redirect_map --global key=$key --global flags=$flags -q
	done
	check "B1.08 empty slot, flags $flags" 0 "^28 packets: ${verdicts[$flags]} 28" \
		own -p redirect_map --global key=2 --global flags=$flags -q
	check "B1.08 hit, flags $flags" 0 '-> out1 \(ifindex 2\) by tx_port\[3\]' \
		own -p redirect_map --port out1=null --map 'tx_port[3]=out1' --global key=3 --global flags=$flags
done
check "B1.08 bad flags" 0 '^28 packets: XDP_ABORTED 28' own -p redirect_map --global flags=64 -q
check "down" 0 'not sent: ENETDOWN' own -p redirect_map --port out1=null,state=down --map 'tx_port[0]=out1'
check "too long" 0 'not sent: EMSGSIZE' own -p redirect_map --port out1=null,mtu=68 --map 'tx_port[0]=2'
check "egress program" 0 'by tx_port\[0\], egress program egress_swap: XDP_PASS' \
	own -p redirect_map --port out1=null --map 'tx_port[0]={ifindex: out1, bpf_prog: egress_swap}'
check "egress program's bytes" 0 'at 0: ff -> 00' \
	own -p redirect_map --port out1=null --map 'tx_port[0]={ifindex: out1, bpf_prog: egress_swap}'
check "tail call" 0 '^28 packets: XDP_PASS 28' own -p jump --map 'jumps[1]=count'
check "XDP_TX" 0 'XDP_TX -> in \(ifindex 1\)' own -p encap
check "put in" 0 'at 0: nothing -> 77 65 69 72' own -p encap
check "fault" 0 'XDP_ABORTED: program overrun, .*packet offset 2000.*overrun.bpf.c:13' \
	"$weir" test "$objects/overrun.o" --engine interp --in sample
check "fault, default engine" 0 'XDP_ABORTED: program overrun, .*packet offset 2000.*overrun.bpf.c:13' \
	"$weir" test "$objects/overrun.o" --in sample
check "egress program, default engine" 0 'by tx_port\[0\], egress program egress_swap: XDP_PASS' \
	"$weir" test "$objects/verdicts.o" --in sample -p redirect_map --port out1=null \
	--map 'tx_port[0]={ifindex: out1, bpf_prog: egress_swap}'

# --- comparisons ----------------------------------------------------------------------------------
own -p encap -q --out encap.pcap --json >encap.json 2>/dev/null
check "expect capture" 0 '28 compared, 0 different' own -p encap --expect encap.pcap
check "expect json" 0 '28 compared, 0 different' own -p encap --expect encap.json
check "expect differs" 1 '28 compared, 28 different' own -p count --expect encap.pcap
check "expect verdict differs" 1 'packet 1: verdict: expected "XDP_TX", is "XDP_PASS"' own -p count --expect encap.json
python3 -c 'import json; d = json.load(open("encap.json")); del d["frames"][27]; print(json.dumps(d))' >short.json
check "expect more" 1 'DIFFERENT: packet 28: no more packets' own -p encap --expect short.json
python3 -c 'import json; d = json.load(open("encap.json")); d["frames"] *= 2; print(json.dumps(d))' >long.json
check "expect fewer" 1 'DIFFERENT: 28 more packets are expected' own -p encap --expect long.json
check "json" 0 'different.*: 0' python3 - <<-'PY'
	import json
	d = json.load(open("encap.json"))
	assert set(d) == {"frames", "compared", "different"}, d.keys()
	f = d["frames"][0]
	assert list(f) == ["n", "verdict", "to", "error", "reason", "bytes"], f
	assert f["to"] == {"port": "in", "map": None, "key": None, "program": None}, f
	assert f["n"] == 1 and f["verdict"] == "XDP_TX" and f["bytes"].startswith("77656972"), f
	print("different:", d["different"])
PY

# --- state ----------------------------------------------------------------------------------------
state=(--map 'rules[80]={port: 443, ports: [1, 2], mode: MODE_ON, net: 10.1.0.0, name: web}' --map 'nets[10.0.0.0/8]=7')
own -p count -q "${state[@]}" --dump-maps maps.json >/dev/null 2>&1
check "expect maps" 0 'XDP_PASS 28' own -p count -q "${state[@]}" --expect-maps maps.json
check "maps come back" 1 'counters\[1\]: expected .*"value":28.*, is .*"value":56' \
	own -p count -q --maps maps.json --expect-maps maps.json
check "other rule" 1 'rules\[.*expected .*"port":47873.* is .*"port":48129' \
	own -p count -q "${state[@]}" --map 'rules[80]={port: 444, ports: [1, 2], mode: MODE_ON, net: 10.1.0.0, name: web}' \
	--expect-maps maps.json
names=(-p redirect_map --port out1=null --map 'tx_port[0]={ifindex: out1, bpf_prog: egress_swap}' --map 'jumps[1]=count')
own "${names[@]}" --dump-maps names.json >/dev/null 2>&1
check "names come back" 0 'XDP_REDIRECT 28' \
	own -p redirect_map --port out1=null --maps names.json --expect-maps names.json -q
check "names differ" 1 'tx_port\[0\]: expected .*"bpf_prog":"egress_swap".*, is absent' \
	own -p redirect_map --port out1=null --expect-maps names.json -q
echo '{"rules": [{"key": ["0x00", "0x50"], "value": {"port": 20480, "net": "10.0.0.1"}}]}' >typed.json
check "typed file" 0 '"rules":.."key":."0x00","0x50".,"value":."0x00","0x50","0x00","0x00","0x00","0x00","0x00","0x00","0x0a","0x00","0x00","0x01"' \
	own -p count --maps typed.json --dump-maps - -q
echo '{"counters": [{"key": 1, "values": [{"cpu": 999, "value": 7}]}]}' >cpus.json
check "too many CPUs" 1 'map counters: CPU 999 of' own -p count --maps cpus.json
check "not a dump" 1 'encap.pcap:1: ' own -p count --maps encap.pcap
head -c 100 encap.pcap >cut.pcap
check "cut capture" 1 '^weir: port pcap:cut.pcap: broken after packet 1 .*; capture it again$' \
	"$weir" test "$objects/verdicts.o" --engine interp -p count --in cut.pcap
check "disk full" 1 '/dev/full: writing failed' own -p count --out /dev/full
echo '{"frames": [3]}' >frames.json
check "not frames" 1 'frame 1 of the expected output is no object' own -p count --expect frames.json
check "field" 1 'map rules: value: no field prt in struct rule: it has port, ports, mode, net, name' \
	own -p count --map 'rules[80]={prt: 1}'
check "range" 1 'map rules: value.ports\[1\]: expected a number from 0 to 255' own -p count --map 'rules[80]={ports: [1, 256]}'
check "no map" 1 'no map named rule:.* has .*rules' own -p count --map 'rule[1]=1'
check "form" 2 'expected NAME\[KEY\]=VALUE' own -p count --map 'rules=1'
check "full" 1 'map rules \(hash, 2 entries\).*E2BIG' \
	own -p count --map 'rules[1]={}' --map 'rules[2]={}' --map 'rules[3]={}'
check "no port" 1 'expected a port or an ifindex, not "out9": ports are in' own -p redirect_map --map 'tx_port[0]=out9'
check "no program" 1 'expected the name of a program, not "none": the object has' own -p jump --map 'jumps[0]=none'
check "no global" 1 'no global variable speed' own -p count --global speed=1
check "events" 0 'ringbuf ring: 8 bytes, struct event \{"length": 42, "answer": 42\}' own -p events --events
check "trace" 0 '^trace: length 42' own -p events --events
check "perf" 0 '^perf perf: 8 bytes, struct event .*with packet bytes' own -p events --events
check "events as JSON" 0 '^\{"event":"ringbuf","map":"ring","size":8,"type":"event","data":\{"length":42,"answer":42\}\}' \
	own -p events --events --json

# --- suites ---------------------------------------------------------------------------------------
cat >suite.yaml <<-YAML
	defaults:
	  object: $objects/verdicts.o
	cases:
	  - name: redirect by map
	    prog: redirect_map
	    ports: [out1=null]
	    maps: ['tx_port[0]=out1']
	    packets: [{ sample: ipv4/tcp }]
	    expect: { verdict: XDP_REDIRECT, port: out1, error: none }
	  - name: counts
	    prog: count
	    packets: [{ capture: encap.pcap }]
	    expect: { verdict: pass, maps: ['counters[1]=28', 'rules[80]=absent'], file: encap.pcap }
	  - name: encapsulates
	    prog: encap
	    packets: [{ sample: all }]
	    expect: { file: encap.json }
YAML
check "suite" 0 '^ok 3 - encapsulates' "$weir" test --engine interp -c suite.yaml
sed 's/counters\[1\]=28/counters[1]=27/' suite.yaml >wrong.yaml
check "suite fails" 1 '^not ok 2 - counts' "$weir" test --engine interp -c wrong.yaml
check "suite says why" 1 'map counters\[1\]: expected 27, is .*28' "$weir" test --engine interp -c wrong.yaml
check "junit" 1 'tests="3" failures="1"' "$weir" test --engine interp -c wrong.yaml --format junit
"$weir" test --engine interp -c wrong.yaml --format junit >junit.xml 2>/dev/null
check "junit is XML" 0 '^3$' python3 -c \
	'import xml.dom.minidom as m; print(len(m.parse("junit.xml").getElementsByTagName("testcase")))'
sed 's/    prog: count/    progg: count/' suite.yaml >unknown.yaml
check "unknown key" 2 'unknown.yaml:11: unknown key progg' "$weir" test --engine interp -c unknown.yaml
sed 's/sample: all/hex: 00, sample: all/' suite.yaml >both.yaml
check "two kinds of packet" 2 'case encapsulates, packet 1: expected one of hex, capture, sample' "$weir" test --engine interp -c both.yaml
check "no packets in a case" 2 'has no packets' "$weir" test -c <(printf 'cases:\n  - { name: a, object: b.o }\n')
check "no file" 1 'absent.yaml: No such file' "$weir" test --engine interp -c absent.yaml

echo "$failed failed"
[ $failed -eq 0 ]
