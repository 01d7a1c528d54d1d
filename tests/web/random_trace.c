// SPDX-License-Identifier: BSD-2-Clause
/* random_trace SEED STEPS: a trace of random schemas and values on standard output, for other readers. */
#include "tests/support/random_events.h"

int main(int argc, char **argv)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct random_events r;
	struct dial9_enc *enc;
	const void *data;
	size_t sz;

	if (argc != 3)
		return 1;
	assert(!dial9_enc_new(&opts, &enc));
	random_run(&r, strtoull(argv[1], NULL, 10), strtoul(argv[2], NULL, 10), enc);
	data = dial9_enc_data(enc, &sz);
	fwrite(data, 1, sz, stdout);
	random_fini(&r);
	dial9_enc_free(enc);
	return fflush(stdout) ? 1 : 0;
}
