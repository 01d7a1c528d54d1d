// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the symbols for `dial9-prof symbolize`. Owns the addresses without symbols and the symbols found;
 * independent of output.
 *
 * Files belong to a trace only if their build-id is equal, so files of modules without one are not searched. The
 * recorder's helper processes read the files. Requests run in rounds with new processes, each for all remaining
 * addresses. Symbols of the kernel and its vDSO come from this machine in the same boot. Symbols of another kernel
 * come from its vmlinux, which may be in several places.
 */
#include "rewrite/symbolize/symbolize_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "kernel/kallsyms.h"
#include "kernel/proc.h"
#include "symbol/elf/debuginfod.h"

#define STEP_NS 50000000ull
#define SILENT_NS 60000000000ull /* without any answer from the processes: then stop */
#define TAKE_MAX 4096
#define FAILURES_MAX 3 /* of consecutive servers */

struct symbolize_find {
	struct symbolize_find_cfg cfg;
	struct names *found; /* symbols by frame of cfg.names; owns its strings */
	struct names_symbol *shown; /* the last result */
	struct hmap by_index; /* module -> struct symbolize_find_module */
	struct symbolize_find_module **v;
	size_t cnt, cap;
	uint64_t asked; /* requests in this round */
	size_t kernel_place; /* index of the vmlinux path of this round; later rounds are for vmlinux only */
	struct symbolize_find_fetched fetched;
	unsigned int failures; /* of servers, in a row */
	char boot_id[PROC_BOOT_ID_SIZE]; /* of this machine; empty: unknown */
};

struct symbolize_find *symbolize_find_new(const struct symbolize_find_cfg *cfg)
{
	struct symbolize_find *f = xcalloc(1, sizeof(*f));

	f->cfg = *cfg;
	names_new(&f->found);
	proc_read_boot_id(f->boot_id);
	return f;
}

void symbolize_find_free(struct symbolize_find *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->cnt; i++) {
		free(f->v[i]->frames);
		free(f->v[i]);
	}
	free(f->v);
	free(f->shown);
	hmap_fini(&f->by_index);
	names_free(f->found);
	free(f);
}

/* ---- what is wanted ---------------------------------------------------------------------------- */

static bool has_line(const struct names_symbol *sym)
{
	for (uint32_t i = 0; sym && i < sym->cnt; i++)
		if (sym->frames[i].name != NAMES_NONE && sym->frames[i].file != NAMES_NONE)
			return true;
	return false;
}

static bool same_boot(const struct symbolize_find *f, uint32_t index)
{
	const struct names *n = f->cfg.names;
	uint32_t id = names_part(n, names_module(n, index)->part)->boot_id;

	/* the clock of the times follows it */
	return id != NAMES_NONE && *f->boot_id &&
	       !strncmp(names_str(n, id, NULL), f->boot_id, PROC_BOOT_ID_SIZE - 1);
}

/* A path that can be written again. */
static bool is_plain_path(const struct names *n, uint32_t path)
{
	size_t len;
	const char *s = names_str(n, path, &len);

	return strlen(s) == len && str_utf8_valid_len(s, len) == len;
}

static enum symbolize_find_why why_of(const struct names *n, uint64_t frame)
{
	const struct names_module *m = names_module(n, names_frame_module(frame));

	if (frame & PROF_FRAME_KERNEL)
		return m->announced && m->kind == PROF_MODULE_KERNEL && m->build_id_sz ?
			       SYMBOLIZE_FIND_FILE :
			       SYMBOLIZE_FIND_KERNEL;
	if (!m->announced || m->kind == PROF_MODULE_ANON || !is_plain_path(n, m->path))
		return SYMBOLIZE_FIND_ANONYMOUS;
	if (m->kind == PROF_MODULE_ELF)
		return m->build_id_sz ? SYMBOLIZE_FIND_FILE : SYMBOLIZE_FIND_NO_BUILD_ID;
	return m->kind == PROF_MODULE_VDSO ? SYMBOLIZE_FIND_FILE : SYMBOLIZE_FIND_KERNEL;
}

/* Kernel addresses without a module are separate from those in programs. */
static struct symbolize_find_module *module_at(struct symbolize_find *f, uint64_t frame)
{
	uint64_t key = frame & ~PROF_FRAME_OFFSET_MASK;
	struct symbolize_find_module *m = hmap_get(&f->by_index, key);
	uint32_t index = names_frame_module(frame);

	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	m->index = index;
	m->base = key;
	m->why = why_of(f->cfg.names, frame);
	f->v = array_reserve(f->v, &f->cap, f->cnt + 1, sizeof(struct symbolize_find_module *));
	f->v[f->cnt++] = m;
	hmap_set(&f->by_index, key, m);
	return m;
}

/* It has a symbol and a line from a file with missing parts. */
static bool may_lack_inlined(const struct names *n, uint64_t frame)
{
	const struct names_module *m = names_module(n, names_frame_module(frame));

	return names_is_named(n, frame) && has_line(names_symbol(n, frame)) &&
	       !strcmp(names_str(n, m->status, NULL), PROF_STATUS_NAMED) &&
	       *names_str(n, m->detail, NULL);
}

void symbolize_find_want(struct symbolize_find *f, uint64_t frame)
{
	const struct names *n = f->cfg.names;
	struct symbolize_find_module *m;

	if (names_is_named(n, frame) &&
	    (!f->cfg.lines || why_of(n, frame) != SYMBOLIZE_FIND_FILE ||
	     (has_line(names_symbol(n, frame)) && !may_lack_inlined(n, frame))))
		return;
	m = module_at(f, frame);
	m->frames = array_reserve(m->frames, &m->cap, m->cnt + 1, sizeof(*m->frames));
	m->frames[m->cnt++] = frame;
}

void symbolize_find_mapping(struct symbolize_find *f, uint32_t index, uint64_t off, uint64_t size)
{
	struct symbolize_find_module *m =
		hmap_get(&f->by_index, (uint64_t)index << PROF_FRAME_MODULE_SHIFT);

	if (m) {
		m->text_off = off;
		m->text_size = size;
	}
}

/* ---- what is found ----------------------------------------------------------------------------- */

static void learn(struct symbolize_find *f, uint64_t frame, uint32_t depth,
		  const struct sym_client_answer *a)
{
	uint64_t off = frame & PROF_FRAME_OFFSET_MASK;
	struct names_frame row = { .file = NAMES_NONE, .line = a->line, .size = a->size };

	/* readers would treat it as a label */
	if (!a->name_len || (!a->size && names_is_label(a->name, a->name_len)))
		return;
	row.name = names_add(f->found, a->name, a->name_len);
	if (a->file && a->file_len)
		row.file = names_add(f->found, a->file, a->file_len);
	/* a file's symbols may have invalid start addresses */
	row.base = (frame & ~PROF_FRAME_OFFSET_MASK) | (a->start < off ? a->start : off);
	names_symbol_set(f->found, frame, depth, &row);
}

int symbolize_find_add_answer(void *ctx, const struct sym_client_answer *a)
{
	struct symbolize_find *f = ctx;
	struct symbolize_find_module *m;

	if (!a->module_id || a->module_id > f->cnt)
		return 0;
	m = f->v[a->module_id - 1];
	if (a->kind == SYM_CLIENT_STATUS) {
		/* a round without a file does not invalidate an earlier file */
		if (a->status == SYM_CLIENT_GONE && m->status != SYM_CLIENT_UNKNOWN)
			return 0;
		m->status = a->status;
		snprintf(m->detail, sizeof(m->detail), "%s", a->detail);
	} else if (a->kind == SYM_CLIENT_NAME || a->kind == SYM_CLIENT_FRAME) {
		learn(f, m->base | a->offset, a->depth, a);
	}
	return 0;
}

/* Whether the result contains more than the trace. */
static bool is_news(const struct symbolize_find *f, uint64_t frame)
{
	if (!names_is_named(f->found, frame))
		return false;
	if (may_lack_inlined(f->cfg.names, frame))
		return has_line(names_symbol(f->found, frame)) &&
		       names_symbol(f->found, frame)->cnt > names_symbol(f->cfg.names, frame)->cnt;
	return !names_is_named(f->cfg.names, frame) || has_line(names_symbol(f->found, frame));
}

static void count_named(struct symbolize_find *f)
{
	for (size_t i = 0; i < f->cnt; i++) {
		struct symbolize_find_module *m = f->v[i];

		m->named = m->again = m->inlined = 0;
		for (size_t k = 0; k < m->cnt; k++) {
			/* reading the file again adds nothing */
			bool again = m->status != SYM_CLIENT_UNKNOWN &&
				     may_lack_inlined(f->cfg.names, m->frames[k]);
			bool news = is_news(f, m->frames[k]);

			m->named += news || again;
			m->again += again;
			m->inlined += news && again;
		}
	}
}

/* Keeps the outermost function's name and adds its line. */
static void keep_name(struct symbolize_find *f, const struct names_symbol *was)
{
	const char *name;
	size_t len;

	if (!was || !was->cnt || was->frames[0].name == NAMES_NONE || was->frames[0].label)
		return;
	name = names_str(f->cfg.names, was->frames[0].name, &len);
	f->shown->frames[0].name = names_add(f->found, name, len);
	f->shown->frames[0].size = was->frames[0].size;
	if (was->frames[0].base != NAMES_BASE_UNKNOWN)
		f->shown->frames[0].base = was->frames[0].base;
}

const struct names_symbol *symbolize_find_symbol(struct symbolize_find *f, uint64_t frame)
{
	const struct names_symbol *sym;

	if (!is_news(f, frame))
		return NULL;
	sym = names_symbol(f->found, frame);
	free(f->shown);
	f->shown = xmemdup(sym, sizeof(*sym) + sym->cnt * sizeof(sym->frames[0]));
	keep_name(f, names_symbol(f->cfg.names, frame));
	return f->shown;
}

const char *symbolize_find_str(const struct symbolize_find *f, uint32_t id, size_t *len)
{
	return names_str(f->found, id, len);
}

const char *symbolize_find_lacks(const struct symbolize_find *f, uint32_t index)
{
	const struct symbolize_find_module *m =
		hmap_get(&f->by_index, (uint64_t)index << PROF_FRAME_MODULE_SHIFT);

	return m && m->status == SYM_CLIENT_NAMED && *m->detail ? m->detail : NULL;
}

const char *symbolize_find_status(const struct symbolize_find *f, uint32_t index,
				  const char **detail)
{
	/* others have words that describe the recording */
	static const char *const words[SYM_CLIENT_STATUS_CNT] = {
		[SYM_CLIENT_NAMED] = PROF_STATUS_NAMED,
		[SYM_CLIENT_STRIPPED] = PROF_STATUS_STRIPPED,
		[SYM_CLIENT_DENIED] = PROF_STATUS_DENIED,
		[SYM_CLIENT_NOT_ELF] = PROF_STATUS_NOT_ELF,
		[SYM_CLIENT_GAVE_UP] = PROF_STATUS_GAVE_UP,
		[SYM_CLIENT_CRASHED] = PROF_STATUS_CRASHED,
		[SYM_CLIENT_HUNG] = PROF_STATUS_HUNG,
		[SYM_CLIENT_NO_ANSWER] = PROF_STATUS_NO_ANSWER,
	};
	const struct symbolize_find_module *m =
		hmap_get(&f->by_index, (uint64_t)index << PROF_FRAME_MODULE_SHIFT);
	const struct names_module *known = names_module(f->cfg.names, index);

	if (!m || m->named || !known->announced || known->kind != PROF_MODULE_ELF ||
	    known->status != NAMES_NONE)
		return NULL;
	*detail = *m->detail ? m->detail : NULL;
	return words[m->status];
}

struct symbolize_find_module **symbolize_find_modules(const struct symbolize_find *f, size_t *cnt)
{
	*cnt = f->cnt;
	return f->v;
}

/* ---- the kernel -------------------------------------------------------------------------------- */

static void name_kernel_frame(struct symbolize_find *f, const struct kallsyms *k,
			      const struct kallsyms_module *image, uint64_t frame)
{
	uint64_t off = frame & PROF_FRAME_OFFSET_MASK;
	bool bare = !names_module(f->cfg.names, names_frame_module(frame))->announced;
	uint64_t addr = bare ? (image->start & ~PROF_FRAME_OFFSET_MASK) | off : image->start + off;
	struct sym_client_answer a = { 0 };
	struct kallsyms_sym sym;

	/* modules and BPF programs change while the kernel runs */
	if (kallsyms_find(k, addr, &sym) || sym.kind != KALLSYMS_KERNEL)
		return;
	a.name = sym.name;
	a.name_len = strlen(sym.name);
	a.size = sym.size;
	a.start = bare ? sym.start & PROF_FRAME_OFFSET_MASK : sym.start - image->start;
	learn(f, frame, 0, &a);
}

static bool has_this_build_id(const struct names_module *mod)
{
	uint8_t id[sizeof(mod->build_id)];
	size_t sz = kallsyms_build_id(id, sizeof(id));

	return sz && mod->build_id_sz == sz && !memcmp(mod->build_id, id, sz);
}

/*
 * Frames of the kernel image in a part of this boot, or of any boot of the same image: its offsets are equal. And
 * frames without a module, which are addresses of one boot.
 */
static bool is_of_this_kernel(const struct symbolize_find *f, const struct symbolize_find_module *m)
{
	const struct names_module *mod = names_module(f->cfg.names, m->index);

	if (!(m->base & PROF_FRAME_KERNEL))
		return false;
	if (same_boot(f, m->index))
		return !mod->announced || mod->kind == PROF_MODULE_KERNEL;
	return mod->announced && mod->kind == PROF_MODULE_KERNEL && has_this_build_id(mod);
}

static void name_kernel(struct symbolize_find *f)
{
	const struct kallsyms_module *image;
	struct kallsyms *k = NULL;
	bool any = false;

	for (size_t i = 0; i < f->cnt; i++)
		any |= is_of_this_kernel(f, f->v[i]);
	if (!any || kallsyms_load(NULL, NULL, &k))
		return;
	image = kallsyms_image(k);
	for (size_t i = 0; image && i < f->cnt; i++)
		for (size_t j = 0; is_of_this_kernel(f, f->v[i]) && j < f->v[i]->cnt; j++)
			name_kernel_frame(f, k, image, f->v[i]->frames[j]);
	kallsyms_free(k);
}

/* ---- files ------------------------------------------------------------------------------------- */

static bool is_kernel(const struct symbolize_find_module *m)
{
	return m->base & PROF_FRAME_KERNEL;
}

/* The release of a kernel as a file name, or NULL. Some traces write "Linux" before it. */
static const char *release_of(const struct symbolize_find *f, const struct symbolize_find_module *m)
{
	const struct names *n = f->cfg.names;
	const char *s = names_meta(n, names_module(n, m->index)->part, PROF_META_KERNEL);

	if (s && !strncmp(s, "Linux ", 6))
		s += 6;
	return s && *s && !strpbrk(s, "/ ") ? s : NULL;
}

/* The vmlinux path of this round; false: none, like the last round. */
static bool kernel_path(const struct symbolize_find *f, const struct symbolize_find_module *m,
			struct buf *out)
{
	static const char *const ends[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/usr/lib/debug/usr/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/boot/vmlinux-", "" },
	};
	const char *release = release_of(f, m);

	if (f->cfg.vmlinux && !f->kernel_place) {
		buf_addstr(out, f->cfg.vmlinux);
		return true;
	}
	if (f->cfg.vmlinux || !release || f->kernel_place >= sizeof(ends) / sizeof(ends[0]))
		return false;
	buf_printf(out, "%s%s%s", ends[f->kernel_place][0], release, ends[f->kernel_place][1]);
	return true;
}

static enum sym_client_kind broker_kind(const struct symbolize_find_module *m,
					const struct names_module *mod)
{
	if (is_kernel(m))
		return SYM_CLIENT_KERNEL;
	return mod->kind == PROF_MODULE_VDSO ? SYM_CLIENT_VDSO : SYM_CLIENT_ELF;
}

static void ask_module(struct symbolize_find *f, struct sym_client *b, size_t i)
{
	const struct symbolize_find_module *m = f->v[i];
	const struct names_module *mod = names_module(f->cfg.names, m->index);
	bool vdso = mod->kind == PROF_MODULE_VDSO;
	struct buf path = { 0 };
	const struct sym_client_module module = {
		.kind = broker_kind(m, mod),
		.path = !is_kernel(m)		 ? names_str(f->cfg.names, mod->path, NULL) :
			kernel_path(f, m, &path) ? buf_cstr(&path) :
						   NULL,
		.build_id = mod->build_id,
		.build_id_sz = vdso ? 0 : mod->build_id_sz,
		.text_off = m->text_off,
		.text_size = m->text_size,
		.owner = 1,
	};
	const bool asks = m->why == SYMBOLIZE_FIND_FILE && !(vdso && !same_boot(f, m->index)) &&
			  (is_kernel(m) || !f->kernel_place) &&
			  !sym_client_add_module(b, (uint32_t)i + 1, &module);

	buf_free(&path);
	for (size_t k = 0; asks && k < m->cnt; k++) {
		if (is_news(f, m->frames[k]))
			continue;
		sym_client_ask(b, (uint32_t)i + 1, m->frames[k] & PROF_FRAME_OFFSET_MASK);
		f->asked++;
	}
}

static int wait_for_answers(struct symbolize_find *f, struct sym_client *b)
{
	uint64_t last_answer_ns = clock_mono_ns(), answered = 0, now;

	while (!sym_client_idle(b)) {
		sym_client_wait(b, clock_mono_ns() + STEP_NS);
		sym_client_receive(b, symbolize_find_add_answer, f, TAKE_MAX);
		now = clock_mono_ns();
		if (sym_client_answered(b) != answered)
			last_answer_ns = now;
		answered = sym_client_answered(b);
		if (*f->cfg.stop)
			return -EINTR;
		if (now - last_answer_ns > SILENT_NS)
			sym_client_close_questions(b);
		/* each address is requested for its symbol, and then for its lines */
		if (f->cfg.report_progress)
			f->cfg.report_progress(f->cfg.ctx, answered / 2, f->asked);
	}
	return 0;
}

static int ask_all(struct symbolize_find *f, const struct symopen_dirs *dirs)
{
	const struct sym_client_cfg cfg = { .dirs = dirs };
	struct sym_client *b;
	int err;

	err = sym_client_new(&cfg, &b);
	if (err)
		return err;
	f->asked = 0;
	for (size_t i = 0; i < f->cnt; i++)
		ask_module(f, b, i);
	sym_client_hurry(b);
	err = wait_for_answers(f, b);
	sym_client_free(b);
	return err;
}

/* Whether files, or a vmlinux, should be searched again. */
static bool has_open_files(struct symbolize_find *f, bool kernel_only)
{
	count_named(f);
	for (size_t i = 0; i < f->cnt; i++)
		if (f->v[i]->why == SYMBOLIZE_FIND_FILE && f->v[i]->named < f->v[i]->cnt &&
		    (!kernel_only || is_kernel(f->v[i])))
			return true;
	return false;
}

/* Whether there is another vmlinux path for a kernel without symbols. */
static bool has_kernel_place(struct symbolize_find *f)
{
	struct buf path = { 0 };
	bool any = false;

	if (!has_open_files(f, true))
		return false;
	for (size_t i = 0; i < f->cnt; i++)
		any |= is_kernel(f->v[i]) && f->v[i]->why == SYMBOLIZE_FIND_FILE &&
		       kernel_path(f, f->v[i], &path);
	buf_free(&path);
	return any;
}

static int run_round(struct symbolize_find *f, const struct symopen_dirs *dirs)
{
	int err;

	f->kernel_place = 0;
	err = ask_all(f, dirs);
	for (f->kernel_place = 1; !err && has_kernel_place(f); f->kernel_place++)
		err = ask_all(f, dirs);
	return err;
}

/* ---- servers ----------------------------------------------------------------------------------- */

/* Fetches a file of this build with any content. */
static bool fetch(struct symbolize_find *f, const struct names_module *mod,
		  enum debuginfod_file file)
{
	struct symbolize_find_fetched *all = &f->fetched;
	int err = debuginfod_fetch(f->cfg.servers, file, mod->build_id, mod->build_id_sz);

	if (!err) {
		all->fetched++;
	} else if (err == -ENOENT) {
		all->missing++;
	} else if (err != -EINTR) {
		all->failed++;
		all->error = err;
		all->given_up = ++f->failures >= FAILURES_MAX;
	}
	if (!err || err == -ENOENT)
		f->failures = 0;
	return !err;
}

/* Whether such a file could add symbols to a module. */
static bool wants_file(const struct symbolize_find *f, const struct symbolize_find_module *m,
		       enum debuginfod_file file)
{
	const struct names_module *mod = names_module(f->cfg.names, m->index);

	if (m->why != SYMBOLIZE_FIND_FILE || mod->kind == PROF_MODULE_VDSO || m->named == m->cnt)
		return false;
	/* a kernel's executable file has no symbols */
	if (is_kernel(m))
		return file == DEBUGINFOD_DEBUGINFO;
	return file == DEBUGINFOD_DEBUGINFO || m->status == SYM_CLIENT_GONE ||
	       m->status == SYM_CLIENT_REPLACED;
}

/* Fetches files for modules without symbols, and searches again if there are any. */
static int fetch_round(struct symbolize_find *f, enum debuginfod_file file)
{
	size_t of = 0, which = 0, came = 0;

	count_named(f);
	for (size_t i = 0; i < f->cnt; i++)
		of += wants_file(f, f->v[i], file);
	for (size_t i = 0; i < f->cnt && !*f->cfg.stop && !f->fetched.given_up; i++) {
		if (!wants_file(f, f->v[i], file))
			continue;
		if (f->cfg.report_fetch)
			f->cfg.report_fetch(f->cfg.ctx, f->v[i]->index, ++which, of);
		came += fetch(f, names_module(f->cfg.names, f->v[i]->index), file);
	}
	if (*f->cfg.stop)
		return -EINTR;
	return came ? run_round(f, &f->cfg.dirs) : 0;
}

const struct symbolize_find_fetched *symbolize_find_fetched(const struct symbolize_find *f)
{
	return &f->fetched;
}

int symbolize_find_run(struct symbolize_find *f)
{
	struct symopen_dirs dirs = f->cfg.dirs;
	int err = 0;

	name_kernel(f);
	if (has_open_files(f, false))
		err = run_round(f, &dirs);
	/* a stripped file in symfs hides a file with symbols on this machine */
	if (!err && dirs.symfs && has_open_files(f, false)) {
		dirs.symfs = NULL;
		err = run_round(f, &dirs);
	}
	if (!err && f->cfg.servers)
		err = fetch_round(f, DEBUGINFOD_DEBUGINFO);
	if (!err && f->cfg.servers)
		err = fetch_round(f, DEBUGINFOD_EXECUTABLE);
	count_named(f);
	return err;
}
