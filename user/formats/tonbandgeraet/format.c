// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tonbandgerät: binary traces of FreeRTOS and bare-metal firmware. Its row in the table of formats.
 *
 * Owns detection and the counts for info. The format has neither magic nor version, so the only way
 * to know it is to read it: frames must decode to known events, of exactly their length. The first
 * frame may be what is left of one, and the last one may be cut.
 */
#include "formats/tonbandgeraet/tonband.h"

#include <inttypes.h>

#include "formats/tonbandgeraet/frames.h"
#include "formats/tonbandgeraet/state.h"

#define DETECT_FRAMES 4096
#define SURE 95
#define MAY_BE_MIN 50 /* percent of frames that must decode */

static int tonband_detect(const void *head, size_t sz, bool whole)
{
	struct foreign_mem mem;
	struct foreign_input in;
	struct tonband_frames *scan;
	struct tonband_item item;
	unsigned int good = 0, bad = 0;
	bool sure;

	foreign_mem_input(&mem, head, sz, &in);
	tonband_frames_new(&in, NULL, &scan);
	while (good + bad < DETECT_FRAMES && tonband_frames_next(scan, &item) == 1) {
		if (!item.why)
			good++;
		else if (item.ended)
			bad += item.offset != 0;
	}
	sure = tonband_frames_is_sure(scan);
	tonband_frames_free(scan);
	if (sure && good)
		return SURE;
	if (!good || good * 100 < (good + bad) * MAY_BE_MIN)
		return 0;
	return (int)(good * (SURE - 10) / (good + bad));
}

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
		foreign_fact_text(facts, "resolution", "%" PRIu64 " ns a tick", res);
	else
		foreign_fact_text(facts, "resolution", "not told (1 ns a tick assumed)");
	if (c->has_ts)
		foreign_fact_text(facts, "span", "%" PRIu64 " ticks (%" PRIu64 " to %" PRIu64 ")",
				  c->last_ts - c->first_ts, c->first_ts, c->last_ts);
	foreign_fact_count(facts, "events", c->events);
	foreign_fact_count(facts, "metadata", c->metadata);
	foreign_fact_count(facts, "cores", tonband_state_core_cnt(state));
	foreign_fact_count(facts, "dropped", c->dropped);
	foreign_fact_count(facts, "invalid frames", c->invalid);
}

static int tonband_info(const struct foreign_input *in, const struct foreign_opts *opts,
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

const struct foreign_format tonband_format = {
	.name = "tonbandgeraet",
	.title = "Tonbandgerät trace",
	.detect = tonband_detect,
	.import = tonband_import_run,
	.export = tonband_export_run,
	.dump = tonband_dump_run,
	.info = tonband_info,
};
