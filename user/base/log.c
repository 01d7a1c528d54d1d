/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the user on standard error: each is one line and one write.
 *
 * Owns the log level, which is process-wide. The line is formatted in a fixed buffer on the stack,
 * because the message may report that memory ran out; longer lines are cut. Control characters
 * become '?': parts of a message may come from a hostile file, and must not control the terminal in
 * any encoding.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum log_level log_level = LOG_LEVEL_WARN;

void log_set_level(enum log_level level)
{
	log_level = level;
}

enum log_level log_get_level(void)
{
	return log_level;
}

/* Length of the multi-byte UTF-8 sequence at p, or 0. */
static size_t sequence(const unsigned char *p, size_t n)
{
	size_t len = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (!len || len > n || (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90))
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/*
 * Replaces C0 and C1 control characters (the latter also in UTF-8) and invalid UTF-8 bytes by '?'.
 */
static void clean(unsigned char *line, size_t n)
{
	size_t len, i;

	for (i = 0; i < n; i += len) {
		bool bad = line[i] < ' ' || line[i] == 0x7f;

		len = 1;
		if (line[i] >= 0x80) {
			len = sequence(line + i, n - i);
			bad = !len || (line[i] == 0xc2 && line[i + 1] < 0xa0);
			len = len ? len : 1;
		}
		if (bad)
			memset(line + i, '?', len);
	}
}

static void __attribute__((format(printf, 1, 0))) emit(const char *fmt, va_list ap)
{
	static const char prefix[] = "dial9-prof: ";
	const size_t prefix_len = sizeof(prefix) - 1;
	char line[2048];
	int saved = errno;
	ssize_t written;
	int n;

	memcpy(line, prefix, prefix_len);
	n = vsnprintf(line + prefix_len, sizeof(line) - prefix_len - 1, fmt, ap);
	if (n < 0)
		n = 0;
	if ((size_t)n > sizeof(line) - prefix_len - 2)
		n = sizeof(line) - prefix_len - 2;
	n += prefix_len;
	clean((unsigned char *)line, n);
	line[n++] = '\n';
	written = write(STDERR_FILENO, line, n);
	(void)written; /* the error cannot be reported */
	errno = saved;
}

#define LOG_FUNCTION(name, least)                                                                  \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (log_level < (least))                                                           \
			return;                                                                    \
		va_start(ap, fmt);                                                                 \
		emit(fmt, ap);                                                                     \
		va_end(ap);                                                                        \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_QUIET)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
