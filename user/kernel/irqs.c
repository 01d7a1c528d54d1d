// SPDX-License-Identifier: BSD-2-Clause
/* Handlers of interrupt lines, from sysfs: each line has a directory with a file "actions". */
#include "kernel/irqs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/str.h"

enum { NAMES_MAX = 4096 };

static int report_irq(int dirfd_, const char *irq, irqs_fn fn, void *ctx, struct buf *text)
{
	struct buf path = { 0 };
	uint64_t n;
	int err;

	if (str_parse_u64(irq, UINT32_MAX, &n))
		return 0;
	buf_clear(text);
	buf_printf(&path, "%s/actions", irq);
	err = file_read(dirfd_, buf_cstr(&path), NAMES_MAX, text);
	buf_free(&path);
	if (err)
		return 0;
	text->len = strcspn(buf_cstr(text), "\n");
	text->data[text->len] = '\0';
	return text->len ? fn(ctx, (uint32_t)n, text->data) : 0;
}

int irqs_each(const char *dir, irqs_fn fn, void *ctx)
{
	struct buf text = { 0 };
	DIR *d = opendir(dir);
	struct dirent *ent;
	int err = 0, cnt = 0;

	if (!d)
		return 0;
	while (!err && cnt++ < IRQS_MAX && (ent = readdir(d)))
		err = report_irq(dirfd(d), ent->d_name, fn, ctx, &text);
	closedir(d);
	buf_free(&text);
	return err;
}
