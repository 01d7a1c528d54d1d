// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loop of commands that show a trace while it is written: `top`, `report --live`, `count --live`. Owns the order of
 * trace, keys, clock and pictures; the command owns sums and text, screen.c the terminal.
 *
 * One thread: the pipe is read only when it is readable, and the decoder treats the end of the available bytes as a
 * temporary end.
 */
#include "cmd/common/live_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/screen.h"
#include "trace/source/source.h"

#define MS_NS 1000000ULL
/* Interval between checks of keys while there is much to read. */
#define BURST_NS (50 * MS_NS)
#define MESSAGES_MAX 8192

struct live_loop {
	const struct live_loop_opts *opts;
	struct source *src; /* of the same file, packed or not */
	struct screen *screen;
	struct names *names;
	struct trace *trace;
	bool paused;
	uint64_t shown_ns; /* length of the period that is shown */
	bool eof, any, write_failed; /* the trace has ended, has begun */
	int read_err;
	uint64_t next_ns; /* when the next picture is due */
	struct buf text;
};

bool live_loop_is_terminal(const struct live_loop *l)
{
	return screen_is_terminal(l->screen);
}

bool live_loop_is_paused(const struct live_loop *l)
{
	return l->paused;
}

/* ---- the trace --------------------------------------------------------------------------------- */

static ssize_t read_now(void *ctx, void *buf, size_t sz)
{
	struct live_loop *l = ctx;
	ssize_t n;

	if (l->eof)
		return 0;
	n = source_read(l->src, buf, sz);
	if (n == -EAGAIN)
		return 0;
	if (n < 0) {
		l->read_err = (int)n;
		return n;
	}
	l->eof = !n;
	l->any |= n > 0;
	if (n && l->opts->sink && out_file_write(l->opts->sink, buf, (size_t)n))
		l->write_failed = true;
	return n;
}

/* Takes what is there. 1: there may be more; 0: not now; -errno. */
static int feed(struct live_loop *l)
{
	uint64_t until = clock_mono_ns() + BURST_NS;
	struct trace_event ev;
	int ret;

	for (unsigned int i = 1;; i++) {
		ret = trace_next(l->trace, &ev);
		if (ret != 1)
			return ret == -ENODATA ? 0 : ret;
		l->opts->ops->add(l->opts->ctx, l->trace, &ev);
		if (i % 256 == 0 && clock_mono_ns() > until)
			return 1;
	}
}

static void read_messages(struct live_loop *l)
{
	char text[1024];
	ssize_t n = read(l->opts->messages_fd, text, sizeof(text));

	if (n <= 0)
		return;
	if (l->opts->messages->len < MESSAGES_MAX)
		buf_add(l->opts->messages, text, (size_t)n);
}

/* ---- the picture ------------------------------------------------------------------------------- */

static void make_picture(struct live_loop *l)
{
	size_t rows, cols;

	screen_size(l->screen, &rows, &cols);
	buf_clear(&l->text);
	l->opts->ops->put(l->opts->ctx, &l->text, l, rows, cols);
	if (!screen_is_terminal(l->screen))
		buf_addch(&l->text, '\n');
}

static int draw(struct live_loop *l)
{
	make_picture(l);
	return screen_draw(l->screen, buf_cstr(&l->text), l->text.len);
}

static void finish_period(struct live_loop *l)
{
	l->shown_ns = l->opts->ops->period_ns(l->opts->ctx);
	l->opts->ops->end_period(l->opts->ctx, l->trace);
}

/* ---- the loop ---------------------------------------------------------------------------------- */

/* True: quit. */
static bool press(struct live_loop *l, char key)
{
	if (key == ' ')
		l->paused = !l->paused;
	else if (l->opts->ops->press)
		l->opts->ops->press(l->opts->ctx, key);
	/* 3: of terminals that make no signal of Ctrl-C */
	return key == 'q' || key == 'Q' || key == 3;
}

static int wait_ms(const struct live_loop *l, bool more)
{
	uint64_t now = clock_mono_ns();

	if (more || now >= l->next_ns)
		return 0;
	return (int)((l->next_ns - now + MS_NS - 1) / MS_NS);
}

/* Whether there is another period to show. */
static bool turn(struct live_loop *l)
{
	uint64_t now = clock_mono_ns();

	if (now < l->next_ns)
		return false;
	l->next_ns = now + l->opts->delay_ns;
	if (!l->paused)
		finish_period(l);
	return !l->paused;
}

/* Not even the header of a trace came. */
static enum live_view_end report_empty(const struct live_loop *l)
{
	if (l->any)
		log_error("%s: not a dial9 trace: it ends inside the 5-byte header", l->opts->name);
	else
		source_print_empty(l->opts->name);
	return LIVE_VIEW_BAD;
}

/* The trace is done, or cannot be read on. */
static enum live_view_end conclude(struct live_loop *l, int err)
{
	struct dial9_error de;

	if (l->write_failed)
		return LIVE_VIEW_OUTPUT;
	trace_error(l->trace, &de);
	if (l->read_err == -EBADMSG)
		log_error("%s: damaged %s data", l->opts->name, source_packing(l->src));
	else if (l->read_err)
		log_error("cannot read %s: %s", l->opts->name, strerror(-l->read_err));
	else if (!err && !trace_consumed(l->trace) && l->opts->messages_fd < 0)
		return report_empty(l);
	else if (err)
		log_error("%s: %s at byte %" PRIu64, l->opts->name, de.reason, de.offset);
	return err ? LIVE_VIEW_BAD : LIVE_VIEW_ENDED;
}

static enum live_view_end loop(struct live_loop *l, int *draw_err)
{
	bool ready[3] = { false }, more = false;
	unsigned int what;
	int fds[3], ret;

	for (;;) {
		fds[0] = more ? -1 : l->opts->fd;
		fds[1] = screen_fd(l->screen);
		fds[2] = l->opts->messages_fd;
		what = screen_wait(l->screen, fds, ready, 3, wait_ms(l, more));
		if (what & SCREEN_STOP || (ready[1] && press(l, screen_key(l->screen))))
			return LIVE_VIEW_QUIT;
		if (ready[2])
			read_messages(l);
		if (ready[0] || more) {
			ret = feed(l);
			more = ret == 1;
			if (ret < 0 || (!more && l->eof) || l->write_failed)
				return conclude(l, ret < 0 ? ret : 0);
		}
		if (turn(l) || ((what || ready[1]) && screen_is_terminal(l->screen)))
			*draw_err = draw(l);
		if (*draw_err)
			return LIVE_VIEW_OUTPUT;
	}
}

static void release(struct live_loop *l)
{
	trace_free(l->trace);
	source_close(l->src);
	names_free(l->names);
	buf_free(&l->text);
}

static int prepare(struct live_loop *l)
{
	struct trace_opts opts = { .read = read_now, .ctx = l, .learn = true };
	const int fd = fcntl(l->opts->fd, F_DUPFD_CLOEXEC, 3);
	int err = fd < 0 ? -errno : source_open_fd(fd, l->opts->name, &l->src);

	if (!err)
		err = names_new(&l->names);
	if (err)
		return err;
	opts.names = l->names;
	err = trace_new(&opts, &l->trace);
	if (err)
		return err;
	l->opts->ops->start(l->opts->ctx, l->names, l->trace);
	return fcntl(l->opts->fd, F_SETFL, fcntl(l->opts->fd, F_GETFL) | O_NONBLOCK) ? -errno : 0;
}

/* The last screen remains on the terminal; if its period is too short to be meaningful, the one before. */
static void show_last(struct live_loop *l)
{
	bool any = l->opts->ops->period_ns(l->opts->ctx) > l->opts->delay_ns / 4 || !l->shown_ns;

	if (any)
		finish_period(l);
	if (!trace_consumed(l->trace))
		buf_clear(&l->text);
	else if (any || screen_is_terminal(l->screen))
		make_picture(l);
	else
		buf_clear(&l->text);
}

enum live_view_end live_loop_run(const struct live_loop_opts *opts)
{
	struct live_loop l = { .opts = opts };
	enum live_view_end end = LIVE_VIEW_BAD;
	int err = prepare(&l), draw_err = 0;

	if (err) {
		log_error("cannot read %s: %s", opts->name, strerror(-err));
		release(&l);
		return end;
	}
	l.screen = screen_open();
	l.next_ns = clock_mono_ns() + opts->delay_ns;
	end = loop(&l, &draw_err);
	if (end == LIVE_VIEW_ENDED)
		show_last(&l);
	screen_close(l.screen);
	if (end == LIVE_VIEW_ENDED && write(STDOUT_FILENO, buf_cstr(&l.text), l.text.len) < 0)
		draw_err = -errno;
	if (draw_err && draw_err != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-draw_err));
	if (draw_err)
		end = draw_err == -EPIPE ? LIVE_VIEW_QUIT : LIVE_VIEW_OUTPUT;
	release(&l);
	return end;
}

int live_loop_show(const char *path, const char *command,
		   enum live_view_end (*run)(void *ctx, int fd, const char *name), void *ctx)
{
	static const int codes[] = {
		[LIVE_VIEW_ENDED] = CMD_OK,
		[LIVE_VIEW_QUIT] = CMD_OK,
		[LIVE_VIEW_BAD] = CMD_INPUT,
		[LIVE_VIEW_OUTPUT] = CMD_OUTPUT,
	};
	const bool is_stdin = !strcmp(path, "-");
	const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	const char *name = is_stdin ? "standard input" : path;
	int code;

	if (fd < 0) {
		log_error("cannot open %s: %s", path, strerror(errno));
		return CMD_INPUT;
	}
	if (isatty(fd)) {
		log_error("cannot read %s: it is a terminal; pipe a trace in: sudo dial9-prof -a "
			  "-o - | dial9-prof %s - --live 2",
			  name, command);
		code = CMD_INPUT;
	} else {
		code = codes[run(ctx, fd, name)];
	}
	if (!is_stdin)
		close(fd);
	return code;
}
