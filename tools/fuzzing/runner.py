"""Seeded hostile calls: all kinds for a while, or one kind of given seeds, each in a child that may die.

python tools/fuzzing/runner.py SECONDS [FIRST_SEED] [--calls ENOUGH]
python tools/fuzzing/runner.py KIND FIRST_SEED COUNT

A fuzzer is a module here with `KINDS = {name: function(rng)}`: the function makes its input from `rng`, calls the
package and raises `Wrong` for an answer that is wrong without a word. All else that may come of a call is an answer or
an error of itoscope. Printed are a line of counts for each kind and the distinct faults with their seeds, those of
a long run when they are found and at its end; the exit code is 1 after any.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from itoscope.errors import ItoscopeError
from wrong import Wrong

MODULES = ("files", "expressions", "trajectories", "sampler", "discoveries", "parts", "parity")
#: Address space of a child, and seconds of its processor, or of the clock on a busy machine, after which it hangs.
MEMORY, LIMIT, SLEPT = 8 * 2**30, 10, 300
#: Seeds that a child takes in its turn.
TURN = {"noisy": 30, "measured": 60, "exact": 30, "filters": 30, "parts": 60, "many": 60}
USUAL_TURN = 600


class TooLong(BaseException):
    """The alarm: of no class that anybody catches."""


def kinds() -> dict[str, str]:
    """The module of each kind."""
    return {kind: name for name in MODULES for kind in importlib.import_module(name).KINDS}


def call(function: Any, kind: str, seed: int) -> dict[str, Any]:
    """What comes of one call."""
    began = time.process_time()
    what, text, where = "answered", "", ""
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    signal.alarm(SLEPT)
    try:
        function(np.random.default_rng([zlib.crc32(kind.encode()), seed]))
    except ItoscopeError as problem:
        what, text = "refused", f"{type(problem).__name__}: {problem}"
    except Wrong as problem:
        what, text = "WRONG", str(problem)
    except TooLong as problem:
        what, text, where = "HANG", f"over {LIMIT} s", place(problem)
    except BaseException as problem:
        what, text, where = "FOREIGN", f"{type(problem).__name__}: {problem}", place(problem)
        if "Panic" in type(problem).__name__:
            what = "PANIC"
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    cpu = round(time.process_time() - began, 2)
    return {"seed": seed, "what": what, "text": text[:300], "where": where, "cpu": cpu}


def place(problem: BaseException) -> str:
    """The last lines of the package that an exception came by."""
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if "fuzzing" not in f.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[-3:][::-1])


def child(kind: str, first: int, count: int, journal: str) -> None:
    """Make the calls and write down each before it begins and when it has ended."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")

    def alarm(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, alarm)
    signal.signal(signal.SIGPROF, alarm)
    function = importlib.import_module(kinds()[kind]).KINDS[kind]
    with open(journal, "a", buffering=1) as out:
        for seed in range(first, first + count):
            out.write(json.dumps({"began": seed}) + "\n")
            out.write(json.dumps(call(function, kind, seed)) + "\n")


def calls(kind: str, first: int, count: int) -> list[dict[str, Any]]:
    """The outcomes of `count` calls; where a child dies, that seed is an ABORT and another goes on after it."""
    found: list[dict[str, Any]] = []
    at, end = first, first + count
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        while at < end:
            journal.write_text("")
            command = [sys.executable, __file__, kind, str(at), str(end - at), "--journal", str(journal)]
            run = subprocess.run(command, capture_output=True, text=True)
            lines = [json.loads(line) for line in journal.read_text().splitlines()]
            found += [line for line in lines if "what" in line]
            if run.returncode == 0:
                break
            if not lines:
                raise SystemExit(run.stderr)
            dead = lines[-1].get("began", end - 1)
            text = f"exit code {run.returncode}: {run.stderr.strip()[-200:]}"
            found.append({"seed": dead, "what": "ABORT", "text": text, "where": "", "cpu": 0.0})
            at = dead + 1
    return found


def told(kind: str, found: list[dict[str, Any]]) -> int:
    """Print the counts and the distinct faults; return how many calls were faults."""
    counts = collections.Counter(one["what"] for one in found)
    cpu = [one["cpu"] for one in found]
    print(
        json.dumps({"kind": kind, "calls": len(found), **counts, "cpu": round(sum(cpu)), "slowest": max(cpu)})
    )
    faults = [one for one in found if one["what"] not in ("answered", "refused")]
    groups = collections.defaultdict(list)
    for one in faults:
        groups[one["what"], one["where"], one["text"].split(":")[0]].append(one)
    for (what, where, _), same in groups.items():
        print(
            f"  {len(same)} {what} {where} seeds {[one['seed'] for one in same[:6]]}: {same[0]['text']}",
            flush=True,
        )
    return len(faults)


def main() -> int:
    """Run one kind, or all in turn until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", help="a kind, or the seconds for all")
    parser.add_argument("first", type=int, nargs="?", help="the first seed; by default drawn from the clock")
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--calls", type=int, default=10**9, help="end after so many calls of all kinds")
    parser.add_argument("--journal", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    first = int(time.time()) if asked.first is None else asked.first
    if asked.journal:
        child(asked.kind, first, asked.count, asked.journal)
        return 0
    known = kinds()
    if asked.kind in known:
        return min(told(asked.kind, calls(asked.kind, first, asked.count)), 1)
    try:
        end = time.monotonic() + float(asked.kind)
    except ValueError:
        parser.error(f"{asked.kind!r}: a number of seconds, or one of {', '.join(known)}")
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in known}
    print(f"seeds from {first}", flush=True)
    while True:
        for kind in known:
            count = max(1, TURN.get(kind, USUAL_TURN) // (1 if float(asked.kind) > 100 else 10))
            now = calls(kind, first + len(found[kind]), count)
            if any(one["what"] not in ("answered", "refused") for one in now):
                told(kind, now)
            found[kind] += now
            made = sum(map(len, found.values()))
            if time.monotonic() > end or made >= asked.calls:
                faults = sum(told(kind, outcomes) for kind, outcomes in found.items() if outcomes)
                print(f"{made} calls, {faults} faults")
                return min(faults, 1)


if __name__ == "__main__":
    raise SystemExit(main())
