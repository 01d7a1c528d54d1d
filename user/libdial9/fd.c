// SPDX-License-Identifier: BSD-2-Clause
/*
 * A write function for file descriptors.
 *
 * An encoder's write function accepts all bytes or none, but a full pipe or disk may accept a part.
 * This file records how much was written. The encoder keeps the rejected frames at the front of its
 * buffer, so the next call starts with the same bytes and continues after the written part. So no
 * byte is written twice or lost.
 */
#include <errno.h>
#include <unistd.h>

#include "dial9.h"

int dial9_write_fd(void *ctx, const void *data, size_t sz)
{
	struct dial9_fd *f = ctx;
	ssize_t n;

	while (f->gone < sz) {
		n = write(f->fd, (const char *)data + f->gone, sz - f->gone);
		if (n > 0)
			f->gone += (size_t)n;
		else if (n == 0)
			return -EIO;
		else if (errno != EINTR)
			return -errno;
	}
	f->gone = 0;
	return 0;
}
