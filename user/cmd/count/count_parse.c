// SPDX-License-Identifier: BSD-2-Clause
/* What the options of `count` mean: columns, pairs, and options that exclude each other. Reads no trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/count/count.h"

/* A field with the name of a word is written like this. */
#define FIELD_PREFIX "args."

static const char *const words[] = {
	[COUNT_EVENT] = "event", [COUNT_COMM] = "comm", [COUNT_PID] = "pid",
	[COUNT_TID] = "tid",	 [COUNT_CPU] = "cpu",	[COUNT_CGROUP] = "cgroup",
};

enum { WORD_CNT = sizeof(words) / sizeof(words[0]) };

static const char *field_name(const char *s)
{
	return s && str_starts(s, FIELD_PREFIX) ? s + strlen(FIELD_PREFIX) : s;
}

static int add_column(struct count *c, const char *s)
{
	const int word = opts_word(s, strlen(s), words, WORD_CNT);

	if (!*field_name(s)) {
		log_error("count: empty field in --by");
		return -EINVAL;
	}
	if (c->by_cnt == COUNT_COLUMNS_MAX) {
		log_error("count: --by takes at most %d fields", COUNT_COLUMNS_MAX);
		return -EINVAL;
	}
	c->titles[c->by_cnt] = s;
	c->by[c->by_cnt].word = word < 0 ? COUNT_FIELD : (enum count_word)word;
	c->by[c->by_cnt++].field = word < 0 ? field_name(s) : NULL;
	return 0;
}

static int parse_by(struct count *c)
{
	const bool paired = c->opts->pair || c->opts->syscalls;
	const char *text = c->opts->by ? c->opts->by : paired ? NULL : words[COUNT_EVENT];
	char *at, *next;
	int err = 0;

	if (!text)
		return 0;
	c->texts[0] = xstrdup(text);
	for (at = c->texts[0]; at && !err; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		err = add_column(c, at);
	}
	return err;
}

static int parse_field(const char *option, const char *text, const char **field)
{
	*field = field_name(text);
	if (!text || **field)
		return 0;
	log_error("count: empty field in --%s", option);
	return -EINVAL;
}

/* Pairs have the thread of their start, and nothing else. */
static int parse_pair_by(struct count *c)
{
	static const unsigned int bits[WORD_CNT] = {
		[COUNT_COMM] = PAIR_BY_COMM,
		[COUNT_PID] = PAIR_BY_PID,
		[COUNT_TID] = PAIR_BY_TID,
	};

	for (size_t i = 0; i < c->by_cnt; i++) {
		if (!bits[c->by[i].word]) {
			log_error("count: --by %s cannot be combined with %s: use comm, pid or tid",
				  c->titles[i], c->opts->pair ? "--pair" : "--syscalls");
			return -EINVAL;
		}
		c->pair_opts.by |= bits[c->by[i].word];
	}
	return 0;
}

/* "START,END" or "START,END,KEY". */
static int parse_pair(struct count *c)
{
	char *start, *end, *key = NULL;

	c->texts[1] = start = xstrdup(c->opts->pair);
	end = strchr(start, ',');
	if (end)
		*end++ = '\0';
	if (end)
		key = strchr(end, ',');
	if (key)
		*key++ = '\0';
	if (!end || !*start || !*end || (key && (!*field_name(key) || strchr(key, ',')))) {
		log_error("count: bad value '%s' for --pair: expected START,END or START,END,KEY",
			  c->opts->pair);
		return -EINVAL;
	}
	if (!strcmp(start, end)) {
		log_error(
			"count: bad value '%s' for --pair: start and end must be different events",
			c->opts->pair);
		return -EINVAL;
	}
	c->pair_opts.pattern = (struct spans_pattern){ .enter = start, .exit = end };
	/* the default, spelled out */
	c->pair_opts.field = key && strcmp(key, words[COUNT_TID]) ? field_name(key) : NULL;
	return 0;
}

static int check_pair_opts(const struct count_opts *o)
{
	const char *other = o->sum		   ? "--sum" :
			    o->hist		   ? "--hist" :
			    o->interval_ns	   ? "--interval" :
			    o->events.cnt	   ? "-e" :
			    o->pair && o->syscalls ? "--syscalls" :
						     NULL;

	if (!other)
		return 0;
	log_error("count: %s cannot be combined with %s", o->pair ? "--pair" : "--syscalls", other);
	return -EINVAL;
}

/* Live rows are printed once per period. */
static int check_live_opts(const struct count_opts *o)
{
	if (!o->live_ns ||
	    !(o->json || o->pair || o->syscalls || o->interval_ns || select_opts_are_used(&o->sel)))
		return 0;
	log_error(
		"count: --live cannot be combined with --pair, --syscalls, --interval, --json or a "
		"selection other than -e");
	return -EINVAL;
}

int count_parse(struct count *c)
{
	const struct count_opts *o = c->opts;
	int err = check_live_opts(o);

	if (err)
		return err;

	c->paired = o->pair || o->syscalls;
	if (o->sort && !c->paired) {
		log_error("count: --sort needs --pair or --syscalls");
		return -EINVAL;
	}
	c->pair_opts.order = (enum pair_sums_order)o->sort;
	err = parse_by(c);
	if (!err)
		err = parse_field("sum", o->sum, &c->sum);
	if (!err)
		err = parse_field("hist", o->hist, &c->hist);
	if (err || !c->paired)
		return err;
	c->pair_opts.syscalls = o->syscalls;
	err = check_pair_opts(o);
	if (!err && o->pair)
		err = parse_pair(c);
	return err ? err : parse_pair_by(c);
}

void count_parse_fini(struct count *c)
{
	free(c->texts[0]);
	free(c->texts[1]);
}
