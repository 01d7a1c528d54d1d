// SPDX-License-Identifier: BSD-2-Clause
/*
 * ship_child.c - record --ship: the same program as `ship`, in a child process
 *
 * A process of its own: what happens to the network or the server cannot touch the recording, and its memory returns to
 * the system. Owns the pipe that ends when no more files come. Does not read traces.
 */
#include "cmd/record/ship_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "ship/server_password.h"
#include "ship/ship.h"
#include "trace/source/source_set.h"

/* Shipping may wait, the target should not. */
#define NICE 10

struct ship_child {
	pid_t pid;
	int end; /* of the pipe; closing it ends the child */
	char *dir;
	struct ship_child_opts opts; /* what they point to is borrowed */
};

/* ---- options ---------------------------------------------------------------------------------- */

static bool is_pyroscope(const char *url)
{
	return ship_target_of(url) == SHIP_TO_PYROSCOPE;
}

/* `ship` would end without having sent anything, and files would fill the disk. */
static const char *check_label(const char *label, const char *url)
{
	static const char *const wrong[] = {
		[SHIP_LABEL_NO_PAIR] = "bad value for --label: " SHIP_LABEL_NO_PAIR_TEXT,
		[SHIP_LABEL_BAD_NAME] = "bad value for --label: " SHIP_LABEL_BAD_NAME_TEXT,
	};

	return wrong[ship_judge_label(label, ship_target_of(url))];
}

/* A URL with a password would be on the child's command line, in the trace and in messages. */
static const char *check_url(const char *url)
{
	const char *scheme = strstr(url, "://"), *user = scheme ? scheme + 3 : url;
	const size_t len = strcspn(user, "/?#");
	const char *at = memrchr(user, '@', len);

	if (at && memchr(user, ':', (size_t)(at - user)))
		return "the URL of --ship has a password, which others can see; use the "
		       "environment variable " SERVER_PASSWORD_VARIABLE;
	if (is_pyroscope(url))
		url += strlen(SHIP_PYROSCOPE);
	if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) || !len ||
	    strchr(user, '?'))
		return "bad value for --ship: expected http://USER@HOST:8123/DATABASE, "
		       "https://... or " SHIP_PYROSCOPE "http://HOST:4040";
	return NULL;
}

static const char *check_days(const char *days, const char *wrong)
{
	uint64_t n;

	return !days || !str_parse_days(days, &n) ? NULL : wrong;
}

/* What is given without --ship. */
static const char *check_alone(const struct ship_child_opts *o)
{
	if (o->labels.cnt)
		return "--label needs --ship";
	if (o->events)
		return "--ship-events needs --ship";
	if (o->anonymize)
		return "--anonymize needs --ship";
	if (o->key_file)
		return "--anonymize-key needs --ship and --anonymize";
	if (o->ca_file)
		return "--ca-file needs --ship";
	if (o->raw_ttl)
		return "--raw-ttl needs --ship";
	return o->rollup_ttl ? "--rollup-ttl needs --ship" : NULL;
}

static const char *check_values(const struct ship_child_opts *o)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < o->labels.cnt && !wrong; i++)
		wrong = check_label(o->labels.v[i], o->to);
	if (!wrong && o->labels.cnt > SHIP_LABELS_MAX)
		wrong = SHIP_LABELS_TOO_MANY;
	if (!wrong && o->key_file && !o->anonymize)
		wrong = "--anonymize-key needs --anonymize";
	if (!wrong && o->events && o->anonymize)
		wrong = "--ship-events cannot be combined with --anonymize: fields contain names "
			"and paths";
	if (!wrong && o->events && is_pyroscope(o->to))
		wrong = "--ship-events needs ClickHouse";
	if (!wrong)
		wrong = check_days(o->raw_ttl, "bad value for --raw-ttl: expected " STR_DAYS);
	if (!wrong)
		wrong = check_days(o->rollup_ttl, "bad value for --rollup-ttl: expected " STR_DAYS);
	if (!wrong && is_pyroscope(o->to) && (o->raw_ttl || o->rollup_ttl))
		wrong = "--raw-ttl and --rollup-ttl need ClickHouse";
	return wrong ?: check_url(o->to);
}

const char *ship_child_check(const struct ship_child_opts *o, struct output_opts *output,
			     const char *unset)
{
	const char *wrong = o->to ? check_values(o) : check_alone(o);

	if (wrong || !o->to)
		return wrong;
	if (output->path == unset)
		output->path = SHIP_CHILD_OUTPUT;
	if (!output->switching)
		output->switching = SHIP_CHILD_SWITCHING;
	if (output->snapshots || output_opts_is_stream(output))
		return "--ship cannot be combined with a stream or --flight";
	/* all finished files next to it are sent and deleted */
	return strchr(output->path, '/') ? NULL :
					   "--ship needs a directory of its own: -o DIR/NAME.bin";
}

/* ---- start ------------------------------------------------------------------------------------ */

static int make_dir(const char *dir)
{
	if (!mkdir(dir, 0700) || errno == EEXIST)
		return 0;
	log_error("record: cannot create %s: %s", dir, strerror(errno));
	return -errno;
}

/* Appends "OPTION VALUE"; their number. */
static size_t add_option(const char **words, const char *option, const char *value)
{
	if (!value)
		return 0;
	words[0] = option;
	words[1] = value;
	return 2;
}

/* `ship` with the options that the server's rows depend on, and room for @more words after their number @cnt. */
static const char **make_words(const struct ship_child *c, size_t more, size_t *cnt)
{
	const struct ship_child_opts *o = &c->opts;
	const char **words = xcalloc(2 * o->labels.cnt + 15 + more, sizeof(*words));
	size_t n = 0;

	words[n++] = "dial9-prof";
	words[n++] = "ship";
	words[n++] = c->dir;
	n += add_option(words + n, "--to", o->to);
	if (o->events)
		words[n++] = "--events";
	if (o->anonymize)
		words[n++] = "--anonymize";
	n += add_option(words + n, "--anonymize-key", o->key_file);
	n += add_option(words + n, "--ca-file", o->ca_file);
	n += add_option(words + n, "--raw-ttl", o->raw_ttl);
	n += add_option(words + n, "--rollup-ttl", o->rollup_ttl);
	for (size_t i = 0; i < o->labels.cnt; i++)
		n += add_option(words + n, "--label", o->labels.v[i]);
	*cnt = n;
	return words;
}

static void exec_ship(const struct ship_child *c, const struct output_opts *output, bool quiet,
		      int end)
{
	char descriptor[16], budget[32];
	const char **words;
	size_t n;

	/* --end-fd, --disk-max, --quiet, and the end */
	words = make_words(c, 6, &n);
	snprintf(descriptor, sizeof(descriptor), "%d", end);
	n += add_option(words + n, "--end-fd", descriptor);
	if (output->disk_budget) {
		snprintf(budget, sizeof(budget), "%ju", (uintmax_t)output->disk_budget / 4 * 3);
		n += add_option(words + n, "--disk-max", budget);
	}
	if (quiet)
		words[n++] = "--quiet";
	execv("/proc/self/exe", (char **)words);
	log_error("record: cannot start ship: %s", strerror(errno));
	_exit(CMD_START);
}

static void become_ship(const struct ship_child *c, const struct output_opts *output, bool quiet,
			int end)
{
	/* Ctrl-C ends the recording, whose last file is still to be sent */
	setpgid(0, 0);
	setpriority(PRIO_PROCESS, 0, NICE);
	if (!fcntl(end, F_SETFD, 0))
		exec_ship(c, output, quiet, end);
	_exit(CMD_START);
}

static int start(struct ship_child *c, const struct output_opts *output, bool quiet)
{
	int ends[2], err = make_dir(c->dir);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC)) {
		log_error("record: cannot start ship: %s", strerror(errno));
		return -errno;
	}
	c->pid = fork();
	if (!c->pid) {
		close(ends[1]);
		become_ship(c, output, quiet, ends[0]);
	}
	err = c->pid < 0 ? -errno : 0;
	close(ends[0]);
	c->end = ends[1];
	/* the command that is recorded needs no password */
	unsetenv(SERVER_PASSWORD_VARIABLE);
	if (err)
		log_error("record: cannot fork: %s", strerror(-err));
	return err;
}

static void free_child(struct ship_child *c)
{
	if (c->end >= 0)
		close(c->end);
	free(c->dir);
	free(c);
}

int ship_child_start(const struct ship_child_opts *o, const struct output_opts *output, bool quiet,
		     struct ship_child **out)
{
	struct ship_child *c = xcalloc(1, sizeof(*c));
	const char *slash = strrchr(output->path, '/');
	int err;

	c->end = -1;
	c->opts = *o;
	c->dir = xstrndup(output->path, slash == output->path ? 1 : (size_t)(slash - output->path));
	err = start(c, output, quiet);
	if (err) {
		free_child(c);
		return err;
	}
	*out = c;
	return 0;
}

pid_t ship_child_pid(const struct ship_child *c)
{
	return c ? c->pid : 0;
}

/* ---- end -------------------------------------------------------------------------------------- */

/* Files that are complete, and their bytes. */
static size_t count_files(const char *path, uint64_t *bytes)
{
	const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t files = 0, stem;
	uint64_t number;
	struct stat st;
	char **names;
	int n = dir < 0 ? 0 : file_names(dir, false, &names);

	*bytes = 0;
	for (int i = 0; i < n; i++) {
		if (!source_set_parse(names[i], &stem, &number) || source_set_is_active(names[i]) ||
		    fstatat(dir, names[i], &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		files++;
		*bytes += (uint64_t)st.st_size;
	}
	if (n > 0)
		file_names_free(names, n);
	if (dir >= 0)
		close(dir);
	return files;
}

/* A word as a shell reads it. */
static void put_word(struct buf *out, const char *word)
{
	const char *plain =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-=:,./@%+";

	if (*word && !word[strspn(word, plain)]) {
		buf_addstr(out, word);
		return;
	}
	buf_addch(out, '\'');
	for (; *word; word++)
		buf_printf(out, *word == '\'' ? "'\\%c'" : "%c", *word);
	buf_addch(out, '\'');
}

/* What a shell needs to ship the rest. */
static void put_command(struct buf *out, const struct ship_child *c)
{
	const char **words;
	size_t cnt;

	words = make_words(c, 1, &cnt);
	words[cnt++] = "--once";
	for (size_t i = 0; i < cnt; i++) {
		buf_addstr(out, i ? " " : "");
		put_word(out, words[i]);
	}
	free(words);
}

static bool print_rest(const struct ship_child *c)
{
	struct buf line = { 0 }, command = { 0 };
	char size[32];
	uint64_t bytes;
	const size_t cnt = count_files(c->dir, &bytes);

	if (!cnt)
		return false;
	str_bytes(size, bytes);
	str_counted(&line, cnt, "file");
	put_command(&command, c);
	log_error("record: %s (%s) in %s not shipped; later: %s", buf_cstr(&line), size, c->dir,
		  buf_cstr(&command));
	buf_free(&line);
	buf_free(&command);
	return true;
}

/* Interrupted by signals. The first one asks it to end, the next one ends it: its state on the disk allows that. */
static int wait_for(const struct ship_child *c, const volatile sig_atomic_t *stop)
{
	sig_atomic_t seen = *stop;
	int sig = SIGTERM, status;

	while (waitpid(c->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return CMD_START;
		if (*stop == seen)
			continue;
		seen = *stop;
		kill(c->pid, sig);
		sig = SIGKILL;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	log_error("record: signal %d ended ship", WTERMSIG(status));
	return CMD_OUTPUT;
}

int ship_child_finish(struct ship_child *c, const volatile sig_atomic_t *stop)
{
	int code;

	if (!c)
		return CMD_OK;
	close(c->end);
	c->end = -1;
	code = wait_for(c, stop);
	if (print_rest(c) && code == CMD_OK)
		code = CMD_OUTPUT;
	free_child(c);
	return code;
}
