// SPDX-License-Identifier: BSD-2-Clause
/*
 * Converts messages to bytes and back; does not interpret messages.
 *
 * A message is one flat struct, followed by up to two strings with their NULs, a build-id and
 * words. The reader checks everything: the parts must add up to the size, strings must end exactly
 * at their length, and each kind of message may come from one side only.
 */
#include "symbol/sandbox/symproto.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "prof_unwind.h"

#define NO_TEXT UINT32_MAX
#define ERRNO_MAX 4095

struct wire {
	uint32_t size; /* of the whole message */
	uint16_t kind, what;
	uint32_t id, flags;
	int32_t error, pid;
	uint32_t depth, line;
	uint64_t offset, start, length;
	uint32_t text_len, more_len; /* NO_TEXT: none */
	uint32_t build_id_sz;
	uint32_t word_cnt;
};

static const struct {
	enum symproto_side side;
	uint32_t text_max, more_max, words_max; /* 0: not allowed */
} kinds[SYMPROTO_KIND_END] = {
	[SYMPROTO_MODULE] = { SYMPROTO_TO_WORKER, 0, 0, 0 },
	[SYMPROTO_CLOSE] = { SYMPROTO_TO_WORKER, 0, 0, 0 },
	[SYMPROTO_ASK] = { SYMPROTO_TO_WORKER, 0, 0, 0 },
	[SYMPROTO_FILE] = { SYMPROTO_TO_WORKER, 0, 0, 0 },
	[SYMPROTO_PACE] = { SYMPROTO_TO_WORKER, 0, 0, 0 },
	[SYMPROTO_WORKING] = { SYMPROTO_FROM_WORKER, 0, 0, 0 },
	[SYMPROTO_OPENED] = { SYMPROTO_FROM_WORKER, 0, 0, 0 },
	[SYMPROTO_NAME] = { SYMPROTO_FROM_WORKER, SYMPROTO_NAME_MAX, 0, 0 },
	[SYMPROTO_FRAME] = { SYMPROTO_FROM_WORKER, SYMPROTO_NAME_MAX, SYMPROTO_PATH_MAX, 0 },
	[SYMPROTO_DONE] = { SYMPROTO_FROM_WORKER, 0, 0, 0 },
	[SYMPROTO_STATE] = { SYMPROTO_FROM_WORKER, 64, 0, 0 },
	[SYMPROTO_WANT] = { SYMPROTO_FROM_WORKER, SYMPROTO_PATH_MAX, 0, 0 },
	[SYMPROTO_TABLE] = { SYMPROTO_FROM_WORKER, 0, 0, 0 },
	[SYMPROTO_WORDS] = { SYMPROTO_FROM_WORKER, 0, 0, SYMPROTO_WORDS_MAX },
	[SYMPROTO_OPEN] = { SYMPROTO_TO_OPENER, SYMPROTO_PATH_MAX, SYMPROTO_PATH_MAX, 0 },
	[SYMPROTO_RESULT] = { SYMPROTO_FROM_OPENER, 0, 0, 0 },
};

bool symproto_is_debug_file(enum symproto_what what)
{
	return what >= SYMPROTO_WANT_BUILD_ID;
}

/* Long symbol names are cut; long file names are omitted. */
void symproto_put(struct buf *packet, const struct symproto_msg *msg)
{
	size_t text_max = kinds[msg->kind].text_max, more_max = kinds[msg->kind].more_max;
	size_t text_len = msg->text_len < text_max ? msg->text_len : text_max;
	bool more = msg->more && msg->more_len <= more_max;
	struct wire w = {
		.size = sizeof(w) + (msg->text ? text_len + 1 : 0) +
			(more ? msg->more_len + 1 : 0) + msg->build_id_sz + 4 * msg->word_cnt,
		.kind = msg->kind,
		.what = msg->what,
		.id = msg->id,
		.flags = msg->flags,
		.error = msg->error,
		.pid = msg->pid,
		.depth = msg->depth,
		.line = msg->line,
		.offset = msg->offset,
		.start = msg->start,
		.length = msg->size,
		.text_len = msg->text ? text_len : NO_TEXT,
		.more_len = more ? msg->more_len : NO_TEXT,
		.build_id_sz = msg->build_id_sz,
		.word_cnt = msg->word_cnt,
	};

	buf_add(packet, &w, sizeof(w));
	if (msg->text) {
		buf_add(packet, msg->text, text_len);
		buf_addch(packet, '\0');
	}
	if (more) {
		buf_add(packet, msg->more, msg->more_len);
		buf_addch(packet, '\0');
	}
	buf_add(packet, msg->build_id, msg->build_id_sz);
	buf_add(packet, msg->words, 4 * msg->word_cnt);
}

/* Reads the string of len bytes at *p, and moves *p past it; false if it is invalid. */
static bool read_text(const char **p, const char *end, uint32_t len, uint32_t max, const char **out,
		      size_t *out_len)
{
	*out = NULL;
	*out_len = 0;
	if (len == NO_TEXT)
		return true;
	if (len > max || !max || (size_t)(end - *p) <= len || memchr(*p, '\0', len) ||
	    (*p)[len] != '\0')
		return false;
	*out = *p;
	*out_len = len;
	*p += len + 1;
	return true;
}

/* Whether the numbers in the head of a table are possible. */
static bool is_table(const struct wire *w)
{
	return w->kind != SYMPROTO_TABLE ||
	       (w->length <= PROF_UNWIND_TABLE_WORDS_MAX && w->line <= w->length &&
		w->offset <= PROF_UNWIND_BIGS_MAX && w->start <= UINT32_MAX - w->line);
}

static bool is_sane(const struct wire *w, enum symproto_side side)
{
	if (w->kind < SYMPROTO_MODULE || w->kind >= SYMPROTO_KIND_END ||
	    kinds[w->kind].side != side || w->what >= SYMPROTO_WHAT_END)
		return false;
	return !(w->flags & ~SYMPROTO_FLAGS) && w->error <= 0 && w->error >= -ERRNO_MAX &&
	       w->depth < SYMPROTO_DEPTH_MAX && w->pid >= 0 &&
	       w->build_id_sz <= SYMPROTO_BUILD_ID_MAX && w->word_cnt <= kinds[w->kind].words_max &&
	       is_table(w);
}

/* Whether the message has its required contents. */
static bool has_contents(const struct symproto_msg *msg)
{
	if (msg->kind == SYMPROTO_NAME || msg->kind == SYMPROTO_FRAME)
		return msg->text;
	return msg->kind != SYMPROTO_WORDS || msg->word_cnt;
}

int symproto_get(const void *packet, size_t size, size_t *pos, enum symproto_side side,
		 struct symproto_msg *msg)
{
	const char *p = (const char *)packet + *pos, *end;
	struct wire w;

	if (*pos == size)
		return 0;
	if (size - *pos < sizeof(w))
		return -EBADMSG;
	memcpy(&w, p, sizeof(w));
	if (w.size < sizeof(w) || w.size > size - *pos || !is_sane(&w, side))
		return -EBADMSG;
	end = p + w.size;
	p += sizeof(w);
	*msg = (struct symproto_msg){
		.kind = w.kind,
		.what = w.what,
		.id = w.id,
		.flags = w.flags,
		.error = w.error,
		.depth = w.depth,
		.line = w.line,
		.pid = w.pid,
		.offset = w.offset,
		.start = w.start,
		.size = w.length,
		.build_id_sz = w.build_id_sz,
		.word_cnt = w.word_cnt,
	};
	if (!read_text(&p, end, w.text_len, kinds[w.kind].text_max, &msg->text, &msg->text_len) ||
	    !read_text(&p, end, w.more_len, kinds[w.kind].more_max, &msg->more, &msg->more_len) ||
	    (size_t)(end - p) != w.build_id_sz + 4 * (size_t)w.word_cnt || !has_contents(msg))
		return -EBADMSG;
	msg->build_id = w.build_id_sz ? (const uint8_t *)p : NULL;
	msg->words = w.word_cnt ? p + w.build_id_sz : NULL;
	*pos += w.size;
	return 1;
}

int symproto_send(int sock, const struct buf *packet, int fd, int flags)
{
	struct iovec iov = { packet->data, packet->len };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	do
		n = sendmsg(sock, &mh, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Takes one descriptor; the kernel closes additional ones. */
static void read_fd(struct msghdr *mh, int *fd)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(fd, CMSG_DATA(c), sizeof(*fd));
}

ssize_t symproto_receive(int sock, void *packet, int *fd, int flags)
{
	struct iovec iov = { packet, SYMPROTO_PACKET_MAX };
	union {
		struct cmsghdr head;
		char room[CMSG_LEN(sizeof(int))];
	} control;
	struct msghdr mh = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room), /* room for one descriptor only */
	};
	ssize_t n;

	*fd = -1;
	/*
	 * if the sender exits with unread data, the socket reports a reset first; its messages are
	 * still readable
	 */
	do
		n = recvmsg(sock, &mh, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return -errno;
	read_fd(&mh, fd);
	if (!(mh.msg_flags & MSG_TRUNC))
		return n;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return -EBADMSG;
}
