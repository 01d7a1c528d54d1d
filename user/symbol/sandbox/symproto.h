/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SYMPROTO_H
#define D9_SYMBOL_SANDBOX_SYMPROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/*
 * Messages between the recorder and its helper processes. A packet on a SOCK_SEQPACKET socket holds
 * one or more messages, and may carry one file descriptor. Both sides treat input as untrusted: a
 * message must be complete, of a kind that is valid in that direction, with lengths and numbers in
 * range. Otherwise the packet is refused.
 */
#define SYMPROTO_PACKET_MAX 65536
#define SYMPROTO_NAME_MAX 8192
#define SYMPROTO_PATH_MAX 4096
#define SYMPROTO_DEPTH_MAX 128
#define SYMPROTO_BUILD_ID_MAX 64
#define SYMPROTO_WORDS_MAX 16128 /* words of an unwind table in one message */

enum symproto_kind {
	/* recorder to worker */
	/*
	 * id, what, build_id, offset and size = mapping of its code; with its file, except for the
	 * vDSO. Also requests its unwind table.
	 */
	SYMPROTO_MODULE = 1,
	SYMPROTO_CLOSE, /* id: close it */
	SYMPROTO_ASK, /* id, offset */
	SYMPROTO_FILE, /* id, what: reply to WANT, with an error or a file */
	SYMPROTO_PACE, /* size: CPU time per second for reading from here on, in ns; 0: no limit */
	/* worker to recorder */
	SYMPROTO_WORKING, /* id: the worker now works on this module */
	SYMPROTO_OPENED, /* id, error, build_id: reply to MODULE */
	SYMPROTO_NAME, /* id, offset, start, size, text = function */
	SYMPROTO_FRAME, /* the same, with depth, line, more = file */
	SYMPROTO_DONE, /* id, offset: the reply is complete */
	SYMPROTO_STATE, /* id, flags, text = what was skipped, if anything */
	/* id, what, build_id, text = name, depth = files to skip: requests a debug file */
	SYMPROTO_WANT,
	/* id, error; start = first page, line = pages, offset = big offsets, size = words, which follow */
	SYMPROTO_TABLE,
	SYMPROTO_WORDS, /* id, words: more words of its table */
	/* recorder to opener */
	/* id = token, what, pid, offset and size = mapping, line = device, start = inode, text = path, more = name */
	SYMPROTO_OPEN,
	/* opener to recorder */
	/* id = token, error, depth = location of the file, start = its version */
	SYMPROTO_RESULT,
	SYMPROTO_KIND_END,
};

/* The receiver */
enum symproto_side {
	SYMPROTO_TO_WORKER,
	SYMPROTO_FROM_WORKER,
	SYMPROTO_TO_OPENER,
	SYMPROTO_FROM_OPENER,
};

/* Kind of a module (MODULE), or of a wanted file (WANT, FILE, OPEN) */
enum symproto_what {
	SYMPROTO_ELF,
	SYMPROTO_KERNEL, /* an ELF file; offsets are relative to its symbol _stext */
	SYMPROTO_VDSO,
	SYMPROTO_IDENTIFY, /* an ELF file; only its build-id is requested */
	SYMPROTO_PERFMAP, /* perf map of process pid for generated code; offsets are addresses */
	SYMPROTO_WANT_BUILD_ID,
	SYMPROTO_WANT_DEBUGLINK,
	SYMPROTO_WANT_ALTLINK,
	SYMPROTO_WANT_DWP,
	SYMPROTO_WANT_DWO,
	SYMPROTO_WHAT_END,
};

/* Whether the worker requests this file in addition to the module's own. */
bool symproto_is_debug_file(enum symproto_what what);

#define SYMPROTO_HAS_SYMTAB 1u
#define SYMPROTO_HAS_DWARF 2u
#define SYMPROTO_LACKS_SPLIT 4u /* some of its .dwo files are missing */
#define SYMPROTO_FLAGS 7u

/* One message. Fields that its kind does not use are 0. Strings are borrowed. */
struct symproto_msg {
	enum symproto_kind kind;
	enum symproto_what what;
	uint32_t id;
	uint32_t flags;
	int32_t error; /* 0 or -errno */
	uint32_t depth, line;
	pid_t pid;
	uint64_t offset, start, size;
	const char *text, *more; /* NUL-terminated; NULL: none */
	size_t text_len, more_len;
	const uint8_t *build_id;
	size_t build_id_sz;
	const void *words; /* 32-bit words, unaligned */
	size_t word_cnt;
};

/* Appends msg to a packet. Long text is cut; a long file name is omitted. */
void symproto_put(struct buf *packet, const struct symproto_msg *msg);

/*
 * Reads the message at *pos of a packet and advances *pos. Returns 1, 0 at the end of the packet,
 * or -EBADMSG. msg points into the packet.
 */
int symproto_get(const void *packet, size_t size, size_t *pos, enum symproto_side side,
		 struct symproto_msg *msg);

/*
 * Sends a packet, with fd unless that is -1; fd stays open. Returns 0 or -errno; a packet is sent
 * whole or not at all.
 */
int symproto_send(int sock, const struct buf *packet, int fd, int flags);

/*
 * Receives one packet into a buffer of SYMPROTO_PACKET_MAX bytes. Returns its size, 0 if the other
 * end is closed, -EBADMSG if the packet was too long, or -errno. *fd is the received descriptor,
 * which the caller closes, or -1.
 */
ssize_t symproto_receive(int sock, void *packet, int *fd, int flags);

#endif /* D9_SYMBOL_SANDBOX_SYMPROTO_H */
