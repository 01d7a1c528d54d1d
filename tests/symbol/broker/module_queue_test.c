// SPDX-License-Identifier: BSD-2-Clause
/* Which owner is served next. */
#include "symbol/broker/module_queue.h"

#include <criterion/criterion.h>

enum { MANY = 1000, A = 1000, B = 1001, C = 1002, FEW = 3, MODULES = MANY + 2 * FEW };

static struct module_queue *modules[MODULES];
static size_t cnt;

static void add(struct module_queue_queue *q, uint64_t owner, size_t n)
{
	const struct sym_client_module module = { .path = "/any", .owner = owner };

	while (n--) {
		modules[cnt] = module_queue_new(cnt + 1, &module);
		module_queue_add_question(q, modules[cnt++], 0);
	}
}

static bool is_not(const void *ctx, const struct module_queue *m)
{
	return m->kind == SYM_CLIENT_IDENTIFY || m->owner != *(const uint64_t *)ctx;
}

static void expect_next(struct module_queue_queue *q, const uint64_t *but, uint64_t owner)
{
	const struct module_queue *m = module_queue_dequeue(q, but ? is_not : NULL, but);

	cr_assert(m);
	cr_expect_eq(m->owner, owner, "%lu", (unsigned long)m->owner);
}

static void fini(struct module_queue_queue *q)
{
	module_queue_queue_fini(q);
	while (cnt)
		module_queue_free(modules[--cnt]);
}

Test(module_queue, owners_are_served_round_robin_for_any_number_of_modules)
{
	struct module_queue_queue q = { .role = SYMWORKER_TABLES };
	int i;

	add(&q, A, MANY);
	add(&q, B, FEW);
	add(&q, C, FEW);
	cr_expect_eq(q.queued, MODULES);
	for (i = 0; i < FEW; i++) {
		expect_next(&q, NULL, A);
		expect_next(&q, NULL, B);
		expect_next(&q, NULL, C);
	}
	for (i = FEW; i < MANY; i++)
		expect_next(&q, NULL, A);
	cr_expect_eq(q.queued, 0);
	cr_expect_null(module_queue_dequeue(&q, NULL, NULL));
	fini(&q);
}

Test(module_queue, blocked_owner_keeps_its_place_in_the_queue)
{
	struct module_queue_queue q = { .role = SYMWORKER_TABLES };
	const uint64_t a = A;

	add(&q, A, FEW);
	add(&q, B, FEW);
	expect_next(&q, &a, B);
	expect_next(&q, &a, B);
	expect_next(&q, NULL, A);
	expect_next(&q, NULL, B);
	cr_expect_null(module_queue_dequeue(&q, is_not, &a));
	add(&q, B, 1);
	expect_next(&q, NULL, A);
	expect_next(&q, &a, B);
	expect_next(&q, NULL, A);
	cr_expect_eq(q.queued, 0);
	fini(&q);
}

Test(module_queue, modules_of_one_owner_are_served_in_the_order_of_requests)
{
	struct module_queue_queue q = { .role = SYMWORKER_TABLES };
	uint32_t id;

	add(&q, A, MANY);
	for (id = 1; id <= MANY; id++)
		cr_assert_eq(module_queue_dequeue(&q, NULL, NULL)->id, id);
	fini(&q);
}

Test(module_queue, files_to_identify_are_served_before_other_modules_of_their_owner)
{
	const struct sym_client_module file = { .kind = SYM_CLIENT_IDENTIFY,
						.path = "/any",
						.owner = A };
	struct module_queue_queue q = { .role = SYMWORKER_TABLES };
	const uint64_t a = A;
	int i;

	add(&q, A, FEW);
	for (i = 0; i < 2; i++) {
		modules[cnt] = module_queue_new(cnt + 1, &file);
		module_queue_add_question(&q, modules[cnt++], 0);
	}
	for (i = 1; i <= 2; i++)
		cr_assert_eq(module_queue_dequeue(&q, is_not, &a)->id, (uint32_t)(FEW + i));
	cr_expect_null(module_queue_dequeue(&q, is_not, &a));
	for (i = 1; i <= FEW; i++)
		cr_assert_eq(module_queue_dequeue(&q, NULL, NULL)->id, (uint32_t)i);
	cr_expect_eq(q.queued, 0);
	fini(&q);
}

Test(module_queue, queue_with_remaining_modules_is_freed)
{
	struct module_queue_queue q = { .role = SYMWORKER_TABLES };

	add(&q, A, FEW);
	add(&q, B, FEW);
	expect_next(&q, NULL, A);
	fini(&q);
}
