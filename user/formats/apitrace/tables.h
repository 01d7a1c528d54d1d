/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_TABLES_H
#define D9_FORMATS_APITRACE_TABLES_H

#include "formats/apitrace/layout.h"
#include "formats/apitrace/vocabulary.h"

/* The signatures that an imported trace brought along, as its dial9 events tell them. {0} is empty. */
struct apitrace_tables {
	struct apitrace_sigs sigs;
	struct hmap layouts; /* by id of the function: struct apitrace_layout */
	struct hmap frames; /* by address: struct apitrace_sig */
	enum apitrace_sig_kind open_kind; /* an enumeration or a mask whose rows are coming in */
	uint64_t open_id;
	bool open;
	struct apitrace_entry *rows;
	size_t row_cnt, row_cap;
};

/*
 * Takes an event of the words FUNCTION, ENUM, FLAG, STRUCT and FRAME. 0, -EBADMSG for one that makes no
 * sense (it is ignored), -EEXIST for an id that stands for something else, -E2BIG.
 */
int apitrace_tables_add(struct apitrace_tables *t, const struct dial9_dec *dec,
			enum apitrace_word word, const struct dial9_event *ev);

/* No more rows come to the enumeration or mask that is open; before any event that may use it. */
void apitrace_tables_settle(struct apitrace_tables *t);

void apitrace_tables_fini(struct apitrace_tables *t);

#endif /* D9_FORMATS_APITRACE_TABLES_H */
