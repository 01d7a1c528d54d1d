# SPDX-License-Identifier: BSD-2-Clause
# Counts the stacks of tests/stimuli/unwind_chain.c in `dial9-prof script -F comm,tid,event,sym,end`:
#   chains    stacks of its leaf, and how many of them are whole, end early, or claim to be whole and are not
#   callers   stacks of its leaf with symbols of the callers that frame pointers lead to
#   handlers  stacks of its signal handler that reach main
#   sleeps    stacks of its naps that reach main
BEGIN { RS = ""; FS = "\n" }
# An event without a stack is not separated from the next one by an empty line.
{ while ($0 ~ /^[^\t\n]*\n[^\t]/) sub(/^[^\n]*\n/, "") }
!/^ *unwind_chain/ || !/ chain_/ { next }
/ chain_in_handler(\n| ).* chain_leaf(\n| ).* main(\n|$)/ { handlers++ }
/ chain_sleeps(\n| ).* main(\n|$)/ { sleeps++ }
!/ chain_leaf/ { next }
{ chains++ }
/ chain_leaf\n[^\n]* (chain_sized\n[^\n]* chain_huge|chain_in_handler)(\n|$)/ { callers++ }
/\[ends here/ { early++; next }
/ chain_leaf\n.* chain_sized\n.* chain_huge\n.* chain_deep\n.* (main|chain_thread)\n/ { whole++; next }
/ chain_in_handler\n.* main\n/ { whole++; next } # what it interrupted may be any place
{ wrong++ }
END {
	printf "{\"chains\": %d, \"whole\": %d, \"early\": %d, \"callers\": %d, \"wrong\": %d, \"handlers\": %d, \"sleeps\": %d}\n", \
		chains, whole, early, callers, wrong, handlers, sleeps
}
