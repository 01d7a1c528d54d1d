/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_SCHEMA_H
#define D9_LIBDIAL9_SCHEMA_H

#include "dial9.h"

/* A schema as the inner loops use it: runs of plain varints, and one step for each other field */
enum schema_code {
	SCHEMA_VARINTS,
	SCHEMA_8,
	SCHEMA_16,
	SCHEMA_32,
	SCHEMA_64,
	SCHEMA_BOOL,
	SCHEMA_ID,
	SCHEMA_TEXT,
	SCHEMA_BYTES,
	SCHEMA_STACK,
	SCHEMA_OTHER,
	SCHEMA_OPTIONAL = 0x80, /* or-ed to the code */
};

struct schema_op {
	uint32_t code;
	uint32_t cnt;
};

/* One allocation: this struct, then everything it points to. */
struct dial9_schema {
	int refs; /* atomic */
	bool has_ts;
	bool level4; /* uses a type that 0.3 lacks */
	uint32_t field_cnt; /* <= 65535 */
	/* maximum size of the event header and all fields without variable payloads */
	uint32_t fixed_max;
	uint64_t hash; /* hash of wire */
	const uint8_t *types;
	const struct schema_op *ops, *ops_end;
	const struct schema_name {
		const char *ptr; /* terminated */
		uint32_t len;
	} * names; /* [0] is the name of the event, then the fields */
	const uint8_t *wire; /* the schema frame without tag and type id */
	size_t wire_sz;
	size_t alloc_sz;
};

/*
 * Makes a schema from the wire_sz bytes of a schema frame after its type id. They must have passed
 * schema_parse(). 0 or -ENOMEM.
 */
int schema_from_wire(const uint8_t *wire, size_t wire_sz, struct dial9_schema **out);

/* Bytes that schema_from_wire() would allocate. */
size_t schema_alloc_size(const uint8_t *wire, size_t wire_sz);

struct value_fault;

/*
 * Validates such bytes and moves *pos past them. 0; or -ENODATA or -EBADMSG with *fault set. Names
 * need not be UTF-8: the reader decides.
 */
int schema_parse(const uint8_t **pos, const uint8_t *end, struct value_fault *fault);

#endif
