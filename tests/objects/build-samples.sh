#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Compiles the XDP programs of Debian's linux-source-6.1 package (samples/bpf and the selftests) into OUT, for the
# tests and the benchmarks that run real objects. Nothing of that source is part of this project: it is unpacked
# from the package and compiled here, when a test asks for it.
#
#   build-samples.sh OUT [ISA...]      ISA: clang-19:v3 clang-14:v2 ... (default clang-19:v3)
#
# OUT/<compiler>-<isa>/NAME.o are the objects; OUT/failed lists what did not compile and why. Exit 77: the
# package, bpftool or the compiler is missing (the reason is printed).
set -eu

out=${1:?usage: build-samples.sh OUT [ISA...]}
shift
[ $# -gt 0 ] || set -- clang-19:v3
tarball=/usr/src/linux-source-6.1.tar.xz

skip() {
	echo "SKIP: $1"
	exit 77
}
[ -r "$tarball" ] || skip "$tarball is missing: apt-get install linux-source-6.1"
command -v bpftool >/dev/null || skip "bpftool is missing: apt-get install bpftool"
[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF to make vmlinux.h from"

mkdir -p "$out"
exec 9>"$out/.lock"
flock 9 # several tests may want the same objects

src=$out/linux-source-6.1
if [ ! -e "$out/.unpacked" ]; then
	tar -xJf "$tarball" -C "$out" linux-source-6.1/samples/bpf \
		linux-source-6.1/tools/testing/selftests/bpf
	bpftool btf dump file /sys/kernel/btf/vmlinux format c >"$out/vmlinux.h"
	touch "$out/.unpacked"
fi

# The older samples include kernel-internal headers. vmlinux.h has the types; these are the constants that
# macros would have brought, and empty files in place of the headers.
stand_ins() {
	local dir=$1 h
	mkdir -p "$dir"
	for h in uapi/linux/bpf.h linux/bpf.h linux/if_ether.h linux/if_packet.h linux/if_vlan.h \
		linux/ip.h linux/ipv6.h linux/in.h linux/in6.h linux/tcp.h linux/udp.h linux/icmp.h \
		linux/icmpv6.h linux/types.h linux/string.h linux/pkt_cls.h uapi/linux/if_ether.h \
		linux/stddef.h linux/version.h uapi/linux/pkt_cls.h net/ip.h stddef.h string.h stdint.h stdbool.h \
		uapi/linux/tcp.h uapi/linux/udp.h uapi/linux/in.h uapi/linux/ip.h asm/errno.h \
		sys/cdefs.h sys/socket.h sys/types.h linux/errno.h uapi/linux/icmp.h limits.h; do
		mkdir -p "$dir/$(dirname "$h")"
		: >"$dir/$h"
	done
	cat >"$dir/constants.h" <<-'C'
		#ifndef ETH_P_IP
		#define ETH_P_IP 0x0800
		#define ETH_P_ARP 0x0806
		#define ETH_P_IPV6 0x86DD
		#define ETH_P_8021Q 0x8100
		#define ETH_P_8021AD 0x88A8
		#define ETH_ALEN 6
		#define ETH_HLEN 14
		#define AF_INET 2
		#define AF_INET6 10
		#define IP_DF 0x4000
		#define IP_MF 0x2000
		#define IP_OFFSET 0x1FFF
		#define IPV6_FLOWINFO_MASK bpf_htonl(0x0FFFFFFF)
		#define ICMP_ECHOREPLY 0
		#define ICMP_DEST_UNREACH 3
		#define ICMP_FRAG_NEEDED 4
		#define ICMP_ECHO 8
		#define ICMP6_ECHO_REQUEST 128
		#define ICMPV6_PKT_TOOBIG 2
		#define ICMPV6_ECHO_REQUEST 128
		#define htons(x) bpf_htons(x)
		#define ntohs(x) bpf_ntohs(x)
		#define htonl(x) bpf_htonl(x)
		#define ntohl(x) bpf_ntohl(x)
		#define cpu_to_be32(x) bpf_htonl(x)
		#define cpu_to_be16(x) bpf_htons(x)
		#define max(a, b) ((a) > (b) ? (a) : (b))
		#define min(a, b) ((a) < (b) ? (a) : (b))
		#define s6_addr32 in6_u.u6_addr32
		#define ETH_P_802_3_MIN 0x0600
		#define __force
		#define __user
		#define unlikely(x) __builtin_expect(!!(x), 0)
		#define likely(x) __builtin_expect(!!(x), 1)
		#define TC_ACT_OK 0
		#define TC_ACT_SHOT 2
		#define ENOTSUPP 524
		#define EINVAL 22
		#define ENOENT 2
		#define UINT8_MAX 255
		#define SIZE_MAX (~0UL)
		#define PAGE_SIZE 4096
		#define offsetof(t, m) __builtin_offsetof(t, m)
		#define NULL ((void *)0)
		#define memcpy(d, s, n) __builtin_memcpy((d), (s), (n))
		#define memset(d, c, n) __builtin_memset((d), (c), (n))
		#define memcmp(a, b, n) __builtin_memcmp((a), (b), (n))
		#define __always_inline inline __attribute__((always_inline))
		#define __noinline __attribute__((noinline))
		#endif
	C
}
stand_ins "$out/standins"

# NAME WAY: plain compiles against the package's own and the system's headers; kernel with vmlinux.h first and
# the stand-ins; sample likewise, linked with xdp_sample.bpf.o.
list() {
	local f
	for f in xdp1_kern xdp2_kern xdp_fwd_kern xdp_adjust_tail_kern xdp_tx_iptunnel_kern \
		xdp_rxq_info_kern xdp2skb_meta_kern; do
		echo "samples/bpf/$f.c"
	done
	for f in xdp_redirect xdp_redirect_map xdp_redirect_cpu xdp_redirect_map_multi \
		xdp_router_ipv4; do
		echo "samples/bpf/$f.bpf.c"
	done
	cd "$src" && ls tools/testing/selftests/bpf/progs/*.c |
		grep -E '/(test_xdp[a-z0-9_]*|xdp_[a-z_]*|xdping_kern|xdpwall|test_l4lb|test_l4lb_noinline)\.c$'
}

# compile CLANG CPU SOURCE OBJECT: the selftests' own way first, then with vmlinux.h in front.
compile() {
	local clang=$1 cpu=$2 source=$3 object=$4
	local common="-target bpf -g -O2 -mcpu=$cpu -D__TARGET_ARCH_x86 -w -fno-stack-protector"
	local dirs="-I$out -I$src/samples/bpf -I$src/tools/testing/selftests/bpf -I$src/tools/testing/selftests/bpf/progs"

	$clang $common $dirs -I/usr/include/x86_64-linux-gnu -c "$src/$source" -o "$object" \
		2>"$object.log" && return 0
	$clang $common -include vmlinux.h -include bpf/bpf_helpers.h -include bpf/bpf_endian.h \
		-include "$out/standins/constants.h" -I"$out/standins" $dirs \
		-c "$src/$source" -o "$object" 2>"$object.log"
}

failed=0
: >"$out/failed"
for isa in "$@"; do
	clang=${isa%%:*} cpu=${isa##*:}
	command -v "$clang" >/dev/null || skip "$clang is missing"
	dir=$out/$clang-$cpu
	[ -e "$dir/.done" ] && continue
	mkdir -p "$dir"
	compile "$clang" "$cpu" samples/bpf/xdp_sample.bpf.c "$dir/.sample.o" || true
	for source in $(list); do
		name=$(basename "$source")
		name=${name%.c}
		name=${name%.bpf}
		object=$dir/$name.o
		if ! compile "$clang" "$cpu" "$source" "$object"; then
			echo "$clang $cpu $name: $(grep -m1 -E 'error|rror:' "$object.log" | head -c 200)" >>"$out/failed"
			rm -f "$object"
			failed=$((failed + 1))
			continue
		fi
		# Samples share variables with xdp_sample.bpf.o: link them, as their Makefile does.
		if grep -q xdp_sample.bpf.h "$src/$source" && [ -e "$dir/.sample.o" ]; then
			bpftool gen object "$object.linked" "$object" "$dir/.sample.o" 2>/dev/null &&
				mv "$object.linked" "$object"
		fi
	done
	rm -f "$dir"/*.log "$dir"/.*.log
	touch "$dir/.done"
	echo "$dir: $(ls "$dir"/*.o | wc -l) objects"
done
[ ! -s "$out/failed" ] || sed 's/^/did not compile: /' "$out/failed"
