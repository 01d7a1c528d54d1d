// SPDX-License-Identifier: BSD-2-Clause
/* What is wrong with a statement, in one line. Owns the wording around SQLite's message. */
#include "query/sql_message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/str.h"

void sql_message_add(struct sql_message_names *n, const char *sql, const char *table,
		     const struct scan_column *columns, size_t cnt)
{
	n->tables = array_reserve(n->tables, &n->table_cap, n->table_cnt + 1, sizeof(char *));
	n->tables[n->table_cnt++] = table;
	if (!strcasestr(sql, table))
		return;
	n->columns = array_reserve(n->columns, &n->column_cap, n->column_cnt + cnt, sizeof(char *));
	for (size_t i = 0; i < cnt; i++)
		n->columns[n->column_cnt++] = columns[i].name;
}

void sql_message_fini(struct sql_message_names *n)
{
	free(n->tables);
	free(n->columns);
	*n = (struct sql_message_names){ 0 };
}

static void put_place(struct buf *out, const char *sql, int offset)
{
	unsigned int line = 1, column = 1;

	for (const char *s = sql; *s && s < sql + offset; s++) {
		column++;
		if (*s == '\n') {
			line++;
			column = 1;
		}
	}
	if (line > 1 || strchr(sql, '\n'))
		buf_printf(out, " at line %u, column %u", line, column);
	else
		buf_printf(out, " at column %u", column);
}

/* The known name that ends with _WORD, as task_tid does for tid. NULL: none. */
static const char *longer_name(const char *word, const char *const *known, size_t cnt)
{
	const size_t len = strlen(word);

	for (size_t i = 0; i < cnt; i++) {
		const size_t more = strlen(known[i]);

		if (more > len && known[i][more - len - 1] == '_' &&
		    !strcmp(known[i] + more - len, word))
			return known[i];
	}
	return NULL;
}

/*
 * SQL is not case-sensitive, and the name may have its table before it. A table of the statement may have the name
 * where the statement cannot use it.
 */
static void put_near(struct buf *out, const char *name, const char *const *known, size_t cnt)
{
	const char *dot = strrchr(name, '.'), *near;
	char *word = xstrdup(dot ? dot + 1 : name);

	for (char *c = word; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 'a' - 'A');
	near = longer_name(word, known, cnt);
	if (!near)
		near = opts_nearest(word, known, cnt);
	if (near && strcmp(near, word) != 0) {
		buf_addstr(out, " (did you mean ");
		str_printable(out, near, strlen(near));
		buf_addstr(out, "?)");
	}
	free(word);
}

static bool is_one_of(const char *word, const char *const *known, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcasecmp(word, known[i]))
			return true;
	return false;
}

enum { KEYWORD_MAX = 16, SHOWN_MAX = 40 };

/* "(did you mean WHERE?)" if the word is no name of the tables in the statement. */
static bool put_near_keyword(struct buf *out, const char *word, size_t len,
			     const struct sql_message_names *n)
{
	static const char *const keywords[] = { "SELECT", "FROM",    "WHERE", "GROUP", "ORDER",
						"HAVING", "LIMIT",   "JOIN",  "UNION", "WITH",
						"LEFT",	  "BETWEEN", "DESC",  "OFFSET" };
	const size_t cnt = sizeof(keywords) / sizeof(keywords[0]);
	char *upper = xstrndup(word, len);
	const char *near = NULL;

	for (char *c = upper; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c + 'A' - 'a');
	if (len > 2 && len < KEYWORD_MAX && !is_one_of(upper, keywords, cnt) &&
	    !is_one_of(upper, n->columns, n->column_cnt) &&
	    !is_one_of(upper, n->tables, n->table_cnt))
		near = opts_nearest(upper, keywords, cnt);
	if (near)
		buf_printf(out, " (did you mean %s?)", near);
	free(upper);
	return near;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The last word before *@end in @sql, whose end is *@end then. Empty at the start. */
static const char *word_before(const char *sql, const char **end)
{
	const char *at;

	while (*end > sql && is_blank((*end)[-1]))
		--*end;
	for (at = *end; at > sql && !is_blank(at[-1]); at--)
		;
	return at;
}

/* Of a long word its end. */
static void put_end(struct buf *out, const char *word, const char *end)
{
	if (end - word > SHOWN_MAX) {
		buf_addstr(out, "...");
		word = end - SHOWN_MAX;
	}
	str_printable(out, word, (size_t)(end - word));
}

/*
 * " after "slices WHER" (did you mean WHERE?)". SQLite takes a misspelt keyword for a name, and stops at the word after
 * it, @token.
 */
static void put_after(struct buf *out, const char *sql, const char *end, const char *token,
		      size_t token_len, const struct sql_message_names *n)
{
	const char *word = word_before(sql, &end), *first_end = word;
	const char *first = word_before(sql, &first_end);

	if (end > word) {
		buf_addstr(out, " after \"");
		put_end(out, first, first_end);
		buf_addstr(out, first_end > first ? " " : "");
		put_end(out, word, end);
		buf_addch(out, '"');
	}
	if (!put_near_keyword(out, word, (size_t)(end - word), n))
		put_near_keyword(out, token, token_len, n);
}

/* "near "x": syntax error" becomes "syntax error at column 14: "x" after "1 FRM"". False: another message. */
static bool put_syntax_error(struct buf *out, const char *msg, const char *sql, int offset,
			     const struct sql_message_names *n)
{
	static const char near[] = "near \"", syntax[] = "\": syntax error";
	const size_t len = strlen(msg), around = sizeof(near) + sizeof(syntax) - 2;
	const char *token = msg + sizeof(near) - 1;

	if (!strcmp(msg, "incomplete input")) {
		buf_addstr(out, msg);
		put_after(out, sql, sql + strlen(sql), "", 0, n);
		return true;
	}
	if (offset < 0 || len < around || !str_starts(msg, near) ||
	    strcmp(msg + len - sizeof(syntax) + 1, syntax) != 0)
		return false;
	buf_addstr(out, "syntax error");
	put_place(out, sql, offset);
	buf_addstr(out, ": \"");
	str_printable(out, token, len - around);
	buf_addch(out, '"');
	put_after(out, sql, sql + offset, token, len - around, n);
	return true;
}

/* The first directory that SQLite can write to has its temporary files. */
static const char *temp_dir(void)
{
	const char *const dirs[] = { getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp",
				     "/usr/tmp", "/tmp" };
	struct stat st;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i] && !stat(dirs[i], &st) && S_ISDIR(st.st_mode) &&
		    !access(dirs[i], W_OK | X_OK))
			return dirs[i];
	return ".";
}

/* The database is in memory, so it is a file for sorting or grouping that cannot be written. */
static void put_no_space(struct buf *out, bool full)
{
	const char *dir = temp_dir();

	buf_addstr(out,
		   full ? "no space for temporary files in " : "cannot write temporary files in ");
	str_printable(out, dir, strlen(dir));
	buf_addstr(out, "; set TMPDIR to another directory, or use a larger --mem-max");
}

void sql_message_put(struct buf *out, sqlite3 *db, const char *sql,
		     const struct sql_message_names *n)
{
	static const char table[] = "no such table: ", column[] = "no such column: ";
	const char *msg = sqlite3_errmsg(db);
	const int offset = sqlite3_error_offset(db), code = sqlite3_errcode(db) & 255;

	if (code == SQLITE_AUTH) {
		buf_addstr(out, "only SELECT is allowed: ");
		str_printable(out, msg, strlen(msg));
		return;
	}
	/* scan.c returns SQLITE_IOERR itself for a trace; SQLite adds what failed */
	if (code == SQLITE_FULL ||
	    (code == SQLITE_IOERR && sqlite3_extended_errcode(db) != SQLITE_IOERR)) {
		put_no_space(out, code == SQLITE_FULL);
		return;
	}
	if (put_syntax_error(out, msg, sql, offset, n))
		return;
	str_printable(out, msg, strlen(msg));
	if (offset >= 0)
		put_place(out, sql, offset);
	if (str_starts(msg, table)) {
		put_near(out, msg + sizeof(table) - 1, n->tables, n->table_cnt);
		if (!strchr(out->data, '?'))
			buf_addstr(out, "; see query --schema");
	} else if (str_starts(msg, column)) {
		put_near(out, msg + sizeof(column) - 1, n->columns, n->column_cnt);
	}
}
