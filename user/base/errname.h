/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_ERRNAME_H
#define D9_BASE_ERRNAME_H

/* "ENOENT", of an error number of this architecture; static. NULL if no error has this number. */
const char *errname(int err);

#endif /* D9_BASE_ERRNAME_H */
