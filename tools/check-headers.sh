#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each header compiles alone, in C and (the public one) in C++, and has the guard that its path gives:
# tools/check-headers.sh OBJDIR
set -u

out=${1:-build}
cc=${CC:-gcc}
bad=0

fail() {
	echo "$1" >&2
	bad=1
}

for h in include/*.h $(find user -name '*.h' | sort); do
	case $h in
	include/*) path=${h#include/} ;;
	*) path=${h#user/} ;;
	esac
	guard=D9_$(echo "${path%.h}" | tr 'a-z/.-' 'A-Z___')_H
	grep -q "^#ifndef $guard\$" "$h" || fail "$h: the include guard is not $guard"
	"$cc" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Iuser "-I$out/bpf" \
		-fsyntax-only -x c "$h" || fail "$h: does not compile alone"
done
if [ -f include/dial9.h ] && command -v g++ >/dev/null 2>&1; then
	echo '#include "dial9.h"' | g++ -std=c++11 -Wall -Wextra -Werror -Iinclude -fsyntax-only \
		-x c++ - || fail "include/dial9.h: does not compile as C++"
fi
exit $bad
