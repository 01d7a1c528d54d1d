// SPDX-License-Identifier: BSD-2-Clause
/*
 * The aggregate quantile(X, Q), exact. Owns the values of a group, in blocks that are never moved. The value of a rank
 * is found byte by byte, from the highest: a histogram of the next byte of the values with the known bytes.
 *
 * Values are kept as 64 bits that sort as unsigned numbers: integers, or doubles from the first real number on.
 */
#include "query/quantile_function.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/rank.h"

#define BLOCK_MIN 16
#define BLOCK_MAX 8192
#define SIGN (1ULL << 63)

struct block {
	struct block *next;
	size_t cnt, cap;
	uint64_t v[];
};

struct group {
	struct block *blocks; /* newest first */
	uint64_t cnt;
	double q;
	bool real;
	bool has_q, bad_q, other_q; /* of any row, also of one without a value */
};

static uint64_t key_of_int(int64_t v)
{
	return (uint64_t)v ^ SIGN;
}

static int64_t int_of_key(uint64_t key)
{
	return (int64_t)(key ^ SIGN);
}

static uint64_t key_of_real(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static double real_of_key(uint64_t key)
{
	const uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void make_real(struct group *g)
{
	for (struct block *b = g->blocks; b && !g->real; b = b->next)
		for (size_t i = 0; i < b->cnt; i++)
			b->v[i] = key_of_real((double)int_of_key(b->v[i]));
	g->real = true;
}

/* False: out of memory. */
static bool add(struct group *g, uint64_t key)
{
	struct block *b = g->blocks;
	size_t cap;

	if (!b || b->cnt == b->cap) {
		cap = !b ? BLOCK_MIN : b->cap < BLOCK_MAX ? b->cap * 2 : BLOCK_MAX;
		b = sqlite3_malloc64(sizeof(*b) + cap * sizeof(b->v[0]));
		if (!b)
			return false;
		*b = (struct block){ .next = g->blocks, .cap = cap };
		g->blocks = b;
	}
	b->v[b->cnt++] = key;
	g->cnt++;
	return true;
}

/* Text with a number is one, as elsewhere in SQLite. */
static void check_share(struct group *g, sqlite3_value *v)
{
	const int type = sqlite3_value_numeric_type(v);
	const double q = sqlite3_value_double(v);

	g->bad_q |= !(q >= 0 && q <= 1) || (type != SQLITE_INTEGER && type != SQLITE_FLOAT);
	g->other_q |= g->has_q && q != g->q;
	g->has_q = true;
	g->q = q;
}

static void step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct group *g = sqlite3_aggregate_context(ctx, sizeof(*g));
	const int type = sqlite3_value_numeric_type(argv[0]);
	uint64_t key;

	if (!g) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	check_share(g, argv[1]);
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	if (type == SQLITE_FLOAT && !g->real)
		make_real(g);
	key = g->real ? key_of_real(sqlite3_value_double(argv[0])) :
			key_of_int(sqlite3_value_int64(argv[0]));
	if (!add(g, key))
		sqlite3_result_error_nomem(ctx);
}

/* The key with @rank smaller or equal ones before it, from 0. */
static uint64_t select_rank(const struct group *g, uint64_t rank)
{
	uint64_t known = 0, mask = 0;

	for (int shift = 56; shift >= 0; shift -= 8) {
		uint64_t counts[256] = { 0 };
		unsigned int byte = 0;

		for (const struct block *b = g->blocks; b; b = b->next)
			for (size_t i = 0; i < b->cnt; i++)
				if ((b->v[i] & mask) == known)
					counts[b->v[i] >> shift & 255]++;
		while (rank >= counts[byte])
			rank -= counts[byte++];
		known |= (uint64_t)byte << shift;
		mask |= 255ULL << shift;
	}
	return known;
}

static void finish(sqlite3_context *ctx)
{
	struct group *g = sqlite3_aggregate_context(ctx, 0);
	struct block *b;
	uint64_t key;

	if (g && g->bad_q) {
		sqlite3_result_error(ctx, "quantile(X, Q): Q must be a number from 0 to 1", -1);
	} else if (g && g->other_q) {
		sqlite3_result_error(
			ctx, "quantile(X, Q): Q must be the same in all rows of a group", -1);
	} else if (g && g->cnt) {
		key = select_rank(g, rank_of_quantile(g->q, g->cnt) - 1);
		if (g->real)
			sqlite3_result_double(ctx, real_of_key(key));
		else
			sqlite3_result_int64(ctx, int_of_key(key));
	}
	while (g && g->blocks) {
		b = g->blocks;
		g->blocks = b->next;
		sqlite3_free(b);
	}
}

int quantile_function_register(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "quantile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
					  NULL, NULL, step, finish, NULL);
}
