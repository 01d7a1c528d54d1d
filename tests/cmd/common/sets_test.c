// SPDX-License-Identifier: BSD-2-Clause
/* How commands report a recording in several files if a file is missing, bad, or given twice. */
#include "tests/cmd/run_cmd.h"

#include <unistd.h>

/* With @extra bytes of an unknown frame after it. */
static void put_segment(const char *dir, unsigned int n, struct make *m, size_t extra)
{
	static const char junk[] = "\xdd\xdd\xdd\xdd";
	const char *data;
	char path[64];
	size_t sz;
	FILE *f;

	snprintf(path, sizeof(path), "%s/a.%u.bin", dir, n);
	data = dial9_enc_data(m->enc, &sz);
	f = fopen(path, "w");
	cr_assert(f && fwrite(data, 1, sz, f) == sz && fwrite(junk, 1, extra, f) == extra);
	fclose(f);
	make_fini(m);
}

/* Deletion of the oldest files by rotation is no warning. */
static void expect_first(const char *dir)
{
	char path[64];
	struct run r;

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/a.%u.bin", dir, i);
		unlink(path);
	}
	r = run_cmd(cmd_info, make_fd("", 0), "info", dir, NULL);
	run_expect_in(r.out,
		      "\nfiles           files 0 to 2 are missing: it begins with number 3\n");
	run_expect_in(r.out, "\nlost            nothing\n");
	cr_expect_str_eq(r.err, "");
	run_free(&r);
	r = run_cmd(cmd_info, make_fd("", 0), "info", "--json", dir, NULL);
	run_expect_in(r.out, ",\"first_file\":3,");
	run_free(&r);
}

Test(sets, missing_file_of_a_set_is_a_loss_in_the_same_recording)
{
	static const unsigned int numbers[] = { 0, 1, 3 };
	char dir[] = "/tmp/d9-info-XXXXXX", path[64];
	struct make m;
	struct run r;

	cr_assert(mkdtemp(dir));
	for (unsigned int i = 0; i < 3; i++) {
		run_make_segment(&m, (numbers[i] + 1) * 1000000000ULL, 2,
				 (const uint64_t[]){ 8, 8, 0, i == 2 ? 1 : 2 });
		put_segment(dir, numbers[i], &m, 0);
	}
	r = run_cmd(cmd_info, make_fd("", 0), "info", dir, NULL);
	cr_expect_eq(r.code, 0);
	cr_expect(strstr(r.err, "dial9-prof: file 2 is missing before "), "%s", r.err);
	run_expect_in(
		r.out,
		"lost            1 time range whose file is missing or damaged: unknown number of events (hole), between 2.000000 and 4.000000\n"
		"written here    6 of these 8: ");
	cr_expect_null(strstr(r.out, "\nPart "), "%s", r.out);
	run_free(&r);
	r = run_cmd(cmd_info, make_fd("", 0), "info", "--verify", dir, NULL);
	cr_expect_neq(r.code, 0);
	cr_expect(strstr(r.out, ": damaged: "), "%s", r.out);
	run_free(&r);
	r = run_cmd(cmd_info, make_fd("", 0), "info", "--json", dir, NULL);
	run_expect_in(r.out, ",\"holes\":1");
	cr_expect_null(strstr(r.out, "first_file"));
	run_free(&r);
	expect_first(dir);
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/a.%u.bin", dir, numbers[i]);
		unlink(path);
	}
	cr_expect_eq(rmdir(dir), 0);
}

enum { FILES = 3 };

/* Three files of two switches each, a second apart. */
static void put_three(char *dir)
{
	struct make m;

	cr_assert(mkdtemp(dir));
	for (unsigned int i = 0; i < FILES; i++) {
		run_make_segment(&m, (i + 1) * RUN_SEC, 2,
				 (const uint64_t[]){ 6, 6, 0, i + 1 == FILES ? 1 : 2 });
		put_segment(dir, i, &m, 0);
	}
}

static const char *name(const char *dir, unsigned int i)
{
	static char path[FILES][64];

	snprintf(path[i], sizeof(path[0]), "%s/a.%u.bin", dir, i);
	return path[i];
}

static off_t size_of(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return st.st_size;
}

static void remove_all(const char *dir)
{
	for (unsigned int i = 0; i < FILES; i++)
		unlink(name(dir, i));
	cr_expect_eq(rmdir(dir), 0);
}

/* With the directory, or with its files, as argument; one file is missing. */
Test(sets, merged_files_still_report_the_missing_file)
{
	char dir[] = "/tmp/d9-sets-XXXXXX", out[] = "/tmp/d9-sets-out-XXXXXX";
	const int fd = mkstemp(out);
	struct run r;

	put_three(dir);
	unlink(name(dir, 1));
	for (int by_name = 0; by_name < 2; by_name++) {
		r = by_name ? run_cmd(cmd_merge, make_fd("", 0), "merge", "-o", out, name(dir, 0),
				      name(dir, 2), NULL) :
			      run_cmd(cmd_merge, make_fd("", 0), "merge", "-o", out, dir, NULL);
		cr_expect_eq(r.code, 0);
		run_expect_in(r.err, "dial9-prof: file 1 is missing before ");
		run_expect_in(r.err, " of 2 traces, ");
		run_free(&r);
		r = run_cmd(cmd_info, make_fd("", 0), "info", out, NULL);
		run_expect_in(r.out, "(hole), between 1.000000 and 3.000000\n");
		cr_expect_null(strstr(r.out, "\nPart "), "%s", r.out);
		run_free(&r);
	}
	close(fd);
	unlink(out);
	remove_all(dir);
}

/* The readable part is used, but the exit status reports the damage. */
Test(sets, damaged_file_is_a_loss_and_an_exit_status)
{
	char dir[] = "/tmp/d9-sets-XXXXXX";
	struct make m;
	struct run r;

	put_three(dir);
	run_make_segment(&m, 2 * RUN_SEC, 2, NULL);
	put_segment(dir, 1, &m, 4);
	r = run_cmd(cmd_info, make_fd("", 0), "info", dir, NULL);
	cr_expect_eq(r.code, CMD_INPUT);
	run_expect_in(r.err, "; the rest of it is missing\n");
	run_expect_in(r.out, "(hole), between 2.000000 and 3.000000\n");
	run_free(&r);
	remove_all(dir);
}

/* The last event of file @i, as defined by the format's manual page, after @junk bytes that no reader knows. */
static void append_end(const char *path, uint64_t first, uint64_t last, size_t junk)
{
	const uint64_t before = (uint64_t)size_of(path) + junk;
	unsigned char text[64 + 32] = { 0 };
	FILE *f = fopen(path, "a");

	memset(text, 0xdd, junk);
	for (int i = 0; i < 8; i++) {
		text[junk + i] = (unsigned char)(first >> 8 * i);
		text[junk + 8 + i] = (unsigned char)(last >> 8 * i);
		text[junk + 16 + i] = (unsigned char)(before >> 8 * i);
		text[junk + 24 + i] = (unsigned char)"D9SEGEND"[i];
	}
	cr_assert(f && fwrite(text, 1, junk + 32, f) == junk + 32);
	fclose(f);
}

/* The other files are damaged, which only commands that read them report. */
Test(sets, script_with_a_time_range_reads_only_the_files_of_that_time)
{
	char dir[] = "/tmp/d9-sets-XXXXXX";
	struct run r;

	put_three(dir);
	append_end(name(dir, 0), RUN_SEC, RUN_SEC + RUN_SEC / 2, 20);
	append_end(name(dir, 2), 33 * RUN_SEC, 34 * RUN_SEC, 20);
	r = run_cmd(cmd_script, make_fd("", 0), "script", "--time", "1.9,2.9", dir, NULL);
	cr_expect_eq(r.code, 0);
	cr_expect_str_eq(r.err, "");
	run_expect_in(r.out, " 2.000");
	cr_expect_null(strstr(r.out, " 1.0"));
	cr_expect_null(strstr(r.out, " 3.0"));
	run_free(&r);
	r = run_cmd(cmd_script, make_fd("", 0), "script", "--time", "+0,2.9", dir, NULL);
	run_expect_in(r.err, "a.0.bin: damaged: ");
	run_free(&r);
	r = run_cmd(cmd_script, make_fd("", 0), "script", "--time", "1.2,2.9", dir, NULL);
	run_expect_in(r.out, " 2.000");
	run_free(&r);
	remove_all(dir);
}

enum { FUNCTION = 0x300 };

static void put_sample(struct make *m, uint64_t ts)
{
	make_module(m, ts, 1, "/usr/bin/app", PROF_MODULE_ELF);
	make_sample(m, ts, 11, 11, PROF_SOURCE_SAMPLE, 0,
		    (const uint64_t[]){ make_frame(1, FUNCTION) }, 1);
}

static void put_end(struct make *m, uint64_t first, uint64_t last)
{
	static const struct dial9_field fields[] = { { "first_ns", DIAL9_I64 },
						     { "last_ns", DIAL9_I64 },
						     { "bytes_before", DIAL9_I64 },
						     { "mark", DIAL9_I64 } };
	struct dial9_schema *schema;
	size_t before;

	dial9_enc_data(m->enc, &before);
	cr_assert_eq(dial9_schema_new("SegmentEnd", true, fields, 4, &schema), 0);
	dial9_enc_begin(m->enc, schema, last);
	dial9_enc_put_i64(m->enc, (int64_t)first);
	dial9_enc_put_i64(m->enc, (int64_t)last);
	dial9_enc_put_i64(m->enc, (int64_t)before);
	dial9_enc_put_i64(m->enc, PROF_SEGMENT_END_MARK);
	cr_assert_eq(dial9_enc_end(m->enc), 0);
	dial9_schema_free(schema);
}

/* The recorder resolved the symbol after the file of the sample was finished. */
Test(sets, script_with_a_time_range_has_symbols_of_later_files)
{
	char dir[] = "/tmp/d9-sets-XXXXXX";
	struct make m;
	struct run r;

	put_three(dir);
	run_make_segment(&m, 2 * RUN_SEC, 0, NULL);
	put_sample(&m, 2 * RUN_SEC + 1);
	make_label(&m, 2 * RUN_SEC + 2, make_frame(1, FUNCTION), "[app]");
	put_segment(dir, 1, &m, 0);
	run_make_segment(&m, 3 * RUN_SEC, 0, NULL);
	put_sample(&m, 3 * RUN_SEC + 1);
	make_symbol(&m, 3 * RUN_SEC + 2, make_frame(1, FUNCTION), 0, make_frame(1, FUNCTION),
		    "found_late", "", 0);
	put_end(&m, 3 * RUN_SEC, 3 * RUN_SEC + 2);
	put_segment(dir, 2, &m, 0);
	append_end(name(dir, 0), RUN_SEC, RUN_SEC + RUN_SEC / 2, 20);
	r = run_cmd(cmd_script, make_fd("", 0), "script", "--time", "1.9,2.9", dir, NULL);
	cr_expect_eq(r.code, 0);
	cr_expect_str_eq(r.err, "");
	run_expect_in(r.out, "found_late");
	run_expect_in(r.out, " 2.000");
	cr_expect_null(strstr(r.out, " 3.000"), "%s", r.out);
	run_free(&r);
	remove_all(dir);
}

/* The message about missing events covers all files. */
Test(sets, script_with_an_empty_time_range_prints_the_range_of_all_files)
{
	char dir[] = "/tmp/d9-sets-XXXXXX";
	struct run r;

	put_three(dir);
	append_end(name(dir, 0), RUN_SEC, RUN_SEC + RUN_SEC / 2, 0);
	r = run_cmd(cmd_script, make_fd("", 0), "script", "--time", "9,9.5", dir, NULL);
	cr_expect_eq(r.code, CMD_USAGE);
	run_expect_in(r.err, "it covers 1.0");
	run_free(&r);
	remove_all(dir);
}

/* A killed recorder leaves its last file unfinished: the compression, or a frame after its last figures. */
Test(sets, unfinished_end_of_a_closed_file_is_no_loss)
{
	char dir[] = "/tmp/d9-sets-XXXXXX";
	struct make m;
	struct run r;

	for (unsigned int closed = 0; closed <= 2; closed += 2) {
		put_three(dir);
		run_make_segment(&m, 2 * RUN_SEC, 2, (const uint64_t[]){ 4, 4, 0, closed });
		put_segment(dir, 1, &m, 0);
		/* inside the clock's event, which is the last */
		cr_assert_eq(truncate(name(dir, 1), size_of(name(dir, 1)) - 1), 0);
		r = run_cmd(cmd_info, make_fd("", 0), "info", dir, NULL);
		cr_expect_eq(r.code, 0);
		run_expect_in(r.out, closed ? "\nlost            nothing\n" :
					      "\nlost            1 time range ");
		cr_expect_eq(!*r.err, !!closed, "%s", r.err);
		run_free(&r);
		remove_all(dir);
		strcpy(dir, "/tmp/d9-sets-XXXXXX");
	}
}

Test(sets, file_that_is_a_copy_of_the_previous_file_does_not_count_again)
{
	char dir[] = "/tmp/d9-sets-XXXXXX";
	struct run r;

	put_three(dir);
	unlink(name(dir, 1));
	cr_assert_eq(link(name(dir, 0), name(dir, 1)), 0);
	r = run_cmd(cmd_info, make_fd("", 0), "info", dir, NULL);
	run_expect_in(r.err, "a.1.bin is a copy of ");
	run_expect_in(r.out, "(hole), between 1.000000 and 3.000000\n");
	run_expect_in(r.out, "written here    4 of these 6: ");
	run_free(&r);
	remove_all(dir);
}

/* A directory may have a file with both compressions, and a user may give a file twice. */
Test(sets, merged_file_that_is_given_twice_is_no_loss)
{
	char dir[] = "/tmp/d9-sets-XXXXXX", out[] = "/tmp/d9-sets-out-XXXXXX";
	const int fd = mkstemp(out);
	struct run r;

	put_three(dir);
	r = run_cmd(cmd_merge, make_fd("", 0), "merge", "-q", "-o", out, name(dir, 0), name(dir, 0),
		    name(dir, 1), name(dir, 2), NULL);
	cr_expect_eq(r.code, 0, "%s", r.err);
	cr_expect_null(strstr(r.err, "missing"), "%s", r.err);
	run_free(&r);
	r = run_cmd(cmd_info, make_fd("", 0), "info", out, NULL);
	run_expect_in(r.out, "\nlost            nothing\n");
	run_free(&r);
	close(fd);
	unlink(out);
	remove_all(dir);
}

/* No file can come after the greatest number: two files with it have none between them. */
Test(sets, two_files_with_the_greatest_number_have_no_file_between_them)
{
	static const char *const ends[] = { "", ".gz" };
	char dir[] = "/tmp/d9-sets-XXXXXX", path[2][64];
	struct run r;

	put_three(dir);
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/a.18446744073709551615.bin%s", dir, ends[i]);
		cr_assert_eq(rename(name(dir, i), path[i]), 0);
	}
	unlink(name(dir, 2));
	r = run_cmd(cmd_info, make_fd("", 0), "info", dir, NULL);
	run_expect_in(r.err, "; skipped\n");
	cr_expect_null(strstr(r.err, "missing"), "%s", r.err);
	run_free(&r);
	for (unsigned int i = 0; i < 2; i++)
		unlink(path[i]);
	remove_all(dir);
}

Test(sets, command_that_reads_one_trace_names_the_set_of_two_files)
{
	char dir[] = "/tmp/d9-info-XXXXXX", err[256];

	put_three(dir);
	snprintf(
		err, sizeof(err),
		"dial9-prof: report: %s and %s are parts of one recording: name %s/a to read all of it\n",
		name(dir, 0), name(dir, 1), dir);
	run_expect(run_cmd(cmd_report, -1, "report", name(dir, 0), name(dir, 1), NULL), CMD_USAGE,
		   "", err);
	for (unsigned int i = 0; i < FILES; i++)
		unlink(name(dir, i));
	cr_expect_eq(rmdir(dir), 0);
}

Test(sets, query_of_a_damaged_file_has_an_exit_status_in_all_forms)
{
	char dir[] = "/tmp/d9-info-XXXXXX", set[64];
	const char *a[] = { dir, set, NULL }, *b[] = { NULL, NULL, NULL };
	struct make m;

	put_three(dir);
	run_make_segment(&m, RUN_SEC, 2, NULL);
	put_segment(dir, 0, &m, 4);
	snprintf(set, sizeof(set), "%s/a", dir);
	a[2] = name(dir, 0);
	b[2] = name(dir, 1);
	for (int i = 0; i < 3; i++) {
		struct run r = run_cmd(cmd_query, -1, "query", "SELECT count(*) AS n FROM traces",
				       "--format", "csv", a[i], b[i], NULL);

		cr_expect_eq(r.code, CMD_INPUT, "%d: %s", i, a[i]);
		cr_expect_str_eq(r.out, "n\n1\n");
		run_expect_in(r.err, ": damaged: ");
		run_free(&r);
	}
	for (unsigned int i = 0; i < FILES; i++)
		unlink(name(dir, i));
	cr_expect_eq(rmdir(dir), 0);
}
