/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_SUPPORT_H
#define D9_TESTS_BPF_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"
#include "trace/read/trace.h"

/*
 * For tests of the built recorder on the running kernel: processes with handshakes in place of
 * sleeps, and the trace they leave. Everything asserts by itself. main() is here too: it exits 77
 * with the reason where there is no root or no BPF, and runs one test at a time, since two
 * recordings would measure each other.
 */

enum { LIVE_ARGS_MAX = 24 };

/* What else a program of tests needs and this machine lacks, NULL for nothing; each may define it. */
const char *live_missing(void);

/* ---- processes --------------------------------------------------------------------------------- */

struct live_proc {
	pid_t pid;
	int in; /* its standard input, -1 once closed */
	FILE *out; /* its standard output */
	char err_path[128];
	struct buf output; /* what was read of its output */
};

/* This test's own directory. */
const char *live_dir(void);
/* A path in it. Valid until the next eight calls. */
const char *live_path(const char *name);
/* A program below $D9_BUILD. Likewise. */
const char *live_built(const char *name);
/* The recorder under test: $D9_PROGRAM, or the program of the build. Likewise. */
const char *live_program(void);
/* Decimal. Likewise. */
const char *live_number(int64_t v);
/* To be the .fini of each suite: takes the directory away. */
void live_cleanup(void);

/* How the child changes before it runs the program; NULL: not at all. */
typedef void (*live_prepare_fn)(void);
/* argv ends with NULL. The child dies with the test. */
void live_spawn(struct live_proc *p, const char *const *argv, live_prepare_fn prepare);
/* As a shell gives it. Closes its input first. */
int live_wait(struct live_proc *p);
/* Reads its output up to a line that starts with `word`. */
void live_read_until(struct live_proc *p, const char *word);
/* All the rest of its output. */
void live_read_rest(struct live_proc *p);
/* The number after the last "key=" that it printed. */
double live_truth(const struct live_proc *p, const char *key);
/* What it wrote to standard error. Caller frees with buf_free(). */
struct buf live_errors(const struct live_proc *p);
void live_proc_fini(struct live_proc *p);

/* A program below stimuli/, with its arguments and NULL: returns when it is ready and waits. */
void live_stimulus(struct live_proc *p, const char *name, ...) __attribute__((sentinel));
/* Sends it on, and returns when it is done and waits again. */
void live_go(struct live_proc *p);
/* Lets it end, which must be with 0. */
void live_end(struct live_proc *p);
/* Ends it, whatever it is at. */
void live_kill(struct live_proc *p);

/* ---- the recorder ------------------------------------------------------------------------------ */

struct live_rec {
	struct live_proc proc;
	char path[128];
};

/* Arguments of dial9-prof, NULL at the end; -o is added. Returns without waiting. */
void live_record(struct live_rec *r, ...) __attribute__((sentinel));
/* Returns when it records: what happens from here on is in the trace. */
void live_recording(struct live_rec *r);
/* SIGINT, and its exit code. */
int live_stop(struct live_rec *r);
/* Until it ends by itself, and its exit code. */
int live_finish(struct live_rec *r);
/* Runs dial9-prof with these arguments to its end; its output is in p->output. */
int live_run(struct live_proc *p, const char *const *args, live_prepare_fn prepare);
/* The same, which must end with 0: what it printed. Caller frees with buf_free(). */
struct buf live_output(const char *const *args);
/* The number after a key, which must exist in the line that begins at @line. */
uint64_t live_output_number(const char *line, const char *key);
/* The number of blocked intervals of a thread, from offcpu. */
uint64_t live_blocked(const char *path, int64_t tid);

/* ---- the trace --------------------------------------------------------------------------------- */

struct live_trace {
	struct names *names;
	struct source *src;
	struct trace *trace;
	int outcome; /* of the pass that learnt the names: 0 or -ENODATA */
	uint64_t ring_full, nested, sideband; /* from LostEvents, by kind */
	uint64_t produced, written, lost, samples; /* the last RecorderStats */
};

/* Learns all names, then stands before the first event. A torn tail is fine only where may_be_torn. */
void live_open(struct live_trace *lt, const char *path, bool may_be_torn);
bool live_event(struct live_trace *lt, struct trace_event *ev);
void live_close(struct live_trace *lt);

bool live_is(const struct trace_event *ev, const char *name);
/* A number, whatever its sign. */
int64_t live_int(const struct trace_event *ev, const char *field);
/* Text, NUL-terminated. Valid until the next eight calls. */
const char *live_text(const struct live_trace *lt, const struct trace_event *ev, const char *field);
/* Whether a frame lies in that function, or in a function that was inlined into or from it. */
bool live_frame_in(const struct live_trace *lt, uint64_t frame, const char *function);
bool live_stack_has(const struct live_trace *lt, const struct trace_event *ev,
		    const char *function);

/*
 * produced = written + lost, and no event was lost. Lost records about processes are no failure: the kernel writes them
 * for all processes of the machine, and they cost names only.
 */
void live_assert_no_loss(const struct live_trace *lt);
/*
 * How many switches to a thread tracing hid. Some VMs hide each switch from a thread of init, so the thread that comes next
 * has no switch in.
 */
uint64_t live_hidden(const char *path, int64_t tid);
/*
 * The trace has all of the @truth events, or reports at least as many as lost. For recordings of the whole system: on a
 * machine that others load, the recorder may come too late for its rings.
 */
void live_expect_all(const struct live_trace *lt, uint64_t cnt, uint64_t truth, const char *what);

struct live_switches {
	uint64_t voluntary, involuntary;
};
/* From /proc, read until a thread that sleeps has stopped switching. */
void live_read_switches(pid_t tid, struct live_switches *out);

#endif
