/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_ROW_TABLE_H
#define D9_PROFILE_SUMS_ROW_TABLE_H

#include "base/hmap.h"
#include "profile/sums/profile.h"

/* Rows that are found by their keys. {0} is empty. */
struct row_table {
	struct profile_rows rows;
	struct hmap index; /* hash of the keys -> row + 1 */
};

/* A key for rows told apart by nothing: every field is what an unknown one is. */
extern const struct profile_row row_table_no_keys;

/* The row of these keys, which is added with numbers of 0 when there is none. Borrowed until the next. */
struct profile_row *row_table_at(struct row_table *t, const struct profile_row *key);

/* Leaves of a key what @keys (a mask of 1 << enum profile_key) tell apart. */
void row_table_mask(struct profile_row *key, unsigned int keys);

/* Frees all; row_table_steal() leaves the rows to the caller, who frees their v. */
void row_table_fini(struct row_table *t);
struct profile_rows row_table_steal(struct row_table *t);

#endif /* D9_PROFILE_SUMS_ROW_TABLE_H */
