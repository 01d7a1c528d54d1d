/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_ROW_TABLE_H
#define D9_PROFILE_SUMS_ROW_TABLE_H

#include "base/hmap.h"
#include "profile/sums/profile.h"

/* Rows found by key. {0} is empty. */
struct row_table {
	struct profile_rows rows;
	struct hmap index; /* hash of the keys -> row + 1 */
};

/* A key without any field: all are unknown. */
extern const struct profile_row row_table_no_keys;

/* The row of a key; added with zero numbers if it is new. Borrowed until the next call. */
struct profile_row *row_table_at(struct row_table *t, const struct profile_row *key);

/* Clears the fields of a key that are not in @keys (a mask of 1 << enum profile_key). */
void row_table_mask(struct profile_row *key, unsigned int keys);

/* Frees everything. row_table_steal() instead hands the rows to the caller, who frees their v. */
void row_table_fini(struct row_table *t);
struct profile_rows row_table_steal(struct row_table *t);

#endif /* D9_PROFILE_SUMS_ROW_TABLE_H */
