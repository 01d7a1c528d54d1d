// SPDX-License-Identifier: BSD-2-Clause
/*
 * `info` and `dump` on files that are not dial9. Owns how their facts are laid out; what there is to
 * say, each format knows. The summary of what was damaged goes to standard error after a dump, so that
 * the lines of JSON stay lines of JSON, and below the facts in info.
 */
#include "cmd/inspect/show_foreign.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/hmap.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/input.h"
#include "cmd/common/report_text.h"
#include "trace/source/source.h"

static int write_out(void *ctx, const void *data, size_t sz)
{
	return fwrite(data, 1, sz, ctx) == sz ? 0 : -EIO;
}

static void put_facts(struct buf *out, const char *name, const struct foreign_facts *facts)
{
	char count[32];

	buf_printf(out, "%-15s ", "trace");
	value_text_clean(out, name, strlen(name));
	buf_addch(out, '\n');
	for (size_t i = 0; i < facts->cnt; i++) {
		const struct foreign_fact *f = &facts->v[i];

		str_count(count, f->count);
		buf_printf(out, "%-15s %s\n", f->label, f->text ? f->text : count);
	}
}

static void put_value(struct buf *out, const struct foreign_fact *f)
{
	if (f->name) {
		json_object(out, NULL);
		json_text(out, "name", f->name, strlen(f->name));
		json_u64(out, "samples", f->count);
		json_end(out, "}");
	} else if (f->text && !f->is_ns) {
		json_text(out, NULL, f->text, strlen(f->text));
	} else {
		json_u64(out, NULL, f->count);
	}
}

/* "event" is the list "events", "span" is "span_ns". */
static void put_key(struct buf *out, const struct foreign_fact *f)
{
	struct buf key = { 0 };

	buf_printf(&key, "%s%s", f->label, f->name ? "s" : f->is_ns ? "_ns" : "");
	json_key_text(out, buf_cstr(&key), key.len);
	buf_free(&key);
}

/* Facts with the same label: a list by index. */
struct same_label {
	size_t next; /* 0: none */
	bool later; /* there is one before it */
};

/* The caller frees it. */
static struct same_label *find_same_labels(const struct foreign_facts *facts)
{
	struct same_label *same = xcalloc(facts->cnt + 1, sizeof(*same));
	struct hmap last = { 0 }; /* hash of a label -> 1 + index */

	for (size_t i = 0; i < facts->cnt; i++) {
		const char *label = facts->v[i].label;
		const uint64_t hash = hash_bytes(label, strlen(label));
		const size_t before = (uintptr_t)hmap_get(&last, hash);

		if (before) {
			same[before - 1].next = i;
			same[i].later = true;
		}
		hmap_set(&last, hash, (void *)(uintptr_t)(i + 1));
	}
	hmap_fini(&last);
	return same;
}

/* One array, where the first of them is. */
static void put_same_label(struct buf *out, const struct foreign_facts *facts,
			   const struct same_label *same, size_t i)
{
	put_key(out, &facts->v[i]);
	if (!facts->v[i].name && !same[i].next) {
		put_value(out, &facts->v[i]);
		return;
	}
	json_array(out, NULL);
	put_value(out, &facts->v[i]);
	while ((i = same[i].next))
		put_value(out, &facts->v[i]);
	json_end(out, "]");
}

static void put_json(struct buf *out, const char *name, const struct foreign_facts *facts,
		     const struct foreign_notes *notes)
{
	struct same_label *same = find_same_labels(facts);

	json_object(out, NULL);
	json_str(out, "trace", name);
	for (size_t i = 0; i < facts->cnt; i++)
		if (!same[i].later)
			put_same_label(out, facts, same, i);
	free(same);
	json_array(out, "notes");
	for (size_t i = 0; i < notes->cnt; i++) {
		const struct foreign_note *n = &notes->v[i];

		json_object(out, NULL);
		json_str(out, "class", foreign_note_class_name(n->cls));
		json_text(out, "kind", n->kind, strlen(n->kind));
		json_u64(out, "count", n->count);
		json_end(out, "}");
	}
	json_end(out, "]}\n");
}

static int show_info(const struct foreign_input *in, const struct foreign_format *format, bool json,
		     struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_4 };
	struct foreign_facts facts = { 0 };
	struct buf out = { 0 };
	int err;

	err = format->info(in, &opts, &facts, notes);
	if (json) {
		put_json(&out, in->name, &facts, notes);
	} else {
		put_facts(&out, in->name, &facts);
		foreign_notes_print(notes, &out);
	}
	buf_print(&out, stdout);
	foreign_facts_fini(&facts);
	return err;
}

static int show_dump(const struct foreign_input *in, const struct foreign_format *format,
		     struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_4 };

	return format->dump(in, &opts, write_out, stdout, notes);
}

static void print_notes(const struct foreign_notes *notes)
{
	struct buf out = { 0 };

	foreign_notes_print(notes, &out);
	buf_print(&out, stderr);
}

/* Reading a named pipe would lose its bytes, and directories have their own message. */
static bool can_read_head(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return !input_hold_stdin() && !fstat(0, &st) && S_ISREG(st.st_mode);
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static int show(const struct foreign_input *in, const struct foreign_format *format,
		enum show_what what, const struct view_opts *shown)
{
	struct foreign_notes notes = { 0 };
	struct view view;
	bool unwritten;
	int code, err;

	view_begin(&view, shown, true);
	err = what == SHOW_DUMP ? show_dump(in, format, &notes) :
				  show_info(in, format, what == SHOW_INFO_JSON, &notes);
	unwritten = ferror(stdout);
	code = view_end(&view);
	if (what == SHOW_DUMP)
		print_notes(&notes);
	if (err && !unwritten) {
		code = CMD_INPUT;
		if (err != -EBADMSG && err != -EINVAL)
			log_error("%s: %s", in->name, strerror(-err));
	}
	if (code == CMD_OK && foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL))
		code = CMD_INPUT;
	foreign_notes_fini(&notes);
	return code;
}

/* A directory of perf record --threads. {0} is empty; its files are borrowed by v. */
struct directory {
	struct input **files;
	struct foreign_input *v;
	size_t cnt, cap;
};

static int add_file(void *ctx, char *path, size_t number)
{
	struct directory *d = ctx;
	size_t cap = d->cap;
	int err;

	d->files = array_reserve(d->files, &cap, d->cnt + 1, sizeof(struct input *));
	d->v = array_reserve(d->v, &d->cap, d->cnt + 1, sizeof(*d->v));
	err = input_open(path, NULL, &d->files[d->cnt]);
	if (err)
		return err;
	d->v[d->cnt] = *input_foreign(d->files[d->cnt]);
	d->v[d->cnt].is_part = number > 0;
	d->cnt++;
	return 0;
}

static int open_directory(struct directory *d, const char *dir)
{
	struct buf path = { 0 };
	int err = input_each_part(dir, &path, add_file, d);

	if (err == -ENODATA)
		log_error("cannot read %s: %s is missing, and files after it are there", dir,
			  path.data);
	buf_free(&path);
	if (err)
		return err;
	d->v[0].name = dir;
	d->v[0].part_cnt = d->cnt - 1;
	return 0;
}

static int show_directory(const char *dir, enum show_what what, const struct view_opts *shown)
{
	struct directory d = { 0 };
	int code = CMD_INPUT;

	if (!open_directory(&d, dir))
		code = show(d.v, &perfdata_format, what, shown);
	for (size_t i = 0; i < d.cnt; i++)
		input_close(d.files[i]);
	free(d.files);
	free(d.v);
	return code;
}

static bool is_perf_directory(const char *path, int from)
{
	struct buf file = { 0 };
	bool is = (from == INPUT_AUTO || from == INPUT_PERF_DATA) && input_part(path, 0, &file);

	buf_free(&file);
	return is;
}

bool show_foreign(const char *path, int from, enum show_what what, const struct view_opts *shown,
		  int *code)
{
	const struct foreign_format *format;
	bool done = true;
	struct input *in;

	*code = CMD_INPUT;
	if (is_perf_directory(path, from)) {
		*code = show_directory(path, what, shown);
		return true;
	}
	if (from == INPUT_DIAL9 || (from == INPUT_AUTO && !can_read_head(path)))
		return false;
	if (input_open(path, NULL, &in))
		return from != INPUT_AUTO;
	/* Even when it was said: looking unpacks gzip. */
	format = input_detect(in);
	if (from != INPUT_AUTO)
		format = foreign_find(input_from_names[from]);
	if (format && input_is_empty(in))
		source_print_empty(input_foreign(in)->name);
	else if (format)
		*code = show(input_foreign(in), format, what, shown);
	else if (input_may_be_dial9(in))
		done = false;
	else
		log_error("%s: %s: unknown format; use --from with one of " INPUT_FORMATS,
			  what == SHOW_DUMP ? "dump" : "info", input_foreign(in)->name);
	input_close(in);
	return done;
}
