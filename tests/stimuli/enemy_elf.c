// SPDX-License-Identifier: BSD-2-Clause
/*
 * enemy_elf [--now] KIND DIRECTORY
 *
 * Writes DIRECTORY/enemy.elf, which is expensive for readers of its symbols, then runs in it until killed:
 *
 *	siblings   nested namespaces, each with a DW_AT_sibling that leads to its own child: a walk that
 *	           follows both takes 2^depth steps
 *	ranges     the same with functions, each of which has an address range
 *	names      100,000 symbols at one address; their names are the ends of one text of 8 MB
 *	debuglink  .gnu_debuglink to a file of 1 TB without content
 *	zlib       a compressed debug section of 4 GB
 *	xz         .gnu_debugdata of 128 MB
 */
#include <dwarf.h>
#include <lzma.h>
#include <zlib.h>

#include "badelf.h"
#include "stimulus.h"

enum { DEPTH = 120, NAMES = 100000, TEXT_LEN = 8 << 20, CHUNK = 1 << 20 };

/* ---- debug information ------------------------------------------------------------------------- */

enum { ABBREV_UNIT = 1, ABBREV_NESTED, ABBREV_LEAF };

static void add_abbrevs(struct badelf *e, int tag)
{
	const uint8_t unit[] = { ABBREV_UNIT,
				 DW_TAG_compile_unit,
				 1,
				 DW_AT_low_pc,
				 DW_FORM_addr,
				 DW_AT_high_pc,
				 DW_FORM_data8,
				 0,
				 0 };
	const uint8_t nested[] = { ABBREV_NESTED,
				   tag,
				   1,
				   DW_AT_sibling,
				   DW_FORM_ref4,
				   DW_AT_low_pc,
				   DW_FORM_addr,
				   DW_AT_high_pc,
				   DW_FORM_data8,
				   0,
				   0 };
	const uint8_t leaf[] = { ABBREV_LEAF, DW_TAG_variable, 0, 0, 0 };
	Elf64_Shdr *sh = badelf_begin(e, ".debug_abbrev", SHT_PROGBITS, 0);

	badelf_bytes(e, unit, sizeof(unit));
	badelf_bytes(e, nested, sizeof(nested));
	badelf_bytes(e, leaf, sizeof(leaf));
	badelf_u8(e, 0);
	badelf_end(e, sh);
}

static void add_range(struct badelf *e)
{
	badelf_u64(e, BADELF_TEXT);
	badelf_u64(e, BADELF_PAGE);
}

static void add_info(struct badelf *e)
{
	Elf64_Shdr *sh = badelf_begin(e, ".debug_info", SHT_PROGBITS, 0);
	uint32_t start = e->sz, length;
	uint16_t version = 4;

	badelf_u32(e, 0); /* the length comes below */
	badelf_bytes(e, &version, 2);
	badelf_u32(e, 0);
	badelf_u8(e, 8);
	badelf_u8(e, ABBREV_UNIT);
	add_range(e);
	for (int i = 0; i < DEPTH; i++) {
		badelf_u8(e, ABBREV_NESTED);
		badelf_u32(e, e->sz - start + 4 + 16); /* the next one, which is its child, too */
		add_range(e);
	}
	badelf_u8(e, ABBREV_LEAF);
	badelf_bytes(e, NULL, DEPTH + 2);
	length = e->sz - start - 4;
	memcpy(e->bytes + start, &length, sizeof(length));
	badelf_end(e, sh);
}

static void make_siblings(struct badelf *e, int tag)
{
	add_abbrevs(e, tag);
	add_info(e);
}

/* ---- symbol table ------------------------------------------------------------------------------ */

static void make_names(struct badelf *e)
{
	Elf64_Sym sym = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			  .st_shndx = 1,
			  .st_value = BADELF_TEXT,
			  .st_size = BADELF_PAGE };
	Elf64_Shdr *strings = badelf_begin(e, ".strtab", SHT_STRTAB, 0), *syms;

	badelf_u8(e, 0);
	badelf_bytes(e, NULL, TEXT_LEN);
	memset(e->bytes + e->sz - TEXT_LEN, 'a', TEXT_LEN);
	badelf_u8(e, 0);
	badelf_end(e, strings);
	syms = badelf_begin(e, ".symtab", SHT_SYMTAB, 0);
	for (uint32_t i = 0; i < NAMES; i++) {
		sym.st_name = 1 + i;
		badelf_bytes(e, &sym, sizeof(sym));
	}
	syms->sh_link = strings - e->sections;
	syms->sh_entsize = sizeof(sym);
	badelf_end(e, syms);
}

/* ---- debug link -------------------------------------------------------------------------------- */

static void make_debuglink(struct badelf *e, const char *dir)
{
	char path[512], link[16] = "enemy.debug";
	struct badelf other;
	int fd;

	link[12] = 1; /* a checksum that no file of zeros has */
	badelf_section(e, ".gnu_debuglink", link, sizeof(link));
	snprintf(path, sizeof(path), "%s/enemy.debug", dir);
	badelf_init(&other);
	badelf_write(&other, path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 1ll << 40))
		err(2, "%s", path);
	close(fd);
}

/* ---- compressed -------------------------------------------------------------------------------- */

/*
 * Compressed zeros: a flushed block of a deflate stream is independent, so the stream is one block, repeated N
 * times, and an empty last block.
 */
static void make_zlib(struct badelf *e)
{
	const uint64_t pieces = 4096;
	const uint8_t last[] = { 1, 0, 0, 0xff, 0xff };
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
			    .ch_size = pieces * CHUNK,
			    .ch_addralign = 1 };
	uLong one = adler32(1, NULL, 0), sum = one;
	static uint8_t zeros[CHUNK], packed[CHUNK];
	z_stream z = { .next_in = zeros, .avail_in = CHUNK, .next_out = packed };
	Elf64_Shdr *sh;

	make_siblings(e, DW_TAG_namespace);
	z.avail_out = sizeof(packed);
	if (deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) ||
	    deflate(&z, Z_FULL_FLUSH))
		errx(2, "deflate");
	one = adler32(one, zeros, CHUNK);
	sh = badelf_begin(e, ".debug_str", SHT_PROGBITS, SHF_COMPRESSED);
	badelf_bytes(e, &head, sizeof(head));
	badelf_u8(e, 0x78);
	badelf_u8(e, 0xda);
	for (uint64_t i = 0; i < pieces; i++) {
		badelf_bytes(e, packed, z.total_out);
		sum = adler32_combine(sum, one, CHUNK);
	}
	badelf_bytes(e, last, sizeof(last));
	badelf_u32(e, __builtin_bswap32(sum));
	badelf_end(e, sh);
	deflateEnd(&z);
}

static void make_xz(struct badelf *e)
{
	static uint8_t zeros[CHUNK], packed[CHUNK];
	lzma_stream s = LZMA_STREAM_INIT;
	Elf64_Shdr *sh = badelf_begin(e, ".gnu_debugdata", SHT_PROGBITS, 0);
	lzma_ret ret = LZMA_OK;

	if (lzma_easy_encoder(&s, 0, LZMA_CHECK_NONE))
		errx(2, "lzma");
	for (int left = 128; ret == LZMA_OK;) {
		if (!s.avail_in && left) {
			s.next_in = zeros;
			s.avail_in = CHUNK;
			left--;
		}
		s.next_out = packed;
		s.avail_out = sizeof(packed);
		ret = lzma_code(&s, left ? LZMA_RUN : LZMA_FINISH);
		badelf_bytes(e, packed, sizeof(packed) - s.avail_out);
	}
	if (ret != LZMA_STREAM_END)
		errx(2, "lzma: %d", ret);
	lzma_end(&s);
	badelf_end(e, sh);
}

/* ---- main -------------------------------------------------------------------------------------- */

static void make(struct badelf *e, const char *kind, const char *dir)
{
	if (!strcmp(kind, "siblings"))
		make_siblings(e, DW_TAG_namespace);
	else if (!strcmp(kind, "ranges"))
		make_siblings(e, DW_TAG_subprogram);
	else if (!strcmp(kind, "names"))
		make_names(e);
	else if (!strcmp(kind, "debuglink"))
		make_debuglink(e, dir);
	else if (!strcmp(kind, "zlib"))
		make_zlib(e);
	else if (!strcmp(kind, "xz"))
		make_xz(e);
	else
		errx(2, "no such kind: %s", kind);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	struct badelf e;
	char path[512];
	void *page;

	if (argc != 3)
		return 2;
	snprintf(path, sizeof(path), "%s/enemy.elf", argv[2]);
	badelf_init(&e);
	make(&e, argv[1], argv[2]);
	badelf_write(&e, path);
	page = badelf_map(path, NULL);
	stim_start(now, "");
	badelf_run(page);
	return 0;
}
