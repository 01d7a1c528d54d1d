// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where rows go: tables, days and hosts. Owns the files, their names and metadata, and the limit of memory.
 * Does not know what rows mean.
 */
#include "export/parquet/parquet_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/out_dir.h"
#include "base/str.h"
#include "profile/sums/content_ids.h"
#include "trace/read/names.h"

#define DAY_NS (24 * 3600 * 1000000000ULL)

enum {
	HOST_MAX = 64, /* bytes of a host's name in a path */
	EVENT_MAX = 64, /* of an event's name */
	UNKNOWN_DAY = -1,
};

struct table {
	char *name;
	const struct parquet_def *defs;
	size_t def_cnt;
	bool has_times;
	unsigned int variant; /* of tables with this name */
};

struct parquet_tables {
	struct out_dir *dir;
	const struct names *names;
	struct parquet_pages *pages;
	struct table *tables;
	size_t table_cnt, table_cap;
	struct hmap partitions; /* source << 32 | day + 1 */
	uint32_t partition_cnt;
	struct parquet_partition *last;
	uint32_t last_part; /* whose rows the last partition has */
	size_t file_cnt;
	size_t bytes; /* of rows that are not written */
	int err;
};

struct parquet_tables *parquet_tables_new(struct out_dir *dir, const struct names *names)
{
	struct parquet_tables *t = xcalloc(1, sizeof(*t));

	t->dir = dir;
	t->names = names;
	t->pages = parquet_pages_new();
	return t;
}

static void free_partition(const struct parquet_tables *t, struct parquet_partition *p)
{
	for (size_t i = 0; i < p->file_cap; i++)
		parquet_file_free(p->files[i]);
	free(p->files);
	hmap_fini(&p->stacks);
	hmap_fini(&p->tasks);
	hmap_fini(&p->frames);
	free(p);
}

void parquet_tables_free(struct parquet_tables *t)
{
	size_t pos = 0;
	void *p;

	if (!t)
		return;
	while (hmap_next(&t->partitions, &pos, NULL, &p))
		free_partition(t, p);
	hmap_fini(&t->partitions);
	for (size_t i = 0; i < t->table_cnt; i++)
		free(t->tables[i].name);
	free(t->tables);
	parquet_pages_free(t->pages);
	free(t);
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Letters, digits, and those in @also stay; other bytes become %XX. */
static void put_encoded(struct buf *out, const char *s, size_t len, const char *also)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	for (size_t i = 0; i < len; i++) {
		if (s[i] && (strchr(plain, s[i]) || strchr(also, s[i])))
			buf_addch(out, s[i]);
		else
			buf_printf(out, "%%%02X", (unsigned char)s[i]);
	}
}

void parquet_tables_put_event_name(struct buf *out, const char *event, size_t len)
{
	const char *colon = memchr(event, ':', len < EVENT_MAX ? len : EVENT_MAX);
	const size_t kept = len < EVENT_MAX ? len : EVENT_MAX;
	const size_t system = colon ? (size_t)(colon - event) : kept;

	buf_addstr(out, "event.");
	put_encoded(out, event, system, "_-");
	if (colon) {
		buf_addch(out, '.');
		put_encoded(out, colon + 1, kept - system - 1, "_-");
	}
	if (kept < len)
		buf_printf(out, ".%016" PRIx64, content_ids_hash(CONTENT_IDS_HASH, event, len));
}

static void put_day(struct buf *out, int64_t day)
{
	const time_t at = (time_t)day * 24 * 3600;
	struct tm tm;

	if (day == UNKNOWN_DAY || !gmtime_r(&at, &tm))
		buf_addstr(out, PARQUET_TABLES_UNKNOWN);
	else
		buf_printf(out, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static void put_host(struct buf *out, const struct names *n, uint32_t source)
{
	size_t len;
	const char *host = names_str(n, names_part(n, source)->host, &len);

	if (!len)
		buf_addstr(out, PARQUET_TABLES_UNKNOWN);
	else
		put_encoded(out, host, len < HOST_MAX ? len : HOST_MAX, "_-.");
}

static char *file_path(const struct parquet_tables *t, const struct parquet_partition *p,
		       const struct table *table)
{
	struct buf path = { 0 };

	buf_printf(&path, "%s/day=", table->name);
	put_day(&path, p->day);
	buf_addstr(&path, "/host=");
	put_host(&path, t->names, p->source);
	buf_printf(&path, "/%016" PRIx64, p->token);
	if (table->variant)
		buf_printf(&path, "-%u", table->variant);
	buf_addstr(&path, ".parquet");
	return buf_steal(&path);
}

/* ---- tables ----------------------------------------------------------------------------------- */

uint32_t parquet_tables_add(struct parquet_tables *t, const char *name,
			    const struct parquet_def *defs, size_t def_cnt, bool has_times)
{
	unsigned int variant = 0;

	for (size_t i = 0; i < t->table_cnt; i++)
		variant += !strcmp(t->tables[i].name, name);
	t->tables = array_reserve(t->tables, &t->table_cap, t->table_cnt + 1, sizeof(*t->tables));
	t->tables[t->table_cnt] = (struct table){ .name = xstrdup(name),
						  .defs = defs,
						  .def_cnt = def_cnt,
						  .has_times = has_times,
						  .variant = variant };
	return (uint32_t)t->table_cnt++;
}

/* The same for the same trace and selection, so that an export may be repeated and copied over an older one. */
static uint64_t token_of(const struct parquet_tables *t, uint32_t source,
			 const struct parquet_place *at)
{
	const struct part *part = names_part(t->names, source);
	uint64_t hash = CONTENT_IDS_HASH;
	size_t len;
	const char *s;

	s = names_str(t->names, part->host, &len);
	hash = content_ids_hash(hash, s, len + 1);
	s = names_str(t->names, part->boot_id, &len);
	hash = content_ids_hash(hash, s, len + 1);
	hash = content_ids_hash(hash, &source, sizeof(source));
	return content_ids_hash(hash, &at->ts, sizeof(at->ts));
}

static struct parquet_partition *add_partition(struct parquet_tables *t, uint64_t key,
					       uint32_t source, int64_t day,
					       const struct parquet_place *at)
{
	struct parquet_partition *p = xcalloc(1, sizeof(*p));

	p->no = ++t->partition_cnt;
	p->source = source;
	p->day = day;
	p->token = token_of(t, source, at);
	hmap_set(&t->partitions, key, p);
	return p;
}

uint32_t parquet_tables_source(const struct names *n, uint32_t part)
{
	const struct part *of = names_part(n, part);
	uint32_t source = of->clock;

	for (; source < part; source++) {
		const struct part *first = names_part(n, source);

		if (first->clock == of->clock && first->host == of->host &&
		    first->boot_id == of->boot_id)
			break;
	}
	return source;
}

struct parquet_partition *parquet_tables_partition(struct parquet_tables *t,
						   const struct parquet_place *at)
{
	int64_t day = UNKNOWN_DAY;
	uint64_t wall, key;
	uint32_t source;

	if (at->has_ts && parts_wall(&t->names->parts, at->part, at->ts, &wall))
		day = (int64_t)(wall / DAY_NS);
	if (t->last && t->last_part == at->part && t->last->day == day)
		return t->last;
	source = parquet_tables_source(t->names, at->part);
	key = (uint64_t)source << 32 | (uint64_t)(day + 1);
	t->last_part = at->part;
	t->last = hmap_get(&t->partitions, key);
	if (!t->last)
		t->last = add_partition(t, key, source, day, at);
	return t->last;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static void keep_error(struct parquet_tables *t, int err)
{
	if (!t->err)
		t->err = err;
}

static struct parquet_file *add_file(struct parquet_tables *t, struct parquet_partition *p,
				     uint32_t at)
{
	const struct table *table = &t->tables[at];
	struct parquet_file_opts opts = { .defs = table->defs,
					  .def_cnt = table->def_cnt,
					  .sorted = table->has_times,
					  .pages = t->pages };
	char *path;
	int err;

	if (t->file_cnt == PARQUET_TABLES_FILES_MAX) {
		log_error("export: the trace needs more than %d files of events, days and hosts; "
			  "select a time range with --time",
			  PARQUET_TABLES_FILES_MAX);
		keep_error(t, -EMFILE);
		return NULL;
	}
	path = file_path(t, p, table);
	err = out_dir_file_new(t->dir, path, &opts.out);
	free(path);
	if (err) {
		keep_error(t, err);
		return NULL;
	}
	t->file_cnt++;
	return parquet_file_new(&opts);
}

struct parquet_file *parquet_tables_file(struct parquet_tables *t, struct parquet_partition *p,
					 uint32_t table)
{
	if (t->err)
		return NULL;
	p->files = array_reserve(p->files, &p->file_cap, (size_t)table + 1, sizeof(*p->files));
	if (!p->files[table])
		p->files[table] = add_file(t, p, table);
	if (p->files[table])
		t->bytes -= parquet_file_bytes(p->files[table]);
	return p->files[table];
}

struct parquet_file *parquet_tables_row(struct parquet_tables *t, const struct parquet_place *at,
					uint32_t table)
{
	struct parquet_file *f = parquet_tables_file(t, parquet_tables_partition(t, at), table);
	uint64_t wall;

	if (!f || !at->has_ts)
		return f;
	parquet_file_put(f, PARQUET_TS, at->ts);
	if (parts_wall(&t->names->parts, at->part, at->ts, &wall))
		parquet_file_put(f, PARQUET_WALL, wall);
	return f;
}

static void find_largest(struct parquet_file **found, struct parquet_partition *p)
{
	for (size_t i = 0; i < p->file_cap; i++)
		if (p->files[i] &&
		    (!*found || parquet_file_bytes(p->files[i]) > parquet_file_bytes(*found)))
			*found = p->files[i];
}

static void write_largest(struct parquet_tables *t)
{
	struct parquet_file *largest = NULL;
	size_t pos = 0;
	void *p;

	while (hmap_next(&t->partitions, &pos, NULL, &p))
		find_largest(&largest, p);
	if (!largest)
		return;
	t->bytes -= parquet_file_bytes(largest);
	keep_error(t, parquet_file_flush(largest));
}

void parquet_tables_end_row(struct parquet_tables *t, struct parquet_file *f)
{
	keep_error(t, parquet_file_row(f));
	t->bytes += parquet_file_bytes(f);
	if (t->bytes > PARQUET_TABLES_BYTES)
		write_largest(t);
}

void parquet_tables_each(struct parquet_tables *t,
			 void (*fn)(void *ctx, struct parquet_partition *p), void *ctx)
{
	size_t pos = 0;
	void *p;

	while (hmap_next(&t->partitions, &pos, NULL, &p))
		fn(ctx, p);
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* Text of the metadata must be UTF-8. */
static void put_clean(struct buf *out, const struct names *n, uint32_t id)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	str_escape_utf8(out, s, len);
}

static int end_partition(struct parquet_tables *t, struct parquet_partition *p,
			 parquet_tables_lost_fn lost, void *ctx)
{
	const struct part *part = names_part(t->names, p->source);
	struct buf host = { 0 }, boot = { 0 }, count = { 0 };
	int err = 0;

	put_clean(&host, t->names, part->host);
	put_clean(&boot, t->names, part->boot_id);
	buf_addu(&count, lost(ctx, p->source));
	for (size_t i = 0; i < p->file_cap && !err; i++) {
		const struct parquet_file_meta meta[] = {
			{ "dial9.schema_version", PARQUET_TABLES_SCHEMA_VERSION },
			{ "dial9.table", t->tables[i < t->table_cnt ? i : 0].name },
			{ "dial9.host", buf_cstr(&host) },
			{ "dial9.boot_id", buf_cstr(&boot) },
			{ "dial9.lost", buf_cstr(&count) },
		};

		if (p->files[i])
			err = parquet_file_end(p->files[i], meta, sizeof(meta) / sizeof(meta[0]));
	}
	buf_free(&host);
	buf_free(&boot);
	buf_free(&count);
	return err;
}

int parquet_tables_end(struct parquet_tables *t, parquet_tables_lost_fn lost, void *ctx)
{
	size_t pos = 0;
	void *p;

	while (!t->err && hmap_next(&t->partitions, &pos, NULL, &p))
		keep_error(t, end_partition(t, p, lost, ctx));
	if (!t->err)
		keep_error(t, out_dir_commit(t->dir));
	return t->err;
}
