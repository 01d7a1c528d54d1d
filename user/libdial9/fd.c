// SPDX-License-Identifier: BSD-2-Clause
/*
 * A write function for file descriptors.
 *
 * An encoder's write function takes all of its bytes or none, and a descriptor knows no such thing: a pipe that
 * nobody reads, a disk that is full take some. So what has gone is remembered here, and since the encoder keeps
 * the frames that were not taken at the front of its buffer, the next call begins with the same bytes and goes
 * on behind them. Nothing is written twice, and nothing is lost.
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
