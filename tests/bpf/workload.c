// SPDX-License-Identifier: BSD-2-Clause
/*
 * workload.c - programs whose user stacks are to be whole, and the addresses of their frames
 */
#include "tests/bpf/workload.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "prof_events.h"

#define PYTHON(loop)                                                                                 \
	"import itertools, json, re\n"                                                               \
	"def deep(n, s): return deep(n - 1, s) if n else work(s)\n"                                  \
	"def work(s):\n"                                                                             \
	"    v = [{'id': i, 'text': str(i * s % 977) * 3, 'more': [i, None]} for i in range(300)]\n" \
	"    t = json.dumps(json.loads(json.dumps(v)), indent=1)\n"                                  \
	"    w = re.findall(r'(?:[0-9]+[^0-9]?)+7(?=[0-9])', t)\n"                                   \
	"    return sorted(w, key=lambda x: (len(x), x[::-1]))\n"                                    \
	"for i in " loop ": deep(i % 40, i)\n"

#define SQL(limit)                                                                                 \
	"WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c " limit                   \
	") SELECT sum(length(hex(x * 7919 % 65537))), max(y) FROM "                                \
	"(SELECT x, printf('%d-%x', x, x * x) AS y FROM c ORDER BY x % 977, y)"

#define NODE                                                                                       \
	"exec node -e '"                                                                           \
	"function f(n, o) { return n ? f(n - 1, o) + 1 : JSON.stringify(o).length }\n"             \
	"let s = 0;\n"                                                                             \
	"for (let i = 0; s >= 0; i++) {\n"                                                         \
	"  const v = Array.from({ length: 300 }, (_, k) => ({ k, t: String(k * i % 977) }));\n"    \
	"  v.sort((a, b) => a.t < b.t ? -1 : 1);\n"                                                \
	"  s += f(i % 30, v) + v.map(x => x.t.replace(/[0-9]7/g, \"x\")).length;\n"                \
	"}\n'"

const struct workload workloads[] = {
	{ "xz",
	  "/usr/bin/xz",
	  "exec xz -3 -T1 -c >/dev/null",
	  { "/usr/bin/xz", "-0", "-T1", "-k", "-f", "DATA" },
	  false },
	{ "gzip",
	  "/bin/gzip",
	  "exec gzip -c >/dev/null",
	  { "/bin/gzip", "-9", "-k", "-f", "DATA" },
	  false },
	{ "python3",
	  "/usr/bin/python3",
	  "exec /usr/bin/python3 -c \"" PYTHON("itertools.count()") "\"",
	  { "/usr/bin/python3", "-c", PYTHON("range(40)") },
	  false },
	{ "sqlite3",
	  "/usr/bin/sqlite3",
	  "exec sqlite3 :memory: \"" SQL("") "\"",
	  { "/usr/bin/sqlite3", ":memory:", SQL("LIMIT 300000") },
	  false },
	{ "sort",
	  "/usr/bin/sort",
	  "exec sort -m -k2,2 -g /dev/urandom /dev/urandom /dev/urandom >/dev/null",
	  { "/usr/bin/sort", "-R", "-o", "/dev/null", "DATA" },
	  false },
	{ "gcc",
	  "/usr/bin/gcc",
	  NULL,
	  { "/usr/bin/gcc", "-O2", "-c", "SOURCE", "-o", "/dev/null" },
	  false },
	{ "openssl rsa",
	  "/usr/bin/openssl",
	  "exec openssl speed -seconds 3000 rsa2048 2>/dev/null",
	  { "/usr/bin/openssl", "speed", "-seconds", "1", "rsa2048" },
	  false },
	{ "openssl aes",
	  "/usr/bin/openssl",
	  "exec openssl enc -aes-256-cbc -k x -pbkdf2 >/dev/null",
	  { NULL },
	  true },
	{ "openssl chacha",
	  "/usr/bin/openssl",
	  "exec openssl enc -chacha20 -k x -pbkdf2 >/dev/null",
	  { NULL },
	  true },
	{ "node", "/usr/bin/node", NODE, { NULL }, true },
	{ "signals", NULL, "exec $D9_BUILD/stimuli/unwind_signals", { NULL }, false },
	{ "throw", NULL, "exec $D9_BUILD/stimuli/unwind_throw", { NULL }, false },
	{ "rust", NULL, "exec $D9_BUILD/stimuli/unwind_rust", { NULL }, false },
	{ NULL, NULL, NULL, { NULL }, false },
};

bool workload_wanted(const struct workload *prog)
{
	const char *names = getenv("D9_UNWIND_PROGRAMS"), *at;
	size_t len = strlen(prog->name);

	if (prog->needs && access(prog->needs, X_OK))
		return false;
	if (!names)
		return !prog->by_hand;
	for (at = names; (at = strstr(at, prog->name)); at += len)
		if ((at == names || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

void workload_start(struct live_proc *p, const char *shell)
{
	char command[4096];
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	int len = snprintf(command, sizeof(command), "exec </dev/urandom\n%s", shell);

	cr_assert(len > 0 && (size_t)len < sizeof(command));
	setenv("D9_BUILD", live_built("."), 0);
	live_spawn(p, argv, NULL);
}

static const char *noise(void)
{
	enum { BLOCK = 1 << 16, BLOCKS = 64 };
	static char block[BLOCK];
	const char *path = live_path("noise");
	FILE *in, *out;

	if (!access(path, F_OK))
		return path;
	in = fopen("/dev/urandom", "re");
	out = fopen(path, "we");
	cr_assert(in && out);
	for (int i = 0; i < BLOCKS; i++) {
		cr_assert_eq(fread(block, 1, BLOCK, in), BLOCK);
		cr_assert_eq(fwrite(block, 1, BLOCK, out), BLOCK);
	}
	fclose(in);
	cr_assert_eq(fclose(out), 0);
	return path;
}

/* Functions enough for a compiler to be at for a second. */
static const char *source(void)
{
	enum { FUNCTIONS = 40 };
	const char *path = live_path("source.c");
	FILE *out;

	if (!access(path, F_OK))
		return path;
	out = fopen(path, "we");
	cr_assert(out);
	for (int i = 0; i < FUNCTIONS; i++)
		fprintf(out,
			"int f%d(int *v, int n)\n"
			"{\n"
			"	int r = %d;\n"
			"	for (int i = 0; i < n; i++)\n"
			"		for (int j = i %% %d; j < n; j++)\n"
			"			switch ((v[i] ^ r) & 7) {\n"
			"			case 0: r += v[j] * %d; break;\n"
			"			case 1: v[j] -= r / (i + 1); break;\n"
			"			case 5: r ^= v[i + j] << 3; break;\n"
			"			default: v[i] = r * r + v[j];\n"
			"			}\n"
			"	return r;\n"
			"}\n",
			i, i, i + 2, i * 7 + 1);
	cr_assert_eq(fclose(out), 0);
	return path;
}

static const char *word(const char *w)
{
	if (w && !strcmp(w, "DATA"))
		return noise();
	return w && !strcmp(w, "SOURCE") ? source() : w;
}

const char *const *workload_once(const struct workload *prog)
{
	static const char *words[sizeof(prog->once) / sizeof(prog->once[0]) + 1];

	for (size_t i = 0; i + 1 < sizeof(words) / sizeof(words[0]); i++)
		words[i] = word(prog->once[i]);
	return words;
}

void workload_await_work(const struct live_proc *p, unsigned int ms)
{
	const struct timespec step = { .tv_nsec = 2000000 };
	struct timespec used;
	clockid_t clock;

	cr_assert_eq(clock_getcpuclockid(p->pid, &clock), 0, "it has ended");
	do {
		nanosleep(&step, NULL);
		cr_assert_eq(clock_gettime(clock, &used), 0, "it has ended");
	} while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

void workload_kill(struct live_proc *p)
{
	kill(p->pid, SIGKILL);
	cr_assert_eq(live_wait(p), 128 + SIGKILL, "it ended by itself");
	live_proc_fini(p);
}

unsigned int workload_number(const char *variable, unsigned int otherwise)
{
	const char *text = getenv(variable);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

void workload_maps_add(struct workload_maps *m, const struct trace_event *ev)
{
	if (ev->kind != TRACE_PROC_MAPS)
		return;
	m->v = array_reserve(m->v, &m->cap, m->cnt + 1, sizeof(*m->v));
	m->v[m->cnt++] = (struct workload_map){ .pid = ev->pid,
						.start = live_int(ev, PROF_F_START),
						.end = live_int(ev, PROF_F_END),
						.offset = live_int(ev, PROF_F_OFFSET),
						.module_id = live_int(ev, PROF_F_MODULE_ID) };
}

void workload_maps_fini(struct workload_maps *m)
{
	free(m->v);
	*m = (struct workload_maps){ 0 };
}

bool workload_is_at(const struct workload_maps *m, const struct names *n, uint32_t pid,
		    uint64_t frame, uint64_t addr)
{
	const struct names_module *module = names_module(n, names_frame_module(frame));
	uint64_t off = frame & PROF_FRAME_OFFSET_MASK;

	if (!module->announced)
		return false;
	for (size_t i = 0; i < m->cnt; i++) {
		const struct workload_map *map = &m->v[i];

		if (map->pid == pid && map->module_id == module->id && addr >= map->start &&
		    addr < map->end && addr - map->start + map->offset == off)
			return true;
	}
	return false;
}

const uint64_t *workload_user(const struct trace_event *ev, uint32_t *cnt)
{
	uint32_t i = 0;

	while (i < ev->frame_cnt && ev->frames[i] & PROF_FRAME_KERNEL)
		i++;
	*cnt = ev->frame_cnt - i;
	return *cnt ? &ev->frames[i] : NULL;
}

bool workload_has_callers(const struct live_trace *lt, const uint64_t *user, uint32_t cnt,
			  uint32_t at, const char *const *names)
{
	for (; *names; names++, at++)
		if (at >= cnt || !live_frame_in(lt, user[at], *names))
			return false;
	return true;
}

void workload_record(struct live_rec *rec, const char *stimulus, int64_t rounds)
{
	struct live_proc proc;

	live_stimulus(&proc, stimulus, live_number(rounds), NULL);
	live_record(rec, "-F", "1999", "--switch-stacks", "user", "-p", live_number(proc.pid),
		    NULL);
	live_recording(rec);
	live_go(&proc);
	cr_assert_eq(live_stop(rec), 0);
	live_end(&proc);
}
