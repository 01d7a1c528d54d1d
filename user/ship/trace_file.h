/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_TRACE_FILE_H
#define D9_SHIP_TRACE_FILE_H

#include "query/trace_input.h"
#include "ship/anonymizer.h"

/* A trace that is sent, after one pass. Stays where it is. */
struct trace_file {
	const char *path;
	int fd;
	struct trace_inputs traces; /* one */
	struct trace_input *trace; /* this one */
	char *host; /* of all recordings, as a server gets it; NULL: there are several */
	bool has_wall;
	int64_t first_wall, last_wall; /* of its events; ns since 1970 */
};

/* The id of a file, by its size and content. 0 or -errno. */
int trace_file_id(int fd, uint64_t id[2]);

/*
 * 0; -EINTR; -EBADMSG after one line: it is not a trace; another -errno after one line: this machine lacks something.
 * @anonymizer NULL: none. Free with trace_file_close() in any case.
 */
int trace_file_open(struct trace_file *t, int fd, const char *path,
		    const struct anonymizer *anonymizer, const volatile sig_atomic_t *stop);
void trace_file_close(struct trace_file *t);

#endif /* D9_SHIP_TRACE_FILE_H */
