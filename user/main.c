// SPDX-License-Identifier: BSD-2-Clause
/* main.c - which subcommand is meant */
#include <fcntl.h>
#ifdef PROF_STATIC
#include <nss.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/opts.h"
#include "cmd/common/cmd.h"
#include "kernel/privileges.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *brief;
	bool asks_kernel; /* and needs privileges for that */
};

static const struct command commands[] = {
	{ "record", cmd_record, "record a process, a command or the system (the default)", true },
	{ "top", cmd_top, "functions and threads that use the CPU or wait, live", true },
	{ "report", cmd_report, "where the CPU time went, by function", false },
	{ "offcpu", cmd_offcpu, "where threads were blocked, and who woke them", false },
	{ "sched", cmd_sched, "how long tasks waited for a CPU, and behind whom", false },
	{ "wakeup", cmd_wakeup, "who woke whom, and over whom a waking came", false },
	{ "explain", cmd_explain, "what a thread did in some moment, and what held it up", false },
	{ "polls", cmd_polls, "why polls of a Tokio service were slow", false },
	{ "script", cmd_script, "the events, one a line", false },
	{ "info", cmd_info, "what a trace holds, and what it lost", false },
	{ "dump", cmd_dump, "the frames of a trace as they are in the file", false },
	{ "convert", cmd_convert, "Tonbandgeraet, Heph and apitrace traces to dial9, and back",
	  false },
	{ "diff", cmd_diff, "what changed from one trace to another, and what may be chance",
	  false },
	{ "export", cmd_export, "a trace for other tools: flame graphs and viewers", false },
	{ "view", cmd_view, "a trace in a browser: timeline, flame graph, tables", false },
	{ "cut", cmd_cut, "a smaller trace of some of the events, and without real names", false },
	{ "symbolize", cmd_symbolize,
	  "the names that a trace had not, from files that are here now", false },
	{ "merge", cmd_merge, "several traces as one: recordings, and what applications wrote",
	  false },
	{ "list", cmd_list, "the tracepoints of this kernel, with their fields", true },
	{ "check", cmd_check, "whether a recording can start here, and what is missing", true },
};

enum { COMMAND_CNT = sizeof(commands) / sizeof(commands[0]) };

static const struct command *find(const char *word)
{
	size_t i;

	for (i = 0; i < COMMAND_CNT; i++)
		if (!strcmp(commands[i].name, word))
			return &commands[i];
	return NULL;
}

static void print_help(FILE *out)
{
	size_t i;

	fputs("Usage: dial9-prof [RECORD-OPTIONS] [-- COMMAND [ARG...]]\n"
	      "       dial9-prof SUBCOMMAND [OPTIONS] [FILE]\n\n"
	      "Records scheduler events, CPU samples with stacks and any tracepoint into one file,\n"
	      "and reads it back. Without a subcommand it records.\n\n",
	      out);
	for (i = 0; i < COMMAND_CNT; i++)
		fprintf(out, "  %-9s  %s\n", commands[i].name, commands[i].brief);
	fputs("\nFirst steps:\n"
	      "  sudo dial9-prof -p PID -d 10      everything about one process, for 10 seconds\n"
	      "  sudo dial9-prof -- make -j4       a command, from its first instruction\n"
	      "  dial9-prof report                 where the CPU went\n"
	      "  dial9-prof offcpu                 where threads waited, and who woke them\n"
	      "  dial9-prof sched latency          who waited for a CPU, and behind whom\n"
	      "  dial9-prof script | less          what happened, line by line\n\n"
	      "dial9-prof SUBCOMMAND --help tells the options of each; dial9-prof record --help those\n"
	      "of recording.\n",
	      out);
}

static int unknown(const char *word)
{
	const char *names[COMMAND_CNT], *near;
	size_t i;

	for (i = 0; i < COMMAND_CNT; i++)
		names[i] = commands[i].name;
	near = opts_nearest(word, names, COMMAND_CNT);
	if (near)
		log_error("unknown command '%s' (did you mean %s?); see dial9-prof --help", word,
			  near);
	else
		log_error("unknown command '%s' (to record a program: dial9-prof -- %s); see "
			  "dial9-prof --help",
			  word, word);
	return CMD_USAGE;
}

static int help(int argc, char **argv)
{
	static char help_option[] = "--help";
	char *args[] = { argc > 2 ? argv[2] : NULL, help_option, NULL };
	const struct command *command;

	if (argc < 3 || argv[2][0] == '-' || !strcmp(argv[2], "help")) {
		print_help(stdout);
		return CMD_OK;
	}
	command = find(argv[2]);
	return command ? command->run(2, args) : unknown(argv[2]);
}

/* Or a trace would be opened where messages are printed. False: a closed one stays closed. */
static bool open_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    file_null(fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd)
			return false;
	return true;
}

/*
 * glibc finds users and hosts with modules that /etc/nsswitch.conf names. They load only into the version of glibc
 * that they were built with; a static program carries its own version, so it uses what is built in.
 */
static void use_builtin_lookups(void)
{
#ifdef PROF_STATIC
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
	__nss_configure_lookup("initgroups", "files");
	__nss_configure_lookup("services", "files");
	__nss_configure_lookup("hosts", "files dns");
#endif
}

/*
 * Whoever has privileges by the program's file alone has them for the kernel's sake: files he reads with his own
 * rights.
 */
static int run(const struct command *command, int argc, char **argv)
{
	int err = getuid() && !command->asks_kernel ? privileges_drop_all_but(0) : 0;

	if (err) {
		log_error("cannot give up privileges: %s", strerror(-err));
		return CMD_INPUT;
	}
	return command->run(argc, argv);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (!open_standard_files())
		return CMD_OUTPUT;
	use_builtin_lookups();
	if (argc < 2) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") ||
	    !strcmp(argv[1], "version")) {
		puts("dial9-prof " PROF_VERSION);
		return CMD_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc, argv);
	if (argv[1][0] == '-')
		return cmd_record(argc, argv);
	command = find(argv[1]);
	return command ? run(command, argc - 1, argv + 1) : unknown(argv[1]);
}
