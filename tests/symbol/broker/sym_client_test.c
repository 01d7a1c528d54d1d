// SPDX-License-Identifier: BSD-2-Clause
/*
 * Effects of hostile files on workers and openers, simulated by fake ones: any failure of one module leaves the
 * symbols of all others.
 */
#include "symbol/broker/sym_client.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kernel/proc.h"
#include "symbol/broker/module_queue.h"
#include "symbol/sandbox/symproto.h"
#include "symbol/sandbox/symworker.h"
#include "symbol/sandbox/worker_pool.h"
#include "tests/symbol/fakes.h"
#include "tests/symbol/support.h"

#define SECOND 1000000000ull
#define MODULES 8
#define BAD 4 /* the module with the fault */
#define QUESTIONS 200
#define MEM_MAX (192u << 20) /* of a worker */

TestSuite(sym_client, .timeout = 100);

/* ---- a worker that reads no file and answers "f" -------------------------------------------------- */

enum fault {
	NO_FAULT,
	CRASHES,
	LOOPS,
	STOPS,
	GROWS,
	LIES_ABOUT_OFFSET,
	LIES_ABOUT_MODULE,
	LIES_WITH_FRAMES, /* more than a stack can have */
	SENDS_GARBAGE,
	FLOODS, /* sends the same answer for ever */
	DIES_AT_START,
	WAITS, /* and notes it in script->waits */
};

/* In memory that all processes of a test share. */
struct script {
	enum fault fault;
	int role; /* that has the fault */
	uint32_t bad; /* the module at which it shows */
	unsigned int starts[SYMWORKER_ROLE_CNT];
	uint32_t hanging; /* the module whose file never opens; by its path */
	unsigned int opens;
	unsigned int wants, again, late; /* see late_worker() */
	unsigned int unasked;
	unsigned int waits;
};

static struct script *script;

static void grow(void)
{
	volatile char *bytes = malloc(MEM_MAX + MEM_MAX / 2);

	for (size_t i = 0; i < MEM_MAX + MEM_MAX / 2; i += 4096)
		bytes[i] = 1;
}

static void do_fault(int sock, const struct symproto_msg *request)
{
	struct symproto_msg name = { .kind = SYMPROTO_NAME,
				     .id = request->id,
				     .offset = request->offset,
				     .text = "f",
				     .text_len = 1 };
	volatile int forever = 1;

	switch (script->fault) {
	case CRASHES:
		abort();
	case LOOPS:
		while (forever)
			;
		break;
	case STOPS:
		raise(SIGSTOP);
		break;
	case GROWS:
		grow();
		break;
	case LIES_ABOUT_OFFSET:
		name.offset += 12345678;
		fakes_put(sock, name);
		break;
	case LIES_ABOUT_MODULE:
		name.id = 77;
		fakes_put(sock, name);
		break;
	case LIES_WITH_FRAMES:
		name.kind = SYMPROTO_FRAME;
		while (forever)
			fakes_put(sock, name);
		break;
	case SENDS_GARBAGE:
		send(sock, "garbage", 7, MSG_NOSIGNAL);
		break;
	case FLOODS:
		while (forever)
			fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_WORKING,
							       .id = request->id });
		break;
	case WAITS:
		__atomic_store_n(&script->waits, 1, __ATOMIC_RELEASE);
		break;
	case DIES_AT_START:
	case NO_FAULT:
		break;
	}
	for (;;)
		pause();
}

static void do_message(int sock, uint32_t role, const struct symproto_msg *msg, int fd)
{
	if (!fakes_begin(sock, msg, fd))
		return;
	if (msg->kind != SYMPROTO_ASK)
		return;
	if (script->fault && script->role == (int)role && script->bad == msg->id)
		do_fault(sock, msg);
	if (!msg->offset)
		fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_STATE,
						       .id = msg->id,
						       .flags = role ? SYMPROTO_HAS_DWARF :
								       SYMPROTO_HAS_SYMTAB });
	fakes_put(sock, (struct symproto_msg){ .kind = role ? SYMPROTO_FRAME : SYMPROTO_NAME,
					       .id = msg->id,
					       .offset = msg->offset,
					       .text = "f",
					       .text_len = 1 });
	fakes_put(sock, (struct symproto_msg){
				.kind = SYMPROTO_DONE, .id = msg->id, .offset = msg->offset });
}

static void fake_worker(const void *ctx, int sock, uint32_t role)
{
	(void)ctx;
	__atomic_add_fetch(&script->starts[role], 1, __ATOMIC_RELAXED);
	if (script->fault == DIES_AT_START && script->role == (int)role)
		_exit(3);
	fakes_work(sock, role, do_message);
}

static void count_and_hang(const struct symproto_msg *msg)
{
	__atomic_add_fetch(&script->opens, 1, __ATOMIC_RELAXED);
	fakes_hang(msg);
}

static void fake_opener(const void *ctx, int sock, uint32_t arg)
{
	(void)ctx;
	(void)arg;
	fakes_open(sock, count_and_hang, NULL);
}

/* ---- results ----------------------------------------------------------------------------------- */

struct got {
	size_t names[MODULES + 1], frames[MODULES + 1];
	enum sym_client_status status[MODULES + 1];
	char detail[MODULES + 1][80];
};

static int on_answer(void *ctx, const struct sym_client_answer *a)
{
	struct got *g = ctx;

	cr_assert_leq(a->module_id, MODULES);
	g->names[a->module_id] += a->kind == SYM_CLIENT_NAME;
	g->frames[a->module_id] += a->kind == SYM_CLIENT_FRAME;
	if (a->kind == SYM_CLIENT_STATUS) {
		g->status[a->module_id] = a->status;
		snprintf(g->detail[a->module_id], 80, "%s", a->detail);
	}
	return 0;
}

static void setup(void)
{
	script = fakes_shared(sizeof(*script));
	script->bad = BAD;
}

/* @open_ns: for opening a file. A busy machine needs seconds to start the opener. */
static struct sym_client *start(uint64_t open_ns)
{
	const struct sym_client_cfg cfg = {
		.worker = fake_worker,
		.opener = fake_opener,
		.silent_cpu_ns = SECOND / 2,
		.silent_sleep_ns = script->fault == STOPS ? SECOND / 2 : 90 * SECOND,
		.worker_mem_max = MEM_MAX,
		.open_ns = open_ns,
	};
	struct sym_client *b;

	cr_assert(!sym_client_new(&cfg, &b));
	return b;
}

static void add_modules(struct sym_client *b, uint32_t hanging)
{
	uint32_t id, i;

	for (id = 1; id <= MODULES; id++)
		cr_assert_eq(sym_client_add_module(b, id,
						   &(struct sym_client_module){
							   .path = id <= hanging ? "/hangs" :
										   "/answers" }),
			     0);
	for (i = 0; i < QUESTIONS; i++)
		for (id = 1; id <= MODULES; id++)
			sym_client_ask(b, id, 16 * i);
}

static void finish(struct sym_client *b, struct got *g)
{
	uint64_t deadline = clock_mono_ns() + 60 * SECOND;

	while (!sym_client_idle(b)) {
		cr_assert_lt(clock_mono_ns(), deadline, "questions stay open");
		sym_client_wait(b, deadline);
		cr_assert_geq(sym_client_receive(b, on_answer, g, SIZE_MAX), 0);
	}
}

/* All modules but the bad one have all names and frames, each once. */
static void expect_others(const struct got *g)
{
	uint32_t id;

	for (id = 1; id <= MODULES; id++) {
		if (id == script->bad)
			continue;
		cr_expect_eq(g->names[id], QUESTIONS, "module %u: %zu", id, g->names[id]);
		cr_expect_eq(g->frames[id], QUESTIONS, "module %u: %zu", id, g->frames[id]);
		cr_expect_eq(g->status[id], SYM_CLIENT_NAMED, "module %u: %d %s", id, g->status[id],
			     g->detail[id]);
	}
}

static void run(enum fault fault, int role, struct got *g)
{
	struct sym_client *b;

	script->fault = fault;
	script->role = role;
	b = start(60 * SECOND);
	add_modules(b, 0);
	finish(b, g);
	cr_expect_eq(sym_client_restarts(b), fault == NO_FAULT ? 0u : 1u);
	sym_client_free(b);
}

/* The fault affects one module, and all others are answered as if there were none. */
static struct got run_bad(enum fault fault, int role, enum sym_client_status status)
{
	struct got g = { 0 };

	run(fault, role, &g);
	expect_others(&g);
	cr_expect_eq(g.status[BAD], status, "%d: %s", g.status[BAD], g.detail[BAD]);
	return g;
}

Test(sym_client, every_request_is_answered_once_without_faults, .init = setup)
{
	struct got g = { 0 };

	script->bad = 0;
	run(NO_FAULT, 0, &g);
	expect_others(&g);
	cr_expect_eq(script->starts[0], 1u);
	cr_expect_eq(script->opens, 2u * MODULES);
}

Test(sym_client, module_that_crashes_its_worker_loses_only_its_own_symbols, .init = setup)
{
	struct got g = run_bad(CRASHES, SYMWORKER_NAMES, SYM_CLIENT_CRASHED);

	cr_expect_eq(g.names[BAD], 0u);
	cr_expect_not_null(strstr(g.detail[BAD], "signal 6"), "%s", g.detail[BAD]);
	cr_expect_eq(script->starts[SYMWORKER_NAMES], 2u);
}

Test(sym_client, symbols_are_kept_if_debug_information_crashes_the_worker, .init = setup)
{
	struct got g = run_bad(CRASHES, SYMWORKER_LINES, SYM_CLIENT_CRASHED);

	cr_expect_gt(g.names[BAD], 0u);
	cr_expect_eq(g.frames[BAD], 0u);
	cr_expect_eq(script->starts[SYMWORKER_NAMES], 1u);
}

Test(sym_client, worker_that_loops_is_replaced, .init = setup)
{
	run_bad(LOOPS, SYMWORKER_NAMES, SYM_CLIENT_HUNG);
}

Test(sym_client, worker_that_hangs_is_replaced, .init = setup)
{
	run_bad(STOPS, SYMWORKER_NAMES, SYM_CLIENT_HUNG);
}

Test(sym_client, worker_that_needs_too_much_memory_is_replaced, .init = setup)
{
	struct got g = { 0 };

	run(GROWS, SYMWORKER_NAMES, &g);
	expect_others(&g);
	cr_expect_eq(g.status[BAD], SYM_CLIENT_GAVE_UP);
	cr_expect_str_eq(g.detail[BAD], "memory");
}

Test(sym_client, worker_that_sends_invalid_data_is_replaced, .init = setup)
{
	static const enum fault lies[] = { LIES_ABOUT_OFFSET, LIES_ABOUT_MODULE, SENDS_GARBAGE };
	struct got g;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		g = run_bad(lies[i], SYMWORKER_NAMES, SYM_CLIENT_CRASHED);
		cr_expect_eq(g.names[BAD], 0u);
	}
}

/* It reports progress, and never ends. */
Test(sym_client, worker_that_only_sends_progress_is_replaced, .init = setup)
{
	run_bad(FLOODS, SYMWORKER_NAMES, SYM_CLIENT_CRASHED);
}

Test(sym_client, answer_with_too_many_frames_is_invalid, .init = setup)
{
	struct got g = run_bad(LIES_WITH_FRAMES, SYMWORKER_LINES, SYM_CLIENT_CRASHED);

	cr_expect_leq(g.frames[BAD], (size_t)SYMPROTO_DEPTH_MAX);
}

Test(sym_client, worker_that_never_starts_is_given_up, .init = setup)
{
	struct got g = { 0 };
	struct sym_client *b;
	uint32_t id;

	script->fault = DIES_AT_START;
	b = start(60 * SECOND);
	add_modules(b, 0);
	finish(b, &g);
	for (id = 1; id <= MODULES; id++) {
		cr_expect_eq(g.status[id], SYM_CLIENT_NO_WORKER);
		cr_expect_eq(g.names[id], 0u);
	}
	cr_expect_leq(script->starts[SYMWORKER_NAMES], 10u);
	sym_client_free(b);
}

/* Half of the files hang, in one directory: the others must not be blocked by that. */
Test(sym_client, file_that_never_opens_delays_no_other, .init = setup)
{
	struct got g = { 0 };
	struct sym_client *b = start(SECOND);
	uint32_t id;

	add_modules(b, MODULES / 2);
	finish(b, &g);
	for (id = 1; id <= MODULES / 2; id++) {
		cr_expect_eq(g.status[id], SYM_CLIENT_NO_ANSWER, "module %u: %d", id, g.status[id]);
		cr_expect_eq(g.names[id], 0u);
	}
	for (; id <= MODULES; id++) {
		cr_expect_eq(g.names[id], QUESTIONS);
		cr_expect_eq(g.frames[id], QUESTIONS);
	}
	cr_expect_eq(sym_client_restarts(b), 0u);
	sym_client_free(b);
}

Test(sym_client, finished_modules_can_be_forgotten_and_added_again, .init = setup)
{
	struct got g = { 0 };
	struct sym_client *b = start(60 * SECOND);
	size_t bytes = 0, more;
	uint32_t id;

	add_modules(b, 0);
	cr_expect_eq(sym_client_forget(b, 1), 0u, "all have open questions");
	finish(b, &g);
	while ((more = sym_client_forget(b, 1)))
		bytes += more;
	cr_expect_geq(bytes, MODULES);
	for (id = 1; id <= MODULES; id++)
		cr_expect_not(sym_client_ask(b, id, 1), "module %u", id);
	memset(&g, 0, sizeof(g));
	add_modules(b, 0);
	finish(b, &g);
	for (id = 1; id <= MODULES; id++) {
		cr_expect_eq(g.names[id], QUESTIONS, "module %u: %zu", id, g.names[id]);
		cr_expect_eq(g.frames[id], QUESTIONS);
		cr_expect_eq(g.status[id], SYM_CLIENT_NAMED);
	}
	cr_expect_eq(sym_client_restarts(b), 0u);
	sym_client_free(b);
}

/* Steps only when there is something to receive, which a broker that sent nothing never has. */
static bool is_answered(struct sym_client *b)
{
	struct pollfd fd = { .fd = sym_client_fd(b), .events = POLLIN };
	size_t asked = sym_client_questions(b);

	while (sym_client_questions(b) == asked && poll(&fd, 1, 10000) == 1)
		sym_client_step(b);
	return sym_client_questions(b) < asked;
}

Test(sym_client, requests_are_sent_by_send, .init = setup)
{
	struct got g = { 0 };
	struct sym_client *b = start(60 * SECOND);

	add_modules(b, 0);
	finish(b, &g);
	cr_assert(sym_client_ask(b, 4, 5000));
	sym_client_send(b);
	cr_expect(is_answered(b));
	finish(b, &g);
	cr_expect_eq(g.names[4], QUESTIONS + 1);
	sym_client_free(b);
}

static int on_last(void *ctx, const struct sym_client_answer *a)
{
	cr_expect_eq(a->kind, SYM_CLIENT_STATUS);
	cr_expect_eq(a->module_id, 3);
	*(enum sym_client_status *)ctx = a->status;
	return 0;
}

Test(sym_client, module_without_open_requests_can_be_dropped, .init = setup)
{
	enum sym_client_status last = SYM_CLIENT_UNKNOWN;
	struct got g = { 0 };
	struct sym_client *b = start(60 * SECOND);

	add_modules(b, 0);
	cr_expect_not(sym_client_drop(b, 3, on_last, &last), "it has open questions");
	finish(b, &g);
	cr_expect(sym_client_drop(b, 3, on_last, &last));
	cr_expect_eq(last, SYM_CLIENT_NAMED);
	cr_expect_not(sym_client_drop(b, 3, on_last, &last), "it is not known");
	cr_expect_not(sym_client_ask(b, 3, 1));
	cr_expect(sym_client_ask(b, 4, 5000), "the others are");
	finish(b, &g);
	cr_expect_eq(g.names[4], QUESTIONS + 1);
	cr_expect_eq(sym_client_restarts(b), 0u);
	sym_client_free(b);
}

Test(sym_client, unanswered_modules_are_pending, .init = setup)
{
	struct got g = { 0 };
	struct sym_client *b = start(60 * SECOND);
	uint32_t id;

	add_modules(b, 0);
	sym_client_close_questions(b);
	cr_assert_geq(sym_client_receive(b, on_answer, &g, SIZE_MAX), 0);
	cr_expect(sym_client_idle(b));
	for (id = 1; id <= MODULES; id++)
		cr_expect_eq(g.status[id], SYM_CLIENT_PENDING);
	sym_client_ask(b, 1, 99999);
	cr_expect(sym_client_idle(b), "nothing is asked any more");
	sym_client_free(b);
}

/* ---- shares of the openers ----------------------------------------------------------------------- */

static uint64_t owner_of(pid_t pid, uint64_t known_owner)
{
	struct module_queue *m = module_queue_new(
		1, &(struct sym_client_module){ .pid = pid, .owner = known_owner });
	uint64_t owner = m->owner;

	module_queue_free(m);
	return owner;
}

/* Their owner is not known any more: it may have been the same user each time. */
Test(sym_client, ended_processes_have_a_common_share_of_the_openers)
{
	cr_expect_eq(owner_of(5000001, 0), owner_of(5000002, 0));
	cr_expect_neq(owner_of(5000001, 0), owner_of(getpid(), 0));
	cr_expect_eq(owner_of(5000001, 7), 7, "unless somebody knows");
}

/* ---- a file that arrives when its worker is gone ---------------------------------------------------- */

static unsigned int wait_for(unsigned int *at)
{
	while (!__atomic_load_n(at, __ATOMIC_ACQUIRE))
		sched_yield();
	return *at;
}

static void tell(unsigned int *at)
{
	__atomic_add_fetch(at, 1, __ATOMIC_RELEASE);
}

/* The first worker requests a file for module 1, and dies at module 2 before it arrives. */
static void do_late_message(int sock, uint32_t role, const struct symproto_msg *msg, int fd)
{
	static const struct symproto_msg want = { .kind = SYMPROTO_WANT,
						  .what = SYMPROTO_WANT_DEBUGLINK,
						  .id = 1,
						  .text = "x.debug",
						  .text_len = 7 };
	static bool second_open;
	bool reads_names = role == SYMWORKER_NAMES;
	bool request = reads_names && msg->kind == SYMPROTO_ASK && msg->id == 1;

	if (script->starts[SYMWORKER_NAMES] > 1) {
		script->unasked += reads_names && msg->kind == SYMPROTO_FILE;
		if (request)
			tell(&script->again);
	} else if (request && second_open) {
		fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_WORKING, .id = 1 });
		fakes_put(sock, want);
		wait_for(&script->wants);
		fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_WORKING, .id = 2 });
		_exit(1);
	}
	second_open |= msg->kind == SYMPROTO_MODULE && msg->id == 2;
	do_message(sock, role, msg, fd);
}

static void late_worker(const void *ctx, int sock, uint32_t role)
{
	(void)ctx;
	tell(&script->starts[role]);
	fakes_work(sock, role, do_late_message);
}

static void wait_for_next_worker(const struct symproto_msg *msg)
{
	if (!symproto_is_debug_file(msg->what))
		return;
	tell(&script->wants);
	wait_for(&script->again);
}

static void request_late(const struct symproto_msg *msg)
{
	if (symproto_is_debug_file(msg->what))
		tell(&script->late);
}

static void late_opener(const void *ctx, int sock, uint32_t arg)
{
	(void)ctx;
	(void)arg;
	fakes_open(sock, wait_for_next_worker, request_late);
}

Test(sym_client, file_is_not_given_to_a_worker_that_did_not_request_it, .init = setup)
{
	const struct sym_client_cfg cfg = {
		.worker = late_worker,
		.opener = late_opener,
		.open_ns = 60 * SECOND,
		.no_dwarf = true,
	};
	struct got g = { 0 };
	struct sym_client *b;
	uint64_t i;

	cr_assert_eq(sym_client_new(&cfg, &b), 0);
	for (i = 2; i > 0; i--)
		cr_assert_eq(sym_client_add_module(b, i,
						   &(struct sym_client_module){ .path = "/x" }),
			     0);
	for (i = 0; i < 2 * QUESTIONS; i++)
		sym_client_ask(b, 2 - i % 2, i);
	for (i = 0; !__atomic_load_n(&script->late, __ATOMIC_ACQUIRE); i++) {
		sym_client_ask(b, 1, 100000 + i);
		sym_client_wait(b, clock_mono_ns() + SECOND / 100);
		cr_assert_geq(sym_client_receive(b, on_answer, &g, SIZE_MAX), 0);
	}
	sym_client_step(b);
	sym_client_ask(b, 1, 99999);
	finish(b, &g);
	cr_expect_eq(script->starts[SYMWORKER_NAMES], 2u);
	cr_expect_eq(script->wants, 1u);
	cr_expect_eq(script->unasked, 0u);
	sym_client_free(b);
}

/* ---- no fork server is left -------------------------------------------------------------------------- */

/* Their children end with them, and are waited for: a remaining opener or worker may answer. */
static void kill_children(void)
{
	struct proc_stat stat;
	pid_t *pids;
	size_t cnt, i;

	cr_assert(!prctl(PR_SET_CHILD_SUBREAPER, 1) && !proc_list_pids(&pids, &cnt));
	for (i = 0; i < cnt; i++)
		if (!proc_read_stat(pids[i], &stat) && stat.ppid == getpid())
			kill(pids[i], SIGKILL);
	free(pids);
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

static int pass(void *ctx, const struct sym_client_answer *a)
{
	return 0;
}

Test(sym_client, each_module_reports_that_the_fork_server_is_missing, .init = setup)
{
	struct got g = { 0 };
	struct sym_client *b = start(60 * SECOND);
	struct pollfd fd = { .fd = sym_client_fd(b), .events = POLLIN };
	struct sym_client_answer last;
	uint32_t id;

	add_modules(b, 0);
	kill_children();
	finish(b, &g);
	for (id = 1; id <= MODULES; id++)
		cr_expect_eq(g.status[id], SYM_CLIENT_NO_WORKER, "%u: %d", id, g.status[id]);
	cr_assert_eq(sym_client_add_module(b, 100, &(struct sym_client_module){ .path = "/x" }), 0);
	cr_expect(sym_client_ask(b, 100, 1));
	/* openers and workers have a spawner each: one's end may be reported before the other's */
	while (sym_client_questions(b)) {
		sym_client_wait(b, clock_mono_ns() + SECOND / 100);
		cr_assert_geq(sym_client_receive(b, pass, NULL, SIZE_MAX), 0);
	}
	cr_assert(sym_client_get(b, 100, &last));
	cr_expect_eq(last.status, SYM_CLIENT_NO_WORKER);
	/* a dead socket that stays readable would never let this end */
	while (poll(&fd, 1, 0)) {
		sym_client_step(b);
		cr_assert_geq(sym_client_receive(b, pass, NULL, SIZE_MAX), 0);
	}
	sym_client_free(b);
}

/* The worker ends with its spawner: that is no fault of the file that it was reading. */
static void expect_no_blame(int role)
{
	const struct sym_client_cfg cfg = {
		.worker = fake_worker,
		.opener = fake_opener,
		.silent_sleep_ns = 90 * SECOND,
	};
	struct got g = { 0 };
	struct sym_client *b;

	*script = (struct script){ .fault = WAITS, .role = role, .bad = BAD };
	cr_assert_eq(sym_client_new(&cfg, &b), 0);
	add_modules(b, 0);
	while (!__atomic_load_n(&script->waits, __ATOMIC_ACQUIRE)) {
		sym_client_wait(b, clock_mono_ns() + SECOND / 100);
		cr_assert_geq(sym_client_receive(b, on_answer, &g, SIZE_MAX), 0);
	}
	sym_client_step(b);
	kill_children();
	finish(b, &g);
	cr_expect_neq(g.status[BAD], SYM_CLIENT_CRASHED, "role %d", role);
	if (role == SYMWORKER_NAMES)
		cr_expect_eq(g.status[BAD], SYM_CLIENT_NO_WORKER, "%d", g.status[BAD]);
	sym_client_free(b);
}

Test(sym_client, end_of_the_fork_server_is_not_attributed_to_a_module, .init = setup)
{
	expect_no_blame(SYMWORKER_NAMES);
	expect_no_blame(SYMWORKER_LINES);
}

/* ---- which file is used ------------------------------------------------------------------------------ */

static uint64_t offset_of(const char *path, const char *symbol)
{
	struct section text = section_of(path, ".text");
	char cmd[2 * PATH_MAX];
	uint64_t addr;
	FILE *nm;

	snprintf(cmd, sizeof(cmd), "nm %s | awk '$3 == \"%s\" { print $1 }'", path, symbol);
	nm = popen(cmd, "r");
	cr_assert_eq(fscanf(nm, "%lx", &addr), 1, "no %s", symbol);
	pclose(nm);
	return addr - text.addr + text.off;
}

static void read_build_id(const char *path, uint8_t build_id[20])
{
	char note[128];
	FILE *f;

	snprintf(note, sizeof(note), "%s/note", scratch());
	shell("objcopy -O binary -j .note.gnu.build-id %s %s", path, note);
	f = fopen(note, "re");
	cr_assert(f && !fseek(f, 16, SEEK_SET) && fread(build_id, 20, 1, f) == 1);
	fclose(f);
}

static int on_name(void *ctx, const struct sym_client_answer *a)
{
	if (a->kind == SYM_CLIENT_NAME)
		snprintf(ctx, 80, "%s", a->name);
	return 0;
}

/* The name at an offset of a module, by real workers. */
static void name_of(const struct sym_client_module *m, uint64_t offset, char name[80])
{
	const struct sym_client_cfg cfg = { .no_dwarf = true };
	uint64_t deadline = clock_mono_ns() + 60 * SECOND;
	struct sym_client *b;

	cr_assert_eq(sym_client_new(&cfg, &b), 0);
	cr_assert_eq(sym_client_add_module(b, 1, m), 0);
	cr_assert(sym_client_ask(b, 1, offset));
	*name = '\0';
	while (!sym_client_idle(b)) {
		cr_assert_lt(clock_mono_ns(), deadline);
		sym_client_wait(b, deadline);
		cr_assert_geq(sym_client_receive(b, on_name, name, SIZE_MAX), 0);
	}
	sym_client_free(b);
}

/*
 * The writer of a file can give it the build-id of another, and with own mounts the path, too. Here it has been
 * replaced since it was mapped.
 */
Test(sym_client, symbols_come_from_the_recorders_own_file_if_its_build_id_matches)
{
	char path[128], forged[128], name[80];
	uint8_t build_id[20];
	struct sym_client_module m = {
		.pid = getpid(), .path = path, .build_id = build_id, .build_id_sz = sizeof(build_id)
	};
	uint64_t offset;
	void *mapped;
	int fd;

	snprintf(path, sizeof(path), "%s/module", scratch());
	snprintf(forged, sizeof(forged), "%s/forged", scratch());
	shell("objcopy --redefine-sym digest=forged %s %s && cp %s %s", stimulus("c-gcc"), forged,
	      forged, path);
	offset = offset_of(path, "forged");
	read_build_id(path, build_id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert(mapped != MAP_FAILED);
	m.map_start = (uintptr_t)mapped;
	m.map_end = m.map_start + 4096;
	name_of(&m, offset, name);
	cr_expect_str_eq(name, "forged");
	shell("cp %s %s.new && mv %s.new %s", stimulus("c-gcc"), path, path, path);
	name_of(&m, offset, name);
	cr_expect_str_eq(name, "digest");
	shell("cp /bin/true %s.new && mv %s.new %s", path, path, path);
	name_of(&m, offset, name);
	if (!geteuid())
		cr_expect_str_eq(name, "forged", "ours is another one: theirs counts for them");
	munmap(mapped, 4096);
	close(fd);
}
