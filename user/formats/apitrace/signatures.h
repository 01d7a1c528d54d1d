/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_SIGNATURES_H
#define D9_FORMATS_APITRACE_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "dial9.h"

/* What all signatures of a trace may take in memory; beyond it a trace is refused. */
#define APITRACE_SIG_BYTES_MAX ((size_t)128 << 20)

/* The five id spaces of a trace. */
enum apitrace_sig_kind {
	APITRACE_SIG_FUNCTION, /* entries: argument names */
	APITRACE_SIG_STRUCT, /* entries: member names */
	APITRACE_SIG_ENUM, /* entries: name, tag 3 (negated) or 4, magnitude */
	APITRACE_SIG_MASK, /* entries: name, value */
	APITRACE_SIG_FRAME, /* see struct apitrace_frame */
	APITRACE_SIG_KINDS,
};

struct apitrace_entry {
	struct dial9_str name;
	uint64_t value;
	uint8_t tag;
};

enum apitrace_frame_part {
	APITRACE_FRAME_MODULE = 1,
	APITRACE_FRAME_FUNCTION = 2,
	APITRACE_FRAME_FILE = 3,
	APITRACE_FRAME_LINE = 4,
	APITRACE_FRAME_OFFSET = 5,
};

/* A tracer counts frames from 0 and would be out of memory before this. */
#define APITRACE_FRAME_ID_MAX ((uint64_t)1 << 24)

struct apitrace_frame {
	uint8_t has; /* bit (1 << part) */
	struct dial9_str text[4]; /* by part, up to APITRACE_FRAME_FILE */
	uint64_t line, offset;
};

/* One signature; immutable once added. Names borrow the table. */
struct apitrace_sig {
	enum apitrace_sig_kind kind;
	uint64_t id; /* as the trace has it: arbitrary, sparse */
	uint32_t idx; /* dense, in order of first sight within the kind */
	struct dial9_str name; /* functions and structs */
	struct apitrace_entry *v;
	size_t cnt;
	struct apitrace_frame *frame;
};

/* All signatures of one trace. {0} is an empty table. */
struct apitrace_sigs {
	struct hmap by_id[APITRACE_SIG_KINDS];
	struct apitrace_sig **list[APITRACE_SIG_KINDS]; /* by idx */
	size_t cnt[APITRACE_SIG_KINDS], cap[APITRACE_SIG_KINDS];
	struct strtab names;
	size_t bytes;
};

void apitrace_sig_fini(struct apitrace_sigs *sigs);

/* NULL when the id was not defined. Borrowed from the table. */
const struct apitrace_sig *apitrace_sig_get(const struct apitrace_sigs *sigs,
					    enum apitrace_sig_kind kind, uint64_t id);

/* A copy of s that the table owns; equal text is kept once. */
struct dial9_str apitrace_sig_text(struct apitrace_sigs *sigs, const char *s, size_t len);

/*
 * Adds a signature whose texts are the table's (apitrace_sig_text()); v and frame are copied. The id must
 * be new. 0, or -E2BIG at APITRACE_SIG_BYTES_MAX.
 */
int apitrace_sig_add(struct apitrace_sigs *sigs, const struct apitrace_sig *sig,
		     const struct apitrace_sig **out);

/* True when the table is full; callers that gather a signature ask while they do. */
bool apitrace_sig_full(const struct apitrace_sigs *sigs, size_t extra_entries);

/* Name of an enum's value, the first that fits; NULL when it has none. */
const struct apitrace_entry *apitrace_sig_enum_name(const struct apitrace_sig *sig, uint8_t tag,
						    uint64_t magnitude);

/*
 * The flags that make up a mask: bit i of the walk. Start with *pos = 0 and *rest = the value; the next
 * entry that applies, or NULL when no more do; *rest is then what no flag explains.
 */
const struct apitrace_entry *apitrace_sig_mask_next(const struct apitrace_sig *sig, size_t *pos,
						    uint64_t *rest);

/* What the name of a traced function gives away, since the trace itself says neither. */

/* The call that ends a frame: a buffer swap or a present. */
bool apitrace_func_ends_frame(struct dial9_str name);

/* "GL", "EGL", "DX", or NULL for a name of no known API. Static. */
const char *apitrace_func_api(struct dial9_str name);

#endif /* D9_FORMATS_APITRACE_SIGNATURES_H */
