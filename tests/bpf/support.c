// SPDX-License-Identifier: BSD-2-Clause
/*
 * support.c - running the recorder against workloads of known truth
 *
 * Nothing here sleeps to let something happen: workloads say when they are ready and done, and the
 * recorder's file stays empty until recording is on. Children die with the test that made them, so
 * a failed test leaves nothing running.
 */
#include "tests/bpf/support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "trace/source/source.h"

enum { TEXT_SLOTS = 8, TEXT_MAX = 512 };

/* Ends tests that hang. It is no limit for slow ones: other programs may use most of the machine. */
#define HANGS_AFTER_S "240"

static char test_dir[64];

static char *text_slot(void)
{
	static char slots[TEXT_SLOTS][TEXT_MAX];
	static unsigned int next;

	return slots[next++ % TEXT_SLOTS];
}

/* ---- processes --------------------------------------------------------------------------------- */

const char *live_dir(void)
{
	if (!*test_dir) {
		strcpy(test_dir, "/tmp/dial9-live-XXXXXX");
		cr_assert(mkdtemp(test_dir));
		cr_assert_eq(chmod(test_dir, 0777), 0);
	}
	return test_dir;
}

const char *live_path(const char *name)
{
	char *path = text_slot();

	snprintf(path, TEXT_MAX, "%s/%s", live_dir(), name);
	return path;
}

const char *live_built(const char *name)
{
	const char *build = getenv("D9_BUILD");
	char *path = text_slot();

	snprintf(path, TEXT_MAX, "%s/%s", build ? build : "build", name);
	return path;
}

const char *live_program(void)
{
	const char *other = getenv("D9_PROGRAM");

	return other ? other : live_built("dial9-prof");
}

const char *live_number(int64_t v)
{
	char *text = text_slot();

	snprintf(text, TEXT_MAX, "%lld", (long long)v);
	return text;
}

void live_cleanup(void)
{
	struct dirent *entry;
	DIR *dir;

	if (!*test_dir)
		return;
	dir = opendir(test_dir);
	while (dir && (entry = readdir(dir)))
		remove(live_path(entry->d_name));
	closedir(dir);
	rmdir(test_dir);
}

static void become(struct live_proc *p, const char *const *argv, live_prepare_fn prepare, int in,
		   int out)
{
	int err = open(p->err_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	/* now: after prepare, this process may not be allowed to read the build directory */
	int program = open(argv[0], O_PATH | O_CLOEXEC);

	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	if (prepare)
		prepare();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execveat(program, "", (char *const *)argv, environ, AT_EMPTY_PATH);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(120);
}

void live_spawn(struct live_proc *p, const char *const *argv, live_prepare_fn prepare)
{
	static unsigned int cnt;
	int in[2], out[2];
	char name[16];

	*p = (struct live_proc){ .in = -1 };
	snprintf(name, sizeof(name), "err.%u", cnt++);
	snprintf(p->err_path, sizeof(p->err_path), "%s", live_path(name));
	cr_assert_eq(pipe2(in, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
	p->pid = fork();
	cr_assert_geq(p->pid, 0);
	if (p->pid == 0)
		become(p, argv, prepare, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	p->in = in[1];
	p->out = fdopen(out[0], "r");
}

int live_wait(struct live_proc *p)
{
	int status;

	if (p->in >= 0)
		close(p->in);
	p->in = -1;
	while (waitpid(p->pid, &status, 0) < 0)
		cr_assert_eq(errno, EINTR);
	p->pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void live_read_until(struct live_proc *p, const char *word)
{
	char line[TEXT_MAX];

	while (fgets(line, sizeof(line), p->out)) {
		buf_addstr(&p->output, line);
		if (!strncmp(line, word, strlen(word)))
			return;
	}
	cr_assert_fail("it ended without saying '%s', but: %s", word, buf_cstr(&p->output));
}

void live_read_rest(struct live_proc *p)
{
	char part[4096];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), p->out)) > 0)
		buf_add(&p->output, part, n);
}

double live_truth(const struct live_proc *p, const char *key)
{
	const char *at = p->output.data, *found = NULL;
	size_t len = strlen(key);

	for (; at && (at = strstr(at, key)); at += len)
		if (at[len] == '=' && (at == p->output.data || strchr(" \n", at[-1])))
			found = at + len + 1;
	cr_assert(found, "no %s= in: %s", key, p->output.data);
	return strtod(found, NULL);
}

struct buf live_errors(const struct live_proc *p)
{
	struct buf text = { 0 };
	char part[4096];
	ssize_t n;
	int fd = open(p->err_path, O_RDONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	while ((n = read(fd, part, sizeof(part))) > 0)
		buf_add(&text, part, n);
	close(fd);
	buf_cstr(&text);
	return text;
}

void live_proc_fini(struct live_proc *p)
{
	if (p->pid > 0)
		live_wait(p);
	if (p->out)
		fclose(p->out);
	buf_free(&p->output);
	*p = (struct live_proc){ .in = -1 };
}

static void collect(const char **argv, size_t cnt, va_list ap)
{
	do {
		cr_assert_lt(cnt, LIVE_ARGS_MAX);
		argv[cnt] = va_arg(ap, const char *);
	} while (argv[cnt++]);
}

void live_stimulus(struct live_proc *p, const char *name, ...)
{
	const char *argv[LIVE_ARGS_MAX];
	char program[64];
	va_list ap;

	snprintf(program, sizeof(program), "stimuli/%s", name);
	argv[0] = live_built(program);
	va_start(ap, name);
	collect(argv, 1, ap);
	va_end(ap);
	live_spawn(p, argv, NULL);
	live_read_until(p, "ready");
}

void live_go(struct live_proc *p)
{
	cr_assert_eq(write(p->in, "\n", 1), 1);
	live_read_until(p, "done");
}

void live_end(struct live_proc *p)
{
	cr_assert_eq(live_wait(p), 0);
	live_proc_fini(p);
}

void live_kill(struct live_proc *p)
{
	kill(p->pid, SIGKILL);
	live_wait(p);
	live_proc_fini(p);
}

/* ---- the recorder ------------------------------------------------------------------------------ */

void live_record(struct live_rec *r, ...)
{
	/* the line at the end is noise here */
	const char *argv[LIVE_ARGS_MAX] = { live_program(), "record", "-o", r->path,
					    "--no-progress" };
	static unsigned int cnt;
	char name[16];
	va_list ap;

	snprintf(name, sizeof(name), "trace.%u", cnt++);
	snprintf(r->path, sizeof(r->path), "%s", live_path(name));
	va_start(ap, r);
	collect(argv, 5, ap);
	va_end(ap);
	for (size_t i = 5; argv[i]; i++)
		if (!strcmp(argv[i], "--progress"))
			argv[4] = argv[i];
	live_spawn(&r->proc, argv, NULL);
}

void live_recording(struct live_rec *r)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct stat st;
	struct buf text;

	while (stat(r->path, &st) || !st.st_size) {
		if (waitpid(r->proc.pid, NULL, WNOHANG) == r->proc.pid) {
			r->proc.pid = 0;
			text = live_errors(&r->proc);
			cr_assert_fail("the recorder ended: %s", text.data);
		}
		nanosleep(&step, NULL);
	}
}

int live_finish(struct live_rec *r)
{
	struct buf text;
	int code = live_wait(&r->proc);

	text = live_errors(&r->proc);
	if (text.len)
		fprintf(stderr, "%s", text.data);
	buf_free(&text);
	live_proc_fini(&r->proc);
	return code;
}

int live_stop(struct live_rec *r)
{
	kill(r->proc.pid, SIGINT);
	return live_finish(r);
}

int live_run(struct live_proc *p, const char *const *args, live_prepare_fn prepare)
{
	const char *argv[LIVE_ARGS_MAX] = { live_program() };
	size_t i;

	for (i = 0; args[i]; i++) {
		cr_assert_lt(i + 2, LIVE_ARGS_MAX);
		argv[i + 1] = args[i];
	}
	live_spawn(p, argv, prepare);
	live_read_rest(p);
	return live_wait(p);
}

struct buf live_output(const char *const *args)
{
	struct live_proc p;
	const int code = live_run(&p, args, NULL);
	struct buf errors = live_errors(&p), output;

	cr_assert_eq(code, 0, "%s", buf_cstr(&errors));
	buf_free(&errors);
	output = p.output;
	p.output = (struct buf){ 0 };
	live_proc_fini(&p);
	buf_cstr(&output);
	return output;
}

uint64_t live_output_number(const char *line, const char *key)
{
	const char *found = strstr(line, key);
	const size_t len = strcspn(line, "\n");

	cr_assert(found && found < line + len, "no %s in %.*s", key, (int)len, line);
	return strtoull(found + strlen(key), NULL, 10);
}

uint64_t live_blocked(const char *path, int64_t tid)
{
	const char *args[] = { "offcpu", "--json", "-t", live_number(tid), path, NULL };
	struct live_proc p;
	const int code = live_run(&p, args, NULL);
	struct buf errors = live_errors(&p);
	uint64_t cnt = code ? 0 : live_output_number(buf_cstr(&p.output), "\"intervals\":");

	cr_assert(!code || strstr(buf_cstr(&errors), "no blocked time"), "%s", buf_cstr(&errors));
	buf_free(&errors);
	live_proc_fini(&p);
	return cnt;
}

/* ---- the trace --------------------------------------------------------------------------------- */

static void start_pass(struct live_trace *lt, const char *path, bool learn)
{
	struct trace_opts opts = { .read = source_read, .names = lt->names, .learn = learn };

	cr_assert_eq(source_open(path, &lt->src), 0);
	opts.ctx = lt->src;
	cr_assert_eq(trace_new(&opts, &lt->trace), 0);
}

static void end_pass(struct live_trace *lt)
{
	trace_free(lt->trace);
	source_close(lt->src);
}

static void add_loss(struct live_trace *lt, const struct trace_event *ev)
{
	const char *kind = live_text(lt, ev, PROF_F_KIND);
	uint64_t cnt = live_int(ev, PROF_F_COUNT);

	cr_assert_leq(live_int(ev, PROF_F_FIRST_NS), live_int(ev, PROF_F_LAST_NS));
	if (!strcmp(kind, PROF_LOST_RING_FULL))
		lt->ring_full += cnt;
	else if (str_starts(kind, PROF_LOST_NESTED)) /* or nested_at_most */
		lt->nested += cnt;
	else if (str_starts(kind, PROF_LOST_SIDEBAND))
		lt->sideband += cnt;
}

static void add_stats(struct live_trace *lt, const struct trace_event *ev)
{
	lt->produced = live_int(ev, "produced");
	lt->written = live_int(ev, "written");
	lt->lost = live_int(ev, "lost");
	lt->samples = live_int(ev, "samples");
}

void live_open(struct live_trace *lt, const char *path, bool may_be_torn)
{
	struct dial9_error error;
	struct trace_event ev;

	*lt = (struct live_trace){ 0 };
	cr_assert_eq(names_new(&lt->names), 0);
	start_pass(lt, path, true);
	while ((lt->outcome = trace_next(lt->trace, &ev)) == 1) {
		if (ev.kind == TRACE_LOST)
			add_loss(lt, &ev);
		else if (ev.kind == TRACE_STATS)
			add_stats(lt, &ev);
	}
	trace_error(lt->trace, &error);
	cr_assert(!lt->outcome || (may_be_torn && lt->outcome == -ENODATA), "%s: %s at byte %llu",
		  path, error.reason, (unsigned long long)error.offset);
	end_pass(lt);
	start_pass(lt, path, false);
}

bool live_event(struct live_trace *lt, struct trace_event *ev)
{
	return trace_next(lt->trace, ev) == 1;
}

void live_close(struct live_trace *lt)
{
	end_pass(lt);
	names_free(lt->names);
}

bool live_is(const struct trace_event *ev, const char *name)
{
	return !strcmp(dial9_schema_name(ev->schema->schema), name);
}

static const struct dial9_value *value_of(const struct trace_event *ev, const char *field)
{
	int i = dial9_schema_find(ev->schema->schema, field);

	cr_assert_geq(i, 0, "%s has no field %s", dial9_schema_name(ev->schema->schema), field);
	return &ev->values[i];
}

int64_t live_int(const struct trace_event *ev, const char *field)
{
	const struct dial9_value *v = value_of(ev, field);

	return v->type == DIAL9_I64 ? v->i64 : v->type == DIAL9_BOOL ? v->b : (int64_t)v->u64;
}

const char *live_text(const struct live_trace *lt, const struct trace_event *ev, const char *field)
{
	char *text = text_slot();
	struct dial9_str str;

	cr_assert(trace_value_str(lt->trace, value_of(ev, field), &str), "%s is no text", field);
	snprintf(text, TEXT_MAX, "%.*s", (int)str.len, str.ptr);
	return text;
}

bool live_frame_in(const struct live_trace *lt, uint64_t frame, const char *function)
{
	const struct names_symbol *sym = names_symbol(lt->names, frame);
	uint32_t i;

	for (i = 0; sym && i < sym->cnt; i++)
		if (!strcmp(names_str(lt->names, sym->frames[i].name, NULL), function))
			return true;
	return false;
}

bool live_stack_has(const struct live_trace *lt, const struct trace_event *ev, const char *function)
{
	uint32_t i;

	for (i = 0; i < ev->frame_cnt; i++)
		if (live_frame_in(lt, ev->frames[i], function))
			return true;
	return false;
}

void live_assert_no_loss(const struct live_trace *lt)
{
	cr_assert_gt(lt->produced, 0);
	cr_assert_eq(lt->lost, 0, "%llu lost", (unsigned long long)lt->lost);
	cr_assert_eq(lt->produced, lt->written);
	cr_assert_eq(lt->ring_full + lt->nested, 0);
}

void live_expect_all(const struct live_trace *lt, uint64_t cnt, uint64_t truth, const char *what)
{
	cr_expect_eq(lt->produced, lt->written + lt->lost);
	cr_expect(cnt <= truth && truth - cnt <= lt->lost, "%llu %s of %llu, %llu events lost",
		  (unsigned long long)cnt, what, (unsigned long long)truth,
		  (unsigned long long)lt->lost);
}

/* A thread comes before it leaves. Its last run may not be over. */
uint64_t live_hidden(const char *path, int64_t tid)
{
	uint64_t out = 0, in = 0;
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SCHED_SWITCH)
			continue;
		out += live_int(&ev, PROF_F_PREV_PID) == tid;
		in += live_int(&ev, PROF_F_NEXT_PID) == tid;
	}
	live_close(&lt);
	return out > in ? out - in : 0;
}

/* ---- /proc ------------------------------------------------------------------------------------- */

static bool read_switches(pid_t tid, struct live_switches *out)
{
	unsigned long long voluntary = 0, involuntary = 0;
	char path[64], line[256], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	cr_assert(f, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %llu", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %llu", &involuntary);
	}
	fclose(f);
	*out = (struct live_switches){ voluntary, involuntary };
	return state == 'S';
}

void live_read_switches(pid_t tid, struct live_switches *out)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	struct live_switches again;

	for (;;) {
		bool asleep = read_switches(tid, out);

		nanosleep(&step, NULL);
		if (read_switches(tid, &again) && asleep && again.voluntary == out->voluntary &&
		    again.involuntary == out->involuntary)
			return;
	}
}

/* ---- main -------------------------------------------------------------------------------------- */

__attribute__((weak)) const char *live_missing(void)
{
	return NULL;
}

static const char *why_not(void)
{
	if (geteuid())
		return "needs root";
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "needs a kernel with BTF (/sys/kernel/btf/vmlinux)";
	return live_missing();
}

/* Visible, because Criterion's sandbox looks for main() among the dynamic symbols. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
	struct criterion_test_set *tests;
	const char *reason = why_not();
	int failed = 0;

	if (reason) {
		puts(reason);
		return 77;
	}
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	setenv("D9_TEST_LIMIT", HANGS_AFTER_S, 0);
	tests = criterion_initialize();
	criterion_options.jobs = 1;
	if (criterion_handle_args(argc, argv, true))
		failed = !criterion_run_all_tests(tests);
	criterion_finalize(tests);
	return failed;
}
