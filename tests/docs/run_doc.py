#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Executes the commands of a document: every ```sh block, in order, in one bash in an empty directory, with weir in PATH.
A block fails when a command in it fails (`set -e`); a command that is meant to fail ends in `|| test $? = 1`.
After a block that is followed by a ```text block, each line of the text that has no digit must be in the output
(figures differ from run to run, words do not).

usage: run_doc.py DOC WEIR EXAMPLES
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(text):
    """Yields (line number, kind, body) of each fenced block."""
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 2, match.group(1), match.group(2)


def main():
    doc, weir, examples = sys.argv[1:4]
    path = f"{os.path.dirname(os.path.abspath(weir))}:{os.environ['PATH']}"
    env = dict(os.environ, PATH=path, EXAMPLES=examples)
    failed = ran = 0
    output = ""
    with tempfile.TemporaryDirectory() as scratch:
        for line, kind, body in blocks(pathlib.Path(doc).read_text(encoding="utf-8")):
            if kind == "sh":
                run = subprocess.run(["bash", "-ec", "shopt -s expand_aliases\n" + body], cwd=scratch, env=env,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, timeout=120)
                output = run.stdout
                ran += 1
                if run.returncode:
                    failed += 1
                    print(f"{output}\n{doc}:{line}: exit code {run.returncode}")
            elif kind == "text":
                seen = [" ".join(l.split()) for l in output.splitlines()]
                for wanted in body.splitlines():
                    wanted = " ".join(wanted.split())
                    if wanted and wanted != "..." and not re.search(r"\d", wanted) and wanted not in seen:
                        failed += 1
                        print(f"{output}\n{doc}:{line}: not in the output: {wanted}")
    print(f"{doc}: {ran} blocks run, {failed} failures")
    sys.exit(1 if failed or not ran else 0)


main()
