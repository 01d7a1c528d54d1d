// SPDX-License-Identifier: BSD-2-Clause
/* `dial9-prof sched SUBCOMMAND`: selects the scheduler table. */
#include "cmd/sched/sched.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/opts.h"
#include "cmd/common/cmd.h"

static const struct word {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *brief;
} words[] = {
	{ "latency", sched_latency,
	  "run-queue latency of each thread, process or name, and who ran instead" },
	{ "timehist", sched_timehist,
	  "each run of a thread on a CPU, with off-CPU time and run-queue latency before" },
	{ "map", sched_map, "a timeline of each CPU, as a strip of letters" },
	{ "summary", sched_summary, "utilization and run queue of each CPU" },
};

/* What can stand before a subcommand. */
static const struct opt sched_opts[] = { OPT_ROW_HELP };

static const struct opt_spec sched_spec = { .name = "sched", OPT_ROWS(sched_opts) };

enum { WORD_CNT = sizeof(words) / sizeof(words[0]) };

/* The words, and then the options of each. */
static void print_help(void)
{
	char help[] = "--help";

	fputs("Usage: dial9-prof sched SUBCOMMAND [OPTIONS] [FILE]\n\n"
	      "Print run-queue latency, runs on CPUs, and CPU utilization.\n\n",
	      stdout);
	for (size_t i = 0; i < WORD_CNT; i++)
		printf("  %-8s  %s\n", words[i].name, words[i].brief);
	for (size_t i = 0; i < WORD_CNT; i++) {
		char *argv[] = { (char *)words[i].name, help, NULL };

		putchar('\n');
		words[i].run(2, argv);
	}
}

int cmd_sched(int argc, char **argv)
{
	const char *names[WORD_CNT], *near;
	const char *word = argc > 1 ? argv[1] : NULL;
	int first;

	if (word && (!strcmp(word, "--help") || !strcmp(word, "-h"))) {
		print_help();
		return CMD_OK;
	}
	if (opts_is_completion(argc, argv)) {
		for (size_t i = 0; i < WORD_CNT; i++)
			opts_print_word(words[i].name, words[i].brief);
		opts_parse(&sched_spec, argc, argv, NULL, &first);
		return CMD_OK;
	}
	for (size_t i = 0; i < WORD_CNT; i++) {
		names[i] = words[i].name;
		if (word && !strcmp(word, words[i].name))
			return words[i].run(argc - 1, argv + 1);
	}
	near = word ? opts_nearest(word, names, WORD_CNT) : NULL;
	if (!word)
		log_error(
			"sched: no subcommand given (latency, timehist, map or summary); see dial9-prof sched --help");
	else if (near)
		log_error(
			"sched: unknown subcommand '%s' (did you mean %s?); see dial9-prof sched --help",
			word, near);
	else
		log_error(
			"sched: unknown subcommand '%s' (known: latency, timehist, map, summary); see dial9-prof sched "
			"--help",
			word);
	return CMD_USAGE;
}
