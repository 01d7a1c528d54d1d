// SPDX-License-Identifier: BSD-2-Clause
/*
 * tracing_out.c - the section with formats of tracepoints
 *
 * Owns its layout, as in trace-cmd's trace.dat version 0.6: head, formats of the ring buffer, formats by
 * system, and empty lists of what is not needed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/perfdata/header_out.h"

#define MAGIC "\027\010\104tracing"
#define VERSION "0.6"
#define HEADER_PAGE                                                                                \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                 \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"                                \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"                                 \
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"

enum { LONG_SZ = 8, PAGE_SZ = 4096 };

static void put_file(struct buf *out, const char *text, size_t len)
{
	perfdata_put_u64(out, len);
	buf_add(out, text, len);
}

static void put_name(struct buf *out, const char *name)
{
	buf_add(out, name, strlen(name) + 1);
}

static int by_system(const void *a, const void *b)
{
	const struct perfdata_raw_event *x = *(const struct perfdata_raw_event *const *)a;
	const struct perfdata_raw_event *y = *(const struct perfdata_raw_event *const *)b;
	const int order = strcmp(x->system, y->system);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* The end of the events of a system. */
static size_t end_of_system(const struct perfdata_raw_event *const *v, size_t cnt, size_t from)
{
	size_t to = from;

	while (to < cnt && !strcmp(v[to]->system, v[from]->system))
		to++;
	return to;
}

static void put_systems(struct buf *out, const struct perfdata_raw_event **v, size_t cnt)
{
	struct buf text = { 0 };
	uint32_t systems = 0;
	size_t i, end;

	for (i = 0; i < cnt; i = end_of_system(v, cnt, i))
		systems++;
	perfdata_put_u32(out, systems);
	for (i = 0; i < cnt;) {
		end = end_of_system(v, cnt, i);
		put_name(out, v[i]->system);
		perfdata_put_u32(out, (uint32_t)(end - i));
		for (; i < end; i++) {
			buf_clear(&text);
			perfdata_raw_layout_print(v[i], &text);
			put_file(out, buf_cstr(&text), text.len);
		}
	}
	buf_free(&text);
}

void perfdata_tracing_out(const struct perfdata_raw_layout *l, struct buf *out)
{
	const struct perfdata_raw_event **v = xcalloc(l->cnt + 1, sizeof(*v));

	for (size_t i = 0; i < l->cnt; i++)
		v[i] = &l->v[i];
	qsort(v, l->cnt, sizeof(*v), by_system);
	buf_add(out, MAGIC, sizeof(MAGIC) - 1);
	put_name(out, VERSION);
	buf_addch(out, 0); /* little-endian */
	buf_addch(out, LONG_SZ);
	perfdata_put_u32(out, PAGE_SZ);
	put_name(out, "header_page");
	put_file(out, HEADER_PAGE, sizeof(HEADER_PAGE) - 1);
	put_name(out, "header_event");
	put_file(out, "", 0);
	perfdata_put_u32(out, 0); /* formats of ftrace */
	put_systems(out, v, l->cnt);
	perfdata_put_u32(out, 0); /* kallsyms */
	perfdata_put_u32(out, 0); /* formats of trace_printk() */
	perfdata_put_u64(out, 0); /* names of threads */
	free(v);
}
