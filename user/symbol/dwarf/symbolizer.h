/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_SYMBOLIZER_H
#define D9_SYMBOL_DWARF_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Symbols for the code of one ELF file. All offsets are file offsets of the executed file, as in
 * stack frames of a trace. Use a symbolizer in one thread at a time; symbolizers share no data. It
 * opens no path: it gets file descriptors, and requests more through open_debug, so it can run
 * without rights to open files.
 *
 * Files are untrusted, so their cost is bounded: in total by the budgets in symbolizer_cfg, and per
 * slice by symbolizer_slice(). -EAGAIN means that the slice is used up: start another slice, now or
 * later, and call again with the same arguments; the work continues where it stopped. Other calls
 * may come in between.
 */
struct symbolizer;

#define SYMBOLIZER_BUILD_ID_MAX 64
/* Maximum number of split files requested for one module */
#define SYMBOLIZER_SPLIT_MAX 1024

enum symbolizer_want_kind {
	SYMBOLIZER_WANT_BUILD_ID, /* a debug file by build-id */
	SYMBOLIZER_WANT_DEBUGLINK, /* a debug file by the name in .gnu_debuglink */
	/* parts shared by several debug files, by name and build-id (dwz) */
	SYMBOLIZER_WANT_ALTLINK,
	SYMBOLIZER_WANT_DWP, /* the package of split debug information, by build-id; no name */
	/*
	 * the split part of one object file, by name: the path at build time, and after its last
	 * "/./", if there is one, the path given to the compiler. It is verified by the id that
	 * both files have
	 */
	SYMBOLIZER_WANT_DWO,
};

/* A requested file. name comes from the module: it is untrusted. */
struct symbolizer_want {
	enum symbolizer_want_kind kind;
	const char *name; /* NULL for SYMBOLIZER_WANT_BUILD_ID and _DWP */
	const uint8_t *build_id; /* NULL if there is none */
	size_t build_id_sz;
	unsigned int skip; /* number of files of that name that were opened and refused (_DWO) */
};

/*
 * Returns a file descriptor, which the symbolizer takes over, or -errno. The symbolizer verifies
 * build-id or checksum, so any candidate may be returned. -EAGAIN: not known yet; the call on the
 * symbolizer then returns -EAGAIN, too, and repeats the request when called again.
 */
typedef int (*symbolizer_open_fn)(void *ctx, const struct symbolizer_want *want);

struct symbolizer_cfg {
	/* memory for debug information without the symbol table; 0: 256 MiB */
	size_t dwarf_mem_max;
	/* memory for the symbol table; 0: 256 MiB */
	size_t symtab_mem_max;
	/* CPU time for debug information, and the same for the symbol table; 0: 2 s */
	uint64_t cpu_max_ns;
	/* DIEs, ranges and rows of debug information, or symbols; 0: 100 million */
	uint64_t entries_max;
	/* ignore debug information, in the file and in separate files */
	bool no_dwarf;
	/*
	 * mapping of all its code when it was executed: file offset and size, in whole pages; size
	 * 0: unknown. For a debug file alone, offsets can be resolved only if its single code
	 * segment fits this
	 */
	uint64_t text_off, text_size;
	/* a kernel: offsets are relative to its symbol _stext */
	bool kernel;
	/* NULL: only the file itself. ctx is borrowed until symbolizer_free() */
	symbolizer_open_fn open_debug;
	void *open_ctx;
};

/* All pointers are borrowed until the next call on the symbolizer. */
struct symbolizer_frame {
	const char *name; /* demangled, NUL-terminated */
	size_t name_len;
	const char *file; /* NULL: unknown; the full path at build time */
	uint32_t line; /* 0: unknown */
	uint64_t start; /* file offset of the start of the function (not of the inlined copy) */
	uint64_t size; /* bytes; 0: unknown */
};

/*
 * Opens the ELF file of a descriptor, which the symbolizer takes over, also on failure. The file
 * must have the given build-id (build_id_sz 0: unknown). 0; -ESTALE (another build-id); -ENOEXEC
 * (not ELF, or damaged); -EINVAL (not a regular file); -errno of I/O.
 */
int symbolizer_open(int fd, const uint8_t *build_id, size_t build_id_sz,
		    const struct symbolizer_cfg *cfg, struct symbolizer **out);

/* The same for a file in memory, borrowed until symbolizer_free(). */
int symbolizer_open_mem(void *bytes, size_t size, const struct symbolizer_cfg *cfg,
			struct symbolizer **out);

/* Opens the vDSO that is mapped in this process. -ENOENT if there is none. */
int symbolizer_open_vdso(const struct symbolizer_cfg *cfg, struct symbolizer **out);

/* Frees everything. NULL is allowed. */
void symbolizer_free(struct symbolizer *sym);

/*
 * From now on, the calls below may use this CPU time of the calling thread in total before they
 * return -EAGAIN. They check it about every 100 us, except in steps that cannot be interrupted.
 * Without a slice there is no limit; 0: after each step (for tests).
 */
void symbolizer_slice(struct symbolizer *sym, uint64_t cpu_ns);

/*
 * The function at off from the symbol table only (file and line stay unknown); cheap after the
 * first call. Returns 1; 0 if there is no function; -EAGAIN.
 */
int symbolizer_name(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out);

/*
 * The functions at off from debug information: out[0] is the outermost (out-of-line) function, the
 * last one is the innermost inlined copy. file and line of each frame are the current position in
 * it. If there are more than max frames, the innermost ones are skipped. Returns the count; 0 if
 * debug information has none; -EAGAIN. If a budget is used up, debug information is dropped and its
 * memory freed: from then on the result is 0.
 */
int symbolizer_frames(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out,
		      size_t max);

/*
 * Whether the file, or a debug file found for it, has debug information; may open that file. Reads
 * none of it. 1; 0 (also after it was dropped); -EAGAIN.
 */
int symbolizer_has_dwarf(struct symbolizer *sym);

/* Whether the symbol table has code: 1, 0 or -EAGAIN. */
int symbolizer_has_symtab(struct symbolizer *sym);

/*
 * The limit that was reached: "time", "memory" or "entries" if debug information was dropped, the
 * same after "symbol table: " if that was cut; NULL if everything requested was read. Static.
 */
const char *symbolizer_gave_up(const struct symbolizer *sym);

/*
 * Number of split files that were requested and are missing or of another build, plus one if the
 * limit of requests was reached.
 */
unsigned int symbolizer_missing(const struct symbolizer *sym);

/* Number of split files that are mapped. */
size_t symbolizer_files(const struct symbolizer *sym);
/* Bytes of memory that debug information uses. */
size_t symbolizer_dwarf_mem(const struct symbolizer *sym);
/* Frees that memory and those files; the next symbolizer_frames() reads them again. */
void symbolizer_drop_dwarf(struct symbolizer *sym);

/* Bytes of memory that debug information and the symbol table use. */
size_t symbolizer_mem(const struct symbolizer *sym);
/*
 * Frees all of that, and the split files; they are read again when needed, except a symbol table that exceeded its
 * CPU time.
 */
void symbolizer_drop_all(struct symbolizer *sym);
/* Unmaps what was read of the files; reading maps it again. Call it if no question is left. */
void symbolizer_release_pages(const struct symbolizer *sym);

/*
 * Reads the build-id note of the ELF file of fd (borrowed). Sets *sz to its length, 0 if there is
 * none. 0; -ENOEXEC (not ELF); -errno.
 */
int symbolizer_build_id(int fd, uint8_t out[SYMBOLIZER_BUILD_ID_MAX], size_t *sz);

#endif /* D9_SYMBOL_DWARF_SYMBOLIZER_H */
