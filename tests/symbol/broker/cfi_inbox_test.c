// SPDX-License-Identifier: BSD-2-Clause
/* Requested unwind tables arrive whole and valid, or not at all, for any behaviour of the worker. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/broker/sym_client.h"
#include "symbol/cfi/cfitable.h"
#include "symbol/sandbox/symproto.h"
#include "symbol/sandbox/symworker.h"
#include "tests/symbol/fakes.h"
#include "tests/symbol/support.h"
#include "tests/support/unwind_find.h"
#include "unwind/table.h"

#define SECOND 1000000000ull
#define MODULES 4
#define MODULES_MAX 40
#define BAD 2
#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

TestSuite(cfi_inbox, .timeout = 60);

/* ---- results ---------------------------------------------------------------------------------- */

struct got {
	unsigned int tables[MODULES_MAX + 1];
	int error[MODULES_MAX + 1];
	struct unwind_table copy; /* of the last table */
	bool broken; /* an answer reported that symbols cannot be read */
};

static int on_answer(void *ctx, const struct sym_client_answer *a)
{
	struct got *g = ctx;

	g->broken |= a->kind == SYM_CLIENT_STATUS && a->status == SYM_CLIENT_CRASHED;
	if (a->kind != SYM_CLIENT_TABLE)
		return 0;
	cr_assert_leq(a->module_id, MODULES_MAX);
	g->tables[a->module_id]++;
	g->error[a->module_id] = a->error;
	cr_assert_eq(!a->table, a->error != 0);
	if (!a->table)
		return 0;
	cr_assert(unwind_table_check(a->table));
	unwind_table_free(&g->copy);
	g->copy = *a->table;
	g->copy.words = malloc(g->copy.cnt * sizeof(uint32_t));
	memcpy(g->copy.words, a->table->words, g->copy.cnt * sizeof(uint32_t));
	return 0;
}

static void receive_all(struct sym_client *b, struct got *g)
{
	uint64_t deadline = clock_mono_ns() + 50 * SECOND;

	*g = (struct got){ 0 };
	while (sym_client_tables(b)) {
		cr_assert_lt(clock_mono_ns(), deadline, "a table does not come");
		sym_client_wait(b, deadline);
		cr_assert_geq(sym_client_receive(b, on_answer, g, SIZE_MAX), 0);
	}
}

static void add(struct sym_client *b, uint32_t id, enum sym_client_kind kind, const char *path)
{
	const struct sym_client_module m = { .kind = kind, .pid = getpid(), .path = path };

	cr_assert_eq(sym_client_add_module(b, id, &m), 0);
}

/* ---- real workers ------------------------------------------------------------------------------ */

/* The builder's table of the file, in this process. */
static struct unwind_table table_of(const char *path)
{
	struct unwind_table t;
	struct cfitable c;
	struct elfimg img;

	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	budget_enter(unbounded());
	cfitable_init(&c, &img, unbounded());
	cr_assert_eq(cfitable_build(&c, &t), 0);
	cfitable_fini(&c);
	elfimg_close(&img);
	return t;
}

Test(cfi_inbox, tables_equal_the_tables_of_the_file)
{
	static const struct sym_client_cfg plain;
	struct unwind_table wanted = table_of(LIBC);
	struct sym_client *b;
	struct got g;
	int i;

	cr_assert_eq(sym_client_new(&plain, &b), 0);
	add(b, 1, SYM_CLIENT_ELF, LIBC);
	/* each time again */
	for (i = 0; i < 2; i++) {
		cr_assert(sym_client_ask_table(b, 1));
		cr_assert(sym_client_ask_table(b, 1), "once more before it came");
		cr_expect_eq(sym_client_tables(b), 1);
		receive_all(b, &g);
		cr_expect_eq(g.tables[1], 1);
		cr_assert_eq(g.error[1], 0);
		cr_assert_eq(g.copy.cnt, wanted.cnt);
		cr_expect_eq(g.copy.first_page, wanted.first_page);
		cr_expect_eq(g.copy.page_cnt, wanted.page_cnt);
		cr_expect_eq(g.copy.big_cnt, wanted.big_cnt);
		cr_expect_eq(memcmp(g.copy.words, wanted.words, 4 * wanted.cnt), 0);
		unwind_table_free(&g.copy);
	}
	unwind_table_free(&wanted);
	sym_client_free(b);
}

struct spent {
	uint64_t ns[2];
	bool others;
};

static void on_spent(void *ctx, pid_t pid, enum sym_client_work work, uint64_t ns)
{
	struct spent *s = ctx;

	s->ns[work] += ns;
	s->others |= pid != getpid();
}

/* The time for reading a file is charged to the process that maps it. */
Test(cfi_inbox, time_for_tables_is_charged_to_the_process_that_maps_the_file)
{
	static const struct sym_client_cfg plain;
	struct spent spent = { 0 };
	struct sym_client *b;
	struct got g;

	cr_assert_eq(sym_client_new(&plain, &b), 0);
	sym_client_limit(b, &(struct sym_client_limiter){ .spent = on_spent, .ctx = &spent });
	add(b, 1, SYM_CLIENT_ELF, LIBC);
	cr_assert(sym_client_ask_table(b, 1));
	receive_all(b, &g);
	cr_expect_gt(spent.ns[SYM_CLIENT_TABLES], 0);
	cr_expect_lt(spent.ns[SYM_CLIENT_TABLES], 20 * SECOND);
	cr_expect_eq(spent.ns[SYM_CLIENT_SYMBOLS], 0);
	cr_assert(sym_client_ask(b, 1, 0x30000));
	while (!sym_client_idle(b)) {
		sym_client_wait(b, clock_mono_ns() + SECOND);
		cr_assert_geq(sym_client_receive(b, on_answer, &g, SIZE_MAX), 0);
	}
	cr_expect_gt(spent.ns[SYM_CLIENT_SYMBOLS], 0);
	cr_expect_not(spent.others);
	unwind_table_free(&g.copy);
	sym_client_free(b);
}

/* A library of one function that looks like Go's goexit; returns the row in its middle. */
static uint32_t row_of_goexit(const char *more)
{
	struct elfimg_sec text;
	struct unwind_table t;
	struct elfimg img;
	char path[256];
	uint32_t row;

	snprintf(path, sizeof(path), "%s/go%s.so", scratch(), more);
	shell("printf '.cfi_startproc\\nnop\\ncall 1f\\nnop\\n.cfi_endproc\\n1: ret\\n"
	      ".section .gopclntab%s, \"a\"\\n.quad 1\\n' | "
	      "gcc -shared -nostdlib -x assembler -o %s -",
	      more, path);
	t = table_of(path);
	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY | O_CLOEXEC), 0), 0);
	cr_assert(elfimg_find(&img, ".text", &text));
	cr_assert(unwind_find(&t, text.off + 3, &row));
	elfimg_close(&img);
	unwind_table_free(&t);
	return row & ((1U << PROF_UNWIND_ROW_PC_SHIFT) - 1);
}

Test(cfi_inbox, tables_end_where_goroutines_begin)
{
	const uint32_t end = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT |
			     PROF_UNWIND_END << PROF_UNWIND_ROW_OFF_SHIFT;

	cr_expect_eq(row_of_goexit(""), end);
	cr_expect_eq(row_of_goexit("x"), 1U << PROF_UNWIND_ROW_OFF_SHIFT, "not a Go program");
}

static int on_version(void *ctx, const struct sym_client_answer *a)
{
	if (a->kind == SYM_CLIENT_MODULE && !a->error)
		*(uint64_t *)ctx = a->version;
	return 0;
}

Test(cfi_inbox, changed_file_has_no_table)
{
	struct sym_client_module m = { .kind = SYM_CLIENT_IDENTIFY, .pid = getpid(), .path = LIBC };
	static const struct sym_client_cfg plain;
	uint64_t version = 0;
	struct sym_client *b;
	struct got g;

	cr_assert_eq(sym_client_new(&plain, &b), 0);
	cr_assert_eq(sym_client_add_module(b, 3, &m), 0);
	while (!version) {
		sym_client_wait(b, clock_mono_ns() + SECOND);
		cr_assert_geq(sym_client_receive(b, on_version, &version, SIZE_MAX), 0);
	}
	m.kind = SYM_CLIENT_ELF;
	m.version = version;
	cr_assert_eq(sym_client_add_module(b, 1, &m), 0);
	m.version++;
	cr_assert_eq(sym_client_add_module(b, 2, &m), 0);
	cr_assert(sym_client_ask_table(b, 1));
	cr_assert(sym_client_ask_table(b, 2));
	receive_all(b, &g);
	cr_expect_eq(g.error[1], 0);
	cr_expect_eq(g.error[2], -ESTALE);
	unwind_table_free(&g.copy);
	sym_client_free(b);
}

Test(cfi_inbox, vdso_has_a_table)
{
	static const struct sym_client_cfg plain;
	struct sym_client *b;
	struct got g;

	cr_assert_eq(sym_client_new(&plain, &b), 0);
	add(b, 1, SYM_CLIENT_VDSO, "[vdso]");
	cr_assert(sym_client_ask_table(b, 1));
	receive_all(b, &g);
	cr_expect_eq(g.error[1], 0);
	cr_expect_gt(g.copy.cnt, 10);
	unwind_table_free(&g.copy);
	sym_client_free(b);
}

Test(cfi_inbox, missing_table_has_a_reason)
{
	static const struct sym_client_cfg plain;
	char object[256];
	struct sym_client *b;
	struct got g;

	snprintf(object, sizeof(object), "%s/none", scratch());
	shell("objcopy --remove-section .eh_frame --remove-section .debug_frame %s %s",
	      stimulus("c-gcc"), object);
	cr_assert_eq(sym_client_new(&plain, &b), 0);
	add(b, 1, SYM_CLIENT_ELF, object);
	add(b, 2, SYM_CLIENT_ELF, "/etc/passwd");
	add(b, 3, SYM_CLIENT_ELF, "/there/is/no/such/file");
	add(b, 4, SYM_CLIENT_PERFMAP, "/tmp/perf-1.map");
	cr_expect_not(sym_client_ask_table(b, 5), "an unknown module");
	cr_assert(sym_client_ask_table(b, 1) && sym_client_ask_table(b, 2) &&
		  sym_client_ask_table(b, 3) && sym_client_ask_table(b, 4));
	receive_all(b, &g);
	cr_expect_eq(g.error[1], -ENODATA);
	cr_expect_eq(g.error[2], -ENOEXEC);
	cr_expect_eq(g.error[3], -ENOENT);
	cr_expect_eq(g.error[4], -ENODATA);
	cr_assert(sym_client_ask_table(b, 3), "a failure is final, and is reported again");
	receive_all(b, &g);
	cr_expect_eq(g.error[3], -ENOENT);
	sym_client_free(b);
}

/* ---- workers with faults ------------------------------------------------------------------------ */

enum fault {
	NO_FAULT,
	CRASHES,
	LOOPS,
	UNSOUND, /* a table that unwind_table_check() refuses */
	TWO_HEADS,
	TOO_MANY_WORDS,
	TOO_FEW_WORDS,
	WORDS_ALONE,
	OF_ANOTHER,
	AN_ERROR_WITH_WORDS,
	NOTHING_AT_ALL, /* neither words nor an error */
	A_FRAME,
	BY_WHO_READS_NAMES,
	CRASHES_ONCE,
	DIES_AT_START,
	HOLDS, /* holds back all tables until the last one is requested */
};

/* In memory that all processes of a test share. */
static struct script {
	enum fault fault;
	unsigned int held; /* when the last module was added */
	unsigned int crashed;
} * script;

/* One page with one row. */
static const uint32_t words[] = { 1 << PROF_UNWIND_INDEX_COUNT_BITS,
				  1 << PROF_UNWIND_ROW_OFF_SHIFT };

static void put_head(int sock, uint32_t id, size_t cnt, int error)
{
	fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_TABLE,
					       .id = id,
					       .error = error,
					       .line = error ? 0 : 1,
					       .size = cnt });
}

static void put_words(int sock, uint32_t id, const uint32_t *w, size_t cnt)
{
	fakes_put(sock, (struct symproto_msg){
				.kind = SYMPROTO_WORDS, .id = id, .words = w, .word_cnt = cnt });
}

static void do_fault(int sock, uint32_t id)
{
	static const uint32_t unsound[] = { 0, 0 };
	volatile int forever = 1;

	switch (script->fault) {
	case CRASHES:
		abort();
	case CRASHES_ONCE:
		break;
	case LOOPS:
		while (forever)
			;
		break;
	case UNSOUND:
		put_head(sock, id, 2, 0);
		put_words(sock, id, unsound, 2);
		break;
	case TWO_HEADS:
		put_head(sock, id, 2, 0);
		put_head(sock, id, 2, 0);
		put_words(sock, id, words, 2);
		break;
	case TOO_MANY_WORDS:
		put_head(sock, id, 2, 0);
		put_words(sock, id, words, 2);
		put_words(sock, id, words, 1);
		break;
	case TOO_FEW_WORDS:
		put_head(sock, id, 3, 0);
		put_words(sock, id, words, 2);
		break;
	case WORDS_ALONE:
		put_words(sock, id, words, 2);
		break;
	case OF_ANOTHER:
		put_head(sock, id, 2, 0);
		put_words(sock, id - 1, words, 2);
		break;
	case AN_ERROR_WITH_WORDS:
		put_head(sock, id, 2, -ENODATA);
		put_words(sock, id, words, 2);
		break;
	case NOTHING_AT_ALL:
		put_head(sock, id, 0, 0);
		break;
	case A_FRAME:
		fakes_put(sock,
			  (struct symproto_msg){
				  .kind = SYMPROTO_FRAME, .id = id, .text = "f", .text_len = 1 });
		break;
	case BY_WHO_READS_NAMES:
	case DIES_AT_START:
	case HOLDS:
	case NO_FAULT:
		break;
	}
	fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_DONE, .id = id });
	for (;;)
		pause();
}

static void put_good(int sock, uint32_t id)
{
	put_head(sock, id, 2, 0);
	put_words(sock, id, words, 1);
	put_words(sock, id, words + 1, 1);
	fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_DONE, .id = id });
}

static void hold(int sock, uint32_t id)
{
	static uint32_t held[MODULES_MAX];
	static unsigned int cnt;
	static bool open;

	held[cnt++] = id;
	if (id == MODULES_MAX) {
		open = true;
		script->held = cnt - 1;
	}
	while (open && cnt)
		put_good(sock, held[--cnt]);
}

static void do_message(int sock, uint32_t role, const struct symproto_msg *msg, int fd)
{
	bool liar = script->fault == BY_WHO_READS_NAMES ? role == SYMWORKER_LINES :
							  script->fault && role == SYMWORKER_TABLES;

	if (!fakes_begin(sock, msg, fd))
		return;
	if (msg->kind != SYMPROTO_ASK && role != SYMWORKER_TABLES)
		return;
	if (role == SYMWORKER_TABLES && script->fault == HOLDS) {
		hold(sock, msg->id);
		return;
	}
	if (script->fault == CRASHES_ONCE) {
		if (role == SYMWORKER_TABLES && msg->id == BAD && !script->crashed++)
			abort();
	} else if (liar && msg->id == BAD && role == SYMWORKER_TABLES) {
		do_fault(sock, msg->id);
	}
	if (role == SYMWORKER_TABLES || liar) {
		put_head(sock, msg->id, 2, 0);
		put_words(sock, msg->id, words, 1);
		put_words(sock, msg->id, words + 1, 1);
	}
	fakes_put(sock, (struct symproto_msg){
				.kind = SYMPROTO_DONE, .id = msg->id, .offset = msg->offset });
}

static void fake_worker(const void *ctx, int sock, uint32_t role)
{
	(void)ctx;
	if (script->fault == DIES_AT_START && role == SYMWORKER_TABLES)
		_exit(3);
	fakes_work(sock, role, do_message);
}

static void fake_opener(const void *ctx, int sock, uint32_t arg)
{
	(void)ctx;
	(void)arg;
	fakes_open(sock, fakes_hang, NULL);
}

static void setup(void)
{
	script = fakes_shared(sizeof(*script));
}

/* A broker with modules whose tables have been requested. */
static struct sym_client *start(enum fault fault)
{
	const struct sym_client_cfg cfg = {
		.worker = fake_worker,
		.opener = fake_opener,
		.silent_cpu_ns = SECOND / 4,
		/* a slow machine is no fault */
		.silent_sleep_ns = 90 * SECOND,
		.open_ns = 90 * SECOND,
	};
	struct sym_client *b;
	uint32_t id;

	memset(script, 0, sizeof(*script));
	script->fault = fault;
	cr_assert_eq(sym_client_new(&cfg, &b), 0);
	for (id = 1; id <= MODULES; id++) {
		add(b, id, SYM_CLIENT_ELF, "/any");
		cr_assert(sym_client_ask_table(b, id));
	}
	return b;
}

static void run(enum fault fault, struct got *g)
{
	struct sym_client *b = start(fault);

	if (fault == BY_WHO_READS_NAMES)
		cr_assert(sym_client_ask(b, BAD, 16));
	receive_all(b, g);
	while (fault == BY_WHO_READS_NAMES && !g->broken) {
		sym_client_wait(b, clock_mono_ns() + SECOND);
		cr_assert_geq(sym_client_receive(b, on_answer, g, SIZE_MAX), 0);
	}
	/* the table worker gets the file once more */
	cr_expect_eq(sym_client_restarts(b),
		     fault == NO_FAULT					  ? 0 :
		     fault == BY_WHO_READS_NAMES || fault == CRASHES_ONCE ? 1 :
									    2,
		     "fault %d", fault);
	unwind_table_free(&g->copy);
	sym_client_free(b);
}

/* All modules but the bad one have their table, once. */
static void expect_others(const struct got *g, enum fault fault)
{
	uint32_t id;

	for (id = 1; id <= MODULES; id++) {
		cr_expect_eq(g->tables[id], 1, "fault %d, module %u", fault, id);
		if (id != BAD)
			cr_expect_eq(g->error[id], 0, "fault %d, module %u", fault, id);
	}
}

Test(cfi_inbox, each_table_arrives_once, .init = setup)
{
	struct got g;

	run(NO_FAULT, &g);
	expect_others(&g, NO_FAULT);
	cr_expect_eq(g.error[BAD], 0);
}

Test(cfi_inbox, tables_of_a_worker_that_fails_or_sends_invalid_data_are_ignored, .init = setup)
{
	enum fault fault;
	struct got g;

	for (fault = CRASHES; fault <= A_FRAME; fault++) {
		run(fault, &g);
		expect_others(&g, fault);
		cr_expect_eq(g.error[BAD], -EIO, "fault %d", fault);
		cr_expect_not(g.broken, "fault %d: names can be read all the same", fault);
	}
}

Test(cfi_inbox, table_is_requested_again_after_one_crash_of_the_worker, .init = setup)
{
	struct got g;

	run(CRASHES_ONCE, &g);
	expect_others(&g, CRASHES_ONCE);
	cr_expect_eq(g.error[BAD], 0);
}

Test(cfi_inbox, tables_are_accepted_from_table_workers_only, .init = setup)
{
	struct got g;

	run(BY_WHO_READS_NAMES, &g);
	expect_others(&g, BY_WHO_READS_NAMES);
	cr_expect_eq(g.error[BAD], 0);
}

Test(cfi_inbox, tables_are_missing_without_workers, .init = setup)
{
	struct sym_client *b = start(DIES_AT_START);
	struct got g;
	uint32_t id;
	int again;

	/* the second time no worker is left */
	for (again = 0; again < 2; again++) {
		for (id = 1; again && id <= MODULES; id++)
			cr_assert(sym_client_ask_table(b, id));
		receive_all(b, &g);
		for (id = 1; id <= MODULES; id++) {
			cr_expect_eq(g.tables[id], 1, "module %u", id);
			cr_expect_eq(g.error[id], -EIO, "module %u", id);
		}
	}
	cr_assert(sym_client_ask(b, 1, 16), "names are read all the same");
	sym_client_free(b);
}

/* The files of one user are many and slow: files of another user must not wait for them. */
Test(cfi_inbox, many_tables_of_one_owner_leave_room_for_others, .init = setup)
{
	const struct sym_client_cfg cfg = { .worker = fake_worker, .opener = fake_opener };
	struct sym_client_module m = { .pid = getpid(), .path = "/any" };
	struct sym_client *b;
	struct got g;
	uint32_t id;

	script->fault = HOLDS;
	cr_assert_eq(sym_client_new(&cfg, &b), 0);
	for (id = 1; id <= MODULES_MAX; id++) {
		m.owner = id == MODULES_MAX ? 1001 : 1000;
		cr_assert_eq(sym_client_add_module(b, id, &m), 0);
		cr_assert(sym_client_ask_table(b, id));
	}
	receive_all(b, &g);
	for (id = 1; id <= MODULES_MAX; id++)
		cr_expect_eq(g.tables[id], 1, "module %u", id);
	cr_expect_leq(script->held, 4);
	cr_expect_eq(sym_client_restarts(b), 0);
	unwind_table_free(&g.copy);
	sym_client_free(b);
}
