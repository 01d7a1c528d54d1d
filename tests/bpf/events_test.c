// SPDX-License-Identifier: BSD-2-Clause
/* Any tracepoint: each of this kernel's maps or says why not, and values arrive as the kernel had them. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/tracefs/tracefs.h"
#include "tests/bpf/support.h"

TestSuite(events, .fini = live_cleanup);

/* ---- list -------------------------------------------------------------------------------------- */

struct listing {
	const char *text;
	size_t cnt;
};

static int check_listed(const char *system, const char *name, void *ctx)
{
	struct listing *l = ctx;
	char head[256];
	const char *line;

	snprintf(head, sizeof(head), "{\"event\":\"%s:%s\",\"", system, name);
	line = strstr(l->text, head);
	cr_assert(line, "%s:%s is not listed", system, name);
	line += strlen(head);
	if (strncmp(line, "error\":\"", 8))
		cr_assert(!strncmp(line, "fields\":[[\"common_cpu\",", 23), "%s", head);
	else
		cr_assert_str_eq(system, "ftrace", "%s:%s does not map: %.100s", system, name,
				 line);
	l->cnt++;
	return 0;
}

Test(events, list_prints_the_fields_of_each_tracepoint_or_why_it_has_none)
{
	const char *args[] = { "list", "--json", NULL };
	struct listing l = { 0 };
	struct live_proc p;
	size_t lines = 0;
	const char *at;
	int fd;

	cr_assert_eq(live_run(&p, args, NULL), 0);
	l.text = p.output.data;
	cr_assert_eq(tracefs_open(&fd), 0);
	cr_assert_eq(tracefs_each_event(fd, check_listed, &l), 0);
	for (at = l.text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_assert_gt(l.cnt, 300);
	cr_assert_eq(l.cnt, lines);
	cr_expect(strstr(l.text, "[\"next_pid\",\"Varint | I64\",\"pid_t\",{\"kind\":\"tid\"}]"));
	close(fd);
	live_proc_fini(&p);
}

static void expect_listed(const char *const *args, const char *want)
{
	struct live_proc p;
	struct buf output;

	cr_expect_eq(live_run(&p, args, NULL), 2);
	output = live_errors(&p);
	cr_expect_str_eq(buf_cstr(&output), want);
	buf_free(&output);
	live_proc_fini(&p);
}

/* The same mistake has the same exit status, wherever it is made. */
Test(events, event_missing_in_this_kernel_cannot_be_listed_or_recorded)
{
	const char *list[] = { "list", "nosuch:*", NULL };
	const char *slip[] = { "list", "sched:sched_swich", NULL };
	const char *two[] = { "list", "nosuch:*", "nosuch:?", NULL };
	const char *record[] = { "-a", "-d", "1", "-e", "nosuch:*", "-o", live_path("no"), NULL };
	struct live_proc p;

	cr_expect_eq(live_run(&p, list, NULL), 2);
	live_proc_fini(&p);
	expect_listed(
		slip,
		"dial9-prof: list: no event matches 'sched:sched_swich' (did you mean sched:sched_switch?); dial9-prof list prints all\n");
	expect_listed(
		two,
		"dial9-prof: list: no event matches 'nosuch:*' or the 1 after it; dial9-prof list prints all\n");
	cr_expect_eq(live_run(&p, record, NULL), 2);
	live_proc_fini(&p);
}

/* ---- values ------------------------------------------------------------------------------------ */

struct calls {
	int64_t pid, filename, flags;
	int openat, refused, priority, renamed, signalled, sent, executed, allocated, pages, timers;
};

/* What stands for the number of a field. */
static void assert_printed(const struct live_trace *lt, const struct trace_event *ev,
			   const char *field, const char *part)
{
	int i = dial9_schema_find(ev->schema->schema, field);
	struct buf text = { 0 };

	cr_assert_geq(i, 0);
	cr_assert(trace_field_text(lt->trace, ev, (size_t)i, &text), "%s has no text", field);
	cr_assert(strstr(buf_cstr(&text), part), "%s is '%s'", field, text.data);
	buf_free(&text);
}

static void check_syscall(const struct live_trace *lt, struct calls *c,
			  const struct trace_event *ev)
{
	const uint64_t expected[] = { 0x11112222, 0x33334444, 0x55556666 };
	int i = dial9_schema_find(ev->schema->schema, "args");

	cr_assert_geq(i, 0);
	cr_assert_eq(ev->values[i].type, DIAL9_BYTES);
	cr_assert_eq(ev->values[i].str.len, 6 * sizeof(uint64_t));
	if (live_int(ev, "id") == SYS_getpriority &&
	    !memcmp(ev->values[i].str.ptr, expected, sizeof(expected))) {
		assert_printed(lt, ev, "id", "getpriority");
		assert_printed(lt, ev, "args", "[0x11112222,0x33334444,0x55556666,");
		c->priority++;
	}
}

static void check_text(const struct live_trace *lt, struct calls *c, const struct trace_event *ev)
{
	if (live_is(ev, "task:task_rename") && !strcmp(live_text(lt, ev, "newcomm"), "renamed")) {
		cr_assert_str_eq(live_text(lt, ev, "oldcomm"), "calls");
		cr_assert_eq(live_int(ev, "pid"), c->pid);
		c->renamed++;
	} else if (live_is(ev, PROF_EV_SCHED_PROCESS_EXEC)) {
		c->executed += !strcmp(live_text(lt, ev, "filename"), "/bin/true");
	} else if (live_is(ev, "net:net_dev_xmit") && !strcmp(live_text(lt, ev, "name"), "lo")) {
		c->sent += live_int(ev, "len") == 123 + 8 + 20 + 14; /* UDP, IP, Ethernet */
	}
}

static void check_call(const struct live_trace *lt, struct calls *c, const struct trace_event *ev)
{
	if (live_is(ev, "syscalls:sys_enter_openat") && live_int(ev, "filename") == c->filename) {
		cr_assert_eq((int32_t)live_int(ev, "dfd"), AT_FDCWD);
		cr_assert_eq(live_int(ev, "flags"), c->flags);
		cr_assert_str_eq(live_text(lt, ev, "filename" PROF_TP_TEXT_SUFFIX),
				 "/no/such/file");
		c->openat++;
	} else if (live_is(ev, "raw_syscalls:sys_enter")) {
		check_syscall(lt, c, ev);
	} else if (live_is(ev, "syscalls:sys_exit_openat") && live_int(ev, "ret") < 0) {
		assert_printed(lt, ev, "ret", "-2 ENOENT");
		c->refused++;
	} else if (live_is(ev, "signal:signal_generate") && live_int(ev, "sig") == SIGUSR1) {
		cr_assert_eq(live_int(ev, "pid"), c->pid);
		c->signalled += live_int(ev, PROF_TP_COMMON_PID) == c->pid;
	} else if (live_is(ev, "kmem:kmalloc")) {
		cr_assert_geq(live_int(ev, "bytes_alloc"), live_int(ev, "bytes_req"));
		assert_printed(lt, ev, "call_site", "+0x");
		c->allocated++;
	} else if (live_is(ev, "kmem:mm_page_alloc")) {
		cr_assert_lt(live_int(ev, "order"), 32);
		c->pages++;
	} else if (live_is(ev, "timer:hrtimer_start")) {
		cr_assert_geq(live_int(ev, "expires"), live_int(ev, "softexpires"));
		c->timers++;
	} else {
		check_text(lt, c, ev);
	}
}

Test(events, field_values_of_many_tracepoints_equal_the_passed_values)
{
	struct calls c = { 0 };
	struct live_proc p;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;

	live_stimulus(&p, "calls", NULL);
	c.pid = p.pid;
	live_record(&rec, "-p", live_number(p.pid), "-m", "32M", "-e",
		    "syscalls:sys_*_openat,raw_syscalls:sys_*,task:task_rename", "-e",
		    "signal:signal_generate", "-e", "net:net_dev_xmit,kmem:kmalloc", "-e",
		    "kmem:mm_page_alloc,timer:hrtimer_start", NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	c.filename = strtoll(strstr(p.output.data, "filename=") + 9, NULL, 10);
	c.flags = live_truth(&p, "flags");
	live_open(&lt, rec.path, false);
	cr_assert_eq(lt.produced, lt.written + lt.lost);
	while (live_event(&lt, &ev))
		check_call(&lt, &c, &ev);
	live_close(&lt);
	cr_assert_eq(c.openat, 1);
	cr_assert_geq(c.refused, 1);
	cr_assert_eq(c.priority, 1);
	cr_assert_eq(c.renamed, 1);
	cr_assert_eq(c.signalled, 1);
	cr_assert_eq(c.sent, 1);
	cr_assert_eq(c.executed, 1);
	cr_assert_gt(c.allocated, 0);
	cr_assert_gt(c.pages, 0);
	cr_assert_gt(c.timers, 0);
	live_end(&p);
}

/* ---- a dozen systems at once ------------------------------------------------------------------- */

static const char *const systems[] = { "block",	  "csd",   "irq",	"kmem",	     "msr",
				       "net",	  "rcu",   "signal",	"skb",	     "sock",
				       "task",	  "timer", "workqueue", "writeback", "vmalloc",
				       "filemap", "sched", "cgroup" };

enum { SYSTEM_CNT = sizeof(systems) / sizeof(systems[0]), UNLIKE_SYSTEMS = 9 };

static int join_existing(const char *system, const char *name, void *ctx)
{
	struct buf *list = ctx;
	size_t i, len = strlen(system);

	for (i = 0; i < SYSTEM_CNT; i++)
		if (!strcmp(systems[i], system))
			break;
	if (i == SYSTEM_CNT || (list->len > len && strstr(list->data, system)))
		return 0;
	buf_printf(list, "%s%s:*", list->len ? "," : "", system);
	return 0;
}

static size_t count_systems(const char *path)
{
	bool seen[SYSTEM_CNT] = { 0 };
	struct live_trace lt;
	struct trace_event ev;
	size_t i, n = 0;

	live_open(&lt, path, false);
	cr_assert_eq(lt.produced, lt.written + lt.lost);
	while (live_event(&lt, &ev))
		for (i = 0; i < SYSTEM_CNT; i++) {
			const char *name = dial9_schema_name(ev.schema->schema);
			size_t len = strlen(systems[i]);

			seen[i] |= !strncmp(name, systems[i], len) && name[len] == ':';
		}
	live_close(&lt);
	for (i = 0; i < SYSTEM_CNT; i++)
		n += seen[i];
	return n;
}

Test(events, whole_tracepoint_systems_can_be_recorded_together)
{
	struct buf list = { 0 };
	struct live_proc p;
	struct live_rec rec;
	int fd;

	cr_assert_eq(tracefs_open(&fd), 0);
	cr_assert_eq(tracefs_each_event(fd, join_existing, &list), 0);
	close(fd);
	live_stimulus(&p, "calls", NULL);
	live_record(&rec, "-a", "-m", "32M", "-e", buf_cstr(&list), NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&p);
	buf_free(&list);
	cr_assert_geq(count_systems(rec.path), UNLIKE_SYSTEMS);
}
