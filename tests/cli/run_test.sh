#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `weir run`, `weir map` and `weir prog` from the outside, on sample, pcap, mem and null ports: outputs, exit codes, and the
# accounting identity of each run. No root.
# usage: run_test.sh WEIR EXAMPLES-DIR OBJECT-DIR
set -u
weir=$(realpath "$1")
examples=$(realpath "$2")
objects=$(realpath "$3")
command -v jq >/dev/null || { echo "SKIP: jq is missing"; exit 77; }
[ -r "$examples/redirect_map.o" ] || { echo "SKIP: the examples are not compiled: clang-19 is missing"; exit 77; }
# gcc 12's leak checker crashes on the thread-local storage of libraries that are opened late, as libLLVM is.
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}use_tls=0
tmp=$(mktemp -d)
pid=
failed=0
cleanup() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT
cd "$tmp" || exit 1

ok() { echo "[       OK ] $1"; }
bad() {
	echo "[  FAILED  ] $1: $2"
	for f in out err; do [ -s $f ] && head -5 $f | sed "s/^/    $f: /"; done
	failed=1
}

# run CODE ARGUMENT...: the exit code of weir, with its output in out and err.
run() {
	local want=$1 code
	shift
	"$weir" "$@" >out 2>err
	code=$?
	[ $code -eq "$want" ] || { bad "weir $*" "exit code $code, wanted $want"; return 1; }
}

# says NAME CODE PATTERN ARGUMENT...: fails with one line on stderr, and nothing on stdout.
says() {
	local name=$1 code=$2 pattern=$3
	shift 3
	[ "$1" = run ] && set -- "$@" -q # no notes
	run "$code" "$@" || return
	[ "$(wc -l <err)" -eq 1 ] || { bad "$name" "stderr is not one line"; return; }
	[ -s out ] && { bad "$name" "there is output"; return; }
	grep -qE -- "^weir: .*$pattern" err && ok "$name" || bad "$name" "stderr does not match: $pattern"
}

identity='.received + .generated + .cloned
	== .transmitted + .passed + .aborted + ([.dropped[]] | add // 0) + .in_flight'

# counts NAME FILTER ARGUMENT...: a JSON run whose last line fulfils the identity and the filter.
counts() {
	local name=$1 filter=$2
	shift 2
	run 0 run "$@" --json --control none || return
	tail -n 1 out >last
	jq -e "$identity" last >/dev/null || { bad "$name" "the accounting does not add up"; return; }
	jq -e "$filter" last >/dev/null && ok "$name" || bad "$name" "not so: $filter"
}

redirect=$examples/redirect_map.o
drop=$examples/drop.o

# --- accounting, on both engines -----------------------------------------------------------------
for engine in interp jit; do
	if [ $engine = jit ] && ! "$weir" run "$drop" --engine jit --in sample --control none >/dev/null 2>err; then
		grep -q 'JIT' err && { echo "no JIT in this build: $(cat err)"; continue; }
		bad "jit" "does not run"
		continue
	fi
	e="--engine $engine"
	counts "$engine: drop" '.received == 28 and .dropped == {"xdp_drop": 28} and .engine == "'$engine'"' "$drop" --in sample $e
	counts "$engine: redirect to a capture" '.transmitted == 28 and .ports[1].transmitted == 28' \
		"$redirect" --in sample --out pcap:out.pcap --map 'tx_port[0]=out.pcap' $e
	counts "$engine: redirect from that capture" '.received == 28 and .ports[0].redirected == 28' \
		"$redirect" --in pcap:out.pcap --out null --map 'tx_port[0]=out1' $e
	counts "$engine: an empty slot gives the flags as verdict" '.transmitted == 0 and .aborted == 28 and .faults.count == 0' "$redirect" --in sample $e
	counts "$engine: a target that is down" '.dropped.redirect_ENETDOWN == 28' \
		"$redirect" --in sample --out null,state=down --map 'tx_port[0]=out1' $e
	counts "$engine: xdp2 cannot send back to a capture" '.ports[0].tx > 0 and .dropped.tx_no_port == .ports[0].tx' \
		"$examples/xdp2.o" --in sample $e
	counts "$engine: xdp2 sends back to a port that takes it" '.ports[0].tx > 0 and .transmitted == .ports[0].tx' \
		"$examples/xdp2.o" --in mem:count=640 $e
	counts "$engine: a port by number and name" '.ports[2].transmitted == 28 and .ports[2].ifindex == 9' \
		"$redirect" --in sample --out null --port up=null,ifindex=9 --map 'tx_port[0]=9' $e
	counts "$engine: --count" '.received >= 1000 and .received < 1000 + 64' "$drop" --in mem --count 1000 $e
	counts "$engine: --set" '.transmitted == 28' "$redirect" --in sample --out null --map 'tx_port[0]=out1' \
		--set redirect.flush=packet --set engine.burst=1 --set engine.prefetch=write $e
	counts "$engine: a fault is told" '.faults.count > 0 and .aborted == .faults.count and (.faults.last | test("instruction"))' \
		"$objects/overrun.o" --in sample $e
done

# --- what programs see ----------------------------------------------------------------------------
seen=$objects/context.o
run 0 run "$seen" --in sample,ifindex=7 --engine interp --control none --cpus 4 --cpu 3 --rx-queue 5 --time 42s \
	--global answer=17 --global 'limit=1000' --dump-maps m.json --events
jq -e '[.seen[].formatted.value] == [7, 5, 3, 42000000000, 17, 1000]' m.json >/dev/null &&
	ok "--cpu, --rx-queue, --time, --global, ifindex=" || bad "--cpu ..." "$(jq -c '[.seen[].formatted.value]' m.json)"
[ "$(grep -c 'answer 17' out)" -eq 28 ] && ok "--events" || bad "--events" "not 28 lines"
run 0 run "$seen" --in sample --engine interp --control none --json --events -q
[ "$(jq -r .event err | sort -u)" = trace ] && jq -e '.received == 28' out >/dev/null && ok "--events --json" || bad "--events --json" "other lines"
says "a global that is not there" 1 'nope' run "$seen" --in sample --control none --global nope=1

# --- limits and reports -----------------------------------------------------------------------------
start=$(date +%s%N)
counts "--for ends a run" '.received > 0 and .duration_ns >= 300000000' "$drop" --in mem --for 300ms --interval 100ms
took=$((($(date +%s%N) - start) / 1000000))
[ $took -lt 20000 ] && ok "--for 300ms takes $took ms" || bad "--for" "took $took ms"
jq -es '[.[] | select(.interval)] | length >= 2 and all(.interval.ports[0].rx > 0 and .interval.ports[0].rx_pps > 0)' out >/dev/null &&
	ok "--interval with --json" || bad "--interval with --json" "no reports"
run 0 run "$drop" --in mem --for 250ms --interval 100ms --control none
grep -qE '^ +0\.1[0-9]*s in +rx [1-9][0-9]* \([0-9]+ pkt/s\) +tx 0' out && ok "--interval" || bad "--interval" "no line for the port"
grep -qE '^ +xdp_drop +[0-9]+ +the program said XDP_DROP$' out && ok "drop reasons have a text" || bad "drop reasons" "no text"

# --- maps after the run ---------------------------------------------------------------------------
run 0 run "$redirect" --in sample --control none --dump-maps m.json
jq -e '.rx_cnt[0].formatted.values | map(.value) | add == 28' m.json >/dev/null && ok "--dump-maps" || bad "--dump-maps" "not 28"
run 0 run "$redirect" --in sample --control none --expect-maps m.json && ok "--expect-maps, equal"
jq '.rx_cnt[0].values[0].value[0] = "0x05" | .rx_cnt[0].formatted.values[0].value = 5' m.json >other.json
run 1 run "$redirect" --in sample --control none --expect-maps other.json && ok "--expect-maps, different"

# --- configuration file -------------------------------------------------------------------------------
cat >good.yaml <<Y
object: $redirect
engine: {type: interp, burst: 32}
redirect: {flush: packet}
ports:
  - in: sample
  - out: null
  - port: null
    name: extra
routes: ["10.0.0.0/8,dev=extra,via=10.9.9.1"]
neighbours: ["10.9.9.1,dev=extra,mac=02:00:00:00:00:01"]
state:
  maps: ["tx_port[0]=extra"]
run: {for: 30s, interval: 10}
Y
counts "-c FILE" '.received == 28 and .ports[2].name == "extra" and .ports[2].transmitted == 28' -c good.yaml
sed 's/flush: packet/flush: packet, colour: red/' good.yaml >bad.yaml
says "unknown key with its line" 2 "bad.yaml:3: unknown key 'colour'" run -c bad.yaml
sed 's/tx_port\[0\]/no_map[0]/' good.yaml >bad.yaml
says "a map that is not there" 1 'no_map' run -c bad.yaml
says "-c with ports" 2 'stand in the file' run -c good.yaml --in sample
says "no such file" 1 'absent.yaml' run -c absent.yaml

# --- misuse is 2, failure is 1 -------------------------------------------------------------------------
says "no object" 2 'an object is needed' run --in sample
says "no input" 2 '--in PORT is needed' run "$drop"
says "two objects" 2 'one object' run "$drop" "$drop" --in sample
says "unknown option" 2 'unknown' run "$drop" --in sample --colour red
says "bad duration" 2 'duration' run "$drop" --in sample --for soon
says "bad engine" 2 'engine' run "$drop" --in sample --engine turbo
says "unknown port kind" 2 'no port kind .warp.' run "$drop" --in warp:9
says "unknown port key" 2 "unknown key 'speed'" run "$drop" --in sample,speed=9
says "duplicate port" 2 'already' run "$drop" --in sample --port in=null
says "duplicate ifindex" 2 'ifindex 1' run "$drop" --in sample --out null,ifindex=1
says "a loop through a file" 2 'loop' run "$redirect" --in pcap:out.pcap --out pcap:out.pcap
says "no such capture" 1 'absent.pcap' run "$drop" --in pcap:absent.pcap
says "no such object" 1 'absent.o' run absent.o --in sample
says "no such program" 1 'no XDP program "nope"' run "$drop" --in sample --prog nope
says "no such switch" 2 'redirect.flush' run "$drop" --in sample --set drain=1
says "no such CPU" 2 '--cpus' run "$drop" --in sample --cpu 100000
says "a socket path that is a file" 1 'no socket' run "$drop" --in sample --control good.yaml --engine interp
says "unknown command" 2 "no command 'fly'" fly
says "map without a verb" 2 'what to do' map
says "map set without a value" 2 'weir map set NAME KEY VALUE' map set a b
says "no instance at that path" 1 'absent.sock' map list --control absent.sock
head -c 1000 "$drop" >cut.o
says "a truncated object" 1 'cut.o' run cut.o --in sample
for c in run map prog test bench; do
	run 0 $c --help && grep -q "^usage: weir $c" out && ok "$c --help" || bad "$c --help" "no usage"
done

# --- a running instance ------------------------------------------------------------------------------
"$weir" run "$redirect" --in mem --out null --map 'tx_port[0]=out1' --control s.sock --json -q >live.json 2>live.err &
pid=$!
for ((i = 0; i < 200; i++)); do
	[ -S s.sock ] && break
	sleep 0.05
done
[ "$(stat -c %a s.sock)" = 600 ] && ok "the socket's mode" || bad "the socket's mode" "not 600"
c="--control s.sock"
run 0 map list $c && grep -q '^[0-9]*: tx_port  devmap' out && ok "map list" || bad "map list" "no tx_port"
run 0 map list $c --json && jq -e 'map(.name) == ["rx_cnt", "tx_port"]' out >/dev/null && ok "map list --json" || bad "map list --json" "other maps"
run 0 map get tx_port 0 $c && grep -qx '0 = "out1"' out && ok "map get" || bad "map get" "other text"
run 0 map set tx_port 1 in $c && run 0 map dump tx_port $c && grep -qx '1 = "in"' out && ok "map set" || bad "map set" "not there"
run 0 map delete tx_port 1 $c && ok "map delete"
says "map get of what is gone" 1 'no entry 1' map get tx_port 1 $c
says "map set of a bad key" 1 'tx_port' map set tx_port many in $c
says "map of no such name" 1 "no map 'nope'; there are: rx_cnt, tx_port" map dump nope $c
run 0 map dump rx_cnt $c --json && jq -e '.[0].formatted.values[0].value > 0' out >/dev/null && ok "map dump while it runs" || bad "map dump" "no count"
run 0 prog list $c && grep -q 'name redirect_map .* on in$' out && ok "prog list" || bad "prog list" "no program"
# The redirect stops with the entry: the program returns the flags, XDP_ABORTED.
run 0 map delete tx_port 0 $c && ok "map delete of the target"
says "a second instance on the same socket" 1 'another instance' run "$drop" --in sample $c --engine interp
sleep 0.3
kill -INT $pid
wait $pid
code=$?
pid=
[ $code -eq 0 ] && ok "SIGINT ends it with 0" || bad "SIGINT" "exit code $code"
cp live.json out
cp live.err err
jq -e "$identity" live.json >/dev/null && ok "the accounting adds up after SIGINT" || bad "SIGINT" "the accounting does not add up"
jq -e '.transmitted > 0 and .aborted > 0 and .in_flight == 0' live.json >/dev/null &&
	ok "frames were sent, then aborted" || bad "SIGINT" "no frames before or after the change"
[ ! -e s.sock ] && ok "the socket is removed" || bad "the socket" "is still there"

exit $failed
