// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof top`: records and displays at once. Owns the options, and starts and stops the recorder: a child process
 * that writes to a pipe, as in `dial9-prof -o - | dial9-prof report - --live`. live_view.c draws the screen. A file is
 * written only on request.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/out_file.h"
#include "base/sudo_user.h"
#include "cmd/common/cmd.h"
#include "cmd/common/live_view.h"
#include "cmd/record/target.h"

/* Time from SIGTERM to SIGKILL. */
#define END_MS 15000
#define STEP_MS 20
#define LOG_MAX 65536 /* bytes of messages that are kept */

struct top_opts {
	struct target_opts target;
	bool threads, off;
	struct opt_list events;
	uint32_t hz;
	uint64_t delay_ns, duration_ns, limit;
	const char *output, *btf;
	int color;
};

#define O(m) offsetof(struct top_opts, m)

static const struct opt top_opts[] = {
	TARGET_OPTS(struct top_opts, target),
	{ .name = "freq",
	  .key = 'F',
	  .kind = OPT_U32,
	  .off = O(hz),
	  .arg = "HZ",
	  .min = 1,
	  .max = 100000,
	  .group = "Events",
	  .help = "CPU samples per second on each CPU (default 99)" },
	{ .name = "event",
	  .key = 'e',
	  .kind = OPT_LIST,
	  .off = O(events),
	  .arg = "SYS:EVENT",
	  .help = "Also record this tracepoint to the file of -o" },
	{ .name = "delay",
	  .key = 'd',
	  .kind = OPT_DURATION,
	  .off = O(delay_ns),
	  .min = 100000000,
	  .max = 3600000000000,
	  .group = "Display",
	  .help = "Refresh interval: 2 (seconds), 500ms; at least 100ms (default 2)" },
	{ .name = "duration",
	  .kind = OPT_DURATION,
	  .off = O(duration_ns),
	  .min = 1,
	  .help = "Stop after DUR: 10 (seconds), 500ms, 5m, 1h" },
	{ .name = "threads",
	  .kind = OPT_FLAG,
	  .off = O(threads),
	  .help = "Show threads instead of functions (key t)" },
	{ .name = "off-cpu",
	  .kind = OPT_FLAG,
	  .off = O(off),
	  .help = "Sort by blocked time (key o; key c sorts by CPU)" },
	{ OPT_LIMIT(O(limit)), .help = "Print at most N rows (default: as many as fit)" },
	{ VIEW_OPT_COLOR(O(color)) },
	{ OPT_OUTPUT(O(output)), .group = "Output",
	  .help = "Also write the trace to FILE (default: no file)" },
	{ .name = "btf",
	  .kind = OPT_STR,
	  .off = O(btf),
	  .arg = "FILE",
	  .group = "Recorder",
	  .help = "Read the types of this kernel from FILE, if /sys/kernel/btf/vmlinux is hidden" },
	OPT_ROW_HELP,
};

static const struct opt_spec top_spec = {
	.name = "top",
	.usage = "dial9-prof top [OPTIONS] [-- COMMAND [ARG...]]",
	.brief = "Show live which functions and threads use the CPU, are runnable, or are blocked.",
	OPT_ROWS(top_opts),
	.stop_at_word = true,
	.examples = "  sudo dial9-prof top -a\n"
		    "  sudo dial9-prof top -p 1234 -d 500ms --threads\n"
		    "  sudo dial9-prof top -p 1234 -o kept.bin\n",
};

/* ---- the recorder's command line --------------------------------------------------------------- */

struct words {
	char **v;
	size_t cnt, cap;
};

static void add(struct words *w, const char *word)
{
	w->v = array_reserve(w->v, &w->cap, w->cnt + 2, sizeof(*w->v));
	w->v[w->cnt++] = xstrdup(word);
	w->v[w->cnt] = NULL;
}

static void add_number(struct words *w, const char *option, uint64_t n, const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%llu%s", option, (unsigned long long)n, unit);
	add(w, text);
}

static void words_fini(struct words *w)
{
	for (size_t i = 0; i < w->cnt; i++)
		free(w->v[i]);
	free(w->v);
}

static void add_word(void *ctx, const char *word)
{
	add(ctx, word);
}

static void make_words(const struct top_opts *o, char **command, struct words *w)
{
	add(w, "record");
	add(w, "-o-");
	add(w, "-q");
	/* symbols are not needed after the screen is closed */
	if (!o->output)
		add(w, "--names-wait=0");
	target_each_word(&o->target, add_word, w);
	if (o->btf) {
		add(w, "--btf");
		add(w, o->btf);
	}
	if (o->hz)
		add_number(w, "-F", o->hz, "");
	if (o->duration_ns)
		add_number(w, "-d", o->duration_ns / 1000000 + !!(o->duration_ns % 1000000), "ms");
	for (size_t i = 0; i < o->events.cnt; i++) {
		add(w, "-e");
		add(w, o->events.v[i]);
	}
	if (!*command)
		return;
	add(w, "--");
	for (; *command; command++)
		add(w, *command);
}

/* ---- its life ---------------------------------------------------------------------------------- */

struct recorder {
	pid_t pid;
	int trace, messages; /* what it writes */
	struct buf log; /* messages, as far as they were read */
	int status;
	bool ended;
};

/* From here on @fd is the only descriptor of a pipe: there is no exec, which would close the others. */
static void keep_write_end(const int ends[2], int fd)
{
	close(ends[0]);
	dup2(ends[1], fd);
	close(ends[1]);
}

/*
 * It is not in the terminal's foreground process group: Ctrl-C is for the displaying process, which ends it. If that
 * process is killed, the trace has no reader any more, which ends the recorder.
 */
static void run_recorder(const struct words *w, const int trace[2], const int messages[2])
{
	int null = file_null(O_RDONLY);

	setpgid(0, 0);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	keep_write_end(trace, STDOUT_FILENO);
	keep_write_end(messages, STDERR_FILENO);
	exit(cmd_record((int)w->cnt, w->v));
}

static int start_recorder(struct recorder *r, const struct words *w)
{
	int trace[2], messages[2];

	if (pipe2(trace, O_CLOEXEC))
		return -errno;
	if (pipe2(messages, O_CLOEXEC)) {
		close(trace[0]);
		close(trace[1]);
		return -errno;
	}
	fflush(NULL);
	r->pid = fork();
	if (!r->pid)
		run_recorder(w, trace, messages);
	close(trace[1]);
	close(messages[1]);
	r->trace = trace[0];
	r->messages = messages[0];
	fcntl(r->messages, F_SETFL, O_NONBLOCK);
	/* without a reader of the screens the recorder must be ended */
	signal(SIGPIPE, SIG_IGN);
	return r->pid < 0 ? -errno : 0;
}

static void nap(void)
{
	const struct timespec ts = { 0, STEP_MS * 1000000L };

	nanosleep(&ts, NULL);
}

/* Drains the pipe, so that the recorder does not block. The trace goes to the file if there is one. */
static bool drain(struct recorder *r, struct out_file *sink)
{
	char buf[8192];
	ssize_t n;

	while ((n = read(r->trace, buf, sizeof(buf))) > 0)
		if (sink && out_file_write(sink, buf, (size_t)n))
			return false;
	while ((n = read(r->messages, buf, sizeof(buf))) > 0)
		if (r->log.len < LOG_MAX)
			buf_add(&r->log, buf, (size_t)n);
	return true;
}

/* Ends it, and the command that it may have started. */
static void end_recorder(struct recorder *r, struct out_file *sink, bool stop)
{
	bool good = true;

	if (stop)
		kill(r->pid, SIGTERM);
	for (int ms = 0; !r->ended; ms += STEP_MS) {
		good = good && drain(r, sink);
		r->ended = waitpid(r->pid, &r->status, WNOHANG) != 0;
		if (!r->ended && ms == END_MS)
			kill(r->pid, SIGKILL);
		if (!r->ended)
			nap();
	}
	if (good)
		drain(r, sink);
	close(r->trace);
	close(r->messages);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int exit_code(const struct recorder *r, enum live_view_end end)
{
	if (end == LIVE_VIEW_BAD)
		return CMD_INPUT;
	if (end == LIVE_VIEW_OUTPUT)
		return CMD_OUTPUT;
	if (end == LIVE_VIEW_QUIT)
		return CMD_OK;
	if (WIFEXITED(r->status))
		return WEXITSTATUS(r->status);
	log_error("top: the recorder was killed by signal %d", WTERMSIG(r->status));
	return CMD_START;
}

static void put_title(struct buf *out, const struct top_opts *o, char **command)
{
	struct buf target = { 0 };

	target_describe(&o->target, &target);
	buf_addstr(out, "dial9-prof top");
	if (target.len)
		buf_printf(out, ": %s", buf_cstr(&target));
	if (*command)
		buf_printf(out, ": %s", *command);
	buf_free(&target);
}

/* The user ran `top`, so its messages name that command. */
static void put_messages(const struct buf *log)
{
	static const char from[] = "dial9-prof: record: ", to[] = "dial9-prof: top: ";
	const char *s = log->len ? log->data : "", *end = s + log->len, *next;

	for (; s < end; s = next) {
		next = memchr(s, '\n', (size_t)(end - s));
		next = next ? next + 1 : end;
		if ((size_t)(next - s) >= sizeof(from) - 1 && !memcmp(s, from, sizeof(from) - 1)) {
			fputs(to, stderr);
			s += sizeof(from) - 1;
		}
		fwrite(s, 1, (size_t)(next - s), stderr);
	}
}

static int show(const struct top_opts *o, char **command, struct recorder *r, struct out_file *sink)
{
	struct buf title = { 0 };
	struct live_view_opts view = {
		.fd = r->trace,
		.name = "the recording",
		.delay_ns = o->delay_ns,
		.limit = o->limit,
		.threads = o->threads,
		.off = o->off,
		.color = o->color,
		.sink = sink,
		.messages_fd = r->messages,
		.messages = &r->log,
	};
	enum live_view_end end;

	put_title(&title, o, command);
	view.title = buf_cstr(&title);
	end = live_view_run(&view);
	end_recorder(r, end == LIVE_VIEW_OUTPUT ? NULL : sink, end != LIVE_VIEW_ENDED);
	put_messages(&r->log);
	buf_free(&title);
	return exit_code(r, end);
}

static int top(const struct top_opts *o, char **command)
{
	struct recorder r = { .pid = -1 };
	struct sudo_user user = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	struct words words = { 0 };
	struct out_file *sink = NULL;
	int code = CMD_START, err;

	if (sudo_user_read(&user))
		return CMD_START;
	if (o->output && out_file_open(o->output, user.uid, user.gid, &sink))
		return CMD_OUTPUT;
	make_words(o, command, &words);
	err = start_recorder(&r, &words);
	if (err)
		log_error("top: cannot start a recorder: %s", strerror(-err));
	else
		code = show(o, command, &r, sink);
	if (out_file_close(sink) && code == CMD_OK)
		code = CMD_OUTPUT;
	buf_free(&r.log);
	words_fini(&words);
	return code;
}

static const char *conflict(const struct top_opts *o, bool command)
{
	const char *why = target_conflict(&o->target, command);

	if (why)
		return why;
	if (o->output && out_file_is_stdout(o->output))
		return "-o needs a file: standard output is used for the display";
	if (o->events.cnt && !o->output)
		return "-e needs -o FILE";
	return NULL;
}

int cmd_top(int argc, char **argv)
{
	struct top_opts opts = { .delay_ns = 2000000000 };
	int first, ret, code = CMD_USAGE;
	const char *why;

	ret = opts_parse(&top_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		why = conflict(&opts, first < argc);
		if (why)
			log_error("top: %s; see dial9-prof top --help", why);
		else
			code = top(&opts, argv + first);
	}
	opts_fini(&top_spec, &opts);
	return code;
}
