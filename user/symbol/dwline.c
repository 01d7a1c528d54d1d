// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address to file and line within one unit. libdw runs the line program and sorts the rows, once
 * for each unit that is asked about; here is only the search. Of several rows at one address the
 * last one counts, because the ones before it cover no code.
 *
 * A line program of a few megabytes can stand for a hundred times as much in libdw's rows, and
 * libdw does not ask first: so the size is looked up in the section beforehand.
 */
#include "symbol/dwline.h"

#include <dwarf.h>
#include <string.h>

/* What a byte of line program takes in libdw: rows are some 48 bytes and 3 bytes long. */
#define COST_PER_BYTE 16

uint64_t dwline_cost(Dwarf_Die *unit, const Elf_Data *section)
{
	Dwarf_Attribute attr;
	Dwarf_Word off;
	uint32_t len32;
	uint64_t len;

	if (!section || !section->d_buf || !dwarf_attr(unit, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &off))
		return 0;
	if (section->d_size < 12 || off > section->d_size - 12)
		return 0;
	memcpy(&len32, (const char *)section->d_buf + off, sizeof(len32));
	len = len32;
	if (len32 == UINT32_MAX)
		memcpy(&len, (const char *)section->d_buf + off + sizeof(len32), sizeof(len));
	if (len > section->d_size)
		len = section->d_size;
	return len * COST_PER_BYTE;
}

void dwline_load(struct dwline *l, Dwarf_Die *unit)
{
	if (l->tried)
		return;
	l->tried = true;
	if (dwarf_getsrclines(unit, &l->rows, &l->row_cnt))
		l->row_cnt = 0;
	if (dwarf_getsrcfiles(unit, &l->files, &l->file_cnt))
		l->file_cnt = 0;
}

/* How many rows are at or before addr. */
static size_t upper_bound(const struct dwline *l, uint64_t addr)
{
	size_t lo = 0, hi = l->row_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		Dwarf_Addr at;

		if (!dwarf_lineaddr(dwarf_onesrcline(l->rows, mid), &at) && at <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool dwline_find(const struct dwline *l, uint64_t addr, const char **file, uint32_t *line)
{
	size_t i = upper_bound(l, addr);
	Dwarf_Line *row;
	bool end;
	int no;

	if (!i)
		return false;
	row = dwarf_onesrcline(l->rows, i - 1);
	if (dwarf_lineendsequence(row, &end) || end)
		return false;
	*file = dwarf_linesrc(row, NULL, NULL);
	*line = !dwarf_lineno(row, &no) && no > 0 ? no : 0;
	return true;
}

const char *dwline_file(const struct dwline *l, uint64_t number)
{
	if (!l->file_cnt || number >= l->file_cnt)
		return NULL;
	return dwarf_filesrc(l->files, number, NULL, NULL);
}
