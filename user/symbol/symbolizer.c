// SPDX-License-Identifier: BSD-2-Clause
/*
 * One module's names: which of its files answers what, and when they are read.
 *
 * Symbols come from the best table there is: .symtab, else that of the separate debug file, else
 * .dynsym with the compressed table that distributions add (.gnu_debugdata). Debug information
 * comes from the file itself or from its debug file. Everything is read when it is first asked
 * for, since most modules of a recording are only ever asked for a few names.
 *
 * A debug file counts when its build-id is that of the module, or, where the module has none, when
 * its checksum is the one in .gnu_debuglink: names of another build are worse than none.
 */
#include "symbol/symbolizer.h"

#include <errno.h>
#include <link.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "symbol/budget.h"
#include "symbol/demangle.h"
#include "symbol/dwinfo.h"
#include "symbol/elfimg.h"
#include "symbol/plt.h"
#include "symbol/symtab.h"

#define MEM_DEFAULT (256ull << 20)
#define CPU_DEFAULT_NS 2000000000ull
#define ENTRIES_DEFAULT 100000000ull
#define MINI_SIZE_MAX (64u << 20)

struct symbolizer {
	struct symbolizer_cfg cfg;
	struct budget symtab_budget, dwarf_budget;
	struct elfimg img;
	struct elfimg debug; /* separate debug file; closed when there is none */
	struct elfimg mini; /* what .gnu_debugdata unpacks to */
	struct elfimg alt; /* what dwz moved out of the debug information */
	struct symtab symtab;
	struct dwinfo *dwarf;
	struct buf text; /* names of the last answer */
	bool debug_tried, symtab_tried, dwarf_tried;
	bool dwarf_refused; /* a unit too large for the memory we may have */
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
		.mem = MEM_DEFAULT,
		.entries = sym->cfg.entries_max ? sym->cfg.entries_max : ENTRIES_DEFAULT,
	};
	budget_init(&sym->symtab_budget, &max);
	max.mem = sym->cfg.dwarf_mem_max;
	budget_init(&sym->dwarf_budget, &max);
}

void symbolizer_slice(struct symbolizer *sym, uint64_t cpu_ns)
{
	uint64_t end = budget_clock_ns() + cpu_ns;

	budget_slice(&sym->symtab_budget, end);
	budget_slice(&sym->dwarf_budget, end);
}

int symbolizer_open(int fd, const uint8_t *build_id, size_t build_id_sz,
		    const struct symbolizer_cfg *cfg, struct symbolizer **out)
{
	struct elfimg img = { 0 };
	struct symbolizer *sym;
	int err;

	err = elfimg_open(&img, fd);
	if (err)
		return err;
	if (build_id_sz && !same_id(&img, build_id, build_id_sz)) {
		elfimg_close(&img);
		return -ESTALE;
	}
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

/* The kernel maps the whole image, section headers last. */
int symbolizer_open_vdso(const struct symbolizer_cfg *cfg, struct symbolizer **out)
{
	unsigned long base = getauxval(AT_SYSINFO_EHDR);
	struct symbolizer *sym;
	ElfW(Ehdr) * ehdr;
	size_t size;
	void *copy;
	int err;

	if (!base)
		return -ENOENT;
	ehdr = (void *)base;
	size = ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize;
	copy = xmemdup(ehdr, size);
	sym = xcalloc(1, sizeof(*sym));
	err = elfimg_open_mem(&sym->img, copy, size, ELFIMG_HEAP);
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
	symtab_free(&sym->symtab);
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
	return fd < 0 ? fd : elfimg_open(img, fd);
}

static bool open_by_build_id(struct symbolizer *sym, const uint8_t *id, size_t id_sz)
{
	struct symbolizer_want want = {
		.kind = SYMBOLIZER_WANT_BUILD_ID,
		.build_id = id,
		.build_id_sz = id_sz,
	};

	if (want_open(sym, &want, &sym->debug))
		return false;
	if (same_id(&sym->debug, id, id_sz))
		return true;
	elfimg_close(&sym->debug);
	return false;
}

static void open_by_debuglink(struct symbolizer *sym, const uint8_t *id, size_t id_sz)
{
	struct symbolizer_want want = { .kind = SYMBOLIZER_WANT_DEBUGLINK };
	GElf_Word crc;
	bool right;

	want.name = dwelf_elf_gnu_debuglink(sym->img.elf, &crc);
	if (!want.name || !*want.name || want_open(sym, &want, &sym->debug))
		return;
	if (id_sz)
		right = same_id(&sym->debug, id, id_sz);
	else
		right = crc32_z(0, sym->debug.bytes, sym->debug.size) == crc;
	if (!right)
		elfimg_close(&sym->debug);
}

static void find_debug_file(struct symbolizer *sym)
{
	const uint8_t *id;
	size_t id_sz;

	if (sym->debug_tried)
		return;
	sym->debug_tried = true;
	id_sz = elfimg_build_id(&sym->img, &id);
	if (!id_sz || !open_by_build_id(sym, id, id_sz))
		open_by_debuglink(sym, id, id_sz);
}

/* Unpacks with a bound on memory and on size: a few kilobytes can claim to be gigabytes. */
static void open_mini(struct symbolizer *sym)
{
	size_t cap = 0, in_pos = 0, out_pos = 0;
	uint64_t mem = MINI_SIZE_MAX;
	uint8_t *bytes = NULL;
	lzma_ret ret = LZMA_BUF_ERROR;
	GElf_Shdr shdr;
	Elf_Data *data;
	Elf_Scn *scn;

	scn = elfimg_section(&sym->img, ".gnu_debugdata", &shdr);
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf)
		return;
	for (cap = 1 << 20; ret == LZMA_BUF_ERROR && cap <= MINI_SIZE_MAX; cap *= 4) {
		bytes = xrealloc(bytes, cap);
		in_pos = out_pos = 0;
		ret = lzma_stream_buffer_decode(&mem, 0, NULL, data->d_buf, &in_pos, data->d_size,
						bytes, &out_pos, cap);
	}
	if (ret != LZMA_OK)
		free(bytes);
	else
		elfimg_open_mem(&sym->mini, bytes, out_pos, ELFIMG_HEAP);
}

static void load_symtab(struct symbolizer *sym)
{
	size_t cnt;

	if (sym->symtab_tried)
		return;
	sym->symtab_tried = true;
	cnt = symtab_add_image(&sym->symtab, &sym->img, SHT_SYMTAB);
	if (!cnt) {
		find_debug_file(sym);
		if (sym->debug.elf)
			cnt = symtab_add_image(&sym->symtab, &sym->debug, SHT_SYMTAB);
	}
	if (!cnt) {
		symtab_add_image(&sym->symtab, &sym->img, SHT_DYNSYM);
		open_mini(sym);
		if (sym->mini.elf)
			symtab_add_image(&sym->symtab, &sym->mini, SHT_SYMTAB);
	}
	plt_add_symbols(&sym->symtab, &sym->img);
	symtab_finish(&sym->symtab);
}

/* Names in tables may carry a version: memcpy@@GLIBC_2.14. */
static void write_name(struct buf *text, const struct symtab_sym *s)
{
	const char *at = strchr(s->name, '@');

	demangle_name(text, s->name, at && at > s->name ? (size_t)(at - s->name) : strlen(s->name));
	if (s->plt)
		buf_addstr(text, "@plt");
}

/* The symbol around addr, and the span of addresses that it owns there. */
static const struct symtab_sym *find_sym(struct symbolizer *sym, uint64_t addr,
					 const struct symtab_span **span)
{
	load_symtab(sym);
	*span = symtab_find(&sym->symtab, addr);
	return *span ? &sym->symtab.syms[(*span)->sym] : NULL;
}

int symbolizer_name(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out)
{
	const struct symtab_span *span;
	const struct symtab_sym *s;
	uint64_t addr;

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

/* dwz moves what several debug files share to one more file; without it names would be holes. */
static bool open_alt(struct symbolizer *sym, const struct elfimg *debug)
{
	struct symbolizer_want want = { .kind = SYMBOLIZER_WANT_ALTLINK };
	GElf_Shdr shdr;
	Elf_Scn *scn = elfimg_section(debug, ".gnu_debugaltlink", &shdr);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *end;

	if (!scn || sym->alt.elf)
		return true;
	if (!data || !data->d_buf)
		return false;
	want.name = data->d_buf;
	end = memchr(want.name, '\0', data->d_size);
	if (!end)
		return false;
	want.build_id = (const uint8_t *)end + 1;
	want.build_id_sz = data->d_size - (end + 1 - want.name);
	if (!want.build_id_sz || want_open(sym, &want, &sym->alt))
		return false;
	if (same_id(&sym->alt, want.build_id, want.build_id_sz) &&
	    elfimg_has_debug_info(&sym->alt, sym->cfg.dwarf_mem_max))
		return true;
	elfimg_close(&sym->alt);
	return false;
}

/* Libdw leaves unpacked sections described in the image: the file's own bytes must come back. */
static void restore_image(struct elfimg *img)
{
	if (img->mem == ELFIMG_MAPPED)
		madvise(img->bytes, img->size, MADV_DONTNEED);
}

/* The image that has debug information for this module, or NULL. */
static const struct elfimg *debug_image(struct symbolizer *sym)
{
	size_t mem_max = sym->cfg.dwarf_mem_max;

	if (sym->cfg.no_dwarf)
		return NULL;
	if (elfimg_has_debug_info(&sym->img, mem_max))
		return &sym->img;
	find_debug_file(sym);
	if (sym->debug.elf && elfimg_has_debug_info(&sym->debug, mem_max))
		return &sym->debug;
	return NULL;
}

static void load_dwarf(struct symbolizer *sym)
{
	const struct elfimg *debug;

	if (sym->dwarf_tried)
		return;
	sym->dwarf_tried = true;
	debug = sym->dwarf_refused ? NULL : debug_image(sym);
	if (!debug || !open_alt(sym, debug))
		return;
	if (dwinfo_new(debug, sym->alt.elf ? &sym->alt : NULL, &sym->img, &sym->dwarf_budget,
		       &sym->dwarf))
		sym->dwarf_refused = true;
}

static void give_up_dwarf(struct symbolizer *sym)
{
	symbolizer_drop_dwarf(sym);
	sym->dwarf_refused = true;
}

/* Memory ran out in the middle: start anew, unless this unit alone is what does not fit. */
static int frames_again(struct symbolizer *sym, uint64_t addr, struct dwinfo_frame *out, size_t max)
{
	if (!dwinfo_used(sym->dwarf))
		return 0;
	symbolizer_drop_dwarf(sym);
	load_dwarf(sym);
	return sym->dwarf ? dwinfo_frames(sym->dwarf, addr, &sym->text, out, max) : 0;
}

static void write_sym(struct symbolizer *sym, const struct symtab_sym *s, struct dwinfo_frame *f)
{
	f->name_off = sym->text.len;
	write_name(&sym->text, s);
	f->name_len = sym->text.len - f->name_off;
	buf_addch(&sym->text, '\0');
}

/* Assembly has lines but often no functions: the symbol table has the name. */
static int frame_without_function(struct symbolizer *sym, uint64_t addr, struct dwinfo_frame *f)
{
	const struct symtab_span *span;
	const struct symtab_sym *s;

	if (!sym->dwarf || !dwinfo_line(sym->dwarf, addr, &sym->text, f))
		return 0;
	s = find_sym(sym, addr, &span);
	if (!s)
		return 0;
	write_sym(sym, s, f);
	f->lo = s->addr;
	f->hi = s->size ? s->addr + s->size : span->end;
	return 1;
}

/* GCC gives local C++ functions no linkage name; the linker's symbol knows the full name. */
static void improve_name(struct symbolizer *sym, struct dwinfo_frame *f)
{
	const struct symtab_span *span;
	const struct symtab_sym *s;

	if (!f->plain)
		return;
	s = find_sym(sym, f->lo, &span);
	if (s && s->addr == f->lo && (!strncmp(s->name, "_Z", 2) || !strncmp(s->name, "_R", 2)))
		write_sym(sym, s, f);
}

static int find_frames(struct symbolizer *sym, uint64_t addr, struct dwinfo_frame *found,
		       size_t max)
{
	int cnt;

	buf_clear(&sym->text);
	budget_enter(&sym->dwarf_budget);
	cnt = dwinfo_frames(sym->dwarf, addr, &sym->text, found, max);
	if (cnt == -E2BIG)
		cnt = frames_again(sym, addr, found, max);
	budget_leave(&sym->dwarf_budget);
	if (budget_reached(&sym->dwarf_budget)) {
		give_up_dwarf(sym);
		return 0;
	}
	if (!cnt)
		return frame_without_function(sym, addr, found);
	if (cnt > 0)
		improve_name(sym, &found[0]);
	return cnt;
}

int symbolizer_frames(struct symbolizer *sym, uint64_t off, struct symbolizer_frame *out,
		      size_t max)
{
	struct dwinfo_frame found[DWINFO_DEPTH_MAX];
	uint64_t addr;
	int cnt, i;

	budget_enter(&sym->dwarf_budget);
	load_dwarf(sym);
	budget_leave(&sym->dwarf_budget);
	if (!max || !sym->dwarf || !elfimg_addr(&sym->img, off, &addr))
		return 0;
	cnt = find_frames(sym, addr, found, max < DWINFO_DEPTH_MAX ? max : DWINFO_DEPTH_MAX);
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
	return cnt > 0 ? cnt : 0;
}

int symbolizer_has_dwarf(struct symbolizer *sym)
{
	return !sym->dwarf_refused && (sym->dwarf || debug_image(sym));
}

const char *symbolizer_gave_up(const struct symbolizer *sym)
{
	static const char *const symtab[] = {
		[BUDGET_TIME] = "symbol table: time",
		[BUDGET_MEMORY] = "symbol table: memory",
		[BUDGET_ENTRIES] = "symbol table: entries",
	};
	const char *bound = budget_reached(&sym->dwarf_budget);

	return bound ? bound : symtab[sym->symtab_budget.reached];
}

int symbolizer_has_symtab(struct symbolizer *sym)
{
	load_symtab(sym);
	return sym->symtab.sym_cnt > 0;
}

size_t symbolizer_dwarf_mem(const struct symbolizer *sym)
{
	return sym->dwarf ? dwinfo_mem(sym->dwarf) : 0;
}

void symbolizer_drop_dwarf(struct symbolizer *sym)
{
	if (!sym->dwarf)
		return;
	dwinfo_free(sym->dwarf);
	sym->dwarf = NULL;
	sym->dwarf_tried = false;
	restore_image(sym->debug.elf ? &sym->debug : &sym->img);
	restore_image(&sym->alt);
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
	err = elfimg_open(&img, copy);
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
