// SPDX-License-Identifier: BSD-2-Clause
/*
 * A wall clock that is stepped, for one process and its children: a library to preload. The file D9_CLOCK_STEP has the
 * distance to the real clock, 8 bytes, in nanoseconds; it may change at any time.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static int64_t distance(void)
{
	static const volatile int64_t *step;
	const char *path = getenv("D9_CLOCK_STEP");
	void *map;
	int fd;

	if (!step && path) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*step), PROT_READ, MAP_SHARED, fd, 0);
		if (fd >= 0)
			close(fd);
		if (map != MAP_FAILED)
			step = map;
	}
	return step ? *step : 0;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
	const int ret = (int)syscall(SYS_clock_gettime, id, out);
	int64_t ns;

	if (ret || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return ret;
	ns = out->tv_sec * SECOND + out->tv_nsec + distance();
	out->tv_sec = (time_t)(ns / SECOND);
	out->tv_nsec = (long)(ns % SECOND);
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
