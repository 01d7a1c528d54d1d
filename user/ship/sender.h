/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SENDER_H
#define D9_SHIP_SENDER_H

#include "ship/attempts.h"
#include "ship/clickhouse.h"

/* Sends batches to one server until it has them. */
struct sender;

struct sender_opts {
	struct clickhouse_opts server; /* without gives_up and ctx */
	struct ship_ttl ttl;
	uint64_t grace_ns; /* before a batch is asked for at a server without tokens: it may still arrive */
	struct attempts *attempts; /* borrowed */
};

/* Free with sender_free(). 0 or -errno, after one line. */
int sender_new(const struct sender_opts *opts, struct sender **out);
void sender_free(struct sender *s);

/*
 * Results of all functions below: 0; -EINTR: stopped; -ETIMEDOUT: gave up; -EPROTO: the server refuses. The last two after one
 * line.
 */

/* Connects, and makes the tables. Once, before the first batch. */
int sender_connect(struct sender *s);

/* The rows of one insert. */
struct sender_batch {
	const struct ship_table *table;
	struct native_block *block; /* written by sender_insert() */
	uint64_t day;
	const char *host; /* of all rows; NULL: several */
	uint64_t file[2];
	uint64_t id; /* of the batch */
	bool may_be_there; /* an earlier program may have sent it */
};

/* Until the server has it, exactly once as far as the server allows that. */
int sender_insert(struct sender *s, const struct sender_batch *batch);
/* How many rows of the batch the server has. */
int sender_count(struct sender *s, const struct sender_batch *batch, uint64_t *rows);

bool sender_has_tokens(const struct sender *s);

#endif /* D9_SHIP_SENDER_H */
