# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
# The time limit of the test scripts; they read this file in.
#
# limited COMMAND...: runs it for D9_CASE_TIMEOUT seconds (120) at most, with all that it starts. A command
# that took longer is killed, its status is 124 or, where it ignored SIGTERM, 137, and standard error names it.

limited() {
	timeout -k 5 "${D9_CASE_TIMEOUT:-120}" "$@"
	limited_rc=$?
	case $limited_rc in
	124 | 137) echo "took longer than ${D9_CASE_TIMEOUT:-120} s and was killed: $*" >&2 ;;
	esac
	return $limited_rc
}
