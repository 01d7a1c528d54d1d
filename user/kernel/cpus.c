/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which CPUs there are. The numbers need not be dense, so nothing counts from 0 to n.
 */
#include "kernel/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

int cpus_parse(const char *text, uint32_t **cpus, size_t *cnt)
{
	size_t len = strcspn(text, "\n");
	char *line;
	int err;

	*cpus = NULL;
	*cnt = 0;
	if (!len)
		return 0;
	line = xstrndup(text, len);
	err = str_parse_ranges_u32(line, cpus, cnt);
	free(line);
	return err;
}

static int read_list(const char *path, uint32_t **cpus, size_t *cnt)
{
	char text[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	text[n] = '\0';
	return cpus_parse(text, cpus, cnt);
}

int cpus_online(uint32_t **cpus, size_t *cnt)
{
	return read_list("/sys/devices/system/cpu/online", cpus, cnt);
}
