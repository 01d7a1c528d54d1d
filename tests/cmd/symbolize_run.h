/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_CMD_SYMBOLIZE_RUN_H
#define D9_TESTS_CMD_SYMBOLIZE_RUN_H

/* Shared by the tests of symbolize: programs, traces with addresses in them, and the symbols of these addresses. */
#include "tests/cmd/run_cmd.h"

#include "base/buf.h"
#include "base/str.h"
#include "tests/support/read_trace.h"
#include "tests/symbol/support.h"

#define PLACES_MAX 256

/* A program with debug information, and some places in its code. */
struct program {
	char path[PATH_MAX]; /* its path in the trace */
	uint8_t id[SYMBOLIZER_BUILD_ID_MAX];
	size_t id_sz;
	char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1];
	struct section text;
	uint64_t offs[PLACES_MAX];
	size_t cnt;
};

/* Inside functions: between them addr2line prints the one before. */
static inline void add_places(struct program *p, const char *whole)
{
	unsigned long long addr, size;
	char cmd[PATH_MAX + 32], line[512], type;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "nm -S --defined-only %s", whole);
	f = popen(cmd, "r");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %llx %c", &addr, &size, &type) != 3 ||
		    (type != 't' && type != 'T') || addr < p->text.addr ||
		    addr + size > p->text.addr + p->text.size)
			continue;
		for (uint64_t at = addr; at < addr + size && p->cnt < PLACES_MAX; at += 7)
			p->offs[p->cnt++] = at - p->text.addr + p->text.off;
	}
	pclose(f);
}

/* In its own directory, as "app", which may be removed. */
/* Its build-id and addresses, after its file has changed. */
static inline void reread_program(struct program *p)
{
	struct buf hex = { 0 };
	int fd = open(p->path, O_RDONLY);

	cr_assert_eq(symbolizer_build_id(fd, p->id, &p->id_sz), 0);
	close(fd);
	str_hex(&hex, p->id, p->id_sz);
	snprintf(p->hex, sizeof(p->hex), "%s", buf_cstr(&hex));
	buf_free(&hex);
	p->text = section_of(p->path, ".text");
	p->cnt = 0;
	add_places(p, p->path);
}

static inline void program_init(struct program *p, const char *name)
{
	shell("mkdir -p %s/bin && cp %s %s/bin/app", scratch(), stimulus(name), scratch());
	snprintf(p->path, sizeof(p->path), "%s/bin/app", scratch());
	reread_program(p);
}

static inline void put_program(struct make *m, uint32_t id, const struct program *p, size_t id_sz)
{
	dial9_enc_begin(m->enc, m->module, RUN_SEC);
	dial9_enc_put_u64(m->enc, id);
	make_str(m, p->path);
	dial9_enc_put_bytes(m->enc, p->id, id_sz);
	dial9_enc_put_u64(m->enc, PROF_MODULE_ELF);
	make_end(m);
}

static inline void put_mapping(struct make *m, uint32_t id, uint64_t off, uint64_t size)
{
	MAKE_NUMBERS(m, RUN_SEC, "ProcMapsEntry", { "pid", 10 }, { "start", 0x550000000000 },
		     { "end", 0x550000000000 + size }, { "offset", off }, { "module_id", id });
}

static inline void put_places(struct make *m, uint32_t id, const struct program *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		const uint64_t frame = make_frame(id, p->offs[i]);

		make_sample(m, (2 + i) * RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	}
}

/* The trace of one sample at each address. */
static inline void program_trace(struct make *m, const struct program *p)
{
	make_init(m, NULL);
	put_program(m, 1, p, p->id_sz);
	put_places(m, 1, p);
}

struct bytes {
	char *data;
	size_t sz;
};

static inline struct bytes bytes_of(struct make *m)
{
	struct bytes b;
	const void *data = dial9_enc_data(m->enc, &b.sz);

	b.data = malloc(b.sz + 1);
	memcpy(b.data, data, b.sz);
	return b;
}

/* The output of symbolize, with up to two more arguments; its messages in *said, if that is not NULL. */
static inline struct bytes symbolize(const struct bytes *in, const char *a, const char *b,
				     char **output)
{
	char out[] = "/tmp/d9-symbolize-XXXXXX", word[40];
	struct bytes f;
	struct stat st;
	struct run r;
	int fd;

	close(mkstemp(out));
	unlink(out);
	snprintf(word, sizeof(word), "-o%s", out);
	r = run_cmd(cmd_symbolize, make_fd(in->data, in->sz), "symbolize", "-", word, a,
		    a ? b : NULL, NULL);
	cr_assert_eq(r.code, CMD_OK, "exit code %d: %s", r.code, r.err);
	fd = open(out, O_RDONLY);
	cr_assert_geq(fd, 0, "%s", r.err);
	cr_assert_eq(fstat(fd, &st), 0);
	f.sz = (size_t)st.st_size;
	f.data = malloc(f.sz + 1);
	cr_assert_eq(pread(fd, f.data, f.sz, 0), st.st_size);
	close(fd);
	unlink(out);
	if (output)
		*output = r.err;
	else
		free(r.err);
	free(r.out);
	return f;
}

static inline bool same(const struct bytes *a, const struct bytes *b)
{
	return a->sz == b->sz && !memcmp(a->data, b->data, a->sz);
}

static inline void expect_good(const struct bytes *b)
{
	struct run r = run_cmd(cmd_info, make_fd(b->data, b->sz), "info", "--verify", "-", NULL);

	cr_assert_eq(r.code, CMD_OK, "%s%s", r.out, r.err);
	run_free(&r);
}

static inline void add_frame(struct buf *out, const struct names *n, uint64_t frame, bool lines)
{
	const struct names_symbol *sym = names_symbol(n, frame);
	bool any = false;

	buf_addx(out, frame & PROF_FRAME_OFFSET_MASK);
	for (uint32_t i = sym ? sym->cnt : 0; i-- > 0;) {
		if (sym->frames[i].name == NAMES_NONE || sym->frames[i].label)
			continue;
		any = true;
		buf_printf(out, " %s", names_str(n, sym->frames[i].name, NULL));
		if (lines && sym->frames[i].file != NAMES_NONE && sym->frames[i].line)
			buf_printf(out, " %s:%u", names_str(n, sym->frames[i].file, NULL),
				   sym->frames[i].line);
	}
	buf_addstr(out, any ? "\n" : " ??\n");
}

/* Each frame of each sample, with its functions, innermost first. */
static inline char *frames_of(const struct bytes *b, bool lines)
{
	struct buf out = { 0 };
	struct reader *r = read_trace_as(make_fd(b->data, b->sz), READER_NAMES_AHEAD);
	struct trace_event ev;

	while (reader_next(r, &ev) == 1)
		for (uint32_t i = 0; ev.kind == TRACE_SAMPLE && i < ev.frame_cnt; i++)
			add_frame(&out, reader_names(r), ev.frames[i], lines);
	reader_free(r);
	return buf_steal(&out);
}

/* The same by addr2line, of a file with all symbols. */
static inline char *addr2line(const struct program *p, const char *file, bool lines)
{
	char line[PATH_MAX + 64], *name;
	struct buf cmd = { 0 }, out = { 0 };
	bool function = false;
	FILE *f;

	buf_printf(&cmd, "addr2line -a -f -i -e %s", file);
	for (size_t i = 0; i < p->cnt; i++)
		buf_printf(&cmd, " 0x%llx",
			   (unsigned long long)(p->offs[i] - p->text.off + p->text.addr));
	f = popen(buf_cstr(&cmd), "r");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0x", 2)) {
			if (out.len)
				buf_addch(&out, '\n');
			buf_addx(&out, strtoull(line, NULL, 16) - p->text.addr + p->text.off);
			function = true;
			continue;
		}
		name = strstr(line, " (discriminator");
		if (name)
			*name = '\0';
		if (function || (lines && !strstr(line, "?")))
			buf_printf(&out, " %s", line);
		function = !function;
	}
	buf_addch(&out, '\n');
	cr_assert_eq(pclose(f), 0);
	buf_free(&cmd);
	return buf_steal(&out);
}

#endif /* D9_TESTS_CMD_SYMBOLIZE_RUN_H */
