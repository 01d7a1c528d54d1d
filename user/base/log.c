/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the user, on standard error, each a single line and a single write.
 *
 * Owns the log level, one of the two pieces of process-wide state. The line is formatted into a
 * fixed buffer on the stack, because a message may be about memory that is gone; a longer one is
 * cut. Control characters become '?': parts of a message may come from a hostile file, and a
 * terminal must not obey them, whatever its encoding.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static enum log_level log_level = LOG_LEVEL_WARN;

void log_set_level(enum log_level level)
{
	log_level = level;
}

enum log_level log_get_level(void)
{
	return log_level;
}

/*
 * C0 and C1 control characters become '?', the latter also as the two bytes that UTF-8 makes of them,
 * and so does each byte that is part of no UTF-8.
 */
static void clean(char *line, size_t n)
{
	size_t len, i;

	for (i = 0; i < n; i += len) {
		unsigned char c = line[i];

		len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		if (str_utf8_valid_len(line + i, n - i < len ? n - i : len) < len)
			len = 1;
		else if (c >= ' ' && c != 0x7f && (c != 0xc2 || (unsigned char)line[i + 1] >= 0xa0))
			continue;
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
	(void)written; /* nobody is left to tell */
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
