/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the user on standard error: each is one line and one write.
 *
 * Owns the log level, which is process-wide. The line is formatted in a fixed buffer on the stack,
 * because the message may report that memory ran out; longer lines are cut. Unprintable characters
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

#include "base/utf8.h"

static enum log_level log_level = LOG_LEVEL_WARN;

void log_set_level(enum log_level level)
{
	log_level = level;
}

enum log_level log_get_level(void)
{
	return log_level;
}

/* Replaces each byte of unprintable characters and of invalid UTF-8 by '?'. */
static void clean(char *line, size_t n)
{
	uint32_t c;
	size_t len;

	for (size_t i = 0; i < n; i += len) {
		c = utf8_code_point(line + i, n - i, &len);
		if (c == UTF8_INVALID || utf8_is_unprintable(c))
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
	clean(line, n);
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
