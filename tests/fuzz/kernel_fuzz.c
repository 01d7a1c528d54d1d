// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything in base and kernel that reads text or bytes from outside: the first byte selects the parser, the
 * rest is its input. Beyond not crashing, each target asserts what holds for any input.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/opts.h"
#include "base/str.h"
#include "kernel/cpus.h"
#include "kernel/kallsyms.h"
#include "kernel/perf_side.h"
#include "kernel/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static int on_map(const struct proc_map *map, void *ctx)
{
	assert(map->start < map->end);
	assert(strlen(map->path) == map->path_len);
	assert(map->kind != PROC_MAP_FILE || map->path[0] == '/');
	++*(size_t *)ctx;
	return 0;
}

static void fuzz_maps(const char *text, size_t len)
{
	size_t good = 0, bad = 0, lines = 0;

	proc_parse_maps(text, len, on_map, &good, &bad);
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n' || i + 1 == len;
	assert(good + bad == lines);
}

static void fuzz_task(const char *text, size_t len)
{
	struct proc_status status;
	struct proc_stat stat;
	struct buf b = { 0 };

	if (!proc_parse_status(text, len, &status))
		assert(status.pid > 0 && status.tgid > 0);
	if (!proc_parse_stat(text, len, &stat))
		assert(strlen(stat.comm) < sizeof(stat.comm) && stat.pid >= 0);
	proc_parse_cgroup(text, len, &b);
	assert(b.len > 0 && b.data[0] == '/');
	buf_free(&b);
}

static void check_symbol(const struct kallsyms *k, uint64_t addr)
{
	const struct kallsyms_module *m;
	struct kallsyms_sym sym;

	if (kallsyms_find(k, addr, &sym))
		return;
	assert(sym.start <= addr && addr - sym.start < sym.size);
	m = kallsyms_module_find(k, addr);
	assert(m && m->start <= sym.start && addr < m->end);
}

/* kallsyms up to the first NUL, /proc/modules after it. */
static void fuzz_kallsyms(const char *text, size_t len)
{
	const char *nul = memchr(text, '\0', len), *line;
	size_t sym_len = nul ? (size_t)(nul - text) : len;
	struct kallsyms *k;

	if (kallsyms_parse(text, sym_len, nul, nul ? len - sym_len : 0, &k))
		return;
	for (line = text; line; line = memchr(line, '\n', text + sym_len - line)) {
		char digits[20] = { 0 };
		uint64_t addr;

		line += *line == '\n';
		strncpy(digits, line, text + sym_len - line < 19 ? text + sym_len - line : 19);
		addr = strtoull(digits, NULL, 16);
		check_symbol(k, addr - 1);
		check_symbol(k, addr);
		check_symbol(k, addr + 1);
	}
	kallsyms_free(k);
}

static void fuzz_side(const uint8_t *data, size_t sz)
{
	struct perf_side side;

	if (perf_side_parse(data, sz, &side))
		return;
	assert(strlen(side.name) == side.name_len);
	assert(side.build_id_sz <= PERF_BUILD_ID_MAX);
}

static void fuzz_values(const char *text, size_t len)
{
	char *s = strndup(text, len);
	uint32_t *list = NULL;
	size_t cnt = 0;
	uint64_t v;

	str_parse_u64(s, UINT64_MAX, &v);
	if (!str_parse_u64(s, 1000, &v))
		assert(v <= 1000);
	str_parse_size(s, &v);
	str_parse_duration(s, &v);
	if (str_parse_list_u32(s, &list, &cnt))
		assert(!list && !cnt);
	free(list);
	list = NULL;
	cnt = 0;
	if (!str_parse_ranges_u32(s, &list, &cnt))
		assert(cnt && list[0] <= 65535);
	free(list);
	if (!cpus_parse(s, &list, &cnt))
		free(list);
	free(s);
}

static void fuzz_text(const char *text, size_t len)
{
	static const char *const words[] = { "report", "script", "info" };
	struct buf out = { 0 };
	char *s = strndup(text, len);
	size_t valid = str_utf8_valid_len(text, len);

	assert(valid <= len);
	str_escape_utf8(&out, text, len);
	assert(str_utf8_valid_len(out.data ? out.data : "", out.len) == out.len);
	buf_clear(&out);
	str_json(&out, text, len);
	assert(str_utf8_valid_len(out.data, out.len) == out.len);
	for (size_t i = 0; i < out.len; i++)
		assert((unsigned char)out.data[i] >= ' ');
	buf_free(&out);
	opts_nearest(s, words, 3);
	assert(str_glob("*", s));
	free(s);
}

/* Pattern and text, separated by the first NUL. */
static void fuzz_glob(const char *text, size_t len)
{
	const char *nul = memchr(text, '\0', len);
	char *pattern = strndup(text, len), *s;

	if (nul) {
		s = strndup(nul + 1, len - (nul + 1 - text));
		str_glob(pattern, s);
		free(s);
	}
	free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	const char *text = (const char *)data + 1;

	if (!sz)
		return 0;
	switch (data[0] % 7) {
	case 0:
		fuzz_maps(text, sz - 1);
		break;
	case 1:
		fuzz_task(text, sz - 1);
		break;
	case 2:
		fuzz_kallsyms(text, sz - 1);
		break;
	case 3:
		fuzz_side(data + 1, sz - 1);
		break;
	case 4:
		fuzz_values(text, sz - 1);
		break;
	case 5:
		fuzz_text(text, sz - 1);
		break;
	case 6:
		fuzz_glob(text, sz - 1);
		break;
	}
	return 0;
}
