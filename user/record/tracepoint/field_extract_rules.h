/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_FIELD_EXTRACT_RULES_H
#define D9_RECORD_TRACEPOINT_FIELD_EXTRACT_RULES_H

/* For field_extract_compile_rules(); NULL: none. Static. */
const char *field_extract_rules(const char *system, const char *name);

#endif
