// SPDX-License-Identifier: BSD-2-Clause
/*
 * recording_id.c - which recording a file is part of, from its first event
 *
 * The recorder begins each segment with the same metadata, and only its segments have the time of the start in
 * nanoseconds. A name proves nothing: run.1.bin and run.2.bin may be two recordings.
 */
#include "trace/source/recording_id.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "dial9.h"
#include "prof_events.h"
#include "trace/source/source.h"

static bool has_start(const struct dial9_value *entries)
{
	struct dial9_value key, value;
	struct dial9_iter it;

	dial9_iter_init(&it, entries);
	while (dial9_map_next(&it, &key, &value) == 1)
		if (key.str.len == strlen(PROF_META_START_REALTIME_NS) &&
		    !memcmp(key.str.ptr, PROF_META_START_REALTIME_NS, key.str.len))
			return true;
	return false;
}

static void read_event(const struct dial9_event *ev, struct recording_id *out)
{
	const int at = dial9_schema_find(ev->schema, PROF_F_ENTRIES);
	const struct dial9_value *v = at >= 0 ? &ev->values[at] : NULL;

	if (strcmp(dial9_schema_name(ev->schema), PROF_EV_METADATA) || !v ||
	    v->type != DIAL9_STRING_MAP || !has_start(v))
		return;
	out->sz = v->map.sz;
	out->data = xmalloc(out->sz);
	memcpy(out->data, v->map.raw, out->sz);
}

static void read_first(struct source *src, struct recording_id *out)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = source_read, .ctx = src };
	struct dial9_frame frame;
	struct dial9_dec *dec;

	if (dial9_dec_new(&opts, &dec))
		return;
	while (dial9_dec_next(dec, &frame) == 1)
		if (frame.kind == DIAL9_FRAME_EVENT) {
			read_event(&frame.event, out);
			break;
		}
	dial9_dec_free(dec);
}

/* Another file is not even opened: a writer of a FIFO would begin to write, and lose its reader. */
static int open_regular(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

void recording_id_read(const char *path, struct recording_id *out)
{
	const int fd = open_regular(path);
	struct source *src;
	struct stat st;

	*out = (struct recording_id){ 0 };
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return;
	}
	if (source_open_fd(fd, path, &src))
		return;
	read_first(src, out);
	source_close(src);
}

void recording_id_fini(struct recording_id *id)
{
	free(id->data);
	*id = (struct recording_id){ 0 };
}

bool recording_id_is_same(const struct recording_id *a, const struct recording_id *b)
{
	return a->data && b->data && a->sz == b->sz && !memcmp(a->data, b->data, a->sz);
}
