// SPDX-License-Identifier: BSD-2-Clause
/* Messages survive a round trip, and invalid ones are refused. */
#include "prof_unwind.h"
#include "symbol/sandbox/symproto.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(symproto, .timeout = 60);

static struct buf packet_of(const struct symproto_msg *msg)
{
	struct buf b = { 0 };

	symproto_put(&b, msg);
	return b;
}

static int get(const struct buf *b, enum symproto_side side, struct symproto_msg *msg)
{
	size_t pos = 0;

	return symproto_get(b->data, b->len, &pos, side, msg);
}

static const struct symproto_msg frame = {
	.kind = SYMPROTO_FRAME,
	.id = 7,
	.offset = 0x1234567890ull,
	.start = 3,
	.size = 4,
	.depth = 127,
	.line = 99,
	.text = "main",
	.text_len = 4,
	.more = "/src/main.c",
	.more_len = 11,
};

Test(symproto, message_is_unchanged_after_a_round_trip)
{
	struct buf b = packet_of(&frame);
	struct symproto_msg m;

	cr_assert_eq(get(&b, SYMPROTO_FROM_WORKER, &m), 1);
	cr_expect_eq(m.kind, SYMPROTO_FRAME);
	cr_expect_eq(m.id, 7u);
	cr_expect_eq(m.offset, 0x1234567890ull);
	cr_expect_eq(m.start, 3u);
	cr_expect_eq(m.size, 4u);
	cr_expect_eq(m.depth, 127u);
	cr_expect_eq(m.line, 99u);
	cr_expect_str_eq(m.text, "main");
	cr_expect_eq(m.text_len, 4u);
	cr_expect_str_eq(m.more, "/src/main.c");
	cr_expect_eq(m.more_len, 11u);
	cr_expect_null(m.build_id);
	buf_free(&b);
}

Test(symproto, several_messages_share_a_packet)
{
	const uint8_t id[20] = { 1, 2, 3 };
	const struct symproto_msg opened = { .kind = SYMPROTO_OPENED,
					     .id = 1,
					     .error = -ESTALE,
					     .build_id = id,
					     .build_id_sz = 20 };
	struct buf b = packet_of(&opened);
	struct symproto_msg m;
	size_t pos = 0;

	symproto_put(&b, &frame);
	cr_assert_eq(symproto_get(b.data, b.len, &pos, SYMPROTO_FROM_WORKER, &m), 1);
	cr_expect_eq(m.error, -ESTALE);
	cr_expect_arr_eq(m.build_id, id, 20);
	cr_assert_eq(symproto_get(b.data, b.len, &pos, SYMPROTO_FROM_WORKER, &m), 1);
	cr_expect_eq(m.kind, SYMPROTO_FRAME);
	cr_assert_eq(symproto_get(b.data, b.len, &pos, SYMPROTO_FROM_WORKER, &m), 0);
	buf_free(&b);
}

Test(symproto, each_message_kind_is_accepted_from_one_side)
{
	int kind, side, accepted;

	for (kind = 0; kind <= SYMPROTO_KIND_END; kind++) {
		for (side = 0, accepted = 0; side <= SYMPROTO_FROM_OPENER; side++) {
			struct symproto_msg m;
			struct buf b = packet_of(&frame);
			uint16_t number = kind;

			/* without the texts, which most kinds do not have */
			b.len -= 5 + 12;
			memcpy(b.data, &(uint32_t){ b.len }, 4);
			memcpy(b.data + 4, &number, 2);
			memset(b.data + 56, 0xff, 8);
			if (kind == SYMPROTO_TABLE)
				memset(b.data + 28, 0, 28); /* numbers of a table */
			accepted += get(&b, side, &m) == 1;
			buf_free(&b);
		}
		if (kind == 0 || kind == SYMPROTO_KIND_END || kind == SYMPROTO_NAME ||
		    kind == SYMPROTO_FRAME || kind == SYMPROTO_WORDS)
			cr_expect_eq(accepted, 0, "kind %d", kind);
		else
			cr_expect_eq(accepted, 1, "kind %d", kind);
	}
}

/* Each byte of a number whose values are restricted. */
Test(symproto, message_out_of_bounds_is_refused)
{
	static const struct {
		size_t off;
		uint32_t value;
	} bad[] = {
		{ 0, 0 }, /* size */
		{ 0, 71 },
		{ 0, 90 },
		{ 0, UINT32_MAX },
		{ 4, 0xffff000b }, /* kind and what */
		{ 12, 8 }, /* flags */
		{ 16, 1 }, /* error */
		{ 16, (uint32_t)-4096 },
		{ 20, (uint32_t)-1 }, /* pid */
		{ 24, 128 }, /* depth */
		{ 56, 3 }, /* text_len: different from the real length */
		{ 56, 5 },
		{ 56, 0xfffffffe },
		{ 60, 10 }, /* more_len */
		{ 60, 0x7fffffff },
		{ 64, 1 }, /* build_id_sz */
		{ 64, 65 },
		{ 68, 1 },
	};
	struct symproto_msg m;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buf b = packet_of(&frame);

		memcpy(b.data + bad[i].off, &bad[i].value, 4);
		cr_expect_eq(get(&b, SYMPROTO_FROM_WORKER, &m), -EBADMSG, "case %zu", i);
		buf_free(&b);
	}
}

/* A table's numbers are limited before memory is reserved for it. */
Test(symproto, table_out_of_bounds_is_refused)
{
	static const struct symproto_msg good = {
		.kind = SYMPROTO_TABLE,
		.id = 7,
		.start = UINT32_MAX - PROF_UNWIND_TABLE_WORDS_MAX,
		.line = PROF_UNWIND_TABLE_WORDS_MAX,
		.offset = PROF_UNWIND_BIGS_MAX,
		.size = PROF_UNWIND_TABLE_WORDS_MAX,
	};
	struct symproto_msg bad[] = { good, good, good, good, good }, m;
	struct buf b = packet_of(&good);
	size_t i;

	cr_assert_eq(get(&b, SYMPROTO_FROM_WORKER, &m), 1);
	cr_expect_eq(m.start, good.start);
	cr_expect_eq(m.line, good.line);
	cr_expect_eq(m.offset, good.offset);
	cr_expect_eq(m.size, good.size);
	buf_free(&b);
	bad[0].start++;
	bad[1].line++;
	bad[2].offset++;
	bad[3].size++;
	bad[4].size--;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		b = packet_of(&bad[i]);
		cr_expect_eq(get(&b, SYMPROTO_FROM_WORKER, &m), -EBADMSG, "case %zu", i);
		buf_free(&b);
	}
}

Test(symproto, words_of_a_table_are_unchanged_after_a_round_trip)
{
	static uint32_t words[SYMPROTO_WORDS_MAX + 1];
	struct symproto_msg out = {
		.kind = SYMPROTO_WORDS, .id = 7, .words = words, .word_cnt = SYMPROTO_WORDS_MAX
	};
	struct symproto_msg m;
	struct buf b;

	memset(words, 0x5a, sizeof(words));
	b = packet_of(&out);
	cr_expect_leq(b.len, SYMPROTO_PACKET_MAX);
	cr_assert_eq(get(&b, SYMPROTO_FROM_WORKER, &m), 1);
	cr_assert_eq(m.word_cnt, SYMPROTO_WORDS_MAX);
	cr_expect_eq(memcmp(m.words, words, 4 * m.word_cnt), 0);
	buf_free(&b);
	for (out.word_cnt = 0; out.word_cnt <= SYMPROTO_WORDS_MAX + 1;
	     out.word_cnt += SYMPROTO_WORDS_MAX + 1) {
		b = packet_of(&out);
		cr_expect_eq(get(&b, SYMPROTO_FROM_WORKER, &m), -EBADMSG, "%zu words",
			     out.word_cnt);
		buf_free(&b);
	}
}

Test(symproto, every_truncated_packet_is_refused)
{
	struct buf b = packet_of(&frame);
	struct symproto_msg m;
	size_t len, pos;

	for (len = 1; len < b.len; len++) {
		char *copy = malloc(len);

		memcpy(copy, b.data, len);
		pos = 0;
		cr_expect_eq(symproto_get(copy, len, &pos, SYMPROTO_FROM_WORKER, &m), -EBADMSG);
		free(copy);
	}
	buf_free(&b);
}

Test(symproto, long_name_is_cut_and_a_long_file_is_omitted)
{
	char *text = malloc(20000);
	struct symproto_msg m = frame;
	struct buf b;

	memset(text, 'x', 20000);
	m.text = m.more = text;
	m.text_len = 20000;
	m.more_len = SYMPROTO_PATH_MAX + 1;
	b = packet_of(&m);
	cr_assert_eq(get(&b, SYMPROTO_FROM_WORKER, &m), 1);
	cr_expect_eq(m.text_len, (size_t)SYMPROTO_NAME_MAX);
	cr_expect_eq(strlen(m.text), (size_t)SYMPROTO_NAME_MAX);
	cr_expect_null(m.more);
	buf_free(&b);
	free(text);
}

Test(symproto, descriptor_is_sent_with_a_packet)
{
	char *packet = malloc(SYMPROTO_PACKET_MAX);
	int sock[2], file = open("/dev/null", O_RDONLY), fd;
	struct buf b = packet_of(&frame);
	struct stat sent, got;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	cr_assert_eq(symproto_send(sock[0], &b, file, 0), 0);
	cr_assert_eq(symproto_send(sock[0], &b, -1, 0), 0);
	cr_assert_eq(symproto_receive(sock[1], packet, &fd, 0), (ssize_t)b.len);
	cr_assert_geq(fd, 0);
	cr_expect(!fstat(file, &sent) && !fstat(fd, &got) && sent.st_ino == got.st_ino);
	close(fd);
	cr_assert_eq(symproto_receive(sock[1], packet, &fd, 0), (ssize_t)b.len);
	cr_expect_eq(fd, -1);
	cr_expect_eq(symproto_receive(sock[1], packet, &fd, MSG_DONTWAIT), -EAGAIN);
	close(sock[0]);
	cr_expect_eq(symproto_receive(sock[1], packet, &fd, 0), 0);
	close(sock[1]);
	close(file);
	free(packet);
	buf_free(&b);
}

/* A sender that adds more descriptors, or more bytes, than there is room for leaves no descriptor open. */
Test(symproto, extra_descriptors_are_closed)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(3 * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(3 * sizeof(int)) } };
	char *packet = malloc(SYMPROTO_PACKET_MAX), *large = calloc(1, SYMPROTO_PACKET_MAX + 1);
	struct iovec iov = { large, 10 };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	int sock[2], fd, next, i;

	for (i = 0; i < 3; i++)
		memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &(int){ 0 }, sizeof(int));
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	next = dup(0);
	close(next);
	cr_assert_eq(sendmsg(sock[0], &mh, 0), 10);
	cr_expect_eq(symproto_receive(sock[1], packet, &fd, 0), 10);
	if (fd >= 0)
		close(fd);
	cr_expect_eq(dup(0), next, "a descriptor was left open");
	close(next);
	iov.iov_len = SYMPROTO_PACKET_MAX + 1;
	cr_assert_gt(sendmsg(sock[0], &mh, 0), 0);
	cr_expect_eq(symproto_receive(sock[1], packet, &fd, 0), -EBADMSG);
	cr_expect_eq(fd, -1);
	cr_expect_eq(dup(0), next, "a descriptor was left open");
	free(packet);
	free(large);
}
