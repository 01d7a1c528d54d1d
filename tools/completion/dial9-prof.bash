# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# bash completion for dial9-prof. All words and options come from `dial9-prof [SUBCOMMAND] --completion`: lines of
# KEY, NAME, VALUE and HELP, separated by tabs, "-" for none. Words, such as subcommands, have names without dashes.

_dial9_prof() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} lines more words options="" equals="" word i at=1 key name value text
	local -a path=()

	lines=$("$program" --completion 2>/dev/null)
	words=$(_dial9_prof_words "$lines")
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			return
		fi
		if ((i == at)) && [[ " $words " = *" $word "* ]]; then
			at=$((i + 1))
			words=""
			# A word without options of its own, such as a format, has those of the word before it.
			if more=$("$program" "${path[@]}" "$word" --completion 2>/dev/null); then
				path+=("$word")
				lines=$more
				words=$(_dial9_prof_words "$lines")
			fi
		fi
	done

	# bash breaks words at "=": --name = value
	if [ "$cur" = = ]; then
		cur=
		equals=1
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
		equals=1
	fi

	while IFS=$'\t' read -r key name value text; do
		[[ $name = -* ]] || continue
		if [ "$name" = - ]; then options="$options $key"; else options="$options $name"; fi
		[ "$value" != - ] && { [ "$prev" = "$key" ] || [ "$prev" = "$name" ]; } || continue
		if [[ $value = \[* ]]; then
			[ -n "$equals" ] || continue
			value=${value#[}
			value=${value%]}
		fi
		case $value in
		KEYS | LIST) _dial9_prof_list "$cur" "$text" ;;
		*) _dial9_prof_value "$value" "$cur" ;;
		esac
		return
	done <<<"$lines"

	if [[ $cur = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
	elif [ -n "$words" ] && ((COMP_CWORD == at)); then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

_dial9_prof_words() { # LINES
	cut -f 2 <<<"$1" | sed '/^-/d' | tr '\n' ' '
}

# The last of some words with commas between, of those that the help names: "comm,pid,tid".
_dial9_prof_list() { # TYPED HELP
	local before="" list='[a-z]+(,[a-z]+)(,[a-z]+)+'
	[[ $1 = *,* ]] && before=${1%,*},
	[[ $2 =~ $list ]] || return
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "${BASH_REMATCH[0]//,/ }" -- "${1##*,}")
	compopt -o nospace 2>/dev/null
}

_dial9_prof_value() { # WHAT-THE-HELP-CALLS-IT TYPED
	local words="" word
	case $1 in
	*'|'*)
		# Only fixed text can be completed: zstd in zstd[:LEVEL], fd: in fd:N.
		for word in ${1//|/ }; do
			words="$words ${word%%[][[:upper:]]*}"
		done
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
		;;
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
