#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The names of this architecture's error numbers, from the headers that the compiler uses, as a table in C on
# standard output. Names that stand for another name (EWOULDBLOCK) are skipped.
# tools/gen-errnos.sh [COMPILER...]   (cc)
set -eu

[ $# -gt 0 ] || set -- cc
cat <<'EOF'
/* Made by tools/gen-errnos.sh. */
static const char *const errno_names[] = {
EOF
echo '#include <errno.h>' | "$@" -E -dM - |
	sed -n 's/^#define \(E[A-Z0-9]*\) \([0-9][0-9]*\)$/	[\2] = "\1",/p' | LC_ALL=C sort
echo '};'
