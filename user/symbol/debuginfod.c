// SPDX-License-Identifier: BSD-2-Clause
/* Debug files of servers: where their clients keep them. */
#include "symbol/debuginfod.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

int debuginfod_cache(struct buf *out)
{
	const char *path = setting("DEBUGINFOD_CACHE_PATH"), *home = setting("HOME");
	const char *cache = setting("XDG_CACHE_HOME");
	struct buf old = { 0 };
	struct stat st;

	if (home)
		buf_printf(&old, "%s/.debuginfod_client_cache", home);
	if (path)
		buf_addstr(out, path);
	else if (home && !stat(buf_cstr(&old), &st))
		buf_addstr(out, buf_cstr(&old));
	else if (cache)
		buf_printf(out, "%s/debuginfod_client", cache);
	else if (home)
		buf_printf(out, "%s/.cache/debuginfod_client", home);
	buf_free(&old);
	return path || cache || home ? 0 : -ENOENT;
}
