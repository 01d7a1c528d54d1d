/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_RECIPE_RULES_H
#define D9_RECORD_TRACEPOINT_RECIPE_RULES_H

/* As recipe_compile_rules() takes them; NULL: there are none. Never freed. */
const char *recipe_rules(const char *system, const char *name);

#endif
