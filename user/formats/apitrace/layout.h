/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_LAYOUT_H
#define D9_FORMATS_APITRACE_LAYOUT_H

#include <stdbool.h>

#include "formats/apitrace/value.h"

/* Functions with more arguments than this get no fields of their own for them. */
#define APITRACE_LAYOUT_ARGS_MAX 1000

/* What the values of one argument have in common, and with it the type of its field. */
enum apitrace_base {
	APITRACE_BASE_NONE, /* nothing seen yet */
	APITRACE_BASE_UINT, /* Varint */
	APITRACE_BASE_INT, /* I64 */
	APITRACE_BASE_FLOAT, /* F64 */
	APITRACE_BASE_DOUBLE, /* F64 */
	APITRACE_BASE_BOOL, /* Bool */
	APITRACE_BASE_POINTER, /* Varint */
	APITRACE_BASE_STRING, /* String */
	APITRACE_BASE_BLOB, /* Bytes */
	APITRACE_BASE_ENUM, /* PooledString: the name, or the number where there is none */
	APITRACE_BASE_MASK, /* Varint */
	APITRACE_BASE_ANY, /* level 3: String, the value as JSON; level 4: List of one element */
	APITRACE_BASE_CNT,
};

/* What it means when the field is absent. */
enum apitrace_absent {
	APITRACE_ABSENT_NEVER, /* the field is not optional */
	APITRACE_ABSENT_OPEN, /* only if the call did not return: no value */
	APITRACE_ABSENT_NULL, /* a null */
	APITRACE_ABSENT_MISSING, /* no value */
};

/* One argument, or what the function returns. */
struct apitrace_slot {
	enum apitrace_base base;
	enum apitrace_absent absent;
	bool placed; /* `out` was seen */
	bool out; /* recorded at the leave */
	bool big; /* UINT: beyond I64 */
	uint64_t sig; /* ENUM, MASK */
};

/* All of a function: slots[cnt] is what it returns. */
struct apitrace_layout {
	const struct apitrace_sig *fn;
	struct apitrace_slot *slots; /* fn->cnt + 1 of them */
	bool has_stack;
};

/* One complete call. An argument without a value has value.pos NULL. */
struct apitrace_call {
	uint64_t no, thread, enter_seq, leave_seq, flags, frame;
	bool returned;
	struct apitrace_cur enter, leave; /* details */
	struct apitrace_cur *values; /* fn->cnt + 1 */
	bool *at_leave; /* whether the value was recorded at the leave; fn->cnt + 1 */
	bool has_stack;
	uint64_t stack_cnt;
	struct apitrace_cur stack; /* ids */
};

/* Fills values, flags and stack from the details; both arrays have room for fn->cnt + 1. */
void apitrace_layout_gather(const struct apitrace_sigs *sigs, const struct apitrace_sig *fn,
			    struct apitrace_call *call);

/* Widens the layout until the call fits; true when that changed it. */
bool apitrace_layout_widen(const struct apitrace_sigs *sigs, struct apitrace_layout *layout,
			   const struct apitrace_call *call);

/* True when there is a field for what the function returns. */
bool apitrace_layout_has_ret(const struct apitrace_slot *ret);

/*
 * The details that fields alone say: flags, stack and arguments at the enter, arguments and result at the
 * leave, in that order.
 */
void apitrace_layout_enter(const struct apitrace_layout *layout, const struct apitrace_call *call,
			   struct buf *out);
void apitrace_layout_leave(const struct apitrace_layout *layout, const struct apitrace_call *call,
			   struct buf *out);

/* Type of a slot's field at that level, with DIAL9_OPTIONAL where it may be absent. */
uint8_t apitrace_layout_type(const struct apitrace_slot *slot, int level);

/* "out enum:5 or null". _parse gives -EBADMSG for other text. */
void apitrace_layout_name(const struct apitrace_slot *slot, struct buf *out);
int apitrace_layout_parse(struct dial9_str text, struct apitrace_slot *out);

/* Puts a slot's value; pos NULL or a null: absent. The encoder keeps the first error. */
void apitrace_layout_put(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
			 const struct apitrace_slot *slot, struct apitrace_cur value, int level,
			 bool *over);

/* The inverse: appends the value of a field, if it has one. 0, -EBADMSG. */
int apitrace_layout_get(const struct dial9_dec *dec, const struct apitrace_sigs *sigs,
			const struct apitrace_slot *slot, const struct dial9_value *v,
			bool returned, struct buf *out);

#endif /* D9_FORMATS_APITRACE_LAYOUT_H */
