/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_SYMBOLIZE_SYMBOLIZE_PATHS_H
#define D9_REWRITE_SYMBOLIZE_SYMBOLIZE_PATHS_H

/* Whether it is a directory: 0, -ENOTDIR, or why it cannot be looked at. */
int symbolize_paths_dir(const char *path);
/* Whether it is a kernel's ELF file: 0, -EISDIR, -ENOEXEC for anything else, or why it cannot be read. */
int symbolize_paths_vmlinux(const char *path);

#endif /* D9_REWRITE_SYMBOLIZE_SYMBOLIZE_PATHS_H */
