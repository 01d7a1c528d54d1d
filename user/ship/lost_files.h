/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_LOST_FILES_H
#define D9_SHIP_LOST_FILES_H

#include "ship/anonymizer.h"
#include "ship/sender.h"
#include "ship/ship_state.h"

/*
 * Sends a row of the table lost for each file that was deleted before it was shipped. @anonymizer NULL: none. Results as
 * sender_insert(), or -ENOMEM after one line.
 */
int lost_files_send(struct sender *sender, struct ship_state *state, const char *const *labels,
		    size_t label_cnt, const struct anonymizer *anonymizer);

#endif /* D9_SHIP_LOST_FILES_H */
