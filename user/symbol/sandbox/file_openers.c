// SPDX-License-Identifier: BSD-2-Clause
/*
 * Schedules openers and gives up those that hang.
 *
 * Openers are processes, because a thread that hangs in open() cannot be killed alone. Requests
 * wait in one queue. The first request whose owner is below its limit goes to an idle opener. If
 * all openers are busy for a moment, another one is created, so a file that hangs delays others by
 * that moment and not by its time limit. An opener past its limit gets an error as result, and is
 * killed. It counts until it has exited, because open() on a dead file system may ignore the
 * signal.
 */
#include "symbol/sandbox/file_openers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "symbol/sandbox/fork_server.h"
#include "symbol/sandbox/readiness.h"
#include "symbol/sandbox/sandbox.h"
#include "symbol/sandbox/symopen.h"

#define PATIENCE_NS 1000000000ull
#define GROW_NS 20000000ull
#define READY_CNT 2 /* openers kept for the next request */
#define FAILURES_MAX 20 /* consecutive forks that fail */

struct request {
	struct request *next;
	uint32_t token;
	uint64_t owner;
	struct buf packet;
};

struct opener {
	enum { FREE, ASKED, IDLE, BUSY, STUCK } state;
	pid_t pid;
	int sock; /* IDLE, BUSY */
	struct readiness ready; /* sock */
	uint32_t token; /* BUSY */
	uint64_t owner; /* BUSY, STUCK */
	uint64_t since; /* BUSY */
};

struct file_openers {
	struct file_openers_cfg cfg;
	struct fork_server *server;
	bool over; /* the fork server is gone, or cannot fork any more */
	unsigned int failures;
	struct opener v[FILE_OPENERS_MAX];
	struct request *first, **last;
	char *packet;
};

static void real_opener(const void *ctx, int sock, uint32_t arg)
{
	symopen_serve(sock, ctx);
}

static size_t count(const struct file_openers *o, int state)
{
	size_t cnt = 0, i;

	for (i = 0; i < FILE_OPENERS_MAX; i++)
		cnt += o->v[i].state == (unsigned int)state;
	return cnt;
}

static struct opener *find(struct file_openers *o, int state)
{
	size_t i;

	for (i = 0; i < FILE_OPENERS_MAX; i++)
		if (o->v[i].state == (unsigned int)state)
			return &o->v[i];
	return NULL;
}

static void grow(struct file_openers *o)
{
	struct opener *op = find(o, FREE);

	if (op && !fork_server_ask(o->server, 0))
		op->state = ASKED;
}

int file_openers_start(const struct file_openers_cfg *cfg, struct file_openers **out)
{
	struct file_openers *o = xcalloc(1, sizeof(*o));
	const struct fork_server_cfg spawner_cfg = {
		.confine = sandbox_keep_opening,
		.child = cfg->child ? cfg->child : real_opener,
		.ctx = cfg->ctx,
		.urgent_nice = cfg->nice,
	};
	int err, i;

	o->cfg = *cfg;
	if (!o->cfg.patience_ns)
		o->cfg.patience_ns = PATIENCE_NS;
	o->last = &o->first;
	err = fork_server_start(&spawner_cfg, &o->server);
	if (err) {
		free(o);
		return err;
	}
	o->packet = xmalloc(SYMPROTO_PACKET_MAX);
	fork_server_watch(o->server, cfg->epoll_fd);
	for (i = 0; i < READY_CNT; i++)
		grow(o);
	*out = o;
	return 0;
}

size_t file_openers_pids(const struct file_openers *o, uint32_t *pids)
{
	return fork_server_pids(o->server, pids);
}

static struct request *remove_request(struct file_openers *o, struct request **at)
{
	struct request *r = *at;

	*at = r->next;
	if (!*at)
		o->last = at;
	return r;
}

static void free_request(struct request *r)
{
	buf_free(&r->packet);
	free(r);
}

void file_openers_stop(struct file_openers *o)
{
	size_t i;

	if (!o)
		return;
	for (i = 0; i < FILE_OPENERS_MAX; i++)
		if (o->v[i].state == IDLE || o->v[i].state == BUSY)
			close(o->v[i].sock);
	fork_server_stop(o->server);
	while (o->first)
		free_request(remove_request(o, &o->first));
	free(o->packet);
	free(o);
}

void file_openers_ask(struct file_openers *o, const struct symproto_msg *msg, uint64_t owner)
{
	struct request *r = xcalloc(1, sizeof(*r));

	r->token = msg->id;
	r->owner = owner;
	symproto_put(&r->packet, msg);
	*o->last = r;
	o->last = &r->next;
}

static void answer(struct file_openers *o, uint32_t token, int fd, int error, uint32_t place,
		   uint64_t version)
{
	o->cfg.done(o->cfg.done_ctx, &(struct file_openers_result){
					     .token = token,
					     .fd = fd,
					     .error = error,
					     .place = place,
					     .version = version,
				     });
}

static void end(struct file_openers *o)
{
	if (!o->over)
		log_warn(
			"record: the processes that open files have exited: code found from now on has "
			"no symbols");
	/* the descriptor is not read any more */
	fork_server_unwatch(o->server);
	o->over = true;
}

/* Closes an opener and stops waiting for it. The fork server reports its exit. */
static void give_up(struct file_openers *o, struct opener *op, int error)
{
	uint32_t token = op->token;

	close(op->sock);
	op->state = STUCK;
	fork_server_kill(o->server, op->pid);
	answer(o, token, -1, error, 0, 0);
}

/* All openers exit with the fork server. A file that was being opened gets an error. */
static void restart_server(struct file_openers *o)
{
	size_t i;

	if (fork_server_renew(o->server)) {
		end(o);
		return;
	}
	log_info("record: the process that starts file openers was restarted");
	for (i = 0; i < FILE_OPENERS_MAX; i++) {
		struct opener *op = &o->v[i];

		if (op->state == BUSY)
			give_up(o, op, -EIO);
		else if (op->state == IDLE)
			close(op->sock);
		op->state = FREE;
	}
	for (i = 0; i < READY_CNT; i++)
		grow(o);
}

static void on_born(struct file_openers *o, const struct fork_server_event *ev)
{
	struct opener *op = find(o, ASKED);

	if (!op || ev->sock < 0) {
		if (op)
			op->state = FREE;
		if (++o->failures == FAILURES_MAX)
			end(o);
		return;
	}
	o->failures = 0;
	op->state = IDLE;
	op->pid = ev->pid;
	op->sock = ev->sock;
	readiness_watch(&op->ready, o->cfg.epoll_fd, op->sock);
	fork_server_set_pace(o->server, op->pid, FORK_SERVER_URGENT);
}

static void on_died(struct file_openers *o, pid_t pid)
{
	size_t i;

	for (i = 0; i < FILE_OPENERS_MAX; i++) {
		struct opener *op = &o->v[i];

		if (op->state < IDLE || op->pid != pid)
			continue;
		if (op->state == BUSY)
			give_up(o, op, -EIO);
		else if (op->state == IDLE)
			close(op->sock);
		op->state = FREE;
	}
}

static void read_server_events(struct file_openers *o)
{
	struct fork_server_event ev;
	int ret;

	while (!o->over && (ret = fork_server_next(o->server, &ev))) {
		if (ret < 0)
			restart_server(o);
		else if (ev.kind == FORK_SERVER_BORN)
			on_born(o, &ev);
		else
			on_died(o, ev.pid);
	}
}

/* Reads one answer. More than one is a protocol error. */
static void read_answer(struct file_openers *o, struct opener *op)
{
	struct symproto_msg msg;
	size_t pos = 0;
	ssize_t n;
	int fd;

	if (!readiness_has_data(&op->ready))
		return;
	n = symproto_receive(op->sock, o->packet, &fd, MSG_DONTWAIT);
	if (n == -EAGAIN) {
		readiness_set_empty(&op->ready);
		return;
	}
	if (n <= 0 || symproto_get(o->packet, n, &pos, SYMPROTO_FROM_OPENER, &msg) != 1 ||
	    msg.id != op->token || (fd < 0 && !msg.error)) {
		if (fd >= 0)
			close(fd);
		/* it may have exited with all others */
		readiness_update(o->cfg.epoll_fd);
		read_server_events(o);
		if (op->state == BUSY)
			give_up(o, op, o->over ? -ECHILD : -EIO);
		return;
	}
	op->state = IDLE;
	answer(o, msg.id, fd, msg.error, msg.depth, msg.start);
}

static size_t under_way(const struct file_openers *o, uint64_t owner, int state)
{
	size_t cnt = 0, i;

	for (i = 0; i < FILE_OPENERS_MAX; i++)
		cnt += o->v[i].state == (unsigned int)state && o->v[i].owner == owner;
	return cnt;
}

/* Without its socket, the opener exits. */
static void retire(struct opener *op)
{
	close(op->sock);
	op->state = STUCK;
	op->owner = UINT64_MAX;
}

/* Whether the opener accepted the request. If it has exited, another opener gets the request. */
static bool hand_out(struct file_openers *o, struct opener *op, const struct request *r,
		     uint64_t now)
{
	if (symproto_send(op->sock, &r->packet, -1, MSG_DONTWAIT)) {
		retire(op);
		return false;
	}
	op->state = BUSY;
	op->token = r->token;
	op->owner = r->owner;
	op->since = now;
	return true;
}

/*
 * Answers requests that cannot succeed, and assigns others to openers. Returns whether any is left.
 */
static bool serve_queue(struct file_openers *o, uint64_t now)
{
	bool full = o->over || count(o, STUCK) == FILE_OPENERS_MAX, left = false;
	struct request **at = &o->first;

	while (*at) {
		uint64_t owner = (*at)->owner;
		size_t stuck = under_way(o, owner, STUCK);
		struct opener *op;

		if (full || stuck >= FILE_OPENERS_OWNER_MAX) {
			struct request *r = remove_request(o, at);
			uint32_t token = r->token;

			free_request(r);
			answer(o, token, -1, o->over ? -ECHILD : -EBUSY, 0, 0);
			continue;
		}
		if (stuck + under_way(o, owner, BUSY) < FILE_OPENERS_OWNER_MAX) {
			op = find(o, IDLE);
			if (!op)
				return true;
			if (hand_out(o, op, *at, now))
				free_request(remove_request(o, at));
			continue;
		}
		left = true;
		at = &(*at)->next;
	}
	return left && find(o, IDLE) == NULL;
}

/*
 * Whether all openers seem to hang. A second opener is cheap; more are created only in this case.
 */
static bool all_hang(const struct file_openers *o, uint64_t now)
{
	size_t i;

	for (i = 0; i < FILE_OPENERS_MAX; i++)
		if (o->v[i].state == BUSY && now - o->v[i].since < GROW_NS)
			return false;
	return true;
}

static void shrink(struct file_openers *o)
{
	size_t idle = count(o, IDLE);

	while (idle > READY_CNT) {
		retire(find(o, IDLE));
		idle--;
	}
}

void file_openers_step(struct file_openers *o, uint64_t now_ns)
{
	size_t i;

	read_server_events(o);
	for (i = 0; i < FILE_OPENERS_MAX; i++)
		if (o->v[i].state == BUSY)
			read_answer(o, &o->v[i]);
	for (i = 0; i < FILE_OPENERS_MAX; i++)
		if (o->v[i].state == BUSY && now_ns - o->v[i].since >= o->cfg.patience_ns)
			give_up(o, &o->v[i], -ETIMEDOUT);
	if (serve_queue(o, now_ns) && !count(o, ASKED) && all_hang(o, now_ns))
		grow(o);
	if (!o->first)
		shrink(o);
}
