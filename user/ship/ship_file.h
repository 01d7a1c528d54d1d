/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SHIP_FILE_H
#define D9_SHIP_SHIP_FILE_H

#include <signal.h>

#include "base/hmap.h"
#include "ship/anonymizer.h"
#include "ship/sender.h"
#include "ship/ship_state.h"
#include "ship/trace_file.h"

struct ship_counts {
	uint64_t files, rows, batches; /* at the server; a profile is a batch, without rows */
	uint64_t unreadable, dropped; /* files */
	uint64_t torn; /* of the files: their end is missing */
	uint64_t missing, doubled; /* rows, by counting them at the server */
	uint64_t refused; /* profiles that the server does not take */
};

/* Stacks and frames that this process sent, by hash of day and content: they are not sent again. */
struct ship_seen {
	struct hmap rows;
	uint64_t number; /* of their next batch; no earlier process had it */
};

struct ship_file_opts {
	struct sender *sender;
	struct ship_state *state;
	struct ship_seen *seen;
	struct ship_counts *counts;
	const char *const *labels;
	size_t label_cnt;
	const struct anonymizer *anonymizer; /* NULL: none */
	bool events; /* also the table `events` */
	bool may_be_there; /* an earlier program may have sent some of it */
	const volatile sig_atomic_t *stop;
};

/*
 * Sends everything of a trace: tasks and recordings, rows of events as batches fill, each after its stacks and frames, then
 * rollups, then the ledger. The results of sender_insert(), or -EBADMSG after one line: the file is not a trace, or only its
 * start could be read. A state that cannot be written is reported.
 */
int ship_file_send(const struct ship_file_opts *opts, int fd, const char *path,
		   const uint64_t id[2]);

/* After all of a file is at the server: notes and counts that. */
void ship_file_finish(const struct ship_file_opts *opts, const struct trace_file *file,
		      const uint64_t id[2]);

#endif /* D9_SHIP_SHIP_FILE_H */
