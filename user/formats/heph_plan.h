/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_PLAN_H
#define D9_FORMATS_HEPH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"

/* What an event of a dial9 type becomes in Heph. */
enum heph_plan_kind {
	HEPH_PLAN_FIELDS, /* what an import made of an event: fields */
	HEPH_PLAN_PACKET, /* likewise: the packet itself */
	HEPH_PLAN_INVALID, /* likewise: bytes that were no packet */
	HEPH_PLAN_LOST, /* likewise: a remark on a gap, which the counters show as well */
	HEPH_PLAN_CLOCK,
	HEPH_PLAN_METADATA,
	HEPH_PLAN_SPAN_ENTER,
	HEPH_PLAN_SPAN_EXIT,
	HEPH_PLAN_POLL_START,
	HEPH_PLAN_POLL_END,
	HEPH_PLAN_OTHER,
};

#define HEPH_PLAN_NONE SIZE_MAX

struct heph_plan {
	enum heph_plan_kind kind;
	struct dial9_schema *schema;
	struct dial9_str desc; /* the type's name, borrowed from the schema */
	size_t cnt;
	struct dial9_str *names; /* of the attributes that fields become */
	uint8_t *wire_types; /* FIELDS: of lists, 0 when nothing says it */
	/* FIELDS */
	bool ends_before, has_desc, undecoded;
	/* Indexes of fields with a meaning of their own, or HEPH_PLAN_NONE. */
	size_t worker, tid, task, span, span_name, duration, end;
};

/* Plans by type id. {0} is empty. */
struct heph_plans {
	struct heph_plan **v;
	size_t cap;
};

/* The plan for that type, made when the id or its schema is new. */
const struct heph_plan *heph_plan_get(struct heph_plans *p, uint16_t type_id,
				      const struct dial9_schema *schema);

/* What an annotation says of a type; plans that have none of it ignore it. */
void heph_plan_annotate(struct heph_plans *p, uint16_t type_id, const struct dial9_schema *schema,
			uint16_t field, struct dial9_str key, struct dial9_str value);

/* All types are forgotten. */
void heph_plan_clear(struct heph_plans *p);

#endif /* D9_FORMATS_HEPH_PLAN_H */
