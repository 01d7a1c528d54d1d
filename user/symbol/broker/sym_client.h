/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_BROKER_SYM_CLIENT_H
#define D9_SYMBOL_BROKER_SYM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/dwarf/symbolizer.h"

/*
 * Names from processes that can do nothing. The recorder hands over modules and offsets and takes
 * answers; openers open the files, three confined workers read them, and this passes on what they say
 * once it makes sense. A worker that dies, hangs or lies is replaced, the module that it was at is
 * not shown to one again (but once more for its table), and all others are asked again. One thread; no call waits for a file or a
 * worker but sym_client_wait() and sym_client_free(), which say how long.
 */
struct sym_client;
struct symopen_dirs;
struct unwind_table;

enum sym_client_kind {
	SYM_CLIENT_ELF,
	SYM_CLIENT_KERNEL, /* an ELF file; offsets count from its symbol _stext */
	SYM_CLIENT_VDSO,
	SYM_CLIENT_PERFMAP, /* of code that process pid made: offsets are addresses; may be asked again */
	SYM_CLIENT_IDENTIFY, /* only its build-id is asked: one SYM_CLIENT_MODULE answer, and it is over */
};

struct sym_client_cfg {
	/* for all modules' debug information together; 0 = 256 MiB */
	size_t dwarf_mem_max;
	/* files that a worker holds open when nothing is asked of them; 0 = 512 */
	size_t open_max;
	/* function names only */
	bool no_dwarf;
	/* a worker may use so much CPU time, and so much time asleep, without a word; 0 = 3 s, 1.5 s */
	uint64_t silent_cpu_ns, silent_sleep_ns;
	/* memory of a worker's own, in bytes; 0 = 1.5 GiB */
	uint64_t worker_mem_max;
	/* one file may take so long to open; 0 = 1 s */
	uint64_t open_ns;
	/* more places of files with a build-id; NULL = none. Borrowed during sym_client_new() */
	const struct symopen_dirs *dirs;
	/* for tests: the lives of a worker (arg: enum symworker_role) and of an opener; NULL = real */
	void (*worker)(const void *ctx, int sock, uint32_t arg);
	void (*opener)(const void *ctx, int sock, uint32_t arg);
	const void *ctx;
};

/* How to find a module's file. Everything is copied. */
struct sym_client_module {
	enum sym_client_kind kind;
	pid_t pid; /* a process that maps it: /proc/PID/root, map_files; 0 = none known */
	const char *path; /* as /proc/PID/maps or MMAP2 say it */
	uint64_t map_start, map_end; /* of a mapping in pid, for map_files; both 0 = not known */
	uint32_t dev; /* its device, as the kernel numbers it: 12 bits major, 20 bits minor */
	uint64_t inode; /* 0 = not known */
	/* when known, a file that is or was another one is refused: of what its inode says of its size and
	 * last change; 0 = not known */
	uint64_t version;
	const uint8_t *build_id; /* when known, a file with another one is refused */
	size_t build_id_sz; /* 0 = not known; at most SYMBOLIZER_BUILD_ID_MAX */
	/* of the mapping of all its code, the file's part: what symbolizer_cfg has of it; size 0 = not known */
	uint64_t text_off, text_size;
	uint64_t owner; /* who answers for pid, as proc_owner() says; 0 = to be found out */
};

/* How naming a module went. Only the first two are not failures. */
enum sym_client_status {
	SYM_CLIENT_UNKNOWN, /* not known yet */
	SYM_CLIENT_NAMED,
	SYM_CLIENT_STRIPPED,
	SYM_CLIENT_GONE,
	SYM_CLIENT_REPLACED,
	SYM_CLIENT_DENIED,
	SYM_CLIENT_NOT_ELF,
	SYM_CLIENT_GAVE_UP, /* a budget; detail says which */
	SYM_CLIENT_CRASHED,
	SYM_CLIENT_HUNG,
	SYM_CLIENT_NO_ANSWER,
	SYM_CLIENT_NO_WORKER, /* nobody is left to open or read it */
	SYM_CLIENT_PENDING,
	SYM_CLIENT_STATUS_CNT,
};

enum sym_client_answer_kind {
	/* a function's name from the symbol table; depth is 0 */
	SYM_CLIENT_NAME,
	/*
	 * a frame from debug information: depth 0 is the outermost function; replaces what was said
	 * of (offset, depth)
	 */
	SYM_CLIENT_FRAME,
	/* of SYM_CLIENT_IDENTIFY: error, or the build-id */
	SYM_CLIENT_MODULE,
	/* status and detail have changed */
	SYM_CLIENT_STATUS,
	/* of sym_client_ask_table(): error, or the table */
	SYM_CLIENT_TABLE,
};

struct sym_client_answer {
	enum sym_client_answer_kind kind;
	uint32_t module_id;
	uint64_t offset; /* as asked */
	uint32_t depth;
	uint32_t line; /* 0 = unknown */
	const char *name; /* NUL-terminated; borrowed in the callback, as all that is pointed to */
	size_t name_len;
	const char *file; /* NULL = unknown */
	size_t file_len;
	uint64_t start, size; /* the function: module offset and bytes */
	int error; /* 0 or -errno */
	const uint8_t *build_id;
	size_t build_id_sz;
	uint64_t version; /* of SYM_CLIENT_MODULE: the file's, as it was when it was opened */
	enum sym_client_status status;
	const char *detail; /* for people; may be "" */
	const char *path; /* of the module, with SYM_CLIENT_STATUS */
	const struct unwind_table *table; /* NULL with an error; has passed unwind_table_check() */
};

/* Return 0 to go on; anything else stops sym_client_take(), and the answer counts as taken. */
typedef int (*sym_client_take_fn)(void *ctx, const struct sym_client_answer *answer);

/* Forks the spawners, and asks them for workers and openers without waiting. -errno. */
int sym_client_new(const struct sym_client_cfg *cfg, struct sym_client **out);

enum { SYM_CLIENT_PIDS_MAX = 4 };

/* The processes that all others of it descend from. Returns how many. To be called before sym_client_step(). */
size_t sym_client_pids(const struct sym_client *b, uint32_t pids[SYM_CLIENT_PIDS_MAX]);

/*
 * Ends all processes and frees all; open questions and answers not taken are dropped. Waits at most
 * a second. NULL is allowed.
 */
void sym_client_free(struct sym_client *b);

/*
 * Makes a module known under an id of the caller's. Its file is opened when it is first asked about.
 * -EEXIST, -EINVAL when build_id_sz or the path is too long.
 */
int sym_client_add_module(struct sym_client *b, uint32_t module_id,
			  const struct sym_client_module *module);

/*
 * Queues one offset; the caller asks for each offset once. False: the module is unknown, and nothing
 * is asked.
 * The name comes first, frames follow.
 */
bool sym_client_ask(struct sym_client *b, uint32_t module_id, uint64_t offset);

/*
 * Asks for a module's unwind table; there is one answer, and tables come before other answers. Of a
 * module that was asked already nothing more is asked. Its error is -ENODATA when the file has no
 * unwind information that can be used, -EDQUOT when it was given up, else why the file or its worker
 * failed. False: the module is unknown, and nothing is asked.
 */
bool sym_client_ask_table(struct sym_client *b, uint32_t module_id);

/* Tables that were asked for and not taken. */
size_t sym_client_tables(const struct sym_client *b);
/* Whether there is one to be taken. */
bool sym_client_has_table(const struct sym_client *b);

/*
 * Forgets modules that nothing is asked of and whose status was taken, the half of them that was used
 * longest ago; those that broke a worker or a budget are kept. They may be added again. Returns the
 * bytes of their paths, and `each` for each of them.
 */
size_t sym_client_forget(struct sym_client *b, size_t each);

/*
 * Forgets one module for good, after fn was called with its last SYM_CLIENT_STATUS answer. False while
 * something is asked of it, or when it is not known. The caller has no more use for its id.
 */
bool sym_client_drop(struct sym_client *b, uint32_t module_id, sym_client_take_fn fn, void *ctx);

/* A SYM_CLIENT_STATUS answer for the module, taken or not; false: it is not known. */
bool sym_client_get(const struct sym_client *b, uint32_t module_id, struct sym_client_answer *out);

/* Whether the module has questions that are open. */
bool sym_client_asking(const struct sym_client *b, uint32_t module_id);

/* Readable when sym_client_step() has something to do at once. Stays the broker's. */
int sym_client_fd(const struct sym_client *b);

/* Moves everything on; to be called some ten times a second at least. Bounded work. */
void sym_client_step(struct sym_client *b);

/* The same where something was asked since the last step, and nothing where not, which costs nothing. */
void sym_client_send(struct sym_client *b);

/*
 * Hands at most max waiting answers to fn, oldest first. Returns the number handed over, or what fn
 * returned when that was negative.
 */
ssize_t sym_client_take(struct sym_client *b, sym_client_take_fn fn, void *ctx, size_t max);

/* Calls fn with a SYM_CLIENT_STATUS answer for each module; its result is ignored. */
void sym_client_each(const struct sym_client *b, sym_client_take_fn fn, void *ctx);

/* Offsets asked and not answered in full, for names and for lines. */
size_t sym_client_questions(const struct sym_client *b);

/* Whether every offset asked has been answered in full, and every answer taken. */
bool sym_client_idle(const struct sym_client *b);

/* Identifications without an answer yet. */
size_t sym_client_identifying(const struct sym_client *b);

/*
 * Steps and sleeps until there are answers to take, it is idle and no table is asked for, or
 * CLOCK_MONOTONIC deadline_ns.
 */
void sym_client_wait(struct sym_client *b, uint64_t deadline_ns);

/* Questions answered so far: what grows is alive. */
uint64_t sym_client_answered(const struct sym_client *b);

/* From here on workers need not stand back behind everything else. */
void sym_client_hurry(struct sym_client *b);

/* Drops all open questions; their modules' status becomes SYM_CLIENT_PENDING, to be taken. */
void sym_client_close_questions(struct sym_client *b);

/* Workers that had to be replaced so far. */
unsigned int sym_client_restarts(const struct sym_client *b);

#endif /* D9_SYMBOL_BROKER_SYM_CLIENT_H */
