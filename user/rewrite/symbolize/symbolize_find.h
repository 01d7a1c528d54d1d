/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_SYMBOLIZE_SYMBOLIZE_FIND_H
#define D9_REWRITE_SYMBOLIZE_SYMBOLIZE_FIND_H

#include <signal.h>

#include "symbol/broker/sym_client.h"
#include "symbol/sandbox/symopen.h"
#include "trace/read/names.h"

/*
 * Finds symbols for code addresses of a trace in files on this machine. Frames are in the form of names
 * (names_frame_module()). One thread; unprivileged processes read the files.
 */
struct symbolize_find;

struct symbolize_find_cfg {
	struct names *names; /* borrowed; all names in the trace */
	struct symopen_dirs dirs; /* borrowed */
	const char *vmlinux; /* path of the kernel's file, tried first; NULL: none. Borrowed */
	const struct debuginfod *servers; /* for fetching files; NULL: none. Borrowed */
	/* also addresses with a function but no line, or without inlined functions */
	bool lines;
	const volatile sig_atomic_t *stop; /* not 0: stop; borrowed */
	/* called now and then with the progress. May be NULL */
	void (*report_progress)(void *ctx, uint64_t done, uint64_t all);
	/* before fetching file `which` of at most `of`. May be NULL */
	void (*report_fetch)(void *ctx, uint32_t index, size_t which, size_t of);
	void *ctx;
};

/* Results of fetching files. */
struct symbolize_find_fetched {
	size_t fetched, missing, failed;
	int error; /* of the last failure */
	bool given_up; /* after several failures in a row */
};

/* Why an address has no symbol. */
enum symbolize_find_why {
	SYMBOLIZE_FIND_FILE, /* a file with a build-id: see its status */
	SYMBOLIZE_FIND_NO_BUILD_ID, /* no file can be verified */
	SYMBOLIZE_FIND_KERNEL, /* kernel modules or an unknown build; also another boot, or kallsyms is not readable */
	SYMBOLIZE_FIND_ANONYMOUS, /* memory without a file, or no known mapping */
	SYMBOLIZE_FIND_WHY_CNT,
};

/* A module with addresses that lack symbols. */
struct symbolize_find_module {
	uint32_t index; /* in names */
	uint64_t base; /* of its frames: offset 0 */
	enum symbolize_find_why why;
	uint64_t text_off, text_size; /* the mapping of its code; size 0: unknown */
	uint64_t *frames; /* without a symbol */
	size_t cnt, cap;
	size_t named; /* of these: with a symbol from symbolize_find_run(), or before */
	size_t again; /* of these: with symbol and line, but possibly without inlined functions */
	size_t inlined; /* of these: with inlined functions now */
	enum sym_client_status status;
	char detail[80];
};

struct symbolize_find *symbolize_find_new(const struct symbolize_find_cfg *cfg);
void symbolize_find_free(struct symbolize_find *f);

/* Adds a frame of the trace, once each; frames with a symbol are skipped. */
void symbolize_find_want(struct symbolize_find *f, uint64_t frame);
/* A module's only executable mapping at any address: file offset and size. */
void symbolize_find_mapping(struct symbolize_find *f, uint32_t index, uint64_t off, uint64_t size);

/* Searches all places, then servers, for missing symbols: 0, -EINTR when stopped, -errno of processes. */
int symbolize_find_run(struct symbolize_find *f);

/*
 * Handles an answer. symbolize_find_run() uses it, and so may callers with other answers: a sym_client_take_fn,
 * whose ctx is the find. Its module_id is 1 + the module's index in symbolize_find_modules().
 */
int symbolize_find_add_answer(void *ctx, const struct sym_client_answer *a);

/*
 * The symbols of a frame to write, outermost first; NULL: nothing new. A symbol in the trace is kept. Strings: see
 * symbolize_find_str(). Borrowed until the next call.
 */
const struct names_symbol *symbolize_find_symbol(struct symbolize_find *f, uint64_t frame);
const char *symbolize_find_str(const struct symbolize_find *f, uint32_t id, size_t *len);
/* Text that describes what a found file lacks; NULL: nothing. */
const char *symbolize_find_lacks(const struct symbolize_find *f, uint32_t index);

/*
 * Why the file of a module has no symbol at the wanted addresses: a word PROF_STATUS_*, with *@detail or NULL.
 * NULL: it has some, no file was read, or the trace already has a reason.
 */
const char *symbolize_find_status(const struct symbolize_find *f, uint32_t index,
				  const char **detail);

const struct symbolize_find_fetched *symbolize_find_fetched(const struct symbolize_find *f);

/* All modules with missing symbols; borrowed, unordered, and the caller may reorder them. */
struct symbolize_find_module **symbolize_find_modules(const struct symbolize_find *f, size_t *cnt);

#endif /* D9_REWRITE_SYMBOLIZE_SYMBOLIZE_FIND_H */
