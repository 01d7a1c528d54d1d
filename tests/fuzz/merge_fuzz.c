// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two traces of arbitrary bytes, merged. The first byte selects how their clocks are aligned and how much
 * memory sorting has, the next two where the second trace begins, or how much of the first it copies. The
 * output is always a valid trace with as many events as were counted, and merged again it has the same number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "dial9.h"
#include "rewrite/merge/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static int file_of(const uint8_t *data, size_t sz)
{
	const int fd = memfd_create("merge_fuzz", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, sz) == (ssize_t)sz);
	return fd;
}

/* Events of a trace that must be whole. */
static uint64_t count(int fd)
{
	static uint8_t data[1 << 22];
	const ssize_t n = pread(fd, data, sizeof(data), 0);
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = data };
	struct dial9_dec *dec;
	struct dial9_frame f;
	uint64_t events = 0;
	int ret;

	must(n >= 0 && n < (ssize_t)sizeof(data));
	opts.data_sz = (size_t)n;
	must(!dial9_dec_new(&opts, &dec));
	while ((ret = dial9_dec_next(dec, &f)) == 1)
		events += f.kind == DIAL9_FRAME_EVENT;
	must(!ret);
	dial9_dec_free(dec);
	return events;
}

static int merge(const struct merge_opts *opts, const int *fds, size_t cnt, struct merge_sum *sum,
		 int *code)
{
	const char *paths[2];
	char names[2][32];
	const int out = memfd_create("merge_fuzz", MFD_CLOEXEC);

	must(out >= 0);
	for (size_t i = 0; i < cnt; i++) {
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
		paths[i] = names[i];
	}
	*code = merge_to_file(opts, paths, cnt, out, sum);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static const enum merge_align aligns[] = { MERGE_AUTO, MERGE_MONO, MERGE_REAL,
						   MERGE_OFFSET };
	struct merge_opts opts = { 0 };
	struct merge_sum sum, again;
	int fds[2], out, twice, code;
	size_t split;

	if (sz < 3 || sz > 1 << 16)
		return 0;
	log_set_level(LOG_LEVEL_QUIET);
	opts.align = aligns[data[0] % 4];
	opts.offset_ns = data[0] & 8 ? -1000 : 1000;
	opts.sort_bytes = data[0] & 16 ? 1 : 4096;
	split = (data[1] | (size_t)data[2] << 8) % (sz - 2);
	if (data[0] & 32) {
		fds[0] = file_of(data + 3, sz - 3);
		fds[1] = file_of(data + 3, data[0] & 64 ? sz - 3 : split);
	} else {
		fds[0] = file_of(data + 3, split > sz - 3 ? sz - 3 : split);
		fds[1] = split < sz - 3 ? file_of(data + 3 + split, sz - 3 - split) :
					  file_of(data, 0);
	}
	out = merge(&opts, fds, 2, &sum, &code);
	must(code == CMD_OK || code == CMD_INPUT || code == CMD_USAGE);
	if (sum.bytes && !sum.refused) {
		must(count(out) == sum.events);
		opts.align = MERGE_MONO;
		twice = merge(&opts, &out, 1, &again, &code);
		must(code == CMD_OK && again.events == sum.events && count(twice) == sum.events);
		close(twice);
	}
	close(out);
	close(fds[0]);
	close(fds[1]);
	return 0;
}
