// SPDX-License-Identifier: BSD-2-Clause
/*
 * The loop over a directory. Owns when a file is deleted: after the server has all of it, and the state says so on the disk.
 */
#include "ship/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "profile/sums/content_ids.h"
#include "ship/batch_writer.h"
#include "ship/lost_files.h"
#include "ship/finished_files.h"
#include "ship/profile_file.h"

struct ship {
	const struct ship_opts *opts;
	struct ship_counts *counts;
	struct attempts *attempts;
	struct sender *sender; /* of a database */
	struct pyroscope *profiles; /* the server of profiles */
	struct ship_state *state;
	struct ship_seen seen;
	struct anonymizer key;
	const struct anonymizer *anonymizer; /* NULL: none */
	const char *current; /* file that is being shipped */
	int dir;
	bool may_be_there; /* the first file: an earlier program may have begun it */
};

/* ---- what the server takes -------------------------------------------------------------------- */

enum ship_target ship_target_of(const char *url)
{
	return str_starts(url, SHIP_PYROSCOPE) ? SHIP_TO_PYROSCOPE : SHIP_TO_CLICKHOUSE;
}

enum ship_label ship_judge_label(const char *label, enum ship_target target)
{
	const size_t name = strcspn(label, "=");

	if (!name || !label[name])
		return SHIP_LABEL_NO_PAIR;
	if (target == SHIP_TO_PYROSCOPE && !pyroscope_is_label_name(label, name))
		return SHIP_LABEL_BAD_NAME;
	return SHIP_LABEL_GOOD;
}

/* ---- files ------------------------------------------------------------------------------------ */

static void trim(void *ctx)
{
	struct ship *s = ctx;

	/* a server of profiles has no place for losses */
	s->counts->dropped += finished_files_trim(s->dir, s->opts->disk_max, s->current,
						  s->profiles ? NULL : s->state);
}

static bool is_stopped(const struct ship *s)
{
	return s->opts->stop && *s->opts->stop;
}

/* ---- one file --------------------------------------------------------------------------------- */

static void forget_seen(struct ship *s)
{
	hmap_fini(&s->seen.rows);
	memset(&s->seen.rows, 0, sizeof(s->seen.rows));
}

/* Takes a file out of the set: a name that does not end as the others. */
static int set_aside(struct ship *s, const char *name, const char *suffix, const char *why)
{
	char to[NAME_MAX + 1];

	if ((size_t)snprintf(to, sizeof(to), "%s%s", name, suffix) < sizeof(to) &&
	    !renameat(s->dir, name, s->dir, to)) {
		log_warn("ship: %s %s; it is kept as %s", name, why, to);
		return 0;
	}
	log_error("ship: cannot rename %s: %s", name, strerror(errno));
	return -EIO;
}

static int remove_file(struct ship *s, const char *name)
{
	if (!unlinkat(s->dir, name, 0) || errno == ENOENT)
		return 0;
	log_error("ship: cannot delete %s/%s: %s", s->opts->dir, name, strerror(errno));
	return -EIO;
}

static int send_file(struct ship *s, int fd, const char *name)
{
	const struct ship_file_opts opts = {
		.sender = s->sender,
		.state = s->state,
		.seen = &s->seen,
		.counts = s->counts,
		.labels = s->opts->labels,
		.label_cnt = s->opts->label_cnt,
		.anonymizer = s->anonymizer,
		.events = s->opts->events,
		.may_be_there = s->may_be_there,
		.stop = s->opts->stop,
	};
	uint64_t id[2];
	int err = trace_file_id(fd, id);

	if (err) {
		log_error("ship: cannot read %s: %s", name, strerror(-err));
		return -EBADMSG;
	}
	if (ship_state_is_done(s->state, id))
		return 0;
	s->current = name;
	err = s->profiles ? profile_file_send(&opts, s->profiles, fd, name, id) :
			    ship_file_send(&opts, fd, name, id);
	s->current = NULL;
	if (err)
		forget_seen(s);
	else
		s->may_be_there = false;
	return err;
}

static int ship_one(struct ship *s, const char *name)
{
	int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), err;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0) {
		log_error("ship: cannot open %s/%s: %s", s->opts->dir, name, strerror(errno));
		return -EIO;
	}
	err = send_file(s, fd, name);
	close(fd);
	if (err == -EBADE)
		return set_aside(s, name, FINISHED_FILES_REFUSED,
				 "has profiles that the server does not take");
	if (err == -EBADMSG) {
		s->counts->unreadable++;
		return set_aside(s, name, FINISHED_FILES_UNREADABLE,
				 "is not a complete trace: what is readable was shipped");
	}
	return err ?: remove_file(s, name);
}

/* ---- the loop --------------------------------------------------------------------------------- */

static int ship_pending(struct ship *s, bool *any)
{
	struct finished_files found;
	int err = 0;

	trim(s);
	if (s->sender)
		err = lost_files_send(s->sender, s->state, s->opts->labels, s->opts->label_cnt,
				      s->anonymizer);
	if (err)
		return err;
	err = finished_files_list(s->dir, &found);
	if (err) {
		log_error("ship: cannot read %s: %s", s->opts->dir, strerror(-err));
		return err;
	}
	*any = found.cnt > 0;
	for (size_t i = 0; i < found.cnt && !err && !is_stopped(s); i++) {
		err = ship_one(s, found.files[i].name);
		trim(s);
	}
	finished_files_fini(&found);
	return err;
}

static int run(struct ship *s)
{
	bool any = true, last;
	int err = s->sender ? sender_connect(s->sender) : 0;

	while (!err && !is_stopped(s)) {
		last = s->opts->once || attempts_is_ending(s->attempts);
		err = ship_pending(s, &any);
		if (err || any)
			continue;
		if (last)
			break;
		attempts_pause(s->attempts, s->opts->poll_ns);
	}
	return err == -EINTR ? 0 : err;
}

static int open_profiles(struct ship *s)
{
	const struct clickhouse_opts *server = &s->opts->sender.server;

	return pyroscope_new(&(struct pyroscope_opts){ .url = server->url,
						       .password = server->password,
						       .ca_file = server->ca_file,
						       .timeout_ns = server->timeout_ns,
						       .stop = server->stop,
						       .attempts = s->attempts },
			     &s->profiles);
}

static int open_server(struct ship *s)
{
	struct attempts_opts attempts = s->opts->attempts;
	struct sender_opts sender = s->opts->sender;

	attempts.idle = trim;
	attempts.ctx = s;
	attempts.stop = s->opts->stop;
	s->attempts = attempts_new(&attempts, sender.server.url->base);
	sender.attempts = s->attempts;
	return s->opts->target == SHIP_TO_PYROSCOPE ? open_profiles(s) :
						      sender_new(&sender, &s->sender);
}

int ship_run(const struct ship_opts *opts, struct ship_counts *counts)
{
	struct ship s = {
		.opts = opts,
		.counts = counts,
		.may_be_there = true,
		.seen.number = clock_real_ns(),
	};
	int err;

	s.dir = open(opts->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dir < 0) {
		err = -errno;
		log_error("ship: cannot open %s: %s", opts->dir, strerror(-err));
		return err;
	}
	err = ship_state_open(s.dir, opts->dir, &s.state);
	if (!err && opts->anonymize) {
		s.anonymizer = &s.key;
		err = anonymizer_read(s.dir, opts->key_file, &s.key);
	}
	if (!err)
		err = open_server(&s);
	if (!err)
		err = run(&s);
	explicit_bzero(&s.key, sizeof(s.key));
	sender_free(s.sender);
	pyroscope_free(s.profiles);
	attempts_free(s.attempts);
	ship_state_close(s.state);
	hmap_fini(&s.seen.rows);
	close(s.dir);
	return err;
}
