/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_KERNEL_FORMAT_CHECK_H
#define D9_TESTS_KERNEL_FORMAT_CHECK_H

#include <stddef.h>

struct format_event;

/* Asserts that the event has the fields of the text, which is read here only by scanf. */
void format_check_fields(const char *text, const struct format_event *ev);

/*
 * Gives values to every field that has rows, lets libtraceevent print the record by the whole print fmt, and
 * asserts that this line has the reader's text for the rows. Returns the number of compared values.
 */
size_t format_check_symbols(const char *text, size_t len, const struct format_event *ev);

#endif /* D9_TESTS_KERNEL_FORMAT_CHECK_H */
