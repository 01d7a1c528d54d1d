/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_PERFMAP_H
#define D9_SYMBOL_ELF_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names for code that a program made while it ran, from the map that it writes for profilers:
 * /tmp/perf-PID.map, a line for each function, "START SIZE NAME", the numbers in hexadecimal.
 * Anyone can write such a file: no more than 64 MiB and a million entries are read. It opens no
 * path. A perfmap belongs to one thread at a time.
 */
struct perfmap;

#define PERFMAP_BYTES_MAX (64u << 20)
#define PERFMAP_ENTRIES_MAX 1000000u
/* Longer names are cut. */
#define PERFMAP_NAME_MAX 4096

/* The function around an address. Borrowed until the next perfmap_read() or perfmap_free(). */
struct perfmap_entry {
	const char *name; /* not NUL-terminated */
	size_t name_len;
	uint64_t start, size;
};

/* cpu_max_ns: CPU time for all reading together; 0 = 2 s. */
struct perfmap *perfmap_new(uint64_t cpu_max_ns);
/* NULL is allowed. */
void perfmap_free(struct perfmap *p);

/* perfmap_read() pauses after that much CPU time of the calling thread, from now on. */
void perfmap_slice(struct perfmap *p, uint64_t cpu_ns);

/*
 * Reads what was appended to the file behind fd (borrowed, readable, at any position) since the last
 * time, up to its last whole line. A file that has become shorter, or is another one, is read anew,
 * and what was known is forgotten. Returns 0 up to date, -EAGAIN (call again), -EDQUOT (a bound was reached: what was
 * known stays, no more will be read), -errno of reading.
 */
int perfmap_read(struct perfmap *p, int fd);

/*
 * The entry at addr, of those that perfmap_read() has brought to an end with; where several reach
 * over it, the one that was written last.
 */
bool perfmap_find(const struct perfmap *p, uint64_t addr, struct perfmap_entry *out);

/* "time", "memory" or "entries" after -EDQUOT, else NULL. */
const char *perfmap_gave_up(const struct perfmap *p);

#endif /* D9_SYMBOL_ELF_PERFMAP_H */
