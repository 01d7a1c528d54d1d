/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_OPTS_H
#define D9_BASE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an option's value is, and what lies at `off` in the command's struct. */
enum opt_kind {
	OPT_FLAG, /* bool, set true */
	OPT_NOT, /* bool, set false: --no-x */
	OPT_COUNT, /* int, one more each time: -vv */
	OPT_STR, /* const char *, borrowed from argv; never empty */
	OPT_U32, /* uint32_t */
	OPT_U64, /* uint64_t */
	OPT_SIZE, /* uint64_t bytes */
	OPT_DURATION, /* uint64_t ns */
	OPT_CHOICE, /* int, index in choices */
	OPT_LIST, /* struct opt_list: repeatable; none is empty */
	/* the same, of the last value of the list at `of`: as long as that one or shorter, NULL for none */
	OPT_LIST_OF,
	OPT_INT, /* int, which may be negative */
	OPT_PIDS, /* struct opt_u32s: list with commas or blanks, repeatable; 0 is refused */
	OPT_CPUS, /* struct opt_u32s: "0-3,8", repeatable */
	OPT_HELP, /* nothing; prints the help */
};

/* Values in order, borrowed from argv. */
struct opt_list {
	const char **v;
	size_t cnt;
};

struct opt_u32s {
	uint32_t *v;
	size_t cnt;
};

struct opt {
	const char *name; /* without dashes; NULL when there is only a key */
	char key; /* 0 when there is only a name */
	enum opt_kind kind;
	size_t off;
	const char *arg; /* what the help calls the value; NULL: from the kind */
	const char *help; /* NULL hides the option: an alias kept for old hands */
	const char *group; /* heading in the help; NULL: that of the row before */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
	const char *implied; /* the value when none is attached: -z, --compress[=LEVEL] */
	uint64_t min,
		max; /* numbers: bounds; max 0 = the kind's own. OPT_DURATION: min 1 is above 0 */
	int int_min, int_max; /* OPT_INT: bounds */
	size_t of; /* OPT_LIST_OF */
	const char *of_what; /* OPT_LIST_OF: the option before it, for an error: "-e" */
	bool many; /* OPT_PIDS: bare numbers behind the value belong to it: -p $(pidof app) */
};

struct opt_spec {
	const char *name; /* the command's word: "report" */
	const char *usage; /* the usage line after "Usage: " */
	const char *brief; /* one sentence */
	const struct opt *opts;
	size_t cnt;
	const char *examples; /* printed as they are; may be NULL */
	bool stop_at_word; /* the first word that is no option ends the options */
};

/*
 * Parses argv[1..] into dst, which holds the defaults. Takes --name=value, --name value, -kVALUE,
 * -k VALUE, clustered flags, and options between positional words; "--" ends options. argv is
 * reordered so that the positional words come last; *first_positional is the index of the first
 * (argc when none).
 * Returns 0, 1 when help or completions were asked for and printed to standard output, or -EINVAL after one line
 * on standard error. opts_fini() frees in all three cases.
 */
int opts_parse(const struct opt_spec *spec, int argc, char **argv, void *dst,
	       int *first_positional);

/*
 * Completions and tests get their lists from `dial9-prof [SUBCOMMAND] --completion`: for each option and each word one
 * line "KEY\tNAME\tVALUE\tHELP". KEY, NAME and VALUE are "-" if there is none. "[VALUE]" is optional. The NAME of an
 * option starts with dashes, that of a word does not. opts_parse() prints the options; commands with words of their
 * own print these first.
 */
bool opts_is_completion(int argc, char **argv);
/* Prints the line of a word, such as a subcommand or an export format. */
void opts_print_word(const char *word, const char *brief);

/* Frees what lists in dst hold. */
void opts_fini(const struct opt_spec *spec, void *dst);

/* Which of cnt words the n bytes at s are; -1: none. Words may be NULL. */
int opts_word(const char *s, size_t n, const char *const *words, size_t cnt);

/* The word among n that `word` was likely meant to be, or NULL when none is near. */
const char *opts_nearest(const char *word, const char *const *words, size_t n);

#endif /* D9_BASE_OPTS_H */
