// SPDX-License-Identifier: BSD-2-Clause
/* Writes the trace of tests/support/exec_trace.h to standard output. */
#include <stdio.h>

#include "tests/support/exec_trace.h"

int main(void)
{
	const void *data;
	struct make m;
	size_t sz;

	exec_trace_make(&m);
	data = dial9_enc_data(m.enc, &sz);
	fwrite(data, 1, sz, stdout);
	make_fini(&m);
	return 0;
}
