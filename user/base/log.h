/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_LOG_H
#define D9_BASE_LOG_H

enum log_level { LOG_LEVEL_QUIET, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Process-wide; the default is LOG_LEVEL_WARN. Set before threads start. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/*
 * Each function writes one line "dial9-prof: MESSAGE" to standard error with a single write, so
 * lines of several threads do not mix. The message has no newline. log_error() always prints. errno
 * is preserved.
 */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* D9_BASE_LOG_H */
