/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which CPUs there are. The numbers need not be dense, so nothing counts from 0 to n.
 */
#include "kernel/cpus.h"

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

int cpus_online(uint32_t **cpus, size_t *cnt)
{
	struct buf text = { 0 };
	int err = file_read(AT_FDCWD, "/sys/devices/system/cpu/online", LIST_MAX, &text);

	if (!err)
		err = cpus_parse(text.data, cpus, cnt);
	buf_free(&text);
	return err;
}
