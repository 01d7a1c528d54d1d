// SPDX-License-Identifier: BSD-2-Clause
/*
 * header.c - what a perf.data file says about itself: events, features, build-ids
 *
 * Owns the tables that the records are read by. It gets sections whole and does not know where in the file they are:
 * the file format has them around the records, the pipe format among them. All sizes and counts are the file's, and
 * are checked against the bytes that are there.
 */
#include "formats/perfdata/header.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/hash.h"

/* In the uapi header since 5.12, and perf's own */
#define MISC_BUILD_ID_SIZE (1 << 15)

enum {
	EVENTS_MAX = 65536,
	ATTR_MIN = PERF_ATTR_SIZE_VER0,
	BUILD_ID_FIELD = 24,
	UPDATE_NAME = 2,
};

void perfdata_header_fini(struct perfdata_header *h)
{
	for (size_t i = 0; i < h->event_cnt; i++)
		free(h->events[i].name);
	for (size_t i = 0; i < h->build_id_cnt; i++)
		free(h->build_ids[i].path);
	free(h->events);
	free(h->build_ids);
	hmap_fini(&h->by_id);
	hmap_fini(&h->by_path);
	perfdata_tracing_fini(&h->tracing);
	free(h->host);
	free(h->release);
	free(h->version);
	free(h->arch);
	free(h->command_line);
	*h = (struct perfdata_header){ 0 };
}

/* ---- events ------------------------------------------------------------------------------------ */

static void add_ids(struct perfdata_header *h, size_t event, struct perfdata_bytes ids)
{
	uint64_t id;

	while (perfdata_bytes_u64(&ids, &id))
		hmap_set(&h->by_id, id, (void *)(uintptr_t)(event + 1));
}

int perfdata_header_add_event(struct perfdata_header *h, struct perfdata_bytes attr,
			      struct perfdata_bytes ids)
{
	struct perfdata_event *ev;

	if (attr.sz < ATTR_MIN)
		return -EBADMSG;
	if (h->event_cnt >= EVENTS_MAX)
		return -E2BIG;
	h->events = array_reserve(h->events, &h->event_cap, h->event_cnt + 1, sizeof(*h->events));
	ev = &h->events[h->event_cnt];
	*ev = (struct perfdata_event){ 0 };
	memcpy(&ev->attr, attr.p, attr.sz < sizeof(ev->attr) ? attr.sz : sizeof(ev->attr));
	add_ids(h, h->event_cnt++, ids);
	return 0;
}

const struct perfdata_event *perfdata_header_event(const struct perfdata_header *h, uint64_t id)
{
	size_t at = (uintptr_t)hmap_get(&h->by_id, id);

	return at ? &h->events[at - 1] : NULL;
}

static void set_name(struct perfdata_event *ev, const char *name)
{
	free(ev->name);
	ev->name = xstrdup(name);
}

static struct perfdata_event *event_of(struct perfdata_header *h, uint64_t id)
{
	size_t at = (uintptr_t)hmap_get(&h->by_id, id);

	return at ? &h->events[at - 1] : NULL;
}

void perfdata_header_update(struct perfdata_header *h, struct perfdata_bytes b)
{
	struct perfdata_event *ev;
	uint64_t type, id;
	const char *name;

	if (!perfdata_bytes_u64(&b, &type) || !perfdata_bytes_u64(&b, &id) || type != UPDATE_NAME)
		return;
	ev = event_of(h, id);
	if (ev && perfdata_bytes_text(&b, &name))
		set_name(ev, name);
}

bool perfdata_header_is_monotonic(const struct perfdata_header *h)
{
	for (size_t i = 0; i < h->event_cnt; i++)
		if (!h->events[i].attr.use_clockid || h->events[i].attr.clockid != CLOCK_MONOTONIC)
			return false;
	return h->event_cnt;
}

/* ---- sections ---------------------------------------------------------------------------------- */

/* Text after its length, which counts the padding. */
static bool get_string(struct perfdata_bytes *b, const char **out)
{
	struct perfdata_bytes text;
	uint32_t len;

	return perfdata_bytes_u32(b, &len) && perfdata_bytes_take(b, len, &text) &&
	       perfdata_bytes_text(&text, out);
}

static bool set_string(struct perfdata_bytes b, char **out)
{
	const char *s;

	if (!get_string(&b, &s))
		return false;
	free(*out);
	*out = xstrdup(s);
	return true;
}

static bool set_command_line(struct perfdata_header *h, struct perfdata_bytes b)
{
	struct buf line = { 0 };
	uint32_t cnt;
	const char *s;

	if (!perfdata_bytes_u32(&b, &cnt))
		return false;
	for (; cnt && get_string(&b, &s); cnt--) {
		if (line.len)
			buf_addch(&line, ' ');
		buf_addstr(&line, s);
	}
	free(h->command_line);
	h->command_line = buf_steal(&line);
	return !cnt;
}

/* Names of events. The events themselves are known already, by their numbers. */
static bool name_events(struct perfdata_header *h, struct perfdata_bytes b)
{
	uint32_t cnt, attr_sz, id_cnt;
	struct perfdata_bytes attr, ids;
	const char *name;

	if (!perfdata_bytes_u32(&b, &cnt) || !perfdata_bytes_u32(&b, &attr_sz))
		return false;
	for (uint32_t i = 0; i < cnt; i++) {
		struct perfdata_event *ev = NULL;
		uint64_t id;

		if (!perfdata_bytes_take(&b, attr_sz, &attr) || !perfdata_bytes_u32(&b, &id_cnt) ||
		    !get_string(&b, &name) || !perfdata_bytes_array(&b, id_cnt, sizeof(id), &ids))
			return false;
		if (perfdata_bytes_u64(&ids, &id))
			ev = event_of(h, id);
		else if (i < h->event_cnt)
			ev = &h->events[i];
		if (ev)
			set_name(ev, name);
	}
	return true;
}

bool perfdata_header_add_build_id(struct perfdata_header *h, uint16_t misc, struct perfdata_bytes b)
{
	uint8_t field[BUILD_ID_FIELD];
	struct perfdata_build_id *to;
	const char *path;
	uint32_t pid;

	if (!perfdata_bytes_u32(&b, &pid) || !perfdata_bytes_get(&b, field, sizeof(field)) ||
	    !perfdata_bytes_text(&b, &path))
		return false;
	h->build_ids = array_reserve(h->build_ids, &h->build_id_cap, h->build_id_cnt + 1,
				     sizeof(*h->build_ids));
	to = &h->build_ids[h->build_id_cnt++];
	*to = (struct perfdata_build_id){ .path = xstrdup(path), .sz = PERFDATA_BUILD_ID_MAX };
	memcpy(to->id, field, sizeof(to->id));
	if (misc & MISC_BUILD_ID_SIZE && field[PERFDATA_BUILD_ID_MAX] <= PERFDATA_BUILD_ID_MAX)
		to->sz = field[PERFDATA_BUILD_ID_MAX];
	hmap_set(&h->by_path, hash_bytes(path, strlen(path)), (void *)(uintptr_t)h->build_id_cnt);
	return true;
}

static bool add_build_ids(struct perfdata_header *h, struct perfdata_bytes b)
{
	struct perf_event_header rec;
	struct perfdata_bytes body;

	while (b.sz) {
		if (!perfdata_bytes_get(&b, &rec, sizeof(rec)) || rec.size < sizeof(rec) ||
		    !perfdata_bytes_take(&b, rec.size - sizeof(rec), &body) ||
		    !perfdata_header_add_build_id(h, rec.misc, body))
			return false;
	}
	return true;
}

const struct perfdata_build_id *perfdata_header_build_id(const struct perfdata_header *h,
							 const char *path)
{
	size_t at = (uintptr_t)hmap_get(&h->by_path, hash_bytes(path, strlen(path)));

	return at && !strcmp(h->build_ids[at - 1].path, path) ? &h->build_ids[at - 1] : NULL;
}

static bool set_clock_data(struct perfdata_header *h, struct perfdata_bytes b)
{
	uint32_t version, clock;

	h->has_clock_data = perfdata_bytes_u32(&b, &version) && version == 1 &&
			    perfdata_bytes_u32(&b, &clock) && perfdata_bytes_u64(&b, &h->wall_ns) &&
			    perfdata_bytes_u64(&b, &h->clock_ns);
	return h->has_clock_data;
}

static bool set_cpus(struct perfdata_header *h, struct perfdata_bytes b)
{
	uint32_t available;

	/* the second number counts the CPUs online */
	return perfdata_bytes_u32(&b, &available) && perfdata_bytes_u32(&b, &h->cpus);
}

static bool add_feature(struct perfdata_header *h, uint32_t feature, struct perfdata_bytes b)
{
	switch (feature) {
	case PERFDATA_BUILD_ID:
		return add_build_ids(h, b);
	case PERFDATA_HOSTNAME:
		return set_string(b, &h->host);
	case PERFDATA_OSRELEASE:
		return set_string(b, &h->release);
	case PERFDATA_VERSION:
		return set_string(b, &h->version);
	case PERFDATA_ARCH:
		return set_string(b, &h->arch);
	case PERFDATA_NRCPUS:
		return set_cpus(h, b);
	case PERFDATA_CMDLINE:
		return set_command_line(h, b);
	case PERFDATA_EVENT_DESC:
		return name_events(h, b);
	case PERFDATA_CLOCK_DATA:
		return set_clock_data(h, b);
	default:
		return true;
	}
}

void perfdata_header_add_feature(struct perfdata_header *h, uint32_t feature,
				 struct perfdata_bytes b, struct foreign_notes *notes)
{
	if (feature == PERFDATA_TRACING_DATA)
		perfdata_tracing_read(&h->tracing, b, notes);
	else if (!add_feature(h, feature, b))
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "damaged header sections",
			     "section %u", feature);
}
