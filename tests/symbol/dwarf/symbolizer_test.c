// SPDX-License-Identifier: BSD-2-Clause
/* Which file is used: symbol tables, stubs, debug files and refused files. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/symbol/support.h"

#define FRAMES_MAX 64

static const char *name_at(struct symbolizer *sym, uint64_t off)
{
	struct symbolizer_frame f;

	return symbolizer_name(sym, off, &f) == 1 ? f.name : "none";
}

/* All frames of .text as text, for comparing two ways to the same information. */
static char *all_frames(struct opened *o, const struct section *text, size_t *found)
{
	struct symbolizer_frame f[FRAMES_MAX];
	char *out = NULL;
	size_t sz = 0, i, k;
	FILE *s = open_memstream(&out, &sz);

	*found = 0;
	for (i = 0; i < text->size; i += 4) {
		size_t cnt = symbolizer_frames(o->sym, text->off + i, f, FRAMES_MAX);

		*found += cnt > 0;
		for (k = 0; k < cnt; k++)
			fprintf(s, "%zx %zu %s %s:%u %" PRIx64 "+%" PRIx64 "\n", i, k, f[k].name,
				f[k].file ? f[k].file : "", f[k].line, f[k].start, f[k].size);
	}
	fclose(s);
	return out;
}

/* nm -S prints "ADDRESS SIZE TYPE NAME". */
static size_t compare_with_nm(const char *stim, const char *section)
{
	struct section text;
	struct opened o;
	char cmd[2 * PATH_MAX], type, name[4096];
	uint64_t addr, size;
	size_t cnt = 0;
	FILE *f;

	open_path(&o, stimulus(stim), NULL, 0);
	text = section_of(o.path, section);
	snprintf(cmd, sizeof(cmd),
		 "nm -C -S --defined-only %s | grep -iE '^[0-9a-f]+ [0-9a-f]+ t '", o.path);
	f = popen(cmd, "r");
	while (fscanf(f, "%" SCNx64 " %" SCNx64 " %c %4095[^\n]", &addr, &size, &type, name) == 4) {
		uint64_t off = addr - text.addr + text.off;
		struct symbolizer_frame frame;

		if (addr < text.addr || addr - text.addr >= text.size)
			continue;
		cr_expect_str_eq(name_at(o.sym, off), name);
		cr_expect_str_eq(name_at(o.sym, off + size / 2), name);
		cr_expect_str_eq(name_at(o.sym, off + size - 1), name);
		cr_assert_eq(symbolizer_name(o.sym, off + size - 1, &frame), 1);
		cr_expect_eq(frame.start, off);
		cr_expect_eq(frame.size, size);
		cr_expect_null(frame.file);
		cnt++;
	}
	pclose(f);
	symbolizer_free(o.sym);
	return cnt;
}

Test(symbolizer, names_every_function_that_nm_lists)
{
	cr_expect_geq(compare_with_nm("c-gcc", ".text"), 4u);
	cr_expect_geq(compare_with_nm("c-nopie", ".text"), 4u);
	cr_expect_geq(compare_with_nm("c-clang", ".text"), 3u);
}

#ifdef __x86_64__
/* readelf prints "[ 1] .text PROGBITS ADDRESS OFFSET ...". */
static uint64_t text_by_readelf(const char *path)
{
	char cmd[2 * PATH_MAX];
	uint64_t off = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "readelf -SW %s | sed -n 's/.* .text *PROGBITS *[0-9a-f]* //p'",
		 path);
	f = popen(cmd, "r");
	cr_assert_eq(fscanf(f, "%" SCNx64, &off), 1);
	pclose(f);
	return off;
}

Test(symbolizer, names_functions_of_32_bit_programs)
{
	struct symbolizer_frame f;
	char path[PATH_MAX];
	struct opened o;
	uint64_t text;

	snprintf(path, sizeof(path), "%s/32", scratch());
	shell("printf '.globl first\n.type first,@function\nfirst: .skip 16\n.size first,16\n"
	      ".type second,@function\nsecond: .skip 32\n.size second,32\n' | "
	      "as --32 -o %s.o && ld -m elf_i386 -e first -o %s %s.o",
	      path, path, path);
	open_path(&o, path, NULL, 0);
	text = text_by_readelf(path);
	cr_expect_str_eq(name_at(o.sym, text), "first");
	cr_expect_str_eq(name_at(o.sym, text + 15), "first");
	cr_assert_eq(symbolizer_name(o.sym, text + 16, &f), 1);
	cr_expect_str_eq(f.name, "second");
	cr_expect_eq(f.start, text + 16);
	cr_expect_eq(f.size, 32);
	cr_expect_str_eq(name_at(o.sym, text + 48), "none");
	symbolizer_free(o.sym);
}
#endif

/* How many stubs have the names that objdump prints: "ADDRESS <name@plt>:" before each that it can name. */
static size_t compare_stubs(const char *objdump, const char *path)
{
	char cmd[2 * PATH_MAX], name[4096];
	struct section text;
	struct opened o;
	uint64_t addr;
	size_t cnt = 0;
	FILE *f;

	open_path(&o, path, NULL, 0);
	text = section_of(o.path, ".text");
	snprintf(cmd, sizeof(cmd),
		 "%s -C -d -j .plt -j .plt.sec -j .plt.got %s 2>/dev/null |"
		 " sed -n 's/^\\([0-9a-f]*\\) <\\(.*@plt\\)>:$/\\1 \\2/p'",
		 objdump, o.path);
	f = popen(cmd, "r");
	while (fscanf(f, "%" SCNx64 " %4095[^\n]", &addr, name) == 2) {
		cr_expect_str_eq(name_at(o.sym, addr - text.addr + text.off), name,
				 "%s: %s, not %s", path,
				 name_at(o.sym, addr - text.addr + text.off), name);
		cnt++;
	}
	pclose(f);
	symbolizer_free(o.sym);
	return cnt;
}

Test(symbolizer, names_the_same_stubs_as_objdump)
{
	static const char *const programs[] = { "c-gcc", "c-nopie", "c-clang", "cxx-gcc" };
	size_t i, cnt = 0;

	for (i = 0; i < 4; i++)
		cnt += compare_stubs("objdump", stimulus(programs[i]));
	cr_assert_geq(cnt, 20u);
}

/* Plain stubs, with a landing pad, with signed pointers, and with both. */
Test(symbolizer, names_the_same_arm64_stubs_as_objdump)
{
	static const char *const options[] = { "", "-Wl,-z,force-bti", "-Wl,-z,pac-plt",
					       "-Wl,-z,force-bti,-z,pac-plt" };
	char path[PATH_MAX];
	size_t i;

	if (system("aarch64-linux-gnu-gcc --version >/dev/null 2>&1"))
		cr_skip("no compiler for arm64");
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		snprintf(path, sizeof(path), "%s/arm64-%zu", scratch(), i);
		shell("printf 'void a(void), b(void), c(void);\nvoid all(void) { a(); b(); c(); }\n' | "
		      "aarch64-linux-gnu-gcc -shared -fPIC -nostdlib %s -x c -o %s - 2>/dev/null",
		      options[i], path);
		cr_expect_eq(compare_stubs("aarch64-linux-gnu-objdump", path), 3u, "%s",
			     options[i]);
	}
}

Test(symbolizer, names_exported_functions_without_a_symbol_table)
{
	struct section text;
	struct opened o;
	size_t i, found = 0;

	open_path(&o, stimulus("c-dynsym"), NULL, 0);
	text = section_of(o.path, ".text");
	for (i = 0; i < text.size; i++)
		found += !strcmp(name_at(o.sym, text.off + i), "digest");
	cr_expect_gt(found, 16u);
	cr_expect(symbolizer_has_symtab(o.sym));
	cr_expect(!symbolizer_has_dwarf(o.sym));
	cr_expect_eq(symbolizer_dwarf_mem(o.sym), 0u);
	symbolizer_free(o.sym);
}

static void compress_file(const char *from, const char *to)
{
	static uint8_t in[1 << 20], out[1 << 20];
	size_t in_sz, out_sz = 0;
	FILE *f = fopen(from, "r");

	in_sz = fread(in, 1, sizeof(in), f);
	fclose(f);
	cr_assert(in_sz > 0 && in_sz < sizeof(in));
	cr_assert_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, in, in_sz, out, &out_sz,
					     sizeof(out)),
		     LZMA_OK);
	f = fopen(to, "w");
	cr_assert_eq(fwrite(out, 1, out_sz, f), out_sz);
	fclose(f);
}

/* Fedora's way: a stripped program carries a compressed file that has just the symbol table. */
Test(symbolizer, names_local_functions_from_gnu_debugdata)
{
	char plain[128], packed[128], path[128];
	struct symbolizer_frame frame;
	struct section text;
	struct opened o, full;
	size_t i, found = 0;

	snprintf(plain, sizeof(plain), "%s/plain", scratch());
	snprintf(packed, sizeof(packed), "%s/packed", scratch());
	snprintf(path, sizeof(path), "%s/mini", scratch());
	shell("objcopy -S -K digest -K choose --keep-symbol=walk.constprop.0 %s %s",
	      stimulus("c-gcc"), plain);
	compress_file(plain, packed);
	shell("objcopy -S --add-section .gnu_debugdata=%s %s %s", packed, stimulus("c-gcc"), path);
	open_path(&o, path, NULL, 0);
	open_path(&full, stimulus("c-gcc"), NULL, 0);
	text = section_of(path, ".text");
	for (i = 0; i < text.size; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s", name_at(full.sym, text.off + i));
		if (strcmp(name, "digest") && strncmp(name, "walk", 4))
			continue;
		cr_expect_str_eq(name_at(o.sym, text.off + i), name);
		found++;
	}
	cr_expect_gt(found, 32u);
	cr_expect_eq(symbolizer_frames(o.sym, text.off + 400, &frame, 1), 0u);
	symbolizer_free(o.sym);
	symbolizer_free(full.sym);
}

Test(symbolizer, names_the_vdso)
{
	struct symbolizer_frame f;
	struct symbolizer *sym;
	bool found = false;
	uint64_t off;

	cr_assert_eq(symbolizer_open_vdso(NULL, &sym), 0);
	for (off = 0; off < 8192 && !found; off += 16)
		found = symbolizer_name(sym, off, &f) == 1 && strstr(f.name, "clock_gettime");
	cr_expect(found);
	symbolizer_free(sym);
}

Test(symbolizer, accepts_only_the_file_with_the_expected_build_id)
{
	uint8_t id[SYMBOLIZER_BUILD_ID_MAX];
	char cmd[2 * PATH_MAX], hex[2 * SYMBOLIZER_BUILD_ID_MAX + 2] = "", ours[sizeof(hex)] = "";
	const char *path = stimulus("c-gcc");
	struct symbolizer *sym;
	size_t sz, i;
	FILE *f;
	int fd;

	fd = open(path, O_RDONLY);
	cr_assert_eq(symbolizer_build_id(fd, id, &sz), 0);
	close(fd);
	snprintf(cmd, sizeof(cmd), "readelf -n %s | sed -n 's/.*Build ID: //p'", path);
	f = popen(cmd, "r");
	cr_assert_not_null(fgets(hex, sizeof(hex), f));
	pclose(f);
	for (i = 0; i < sz; i++)
		snprintf(ours + 2 * i, 3, "%02x", id[i]);
	hex[strcspn(hex, "\n")] = '\0';
	cr_assert_str_eq(ours, hex);

	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), id, sz, NULL, &sym), 0);
	symbolizer_free(sym);
	id[3] ^= 1;
	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), id, sz, NULL, &sym), -ESTALE);
	id[3] ^= 1;
	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), id, sz - 1, NULL, &sym), -ESTALE);
}

Test(symbolizer, refuses_files_that_are_not_elf)
{
	struct symbolizer *sym;
	char path[128];
	int fds[2];

	cr_expect_eq(symbolizer_open(open("/etc/passwd", O_RDONLY), NULL, 0, NULL, &sym), -ENOEXEC);
	cr_expect_eq(symbolizer_open(open("/", O_RDONLY), NULL, 0, NULL, &sym), -EINVAL);
	cr_expect_eq(symbolizer_open(open("/dev/null", O_RDONLY), NULL, 0, NULL, &sym), -EINVAL);
	cr_assert_eq(pipe(fds), 0);
	cr_expect_eq(symbolizer_open(fds[0], NULL, 0, NULL, &sym), -EINVAL);
	close(fds[1]);
	snprintf(path, sizeof(path), "%s/empty", scratch());
	shell(": >%s", path);
	cr_expect_eq(symbolizer_open(open(path, O_RDONLY), NULL, 0, NULL, &sym), -ENOEXEC);
}

static char *frames_of(const char *path, const char *debug_root, size_t mem_max, size_t *found)
{
	struct section text = section_of(path, ".text");
	struct opened o;
	char *all;

	open_path(&o, path, debug_root, mem_max);
	all = all_frames(&o, &text, found);
	symbolizer_free(o.sym);
	return all;
}

Test(symbolizer, finds_a_debug_file_by_build_id)
{
	char path[128], root[128], *expected, *got;
	size_t found;

	snprintf(path, sizeof(path), "%s/stripped", scratch());
	snprintf(root, sizeof(root), "%s/debug", scratch());
	shell("strip -o %s %s", path, stimulus("c-gcc"));
	shell("id=$(readelf -n %s | sed -n 's/.*Build ID: //p');"
	      " dir=%s/.build-id/$(echo $id | cut -c1-2); mkdir -p $dir;"
	      " objcopy --only-keep-debug %s $dir/$(echo $id | cut -c3-).debug",
	      path, root, stimulus("c-gcc"));
	expected = frames_of(stimulus("c-gcc"), NULL, 0, &found);
	cr_assert_gt(found, 50u);
	got = frames_of(path, root, 0, &found);
	cr_expect_str_eq(got, expected);
	free(got);
	got = frames_of(path, "/nonexistent", 0, &found);
	cr_expect_eq(found, 0u);
	free(got);
	free(expected);
}

/* The result of both ways of naming at a symbol of nm: "name name". */
static void expect_known(const struct opened *o, const char *sym, const char *want)
{
	struct section text = section_of(o->path, ".text");
	struct symbolizer_frame f[FRAMES_MAX];
	char cmd[2 * PATH_MAX];
	uint64_t addr;
	FILE *nm;

	snprintf(cmd, sizeof(cmd), "nm %s | awk '$3 == \"%s\" { print $1 }'", o->path, sym);
	nm = popen(cmd, "r");
	cr_assert_eq(fscanf(nm, "%" SCNx64, &addr), 1, "no %s", sym);
	pclose(nm);
	cr_expect_str_eq(name_at(o->sym, addr - text.addr + text.off), want);
	cr_assert_geq(symbolizer_frames(o->sym, addr - text.addr + text.off, f, FRAMES_MAX), 1);
	cr_expect_str_eq(f[0].name, want, "%s: %s", sym, f[0].name);
}

/* glibc's names for exported and for internal functions. */
Test(symbolizer, prefers_the_names_in_the_source_code)
{
	struct opened o;
	char path[128];

	snprintf(path, sizeof(path), "%s/known", scratch());
	shell("cat >%s.c <<'END'\n"
	      "#define INNER(n) __asm__(\"__GI_\" n) __attribute__((visibility(\"hidden\")))\n"
	      "#define NAME(a, s, of) extern int a(int) __attribute__((alias(of) s))\n"
	      "#define WEAK , weak\n"
	      "#define NONE\n"
	      "extern int __libc_grab(int) INNER(\"__libc_grab\");\n"
	      "int __libc_grab(int x) { return x * 3; }\n"
	      "NAME(grab, WEAK, \"__GI___libc_grab\");\n"
	      "NAME(grab64, WEAK, \"__GI___libc_grab\");\n"
	      "int start_impl(int x) { return x * 7; }\n"
	      "NAME(start, NONE, \"start_impl\");\n"
	      "static int used(int x) { return x * 11; }\n"
	      "int public_name(int x) { return x * 13; }\n"
	      "NAME(__public_name, NONE, \"public_name\");\n"
	      "int (*keep)(int) = used;\n"
	      "END\n"
	      "gcc -g -O1 -fno-inline -nostdlib -static -Wl,-e,start -o %s %s.c",
	      path, path, path);
	open_path(&o, path, NULL, 0);
	expect_known(&o, "__GI___libc_grab", "grab");
	expect_known(&o, "start_impl", "start");
	expect_known(&o, "used", "used");
	expect_known(&o, "public_name", "public_name");
	symbolizer_free(o.sym);
}

/* The linker moves sections: code that comes first can have its lines written last. */
Test(symbolizer, finds_lines_of_sections_that_the_linker_reordered)
{
	struct symbolizer_frame f[FRAMES_MAX];
	struct section text;
	struct opened o;
	char path[128];

	snprintf(path, sizeof(path), "%s/order", scratch());
	shell("printf '.section .text.z,\"ax\"\n.globl upper\nupper:\nnop\nnop\n"
	      ".section .text.a,\"ax\"\nlower:\nnop\nnop\n' >%s.s && as -g -o %s.o %s.s && "
	      "ld --sort-section=name -e upper -o %s %s.o",
	      path, path, path, path, path);
	open_path(&o, path, NULL, 0);
	text = section_of(path, ".text");
	cr_assert_eq(symbolizer_frames(o.sym, text.off, f, FRAMES_MAX), 1);
	cr_expect_str_eq(f[0].name, "lower");
	cr_expect_eq(f[0].line, 8);
	cr_assert_eq(symbolizer_frames(o.sym, text.off + text.size / 2, f, FRAMES_MAX), 1);
	cr_expect_str_eq(f[0].name, "upper");
	cr_expect_eq(f[0].line, 4);
	symbolizer_free(o.sym);
}

/* A debug file of another build has names for other addresses. */
Test(symbolizer, refuses_a_debug_file_of_another_build)
{
	char path[128], *got;
	size_t found;

	snprintf(path, sizeof(path), "%s/app", scratch());
	shell("cd %s && cp %s app && objcopy --only-keep-debug %s app.debug &&"
	      " objcopy -S --add-gnu-debuglink=app.debug app",
	      scratch(), stimulus("c-gcc"), stimulus("c-dwarf4"));
	got = frames_of(path, NULL, 0, &found);
	cr_expect_eq(found, 0u);
	free(got);
	shell("cd %s && objcopy --only-keep-debug %s app.debug", scratch(), stimulus("c-gcc"));
	got = frames_of(path, NULL, 0, &found);
	cr_expect_gt(found, 50u);
	free(got);
}

/* Without build-ids the checksum in .gnu_debuglink decides. */
Test(symbolizer, checks_the_checksum_if_there_is_no_build_id)
{
	char path[128];
	size_t found;
	char *got;

	snprintf(path, sizeof(path), "%s/noid", scratch());
	shell("(cd %s && objcopy -R .note.gnu.build-id %s full && objcopy --only-keep-debug full"
	      " noid.debug && objcopy -S --add-gnu-debuglink=noid.debug full noid) 2>/dev/null",
	      scratch(), stimulus("c-gcc"));
	got = frames_of(path, NULL, 0, &found);
	cr_expect_gt(found, 50u);
	free(got);
	shell("printf x >>%s/noid.debug", scratch());
	got = frames_of(path, NULL, 0, &found);
	cr_expect_eq(found, 0u);
	free(got);
}

static void expect_same_after_drop(const char *stim)
{
	struct section text;
	struct opened o;
	size_t found, again, last;
	char *first, *second, *third;

	open_path(&o, stimulus(stim), NULL, 0);
	text = section_of(o.path, ".text");
	first = all_frames(&o, &text, &found);
	cr_expect_gt(symbolizer_dwarf_mem(o.sym), 0u);
	symbolizer_drop_dwarf(o.sym);
	cr_expect_eq(symbolizer_dwarf_mem(o.sym), 0u);
	second = all_frames(&o, &text, &again);
	cr_expect_gt(found, 50u);
	cr_expect_str_eq(first, second, "%s", stim);
	cr_expect_gt(symbolizer_mem(o.sym), symbolizer_dwarf_mem(o.sym));
	symbolizer_drop_all(o.sym);
	symbolizer_release_pages(o.sym);
	cr_expect_eq(symbolizer_mem(o.sym), 0u);
	third = all_frames(&o, &text, &last);
	cr_expect_str_eq(first, third, "%s", stim);
	free(first);
	free(second);
	free(third);
	symbolizer_free(o.sym);
}

Test(symbolizer, returns_the_same_after_its_memory_was_released)
{
	expect_same_after_drop("c-gcc");
	expect_same_after_drop("c-gz");
	expect_same_after_drop("c-zstd");
	expect_same_after_drop("c-link");
}

Test(symbolizer, has_the_same_names_after_its_memory_was_released)
{
	struct symbolizer_frame f;
	char *name, path[128];
	struct section text;
	struct opened o;

	snprintf(path, sizeof(path), "%s/mini", scratch());
	shell("cp %s %s.full && objcopy -S %s.full %s.dyn && objcopy --strip-debug %s.full %s.syms && "
	      "xz -f %s.syms && objcopy --add-section .gnu_debugdata=%s.syms.xz %s.dyn %s",
	      stimulus("c-gcc"), path, path, path, path, path, path, path, path, path);
	open_path(&o, path, NULL, 0);
	text = section_of(path, ".text");
	cr_assert_eq(symbolizer_name(o.sym, text.off + 16, &f), 1);
	name = strdup(f.name);
	symbolizer_drop_all(o.sym);
	cr_expect_eq(symbolizer_mem(o.sym), 0u);
	cr_assert_eq(symbolizer_name(o.sym, text.off + 16, &f), 1);
	cr_expect_str_eq(f.name, name);
	free(name);
	symbolizer_free(o.sym);
}

Test(symbolizer, reads_no_symbols_for_lines_without_debug_information)
{
	struct symbolizer_frame f;
	struct section text;
	char path[128];
	struct opened o;

	snprintf(path, sizeof(path), "%s/bare", scratch());
	shell("objcopy --strip-debug %s %s", stimulus("c-gcc"), path);
	open_path(&o, path, NULL, 0);
	text = section_of(path, ".text");
	cr_expect_eq(symbolizer_frames(o.sym, text.off + 16, &f, 1), 0);
	cr_expect_eq(symbolizer_mem(o.sym), 0u);
	symbolizer_free(o.sym);
}

/* Starts again and again: slower, but nothing that fits alone is missing. */
Test(symbolizer, returns_the_same_with_little_memory)
{
	struct section text;
	size_t found, again, mem_max = 3 << 20, i;
	char *all, *some;
	struct opened o;

	all = frames_of(stimulus("rust"), NULL, 0, &found);
	open_path(&o, stimulus("rust"), NULL, mem_max);
	text = section_of(o.path, ".text");
	some = all_frames(&o, &text, &again);
	cr_expect_eq(again, found);
	cr_expect(!strcmp(some, all));
	for (i = 0; i < text.size; i += 64) {
		struct symbolizer_frame f[FRAMES_MAX];

		symbolizer_frames(o.sym, text.off + i, f, FRAMES_MAX);
		cr_assert_leq(symbolizer_dwarf_mem(o.sym), 2 * mem_max);
	}
	free(all);
	free(some);
	symbolizer_free(o.sym);
}

Test(symbolizer, omits_sections_that_do_not_fit_in_memory)
{
	size_t found;
	char *got = frames_of(stimulus("c-gcc"), NULL, 600, &found);

	cr_expect_eq(found, 0u);
	free(got);
	/* the decompressed sections alone are too large */
	got = frames_of(stimulus("c-gz"), NULL, 1000, &found);
	cr_expect_eq(found, 0u);
	free(got);
	got = frames_of(stimulus("c-zstd"), NULL, 1000, &found);
	cr_expect_eq(found, 0u);
	free(got);
}

/* Looks up addresses all over .text until the budget has ended. */
static struct symbolizer *use_up(struct symbolizer_cfg *cfg, struct symbolizer_frame *f,
				 uint64_t *off)
{
	const char *path = stimulus("rust");
	struct section text = section_of(path, ".text");
	struct symbolizer *sym;

	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), NULL, 0, cfg, &sym), 0);
	cr_expect_eq(symbolizer_has_dwarf(sym), 1);
	for (*off = text.off; !symbolizer_gave_up(sym) && *off < text.off + text.size; *off += 64)
		symbolizer_frames(sym, *off, f, FRAMES_MAX);
	cr_assert_not_null(symbolizer_gave_up(sym));
	cr_expect_eq(symbolizer_frames(sym, *off, f, FRAMES_MAX), 0);
	cr_expect_eq(symbolizer_has_dwarf(sym), 0);
	cr_expect_eq(symbolizer_dwarf_mem(sym), 0u);
	return sym;
}

Test(symbolizer, stops_debug_information_after_too_many_entries_and_keeps_symbols)
{
	struct symbolizer_cfg cfg = { .entries_max = 10000 };
	struct symbolizer_frame f[FRAMES_MAX];
	struct symbolizer *sym;
	uint64_t off;

	sym = use_up(&cfg, f, &off);
	cr_expect_str_eq(symbolizer_gave_up(sym), "entries");
	cr_expect_eq(symbolizer_has_symtab(sym), 1);
	cr_expect_eq(symbolizer_name(sym, off, f), 1);
	symbolizer_free(sym);
}

Test(symbolizer, stops_debug_information_after_too_long)
{
	struct symbolizer_cfg cfg = { .cpu_max_ns = 500000 };
	struct symbolizer_frame f[FRAMES_MAX];
	struct symbolizer *sym;
	uint64_t off;

	sym = use_up(&cfg, f, &off);
	cr_expect_str_eq(symbolizer_gave_up(sym), "time");
	symbolizer_free(sym);
}

/* One thread reads many files: its work for others does not count for this file. */
Test(symbolizer, counts_only_its_own_time)
{
	struct symbolizer_cfg cfg = { .cpu_max_ns = 500000000 };
	const char *path = stimulus("c-gcc");
	struct section text = section_of(path, ".text");
	uint64_t end = budget_clock_ns() + 2 * cfg.cpu_max_ns, i;
	struct symbolizer_frame f[FRAMES_MAX];
	struct symbolizer *sym;
	size_t found = 0;

	while (budget_clock_ns() < end)
		;
	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), NULL, 0, &cfg, &sym), 0);
	cr_expect_eq(symbolizer_has_dwarf(sym), 1);
	for (i = 0; i < text.size; i += 16)
		found += symbolizer_frames(sym, text.off + i, f, FRAMES_MAX) > 0;
	cr_expect_gt(found, 10u);
	cr_expect_null(symbolizer_gave_up(sym));
	symbolizer_free(sym);
}

struct alt {
	int answer;
	unsigned int wanted;
};

static int answer_alt(void *ctx, const struct symbolizer_want *want)
{
	struct alt *alt = ctx;

	cr_expect_eq(want->kind, SYMBOLIZER_WANT_ALTLINK);
	cr_expect_str_eq(want->name, "alt");
	cr_expect_eq(want->build_id_sz, 4u);
	alt->wanted++;
	return alt->answer;
}

/* Without it, names would be missing; whether it exists may not be known at once. */
Test(symbolizer, waits_for_the_shared_debug_file_and_continues_if_there_is_none)
{
	struct alt alt = { .answer = -EAGAIN };
	struct symbolizer_cfg cfg = { .open_debug = answer_alt, .open_ctx = &alt };
	struct symbolizer_frame f[FRAMES_MAX];
	struct section text;
	struct symbolizer *sym;
	char path[128];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/with-alt", scratch());
	shell("printf 'alt\\0\\1\\2\\3\\4' >%s.link && objcopy --add-section"
	      " .gnu_debugaltlink=%s.link %s %s",
	      path, path, stimulus("c-gcc"), path);
	text = section_of(path, ".text");
	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), NULL, 0, &cfg, &sym), 0);
	for (i = 1; i <= 2; i++) {
		cr_expect_eq(symbolizer_frames(sym, text.off, f, FRAMES_MAX), -EAGAIN);
		cr_expect_eq(alt.wanted, i);
	}
	alt.answer = -ENOENT;
	for (i = 0; i < 2; i++) {
		cr_expect_eq(symbolizer_frames(sym, text.off, f, FRAMES_MAX), 0);
		cr_expect_eq(alt.wanted, 3u, "asked for no more");
	}
	cr_expect_eq(symbolizer_has_dwarf(sym), 0);
	cr_expect_null(symbolizer_gave_up(sym));
	symbolizer_free(sym);
}

static int frames_in_slices(struct symbolizer *sym, uint64_t slice_ns, uint64_t off,
			    struct symbolizer_frame *f, size_t *pauses)
{
	int ret;

	for (;;) {
		symbolizer_slice(sym, slice_ns);
		ret = symbolizer_frames(sym, off, f, FRAMES_MAX);
		if (ret != -EAGAIN)
			return ret;
		++*pauses;
	}
}

static void expect_same_in_slices(const char *stim, uint64_t slice_ns, size_t pauses_min)
{
	const char *path = stimulus(stim);
	struct section text = section_of(path, ".text");
	struct symbolizer_frame a[FRAMES_MAX], b[FRAMES_MAX];
	struct opened whole, sliced;
	size_t i, pauses = 0;
	int k;

	open_path(&whole, path, NULL, 0);
	open_path(&sliced, path, NULL, 0);
	for (i = 0; i < text.size; i += 16) {
		int cnt = symbolizer_frames(whole.sym, text.off + i, a, FRAMES_MAX);

		cr_assert_eq(frames_in_slices(sliced.sym, slice_ns, text.off + i, b, &pauses), cnt);
		for (k = 0; k < cnt; k++) {
			cr_assert_str_eq(a[k].name, b[k].name);
			cr_assert_eq(!a[k].file, !b[k].file);
			cr_assert(!a[k].file || !strcmp(a[k].file, b[k].file));
			cr_assert_eq(a[k].line, b[k].line);
			cr_assert_eq(a[k].start, b[k].start);
		}
	}
	cr_expect_geq(pauses, pauses_min, "%s", stim);
	symbolizer_free(whole.sym);
	symbolizer_free(sliced.sym);
}

Test(symbolizer, returns_the_same_in_slices)
{
	expect_same_in_slices("cxx-gcc", 0, 10000);
	expect_same_in_slices("c-clang", 0, 1000);
	expect_same_in_slices("c-gz", 0, 1000);
	expect_same_in_slices("c-zstd", 0, 1000);
	expect_same_in_slices("c-link", 0, 1000);
	expect_same_in_slices("rust", 10000, 100);
}

static void touch_everything(uint8_t *bytes, size_t size)
{
	struct symbolizer_frame f[FRAMES_MAX];
	struct symbolizer *sym;
	uint64_t off;

	if (symbolizer_open_mem(bytes, size, NULL, &sym))
		return;
	for (off = 0x1000; off < 0x1800; off += 64) {
		symbolizer_name(sym, off, f);
		symbolizer_frames(sym, off, f, FRAMES_MAX);
	}
	symbolizer_free(sym);
}

/* A file may end anywhere: it is truncated at each byte, and read from memory that ends there. */
Test(symbolizer, survives_truncated_files, .timeout = 120)
{
	struct stat st;
	uint8_t *whole;
	size_t size;
	int fd = open(stimulus("c-gcc"), O_RDONLY);

	cr_assert_eq(fstat(fd, &st), 0);
	whole = malloc(st.st_size);
	cr_assert_eq(read(fd, whole, st.st_size), st.st_size);
	close(fd);
	for (size = 0; size < (size_t)st.st_size; size += 101) {
		uint8_t *cut = malloc(size ? size : 1);

		memcpy(cut, whole, size);
		touch_everything(cut, size);
		free(cut);
	}
	free(whole);
}
