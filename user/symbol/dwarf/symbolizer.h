/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_SYMBOLIZER_H
#define D9_SYMBOL_DWARF_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names for the code of one ELF file. Offsets everywhere are file offsets of the executed file, the
 * ones that stack frames in a trace carry. A symbolizer belongs to one thread at a time; nothing in
 * it is shared with another. It opens no path: it gets file descriptors, and asks for more through
 * open_debug, so that it can run where no file can be opened.
 *
 * Files are anyone's: what one may cost is bounded, in all by the budgets in symbolizer_cfg, and at
 * a time by symbolizer_slice(). Calls that say -EAGAIN have used up the slice: begin another one,
 * now or after work for others, and call again with the same arguments; they go on where they
 * stopped. Any other call may come between.
 */
struct symbolizer;

#define SYMBOLIZER_BUILD_ID_MAX 64
/* Files of split debug information that are asked for, for one module. */
#define SYMBOLIZER_SPLIT_MAX 1024

enum symbolizer_want_kind {
	SYMBOLIZER_WANT_BUILD_ID, /* a debug file by build-id */
	SYMBOLIZER_WANT_DEBUGLINK, /* a debug file by the name in .gnu_debuglink */
	SYMBOLIZER_WANT_ALTLINK, /* what several debug files share, by name and build-id (dwz) */
	SYMBOLIZER_WANT_DWP, /* the package of split debug information, by build-id; no name */
	/*
	 * what was moved out of one object file, by name: where it was made, and behind the last "/./", if
	 * there is one, as the compiler was told. It is checked by the number that both have
	 */
	SYMBOLIZER_WANT_DWO,
};

/* A file that would help. name comes from the file: trust nothing about it. */
struct symbolizer_want {
	enum symbolizer_want_kind kind;
	const char *name; /* NULL for SYMBOLIZER_WANT_BUILD_ID and _DWP */
	const uint8_t *build_id; /* NULL when there is none */
	size_t build_id_sz;
	unsigned int
		skip; /* of the files of that name that could be opened, so many were others (_DWO) */
};

/*
 * Returns a file descriptor (the symbolizer's from then on) or -errno. What comes is checked
 * against the build-id or the checksum, so a candidate need not be right. -EAGAIN: not known yet;
 * the call on the symbolizer says -EAGAIN too, and asks the same again when it is called again.
 */
typedef int (*symbolizer_open_fn)(void *ctx, const struct symbolizer_want *want);

struct symbolizer_cfg {
	/* memory for debug information, symbol table excluded; 0 = 256 MiB */
	size_t dwarf_mem_max;
	/* CPU time for debug information, and as much for the symbol table; 0 = 2 s */
	uint64_t cpu_max_ns;
	/* DIEs, ranges and rows of debug information, or symbols; 0 = 100 million */
	uint64_t entries_max;
	/* use no debug information, neither inside nor beside the file */
	bool no_dwarf;
	/*
	 * the mapping of all its code as it was executed: offset in the file and size, of whole pages; size 0
	 * = not known. A debug file by itself has names for offsets only if its one segment of code fits that
	 */
	uint64_t text_off, text_size;
	/* it is a kernel: offsets count from its symbol _stext */
	bool kernel;
	/* NULL: only the file itself. ctx is borrowed until symbolizer_free() */
	symbolizer_open_fn open_debug;
	void *open_ctx;
};

/* All pointers are borrowed from the symbolizer until the next call on it. */
struct symbolizer_frame {
	const char *name; /* demangled, NUL-terminated */
	size_t name_len;
	const char *file; /* NULL = unknown; the full path as the compiler knew it */
	uint32_t line; /* 0 = unknown */
	uint64_t start; /* file offset where the function (not the inlined copy) starts */
	uint64_t size; /* bytes; 0 = unknown */
};

/*
 * Opens the ELF file behind fd. fd belongs to the symbolizer from here on, also on failure.
 * build_id of build_id_sz bytes (0 = not known) must be the file's own.
 * Errors: -ESTALE (another build-id), -ENOEXEC (not ELF, or broken), -EINVAL (not a regular file),
 * -errno of I/O.
 */
int symbolizer_open(int fd, const uint8_t *build_id, size_t build_id_sz,
		    const struct symbolizer_cfg *cfg, struct symbolizer **out);

/* The same for a file in memory, borrowed until symbolizer_free(). */
int symbolizer_open_mem(void *bytes, size_t size, const struct symbolizer_cfg *cfg,
			struct symbolizer **out);

/* This machine's vDSO, from the image mapped in this process. -ENOENT where there is none. */
int symbolizer_open_vdso(const struct symbolizer_cfg *cfg, struct symbolizer **out);

/* Frees everything. NULL is allowed. */
void symbolizer_free(struct symbolizer *sym);

/*
 * The calls below may together use that much CPU time of the calling thread from now on, before
 * they say -EAGAIN. The end of a slice is seen within some 100 us, but for the steps that cannot be
 * cut. Without any slice there is no such end; 0 = after each step, however small.
 */
void symbolizer_slice(struct symbolizer *sym, uint64_t cpu_ns);

/*
 * The function at off by the symbol table alone (file and line stay unknown); cheap after the first
 * call. Returns 1 found, 0 no function there, -EAGAIN.
 */
int symbolizer_name(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out);

/*
 * The functions at off by debug information: out[0] is the outermost (out-of-line) function, the
 * last one is the innermost inlined copy. Each frame's file:line is where control is in that frame.
 * When there are more than max frames, the innermost ones are left out. Returns the count, 0 when
 * debug information has nothing there, -EAGAIN. When a budget is used up, debug information is given
 * up and its memory freed: from then on nothing is found.
 */
int symbolizer_frames(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out,
		      size_t max);

/*
 * Whether the file, or a debug file found for it, has debug information; may open that file. Reads
 * none of it. 1, 0 (also when it was given up) or -EAGAIN.
 */
int symbolizer_has_dwarf(struct symbolizer *sym);

/* Whether there is any symbol table entry for code: 1, 0 or -EAGAIN. */
int symbolizer_has_symtab(struct symbolizer *sym);

/*
 * The bound that was reached, for people: "time", "memory" or "entries" when debug information was
 * given up, the same behind "symbol table: " when that ends early; NULL when all was read that was
 * asked for. A constant string.
 */
const char *symbolizer_gave_up(const struct symbolizer *sym);

/*
 * Files of split debug information that were asked for and not found, or were of another build; and one more
 * when there would have been more to ask for.
 */
unsigned int symbolizer_missing(const struct symbolizer *sym);

/* Files of split debug information that are mapped now. */
size_t symbolizer_files(const struct symbolizer *sym);
/* Bytes of memory that debug information holds now. */
size_t symbolizer_dwarf_mem(const struct symbolizer *sym);
/* Gives that memory back, and those files; the next symbolizer_frames() starts anew. */
void symbolizer_drop_dwarf(struct symbolizer *sym);

/*
 * The build-id note of the ELF file behind fd (borrowed). *sz becomes its length, 0 when it has
 * none. Errors: -ENOEXEC (not ELF), -errno.
 */
int symbolizer_build_id(int fd, uint8_t out[SYMBOLIZER_BUILD_ID_MAX], size_t *sz);

#endif /* D9_SYMBOL_DWARF_SYMBOLIZER_H */
