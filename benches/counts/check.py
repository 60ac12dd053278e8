"""Instruction counts of the kernels in `main.rs` under valgrind, against the recorded ones.

    python benches/counts/check.py            fails if a kernel needs more than 5 % more instructions than recorded
    python benches/counts/check.py --record   writes what it counts to recorded.json

Counts repeat exactly on a busy machine, where times do not. They depend on compiler and instruction set: record
again, in a commit of its own, when the toolchain changes.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDED = HERE / "recorded.json"
RISE = 0.05


def build():
    """Compile the kernels and return the path of the program."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "itoscope-benches", "--bin", "counts"]
    subprocess.run(
        [*command, "--message-format", "json-render-diagnostics"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
    )
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
    )
    return Path(json.loads(metadata.stdout)["target_directory"]) / "release" / "counts"


def count(program, kernel):
    """Instructions that a kernel executes inside `counted_region`."""
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--toggle-collect=counted_region",
                f"--callgrind-out-file={directory}/out",
                program,
                kernel,
            ],
            check=True,
            text=True,
            stderr=subprocess.PIPE,
        )
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the counts instead of comparing them")
    record = parser.parse_args().record
    program = build()
    kernels = subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    recorded = {} if record else json.loads(RECORDED.read_text())
    counts, failed = {}, []
    for kernel in kernels:
        counts[kernel] = count(program, kernel)
        former = recorded.get(kernel)
        change = "new" if former is None else f"{counts[kernel] / former - 1:+.1%}"
        print(f"{kernel:28s}{counts[kernel]:14,d}  {'' if record else change}", flush=True)
        if former is not None and counts[kernel] > (1 + RISE) * former:
            failed.append(kernel)
    if record:
        RECORDED.write_text(json.dumps(counts, indent=2) + "\n")
    elif failed:
        sys.exit(f"more than {RISE:.0%} above the record: {', '.join(failed)}")


if __name__ == "__main__":
    main()
