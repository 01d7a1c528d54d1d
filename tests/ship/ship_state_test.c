// SPDX-License-Identifier: BSD-2-Clause
/* The state of ship after crashes at any byte of its file. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"
#include "ship/ship_state.h"
#include "tests/support/temp_dir.h"

static const uint64_t A[2] = { 1, 2 }, B[2] = { 3, 4 };

static void write_file(int dir, const char *text, size_t len)
{
	int fd = openat(dir, SHIP_STATE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_eq(file_write(fd, text, len), 0);
	close(fd);
}

Test(ship_state, survives_reopening)
{
	const struct ship_state_drop drop = { (char *)"a.7.bin", 100, 200 };
	const struct ship_state_drop *drops;
	struct ship_state *s;
	char path[64];
	size_t cnt;
	int dir;

	temp_dir_make(path, sizeof(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect_not(ship_state_is_done(s, A));
	cr_expect_eq(ship_state_done(s, A), 0);
	cr_expect_eq(ship_state_ack(s, B, 77), 0);
	cr_expect_eq(ship_state_ack(s, B, 78), 0);
	cr_expect_eq(ship_state_drop(s, &drop), 0);
	ship_state_close(s);

	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect(ship_state_is_done(s, A));
	cr_expect(ship_state_is_acked(s, B, 77) && ship_state_is_acked(s, B, 78));
	cr_expect_not(ship_state_is_acked(s, B, 79));
	cr_expect_not(ship_state_is_acked(s, A, 77));
	drops = ship_state_drops(s, &cnt);
	cr_assert_eq(cnt, 1);
	cr_expect_str_eq(drops[0].name, "a.7.bin");
	cr_expect_eq(drops[0].bytes, 100);
	cr_expect_eq(drops[0].wall, 200);
	cr_expect_eq(ship_state_forget_drops(s, 1), 0);
	cr_expect_eq(ship_state_done(s, B), 0);
	ship_state_close(s);

	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect(ship_state_is_done(s, B));
	cr_expect_not(ship_state_is_acked(s, B, 77));
	ship_state_drops(s, &cnt);
	cr_expect_eq(cnt, 0);
	ship_state_close(s);
	close(dir);
	temp_dir_remove(path);
}

/* What is reported together stays the same until it is reported. */
Test(ship_state, a_batch_of_drops_survives_reopening)
{
	const struct ship_state_drop drop = { (char *)"a.7.bin", 100, 200 };
	struct ship_state *s;
	char path[64];
	size_t cnt;
	int dir;

	temp_dir_make(path, sizeof(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect_eq(ship_state_batch_drops(s), 0);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(ship_state_drop(s, &drop), 0);
	cr_expect_eq(ship_state_batch_drops(s), 3);
	cr_expect_eq(ship_state_drop(s, &drop), 0);
	cr_expect_eq(ship_state_batch_drops(s), 3);
	ship_state_close(s);

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(ship_state_open(dir, path, &s), 0);
		cr_expect_eq(ship_state_batch_drops(s), 3);
		/* writes all of it */
		cr_expect_eq(ship_state_done(s, A), 0);
		ship_state_close(s);
	}
	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect_eq(ship_state_forget_drops(s, 3), 0);
	cr_expect_eq(ship_state_batch_drops(s), 1);
	ship_state_drops(s, &cnt);
	cr_expect_eq(cnt, 1);
	/* a batch of one, too: the server may have it */
	cr_expect_eq(ship_state_drop(s, &drop), 0);
	ship_state_close(s);
	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect_eq(ship_state_batch_drops(s), 1);
	cr_expect_eq(ship_state_forget_drops(s, 1), 0);
	cr_expect_eq(ship_state_batch_drops(s), 1);
	cr_expect_eq(ship_state_forget_drops(s, 1), 0);
	cr_expect_eq(ship_state_batch_drops(s), 0);
	ship_state_close(s);
	close(dir);
	temp_dir_remove(path);
}

Test(ship_state, a_torn_line_is_ignored)
{
	static const char text[] = "dial9-ship 3\nfile 00000000000000030000000000000004\n"
				   "ack 000000000000004d\nack 000000000000004e\n";
	const size_t first = sizeof("dial9-ship 3\nfile 00000000000000030000000000000004\n"
				    "ack 000000000000004d\n") -
			     1;
	struct ship_state *s;
	char path[64];
	int dir;

	temp_dir_make(path, sizeof(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	for (size_t len = sizeof("dial9-ship 3\n") - 1; len < sizeof(text); len++) {
		write_file(dir, text, len);
		cr_assert_eq(ship_state_open(dir, path, &s), 0);
		cr_expect_eq(ship_state_is_acked(s, B, 0x4d), len >= first, "%zu", len);
		cr_expect_eq(ship_state_is_acked(s, B, 0x4e), len == sizeof(text) - 1, "%zu", len);
		ship_state_close(s);
	}
	close(dir);
	temp_dir_remove(path);
}

Test(ship_state, other_files_and_versions_are_refused)
{
	static const char *const bad[] = { "something else\n", "dial9-ship 4\n",
					   "dial9-ship 2\nfile 00000000000000030000000000000004\n" };
	struct ship_state *s;
	char path[64];
	int dir;

	temp_dir_make(path, sizeof(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 3; i++) {
		write_file(dir, bad[i], strlen(bad[i]));
		cr_expect_eq(ship_state_open(dir, path, &s), -EINVAL);
	}
	close(dir);
	temp_dir_remove(path);
}

/* As after an update of the program. */
Test(ship_state, an_older_state_without_a_begun_file_is_used)
{
	static const char text[] = "dial9-ship 1\ndrop 9 8 a.0.bin\n"
				   "done 00000000000000030000000000000004\n";
	struct ship_state *s;
	char path[64];
	size_t cnt;
	int dir;

	temp_dir_make(path, sizeof(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	write_file(dir, text, sizeof(text) - 1);
	cr_assert_eq(ship_state_open(dir, path, &s), 0);
	cr_expect(ship_state_is_done(s, B));
	ship_state_drops(s, &cnt);
	cr_expect_eq(cnt, 1);
	ship_state_close(s);
	close(dir);
	temp_dir_remove(path);
}
