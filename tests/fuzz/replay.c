// SPDX-License-Identifier: BSD-2-Clause
/*
 * replay PATH...: gives every file below each PATH to a fuzz target, without libFuzzer
 *
 * Linked with one *_fuzz.c it turns that target's corpus into a plain test, which any compiler and any
 * sanitizer can build. The target does the asserting: a fault here is a crash, not a message. A path that holds
 * no file at all is an error, so that a missing corpus does not pass.
 */
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static unsigned long replayed;

static int replay_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t sz = (size_t)st->st_size;
	uint8_t *data;
	FILE *f;

	if (type != FTW_F)
		return 0;
	f = fopen(path, "rb");
	if (!f) {
		fprintf(stderr, "replay: cannot open %s: %s\n", path, strerror(errno));
		return 1;
	}
	/* Exactly as large as the input, so that a sanitizer detects a read one byte too far. */
	data = malloc(sz ? sz : 1);
	if (!data || fread(data, 1, sz, f) != sz) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, sz);
	free(data);
	replayed++;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		unsigned long before = replayed;

		if (nftw(argv[i], replay_file, 16, FTW_PHYS) != 0)
			return 1;
		if (replayed == before) {
			fprintf(stderr, "replay: no input below %s\n", argv[i]);
			return 1;
		}
	}
	/* Not to standard output: a target may have redirected it, with the output of commands. */
	fprintf(stderr, "%s: %lu inputs replayed\n",
		strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0], replayed);
	return 0;
}
