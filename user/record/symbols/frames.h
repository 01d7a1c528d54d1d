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
 * Translates addresses to frames of the trace, which are equal in all processes and boots: kernel bit, module,
 * offset (prof_events.h). Writes each module and mapping once, and requests a symbol for each frame once.
 */
struct frames;

/*
 * Both are borrowed. broker NULL: no symbols for user code, and no build-ids of files mapped before. names false:
 * no symbols.
 */
int frames_new(struct emit *emit, struct sym_client *broker, bool names, struct frames **out);
/* Borrowed. Without it kernel code has no symbols and belongs to module 0. */
void frames_set_kallsyms(struct frames *f, const struct kallsyms *kallsyms);
/* Whether an unknown kernel address was used since the last call. */
bool frames_missed_kernel(struct frames *f);
void frames_free(struct frames *f);

/* May write events for a module, a mapping or a kernel symbol at the current time. */
uint64_t frames_user(struct frames *f, struct process *proc, uint64_t addr);
uint64_t frames_kernel(struct frames *f, uint64_t addr);
/*
 * Translates a frame of a walk by lists (prof_unwind.h), of a module numbered by frames_identify(): returns it
 * unchanged, or the result of frames_user() for a raw address. Call it once per distinct stack. proc may be NULL. 0
 * if the module was forgotten before it was written.
 */
uint64_t frames_walked(struct frames *f, struct process *proc, uint64_t frame);

/* Whether a kernel address is in the code that calls a tracepoint's BPF program. */
bool frames_is_tracing(const struct frames *f, uint64_t addr);

/*
 * Appends the symbol of a kernel address, "kmalloc_reserve+0x59". Without a symbol: returns false, appends nothing.
 */
bool frames_code_name(const struct frames *f, uint64_t addr, struct buf *out);

/* A BPF image that was loaded or unloaded while recording. */
void frames_side(struct frames *f, const struct perf_side *side);
/*
 * Changes when a kernel address may belong to another frame, or when frames without a symbol may get one at the
 * next use.
 */
uint32_t frames_generation(const struct frames *f);

/* A process that maps a file and its owner (proc_owner()); 0: unknown. */
struct frames_from {
	uint32_t pid;
	uint64_t owner;
};

/*
 * The number of a mapped file or vDSO in frames, 0 if there are too many; fills in m's build-id or version.
 * `recent`: the current file, for new mappings. False: the file is not identified yet, which has been requested.
 */
bool frames_identify(struct frames *f, const struct frames_from *from, struct map *m, bool recent,
		     uint32_t *module_id);
/* The module is in use: forget it late. */
void frames_touch(struct frames *f, uint32_t module_id);
/* Changes when modules may get other numbers: some were forgotten, or their files have changed. */
uint32_t frames_forgets(const struct frames *f);
/* Callback for each identified file and each table among the answers. */
typedef void (*frames_listen_fn)(void *ctx, const struct sym_client_answer *answer);
void frames_listen(struct frames *f, frames_listen_fn fn, void *ctx);

/* Requests the build-ids of a process's mapped files, which will be needed soon. */
void frames_expect(struct frames *f, struct process *proc);

/*
 * Writes at most max answers of the broker: symbols, and the status of modules. Returns their number or -errno.
 */
long frames_receive_names(struct frames *f, size_t max);

/* Requests missing symbols for the last time: programs may have written them since. */
void frames_ask_again(struct frames *f);

/* Maximum number of segments that wait for symbols. */
enum { FRAMES_SEALING_MAX = 8 };
/* Estimated bytes that pending symbols will add to the current segment. 0 without frames_keep_names(). */
uint64_t frames_pending_bytes(const struct frames *f);

/* Call first: there will be several segments, so symbols are kept to be written again. */
void frames_keep_names(struct frames *f);
/*
 * From here on events go to @emit, and everything is written again at its first use. Earlier segments still get
 * symbols through their own emitters until frames_seal(). At most FRAMES_SEALING_MAX may wait.
 */
void frames_next_segment(struct frames *f, struct emit *emit);
/* Writes labels for frames without symbols to the oldest waiting segment, which gets nothing more. 0 or -errno. */
int frames_seal(struct frames *f);

/*
 * At the end: writes the final status of run-time code, and a label of the module for each user frame without a
 * symbol, in all segments. 0 or -errno.
 */
int frames_label_unnamed(struct frames *f);

/* Prints one line with the modules left without symbols by the end of the recording, and the reasons. */
void frames_report_unnamed(struct frames *f);

/*
 * Limits the memory for symbol lookup: modules beyond it get no symbols, which the trace reports. Without this call
 * there is no limit.
 */
void frames_limit_naming(struct frames *f, size_t bytes);
/* Bytes held. */
size_t frames_memory(const struct frames *f);
/*
 * Forgets the least recently used modules until about `keep` bytes are held. Returns their number: each gets
 * another number at its next use.
 */
size_t frames_forget(struct frames *f, size_t keep);

#endif
