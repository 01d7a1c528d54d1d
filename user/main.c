// SPDX-License-Identifier: BSD-2-Clause
/* main.c - selects the subcommand */
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
	bool asks_kernel; /* needs privileges to ask the kernel */
};

#define ROW(name, asks_kernel, brief) { #name, cmd_##name, brief, asks_kernel },
static const struct command commands[] = { CMD_LIST(ROW) };

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
	      "  sudo dial9-prof -p PID -d 10      record one process for 10 seconds\n"
	      "  sudo dial9-prof -- make -j4       record a command from its first instruction\n"
	      "  dial9-prof report                 CPU time by function\n"
	      "  dial9-prof offcpu                 where threads blocked, and who woke them\n"
	      "  dial9-prof sched latency          run-queue latency, and who ran instead\n"
	      "  dial9-prof script | less          events, one per line\n\n"
	      "dial9-prof SUBCOMMAND --help prints the options of a subcommand;\n"
	      "dial9-prof record --help prints the options of a recording.\n",
	      out);
}

/* The words that may come first, and the options of record. */
static int print_completion(int argc, char **argv)
{
	for (size_t i = 0; i < COMMAND_CNT; i++)
		opts_print_word(commands[i].name, commands[i].brief);
	return cmd_record(argc, argv);
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

/*
 * Opens missing standard files, or a trace could get the descriptor that messages are printed to.
 * False if that fails.
 */
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
 * glibc looks up users and hosts with modules named in /etc/nsswitch.conf. They load only into the
 * glibc that they were built for, so a static program uses its built-in lookups.
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
 * Capabilities of the program file are for recording. Other commands drop them, and read files with
 * the rights of the user.
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
	if (opts_is_completion(argc, argv))
		return print_completion(argc, argv);
	if (argv[1][0] == '-')
		return cmd_record(argc, argv);
	command = find(argv[1]);
	return command ? run(command, argc - 1, argv + 1) : unknown(argv[1]);
}
