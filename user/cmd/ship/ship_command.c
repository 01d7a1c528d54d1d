// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof ship`: finished files of --switch-output to ClickHouse or Pyroscope. Owns the options, the password and the
 * exit code. How files are sent is user/ship's.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "ship/server_password.h"
#include "ship/ship.h"

#define SECOND 1000000000ULL

struct ship_cmd_opts {
	const char *to, *password_file, *ca_file, *ttl, *rollup_ttl, *key_file;
	struct opt_list labels;
	uint64_t disk_max, timeout_ns, retry_ns;
	uint32_t end_fd;
	bool anonymize, events, once, quiet;
};

#define O(m) offsetof(struct ship_cmd_opts, m)

static const struct opt ship_opts_rows[] = {
	{ .name = "to",
	  .kind = OPT_STR,
	  .off = O(to),
	  .arg = "URL",
	  .help = "ClickHouse: http://USER@HOST:8123/DATABASE or https://...; Pyroscope: " SHIP_PYROSCOPE
		  "http://HOST:4040 or " SHIP_PYROSCOPE "https://USER@HOST",
	  .group = "Server" },
	{ .name = "password-file",
	  .kind = OPT_STR,
	  .off = O(password_file),
	  .arg = "FILE",
	  .help = "Read the password from the first line of FILE (default: variable " SERVER_PASSWORD_VARIABLE
		  ")" },
	{ .name = "ca-file",
	  .kind = OPT_STR,
	  .off = O(ca_file),
	  .arg = "FILE",
	  .help = "Certificates (PEM) that may sign the server's (default: the system's)" },
	{ .name = "raw-ttl",
	  .kind = OPT_STR,
	  .off = O(ttl),
	  .arg = "DAYS",
	  .help = "Create tables of samples, slices, spans and events whose rows the server deletes after DAYS "
		  "(1 to 36500; 7 or 7d), if it can; ClickHouse only" },
	{ .name = "rollup-ttl",
	  .kind = OPT_STR,
	  .off = O(rollup_ttl),
	  .arg = "DAYS",
	  .help = "The same for rollups, which are sums by second or by 10 seconds" },
	{ .name = "label",
	  .kind = OPT_LIST,
	  .off = O(labels),
	  .arg = "NAME=VALUE",
	  .help = "Put this label in each row; may be repeated",
	  .group = "Rows" },
	{ .name = "events",
	  .kind = OPT_FLAG,
	  .off = O(events),
	  .help = "Send all other events too, such as tracepoints of record -e, with their fields as JSON; "
		  "ClickHouse only" },
	{ .name = "anonymize",
	  .kind = OPT_FLAG,
	  .off = O(anonymize),
	  .help = "Send hashes in place of names of hosts, threads, services and files; functions keep their names" },
	{ .name = "anonymize-key",
	  .kind = OPT_STR,
	  .off = O(key_file),
	  .arg = "FILE",
	  .help = "Key of these hashes, 32 hexadecimal digits (default: a random key in DIR)" },
	{ .name = "disk-max",
	  .kind = OPT_SIZE,
	  .off = O(disk_max),
	  .arg = "SIZE",
	  .help = "Delete the oldest files, and count them as lost, beyond SIZE (default: no limit)",
	  .group = "Run" },
	{ .name = "once",
	  .kind = OPT_FLAG,
	  .off = O(once),
	  .help = "Exit when all finished files are shipped" },
	{ .name = "end-fd",
	  .kind = OPT_U32,
	  .off = O(end_fd),
	  .arg = "FD",
	  .min = 3,
	  .max = INT_MAX,
	  .help = "At the end of file of descriptor FD, ship what is left and exit; then wait at most 10 s for a server" },
	{ .name = "timeout",
	  .kind = OPT_DURATION,
	  .off = O(timeout_ns),
	  .min = 1,
	  .arg = "DUR",
	  .help = "Exit after DUR without an answer from the server (default: never)" },
	{ .name = "retry",
	  .kind = OPT_DURATION,
	  .off = O(retry_ns),
	  .min = 1,
	  .arg = "DUR",
	  .help = "Try again DUR after a failed request, then after up to 60 times DUR (default 1s)" },
	OPT_ROW_QUIET(O(quiet)),
	OPT_ROW_HELP,
};

static const struct opt_spec ship_spec = {
	.name = "ship",
	.usage = "dial9-prof ship [OPTIONS] DIR --to URL",
	.brief = "Send finished files of record --switch-output to ClickHouse or Pyroscope, and "
		 "delete them.",
	OPT_ROWS(ship_opts_rows),
	.examples =
		"  dial9-prof ship /var/lib/dial9 --to http://dial9@ch1:8123/fleet\n"
		"  dial9-prof ship DIR --to https://dial9@ch1:8443/fleet --password-file /etc/dial9.pw\n"
		"  dial9-prof ship DIR --to http://localhost:8123/test --once --label rack=b7\n"
		"  dial9-prof ship DIR --to " SHIP_PYROSCOPE
		"http://pyroscope:4040 --label rack=b7\n",
};

/* ---- stopping --------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

/* A second signal ends the program: the state on the disk allows that. */
static void catch_signals(void)
{
	const struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

/* ---- options ---------------------------------------------------------------------------------- */

static int check_label(const char *label, enum ship_target target)
{
	static const char *const why[] = { [SHIP_LABEL_NO_PAIR] = SHIP_LABEL_NO_PAIR_TEXT,
					   [SHIP_LABEL_BAD_NAME] = SHIP_LABEL_BAD_NAME_TEXT };
	const enum ship_label judged = ship_judge_label(label, target);

	if (judged == SHIP_LABEL_GOOD)
		return 0;
	log_error("ship: bad value '%s' for --label: %s", label, why[judged]);
	return -EINVAL;
}

static int check_labels(const struct opt_list *labels, enum ship_target target)
{
	for (size_t i = 0; i < labels->cnt; i++)
		if (check_label(labels->v[i], target))
			return -EINVAL;
	if (labels->cnt <= SHIP_LABELS_MAX)
		return 0;
	log_error("ship: " SHIP_LABELS_TOO_MANY);
	return -EINVAL;
}

static int parse_url(const struct ship_cmd_opts *opts, enum ship_target target,
		     struct http_url *out)
{
	if (target == SHIP_TO_CLICKHOUSE)
		return http_url_parse("ship", opts->to, out);
	if (opts->events) {
		log_error("ship: --events needs ClickHouse; Pyroscope takes profiles only");
		return -EINVAL;
	}
	if (opts->ttl || opts->rollup_ttl) {
		log_error("ship: %s needs ClickHouse; configure the time in Pyroscope",
			  opts->ttl ? "--raw-ttl" : "--rollup-ttl");
		return -EINVAL;
	}
	return http_url_parse_as("ship",
				 SHIP_PYROSCOPE "http://HOST:4040 or " SHIP_PYROSCOPE
						"https://USER@HOST",
				 opts->to + strlen(SHIP_PYROSCOPE), out);
}

static int parse_ttl(const char *option, const char *text, uint64_t *days)
{
	*days = 0;
	if (!text || !str_parse_days(text, days))
		return 0;
	log_error("ship: bad value '%s' for %s: expected " STR_DAYS, text, option);
	return -EINVAL;
}

/* ---- the run ---------------------------------------------------------------------------------- */

static void put_sent(struct buf *out, const struct ship_counts *c, enum ship_target target)
{
	buf_addstr(out, "dial9-prof: ship: ");
	str_counted(out, c->files, "file");
	buf_addstr(out, ", ");
	if (target == SHIP_TO_PYROSCOPE) {
		str_counted(out, c->batches, "profile");
		return;
	}
	str_counted(out, c->rows, "row");
	buf_addstr(out, " in ");
	str_counted(out, c->batches, "insert");
}

static void put_unless_0(struct buf *out, const char *what, uint64_t cnt, const char *noun)
{
	if (!cnt)
		return;
	buf_printf(out, "; %s: ", what);
	str_counted(out, cnt, noun);
}

static void print_summary(const struct ship_counts *c, enum ship_target target)
{
	struct buf out = { 0 };

	put_sent(&out, c, target);
	put_unless_0(&out, "lost", c->dropped, "file");
	put_unless_0(&out, "end missing", c->torn, "file");
	put_unless_0(&out, "incomplete", c->unreadable, "file");
	put_unless_0(&out, "not taken by the server", c->refused, "profile");
	if (c->doubled || c->missing) {
		buf_addstr(&out, "; at the server: ");
		str_counted(&out, c->doubled, "doubled row");
		buf_addstr(&out, ", ");
		str_counted(&out, c->missing, "missing row");
	}
	buf_addch(&out, '\n');
	buf_print(&out, stderr);
}

static int exit_code(int err, const struct ship_counts *c)
{
	switch (err) {
	case 0:
		if (c->dropped || c->doubled || c->missing || c->refused)
			return CMD_LOSS;
		return c->unreadable ? CMD_INPUT : CMD_OK;
	case -EPROTO:
	case -ETIMEDOUT:
	case -EIO:
		return CMD_OUTPUT;
	default:
		return CMD_INPUT;
	}
}

static int run(const struct ship_cmd_opts *opts, const char *dir, enum ship_target target,
	       const struct http_url *url, const char *password, const struct ship_ttl *ttl)
{
	const struct ship_opts o = {
		.dir = dir,
		.target = target,
		.sender = {
			.server = { .url = url,
				    .password = password,
				    .ca_file = opts->ca_file,
				    .timeout_ns = 300 * SECOND,
				    .stop = &stop },
			.ttl = *ttl,
			.grace_ns = opts->retry_ns,
		},
		.attempts = {
			.pause_min_ns = opts->retry_ns,
			.pause_max_ns = opts->retry_ns < UINT64_MAX / 60 ? 60 * opts->retry_ns :
									   UINT64_MAX,
			.give_up_ns = opts->timeout_ns,
			.end_fd = opts->end_fd ? (int)opts->end_fd : -1,
			.end_give_up_ns = 10 * SECOND,
		},
		.labels = opts->labels.v,
		.label_cnt = opts->labels.cnt,
		.anonymize = opts->anonymize,
		.events = opts->events,
		.key_file = opts->key_file,
		.disk_max = opts->disk_max,
		.poll_ns = SECOND,
		.once = opts->once,
		.stop = &stop,
	};
	struct ship_counts counts = { 0 };
	int err;

	server_password_warn("ship", password, url, 1);
	catch_signals();
	err = ship_run(&o, &counts);
	if (!opts->quiet && (!err || counts.files || counts.refused))
		print_summary(&counts, target);
	return exit_code(err, &counts);
}

static int check_and_run(const struct ship_cmd_opts *opts, int cnt, char **words)
{
	enum ship_target target;
	struct http_url url = { 0 };
	char *password = NULL;
	struct ship_ttl ttl;
	int code = CMD_USAGE;

	if (cnt != 1) {
		if (cnt)
			log_error("ship: unexpected argument '%s': give one directory", words[1]);
		else
			log_error("ship: no directory given; use the one of record "
				  "--switch-output");
		return CMD_USAGE;
	}
	if (!opts->to) {
		log_error("ship: no server given; use --to http://USER@HOST:8123/DATABASE");
		return CMD_USAGE;
	}
	if (opts->key_file && !opts->anonymize) {
		log_error("ship: --anonymize-key needs --anonymize");
		return CMD_USAGE;
	}
	if (opts->events && opts->anonymize) {
		log_error("ship: --events cannot be combined with --anonymize: fields contain "
			  "names and paths");
		return CMD_USAGE;
	}
	target = ship_target_of(opts->to);
	if (!check_labels(&opts->labels, target) && !parse_ttl("--raw-ttl", opts->ttl, &ttl.raw) &&
	    !parse_ttl("--rollup-ttl", opts->rollup_ttl, &ttl.rollup) &&
	    !parse_url(opts, target, &url) &&
	    !server_password_read("ship", opts->password_file, &password))
		code = run(opts, words[0], target, &url, password, &ttl);
	server_password_free(password);
	http_url_fini(&url);
	return code;
}

int cmd_ship(int argc, char **argv)
{
	struct ship_cmd_opts opts = { .retry_ns = SECOND };
	int first, code = CMD_USAGE, ret = opts_parse(&ship_spec, argc, argv, &opts, &first);

	if (ret == 1)
		code = CMD_OK;
	else if (!ret)
		code = check_and_run(&opts, argc - first, argv + first);
	opts_fini(&ship_spec, &opts);
	return code;
}
