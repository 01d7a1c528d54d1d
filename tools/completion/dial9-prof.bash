# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# bash completion for dial9-prof. Options and the words they take are read from the program's own
# --help, so nothing here goes stale; only the commands are listed.

_dial9_prof_commands="record top report offcpu sched wakeup explain polls script info dump convert diff export view cut symbolize merge list check"

# "-p --pid PID,..." a line: key or "-", name or "-", value or "-".
_dial9_prof_options() { # PROGRAM COMMAND
	"$1" "$2" --help 2>/dev/null | sed -n \
		-e 's/^  -\([^-]\), --\([a-z0-9-]*\)\(\[\{0,1\}=\([^] ]*\)]\{0,1\}\)\{0,1\}.*/-\1 --\2 \4/p' \
		-e 's/^      --\([a-z0-9-]*\)\(\[\{0,1\}=\([^] ]*\)]\{0,1\}\)\{0,1\}.*/- --\1 \3/p' \
		-e 's/^  -\([^-]\)\( \([A-Z][^ ]*\)\)\{0,1\}\( .*\)\{0,1\}$/-\1 - \3/p'
}

_dial9_prof() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} command="" word i key name value words=""

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			return
		fi
		if [ -z "$command" ] && [[ " $_dial9_prof_commands " = *" $word "* ]]; then
			command=$word
		fi
	done

	# bash breaks words at "=": --name = value
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	while read -r key name value; do
		if [ "$name" = - ]; then words="$words $key"; else words="$words $name"; fi
		if [ -n "$value" ] && { [ "$prev" = "$key" ] || [ "$prev" = "$name" ]; }; then
			_dial9_prof_value "$value" "$cur"
			return
		fi
	done < <(_dial9_prof_options "$program" "${command:-record}")

	if [[ $cur = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	elif [ -z "$command" ] && [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_dial9_prof_commands" -- "$cur")
	elif [ "$prev" = export ] && [ "$COMP_CWORD" -eq 2 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" export --help 2>/dev/null |
			sed -n 's/^  \([a-z-]*\)  .*/\1/p')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

_dial9_prof_value() { # WHAT-THE-HELP-CALLS-IT TYPED
	case $1 in
	*'|'*) mapfile -t COMPREPLY < <(compgen -W "${1//|/ }" -- "$2") ;;
	PID* | TID*) mapfile -t COMPREPLY < <(
		for word in /proc/[0-9]*; do
			echo "${word#/proc/}"
		done | grep "^$2"
	) ;;
	FILE | DIR | PATH) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	*) COMPREPLY=() ;;
	esac
}

complete -o filenames -F _dial9_prof dial9-prof
