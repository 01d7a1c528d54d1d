/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SYMPROTO_H
#define D9_SYMBOL_SANDBOX_SYMPROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/*
 * What the recorder and its helper processes say to each other. A packet on a SOCK_SEQPACKET socket
 * holds one or more messages; one file descriptor may travel with it. Both sides read as if a
 * stranger had written: a message is whole, of a known kind for that direction, and its lengths and
 * numbers are within bounds, or the packet is refused.
 */
#define SYMPROTO_PACKET_MAX 65536
#define SYMPROTO_NAME_MAX 8192
#define SYMPROTO_PATH_MAX 4096
#define SYMPROTO_DEPTH_MAX 128
#define SYMPROTO_BUILD_ID_MAX 64
#define SYMPROTO_WORDS_MAX 16128 /* of an unwind table, in one message */

enum symproto_kind {
	/* recorder to worker */
	/*
	 * id, what, build_id, offset and size = mapping of its code; its file comes along, but for the vDSO.
	 * Asks for its unwind table at once.
	 */
	SYMPROTO_MODULE = 1,
	SYMPROTO_CLOSE, /* id: forget it */
	SYMPROTO_ASK, /* id, offset */
	SYMPROTO_FILE, /* id, what: the answer to a WANT: error, or a file that comes along */
	/* worker to recorder */
	SYMPROTO_WORKING, /* id: from here on the worker is at this module */
	SYMPROTO_OPENED, /* id, error, build_id: the answer to MODULE */
	SYMPROTO_NAME, /* id, offset, start, size, text = function */
	SYMPROTO_FRAME, /* the same, and depth, line, more = file */
	SYMPROTO_DONE, /* id, offset: everything has been said about it */
	SYMPROTO_STATE, /* id, flags, text = what was given up, if anything */
	SYMPROTO_WANT, /* id, what, build_id, text = name, depth = so many of it to skip: a debug file would help */
	/* id, error; start = first page, line = pages, offset = big offsets, size = words, which follow */
	SYMPROTO_TABLE,
	SYMPROTO_WORDS, /* id, words: the next ones of its table */
	/* recorder to opener */
	/* id = token, what, pid, offset and size = mapping, line = device, start = inode, text = path, more = name */
	SYMPROTO_OPEN,
	/* opener to recorder */
	/* id = token, error, depth = the place that the file was found in, start = its version */
	SYMPROTO_RESULT,
	SYMPROTO_KIND_END,
};

/* Who reads. */
enum symproto_side {
	SYMPROTO_TO_WORKER,
	SYMPROTO_FROM_WORKER,
	SYMPROTO_TO_OPENER,
	SYMPROTO_FROM_OPENER,
};

/* What a module is (MODULE), which file is wanted (WANT, FILE, OPEN). */
enum symproto_what {
	SYMPROTO_ELF,
	SYMPROTO_KERNEL, /* an ELF file; offsets count from its symbol _stext */
	SYMPROTO_VDSO,
	SYMPROTO_IDENTIFY, /* an ELF file whose build-id is all that is asked */
	SYMPROTO_PERFMAP, /* what process pid wrote of the code that it made; offsets are addresses */
	SYMPROTO_WANT_BUILD_ID,
	SYMPROTO_WANT_DEBUGLINK,
	SYMPROTO_WANT_ALTLINK,
	SYMPROTO_WANT_DWP,
	SYMPROTO_WANT_DWO,
	SYMPROTO_WHAT_END,
};

/* Whether that is a file beside the module's own, which a worker asks for. */
bool symproto_is_debug_file(enum symproto_what what);

#define SYMPROTO_HAS_SYMTAB 1u
#define SYMPROTO_HAS_DWARF 2u
#define SYMPROTO_LACKS_SPLIT 4u /* files that it is split over are missing */
#define SYMPROTO_FLAGS 7u

/* One message. Fields that its kind does not have are 0. Strings are borrowed. */
struct symproto_msg {
	enum symproto_kind kind;
	enum symproto_what what;
	uint32_t id;
	uint32_t flags;
	int32_t error; /* 0 or -errno */
	uint32_t depth, line;
	pid_t pid;
	uint64_t offset, start, size;
	const char *text, *more; /* NUL-terminated; NULL = none */
	size_t text_len, more_len;
	const uint8_t *build_id;
	size_t build_id_sz;
	const void *words; /* of 32 bits, not aligned */
	size_t word_cnt;
};

/* Appends msg to a packet. A text beyond its bound is cut, a longer file name left out. */
void symproto_put(struct buf *packet, const struct symproto_msg *msg);

/*
 * Reads the message at *pos of a packet and moves on. Returns 1, 0 at the end of the packet, or
 * -EBADMSG. msg points into the packet.
 */
int symproto_get(const void *packet, size_t size, size_t *pos, enum symproto_side side,
		 struct symproto_msg *msg);

/*
 * Sends a packet, with fd unless that is -1 (it stays the caller's). Returns 0 or -errno; a packet
 * goes whole or not at all.
 */
int symproto_send(int sock, const struct buf *packet, int fd, int flags);

/*
 * Receives one packet into a buffer of SYMPROTO_PACKET_MAX bytes. Returns its size, 0 when the
 * other end is gone, -EBADMSG for a packet that was too long, or -errno. *fd becomes the
 * descriptor that came along, which the caller closes, or -1.
 */
ssize_t symproto_receive(int sock, void *packet, int *fd, int flags);

#endif /* D9_SYMBOL_SANDBOX_SYMPROTO_H */
