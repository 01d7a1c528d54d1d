// SPDX-License-Identifier: BSD-2-Clause
/*
 * The screen of `top` and `report --live`. Owns the loop over trace, keys and clock, and the columns; sums come
 * from profile/sums/live.c, the terminal belongs to screen.c.
 *
 * One thread: the pipe is read only when it is readable, and the decoder treats the end of the available bytes as a
 * temporary end.
 */
#include "cmd/common/live_view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "cmd/common/screen.h"
#include "cmd/common/symbol_fit.h"
#include "profile/sums/live.h"
#include "trace/source/source.h"

#define MS_NS 1000000ULL
/* Interval between checks of keys while there is much to read. */
#define BURST_NS (50 * MS_NS)
#define MESSAGES_MAX 8192
#define NAME_MIN 12

struct live_view {
	const struct live_view_opts *opts;
	struct source *src; /* of the same file, packed or not */
	struct screen *screen;
	struct names *names;
	struct trace *trace;
	struct live *live;
	bool threads, off, paused;
	/* the period that is shown: rows by function, and by thread */
	struct live_rows rows[2];
	uint64_t period_ns;
	struct live_sum all;
	bool color;
	bool eof, any, write_failed; /* the trace has ended, has begun */
	int read_err;
	uint64_t next_ns; /* when the next picture is due */
	struct buf text;
};

/* ---- the trace --------------------------------------------------------------------------------- */

static ssize_t read_now(void *ctx, void *buf, size_t sz)
{
	struct live_view *v = ctx;
	ssize_t n;

	if (v->eof)
		return 0;
	n = source_read(v->src, buf, sz);
	if (n == -EAGAIN)
		return 0;
	if (n < 0) {
		v->read_err = (int)n;
		return n;
	}
	v->eof = !n;
	v->any |= n > 0;
	if (n && v->opts->sink && out_file_write(v->opts->sink, buf, (size_t)n))
		v->write_failed = true;
	return n;
}

/* Takes what is there. 1: there may be more; 0: not now; -errno. */
static int feed(struct live_view *v)
{
	uint64_t until = clock_mono_ns() + BURST_NS;
	struct trace_event ev;
	int ret;

	for (unsigned int i = 1;; i++) {
		ret = trace_next(v->trace, &ev);
		if (ret != 1)
			return ret == -ENODATA ? 0 : ret;
		live_add(v->live, v->trace, &ev);
		if (i % 256 == 0 && clock_mono_ns() > until)
			return 1;
	}
}

static void read_messages(struct live_view *v)
{
	char text[1024];
	ssize_t n = read(v->opts->messages_fd, text, sizeof(text));

	if (n <= 0)
		return;
	if (v->opts->messages->len < MESSAGES_MAX)
		buf_add(v->opts->messages, text, (size_t)n);
}

/* ---- the picture ------------------------------------------------------------------------------- */

/* Per second of the period, in percent and in milliseconds. */
static double per_second(const struct live_view *v, double ns)
{
	return v->period_ns ? ns / (double)v->period_ns : 0;
}

static double cpu_percent(const struct live_view *v, const struct live_sum *sum)
{
	uint64_t each = names_period_ns(v->names, (uint32_t)(v->names->parts.cnt - 1));

	return 100 * per_second(v, (double)sum->samples * (double)each);
}

static void end_line(struct live_view *v, struct buf *line, enum color_as as, size_t cols)
{
	struct buf cut = { 0 };

	if (cols)
		report_text_column(&cut, buf_cstr(line), line->len, cols, true);
	else
		buf_add(&cut, buf_cstr(line), line->len);
	while (cut.len && cut.data[cut.len - 1] == ' ')
		cut.len--;
	color_put(&v->text, v->color, as, buf_cstr(&cut), cut.len);
	buf_addch(&v->text, '\n');
	buf_free(&cut);
	buf_clear(line);
}

static void put_head(struct live_view *v, size_t cols)
{
	const struct loss_accounting *lost = live_lost(v->live);
	struct buf line = { 0 };

	name_text_clean(&line, v->opts->title, strlen(v->opts->title));
	buf_printf(&line, "  %.1f s  ", (double)v->period_ns / 1e9);
	str_counted(&line, v->all.samples, "sample");
	buf_printf(&line, "  CPU %.1f%%", cpu_percent(v, &v->all));
	if (v->paused)
		buf_addstr(&line, "  (paused)");
	end_line(v, &line, COLOR_PLAIN, cols);
	buf_addstr(&line, "lost: ");
	report_text_lost(&line, lost);
	if (screen_is_terminal(v->screen))
		buf_addstr(&line, "    q quit  t threads  o off-CPU  c CPU  space pause");
	end_line(v, &line, loss_accounting_lost(lost) ? COLOR_WARN : COLOR_DIM, cols);
	if (v->threads)
		buf_printf(&line, "    CPU  Runq ms/s   Off ms/s      Tid  Thread            %s",
			   v->off ? "Blocked in" : "Function");
	else
		buf_addstr(&line, "    CPU   Off ms/s  Function");
	end_line(v, &line, COLOR_TITLE, cols);
	buf_free(&line);
}

/* A function and its module; of code without names the module. */
static void add_function(const struct live_view *v, struct buf *line, const struct live_function *f,
			 size_t room)
{
	struct buf name = { 0 }, module = { 0 };
	size_t w;

	name_text_module_base(&module, v->names, f->module);
	w = name_text_width(buf_cstr(&module), module.len) + strlen(" ()");
	if (f->sym != NAMES_NONE) {
		name_text_name(&name, v->names, f->sym);
	} else {
		buf_addstr(&name, module.len && module.data[0] == '[' ? "" : "[");
		buf_add(&name, buf_cstr(&module), module.len);
		buf_addstr(&name, module.len && module.data[0] == '[' ? "" : "]");
	}
	if (names_is_label(buf_cstr(&name), name.len)) {
		buf_add(line, buf_cstr(&name), name.len);
	} else {
		symbol_fit_name(line, buf_cstr(&name), name.len,
				!room	 ? 0 :
				room > w ? room - w :
					   1);
		buf_printf(line, " (%s)", buf_cstr(&module));
	}
	buf_free(&name);
	buf_free(&module);
}

static void put_row(struct live_view *v, const struct live_row *row, size_t cols)
{
	double cpu = cpu_percent(v, &row->sum), off = 1e3 * per_second(v, (double)row->sum.off_ns);
	struct buf line = { 0 }, comm = { 0 };
	size_t used;

	buf_printf(&line, "%6.1f%%", cpu);
	if (v->threads) {
		buf_printf(&line, " %10.1f %10.1f %8u  ",
			   1e3 * per_second(v, (double)row->sum.wait_ns), off, row->tid);
		name_text_name(&comm, v->names, row->comm);
		report_text_column(&line, buf_cstr(&comm), comm.len, 16, true);
		buf_addstr(&line, "  ");
	} else {
		buf_printf(&line, " %10.1f  ", off);
	}
	used = name_text_width(buf_cstr(&line), line.len);
	if (!v->threads || (v->off ? row->blocked : row->sum.samples))
		add_function(v, &line, v->threads && v->off ? &row->off_at : &row->at,
			     !cols	 ? 0 :
			     cols > used ? cols - used :
					   NAME_MIN);
	end_line(v, &line, color_percent(cpu), cols);
	buf_free(&line);
	buf_free(&comm);
}

static bool worth_a_row(const struct live_view *v, const struct live_row *row)
{
	return row->sum.samples || row->sum.off_ns || (v->threads && row->sum.wait_ns);
}

/* Rows of a terminal that the head takes. */
enum { HEAD_ROWS = 3 };

static void make_picture(struct live_view *v)
{
	struct live_rows *rows = &v->rows[v->threads];
	size_t max_rows, cols, room;

	screen_size(v->screen, &max_rows, &cols);
	room = max_rows > HEAD_ROWS ? max_rows - HEAD_ROWS : 0;
	if (v->opts->limit && v->opts->limit < room)
		room = v->opts->limit;
	buf_clear(&v->text);
	put_head(v, cols);
	live_sort(rows, v->off);
	for (size_t i = 0; i < rows->cnt && room; i++) {
		if (!worth_a_row(v, &rows->v[i]))
			continue;
		put_row(v, &rows->v[i], cols);
		room--;
	}
	if (!screen_is_terminal(v->screen))
		buf_addch(&v->text, '\n');
}

static int draw(struct live_view *v)
{
	make_picture(v);
	return screen_draw(v->screen, buf_cstr(&v->text), v->text.len);
}

/* A period has ended: it is shown during the next one. */
static void finish_period(struct live_view *v)
{
	free(v->rows[0].v);
	free(v->rows[1].v);
	memset(v->rows, 0, sizeof(v->rows));
	live_functions(v->live, &v->rows[0]);
	live_threads(v->live, &v->rows[1]);
	v->period_ns = live_period(v->live);
	v->all = *live_all(v->live);
	live_next(v->live);
}

/* ---- the loop ---------------------------------------------------------------------------------- */

/* True: quit. */
static bool press(struct live_view *v, char key)
{
	if (key == 't')
		v->threads = !v->threads;
	else if (key == 'o')
		v->off = true;
	else if (key == 'c')
		v->off = false;
	else if (key == ' ')
		v->paused = !v->paused;
	/* 3: of terminals that make no signal of Ctrl-C */
	return key == 'q' || key == 'Q' || key == 3;
}

static int wait_ms(const struct live_view *v, bool more)
{
	uint64_t now = clock_mono_ns();

	if (more || now >= v->next_ns)
		return 0;
	return (int)((v->next_ns - now + MS_NS - 1) / MS_NS);
}

/* Whether there is another period to show. */
static bool turn(struct live_view *v)
{
	uint64_t now = clock_mono_ns();

	if (now < v->next_ns)
		return false;
	v->next_ns = now + v->opts->delay_ns;
	if (!v->paused)
		finish_period(v);
	return !v->paused;
}

/* Not even the header of a trace came. */
static enum live_view_end report_empty(const struct live_view *v)
{
	if (v->any)
		log_error("%s: not a dial9 trace: it ends inside the 5-byte header", v->opts->name);
	else
		source_print_empty(v->opts->name);
	return LIVE_VIEW_BAD;
}

/* The trace is done, or cannot be read on. */
static enum live_view_end conclude(struct live_view *v, int err)
{
	struct dial9_error de;

	if (v->write_failed)
		return LIVE_VIEW_OUTPUT;
	trace_error(v->trace, &de);
	if (v->read_err == -EBADMSG)
		log_error("%s: damaged %s data", v->opts->name, source_packing(v->src));
	else if (v->read_err)
		log_error("cannot read %s: %s", v->opts->name, strerror(-v->read_err));
	else if (!err && !trace_consumed(v->trace) && v->opts->messages_fd < 0)
		return report_empty(v);
	else if (err)
		log_error("%s: %s at byte %" PRIu64, v->opts->name, de.reason, de.offset);
	return err ? LIVE_VIEW_BAD : LIVE_VIEW_ENDED;
}

static enum live_view_end loop(struct live_view *v, int *draw_err)
{
	bool ready[3] = { false }, more = false;
	unsigned int what;
	int fds[3], ret;

	for (;;) {
		fds[0] = more ? -1 : v->opts->fd;
		fds[1] = screen_fd(v->screen);
		fds[2] = v->opts->messages_fd;
		what = screen_wait(v->screen, fds, ready, 3, wait_ms(v, more));
		if (what & SCREEN_STOP || (ready[1] && press(v, screen_key(v->screen))))
			return LIVE_VIEW_QUIT;
		if (ready[2])
			read_messages(v);
		if (ready[0] || more) {
			ret = feed(v);
			more = ret == 1;
			if (ret < 0 || (!more && v->eof) || v->write_failed)
				return conclude(v, ret < 0 ? ret : 0);
		}
		if (turn(v) || ((what || ready[1]) && screen_is_terminal(v->screen)))
			*draw_err = draw(v);
		if (*draw_err)
			return LIVE_VIEW_OUTPUT;
	}
}

static void release(struct live_view *v)
{
	free(v->rows[0].v);
	free(v->rows[1].v);
	live_free(v->live);
	trace_free(v->trace);
	source_close(v->src);
	names_free(v->names);
	buf_free(&v->text);
}

static int prepare(struct live_view *v)
{
	struct trace_opts opts = { .read = read_now, .ctx = v, .learn = true };
	const int fd = fcntl(v->opts->fd, F_DUPFD_CLOEXEC, 3);
	int err = fd < 0 ? -errno : source_open_fd(fd, v->opts->name, &v->src);

	if (!err)
		err = names_new(&v->names);
	if (err)
		return err;
	opts.names = v->names;
	err = trace_new(&opts, &v->trace);
	if (err)
		return err;
	v->live = live_new(v->names);
	return fcntl(v->opts->fd, F_SETFL, fcntl(v->opts->fd, F_GETFL) | O_NONBLOCK) ? -errno : 0;
}

/* The last screen remains on the terminal; if its period is too short to be meaningful, the one before. */
static void show_last(struct live_view *v)
{
	bool any = live_period(v->live) > v->opts->delay_ns / 4 || !v->period_ns;

	if (any)
		finish_period(v);
	if (!trace_consumed(v->trace))
		buf_clear(&v->text);
	else if (any || screen_is_terminal(v->screen))
		make_picture(v);
	else
		buf_clear(&v->text);
}

enum live_view_end live_view_run(const struct live_view_opts *opts)
{
	struct live_view v = { .opts = opts, .threads = opts->threads, .off = opts->off };
	enum live_view_end end = LIVE_VIEW_BAD;
	int err = prepare(&v), draw_err = 0;

	if (err) {
		log_error("cannot read %s: %s", opts->name, strerror(-err));
		release(&v);
		return end;
	}
	v.color = color_wanted((enum color_when)opts->color);
	v.screen = screen_open();
	v.next_ns = clock_mono_ns() + opts->delay_ns;
	end = loop(&v, &draw_err);
	if (end == LIVE_VIEW_ENDED)
		show_last(&v);
	screen_close(v.screen);
	if (end == LIVE_VIEW_ENDED && write(STDOUT_FILENO, buf_cstr(&v.text), v.text.len) < 0)
		draw_err = -errno;
	if (draw_err && draw_err != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-draw_err));
	if (draw_err)
		end = draw_err == -EPIPE ? LIVE_VIEW_QUIT : LIVE_VIEW_OUTPUT;
	release(&v);
	return end;
}

int live_view_show(const char *path, uint64_t delay_ns, uint64_t limit, int color)
{
	static const int codes[] = {
		[LIVE_VIEW_ENDED] = CMD_OK,
		[LIVE_VIEW_QUIT] = CMD_OK,
		[LIVE_VIEW_BAD] = CMD_INPUT,
		[LIVE_VIEW_OUTPUT] = CMD_OUTPUT,
	};
	bool stdin_meant = !strcmp(path, "-");
	struct live_view_opts opts = {
		.fd = stdin_meant ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
		.name = stdin_meant ? "standard input" : path,
		.title = stdin_meant ? "standard input" : path,
		.delay_ns = delay_ns,
		.limit = limit,
		.color = color,
		.messages_fd = -1,
	};
	int code;

	if (opts.fd < 0) {
		log_error("cannot open %s: %s", path, strerror(errno));
		return CMD_INPUT;
	}
	if (isatty(opts.fd)) {
		log_error("cannot read %s: it is a terminal; pipe a trace in: sudo dial9-prof -a "
			  "-o - | dial9-prof report - --live 2",
			  opts.name);
		code = CMD_INPUT;
	} else {
		code = codes[live_view_run(&opts)];
	}
	if (!stdin_meant)
		close(opts.fd);
	return code;
}
