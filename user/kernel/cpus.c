/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU numbers. They need not be dense, so no loop runs from 0 to n. */
#include "kernel/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/str.h"

#define LIST_MAX 65536

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
	struct buf text = { 0 };
	int err = file_read(AT_FDCWD, path, LIST_MAX, &text);

	if (!err)
		err = cpus_parse(text.data, cpus, cnt);
	buf_free(&text);
	return err;
}

int cpus_online(uint32_t **cpus, size_t *cnt)
{
	return read_list("/sys/devices/system/cpu/online", cpus, cnt);
}

int cpus_last_possible(uint32_t *cpu)
{
	uint32_t *cpus;
	size_t cnt;
	int err = read_list("/sys/devices/system/cpu/possible", &cpus, &cnt);

	if (err)
		return err;
	if (!cnt)
		err = -ENODEV;
	else
		*cpu = cpus[cnt - 1];
	free(cpus);
	return err;
}
