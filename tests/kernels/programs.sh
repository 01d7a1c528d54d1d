# SPDX-License-Identifier: BSD-2-Clause
# In a guest: each program, alone, in each configuration that an option can select.
# shellcheck shell=sh
# shellcheck source=tests/kernels/lib.sh
. /checks/lib.sh

uname -r >/out/release
dial9-prof check >/out/check.txt 2>/out/check.refused
verdict check $? "$(head -n 1 /out/check.txt)"
[ -s /out/check.refused ] || rm /out/check.refused

# The configurations that the kernel's command line names, or all.
globs=$(sed -n 's/.*configurations=\([^ ]*\).*/\1/p' /proc/cmdline | tr , ' ')
set -f
for glob in ${globs:-*}; do
	dial9-prof check --programs="$glob" --json -v >/tmp/programs 2>/tmp/log
	code=$?
	cat /tmp/programs >>/out/programs.json
	verdict "programs of $glob" $code "$(grep -o '"reason":"[^"]*"' /tmp/programs | head -n 1)$(head -n 1 /tmp/log)"
done
