/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of kernel text: /proc/kallsyms as a sorted table with 16 bytes per symbol
 *
 * A trace stores offsets from the start of a module, so this file also defines modules: the image
 * from _stext to _etext, each loaded module, and each BPF image, because BPF images are loaded and
 * unloaded one by one. Module bounds come from /proc/modules. Since Linux 6.4, module sizes include
 * data at other addresses, so a module ends at the next one's start at the latest. If an address
 * has several names, a global name with the fewest leading underscores is used.
 */
#include "kernel/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"

#define PAGE 4096
#define BPF_IMAGE_MAX (256 * 1024) /* assumed size if no symbol follows */
#define TEXT_MAX (512UL << 20)
#define CHUNK 65536UL /* longer than any line */
#define LIKELY_SYMBOLS (1UL << 17)
#define LIKELY_NAMES (4UL << 20) /* bytes */
#define KERNEL_NAME "[kernel.kallsyms]"

struct entry {
	uint64_t addr;
	uint32_t name_off;
	uint32_t mod : 27;
	uint32_t rank : 5; /* 0: this name is used */
};

_Static_assert(sizeof(struct entry) == 16, "the table is meant to be small");

struct kallsyms {
	struct entry *entries; /* sorted by address, then rank */
	size_t cnt;
	struct kallsyms_module *mods; /* sorted by start; names are in `names` */
	size_t mod_cnt;
	char *names;
	uint64_t marks[KALLSYMS_MARK_CNT];
};

static const char *const mark_names[KALLSYMS_MARK_CNT] = {
	[KALLSYMS_STEXT] = "_stext",
	[KALLSYMS_ETEXT] = "_etext",
	[KALLSYMS_SINITTEXT] = "_sinittext",
	[KALLSYMS_EINITTEXT] = "_einittext",
	[KALLSYMS_ORC_IPS] = "__start_orc_unwind_ip",
	[KALLSYMS_ORC_IPS_END] = "__stop_orc_unwind_ip",
	[KALLSYMS_ORC_ROWS] = "__start_orc_unwind",
	[KALLSYMS_ORC_ROWS_END] = "__stop_orc_unwind",
	[KALLSYMS_RETHOOK] = "arch_rethook_trampoline",
	[KALLSYMS_GRAPH_RETURN] = "return_to_handler",
};

/* A module while it is collected */
struct draft {
	struct kallsyms_module mod;
	uint32_t name_off;
	uint32_t idx; /* order of appearance */
	uint64_t first, last; /* addresses of its first and last symbol */
};

struct loader {
	struct kallsyms *k;
	size_t entries_cap, drafts_cap;
	struct draft *drafts;
	size_t draft_cnt;
	struct strtab mod_names; /* maps id to drafts_of */
	uint32_t *drafts_of;
	size_t drafts_of_cap;
	struct buf names;
	uint64_t bits; /* of all addresses */
};

/* Parts of one line, as positions in the text */
struct line {
	uint64_t addr;
	char type;
	const char *name, *mod; /* mod has no brackets */
	size_t name_len, mod_len;
};

static const char *parse_hex(const char *p, const char *end, uint64_t *out)
{
	uint64_t v = 0;

	for (; p < end; p++) {
		unsigned char c = *p;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else
			break;
	}
	*out = v;
	return p;
}

/* "ffffffffc0a01000 t xfs_alloc\t[xfs]" */
static bool parse_line(const char *p, const char *end, struct line *l)
{
	const char *start = p, *gap;

	p = parse_hex(p, end, &l->addr);
	if (p == start || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	gap = memchr(l->name, '\t', end - l->name);
	l->name_len = (gap ? gap : end) - l->name;
	l->mod = gap ? gap + 1 : end;
	l->mod_len = end - l->mod;
	if (l->mod_len >= 2 && l->mod[0] == '[' && end[-1] == ']') {
		l->mod++;
		l->mod_len -= 2;
	} else {
		l->mod_len = 0;
	}
	return l->name_len > 0;
}

static uint32_t add_name(struct loader *ld, const char *s, size_t n)
{
	uint32_t off = ld->names.len;

	buf_add(&ld->names, s, n);
	buf_addch(&ld->names, '\0');
	return off;
}

static uint32_t add_draft(struct loader *ld, enum kallsyms_kind kind, uint32_t name_off)
{
	ld->drafts =
		array_reserve(ld->drafts, &ld->drafts_cap, ld->draft_cnt + 1, sizeof(*ld->drafts));
	ld->drafts[ld->draft_cnt] = (struct draft){
		.mod = { .kind = kind },
		.name_off = name_off,
		.idx = ld->draft_cnt,
		.first = UINT64_MAX,
	};
	return ld->draft_cnt++;
}

/* The draft of a line's module. Each BPF image has its own draft and uses the symbol's name. */
static uint32_t draft_of(struct loader *ld, const struct line *l, uint32_t name_off)
{
	uint32_t id, old = ld->mod_names.cnt;

	if (!l->mod_len)
		return 0;
	if (l->mod_len == 3 && !memcmp(l->mod, "bpf", 3))
		return add_draft(ld, KALLSYMS_BPF, name_off);
	id = strtab_add(&ld->mod_names, l->mod, l->mod_len);
	if (id == old) {
		uint32_t off = ld->names.len;

		buf_addch(&ld->names, '[');
		buf_add(&ld->names, l->mod, l->mod_len);
		buf_add(&ld->names, "]", 2);
		ld->drafts_of = array_reserve(ld->drafts_of, &ld->drafts_of_cap, (size_t)id + 1,
					      sizeof(*ld->drafts_of));
		ld->drafts_of[id] = add_draft(ld, KALLSYMS_MODULE, off);
	}
	return ld->drafts_of[id];
}

static unsigned int name_rank(char type, const char *name, size_t len)
{
	unsigned int underscores = 0;

	while (underscores < 7 && underscores < len && name[underscores] == '_')
		underscores++;
	return (type == 'T' ? 0 : type == 'W' ? 8 : type == 't' ? 16 : 24) + underscores;
}

static void add_symbol(struct loader *ld, const struct line *l)
{
	struct kallsyms *k = ld->k;
	uint32_t name_off = add_name(ld, l->name, l->name_len);
	uint32_t idx = draft_of(ld, l, name_off);
	struct draft *d = &ld->drafts[idx];

	if (l->addr < d->first)
		d->first = l->addr;
	if (l->addr > d->last)
		d->last = l->addr;
	k->entries = array_reserve(k->entries, &ld->entries_cap, k->cnt + 1, sizeof(*k->entries));
	k->entries[k->cnt++] = (struct entry){
		.addr = l->addr,
		.name_off = name_off,
		.mod = idx,
		.rank = name_rank(l->type, l->name, l->name_len),
	};
}

/* Finds wanted marks, also among data symbols. Few names have the same prefix, so this is cheap. */
static void note_mark(struct kallsyms *k, const struct line *l)
{
	if (l->mod_len || (*l->name != '_' && *l->name != 'a' && *l->name != 'r'))
		return;
	for (int i = 0; i < KALLSYMS_MARK_CNT; i++)
		if (strlen(mark_names[i]) == l->name_len &&
		    !memcmp(l->name, mark_names[i], l->name_len))
			k->marks[i] = l->addr;
}

static int parse_symbols(struct loader *ld, const char *text, size_t len)
{
	const char *end = text + len, *next;
	struct line l;

	for (const char *p = text; p < end; p = next + 1) {
		next = memchr(p, '\n', end - p);
		if (!next)
			next = end;
		if (!parse_line(p, next, &l))
			continue;
		note_mark(ld->k, &l);
		if (l.type != 't' && l.type != 'T' && l.type != 'w' && l.type != 'W')
			continue;
		if (ld->draft_cnt >= (1U << 27) - 1)
			return -E2BIG;
		ld->bits |= l.addr;
		add_symbol(ld, &l);
	}
	return 0;
}

/* Parses whole lines as they are read: the text is several times as large as the table. */
static int read_chunks(struct loader *ld, int fd, char *chunk)
{
	size_t len = 0, total = 0, whole;
	const char *last;
	int err = 0;
	ssize_t n;

	while (!err) {
		n = read(fd, chunk + len, CHUNK - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += n;
		total += n;
		if (total > TEXT_MAX)
			return -E2BIG;
		last = memrchr(chunk, '\n', len);
		whole = last ? (size_t)(last + 1 - chunk) : 0;
		if (!n || (!last && len == CHUNK))
			whole = len;
		err = parse_symbols(ld, chunk, whole);
		memmove(chunk, chunk + whole, len - whole);
		len -= whole;
		if (!n)
			break;
	}
	return err;
}

static int read_symbols(struct loader *ld, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	char *chunk;

	if (fd < 0)
		return -errno;
	chunk = xmalloc(CHUNK);
	err = read_chunks(ld, fd, chunk);
	free(chunk);
	close(fd);
	return err;
}

enum { MODULE_WORDS = 6 };

/* Splits a line of /proc/modules: "xfs 2105344 2 - Live 0xffffffffc0a00000". */
static bool split_module_line(const char *p, const char *end, const char *words[MODULE_WORDS],
			      size_t lens[MODULE_WORDS])
{
	size_t cnt = 0;

	while (cnt < MODULE_WORDS && p < end) {
		const char *gap = memchr(p, ' ', end - p);

		words[cnt] = p;
		lens[cnt++] = (gap ? gap : end) - p;
		p = gap ? gap + 1 : end;
	}
	return cnt == MODULE_WORDS && lens[5] >= 3 && !memcmp(words[5], "0x", 2);
}

/* Use counts and users change without a new module, so they are not hashed. */
uint64_t kallsyms_modules_state(const char *modules, size_t len)
{
	static const int said[] = { 0, 1, 4, 5 };
	const char *end = modules + len, *next, *words[MODULE_WORDS];
	size_t lens[MODULE_WORDS];
	uint64_t state = 0;

	for (const char *p = modules; p < end; p = next + 1) {
		next = memchr(p, '\n', end - p);
		if (!next)
			next = end;
		if (!split_module_line(p, next, words, lens))
			continue;
		for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
			state = hash_u64(state ^ hash_bytes(words[said[i]], lens[said[i]]));
	}
	return state;
}

static void parse_module_line(struct loader *ld, const char *p, const char *end)
{
	const char *words[MODULE_WORDS];
	size_t lens[MODULE_WORDS];
	uint64_t sz = 0, addr;
	struct draft *d;
	uint32_t id;

	if (!split_module_line(p, end, words, lens))
		return;
	id = strtab_find(&ld->mod_names, words[0], lens[0]);
	if (id == UINT32_MAX)
		return;
	for (size_t i = 0; i < lens[1] && i < 12; i++) {
		if (words[1][i] < '0' || words[1][i] > '9')
			return;
		sz = sz * 10 + (words[1][i] - '0');
	}
	parse_hex(words[5] + 2, words[5] + lens[5], &addr);
	d = &ld->drafts[ld->drafts_of[id]];
	if (addr && addr + sz > addr) {
		d->mod.start = addr;
		d->mod.end = addr + sz;
	}
}

static void parse_modules(struct loader *ld, const char *text, size_t len)
{
	const char *end = text + len, *next;

	for (const char *p = text; p < end; p = next + 1) {
		next = memchr(p, '\n', end - p);
		if (!next)
			next = end;
		parse_module_line(ld, p, next);
	}
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Estimates the bounds of a module from its symbols, if there is no other source. */
static void guess_bounds(const struct loader *ld, struct draft *d)
{
	const uint64_t *marks = ld->k->marks;

	switch (d->mod.kind) {
	case KALLSYMS_KERNEL:
		d->mod.start = marks[KALLSYMS_STEXT] ? marks[KALLSYMS_STEXT] : d->first;
		d->mod.end = marks[KALLSYMS_ETEXT] > d->mod.start ? marks[KALLSYMS_ETEXT] :
								    add_capped(d->last, PAGE);
		break;
	case KALLSYMS_MODULE:
		if (d->mod.start)
			break;
		d->mod.start = d->first & ~(uint64_t)(PAGE - 1);
		d->mod.end = add_capped(d->last, PAGE);
		break;
	case KALLSYMS_BPF:
		d->mod.start = d->first;
		d->mod.end = add_capped(d->first, BPF_IMAGE_MAX);
		break;
	}
}

static int compare_drafts(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;

	if (x->mod.start != y->mod.start)
		return x->mod.start < y->mod.start ? -1 : 1;
	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name_off < y->name_off ? -1 : x->name_off > y->name_off;
}

/* Sorts modules and symbols, and sets the final bounds of each module. */
static void finish(struct loader *ld)
{
	struct kallsyms *k = ld->k;
	uint32_t *new_idx = xcalloc(ld->draft_cnt, sizeof(*new_idx));

	for (size_t i = 0; i < ld->draft_cnt; i++)
		guess_bounds(ld, &ld->drafts[i]);
	qsort(ld->drafts, ld->draft_cnt, sizeof(*ld->drafts), compare_drafts);
	k->names = buf_steal(&ld->names);
	k->mods = xcalloc(ld->draft_cnt, sizeof(*k->mods));
	k->mod_cnt = ld->draft_cnt;
	for (size_t i = 0; i < k->mod_cnt; i++) {
		struct kallsyms_module *m = &k->mods[i];

		*m = ld->drafts[i].mod;
		m->name = k->names + ld->drafts[i].name_off;
		if (i + 1 < k->mod_cnt && m->end > ld->drafts[i + 1].mod.start)
			m->end = ld->drafts[i + 1].mod.start;
		new_idx[ld->drafts[i].idx] = i;
	}
	for (size_t i = 0; i < k->cnt; i++)
		k->entries[i].mod = new_idx[k->entries[i].mod];
	qsort(k->entries, k->cnt, sizeof(*k->entries), compare_entries);
	free(new_idx);
}

static void begin(struct loader *ld)
{
	*ld = (struct loader){ .k = xcalloc(1, sizeof(*ld->k)) };
	add_draft(ld, KALLSYMS_KERNEL, add_name(ld, KERNEL_NAME, sizeof(KERNEL_NAME) - 1));
}

/* After all symbols, or an error. */
static int end(struct loader *ld, int err, const char *modules, size_t modules_len,
	       struct kallsyms **out)
{
	if (!err && !ld->k->cnt)
		err = -ENODATA;
	else if (!err && !ld->bits)
		err = -EPERM;
	if (!err) {
		if (modules)
			parse_modules(ld, modules, modules_len);
		finish(ld);
		*out = ld->k;
	} else {
		kallsyms_free(ld->k);
	}
	strtab_fini(&ld->mod_names);
	buf_free(&ld->names);
	free(ld->drafts_of);
	free(ld->drafts);
	return err;
}

int kallsyms_parse(const char *text, size_t len, const char *modules, size_t modules_len,
		   struct kallsyms **out)
{
	struct loader ld;

	begin(&ld);
	return end(&ld, len > TEXT_MAX ? -E2BIG : parse_symbols(&ld, text, len), modules,
		   modules_len, out);
}

int kallsyms_load(const char *kallsyms_path, const char *modules_path, struct kallsyms **out)
{
	const char *path = kallsyms_path ? kallsyms_path : "/proc/kallsyms";
	struct buf modules = { 0 };
	struct loader ld;
	int err;

	begin(&ld);
	/* tables that grow leave memory unused in the heap; pages that are not written need no memory */
	ld.k->entries =
		array_reserve(NULL, &ld.entries_cap, LIKELY_SYMBOLS, sizeof(*ld.k->entries));
	buf_reserve(&ld.names, LIKELY_NAMES);
	err = read_symbols(&ld, path);
	if (!err &&
	    file_read(AT_FDCWD, modules_path ? modules_path : "/proc/modules", TEXT_MAX, &modules))
		buf_clear(&modules); /* a kernel without modules */
	err = end(&ld, err, modules.data, modules.len, out);
	if (err == -EPERM)
		log_error("%s hides the kernel's addresses: run with sudo or CAP_SYSLOG, with "
			  "/proc/sys/kernel/kptr_restrict at 0 or 1",
			  path);
	else if (err)
		log_error("cannot load %s: %s", path, strerror(-err));
	buf_free(&modules);
	return err;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->entries);
	free(k->mods);
	free(k->names);
	free(k);
}

/* The code that a module's symbol may name. */
static void bounds_of(const struct kallsyms *k, const struct kallsyms_module *m, uint64_t addr,
		      uint64_t *start, uint64_t *end)
{
	const uint64_t *marks = k->marks;
	const bool boot = m->kind == KALLSYMS_KERNEL && addr >= marks[KALLSYMS_SINITTEXT] &&
			  addr < marks[KALLSYMS_EINITTEXT];

	*start = boot ? marks[KALLSYMS_SINITTEXT] : m->start;
	*end = boot ? marks[KALLSYMS_EINITTEXT] : m->end;
}

int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_sym *out)
{
	const struct kallsyms_module *m;
	size_t low = 0, high = k->cnt, mid, i;
	uint64_t start, end;

	/* Afterwards low is the first entry after addr. */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (k->entries[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return -ENOENT;
	for (i = low - 1; i && k->entries[i - 1].addr == k->entries[i].addr; i--)
		;
	m = &k->mods[k->entries[i].mod];
	bounds_of(k, m, addr, &start, &end);
	if (addr < start || addr >= end || k->entries[i].addr < start)
		return -ENOENT;
	if (low < k->cnt && k->entries[low].addr < end)
		end = k->entries[low].addr;
	*out = (struct kallsyms_sym){
		.start = k->entries[i].addr,
		.size = end - k->entries[i].addr,
		.name = k->names + k->entries[i].name_off,
		.module = m->name,
		.kind = m->kind,
	};
	return 0;
}

const struct kallsyms_module *kallsyms_module_find(const struct kallsyms *k, uint64_t addr)
{
	size_t low = 0, high = k->mod_cnt, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (k->mods[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	/*
	 * Bounds do not overlap, so only the last module that starts at or before addr can contain
	 * it.
	 */
	return low && addr < k->mods[low - 1].end ? &k->mods[low - 1] : NULL;
}

uint64_t kallsyms_mark(const struct kallsyms *k, enum kallsyms_mark mark)
{
	return k->marks[mark];
}

const struct kallsyms_module *kallsyms_image(const struct kallsyms *k)
{
	for (size_t i = 0; i < k->mod_cnt; i++)
		if (k->mods[i].kind == KALLSYMS_KERNEL)
			return &k->mods[i];
	return NULL;
}

/* From the kernel's notes: name "GNU", type 3. */
size_t kallsyms_build_id(uint8_t *out, size_t max)
{
	uint8_t notes[4096];
	ssize_t n;
	size_t off = 0;
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	while (n > 0 && off + 12 <= (size_t)n) {
		uint32_t namesz, descsz, type;

		memcpy(&namesz, notes + off, 4);
		memcpy(&descsz, notes + off + 4, 4);
		memcpy(&type, notes + off + 8, 4);
		off += 12;
		if (namesz > sizeof(notes) || descsz > sizeof(notes))
			break;
		if (off + ((namesz + 3) & ~3U) + descsz > (size_t)n)
			break;
		if (type == 3 && namesz == 4 && !memcmp(notes + off, "GNU", 4) && descsz <= max) {
			memcpy(out, notes + off + 4, descsz);
			return descsz;
		}
		off += ((namesz + 3) & ~3U) + ((descsz + 3) & ~3U);
	}
	return 0;
}
