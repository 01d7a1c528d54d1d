// SPDX-License-Identifier: BSD-2-Clause
/* How a command shows its text: colours, width and pager, decided once for each run of a command. */
#include "cmd/common/view.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"

const char *const view_color_choices[] = { "auto", "always", "never", NULL };

void view_begin(struct view *v, const struct view_opts *o, bool machine)
{
	v->color = !machine && color_wanted((enum color_when)o->color);
	v->width = machine ? 0 : report_text_terminal_width();
	v->page = o->no_pager ? NULL : pager_begin();
}

int view_end(struct view *v)
{
	int err = 0, code = CMD_OK;

	/* what ends a pager early is its user, and what is wrong with its stream pager_end() says */
	if (v->page)
		err = pager_end(v->page);
	v->page = NULL;
	if (!err)
		code = report_text_finish();
	else if (err != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-err));
	return err && err != -EPIPE ? CMD_OUTPUT : code;
}
