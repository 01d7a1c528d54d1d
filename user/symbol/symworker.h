/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SYMWORKER_H
#define D9_SYMBOL_SYMWORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/symbolizer.h"

/*
 * One thread that owns every symbolizer. The recorder hands it modules and offsets and takes
 * answers; no call but symworker_finish() and symworker_free() ever waits for a file or for debug
 * information. All calls come from one thread (the recorder's).
 */
struct symworker;

enum symworker_kind {
	SYMWORKER_ELF,
	SYMWORKER_VDSO,
};

struct symworker_cfg {
	/* for all modules' debug information together; 0 = 256 MiB */
	size_t dwarf_mem_max;
	/* files held open when nothing is asked of them; 0 = 512 */
	size_t open_max;
	/* function names only */
	bool no_dwarf;
	/* separate debug files are searched here; NULL = /usr/lib/debug; copied */
	const char *debug_root;
};

/* How to find a module's file. Everything is copied. */
struct symworker_module {
	enum symworker_kind kind;
	pid_t pid; /* a process that maps it: /proc/PID/root, map_files; 0 = none known */
	const char *path; /* as /proc/PID/maps or MMAP2 say it */
	uint64_t map_start, map_end; /* of a mapping in pid, for map_files; both 0 = not known */
	const uint8_t *build_id; /* when known, a file with another one is refused */
	size_t build_id_sz; /* 0 = not known; at most SYMBOLIZER_BUILD_ID_MAX */
};

enum symworker_answer_kind {
	/* a function's name from the symbol table; depth is 0 */
	SYMWORKER_NAME,
	/*
	 * a frame from debug information: depth 0 is the outermost function; replaces what was said
	 * of (offset, depth)
	 */
	SYMWORKER_FRAME,
	/*
	 * the module was tried: error, has_symtab and has_dwarf are set, nothing else. Comes when
	 * its file cannot be opened, else before the first of its names.
	 */
	SYMWORKER_MODULE,
};

struct symworker_answer {
	enum symworker_answer_kind kind;
	uint32_t module_id;
	uint64_t offset; /* as asked */
	uint32_t depth;
	uint32_t line; /* 0 = unknown */
	const char *name; /* NUL-terminated; NULL for SYMWORKER_MODULE; borrowed in the callback */
	size_t name_len;
	const char *file; /* NULL = unknown; borrowed in the callback */
	size_t file_len;
	uint64_t start, size; /* the function: module offset and bytes */
	int error; /* -ENOENT no file any more, -ESTALE only files of another build, ... */
	bool has_symtab, has_dwarf;
};

/* Return 0 to go on; anything else stops symworker_take(), and the answer counts as taken. */
typedef int (*symworker_take_fn)(void *ctx, const struct symworker_answer *answer);

/* Starts the thread. -errno. */
int symworker_new(const struct symworker_cfg *cfg, struct symworker **out);

/*
 * Stops the thread (it ends after the look-up it is in) and frees all; open questions and answers
 * not taken are dropped. A thread that hangs in a file system is left behind after two seconds.
 * NULL is allowed.
 */
void symworker_free(struct symworker *w);

/*
 * Makes a module known under an id of the caller's, and opens its file soon. A known id is
 * replaced; what was asked of the old one may stay unanswered. -EINVAL when build_id_sz is too
 * large.
 */
int symworker_add_module(struct symworker *w, uint32_t module_id,
			 const struct symworker_module *module);

/*
 * Queues one offset; the caller asks for each offset once. Offsets of unknown modules are ignored.
 * The name comes first; frames follow when no names are waiting.
 */
void symworker_ask(struct symworker *w, uint32_t module_id, uint64_t offset);

/*
 * Hands at most max waiting answers to fn, oldest first. Never waits for the thread's work. Returns
 * the number handed over, or what fn returned when that was negative.
 */
ssize_t symworker_take(struct symworker *w, symworker_take_fn fn, void *ctx, size_t max);

/* Whether every offset asked has been answered in full, and every answer taken. */
bool symworker_idle(struct symworker *w);

/*
 * Waits until the thread has answered everything, or until CLOCK_MONOTONIC deadline_ns. Then
 * symworker_take() has all there is. Returns 0, or -ETIMEDOUT when work is left (it goes on).
 */
int symworker_finish(struct symworker *w, uint64_t deadline_ns);

#endif /* D9_SYMBOL_SYMWORKER_H */
