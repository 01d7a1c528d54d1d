// SPDX-License-Identifier: BSD-2-Clause
/* The page contains the trace byte by byte, and nothing of it outside the base64. */
#include <zlib.h>

#include "tests/cmd/run_cmd.h"

static const char begin_mark[] = "<script type=\"application/octet-stream\" id=\"trace\">";

/* The base64 data of the page, decompressed; the caller frees. */
static unsigned char *trace_of(const char *page, size_t *sz)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strstr(page, begin_mark), *end;
	unsigned char *gz, *out;
	size_t gz_sz = 0;
	uint32_t v = 0;
	z_stream z = { 0 };

	cr_assert_not_null(at);
	at += strlen(begin_mark);
	end = strchr(at, '<');
	cr_assert_eq(strncmp(end, "</script>", 9), 0);
	cr_assert_eq((end - at) % 4, 0);
	gz = malloc((size_t)(end - at));
	for (size_t i = 0; at + i < end; i++) {
		const char *digit = at[i] == '=' ? digits : strchr(digits, at[i]);

		cr_assert(digit && at[i], "no base64");
		v = v << 6 | (uint32_t)(digit - digits);
		if (i % 4 != 3)
			continue;
		for (int shift = 16; shift >= 0; shift -= 8)
			gz[gz_sz++] = (unsigned char)(v >> shift);
	}
	out = malloc(1 << 20);
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = gz;
	z.avail_in = (uInt)gz_sz;
	z.next_out = out;
	z.avail_out = 1 << 20;
	cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	*sz = z.total_out;
	inflateEnd(&z);
	free(gz);
	return out;
}

/* Events of which the last has a hostile name; their number varies, for all lengths modulo three. */
static int make_some(size_t events)
{
	struct make m;

	make_init(&m, NULL);
	for (size_t i = 0; i < events; i++)
		make_switch(&m, 1000 * (i + 1), 0, i % 2 ? "b" : "a", i % 2 ? 11 : 10, 1, "swapper",
			    0);
	make_task(&m, 1, 10, 10, "</script><b>@TRACE@");
	return make_done(&m);
}

Test(html, page_contains_the_unchanged_trace)
{
	for (size_t events = 1; events < 8; events++) {
		int fd = make_some(events);
		char *plain = run_slurp(dup(fd));
		unsigned char *held;
		struct stat st;
		struct run r;
		size_t sz;

		fstat(fd, &st);
		r = run_cmd(cmd_export, fd, "export", "html", "-", NULL);
		cr_assert_eq(r.code, CMD_OK, "%s", r.err);
		held = trace_of(r.out, &sz);
		cr_expect_eq(sz, (size_t)st.st_size);
		cr_expect_arr_eq(held, plain, sz);
		free(held);
		free(plain);
		run_free(&r);
	}
}

Test(html, page_has_a_policy_that_allows_only_itself)
{
	struct run r = run_cmd(cmd_export, make_some(3), "export", "html", "-", NULL);
	const char *policy = strstr(r.out, "Content-Security-Policy");

	cr_assert_eq(strncmp(r.out, "<!DOCTYPE html>\n", 16), 0);
	cr_assert_not_null(policy);
	cr_expect_eq(strstr(policy, "default-src 'none'; script-src 'sha256-") != NULL, true);
	cr_expect_eq(strstr(policy, "connect-src 'none'") != NULL, true);
	cr_expect_null(strstr(r.out, "@TRACE@"));
	cr_expect_null(strstr(r.out, "@FROM@"));
	cr_expect_null(strstr(r.out, "<b>"));
	cr_expect_eq(strcmp(r.out + strlen(r.out) - 16, "</body>\n</html>\n"), 0);
	cr_expect_lt(strlen(r.out), 512u << 10);
	run_free(&r);
}

Test(html, page_contains_only_the_selection)
{
	struct run all = run_cmd(cmd_export, make_some(40), "export", "html", "-", NULL);
	struct run some =
		run_cmd(cmd_export, make_some(40), "export", "html", "-t", "11", "-", NULL);
	size_t all_sz, some_sz;
	unsigned char *a = trace_of(all.out, &all_sz), *b = trace_of(some.out, &some_sz);

	cr_expect_eq(some.code, CMD_OK, "%s", some.err);
	cr_expect_arr_eq(b, "TRC\0", 4);
	cr_expect_lt(some_sz, all_sz - 300);
	free(a);
	free(b);
	run_free(&all);
	run_free(&some);
}

Test(html, input_that_is_not_a_trace_is_refused)
{
	run_expect(run_cmd(cmd_export, make_fd("hello, world", 12), "export", "html", "-", NULL),
		   CMD_INPUT, "",
		   "dial9-prof: export: standard input is not a dial9 trace; "
		   "dial9-prof convert reads some other formats\n");
	run_expect(run_cmd(cmd_export, make_some(1), "export", "html", "--kind=cpu", "-", NULL),
		   CMD_USAGE, "",
		   "dial9-prof: export: html contains all kinds of time; remove --kind\n");
}
