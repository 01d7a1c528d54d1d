/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TRACEFS_FORMAT_H
#define D9_KERNEL_TRACEFS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum format_kind {
	FORMAT_UINT, /* size 1, 2, 4 or 8; also pointers and enums, by `signed:` */
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
 * Position of a value in the raw record. A dynamic field holds a u32 `len << 16 | offset`: the
 * bytes are at record + offset (__data_loc), or at record + off + 4 + offset (__rel_loc). The
 * length of a string includes its NUL.
 */
struct format_field {
	char *name;
	char *ctype; /* as declared in the kernel: "const char *", "unsigned long[6]" */
	uint16_t off;
	/* in the fixed part: 4 for dynamic fields, 0 for a [] at the end of the record */
	uint16_t size;
	enum format_kind kind;
	uint16_t elem_size; /* arrays: bytes per element; otherwise equal to size */
	bool elem_signed; /* arrays: value of `signed:` */
	bool is_pid; /* 4 bytes with a PID or TID, or 0, -1 and so on */
	bool hex; /* print fmt prints it in hexadecimal */
	bool code; /* print fmt prints it as a kernel symbol */
	bool user_text; /* points to text of the current task that print fmt does not print */
	char suffix[16]; /* text of print fmt after the number, possibly cut: " [ns]" */
};

/*
 * How print fmt prints a field, as rows that a reader can apply without the text of print fmt. The
 * rows of one field, in order, are one or more pieces. Each piece converts the value v to text; the
 * texts are concatenated:
 *
 *	x = v, extended to 64 bits by its own sign
 *	SHIFT n         x = x >> n (unsigned)
 *	MASK m, name    starts a piece: x = x & m; if it is not the field's first piece, `name` is
 *	                printed first. If the first row of a field is not a MASK, the mask is ~0.
 *	                A SHIFT follows its MASK directly and is applied before it.
 *	DELIM name      printed between flags; "|" if there is no such row
 *	ZERO name       printed if x == 0; ends the piece
 *	NONZERO name    printed if x != 0; ends the piece
 *	SYMBOL s, name  printed if x == s; ends the piece
 *	FLAG f, name    if x != 0 and (x & f) == f: printed; x = x & ~f; later flags follow
 *
 * Values without a match: a piece with flags prints the rest of x, if not 0, as 0x%llx, after the
 * delimiter if a flag was printed; so for x == 0 without a ZERO row it prints nothing. A piece with
 * symbols and no match prints x as 0x%llx. A piece with only ZERO or NONZERO rows prints nothing
 * else. HEX (value 0, name "") is the only row of its field: the number is printed as 0x%llx in the
 * width of the field. ARRAY n is the only row of a field of bytes: little-endian integers of n bytes.
 *
 *	DECIMAL         x, signed, in decimal; ends the piece
 *	ERRNO           if x is a negated error number: the number and the name of the error; ends the piece
 *
 * Example: prev_state of sched_switch is
 *	MASK 0xff "", ZERO "R", FLAG 0x1 "S", FLAG 0x2 "D", ..., MASK 0x100 "", NONZERO "+"
 *
 * Trace files have these numbers: append only.
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
	uint16_t size; /* length of the fixed part */
	struct format_field *fields; /* without the common fields, in the kernel's order */
	size_t cnt;
	/* index of the field whose bytes end the record; -1: the record has `size` bytes */
	int last_dyn;
	char *print_fmt;
	struct format_symbol *symbols; /* grouped by field, rows in order */
	size_t symbol_cnt;
};

/*
 * Parses the text of one kernel format file. The text must come from the kernel, because
 * libtraceevent does not handle hostile text safely. Returns 0 and an event, which the caller frees
 * with format_free(). Otherwise returns -ENOTSUP or -EBADMSG and sets *why, if not NULL, to a
 * static reason. An unknown print fmt is no error: the event has no symbols. Thread-safe.
 */
int format_parse(const char *text, size_t len, const char *system, struct format_event **out,
		 const char **why);
void format_free(struct format_event *ev);

/* Reads and parses events/SYSTEM/NAME/format. Prints one line on failure. 0 or -errno. */
int format_load(int tracefs_fd, const char *system, const char *name, struct format_event **out);

/* NULL if there is no such field */
static inline const struct format_field *format_find(const struct format_event *ev,
						     const char *field)
{
	for (size_t i = 0; i < ev->cnt; i++) {
		if (!strcmp(ev->fields[i].name, field))
			return &ev->fields[i];
	}
	return NULL;
}

/* Maximum length of a record: dynamic fields have 16-bit offsets and lengths. */
#define FORMAT_RECORD_MAX 65535

#endif /* D9_KERNEL_TRACEFS_FORMAT_H */
