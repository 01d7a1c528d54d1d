/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command line options from a table: each row defines parsing, bounds, help and completion.
 *
 * Owns the grammar (GNU long options, grouped letters, options between arguments, "--") and the
 * error messages. A message has the input, the allowed values and the nearest known option. Values
 * are written through an offset into the command's struct, so no command has a switch over its
 * options.
 */
#include "base/opts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

struct parser {
	const struct opt_spec *spec;
	int argc;
	char **argv;
	int next; /* index of the next argument */
	void *dst;
};

/* The option as typed, for messages: "--limit" or "-n" */
struct typed {
	const char *dashes;
	const char *text;
	int len;
};

/* Prints usage, options by group in two columns of at most 80, and examples. */
static void print_help(const struct opt_spec *spec, FILE *out);
static void print_completion(const struct opt_spec *spec);

/* False for options without a value, such as flags. */
static bool takes_value(enum opt_kind kind)
{
	return kind != OPT_FLAG && kind != OPT_NOT && kind != OPT_COUNT && kind != OPT_HELP;
}

static const struct opt *find_long(const struct opt_spec *spec, const char *name, size_t len)
{
	for (size_t i = 0; i < spec->cnt; i++) {
		const struct opt *o = &spec->opts[i];

		if (o->name && strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	}
	return NULL;
}

static const struct opt *find_key(const struct opt_spec *spec, char key)
{
	for (size_t i = 0; i < spec->cnt; i++) {
		if (spec->opts[i].key && spec->opts[i].key == key)
			return &spec->opts[i];
	}
	return NULL;
}

static int unknown(const struct parser *p, const struct typed *t)
{
	const struct opt_spec *spec = p->spec;
	const char **names = xcalloc(spec->cnt, sizeof(*names));
	char *word = xstrndup(t->text, t->len);
	const char *hint = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < spec->cnt; i++) {
		if (spec->opts[i].name && spec->opts[i].help)
			names[cnt++] = spec->opts[i].name;
	}
	if (t->len > 1)
		hint = opts_nearest(word, names, cnt);
	log_error("%s: unknown option %s%s%s%s%s; see dial9-prof %s --help", spec->name, t->dashes,
		  word, hint ? " (did you mean --" : "", hint ? hint : "", hint ? "?)" : "",
		  spec->name);
	free(word);
	free(names);
	return -EINVAL;
}

static int bad_value(const struct parser *p, const struct typed *t, const char *value,
		     const char *want)
{
	log_error("%s: bad value '%s' for %s%.*s: expected %s", p->spec->name, value, t->dashes,
		  t->len, t->text, want);
	return -EINVAL;
}

/* Appends a size with the largest unit that divides it: 4096 as 4K. */
static void add_size(struct buf *out, uint64_t v)
{
	static const char units[] = "KMG";
	int unit = -1;

	while (v && !(v % 1024) && units[unit + 1]) {
		v /= 1024;
		unit++;
	}
	buf_printf(out, "%" PRIu64, v);
	if (unit >= 0)
		buf_addch(out, units[unit]);
}

/* Appends a time with the largest unit that divides it: 100000000 as 100ms. */
static void add_time(struct buf *out, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 3600000000000, "h" }, { 60000000000, "m" }, { 1000000000, "s" },
		      { 1000000, "ms" },      { 1000, "us" },	    { 1, "ns" } };
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	buf_printf(out, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
}

static void add_wanted_time(struct buf *out, const struct opt *o)
{
	buf_addstr(out, "a time");
	if (o->min == 1)
		buf_addstr(out, " above 0");
	if (o->min > 1) {
		buf_addstr(out, o->max ? " from " : " of at least ");
		add_time(out, o->min);
	}
	if (o->max) {
		buf_addstr(out, o->min > 1 ? " to " : " up to ");
		add_time(out, o->max);
	}
	buf_addstr(out, " such as 10 (seconds), 500ms or 5m");
}

/* Appends a description of valid values with their bounds. */
static void add_wanted(struct buf *out, const struct opt *o, uint64_t max)
{
	if (o->kind == OPT_DURATION) {
		add_wanted_time(out, o);
	} else if (o->kind != OPT_SIZE) {
		buf_printf(out, o->max ? "a number from %" PRIu64 : "a number of %" PRIu64, o->min);
		if (o->max)
			buf_printf(out, " to %" PRIu64, max);
		else
			buf_addstr(out, " or more");
	} else if (o->min || o->max) {
		buf_addstr(out, o->max ? "a size from " : "a size of ");
		add_size(out, o->min);
		buf_addstr(out, o->max ? " to " : " or more");
		if (o->max)
			add_size(out, o->max);
	} else {
		buf_addstr(out, "a size such as 4096, 64K, 4M or 1G");
	}
}

static int set_number(const struct parser *p, const struct opt *o, const struct typed *t,
		      const char *value)
{
	uint64_t kind_max = o->kind == OPT_U32 ? UINT32_MAX : UINT64_MAX;
	uint64_t max = o->max ? o->max : kind_max;
	void *to = (char *)p->dst + o->off;
	struct buf want = { 0 };
	uint64_t v;
	int err;

	if (o->kind == OPT_SIZE)
		err = str_parse_size(value, &v);
	else if (o->kind == OPT_DURATION)
		err = str_parse_duration(value, &v);
	else
		err = str_parse_u64(value, UINT64_MAX, &v);
	if (err || v < o->min || v > max) {
		add_wanted(&want, o, max);
		err = bad_value(p, t, value, buf_cstr(&want));
		buf_free(&want);
		return err;
	}
	if (o->kind == OPT_U32)
		*(uint32_t *)to = v;
	else
		*(uint64_t *)to = v;
	return 0;
}

static int set_int(const struct parser *p, const struct opt *o, const struct typed *t,
		   const char *value)
{
	bool negative = *value == '-';
	uint64_t magnitude;
	char want[64];
	int64_t v = 0;
	int err;

	err = str_parse_u64(value + negative, INT_MAX, &magnitude);
	if (!err)
		v = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	if (err || v < o->int_min || v > o->int_max) {
		snprintf(want, sizeof(want), "a number from %d to %d", o->int_min, o->int_max);
		return bad_value(p, t, value, want);
	}
	*(int *)((char *)p->dst + o->off) = v;
	return 0;
}

static int set_choice(const struct parser *p, const struct opt *o, const struct typed *t,
		      const char *value)
{
	char want[256] = "one of";
	size_t len;

	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], value)) {
			*(int *)((char *)p->dst + o->off) = i;
			return 0;
		}
		len = strlen(want);
		snprintf(want + len, sizeof(want) - len, "%s %s", i ? "," : "", o->choices[i]);
	}
	len = strlen(want);
	if (o->implied)
		snprintf(want + len, sizeof(want) - len, ", or nothing (%s%.*s alone is %s)",
			 t->dashes, t->len, t->text, o->implied);
	return bad_value(p, t, value, want);
}

/* Also accepts blanks as in "17 42", because pidof prints them. */
static int parse_pids(const char *value, struct opt_u32s *list)
{
	char *copy = xstrdup(value), *save = NULL, *word;
	int err = -EINVAL;

	for (word = strtok_r(copy, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
		err = str_parse_list_u32(word, &list->v, &list->cnt);
		if (err)
			break;
	}
	free(copy);
	return err;
}

static int set_u32s(const struct parser *p, const struct opt *o, const struct typed *t,
		    const char *value)
{
	struct opt_u32s *list = (struct opt_u32s *)((char *)p->dst + o->off);
	bool pids = o->kind == OPT_PIDS;
	size_t old = list->cnt;
	int err;

	err = pids ? parse_pids(value, list) : str_parse_ranges_u32(value, &list->v, &list->cnt);
	for (size_t i = old; !err && pids && i < list->cnt; i++) {
		if (list->v[i] == 0 || list->v[i] > INT32_MAX)
			err = -ERANGE;
	}
	if (err)
		return bad_value(p, t, value,
				 pids ? "numbers above 0 separated by commas, such as 17 or 17,42" :
					"CPU numbers such as 0-3,8");
	return 0;
}

/* Refuses a second value for the same list element, because it would replace the first. */
static int set_list_of(const struct parser *p, const struct opt *o, const struct typed *t,
		       const char *value)
{
	const struct opt_list *of = (const void *)((const char *)p->dst + o->of);
	struct opt_list *list = (struct opt_list *)((char *)p->dst + o->off);

	if (!of->cnt || list->cnt == of->cnt) {
		log_error("%s: %s%.*s must follow %s%s; see dial9-prof %s --help", p->spec->name,
			  t->dashes, t->len, t->text, o->of_what,
			  of->cnt ? ", and the preceding one already has a value" : "",
			  p->spec->name);
		return -EINVAL;
	}
	list->v = xreallocarray(list->v, of->cnt, sizeof(*list->v));
	while (list->cnt < of->cnt - 1)
		list->v[list->cnt++] = NULL;
	list->v[list->cnt++] = value;
	return 0;
}

static int no_value(const struct parser *p, const struct typed *t, const char *why)
{
	log_error("%s: %s%.*s needs a value%s; see dial9-prof %s --help", p->spec->name, t->dashes,
		  t->len, t->text, why, p->spec->name);
	return -EINVAL;
}

static int set_value(const struct parser *p, const struct opt *o, const struct typed *t,
		     const char *value)
{
	void *to = (char *)p->dst + o->off;
	struct opt_list *list;

	if ((o->kind == OPT_STR || o->kind == OPT_LIST || o->kind == OPT_LIST_OF) && !*value)
		return no_value(p, t, "; '' is not valid");
	switch (o->kind) {
	case OPT_FLAG:
	case OPT_NOT:
		*(bool *)to = o->kind == OPT_FLAG;
		return 0;
	case OPT_COUNT:
		++*(int *)to;
		return 0;
	case OPT_STR:
		*(const char **)to = value;
		return 0;
	case OPT_LIST:
		list = to;
		list->v = xreallocarray(list->v, list->cnt + 1, sizeof(*list->v));
		list->v[list->cnt++] = value;
		return 0;
	case OPT_LIST_OF:
		return set_list_of(p, o, t, value);
	case OPT_U32:
	case OPT_U64:
	case OPT_SIZE:
	case OPT_DURATION:
		return set_number(p, o, t, value);
	case OPT_INT:
		return set_int(p, o, t, value);
	case OPT_CHOICE:
		return set_choice(p, o, t, value);
	case OPT_PIDS:
	case OPT_CPUS:
		return set_u32s(p, o, t, value);
	case OPT_HELP:
		print_help(p->spec, stdout);
		return 1;
	}
	return -EINVAL;
}

static bool is_list_of_numbers(const char *word)
{
	return *word >= '0' && *word <= '9' && !word[strspn(word, "0123456789,")];
}

/* Applies o. attached is the value in the same argument, or NULL. */
static int apply(struct parser *p, const struct opt *o, const struct typed *t, const char *attached)
{
	const char *value = attached;
	int err;

	if (!takes_value(o->kind))
		return set_value(p, o, t, NULL);
	if (!value && o->implied)
		value = o->implied;
	if (!value) {
		if (p->next >= p->argc)
			return no_value(p, t, "");
		value = p->argv[p->next++];
	}
	err = set_value(p, o, t, value);
	while (!err && o->many && p->next < p->argc && is_list_of_numbers(p->argv[p->next]))
		err = set_value(p, o, t, p->argv[p->next++]);
	return err;
}

static int parse_long(struct parser *p, const char *word)
{
	const char *eq = strchr(word, '=');
	size_t len = eq ? (size_t)(eq - word) : strlen(word);
	const struct opt *o = find_long(p->spec, word, len);
	const struct typed t = { .dashes = "--", .text = word, .len = (int)len };

	if (!o)
		return unknown(p, &t);
	if (eq && !takes_value(o->kind)) {
		log_error("%s: unexpected value for --%s", p->spec->name, o->name);
		return -EINVAL;
	}
	return apply(p, o, &t, eq ? eq + 1 : NULL);
}

/* Parses grouped letters. The first letter that takes a value uses the rest of the argument. */
static int parse_keys(struct parser *p, const char *word)
{
	int err = 0;

	for (; *word && !err; word++) {
		const struct opt *o = find_key(p->spec, *word);
		const struct typed t = { .dashes = "-", .text = word, .len = 1 };

		if (!o)
			return unknown(p, &t);
		if (takes_value(o->kind))
			return apply(p, o, &t, word[1] ? word + 1 : NULL);
		err = apply(p, o, &t, NULL);
	}
	return err;
}

int opts_parse(const struct opt_spec *spec, int argc, char **argv, void *dst, int *first_positional)
{
	struct parser p = { .spec = spec, .argc = argc, .argv = argv, .next = 1, .dst = dst };
	char **words = xcalloc((size_t)argc + 1, sizeof(*words));
	int word_cnt = 0, opt_cnt = 1, err = 0;

	if (opts_is_completion(argc, argv)) {
		print_completion(spec);
		err = 1;
	}
	while (p.next < argc && !err) {
		int start = p.next++;
		char *word = argv[start];

		if (word[0] != '-' || !word[1]) {
			words[word_cnt++] = word;
			if (!spec->stop_at_word)
				continue;
			break;
		}
		if (!strcmp(word, "--"))
			break;
		err = word[1] == '-' ? parse_long(&p, word + 2) : parse_keys(&p, word + 1);
		/* Moves parsed options to the front, never past unparsed arguments. */
		for (int i = start; i < p.next; i++)
			argv[opt_cnt++] = argv[i];
	}
	if (!err) {
		while (p.next < argc)
			words[word_cnt++] = argv[p.next++];
		*first_positional = argc - word_cnt;
		memcpy(argv + argc - word_cnt, words, word_cnt * sizeof(*words));
	}
	free(words);
	return err;
}

void opts_fini(const struct opt_spec *spec, void *dst)
{
	for (size_t i = 0; i < spec->cnt; i++) {
		const struct opt *o = &spec->opts[i];
		void *at = (char *)dst + o->off;

		if (o->kind == OPT_LIST || o->kind == OPT_LIST_OF) {
			struct opt_list *list = at;

			free(list->v);
			*list = (struct opt_list){ 0 };
		} else if (o->kind == OPT_PIDS || o->kind == OPT_CPUS) {
			struct opt_u32s *list = at;

			free(list->v);
			*list = (struct opt_u32s){ 0 };
		}
	}
}

#define NEAR_MAX 40

/* Edit distance (insert, delete, replace, swap of neighbours) from a to b. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[NEAR_MAX + 1][NEAR_MAX + 1];
	size_t an = strlen(a), bn = strlen(b);

	if (an > NEAR_MAX || bn > NEAR_MAX)
		return NEAR_MAX;
	for (size_t i = 0; i <= an; i++) {
		for (size_t j = 0; j <= bn; j++) {
			unsigned int best;

			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (best > d[i - 1][j] + 1)
				best = d[i - 1][j] + 1;
			if (best > d[i][j - 1] + 1)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    best > d[i - 2][j - 2] + 1)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[an][bn];
}

int opts_word(const char *s, size_t n, const char *const *words, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (words[i] && strlen(words[i]) == n && !memcmp(words[i], s, n))
			return (int)i;
	return -1;
}

/* A word of fewer letters can begin many others. */
#define WHOLE_MIN 6

const char *opts_nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word);
	unsigned int best = len / 3 + 1; /* up to a third of the letters may differ */
	const char *found = NULL;

	for (size_t i = 0; i < n && len; i++) {
		unsigned int dist = distance(word, words[i]);

		/* A prefix of a word counts as one edit, and so does a word with a suffix. */
		if (dist > 1 && len >= 2 &&
		    (str_starts(words[i], word) ||
		     (strlen(words[i]) >= WHOLE_MIN && str_starts(word, words[i]))))
			dist = 1;
		if (dist < best || (dist == best && !found && len >= 3)) {
			best = dist;
			found = words[i];
		}
	}
	return found;
}

/* The help: two columns of at most 80 characters */
#define LEFT_MAX 28
#define WIDTH 80

/* Appends the name of the value: "N", "both|user|none"; nothing if there is no value. */
static void add_arg(struct buf *b, const struct opt *o)
{
	static const char *const names[] = {
		[OPT_STR] = "STR",     [OPT_U32] = "N",	       [OPT_U64] = "N",
		[OPT_SIZE] = "SIZE",   [OPT_DURATION] = "DUR", [OPT_LIST] = "STR",
		[OPT_LIST_OF] = "STR", [OPT_PIDS] = "PID,...", [OPT_CPUS] = "CPUS",
		[OPT_INT] = "N",
	};

	if (o->arg) {
		buf_addstr(b, o->arg);
	} else if (o->kind == OPT_CHOICE) {
		for (int i = 0; o->choices[i]; i++)
			buf_printf(b, "%s%s", i ? "|" : "", o->choices[i]);
	} else {
		buf_addstr(b, names[o->kind]);
	}
}

static void add_left(struct buf *b, const struct opt *o)
{
	bool value = takes_value(o->kind);

	if (o->key)
		buf_printf(b, "  -%c%s", o->key, o->name ? ", " : "");
	else
		buf_addstr(b, "      ");
	if (o->name)
		buf_printf(b, "--%s", o->name);
	if (!value)
		return;
	if (o->implied)
		buf_addstr(b, o->name ? "[=" : "[");
	else
		buf_addch(b, o->name ? '=' : ' ');
	add_arg(b, o);
	if (o->implied)
		buf_addch(b, ']');
}

/* Prints text from column `at` on, wrapped at blanks. The cursor is already at this column. */
static void print_wrapped(FILE *out, const char *text, size_t at)
{
	size_t column = at, len;

	while (*text) {
		len = strcspn(text, " ");
		if (column > at && column + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", (int)at, "");
			column = at;
		}
		column += fprintf(out, "%s%.*s", column > at ? " " : "", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static size_t left_width(const struct opt_spec *spec)
{
	struct buf b = { 0 };
	size_t width = 0;

	for (size_t i = 0; i < spec->cnt; i++) {
		if (!spec->opts[i].help)
			continue;
		buf_clear(&b);
		add_left(&b, &spec->opts[i]);
		if (b.len > width && b.len <= LEFT_MAX)
			width = b.len;
	}
	buf_free(&b);
	return width;
}

static void print_help(const struct opt_spec *spec, FILE *out)
{
	size_t width = left_width(spec);
	const char *group = NULL;
	struct buf left = { 0 };

	fprintf(out, "Usage: %s\n\n", spec->usage);
	print_wrapped(out, spec->brief, 0);
	for (size_t i = 0; i < spec->cnt; i++) {
		const struct opt *o = &spec->opts[i];

		if (!o->help)
			continue;
		if (!group || (o->group && strcmp(o->group, group))) {
			group = o->group ? o->group : "Options";
			fprintf(out, "\n%s:\n", group);
		}
		buf_clear(&left);
		add_left(&left, o);
		fputs(buf_cstr(&left), out);
		if (left.len > width)
			fprintf(out, "\n%*s", (int)width + 2, "");
		else
			fprintf(out, "%*s", (int)(width + 2 - left.len), "");
		print_wrapped(out, o->help, width + 2);
	}
	if (spec->examples)
		fprintf(out, "\nExamples:\n%s", spec->examples);
	buf_free(&left);
}

/* ---- completion -------------------------------------------------------------------------------- */

bool opts_is_completion(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "--completion");
}

void opts_print_word(const char *word, const char *brief)
{
	printf("-\t%s\t-\t%s\n", word, brief);
}

static void print_completion(const struct opt_spec *spec)
{
	struct buf arg = { 0 };

	for (size_t i = 0; i < spec->cnt; i++) {
		const struct opt *o = &spec->opts[i];
		const char key[] = { '-', o->key, '\0' };

		if (!o->help)
			continue;
		buf_clear(&arg);
		if (takes_value(o->kind))
			add_arg(&arg, o);
		else
			buf_addch(&arg, '-');
		printf("%s\t%s%s\t", key, o->name ? "--" : "-", o->name ? o->name : "");
		printf(o->implied ? "[%s]\t%s\n" : "%s\t%s\n", buf_cstr(&arg), o->help);
	}
	buf_free(&arg);
}
