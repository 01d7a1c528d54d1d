/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_FORMAT_H
#define D9_KERNEL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum format_kind {
	FORMAT_UINT, /* size 1, 2, 4 or 8; pointers and enums too: `signed:` decides */
	FORMAT_SINT, /* size 1, 2, 4 or 8 */
	FORMAT_BOOL, /* size 1 */
	FORMAT_CHARS, /* char[N]: text up to the first NUL or N */
	FORMAT_STRING, /* __data_loc char[]: see below */
	FORMAT_REL_STRING, /* __rel_loc char[] */
	FORMAT_ARRAY, /* any other inline array or struct: `size` opaque bytes */
	FORMAT_DYN_ARRAY, /* __data_loc of anything else: opaque bytes */
	FORMAT_REL_ARRAY, /* __rel_loc of anything else */
};

/*
 * Where a value sits in the raw record. A dynamic field holds a u32 `len << 16 | offset`: the bytes
 * are at record + offset (__data_loc), or at record + off + 4 + offset (__rel_loc). A string's
 * length includes its NUL.
 */
struct format_field {
	char *name;
	char *ctype; /* as the kernel declares it: "const char *", "unsigned long[6]" */
	uint16_t off;
	uint16_t size; /* in the fixed part: 4 for dynamic fields, 0 for a [] at the record's end */
	enum format_kind kind;
	uint16_t elem_size; /* arrays: bytes an element; otherwise as size */
	bool elem_signed; /* arrays: what `signed:` says */
	bool is_pid; /* 4 bytes that hold a pid or tid (0, -1 and so on included) */
	bool hex; /* print fmt shows it in hexadecimal */
	bool code; /* print fmt shows it as a symbol of the kernel */
	bool user_text; /* points to text of the current task's, which the event's print fmt does not show */
	char behind[16]; /* what print fmt has right behind the number, as far as it fits: " [ns]" */
};

/*
 * What print fmt makes of a field, as rows that a reader can follow without the text. The rows of
 * one field, in order, are one or more pieces; each piece turns the value v into text and a piece's
 * text goes right behind the one before:
 *
 *	x = v, extended to 64 bits by its own sign
 *	SHIFT n         x = x >> n (unsigned)
 *	MASK m, name    starts a piece: x = x & m; when it is not the field's first piece, `name` is
 *	                printed first. A field whose first row is no MASK has the mask ~0.
 *	                SHIFT, if any, stands right behind its MASK and is applied before it.
 *	DELIM name      what is printed between flags; "|" when there is no such row
 *	ZERO name       printed when x == 0, and the piece is done
 *	NONZERO name    printed when x != 0, and the piece is done
 *	SYMBOL s, name  printed when x == s, and the piece is done
 *	FLAG f, name    when x != 0 and (x & f) == f: printed, x = x & ~f, later flags go on
 *
 * What is left: a piece with flags prints the rest of x, when not 0, as 0x%llx, behind the delimiter
 * if a flag was printed; so for x == 0 without a ZERO row it prints nothing. A piece with symbols
 * and no match prints x as 0x%llx. A piece with only ZERO or NONZERO rows prints nothing else. HEX
 * (value 0, name "") stands alone: the number, in the field's own width, is printed as 0x%llx. So
 * does ARRAY n, of a field of bytes: integers of n bytes each, least significant first.
 *
 *	DECIMAL         x, signed, in decimal, and the piece is done
 *	ERRNO           when x is an error number negated: that and the error's name, and the piece is done
 *
 * So sched_switch's prev_state is
 *	MASK 0xff "", ZERO "R", FLAG 0x1 "S", FLAG 0x2 "D", ..., MASK 0x100 "", NONZERO "+"
 *
 * The numbers reach trace files: append only.
 */
enum format_symbol_kind {
	FORMAT_SYM_SYMBOL = 0,
	FORMAT_SYM_FLAG = 1,
	FORMAT_SYM_MASK = 2,
	FORMAT_SYM_SHIFT = 3,
	FORMAT_SYM_DELIM = 4,
	FORMAT_SYM_ZERO = 5,
	FORMAT_SYM_NONZERO = 6,
	FORMAT_SYM_HEX = 7,
	FORMAT_SYM_DECIMAL = 8,
	FORMAT_SYM_ERRNO = 9,
	FORMAT_SYM_ARRAY = 10,
};

struct format_symbol {
	const char *field; /* borrowed from the event's fields */
	enum format_symbol_kind kind;
	uint64_t value;
	char *name;
};

struct format_event {
	char *system;
	char *name;
	uint32_t id;
	uint16_t size; /* end of the fixed part */
	struct format_field *fields; /* without the common ones, in the kernel's order */
	size_t cnt;
	int last_dyn; /* the field whose bytes end the record; -1: the record is `size` long */
	char *print_fmt;
	struct format_symbol *symbols; /* grouped by field, rows in order */
	size_t symbol_cnt;
};

/*
 * Parses the text of one kernel format file. Only the kernel's own text may be given: the parser
 * underneath (libtraceevent) does not survive hostile text. Returns 0 and an event that the caller
 * frees with format_free(), or -ENOTSUP/-EBADMSG with *why (may be NULL) set to a static reason.
 * A print fmt that cannot be understood only costs the symbols. Thread-safe.
 */
int format_parse(const char *text, size_t len, const char *system, struct format_event **out,
		 const char **why);
void format_free(struct format_event *ev);

/* Reads and parses events/SYSTEM/NAME/format. Prints one line on failure. */
int format_load(int tracefs_fd, const char *system, const char *name, struct format_event **out);

/* NULL when there is no such field. */
static inline const struct format_field *format_find(const struct format_event *ev,
						     const char *field)
{
	for (size_t i = 0; i < ev->cnt; i++) {
		if (!strcmp(ev->fields[i].name, field))
			return &ev->fields[i];
	}
	return NULL;
}

/* A record is at most this long: dynamic fields have 16-bit offsets and lengths. */
#define FORMAT_RECORD_MAX 65535

#endif /* D9_KERNEL_FORMAT_H */
