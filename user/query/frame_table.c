// SPDX-License-Identifier: BSD-2-Clause
/* The table-valued function frames(STACK). Owns the module and its cursors. */
#include "query/frame_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "query/stack_names.h"
#include "query/vtab.h"

/* clang-format off */
#define FRAME_COLUMNS(X) \
	X(DEPTH, depth, INTEGER, "0 is the leaf; an inlined function comes before the function that contains it") \
	X(FUNCTION, function, TEXT, "its name; NULL: unknown") \
	X(MODULE, module, TEXT, "file that has the code") \
	X(BUILD_ID, build_id, TEXT, "build-id of the file, in hex") \
	X(OFFSET, offset, INTEGER, "offset of the instruction in the file") \
	X(FILE, file, TEXT, "source file; NULL: unknown") \
	X(LINE, line, INTEGER, "line in it") \
	X(INLINED, inlined, INTEGER, "1: inlined into the next function") \
	X(KERNEL, kernel, INTEGER, "1: kernel code")
/* clang-format on */

#define COLUMN(id, name, type, doc) FRAME_##id,
enum frame_column { FRAME_COLUMNS(COLUMN) FRAME_CNT, FRAME_STACK = FRAME_CNT };
#undef COLUMN

#define COLUMN(id, name, type, doc) { #name, #type, doc, SCAN_ROLE_NONE },
static const struct scan_column columns[] = {
	FRAME_COLUMNS(COLUMN){ "stack", "INTEGER", "argument", SCAN_ROLE_NONE },
};
#undef COLUMN

struct frame_cursor {
	sqlite3_vtab_cursor base; /* must be first */
	struct trace_inputs *all;
	int64_t stack;
	struct stack_names walk;
	struct stack_names_function now;
	int64_t depth;
	bool eof;
};

const struct scan_column *frame_table_columns(size_t *cnt)
{
	*cnt = FRAME_CNT;
	return columns;
}

static int connect_frames(sqlite3 *db, void *aux, int argc, const char *const *argv,
			  sqlite3_vtab **out, char **err)
{
	return vtab_connect(db, aux, columns, FRAME_CNT + 1, 1, out);
}

/* Without a stack there are no rows. */
static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	bool unusable = false;

	info->estimatedCost = 1;
	info->estimatedRows = 1;
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != FRAME_STACK ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable) {
			unusable = true;
			continue;
		}
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = 1;
		info->estimatedCost = 30;
		info->estimatedRows = 30;
		return SQLITE_OK;
	}
	return unusable ? SQLITE_CONSTRAINT : SQLITE_OK;
}

static int open_frames(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct frame_cursor *c = xcalloc(1, sizeof(*c));

	c->all = vtab_of(v);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_frames(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int next_frame(sqlite3_vtab_cursor *cursor)
{
	struct frame_cursor *c = (struct frame_cursor *)cursor;

	c->depth++;
	c->eof = !stack_names_next(&c->walk, &c->now);
	return SQLITE_OK;
}

static int filter_frames(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
			 sqlite3_value **argv)
{
	struct frame_cursor *c = (struct frame_cursor *)cursor;
	struct trace_input *in;

	c->eof = true;
	c->walk = (struct stack_names){ .names = NULL };
	if (!number || sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
		return SQLITE_OK;
	c->stack = sqlite3_value_int64(argv[0]);
	c->walk.frames = trace_inputs_stack(c->all, c->stack, &in, &c->walk.cnt);
	if (!c->walk.frames)
		return SQLITE_OK;
	c->walk.names = in->names;
	c->depth = -1;
	return next_frame(cursor);
}

static int is_frame_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct frame_cursor *)cursor)->eof;
}

static void result_printable(sqlite3_context *ctx, const struct names *n, uint32_t id)
{
	struct buf out = { 0 };
	size_t len;
	const char *s = names_str(n, id, &len);

	if (id == NAMES_NONE || !len)
		return;
	str_printable(&out, s, len);
	sqlite3_result_text64(ctx, out.data, out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	buf_free(&out);
}

static void result_build_id(sqlite3_context *ctx, const struct names_module *m)
{
	struct buf out = { 0 };

	if (!m->build_id_sz)
		return;
	str_hex(&out, m->build_id, m->build_id_sz);
	sqlite3_result_text64(ctx, out.data, out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	buf_free(&out);
}

static int frame_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct frame_cursor *c = (struct frame_cursor *)cursor;
	const struct stack_names_function *f = &c->now;
	const struct names_module *m = names_module(c->walk.names, names_frame_module(f->frame));

	switch ((enum frame_column)column) {
	case FRAME_DEPTH:
		sqlite3_result_int64(ctx, c->depth);
		break;
	case FRAME_FUNCTION:
		result_printable(ctx, c->walk.names, f->name);
		break;
	case FRAME_MODULE:
		result_printable(ctx, c->walk.names, m->path);
		break;
	case FRAME_BUILD_ID:
		result_build_id(ctx, m);
		break;
	case FRAME_OFFSET:
		sqlite3_result_int64(ctx, (sqlite3_int64)(f->frame & PROF_FRAME_OFFSET_MASK));
		break;
	case FRAME_FILE:
		result_printable(ctx, c->walk.names, f->file);
		break;
	case FRAME_LINE:
		if (f->line)
			sqlite3_result_int64(ctx, f->line);
		break;
	case FRAME_INLINED:
		sqlite3_result_int(ctx, f->inlined);
		break;
	case FRAME_KERNEL:
		sqlite3_result_int(ctx, (f->frame & PROF_FRAME_KERNEL) != 0);
		break;
	case FRAME_STACK:
		sqlite3_result_int64(ctx, c->stack);
		break;
	}
	return SQLITE_OK;
}

static int frame_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = ((struct frame_cursor *)cursor)->depth;
	return SQLITE_OK;
}

int frame_table_register(sqlite3 *db, struct trace_inputs *all)
{
	static const sqlite3_module module = {
		.xConnect = connect_frames,
		.xBestIndex = best_index,
		.xDisconnect = vtab_disconnect,
		.xDestroy = vtab_disconnect,
		.xOpen = open_frames,
		.xClose = close_frames,
		.xFilter = filter_frames,
		.xNext = next_frame,
		.xEof = is_frame_eof,
		.xColumn = frame_column,
		.xRowid = frame_rowid,
	};

	return sqlite3_create_module_v2(db, FRAME_TABLE_NAME, &module, all, NULL);
}
