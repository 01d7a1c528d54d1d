/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BROKER_SYM_CLIENT_H
#define D9_SYMBOL_BROKER_SYM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/dwarf/symbolizer.h"

/*
 * Symbols and unwind tables from restricted processes. The recorder passes modules and offsets and
 * takes answers. Openers open the files, three restricted workers read them, and this checks and
 * forwards their answers. A worker that dies, hangs or sends invalid data is replaced. The module
 * that it worked on is not given to a worker again, except once for its table; other requests are
 * repeated. Single-threaded. Only sym_client_wait() and sym_client_free() wait for a file or a
 * worker, with a time limit.
 */
struct sym_client;
struct symopen_dirs;
struct unwind_table;

enum sym_client_kind {
	SYM_CLIENT_ELF,
	SYM_CLIENT_KERNEL, /* an ELF file; offsets are relative to its symbol _stext */
	SYM_CLIENT_VDSO,
	/* generated code of process pid: offsets are addresses; may be requested again */
	SYM_CLIENT_PERFMAP,
	/* only the build-id is requested: one SYM_CLIENT_MODULE answer ends it */
	SYM_CLIENT_IDENTIFY,
};

struct sym_client_cfg {
	/* for what the workers read of files, all together; 0: 256 MiB each */
	size_t mem_max;
	/* files without requests that a worker keeps open; 0: 512 */
	size_t open_max;
	/* CPU time per second for debug information; 0: no limit */
	uint64_t lines_ns_per_s;
	/* only function names */
	bool no_dwarf;
	/* limits of a worker without a message: CPU time and time asleep; 0: 3 s and 1.5 s */
	uint64_t silent_cpu_ns, silent_sleep_ns;
	/* nice value for opening files, and for building unwind tables while some are requested */
	int nice;
	/* memory of a worker in bytes; 0: 1.5 GiB, or more than its part of mem_max */
	uint64_t worker_mem_max;
	/* time limit to open one file; 0: 1 s */
	uint64_t open_ns;
	/*
	 * additional locations of files with a build-id; NULL: none. Borrowed during
	 * sym_client_new()
	 */
	const struct symopen_dirs *dirs;
	/*
	 * for tests: main functions of a worker (arg: enum symworker_role) and of an opener; NULL:
	 * the real ones
	 */
	void (*worker)(const void *ctx, int sock, uint32_t arg);
	void (*opener)(const void *ctx, int sock, uint32_t arg);
	const void *ctx;
};

/* How to find the file of a module. Everything is copied. */
struct sym_client_module {
	enum sym_client_kind kind;
	pid_t pid; /* a process that maps it, for /proc/PID/root and map_files; 0: none */
	const char *path; /* as in /proc/PID/maps or MMAP2 */
	uint64_t map_start, map_end; /* of a mapping in pid, for map_files; both 0: unknown */
	uint32_t dev; /* device number in the kernel's format: 12 bits major, 20 bits minor */
	uint64_t inode; /* 0: unknown */
	/* version of the file (symopen_version()); if set, a changed file is refused; 0: unknown */
	uint64_t version;
	const uint8_t *build_id; /* if set, a file with another build-id is refused */
	size_t build_id_sz; /* 0: unknown; at most SYMBOLIZER_BUILD_ID_MAX */
	/* mapping of all its code, in file offsets, as in symbolizer_cfg; size 0: unknown */
	uint64_t text_off, text_size;
	uint64_t owner; /* proc_owner() of pid; 0: not read yet */
};

/* Result for a module. All but the first two are failures. */
enum sym_client_status {
	SYM_CLIENT_UNKNOWN, /* not known yet */
	SYM_CLIENT_NAMED,
	SYM_CLIENT_STRIPPED,
	SYM_CLIENT_GONE, /* a map with a detail: the process exited before it was opened */
	SYM_CLIENT_REPLACED,
	SYM_CLIENT_DENIED,
	SYM_CLIENT_NOT_ELF,
	SYM_CLIENT_GAVE_UP, /* a budget; detail has its name */
	SYM_CLIENT_CRASHED,
	SYM_CLIENT_HUNG,
	SYM_CLIENT_NO_ANSWER,
	SYM_CLIENT_NO_WORKER, /* no process is left to open or read it */
	SYM_CLIENT_PENDING,
	SYM_CLIENT_STATUS_CNT,
};

enum sym_client_answer_kind {
	/* the function name from the symbol table; depth is 0 */
	SYM_CLIENT_NAME,
	/*
	 * a frame from debug information: depth 0 is the outermost function; replaces the answer
	 * for (offset, depth)
	 */
	SYM_CLIENT_FRAME,
	/* reply to SYM_CLIENT_IDENTIFY: error, or the build-id */
	SYM_CLIENT_MODULE,
	/* status and detail have changed */
	SYM_CLIENT_STATUS,
	/* reply to sym_client_ask_table(): error, or the table */
	SYM_CLIENT_TABLE,
};

struct sym_client_answer {
	enum sym_client_answer_kind kind;
	uint32_t module_id;
	uint64_t offset; /* as requested */
	uint32_t depth;
	uint32_t line; /* 0: unknown */
	const char *name; /* NUL-terminated; all pointers here are borrowed in the callback */
	size_t name_len;
	const char *file; /* NULL: unknown */
	size_t file_len;
	uint64_t start, size; /* of the function: module offset and bytes */
	int error; /* 0 or -errno */
	const uint8_t *build_id;
	size_t build_id_sz;
	uint64_t version; /* with SYM_CLIENT_MODULE: version of the file when it was opened */
	enum sym_client_status status;
	const char *detail; /* for messages; may be "" */
	const char *path; /* of the module, with SYM_CLIENT_STATUS */
	/* NULL if there is an error; has passed unwind_table_check() */
	const struct unwind_table *table;
};

/* Returns 0 to continue. Any other value ends sym_client_receive(), and the answer counts as taken. */
typedef int (*sym_client_take_fn)(void *ctx, const struct sym_client_answer *answer);

/* Forks the fork servers and requests workers and openers; does not wait. 0 or -errno. */
int sym_client_new(const struct sym_client_cfg *cfg, struct sym_client **out);

enum { SYM_CLIENT_PIDS_MAX = 4 };

/*
 * The PIDs of the processes that all its other processes descend from. Returns their number. Call
 * before sym_client_step().
 */
size_t sym_client_pids(const struct sym_client *b, uint32_t pids[SYM_CLIENT_PIDS_MAX]);

/*
 * Ends all processes and frees everything. Open requests and answers not taken are dropped. Waits
 * for at most a second. NULL is allowed.
 */
void sym_client_free(struct sym_client *b);

/*
 * Adds a module under an id that the caller chooses. Its file is opened at the first request. 0;
 * -EEXIST; -EINVAL if the build-id or the path is too long.
 */
int sym_client_add_module(struct sym_client *b, uint32_t module_id,
			  const struct sym_client_module *module);

/*
 * Queues one offset. The caller requests each offset once. False if the module is unknown. The name
 * is returned first, then frames.
 */
bool sym_client_ask(struct sym_client *b, uint32_t module_id, uint64_t offset);

/*
 * Requests the unwind table of a module. There is one answer, and tables come before other answers.
 * A repeated request is ignored. The error is -ENODATA if the file has no usable unwind
 * information, -EDQUOT if a limit was reached, otherwise the error of the file or its worker. False
 * if the module is unknown.
 */
bool sym_client_ask_table(struct sym_client *b, uint32_t module_id);

enum sym_client_work { SYM_CLIENT_TABLES, SYM_CLIENT_SYMBOLS };
/* Shares the workers' time between processes; pid 0: unknown. Called in sym_client_step(). */
struct sym_client_limiter {
	/* CPU time of a worker for the files of a process */
	void (*spent)(void *ctx, pid_t pid, enum sym_client_work work, uint64_t ns);
	/* whether a worker may start on a file of the process now; not asked after sym_client_hurry() */
	bool (*may)(void *ctx, pid_t pid, enum sym_client_work work);
	void *ctx;
};
void sym_client_limit(struct sym_client *b, const struct sym_client_limiter *limiter);

/* Number of tables requested and not taken. */
size_t sym_client_tables(const struct sym_client *b);
/* Whether a table can be taken. */
bool sym_client_has_table(const struct sym_client *b);

/*
 * Forgets the least recently used half of the modules without open requests whose status was taken,
 * except those that ended a worker or exceeded a budget. They may be added again. Returns the size
 * of their paths, plus `each` per module.
 */
size_t sym_client_forget(struct sym_client *b, size_t each);

/*
 * Forgets one module for good, after calling fn with its last SYM_CLIENT_STATUS answer. False if it
 * has open requests or is unknown. The caller does not use its id any more.
 */
bool sym_client_drop(struct sym_client *b, uint32_t module_id, sym_client_take_fn fn, void *ctx);

/* Sets a SYM_CLIENT_STATUS answer for the module, taken or not; false if it is unknown. */
bool sym_client_get(const struct sym_client *b, uint32_t module_id, struct sym_client_answer *out);

/* Whether the module has open requests. */
bool sym_client_asking(const struct sym_client *b, uint32_t module_id);

/* Readable if sym_client_step() should be called at once. Borrowed. */
int sym_client_fd(const struct sym_client *b);

/* Advances everything, with bounded work. Call at least some ten times per second. */
void sym_client_step(struct sym_client *b);

/* Like sym_client_step() if there were requests since the last step; otherwise does nothing. */
void sym_client_send(struct sym_client *b);

/*
 * Passes at most max answers to fn, oldest first. Returns their number, or a negative result of fn.
 */
ssize_t sym_client_receive(struct sym_client *b, sym_client_take_fn fn, void *ctx, size_t max);

/* Calls fn with a SYM_CLIENT_STATUS answer for each module; ignores its result. */
void sym_client_each(const struct sym_client *b, sym_client_take_fn fn, void *ctx);

/* Number of incomplete requests, for names and for lines. */
size_t sym_client_questions(const struct sym_client *b);

/* Whether all requests were answered and all answers taken. */
bool sym_client_idle(const struct sym_client *b);

/* Number of identifications without an answer. */
size_t sym_client_identifying(const struct sym_client *b);

/*
 * Steps and sleeps until there are answers to take, or it is idle and no table is requested, or
 * until deadline_ns (CLOCK_MONOTONIC).
 */
void sym_client_wait(struct sym_client *b, uint64_t deadline_ns);

/* Number of requests answered so far; grows while workers make progress. */
uint64_t sym_client_answered(const struct sym_client *b);

/* See worker_pool_limit(). Ends with sym_client_hurry(). */
void sym_client_limit_reading(struct sym_client *b, uint64_t ns_per_s);

/* From here on workers run at normal priority, and without a limit of CPU time. */
void sym_client_hurry(struct sym_client *b);

/* Drops all open requests. The status of their modules becomes SYM_CLIENT_PENDING, to be taken. */
void sym_client_close_questions(struct sym_client *b);

/* Number of workers replaced so far. */
unsigned int sym_client_restarts(const struct sym_client *b);

#endif /* D9_SYMBOL_BROKER_SYM_CLIENT_H */
