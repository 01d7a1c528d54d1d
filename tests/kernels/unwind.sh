# SPDX-License-Identifier: BSD-2-Clause
# In a guest: stacks of a program whose call chains are known, by .eh_frame and by frame pointers.
# shellcheck shell=sh
# shellcheck source=tests/kernels/lib.sh
. /checks/lib.sh

rounds=300

# Attached before the program starts to work; tables may come a little later.
chains() { # NAME OPTION...
	name=$1
	shift
	load_start unwind_chain $rounds || { verdict "$name" 1 "no workload: $(cat load.err)"; return; }
	record_start "/out/$name.bin" -p "$load" -F 499 "$@"
	load_run
	record_end
	code=$?
	load_end
	echo "tid=$load rounds=$rounds" >"/out/$name.truth"
	verdict "$name" $code "$(why_not "/out/$name.bin")"
}

uname -r >/out/release
chains chains
chains chains-fp --call-graph fp
