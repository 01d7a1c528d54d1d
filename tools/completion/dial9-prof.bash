# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# bash completion for dial9-prof. Options and the words they take are read from the program's own
# --help, so nothing here goes stale; only the commands are listed.

_dial9_prof_commands="record top report offcpu sched wakeup explain polls script info dump convert diff export view cut symbolize merge list check"

# "-p --pid PID,..." a line: key or "-", name or "-", value or "-".
_dial9_prof_options() { # PROGRAM COMMAND [WORD]
	"$@" --help 2>/dev/null | sed -n \
		-e 's/^  -\([^-]\), --\([a-z0-9-]*\)\(\[\{0,1\}=\([^] ]*\)]\{0,1\}\)\{0,1\}.*/-\1 --\2 \4/p' \
		-e 's/^      --\([a-z0-9-]*\)\(\[\{0,1\}=\([^] ]*\)]\{0,1\}\)\{0,1\}.*/- --\1 \3/p' \
		-e 's/^  -\([^-]\)\( \([A-Z][^ ]*\)\)\{0,1\}\( .*\)\{0,1\}$/-\1 - \3/p'
}

# The words of a command that has some of its own, by its help: "  latency   how long ...".
_dial9_prof_words() { # PROGRAM COMMAND
	"$1" "$2" --help 2>/dev/null | sed -n 's/^  \([a-z-]*\)  .*/\1/p'
}

# Of an option that takes several words with commas between, all that its help names: "any of comm,pid,tid".
_dial9_prof_keys() { # KEY NAME PROGRAM COMMAND [WORD]
	local key=$1 name=$2
	shift 2
	"$@" --help 2>/dev/null | awk -v key="-$key," -v name="$name=" '
		/^  *-/ { on = index($0, "  " key " ") == 1 || index($0, name) > 0 }
		/^$/ { on = 0 }
		on { text = text " " $0 }
		END { if (match(text, /[a-z]+(,[a-z]+)(,[a-z]+)+/)) print substr(text, RSTART, RLENGTH) }'
}

_dial9_prof() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} command="" sub="" word i key name value words=""

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			return
		fi
		if [ -z "$command" ] && [[ " $_dial9_prof_commands " = *" $word "* ]]; then
			command=$word
		elif [ "$command" = sched ] && [ -z "$sub" ] && [[ " latency timehist map summary " = *" $word "* ]]; then
			sub=$word
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
			case $value in
			KEYS | LIST) _dial9_prof_list "$cur" "$(_dial9_prof_keys "${key#-}" "$name" \
				"$program" "${command:-record}" ${sub:+"$sub"})" ;;
			*) _dial9_prof_value "$value" "$cur" ;;
			esac
			return
		fi
	done < <(_dial9_prof_options "$program" "${command:-record}" ${sub:+"$sub"} | sort -u)

	if [[ $cur = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	elif [ -z "$command" ] && [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_dial9_prof_commands" -- "$cur")
	elif [ "$COMP_CWORD" -eq 2 ] && { [ "$prev" = export ] || [ "$prev" = sched ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "$(_dial9_prof_words "$program" "$prev")" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

# The last of some words with commas between.
_dial9_prof_list() { # TYPED WORDS
	local before=""
	[[ $1 = *,* ]] && before=${1%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "${2//,/ }" -- "${1##*,}")
	compopt -o nospace 2>/dev/null
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
