/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_FRAMES_H
#define D9_RECORD_SYMBOLS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct emit;
struct kallsyms;
struct map;
struct perf_side;
struct process;
struct sym_client;
struct sym_client_answer;

/*
 * Addresses become frames of the trace, which are the same in every process and boot: kernel bit,
 * module, offset (prof_events.h). On the way each module and mapping is announced once, and each
 * frame is given a name once.
 */
struct frames;

/*
 * Both are borrowed. broker NULL: neither names for user code nor build-ids of what is mapped
 * already; names false: no names.
 */
int frames_new(struct emit *emit, struct sym_client *broker, bool names, struct frames **out);
/* Borrowed. Without it the kernel's code has no names, and all of it is in module 0. */
void frames_set_kallsyms(struct frames *f, const struct kallsyms *kallsyms);
/* Whether an address of the kernel was met that is in nothing that it is known to have, since the last call. */
bool frames_missed_kernel(struct frames *f);
void frames_free(struct frames *f);

/* Events for a module, a mapping or a kernel symbol may be written at the current time. */
uint64_t frames_user(struct frames *f, struct process *proc, uint64_t addr);
uint64_t frames_kernel(struct frames *f, uint64_t addr);
/*
 * A frame of a walk by lists (prof_unwind.h), of a module that frames_identify() has numbered: itself, or
 * what frames_user() makes of a raw one. To be called once for each distinct stack. proc may be NULL. 0 when the
 * module was forgotten before the trace was told of it.
 */
uint64_t frames_walked(struct frames *f, struct process *proc, uint64_t frame);

/* Whether a kernel address is in the machinery that calls a BPF program of a tracepoint. */
bool frames_is_tracing(const struct frames *f, uint64_t addr);

/* Appends the symbol of a kernel address, "kmalloc_reserve+0x59"; false, and nothing, without one. */
bool frames_code_name(const struct frames *f, uint64_t addr, struct buf *out);

/* A BPF image that came or went while recording. */
void frames_side(struct frames *f, const struct perf_side *side);
/*
 * Changes whenever an address of the kernel may have come to mean another frame, or frames that got no
 * name may get one when they are met again.
 */
uint32_t frames_generation(const struct frames *f);

/* A process that maps a file, 0: none is known, and who answers for it (proc_owner()), 0: likewise. */
struct frames_from {
	uint32_t pid;
	uint64_t owner;
};

/*
 * The number of a mapped file or vDSO as frames will have it, 0 when there are too many; fills in m's
 * build-id, or version. `recent`: what the file is now, which matters where it is mapped anew. False: the
 * file is not identified yet, which has been asked for.
 */
bool frames_identify(struct frames *f, const struct frames_from *from, struct map *m, bool recent,
		     uint32_t *module_id);
/* The module is still of use, and among the last to be forgotten. */
void frames_touch(struct frames *f, uint32_t module_id);
/* Changes when modules may get other numbers: some were forgotten, or their files have changed. */
uint32_t frames_forgets(const struct frames *f);
/* Who is told of each file that was identified and of each table, while answers are taken. */
typedef void (*frames_listen_fn)(void *ctx, const struct sym_client_answer *answer);
void frames_listen(struct frames *f, frames_listen_fn fn, void *ctx);

/* Asks for the build-ids of what a process has mapped, which is soon needed. */
void frames_expect(struct frames *f, struct process *proc);

/*
 * Writes at most max answers of the broker: names, and how naming modules went. Returns their number
 * or -errno.
 */
long frames_take_names(struct frames *f, size_t max);

/* Asks at once, for the last time, for names that programs may have written meanwhile. */
void frames_ask_again(struct frames *f);

/* Segments that may wait for names at a time. */
enum { FRAMES_SEALING_MAX = 8 };
/* What names that are still looked up will add to the segment at hand, by estimate. 0 without frames_keep_names(). */
uint64_t frames_pending_bytes(const struct frames *f);

/* Before anything else: there will be segments, so that names are kept to be written once more. */
void frames_keep_names(struct frames *f);
/*
 * From here on events go to @emit, and everything is told again when it is met. What was written so far may
 * still get names through its own emitter, until frames_seal(). No more than FRAMES_SEALING_MAX may wait.
 */
void frames_next_segment(struct frames *f, struct emit *emit);
/* The oldest segment that waits for names gets labels for what has none, and nothing more. 0 or -errno. */
int frames_seal(struct frames *f);

/*
 * Writes, at the end, what the status of code made at run time has come to, and for each frame of
 * user code without a name a label of its module, in all segments. 0 or -errno.
 */
int frames_label_unnamed(struct frames *f);

/* Says in one line which modules the end of the recording leaves unnamed, and why. */
void frames_report_unnamed(struct frames *f);

/* Modules beyond so many bytes are not named, and the trace says so. Without this all are. */
void frames_limit_naming(struct frames *f, size_t bytes);
/* Bytes held for what was met. */
size_t frames_memory(const struct frames *f);
/* Forgets the least recently used modules until about `keep` bytes are held. Returns how many: each
 * has another number if it is met again. */
size_t frames_forget(struct frames *f, size_t keep);

#endif
