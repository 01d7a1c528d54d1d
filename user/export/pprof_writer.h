/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PPROF_WRITER_H
#define D9_EXPORT_PPROF_WRITER_H

#include "base/buf.h"
#include "trace/read/names.h"

/*
 * Writes one message of pprof's profile.proto, gzipped: types, then samples, then the end. Memory grows with distinct
 * frames, functions and modules.
 */
struct pprof_writer;

/* What a name is, for those who may have to hide it. */
enum pprof_name {
	PPROF_FUNCTION,
	PPROF_LABEL, /* in place of a function: "[libc.so.6]" */
	PPROF_SOURCE, /* a file with source text */
	PPROF_MODULE, /* a file that is executed */
	PPROF_SYSTEM_MODULE, /* the same, of the kernel: on all machines */
};

struct pprof_writer_opts {
	const struct names *names; /* borrowed; complete at the end of the message */
	/* Receives compressed bytes, in pieces. */
	void (*put)(void *ctx, const void *data, size_t sz);
	/* Appends a name as valid UTF-8. NULL: as it is */
	void (*name)(void *ctx, enum pprof_name what, uint32_t id, struct buf *out);
	void *ctx;
};

/* Never NULL. */
struct pprof_writer *pprof_writer_new(const struct pprof_writer_opts *opts);
void pprof_writer_free(struct pprof_writer *w);

/* The two values of each sample. */
struct pprof_writer_types {
	const char *count, *time; /* in "count" and in "nanoseconds" */
	bool timed; /* readers show the time first */
	uint64_t period_ns; /* of samples of CPU time; 0: they are no samples of it */
};

/* Once, first. */
void pprof_writer_types(struct pprof_writer *w, const struct pprof_writer_types *types);

/* A stack, leaf first, with both values; then its labels; then the end of it. */
void pprof_writer_begin_sample(struct pprof_writer *w, const uint64_t *frames, uint32_t len,
			       uint64_t count, uint64_t ns);
void pprof_writer_label(struct pprof_writer *w, const char *key, const char *value, size_t len);
void pprof_writer_label_number(struct pprof_writer *w, const char *key, uint64_t value);
void pprof_writer_end_sample(struct pprof_writer *w);

struct pprof_writer_end {
	uint32_t exe; /* path of the program; NAMES_NONE: unknown, or several programs */
	bool has_time;
	uint64_t time_ns; /* start, since 1970 */
	uint64_t duration_ns;
	const char *comment; /* valid UTF-8; NULL: none */
};

/* Once, last. */
void pprof_writer_end(struct pprof_writer *w, const struct pprof_writer_end *end);
/* Bytes of the message so far, before compression. */
uint64_t pprof_writer_size(const struct pprof_writer *w);

#endif /* D9_EXPORT_PPROF_WRITER_H */
