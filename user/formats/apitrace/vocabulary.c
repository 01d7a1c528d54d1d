// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vocabulary between import and export: names and fields of dial9 events, as one table.
 */
#include "formats/apitrace/vocabulary.h"

#include <errno.h>
#include <string.h>

#define FIELDS_MAX 12
#define OPT(type) (DIAL9_##type | DIAL9_OPTIONAL)

struct word {
	const char *name;
	struct dial9_field fields[FIELDS_MAX];
};

#define CALL_FIELDS                                                                                   \
	[APITRACE_CALL_SIG] = { "sig", DIAL9_VARINT }, [APITRACE_CALL_NO] = { "call", DIAL9_VARINT }, \
	[APITRACE_CALL_THREAD] = { "thread", DIAL9_VARINT },                                          \
	[APITRACE_CALL_ENTER_SEQ] = { "enter_seq", DIAL9_VARINT },                                    \
	[APITRACE_CALL_LEAVE_SEQ] = { "leave_seq", OPT(VARINT) },                                     \
	[APITRACE_CALL_FRAME] = { "frame", DIAL9_VARINT },                                            \
	[APITRACE_CALL_FLAGS] = { "flags", DIAL9_VARINT }

const struct dial9_field apitrace_vocabulary_call[APITRACE_CALL_FIELDS] = { CALL_FIELDS };

static const struct word words[APITRACE_WORD_CNT] = {
	[APITRACE_WORD_TRACE] = { "apitrace.trace",
				  { { "version", OPT(VARINT) },
				    { "semantic_version", OPT(VARINT) },
				    { "container", DIAL9_POOLED_STRING },
				    { "properties", DIAL9_STRING_MAP },
				    { "tick_ns", OPT(VARINT) },
				    { "time", DIAL9_STRING } } },
	[APITRACE_WORD_FUNCTION] = { "apitrace.function",
				     { { "sig", DIAL9_VARINT },
				       { "name", DIAL9_POOLED_STRING },
				       { "args", DIAL9_STRING_MAP },
				       { "ret", DIAL9_STRING } } },
	[APITRACE_WORD_ENUM] = { "apitrace.enum",
				 { { "sig", DIAL9_VARINT },
				   { "name", DIAL9_POOLED_STRING },
				   { "value", OPT(I64) },
				   { "unsigned", OPT(VARINT) } } },
	[APITRACE_WORD_FLAG] = { "apitrace.flag",
				 { { "sig", DIAL9_VARINT },
				   { "name", DIAL9_POOLED_STRING },
				   { "value", DIAL9_VARINT } } },
	[APITRACE_WORD_STRUCT] = { "apitrace.struct",
				   { { "sig", DIAL9_VARINT },
				     { "name", DIAL9_POOLED_STRING },
				     { "members", DIAL9_STRING } } },
	[APITRACE_WORD_FRAME] = { "apitrace.frame",
				  { { "addr", DIAL9_VARINT },
				    { "id", DIAL9_VARINT },
				    { "module", OPT(POOLED_STRING) },
				    { "function", OPT(POOLED_STRING) },
				    { "file", OPT(POOLED_STRING) },
				    { "line", OPT(VARINT) },
				    { "offset", OPT(VARINT) } } },
	[APITRACE_WORD_SYMBOL] = { "SymbolTableEntry",
				   { { "addr", DIAL9_VARINT },
				     { "size", DIAL9_VARINT },
				     { "symbol_name", DIAL9_POOLED_STRING },
				     { "inline_depth", DIAL9_VARINT },
				     { "source_file", DIAL9_POOLED_STRING },
				     { "source_line", DIAL9_VARINT } } },
	[APITRACE_WORD_CALL] = { "apitrace.call",
				 { CALL_FIELDS,
				   [APITRACE_CALL_FIELDS] = { "function", DIAL9_POOLED_STRING },
				   { APITRACE_FIELD_DETAILS, OPT(STRING) } } },
	[APITRACE_WORD_LEAVE] = { "apitrace.leave",
				  { { "call", DIAL9_VARINT },
				    { "leave_seq", DIAL9_VARINT },
				    { APITRACE_FIELD_DETAILS, OPT(STRING) } } },
	[APITRACE_WORD_SPAN_ENTER] = { "SpanEnter:apitrace",
				       { { "worker_id", DIAL9_VARINT },
					 { "span_id", DIAL9_VARINT },
					 { "parent_span_id", OPT(VARINT) },
					 { "span_name", DIAL9_POOLED_STRING } } },
	[APITRACE_WORD_SPAN_EXIT] = { "SpanExit:apitrace",
				      { { "worker_id", DIAL9_VARINT },
					{ "span_id", DIAL9_VARINT },
					{ "span_name", DIAL9_POOLED_STRING } } },
	[APITRACE_WORD_END] = { "apitrace.end",
				{ { "events", DIAL9_VARINT },
				  { "calls", DIAL9_VARINT },
				  { "open_calls", DIAL9_VARINT },
				  { "stream_bytes", DIAL9_VARINT },
				  { "cut", DIAL9_BOOL },
				  { "damage", OPT(STRING) } } },
};

static size_t field_cnt(const struct word *w)
{
	size_t n = 0;

	while (n < FIELDS_MAX && w->fields[n].name)
		n++;
	return n;
}

int apitrace_vocabulary_schema(enum apitrace_word word, bool has_timestamp,
			       struct dial9_schema **out)
{
	const struct word *w = &words[word];

	return dial9_schema_new(w->name, has_timestamp, w->fields, field_cnt(w), out);
}

static bool same(const struct word *w, const struct dial9_schema *s)
{
	size_t cnt = field_cnt(w);

	if (strcmp(w->name, dial9_schema_name(s)) != 0 || dial9_schema_field_cnt(s) != cnt)
		return false;
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(w->fields[i].name, dial9_schema_field_name(s, i)) != 0 ||
		    w->fields[i].type != dial9_schema_field_type(s, i))
			return false;
	return true;
}

enum apitrace_word apitrace_vocabulary_find(const struct dial9_schema *s)
{
	unsigned int i;

	for (i = 0; i < APITRACE_WORD_CNT; i++)
		if (same(&words[i], s))
			break;
	return (enum apitrace_word)i;
}
