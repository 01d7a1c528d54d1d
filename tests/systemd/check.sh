#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is tried in a guest of tools/systemd-guest.sh, in two boots. Prints "@@ok TEXT" or "@@not ok TEXT" for each
# expectation, and "@@end" before the guest goes down.
dir=/var/lib/private/dial9-prof
budget=$((24 << 20))

expect() { # TEXT COMMAND ARG...
	text=$1
	shift
	if "$@" >/tmp/said 2>&1; then
		echo "@@ok $text"
	else
		echo "@@not ok $text"
		cat /tmp/said
		journalctl --no-pager -q -n 15 -u dial9-prof.service -u dial9-prof@victim.service
	fi
}

# Until a command succeeds, for a minute of the guest's.
wait_for() {
	tries=600
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

property() { # UNIT NAME
	systemctl show -P "$2" "$1"
}

is() { # UNIT NAME VALUE
	[ "$(property "$1" "$2")" = "$3" ]
}

says() { # UNIT TEXT
	case $(property "$1" StatusText) in
	"$2"* | "Recording: "*) return 0 ;;
	esac
	return 1
}

main_pid() {
	property dial9-prof.service MainPID
}

# The number of the file that is being written.
number_now() { # NAME
	for file in "$dir/$1".*.bin.active; do
		file=${file#"$dir/$1."}
		echo "${file%.bin.active}"
	done | sort -n | tail -n 1
}

has_moved_on() { # NAME NUMBER
	[ "$(number_now "$1")" -gt "$2" ]
}

load() { # ROUNDS
	n=$1
	while [ "$n" -gt 0 ]; do
		/bin/true
		n=$((n - 1))
	done
}

fits_budget() {
	[ "$(cat "$dir"/host.*.bin* | wc -c)" -le $budget ]
}

# Another user than root, and once it records without CAP_SYS_ADMIN (21).
is_unprivileged() { # PID
	permitted=$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$1/status")
	grep '^Uid:' "/proc/$1/status"
	echo "$permitted"
	[ -n "$permitted" ] && [ $((0x$permitted >> 21 & 1)) = 0 ] && ! grep -q '^Uid:[[:space:]]*0[[:space:]]' "/proc/$1/status"
}

all_valid() {
	for file in "$dir"/*.bin*; do
		dial9-prof info "$file" >/tmp/info 2>&1 || { echo "info $file: $?"; cat /tmp/info; return 1; }
		dial9-prof dump "$file" 2>&1 >/dev/null | grep -q . && { echo "dump $file"; return 1; }
	done
	[ -e "$file" ]
}

has_no_helpers() {
	! grep -lqs '^d9-' /proc/[0-9]*/comm
}

first_boot() {
	expect "the start is over when it records" is dial9-prof.service ActiveState active
	expect "it says what it does" says dial9-prof.service "Recording to /var/lib/dial9-prof/host"
	expect "it is not root" is_unprivileged "$(main_pid)"
	load 200

	before=$(number_now host)
	expect "systemctl reload works" systemctl reload dial9-prof.service
	expect "a reload starts a new file" wait_for has_moved_on host "$before"
	expect "it is active after that" wait_for is dial9-prof.service ActiveState active
	load 100

	before=$(number_now host)
	kill -9 "$(main_pid)"
	expect "one that is killed comes back" wait_for is dial9-prof.service NRestarts 1
	expect "it records again" wait_for is dial9-prof.service ActiveState active
	expect "its files go on" wait_for has_moved_on host "$before"
	expect "the file that was torn is finished" test ! -e "$dir/host.$before.bin.active"
	load 100

	kill -STOP "$(main_pid)"
	expect "the watchdog ends one that hangs" wait_for is dial9-prof.service NRestarts 2
	expect "and it comes back" wait_for is dial9-prof.service ActiveState active

	pid=$(main_pid)
	dd if=/dev/zero of="$dir/filler" bs=64k 2>/dev/null
	load 300
	expect "it is there while the disk is full" is dial9-prof.service MainPID "$pid"
	rm "$dir/filler"
	before=$(number_now host)
	systemctl reload dial9-prof.service
	expect "it writes when there is room again" wait_for has_moved_on host "$before"

	systemctl start victim.service
	expect "a service is recorded alone" systemctl start dial9-prof@victim.service
	pid=$(property dial9-prof@victim.service MainPID)
	load 100
	systemctl restart victim.service
	expect "it is recorded anew when it starts anew" wait_for sh -c \
		"[ \$(systemctl show -P MainPID dial9-prof@victim.service) -gt $pid ]"
	expect "its recorder is active" wait_for is dial9-prof@victim.service ActiveState active
	load 100
	systemctl stop victim.service
	expect "the recorder stops with its service" wait_for is dial9-prof@victim.service ActiveState inactive
	expect "without a failure" is dial9-prof@victim.service Result success
	load 100
	expect "the budget holds" fits_budget

	cp /etc/default/dial9-prof /tmp/options
	echo 'DIAL9_PROF_OPTIONS="--no-such-option"' >/etc/default/dial9-prof
	systemctl restart dial9-prof.service
	expect "a usage error fails" wait_for is dial9-prof.service ActiveState failed
	expect "and is not tried again" is dial9-prof.service NRestarts 0
	cp /tmp/options /etc/default/dial9-prof
	systemctl reset-failed dial9-prof.service
	expect "it starts when the options are right" systemctl start dial9-prof.service
}

second_boot() {
	expect "it records after a reboot" is dial9-prof.service ActiveState active
	load 300
	expect "the budget holds over boots" fits_budget
	expect "it stops" systemctl stop dial9-prof.service
	expect "it stops without a failure" is dial9-prof.service Result success
	expect "no helper process is left" has_no_helpers
	expect "no file is left open" test -z "$(number_now host | grep -v '\*')$(number_now service.victim | grep -v '\*')"
	expect "each file is valid" all_valid
	expect "the files of the system are one set" dial9-prof info /var/lib/dial9-prof/host
	expect "the files of a service are another" dial9-prof info /var/lib/dial9-prof/service.victim
	expect "the budget holds at the end" fits_budget
	ls -l "$dir"
}

if [ -e /d9/booted ]; then
	second_boot
	echo "@@end"
	systemctl poweroff --no-block
else
	: >/d9/booted
	first_boot
	echo "@@end"
	systemctl reboot --no-block
fi
