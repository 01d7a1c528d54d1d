// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address to file and line within one unit.
 *
 * A line table is a program for a simple machine that writes rows of (address, file, line); a
 * single byte can produce a row. It runs for a bounded number of steps, and each row is counted
 * before it is stored. If several rows have one address, the last one is used, because the others
 * cover no code.
 */
#include "symbol/dwarf/dwline.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "symbol/budget.h"
#include "symbol/elf/elfimg.h"

#define NO_FILE UINT32_MAX
/* Longer paths are cut. */
#define PATH_LEN_MAX 4096
#define FORMATS_MAX 16
/* Maximum of one table, which is read at once: compilers write thousands at most. */
#define PATHS_MAX 262144
#define PATH_BYTES_MAX (16u << 20)

/* -EBADMSG: too many to be valid. */
static int add_path(struct dwline_paths *paths, const struct dwline_path *path, struct budget *b)
{
	void *array = paths->v;
	int err = budget_grow(b, &array, &paths->cap, paths->cnt, sizeof(*paths->v));

	paths->v = array;
	if (err)
		return err;
	paths->v[paths->cnt++] = *path;
	paths->bytes += path->len;
	if (paths->cnt > PATHS_MAX || paths->bytes > PATH_BYTES_MAX)
		return -EBADMSG;
	return budget_step(b, 1) == -EDQUOT ? -EDQUOT : 0;
}

static struct dwline_path as_path(struct dwfile_str str)
{
	return (struct dwline_path){
		.s = str.s,
		.len = str.len < PATH_LEN_MAX ? str.len : PATH_LEN_MAX,
	};
}

/* Reads a NUL-terminated string. */
static struct dwfile_str read_str(struct dwread *r)
{
	const char *s = (const char *)r->p;

	dwread_skip_str(r);
	if (r->bad)
		return (struct dwfile_str){ 0 };
	return (struct dwfile_str){ s, (const char *)r->p - s - 1 };
}

/* DWARF 2 to 4: lists that end with an empty name. Numbers start at 1; 0 is the unit's own file. */
static int read_paths_old(struct dwline *l, struct dwread *r, const struct dwunit *u,
			  struct budget *b)
{
	struct dwline_path path = as_path(u->dir);
	int err = add_path(&l->dirs, &path, b);

	while (!err && !r->bad) {
		path = as_path(read_str(r));
		if (!path.len)
			break;
		err = add_path(&l->dirs, &path, b);
	}
	path = (struct dwline_path){ 0 };
	if (!err)
		err = add_path(&l->files, &path, b);
	while (!err && !r->bad) {
		path = as_path(read_str(r));
		if (!path.len)
			break;
		path.dir = dwread_uleb(r);
		dwread_uleb(r);
		dwread_uleb(r);
		err = add_path(&l->files, &path, b);
	}
	return err;
}

struct format {
	uint64_t content, form;
};

/* One field of a DWARF 5 entry. */
static void read_field(const struct dwline *l, const struct dwunits *us, struct dwread *r,
		       const struct format *f, struct dwline_path *path)
{
	struct dwfile_str str = { 0 };
	uint64_t num = 0;

	switch (f->form) {
	case DW_FORM_string:
		str = read_str(r);
		break;
	case DW_FORM_line_strp:
		num = dwread_num(r, l->off_sz);
		str = dwfile_string(&us->file, DWFILE_LINE_STR, num);
		break;
	case DW_FORM_strp:
		num = dwread_num(r, l->off_sz);
		str = dwfile_string(&us->file, DWFILE_STR, num);
		break;
	case DW_FORM_udata:
		num = dwread_uleb(r);
		break;
	case DW_FORM_data1:
		num = dwread_num(r, 1);
		break;
	case DW_FORM_data2:
		num = dwread_num(r, 2);
		break;
	case DW_FORM_data4:
		num = dwread_num(r, 4);
		break;
	case DW_FORM_data8:
		num = dwread_num(r, 8);
		break;
	case DW_FORM_data16: /* a checksum */
		dwread_skip(r, 16);
		break;
	case DW_FORM_block:
		dwread_skip(r, dwread_uleb(r));
		break;
	default:
		r->bad = true;
	}
	if (f->content == DW_LNCT_directory_index) {
		path->dir = num < UINT32_MAX ? num : UINT32_MAX;
	} else if (f->content == DW_LNCT_path) {
		path->s = str.s;
		path->len = str.len < PATH_LEN_MAX ? str.len : PATH_LEN_MAX;
	}
}

/* DWARF 5: the format of entries, then the entries. */
static int read_paths_new(const struct dwline *l, const struct dwunits *us, struct dwread *r,
			  struct dwline_paths *paths, struct budget *b)
{
	struct format formats[FORMATS_MAX];
	unsigned int format_cnt = dwread_num(r, 1), k;
	uint64_t cnt, i;
	int err = 0;

	if (format_cnt > FORMATS_MAX) {
		r->bad = true;
		return 0;
	}
	for (k = 0; k < format_cnt; k++) {
		formats[k].content = dwread_uleb(r);
		formats[k].form = dwread_uleb(r);
	}
	cnt = dwread_uleb(r);
	/* an entry takes at least one byte, so larger counts are invalid */
	if (cnt && (!format_cnt || cnt > dwread_left(r)))
		r->bad = true;
	for (i = 0; !err && !r->bad && i < cnt; i++) {
		struct dwline_path path = { 0 };

		for (k = 0; k < format_cnt; k++)
			read_field(l, us, r, &formats[k], &path);
		if (!r->bad)
			err = add_path(paths, &path, b);
	}
	return err;
}

/* Leaves l->at at the program; an invalid table counts as empty. */
static int read_header(struct dwline *l, const struct dwunits *us, const struct dwunit *u,
		       struct budget *b)
{
	struct dwread r = dwfile_read(&us->file, DWFILE_LINE, u->lines_off);
	uint64_t len, header_len;
	int err;

	l->off_sz = 4;
	len = dwread_num(&r, 4);
	if (len == UINT32_MAX) {
		l->off_sz = 8;
		len = dwread_num(&r, 8);
	}
	if (!u->has_lines || r.bad || len > dwread_left(&r))
		return 0;
	r.end = r.p + len;
	l->version = dwread_num(&r, 2);
	l->addr_sz = u->addr_sz;
	if (l->version >= 5) {
		l->addr_sz = dwread_num(&r, 1);
		dwread_skip(&r, 1);
	}
	header_len = dwread_num(&r, l->off_sz);
	if (r.bad || l->version < 2 || l->version > 5 || header_len > dwread_left(&r))
		return 0;
	l->at = (struct dwread){ .p = r.p + header_len, .end = r.end };
	r.end = l->at.p;
	l->min_inst_len = dwread_num(&r, 1);
	if (l->version >= 4)
		dwread_skip(&r, 1);
	dwread_skip(&r, 1);
	l->line_base = dwread_num(&r, 1);
	l->line_range = dwread_num(&r, 1);
	l->opcode_base = dwread_num(&r, 1);
	l->opcode_lens = r.p;
	dwread_skip(&r, l->opcode_base ? l->opcode_base - 1 : 0);
	if (l->version >= 5) {
		err = read_paths_new(l, us, &r, &l->dirs, b);
		if (!err)
			err = read_paths_new(l, us, &r, &l->files, b);
	} else {
		err = read_paths_old(l, &r, u, b);
	}
	if (r.bad || err == -EBADMSG || !l->line_range || !l->opcode_base)
		l->at = dwread_at(NULL, 0, 0);
	return err == -EBADMSG ? 0 : err;
}

static int add_row(struct dwline *l, bool end, struct budget *b)
{
	const struct dwline_state *s = &l->state;
	void *array = l->rows;
	int err = budget_grow(b, &array, &l->cap, l->cnt, sizeof(*l->rows));

	l->rows = array;
	if (err)
		return err;
	l->rows[l->cnt++] = (struct dwline_row){
		.addr = s->addr,
		.line = s->line <= INT32_MAX ? s->line : 0,
		.file = end ? NO_FILE : (s->file < NO_FILE ? s->file : NO_FILE - 1),
	};
	return 0;
}

/* Skips functions that the linker dropped: their rows are at address 0 or near it. */
static void end_sequence(struct dwline *l, const struct elfimg *exec)
{
	uint64_t off;

	if (l->sequence < l->cnt &&
	    (!l->rows[l->sequence].addr || !elfimg_off(exec, l->rows[l->sequence].addr, &off)))
		l->cnt = l->sequence;
	l->sequence = l->cnt;
	l->state = (struct dwline_state){ .line = 1, .file = 1 };
}

static int run_extended(struct dwline *l, const struct elfimg *exec, struct budget *b)
{
	uint64_t len = dwread_uleb(&l->at);
	const uint8_t *next;
	int err = 0;

	if (!len || len > dwread_left(&l->at)) {
		l->at.bad = true;
		return 0;
	}
	next = l->at.p + len;
	switch (dwread_num(&l->at, 1)) {
	case DW_LNE_end_sequence:
		err = add_row(l, true, b);
		if (!err)
			end_sequence(l, exec);
		break;
	case DW_LNE_set_address:
		l->state.addr = dwread_num(&l->at, len - 1 <= 8 ? len - 1 : l->addr_sz);
		break;
	default:
		break;
	}
	l->at.p = next;
	return err;
}

static int run_standard(struct dwline *l, uint8_t op, struct budget *b)
{
	struct dwline_state *s = &l->state;
	unsigned int i;

	switch (op) {
	case DW_LNS_copy:
		return add_row(l, false, b);
	case DW_LNS_advance_pc:
		s->addr += dwread_uleb(&l->at) * l->min_inst_len;
		break;
	case DW_LNS_advance_line:
		s->line += dwread_sleb(&l->at);
		break;
	case DW_LNS_set_file:
		s->file = dwread_uleb(&l->at);
		break;
	case DW_LNS_const_add_pc:
		s->addr += (uint64_t)((255 - l->opcode_base) / l->line_range) * l->min_inst_len;
		break;
	case DW_LNS_fixed_advance_pc:
		s->addr += dwread_num(&l->at, 2);
		break;
	default:
		for (i = 0; i < l->opcode_lens[op - 1]; i++)
			dwread_uleb(&l->at);
	}
	return 0;
}

/* Runs one instruction. After -ENOMEM the table starts again, see dwline_load(). */
static int run(struct dwline *l, const struct elfimg *exec, struct budget *b)
{
	uint8_t op = dwread_num(&l->at, 1);
	int err;

	if (op >= l->opcode_base) {
		op -= l->opcode_base;
		l->state.addr += (uint64_t)(op / l->line_range) * l->min_inst_len;
		l->state.line += l->line_base + op % l->line_range;
		err = add_row(l, false, b);
	} else if (!op) {
		err = run_extended(l, exec, b);
	} else {
		err = run_standard(l, op, b);
	}
	return err ? err : budget_step(b, 1);
}

/*
 * By address; the end of a sequence before the start of the next; otherwise in the order of the
 * table.
 */
static int compare(const void *pa, const void *pb)
{
	const struct dwline_row *a = pa, *b = pb;
	bool a_end = a->file == NO_FILE, b_end = b->file == NO_FILE;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (int)b_end - (int)a_end;
}

int dwline_load(struct dwline *l, const struct dwunits *us, const struct dwunit *u,
		const struct elfimg *exec, struct budget *budget)
{
	void *array;
	int err = 0;

	if (l->loaded)
		return 0;
	if (!l->opened) {
		err = read_header(l, us, u, budget);
		if (err)
			return err;
		l->opened = true;
		l->state = (struct dwline_state){ .line = 1, .file = 1 };
	}
	while (!err && !l->at.bad && l->at.p < l->at.end)
		err = run(l, exec, budget);
	if (err)
		return err;
	if (!l->read) {
		/* rows after the last end have no end */
		l->cnt = l->sequence;
		l->read = true;
	}
	array = l->rows;
	err = resumable_sort_run(&l->sort, &array, l->cnt, sizeof(*l->rows), compare, budget);
	l->rows = array;
	l->loaded = !err;
	return err;
}

bool dwline_find(const struct dwline *l, uint64_t addr, uint32_t *file, uint32_t *line)
{
	size_t lo = 0, hi = l->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->rows[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || l->rows[lo - 1].file == NO_FILE)
		return false;
	*file = l->rows[lo - 1].file;
	*line = l->rows[lo - 1].line;
	return true;
}

bool dwline_path(const struct dwline *l, const struct dwunit *u, uint64_t number, struct buf *text)
{
	const struct dwline_path *file, *dir;
	bool absolute;

	if (number >= l->files.cnt || !l->files.v[number].len)
		return false;
	file = &l->files.v[number];
	dir = file->dir < l->dirs.cnt ? &l->dirs.v[file->dir] : NULL;
	absolute = file->s[0] == '/';
	if (!absolute && dir && dir->len) {
		if (dir->s[0] != '/' && u->dir.len) {
			buf_add(text, u->dir.s, u->dir.len);
			buf_addch(text, '/');
		}
		buf_add(text, dir->s, dir->len);
		buf_addch(text, '/');
	} else if (!absolute && u->dir.len) {
		buf_add(text, u->dir.s, u->dir.len);
		buf_addch(text, '/');
	}
	buf_add(text, file->s, file->len);
	return true;
}

void dwline_free(struct dwline *l, struct budget *budget)
{
	resumable_sort_free(&l->sort, l->cnt, sizeof(*l->rows), budget);
	budget_free(budget, l->rows, l->cap, sizeof(*l->rows));
	budget_free(budget, l->dirs.v, l->dirs.cap, sizeof(*l->dirs.v));
	budget_free(budget, l->files.v, l->files.cap, sizeof(*l->files.v));
	*l = (struct dwline){ 0 };
}
