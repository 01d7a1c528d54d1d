// SPDX-License-Identifier: BSD-2-Clause
/* Functions common to all packets of Perfetto's trace. */
#include "export/perfetto/perfetto_packet.h"

#include "export/value_text.h"

enum { PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_FLAGS = 13, PACKET_CLOCK = 58 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* There is one sequence. */
enum { SEQUENCE = 1 };

size_t perfetto_packet_in_sequence(struct export *x, uint64_t ts)
{
	size_t packet = proto_begin(&x->out, TRACE_PACKET);
	struct perfetto *p = x->state;

	proto_u64(&x->out, PACKET_TIME, ts);
	proto_u64(&x->out, PACKET_CLOCK, p->clock);
	proto_u64(&x->out, PACKET_SEQUENCE, SEQUENCE);
	proto_u64(&x->out, PACKET_FLAGS, p->has_sequence ? FLAG_NEEDS_STATE : FLAG_CLEARED);
	p->has_sequence = true;
	return packet;
}

void perfetto_put_text(struct export *x, uint32_t field)
{
	struct perfetto *p = x->state;

	proto_bytes(&x->out, field, buf_cstr(&p->text), p->text.len);
	buf_clear(&p->text);
}

void perfetto_put_name(struct export *x, uint32_t field, uint32_t name)
{
	struct perfetto *p = x->state;

	value_text_name(&p->text, x->names, name);
	perfetto_put_text(x, field);
}
