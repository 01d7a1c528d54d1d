# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# What comparisons with perf need. Sourced with $prog set: ends the script with one line if something is missing.

[ "$(id -u)" -eq 0 ] || { echo "bench: recording needs root" >&2; exit 1; }
command -v perf >/dev/null || { echo "bench: perf is not installed (linux-perf)" >&2; exit 1; }
[ -x "${prog:?}" ] || { echo "bench: no $prog: run make" >&2; exit 1; }
