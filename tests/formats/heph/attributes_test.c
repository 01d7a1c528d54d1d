// SPDX-License-Identifier: BSD-2-Clause
/* Doubles as JSON: short, and every bit of them. */
#include "tests/formats/heph/support.h"

#include <math.h>

#include "formats/heph/attributes.h"

static void assert_f64(uint64_t bits, const char *want)
{
	struct buf b = { 0 };

	heph_attr_json_f64(&b, bits);
	cr_assert_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

Test(heph_attributes, writes_doubles_in_the_shortest_form)
{
	assert_f64(bits_of(0.0), "0.0");
	assert_f64(bits_of(-0.0), "-0.0");
	assert_f64(bits_of(1), "1.0");
	assert_f64(bits_of(0.1), "0.1");
	assert_f64(bits_of(123.456), "123.456");
	assert_f64(bits_of(-1500), "-1500.0");
	assert_f64(bits_of(0.0001), "0.0001");
	assert_f64(bits_of(0.00001), "1e-05");
	assert_f64(bits_of(1e15), "1000000000000000.0");
	assert_f64(bits_of(1e16), "1e+16");
	assert_f64(bits_of(2.2250738585072014e-308), "2.2250738585072014e-308");
}

Test(heph_attributes, writes_infinity_and_nan_as_text)
{
	assert_f64(bits_of(INFINITY), "\"Infinity\"");
	assert_f64(bits_of(-INFINITY), "\"-Infinity\"");
	assert_f64(0x7ff8000000000000, "\"NaN\"");
	assert_f64(0x7ff0000000000001, "\"NaN(0x7ff0000000000001)\"");
	assert_f64(0xfff8000000000000, "\"NaN(0xfff8000000000000)\"");
}

Test(heph_attributes, writes_doubles_that_read_back_unchanged)
{
	uint64_t x = 88172645463325252ULL;

	for (int i = 0; i < 20000; i++) {
		struct buf b = { 0 };

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		heph_attr_json_f64(&b, x);
		if (b.data[0] != '"')
			cr_assert_eq(bits_of(strtod(b.data, NULL)), x, "%s", b.data);
		buf_free(&b);
	}
}
