/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_INPUT_H
#define D9_CMD_COMMON_INPUT_H

#include <signal.h>

#include "formats/foreign.h"

/* A file of some trace format, or of dial9, opened so that a format can read it. */
struct input;

/* What following needs to know. */
struct input_follow {
	const volatile sig_atomic_t *stop; /* not 0: the end has come */
	void (*idle)(void *ctx); /* before waiting for more */
	void *ctx;
};

/*
 * Opens `arg`: a path, or "-". What cannot be read twice is copied to a temporary file first, unless
 * it is followed. follow NULL: read to the end as it is now. Prints one line and returns -errno.
 */
int input_open(const char *arg, const struct input_follow *follow, struct input **out);
void input_close(struct input *in);

/* What --from takes; the index of a name. */
enum { INPUT_AUTO, INPUT_TONBANDGERAET, INPUT_HEPH, INPUT_APITRACE, INPUT_PERF_DATA, INPUT_DIAL9 };
extern const char *const input_from_names[];
/* Members of an option's row; @at: an int, as in struct opt. */
#define INPUT_OPT_FROM(at)                                                                         \
	.name = "from", .kind = OPT_CHOICE, .off = (at), .choices = input_from_names

/* For the message when none is recognized. */
#define INPUT_FORMATS "dial9, tonbandgeraet, heph, apitrace, perf-data"

/* The core that FILE@CORE names; `arg` is cut at the @ unless a file has that very name. */
bool input_split_core(char *arg, uint32_t *core);

/*
 * The path of file number @i of a directory of perf record --threads, 0: the file with the header. False: there
 * is none, or it is no such directory.
 */
bool input_part(const char *dir, size_t i, struct buf *path);
/*
 * Calls open() for each of these files in order, with @number 0 for the one with the header. 0; what open() returned; or
 * -ENODATA: the file @path is missing, and files after it are there. The caller frees @path.
 */
int input_each_part(const char *dir, struct buf *path,
		    int (*open)(void *ctx, char *path, size_t number), void *ctx);

/* How a format sees it; borrowed, and its has_core and core are the caller's to set. */
struct foreign_input *input_foreign(struct input *in);

/*
 * The format that its first bytes speak for, or NULL. A gzip file is looked into, and unpacked from
 * then on when what is inside is no format that has gzip as a container of its own.
 */
const struct foreign_format *input_detect(struct input *in);

/* True when it is dial9, as it is or in gzip. After input_detect(). */
bool input_is_dial9(const struct input *in);
/* True also if it is too short to decide. */
bool input_may_be_dial9(const struct input *in);
/* True when there is nothing in it, be it nothing in gzip. After input_detect(). */
bool input_is_empty(const struct input *in);

/*
 * Makes standard input readable twice when it is a pipe that does not begin as dial9 does. So
 * commands that read dial9 as it streams in can look for other formats without losing a byte.
 */
int input_hold_stdin(void);

#endif /* D9_CMD_COMMON_INPUT_H */
