// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps workers running, although files may crash or block them.
 *
 * A worker reports the module before it works on it, so a crash is attributed to that module. A
 * worker that owes an answer and is silent is checked ten times per second. Two kinds of time count
 * against it: CPU time, and time in which it is neither running nor runnable (stopped, or waiting
 * for a page of a dead file system). Time as runnable does not count, because its priority may be
 * very low.
 *
 * Symbol tables are read at nice 19: a symbol takes microseconds and should be found even if no CPU
 * is idle. Debug information is read with SCHED_IDLE. When the recording has ended, and waits for
 * the last symbols, both are read at normal priority. Unwind tables are
 * built with the recorder's own nice value, because stacks have no callers without them.
 */
#include "symbol/sandbox/worker_pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "kernel/proc.h"
#include "symbol/sandbox/fork_server.h"
#include "symbol/sandbox/readiness.h"
#include "symbol/sandbox/sandbox.h"

#define LOOK_NS 100000000ull
#define WEIGH_NS 1000000000ull
#define CAUSE_NS 500000000ull
#define PARCEL_NS 1000000000ull
#define SILENT_DEATHS_MAX 10
#define UNHEARD_MAX 65536 /* packets; a socket holds fewer */
#define NOT_MEASURED UINT64_MAX

/* A message that waits for room in the socket */
struct parcel {
	struct parcel *next;
	struct buf packet;
	struct symproto_msg without; /* the message to send if fd cannot be sent */
	int fd;
	uint64_t since;
};

struct worker {
	enum { GONE, ASKED, LIVE, DYING, OVER } state;
	pid_t pid;
	int sock;
	struct readiness ready; /* sock */
	uint32_t module_id; /* module that it reported; 0: none */
	bool spoke; /* since its start */
	unsigned int silent_deaths; /* consecutive predecessors that sent no message */
	unsigned int restarts;
	struct parcel *first, **last;
	uint64_t looked_ns, heard_ns, weighed_ns;
	uint64_t cpu_mark, cpu_last, sleep_ns; /* of the silent time */
	uint64_t dying_ns;
};

struct worker_pool {
	struct worker_pool_cfg cfg;
	struct fork_server *server;
	struct worker v[SYMWORKER_ROLE_CNT];
	bool hurry;
	uint64_t ns_per_s; /* of CPU time for symbol tables, likewise for unwind tables; 0: no limit */
	uint64_t pressed_ns; /* until when tables are urgent */
	bool pressed; /* as the tables' worker knows it */
	bool alone; /* the fork server has exited */
	char *packet;
};

/*
 * ---- start and exit -----------------------------------------------------------------------------
 */

static void ask_for(struct worker_pool *w, enum symworker_role role)
{
	struct worker *wk = &w->v[role];

	wk->state = fork_server_ask(w->server, role) ? OVER : ASKED;
}

int worker_pool_start(const struct worker_pool_cfg *cfg, struct worker_pool **out)
{
	struct worker_pool *w = xcalloc(1, sizeof(*w));
	const struct fork_server_cfg spawner_cfg = {
		.confine = sandbox_drop_all,
		.child = cfg->child,
		.ctx = cfg->child_ctx,
		.urgent_nice = cfg->urgent_nice,
	};
	int err, i;

	w->cfg = *cfg;
	err = fork_server_start(&spawner_cfg, &w->server);
	if (err) {
		free(w);
		return err;
	}
	w->packet = xmalloc(SYMPROTO_PACKET_MAX);
	fork_server_watch(w->server, cfg->epoll_fd);
	for (i = 0; i < SYMWORKER_ROLE_CNT; i++) {
		w->v[i].last = &w->v[i].first;
		ask_for(w, i);
	}
	*out = w;
	return 0;
}

size_t worker_pool_pids(const struct worker_pool *w, uint32_t *pids)
{
	return fork_server_pids(w->server, pids);
}

static void drop_parcel(struct worker *wk)
{
	struct parcel *p = wk->first;

	wk->first = p->next;
	if (!p->next)
		wk->last = &wk->first;
	if (p->fd >= 0)
		close(p->fd);
	buf_free(&p->packet);
	free(p);
}

void worker_pool_stop(struct worker_pool *w)
{
	int i;

	if (!w)
		return;
	for (i = 0; i < SYMWORKER_ROLE_CNT; i++) {
		if (w->v[i].state == LIVE)
			close(w->v[i].sock);
		while (w->v[i].first)
			drop_parcel(&w->v[i]);
	}
	fork_server_stop(w->server);
	free(w->packet);
	free(w);
}

bool worker_pool_live(const struct worker_pool *w, enum symworker_role role)
{
	return w->v[role].state == LIVE;
}

bool worker_pool_over(const struct worker_pool *w, enum symworker_role role)
{
	return w->v[role].state == OVER;
}

unsigned int worker_pool_restarts(const struct worker_pool *w)
{
	unsigned int sum = 0, i;

	for (i = 0; i < SYMWORKER_ROLE_CNT; i++)
		sum += w->v[i].restarts;
	return sum;
}

/*
 * Requests a new worker at once, unless too many have died, or several in a row without a message.
 */
static void replace_worker(struct worker_pool *w, enum symworker_role role,
			   enum worker_pool_loss loss, const char *detail)
{
	struct worker *wk = &w->v[role];
	uint32_t module_id = wk->module_id;

	if (wk->state == LIVE)
		close(wk->sock);
	while (wk->first)
		drop_parcel(wk);
	wk->silent_deaths = wk->spoke ? 0 : wk->silent_deaths + 1;
	wk->spoke = false;
	wk->module_id = 0;
	wk->state = OVER;
	if (++wk->restarts <= WORKER_POOL_RESTARTS_MAX && wk->silent_deaths < SILENT_DEATHS_MAX)
		ask_for(w, role);
	w->cfg.lost(w->cfg.ctx, role, loss, module_id, detail);
}

static void kill_worker(struct worker_pool *w, enum symworker_role role, enum worker_pool_loss loss,
			const char *detail)
{
	fork_server_kill(w->server, w->v[role].pid);
	replace_worker(w, role, loss, detail);
}

static void set_pace(struct worker_pool *w, enum symworker_role role)
{
	enum fork_server_pace pace = FORK_SERVER_LOW;

	if (role == SYMWORKER_TABLES)
		pace = w->pressed ? FORK_SERVER_URGENT : FORK_SERVER_EQUAL;
	else if (w->hurry)
		pace = FORK_SERVER_EQUAL;
	else if (role == SYMWORKER_LINES)
		pace = FORK_SERVER_IDLE;
	fork_server_set_pace(w->server, w->v[role].pid, pace);
}

void worker_pool_press(struct worker_pool *w, uint64_t now_ns)
{
	w->pressed_ns = now_ns + WORKER_POOL_PRESS_NS;
}

static void update_press(struct worker_pool *w, uint64_t now)
{
	const bool pressed = now < w->pressed_ns;

	if (pressed == w->pressed)
		return;
	w->pressed = pressed;
	if (w->v[SYMWORKER_TABLES].state == LIVE)
		set_pace(w, SYMWORKER_TABLES);
}

static void post_pace(struct worker_pool *w, enum symworker_role role)
{
	const struct symproto_msg msg = { .kind = SYMPROTO_PACE, .size = w->ns_per_s };

	/* debug information has a limit of its own until the end */
	if (w->v[role].state == LIVE && (role != SYMWORKER_LINES || w->hurry))
		worker_pool_post(w, role, &msg, -1);
}

void worker_pool_limit(struct worker_pool *w, uint64_t ns_per_s)
{
	int i;

	if (ns_per_s == w->ns_per_s)
		return;
	w->ns_per_s = ns_per_s;
	for (i = 0; i < SYMWORKER_ROLE_CNT; i++)
		post_pace(w, i);
}

void worker_pool_hurry(struct worker_pool *w)
{
	int i;

	w->hurry = true;
	w->ns_per_s = 0;
	for (i = 0; i < SYMWORKER_ROLE_CNT; i++) {
		if (w->v[i].state == LIVE)
			set_pace(w, i);
		post_pace(w, i);
	}
}

static void on_born(struct worker_pool *w, const struct fork_server_event *ev, uint64_t now)
{
	struct worker *wk = ev->arg < SYMWORKER_ROLE_CNT ? &w->v[ev->arg] : NULL;

	if (!wk || wk->state != ASKED) {
		if (ev->sock >= 0)
			close(ev->sock);
		return;
	}
	if (ev->sock < 0) {
		replace_worker(w, ev->arg, WORKER_POOL_DIED, strerror(-ev->error));
		return;
	}
	wk->state = LIVE;
	wk->pid = ev->pid;
	wk->sock = ev->sock;
	wk->heard_ns = now;
	wk->cpu_last = 0;
	readiness_watch(&wk->ready, w->cfg.epoll_fd, wk->sock);
	set_pace(w, ev->arg);
	if (w->ns_per_s || w->hurry)
		post_pace(w, ev->arg);
}

/*
 * ---- messages -----------------------------------------------------------------------------------
 */

int worker_pool_send(struct worker_pool *w, enum symworker_role role, const struct buf *packet)
{
	if (w->v[role].state != LIVE || w->v[role].first)
		return -EAGAIN;
	return symproto_send(w->v[role].sock, packet, -1, MSG_DONTWAIT) ? -EAGAIN : 0;
}

/*
 * Sending a descriptor fails while too many are in flight. Retries, and later sends the message
 * without it. Any other error means that the worker has exited, which is reported elsewhere.
 */
static void send_parcels(struct worker_pool *w, enum symworker_role role, uint64_t now)
{
	struct worker *wk = &w->v[role];

	while (wk->first && wk->state == LIVE) {
		struct parcel *p = wk->first;
		int err = symproto_send(wk->sock, &p->packet, p->fd, MSG_DONTWAIT);

		if (err == -ETOOMANYREFS && now - p->since > PARCEL_NS && p->fd >= 0) {
			close(p->fd);
			p->fd = -1;
			buf_clear(&p->packet);
			symproto_put(&p->packet, &p->without);
			continue;
		}
		if (err == -EAGAIN || err == -ETOOMANYREFS)
			return;
		drop_parcel(wk);
	}
}

void worker_pool_post(struct worker_pool *w, enum symworker_role role,
		      const struct symproto_msg *msg, int fd)
{
	struct worker *wk = &w->v[role];
	struct parcel *p;

	if (wk->state != LIVE) {
		if (fd >= 0)
			close(fd);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	symproto_put(&p->packet, msg);
	p->fd = fd;
	p->since = wk->looked_ns;
	p->without = (struct symproto_msg){
		.kind = msg->kind,
		.what = msg->what,
		.id = msg->id,
		.error = -ETOOMANYREFS,
	};
	*wk->last = p;
	wk->last = &p->next;
	send_parcels(w, role, wk->looked_ns);
}

/* Returns false if the worker has exited. */
static bool receive_packet(struct worker_pool *w, enum symworker_role role, size_t sz)
{
	struct worker *wk = &w->v[role];
	struct symproto_msg msg;
	size_t pos = 0;
	int ret;

	while ((ret = symproto_get(w->packet, sz, &pos, SYMPROTO_FROM_WORKER, &msg)) == 1) {
		if (!w->cfg.on_message(w->cfg.ctx, role, &msg)) {
			ret = -EBADMSG;
			break;
		}
		if (msg.kind == SYMPROTO_WORKING)
			wk->module_id = msg.id;
	}
	if (ret)
		kill_worker(w, role, WORKER_POOL_LIED, "the worker's answers made no sense");
	return !ret;
}

static void hear(struct worker_pool *w, enum symworker_role role, uint64_t now, size_t max)
{
	struct worker *wk = &w->v[role];
	ssize_t n;
	int fd;

	while (max-- && wk->state == LIVE && readiness_has_data(&wk->ready)) {
		n = symproto_receive(wk->sock, w->packet, &fd, MSG_DONTWAIT);
		if (fd >= 0)
			close(fd);
		if (n == -EAGAIN) {
			readiness_set_empty(&wk->ready);
			return;
		}
		if (n == -EBADMSG) {
			kill_worker(w, role, WORKER_POOL_LIED,
				    "the worker's answers made no sense");
			return;
		}
		if (n <= 0) {
			/* the fork server will report the reason */
			close(wk->sock);
			wk->state = DYING;
			wk->dying_ns = now;
			return;
		}
		wk->spoke = true;
		wk->heard_ns = now;
		wk->cpu_mark = NOT_MEASURED;
		wk->sleep_ns = 0;
		if (!receive_packet(w, role, n))
			return;
	}
}

/* The last report of the worker names its module. */
static void on_died(struct worker_pool *w, const struct fork_server_event *ev, uint64_t now)
{
	char detail[64];
	int i;

	for (i = 0; i < SYMWORKER_ROLE_CNT; i++) {
		struct worker *wk = &w->v[i];

		if ((wk->state != LIVE && wk->state != DYING) || wk->pid != ev->pid)
			continue;
		readiness_doubt(&wk->ready);
		hear(w, i, now, UNHEARD_MAX);
		if (wk->state != LIVE && wk->state != DYING)
			continue;
		if (WIFSIGNALED(ev->status))
			snprintf(detail, sizeof(detail), "the worker died of signal %d (%s)",
				 WTERMSIG(ev->status), strsignal(WTERMSIG(ev->status)));
		else
			snprintf(detail, sizeof(detail), "the worker ended with code %d",
				 WEXITSTATUS(ev->status));
		replace_worker(w, i, WORKER_POOL_DIED, detail);
	}
}

/*
 * Without the fork server there are no workers. The present ones died with it, not because of a
 * module.
 */
static void replace_all_workers(struct worker_pool *w)
{
	int i;

	for (i = 0; i < SYMWORKER_ROLE_CNT; i++) {
		w->v[i].module_id = 0;
		if (w->v[i].state != OVER)
			replace_worker(w, i, WORKER_POOL_DIED, "");
	}
}

static void restart_server(struct worker_pool *w)
{
	if (w->alone)
		return;
	if (!fork_server_renew(w->server)) {
		log_info("record: the process that starts symbol readers was restarted");
	} else {
		w->alone = true;
		fork_server_unwatch(w->server);
		log_warn(
			"record: the process that starts symbol readers has exited: code found from now "
			"on has no symbols");
	}
	replace_all_workers(w);
}

static void read_server_events(struct worker_pool *w, uint64_t now)
{
	struct fork_server_event ev;
	int ret;

	while ((ret = fork_server_next(w->server, &ev)) > 0) {
		if (ev.kind == FORK_SERVER_BORN)
			on_born(w, &ev, now);
		else
			on_died(w, &ev, now);
	}
	if (ret < 0)
		restart_server(w);
}

/* ---- watching ----------------------------------------------------------------------------------- */

static uint64_t cpu_time(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t worker_pool_cpu_ns(const struct worker_pool *w, enum symworker_role role)
{
	const struct worker *wk = &w->v[role];
	const uint64_t now = wk->state == LIVE ? cpu_time(wk->pid) : 0;

	return now > wk->cpu_last ? now : wk->cpu_last;
}

static bool wants_cpu(pid_t pid)
{
	struct proc_stat stat;

	return !proc_read_stat(pid, &stat) && stat.state == 'R';
}

static void check_progress(struct worker_pool *w, enum symworker_role role, uint64_t now)
{
	struct worker *wk = &w->v[role];
	uint64_t cpu = cpu_time(wk->pid), passed = now - wk->looked_ns;

	if (wk->cpu_mark == NOT_MEASURED)
		wk->cpu_mark = cpu;
	else if (cpu == wk->cpu_last && !wants_cpu(wk->pid))
		wk->sleep_ns += passed < 2 * LOOK_NS ? passed : 2 * LOOK_NS;
	else
		wk->sleep_ns = 0;
	wk->cpu_last = cpu;
	if (cpu - wk->cpu_mark > w->cfg.silent_cpu_ns)
		kill_worker(w, role, WORKER_POOL_HUNG, "no word for seconds of CPU time");
	else if (wk->sleep_ns > w->cfg.silent_sleep_ns)
		kill_worker(w, role, WORKER_POOL_HUNG, "reading its file did not return");
}

/* Returns whether the worker was killed. A busy worker that keeps reporting grows, too. */
static bool weigh(struct worker_pool *w, enum symworker_role role, uint64_t now, bool silent)
{
	struct worker *wk = &w->v[role];

	if (!silent && now - wk->weighed_ns < WEIGH_NS)
		return false;
	wk->weighed_ns = now;
	if (proc_own_bytes(wk->pid) <= w->cfg.mem_max[role])
		return false;
	kill_worker(w, role, WORKER_POOL_GREW, "memory");
	return true;
}

static void watch(struct worker_pool *w, enum symworker_role role, uint64_t now, bool owes)
{
	struct worker *wk = &w->v[role];
	bool silent;

	if (wk->state == DYING && now - wk->dying_ns > CAUSE_NS) {
		kill_worker(w, role, WORKER_POOL_DIED, "the worker went away");
		return;
	}
	if (now - wk->looked_ns < LOOK_NS)
		return;
	silent = owes && now - wk->heard_ns >= LOOK_NS;
	if (wk->state == LIVE && weigh(w, role, now, silent))
		return;
	if (wk->state == LIVE && silent) {
		check_progress(w, role, now);
	} else {
		wk->cpu_mark = NOT_MEASURED;
		wk->sleep_ns = 0;
	}
	wk->looked_ns = now;
}

void worker_pool_step(struct worker_pool *w, uint64_t now_ns, size_t max,
		      const bool owes[SYMWORKER_ROLE_CNT])
{
	int i;

	update_press(w, now_ns);
	read_server_events(w, now_ns);
	for (i = 0; i < SYMWORKER_ROLE_CNT; i++) {
		hear(w, i, now_ns, max);
		send_parcels(w, i, now_ns);
		watch(w, i, now_ns, owes[i] && max);
	}
}
