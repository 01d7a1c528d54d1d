// SPDX-License-Identifier: BSD-2-Clause
/*
 * Why code has no name, in words. Owns the texts for the words of ModuleStatus; what the recorder did
 * not find out or did not write down is called unknown here, and never guessed from a path or a kind.
 */
#include "cmd/common/unnamed_reason.h"

#include <string.h>

#include "cmd/common/report_text.h"

static const struct {
	const char *status, *text;
} causes[] = {
	{ PROF_STATUS_NAMED, "no symbols at these addresses; debug symbols may have them" },
	{ PROF_STATUS_STRIPPED, "the file has no symbols; install its debug symbols" },
	{ PROF_STATUS_GONE, "the file was removed before it was read" },
	{ PROF_STATUS_REPLACED, "the file was replaced by another build" },
	{ PROF_STATUS_DENIED, "no permission to read the file" },
	{ PROF_STATUS_NOT_ELF, "not an ELF file" },
	{ PROF_STATUS_GAVE_UP, "reading its debug information reached a limit" },
	{ PROF_STATUS_CRASHED, "the symbol worker crashed on this file" },
	{ PROF_STATUS_HUNG, "the symbol worker hung on this file and was killed" },
	{ PROF_STATUS_NO_ANSWER, "opening the file never returned" },
	{ PROF_STATUS_PENDING, "the recording ended before its symbols were read" },
	{ PROF_STATUS_ANONYMOUS, "memory without a file" },
	{ PROF_STATUS_NO_MAP,
	  "generated code without a perf map (node: --perf-basic-prof; see dial9-prof-limits(7))" },
	{ PROF_STATUS_MAP_NOT_READ, "the program exited before its perf map was opened" },
	{ PROF_STATUS_FORGOTTEN, "symbols dropped to stay below --mem-max" },
	{ PROF_STATUS_NO_WORKER, "no symbol worker was left to read the file" },
	{ PROF_STATUS_NOT_ASKED, "not looked up: too much code" },
};

static void put_status(struct buf *out, const struct names *n, const struct names_module *m)
{
	const char *status = names_str(n, m->status, NULL);

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(status, causes[i].status)) {
			buf_addstr(out, causes[i].text);
			return;
		}
	value_text_name(out, n, m->status);
}

void unnamed_reason_of_unnamed(struct buf *out, const struct names *n, const struct event_counts *c,
			       uint32_t index)
{
	const struct names_module *m = names_module(n, index);
	const struct event_counts_part *part = event_counts_part(c, m->part);

	if (!m->announced) {
		buf_addstr(out, "in no known mapping");
	} else if (m->status != NAMES_NONE) {
		put_status(out, n, m);
		if (m->detail != NAMES_NONE) {
			buf_addstr(out, " (");
			value_text_name(out, n, m->detail);
			buf_addch(out, ')');
		}
	} else if (m->kind == PROF_MODULE_ANON) {
		buf_addstr(out, "memory without a file");
	} else if (part->stats.figures.known && !part->stats.has_closed) {
		buf_addstr(out, "unknown: recorded by an older version");
	} else if (part->statuses && part->stats.figures.known && !part->stats.figures.closed) {
		buf_addstr(out, "unknown: the file ends before the reason");
	} else {
		buf_addstr(out, "unknown: not recorded");
	}
}

bool unnamed_reason_may_be_mended(const struct names *n, uint32_t index)
{
	const struct names_module *m = names_module(n, index);

	return m->announced && m->build_id_sz &&
	       (m->kind == PROF_MODULE_ELF || m->kind == PROF_MODULE_KERNEL);
}

void unnamed_reason_put_remedy(struct buf *out, const char *input)
{
	if (!strcmp(input, "standard input")) {
		buf_addstr(out, "see dial9-prof symbolize");
		return;
	}
	buf_addstr(out, "dial9-prof symbolize ");
	value_text_clean(out, input, strlen(input));
	/* it may have been run, and have said what is missing */
	buf_addstr(out, " adds symbols from debug files (see --symfs, --debuginfod)");
}
