# SPDX-License-Identifier: BSD-2-Clause
# fish completion for dial9-prof. All words and options come from `dial9-prof [SUBCOMMAND] --completion`: lines of
# KEY, NAME, VALUE and HELP, separated by tabs, "-" for none. Words, such as subcommands, have names without dashes.

# Prints the lines of the subcommand that was typed. With "words", those of a word that may stand here, or nothing.
function __dial9_prof_lines
    set -l typed (commandline -opc)[2..-1]
    set -l path
    set -l lines (dial9-prof --completion 2>/dev/null)
    for word in $typed
        string match -q -- -\t"$word"\t'*' $lines; or break
        # A word without options of its own, such as a format, has those of the word before it.
        set -l more (dial9-prof $path $word --completion 2>/dev/null); or break
        set path $path $word
        set lines $more
    end
    test "$argv[1]" = words; and test (count $path) -ne (count $typed); and return
    printf '%s\n' $lines
end

function __dial9_prof_words
    __dial9_prof_lines words | string replace -rf -- '^-\t([^-\t][^\t]*)\t-\t(.*)$' '$1'\t'$2'
end

function __dial9_prof_options
    __dial9_prof_lines | string replace -rf -- '^\S+\t(--[^\t]+)\t[^\t]*\t(.*)$' '$1'\t'$2'
end

complete -c dial9-prof -a '(__dial9_prof_words)'
complete -c dial9-prof -n 'string match -q -- "-*" (commandline -ct)' -a '(__dial9_prof_options)'
