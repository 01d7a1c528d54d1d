// SPDX-License-Identifier: BSD-2-Clause
/* Properties of fields that print fmt does not have: devices, arrays, system calls, code. */
#include "kernel/tracefs/format.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "tests/kernel/tracefs/format_text.h"

/* "dev:2=4095'' ..." of all rows. */
static void expect_rows(const struct format_event *ev, const char *want)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < ev->symbol_cnt; i++)
		buf_printf(&b, "%s%s.%d %llu '%s'", i ? ", " : "", ev->symbols[i].field,
			   (int)ev->symbols[i].kind, (unsigned long long)ev->symbols[i].value,
			   ev->symbols[i].name);
	cr_expect_str_eq(buf_cstr(&b), want);
	buf_free(&b);
}

Test(format_known, device_is_two_numbers)
{
	struct format_event *ev =
		parse("block", "b",
		      "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
		      "\tfield:dev_t devil;\toffset:12;\tsize:4;\tsigned:0;\n"
		      "\tfield:u32 flags;\toffset:16;\tsize:4;\tsigned:0;\n",
		      "\"%d,%d %d %s\", ((unsigned int) ((REC->dev) >> 20)), "
		      "((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->devil, "
		      "__print_flags(REC->flags, \"|\", {1, \"one\"})");

	expect_rows(ev, "dev.2 4095 '', dev.3 20 '', dev.8 0 '', dev.2 1048575 ':', dev.8 0 '', "
			"flags.1 1 'one'");
	format_free(ev);
}

Test(format_known, arrays_have_integers_larger_than_a_byte)
{
	struct format_event *ev =
		parse("x", "y",
		      "\tfield:unsigned long args[6];\toffset:8;\tsize:48;\tsigned:0;\n"
		      "\tfield:u8 mac[6];\toffset:56;\tsize:6;\tsigned:0;\n"
		      "\tfield:char comm[16];\toffset:64;\tsize:16;\tsigned:0;\n"
		      "\tfield:__data_loc u32[] lens;\toffset:80;\tsize:4;\tsigned:0;\n",
		      "\"%s\", REC->comm");

	expect_rows(ev, "args.10 8 '', lens.10 4 ''");
	format_free(ev);
}

static const char openat[] = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			     "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
			     "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
			     "\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n";
static const char write_call[] = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
				 "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
				 "\tfield:const char * buf;\toffset:24;\tsize:8;\tsigned:0;\n"
				 "\tfield:size_t count;\toffset:32;\tsize:8;\tsigned:0;\n";

Test(format_known, texts_of_system_calls_are_known_and_buffers_are_not)
{
	struct format_event *text = parse("syscalls", "sys_enter_openat", openat, "\"\"");
	struct format_event *bytes = parse("syscalls", "sys_enter_write", write_call, "\"\"");
	struct format_event *other = parse("other", "sys_enter_openat", openat, "\"\"");

	for (size_t i = 0; i < text->cnt; i++)
		cr_expect_eq(text->fields[i].user_text, i == 2, "%s", text->fields[i].name);
	cr_expect_str_eq(text->fields[2].ctype, "const char *");
	for (size_t i = 0; i < bytes->cnt; i++) {
		cr_expect_not(bytes->fields[i].user_text, "%s", bytes->fields[i].name);
		cr_expect_not(other->fields[i].user_text, "%s", other->fields[i].name);
	}
	format_free(text);
	format_free(bytes);
	format_free(other);
}

static const char returned[] = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";

Test(format_known, return_value_of_a_system_call_is_an_error_a_number_or_an_address)
{
	struct format_event *number =
		parse("syscalls", "sys_exit_read", returned, "\"0x%lx\", REC->ret");
	struct format_event *address =
		parse("syscalls", "sys_exit_mmap", returned, "\"0x%lx\", REC->ret");

	expect_rows(number, "ret.9 0 '', ret.8 0 ''");
	expect_rows(address, "ret.9 0 '', ret.0 0 '0x0'");
	format_free(number);
	format_free(address);
}

Test(format_known, system_calls_have_names)
{
	struct format_event *ev = parse("raw_syscalls", "sys_exit",
					"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
					"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n",
					"\"NR %ld = %ld\", REC->id, REC->ret");
	bool found = false;

	cr_assert_gt(ev->symbol_cnt, 200);
	for (size_t i = 0; i < ev->symbol_cnt; i++)
		if (ev->symbols[i].value == SYS_openat && !strcmp(ev->symbols[i].name, "openat"))
			found = !strcmp(ev->symbols[i].field, "id");
	cr_expect(found);
	cr_expect_eq(ev->symbols[ev->symbol_cnt - 3].kind, FORMAT_SYM_DECIMAL);
	cr_expect_str_eq(ev->symbols[ev->symbol_cnt - 2].field, "ret");
	format_free(ev);
}

Test(format_known, field_printed_as_a_symbol_is_code)
{
	struct format_event *ev = parse("x", "y",
					"\tfield:void * site;\toffset:8;\tsize:8;\tsigned:0;\n"
					"\tfield:void * func;\toffset:16;\tsize:8;\tsigned:0;\n"
					"\tfield:void * ptr;\toffset:24;\tsize:8;\tsigned:0;\n",
					"\"%pS %ps %p\", (void *)REC->site, REC->func, REC->ptr");

	cr_expect(ev->fields[0].code && ev->fields[1].code && !ev->fields[2].code);
	expect_rows(ev, "site.0 0 '0x0', func.0 0 '0x0', ptr.7 0 ''");
	format_free(ev);
}
