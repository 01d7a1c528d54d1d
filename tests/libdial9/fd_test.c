// SPDX-License-Identifier: BSD-2-Clause
/* Encoding to a file descriptor: to files, to pipes that accept a part, and to descriptors that accept nothing. */
#include "tests/libdial9/support.h"

#include <fcntl.h>
#include <unistd.h>

static struct dial9_enc *enc_fd(struct dial9_fd *fd, size_t flush_at)
{
	struct dial9_enc_opts o = {
		.sz = sizeof(o), .write = dial9_write_fd, .ctx = fd, .flush_at = flush_at
	};
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	return enc;
}

static struct dial9_schema *numbers(void)
{
	static const struct dial9_field fields[] = { { "n", DIAL9_VARINT }, { "s", DIAL9_STRING } };

	return schema("Number", true, fields, 2);
}

static int put_number(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t n)
{
	int err = dial9_enc_begin(enc, s, n * 10);

	if (!err)
		err = dial9_enc_put_u64(enc, n);
	if (!err)
		err = dial9_enc_put_str(enc, "some text to fill a pipe with", 29);
	return err ? err : dial9_enc_end(enc);
}

/* Expects events 0, 1, ... in fd. */
static void assert_numbers(const uint8_t *p, size_t sz, uint64_t cnt)
{
	struct dial9_dec *dec = dec_memory(p, sz);
	struct dial9_frame f;
	uint64_t seen = 0;
	int err;

	while ((err = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind == DIAL9_FRAME_EVENT) {
			cr_assert_eq(f.event.values[0].u64, seen);
			seen++;
		}
	}
	cr_assert_eq(err, 0);
	cr_assert_eq(seen, cnt, "%d events, not %d", (int)seen, (int)cnt);
	dial9_dec_free(dec);
}

Test(fd, file_has_all_events)
{
	FILE *file = tmpfile();
	struct dial9_fd fd = { .fd = fileno(file) };
	struct dial9_enc *enc = enc_fd(&fd, 100);
	struct dial9_schema *s = numbers();
	uint8_t *p = malloc(1 << 20);
	uint64_t i;
	size_t sz;

	for (i = 0; i < 1000; i++)
		cr_assert_eq(put_number(enc, s, i), 0);
	cr_assert_gt(lseek(fd.fd, 0, SEEK_END), 1000, "written as it goes");
	cr_assert_eq(dial9_enc_flush(enc), 0);
	rewind(file);
	sz = fread(p, 1, 1 << 20, file);
	cr_assert_eq(sz, dial9_enc_bytes(enc));
	assert_numbers(p, sz, 1000);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	fclose(file);
	free(p);
}

/* A pipe that accepts less than a flush has: the accepted part is not written again when there is room. */
Test(fd, write_to_a_full_pipe_continues_in_the_middle_of_a_frame)
{
	struct dial9_schema *s = numbers();
	struct dial9_fd fd = { 0 };
	struct dial9_enc *enc;
	uint8_t *p = malloc(1 << 20);
	uint64_t i, full = 0;
	size_t got = 0;
	int ends[2];
	ssize_t n;

	cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
	cr_assert_geq(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
	fd.fd = ends[1];
	enc = enc_fd(&fd, 20000); /* more than a pipe accepts at once */
	for (i = 0; i < 2000; i++) {
		while (put_number(enc, s, i) == -EAGAIN) {
			full++;
			n = read(ends[0], p + got, 777);
			cr_assert_gt(n, 0);
			got += (size_t)n;
		}
	}
	while (dial9_enc_flush(enc) == -EAGAIN || got < dial9_enc_bytes(enc)) {
		n = read(ends[0], p + got, 777);
		cr_assert_gt(n, 0);
		got += (size_t)n;
	}
	cr_assert_gt(full, 10);
	cr_assert_eq(got, dial9_enc_bytes(enc));
	assert_numbers(p, got, 2000);
	close(ends[0]);
	close(ends[1]);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	free(p);
}

Test(fd, error_is_returned_to_the_caller_and_nothing_is_lost)
{
	struct dial9_fd fd = { .fd = open("/dev/full", O_WRONLY | O_CLOEXEC) };
	struct dial9_enc *enc = enc_fd(&fd, 0);
	struct dial9_schema *s = numbers();
	FILE *file = tmpfile();
	uint8_t p[512];

	cr_assert_eq(put_number(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_flush(enc), -ENOSPC);
	close(fd.fd);
	fd.fd = -1;
	cr_assert_eq(dial9_enc_flush(enc), -EBADF);
	fd.fd = fileno(file);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	rewind(file);
	assert_numbers(p, fread(p, 1, sizeof(p), file), 1);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	fclose(file);
}
