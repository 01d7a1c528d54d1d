/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_ERRNAME_H
#define D9_BASE_ERRNAME_H

/*
 * The name of an error number of this architecture, such as "ENOENT". Static. NULL if the number is
 * unknown.
 */
const char *errname(int err);

#endif /* D9_BASE_ERRNAME_H */
