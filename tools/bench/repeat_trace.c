// SPDX-License-Identifier: BSD-2-Clause
/*
 * repeat_trace.c - a long trace made of a short one
 *
 * The same recording again and again, each time later by its length, so that time goes on as if it had been one:
 * every time of an event is counted from a reset frame, and these are what is changed. Its losses and its clock keep
 * the times of the first copy.
 *
 *	build/bench/repeat_trace FILE COPIES >LONG
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dial9.h"

enum { GAP_NS = 1000000 };

struct recording {
	uint8_t *data; /* a copy of the file */
	size_t sz;
	uint64_t end; /* of its last whole frame */
	uint64_t *resets; /* where their times are */
	size_t reset_cnt;
	uint64_t first, last;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void load(struct recording *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	r->sz = (size_t)st.st_size;
	r->data = mmap(NULL, r->sz, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (r->data == MAP_FAILED)
		die(path);
	close(fd);
}

static void see_event(struct recording *r, const struct dial9_event *ev)
{
	if (!ev->has_ts)
		return;
	if (!r->first)
		r->first = ev->ts;
	if (ev->ts > r->last)
		r->last = ev->ts;
}

static void find_times(struct recording *r)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = r->data, .data_sz = r->sz };
	struct dial9_frame f;
	struct dial9_dec *dec;

	if (dial9_dec_new(&opts, &dec))
		die("decoder");
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind == DIAL9_FRAME_EVENT)
			see_event(r, &f.event);
		if (f.kind != DIAL9_FRAME_RESET)
			continue;
		r->resets = realloc(r->resets, (r->reset_cnt + 1) * sizeof(*r->resets));
		if (!r->resets)
			die("memory");
		r->resets[r->reset_cnt++] = f.offset + 1; /* behind the tag */
	}
	r->end = dial9_dec_consumed(dec);
	dial9_dec_free(dec);
}

static void move_on(struct recording *r)
{
	uint64_t ts;

	for (size_t i = 0; i < r->reset_cnt; i++) {
		memcpy(&ts, r->data + r->resets[i], sizeof(ts));
		ts += r->last - r->first + GAP_NS;
		memcpy(r->data + r->resets[i], &ts, sizeof(ts));
	}
}

int main(int argc, char **argv)
{
	struct recording r = { 0 };
	long copies = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (copies < 1) {
		fprintf(stderr, "usage: repeat_trace FILE COPIES >LONG\n");
		return 1;
	}
	load(&r, argv[1]);
	find_times(&r);
	for (; copies; copies--) {
		if (fwrite(r.data, 1, r.end, stdout) != r.end)
			die("standard output");
		move_on(&r);
	}
	munmap(r.data, r.sz);
	free(r.resets);
	return fclose(stdout) ? 1 : 0;
}
