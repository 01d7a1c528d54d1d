// SPDX-License-Identifier: BSD-2-Clause
/* JSON text: commas stand between values, and nowhere else. */
#include "base/json.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect(struct buf *out, const char *text)
{
	cr_assert_str_eq(buf_cstr(out), text);
	buf_free(out);
}

Test(json, members_of_an_object_are_separated_at_every_depth)
{
	struct buf out = { 0 };

	json_object(&out, NULL);
	json_object(&out, "empty");
	json_end(&out, "}");
	json_array(&out, "none");
	json_end(&out, "]");
	json_object(&out, "in");
	json_u64(&out, "a", 1);
	json_i64(&out, "b", -2);
	json_end(&out, "}");
	json_bool(&out, "yes", true);
	json_bool(&out, "no", false);
	json_null(&out, "unknown");
	json_end(&out, "}");
	expect(&out,
	       "{\"empty\":{},\"none\":[],\"in\":{\"a\":1,\"b\":-2},\"yes\":true,\"no\":false,"
	       "\"unknown\":null}");
}

Test(json, values_of_an_array_are_separated_and_may_have_lines)
{
	struct buf out = { 0 };

	json_array(&out, NULL);
	json_str(&out, NULL, "x");
	json_str(&out, NULL, NULL);
	for (uint64_t i = 0; i < 2; i++) {
		json_line_object(&out);
		json_u64(&out, "i", i);
		json_end(&out, "}");
	}
	json_end(&out, "]");
	expect(&out, "[\"x\",null,\n{\"i\":0},\n{\"i\":1}]");
}

Test(json, second_document_on_its_own_line_has_no_comma)
{
	struct buf out = { 0 };

	for (int i = 0; i < 2; i++) {
		json_object(&out, NULL);
		json_end(&out, "}\n");
	}
	expect(&out, "{}\n{}\n");
}

Test(json, text_that_ends_like_an_open_bracket_is_a_complete_value)
{
	struct buf out = { 0 };

	json_array(&out, NULL);
	json_str(&out, NULL, "[");
	json_str(&out, NULL, "{");
	json_str(&out, NULL, ",");
	json_text(&out, NULL, "a\"\n", 3);
	json_end(&out, "]");
	expect(&out, "[\"[\",\"{\",\",\",\"a\\\"\\n\"]");
}

Test(json, directly_appended_text_counts_as_a_value)
{
	struct buf out = { 0 };

	json_object(&out, NULL);
	json_key(&out, "raw");
	buf_addstr(&out, "1.50");
	buf_addstr(&out, ",");
	json_u64(&out, "next", 2);
	json_key_text(&out, "na\"me", 5);
	json_u64(&out, NULL, 3);
	json_key_printf(&out, "%s_ns", "run");
	json_char(&out, NULL, 'S');
	json_end(&out, "}");
	expect(&out, "{\"raw\":1.50,\"next\":2,\"na\\\"me\":3,\"run_ns\":\"S\"}");
}

Test(json, several_numbers_can_be_added_by_one_call)
{
	struct buf out = { 0 };

	json_object(&out, NULL);
	json_u64s(&out, { "a", 0 }, { "b", UINT64_MAX });
	json_u64s(&out, { "c", 3 });
	json_end(&out, "}");
	expect(&out, "{\"a\":0,\"b\":18446744073709551615,\"c\":3}");
}

Test(json, nan_and_infinity_are_null_and_bytes_are_hexadecimal)
{
	struct buf out = { 0 };

	json_object(&out, NULL);
	json_double(&out, "half", 0.5);
	json_double(&out, "nan", NAN);
	json_double(&out, "inf", INFINITY);
	json_hex(&out, "id", "\x01\xff", 2);
	json_hex(&out, "none", NULL, 0);
	json_end(&out, "}");
	expect(&out, "{\"half\":0.5,\"nan\":null,\"inf\":null,\"id\":\"01ff\",\"none\":\"\"}");
}

Test(json, flush_in_the_middle_changes_nothing)
{
	char text[64] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct buf out = { 0 };

	json_flush(&out, f);
	json_array(&out, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		json_flush(&out, f);
		json_u64(&out, NULL, i);
		json_flush(&out, f);
	}
	json_end(&out, "]\n");
	fwrite(out.data, 1, out.len, f);
	fclose(f);
	buf_free(&out);
	cr_assert_str_eq(text, "[0,1,2]\n");
}
