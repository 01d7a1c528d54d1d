/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_PERFMAP_H
#define D9_SYMBOL_ELF_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Symbols of generated code, from the map that a program writes for profilers: /tmp/perf-PID.map, a
 * line per function, "START SIZE NAME", with hexadecimal numbers. Any user can write such a file,
 * so at most 64 MiB and a million entries are read. It opens no path. Use a perfmap in one thread
 * at a time.
 */
struct perfmap;

#define PERFMAP_BYTES_MAX (64u << 20)
#define PERFMAP_ENTRIES_MAX 1000000u
/* Longer names are cut. */
#define PERFMAP_NAME_MAX 4096

/* The function at an address. Borrowed until the next perfmap_read() or perfmap_free(). */
struct perfmap_entry {
	const char *name; /* not NUL-terminated */
	size_t name_len;
	uint64_t start, size;
};

/* cpu_max_ns: CPU time of all reads together; 0: 2 s. */
struct perfmap *perfmap_new(uint64_t cpu_max_ns);
/* Sets its memory limit; 320 MiB without this call. */
void perfmap_limit_mem(struct perfmap *p, size_t max);
/* NULL is allowed. */
void perfmap_free(struct perfmap *p);

/* perfmap_read() pauses after this CPU time of the calling thread, counted from now. */
void perfmap_slice(struct perfmap *p, uint64_t cpu_ns);

/*
 * Reads what was appended to the file of fd (borrowed, readable, at any position) since the last
 * read, up to its last complete line. If the file has become shorter, or is another file, forgets
 * everything and reads it from the start. Returns 0 if complete; -EAGAIN (call again); -EDQUOT (a
 * limit was reached: known entries stay, no more are read); -errno of reading.
 */
int perfmap_read(struct perfmap *p, int fd);

/* The entry at addr in the settled entries; if several contain it, the last one in the file. */
bool perfmap_find(const struct perfmap *p, uint64_t addr, struct perfmap_entry *out);

/* Bytes of memory. */
size_t perfmap_mem(const struct perfmap *p);

/* "time", "memory" or "entries" after -EDQUOT, otherwise NULL. */
const char *perfmap_gave_up(const struct perfmap *p);

#endif /* D9_SYMBOL_ELF_PERFMAP_H */
