// SPDX-License-Identifier: BSD-2-Clause
/* Long names of C++ and Rust in a column. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/common/symbol_fit.h"

static void expect(const char *name, size_t cols, const char *want)
{
	struct buf b = { 0 };

	buf_addstr(&b, "> ");
	symbol_fit_name(&b, name, strlen(name), cols);
	cr_expect_str_eq(buf_cstr(&b) + 2, want, "%s in %zu: %s", name, cols, buf_cstr(&b) + 2);
	buf_free(&b);
}

Test(symbol_fit, name_that_fits_is_unchanged)
{
	expect("std::vector<int>::push_back(int const&)", 39,
	       "std::vector<int>::push_back(int const&)");
	expect("std::vector<int>::push_back(int const&)", 0,
	       "std::vector<int>::push_back(int const&)");
	expect("", 1, "");
}

Test(symbol_fit, parameters_are_cut_first_then_template_arguments_from_the_innermost)
{
	static const char name[] =
		"std::map<std::pair<int, char>, long>::find(std::pair<int, char> const&)";

	expect(name, 70, "std::map<std::pair<int, char>, long>::find(...)");
	expect(name, 46, "std::map<std::pair<...>, long>::find(...)");
	expect(name, 40, "std::map<...>::find(...)");
	expect(name, 5, "std::map<...>::find(...)");
	expect("f(int) const [clone .cold]", 10, "f(...) const [clone .cold]");
	expect("f()", 2, "f()");
	expect("f<>(int)", 7, "f<>(...)");
}

Test(symbol_fit, brackets_that_are_part_of_a_name_stay)
{
	expect("(anonymous namespace)::f(int, long)", 30, "(anonymous namespace)::f(...)");
	expect("X::operator()(int) const", 20, "X::operator()(...) const");
	expect("bool operator< <int>(int, int)", 20, "bool operator< <...>(...)");
	expect("operator<<(std::ostream&, X<int> const&)", 20, "operator<<(...)");
	expect("X<int>::operator->(long) const", 20, "X<...>::operator->(...) const");
	expect("my_operator<int>(long)", 16, "my_operator<...>(...)");
	expect("{lambda(int, char)#1}::operator()(int, char) const", 30,
	       "{lambda(...)#1}::operator()(...) const");
}

Test(symbol_fit, rust_names_are_shortened)
{
	expect("<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", 50,
	       "<alloc::vec::Vec<...> as core::ops::drop::Drop>::drop");
	expect("core::ops::function::FnOnce<fn(u8) -> Vec<u8>>::call_once{{vtable.shim}}", 50,
	       "core::ops::function::FnOnce<...>::call_once{{vtable.shim}}");
	expect("a::b::{{closure}}", 5, "a::b::{{closure}}");
}

Test(symbol_fit, columns_are_code_points)
{
	expect("f\303\244(int)", 7, "f\303\244(int)");
	expect("f\303\244(int, long)", 7, "f\303\244(...)");
}

/* Names that close nothing, or nest without end, are shown unchanged, and fast. */
Test(symbol_fit, malformed_names_take_no_time)
{
	enum { N = 1 << 16 };
	char *deep = malloc(N + 1);
	struct buf b = { 0 };

	expect("f((int)", 5, "f((int)");
	expect(")>)(<", 2, ")>)(<");
	memset(deep, '(', N);
	deep[N] = '\0';
	symbol_fit_name(&b, deep, N, 10);
	cr_expect_eq(b.len, N);
	memset(deep, '<', N / 2);
	memset(deep + N / 2, '>', N / 2);
	b.len = 0;
	symbol_fit_name(&b, deep, N, 10);
	cr_expect_eq(b.len, 9, "<<<...>>>");
	buf_free(&b);
	free(deep);
}
