/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_SYMBOLIZE_SYMBOLIZE_FIND_H
#define D9_REWRITE_SYMBOLIZE_SYMBOLIZE_FIND_H

#include <signal.h>

#include "symbol/broker/sym_client.h"
#include "symbol/sandbox/symopen.h"
#include "trace/read/names.h"

/*
 * Names for places in the code of a trace, from files that are here now. Frames are those of the names
 * (names_frame_module()). One thread; processes without rights read the files.
 */
struct symbolize_find;

struct symbolize_find_cfg {
	struct names *names; /* borrowed; all that the trace has */
	struct symopen_dirs dirs; /* borrowed */
	const char *
		vmlinux; /* whole path of the kernel's file, to be looked at first; NULL = none. Borrowed */
	const struct debuginfod *servers; /* to fetch files from; NULL = none. Borrowed */
	/* also places that have a function's name and no line, or were named without inlined functions */
	bool lines;
	const volatile sig_atomic_t *stop; /* not 0: give up; borrowed */
	/* now and then: so many of that many places have been looked for. May be NULL */
	void (*tell)(void *ctx, uint64_t done, uint64_t all);
	/* before a file is fetched: the which of how many at most. May be NULL */
	void (*tell_fetch)(void *ctx, uint32_t index, size_t which, size_t of);
	void *ctx;
};

/* What became of files that servers were asked for. */
struct symbolize_find_fetched {
	size_t fetched, missing, failed;
	int error; /* of the last that failed */
	bool given_up; /* after several in a row */
};

/* Why a place has no name that was looked for, or was not. */
enum symbolize_find_why {
	SYMBOLIZE_FIND_FILE, /* a file known by its build-id: its status says more */
	SYMBOLIZE_FIND_NO_BUILD_ID, /* nothing tells whether a file is the same */
	SYMBOLIZE_FIND_KERNEL, /* of its modules, or of unknown build; and of another boot or not to be read */
	SYMBOLIZE_FIND_ANONYMOUS, /* memory without a file, or no mapping that is known */
	SYMBOLIZE_FIND_WHY_CNT,
};

/* A module of which places want names. */
struct symbolize_find_module {
	uint32_t index; /* of the names */
	uint64_t base; /* of its frames: offset 0 */
	enum symbolize_find_why why;
	uint64_t text_off, text_size; /* the mapping of its code; size 0: not known */
	uint64_t *frames; /* without a name */
	size_t cnt, cap;
	size_t named; /* of them, by symbolize_find_run(), or before */
	size_t again; /* of them, that have a name and a line and may lack inlined functions */
	size_t inlined; /* of these, that have some now */
	enum sym_client_status status;
	char detail[80];
};

struct symbolize_find *symbolize_find_new(const struct symbolize_find_cfg *cfg);
void symbolize_find_free(struct symbolize_find *f);

/* A frame that the trace has, once; what has a name already is passed over. */
void symbolize_find_want(struct symbolize_find *f, uint64_t frame);
/* A module's only executable mapping, wherever it is mapped: offset in the file and size. */
void symbolize_find_mapping(struct symbolize_find *f, uint32_t index, uint64_t off, uint64_t size);

/* Looks in all places, and then asks servers, for what has no name yet: 0, -EINTR when stopped, -errno of processes. */
int symbolize_find_run(struct symbolize_find *f);

/*
 * What symbolize_find_run() does with an answer, for those who have others: a sym_client_take_fn, whose ctx is the
 * find. Its module_id is 1 + the module's place in symbolize_find_modules().
 */
int symbolize_find_take(void *ctx, const struct sym_client_answer *a);

/*
 * Places of a frame as they are to be written, outermost first, or NULL: nothing new is known of it. A name
 * that the trace has stays. Strings are those of symbolize_find_str(). Borrowed until the next call.
 */
const struct names_symbol *symbolize_find_symbol(struct symbolize_find *f, uint64_t frame);
const char *symbolize_find_str(const struct symbolize_find *f, uint32_t id, size_t *len);
/* What a program's file, which was found, has no names for, for people; NULL: nothing is known to be missing. */
const char *symbolize_find_lacks(const struct symbolize_find *f, uint32_t index);

const struct symbolize_find_fetched *symbolize_find_fetched(const struct symbolize_find *f);

/* All modules of which places wanted names; borrowed, and in any order, which may be changed. */
struct symbolize_find_module **symbolize_find_modules(const struct symbolize_find *f, size_t *cnt);

#endif /* D9_REWRITE_SYMBOLIZE_SYMBOLIZE_FIND_H */
