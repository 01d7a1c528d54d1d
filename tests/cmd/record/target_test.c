// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/record/target.h"

struct holder {
	struct target_opts target;
};

static const struct opt rows[] = { TARGET_OPTS(struct holder, target) };

/* Gives the option of a row a value that is not its default. */
static void set_value(const struct opt *opt, void *at)
{
	static const char *words[] = { "7" };
	static uint32_t number = 7;

	if (opt->kind == OPT_FLAG)
		*(bool *)at = true;
	else if (opt->kind == OPT_STR)
		*(const char **)at = words[0];
	else if (opt->kind == OPT_U32)
		*(uint32_t *)at = number;
	else if (opt->kind == OPT_INT)
		*(int *)at = -7;
	else if (opt->kind == OPT_LIST)
		*(struct opt_list *)at = (struct opt_list){ words, 1 };
	else if (opt->kind == OPT_PIDS || opt->kind == OPT_CPUS)
		*(struct opt_u32s *)at = (struct opt_u32s){ &number, 1 };
	else
		cr_assert_fail("--%s: what is a value of its kind?", opt->name);
}

static void add_word(void *ctx, const char *word)
{
	buf_printf(ctx, "%s ", word);
}

/* Otherwise `top` shows an option that its recorder does not have. */
Test(target, every_option_becomes_a_word_of_the_command_line)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool has_value = rows[i].kind != OPT_FLAG;
		const char *value = !has_value ? "" : rows[i].kind == OPT_INT ? "-7" : "7";
		struct holder h = { 0 };
		struct buf out = { 0 };
		char want[64];

		set_value(&rows[i], (char *)&h + rows[i].off);
		target_each_word(&h.target, add_word, &out);
		if (rows[i].key)
			snprintf(want, sizeof(want), "-%c%s ", rows[i].key, value);
		else
			snprintf(want, sizeof(want), "--%s%s%s ", rows[i].name,
				 has_value ? "=" : "", value);
		cr_expect_str_eq(buf_cstr(&out), want);
		buf_free(&out);
	}
}
