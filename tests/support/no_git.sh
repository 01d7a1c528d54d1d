#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/support/no_git.sh DIR CC: prints linker options of test programs, and writes a library to DIR.
# Criterion's library needs libgit2 for the differences of long texts. It loads 14 more libraries, whose relocation is
# half of the CPU time of most tests, each of which is a process. The library of the same name in DIR has the same
# functions, which do nothing. Without libgit2 nothing is printed.
set -eu

criterion=$($2 -print-file-name=libcriterion.so)
name=$(readelf -d "$criterion" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(libgit2\..*\)\]/\1/p')
[ -n "$name" ] || exit 0
nm -D --undefined-only "$criterion" |
	sed -n 's/^ *U \(git_[a-z0-9_]*\).*/int \1(void);\nint \1(void)\n{\n\treturn 0;\n}/p' |
	$2 -shared -fPIC -O2 -x c "-Wl,-soname,$name" -o "$1/$name" -
echo "-Wl,--push-state,--no-as-needed $1/$name -Wl,--pop-state,-rpath,$1"
