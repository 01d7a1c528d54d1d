// SPDX-License-Identifier: BSD-2-Clause
/* The line that shows the progress of reading: when it is printed, and that it is removed. */
#include "tests/cmd/pty.h"
#include "tests/cmd/run_cmd.h"

#include "cmd/common/progress.h"

/* Opens a trace in a file, with standard error at @err. */
static struct reader *open_with(int err, const char *path, struct progress **p)
{
	int keep = dup(2), ret;
	struct reader *r = NULL;
	struct make m;
	const void *data;
	size_t sz;
	int fd;

	run_make_app(&m);
	data = dial9_enc_data(m.enc, &sz);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert_eq(write(fd, data, sz), (ssize_t)sz);
	close(fd);
	make_fini(&m);
	dup2(err, 2);
	ret = progress_open(path, READER_ONE_PASS, &r, p);
	dup2(keep, 2);
	close(keep);
	cr_assert_eq(ret, 0);
	return r;
}

Test(progress, progress_is_shown_from_the_first_second_until_the_end)
{
	char path[] = "/tmp/d9-progress-XXXXXX";
	struct trace_event ev;
	struct progress *p;
	struct reader *r;
	struct pty t;
	int keep;

	close(mkstemp(path));
	pty_open(&t, 24, 80);
	r = open_with(t.slave, path, &p);
	cr_assert_not_null(p);
	while (reader_next(r, &ev) == 1)
		;
	keep = dup(2);
	dup2(t.slave, 2);
	while (!strchr(t.text, '\r'))
		cr_assert(pty_read(&t));
	progress_end(p);
	dup2(keep, 2);
	close(keep);
	cr_expect(strstr(t.text, "reading /tmp/d9-progress-") == t.text, "%s", t.text);
	run_expect_in(t.text, ": 100%\033[K\r");
	close(t.slave);
	while (pty_read(&t))
		;
	cr_expect_str_eq(t.text + t.len - 4, "\r\033[K", "it is wiped away");
	close(t.master);
	reader_free(r);
	unlink(path);
}

Test(progress, progress_is_shown_for_files_on_terminals_only)
{
	char path[] = "/tmp/d9-progress-XXXXXX";
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), keep = dup(2);
	struct progress *p;
	struct reader *r;

	close(mkstemp(path));
	r = open_with(null, path, &p);
	cr_expect_null(p);
	progress_end(p);
	reader_free(r);
	unlink(path);
	dup2(null, 2);
	cr_expect_eq(progress_open(path, READER_ONE_PASS, &r, &p), -ENOENT);
	dup2(keep, 2);
	cr_expect_null(p);
	close(keep);
	close(null);
}
