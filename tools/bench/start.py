#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Start and stop of a recording: tools/bench/start.py [ROUNDS [PROGRAM...]]  (10 build/dial9-prof; needs root, perf)

Records a process that sleeps 200 us at a time, and node with a timer, by each PROGRAM and by `perf record -g`,
interleaved. Prints the least and the median of all rounds, in milliseconds:

  first  from before exec of the recorder to the first switch of the target in its file
  last   from the last switch of the target in its file to the exit of the recorder
  CPU    of the recorder and its children

All times are CLOCK_MONOTONIC; those of switches are read back by `script` of the recorder itself.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SECONDS = "0.3"
TARGETS = {
    "small": [os.path.join(os.environ.get("D9_BUILD", "build"), "stimuli/sleeper"), "--now", "1000000000", "200"],
    "node": ["node", "-e", "setInterval(() => {}, 1)"],
}


def run(command):
    """Runs a recorder. Times of its start and end, and its CPU time."""
    begin = time.monotonic_ns()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    end = time.monotonic_ns()
    if status:
        sys.exit(f"bench: {' '.join(command)} failed")
    return begin, end, usage.ru_utime + usage.ru_stime


def switches(command):
    """Times of the first and last switch that a script command prints, in nanoseconds."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    times = [round(float(word.rstrip(":")) * 1e9) for word in text]
    if not times:
        sys.exit(f"bench: {' '.join(command)} prints no switch")
    return times[0], times[-1]


def measure(program, pid, out):
    if program == "perf":
        record = ["perf", "record", "-q", "-g", "-k", "CLOCK_MONOTONIC", "-e", "sched:sched_switch", "-p", pid,
                  "-o", out, "--", "sleep", SECONDS]
        script = ["perf", "script", "--ns", "-G", "-F", "time", "-i", out]
    else:
        record = [program, "record", "-q", "-p", pid, "-d", SECONDS, "-o", out]
        script = [program, "script", "--ns", "-e", "sched:sched_switch", "-F", "time", "-i", out]
    begin, end, cpu = run(record)
    first, last = switches(script)
    return (first - begin) / 1e6, (end - last) / 1e6, cpu * 1e3


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    programs = sys.argv[2:] or ["build/dial9-prof"]
    if os.geteuid():
        sys.exit("bench: recording needs root")
    if not shutil.which("perf"):
        sys.exit("bench: perf is not installed (linux-perf)")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "trace")
        print(f"{'target':8}{'recorder':32}{'first':>16}{'last':>16}{'CPU':>16}")
        for name, command in TARGETS.items():
            if not shutil.which(command[0]):
                continue
            target = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            results = {program: [] for program in [*programs, "perf"]}
            for _ in range(rounds):
                for program, rows in results.items():
                    rows.append(measure(program, str(target.pid), out))
            target.kill()
            target.wait()
            for program, rows in results.items():
                cells = [f"{min(column):.0f} / {statistics.median(column):.0f}" for column in zip(*rows)]
                print(f"{name:8}{program[-30:]:32}" + "".join(f"{cell:>16}" for cell in cells))


main()
