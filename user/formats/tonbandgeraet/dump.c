// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tonbandgerät frames as they are: JSON lines for `dump`, counts for `info`.
 *
 * Lines are in the words of the format's own decoder, so that the two can be
 * compared: an object of the group, with the event's name in camel case and its fields. Nothing is
 * joined: no names, no cores, raw ticks. A text that is not UTF-8 makes the event invalid there, and
 * so it does here, with the decoder's words for where it breaks.
 */
#include "formats/tonbandgeraet/tonband.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/str.h"
#include "formats/tonbandgeraet/frames.h"
#include "formats/tonbandgeraet/state.h"

#define FLUSH_AT (64 * 1024)

static const char *const kind_names[] = {
	"FrqkQueue", "FrqkCountingSemphr", "FrqkBinarySemphr",
	"FrqkMutex", "FrqkRecursiveMutex", "FrqkQueueSet",
};

/* "task_name" -> "TaskName" */
static void put_camel(struct buf *out, const char *name)
{
	bool up = true;

	for (; *name; name++) {
		if (*name != '_')
			buf_addch(out, (char)(up && *name >= 'a' ? *name - 'a' + 'A' : *name));
		up = *name == '_';
	}
}

static void put_fields(struct buf *out, const struct tonband_event *ev)
{
	const struct tonband_type *t = ev->type;

	for (int i = 0; i < TONBAND_FIELDS_MAX && t->fields[i].name; i++) {
		json_key(out, t->fields[i].name);
		if (t->fields[i].kind == TONBAND_S64)
			json_i64(out, NULL, (int64_t)ev->num[i]);
		else if (t->fields[i].kind == TONBAND_QUEUE_KIND)
			json_str(out, NULL, kind_names[ev->num[i]]);
		else
			json_u64(out, NULL, ev->num[i]);
	}
	if (t->str)
		json_text(out, t->str, ev->str, ev->str_len);
}

static void put_event(struct buf *out, const struct tonband_event *ev)
{
	const struct tonband_type *t = ev->type;

	buf_printf(out, "{\"%s%s\":{", t->group == TONBAND_BASE ? "Base" : "FreeRTOS",
		   t->has_ts ? "" : "Metadata");
	if (t->has_ts) {
		json_u64(out, "ts", ev->ts);
		json_object(out, "kind");
	}
	buf_addch(out, '"');
	put_camel(out, t->name);
	buf_addstr(out, "\":{");
	put_fields(out, ev);
	buf_addstr(out, t->has_ts ? "}}}}\n" : "}}}\n");
}

/* How many bytes of s, which does not start with a character, can start one: 0 if all of them do. */
static size_t broken_len(const uint8_t *s, size_t n)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t want, i;

	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		want = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		want = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		want = 4;
	else
		return 1;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < want && i < n; i++) {
		if (s[i] < low || s[i] > high)
			return i;
		low = 0x80;
		high = 0xbf;
	}
	return 0;
}

static void put_invalid(struct buf *out, const struct tonband_item *item, bool has_ts, uint64_t ts)
{
	json_object(out, NULL);
	json_object(out, "Invalid");
	if (has_ts)
		json_u64(out, "ts", ts);
	else
		json_null(out, "ts");
	buf_addstr(out, ",\"err\":\"");
	if (item->why) {
		buf_addstr(out, item->why);
	} else {
		size_t at = str_utf8_valid_len(item->ev.str, item->ev.str_len);
		size_t n = broken_len((const uint8_t *)item->ev.str + at, item->ev.str_len - at);

		if (n)
			buf_printf(out, "invalid utf-8 sequence of %zu bytes from index %zu", n,
				   at);
		else
			buf_printf(out, "incomplete utf-8 byte sequence from index %zu", at);
	}
	buf_addstr(out, "\"}}\n");
}

static bool is_good(const struct tonband_item *item)
{
	return !item->why &&
	       (!item->ev.type->str ||
		str_utf8_valid_len(item->ev.str, item->ev.str_len) == item->ev.str_len);
}

int tonband_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		 dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	struct tonband_frames *scan;
	struct tonband_item item;
	struct buf out = { 0 };
	bool has_ts = false;
	uint64_t ts = 0;
	int ret, err = 0;

	tonband_frames_new(in, notes, &scan);
	while (!err && (ret = tonband_frames_next(scan, &item)) == 1) {
		if (item.why)
			foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, item.why, "%s: byte %" PRIu64,
				     in->name, item.offset);
		/* What has no end may still become an event. */
		if (!item.ended)
			continue;
		if (!is_good(&item)) {
			put_invalid(&out, &item, has_ts, ts);
		} else {
			put_event(&out, &item.ev);
			has_ts |= item.ev.type->has_ts;
			ts = item.ev.type->has_ts ? item.ev.ts : ts;
		}
		if (out.len >= FLUSH_AT || opts->follow) {
			err = write(ctx, out.data, out.len);
			buf_clear(&out);
		}
	}
	if (!err && out.len)
		err = write(ctx, out.data, out.len);
	tonband_frames_free(scan);
	buf_free(&out);
	return err ? err : ret;
}

/* ---- info ---------------------------------------------------------------------------------------- */

struct counts {
	uint64_t events, metadata, invalid, dropped;
	bool freertos, has_ts;
	uint64_t first_ts, last_ts;
};

static void count(struct counts *c, struct tonband_state *state, const struct tonband_item *item,
		  struct foreign_notes *notes)
{
	if (item->why) {
		c->invalid++;
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, item->why, "byte %" PRIu64,
			     item->offset);
		return;
	}
	c->dropped += tonband_state_step(state, item, notes);
	tonband_state_learn(state, item, notes);
	c->freertos |= item->ev.type->group == TONBAND_FREERTOS;
	if (!item->ev.type->has_ts) {
		c->metadata++;
		return;
	}
	c->events++;
	if (item->ev.id == TONBAND_CORE_ID)
		return;
	if (!c->has_ts || item->ev.ts < c->first_ts)
		c->first_ts = item->ev.ts;
	if (!c->has_ts || item->ev.ts > c->last_ts)
		c->last_ts = item->ev.ts;
	c->has_ts = true;
}

static void put_facts(struct foreign_facts *facts, const struct counts *c, const char *encoding,
		      const struct tonband_state *state)
{
	uint64_t res = tonband_state_ns_per_ts(state);

	foreign_fact_text(facts, "format", "Tonbandgerät trace (no version in the file), %s",
			  encoding);
	foreign_fact_text(facts, "mode", "%s", c->freertos ? "FreeRTOS" : "bare metal");
	if (res)
		foreign_fact_text(facts, "resolution", "%" PRIu64 " ns per tick", res);
	else
		foreign_fact_text(facts, "resolution", "not recorded (1 ns per tick assumed)");
	if (c->has_ts)
		foreign_fact_text(facts, "span", "%" PRIu64 " ticks (%" PRIu64 " to %" PRIu64 ")",
				  c->last_ts - c->first_ts, c->first_ts, c->last_ts);
	foreign_fact_count(facts, "events", c->events);
	foreign_fact_count(facts, "metadata", c->metadata);
	foreign_fact_count(facts, "cores", tonband_state_core_cnt(state));
	foreign_fact_count(facts, "dropped", c->dropped);
	foreign_fact_count(facts, "invalid frames", c->invalid);
}

int tonband_info(const struct foreign_input *in, const struct foreign_opts *opts,
		 struct foreign_facts *facts, struct foreign_notes *notes)
{
	struct tonband_state *state;
	struct tonband_frames *scan;
	struct tonband_item item;
	struct counts c = { 0 };
	int ret;

	tonband_state_new(&state);
	tonband_frames_new(in, notes, &scan);
	while ((ret = tonband_frames_next(scan, &item)) == 1)
		count(&c, state, &item, notes);
	if (c.dropped)
		foreign_note(notes, FOREIGN_NOTE_DROPPED, c.dropped,
			     "events that the target dropped", NULL);
	if (!ret)
		put_facts(facts, &c, tonband_frames_encoding(scan), state);
	tonband_frames_free(scan);
	tonband_state_free(state);
	return ret;
}
