// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hashes in place of names. The vectors of SipHash-2-4 are its authors'. A whole trace is sent to a fake server, whose
 * bodies have no original name.
 */
#include "ship/anonymizer.h"

#include "ship/ship.h"
#include "tests/cmd/run_cmd.h"
#include "tests/ship/fake_clickhouse.h"
#include "tests/support/temp_dir.h"

static const struct anonymizer authors = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

Test(anonymizer, vectors_of_siphash)
{
	unsigned char text[15];

	for (unsigned int i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)i;
	cr_expect_eq(anonymizer_hash(&authors, text, 0), 0x726fdb47dd0e0e31);
	cr_expect_eq(anonymizer_hash(&authors, text, 8), 0x93f5f5799a932462);
	cr_expect_eq(anonymizer_hash(&authors, text, 15), 0xa129ca6149be45e5);
}

static void expect_function(const char *s, const char *want)
{
	struct buf out = { 0 };

	anonymizer_put(&authors, ANONYMIZER_FUNCTION, s, strlen(s), &out);
	cr_expect_str_eq(buf_cstr(&out), want, "%s", out.data);
	buf_free(&out);
}

Test(anonymizer, functions_keep_their_names_but_not_paths)
{
	static const char path[] = "/srv/app.js";
	char want[128];

	expect_function("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)");
	expect_function("github.com/a/b.(*T).Method", "github.com/a/b.(*T).Method");
	expect_function("operator/(vec, vec)", "operator/(vec, vec)");
	snprintf(want, sizeof(want), "JS:~get %016lx:12:3",
		 anonymizer_hash(&authors, path, strlen(path)));
	expect_function("JS:~get /srv/app.js:12:3", want);
	snprintf(want, sizeof(want), "py::run:%016lx",
		 anonymizer_hash(&authors, path, strlen(path)));
	expect_function("py::run:/srv/app.js", want);
}

/* Names of files have spaces and brackets, and such names are all that some routes have. */
Test(anonymizer, whole_paths_are_hashed)
{
	static const struct {
		const char *before, *path, *after;
	} cases[] = {
		{ "JS:*get ", "/srv/(group)/page.js", ":12:3" },
		{ "JS:^get ", "/srv/[slug]/page.js", ":12:3" },
		{ "JS:*", "/srv/app.js", ":12:3" },
		{ "JS:~get ", "/srv/my project/a, b's/app.js", ":12:3" },
		{ "JS:~get ", "/srv:8080/app.js", ":12:3" },
		{ "JS:~get file:", "///srv/(group)/app.mjs", ":12:3" },
		{ "py::run:", "/srv/my project/app.py", "" },
		{ "f()::{lambda at ", "/srv/a b.cc", ":3:4}::operator()(int)" },
		{ "f()::(", "/srv/a (b).cc", ")" },
		{ "[", "/srv/lib (1).so", "] + 3" },
	};
	struct buf text = { 0 }, want = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = cases[i].path;

		buf_clear(&text);
		buf_clear(&want);
		buf_printf(&text, "%s%s%s", cases[i].before, path, cases[i].after);
		buf_printf(&want, "%s%016lx%s", cases[i].before,
			   anonymizer_hash(&authors, path, strlen(path)), cases[i].after);
		expect_function(buf_cstr(&text), buf_cstr(&want));
	}
	buf_free(&text);
	buf_free(&want);
}

Test(anonymizer, empty_texts_stay_empty)
{
	struct buf out = { 0 };

	anonymizer_put(&authors, ANONYMIZER_PRIVATE, "", 0, &out);
	cr_expect_eq(out.len, 0);
	anonymizer_put(&authors, ANONYMIZER_PRIVATE, "box", 3, &out);
	cr_expect_eq(out.len, 16);
	buf_free(&out);
}

/* ---- keys ------------------------------------------------------------------------------------- */

struct place {
	char path[64];
	int dir;
};

static void enter(struct place *p)
{
	temp_dir_make(p->path, sizeof(p->path));
	p->dir = open(p->path, O_RDONLY | O_DIRECTORY);
}

static void leave(struct place *p)
{
	close(p->dir);
	temp_dir_remove(p->path);
}

static void write_key(const struct place *p, const char *name, const char *text)
{
	const int fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(anonymizer, a_directory_keeps_its_random_key)
{
	struct anonymizer a, b, c;
	struct place one, two;
	struct stat st;

	enter(&one);
	enter(&two);
	cr_assert_eq(anonymizer_read(one.dir, NULL, &a), 0);
	cr_assert_eq(anonymizer_read(one.dir, NULL, &b), 0);
	cr_assert_eq(anonymizer_read(two.dir, NULL, &c), 0);
	cr_expect_arr_eq(a.key, b.key, sizeof(a.key));
	cr_expect_neq(a.key[0], c.key[0]);
	cr_expect_eq(fstatat(one.dir, ANONYMIZER_KEY_NAME, &st, 0), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	leave(&one);
	leave(&two);
}

Test(anonymizer, a_key_has_32_hexadecimal_digits)
{
	static const char *const bad[] = { "", "\n", "0123", "0123456789abcdef0123456789abcdeg\n",
					   "0123456789abcdef0123456789abcdef0\n" };
	struct anonymizer a;
	struct place p;
	char path[128];

	enter(&p);
	snprintf(path, sizeof(path), "%s/key", p.path);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_key(&p, "key", bad[i]);
		cr_expect_eq(anonymizer_read(p.dir, path, &a), -EINVAL, "%s", bad[i]);
	}
	write_key(&p, "key", "0123456789abcdef0000000000000001\n");
	cr_expect_eq(anonymizer_read(p.dir, path, &a), 0);
	cr_expect_eq(a.key[0], 0x0123456789abcdef);
	cr_expect_eq(a.key[1], 1);
	snprintf(path, sizeof(path), "%s/none", p.path);
	cr_expect_eq(anonymizer_read(p.dir, path, &a), -ENOENT);
	leave(&p);
}

/* ---- what a server gets ----------------------------------------------------------------------- */

/* Names of everything that is private, none of which is a part of a word that stays. */
static const char *const names[] = { "zhost",	       "zboot",	   "zcomm",  "zpool",
				     "/usr/bin/thing", "zslice",   "zlib",   "zfile.c",
				     "zscript",	       "[zlabel]", "zwriter" };
static const char *const kept[] = { "zfunction", "zkernel_function", "[zkernel]", "b7zlabel" };

static void write_trace(const struct place *p, const char *name)
{
	static const char *const kv[] = { "host",
					  "zhost",
					  "boot_id",
					  "zboot",
					  "sample_event",
					  "cpu-clock",
					  "sample_period_ns",
					  "1000",
					  NULL };
	const uint64_t program = make_frame(1, 0x10), lib = make_frame(2, 0x20),
		       kernel = make_frame(3, 0x30) | PROF_FRAME_KERNEL,
		       unknown = make_frame(2, 0x40);
	const uint64_t a[] = { kernel, lib, program }, b[] = { unknown, lib };
	char data[4096];
	struct make m;
	ssize_t n;
	int fd, to;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_clock(&m, RUN_SEC, 1700000000 * RUN_SEC);
	make_module_with(&m, RUN_SEC, 1, "/usr/bin/thing", "\x0b\x1d", PROF_MODULE_ELF);
	make_module_with(&m, RUN_SEC, 2, "/opt/zlib.so", "", PROF_MODULE_ELF);
	make_module(&m, RUN_SEC, 3, "[zkernel]", PROF_MODULE_KERNEL);
	make_task_in(&m, RUN_SEC, 10, 10, "zcomm", "/zslice");
	make_task_in(&m, RUN_SEC, 10, 11, "zpool", "/zslice");
	make_prev_state(&m, RUN_SEC);
	make_sample(&m, RUN_SEC + 10, 10, 10, PROF_SOURCE_SAMPLE, 0, a, 3);
	make_sample(&m, RUN_SEC + 20, 10, 10, PROF_SOURCE_SAMPLE, 0, b, 2);
	make_switch(&m, RUN_SEC + 30, 0, "zcomm", 10, 1, "zpool", 11);
	make_sample(&m, RUN_SEC + 30, 10, 10, PROF_SOURCE_SWITCH_OUT, 0, a, 3);
	make_waking(&m, RUN_SEC + 40, 0, 10, "zcomm", 10);
	make_switch(&m, RUN_SEC + 50, 0, "zpool", 11, 0, "zcomm", 10);
	make_symbol(&m, RUN_SEC + 60, program, 0, program, "zfunction", "/src/zfile.c", 5);
	make_symbol(&m, RUN_SEC + 60, lib, 0, lib, "zfunction /opt/zscript:4", "", 0);
	make_symbol(&m, RUN_SEC + 60, kernel, 0, kernel, "zkernel_function", "", 0);
	make_label(&m, RUN_SEC + 60, unknown, "[zlabel]");
	fd = make_done(&m);
	to = openat(p->dir, name, O_WRONLY | O_CREAT, 0600);
	while ((n = read(fd, data, sizeof(data))) > 0)
		cr_assert_eq(write(to, data, (size_t)n), n);
	close(fd);
	close(to);
}

static struct fake_clickhouse *send_trace(bool anonymize, uint64_t disk_max)
{
	static const char *const labels[] = { "rack=b7zlabel" };
	struct fake_clickhouse *f = fake_start(&(struct fake_opts){ .tokens = true });
	struct ship_counts counts = { 0 };
	struct http_url url;
	struct place p;
	char text[64];

	enter(&p);
	write_trace(&p, "zwriter.0.bin");
	snprintf(text, sizeof(text), "http://me@127.0.0.1:%u/fleet", fake_port(f));
	cr_assert_eq(http_url_parse("ship", text, &url), 0);
	cr_expect_eq(ship_run(
			     &(struct ship_opts){
				     .dir = p.path,
				     .sender = { .server = { .url = &url, .timeout_ns = RUN_SEC } },
				     .attempts = { .end_fd = -1,
						   .pause_min_ns = 1000,
						   .pause_max_ns = 1000 },
				     .labels = labels,
				     .label_cnt = 1,
				     .anonymize = anonymize,
				     .disk_max = disk_max,
				     .once = true },
			     &counts),
		     0);
	cr_expect_eq(counts.missing + counts.doubled, 0);
	http_url_fini(&url);
	leave(&p);
	return f;
}

/* Proves the names of the next test: all are sent, except the name of the file. */
Test(anonymizer, without_it_a_server_gets_the_names)
{
	struct fake_clickhouse *f = send_trace(false, 0);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - 1; i++)
		cr_expect(fake_got(f, names[i]), "%s", names[i]);
	cr_expect(fake_got(f, "0b1d"));
	fake_free(f);
}

Test(anonymizer, no_name_is_in_a_body)
{
	struct fake_clickhouse *f = send_trace(true, 0);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect_not(fake_got(f, names[i]), "%s", names[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		cr_expect(fake_got(f, kept[i]), "%s", kept[i]);
	cr_expect_eq(fake_rows(f, "samples"), 2);
	cr_expect_gt(fake_rows(f, "slices"), 0);
	fake_free(f);
}

Test(anonymizer, a_lost_file_names_no_host)
{
	struct fake_clickhouse *f = send_trace(true, 1);
	char host[256];

	cr_assert_eq(gethostname(host, sizeof(host)), 0);
	cr_expect_eq(fake_rows(f, "lost"), 1);
	cr_expect_not(fake_got(f, "zwriter"));
	cr_expect(strlen(host) < 4 || !fake_got(f, host), "%s", host);
	fake_free(f);
}

/* The program of a stack, not the library of its leaf; none where only a library is known. */
Test(anonymizer, samples_have_the_build_of_their_program)
{
	struct fake_clickhouse *f = send_trace(false, 0);

	cr_expect(fake_got(f, "\5build\6String\0040b1d"));
	fake_free(f);
}
