// SPDX-License-Identifier: BSD-2-Clause
/* Loss of whole files, as rows at the server. Owns their values: the time is the last change of the file. */
#include "ship/lost_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/log.h"
#include "profile/sums/content_ids.h"
#include "ship/batch_writer.h"

struct lost_files {
	struct sender *sender;
	const struct anonymizer *anonymizer;
	struct packer *packer;
	uint64_t file[2];
};

static int send_batch(void *ctx, const struct batch_writer_batch *b)
{
	const struct lost_files *l = ctx;

	return sender_insert(l->sender, &(struct sender_batch){
						.table = b->table,
						.block = b->block,
						.day = b->day,
						.file = { l->file[0], l->file[1] },
						.id = b->id,
						.may_be_there = true,
					});
}

static void put_host(const struct lost_files *l, struct native_block *b, size_t column)
{
	struct buf text = { 0 };
	struct utsname host;

	if (!uname(&host))
		anonymizer_put(l->anonymizer, ANONYMIZER_PRIVATE, host.nodename,
			       strlen(host.nodename), &text);
	native_block_put_text(b, column, buf_cstr(&text), text.len);
	buf_free(&text);
}

static void put_value(const struct lost_files *l, struct native_block *b, size_t column,
		      const struct ship_column *c, const struct ship_state_drop *drop)
{
	if (!strcmp(c->name, "host"))
		put_host(l, b, column);
	else if (!strcmp(c->name, "kind"))
		native_block_put_text(b, column, "unshipped", 9);
	else if (!strcmp(c->name, "class"))
		native_block_put_text(b, column, "files", 5);
	else if (!strcmp(c->name, "wall"))
		native_block_put(b, column, drop->wall);
	else if (!strcmp(c->name, "count"))
		native_block_put(b, column, 1);
	else
		native_block_put(b, column, (uint64_t)c->none);
}

static void identify(struct lost_files *l, const struct ship_state_drop *drop)
{
	l->file[0] = anonymizer_id(l->anonymizer, content_ids_hash(CONTENT_IDS_HASH, drop->name,
								   strlen(drop->name) + 1));
	l->file[1] = content_ids_hash(l->file[0], &drop->wall, sizeof(drop->wall));
}

/* Equal drops have equal ids, in any process. */
static void identify_all(struct lost_files *l, const struct ship_state_drop *drops, size_t cnt)
{
	uint64_t hash[2] = { CONTENT_IDS_HASH, ~CONTENT_IDS_HASH };

	for (size_t i = 0; i < cnt; i++) {
		identify(l, &drops[i]);
		hash[0] = content_ids_hash(hash[0], l->file, sizeof(l->file));
		hash[1] = content_ids_hash(hash[1], hash, sizeof(hash[0]));
	}
	if (cnt > 1)
		memcpy(l->file, hash, sizeof(hash));
}

static int put_row(const struct lost_files *l, struct batch_writer *w,
		   const struct ship_state_drop *drop)
{
	const struct ship_table *t = &ship_tables[SHIP_LOST];
	struct native_block *b;
	int err = batch_writer_row(w, ship_tables_day((int64_t)drop->wall), &b);

	for (size_t i = 0; i < t->column_cnt && !err; i++)
		if (t->columns[i].value == SHIP_COLUMN)
			put_value(l, b, i, &t->columns[i], drop);
	return err ?: batch_writer_end_row(w);
}

static int send_rows(struct lost_files *l, const struct ship_state_drop *drops, size_t cnt,
		     const char *const *labels, size_t label_cnt)
{
	struct batch_writer *w;
	int err = 0;

	identify_all(l, drops, cnt);
	w = batch_writer_new(&(struct batch_writer_opts){
		.table = &ship_tables[SHIP_LOST],
		.packer = l->packer,
		.file = { l->file[0], l->file[1] },
		.labels = labels,
		.label_cnt = label_cnt,
		.put = send_batch,
		.ctx = l,
	});
	for (size_t i = 0; i < cnt && !err; i++)
		err = put_row(l, w, &drops[i]);
	if (!err)
		err = batch_writer_end(w);
	batch_writer_free(w);
	return err;
}

int lost_files_send(struct sender *sender, struct ship_state *state, const char *const *labels,
		    size_t label_cnt, const struct anonymizer *anonymizer)
{
	struct lost_files l = { .sender = sender, .anonymizer = anonymizer };
	struct ship_state_drop *copy;
	size_t cnt = ship_state_batch_drops(state), all;
	int err = 0;

	if (!cnt)
		return 0;
	l.packer = packer_new();
	if (!l.packer) {
		log_error("ship: out of memory");
		return -ENOMEM;
	}
	for (; !err && cnt; cnt = err ? 0 : ship_state_batch_drops(state)) {
		/* more may be added while the server is down, which moves them */
		copy = xmemdup(ship_state_drops(state, &all), cnt * sizeof(*copy));
		err = send_rows(&l, copy, cnt, labels, label_cnt);
		if (!err)
			(void)ship_state_forget_drops(state, cnt);
		free(copy);
	}
	packer_free(l.packer);
	return err;
}
