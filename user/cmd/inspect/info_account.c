// SPDX-License-Identifier: BSD-2-Clause
/* info_account.c - what a recorder says that it produced and wrote, and how much of that is here */
#include <inttypes.h>

#include "base/str.h"
#include "cmd/inspect/info.h"

/* Figures cover a whole recording, while this file may contain a part of it. */
void info_written_here(struct info *in, const struct loss_accounting_figures *f, uint64_t here)
{
	char count[32], written[32];

	if (here == f->written || !f->known)
		return;
	str_count(count, here);
	str_count(written, f->written);
	buf_printf(&in->out, "%-15s ", "written here");
	if (here < f->written)
		buf_printf(
			&in->out,
			"%s of these %s: the event accounting covers the whole recording; the other "
			"events are in files that were not read\n",
			count, written);
	else
		buf_printf(&in->out, "%s, including those after the last RecorderStats\n", count);
}

/* What was produced last was neither written nor lost yet. */
static void put_under_way(struct info *in, const struct loss_accounting_figures *f)
{
	const uint64_t cnt = loss_accounting_in_flight(f);
	char text[32];

	str_count(text, cnt);
	if (cnt)
		buf_printf(&in->out, ", in transit %s", text);
	buf_addch(&in->out, '\n');
}

/* The figures of a cut file cover the recording, including events that cut removed. */
void info_account(struct info *in, const struct loss_accounting_figures *f, bool cut, bool at_most)
{
	const char *up_to = at_most ? "up to " : "";
	enum loss_accounting_verdict verdict = loss_accounting_verdict(f);
	char produced[32], written[32], lost[32];

	if (verdict == LOSS_ACCOUNTING_UNKNOWN)
		return;
	str_count(produced, f->produced);
	str_count(written, f->written);
	str_count(lost, f->lost);
	buf_printf(&in->out, "%-15s ", "accounting");
	if (cut)
		buf_addstr(&in->out, "before the cut: ");
	if (verdict == LOSS_ACCOUNTING_CONTINUES || verdict == LOSS_ACCOUNTING_OPEN) {
		buf_printf(
			&in->out, "%s produced %s, written %s, lost %s%s",
			verdict == LOSS_ACCOUNTING_OPEN ?
				"incomplete: the file ends before its last RecorderStats; so far" :
				"complete, one of several files; from the start of the recording to "
				"the end of this file:",
			produced, written, up_to, lost);
		put_under_way(in, f);
	} else {
		buf_printf(&in->out, "produced %s%s = written %s + lost %s%s%s\n", up_to, produced,
			   written, up_to, lost,
			   verdict == LOSS_ACCOUNTING_WRONG ? "  (DOES NOT ADD UP)" : "");
	}
}

void info_files_before(struct info *in)
{
	const uint64_t first = reader_first_number(in->reader);

	if (!first)
		return;
	buf_printf(&in->out, "%-15s file%s 0", "files", first > 1 ? "s" : "");
	if (first > 1)
		buf_printf(&in->out, " to %" PRIu64, first - 1);
	buf_printf(&in->out, " %s missing: it begins with number %" PRIu64 "\n",
		   first > 1 ? "are" : "is", first);
}
