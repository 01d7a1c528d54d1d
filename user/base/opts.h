/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_OPTS_H
#define D9_BASE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Kind of an option's value, and its type at `off` in the command's struct */
enum opt_kind {
	OPT_FLAG, /* bool, set true */
	OPT_NOT, /* bool, set false: --no-x */
	OPT_COUNT, /* int, incremented each time: -vv */
	OPT_STR, /* const char *, borrowed from argv; never empty */
	OPT_U32, /* uint32_t */
	OPT_U64, /* uint64_t */
	OPT_SIZE, /* uint64_t bytes */
	OPT_DURATION, /* uint64_t ns */
	OPT_CHOICE, /* int, index in choices */
	OPT_LIST, /* struct opt_list: repeatable; empty values are refused */
	/* as OPT_LIST, for the last value of the list at `of`; may be shorter, with NULL entries */
	OPT_LIST_OF,
	OPT_INT, /* int, may be negative */
	OPT_PIDS, /* struct opt_u32s: list with commas or blanks, repeatable; 0 is refused */
	OPT_CPUS, /* struct opt_u32s: "0-3,8", repeatable */
	OPT_HELP, /* no value; prints the help */
};

/* Values in order, borrowed from argv */
struct opt_list {
	const char **v;
	size_t cnt;
};

struct opt_u32s {
	uint32_t *v;
	size_t cnt;
};

struct opt {
	const char *name; /* without dashes; NULL if there is only a key */
	char key; /* 0 if there is only a name */
	enum opt_kind kind;
	size_t off;
	const char *arg; /* name of the value in the help; NULL: default of the kind */
	const char *help; /* NULL hides the option: an old alias */
	const char *group; /* heading in the help; NULL: as in the row before */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
	const char *implied; /* value if none is attached: -z, --compress[=LEVEL] */
	uint64_t min,
		max; /* of numbers; max 0: default of the kind. OPT_DURATION: min 1 means above 0 */
	int int_min, int_max; /* OPT_INT: bounds */
	size_t of; /* OPT_LIST_OF */
	const char *of_what; /* OPT_LIST_OF: the option before it, for an error: "-e" */
	bool many; /* OPT_PIDS: following numbers are values, too: -p $(pidof app) */
};

struct opt_spec {
	const char *name; /* subcommand: "report" */
	const char *usage; /* text after "Usage: " */
	const char *brief; /* one sentence */
	const struct opt *opts;
	size_t cnt;
	const char *examples; /* printed unchanged; may be NULL */
	bool stop_at_word; /* the first argument that is not an option ends the options */
};

/* The members of struct opt_spec for a table of rows. */
#define OPT_ROWS(rows) .opts = (rows), .cnt = sizeof(rows) / sizeof((rows)[0])

/* Members of rows, and whole rows, that many commands have; @at is the row's `off`. */
#define OPT_LIMIT(at) .name = "limit", .kind = OPT_U64, .off = (at), .arg = "N"
#define OPT_OUTPUT(at) .name = "output", .key = 'o', .kind = OPT_STR, .off = (at), .arg = "FILE"
#define OPT_JSON(at) .name = "json", .kind = OPT_FLAG, .off = (at)
#define OPT_ROW_JSON(at)                                                                           \
	{                                                                                          \
		OPT_JSON(at), .help = "Print one JSON object"                                      \
	}
#define OPT_ROW_QUIET(at)                                                                          \
	{                                                                                          \
		.name = "quiet", .key = 'q', .kind = OPT_FLAG, .off = (at),                        \
		.help = "Do not print the summary"                                                 \
	}
#define OPT_ROW_HELP                                                                               \
	{                                                                                          \
		.name = "help", .key = 'h', .kind = OPT_HELP, .help = "Print this help"            \
	}

/*
 * Parses argv[1..] into dst, which holds the defaults. Accepts --name=value, --name value, -kVALUE,
 * -k VALUE, grouped flags, and options between positional arguments; "--" ends options. Reorders
 * argv so that positional arguments come last; *first_positional is the index of the first (argc if
 * there are none). Returns 0; 1 if it printed help or completions to standard output; -EINVAL after printing
 * one line to standard error. In each case the caller calls opts_fini().
 */
int opts_parse(const struct opt_spec *spec, int argc, char **argv, void *dst,
	       int *first_positional);

/*
 * Completions and tests get their lists from `dial9-prof [SUBCOMMAND] --completion`: for each option and each word one
 * line "KEY\tNAME\tVALUE\tHELP". KEY, NAME and VALUE are "-" if there is none. "[VALUE]" is optional. The NAME of an
 * option starts with dashes. opts_parse() prints the options; commands with words print these first.
 */
bool opts_is_completion(int argc, char **argv);
/* Prints the line of a word, such as a subcommand or an export format. */
void opts_print_word(const char *word, const char *brief);

/* Frees the lists in dst. */
void opts_fini(const struct opt_spec *spec, void *dst);

/* Index of the n bytes at s in @words, which has @cnt entries, some of them NULL; -1 if absent. */
int opts_word(const char *s, size_t n, const char *const *words, size_t cnt);

/* The entry of @words that is most similar to @word; NULL if none is similar. */
const char *opts_nearest(const char *word, const char *const *words, size_t n);

#endif /* D9_BASE_OPTS_H */
