#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Finds the BPF ELF images embedded in a binary (skeletons) and writes each to OUT/STEM-N.o.

usage: carve-elf.py OUT BINARY...
"""
import pathlib
import struct
import sys

EM_BPF = 0xF7


def images(blob):
    """Yields (offset, bytes) of each 64-bit little-endian BPF ELF: its end is that of its section headers."""
    at = blob.find(b"\x7fELF\x02\x01\x01")
    while at >= 0:
        header = blob[at:at + 64]
        if len(header) == 64 and struct.unpack_from("<H", header, 18)[0] == EM_BPF:
            (shoff,) = struct.unpack_from("<Q", header, 40)
            shentsize, shnum = struct.unpack_from("<HH", header, 58)
            end = at + shoff + shentsize * shnum
            if end <= len(blob):
                yield at, blob[at:end]
        at = blob.find(b"\x7fELF\x02\x01\x01", at + 1)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        found = list(images(path.read_bytes()))
        for n, (_, image) in enumerate(found):
            (out / f"{path.name.split('.')[0]}-{n}.o").write_bytes(image)
        print(f"{name}: {len(found)} objects")


main()
