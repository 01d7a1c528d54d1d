// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page that a browser opens first. Owns a directory with mode 0700 and its only file, with mode 0600, in
 * $XDG_RUNTIME_DIR, which belongs to this user, or in $TMPDIR or /tmp.
 */
#include "cmd/export/redirect_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

static int make_dir(struct buf *path)
{
	const char *const dirs[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!dirs[i] || dirs[i][0] != '/')
			continue;
		buf_clear(path);
		buf_printf(path, "%s/dial9-prof.XXXXXX", dirs[i]);
		if (mkdtemp(path->data))
			return 0;
	}
	return -errno;
}

static int write_page(const char *path, const char *url)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), err;
	struct buf page = { 0 };

	if (fd < 0)
		return -errno;
	buf_printf(&page,
		   "<!DOCTYPE html>\n"
		   "<meta charset=\"utf-8\">\n"
		   "<meta name=\"referrer\" content=\"no-referrer\">\n"
		   "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
		   "<title>dial9-prof</title>\n"
		   "<a href=\"%s\">Show the trace</a>\n",
		   url, url);
	err = file_write(fd, page.data, page.len);
	buf_free(&page);
	close(fd);
	return err;
}

int redirect_page_init(struct redirect_page *p, const char *url)
{
	int err;

	*p = (struct redirect_page){ 0 };
	err = make_dir(&p->dir);
	if (err) {
		buf_free(&p->dir);
		return err;
	}
	buf_printf(&p->file, "%s/open.html", buf_cstr(&p->dir));
	err = write_page(buf_cstr(&p->file), url);
	if (err)
		redirect_page_fini(p);
	return err;
}

void redirect_page_fini(struct redirect_page *p)
{
	if (p->file.len)
		unlink(buf_cstr(&p->file));
	if (p->dir.len)
		rmdir(buf_cstr(&p->dir));
	buf_free(&p->file);
	buf_free(&p->dir);
}
