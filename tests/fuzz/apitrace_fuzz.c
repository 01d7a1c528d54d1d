// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as an apitrace file, as the stream inside of one, and as a dial9 trace to convert; the first byte
 * selects one. Calls must survive a round trip through dial9, and the output must be read without errors.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "formats/apitrace/apitrace.h"
#include "formats/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static int add_to_buf(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

/* The lines of all whole events, without their offsets. */
static void add_calls(const void *trace, size_t sz, struct buf *out, uint64_t *damaged)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_notes notes = { 0 };
	struct buf lines = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;
	char *rest, *line;

	foreign_mem_input(&mem, trace, sz, &in);
	apitrace_format.dump(&in, &opts, add_to_buf, &lines, &notes);
	rest = (char *)buf_cstr(&lines);
	while ((line = strsep(&rest, "\n")) && *line) {
		if (strncmp(line, "{\"ev\":", 6) != 0 || strstr(line, "\"truncated\":true}"))
			continue;
		buf_add(out, line, 13);
		buf_addstr(out, strchr(strstr(line, "\"off\":"), ','));
		buf_addch(out, '\n');
	}
	*damaged = foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL);
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

static int import(const void *trace, size_t sz, const struct foreign_opts *opts, struct buf *out,
		  struct foreign_notes *notes)
{
	struct dial9_enc_opts enc_opts = { .sz = sizeof(enc_opts),
					   .write = add_to_buf,
					   .ctx = out,
					   .level = opts->level,
					   .first_type_id = 256 };
	struct foreign_mem mem;
	struct foreign_input in;
	struct dial9_enc *enc;
	int err;

	foreign_mem_input(&mem, trace, sz, &in);
	if (opts->follow)
		in.rewind = NULL;
	assert(!dial9_enc_new(&enc_opts, &enc));
	err = apitrace_format.import(&in, 1, opts, enc, notes);
	assert(!err || err == -EBADMSG);
	assert(!dial9_enc_flush(enc));
	dial9_enc_free(enc);
	return err;
}

static int export(const struct buf *trace, struct buf *out, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	return apitrace_format.export(&in, &opts, add_to_buf, out, notes);
}

/* Only names that had to change may differ. */
static bool names_changed(const struct foreign_notes *notes)
{
	return foreign_notes_count(notes, FOREIGN_NOTE_CHANGED,
				   "names that are not UTF-8, escaped") ||
	       foreign_notes_count(notes, FOREIGN_NOTE_CHANGED,
				   "negative numbers of no 64 bits, wrapped");
}

static void trace(const void *data, size_t sz, uint8_t choice)
{
	struct foreign_opts opts = { .level = choice & 4 ? DIAL9_LEVEL_4 : DIAL9_LEVEL_3,
				     .follow = choice & 8,
				     .tick_ns = choice & 16 ? 10 : 0 };
	struct buf between = { 0 }, back = { 0 }, a = { 0 }, b = { 0 };
	struct foreign_notes notes = { 0 };
	struct foreign_facts facts = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;
	uint64_t damaged;

	foreign_mem_input(&mem, data, sz, &in);
	apitrace_format.detect(data, sz, true);
	apitrace_format.info(&in, &opts, &facts, &notes);
	foreign_facts_fini(&facts);
	foreign_notes_fini(&notes);
	if (!import(data, sz, &opts, &between, &notes)) {
		assert(!export(&between, &back, &notes));
		assert(!foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL));
		add_calls(data, sz, &a, &damaged);
		add_calls(back.data, back.len, &b, &damaged);
		assert(!damaged);
		assert(names_changed(&notes) ||
		       (a.len == b.len && !memcmp(buf_cstr(&a), buf_cstr(&b), a.len)));
	}
	foreign_notes_fini(&notes);
	buf_free(&between);
	buf_free(&back);
	buf_free(&a);
	buf_free(&b);
}

static void stranger(const void *data, size_t sz)
{
	struct buf between = { 0 }, back = { 0 }, calls = { 0 };
	struct foreign_notes notes = { 0 };
	uint64_t damaged = 0;

	buf_add(&between, data, sz);
	if (!export(&between, &back, &notes) && back.len > 2)
		add_calls(back.data, back.len, &calls, &damaged);
	assert(!damaged);
	foreign_notes_fini(&notes);
	buf_free(&between);
	buf_free(&back);
	buf_free(&calls);
}

static void stream(const uint8_t *data, size_t sz, uint8_t choice)
{
	struct container_out *box;
	struct buf file = { 0 };

	assert(!container_out_new(add_to_buf, &file, &box));
	assert(!container_out_add(box, data, sz) && !container_out_finish(box));
	container_out_free(box);
	trace(file.data, file.len, choice);
	buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	log_set_level(LOG_LEVEL_QUIET);
	if (!sz)
		return 0;
	if ((data[0] & 3) == 0)
		stranger(data + 1, sz - 1);
	else if ((data[0] & 3) == 1)
		trace(data + 1, sz - 1, data[0]);
	else
		stream(data + 1, sz - 1, data[0]);
	return 0;
}
