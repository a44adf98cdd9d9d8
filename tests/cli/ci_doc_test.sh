#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# docs/ci.md as a user follows it: its files are written out and every command of its workflow and of its sh block is
# run, but for the install step, whose scripts must exist. usage: ci_doc_test.sh WEIR SOURCE-ROOT
set -u
weir=$(realpath "$1")
root=$(realpath "$2")
command -v clang-19 >/dev/null || {
	echo "SKIP: clang-19 is missing"
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
mkdir bin
ln -s "$weir" bin/weir
PATH="$tmp/bin:$PATH"

# Blocks whose first line names a file become that file; the sh block becomes commands.sh.
awk '/^```/ { if (out) { out = ""; next } if (NF == 2) out = $2; else if ($1 == "```sh") out = "commands.sh"; next }
	out { print > out }' "$root/docs/ci.md"
for f in filter.bpf.c cases.yaml xdp.yaml commands.sh; do
	[ -s "$f" ] || {
		echo "FAILED: docs/ci.md has no $f"
		exit 1
	}
done

failed=0
ran=0
run() {
	ran=$((ran + 1))
	if ! bash -c "$1" >out 2>&1; then
		echo "FAILED: $1"
		sed 's/^/    /' out
		failed=$((failed + 1))
	fi
}

while read -r command; do
	case $command in
	weir/scripts/*)
		[ -x "$root/${command#weir/}" ] || [ -x "$root/$(echo "${command#weir/}" | cut -d' ' -f1)" ] ||
			failed=$((failed + 1))
		;;
	*) run "$command" ;;
	esac
done < <(sed -n 's/^ *run: //p' xdp.yaml)
while read -r command; do
	[ -n "$command" ] && run "$command"
done <commands.sh
[ -s results.xml ] || failed=$((failed + 1))

# A case that is wrong must be seen.
sed 's/verdict: XDP_DROP/verdict: XDP_PASS/' cases.yaml >wrong.yaml
weir test -c wrong.yaml >out 2>&1 && failed=$((failed + 1))

echo "$ran commands run, $failed failed"
[ $failed -eq 0 ] && [ $ran -ge 10 ]
