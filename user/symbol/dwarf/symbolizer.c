// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbols of one module: which of its files has what, and when they are read.
 *
 * Symbols come from the best table: .symtab, otherwise .symtab of the debug file, otherwise .dynsym
 * with the compressed table that distributions add (.gnu_debugdata). Debug information comes from
 * the file itself or from its debug file. Everything is read on demand, because most modules of a
 * recording have few sampled addresses.
 *
 * A debug file must have the build-id of the module or, if the module has none, the checksum in
 * .gnu_debuglink: wrong symbols are worse than none.
 *
 * Reading is a series of steps, and each continues where it stopped at the end of a slice. If
 * reading the symbol table exceeds the budget, the part read so far is used, and the next step
 * follows.
 */
#include "symbol/dwarf/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "symbol/budget.h"
#include "symbol/demangle.h"
#include "symbol/dwarf/dwfile.h"
#include "symbol/dwarf/dwinfo.h"
#include "symbol/dwarf/dwofiles.h"
#include "symbol/elf/elfimg.h"
#include "symbol/elf/minidebug.h"
#include "symbol/elf/plt.h"
#include "symbol/elf/symtab.h"

#define MEM_DEFAULT (256ull << 20)
#define CPU_DEFAULT_NS 2000000000ull
#define ENTRIES_DEFAULT 100000000ull
/* Maximum size of a debug file, because the module is untrusted */
#define DEBUG_SIZE_MAX (4ull << 30)
#define CRC_CHUNK (64u << 10)
/* Work to read and checksum a chunk, in units of budget_work() */
#define CRC_WORK 2048
/* CPU time per lookup in addition to the budget, so that a long recording does not use it up */
#define ANSWER_NS 100000
#define ANSWER_ENTRIES 1000

/* Prefix of glibc's internal aliases of exported functions */
#define INTERNAL "__GI_"

enum { SYMTAB_STEPS = 8 }; /* of load_symtab() */

enum debug_step { DEBUG_BY_ID, DEBUG_BY_LINK, DEBUG_CHECKSUM, DEBUG_DONE };

struct symbolizer {
	struct symbolizer_cfg cfg;
	struct budget symtab_budget, dwarf_budget;
	struct elfimg img;

	struct elfimg debug; /* separate debug file; closed if there is none */
	enum debug_step debug_step;
	uint32_t crc, crc_wanted;
	size_t crc_pos;

	struct symtab symtab;
	unsigned int symtab_step;
	enum budget_bound symtab_cut; /* the limit that was reached before it was dropped */
	bool symtab_full; /* .symtab exists */
	struct plt plt;
	struct minidebug *unpacking;
	struct elfimg mini; /* the unpacked .gnu_debugdata */
	size_t mini_cap;

	struct elfimg alt; /* debug information that dwz moved */
	struct dwofiles split; /* debug information that the compiler moved */
	struct dwinfo *dwarf;
	bool dwarf_refused; /* final */
	bool left_out; /* a part was too large */
	struct buf text; /* names of the last result */
};

static bool same_id(const struct elfimg *img, const uint8_t *id, size_t id_sz)
{
	const uint8_t *own;
	size_t own_sz = elfimg_build_id(img, &own);

	return own_sz == id_sz && !memcmp(own, id, id_sz);
}

static void set_cfg(struct symbolizer *sym, const struct symbolizer_cfg *cfg)
{
	struct budget_max max;

	if (cfg)
		sym->cfg = *cfg;
	if (!sym->cfg.dwarf_mem_max)
		sym->cfg.dwarf_mem_max = MEM_DEFAULT;
	max = (struct budget_max){
		.cpu_ns = sym->cfg.cpu_max_ns ? sym->cfg.cpu_max_ns : CPU_DEFAULT_NS,
		.mem = sym->cfg.symtab_mem_max ? sym->cfg.symtab_mem_max : MEM_DEFAULT,
		.entries = sym->cfg.entries_max ? sym->cfg.entries_max : ENTRIES_DEFAULT,
	};
	budget_init(&sym->symtab_budget, &max);
	max.mem = sym->cfg.dwarf_mem_max;
	budget_init(&sym->dwarf_budget, &max);
	symtab_init(&sym->symtab, &sym->symtab_budget);
	dwofiles_init(&sym->split, sym->cfg.open_debug, sym->cfg.open_ctx);
}

void symbolizer_slice(struct symbolizer *sym, uint64_t cpu_ns)
{
	uint64_t end = cpu_ns ? budget_clock_ns() + cpu_ns : 0;

	budget_slice(&sym->symtab_budget, end);
	budget_slice(&sym->dwarf_budget, end);
}

int symbolizer_open(int fd, const uint8_t *build_id, size_t build_id_sz,
		    const struct symbolizer_cfg *cfg, struct symbolizer **out)
{
	struct elfimg img = { 0 };
	struct symbolizer *sym;
	int err;

	err = elfimg_open(&img, fd, 0);
	if (err)
		return err;
	if (build_id_sz && !same_id(&img, build_id, build_id_sz)) {
		elfimg_close(&img);
		return -ESTALE;
	}
	if (cfg && cfg->kernel)
		elfimg_place_kernel(&img);
	else if (cfg && build_id_sz)
		elfimg_place_text(&img, cfg->text_off, cfg->text_size);
	sym = xcalloc(1, sizeof(*sym));
	sym->img = img;
	set_cfg(sym, cfg);
	*out = sym;
	return 0;
}

int symbolizer_open_mem(void *bytes, size_t size, const struct symbolizer_cfg *cfg,
			struct symbolizer **out)
{
	struct elfimg img = { 0 };
	struct symbolizer *sym;
	int err;

	err = elfimg_open_mem(&img, bytes, size, ELFIMG_BORROWED);
	if (err)
		return err;
	sym = xcalloc(1, sizeof(*sym));
	sym->img = img;
	set_cfg(sym, cfg);
	*out = sym;
	return 0;
}

/* The kernel maps the whole image, with section headers at its end. */
int symbolizer_open_vdso(const struct symbolizer_cfg *cfg, struct symbolizer **out)
{
	struct symbolizer *sym = xcalloc(1, sizeof(*sym));
	int err = elfimg_open_vdso(&sym->img);

	if (err) {
		free(sym);
		return err;
	}
	set_cfg(sym, cfg);
	*out = sym;
	return 0;
}

void symbolizer_free(struct symbolizer *sym)
{
	if (!sym)
		return;
	dwinfo_free(sym->dwarf);
	minidebug_free(sym->unpacking);
	plt_free(&sym->plt, &sym->symtab);
	symtab_free(&sym->symtab);
	dwofiles_fini(&sym->split);
	elfimg_close(&sym->alt);
	elfimg_close(&sym->mini);
	elfimg_close(&sym->debug);
	elfimg_close(&sym->img);
	buf_free(&sym->text);
	free(sym);
}

static int want_open(struct symbolizer *sym, const struct symbolizer_want *want, struct elfimg *img)
{
	int fd;

	if (!sym->cfg.open_debug)
		return -ENOENT;
	fd = sym->cfg.open_debug(sym->cfg.open_ctx, want);
	return fd < 0 ? fd : elfimg_open(img, fd, DEBUG_SIZE_MAX);
}

static int open_by_build_id(struct symbolizer *sym, const uint8_t *id, size_t id_sz)
{
	struct symbolizer_want want = {
		.kind = SYMBOLIZER_WANT_BUILD_ID,
		.build_id = id,
		.build_id_sz = id_sz,
	};
	int err = id_sz ? want_open(sym, &want, &sym->debug) : -ENOENT;

	if (!err && !same_id(&sym->debug, id, id_sz))
		elfimg_close(&sym->debug);
	return err == -EAGAIN ? err : 0;
}

/* The name in .gnu_debuglink and its checksum; NULL if there is none. */
static const char *debuglink(const struct elfimg *img, uint32_t *crc)
{
	struct elfimg_sec sec;
	const uint8_t *data;
	size_t size, len;

	data = elfimg_find(img, ".gnu_debuglink", &sec) ? elfimg_data(img, &sec, &size) : NULL;
	len = data ? strnlen((const char *)data, size) : 0;
	len = (len + 4) & ~3ull;
	if (!data || !*data || len > size || size - len < sizeof(*crc))
		return NULL;
	memcpy(crc, data + len, sizeof(*crc));
	return (const char *)data;
}

static int open_by_debuglink(struct symbolizer *sym, const uint8_t *id, size_t id_sz)
{
	struct symbolizer_want want = { .kind = SYMBOLIZER_WANT_DEBUGLINK };
	int err;

	want.name = debuglink(&sym->img, &sym->crc_wanted);
	err = want.name ? want_open(sym, &want, &sym->debug) : -ENOENT;
	if (!err && id_sz && !same_id(&sym->debug, id, id_sz))
		elfimg_close(&sym->debug);
	return err == -EAGAIN ? err : 0;
}

static int check_checksum(struct symbolizer *sym, bool has_id)
{
	struct elfimg *debug = &sym->debug;
	int err = 0;

	if (has_id || !debug->bytes)
		return 0;
	while (!err && sym->crc_pos < debug->size) {
		size_t n = debug->size - sym->crc_pos;

		n = n < CRC_CHUNK ? n : CRC_CHUNK;
		sym->crc = crc32_z(sym->crc, debug->bytes + sym->crc_pos, n);
		sym->crc_pos += n;
		err = budget_work(&sym->dwarf_budget, CRC_WORK);
	}
	if (err == -EAGAIN)
		return err;
	if (err || sym->crc != sym->crc_wanted)
		elfimg_close(debug);
	return 0;
}

/* Accounted as work on debug information. 0 or -EAGAIN. */
static int find_debug_file(struct symbolizer *sym)
{
	const uint8_t *id = NULL;
	size_t id_sz = elfimg_build_id(&sym->img, &id);
	int err = 0;

	while (!err && sym->debug_step < DEBUG_DONE) {
		if (sym->debug_step == DEBUG_BY_ID)
			err = open_by_build_id(sym, id, id_sz);
		else if (sym->debug_step == DEBUG_BY_LINK && !sym->debug.bytes)
			err = open_by_debuglink(sym, id, id_sz);
		else if (sym->debug_step == DEBUG_CHECKSUM)
			err = check_checksum(sym, id_sz > 0);
		sym->debug_step += !err;
	}
	return err;
}

static int add_own_symbols(struct symbolizer *sym)
{
	int err = symtab_add_image(&sym->symtab, &sym->img, SHT_SYMTAB);

	sym->symtab_full = sym->symtab.sym_cnt > 0;
	return err;
}

static int look_for_debug_file(struct symbolizer *sym)
{
	int err;

	if (sym->symtab_full)
		return 0;
	budget_leave(&sym->symtab_budget);
	budget_enter(&sym->dwarf_budget);
	err = find_debug_file(sym);
	budget_leave(&sym->dwarf_budget);
	budget_enter(&sym->symtab_budget);
	return err;
}

static int add_debug_symbols(struct symbolizer *sym)
{
	int err;

	if (sym->symtab_full || !sym->debug.bytes)
		return 0;
	err = symtab_add_image(&sym->symtab, &sym->debug, SHT_SYMTAB);
	if (err != -EAGAIN)
		sym->symtab_full = sym->symtab.sym_cnt > 0;
	return err;
}

static int add_dynamic_symbols(struct symbolizer *sym)
{
	return sym->symtab_full ? 0 : symtab_add_image(&sym->symtab, &sym->img, SHT_DYNSYM);
}

static int unpack_mini(struct symbolizer *sym)
{
	uint8_t *bytes;
	size_t size;
	int ret;

	if (sym->symtab_full)
		return 0;
	ret = sym->unpacking ? 1 : minidebug_new(&sym->img, &sym->symtab_budget, &sym->unpacking);
	if (ret == 1)
		ret = minidebug_run(sym->unpacking);
	if (ret == -EAGAIN)
		return ret;
	if (!ret && sym->unpacking) {
		bytes = minidebug_steal(sym->unpacking, &size, &sym->mini_cap);
		elfimg_open_mem(&sym->mini, bytes, size, ELFIMG_HEAP);
	}
	minidebug_free(sym->unpacking);
	sym->unpacking = NULL;
	return 0;
}

static int add_mini_symbols(struct symbolizer *sym)
{
	if (sym->symtab_full || !sym->mini.bytes)
		return 0;
	return symtab_add_image(&sym->symtab, &sym->mini, SHT_SYMTAB);
}

static int add_stubs(struct symbolizer *sym)
{
	int err = plt_add_symbols(&sym->plt, &sym->symtab, &sym->img);

	if (err != -EAGAIN)
		plt_free(&sym->plt, &sym->symtab);
	return err;
}

static int finish_symtab(struct symbolizer *sym)
{
	return symtab_finish(&sym->symtab);
}

/* 0 or -EAGAIN. */
static int load_symtab(struct symbolizer *sym)
{
	static int (*const steps[SYMTAB_STEPS])(struct symbolizer *) = {
		add_own_symbols, look_for_debug_file, add_debug_symbols, add_dynamic_symbols,
		unpack_mini,	 add_mini_symbols,    add_stubs,	 finish_symtab,
	};
	int err = 0;

	if (sym->symtab_step == SYMTAB_STEPS)
		return 0;
	budget_enter(&sym->symtab_budget);
	while (err != -EAGAIN && sym->symtab_step < SYMTAB_STEPS) {
		err = steps[sym->symtab_step](sym);
		sym->symtab_step += err != -EAGAIN;
	}
	budget_leave(&sym->symtab_budget);
	return err == -EAGAIN ? err : 0;
}

/* Removes a version from the name: memcpy@@GLIBC_2.14. */
static void write_name(struct buf *text, const struct symtab_sym *s)
{
	size_t len = strnlen(s->name, DEMANGLE_MAX);
	const char *at = memchr(s->name, '@', len);

	demangle_name(text, s->name, at && at > s->name ? (size_t)(at - s->name) : len);
	if (s->plt)
		buf_addstr(text, "@plt");
}

/* The symbol that owns addr, and its span of addresses; after load_symtab(). */
static const struct symtab_sym *find_sym(const struct symbolizer *sym, uint64_t addr,
					 const struct symtab_span **span)
{
	*span = symtab_find(&sym->symtab, addr);
	return *span ? &sym->symtab.syms[(*span)->sym] : NULL;
}

int symbolizer_name(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out)
{
	const struct symtab_span *span;
	const struct symtab_sym *s;
	uint64_t addr;
	int err = load_symtab(sym);

	if (err)
		return err;
	s = elfimg_addr(&sym->img, off, &addr) ? find_sym(sym, addr, &span) : NULL;
	if (!s)
		return 0;
	buf_clear(&sym->text);
	write_name(&sym->text, s);
	*out = (struct symbolizer_frame){
		.name = buf_cstr(&sym->text),
		.name_len = sym->text.len,
		.size = s->size ? s->size : span->end - s->addr,
	};
	return elfimg_off(&sym->img, s->addr, &out->start);
}

/*
 * Opens the file that dwz moved common parts of debug files to; without it names are missing. 1 if
 * it is not needed or open; 0; -EAGAIN.
 */
static int open_alt(struct symbolizer *sym, const struct elfimg *debug)
{
	struct symbolizer_want want = { .kind = SYMBOLIZER_WANT_ALTLINK };
	struct elfimg_sec sec;
	const uint8_t *data;
	size_t size, len;
	int err;

	if (sym->alt.bytes || !elfimg_find(debug, ".gnu_debugaltlink", &sec))
		return 1;
	data = elfimg_data(debug, &sec, &size);
	len = data ? strnlen((const char *)data, size) : 0;
	if (!data || size - len < 2)
		return 0;
	want.name = (const char *)data;
	want.build_id = data + len + 1;
	want.build_id_sz = size - len - 1;
	err = want_open(sym, &want, &sym->alt);
	if (err)
		return err == -EAGAIN ? err : 0;
	if (same_id(&sym->alt, want.build_id, want.build_id_sz) && dwfile_has_info(&sym->alt))
		return 1;
	elfimg_close(&sym->alt);
	return 0;
}

/* The image with debug information: 1; 0 if there is none; -EAGAIN. */
static int debug_image(struct symbolizer *sym, const struct elfimg **img)
{
	int err;

	if (sym->cfg.no_dwarf || sym->dwarf_refused)
		return 0;
	*img = &sym->img;
	if (dwfile_has_info(*img))
		return 1;
	err = find_debug_file(sym);
	if (err)
		return err;
	*img = &sym->debug;
	return sym->debug.bytes && dwfile_has_info(*img);
}

/* 1 if there is debug information; 0; -EAGAIN. */
static int load_dwarf(struct symbolizer *sym)
{
	const struct elfimg *debug;
	int ret;

	if (sym->dwarf)
		return 1;
	ret = debug_image(sym, &debug);
	if (ret == 1)
		ret = open_alt(sym, debug);
	if (ret == 1)
		sym->dwarf = dwinfo_new(debug, sym->alt.bytes ? &sym->alt : NULL, &sym->split,
					&sym->img, &sym->dwarf_budget);
	else if (!ret)
		sym->dwarf_refused = true;
	return ret;
}

static void write_sym(struct symbolizer *sym, const struct symtab_sym *s, struct dwinfo_frame *f)
{
	f->name_off = sym->text.len;
	write_name(&sym->text, s);
	f->name_len = sym->text.len - f->name_off;
	buf_addch(&sym->text, '\0');
}

/* Assembly has lines but often no functions; the name comes from the symbol table. */
static int frame_without_function(struct symbolizer *sym, uint64_t addr, struct dwinfo_frame *f)
{
	const struct symtab_span *span;
	const struct symtab_sym *s;

	if (!dwinfo_line(sym->dwarf, addr, &sym->text, f))
		return 0;
	s = find_sym(sym, addr, &span);
	if (!s)
		return 0;
	write_sym(sym, s, f);
	f->lo = s->addr;
	f->hi = s->size ? s->addr + s->size : span->end;
	return 1;
}

static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

static bool is_internal(const char *name)
{
	return !strncmp(name, INTERNAL, strlen(INTERNAL));
}

/* Number of leading underscores, and the length without a version. */
static size_t bare_name(const char *name, size_t *len)
{
	size_t n = strnlen(name, DEMANGLE_MAX), bare = 0;
	const char *at = memchr(name, '@', n);

	while (bare < n && name[bare] == '_')
		bare++;
	*len = at && at > name ? (size_t)(at - name) : n;
	return bare;
}

/* Compares two names of one function: fewer leading underscores, then fewer characters. */
static bool is_better_known(const char *a, const char *b)
{
	size_t a_len, b_len, a_bare = bare_name(a, &a_len), b_bare = bare_name(b, &b_len);

	return a_bare < b_bare || (a_bare == b_bare && a_len < b_len);
}

/*
 * Takes a better name from the symbol table. GCC gives local C++ functions no linkage name, but the
 * symbol has the full name. Functions in a C library have internal names: __GI___libc_free is free,
 * which has a symbol at the same address.
 */
static void improve_name(struct symbolizer *sym, struct dwinfo_frame *f)
{
	const char *name = sym->text.data + f->name_off;
	const struct symtab_span *span;
	const struct symtab_sym *s = find_sym(sym, f->lo, &span);

	if (s && s->addr == f->lo &&
	    (is_mangled(s->name) ? f->plain :
				   !is_internal(s->name) &&
					   (is_internal(name) || (symtab_is_global(s) &&
								  is_better_known(s->name, name)))))
		write_sym(sym, s, f);
}

static void strip_internal(struct symbolizer *sym, struct dwinfo_frame *f)
{
	if (!is_internal(sym->text.data + f->name_off) || f->name_len == strlen(INTERNAL))
		return;
	f->name_off += strlen(INTERNAL);
	f->name_len -= strlen(INTERNAL);
}

/*
 * An outer function may be inlined into a part of itself after splitting; both frames get the same
 * name.
 */
static void improve_names(struct symbolizer *sym, struct dwinfo_frame *f, int cnt)
{
	const struct dwinfo_frame was = f[0];
	const char *text;

	improve_name(sym, &f[0]);
	text = sym->text.data;
	for (int i = 1; i < cnt; i++)
		if (f[i].name_len == was.name_len &&
		    !memcmp(text + f[i].name_off, text + was.name_off, was.name_len)) {
			f[i].name_off = f[0].name_off;
			f[i].name_len = f[0].name_len;
		}
	for (int i = 0; i < cnt; i++)
		strip_internal(sym, &f[i]);
}

/* Increases the budget per lookup, or drops debug information when the budget has ended. */
static void settle_budget(struct symbolizer *sym, int ret)
{
	if (budget_reached(&sym->dwarf_budget)) {
		symbolizer_drop_dwarf(sym);
		sym->dwarf_refused = true;
	} else if (ret >= 0) {
		budget_allow(&sym->dwarf_budget, ANSWER_NS, ANSWER_ENTRIES);
	}
}

static int find_frames(struct symbolizer *sym, uint64_t addr, struct dwinfo_frame *found,
		       size_t max)
{
	int cnt;

	buf_clear(&sym->text);
	budget_enter(&sym->dwarf_budget);
	cnt = load_dwarf(sym);
	if (cnt == 1)
		cnt = dwinfo_frames(sym->dwarf, addr, &sym->text, found, max);
	budget_leave(&sym->dwarf_budget);
	sym->left_out |= sym->dwarf && dwinfo_left_out(sym->dwarf);
	settle_budget(sym, cnt);
	if (cnt == -EAGAIN)
		return cnt;
	if (cnt < 0 || !sym->dwarf)
		return 0;
	if (!cnt)
		return frame_without_function(sym, addr, found);
	improve_names(sym, found, cnt);
	return cnt;
}

int symbolizer_frames(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out,
		      size_t max)
{
	struct dwinfo_frame found[DWINFO_DEPTH_MAX];
	uint64_t addr;
	int cnt, i;

	if (!max || !elfimg_addr(&sym->img, off, &addr))
		return 0;
	/* without debug information there is no need for the symbol table */
	cnt = symbolizer_has_dwarf(sym);
	if (cnt <= 0)
		return cnt;
	cnt = load_symtab(sym);
	if (!cnt)
		cnt = find_frames(sym, addr, found,
				  max < DWINFO_DEPTH_MAX ? max : DWINFO_DEPTH_MAX);
	for (i = 0; i < cnt; i++) {
		const struct dwinfo_frame *f = &found[i];

		out[i] = (struct symbolizer_frame){
			.name = sym->text.data + f->name_off,
			.name_len = f->name_len,
			.file = f->file_off == SIZE_MAX ? NULL : sym->text.data + f->file_off,
			.line = f->line,
			.size = f->hi - f->lo,
		};
		if (!elfimg_off(&sym->img, f->lo, &out[i].start))
			return 0;
	}
	return cnt;
}

int symbolizer_has_dwarf(struct symbolizer *sym)
{
	const struct elfimg *debug;
	int ret;

	if (sym->dwarf)
		return 1;
	budget_enter(&sym->dwarf_budget);
	ret = debug_image(sym, &debug);
	budget_leave(&sym->dwarf_budget);
	settle_budget(sym, -EAGAIN);
	return ret;
}

const char *symbolizer_gave_up(const struct symbolizer *sym)
{
	static const char *const symtab[] = {
		[BUDGET_TIME] = "symbol table: time",
		[BUDGET_MEMORY] = "symbol table: memory",
		[BUDGET_ENTRIES] = "symbol table: entries",
	};
	const enum budget_bound now = sym->symtab_budget.reached;
	const char *bound = budget_reached(&sym->dwarf_budget);

	if (!bound && sym->left_out)
		bound = "memory";
	return bound ? bound : symtab[now ? now : sym->symtab_cut];
}

int symbolizer_has_symtab(struct symbolizer *sym)
{
	int err = load_symtab(sym);

	return err ? err : sym->symtab.sym_cnt > 0;
}

unsigned int symbolizer_missing(const struct symbolizer *sym)
{
	return sym->split.missing + sym->split.beyond;
}

size_t symbolizer_files(const struct symbolizer *sym)
{
	return sym->split.open_cnt;
}

size_t symbolizer_dwarf_mem(const struct symbolizer *sym)
{
	return sym->dwarf_budget.mem;
}

void symbolizer_drop_dwarf(struct symbolizer *sym)
{
	dwinfo_free(sym->dwarf);
	sym->dwarf = NULL;
	dwofiles_drop(&sym->split);
}

size_t symbolizer_mem(const struct symbolizer *sym)
{
	return sym->dwarf_budget.mem + sym->symtab_budget.mem;
}

static void drop_symtab(struct symbolizer *sym)
{
	struct budget *b = &sym->symtab_budget;

	minidebug_free(sym->unpacking);
	sym->unpacking = NULL;
	plt_free(&sym->plt, &sym->symtab);
	symtab_free(&sym->symtab);
	elfimg_close(&sym->mini);
	budget_give_back(b, sym->mini_cap);
	sym->mini_cap = 0;
	sym->symtab_full = false;
	if (b->reached)
		sym->symtab_cut = b->reached;
	if (sym->symtab_cut == BUDGET_TIME) {
		sym->symtab_step = SYMTAB_STEPS;
		return;
	}
	sym->symtab_step = 0;
	budget_restart(b);
}

void symbolizer_drop_all(struct symbolizer *sym)
{
	symbolizer_drop_dwarf(sym);
	if (!sym->dwarf_budget.reached)
		budget_restart(&sym->dwarf_budget);
	drop_symtab(sym);
}

void symbolizer_release_pages(const struct symbolizer *sym)
{
	elfimg_release_pages(&sym->img);
	elfimg_release_pages(&sym->debug);
	elfimg_release_pages(&sym->alt);
	dwofiles_release_pages(&sym->split);
}

int symbolizer_build_id(int fd, uint8_t out[SYMBOLIZER_BUILD_ID_MAX], size_t *sz)
{
	struct elfimg img = { 0 };
	const uint8_t *id = NULL;
	int copy, err;
	size_t n;

	copy = dup(fd);
	if (copy < 0)
		return -errno;
	err = elfimg_open(&img, copy, 0);
	if (err)
		return err;
	n = elfimg_build_id(&img, &id);
	if (n > SYMBOLIZER_BUILD_ID_MAX)
		n = 0;
	if (n)
		memcpy(out, id, n);
	*sz = n;
	elfimg_close(&img);
	return 0;
}
