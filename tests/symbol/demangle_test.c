// SPDX-License-Identifier: BSD-2-Clause
/* Names as in source code. The expected texts are the output of c++filt, without Rust's hashes. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/demangle.h"

static void expect(const char *mangled, const char *name)
{
	struct buf out = { 0 };

	buf_addstr(&out, "before ");
	demangle_name(&out, mangled, strlen(mangled));
	cr_expect_str_eq(buf_cstr(&out) + strlen("before "), name);
	buf_free(&out);
}

Test(demangle, writes_cxx_names_with_parameters)
{
	expect("_ZNSt6vectorIiSaIiEE9push_backEOi",
	       "std::vector<int, std::allocator<int> >::push_back(int&&)");
	expect("_ZNK6shapes12_GLOBAL__N_16square4areaEv",
	       "shapes::(anonymous namespace)::square::area() const");
	expect("_ZN3fooC2Ev.cold", "foo::foo() [clone .cold]");
}

Test(demangle, drops_the_hash_of_rust_names)
{
	expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.1234567",
	       "core::fmt::Write::write_fmt");
	expect("_RNvC6_123foo3bar", "123foo::bar");
	expect("_RNvNtCs1234_7mycrate3mod4func", "mycrate::mod::func");
}

Test(demangle, leaves_other_names_alone)
{
	expect("main", "main");
	expect("walk.constprop.0", "walk.constprop.0");
	expect("_start", "_start");
	expect("_Znot a name", "_Znot a name");
	expect("_Z", "_Z");
	expect("", "");
	expect("f.llvm.12x", "f.llvm.12x");
}

/* t<x,x>, then t of that twice, and so on: each level doubles the text. */
static void add_doubling_name(struct buf *name, int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	int i;

	buf_addstr(name, "_Z1f1x1tIS_S_E");
	for (i = 1; i < levels; i++)
		buf_printf(name, "S0_IS%c_S%c_E", digits[i], digits[i]);
}

Test(demangle, expands_small_names, .timeout = 10)
{
	struct buf name = { 0 };

	add_doubling_name(&name, 2);
	expect(buf_cstr(&name), "f(x, t<x, x>, t<t<x, x>, t<x, x> >)");
	buf_free(&name);
}

Test(demangle, refuses_names_that_expand_too_much, .timeout = 10)
{
	struct buf name = { 0 };

	add_doubling_name(&name, 35);
	expect(buf_cstr(&name), name.data);
	buf_free(&name);
}

Test(demangle, cuts_too_long_names)
{
	struct buf name = { 0 }, out = { 0 };
	size_t i;

	for (i = 0; i < DEMANGLE_MAX + 100; i++)
		buf_addch(&name, 'a');
	demangle_name(&out, name.data, name.len);
	cr_assert_eq(out.len, (size_t)DEMANGLE_MAX);
	buf_free(&name);
	buf_free(&out);
}
