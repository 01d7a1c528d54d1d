/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_MAPPING_H
#define D9_FORMATS_HEPH_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"

/* What an event of a dial9 type becomes in Heph. */
enum heph_mapping_kind {
	HEPH_MAPPING_FIELDS, /* what an import made of an event: fields */
	HEPH_MAPPING_PACKET, /* likewise: the packet itself */
	HEPH_MAPPING_INVALID, /* likewise: bytes that were no packet */
	HEPH_MAPPING_LOST, /* likewise: a remark on a gap, which the counters show as well */
	HEPH_MAPPING_CLOCK,
	HEPH_MAPPING_METADATA,
	HEPH_MAPPING_SPAN_ENTER,
	HEPH_MAPPING_SPAN_EXIT,
	HEPH_MAPPING_POLL_START,
	HEPH_MAPPING_POLL_END,
	HEPH_MAPPING_OTHER,
};

#define HEPH_MAPPING_NONE SIZE_MAX

struct heph_mapping {
	enum heph_mapping_kind kind;
	struct dial9_schema *schema;
	struct dial9_str desc; /* the type's name, borrowed from the schema */
	size_t cnt;
	struct dial9_str *names; /* of the attributes that fields become */
	uint8_t *wire_types; /* FIELDS: of lists, 0 when nothing says it */
	/* FIELDS */
	bool ends_before, has_desc, undecoded;
	/* Indexes of fields with a meaning of their own, or HEPH_MAPPING_NONE. */
	size_t worker, tid, task, span, span_name, duration, end;
};

/* Plans by type id. {0} is empty. */
struct heph_mappings {
	struct heph_mapping **v;
	size_t cap;
};

/* The mapping for that type, made when the id or its schema is new. */
const struct heph_mapping *heph_mapping_get(struct heph_mappings *p, uint16_t type_id,
					    const struct dial9_schema *schema);

/* Applies an annotation to a type; mappings without such annotations ignore it. */
void heph_mapping_annotate(struct heph_mappings *p, uint16_t type_id,
			   const struct dial9_schema *schema, uint16_t field, struct dial9_str key,
			   struct dial9_str value);

/* All types are forgotten. */
void heph_mapping_clear(struct heph_mappings *p);

#endif /* D9_FORMATS_HEPH_MAPPING_H */
