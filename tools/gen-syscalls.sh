#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The names of this architecture's system calls, from the kernel headers that the compiler uses, as a table in
# C on standard output.
# tools/gen-syscalls.sh [COMPILER...]   (cc)
set -eu

[ $# -gt 0 ] || set -- cc
cat <<'EOF'
/* Made by tools/gen-syscalls.sh. */
#include <asm/unistd.h>

static const struct {
	unsigned int number;
	const char *name;
} syscall_names[] = {
EOF
echo '#include <asm/unistd.h>' | "$@" -E -dM - |
	sed -n -e '/__NR_syscalls /d' -e '/__NR_arch_specific_syscall /d' \
		-e 's/^#define __NR_\([a-z0-9_]*\) .*/	{ __NR_\1, "\1" },/p' | LC_ALL=C sort
echo '};'
