// SPDX-License-Identifier: BSD-2-Clause
/*
 * control.c - commands that arrive while recording
 *
 * The commands and the answer are perf's: enable, disable, snapshot, ping, stop. Any process that may write to the
 * FIFO may send anything. So the length of a line is bounded, and so are the bytes read at once.
 */
#include "record/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sudo_user.h"

enum { LINE_MAX_LEN = 64, READ_MAX = 4096, FORM_FIFO = 5, FORM_FD = 3 };

static const char ack[] = "ack\n";

static const struct {
	const char *word;
	enum control_command command;
} words[] = {
	{ "enable", CONTROL_ENABLE },	  { "start", CONTROL_ENABLE },
	{ "disable", CONTROL_DISABLE },	  { "pause", CONTROL_DISABLE },
	{ "snapshot", CONTROL_SNAPSHOT }, { "ping", CONTROL_PING },
	{ "stop", CONTROL_STOP },	  { "quit", CONTROL_STOP },
};

struct control {
	int in, out; /* out: -1 for none */
	char bytes[READ_MAX]; /* read; not parsed from `at` on */
	size_t at, cnt;
	char line[LINE_MAX_LEN];
	size_t len; /* of the incomplete line; LINE_MAX_LEN: too long, skipped to its end */
	bool has_read; /* since the last CONTROL_NONE */
	bool unknown_reported; /* an unknown command was reported */
};

/* ---- opening ------------------------------------------------------------------------------------- */

static int split(const char *text, size_t skip, char **in, char **out)
{
	const char *comma = strchr(text + skip, ',');

	*in = xstrdup(text + skip);
	*out = comma ? xstrdup(comma + 1) : NULL;
	if (comma)
		(*in)[comma - text - skip] = '\0';
	if (**in && (!comma || (**out && !strchr(*out, ','))))
		return 0;
	free(*in);
	free(*out);
	return -EINVAL;
}

static int parse_fd(const char *text, int *fd)
{
	uint64_t n;

	if (str_parse_u64(text, INT_MAX, &n))
		return -EINVAL;
	*fd = (int)n;
	return 0;
}

/* Free both with free(). */
static int parse(const char *text, bool *fifo, char **in, char **out)
{
	int fd, err;

	*fifo = str_starts(text, "fifo:");
	if (!*fifo && !str_starts(text, "fd:"))
		return -EINVAL;
	err = split(text, *fifo ? FORM_FIFO : FORM_FD, in, out);
	/* the recorder would read its own answers as commands */
	if (!err && *fifo && *out && !strcmp(*in, *out)) {
		free(*in);
		free(*out);
		return -EINVAL;
	}
	if (err || *fifo)
		return err;
	if (!parse_fd(*in, &fd) && (!*out || !parse_fd(*out, &fd)))
		return 0;
	free(*in);
	free(*out);
	return -EINVAL;
}

int control_check(const char *text)
{
	char *in, *out;
	bool fifo;
	int err = parse(text, &fifo, &in, &out);

	if (err)
		return err;
	free(in);
	free(out);
	return 0;
}

static int check_fifo(const char *path, int fd)
{
	struct sudo_user user;
	struct stat st;

	if (sudo_user_read(&user) || fstat(fd, &st))
		return -EINVAL;
	if (!S_ISFIFO(st.st_mode)) {
		log_error("record: --control: %s is not a FIFO; create one with mkfifo", path);
		return -EINVAL;
	}
	if (st.st_uid && st.st_uid != geteuid() && !(user.known && st.st_uid == user.uid)) {
		log_error("record: --control: %s belongs to another user", path);
		return -EPERM;
	}
	if (st.st_mode & S_IWOTH) {
		log_error("record: --control: all users may write to %s; run chmod o-w", path);
		return -EPERM;
	}
	return 0;
}

/* Opened for reading and writing, so that it does not end when its writers close it. */
static int open_fifo(const char *path, int *out)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0) {
		err = -errno;
		log_error("record: --control: cannot open %s: %s%s", path,
			  err == -ELOOP ? "it is a symbolic link" : strerror(-err),
			  err == -ENOENT ? "; create it with mkfifo" : "");
		return err;
	}
	err = check_fifo(path, fd);
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

/* A copy with our own descriptor flags; it shares the open file. */
static int open_fd(const char *text, int *out)
{
	int fd = -1, err = parse_fd(text, &fd);

	if (!err) {
		*out = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		err = *out < 0 ? -errno : 0;
	}
	if (err)
		log_error("record: --control: descriptor %s: %s", text, strerror(-err));
	else
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return err;
}

int control_open(const char *text, struct control **out)
{
	int (*open_one)(const char *, int *);
	struct control *c;
	char *in, *ack_to;
	bool fifo;
	int err = parse(text, &fifo, &in, &ack_to);

	if (err)
		return err;
	c = xcalloc(1, sizeof(*c));
	c->in = c->out = -1;
	open_one = fifo ? open_fifo : open_fd;
	err = open_one(in, &c->in);
	if (!err && ack_to)
		err = open_one(ack_to, &c->out);
	free(in);
	free(ack_to);
	if (err)
		control_close(c);
	else
		*out = c;
	return err;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	if (c->in >= 0)
		close(c->in);
	if (c->out >= 0)
		close(c->out);
	free(c);
}

/* ---- commands ------------------------------------------------------------------------------------ */

static bool is_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) == 1 && p.revents & events;
}

/* False: nothing to read, or the bound for this time is reached. */
static bool fill(struct control *c)
{
	ssize_t n;

	if (c->has_read || c->in < 0 || !is_ready(c->in, POLLIN))
		return false;
	c->has_read = true;
	n = read(c->in, c->bytes, sizeof(c->bytes));
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(c->in);
		c->in = -1;
	}
	c->at = 0;
	c->cnt = n > 0 ? (size_t)n : 0;
	return c->cnt;
}

static void report_unknown(struct control *c)
{
	struct buf text = { 0 };
	size_t i;

	if (c->unknown_reported)
		return;
	c->unknown_reported = true;
	for (i = 0; i < c->len && i < LINE_MAX_LEN - 1; i++)
		buf_addch(&text, c->line[i] >= ' ' && c->line[i] <= '~' ? c->line[i] : '?');
	log_warn(
		"record: --control: unknown command '%s%s': expected enable, disable, snapshot, ping or stop",
		buf_cstr(&text), c->len == LINE_MAX_LEN ? "..." : "");
	buf_free(&text);
}

/* Parses the line that just ended. */
static enum control_command command_of(struct control *c)
{
	size_t i, len = c->len;

	while (len && len < LINE_MAX_LEN && strchr(" \t\r", c->line[len - 1]) && c->line[len - 1])
		len--;
	if (!len)
		return CONTROL_NONE;
	for (i = 0; len < LINE_MAX_LEN && i < sizeof(words) / sizeof(words[0]); i++)
		if (len == strlen(words[i].word) && !memcmp(c->line, words[i].word, len))
			return words[i].command;
	report_unknown(c);
	return CONTROL_NONE;
}

enum control_command control_next(struct control *c)
{
	enum control_command command;
	char byte;

	while (c && (c->at < c->cnt || fill(c))) {
		byte = c->bytes[c->at++];
		if (byte != '\n') {
			if (c->len < LINE_MAX_LEN)
				c->line[c->len++] = byte;
			continue;
		}
		command = command_of(c);
		c->len = 0;
		if (command)
			return command;
	}
	if (c)
		c->has_read = false;
	return CONTROL_NONE;
}

void control_ack(struct control *c)
{
	if (c->out >= 0 && is_ready(c->out, POLLOUT) && write(c->out, ack, sizeof(ack) - 1) < 0 &&
	    errno == EPIPE) {
		close(c->out);
		c->out = -1;
	}
}
